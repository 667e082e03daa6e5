//! The lab with models that do not write: sentences as alike as in the stored reference, a
//! picture's classes, what a patch attends to.

use fantoccini::Locator;
use serde_json::{Value, json};

use super::axe::violations_of_page;
use super::browser::{Browser, Look, with_browser};
use super::lab::{
    choose, choose_in, made, no_wider_than_its_window, set, shared, start, text, wait_open,
};
use super::reader::click;
use super::site;
use browser_harness::Habits;

/// Looks at the page as axe-core and a picture show it.
async fn look_over(browser: &Browser, name: &str) {
    for (look, theme) in [
        (Look::PHONE_LIGHT, "phone-light"),
        (Look::PHONE_DARK, "phone-dark"),
        (Look::DESK_LIGHT, "desk-light"),
        (Look::DESK_DARK, "desk-dark"),
    ] {
        browser.look(look).await;
        super::browser::pause(300).await;
        no_wider_than_its_window(browser).await;
        let found = violations_of_page(browser).await;
        assert!(found.is_empty(), "{name}, {look:?}: {found:#?}");
        browser.picture(&format!("lab-{name}-{theme}")).await;
    }
}

#[test]
fn two_sentences_have_the_stored_similarity() {
    let folder = |name: &str| shared(&format!("all-minilm-l6-v2/{name}"));
    let (Some(weights), Some(config), Some(words), Some(reference)) = (
        folder("model.safetensors"),
        folder("config.json"),
        folder("tokenizer.json"),
        folder("reference.json"),
    ) else {
        return;
    };
    let reference = std::fs::read_to_string(reference).expect("it can be read");
    let reference: Value = serde_json::from_str(&reference).expect("JSON");
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        choose(browser, &[&config, &weights, &words]).await;
        wait_open(browser).await;
        let facts = text(browser, ".lab-facts").await;
        assert!(
            facts.contains("BERT") && facts.contains("safetensors"),
            "{facts}"
        );
        for (a, b) in [(0, 1), (1, 2)] {
            let sentences = &reference["sentences"];
            set(
                browser,
                json!({ "first": sentences[a], "second": sentences[b] }),
            )
            .await;
            click(browser, Locator::XPath("//button[.='Compare']")).await;
            browser
                .wait_for(
                    "the similarity",
                    "return !!document.querySelector('.lab-similarity .num')",
                )
                .await;
            let found = text(browser, ".lab-similarity .num").await;
            let found: f64 = found.replace('\u{2212}', "-").parse().expect("a number");
            let expected = reference["similarity"][a][b].as_f64().expect("a number");
            assert!((found - expected).abs() < 1e-4, "{found}, not {expected}");
            let count = browser
                .script(
                    "return document.querySelectorAll('.lab-tokens li').length",
                    &[],
                )
                .await;
            let ids = |n: usize| reference["token_ids"][n].as_array().map_or(0, Vec::len);
            assert_eq!(count, json!(ids(a) + ids(b)));
        }
        set(browser, json!({ "second": " " })).await;
        click(browser, Locator::XPath("//button[.='Compare']")).await;
        browser
            .wait_for(
                "the mistake",
                "return !!document.querySelector('.lab .cell-error')?.textContent.includes('has to have a word')",
            )
            .await;
        set(browser, json!({ "second": "Sun!" })).await;
        click(browser, Locator::XPath("//button[.='Compare']")).await;
        browser
            .wait_for("the next similarity", "return !!document.querySelector('.lab-similarity .num') && !document.querySelector('.lab .cell-error')")
            .await;
        look_over(browser, "sentences").await;
    });
}

/// A safetensors file with this header and four bytes of numbers.
fn safetensors(header: &Value) -> Vec<u8> {
    let header = header.to_string().into_bytes();
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], &header, &[0; 4]].concat()
}

#[test]
fn of_a_name_of_any_length_and_direction_a_part_is_shown() {
    let long = format!("\u{202e}{}", "x".repeat(20_000));
    let tensor = json!({ "dtype": "F32", "shape": [1], "data_offsets": [0, 4] });
    let config = json!({ "model_type": long }).to_string();
    let config = json!({ "__metadata__": { "config": config }, "one": tensor });
    let unknown = json!({ "dtype": "F99", "shape": [1], "data_offsets": [0, 4] });
    let tensor = json!({ (long.as_str()): unknown });
    let odd = [
        (
            made("odd-config.safetensors", &safetensors(&config)),
            "expected a model_type",
        ),
        (
            made("odd-tensor.safetensors", &safetensors(&tensor)),
            "expected a known dtype",
        ),
        (
            made(&format!("{}.gguf", "y".repeat(200)), b"Dear diary"),
            "is no model",
        ),
    ];
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::PHONE_LIGHT).await;
        for (file, words) in &odd {
            choose(browser, &[file]).await;
            let is_told = format!(
                "return !!document.querySelector('.lab .cell-error')?.textContent.includes('{words}')"
            );
            browser.wait_for(words, &is_told).await;
            let why = text(browser, ".lab .cell-error").await;
            assert!(why.chars().count() < 1000, "{why}");
            assert!(why.contains('\u{2026}'), "{why}");
            assert!(!why.contains('\u{202e}'), "{why}");
            no_wider_than_its_window(browser).await;
            let height = "return document.querySelector('.lab .cell-error').offsetHeight > 0";
            assert_eq!(browser.script(height, &[]).await, json!(true), "{why}");
        }
    });
}

#[test]
fn the_coffee_is_an_espresso_and_its_patches_attend() {
    let folder = |name: &str| shared(&format!("vit-tiny-patch16-224/{name}"));
    let (Some(weights), Some(config), Some(coffee)) = (
        folder("model.safetensors"),
        folder("config.json"),
        folder("reference/coffee-224.png"),
    ) else {
        return;
    };
    let server = site::serve(Habits::SUB_FOLDER);
    with_browser(async |browser| {
        start(browser, &server, Look::PHONE_LIGHT).await;
        choose(browser, &[&weights, &config]).await;
        wait_open(browser).await;
        // The site's own sample first: it is the same cup.
        for sample in [true, false] {
            if sample {
                click(browser, Locator::XPath("//button[.='Coffee']")).await;
            } else {
                click(browser, Locator::XPath("//button[.='Harbour']")).await;
                browser
                    .wait_for("another class", "return document.querySelector('.lab-classes .num')?.dataset.from !== 'probabilities[967]'")
                    .await;
                choose_in(browser, ".picture-box input[type=file]", &[&coffee]).await;
            }
            browser
                .wait_for(
                    "the espresso",
                    "const first = document.querySelector('.lab-classes .share');
                     return !!first && first.querySelector('.num').dataset.from === 'probabilities[967]'
                         && parseFloat(first.querySelector('.num').textContent) > 50",
                )
                .await;
        }
        // The class token first, then a patch that is walked to with the keyboard.
        let attends = |layer: usize, head: usize, token: usize| {
            format!(
                "const rows = [...document.querySelectorAll('.lab-sight .share .num')];
                 return rows.length === 6 && rows.every(row => row.dataset.from.startsWith('attention.weights[{layer},{head},{token},'))"
            )
        };
        browser
            .wait_for("what the class token attends to", &attends(11, 0, 0))
            .await;
        let before = "return document.querySelector('.patch-grid canvas').toDataURL()";
        let before = browser.script(before, &[]).await;
        browser
            .script("document.querySelector('.patch-grid').focus()", &[])
            .await;
        for _ in 0..2 {
            let grid = browser.client().find(Locator::Css(".patch-grid")).await;
            grid.expect("the picture")
                .send_keys("\u{e014}")
                .await
                .expect("an arrow key");
        }
        browser
            .wait_for("what a patch attends to", &attends(11, 0, 3))
            .await;
        set(browser, json!({ "layer": "2", "head": "1" })).await;
        browser.wait_for("another head", &attends(2, 1, 3)).await;
        let changed = browser
            .script(
                "return document.querySelector('.patch-grid canvas').toDataURL() !== arguments[0]",
                &[before],
            )
            .await;
        assert_eq!(changed, json!(true), "the colours follow the attention");
        click(browser, Locator::XPath("//button[.='Class token']")).await;
        browser
            .wait_for("the class token again", &attends(2, 1, 0))
            .await;
        look_over(browser, "pictures").await;
    });
}
