//! Memory over a long visit: a reader who goes from lesson to lesson by links, without a reload, has
//! a model write in the lab and closes it, and begins again. What grows from round to round is never
//! given back.

use std::path::Path;
use std::time::{Duration, Instant};

use browser_harness::{Chromium, ChromiumError, Logs, Server};
use serde_json::{Value, json};

use crate::BenchError;
use crate::drive::{OPEN, press, script, wait};
use crate::edits::lessons;
use crate::memory::processes_bytes;
use crate::pages::median;

/// Time in which what was left is cleared away before memory is measured.
const REST: Duration = Duration::from_secs(3);

/// Pages between which the reader goes: the first and last of a round.
const HOME: &str = "";
const LAB: &str = "lab/";

/// A script: follows a link to `arguments[0]`, as a click on one in the page would. The address of
/// the page is the same until the new one is there.
const FOLLOW: &str = "
    const link = document.createElement('a');
    link.href = arguments[0];
    document.body.append(link);
    link.click();
    link.remove();";

/// A script: whether the page at `arguments[0]` is there and every cell has its numbers. Scrolling
/// through it begins the cells that wait for the reader.
const ARRIVED: &str = "
    if (location.href.split('#')[0] !== arguments[0]) return false;
    dispatchEvent(new Event('beforeprint'));
    return [...document.querySelectorAll('[data-cell]')].every(cell => cell.dataset.state === 'ready')
        && document.querySelector('.tool .cell-waiting') === null";

/// A script: adds a word to the first text of the page and moves its first slider.
const EDIT: &str = "
    const tell = (control, name) => control.dispatchEvent(new Event(name, { bubbles: true }));
    const text = document.querySelector('.cell-body textarea, .cell-body input[type=text]');
    if (text && !isFinite(parseFloat(text.value))) { text.value += ' the'; tell(text, 'input'); tell(text, 'change'); }
    const slider = document.querySelector('.cell-body input[type=range]');
    if (slider) { slider.stepUp(); tell(slider, 'input'); tell(slider, 'change'); }";

/// Scripts: whether the model of the lab has written, and is closed.
const WRITTEN: &str = "return [...document.querySelectorAll('.lab [role=status]')].some(one => one.textContent.startsWith('The text ended'))";
const CLOSED: &str = "return document.querySelector('.lab-facts') === null";

/// What is in memory after a round.
struct Round {
    minutes: f64,
    pages: usize,
    /// JavaScript's objects and what they hold.
    heap_bytes: f64,
    nodes: f64,
    listeners: f64,
    /// All processes of the browser; pages that several share are counted once.
    processes_bytes: Option<f64>,
}

/// Goes on for so many minutes and gives a table with a row for each round, and the growth.
///
/// # Errors
/// When the browser cannot be driven, or a page or a model does not come.
pub(crate) fn for_minutes(
    server: &Server,
    dist: &Path,
    minutes: u32,
) -> Result<Vec<String>, BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let lessons = lessons(dist)?;
    let profile = std::env::temp_dir().join(format!("soak-{}", std::process::id()));
    let argument = format!("--user-data-dir={}", profile.display());
    let rounds = runtime.block_on(async {
        let chromium = Chromium::start_with(Logs::None, &[&argument]).await?;
        let (begun, end) = (Instant::now(), Duration::from_secs(60 * u64::from(minutes)));
        open(&chromium, server).await?;
        let (mut rounds, mut pages) = (Vec::new(), 1);
        while begun.elapsed() < end || rounds.len() < 2 {
            for page in lessons.iter().map(String::as_str).chain([LAB, HOME]) {
                follow(&chromium, &server.url(page)).await?;
                script(&chromium, EDIT, &[]).await?;
                if page == LAB {
                    write(&chromium).await?;
                }
                pages += 1;
            }
            tokio::time::sleep(REST).await;
            let round = measure(&chromium, &argument, begun, pages).await?;
            println!("bench: {}", row(&round));
            rounds.push(round);
        }
        Ok::<_, BenchError>(rounds)
    });
    // Left by a browser that ended while it was written.
    let _ = std::fs::remove_dir_all(&profile);
    Ok(table(&rounds?))
}

async fn open(chromium: &Chromium, server: &Server) -> Result<(), BenchError> {
    let goto = chromium.client().goto(&server.url(HOME)).await;
    goto.map_err(ChromiumError::from)?;
    wait(
        chromium,
        "the home page",
        ARRIVED,
        &[json!(server.url(HOME))],
    )
    .await
}

async fn follow(chromium: &Chromium, url: &str) -> Result<(), BenchError> {
    script(chromium, FOLLOW, &[json!(url)]).await?;
    wait(chromium, url, ARRIVED, &[json!(url)]).await
}

/// Has a full-size model with random weights write a text, and closes it.
async fn write(chromium: &Chromium) -> Result<(), BenchError> {
    for (button, done) in [
        ("Draw random weights", OPEN),
        ("Write", WRITTEN),
        ("Unload", CLOSED),
    ] {
        press(chromium, button).await?;
        wait(chromium, button, done, &[]).await?;
    }
    Ok(())
}

async fn measure(
    chromium: &Chromium,
    argument: &str,
    begun: Instant,
    pages: usize,
) -> Result<Round, BenchError> {
    // Twice: what the first finds unused may have held more.
    for _ in 0..2 {
        let collect = "HeapProfiler.collectGarbage";
        chromium.devtools(collect, json!({})).await?;
    }
    let heap = chromium.devtools("Runtime.getHeapUsage", json!({})).await?;
    let counters = chromium
        .devtools("Memory.getDOMCounters", json!({}))
        .await?;
    let of = |answer: &Value, key: &str| answer[key].as_f64().unwrap_or(f64::NAN);
    Ok(Round {
        minutes: begun.elapsed().as_secs_f64() / 60.0,
        pages,
        heap_bytes: of(&heap, "usedSize") + of(&heap, "backingStorageSize"),
        nodes: of(&counters, "nodes"),
        listeners: of(&counters, "jsEventListeners"),
        processes_bytes: processes_bytes(argument),
    })
}

fn megabytes(bytes: Option<f64>) -> String {
    bytes.map_or_else(
        || "not told".to_owned(),
        |bytes| format!("{:.1}", bytes / 1e6),
    )
}

fn row(round: &Round) -> String {
    format!(
        "| {:.1} | {} | {} | {:.0} | {:.0} | {} |",
        round.minutes,
        round.pages,
        megabytes(Some(round.heap_bytes)),
        round.nodes,
        round.listeners,
        megabytes(round.processes_bytes),
    )
}

/// The table of all rounds, and how the medians of the last third compare with those of the first:
/// the very first round fills caches and is left out where there are enough others.
fn table(rounds: &[Round]) -> Vec<String> {
    let mut lines = vec![
        "| minutes | pages | heap MB | nodes | listeners | processes MB |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(rounds.iter().map(row));
    let steady = if rounds.len() > 3 {
        &rounds[1..]
    } else {
        rounds
    };
    let third = steady.len().div_ceil(3);
    let (first, last) = (&steady[..third], &steady[steady.len() - third..]);
    let growth = |figure: fn(&Round) -> f64| {
        let of = |rounds: &[Round]| median(rounds.iter().map(figure).collect());
        format!("{:+.1} %", 100.0 * (of(last) / of(first) - 1.0))
    };
    lines.push(format!(
        "from the first {third} to the last {third} rounds: heap {}, nodes {}, listeners {}, processes {}",
        growth(|round| round.heap_bytes),
        growth(|round| round.nodes),
        growth(|round| round.listeners),
        growth(|round| round.processes_bytes.unwrap_or(f64::NAN)),
    ));
    lines
}

#[cfg(test)]
mod tests {
    use super::{Round, table};

    #[test]
    fn growth_is_that_of_medians_without_the_first_round() {
        let round = |n: usize, heap_bytes: f64| Round {
            minutes: n as f64,
            pages: 28 * n,
            heap_bytes,
            nodes: 1000.0,
            listeners: 50.0 + n as f64,
            processes_bytes: Some(3e8),
        };
        let rounds = [
            round(1, 9e6),
            round(2, 20e6),
            round(3, 21e6),
            round(4, 22e6),
        ];
        let lines = table(&rounds);
        assert_eq!(lines[2], "| 1.0 | 28 | 9.0 | 1000 | 51 | 300.0 |");
        assert_eq!(
            lines[6],
            "from the first 1 to the last 1 rounds: heap +10.0 %, nodes +0.0 %, listeners +3.8 %, processes +0.0 %"
        );
    }
}
