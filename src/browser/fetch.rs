//! Fetching files of the site itself.

use gloo_net::http::Request;

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
