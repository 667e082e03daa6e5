//! An edit of a cell is answered with little work on the page's thread: few changes of the
//! document, few layouts. The counts are the same on a busy machine. How long edits take is
//! measured by `cargo xtask bench --edits`. `bad_input.rs` opens the lessons.

use browser_harness::Habits;
use serde_json::{Value, json};

use super::browser::{Browser, with_browser};
use super::site;

/// Changes the control numbered `arguments[0]` by as little as a reader can, waits until its cell
/// has answered, be it that the value cannot be, and has painted, and gives what it counted
/// meanwhile; null where there is no such control.
const EDIT: &str = "
    const [number, done] = arguments;
    const kinds = 'input:not([type=file]):not([type=radio]), select, textarea';
    const controls = [...document.querySelectorAll('.cell-body')].flatMap(body => [...body.querySelectorAll(kinds)])
        .filter(control => !control.disabled && !control.readOnly && control.getClientRects().length > 0);
    const control = controls[number];
    if (!control) return done(null);
    const cell = control.closest('[data-cell]');
    const count = { name: `${cell.id}: ${control.getAttribute('aria-label') ?? control.id ?? control.type}`,
        changes: 0, nodes: 0, frames: 0, elements: document.body.getElementsByTagName('*').length };
    const size = node => 1 + (node.getElementsByTagName?.('*').length ?? 0);
    const take = records => records.forEach(record => {
        count.changes += 1;
        for (const node of [...record.addedNodes, ...record.removedNodes]) count.nodes += size(node);
    });
    const watch = new MutationObserver(take);
    watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    let running = true;
    const frame = () => { count.frames += 1; if (running) requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
    const tell = name => control.dispatchEvent(new Event(name, { bubbles: true }));
    const edit = () => {
        if (control.type === 'checkbox') return control.click();
        if (control.tagName === 'SELECT') {
            control.selectedIndex = (control.selectedIndex + 1) % control.options.length;
        } else if (control.type === 'range' || control.type === 'number') {
            const before = control.value;
            control.stepUp();
            if (control.value === before) control.stepDown();
        } else if (isFinite(parseFloat(control.value))) {
            control.value = String(Math.round((parseFloat(control.value) + 0.1) * 100) / 100);
        } else {
            control.value += 's';
        }
        tell('input');
        tell('change');
    };
    const settled = () => {
        if (cell.dataset.state === 'busy') return requestAnimationFrame(settled);
        // What observers of sizes do comes with the next two frames.
        requestAnimationFrame(() => requestAnimationFrame(() => {
            running = false;
            take(watch.takeRecords());
            watch.disconnect();
            done(count);
        }));
    };
    // A task of its own, as an event of the reader's would be.
    setTimeout(() => { edit(); requestAnimationFrame(() => setTimeout(settled)); });
";

/// Most changes of the document that an edit may make, each of one attribute, text or list of
/// children. The largest heat maps have some thousand cells.
const MOST_CHANGES: u64 = 20_000;

/// Most layouts for each frame: one for the frame, one for what an observer of sizes then draws.
/// Code that reads a size after each change forces one for each change.
const LAYOUTS_A_FRAME: u64 = 3;

/// Layouts of frames before and after those that the page counts.
const OTHER_LAYOUTS: u64 = 12;

/// Counted work of an edit.
struct Work {
    name: String,
    changes: u64,
    nodes: u64,
    elements: u64,
    layouts: u64,
    frames: u64,
}

impl Work {
    /// What is too much of it, in words; empty where nothing is.
    fn faults(&self) -> Vec<String> {
        let most_layouts = self.frames * LAYOUTS_A_FRAME + OTHER_LAYOUTS;
        let bounds = [
            ("changes of the document", self.changes, MOST_CHANGES),
            // Less than to write the page anew.
            ("nodes made or taken away", self.nodes, self.elements),
            ("layouts", self.layouts, most_layouts),
        ];
        bounds
            .into_iter()
            .filter(|(_, found, most)| found > most)
            .map(|(what, found, most)| format!("{}: {found} {what}, at most {most}", self.name))
            .collect()
    }
}

/// How often the browser has laid out the page.
async fn layouts(browser: &Browser) -> u64 {
    let answer = browser.devtools("Performance.getMetrics", json!({})).await;
    let metrics = answer["metrics"].as_array().expect("a list of metrics");
    let found = metrics
        .iter()
        .find(|metric| metric["name"] == "LayoutCount");
    found
        .and_then(|metric| metric["value"].as_f64())
        .expect("a count") as u64
}

/// The work of an edit; `None` where the page has no such control.
async fn edit(browser: &Browser, number: usize) -> Option<Work> {
    let before = layouts(browser).await;
    let found: Value = browser.script_async(EDIT, &[json!(number)]).await;
    if found.is_null() {
        return None;
    }
    let figure = |key: &str| found[key].as_u64().expect("a count");
    Some(Work {
        name: found["name"].as_str().unwrap_or_default().to_owned(),
        changes: figure("changes"),
        nodes: figure("nodes"),
        elements: figure("elements"),
        frames: figure("frames"),
        layouts: layouts(browser).await - before,
    })
}

/// Has the browser count its layouts.
pub(crate) async fn count(browser: &Browser) {
    browser.devtools("Performance.enable", json!({})).await;
}

/// The edits of the open lesson that make too much work, after each of its controls was changed.
pub(crate) async fn too_much_work(browser: &Browser, page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut number = 0;
    let mut most = [0; 3];
    while let Some(work) = edit(browser, number).await {
        number += 1;
        let found = work.faults();
        faults.extend(found.into_iter().map(|fault| format!("{page} {fault}")));
        for (most, found) in most
            .iter_mut()
            .zip([work.changes, work.nodes, work.layouts])
        {
            *most = found.max(*most);
        }
    }
    assert!(number > 0, "{page} has nothing to edit");
    let [changes, nodes, layouts] = most;
    println!(
        "{page}: {number} controls, at most {changes} changes, {nodes} nodes, {layouts} layouts"
    );
    faults
}

#[test]
fn much_work_is_counted() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        count(browser).await;
        let opened = browser.open_ready(&server.url(&site::lessons()[0])).await;
        opened.expect("the lesson works");
        let much = "document.addEventListener('input', () => {
            const box = document.body.appendChild(document.createElement('div'));
            for (let n = 0; n < 200; n++) { box.style.width = `${n}px`; box.offsetHeight; }
            for (let n = 0; n < 30000; n++) box.append(document.createElement('i'));
        })";
        browser.script(much, &[]).await;
        let work = edit(browser, 0).await.expect("a control");
        assert_eq!(work.faults().len(), 3, "{:#?}", work.faults());
    });
}
