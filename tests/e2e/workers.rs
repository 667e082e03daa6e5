//! Workers that the page cannot work with: the cell says why in words, and Retry computes once the right files are there.

use std::path::{Path, PathBuf};

use serde_json::json;
use worker::protocol::BUILD;

use super::bench::copy;
use super::browser::{Browser, Look, with_browser};
use super::site;
use browser_harness::{Habits, Server};

/// A page with a cell that computes in the worker for training, and that cell.
const PAGE: &str = "lesson/scaling/";
const CELL: &str = "[data-cell='why-scale']";

/// A copy of the site, and in it the script of the worker for training.
fn site_and_script(name: &str) -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // An earlier run may have left the folder.
    let _ = std::fs::remove_dir_all(&folder);
    copy(&site::dist(), &folder);
    let files = std::fs::read_dir(&folder).expect("the site can be read");
    let script = files
        .map(|entry| entry.expect("its entries can be read").path())
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("cells-training-") && name.ends_with(".js")
        });
    (folder, script.expect("the site has a worker for training"))
}

/// Opens the page while the worker's script is another one: the cell shows an error with these words. With the right script back in its
/// place, Retry computes.
async fn refuses_and_recovers(browser: &Browser, name: &str, script: &str, words: &str) {
    let (folder, path) = site_and_script(name);
    let right = std::fs::read(&path).expect("the script can be read");
    std::fs::write(&path, script).expect("the script can be replaced");
    let server = Server::start(&folder, Habits::ROOT).expect("a free port");
    browser.devtools("Network.enable", json!({})).await;
    // The copy for reading offline would answer in place of the server.
    let bypass = json!({ "bypass": true });
    browser
        .devtools("Network.setBypassServiceWorker", bypass)
        .await;
    browser.look(Look::PHONE_LIGHT).await;
    browser.open(&server.url(PAGE)).await;
    browser
        .script(
            &format!("document.querySelector(\"{CELL}\").scrollIntoView()"),
            &[],
        )
        .await;
    browser
        .wait_for(
            &format!("the cell to say: {words}"),
            &format!(
                "const error = document.querySelector(\"{CELL} .cell-error\");
                 return !!error && error.textContent.includes('{words}') && error.querySelector('button')?.textContent === 'Retry'"
            ),
        )
        .await;
    browser.picture(name).await;
    std::fs::write(&path, right).expect("the script can be put back");
    browser
        .script(
            &format!("document.querySelector(\"{CELL} .cell-error button\").click()"),
            &[],
        )
        .await;
    browser
        .wait_for(
            "the cell to compute",
            &format!("return document.querySelector(\"{CELL}\").dataset.state === 'ready'"),
        )
        .await;
}

#[test]
fn a_worker_of_another_build_is_refused_in_words_and_retry_computes() {
    let script =
        "postMessage(new Uint8Array([1, ...new TextEncoder().encode('0000000000000000')]));
        var wasm_bindgen = () => new Promise(() => {});";
    with_browser(async |browser| {
        refuses_and_recovers(browser, "worker-stale", script, "two versions of the site").await;
    });
}

#[test]
fn an_unreadable_message_is_an_error_of_the_cell_and_never_silence() {
    let script = format!(
        "postMessage(new Uint8Array([1, ...new TextEncoder().encode('{BUILD}')]));
         onmessage = () => postMessage(new Uint8Array([2, 255, 255]));
         var wasm_bindgen = () => new Promise(() => {{}});"
    );
    with_browser(async |browser| {
        refuses_and_recovers(browser, "worker-garbled", &script, "could not be read").await;
    });
}

#[test]
fn a_worker_that_does_not_load_is_an_error_of_the_cell() {
    with_browser(async |browser| {
        let script = "throw new Error('no worker here')";
        refuses_and_recovers(browser, "worker-broken", script, "could not be started").await;
    });
}
