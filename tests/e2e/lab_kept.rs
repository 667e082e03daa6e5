//! What the lab fetches is kept: a download that breaks off goes on where it was, and what is here
//! is not fetched again.

use std::net::TcpListener;
use std::path::PathBuf;

use engine::format::gguf::Gguf;
use fantoccini::Locator;
use serde_json::json;
use tools::gguf::split;

use super::browser::{Browser, Look, with_browser};
use super::file_host::{FileHost, Sent};
use super::lab::{choose, hollow, made, set, shared, start, text, wait_open};
use super::reader::click;
use super::site;
use browser_harness::Habits;

pub(crate) const MODEL: &str = "/models/story.gguf";

/// The same model under a name that says the type of its matrices.
const NAMED: &str = "/models/story-f32.gguf";

/// Has the page ask a host that never answers about `/silent.gguf`, and note that it has asked. No
/// limit of time ends this question, so a page that waits for its answer waits for ever.
const NEVER_ANSWER: &str = "window.plainFetch = window.fetch;
    window.fetch = (url, ...rest) => String(url).endsWith('/silent.gguf')
        ? new Promise(() => { window.isAsked = true; })
        : window.plainFetch(url, ...rest);";

/// A port on which nobody listens.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its number").port()
}

/// Opens an address; says yes where the lab asks, and gives what it asked.
pub(crate) async fn open_url(browser: &Browser, url: &str) -> String {
    set(browser, json!({ "url": url })).await;
    open_named(browser).await
}

/// Asks for an address and returns what the lab asks before it fetches.
pub(crate) async fn ask(browser: &Browser, url: &str) -> String {
    set(browser, json!({ "url": url })).await;
    ask_named(browser).await
}

async fn ask_named(browser: &Browser) -> String {
    click(browser, Locator::XPath("//button[.='Fetch and open']")).await;
    browser
        .wait_for(
            "a question, a model or an error",
            "return !!document.querySelector('.lab-ahead, .lab-facts, .lab .cell-error')",
        )
        .await;
    text(browser, ".lab-ahead p").await
}

pub(crate) async fn open_named(browser: &Browser) -> String {
    let question = ask_named(browser).await;
    if !question.is_empty() {
        click(browser, Locator::XPath("//button[.='Fetch it']")).await;
    }
    question
}

pub(crate) async fn unload(browser: &Browser) {
    click(browser, Locator::XPath("//button[.='Unload']")).await;
    browser
        .wait_for(
            "the worker to end",
            "return running.size === 0 && !document.querySelector('.lab-facts')",
        )
        .await;
}

/// Asks for a file in a weight format, reads what the lab asks, and says no.
async fn forecast(browser: &Browser, url: &str, packing: &str) -> String {
    set(browser, json!({ "url": url, "packing": packing })).await;
    click(browser, Locator::XPath("//button[.='Fetch and open']")).await;
    browser
        .wait_for(
            "the question",
            "return !!document.querySelector('.lab-ahead')",
        )
        .await;
    let question = text(browser, ".lab-ahead p").await;
    click(browser, Locator::XPath("//button[.='Leave it']")).await;
    assert!(error(browser).await.contains("Nothing was opened"));
    question
}

/// Waits for an error and returns it.
pub(crate) async fn error(browser: &Browser) -> String {
    browser
        .wait_for(
            "an error",
            "return !!document.querySelector('.lab .cell-error') && !document.querySelector('.lab progress')",
        )
        .await;
    text(browser, ".lab .cell-error").await
}

#[test]
fn a_download_that_breaks_off_goes_on_and_is_kept_until_it_is_deleted() {
    let Some(model) = shared("stories260K/stories260K-f32.gguf") else {
        return;
    };
    let bytes = std::fs::read(model).expect("it can be read");
    let whole = bytes.len();
    let host = FileHost::start(vec![(MODEL, bytes.clone()), (NAMED, bytes)]);
    let server = site::serve(Habits::ROOT);
    let url = host.url(MODEL);
    with_browser(async |browser| {
        start(browser, &server, Look::PHONE_DARK).await;
        set(browser, json!({ "url": url })).await;
        click(browser, Locator::XPath("//button[.='Fetch and open']")).await;
        browser
            .wait_for(
                "the question, with the keyboard on its answer",
                "return !!document.querySelector('.lab-ahead') && document.activeElement.textContent === 'Fetch it'",
            )
            .await;
        assert_eq!(host.take_sent(), [], "nothing is fetched unasked");
        browser.picture("lab-ahead").await;
        click(browser, Locator::XPath("//button[.='Leave it']")).await;
        assert!(error(browser).await.contains("Nothing was opened"));
        assert_eq!(host.take_sent(), []);

        // The weight format changes the forecast: 8.5 bits a number instead of 32.
        for (packing, bits) in [("", 32.0), ("q8_0", 8.5), ("q4_0", 4.5)] {
            let kept = 4e6 + whole as f64 * bits / 32.0;
            let memory = format!("takes about {:.1} MB of memory", kept / 1e6);
            let question = forecast(browser, &host.url(NAMED), packing).await;
            println!("{question}");
            assert!(question.contains(&memory), "{memory}: {question}");
        }
        set(browser, json!({ "packing": "" })).await;
        assert_eq!(host.take_sent(), []);

        host.cut_next(whole / 2);
        let question = open_url(browser, &url).await;
        for words in ["1.1 MB to fetch", "5.1 MB of memory", "tokens a second"] {
            assert!(question.contains(words), "{words}: {question}");
        }
        let why = error(browser).await;
        println!("{why}");
        assert!(why.contains("What came is kept"), "{why}");
        browser
            .wait_for(
                "the list of what is kept",
                "return !!document.querySelector('.lab-kept')",
            )
            .await;
        let size = text(browser, ".lab-kept-size").await;
        assert!(size.contains(" of "), "{size}");
        host.take_sent();

        // The page's address names the model; a reader who comes back finds it in the form.
        browser
            .open_ready(&browser_url(browser).await)
            .await
            .expect("the form appears");
        let named = browser
            .script(
                "return document.querySelector('.lab [name=url]').value",
                &[],
            )
            .await;
        assert_eq!(named, json!(url));
        let question = open_named(browser).await;
        assert!(question.contains("of which"), "{question}");
        wait_open(browser).await;
        let [Sent { from, bytes, .. }] = &host.take_sent()[..] else {
            panic!("one request for the rest")
        };
        assert!(
            *from > 0 && *from <= whole / 2 && from + bytes == whole,
            "{from} {bytes}"
        );
        let storage = text(browser, ".lab-storage").await;
        assert!(storage.contains("were kept on this device"), "{storage}");

        unload(browser).await;
        let question = open_url(browser, &url).await;
        assert_eq!(question, "", "there is nothing to fetch");
        wait_open(browser).await;
        assert_eq!(host.take_sent(), [], "all of it was here");
        let storage = text(browser, ".lab-storage").await;
        assert!(storage.contains("nothing was fetched"), "{storage}");
        unload(browser).await;

        click(browser, Locator::Css(".lab-kept summary")).await;
        click(
            browser,
            Locator::Css(".lab-kept button[aria-label='Delete story.gguf']"),
        )
        .await;
        browser
            .wait_for(
                "the list to be empty",
                "return !document.querySelector('.lab-kept')",
            )
            .await;
        open_url(browser, &url).await;
        wait_open(browser).await;
        let from_start =
            |sent: &[Sent]| matches!(sent, [Sent { from: 0, bytes, .. }] if *bytes == whole);
        assert!(from_start(&host.take_sent()), "it was fetched anew");
    });
}

pub(crate) async fn browser_url(browser: &Browser) -> String {
    let href = browser.script("return location.href", &[]).await;
    href.as_str().expect("an address").to_owned()
}

#[test]
fn a_model_in_two_files_is_opened_by_the_address_of_either() {
    let Some(model) = shared("stories260K/stories260K-f32.gguf") else {
        return;
    };
    let model = std::fs::read(model).expect("it can be read");
    let model = Gguf::parse(model.into()).expect("a GGUF");
    let parts = split(&model, 2).expect("it has two tensors");
    let names = ["story-00001-of-00002.gguf", "story-00002-of-00002.gguf"];
    let on_disk: Vec<PathBuf> = names
        .iter()
        .zip(&parts)
        .map(|(name, part)| made(name, part))
        .collect();
    let paths = ["/story-00001-of-00002.gguf", "/story-00002-of-00002.gguf"];
    let host = FileHost::start(paths.into_iter().zip(parts).collect());
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        let question = open_url(browser, &host.url(paths[1])).await;
        assert!(question.contains("1.1 MB to fetch"), "{question}");
        wait_open(browser).await;
        let sent: Vec<String> = host.take_sent().into_iter().map(|sent| sent.path).collect();
        assert_eq!(sent, paths);
        unload(browser).await;

        // Both are kept, and either opens the model.
        assert_eq!(open_url(browser, &host.url(paths[0])).await, "");
        wait_open(browser).await;
        assert_eq!(host.take_sent(), []);
        let said = text(browser, ".lab").await;
        assert!(said.contains("nothing was fetched"), "{said}");
        unload(browser).await;

        // From the disk: one by itself is not enough.
        choose(browser, &[&on_disk[1]]).await;
        let why = error(browser).await;
        assert!(
            why.contains("part 2 of 2") && why.contains(names[0]),
            "{why}"
        );
        // The number of threads is the reader's choice, where there can be several.
        let offered = "return !!document.querySelector('.lab [name=threads]')";
        let possible = "return crossOriginIsolated && navigator.hardwareConcurrency > 1";
        let offered = browser.script(offered, &[]).await;
        assert_eq!(offered, browser.script(possible, &[]).await);
        if offered == json!(true) {
            set(browser, json!({ "threads": "1" })).await;
        }
        choose(browser, &[&on_disk[1], &on_disk[0]]).await;
        wait_open(browser).await;
        let facts = text(browser, ".lab-facts").await;
        assert!(
            facts.contains("1 thread") && !facts.contains("threads"),
            "{facts}"
        );
    });
}

#[test]
fn where_nothing_can_be_kept_it_comes_into_memory_and_this_is_said() {
    let Some(model) = shared("stories260K/stories260K-f32.gguf") else {
        return;
    };
    let bytes = std::fs::read(model).expect("it can be read");
    let host = FileHost::start(vec![(MODEL, bytes)]);
    let server = site::serve(Habits::ROOT);
    let url = host.url(MODEL);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        // The page itself has the file open, so that the worker cannot have it.
        let held = browser
            .script_async(
                "const [name, done] = arguments;
                 (async () => {
                     const root = await navigator.storage.getDirectory();
                     const folder = await root.getDirectoryHandle('models', { create: true });
                     const file = await folder.getFileHandle(name, { create: true });
                     window.held = await file.createWritable();
                 })().then(() => done(true), error => done(String(error)))",
                &[json!(worker::model::stored_file::stored_name(&url))],
            )
            .await;
        assert_eq!(held, json!(true));
        open_url(browser, &url).await;
        wait_open(browser).await;
        let storage = text(browser, ".lab-storage").await;
        println!("{storage}");
        assert!(storage.contains("in memory only"), "{storage}");
    });
}

#[test]
fn what_is_too_large_or_not_there_is_named() {
    let host = FileHost::start(Vec::new());
    let server = site::serve(Habits::ROOT);
    let huge = hollow("huge.gguf", 50_000_000_000);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_DARK).await;
        for (path, words) in [
            ("/vast.gguf", "50000000000 bytes is too large"),
            ("/nothing.gguf", "the host answers 404"),
        ] {
            open_url(browser, &host.url(path)).await;
            let why = error(browser).await;
            assert!(why.contains(words), "{why}");
        }
        super::lab::choose(browser, &[&huge]).await;
        browser
            .wait_for(
                "another error",
                "return !!document.querySelector('.lab .cell-error')?.textContent.includes('50000000000 bytes is too large')",
            )
            .await;
        // Nothing is left of what did not come.
        let kept = browser
            .script("return !!document.querySelector('.lab-kept')", &[])
            .await;
        assert_eq!(kept, json!(false));
    });
    std::fs::remove_file(&huge).expect("it can be taken away");
}

#[test]
fn a_version_that_differs_where_it_is_compared_is_fetched_whole() {
    let Some(model) = shared("stories260K/stories260K-f32.gguf") else {
        return;
    };
    let bytes = std::fs::read(model).expect("it can be read");
    let whole = bytes.len();
    // Of the same length and date: one number of the first matrix is another one.
    let mut other = bytes.clone();
    other[whole / 4] ^= 1;
    other[whole / 2 - 40_000] ^= 1;
    let host = FileHost::start(vec![(MODEL, bytes)]);
    let server = site::serve(Habits::ROOT);
    let url = host.url(MODEL);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        host.cut_next(whole / 2);
        open_url(browser, &url).await;
        assert!(error(browser).await.contains("What came is kept"));
        host.take_sent();
        // A host that answers with a page for a while takes nothing away.
        host.replace(
            MODEL,
            b"<!doctype html><title>Come back later</title>".to_vec(),
        );
        open_url(browser, &url).await;
        assert!(error(browser).await.contains("is a web page"));
        let size = text(browser, ".lab-kept-size").await;
        assert!(size.contains(" of "), "the part is still stored: {size}");
        host.take_sent();
        host.replace(MODEL, other);
        open_url(browser, &url).await;
        wait_open(browser).await;
        let sent = host.take_sent();
        assert!(
            matches!(&sent[..], [Sent { from: 1.., .. }, Sent { from: 0, bytes, .. }] if *bytes == whole),
            "the rest is asked for, then all of it: {sent:?}"
        );
        // What is stored is the new version to the last byte.
        let stored = browser
            .script_async(
                "const [name, url, done] = arguments;
                 (async () => {
                     const root = await navigator.storage.getDirectory();
                     const folder = await root.getDirectoryHandle('models');
                     const file = await (await folder.getFileHandle(name)).getFile();
                     const own = new Uint8Array(await file.arrayBuffer());
                     const now = new Uint8Array(await (await fetch(url)).arrayBuffer());
                     return own.length === now.length && own.every((byte, n) => byte === now[n]);
                 })().then(done, error => done(String(error)))",
                &[
                    json!(worker::model::stored_file::stored_name(&url)),
                    json!(url),
                ],
            )
            .await;
        assert_eq!(stored, json!(true));
    });
}

#[test]
fn pages_empty_files_and_silent_hosts_are_named_and_not_stored() {
    let page = b"\n<!DOCTYPE html><html><title>A model</title></html>".to_vec();
    let host = FileHost::start(vec![("/page.gguf", page), ("/empty.gguf", Vec::new())]);
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        for (url, words) in [
            (host.url("/page.gguf"), "is a web page"),
            (host.url("/empty.gguf"), "is empty"),
            (
                format!("http://127.0.0.1:{}/a.gguf", free_port()),
                "either no host answers there",
            ),
        ] {
            open_url(browser, &url).await;
            let why = error(browser).await;
            assert!(why.contains(words) && why.contains(&url), "{why}");
        }
        // A host that does not even say how large the file is: the reader can give up meanwhile.
        browser.script(NEVER_ANSWER, &[]).await;
        set(browser, json!({ "url": host.url("/silent.gguf") })).await;
        click(browser, Locator::XPath("//button[.='Fetch and open']")).await;
        browser
            .wait_for("the host to be asked", "return window.isAsked === true")
            .await;
        click(browser, Locator::XPath("//button[.='Stop']")).await;
        assert!(error(browser).await.contains("Nothing was opened"));
        // And where the reader waits, so does the page, but not for ever.
        browser
            .script("window.fetch = window.plainFetch", &[])
            .await;
        click(browser, Locator::XPath("//button[.='Fetch and open']")).await;
        browser
            .wait_for(
                "the question",
                "return document.querySelector('.lab-ahead')?.textContent.includes('does not say')",
            )
            .await;
        click(browser, Locator::XPath("//button[.='Leave it']")).await;
        assert!(error(browser).await.contains("Nothing was opened"));
        let kept = browser
            .script("return !!document.querySelector('.lab-kept')", &[])
            .await;
        assert_eq!(kept, json!(false));
    });
}

#[test]
fn dropped_files_are_opened_and_leaving_the_page_ends_the_worker() {
    let Some(model) = shared("stories260K/stories260K-f32.gguf") else {
        return;
    };
    let bytes = std::fs::read(model).expect("it can be read");
    let host = FileHost::start(vec![(MODEL, bytes)]);
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        browser
            .script_async(
                "const [url, done] = arguments;
                 fetch(url).then(answer => answer.blob()).then(blob => {
                     const dataTransfer = new DataTransfer();
                     dataTransfer.items.add(new File([blob], 'dropped.gguf'));
                     const drop = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
                     document.querySelector('.lab-open').dispatchEvent(drop);
                     done(drop.defaultPrevented);
                 })",
                &[json!(host.url(MODEL))],
            )
            .await;
        wait_open(browser).await;
        assert!(text(browser, ".lab-facts").await.contains("dropped.gguf"));
        // What is on this device is in no link.
        assert!(!browser_url(browser).await.contains("model="));
        assert_eq!(browser.script("return running.size", &[]).await, json!(1));
        click(browser, Locator::Css(".site-name")).await;
        browser
            .wait_for(
                "the home page, without the worker",
                "return document.querySelector('main').dataset.page === 'home' && running.size === 0",
            )
            .await;
    });
}
