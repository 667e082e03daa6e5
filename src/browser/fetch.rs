//! Fetching files of the site, and asking hosts about files.

use gloo_net::http::{Method, Request, RequestBuilder};

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

/// Asks a host about a file without fetching it; `None` where there is no answer.
pub(crate) async fn head(url: &str) -> Option<Head> {
    let request = RequestBuilder::new(url).method(Method::HEAD);
    let answer = request.send().await.ok()?;
    let headers = answer.headers();
    let length = headers.get("content-length");
    let plain = headers.get("content-encoding").is_none();
    Some(Head {
        status: answer.status(),
        ok: answer.ok(),
        bytes: length
            .filter(|_| plain)
            .and_then(|length| length.parse().ok()),
    })
}
