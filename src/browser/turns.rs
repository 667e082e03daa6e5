//! Spreads what begins when a view is mounted over several turns of the browser.
//!
//! Leptos starts an effect as a task, and `wasm-bindgen-futures` runs all tasks that wait before
//! the browser gets a turn. The effects of one large cell would keep a phone busy for a tenth of a
//! second.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::Poll;

use any_spawner::{CustomExecutor, Executor, PinnedFuture, PinnedLocalFuture};
use wasm_bindgen_futures::spawn_local;

use super::clock;

/// The longest that tasks begin one after the other before the browser gets a turn, in
/// milliseconds.
const TURN_MS: f64 = 6.0;

thread_local! {
    /// The tasks that the present step has begun, while there is one.
    static BEGUN: RefCell<Option<Vec<PinnedLocalFuture<()>>>> = const { RefCell::new(None) };
}

/// Leptos's tasks, those of a step apart.
struct Tasks;

impl CustomExecutor for Tasks {
    fn spawn(&self, task: PinnedFuture<()>) {
        self.spawn_local(task);
    }

    fn spawn_local(&self, task: PinnedLocalFuture<()>) {
        let now = BEGUN.with_borrow_mut(|begun| match begun {
            Some(begun) => {
                begun.push(task);
                None
            }
            None => Some(task),
        });
        if let Some(task) = now {
            spawn_local(task);
        }
    }

    fn poll_local(&self) {}
}

/// Makes Leptos start its tasks here. Where another executor has been chosen already, as in a test
/// that mounts a view of its own first, that one stays.
pub(crate) fn init() {
    let _ = Executor::init_custom_executor(Tasks);
}

/// Takes a step, and then lets the tasks that it has begun start in their order, with turns for the
/// browser before them and between them.
pub(crate) async fn in_turns(step: impl FnOnce()) {
    BEGUN.set(Some(Vec::new()));
    step();
    let begun = BEGUN.take().unwrap_or_default();
    if begun.is_empty() {
        return;
    }
    clock::give_way().await;
    let mut since = clock::now_ms();
    for task in begun {
        spawn_local(task);
        until_polled().await;
        if clock::now_ms() - since > TURN_MS {
            clock::give_way().await;
            since = clock::now_ms();
        }
    }
}

/// Waits until the tasks that wait have had their turn.
async fn until_polled() {
    let mut polled = false;
    poll_fn(|task| {
        if polled {
            return Poll::Ready(());
        }
        polled = true;
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
