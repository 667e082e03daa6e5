//! Exercises that a reader solves in a cell: the page says at once whether the cell meets the goal.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use cells::format::{self, Format};
use fantoccini::Locator;
use fantoccini::key::Key;
use lesson::{Answer, Exercise, Lesson, Make};
use pages::{Cells, Content};
use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser};
use super::provenance::{own, placed};
use super::reader::click;
use super::site;
use browser_harness::Habits;

/// The lessons as the build compiles them, once for all tests: it computes every number that they
/// quote.
fn lessons() -> &'static [Lesson] {
    static LESSONS: OnceLock<Vec<Lesson>> = OnceLock::new();
    LESSONS.get_or_init(|| {
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        let catalog = Cells {
            public: project.join("public"),
        };
        let content = Content::load(project, &catalog, false);
        content.unwrap_or_else(|error| panic!("{error}")).lessons
    })
}

/// The lesson of a page.
fn lesson(page: &str) -> &'static Lesson {
    let found = lessons()
        .iter()
        .find(|lesson| page == format!("lesson/{}/", lesson.slug));
    found.unwrap_or_else(|| panic!("{page} is no lesson"))
}

/// The exercise of a lesson that is solved in a cell.
fn goal(lesson: &Lesson) -> (&Exercise, &Make) {
    let found = lesson
        .exercises()
        .find_map(|exercise| match &exercise.answer {
            Answer::Make(make) => Some((exercise, make)),
            _ => None,
        });
    found.unwrap_or_else(|| panic!("{}: no goal", lesson.slug))
}

/// Waits until the page says that the goal of an exercise is met, or no longer says so.
async fn wait_for_done(browser: &Browser, id: &str, is_done: bool) {
    let condition = format!(
        "const status = document.querySelector('#exercise-{id} [role=status]');
         return !!status && status.textContent.startsWith('Done') === {is_done}"
    );
    let what = format!("{id} to be done: {is_done}");
    browser.wait_for(&what, &condition).await;
}

/// Types a number over the one in the first box that a selector finds, key by key.
async fn type_over(browser: &Browser, selector: &str, text: &str) {
    let found = browser.client().find(Locator::Css(selector)).await;
    let field = found.unwrap_or_else(|error| panic!("{selector}: {error}"));
    let keys = format!("{}a{}{text}", Key::Control, Key::Null);
    field.send_keys(&keys).await.expect("keys");
}

#[test]
fn a_goal_is_reached_by_the_keys_and_reset_and_undo_follow() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let url = server.url("lesson/alignment/");
        browser.open_ready(&url).await.expect("the lesson works");
        wait_for_done(browser, "share-equally", false).await;
        let first = "#alignment-scores .matrix-edit input[data-at='0,0']";
        type_over(browser, first, "5").await;
        let lines = "return [...document.querySelectorAll('#exercise-share-equally li')]
            .map(line => line.textContent.includes('(reached)'))";
        let of_lines = format!("{lines}.join() === 'true,false'");
        browser.wait_for("the first claim to hold", &of_lines).await;
        wait_for_done(browser, "share-equally", false).await;
        for (place, text) in [("0,1", "5"), ("0,2", "0"), ("0,3", "0")] {
            let field = format!("#alignment-scores .matrix-edit input[data-at='{place}']");
            type_over(browser, &field, text).await;
        }
        wait_for_done(browser, "share-equally", true).await;
        let explained = "return !!document.querySelector('#exercise-share-equally .explain')";
        assert_eq!(browser.script(explained, &[]).await, json!(true));

        let reset = Locator::Css("#alignment-scores .cell-tools > button");
        click(browser, reset).await;
        wait_for_done(browser, "share-equally", false).await;
        assert_eq!(browser.script(explained, &[]).await, json!(false));
        let undo = Locator::XPath("//button[normalize-space()='Undo']");
        click(browser, undo).await;
        wait_for_done(browser, "share-equally", true).await;
    });
}

/// The goal of the open lesson is not reached at first, and shows the values that the engine gives
/// natively. `visit.rs` opens the lessons.
pub(crate) async fn assert_open_at_first(browser: &Browser, page: &str) {
    let (exercise, make) = goal(lesson(page));
    wait_for_done(browser, &exercise.id, false).await;
    let all = placed(browser).await;
    let cell = all.iter().find(|cell| cell.id == make.id);
    let cell = cell.unwrap_or_else(|| panic!("{page}: no cell {}", make.id));
    let now = own(cell).expect("the lesson's own inputs");
    assert_shown(browser, exercise, make, &now).await;
}

/// In each lesson: done on the inputs of the solution, which the page does not hold.
#[test]
fn every_goal_is_reached_by_its_solution() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::PHONE_DARK).await;
        for lesson in lessons() {
            let (exercise, make) = goal(lesson);
            let page = format!("lesson/{}/", lesson.slug);
            let (_, html) = server.get(&page).expect("an answer");
            assert!(!html.contains("\"solution\""), "{page}");
            let here = format!("{page}#exercise-{}", exercise.id);
            browser.open(&server.url(&here)).await;
            let all = placed(browser).await;
            let cell = all.iter().find(|cell| cell.id == make.id);
            let cell = cell.unwrap_or_else(|| panic!("{page}: no cell {}", make.id));
            let given = cell.spec.inputs_from(&make.solution, &BTreeMap::new());
            let given = given.expect("the inputs of the solution");
            let is_edited = |name: &&String| make.solution.get(*name) != exercise.props.get(*name);
            let edited = make.solution.keys().filter(is_edited);
            let values: BTreeMap<String, Value> = edited
                .map(|name| (cell.keys[name].clone(), given.0[name].to_json()))
                .collect();
            let state = cells::state::encode(&values).expect("it fits into a link");
            browser
                .open(&server.url(&format!("{here}?s={state}")))
                .await;
            wait_for_done(browser, &exercise.id, true).await;
        }
    });
}

/// Compares the values in an exercise with a native result of its cell.
async fn assert_shown(
    browser: &Browser,
    exercise: &Exercise,
    make: &Make,
    now: &cells::Computation,
) {
    let shown = format!(
        "return [...document.querySelectorAll('#exercise-{} [data-from]')]
            .map(number => [number.dataset.from, number.dataset.format, number.textContent])",
        exercise.id
    );
    let shown = browser.script(&shown, &[]).await;
    let shown: Vec<(String, String, String)> = serde_json::from_value(shown).expect("numbers");
    assert_eq!(shown.len(), make.goal.len(), "{}", exercise.id);
    for (from, format, text) in shown {
        let element = from.strip_prefix(&format!("{}.", make.id));
        let value = element.and_then(|element| now.resolve(element));
        let value = value.unwrap_or_else(|| panic!("{from} names nothing that was computed"));
        let format: Format = format.parse().expect("a format");
        assert_eq!(text, format::number(value, format), "{from}");
    }
}

/// Without scripts, the hint of the open lesson's goal opens, and its link leads to the cell.
/// `noscript.rs` opens the lessons.
pub(crate) async fn assert_hint_and_link(browser: &Browser, page: &str) {
    let (exercise, make) = goal(lesson(page));
    let section = format!("#exercise-{}", exercise.id);
    let hint = format!("{section} .hint");
    click(browser, Locator::Css(&format!("{hint} > summary"))).await;
    let hint = browser.client().find(Locator::Css(&hint)).await;
    let open = hint.expect("a hint").attr("open").await.expect("an answer");
    assert!(open.is_some(), "{}", exercise.id);
    let link = format!("{section} a[href='#{}']", make.id);
    click(browser, Locator::Css(&link)).await;
    let address = browser.client().current_url().await.expect("an address");
    assert_eq!(address.fragment(), Some(make.id.as_str()));
}
