//! The lab's engine with 64-bit addresses: it writes as the others do, and opens what is too large
//! for them.

use fantoccini::Locator;
use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser};
use super::file_host::FileHost;
use super::lab::{choose, hollow, made, set, shared, start, text, wait_open, write};
use super::lab_kept::{ask, error, open_url};
use super::reader::click;
use super::site;
use browser_harness::Habits;

/// The engine with 64-bit addresses.
const WIDE: &str = "relaxed-64";

/// The bytes that the file host says of `/huge.gguf`, and those of the file that the tests make:
/// too many for 32-bit addresses.
const HUGE_BYTES: u64 = 5_000_000_000;

/// A browser that does not know memory with 64-bit addresses: the probe is refused.
const NO_MEMORY64: &str = "const known = WebAssembly.validate;
    WebAssembly.validate = (bytes) => bytes.byteLength !== 13 && known(bytes);";

/// Notes the address of each worker that the page starts.
const NOTE_WORKERS: &str = "window.started = [];
    const Noted = Worker;
    window.Worker = class extends Noted {
        constructor(...given) { super(...given); started.push(String(given[0])); }
    };";

/// Whether a worker of the engine with 64-bit addresses was started.
async fn has_started_wide(browser: &Browser) -> Value {
    let started = format!("return started.some(address => address.includes('file=lab-{WIDE}-'))");
    browser.script(&started, &[]).await
}

async fn on_every_page(browser: &Browser, script: &str) {
    let parameters = json!({ "source": script });
    browser
        .devtools("Page.addScriptToEvaluateOnNewDocument", parameters)
        .await;
}

/// Whether the built site has the engine; where it does not, the test is recorded as skipped.
async fn is_built(browser: &Browser) -> bool {
    let listed = format!("return document.documentElement.dataset.workers.includes('lab-{WIDE}-')");
    let built = browser.script(&listed, &[]).await == json!(true);
    if !built {
        skip::because("this site was built without 64-bit addresses");
    }
    built
}

/// The text that a build writes without chance, and the most likely tokens in one position.
async fn story(browser: &Browser, model: &std::path::Path, page: &str, build: &str) -> [String; 2] {
    browser.open_ready(page).await.expect("the form appears");
    choose(browser, &[model]).await;
    wait_open(browser).await;
    let facts = text(browser, ".lab-facts").await;
    assert!(facts.contains(&format!("{build}, 1 thread")), "{facts}");
    set(
        browser,
        json!({ "prompt": "One day", "temperature": "0", "top-k": "", "top-p": "", "penalty": "1", "new": "60" }),
    )
    .await;
    write(browser).await;
    let written = text(browser, ".lab-output .written").await;
    click(browser, Locator::Css(".lab-tokens li:nth-child(20) button")).await;
    [written, text(browser, ".lab-candidates").await]
}

#[test]
fn a_small_model_writes_the_same_with_64_bit_addresses() {
    let Some(model) = shared("stories260K/stories260K-f32.gguf") else {
        return;
    };
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        if !is_built(browser).await {
            return;
        }
        // By the same instructions: only the width of an address differs.
        let page = |build| server.url(&format!("lab/?build={build}"));
        let narrow = story(browser, &model, &page("relaxed"), "relaxed").await;
        let wide = story(browser, &model, &page(WIDE), WIDE).await;
        assert!(
            narrow[0].len() > 100 && narrow[1].contains('%'),
            "{narrow:?}"
        );
        assert_eq!(wide, narrow);
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

#[test]
fn what_32_bits_cannot_address_is_for_the_wide_engine() {
    let host = FileHost::start(Vec::new());
    let server = site::serve(Habits::ROOT);
    let huge = hollow("wide.gguf", HUGE_BYTES);
    with_browser(async |browser| {
        on_every_page(browser, NOTE_WORKERS).await;
        start(browser, &server, Look::DESK_DARK).await;
        if !is_built(browser).await {
            return;
        }
        // A small model first: it needs no 64-bit addresses.
        let small = made("small-and-wrong.gguf", b"GGUF");
        choose(browser, &[&small]).await;
        error(browser).await;
        assert_eq!(has_started_wide(browser).await, json!(false));
        // From the disk the size is known at once. The file has no model in it.
        choose(browser, &[&huge]).await;
        browser
            .wait_for(
                "another error",
                "return document.querySelector('.lab .cell-error')?.textContent.includes('wide.gguf')",
            )
            .await;
        let why = error(browser).await;
        assert!(!why.contains("too large"), "{why}");
        assert_eq!(has_started_wide(browser).await, json!(true));
        // From an address the host says it, and the reader is asked.
        browser.script("started = []; return true", &[]).await;
        let question = ask(browser, &host.url("/huge.gguf")).await;
        assert!(question.contains("5000.0 MB to fetch"), "{question}");
        assert_eq!(has_started_wide(browser).await, json!(true));
        click(browser, Locator::XPath("//button[.='Leave it']")).await;
        assert!(error(browser).await.contains("Nothing was opened"));
        assert_eq!(host.take_sent(), []);
    });
    std::fs::remove_file(&huge).expect("it can be taken away");
}

/// A host that does not say the size before: the reader is asked once, and the engine changes when
/// the file begins to come.
#[test]
fn an_engine_that_finds_the_file_too_large_gives_way_without_another_question() {
    let host = FileHost::start(Vec::new());
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        on_every_page(browser, NOTE_WORKERS).await;
        start(browser, &server, Look::DESK_LIGHT).await;
        if !is_built(browser).await {
            return;
        }
        let question = ask(browser, &host.url("/shy.gguf")).await;
        assert!(
            !question.is_empty() && !question.contains("MB to fetch"),
            "{question}"
        );
        assert_eq!(has_started_wide(browser).await, json!(false));
        click(browser, Locator::XPath("//button[.='Fetch it']")).await;
        // It breaks off after four bytes.
        let why = error(browser).await;
        assert!(!why.contains("too large"), "{why}");
        assert_eq!(has_started_wide(browser).await, json!(true));
        assert_eq!(text(browser, ".lab-ahead p").await, "", "asked again");
    });
}

#[test]
fn without_64_bit_memory_the_refusal_says_so() {
    let host = FileHost::start(Vec::new());
    let server = site::serve(Habits::ROOT);
    let huge = hollow("narrow.gguf", HUGE_BYTES);
    with_browser(async |browser| {
        on_every_page(browser, NO_MEMORY64).await;
        on_every_page(browser, NOTE_WORKERS).await;
        start(browser, &server, Look::DESK_DARK).await;
        open_url(browser, &host.url("/huge.gguf")).await;
        let first = error(browser).await;
        choose(browser, &[&huge]).await;
        browser
            .wait_for(
                "another error",
                "return !document.querySelector('.lab progress') && started.length === 2",
            )
            .await;
        let reason = match is_built(browser).await {
            true => "it has no 64-bit memory",
            false => "built without the engine for 64-bit memory",
        };
        for why in [first, error(browser).await] {
            for part in ["5000000000 bytes is too large", "4 GB of memory", reason] {
                assert!(why.contains(part), "{part}: {why}");
            }
        }
        assert_eq!(has_started_wide(browser).await, json!(false));
        assert_eq!(host.take_sent(), []);
    });
    std::fs::remove_file(&huge).expect("it can be taken away");
}
