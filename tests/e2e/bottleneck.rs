//! The lesson on the bottleneck as a reader uses it: types a sentence, measures and stops, trains
//! two models, asks for a way between words.

use fantoccini::Locator;
use serde_json::json;

use super::browser::{Browser, Look, pause, with_browser};
use super::reader::click;
use super::site;
use super::training::{readout_of, wait_for_steps_of};
use browser_harness::{Habits, Server};

const MEASURE: &str = "race-measure";
const TRAIN: &str = "train-the-race";

fn button(cell: &str, name: &str) -> String {
    format!("#{cell} [data-train={name}]")
}

async fn press(browser: &Browser, cell: &str, name: &str) {
    click(browser, Locator::Css(&button(cell, name))).await;
}

async fn open(browser: &Browser, server: &Server) {
    browser.look(Look::DESK_LIGHT).await;
    browser
        .open_ready(&server.url(&site::lesson("bottleneck")))
        .await
        .expect("the lesson works");
}

async fn text(browser: &Browser, place: &str) -> String {
    let script = "return document.querySelector(arguments[0]).textContent.trim()";
    let text = browser.script(script, &[json!(place)]).await;
    text.as_str().unwrap_or_default().to_owned()
}

/// The three translations.
async fn translations(browser: &Browser) -> Vec<String> {
    let mut found = Vec::new();
    for name in ["fixed", "attention", "transformer"] {
        found.push(text(browser, &format!("#seq2seq-race td[data-race={name}]")).await);
    }
    found
}

/// Three translations stand there; another sentence has others; without a sentence there is a
/// message, and the text stays.
#[test]
fn a_sentence_is_translated_by_all_three() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server).await;
        let before = translations(browser).await;
        assert!(before.iter().all(|text| !text.is_empty()), "{before:?}");

        let field = browser
            .client()
            .find(Locator::Css("#seq2seq-race textarea"))
            .await
            .expect("a box for the sentence");
        let clear = "arguments[0].value = ''; arguments[0].dispatchEvent(new Event('input', { bubbles: true }))";
        let handle = serde_json::to_value(&field).expect("an element");
        browser.script(clear, &[handle]).await;
        browser
            .wait_for(
                "a message",
                "return document.getElementById('seq2seq-race').dataset.state === 'error'",
            )
            .await;
        field.send_keys("I am hungry").await.expect("typing works");
        browser
            .wait_for(
                "the new translations",
                "const cell = document.getElementById('seq2seq-race');
                 return cell.dataset.state === 'ready' && cell.querySelector('[data-race=reads]').textContent.trim() === 'i am hungry'",
            )
            .await;
        let after = translations(browser).await;
        for (before, after) in before.iter().zip(&after) {
            assert!(!after.is_empty() && before != after, "{before} {after}");
        }
    });
}

/// Measuring goes on until it is stopped; what was measured stays, is in the address, and clearing
/// begins anew.
#[test]
fn measuring_can_be_stopped_and_keeps_what_it_has() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server).await;
        assert_eq!(readout_of(browser, MEASURE, "steps").await, "0");
        // All of it takes a few seconds: the page itself presses again as soon as the first
        // sentences are there.
        let briefly =
            "const of = name => document.querySelector(`#race-measure [data-train=${name}]`);
            of('start').click();
            const timer = setInterval(() => {
                if (Number(of('steps').textContent) < 4) return;
                clearInterval(timer);
                of('start').click();
            }, 5);";
        browser.script(briefly, &[]).await;
        wait_for_steps_of(browser, MEASURE, ">= 4").await;
        pause(1500).await;
        let steps = readout_of(browser, MEASURE, "steps").await;
        assert!(steps.parse::<u32>().is_ok_and(|n| n < 200), "{steps}");
        let score = text(browser, "#race-measure [data-race='attention.bleu.all']").await;
        assert!(score.parse::<f64>().is_ok(), "{score}");
        pause(1500).await;
        assert_eq!(readout_of(browser, MEASURE, "steps").await, steps);
        let kept = text(browser, "#race-measure [data-race='attention.bleu.all']").await;
        assert_eq!(kept, score, "what was measured stays");

        press(browser, MEASURE, "step").await;
        let next: u32 = steps.parse::<u32>().expect("a count") + 1;
        wait_for_steps_of(browser, MEASURE, &format!("=== {next}")).await;
        press(browser, MEASURE, "rewind").await;
        wait_for_steps_of(browser, MEASURE, "=== 0").await;
        let scores = "return document.querySelectorAll('#race-measure [data-race]').length";
        assert_eq!(browser.script(scores, &[]).await, json!(0));
    });
}

/// Two models learn side by side; a pause is a pause; back at the beginning and on again, the same
/// digits.
#[test]
fn two_models_race_and_can_be_rewound() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server).await;
        let shares = async || {
            let mut found = Vec::new();
            for name in ["fixed.whole.0", "attention.whole.0", "attention.whole.3"] {
                found.push(readout_of(browser, TRAIN, name).await);
            }
            found
        };
        let losses = "return [...document.querySelectorAll('#train-the-race [data-from$=\"loss.now\"]')].map(e => e.textContent)";
        let before = shares().await;
        let mut seen = Vec::new();
        for _ in 0..2 {
            for n in 1..=3 {
                press(browser, TRAIN, "step").await;
                wait_for_steps_of(browser, TRAIN, &format!("=== {n}")).await;
            }
            seen.push(browser.script(losses, &[]).await);
            press(browser, TRAIN, "rewind").await;
            wait_for_steps_of(browser, TRAIN, "=== 0").await;
            assert_eq!(shares().await, before);
        }
        assert_eq!(seen[0].as_array().map(Vec::len), Some(2), "{seen:?}");
        assert_eq!(seen[0], seen[1], "the same digits");

        press(browser, TRAIN, "start").await;
        wait_for_steps_of(browser, TRAIN, ">= 6").await;
        press(browser, TRAIN, "start").await;
        pause(1500).await;
        let steps = readout_of(browser, TRAIN, "steps").await;
        pause(1000).await;
        assert_eq!(readout_of(browser, TRAIN, "steps").await, steps);
    });
}

/// Two clicks choose the ends of the way; attention takes one step between any two words.
#[test]
fn two_words_are_joined_by_a_way() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server).await;
        for place in [0, 8] {
            let word = format!("#path-length button[data-path='{place}']");
            click(browser, Locator::Css(&word)).await;
        }
        browser
            .wait_for(
                "the way",
                "return document.querySelector('#path-length [data-path=\"steps.recurrent\"]').textContent.trim() === '8'",
            )
            .await;
        let steps = async |name: &str| {
            text(browser, &format!("#path-length [data-path='steps.{name}']")).await
        };
        assert_eq!(steps("contiguous").await, "4");
        assert_eq!(steps("dilated").await, "2");
        assert_eq!(steps("attention").await, "1");
        let ways = "return [...document.querySelectorAll('#path-length svg[role=img]')].map(svg => svg.getAttribute('aria-label'))";
        let ways = browser.script(ways, &[]).await;
        assert_eq!(ways[3], json!("The path: The, owned"));
    });
}
