//! Abilities and wishes of this browser.

use js_sys::{Reflect, Uint8Array, WebAssembly};
use worker::build::{Abilities, MEMORY64_PROBE, RELAXED_PROBE};

use super::dom;

/// What this browser offers an engine, on this page.
pub(crate) fn of_engine() -> Abilities {
    Abilities {
        relaxed_simd: is_valid(&RELAXED_PROBE),
        shared_memory: is_isolated() && has("SharedArrayBuffer"),
        memory64: is_valid(&MEMORY64_PROBE),
    }
}

/// Whether this browser knows all that a wasm module uses.
fn is_valid(module: &[u8]) -> bool {
    WebAssembly::validate(&Uint8Array::from(module)).unwrap_or(false)
}

/// Whether the page is isolated from other origins. Not every browser then lets threads share
/// memory.
pub(crate) fn is_isolated() -> bool {
    has("crossOriginIsolated")
}

fn has(name: &str) -> bool {
    Reflect::get(&js_sys::global(), &name.into()).is_ok_and(|value| value.is_truthy())
}

/// Number of threads that it runs at the same time; 1 where it does not say.
pub(crate) fn threads() -> usize {
    let count = dom::window().map_or(1.0, |window| window.navigator().hardware_concurrency());
    (count as usize).max(1)
}

/// Whether the reader has asked the browser to save data; not every browser tells.
pub(crate) fn saves_data() -> bool {
    let connection = dom::window()
        .and_then(|window| Reflect::get(&window.navigator(), &"connection".into()).ok());
    let saves =
        connection.and_then(|connection| Reflect::get(&connection, &"saveData".into()).ok());
    saves.is_some_and(|saves| saves.is_truthy())
}

/// Whether a cell may move, and work for a minute, without being asked: not where the reader saves
/// data or wants less motion.
pub(crate) fn may_play() -> bool {
    let wants = |wish: &str| {
        let query = dom::window().and_then(|window| window.match_media(wish).ok()?);
        query.is_some_and(|query| query.matches())
    };
    !saves_data()
        && !wants("(prefers-reduced-data: reduce)")
        && !wants("(prefers-reduced-motion: reduce)")
}
