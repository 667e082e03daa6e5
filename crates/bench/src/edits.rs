//! How long edits take: the longest task on the page's thread that each control of the lessons
//! causes. A task of 50 ms or more is one that the reader can see; what takes longer is to be the
//! worker's. How much work edits make is counted by `tests/e2e/instant.rs`.

use std::path::Path;
use std::time::{Duration, Instant};

use browser_harness::{Chromium, ChromiumError, Logs, Server};
use fantoccini::Client;
use serde_json::{Value, json};

use crate::BenchError;

/// How long the cells of a page may take until their numbers are on screen.
const READY_WITHIN: Duration = Duration::from_secs(120);

/// How often an edit is tried: on a busy machine a task can be long because another program had the
/// processor.
const TRIES: usize = 6;

/// The browser logs no task that is shorter, in milliseconds.
const LONG_TASK_MS: f64 = 50.0;

/// A script: whether every cell of the page has its numbers. For print all of them compute, not only
/// those near the window.
const READY: &str = "dispatchEvent(new Event('beforeprint'));
    return [...document.querySelectorAll('[data-cell]')].every(cell => cell.dataset.state === 'ready')";

/// A script: changes the control numbered `arguments[0]` by as little as a reader can, waits until
/// its cell has answered, be it that the value cannot be, and has painted, and gives the longest
/// task that the browser logged meanwhile, in milliseconds; null where there is no such control.
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

/// Edits every control of every lesson of the site in `dist` and gives a JSON line for each lesson.
///
/// # Errors
/// When the browser cannot be driven or a lesson does not compute.
pub(crate) fn of_lessons(server: &Server, dist: &Path) -> Result<Vec<Value>, BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let chromium = Chromium::start(Logs::None).await?;
        let mut pace = f64::INFINITY;
        let mut lines = Vec::new();
        for page in lessons(dist)? {
            open(chromium.client(), &server.url(&page)).await?;
            lines.push(of_page(chromium.client(), &page, &mut pace).await?);
        }
        Ok(lines)
    })
}

/// The lessons' addresses, relative to the site's base.
pub(crate) fn lessons(dist: &Path) -> std::io::Result<Vec<String>> {
    let mut lessons = Vec::new();
    for entry in std::fs::read_dir(dist.join("lesson"))? {
        let entry = entry?;
        if entry.path().join("index.html").is_file() {
            lessons.push(format!("lesson/{}/", entry.file_name().to_string_lossy()));
        }
    }
    lessons.sort();
    Ok(lessons)
}

async fn open(client: &Client, url: &str) -> Result<(), BenchError> {
    client.goto(url).await.map_err(ChromiumError::from)?;
    let begun = Instant::now();
    loop {
        let ready = client.execute(READY, Vec::new()).await;
        if ready.map_err(ChromiumError::from)? == json!(true) {
            return Ok(());
        }
        if begun.elapsed() > READY_WITHIN {
            return Err(BenchError::NoResult(url.to_owned()));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The quietest try of each control. `pace` is the least time that the page's loop ever took: where
/// it takes longer, because other programs run, the edit is given as much longer.
async fn of_page(client: &Client, page: &str, pace: &mut f64) -> Result<Value, BenchError> {
    let (mut controls, mut long) = (0, Vec::new());
    loop {
        let mut best: Option<(String, f64)> = None;
        for _ in 0..TRIES {
            let found = client.execute_async(EDIT, vec![json!(controls)]).await;
            let found = found.map_err(ChromiumError::from)?;
            let (Some(longest), Some(now)) = (found["longest"].as_f64(), found["pace"].as_f64())
            else {
                break;
            };
            *pace = pace.min(now);
            let longest = longest * *pace / now;
            if best.as_ref().is_none_or(|(_, known)| longest < *known) {
                best = Some((
                    found["name"].as_str().unwrap_or_default().to_owned(),
                    longest,
                ));
            }
            if longest < LONG_TASK_MS {
                break;
            }
        }
        let Some((name, longest)) = best else { break };
        controls += 1;
        if longest >= LONG_TASK_MS {
            long.push(json!({ "control": name, "task_ms": longest }));
        }
    }
    Ok(json!({ "page": page, "controls": controls, "long_tasks": long }))
}
