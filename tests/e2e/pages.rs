//! Every page: cells get ready, nothing complains, nothing leaves the host, nothing scrolls sideways.
//! `tour.rs` opens them.

use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser};
use super::site;
use browser_harness::{Habits, Server};

/// Opens a page and tells what is wrong with it.
pub(crate) async fn visit(browser: &Browser, server: &Server, url: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if let Err(waiting) = browser.open_ready(url).await {
        faults.push(waiting);
    }
    faults.extend(browser.complaints(&server.origin()).await);
    faults.extend(
        server
            .take_misses()
            .into_iter()
            .map(|path| format!("asked for {path}, which is not there")),
    );
    let page = browser
        .script(
            "const root = document.scrollingElement;
             const clips = element => getComputedStyle(element).overflowX !== 'visible';
             const contained = element => {
                 for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
                     if (clips(at) && at.getBoundingClientRect().right <= innerWidth + 1) return true;
                 }
                 return false;
             };
             const wide = [...document.querySelectorAll('body *')]
                 .filter(element => element.getBoundingClientRect().right > innerWidth + 1 && !contained(element))
                 .slice(0, 5).map(element => element.outerHTML.slice(0, 120));
             return {
                 title: document.title,
                 description: document.querySelector('meta[name=description]')?.content ?? '',
                 overflow: root.scrollWidth - root.clientWidth,
                 wide,
                 tool: !!document.querySelector('.tool form'),
                 cells: document.querySelectorAll('[data-cell]').length,
                 headings: document.querySelectorAll('h1').length,
                 language: document.documentElement.lang,
             }",
            &[],
        )
        .await;
    faults.extend(faults_of(&page));
    if page["cells"] == json!(0)
        && page["tool"] == json!(false)
        && !site::WITHOUT_CELLS
            .iter()
            .any(|page| url.contains(page.trim_end_matches('/')))
    {
        faults.push("no live cell".to_owned());
    }
    faults
}

fn faults_of(page: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for name in ["title", "description", "language"] {
        if page[name].as_str().is_none_or(str::is_empty) {
            faults.push(format!("no {name}"));
        }
    }
    if page["overflow"] != json!(0) {
        faults.push(format!(
            "scrolls sideways by {} px; too wide: {}",
            page["overflow"], page["wide"]
        ));
    }
    if page["headings"] != json!(1) {
        faults.push(format!("{} main headings instead of one", page["headings"]));
    }
    faults
}

#[test]
fn an_unknown_path_gets_the_404_page_with_a_way_home() {
    for habits in [Habits::ROOT, Habits::SUB_FOLDER] {
        let server = site::serve(habits);
        for path in [
            "nothing-here",
            "lesson/nothing-here",
            "lesson/nothing-here/deeper/",
        ] {
            let (status, _) = server.get(path).expect("an answer");
            assert!(status.contains("404"), "{path}: {status}");
            with_browser(async |browser| {
                browser.look(Look::PHONE_LIGHT).await;
                browser.open(&server.url(path)).await;
                browser
                    .wait_for(
                        "a link home",
                        "return !!document.querySelector('main a[href]')",
                    )
                    .await;
                super::browser::pause(500).await;
                let home = browser
                    .script("return document.querySelector('main a[href]').href", &[])
                    .await;
                assert_eq!(home, json!(server.url("")), "the way home from {path}");
                browser
                    .open_ready(&server.url(""))
                    .await
                    .expect("home gets ready");
                let missing = server.take_misses();
                assert!(
                    missing.iter().all(|asked| asked.contains("nothing-here")),
                    "{path} asks for {missing:?}"
                );
            });
        }
    }
}

#[test]
fn titles_and_descriptions_differ_from_page_to_page() {
    let server = site::serve(Habits::ROOT);
    let mut seen = std::collections::BTreeMap::new();
    for page in site::all_pages() {
        let (_, html) = server.get(&page).expect("an answer");
        for (kind, start, end) in [
            ("title", "<title>", "</title>"),
            ("description", "name=\"description\" content=\"", "\""),
        ] {
            let text = html
                .split_once(start)
                .and_then(|(_, rest)| rest.split_once(end))
                .map(|(text, _)| text.to_owned());
            let text = text.unwrap_or_else(|| panic!("no {kind} in {page}"));
            if let Some(other) = seen.insert((kind, text.clone()), page.clone()) {
                panic!("{page} and {other} share the {kind} {text:?}");
            }
        }
    }
}
