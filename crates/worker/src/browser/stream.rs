//! Reading a stream part by part, with a limit of time.

use js_sys::{Array, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{DedicatedWorkerGlobalScope, ReadableStreamDefaultReader};

/// Seconds after which a host that sends nothing counts as gone.
const SILENCE_S: i32 = 60;

/// The next part of a stream of bytes; `None` after the last. A stream from a host, for which the
/// scope is given, may be silent for a minute.
///
/// # Errors
/// The stream's own, when it breaks off, and a text when nothing comes.
pub(super) async fn next_part(
    reader: &ReadableStreamDefaultReader,
    host: Option<&DedicatedWorkerGlobalScope>,
) -> Result<Option<Uint8Array>, JsValue> {
    let part = match host {
        Some(scope) => {
            let part = with_timeout(scope, SILENCE_S, &reader.read()).await?;
            part.ok_or_else(|| format!("nothing came for {SILENCE_S} seconds"))?
        }
        None => JsFuture::from(reader.read()).await?,
    };
    Ok(Reflect::get(&part, &"value".into())?.dyn_into().ok())
}

/// The result of a promise, or `None` when it takes longer than so many seconds.
///
/// # Errors
/// The promise's own.
pub(super) async fn with_timeout(
    scope: &DedicatedWorkerGlobalScope,
    seconds: i32,
    promise: &Promise,
) -> Result<Option<JsValue>, JsValue> {
    let mut timer = None;
    let late = Promise::new(&mut |resolve, _| {
        let set =
            scope.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, 1000 * seconds);
        timer = set.ok();
    });
    let first = JsFuture::from(Promise::race(&Array::of2(promise, &late))).await;
    if let Some(timer) = timer {
        scope.clear_timeout_with_handle(timer);
    }
    // The timer resolves to nothing; no fetch and no read of a stream does.
    first.map(|found| Some(found).filter(|found| !found.is_undefined()))
}
