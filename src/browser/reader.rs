//! Whether the reader has begun to use the page, and whether a hand is on it.

use std::cell::Cell;
use std::rc::Rc;

use super::{clock, dom};

/// What only a reader does.
const DELIBERATE: [&str; 4] = ["wheel", "touchstart", "pointerdown", "keydown"];

/// What else shows that there is a reader. Printing shows all of the page.
const OTHERS: [&str; 4] = ["scroll", "pointermove", "focusin", "beforeprint"];

/// How long a page waits for its reader, in milliseconds: some read the first screen at length.
const PATIENCE_MS: u32 = 10_000;

/// Time between two looks at whether the reader has come, in milliseconds.
const LOOK_MS: u32 = 50;

/// What the reader has done so far.
#[derive(Default)]
struct Acts {
    any: Cell<bool>,
    deliberate: Cell<u32>,
}

thread_local! {
    static ACTS: Rc<Acts> = {
        let acts = Rc::new(Acts::default());
        if let Some(window) = dom::window() {
            for act in DELIBERATE.into_iter().chain(OTHERS) {
                let (acts, counts) = (Rc::clone(&acts), DELIBERATE.contains(&act));
                dom::listen_forever(&window, act, move |_| {
                    acts.any.set(true);
                    acts.deliberate.set(acts.deliberate.get() + u32::from(counts));
                });
            }
        }
        acts
    };
}

/// Begins to watch what the reader does.
pub(crate) fn follow() {
    ACTS.with(|_| ());
}

/// How often the reader has pressed a key or a button, touched the page, or turned the wheel. What
/// the page does itself, such as scrolling, does not count.
pub(crate) fn deliberate_acts() -> u32 {
    ACTS.with(|acts| acts.deliberate.get())
}

/// Waits until the reader has done something with a page of this site, or has looked at the page
/// for a while.
pub(crate) async fn until_active() {
    let acts = ACTS.with(Rc::clone);
    let mut waited = 0;
    while !acts.any.get() && waited < PATIENCE_MS {
        clock::wait_ms(LOOK_MS).await;
        waited += LOOK_MS;
    }
}
