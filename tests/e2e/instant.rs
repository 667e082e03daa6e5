//! An edit of a cell is answered within one frame: the browser's own log has no long task for it. What takes longer is the worker's.

use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser, with_browser_alone};
use super::site;
use browser_harness::Habits;

/// Changes the control numbered `arguments[0]` by as little as a reader can, waits until its cell has answered, be it that the
/// value cannot be, and has painted, and gives
/// the longest task that the browser logged meanwhile, in milliseconds; null where there is no such control.
const EDIT: &str = "
    const [number, done] = arguments;
    const kinds = 'input:not([type=file]):not([type=radio]), select, textarea';
    const controls = [...document.querySelectorAll('.cell-body')].flatMap(body => [...body.querySelectorAll(kinds)])
        .filter(control => !control.disabled && !control.readOnly && control.getClientRects().length > 0);
    const control = controls[number];
    if (!control) return done(null);
    const cell = control.closest('[data-cell]');
    let [longest, pace] = [0, 0];
    // The same work each time: how long it takes says how busy the machine is with other things.
    const loop = () => {
        const begun = performance.now();
        for (let n = 0, x = 1; n < 2e6; n++) x = (x * 16807) % 2147483647;
        return performance.now() - begun;
    };
    const watch = new PerformanceObserver(list => list.getEntries().forEach(task => longest = Math.max(longest, task.duration)));
    watch.observe({ type: 'longtask' });
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
    const name = `${cell.id}: ${control.getAttribute('aria-label') ?? control.id ?? control.type}`;
    const settled = () => {
        if (cell.dataset.state === 'busy') return requestAnimationFrame(settled);
        // The log is written after the task's end: two frames and a moment later it is complete.
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
            watch.takeRecords().forEach(task => longest = Math.max(longest, task.duration));
            watch.disconnect();
            done({ name, longest, pace: Math.max(pace, loop()) });
        }, 30)));
    };
    // A task of its own, as an event of the reader's would be.
    setTimeout(() => { pace = loop(); edit(); requestAnimationFrame(() => setTimeout(settled)); });
";

/// How often an edit may be tried: on a busy machine a task can be long because another program had the processor.
const TRIES: usize = 6;

/// The longest task of an edit, in milliseconds, and of what control.
struct Edited {
    name: String,
    longest: f64,
}

/// The quietest try of an edit; nothing where the page has no such control. `pace` is the least time that the page's loop ever took:
/// where it takes longer, because other programs run, the edit is given as much longer.
async fn quietest(browser: &Browser, number: usize, pace: &mut f64) -> Option<Edited> {
    let mut best: Option<Edited> = None;
    for _ in 0..TRIES {
        let found = browser.script_async(EDIT, &[json!(number)]).await;
        if found.is_null() {
            break;
        }
        let figure = |key: &str| found[key].as_f64().expect("milliseconds");
        *pace = pace.min(figure("pace"));
        let longest = figure("longest") * *pace / figure("pace");
        let name = found["name"].to_string();
        if best.as_ref().is_none_or(|known| longest < known.longest) {
            best = Some(Edited { name, longest });
        }
        // The browser logs no task that is shorter.
        if longest < 50.0 {
            break;
        }
    }
    best
}

#[test]
fn no_edit_at_default_sizes_makes_a_long_task() {
    let server = site::serve(Habits::ROOT);
    with_browser_alone(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let (mut faults, mut edits, mut pace) = (Vec::new(), 0, f64::INFINITY);
        for page in site::lessons() {
            let opened = browser.open_ready(&server.url(&page)).await;
            opened.expect("the lesson works");
            let mut number = 0;
            while let Some(Edited { name, longest }) = quietest(browser, number, &mut pace).await {
                number += 1;
                if longest >= 50.0 {
                    faults.push(format!("{page} {name}: a task of {longest} ms"));
                }
            }
            assert!(number > 0, "{page} has nothing to edit");
            edits += number;
        }
        println!("{edits} controls edited");
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    });
}

#[test]
fn the_log_shows_a_task_that_is_long() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        let opened = browser.open_ready(&server.url(&site::lessons()[0])).await;
        opened.expect("the lesson works");
        let slow = "document.addEventListener('input', () => { const end = performance.now() + 80; while (performance.now() < end); })";
        browser.script(slow, &[]).await;
        let found: Value = browser.script_async(EDIT, &[json!(0)]).await;
        assert!(
            found["longest"]
                .as_f64()
                .is_some_and(|longest| longest >= 50.0),
            "{found}"
        );
    });
}
