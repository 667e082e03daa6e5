//! The lab: files from disk become models that write, what is no model is named, and the worker
//! ends with the model.

use std::path::{Path, PathBuf};

use fantoccini::Locator;
use serde_json::{Value, json};

use super::bench::COUNT_WORKERS;
use super::browser::{Browser, Look, with_browser};
use super::reader::click;
use super::site;
use browser_harness::{Habits, Server};

/// A file of the shared data; where it is absent the test is recorded as skipped.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let path = skip::shared(&format!("data/{path}"))?;
    // WebDriver takes no path with `..` in it.
    Some(path.canonicalize().expect("it is there"))
}

/// A file made for a test.
pub(crate) fn made(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("the file can be written");
    path
}

/// A file of so many bytes that takes none of the disk.
pub(crate) fn hollow(name: &str, bytes: u64) -> PathBuf {
    let path = made(name, b"GGUF");
    let file = std::fs::File::options().write(true).open(&path);
    let file = file.expect("it can be written");
    file.set_len(bytes).expect("a file with a hole");
    path
}

/// Opens files as a reader does, through the picker.
pub(crate) async fn choose(browser: &Browser, files: &[&Path]) {
    choose_in(browser, ".lab-open input[type=file]", files).await;
}

/// Gives files to a picker.
pub(crate) async fn choose_in(browser: &Browser, picker: &str, files: &[&Path]) {
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let picker = browser
        .client()
        .find(Locator::Css(picker))
        .await
        .expect("the picker");
    picker
        .send_keys(&names.join("\n"))
        .await
        .expect("it takes files");
}

/// The text of the first element of a selector.
pub(crate) async fn text(browser: &Browser, selector: &str) -> String {
    let found = browser
        .script(
            "return document.querySelector(arguments[0])?.textContent ?? ''",
            &[json!(selector)],
        )
        .await;
    found.as_str().unwrap_or_default().to_owned()
}

pub(crate) async fn wait_open(browser: &Browser) {
    browser
        .wait_for(
            "the model to stand, or an error",
            "return !!document.querySelector('.lab-facts, .lab .cell-error')",
        )
        .await;
    let error = text(browser, ".lab .cell-error").await;
    assert_eq!(error, "");
}

/// Sets fields of the lab's form.
pub(crate) async fn set(browser: &Browser, values: Value) {
    let script = "for (const [name, value] of Object.entries(arguments[0])) {
            const field = document.querySelector(`.lab [name='${name}']`);
            field.value = value;
            field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));
        }";
    browser.script(script, &[values]).await;
}

/// Waits until the page is as wide as its window: pictures follow a new width after some frames.
pub(crate) async fn no_wider_than_its_window(browser: &Browser) {
    let script =
        "const root = document.scrollingElement; return root.scrollWidth === root.clientWidth";
    browser
        .wait_for("a page that does not scroll sideways", script)
        .await;
}

/// Has the model write and waits for the end.
pub(crate) async fn write(browser: &Browser) {
    click(browser, Locator::XPath("//button[.='Write']")).await;
    browser
        .wait_for(
            "the text to end",
            "return [...document.querySelectorAll('.lab [role=status]')].some(s => s.textContent.startsWith('The text ended'))",
        )
        .await;
}

pub(crate) async fn start(browser: &Browser, server: &Server, look: Look) {
    browser.look(look).await;
    browser
        .devtools(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": COUNT_WORKERS }),
        )
        .await;
    browser
        .open_ready(&server.url("lab/"))
        .await
        .expect("the form appears");
}

#[test]
fn a_text_that_is_no_address_is_refused_and_nothing_is_fetched() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        let field = browser.client().find(Locator::Css("input[name=url]")).await;
        let field = field.expect("the form has a field for an address");
        field.send_keys("not a url").await.expect("it can be typed");
        click(browser, Locator::XPath("//button[.='Fetch and open']")).await;
        browser
            .wait_for(
                "the message",
                "return document.querySelector('#lab-url-wrong').textContent.includes('Type the address of a file')",
            )
            .await;
        // The field is marked, and the message is right below it.
        let place = browser
            .script(
                "const field = document.querySelector('.lab [name=url]');
                const note = document.querySelector('#lab-url-wrong').getBoundingClientRect();
                return [field.getAttribute('aria-invalid'), note.top - field.getBoundingClientRect().bottom < 24]",
                &[],
            )
            .await;
        assert_eq!(place, json!(["true", true]));
        assert_eq!(server.take_misses(), Vec::<String>::new());
    });
}

#[test]
fn a_model_from_disk_tells_the_known_story_and_shows_what_it_attends_to() {
    let Some(model) = shared("stories260K/stories260K-f32.gguf") else {
        return;
    };
    let Some(expected) = shared("stories260K/expected_greedy.json") else {
        return;
    };
    let expected = std::fs::read_to_string(expected).expect("it can be read");
    let expected: Value = serde_json::from_str(&expected).expect("JSON");
    let expected = expected["text"].as_str().expect("a text");
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::PHONE_DARK).await;
        choose(browser, &[&model]).await;
        wait_open(browser).await;
        let facts = text(browser, ".lab-facts").await;
        for fact in ["stories260K-f32.gguf", "Llama", "GGUF", "1.1 MB", "thread"] {
            assert!(facts.contains(fact), "{fact}: {facts}");
        }
        set(
            browser,
            json!({ "prompt": "", "temperature": "0", "top-k": "", "top-p": "", "penalty": "1", "new": "60" }),
        )
        .await;
        write(browser).await;
        let story = text(browser, ".lab-output .written").await;
        assert!(story.len() > 100 && expected.starts_with(&story), "{story}");
        let speed = text(browser, ".lab-speed").await;
        assert!(speed.contains("New: 60 tokens"), "{speed}");
        // Five layers, four heads of keys and of values, eight wide; the last token is not read.
        assert!(speed.contains("keys and values take 76.8 kB"), "{speed}");
        set(browser, json!({ "cache": "16" })).await;
        write(browser).await;
        let speed = text(browser, ".lab-speed").await;
        assert!(speed.contains("keys and values take 38.4 kB"), "{speed}");
        let again = text(browser, ".lab-output .written").await;
        assert!(again.len() > 100 && expected.starts_with(&again), "{again}");

        // Without a temperature the most likely token was taken.
        click(browser, Locator::Css(".lab-tokens li:nth-child(5) button")).await;
        let taken = browser
            .script(
                "const rows = [...document.querySelectorAll('.lab-candidates .share')];
                 return rows.length === 10 && rows.findIndex(row => row.classList.contains('is-taken')) === 0",
                &[],
            )
            .await;
        assert_eq!(taken, json!(true));
        let attended = "const rows = [...document.querySelectorAll('.lab-attention .num')];
            const sum = rows.reduce((sum, row) => sum + parseFloat(row.textContent), 0);
            return rows.length === 5 && Math.abs(sum - 100) < 0.5
                && rows.every(row => row.dataset.from.startsWith('attention.weights[0,0,4,'))";
        browser.wait_for("the attention of a token", attended).await;
        set(browser, json!({ "layer": "4", "head": "7" })).await;
        browser
            .wait_for(
                "the attention of another head",
                &attended.replace("[0,0,4,", "[4,7,4,"),
            )
            .await;
        no_wider_than_its_window(browser).await;
        browser.picture("lab").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");

        click(browser, Locator::XPath("//button[.='Unload']")).await;
        browser
            .wait_for(
                "the worker to end",
                "return running.size === 0 && !document.querySelector('.lab-facts')",
            )
            .await;
    });
}

/// Keys as WebDriver writes them.
const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";
const RIGHT: &str = "\u{e014}";
const DOWN: &str = "\u{e015}";

async fn press(browser: &Browser, key: &str) {
    let focused = browser.client().active_element().await;
    let focused = focused.expect("something has the focus");
    focused.send_keys(key).await.expect("a key can be pressed");
}

/// Presses Tab until the element that has the focus fulfils the condition, at most so often.
async fn tab_to(browser: &Browser, condition: &str, most: usize) {
    let script = format!("const it = document.activeElement; return {condition}");
    for _ in 0..most {
        press(browser, TAB).await;
        if browser.script(&script, &[]).await == json!(true) {
            return;
        }
    }
    panic!("no Tab leads to {condition}");
}

#[test]
fn once_a_model_stands_the_keyboard_is_enough() {
    let Some(model) = shared("stories260K/stories260K-f32.gguf") else {
        return;
    };
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_DARK).await;
        choose(browser, &[&model]).await;
        wait_open(browser).await;
        // WebDriver takes keys for a file picker as names of files.
        browser
            .script("document.querySelector('.lab [name=url]').focus()", &[])
            .await;
        tab_to(browser, "it.name === 'prompt'", 40).await;
        press(browser, "Once upon a time").await;
        tab_to(browser, "it.name === 'cache'", 10).await;
        press(browser, TAB).await;
        press(browser, ENTER).await;
        browser
            .wait_for(
                "the text to end",
                "return document.querySelector('.lab').textContent.includes('The text ended')",
            )
            .await;
        // The text, then one stop for all of its tokens.
        tab_to(browser, "it.matches('.lab-tokens .token')", 3).await;
        for _ in 0..3 {
            press(browser, RIGHT).await;
        }
        press(browser, ENTER).await;
        let fourth = "return document.activeElement === document.querySelector('.lab-tokens li:nth-child(4) button')
            && document.activeElement.ariaPressed === 'true'";
        assert_eq!(browser.script(fourth, &[]).await, json!(true));
        let layer = |layer: usize| {
            format!(
                "const first = document.querySelector('.lab-attention .num');
                 return !!first && first.dataset.from.startsWith('attention.weights[{layer},0,3,')"
            )
        };
        browser.wait_for("its attention", &layer(0)).await;
        tab_to(browser, "it.name === 'layer'", 2).await;
        press(browser, DOWN).await;
        browser.wait_for("another layer's", &layer(1)).await;
        press(browser, TAB).await;
        let head = browser
            .script("return document.activeElement.name", &[])
            .await;
        assert_eq!(head, json!("head"));
    });
}

#[test]
fn what_is_no_model_is_named_and_the_lab_still_works() {
    let Some(model) = shared("stories260K/stories260K-f32.gguf") else {
        return;
    };
    let whole = std::fs::read(&model).expect("it can be read");
    // A tensor's type stands behind its name, its number of axes and its axes.
    let name = b"token_embd.weight";
    let at = whole
        .windows(name.len())
        .position(|window| window == name)
        .expect("a tensor");
    let mut unknown = whole.clone();
    // 16 is IQ2_XXS, which is not read here.
    let kind = at + name.len() + 4 + 2 * 8;
    unknown[kind..kind + 4].copy_from_slice(&16_u32.to_le_bytes());
    let tensors = br#"{"one":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let tensors = [&(tensors.len() as u64).to_le_bytes()[..], tensors, &[0; 4]].concat();
    let wrong = [
        (
            made("diary.txt", b"Dear diary, today"),
            vec!["diary.txt is no model", "Dear dia"],
        ),
        (
            made("half.gguf", &whole[..whole.len() / 2]),
            vec!["half.gguf"],
        ),
        (made("other.gguf", &unknown), vec!["other.gguf", "IQ2_XXS"]),
        (
            made("alone.safetensors", &tensors),
            vec!["alone.safetensors needs config.json"],
        ),
    ];
    let server = site::serve(Habits::SUB_FOLDER);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        for (file, words) in &wrong {
            choose(browser, &[file]).await;
            browser
                .wait_for("an error", "return !!document.querySelector('.lab .cell-error') && !document.querySelector('.lab progress')")
                .await;
            let why = text(browser, ".lab .cell-error").await;
            for word in words {
                assert!(why.contains(word), "{word}: {why}");
            }
            println!("{why}");
        }
        choose(browser, &[&model]).await;
        wait_open(browser).await;
        let running = browser.script("return running.size", &[]).await;
        assert_eq!(running, json!(1), "the earlier workers have ended");
        // A setting without meaning is named, and the next one works.
        set(browser, json!({ "temperature": "hot" })).await;
        click(browser, Locator::XPath("//button[.='Write']")).await;
        browser
            .wait_for(
                "the mistake",
                "return !!document.querySelector('.lab-text .cell-error')?.textContent.includes('Temperature')",
            )
            .await;
        set(browser, json!({ "temperature": "1", "new": "3" })).await;
        write(browser).await;
        let count = browser
            .script(
                "return document.querySelectorAll('.lab-tokens .is-new').length",
                &[],
            )
            .await;
        assert_eq!(count, json!(3));
    });
}

#[test]
fn a_shape_says_that_it_is_untrained_and_stops_between_two_tokens() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_DARK).await;
        set(browser, json!({ "shape-seed": "3", "packing": "q4_0" })).await;
        click(browser, Locator::XPath("//button[.='Draw random weights']")).await;
        wait_open(browser).await;
        let note = text(browser, ".lab .cell-note").await;
        assert_eq!(note, "untrained: random parameters, seed 3");
        set(browser, json!({ "new": "1000" })).await;
        click(browser, Locator::XPath("//button[.='Write']")).await;
        browser
            .wait_for(
                "two tokens",
                "return document.querySelectorAll('.lab-tokens .is-new').length >= 2",
            )
            .await;
        let count = "return document.querySelectorAll('.lab-tokens .is-new').length";
        let heard = browser
            .script(
                "const [stop] = [...document.querySelectorAll('.lab button')].filter(button => button.textContent === 'Stop writing');
                 stop.click();
                 return document.querySelectorAll('.lab-tokens .is-new').length",
                &[],
            )
            .await;
        browser
            .wait_for(
                "the text to stop",
                "return [...document.querySelectorAll('.lab [role=status]')].some(s => s.textContent === 'Stopped.')",
            )
            .await;
        let then = browser.script(count, &[]).await;
        // The token that was under way, and one that the page had not heard of yet.
        let more = then
            .as_i64()
            .zip(heard.as_i64())
            .map(|(then, heard)| then - heard);
        assert!(
            more.is_some_and(|more| (0..=2).contains(&more)),
            "{more:?} tokens after the stop"
        );
        super::browser::pause(300).await;
        assert_eq!(browser.script(count, &[]).await, then);
        // And the model writes again.
        set(browser, json!({ "new": "2" })).await;
        write(browser).await;
        assert_eq!(browser.script(count, &[]).await, json!(2));
    });
}
