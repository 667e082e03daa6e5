//! Opens the bench page and waits for its result.

use std::time::{Duration, Instant};

use browser_harness::{Chromium, ChromiumError, Logs};

use crate::BenchError;
use crate::cpu::{self, Cpu};

/// How long one line of the list may take.
const MOST: Duration = Duration::from_secs(1200);

/// A script: the page's result as JSON once it is there, with the spread of each figure over the
/// runs; null before.
const RESULT: &str = "const result = window.benchResult;
    if (result === undefined) return null;
    const line = { ...result };
    for (const key of ['prefill_tokens_per_s', 'decode_tokens_per_s', 'picture_ms', 'sentences_per_s']) {
        const all = (window.benchRuns ?? []).map((run) => run[key]).filter((value) => value !== null).sort((a, b) => a - b);
        if (all.length === 0) continue;
        const median = (all[(all.length - 1) >> 1] + all[all.length >> 1]) / 2;
        const digits = (value) => Number(value.toPrecision(4));
        line[key] = { median: digits(median), min: digits(all[0]), max: digits(all.at(-1)) };
    }
    return JSON.stringify(line);";

/// Measures the same in several browsers at once. What they reach together is what this machine's
/// cores and memory give to work that shares nothing: the most that as many threads could reach.
///
/// Each line says what instructions the browser had, and on what processor.
///
/// # Errors
/// When a browser cannot be driven, or its page gives no result.
pub(crate) fn in_browsers(
    url: &str,
    count: u32,
    cpu: Option<Cpu>,
) -> Result<Vec<String>, BenchError> {
    let lines = if count == 1 {
        vec![in_browser(url, cpu)?]
    } else {
        at_once(url, count, cpu)?
    };
    let set = cpu.map_or_else(|| "all".to_owned(), |cpu| cpu.to_string());
    let more = serde_json::json!({ "cpu": set, "processor": cpu::of_this_machine("model name") });
    let more = more.to_string();
    let marked = |line: String| line.replacen('{', &format!("{},", more.trim_end_matches('}')), 1);
    Ok(lines.into_iter().map(marked).collect())
}

/// Measures in several browsers.
fn at_once(url: &str, count: u32, cpu: Option<Cpu>) -> Result<Vec<String>, BenchError> {
    let lines = std::thread::scope(|scope| {
        let started: Vec<_> = (0..count)
            .map(|_| scope.spawn(|| in_browser(url, cpu)))
            .collect();
        let joined = started
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Err(BenchError::Stopped)));
        joined.collect::<Result<Vec<_>, _>>()
    })?;
    let marked = |line: String| line.replacen('{', &format!("{{\"beside\":{count},"), 1);
    Ok(lines.into_iter().map(marked).collect())
}

/// Measures in a browser of its own: nothing is left of the one before.
fn in_browser(url: &str, cpu: Option<Cpu>) -> Result<String, BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let argument = cpu.map(Cpu::argument);
        let more: Vec<&str> = argument.iter().map(String::as_str).collect();
        let chromium = Chromium::start_with(Logs::None, &more).await?;
        let client = chromium.client();
        client.goto(url).await.map_err(ChromiumError::from)?;
        let begun = Instant::now();
        loop {
            let result = client.execute(RESULT, Vec::new()).await;
            let result = result.map_err(ChromiumError::from)?;
            if let Some(line) = result.as_str() {
                return Ok(line.to_owned());
            }
            if begun.elapsed() > MOST {
                return Err(BenchError::NoResult(url.to_owned()));
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    })
}
