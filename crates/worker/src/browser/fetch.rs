//! Files from a host or from the reader's disk, as they come.

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    AbortSignal, DedicatedWorkerGlobalScope, ReadableStream, ReadableStreamDefaultReader,
    RequestCache, RequestInit, Response,
};
use worker::build::Build;
use worker::model::error::ModelError;
use worker::model::file::{is_web_page, no_answer};
use worker::model::stored_file::ResponseInfo;

use super::models::LoadError;
use super::stream::{next_part, with_timeout};

/// Seconds after which a host that does not answer counts as gone.
const ANSWER_S: i32 = 30;

/// Bytes of a file that show whether it is a web page.
pub(super) const START: usize = 256;

/// A file on its way here.
pub(super) struct Download<'a> {
    /// Its name in messages.
    name: &'a str,
    /// Number of its bytes, where that is known.
    total: Option<u64>,
    /// Number of bytes that are here.
    here: u64,
}

impl<'a> Download<'a> {
    /// A download of which so many bytes are here.
    ///
    /// # Errors
    /// When it is too large.
    pub(super) fn new(name: &'a str, total: Option<u64>, here: u64) -> Result<Self, LoadError> {
        check_size(total.unwrap_or(0))?;
        Ok(Self { name, total, here })
    }

    /// The number of bytes that are here.
    #[cfg(feature = "lab")]
    pub(super) fn here(&self) -> u64 {
        self.here
    }

    /// Reads a stream to its end, unless the request is cancelled. `each` gets every part and its
    /// offset in the file; where it returns false, the rest is left, and this returns false. A
    /// stream of a host, for which the scope is given, may not be silent for long.
    ///
    /// # Errors
    /// When the stream breaks off, ends too early, is empty, too large or a web page, and those of
    /// `each`.
    pub(super) async fn read(
        &mut self,
        stream: &ReadableStream,
        host: Option<&DedicatedWorkerGlobalScope>,
        signal: &AbortSignal,
        each: &mut dyn FnMut(&Uint8Array, u64) -> Result<bool, LoadError>,
    ) -> Result<bool, LoadError> {
        let name = self.name;
        let broken = |error: JsValue| {
            broken_off(signal, format!("{name} broke off: {}.", message_of(&error)))
        };
        let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
        loop {
            let part = match next_part(&reader, host).await {
                Ok(part) => part,
                Err(error) => {
                    // A stream that is silent is still open.
                    let _ = reader.cancel();
                    return Err(broken(error));
                }
            };
            // A file of the disk does not follow the signal.
            if signal.aborted() {
                return Err(LoadError::Stopped);
            }
            let Some(chunk) = part else {
                break;
            };
            let (at, length) = (self.here, chunk.length());
            if at == 0 && is_web_page(&chunk.slice(0, (START as u32).min(length)).to_vec()) {
                let _ = reader.cancel();
                let name = name.to_owned();
                return Err(ModelError::WebPage { name }.into());
            }
            self.here += u64::from(length);
            let taken = check_size(self.here).and_then(|()| each(&chunk, at));
            if !matches!(taken, Ok(true)) {
                let _ = reader.cancel();
                return taken;
            }
        }
        match self.total {
            _ if self.here == 0 => Err(LoadError::Failed(format!("{name} is empty."))),
            Some(total) if total != self.here => Err(LoadError::Broken(format!(
                "{name} ended after {} of {total} bytes.",
                self.here
            ))),
            _ => Ok(true),
        }
    }
}

/// Checks that a model is built from so many bytes of weights.
///
/// # Errors
/// When they are too many.
pub(super) fn check_size(bytes: u64) -> Result<(), LoadError> {
    if bytes > Build::here().largest_weights() {
        return Err(LoadError::TooLarge(bytes));
    }
    Ok(())
}

/// Requests the bytes of a file from the offset `from` on. The answer may be an error or another
/// part.
///
/// # Errors
/// When no answer comes, or the host does not let other sites read it.
pub(super) async fn request(
    scope: &DedicatedWorkerGlobalScope,
    url: &str,
    from: u64,
    signal: &AbortSignal,
) -> Result<(Response, ResponseInfo), LoadError> {
    let cannot = |error: JsValue| {
        let why = match message_of(&error) {
            _ if !scope.navigator().on_line() => "this device is offline".to_owned(),
            // All that a browser says of these.
            why if error.is_instance_of::<js_sys::TypeError>() => no_answer(url, &why),
            why => why,
        };
        load_error(signal, format!("{url} cannot be fetched: {why}."))
    };
    let init = RequestInit::new();
    init.set_signal(Some(signal));
    // The worker stores it itself; the browser need not, too.
    init.set_cache(RequestCache::NoStore);
    if from > 0 {
        let headers = web_sys::Headers::new().map_err(cannot)?;
        let range = format!("bytes={from}-");
        headers.set("Range", &range).map_err(cannot)?;
        init.set_headers(&headers);
    }
    let asked = scope.fetch_with_str_and_init(url, &init);
    let answer = with_timeout(scope, ANSWER_S, &asked)
        .await
        .map_err(cannot)?;
    let answer = answer.ok_or_else(|| {
        let why =
            format!("{url} cannot be fetched: its host has not answered for {ANSWER_S} seconds.");
        broken_off(signal, why)
    });
    let response: Response = answer?.unchecked_into();
    let headers = response.headers();
    let answer = ResponseInfo::new(response.status(), |name| headers.get(name).ok().flatten());
    Ok((response, answer))
}

/// The body of an answer that is a file.
///
/// # Errors
/// When the host says that it has none.
pub(super) fn body(url: &str, response: &Response) -> Result<ReadableStream, LoadError> {
    if !response.ok() {
        let status = response.status();
        let why = format!("{url} cannot be fetched: the host answers {status}.");
        return Err(LoadError::Failed(why));
    }
    let empty = || LoadError::Failed(format!("{url} is empty."));
    response.body().ok_or_else(empty)
}

/// The last part of an address's path.
pub(super) fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.rsplit('/').next().unwrap_or(path)
}

/// The address of another file in the same folder.
pub(super) fn beside(url: &str, name: &str) -> Option<String> {
    let path = url.split(['?', '#']).next()?;
    path.rsplit_once('/')
        .map(|(folder, _)| format!("{folder}/{name}"))
}

/// Why the browser does not open a file of its storage or write to it, in words.
pub(super) fn storage_message_of(error: &JsValue) -> String {
    let name = Reflect::get(error, &"name".into()).ok();
    match name.and_then(|name| name.as_string()).as_deref() {
        Some("NoModificationAllowedError") => "another page has this file open".to_owned(),
        Some("QuotaExceededError") => "the storage for this site is full".to_owned(),
        _ => message_of(error),
    }
}

fn load_error(signal: &AbortSignal, why: String) -> LoadError {
    if signal.aborted() {
        LoadError::Stopped
    } else {
        LoadError::Failed(why)
    }
}

/// The error of a host that went away.
fn broken_off(signal: &AbortSignal, why: String) -> LoadError {
    if signal.aborted() {
        LoadError::Stopped
    } else {
        LoadError::Broken(why)
    }
}

/// The message of an error of the browser.
pub(super) fn message_of(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok();
    let message = message.and_then(|message| message.as_string());
    message
        .or_else(|| error.as_string())
        .unwrap_or_else(|| "unknown reason".to_owned())
}
