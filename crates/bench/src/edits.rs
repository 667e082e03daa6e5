//! How long edits take: the longest task on the page's thread that each control of the lessons
//! causes, and the time from a point drawn on a pad to the new answer. A task of 50 ms or more is one
//! that the reader can see; what takes longer is to be the worker's. How much work edits make is
//! counted by `tests/e2e/instant.rs`.

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

/// How many points are drawn on a pad, one after the other's answer.
const POINTS: usize = 12;

/// A script: whether every cell of the page has its numbers. For print all of them compute, not only
/// those near the window.
const READY: &str = "dispatchEvent(new Event('beforeprint'));
    return [...document.querySelectorAll('[data-cell]')].every(cell => cell.dataset.state === 'ready')";

/// A script: how long a loop takes that is the same each time, which says how busy the machine is with
/// other things, in milliseconds.
const PACE: &str = "
    const begun = performance.now();
    for (let n = 0, x = 1; n < 2e6; n++) x = (x * 16807) % 2147483647;
    return performance.now() - begun";

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

/// A script: draws a line of `arguments[1]` points on the pad numbered `arguments[0]`, each once the answer
/// to the one before is shown, and gives the cell's id with the milliseconds from each point to its answer:
/// fewer where an answer does not come; null where there is no such pad.
const STROKE: &str = "
    const [number, points, done] = arguments;
    const pads = [...document.querySelectorAll('[data-cell] .pad-sheet > svg')]
        .filter(pad => pad.getClientRects().length > 0);
    const pad = pads[number];
    if (!pad) return done(null);
    const cell = pad.closest('[data-cell]');
    pad.scrollIntoView({ block: 'center', behavior: 'instant' });
    const times = [];
    const late = setTimeout(() => done({ cell: cell.id, times }), 20000);
    const tell = (kind, share) => {
        const box = pad.getBoundingClientRect();
        const at = { clientX: box.x + 0.7 * box.width, clientY: box.y + (0.15 + 0.7 * share) * box.height };
        pad.dispatchEvent(new PointerEvent(kind, { bubbles: true, cancelable: true, pointerId: 7, button: 0, buttons: 1, ...at }));
    };
    const draw = n => {
        if (n === points) {
            tell('pointerup', 1);
            clearTimeout(late);
            return done({ cell: cell.id, times });
        }
        let [begun, was_busy] = [performance.now(), false];
        // The states follow each other in different tasks, because the answer comes from a worker.
        const watch = new MutationObserver(() => {
            was_busy ||= cell.dataset.state === 'busy';
            if (!was_busy || cell.dataset.state !== 'ready') return;
            times.push(performance.now() - begun);
            watch.disconnect();
            setTimeout(() => draw(n + 1), 60);
        });
        watch.observe(cell, { attributes: true, attributeFilter: ['data-state'] });
        tell(n === 0 ? 'pointerdown' : 'pointermove', n / points);
    };
    // Cells that have just come into view begin first.
    setTimeout(() => draw(0), 1000);
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

/// Opens a page and waits until all its cells have their numbers.
///
/// # Errors
/// When the browser cannot be driven, or a cell does not compute in time.
pub(crate) async fn open(client: &Client, url: &str) -> Result<(), BenchError> {
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
    let (pads, slow) = pads_of_page(client, pace).await?;
    Ok(json!({
        "page": page,
        "controls": controls,
        "long_tasks": long,
        "pads": pads,
        "slow_pads": slow,
    }))
}

/// The time from a point on each pad to its answer, in milliseconds: the median of the quietest line, and
/// those pads whose median is too long, or where an answer did not come.
async fn pads_of_page(
    client: &Client,
    pace: &mut f64,
) -> Result<(Vec<Value>, Vec<Value>), BenchError> {
    let (mut pads, mut slow) = (Vec::new(), Vec::new());
    loop {
        let mut best: Option<(String, Option<f64>)> = None;
        for _ in 0..TRIES {
            let pause = client.execute(PACE, Vec::new()).await;
            let now = pause
                .map_err(ChromiumError::from)?
                .as_f64()
                .unwrap_or(*pace);
            *pace = pace.min(now);
            let found = client.execute_async(STROKE, vec![json!(pads.len()), json!(POINTS)]);
            let found = found.await.map_err(ChromiumError::from)?;
            let Some(cell) = found["cell"].as_str() else {
                break;
            };
            let times = found["times"].as_array().cloned().unwrap_or_default();
            let answer_ms = median(&times).map(|median| median * *pace / now);
            let is_better = best
                .as_ref()
                .is_none_or(|(_, known)| match (answer_ms, known) {
                    (Some(new), Some(known)) => new < *known,
                    (new, None) => new.is_some(),
                    (None, Some(_)) => false,
                });
            if is_better {
                best = Some((cell.to_owned(), answer_ms));
            }
            if answer_ms.is_some_and(|ms| ms < LONG_TASK_MS) {
                break;
            }
        }
        let Some((cell, answer_ms)) = best else { break };
        let line = json!({ "cell": cell, "answer_ms": answer_ms });
        if answer_ms.is_none_or(|ms| ms >= LONG_TASK_MS) {
            slow.push(line.clone());
        }
        pads.push(line);
    }
    Ok((pads, slow))
}

/// The median of the times of a whole line; `None` where an answer is missing.
fn median(times: &[Value]) -> Option<f64> {
    let mut times: Vec<f64> = times.iter().filter_map(Value::as_f64).collect();
    if times.len() < POINTS {
        return None;
    }
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::{POINTS, median};
    use serde_json::json;

    #[test]
    fn the_median_is_of_a_whole_line() {
        let times: Vec<_> = (0..POINTS).rev().map(|n| json!(n)).collect();
        assert_eq!(median(&times), Some((POINTS / 2) as f64));
        assert_eq!(median(&times[1..]), None);
    }
}
