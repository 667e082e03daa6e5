//! Fetching files of the site, and asking hosts about files.

use gloo_net::http::Request;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, RequestInit, Response};

use super::dom;

/// Milliseconds after which a host that does not say how large a file is will not say it.
const PATIENCE_MS: u32 = 10_000;

/// Fetches a text of the site.
///
/// # Errors
/// A sentence for the reader.
pub(crate) async fn text(url: &str) -> Result<String, String> {
    let failed = || "This could not be fetched. Check the connection and try again.".to_owned();
    let response = Request::get(url).send().await.map_err(|_| failed())?;
    if !response.ok() {
        return Err(failed());
    }
    response.text().await.map_err(|_| failed())
}

/// The answer of a host that was asked about a file.
pub(crate) struct Head {
    /// Status of the answer.
    pub(crate) status: u16,
    /// True for a status from 200 to 299.
    pub(crate) ok: bool,
    /// Size of the file in bytes, where the host states it. The size of a compressed answer is
    /// another one, and left out.
    pub(crate) bytes: Option<u64>,
}

/// Asks a host about a file without fetching it; `None` where there is no answer in ten seconds. The
/// address is asked for as it is: a signed one with another query would be refused.
pub(crate) async fn head(url: &str) -> Option<Head> {
    let init = RequestInit::new();
    init.set_method("HEAD");
    init.set_signal(Some(&AbortSignal::timeout_with_u32(PATIENCE_MS)));
    let asked = dom::window()?.fetch_with_str_and_init(url, &init);
    let answer: Response = JsFuture::from(asked).await.ok()?.unchecked_into();
    let header = |name| answer.headers().get(name).ok().flatten();
    let length = header("content-length");
    let plain = header("content-encoding").is_none();
    Some(Head {
        status: answer.status(),
        ok: answer.ok(),
        bytes: length
            .filter(|_| plain)
            .and_then(|length| length.parse().ok()),
    })
}
