//! Time, and giving the browser a turn.

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
