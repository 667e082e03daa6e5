//! Whether the reader has begun to use the page.

use std::cell::Cell;
use std::rc::Rc;

use super::{clock, dom};

/// What a reader does with a page. Printing shows all of it.
const ACTS: [&str; 8] = [
    "scroll",
    "wheel",
    "touchstart",
    "pointermove",
    "pointerdown",
    "keydown",
    "focusin",
    "beforeprint",
];

/// How long a page waits for its reader, in milliseconds: some read the first screen at length.
const PATIENCE_MS: u32 = 10_000;

/// Time between two looks at whether the reader has come, in milliseconds.
const LOOK_MS: u32 = 50;

thread_local! {
    static HAS_ACTED: Rc<Cell<bool>> = {
        let acted = Rc::new(Cell::new(false));
        if let Some(window) = dom::window() {
            for act in ACTS {
                let acted = Rc::clone(&acted);
                dom::listen_forever(&window, act, move |_| acted.set(true));
            }
        }
        acted
    };
}

/// Begins to watch what the reader does.
pub(crate) fn follow() {
    HAS_ACTED.with(|_| ());
}

/// Waits until the reader has done something with a page of this site, or has looked at the page
/// for a while.
pub(crate) async fn until_active() {
    let acted = HAS_ACTED.with(Rc::clone);
    let mut waited = 0;
    while !acted.get() && waited < PATIENCE_MS {
        clock::wait_ms(LOOK_MS).await;
        waited += LOOK_MS;
    }
}
