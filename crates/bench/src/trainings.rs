//! How long training runs in the tab take: each live training of three lessons, from its first step to its
//! last with the inputs that the lesson gives, on the one thread of its worker.

use std::time::{Duration, Instant};

use browser_harness::{Chromium, ChromiumError, Logs, Server};
use fantoccini::Client;
use serde_json::{Value, json};

use crate::BenchError;
use crate::edits::open;

/// The lessons whose cells train networks on digits.
const PAGES: [&str; 3] = [
    "lesson/inductive-bias/",
    "lesson/scale/",
    "lesson/without-labels/",
];

/// What a reader is told that a run takes at most, in seconds.
const MOST_SECONDS: f64 = 60.0;

/// When a run is given up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(300);

/// A script: brings the training numbered `arguments[0]` of the page into view and starts it from its
/// first step; gives the id of its cell, null where there is no such training.
const START: &str = "
    const start = [...document.querySelectorAll('[data-cell] [data-train=start]')][arguments[0]];
    if (!start) return null;
    const cell = start.closest('[data-cell]');
    for (let fold = cell.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    cell.scrollIntoView({ block: 'center', behavior: 'instant' });
    cell.querySelector('[data-train=rewind]').click();
    start.click();
    return cell.id";

/// A script: the number of steps of the cell `arguments[0]` that are made, once these are all; null while it
/// trains.
const ENDED: &str = "
    const cell = document.getElementById(arguments[0]);
    const has_ended = cell.querySelector('[data-train=start]').getAttribute('aria-disabled') === 'true';
    if (!has_ended || cell.dataset.state !== 'ready') return null;
    return cell.querySelector('[data-train=steps]')?.textContent ?? ''";

/// Runs every training of the lessons to its end and gives a JSON line for each.
///
/// # Errors
/// When the browser cannot be driven, or a training does not end.
pub(crate) fn of_lessons(server: &Server) -> Result<Vec<Value>, BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let chromium = Chromium::start(Logs::None).await?;
        let mut lines = Vec::new();
        for page in PAGES {
            open(chromium.client(), &server.url(page)).await?;
            let before = lines.len();
            while let Some(line) = one(chromium.client(), page, lines.len() - before).await? {
                lines.push(line);
            }
        }
        Ok(lines)
    })
}

/// One training of the open page; `None` where it has fewer.
async fn one(client: &Client, page: &str, number: usize) -> Result<Option<Value>, BenchError> {
    let begun = Instant::now();
    let cell = client.execute(START, vec![json!(number)]).await;
    let cell = cell.map_err(ChromiumError::from)?;
    let Some(id) = cell.as_str() else {
        return Ok(None);
    };
    loop {
        let steps = client.execute(ENDED, vec![json!(id)]).await;
        let steps = steps.map_err(ChromiumError::from)?;
        let seconds = begun.elapsed().as_secs_f64();
        if let Some(steps) = steps.as_str() {
            return Ok(Some(json!({
                "page": page,
                "cell": id,
                "steps": steps,
                "seconds": (10.0 * seconds).round() / 10.0,
                "is_too_slow": seconds >= MOST_SECONDS,
            })));
        }
        if begun.elapsed() > GIVEN_UP_AFTER {
            return Err(BenchError::NoResult(format!("{page}#{id}")));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
