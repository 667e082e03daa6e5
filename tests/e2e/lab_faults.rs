//! Downloads of the lab that go wrong: each gets a clear message and leaves a way on.

use fantoccini::Locator;
use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::file_host::{FileHost, Sent};
use super::lab::{set, shared, start, text, wait_open};
use super::lab_kept::{MODEL, browser_url, error, open_named, open_url, unload};
use super::reader::click;
use super::site;
use browser_harness::Habits;

/// The bytes of a small model; `None` where it is absent.
fn model() -> Option<Vec<u8>> {
    let path = shared("stories260K/stories260K-f32.gguf")?;
    Some(std::fs::read(path).expect("it can be read"))
}

/// Opens an address whose answer is held at its half, and waits until the first half is here.
async fn open_half(browser: &Browser, host: &FileHost, whole: usize) {
    host.hold_next(whole / 2);
    open_url(browser, &host.url(MODEL)).await;
    // Some megabytes of all of them.
    let reading = "return document.querySelector('.lab [role=status]').textContent.match(/^Reading story.gguf: 0\\.[45]/) !== null";
    browser
        .wait_for("the first half of the file", reading)
        .await;
}

async fn press(browser: &Browser, name: &str) {
    let place = format!("//button[.='{name}']");
    click(browser, Locator::XPath(&place)).await;
}

async fn delete(browser: &Browser) {
    let open = "const list = document.querySelector('.lab-kept'); if (list) list.open = true; return !!list";
    browser.wait_for("the list of what is kept", open).await;
    let place = ".lab-kept button[aria-label='Delete story.gguf']";
    click(browser, Locator::Css(place)).await;
}

/// Has the browser store at most so many bytes for the site; `None` for as many as before.
async fn set_quota(browser: &Browser, origin: &str, bytes: Option<u64>) {
    let mut given = json!({ "origin": origin });
    if let Some(bytes) = bytes {
        given["quotaSize"] = json!(bytes);
    }
    browser
        .devtools("Storage.overrideQuotaForOrigin", given)
        .await;
}

#[test]
fn a_host_that_allows_no_other_site_or_states_a_wrong_length_is_named() {
    let Some(bytes) = model() else {
        return;
    };
    let whole = bytes.len();
    let host = FileHost::start(vec![(MODEL, bytes)]);
    let server = site::serve(Habits::ROOT);
    let url = host.url(MODEL);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        host.allow_others(false);
        let question = open_url(browser, &url).await;
        assert!(question.contains("does not say how large"), "{question}");
        let why = error(browser).await;
        for words in [url.as_str(), "(CORS)", "open it from this device"] {
            assert!(why.contains(words), "{words}: {why}");
        }
        host.allow_others(true);

        // Fewer bytes than there are: a browser reads no more, and the file is cut.
        host.state_length(Some(whole - 100_000));
        open_url(browser, &url).await;
        let why = error(browser).await;
        for words in ["story.gguf", "delete it from the list"] {
            assert!(why.contains(words), "{words}: {why}");
        }
        delete(browser).await;
        browser
            .wait_for(
                "the list to be empty",
                "return !document.querySelector('.lab-kept')",
            )
            .await;

        // More bytes than there are: they never come, and the second time this is said.
        host.state_length(Some(whole + 100_000));
        open_url(browser, &url).await;
        let why = error(browser).await;
        assert!(
            why.contains("broke off") && why.contains("What came is kept"),
            "{why}"
        );
        open_url(browser, &url).await;
        let why = error(browser).await;
        assert!(why.contains("ended there before"), "{why}");
        host.state_length(None);
        open_url(browser, &url).await;
        wait_open(browser).await;
    });
}

#[test]
fn what_came_before_a_stop_is_kept_and_continued() {
    let Some(bytes) = model() else {
        return;
    };
    let whole = bytes.len();
    let host = FileHost::start(vec![(MODEL, bytes)]);
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::PHONE_DARK).await;
        open_half(browser, &host, whole).await;
        press(browser, "Stop").await;
        let why = error(browser).await;
        for words in ["Nothing was opened", "What came is kept"] {
            assert!(why.contains(words), "{words}: {why}");
        }
        let ended = "return running.size === 0";
        browser.wait_for("the worker to end", ended).await;
        host.let_go();
        host.take_sent();
        // At once, while the browser still clears up.
        let question = open_named(browser).await;
        assert!(question.contains("of which"), "{question}");
        wait_open(browser).await;
        let sent = host.take_sent();
        let is_rest = |sent: &Sent| sent.from > 0 && sent.from + sent.bytes == whole;
        assert!(matches!(&sent[..], [one] if is_rest(one)), "{sent:?}");

        // The link leads there again, and all of it is here.
        let link = browser_url(browser).await;
        assert!(link.contains("?model="), "{link}");
        browser.open_ready(&link).await.expect("the form appears");
        let named = "return document.querySelector('.lab [name=url]').value";
        let named = browser.script(named, &[]).await;
        assert_eq!(named, json!(host.url(MODEL)));
        assert_eq!(open_named(browser).await, "", "nothing is to be fetched");
        wait_open(browser).await;
        let storage = text(browser, ".lab-storage").await;
        assert!(storage.contains("nothing was fetched"), "{storage}");
        assert_eq!(host.take_sent(), []);
        unload(browser).await;

        // While a model is built; then another one is opened.
        set(browser, json!({ "shape": "gpt2" })).await;
        press(browser, "Draw random weights").await;
        let stop = "const stop = [...document.querySelectorAll('.lab button')].find(b => b.textContent === 'Stop');
            const builds = document.querySelector('.lab [role=status]').textContent.startsWith('Building');
            if (builds) stop?.click();
            return builds && !!stop";
        browser.wait_for("a model that is being built", stop).await;
        assert_eq!(error(browser).await, "Stopped. Nothing was opened.");
        browser.wait_for("the worker to end", ended).await;
        assert_eq!(open_url(browser, &host.url(MODEL)).await, "");
        wait_open(browser).await;
    });
}

#[test]
fn a_model_opens_from_memory_where_the_storage_is_full() {
    let Some(bytes) = model() else {
        return;
    };
    let whole = bytes.len();
    let host = FileHost::start(vec![(MODEL, bytes)]);
    let server = site::serve(Habits::ROOT);
    let url = host.url(MODEL);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        set_quota(browser, &server.origin(), Some(400_000)).await;
        open_url(browser, &url).await;
        wait_open(browser).await;
        let storage = text(browser, ".lab-storage").await;
        for words in ["in memory only", "is full"] {
            assert!(storage.contains(words), "{words}: {storage}");
        }
        let kept = "return !!document.querySelector('.lab-kept')";
        assert_eq!(browser.script(kept, &[]).await, json!(false));
        unload(browser).await;
        // There is room again.
        set_quota(browser, &server.origin(), None).await;
        host.take_sent();
        open_url(browser, &url).await;
        wait_open(browser).await;
        let storage = text(browser, ".lab-storage").await;
        assert!(storage.contains("next time"), "{storage}");
        let sent = host.take_sent();
        assert!(
            matches!(&sent[..], [Sent { from: 0, bytes, .. }] if *bytes == whole),
            "{sent:?}"
        );
    });
}

#[test]
fn a_second_tab_opens_the_model_that_the_first_one_fetches() {
    let Some(bytes) = model() else {
        return;
    };
    let whole = bytes.len();
    let host = FileHost::start(vec![(MODEL, bytes)]);
    let server = site::serve(Habits::ROOT);
    let url = host.url(MODEL);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        open_half(browser, &host, whole).await;
        let client = browser.client();
        let first = client.window().await.expect("a window");
        let second = client.new_window(true).await.expect("a second tab").handle;
        client
            .switch_to_window(second.clone())
            .await
            .expect("the second tab");
        start(browser, &server, Look::DESK_LIGHT).await;
        open_url(browser, &url).await;
        wait_open(browser).await;
        let storage = text(browser, ".lab-storage").await;
        for words in ["in memory only", "another page has this file open"] {
            assert!(storage.contains(words), "{words}: {storage}");
        }
        delete(browser).await;
        let why = error(browser).await;
        assert!(why.contains("cannot be deleted while"), "{why}");

        client.switch_to_window(first).await.expect("the first tab");
        host.let_go();
        wait_open(browser).await;
        let storage = text(browser, ".lab-storage").await;
        assert!(storage.contains("next time"), "{storage}");
        host.take_sent();
        client.switch_to_window(second).await.expect("it is there");
        unload(browser).await;
        assert_eq!(open_url(browser, &url).await, "", "it is kept by now");
        wait_open(browser).await;
        assert_eq!(host.take_sent(), []);
    });
}

/// The network is cut while a model comes, and comes back. What chromedriver calls offline holds for a
/// page and not for its workers, so it is the host that goes away.
#[test]
fn a_download_continues_when_the_network_is_back() {
    let Some(bytes) = model() else {
        return;
    };
    let whole = bytes.len();
    let host = FileHost::start(vec![(MODEL, bytes)]);
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::PHONE_LIGHT).await;
        open_half(browser, &host, whole).await;
        host.go_away(true);
        let why = error(browser).await;
        assert!(
            why.contains("broke off") && why.contains("What came is kept"),
            "{why}"
        );
        // Still without it: the page says how much is here, and why the rest does not come.
        let question = open_named(browser).await;
        assert!(question.contains("of which"), "{question}");
        let why = error(browser).await;
        assert!(why.contains("either no host answers there"), "{why}");
        host.go_away(false);
        host.take_sent();
        let question = open_named(browser).await;
        assert!(question.contains("of which"), "{question}");
        wait_open(browser).await;
        let sent = host.take_sent();
        assert!(
            matches!(&sent[..], [Sent { from: 1.., bytes, .. }] if *bytes < whole),
            "{sent:?}"
        );
    });
}
