//! Cells on trained models and on random weights: what a reader who goes from one to the other
//! sees, and where a model's card is.

use fantoccini::Locator;
use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::reader::click;
use super::site;
use browser_harness::Habits;

/// The numbers that a cell shows, without the time that it took.
async fn numbers(browser: &Browser, cell: &str) -> String {
    let script = "return [...document.querySelectorAll(`#${arguments[0]} .cell-view [data-from]`)]
        .map(number => `${number.dataset.from} ${number.textContent}`).join()";
    let text = browser.script(script, &[json!(cell)]).await;
    text.as_str().unwrap_or_default().to_owned()
}

/// Chooses an option of a cell, as a click on its label does, and waits until the cell has
/// answered.
pub(crate) async fn choose(browser: &Browser, cell: &str, option: &str) {
    let script = "const [cell, option] = arguments;
        const radio = document.querySelector(`#${cell} input[type=radio][value='${option}']`);
        radio.scrollIntoView({ block: 'center' });
        radio.closest('label').click()";
    browser.script(script, &[json!(cell), json!(option)]).await;
    let is_chosen = format!(
        "const cell = document.getElementById({cell});
         const radio = cell.querySelector(`input[type=radio][value='${{{option}}}']`);
         return radio.checked && cell.dataset.state === 'ready'",
        cell = json!(cell),
        option = json!(option),
    );
    browser.wait_for(option, &is_chosen).await;
    // What belongs to the new model may be folded away.
    browser.ready().await.expect("the cells work");
}

async fn has_seed(browser: &Browser, cell: &str) -> bool {
    let script = "return !!document.querySelector(`#${arguments[0]} .seed-box, #${arguments[0]} [data-from='input:seed']`)";
    browser.script(script, &[json!(cell)]).await == json!(true)
}

async fn note(browser: &Browser, cell: &str) -> String {
    let script = "return document.querySelector(`#${arguments[0]} .cell-note`).textContent";
    let text = browser.script(script, &[json!(cell)]).await;
    text.as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_cell_goes_from_the_trained_model_to_random_weights_and_back() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let pages = [
            (String::new(), "try-it", "tiny-bert"),
            (site::lesson("self-attention"), "permutation", "tiny-bert"),
            (site::lesson("causal-mask"), "leak-test", "tiny-gpt"),
            (
                site::lesson("causal-mask"),
                "three-attentions",
                "translator",
            ),
            ("lesson/positions/".to_owned(), "bag-of-words", "tiny-bert"),
            (
                site::lesson("relative-positions"),
                "learned-table",
                "tiny-bert",
            ),
            (site::lesson("patches"), "patch-embedding", "digit-vit"),
        ];
        for (page, cell, model) in pages {
            let opened = browser.open_ready(&server.url(&page)).await;
            opened.unwrap_or_else(|error| panic!("{page}: {error}"));
            assert!(note(browser, cell).await.contains(model), "{cell}");
            assert!(!has_seed(browser, cell).await, "{cell}");
            let trained = numbers(browser, cell).await;
            choose(browser, cell, "random").await;
            assert!(
                note(browser, cell)
                    .await
                    .contains("random parameters, seed"),
                "{cell}"
            );
            assert!(has_seed(browser, cell).await, "{cell}");
            assert_ne!(numbers(browser, cell).await, trained, "{cell}");
            choose(browser, cell, model).await;
            assert_eq!(numbers(browser, cell).await, trained, "{cell}");
            let complaints = browser.complaints(&server.origin()).await;
            assert!(complaints.is_empty(), "{cell}: {complaints:?}");
        }
    });
}

#[test]
fn every_head_of_a_model_can_be_looked_at() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::PHONE_LIGHT).await;
        browser
            .open_ready(&server.url(""))
            .await
            .expect("the home page works");
        let options = "return [...document.querySelectorAll('#try-it fieldset')]
            .map(choice => [choice.querySelector('legend').textContent, choice.querySelectorAll('input').length])";
        assert_eq!(
            browser.script(options, &[]).await,
            json!([["Model", 3], ["Layer", 3], ["Head", 4]])
        );
        let mut seen = vec![numbers(browser, "try-it").await];
        for head in ["4", "1"] {
            let script = "const [head] = arguments;
                document.querySelectorAll('#try-it fieldset')[2].querySelector(`input[value='${head}']`).closest('label').click()";
            browser.script(script, &[json!(head)]).await;
            let changed = format!(
                "const shown = [...document.querySelectorAll('#try-it .cell-view [data-from]')]
                     .map(number => `${{number.dataset.from}} ${{number.textContent}}`).join();
                 return document.getElementById('try-it').dataset.state === 'ready' && shown !== {}",
                json!(seen[seen.len() - 1])
            );
            browser.wait_for("another head", &changed).await;
            let now = numbers(browser, "try-it").await;
            assert!(
                !seen.contains(&now),
                "head {head} shows what another showed"
            );
            seen.push(now);
        }
    });
}

#[test]
fn a_cell_leads_to_the_card_of_its_model() {
    for habits in [Habits::ROOT, Habits::SUB_FOLDER] {
        let server = site::serve(habits);
        with_browser(async |browser| {
            browser.look(Look::DESK_LIGHT).await;
            browser
                .open_ready(&server.url(""))
                .await
                .expect("the home page works");
            click(browser, Locator::Css("#try-it .cell-note a")).await;
            browser
                .wait_for(
                    "the card",
                    "return location.pathname.endsWith('/models/') && location.hash === '#tiny-bert'
                         && document.activeElement?.id === 'tiny-bert'",
                )
                .await;
            let row = "const rows = [...document.querySelectorAll('h2#tiny-bert ~ .table-scroll')][0]?.querySelectorAll('tr') ?? [];
                return [...rows].find(row => row.querySelector('th')?.textContent === 'file')?.querySelector('td').textContent";
            assert_eq!(
                browser.script(row, &[]).await,
                json!("tiny-bert.safetensors")
            );
            let complaints = browser.complaints(&server.origin()).await;
            assert!(complaints.is_empty(), "{complaints:?}");
        });
    }
}
