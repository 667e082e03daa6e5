//! What a reader may well do wrong: each gets a message in place, nothing else on the page breaks,
//! nothing typed is lost.

use fantoccini::Locator;
use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser};
use super::{instant, site};
use browser_harness::Habits;

/// Types into the box with this id as a reader would, all at once.
async fn type_into(browser: &Browser, selector: &str, text: &str) {
    let script = "const [selector, text] = arguments;
        const box = document.querySelector(selector);
        box.focus();
        Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box), 'value').set.call(box, text);
        box.dispatchEvent(new Event('input', { bubbles: true }));
        box.dispatchEvent(new Event('change', { bubbles: true }));
        box.blur();";
    browser
        .script(script, &[json!(selector), json!(text)])
        .await;
}

/// Waits until every cell has an outcome for what was typed, and says how cell and box stand.
async fn settled(browser: &Browser, selector: &str) -> Value {
    super::browser::pause(120).await;
    browser
        .wait_for(
            "every cell to be ready or to say why not",
            "return [...document.querySelectorAll('[data-cell]')].every(c => ['ready', 'error'].includes(c.dataset.state))",
        )
        .await;
    let script = "const box = document.querySelector(arguments[0]);
        const cell = box.closest('[data-cell]');
        const texts = [...cell.querySelectorAll('.cell-message, .entry-problem')];
        return {
            state: cell.dataset.state,
            typed: box.value,
            invalid: box.getAttribute('aria-invalid'),
            message: texts.map(text => text.textContent.trim()).join(' '),
            failed: [...document.querySelectorAll('[data-cell][data-state=error]')].map(c => c.id),
        };";
    browser.script(script, &[json!(selector)]).await
}

/// Ids of the page's boxes that match, one for each cell and label.
async fn boxes(browser: &Browser, kind: &str) -> Vec<String> {
    let script = "document.querySelectorAll('[data-tried]').forEach(box => box.removeAttribute('data-tried'));
        let n = 0;
        return [...document.querySelectorAll('[data-cell]')].flatMap(cell => {
            const first = cell.querySelector(arguments[0]);
            if (!first) return [];
            first.setAttribute('data-tried', ++n);
            return [`[data-tried=\"${n}\"]`];
        });";
    let found = browser.script(script, &[json!(kind)]).await;
    let found = found.as_array().cloned().unwrap_or_default();
    found
        .iter()
        .filter_map(|id| id.as_str().map(str::to_owned))
        .collect()
}

/// Types sentences into each box of the open page that no cell can use; returns how many. The first
/// box gets all of them, the others one that is too short and one that is too long.
async fn try_sentences(browser: &Browser, page: &str) -> usize {
    let mut tried = 0;
    let long = vec!["word"; 5000].join(" ");
    let word = "x".repeat(100_000);
    let all = ["", long.as_str(), "   ", word.as_str()];
    let found = boxes(browser, ".text-box :is(textarea, input)").await;
    for (n, text_box) in found.into_iter().enumerate() {
        let own = settled(browser, &text_box).await["typed"].clone();
        let texts = if n == 0 { &all[..] } else { &all[..2] };
        for text in texts {
            type_into(browser, &text_box, text).await;
            let after = settled(browser, &text_box).await;
            let what = format!("/{page} {text_box} {:?}", text.get(..12).unwrap_or(text));
            assert_eq!(after["typed"], *text, "{what}");
            let message = after["message"].as_str().unwrap_or_default();
            assert!(!message.is_empty(), "{what}: {after}");
            assert_eq!(after["state"], "error", "{what}: {after}");
            tried += 1;
        }
        type_into(browser, &text_box, own.as_str().unwrap_or_default()).await;
        let after = settled(browser, &text_box).await;
        assert_eq!(after["failed"], json!([]), "/{page} {text_box}: {after}");
    }
    tried
}

/// Types what is no number into each box for numbers of the open page; returns how many. The first box
/// gets all of it, the others a word.
async fn try_numbers(browser: &Browser, page: &str) -> usize {
    let mut tried = 0;
    let all = ["ten", "NaN", "1e999", "", "--1"];
    let found = boxes(browser, "input.number:not([readonly])").await;
    for (n, number_box) in found.into_iter().enumerate() {
        let texts = if n == 0 { &all[..] } else { &all[..1] };
        for text in texts {
            type_into(browser, &number_box, text).await;
            let after = settled(browser, &number_box).await;
            let what = format!("/{page} {number_box} {text:?}");
            assert_eq!(after["typed"], *text, "{what}");
            assert_eq!(after["invalid"], "true", "{what}: {after}");
            let message = after["message"].as_str().unwrap_or_default();
            assert!(message.contains("still using"), "{what}: {after}");
            assert_eq!(after["failed"], json!([]), "{what}");
            tried += 1;
        }
    }
    tried
}

/// Takes all edits of the open page back.
async fn reset_all(browser: &Browser) {
    let press = "[...document.querySelectorAll('.page-tools button')].find(b => b.textContent === 'Reset all')?.click()";
    browser.script(press, &[]).await;
    browser.ready().await.expect("the page gets ready again");
}

/// On one visit to each lesson: an edit that is as small as a reader can make it makes little work,
/// and what no cell can use is kept and explained.
#[test]
fn edits_make_little_work_and_those_that_cannot_be_used_are_kept_and_explained() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        instant::count(browser).await;
        let (mut sentences, mut numbers, mut faults) = (0, 0, Vec::new());
        for page in site::lessons() {
            browser
                .open_ready(&server.url(&page))
                .await
                .expect("the page gets ready");
            faults.extend(instant::too_much_work(browser, &page).await);
            reset_all(browser).await;
            sentences += try_sentences(browser, &page).await;
            numbers += try_numbers(browser, &page).await;
            reset_all(browser).await;
            let complaints = browser.complaints(&server.origin()).await;
            assert!(complaints.is_empty(), "/{page}: {complaints:?}");
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(sentences > 10, "only {sentences} texts were tried");
        assert!(numbers > 20, "only {numbers} numbers were tried");
    });
}

#[test]
fn a_picture_that_is_none_leaves_the_old_one_and_a_huge_one_is_taken() {
    let server = site::serve(Habits::ROOT);
    let folder = std::env::temp_dir().join(format!("notebook-pictures-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    let huge = png_of(8000, 5000);
    let files = [
        ("text.png", b"this is no picture".to_vec(), true),
        ("empty.png", Vec::new(), true),
        ("cut-off.png", huge[..huge.len() / 2].to_vec(), true),
        ("forty-megapixels.png", huge, false),
    ];
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let page = "lesson/patches/";
        browser
            .open_ready(&server.url(page))
            .await
            .expect("the page gets ready");
        let chooser = "[data-cell=patch-cutter] input[type=file]";
        for (name, content, refused) in &files {
            let path = folder.join(name);
            std::fs::write(&path, content).expect("a picture is written");
            let element = browser
                .client()
                .find(Locator::Css(chooser))
                .await
                .expect("the cell takes a file");
            element
                .send_keys(&path.to_string_lossy())
                .await
                .expect("the file is chosen");
            // Decoding happens on the browser's own time.
            let said = if *refused {
                format!(
                    "return document.querySelector('[data-cell=patch-cutter] .entry-problem').textContent.includes('{name}')"
                )
            } else {
                "return document.querySelector('[data-cell=patch-cutter] .entry-problem').textContent.trim() === ''".to_owned()
            };
            browser
                .wait_for(&format!("the verdict on {name}"), &said)
                .await;
            let after = settled(browser, chooser).await;
            assert_eq!(after["failed"], json!([]), "{name}: {after}");
        }
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
    std::fs::remove_dir_all(&folder).expect("the folder can go");
}

/// A grey picture, eight bits a pixel.
fn png_of(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let row: Vec<u8> = (0..width).map(|x| (x % 251) as u8).collect();
    let pixels = row.repeat(height as usize);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&pixels).expect("pixels");
    writer.finish().expect("an end");
    bytes
}
