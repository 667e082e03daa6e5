//! The policy of the pages: every document has its own, it allows what the page does, and refuses
//! what a stranger could bring in. All tests that look at the console check that it allows enough.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fantoccini::Locator;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::browser::{Browser, Look, with_browser};
use super::lab::{set, text};
use super::reader::click;
use super::site;
use browser_harness::{Habits, Server};

/// What allows the scripts or the style sheets in a document, by the hashes of their texts.
fn sources(html: &str, name: &str) -> BTreeSet<String> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let elements = html
        .split(&open)
        .skip(1)
        .filter_map(|rest| rest.split_once('>'));
    elements
        .filter(|(tag, _)| !tag.contains(" src="))
        .map(|(_, rest)| {
            let text = rest.split(&close).next().unwrap_or_default();
            format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
        })
        .collect()
}

/// What is wrong with the policy of a document.
fn faults_of(html: &str) -> Vec<String> {
    let start = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
    let Some((before, rest)) = html.split_once(start) else {
        return vec!["it has no policy".to_owned()];
    };
    let (policy, rest) = rest.split_once('"').expect("the policy ends");
    let mut faults = Vec::new();
    if before.contains("<script") || before.contains("<style") || before.contains("<link") {
        faults.push("something comes before the policy".to_owned());
    }
    if !policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-") {
        faults.push(format!("the policy is {policy}"));
    }
    let (scripts, sheets) = (sources(rest, "script"), sources(rest, "style"));
    let named: BTreeSet<String> = policy
        .split([' ', ';'])
        .filter(|source| source.starts_with("'sha256-"))
        .map(str::to_owned)
        .collect();
    if named != &scripts | &sheets {
        faults.push(format!("{named:?}, not {scripts:?} and {sheets:?}"));
    }
    // What is swapped when the reader goes to another page must need no hash.
    let (_, main) = rest.split_once("<main").expect("it has a main part");
    let (main, _) = main.split_once("</main>").expect("the main part ends");
    if main.contains("<script") || main.contains("<style") {
        faults.push("its main part has a script or a style sheet".to_owned());
    }
    faults
}

#[test]
fn every_document_has_a_policy_that_names_its_scripts_and_sheets() {
    let dist = site::dist();
    let pages = site::all_pages().into_iter();
    let files = pages.map(|page| format!("{page}index.html"));
    let mut faults = Vec::new();
    for file in files.chain(["404.html".to_owned()]) {
        let html = std::fs::read_to_string(dist.join(&file)).expect("a document");
        let found = faults_of(&html);
        faults.extend(found.into_iter().map(|fault| format!("{file}: {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What a document cannot say comes with the files, and a worker has a policy of its own.
#[test]
fn hosts_that_read_the_list_send_its_headers() {
    let names = std::fs::read_dir(site::dist()).expect("the folder can be read");
    let names = names.map(|entry| entry.expect("a file").file_name());
    let worker = names
        .filter_map(|name| name.into_string().ok())
        .find(|name| name.starts_with("worker_start-"))
        .expect("the script that starts workers");
    let head = |server: &Server, path: &str| server.answer_to(path).expect("an answer").0;
    let server = site::serve(Habits::ROOT);
    let page = head(&server, "lab/");
    for wanted in [
        "Content-Security-Policy: frame-ancestors 'none'; ",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "Permissions-Policy: camera=(self), ",
        "Cross-Origin-Embedder-Policy: require-corp",
    ] {
        assert!(page.contains(wanted), "{wanted}\n{page}");
    }
    let own = "Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; ";
    assert!(!page.contains(own), "{page}");
    assert!(head(&server, &worker).contains(own), "{worker}");
    assert!(head(&server, "sw.js").contains("Content-Security-Policy: default-src 'self'"));
    let silent = site::serve(Habits::SUB_FOLDER);
    assert!(!head(&silent, "lab/").contains("Policy"));
}

/// Brings into the page what a stranger's text could be, and tells what ran, what the policy
/// refused, and what it allows. It waits first: until then it has the rights of the test.
const STRANGER: &str = "
    const [done] = arguments;
    const pause = ms => new Promise(then => setTimeout(then, ms));
    (async () => {
        await pause(0);
        const refused = new Set();
        document.addEventListener('securitypolicyviolation', event => {
            refused.add(`${event.effectiveDirective} ${event.blockedURI}`);
        });
        const add = (name, text) => {
            const element = document.createElement(name);
            element.textContent = text;
            return document.body.appendChild(element);
        };
        add('script', 'globalThis.ran = true');
        add('style', 'body { --stranger: 1 }');
        const button = add('button', 'Press');
        button.setAttribute('onclick', 'globalThis.ran = true');
        button.setAttribute('style', '--attribute: 1');
        button.click();
        try { (0, eval)('globalThis.ran = true'); } catch {}
        await fetch('data:,a').catch(() => {});
        await fetch('http://192.0.2.1/a').catch(() => {});
        const image = add('img', '');
        image.src = 'https://192.0.2.1/a.png';
        await pause(500);
        const value = (element, name) => getComputedStyle(element).getPropertyValue(name).trim();
        done({
            ran: globalThis.ran === true,
            sheet: value(document.body, '--stranger'),
            attribute: value(button, '--attribute'),
            refused: [...refused].sort(),
        });
    })();
";

#[test]
fn a_page_refuses_what_a_stranger_could_bring_in() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let opened = browser.open_ready(&server.url("lab/")).await;
        opened.expect("the lab works");
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
        let found = browser.script_async(STRANGER, &[]).await;
        let expected = json!({
            "ran": false,
            "sheet": "",
            // Views set such attributes, and a style can do little by itself.
            "attribute": "1",
            "refused": [
                "connect-src data",
                "connect-src http://192.0.2.1/a",
                "img-src https://192.0.2.1/a.png",
                "script-src eval",
                "script-src-attr inline",
                "script-src-elem inline",
                "style-src-elem inline",
            ],
        });
        assert_eq!(found, expected);
        // So a test that looks at the console fails where the policy refuses what a page needs.
        let complaints = browser.complaints(&server.origin()).await;
        let is_named = complaints
            .iter()
            .any(|line| line.starts_with("console SEVERE") && line.contains("Security Policy"));
        assert!(is_named, "{complaints:?}");
    });
}

/// What the policy refused on the page and before.
async fn refused(browser: &Browser, server: &Server) -> Vec<String> {
    let mut complaints = browser.complaints(&server.origin()).await;
    complaints.retain(|line| line.contains("Security Policy"));
    complaints
}

/// The policy is that of the page that was loaded first, whose sheets have other addresses in them.
#[test]
fn pages_that_are_swapped_in_keep_to_the_policy_of_the_first() {
    let server = site::serve(Habits::SUB_FOLDER);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let opened = browser.open_ready(&server.url("")).await;
        opened.expect("the home page works");
        click(browser, Locator::Css(".course-map a[href*='lesson/']")).await;
        let is_lesson = "return document.querySelector('main').dataset.page.startsWith('lesson/')";
        browser.wait_for("a lesson", is_lesson).await;
        browser.ready().await.expect("its cells");
        click(browser, Locator::Css(".site-link")).await;
        let is_lab = "return !!document.querySelector('.lab-open')";
        browser.wait_for("the lab", is_lab).await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");

        // A host that the policy leaves out is named as such.
        set(browser, json!({ "url": "http://192.0.2.1/a.gguf" })).await;
        click(browser, Locator::XPath("//button[.='Fetch and open']")).await;
        let has_error = "return !!document.querySelector('.lab .cell-error')";
        browser.wait_for("an error", has_error).await;
        let why = text(browser, ".lab .cell-error").await;
        assert!(why.contains("over https:// only"), "{why}");
        let refused = refused(browser, &server).await;
        assert!(refused.is_empty(), "{refused:?}");
    });
}

/// Its style sheet of fonts is made when it knows where the site is.
#[test]
fn the_page_for_unknown_addresses_finds_its_fonts() {
    let server = site::serve(Habits::SUB_FOLDER);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser.open(&server.url("lesson/none/deeper/")).await;
        let has_font = "return [...document.fonts].some(({ family, status }) =>
            family.replaceAll('\"', '') === 'Notebook Serif' && status === 'loaded')";
        browser.wait_for("the font of the text", has_font).await;
        let refused = refused(browser, &server).await;
        assert!(refused.is_empty(), "{refused:?}");
    });
}
