//! Cells of the lessons on a Vision Transformer that the reader has opened, on the reader's picture.

use engine::formula::Formula;
use engine::model::swin::Config;
use engine::parameters::{Memory, Parameters};
use engine::quant::Type;
use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;
use tools::safetensors::write_parameters;

use super::axe::violations_of_page;
use super::browser::{Browser, Look, with_browser};
use super::lab::{
    choose, choose_in, made, no_wider_than_its_window, shared, start, text, wait_open,
};
use super::reader::{click, press};
use super::site;
use browser_harness::Habits;

/// Opens one of the cells.
async fn open_cell(browser: &Browser, title: &str) {
    let summary = format!("//summary[.='{title}']");
    click(browser, Locator::XPath(&summary)).await;
}

async fn ready(browser: &Browser, id: &str) {
    let script = format!("return document.getElementById('{id}')?.dataset.state === 'ready'");
    browser
        .wait_for(&format!("{id} to be ready"), &script)
        .await;
    assert_eq!(text(browser, &format!("#{id} .cell-error")).await, "");
}

/// Waits for a pass of the model for each head: longer than for other cells.
async fn swept(browser: &Browser) {
    let state = "return document.getElementById('lab-class-heads')?.dataset.state";
    for _ in 0..600 {
        if browser.script(state, &[]).await != json!("busy") {
            break;
        }
        super::browser::pause(500).await;
    }
    ready(browser, "lab-class-heads").await;
}

/// The numbers below the large picture.
async fn readout(browser: &Browser) -> String {
    text(browser, "#lab-patch-attention .readout").await
}

/// Waits for other numbers than these.
async fn changed(browser: &Browser, before: &str) {
    let script = format!(
        "return document.querySelector('#lab-patch-attention .readout').textContent !== {}",
        json!(before)
    );
    browser.wait_for("other weights", &script).await;
    ready(browser, "lab-patch-attention").await;
}

#[test]
fn an_opened_vit_shows_its_heads_its_lens_and_what_each_head_is_worth() {
    let folder = |name: &str| shared(&format!("vit-tiny-patch16-224/{name}"));
    let (Some(weights), Some(config), Some(cat)) = (
        folder("model.safetensors"),
        folder("config.json"),
        folder("reference/chelsea-224.png"),
    ) else {
        return;
    };
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        choose(browser, &[&weights, &config]).await;
        wait_open(browser).await;
        // The file names no classes: the page says where their names are from.
        let names = text(browser, ".lab-names").await;
        assert!(names.contains("ImageNet-1k"), "{names}");
        // Before there is a picture there is nothing to look into.
        let cells = "return document.querySelectorAll('.lab-cells').length";
        assert_eq!(browser.script(cells, &[]).await, json!(0));
        choose_in(browser, ".picture-box input[type=file]", &[&cat]).await;
        browser
            .wait_for(
                "the cat",
                "return document.querySelector('.lab-classes .share-word')?.textContent === 'Egyptian cat'",
            )
            .await;

        open_cell(browser, "What a patch attends to").await;
        ready(browser, "lab-patch-attention").await;
        // The class token first. Then a patch: its weights are others.
        let hint = text(browser, "#lab-patch-attention .row.center").await;
        assert!(hint.contains("is the query"), "{hint}");
        let class = readout(browser).await;
        let picture = "#lab-patch-attention .patch-grid canvas";
        click(browser, Locator::Css(picture)).await;
        changed(browser, &class).await;
        let hint = text(browser, "#lab-patch-attention .row.center").await;
        assert!(hint.contains("Query: patch"), "{hint}");
        // Another head, chosen in the picture of all heads: the last layer and head.
        let before = readout(browser).await;
        let last = "const maps = document.querySelector('#lab-patch-attention .head-gallery canvas');
            const place = maps.getBoundingClientRect();
            maps.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: place.right - 3, clientY: place.bottom - 3 }))";
        browser.script(last, &[]).await;
        changed(browser, &before).await;
        let name = text(browser, "#lab-patch-attention .panel-title").await;
        assert_eq!(name, "Layer 12, head 3");
        let before = readout(browser).await;
        click(
            browser,
            Locator::XPath("//*[@id='lab-patch-attention']//label[contains(., 'Rollout')]"),
        )
        .await;
        changed(browser, &before).await;
        let found = readout(browser).await;
        assert!(
            found.contains("mean attention distance") && found.contains("px"),
            "{found}"
        );

        open_cell(browser, "Which block knows the class").await;
        ready(browser, "lab-class-token-lens").await;
        let rows = "return [...document.querySelectorAll('#lab-class-token-lens tbody th')].length";
        assert_eq!(browser.script(rows, &[]).await, json!(13));
        let verdict = text(browser, "#lab-class-token-lens .verdict").await;
        assert!(
            verdict.contains("Egyptian cat") && verdict.contains("1,000"),
            "{verdict}"
        );
        // What the patches say: 196 of them, in the colours of their classes; one is read by itself.
        let keys = "return [...document.querySelectorAll('#lab-class-token-lens .class-keys .num')]
            .reduce((sum, number) => sum + Number(number.textContent.replace(',', '')), 0)";
        assert_eq!(browser.script(keys, &[]).await, json!(196));
        click(
            browser,
            Locator::Css("#lab-class-token-lens .patch-grid canvas"),
        )
        .await;
        let reads = "return /Patch 91 after 12 blocks/.test(document.querySelector('#lab-class-token-lens .verdict').textContent)";
        browser.wait_for("what a patch says", reads).await;
        ready(browser, "lab-class-token-lens").await;
        let button = "//*[@id='lab-class-token-lens']//button[.='What the classifier reads']";
        click(browser, Locator::XPath(button)).await;
        ready(browser, "lab-class-token-lens").await;
        browser.picture("lab-pictures-cells").await;

        // A pass for each of 36 heads can be stopped, and begun again.
        open_cell(browser, "The class without each head").await;
        let stop = "//*[@id='lab-class-heads']//button[.='Stop']";
        browser
            .wait_for(
                "a button that stops",
                "return [...document.querySelectorAll('#lab-class-heads button')].some(b => b.textContent === 'Stop')",
            )
            .await;
        click(browser, Locator::XPath(stop)).await;
        browser
            .wait_for(
                "the computation to have been stopped",
                "return !!document.querySelector('#lab-class-heads .cell-error')?.textContent.includes('You stopped')",
            )
            .await;
        // The page goes on: another query is answered.
        let before = readout(browser).await;
        click(
            browser,
            Locator::XPath("//*[@id='lab-patch-attention']//label[contains(., 'One head')]"),
        )
        .await;
        changed(browser, &before).await;
        click(
            browser,
            Locator::XPath("//*[@id='lab-class-heads']//button[.='Retry']"),
        )
        .await;
        super::browser::pause(200).await;
        swept(browser).await;
        let classes = "return [...document.querySelectorAll('#lab-class-heads select[name=class] option')].map(o => o.textContent)";
        let classes = browser.script(classes, &[]).await;
        assert_eq!(
            (classes[0].as_str(), classes.as_array().map(Vec::len)),
            (Some("Egyptian cat"), Some(5))
        );

        // Another picture: all cells follow it. The lens waits behind the sweep over heads, a head at a time.
        let answer = text(browser, "#lab-class-token-lens .verdict strong").await;
        click(browser, Locator::XPath("//button[.='Coffee']")).await;
        browser
            .wait_for(
                "the lens to follow",
                &format!("return document.querySelector('#lab-class-token-lens .verdict strong').textContent !== {}", json!(answer)),
            )
            .await;
        let answer = text(browser, "#lab-class-token-lens .verdict strong").await;
        assert_eq!(answer, "espresso");
        for look in [Look::DESK_DARK, Look::PHONE_LIGHT] {
            browser.look(look).await;
            super::browser::pause(300).await;
            no_wider_than_its_window(browser).await;
            let found = violations_of_page(browser).await;
            assert!(found.is_empty(), "{found:#?}");
        }
        browser.picture("lab-pictures-phone").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// Files that end as pictures do and hold none: no byte, no column, no row. Each with a part of the
/// message that it gets.
fn without_pixels() -> [(std::path::PathBuf, &'static str); 3] {
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg' width='28' height='0'/>";
    let png = [b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".as_slice(), &[0; 17]].concat();
    [
        (made("no-byte.png", b""), "is empty"),
        (made("no-column.png", &png), "without a pixel: 0 \u{d7} 0"),
        (made("no-row.svg", svg), "without a pixel: 28 \u{d7} 0"),
    ]
}

/// The site's own model of digits: the same cells, ten classes.
#[test]
fn the_sites_own_vit_computes_the_cells_too() {
    let server = site::serve(Habits::SUB_FOLDER);
    with_browser(async |browser| {
        start(browser, &server, Look::PHONE_DARK).await;
        click(
            browser,
            Locator::XPath("//button[starts-with(., 'digit-vit')]"),
        )
        .await;
        browser
            .wait_for(
                "the model, or the question before it is fetched",
                "document.querySelector('.lab-ahead .primary')?.click();
                 return !!document.querySelector('.lab-facts')",
            )
            .await;
        wait_open(browser).await;
        click(browser, Locator::XPath("//button[.='Seven']")).await;
        browser
            .wait_for(
                "the classes",
                "return !!document.querySelector('.lab-classes .share-word')",
            )
            .await;
        // A file without a picture is named, and the answer to the one before stays.
        let answer = text(browser, ".lab-classes").await;
        for (file, words) in without_pixels() {
            choose_in(browser, ".picture-box input[type=file]", &[&file]).await;
            let said = format!(
                "return !!document.querySelector('.picture-box .entry-problem')?.textContent.includes('{words}')"
            );
            browser.wait_for(words, &said).await;
            assert_eq!(text(browser, ".lab-classes").await, answer, "{words}");
        }
        open_cell(browser, "Which block knows the class").await;
        ready(browser, "lab-class-token-lens").await;
        let rows = "return [...document.querySelectorAll('#lab-class-token-lens tbody th')].length";
        assert_eq!(browser.script(rows, &[]).await, json!(5));
        open_cell(browser, "The class without each head").await;
        ready(browser, "lab-class-heads").await;
        // Its positions and its filters: another one is chosen by keys.
        for (title, id) in [
            ("Which positions are alike", "lab-position-similarity"),
            ("Filters of the patch embedding", "lab-patch-filters"),
        ] {
            open_cell(browser, title).await;
            ready(browser, id).await;
            let map = format!("#{id} .patch-grid");
            let numbers = format!("#{id} .cols-2");
            let before = text(browser, &numbers).await;
            press(browser, &map, &[Key::Right]).await;
            let other = format!(
                "return document.getElementById('{id}').dataset.state === 'ready'
                    && document.querySelector('{numbers}').textContent !== {}",
                json!(before)
            );
            browser.wait_for("the numbers of another one", &other).await;
        }
        no_wider_than_its_window(browser).await;
    });
}

/// A Swin V2 of two stages with random weights, its configuration in the file itself.
fn small_swin() -> std::path::PathBuf {
    let config = Config {
        width: 8,
        depths: vec![2, 2],
        heads: vec![2, 2],
        window: 8,
        trained_windows: Vec::new(),
        patch: 4,
        image: 128,
        classes: 3,
        inner_ratio: 2,
        norm_eps: 1e-5,
    };
    let mut formula = Formula::new(1, config.shapes());
    let mut memory = Memory::default();
    for name in formula.names() {
        let tensor = formula.read(&name).expect("a tensor");
        memory.insert(name, tensor);
    }
    let description = json!({
        "model_type": "swinv2", "embed_dim": 8, "depths": [2, 2], "num_heads": [2, 2], "window_size": 8, "patch_size": 4,
        "image_size": 128, "mlp_ratio": 2.0, "layer_norm_eps": 1e-5, "hidden_act": "gelu", "num_labels": 3,
        "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5],
    });
    let metadata = [("config".to_owned(), description.to_string())];
    let weights = write_parameters(&metadata, &memory, Type::F32).expect("a file");
    made("swin.safetensors", &weights)
}

/// Whom a patch reaches through the windows of an opened Swin V2: chosen on the picture, block by block.
#[test]
fn an_opened_swin_shows_whom_a_patch_reaches() {
    let weights = small_swin();
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        choose(browser, &[&weights]).await;
        wait_open(browser).await;
        click(browser, Locator::XPath("//button[.='Coffee']")).await;
        browser
            .wait_for("the cells", "return !!document.querySelector('.lab-cells')")
            .await;
        open_cell(browser, "Whom a patch reaches").await;
        ready(browser, "lab-swin-windows").await;
        let now = async |kind: &str| -> u32 {
            let number = format!("#lab-swin-windows [data-from^='{kind}.now']");
            let found = text(browser, &number).await;
            found.parse().unwrap_or_else(|_| panic!("{kind}: {found}"))
        };
        // The corner: its window of 8 x 8 tokens, and with the shift 12 x 12.
        assert_eq!((now("fixed").await, now("shifted").await), (64, 144));
        let picture = "#lab-swin-windows .patch-grid canvas";
        click(browser, Locator::Css(picture)).await;
        // The middle touches four windows, but a patch belongs to one.
        let middle = "return document.querySelector(\"#lab-swin-windows [data-from^='chosen']\").textContent !== '0'
            && document.getElementById('lab-swin-windows').dataset.state === 'ready'";
        browser.wait_for("the patch in the middle", middle).await;
        assert_eq!((now("fixed").await, now("shifted").await), (64, 256));
        // The last block: the second stage has a quarter of the tokens.
        let last = "const slider = document.querySelector('#lab-swin-windows input[type=range]');
            slider.value = slider.max;
            slider.dispatchEvent(new Event('input', { bubbles: true }))";
        browser.script(last, &[]).await;
        let stage = "return document.querySelector(\"#lab-swin-windows [data-from^='stage.now']\")?.textContent === '2'";
        browser.wait_for("the second stage", stage).await;
        ready(browser, "lab-swin-windows").await;
        assert!(now("fixed").await < now("shifted").await);
        // What the token attends to in its window: another head, another block.
        open_cell(browser, "What a patch attends to in its window").await;
        ready(browser, "lab-window-heads").await;
        let weights = "#lab-window-heads .readout";
        let first = text(browser, weights).await;
        press(
            browser,
            "#lab-window-heads .head-gallery .patch-grid",
            &[Key::Right],
        )
        .await;
        let other = format!(
            "return document.querySelector('#lab-window-heads .panel-title').textContent === 'Head 2'
                && document.querySelector('{weights}').textContent !== {}",
            json!(first)
        );
        browser.wait_for("the second head", &other).await;
        press(browser, "#lab-window-heads input[type=range]", &[Key::End]).await;
        let last = "return document.querySelector(\"#lab-window-heads [data-from^='blocks']\")?.textContent === '4'";
        browser.wait_for("the last block", last).await;
        ready(browser, "lab-window-heads").await;
        // The token, merged from four, has read its window of 8 x 8 tokens, and more by the shifts.
        open_cell(
            browser,
            "Attention rollout: what the token has read of the whole picture",
        )
        .await;
        let count = async |name: &str| -> u32 {
            let number = format!("#lab-window-heads [data-from^='{name}']");
            let found = text(browser, &number).await;
            found
                .replace(',', "")
                .parse()
                .unwrap_or_else(|_| panic!("{name}: {found}"))
        };
        let (read, all) = (count("rollout.reached").await, count("patches").await);
        assert!((256..=all).contains(&read), "{read} of {all}");
        // The class read off the last stage, before its blocks and after each of the two.
        open_cell(browser, "Which block knows the class").await;
        ready(browser, "lab-class-token-lens").await;
        let rows =
            "return document.querySelectorAll('#lab-class-token-lens tbody tr').length === 3";
        browser.wait_for("the rows of the last stage", rows).await;
        // Two heads in each of four blocks.
        open_cell(browser, "The class without each head").await;
        swept(browser).await;
        assert_eq!(
            text(browser, "#lab-class-heads [data-from='count']").await,
            "8"
        );
        for look in [Look::DESK_DARK, Look::PHONE_LIGHT] {
            browser.look(look).await;
            super::browser::pause(300).await;
            no_wider_than_its_window(browser).await;
            let found = violations_of_page(browser).await;
            assert!(found.is_empty(), "{found:#?}");
        }
        browser.picture("lab-swin-windows").await;
    });
}
