//! Files from a host or from the reader's disk, as they come.

use std::sync::Arc;

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortSignal, DedicatedWorkerGlobalScope, File, ReadableStream, ReadableStreamDefaultReader,
    RequestInit, Response,
};
use worker::model::error::ModelError;

use super::host::Trouble;

/// The largest file: no piece of memory is larger than 2 GiB, and the model has to stand beside it.
const LARGEST: u64 = 0x7f00_0000;

/// The bytes of a file; `progress` hears how many are here, and of how many where the host says so.
pub(super) async fn bytes(
    scope: &DedicatedWorkerGlobalScope,
    url: &str,
    signal: &AbortSignal,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Arc<[u8]>, Trouble> {
    let response = request(scope, url, signal).await?;
    // What comes compressed has another length than the host says.
    let header = |name: &str| response.headers().get(name).ok().flatten();
    let total = match header("Content-Encoding") {
        Some(_) => None,
        None => header("Content-Length").and_then(|length| length.parse::<u64>().ok()),
    };
    let too_large = |bytes: u64| Trouble::from(ModelError::TooLarge { bytes });
    if let Some(bytes) = total.filter(|&bytes| bytes > LARGEST) {
        return Err(too_large(bytes));
    }
    let body = response
        .body()
        .ok_or_else(|| Trouble::Failed(format!("{url} is empty.")))?;
    read(url, &body, total, signal, progress).await
}

/// The bytes of a file that the reader chose; `progress` hears how many are here.
pub(super) async fn of_disk(
    file: &File,
    signal: &AbortSignal,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Arc<[u8]>, Trouble> {
    let bytes = file.size() as u64;
    if bytes > LARGEST {
        return Err(ModelError::TooLarge { bytes }.into());
    }
    read(&file.name(), &file.stream(), Some(bytes), signal, progress).await
}

/// Reads a stream to its end, unless the reader stops it.
async fn read(
    name: &str,
    stream: &ReadableStream,
    total: Option<u64>,
    signal: &AbortSignal,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Arc<[u8]>, Trouble> {
    let broken = |error: JsValue| trouble(signal, &format!("{name} broke off: {}", words(&error)));
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    // Where the length is known the file has its place from the start, and is never in memory twice.
    let mut file: Arc<[u8]> = std::iter::repeat_n(0, total.unwrap_or(0) as usize).collect();
    let mut more = Vec::new();
    let mut done = 0;
    loop {
        let part = JsFuture::from(reader.read()).await.map_err(broken)?;
        // A file of the disk knows nothing of the signal.
        if signal.aborted() {
            return Err(Trouble::Stopped);
        }
        let value = Reflect::get(&part, &"value".into()).unwrap_or(JsValue::UNDEFINED);
        let Ok(chunk) = value.dyn_into::<Uint8Array>() else {
            break;
        };
        let length = chunk.length() as usize;
        match Arc::get_mut(&mut file).and_then(|file| file.get_mut(done..done + length)) {
            Some(place) => chunk.copy_to(place),
            None => more.extend(chunk.to_vec()),
        }
        done += length;
        if done as u64 > LARGEST {
            return Err(ModelError::TooLarge { bytes: done as u64 }.into());
        }
        progress(done as u64, total);
    }
    match total {
        Some(total) if total != done as u64 => Err(Trouble::Failed(format!(
            "{name} ended after {done} of {total} bytes."
        ))),
        Some(_) => Ok(file),
        None => Ok(more.into()),
    }
}

/// What a host has beside weights: of each group the first file that is there.
pub(super) async fn all_beside(
    scope: &DedicatedWorkerGlobalScope,
    url: &str,
    groups: &[&[&str]],
    signal: &AbortSignal,
) -> Result<Vec<(String, Vec<u8>)>, Trouble> {
    let mut all = Vec::new();
    for group in groups {
        for name in *group {
            let Some(address) = beside(url, name) else {
                continue;
            };
            match bytes(scope, &address, signal, &mut |_, _| {}).await {
                Ok(found) => {
                    all.push(((*name).to_owned(), found.to_vec()));
                    break;
                }
                Err(Trouble::Stopped) => return Err(Trouble::Stopped),
                // Many models have no such file.
                Err(Trouble::Failed(_)) => {}
            }
        }
    }
    Ok(all)
}

/// The last part of an address's path.
pub(super) fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.rsplit('/').next().unwrap_or(path)
}

/// The address of another file in the same folder.
fn beside(url: &str, name: &str) -> Option<String> {
    let path = url.split(['?', '#']).next()?;
    path.rsplit_once('/')
        .map(|(folder, _)| format!("{folder}/{name}"))
}

async fn request(
    scope: &DedicatedWorkerGlobalScope,
    url: &str,
    signal: &AbortSignal,
) -> Result<Response, Trouble> {
    let init = RequestInit::new();
    init.set_signal(Some(signal));
    let answer = JsFuture::from(scope.fetch_with_str_and_init(url, &init)).await;
    let response: Response = answer
        .map_err(|error| {
            trouble(
                signal,
                &format!("{url} cannot be fetched: {}", words(&error)),
            )
        })?
        .unchecked_into();
    if response.ok() {
        return Ok(response);
    }
    Err(Trouble::Failed(format!(
        "{url} cannot be fetched: the host answers {}.",
        response.status()
    )))
}

fn trouble(signal: &AbortSignal, why: &str) -> Trouble {
    if signal.aborted() {
        Trouble::Stopped
    } else {
        Trouble::Failed(why.to_owned())
    }
}

fn words(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok();
    message
        .and_then(|message| message.as_string())
        .unwrap_or_else(|| "unknown reason".to_owned())
}
