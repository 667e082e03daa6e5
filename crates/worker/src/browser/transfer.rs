//! Files of an address that are stored on the device: stored bytes are not fetched again, and a
//! download that broke off continues.

use engine::format::file_bytes::FileBytes;
use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use web_sys::{AbortSignal, DedicatedWorkerGlobalScope};
use worker::model::protocol::Storage;

use super::fetch::{Download, beside, body, request, storage_message_of};
use super::memory::InMemory;
use super::models::LoadError;

/// The bytes of a file, in memory or where they are stored, and their place on the device.
pub(super) struct Fetched {
    pub(super) bytes: FileBytes,
    pub(super) storage: Storage,
}

/// The transfer of one file: its address, its cancellation, its progress.
pub(super) struct Transfer<'a> {
    pub(super) scope: &'a DedicatedWorkerGlobalScope,
    pub(super) url: &'a str,
    pub(super) signal: &'a AbortSignal,
    pub(super) progress: &'a mut dyn FnMut(u64, Option<u64>),
}

/// The bytes of an address: those that are stored on the device, and the missing ones from the
/// host, which are stored as they come, and are read from there while a model is built. Where the
/// browser refuses to store them, they are in memory only. `progress` is called with the number of bytes that are here, and their total where the
/// host states it.
///
/// # Errors
/// When they cannot be fetched, or the download breaks off.
pub(super) async fn bytes(
    scope: &DedicatedWorkerGlobalScope,
    url: &str,
    signal: &AbortSignal,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Fetched, LoadError> {
    let mut transfer = Transfer {
        scope,
        url,
        signal,
        progress,
    };
    #[cfg(feature = "lab")]
    let refused = match transfer.open_stored().await {
        Ok((stored, folder)) => return transfer.complete_stored(stored, &folder).await,
        Err(error) => error,
    };
    // The file that only measures stores nothing, and is without the code for it.
    #[cfg(not(feature = "lab"))]
    let refused = JsValue::UNDEFINED;
    transfer.fetch_to_memory(&refused).await
}

impl Transfer<'_> {
    async fn fetch_to_memory(&mut self, refused: &JsValue) -> Result<Fetched, LoadError> {
        let (response, answer) = request(self.scope, self.url, 0, self.signal).await?;
        let stream = body(self.url, &response)?;
        let mut download = Download::new(self.url, answer.length, 0)?;
        let mut memory = InMemory::new(answer.length)?;
        let progress = &mut *self.progress;
        let mut each = |chunk: &Uint8Array, at: u64| -> Result<bool, LoadError> {
            memory.add(at, chunk)?;
            progress(at + u64::from(chunk.length()), answer.length);
            Ok(true)
        };
        let host = Some(self.scope);
        download.read(&stream, host, self.signal, &mut each).await?;
        Ok(Fetched {
            bytes: memory.bytes(),
            storage: Storage::Refused(storage_message_of(refused)),
        })
    }
}

/// The files that a host has beside weights: of each group the first that is there.
///
/// # Errors
/// When the request is cancelled.
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
                    let bytes = found.bytes.start(usize::MAX).map_err(LoadError::Failed)?;
                    all.push(((*name).to_owned(), bytes.into_owned()));
                    break;
                }
                Err(error @ (LoadError::Stopped | LoadError::Broken(_))) => return Err(error),
                // Many models have no such file.
                Err(LoadError::Failed(_) | LoadError::TooLarge(_)) => {}
            }
        }
    }
    Ok(all)
}
