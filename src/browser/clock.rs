//! Time and waiting, which gives the browser a turn.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// Milliseconds since the page was opened, finer than a millisecond.
pub(crate) fn now_ms() -> f64 {
    super::dom::window()
        .and_then(|w| w.performance())
        .map_or(0.0, |p| p.now())
}

/// Lets the browser draw and handle events before going on.
pub(crate) async fn give_way() {
    gloo_timers::future::TimeoutFuture::new(0).await;
}

/// Waits.
pub(crate) async fn wait_ms(ms: u32) {
    gloo_timers::future::TimeoutFuture::new(ms).await;
}

/// Waits until the function that `start` is given has been called.
pub(crate) async fn until_called(start: impl FnOnce(Box<dyn Fn()>)) {
    let mut start = Some(start);
    let called = Promise::new(&mut |resolve, _| {
        if let Some(start) = start.take() {
            start(Box::new(move || {
                // A promise does not throw when it is resolved.
                let _ = resolve.call0(&JsValue::NULL);
            }));
        }
    });
    let _ = JsFuture::from(called).await;
}
