//! The lab's cells: those of the lessons, computed with the model that the reader has opened.

use fantoccini::Locator;
use serde_json::json;

use super::axe::violations_of_page;
use super::browser::{Browser, Look, with_browser};
use super::lab::{choose, no_wider_than_its_window, shared, start, text, wait_open};
use super::reader::click;
use super::site;
use browser_harness::Habits;

/// Opens one of the cells, and waits until it has computed.
async fn open_cell(browser: &Browser, title: &str, id: &str) {
    let summary = format!("//summary[.='{title}']");
    click(browser, Locator::XPath(&summary)).await;
    ready(browser, id).await;
}

async fn ready(browser: &Browser, id: &str) {
    let script = format!("return document.getElementById('{id}')?.dataset.state === 'ready'");
    browser
        .wait_for(&format!("{id} to be ready"), &script)
        .await;
    assert_eq!(text(browser, &format!("#{id} .cell-error")).await, "");
}

/// A file as a reader opens it: a Llama with its vocabulary.
#[test]
fn an_opened_llama_computes_the_cells_of_the_lessons() {
    let Some(model) = shared("stories260K/stories260K-f32.gguf") else {
        return;
    };
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        start(browser, &server, Look::DESK_LIGHT).await;
        choose(browser, &[&model]).await;
        wait_open(browser).await;
        // Nothing is computed before it is asked for.
        let sections = "return document.querySelectorAll('.lab-cell').length";
        assert_eq!(browser.script(sections, &[]).await, json!(0));
        // A cell that only a GPT-2 can compute is not offered, nor one for encoders.
        let titles = text(browser, ".lab-cells").await;
        assert!(titles.contains("Logit lens"), "{titles}");
        for title in ["The whole model", "What counts for a hidden word"] {
            assert!(!titles.contains(title), "{titles}");
        }

        open_cell(browser, "Logit lens", "lab-logit-lens").await;
        // The embedding and five blocks, the last at the top.
        let rows = "return [...document.querySelectorAll('#lab-logit-lens tbody th')].map(row => row.textContent)";
        let expected = [
            "block 5",
            "block 4",
            "block 3",
            "block 2",
            "block 1",
            "embedding",
        ];
        assert_eq!(browser.script(rows, &[]).await, json!(expected));
        let note = text(browser, "#lab-logit-lens .cell-note").await;
        assert!(note.contains("stories260K-f32.gguf"), "{note}");

        open_cell(browser, "Induction test", "lab-induction").await;
        let switches =
            "return document.querySelectorAll('#lab-induction .head-buttons .button').length";
        assert_eq!(browser.script(switches, &[]).await, json!(40));
        let now = "return document.querySelector('#lab-induction [data-train=mean]').textContent";
        let before = browser.script(now, &[]).await;
        click(
            browser,
            Locator::XPath("//*[@id='lab-induction']//button[.='All off']"),
        )
        .await;
        let changed = format!(
            "return document.querySelector('#lab-induction [data-train=mean]').textContent !== {before}"
        );
        browser
            .wait_for("the losses without any head", &changed)
            .await;
        ready(browser, "lab-induction").await;
        // Edits of these cells are in no link.
        let hash = browser.script("return location.hash", &[]).await;
        assert_eq!(hash, json!(""));

        no_wider_than_its_window(browser).await;
        let found = violations_of_page(browser).await;
        assert!(found.is_empty(), "{found:#?}");
        browser.picture("lab-cells").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// The site's own GPT-2 in the lab: the answers of the lessons, and a text that is too long.
#[test]
fn the_sites_own_decoder_gives_the_answers_of_the_lessons() {
    let server = site::serve(Habits::SUB_FOLDER);
    with_browser(async |browser| {
        start(browser, &server, Look::PHONE_LIGHT).await;
        click(
            browser,
            Locator::XPath(
                "//button[starts-with(., 'tiny-gpt') and not(starts-with(., 'tiny-gpt-'))]",
            ),
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
        open_cell(browser, "Logit lens", "lab-logit-lens").await;
        let first = text(browser, "#lab-logit-lens tbody td").await;
        assert!(first.contains("\u{2423}ball"), "{first}");
        // The first layer of the MLP has 512 columns, of which some are shown.
        open_cell(browser, "The whole model", "lab-whole-model").await;
        let part =
            "const parts = document.querySelectorAll('#lab-whole-model .whole-parts .rail button');
            [...parts].find(button => button.textContent.trim() === 'W1').click()";
        browser.script(part, &[]).await;
        for (columns, press) in [("1 to 128 of 512", true), ("129 to 256 of 512", false)] {
            let shown = format!(
                "return document.querySelector('#lab-whole-model .whole-map .stepper-place')?.textContent.trim() === '{columns}'"
            );
            browser.wait_for(columns, &shown).await;
            if press {
                let after = "//*[@id='lab-whole-model']//button[starts-with(., 'Columns after')]";
                click(browser, Locator::XPath(after)).await;
            }
        }
        no_wider_than_its_window(browser).await;
        let long =
            "const box = document.querySelector('#lab-logit-lens :is(textarea, input[type=text])');
            box.value = 'once '.repeat(40);
            box.dispatchEvent(new Event('input', { bubbles: true }));
            box.dispatchEvent(new Event('change', { bubbles: true }))";
        browser.script(long, &[]).await;
        browser
            .wait_for(
                "the message",
                "return !!document.querySelector('#lab-logit-lens .cell-error')?.textContent.includes('at most 32')",
            )
            .await;
    });
}
