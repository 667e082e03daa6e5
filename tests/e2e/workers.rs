//! Workers that the page cannot work with: the cell says why in words, and Retry computes once the
//! right files are there.

use std::path::{Path, PathBuf};

use serde_json::json;
use worker::protocol::BUILD;

use super::bench::copy;
use super::browser::{Browser, Look, with_browser};
use super::site;
use browser_harness::{Habits, Server};

/// A page with a cell that computes in the worker for cells, and that cell.
const PAGE: &str = "lesson/scaling/";
const CELL: &str = "[data-cell='why-scale']";

/// A copy of the site.
fn copied_site(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // An earlier run may have left the folder.
    let _ = std::fs::remove_dir_all(&folder);
    copy(&site::dist(), &folder);
    folder
}

/// The first file or folder in a folder that this holds for.
fn find(folder: &Path, what: impl Fn(&Path, &str) -> bool) -> PathBuf {
    let files = std::fs::read_dir(folder).expect("the folder can be read");
    let mut paths = files.map(|entry| entry.expect("its entries can be read").path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        what(path, &name)
    };
    paths.find(is_it).expect("the site has it")
}

/// The script of the worker for cells.
fn worker_script(site: &Path) -> PathBuf {
    find(site, |_, name| {
        name.starts_with("cells-") && name.ends_with(".js")
    })
}

/// The file of the worker with the code of a cell, and of others that need much the same.
fn worker_chunk(site: &Path, cell: &str) -> PathBuf {
    let script = |folder: &Path| std::fs::read_to_string(folder.join("load.js"));
    let folder = find(site, |path, name| {
        name.starts_with("chunks-") && script(path).is_ok_and(|text| text.contains("../cells-"))
    });
    let script = script(&folder).expect("the script can be read");
    let files = script
        .split_once("FILES = ")
        .and_then(|(_, rest)| rest.split_once(';'));
    let (files, _) = files.expect("it lists files");
    let files: serde_json::Value = serde_json::from_str(files).expect("the list is JSON");
    let own = files[cell].as_array().and_then(|files| files.last());
    folder.join(
        own.and_then(|file| file.as_str())
            .expect("the cell has a file"),
    )
}

/// Opens the page while one of the worker's files holds other text: the cell shows an error with
/// these words. With the right content back in its place, Retry computes.
async fn refuses_and_recovers(
    browser: &Browser,
    name: &str,
    file: impl Fn(&Path) -> PathBuf,
    wrong: &str,
    words: &str,
) {
    let folder = copied_site(name);
    let path = file(&folder);
    let right = std::fs::read(&path).expect("the file can be read");
    std::fs::write(&path, wrong).expect("the file can be replaced");
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
    std::fs::write(&path, right).expect("the file can be put back");
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
        export default () => new Promise(() => {});";
    with_browser(async |browser| {
        refuses_and_recovers(
            browser,
            "worker-stale",
            worker_script,
            script,
            "two versions of the site",
        )
        .await;
    });
}

#[test]
fn an_unreadable_message_is_an_error_of_the_cell_and_never_silence() {
    let script = format!(
        "postMessage(new Uint8Array([1, ...new TextEncoder().encode('{BUILD}')]));
         onmessage = () => postMessage(new Uint8Array([2, 255, 255]));
         export default () => new Promise(() => {{}});"
    );
    with_browser(async |browser| {
        refuses_and_recovers(
            browser,
            "worker-garbled",
            worker_script,
            &script,
            "could not be read",
        )
        .await;
    });
}

#[test]
fn a_worker_that_does_not_load_is_an_error_of_the_cell() {
    with_browser(async |browser| {
        let script = "throw new Error('no worker here')";
        refuses_and_recovers(
            browser,
            "worker-broken",
            worker_script,
            script,
            "could not be started",
        )
        .await;
    });
}

#[test]
fn worker_code_that_does_not_arrive_is_an_error_of_the_cell() {
    with_browser(async |browser| {
        let chunk = |site: &Path| worker_chunk(site, "why_scale");
        let words = "could not be fetched";
        refuses_and_recovers(browser, "worker-chunk", chunk, "no wasm", words).await;
    });
}
