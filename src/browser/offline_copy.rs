//! The copy of the site for reading offline: the service worker and its files (`public/sw.js`).

use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, Cache, CacheStorage, Request, Response, ServiceWorkerRegistration};

use super::{address, dom};

/// The files of the copy and their bytes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OfflineCopy {
    /// The number of files.
    pub(crate) files: u32,
    /// Their bytes.
    pub(crate) bytes: u64,
}

/// The copy; `None` where there is none.
pub(crate) async fn find() -> Option<OfflineCopy> {
    let caches = caches()?;
    let mut copy = OfflineCopy::default();
    for name in names(&caches).await.ok()? {
        add(&mut copy, &caches, &name).await.ok()?;
    }
    (copy.files > 0).then_some(copy)
}

/// Deletes the copy, and ends the service worker that answers from it.
///
/// # Errors
/// The error of the browser.
pub(crate) async fn delete() -> Result<(), JsValue> {
    let ended = match registration().await {
        Some(registration) => JsFuture::from(registration.unregister()?).await.map(drop),
        None => Ok(()),
    };
    if let Some(caches) = caches() {
        for name in names(&caches).await? {
            JsFuture::from(caches.delete(&name)).await?;
        }
    }
    ended
}

/// The browser's caches; `None` on a page that did not come over HTTPS.
fn caches() -> Option<CacheStorage> {
    let window = dom::window()?;
    let has = Reflect::get(&window, &"caches".into()).is_ok_and(|caches| caches.is_object());
    has.then(|| window.caches().ok())?
}

/// The names of this site's caches; another site of the same host may have others.
async fn names(caches: &CacheStorage) -> Result<Vec<String>, JsValue> {
    let names: Array = JsFuture::from(caches.keys()).await?.dyn_into()?;
    let own = format!("notebook {} ", address::site_url(""));
    let names = names.iter().filter_map(|name| name.as_string());
    Ok(names.filter(|name| name.starts_with(&own)).collect())
}

async fn add(copy: &mut OfflineCopy, caches: &CacheStorage, name: &str) -> Result<(), JsValue> {
    let cache: Cache = JsFuture::from(caches.open(name)).await?.dyn_into()?;
    let requests: Array = JsFuture::from(cache.keys()).await?.dyn_into()?;
    for request in requests.iter() {
        let request: Request = request.dyn_into()?;
        let answer = JsFuture::from(cache.match_with_request(&request)).await?;
        // The service worker may have deleted it meanwhile.
        let Ok(answer) = answer.dyn_into::<Response>() else {
            continue;
        };
        let content: Blob = JsFuture::from(answer.blob()?).await?.dyn_into()?;
        copy.files += 1;
        copy.bytes += content.size() as u64;
    }
    Ok(())
}

async fn registration() -> Option<ServiceWorkerRegistration> {
    let navigator = dom::window()?.navigator();
    let workers = Reflect::get(&navigator, &"serviceWorker".into()).ok()?;
    if !workers.is_object() {
        return None;
    }
    let scope = address::site_url("");
    let found = navigator
        .service_worker()
        .get_registration_with_document_url(&scope);
    let found: ServiceWorkerRegistration = JsFuture::from(found).await.ok()?.dyn_into().ok()?;
    // A site around this one may have a service worker too.
    (found.scope() == scope).then_some(found)
}
