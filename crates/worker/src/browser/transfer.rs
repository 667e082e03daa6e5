//! Files of an address that are kept on the device: what is here is not fetched again, and a download that broke off goes on where it was.

use std::sync::Arc;

use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use web_sys::{AbortSignal, DedicatedWorkerGlobalScope};
use worker::model::protocol::Storage;

use super::fetch::{Download, ask, beside, body, words};
use super::models::LoadError;

/// Bytes that are here, and how they came.
pub(super) struct Fetched {
    pub(super) bytes: Arc<[u8]>,
    pub(super) storage: Storage,
}

/// Where a file comes from, and who hears of it.
pub(super) struct Transfer<'a> {
    pub(super) scope: &'a DedicatedWorkerGlobalScope,
    pub(super) url: &'a str,
    pub(super) signal: &'a AbortSignal,
    pub(super) progress: &'a mut dyn FnMut(u64, Option<u64>),
}

/// The bytes of an address: those that are kept on the device, and from the host what is missing, which is kept as it comes. Where
/// the browser refuses to keep it, it is only brought into memory. `progress` hears how many are here, and of how many where the host
/// says so.
///
/// # Errors
/// When they cannot be fetched, or the download breaks off.
pub(super) async fn bytes(
    scope: &DedicatedWorkerGlobalScope,
    url: &str,
    signal: &AbortSignal,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Fetched, LoadError> {
    let mut way = Transfer {
        scope,
        url,
        signal,
        progress,
    };
    #[cfg(feature = "lab")]
    let refused = match way.open_kept().await {
        Ok((kept, folder)) => return way.through(kept, &folder).await,
        Err(error) => error,
    };
    // The file that only measures keeps nothing, and is without the code for it.
    #[cfg(not(feature = "lab"))]
    let refused = JsValue::UNDEFINED;
    way.fetch_to_memory(&refused).await
}

impl Transfer<'_> {
    async fn fetch_to_memory(&mut self, refused: &JsValue) -> Result<Fetched, LoadError> {
        let (response, answer) = ask(self.scope, self.url, 0, self.signal).await?;
        let stream = body(self.url, &response)?;
        let mut coming = Download::new(self.url, answer.length)?;
        let progress = &mut *self.progress;
        let mut each = |chunk: &Uint8Array, at: u64, total: Option<u64>| {
            progress(at + u64::from(chunk.length()), total);
        };
        coming.read(&stream, self.signal, &mut each).await?;
        Ok(Fetched {
            bytes: coming.whole(),
            storage: Storage::Refused(words(refused)),
        })
    }
}

/// What a host has beside weights: of each group the first file that is there.
///
/// # Errors
/// When the reader stops it.
pub(super) async fn all_beside(
    scope: &DedicatedWorkerGlobalScope,
    url: &str,
    groups: &[&[&str]],
    signal: &AbortSignal,
) -> Result<Vec<(String, Vec<u8>)>, LoadError> {
    let mut all = Vec::new();
    for group in groups {
        for name in *group {
            let Some(address) = beside(url, name) else {
                continue;
            };
            match bytes(scope, &address, signal, &mut |_, _| {}).await {
                Ok(found) => {
                    all.push(((*name).to_owned(), found.bytes.to_vec()));
                    break;
                }
                Err(LoadError::Stopped) => return Err(LoadError::Stopped),
                // Many models have no such file.
                Err(LoadError::Failed(_)) => {}
            }
        }
    }
    Ok(all)
}
