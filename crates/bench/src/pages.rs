//! How long a reader with a slow phone waits: the built site comes over a slow line, to a window of
//! 390 px on a processor that is slowed down four times.

use std::path::Path;
use std::time::{Duration, Instant};

use browser_harness::{Chromium, ChromiumError, Habits, Logs, Server};
use serde_json::{Value, json};

use crate::BenchError;
use crate::options::Options;

/// The most time that a page may take until a cell is ready.
const PATIENCE: Duration = Duration::from_secs(120);

/// Time between two looks at the page, which cost it time.
const LOOK: Duration = Duration::from_millis(250);

/// How much slower the processor is made.
const SLOWDOWN: u32 = 4;

/// A script that runs before those of the page: notes when each cell got ready, in milliseconds
/// after the page was asked for, and the longest task.
const WATCH: &str = "
    window.watched = { ready: {}, longest: 0 };
    new PerformanceObserver(list => {
        for (const task of list.getEntries()) watched.longest = Math.max(watched.longest, task.duration);
    }).observe({ type: 'longtask', buffered: true });
    new MutationObserver(changes => {
        for (const { target } of changes) {
            if (target.dataset.state === 'ready') watched.ready[target.id] ??= performance.now();
        }
    }).observe(document, { subtree: true, attributeFilter: ['data-state'] });
";

/// A script: the ids of the cells in their order.
const CELLS: &str = "return [...document.querySelectorAll('[data-cell]')].map(cell => cell.id)";

/// A script: what was watched, and when the page was painted first.
const WATCHED: &str = "
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    return { ...watched, painted: paint?.startTime ?? null }";

/// A script: leads to the cell `arguments[0]` as a reader does who scrolls, and gives the time.
const SCROLL: &str = "
    const cell = document.getElementById(arguments[0]);
    for (let fold = cell.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    cell.scrollIntoView({ block: 'start', behavior: 'instant' });
    return performance.now()";

/// Measures the home page and every lesson of the site in `dist`, or those that the options choose,
/// and gives a table.
///
/// # Errors
/// When the browser cannot be driven or a cell does not get ready.
pub(crate) fn of_site(dist: &Path, options: &Options) -> Result<Vec<String>, BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut table = vec![
        "| page | first paint s | first cell s | longest task ms | requests | kB | slowest later cell s |".to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    for page in chosen(dist, options)? {
        println!("bench: visiting {} {} times", name_of(&page), options.runs);
        let mut visits = Vec::new();
        for _ in 0..options.runs {
            visits.push(runtime.block_on(visit(dist, &page))?);
        }
        table.push(row(&page, visits));
    }
    Ok(table)
}

/// The home page and the lessons, or those that the options choose.
pub(crate) fn chosen(dist: &Path, options: &Options) -> Result<Vec<String>, BenchError> {
    let is_chosen = |page: &String| {
        let only = &options.only;
        only.is_empty() || only.iter().any(|words| name_of(page).contains(&**words))
    };
    let lessons = crate::edits::lessons(dist)?;
    let pages = std::iter::once(String::new()).chain(lessons);
    Ok(pages.filter(is_chosen).collect())
}

/// The name of a page in the table.
pub(crate) fn name_of(page: &str) -> &str {
    if page.is_empty() { "home" } else { page }
}

/// What one reader waited for.
struct Visit {
    first_paint_s: f64,
    first_cell_s: f64,
    longest_task_ms: f64,
    /// Requests and bytes until the first cell was ready.
    requests: usize,
    bytes: usize,
    /// The cell that was waited for longest after the reader had scrolled to it, and how long.
    slowest: (String, f64),
}

async fn visit(dist: &Path, page: &str) -> Result<Visit, BenchError> {
    let server = Server::start(dist, Habits::SLOW)?;
    let chromium = Chromium::start(Logs::None).await?;
    let phone = json!({ "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true });
    for (method, parameters) in [
        ("Emulation.setDeviceMetricsOverride", phone),
        (
            "Emulation.setCPUThrottlingRate",
            json!({ "rate": SLOWDOWN }),
        ),
        (
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": WATCH }),
        ),
    ] {
        chromium.devtools(method, parameters).await?;
    }
    let client = chromium.client();
    let goto = client.goto(&server.url(page)).await;
    goto.map_err(ChromiumError::from)?;
    let cells = script(&chromium, CELLS, vec![]).await?;
    let cells: Vec<String> = serde_json::from_value(cells).unwrap_or_default();
    let Some((first, later)) = cells.split_first() else {
        return Err(BenchError::NoResult(format!("{page} has no cell, which")));
    };
    // The reader goes to the first cell, and on when it is there.
    script(&chromium, SCROLL, vec![json!(first)]).await?;
    let first_cell_s = ready(&chromium, first).await? / 1e3;
    let answered = server.answered();
    let mut slowest = (String::new(), 0.0);
    for cell in later {
        let at = script(&chromium, SCROLL, vec![json!(cell)]).await?;
        let waited_s = (ready(&chromium, cell).await? - at.as_f64().unwrap_or(0.0)) / 1e3;
        if waited_s > slowest.1 {
            slowest = (cell.clone(), waited_s);
        }
    }
    let watched = script(&chromium, WATCHED, vec![]).await?;
    Ok(Visit {
        first_paint_s: watched["painted"].as_f64().unwrap_or(f64::NAN) / 1e3,
        first_cell_s,
        longest_task_ms: watched["longest"].as_f64().unwrap_or(f64::NAN),
        requests: answered.requests,
        bytes: answered.bytes,
        slowest,
    })
}

/// Waits for a cell and gives the time at which it got ready, in milliseconds.
async fn ready(chromium: &Chromium, cell: &str) -> Result<f64, BenchError> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let watched = script(chromium, WATCHED, vec![]).await?;
        if let Some(at) = watched["ready"][cell].as_f64() {
            return Ok(at);
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(BenchError::NoResult(format!("the cell {cell}")))
}

async fn script(
    chromium: &Chromium,
    script: &str,
    arguments: Vec<Value>,
) -> Result<Value, BenchError> {
    let result = chromium.client().execute(script, arguments).await;
    Ok(result.map_err(ChromiumError::from)?)
}

/// The median of figures, of which there is at least one.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The medians of several visits.
fn row(page: &str, visits: Vec<Visit>) -> String {
    let median = |figure: fn(&Visit) -> f64| median(visits.iter().map(figure).collect());
    let slowest = visits
        .iter()
        .max_by(|a, b| a.slowest.1.total_cmp(&b.slowest.1));
    format!(
        "| {} | {:.1} | {:.1} | {:.0} | {:.0} | {:.0} | {:.1} {} |",
        name_of(page),
        median(|visit| visit.first_paint_s),
        median(|visit| visit.first_cell_s),
        median(|visit| visit.longest_task_ms),
        median(|visit| visit.requests as f64),
        median(|visit| visit.bytes as f64 / 1e3),
        median(|visit| visit.slowest.1),
        slowest.map_or("", |visit| &visit.slowest.0),
    )
}

#[cfg(test)]
mod tests {
    use super::{Visit, row};

    #[test]
    fn a_row_holds_medians_and_names_the_slowest_cell() {
        let visit = |first_cell_s, slowest: (&str, f64)| Visit {
            first_paint_s: 1.0,
            first_cell_s,
            longest_task_ms: 200.0,
            requests: 30,
            bytes: 900_000,
            slowest: (slowest.0.to_owned(), slowest.1),
        };
        let visits = vec![
            visit(9.0, ("a", 1.0)),
            visit(5.0, ("b", 3.0)),
            visit(6.0, ("c", 2.0)),
        ];
        let expected = "| home | 1.0 | 6.0 | 200 | 30 | 900 | 2.0 b |";
        assert_eq!(row("", visits), expected);
    }
}
