//! Firefox lays out a page while it is still arriving. A formula of which only a part is there at
//! that moment is, for its console, one with a wrong number of children.

use browser_harness::Habits;

use super::browser::{Browser, Found};
use super::site;

/// What Firefox says of such a formula.
const INCOMPLETE: &str = "Invalid markup: Incorrect number of children for <";

/// The elements of a page that have no fixed place for one of their children, or a place without a
/// child (MathML Core, sections 3.3 and 3.4), as text.
const WRONG: &str = "
    const places = {
        mfrac: 2, mroot: 2, msub: 2, msup: 2, munder: 2, mover: 2, msubsup: 3, munderover: 3,
    };
    return [...document.querySelectorAll(Object.keys(places))]
        .filter(element => element.childElementCount !== places[element.localName])
        .map(element => element.outerHTML);";

/// Drops what Firefox said of formulas that have become whole since. If any on the page is not,
/// all complaints stay.
pub(crate) async fn without_arriving(
    browser: &Browser,
    mut complaints: Vec<String>,
) -> Vec<String> {
    let is_of_formula = |complaint: &String| complaint.contains(INCOMPLETE);
    if complaints.iter().any(is_of_formula) {
        let wrong = browser.script(WRONG).await;
        if wrong.as_array().is_some_and(Vec::is_empty) {
            complaints.retain(|complaint| !is_of_formula(complaint));
        }
    }
    complaints
}

/// Adds to a page a subscript that is laid out without its index, which comes then or not.
async fn add_formula(browser: &Browser, page: &str, brings_index: bool) -> Vec<String> {
    browser.open(page).await;
    let add = format!(
        "const part = name => document.createElementNS('http://www.w3.org/1998/Math/MathML', name);
         const drawn = () => new Promise(
             resolve => requestAnimationFrame(() => setTimeout(resolve)));
         const [formula, indexed] = [part('math'), part('msub')];
         indexed.append(part('mi'));
         formula.append(indexed);
         document.body.append(formula);
         await drawn();
         if ({brings_index}) indexed.append(part('mn'));
         await drawn();"
    );
    browser.script(&add).await;
    browser.complaints().await
}

#[test]
fn only_a_formula_that_stays_incomplete_is_a_mistake() {
    let Some(firefox) = Found::firefox() else {
        return;
    };
    let server = site::serve(Habits::ROOT);
    let page = server.url(&site::lesson("basics"));
    firefox.run(async |browser| {
        let incomplete = add_formula(browser, &page, false).await;
        assert!(
            incomplete.iter().any(|said| said.contains(INCOMPLETE)),
            "{incomplete:?}"
        );
        let whole = add_formula(browser, &page, true).await;
        assert!(whole.is_empty(), "{whole:?}");
    });
}
