//! axe-core finds no violation on a page once every cell is ready, nor with any of its dialogs open.
//! `tour.rs` opens the pages.

use fantoccini::Locator;
use serde_json::{Value, json};

use super::browser::{Browser, Look};
use super::reader::{cell_tool, click};

/// The rules that count: all of WCAG 2.0 to 2.2 at levels A and AA, and axe-core's best practices.
const TAGS: &[&str] = &[
    "wcag2a",
    "wcag2aa",
    "wcag21a",
    "wcag21aa",
    "wcag22aa",
    "best-practice",
];

/// The rules that a change of theme can break.
const COLOURS: &[&str] = &["color-contrast", "link-in-text-block"];

/// Which rules are checked.
#[derive(Clone, Copy)]
enum Rules {
    All,
    Colours,
    AllButColours,
}

impl Rules {
    /// As axe-core takes them.
    fn options(self) -> Value {
        let all = json!({ "type": "tag", "values": TAGS });
        match self {
            Self::All => json!({ "runOnly": all }),
            Self::Colours => json!({ "runOnly": { "type": "rule", "values": COLOURS } }),
            Self::AllButColours => {
                let off = COLOURS
                    .iter()
                    .map(|&rule| (rule.to_owned(), json!({ "enabled": false })));
                json!({ "runOnly": all, "rules": off.collect::<serde_json::Map<_, _>>() })
            }
        }
    }
}

/// The source of axe-core.
fn source() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(path).expect("axe-core is there; `cargo xtask test` installs it")
}

/// What axe-core finds wrong on the whole page as it is now.
pub(crate) async fn violations_of_page(browser: &Browser) -> Vec<String> {
    settle(browser).await;
    violations(browser, &source(), Rules::All, "html").await
}

/// What axe-core finds wrong on the page as it is now, inside the element that a selector names.
async fn violations(browser: &Browser, axe: &str, rules: Rules, within: &str) -> Vec<String> {
    // Half a megabyte goes to the browser only where it is not there yet.
    if browser.script("return !!window.axe", &[]).await != json!(true) {
        browser.script(axe, &[]).await;
    }
    let result = browser
        .script_async(
            "const [rules, within, done] = arguments;
             axe.run(within, { ...rules, resultTypes: ['violations'], preload: false })
                 .then(result => done({ violations: result.violations.map(violation => ({
                     id: violation.id,
                     help: violation.help,
                     nodes: violation.nodes.slice(0, 3).map(node => `${node.target}: ${node.html.slice(0, 160)} (${node.failureSummary})`),
                     count: violation.nodes.length,
                 })), passes: result.passes.length }), error => done({ failed: String(error) }))",
            &[rules.options(), json!(within)],
        )
        .await;
    let Some(found) = result["violations"].as_array() else {
        return vec![format!("axe-core did not run: {result}")];
    };
    found.iter().map(describe).collect()
}

fn describe(violation: &Value) -> String {
    format!(
        "{} ({} times): {}\n    {}",
        violation["id"], violation["count"], violation["help"], violation["nodes"]
    )
}

/// What a reader presses to open a dialog.
#[derive(Clone, Copy)]
enum Opener {
    /// An entry of the menu of the first cell.
    Entry(&'static str),
    /// A button of the page.
    Button(Locator<'static>),
}

/// The dialogs of a page: what opens each, and what shows that it is all there.
const DIALOGS: &[(&str, Opener, &str)] = &[
    ("share", Opener::Entry("Share"), "dialog[open] input"),
    ("export", Opener::Entry("Export"), "dialog[open] table"),
    (
        "the Rust",
        Opener::Entry("Show the Rust"),
        "dialog[open] .rust-call pre",
    ),
    (
        "verify",
        Opener::Button(VERIFY),
        "dialog[open] [data-verify]:not([data-verify=running])",
    ),
];

/// The button that checks the page against PyTorch's values.
const VERIFY: Locator<'static> = Locator::XPath("//button[normalize-space()='Verify this page']");

/// Waits until no colour is on its way, as after a change of theme. What was folded away meanwhile
/// begins to change its own when it is opened.
async fn settle(browser: &Browser) {
    let still = "const done = arguments[0];
        const changes = () => document.getAnimations().filter(one => one instanceof CSSTransition);
        const ended = () => Promise.allSettled(changes().map(one => one.finished)).then(() => done());
        requestAnimationFrame(() => requestAnimationFrame(ended));";
    browser.script_async(still, &[]).await;
}

/// How much is checked of a page or a dialog. To find the colour behind each text takes axe-core
/// seconds on a page with large maps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The colours in the present theme.
    Colours,
    /// All rules in the present theme.
    One,
    /// All rules in the present theme, and the colours in the other.
    Both,
}

/// What axe-core finds wrong inside an element.
async fn inside(
    browser: &Browser,
    axe: &str,
    (look, depth): (Look, Depth),
    within: &str,
) -> Vec<String> {
    settle(browser).await;
    let rules = match depth {
        Depth::Colours => Rules::Colours,
        Depth::One | Depth::Both => Rules::All,
    };
    let mut faults = violations(browser, axe, rules, within).await;
    if depth != Depth::Both {
        return faults;
    }
    let other = Look {
        dark: !look.dark,
        ..look
    };
    browser.look(other).await;
    settle(browser).await;
    let found = violations(browser, axe, Rules::Colours, within).await;
    browser.look(look).await;
    faults.extend(
        found
            .into_iter()
            .map(|fault| format!("in the other theme: {fault}")),
    );
    faults
}

/// What axe-core finds on an open page as it is.
pub(crate) async fn check_page(browser: &Browser, look: Look, depth: Depth) -> Vec<String> {
    inside(browser, &source(), (look, depth), "html").await
}

/// What axe-core finds on an open page that has cells with each dialog open and with a cell that fills
/// the screen; with `whole`, also whether page and dialogs fit together (landmarks, ids): the page
/// behind an open dialog is inert.
pub(crate) async fn check_dialogs(
    browser: &Browser,
    look: Look,
    depth: Depth,
    whole: bool,
) -> Vec<String> {
    let (axe, look) = (&source(), (look, depth));
    let mut faults = Vec::new();
    let tools = Locator::Css(".cell-tools");
    if browser.client().find(tools).await.is_err() {
        return faults;
    }
    for &(name, opener, content) in DIALOGS {
        match opener {
            Opener::Entry(entry) => cell_tool(browser, "[data-cell]", entry).await,
            // A page without reference values has no button to verify it.
            Opener::Button(button) if browser.client().find(button).await.is_err() => continue,
            Opener::Button(button) => click(browser, button).await,
        }
        let is_open = format!("return !!document.querySelector({})", json!(content));
        browser
            .wait_for(&format!("the dialog {name}"), &is_open)
            .await;
        let mut found = inside(browser, axe, look, "dialog[open]").await;
        if whole {
            found.extend(violations(browser, axe, Rules::AllButColours, "html").await);
        }
        faults.extend(
            found
                .into_iter()
                .map(|fault| format!("dialog {name}: {fault}")),
        );
        click(browser, Locator::Css("dialog[open] .sheet-head button")).await;
        browser
            .wait_for(
                "the dialog to close",
                "return !document.querySelector('dialog[open]')",
            )
            .await;
    }
    click(browser, Locator::Css(".cell-menu > summary")).await;
    faults.extend(inside(browser, axe, look, ".cell-menu[open]").await);
    click(browser, Locator::Css(".cell-menu > summary")).await;
    cell_tool(browser, "[data-cell]", "Full screen").await;
    browser
        .wait_for("the full screen", "return !!document.fullscreenElement")
        .await;
    faults.extend(
        inside(browser, axe, look, ":fullscreen")
            .await
            .into_iter()
            .map(|fault| format!("full screen: {fault}")),
    );
    browser
        .script_async(
            "document.exitFullscreen().then(arguments[arguments.length - 1])",
            &[],
        )
        .await;
    faults
}
