//! The scores that Lighthouse gives to pages, with its settings for a phone.

use std::path::{Path, PathBuf};
use std::process::Command;

use browser_harness::{ARGUMENTS, Habits, Server};
use serde_json::Value;

use crate::BenchError;
use crate::options::Options;
use crate::pages::{chosen, median, name_of};

/// The categories, as Lighthouse names them in its report.
const CATEGORIES: [&str; 4] = ["performance", "accessibility", "best-practices", "seo"];

/// Audits whose figures stand in the table: first and largest paint, the time in which the page did
/// not answer, and how much of it moved.
const FIGURES: [&str; 4] = [
    "first-contentful-paint",
    "largest-contentful-paint",
    "total-blocking-time",
    "cumulative-layout-shift",
];

/// Has Lighthouse visit the pages of the site in `dist` that the options choose, and gives a table of
/// medians; below it the audits that a page did not pass.
///
/// # Errors
/// When Lighthouse does not run or its report lacks a figure.
pub(crate) fn of_site(dist: &Path, options: &Options) -> Result<Vec<String>, BenchError> {
    let server = Server::start(dist, Habits::COMPRESSED)?;
    let mut table = vec![
        "| page | performance | accessibility | best practices | SEO | first paint s | largest paint s | blocked ms | layout shift |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    let mut failures = Vec::new();
    for page in chosen(dist, options)? {
        let name = name_of(&page);
        println!("bench: Lighthouse visits {name} {} times", options.runs);
        let url = server.url(&page);
        // Chromium now and then gives no trace of a visit; the next one has it.
        let visits = (0..options.runs).map(|_| report(&url).or_else(|_| report(&url)));
        let reports = visits.collect::<Result<Vec<Value>, BenchError>>()?;
        table.push(row(name, &reports)?);
        failures.extend(reports.last().map(|report| failed(name, report)));
    }
    table.extend(failures.into_iter().flatten());
    Ok(table)
}

/// The report of one visit.
fn report(url: &str) -> Result<Value, BenchError> {
    let program = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("lighthouse/node_modules/lighthouse/cli/index.js");
    let mut lighthouse = Command::new("node");
    lighthouse.arg(program).arg(url).args([
        "--quiet",
        "--output=json",
        "--output-path=stdout",
        &format!("--only-categories={}", CATEGORIES.join(",")),
        &format!("--chrome-flags={}", flags()),
    ]);
    if let Ok(browser) = std::env::var("CHROME") {
        lighthouse.env("CHROME_PATH", browser);
    }
    let output = lighthouse.output()?;
    let failed =
        |said: &str| BenchError::NoResult(format!("Lighthouse on {url} ({})", said.trim()));
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| failed(&String::from_utf8_lossy(&output.stderr)))?;
    // It writes a report of a visit that failed, too.
    match report["runtimeError"]["message"].as_str() {
        Some(why) => Err(failed(why)),
        None => Ok(report),
    }
}

/// Chromium's settings in one text, as Lighthouse splits it. A value with spaces is in quotes, but
/// no setting as a whole: Lighthouse would take quotes off that begin and end the text.
fn flags() -> String {
    let quoted = ARGUMENTS
        .iter()
        .map(|argument| match argument.split_once('=') {
            Some((name, value)) if value.contains(' ') => format!("{name}=\"{value}\""),
            _ => (*argument).to_owned(),
        });
    quoted.collect::<Vec<_>>().join(" ")
}

/// The medians of several reports.
fn row(name: &str, reports: &[Value]) -> Result<String, BenchError> {
    let of = |what: &str, read: &dyn Fn(&Value) -> Option<f64>| {
        let figures: Option<Vec<f64>> = reports.iter().map(read).collect();
        let missing = || BenchError::NoResult(format!("{what} of {name}"));
        Ok::<_, BenchError>(median(figures.ok_or_else(missing)?))
    };
    let mut columns = vec![name.to_owned()];
    for category in CATEGORIES {
        let score = of(category, &|report| {
            report["categories"][category]["score"].as_f64()
        })?;
        columns.push(format!("{:.0}", 100.0 * score));
    }
    for audit in FIGURES {
        let figure = of(audit, &|report| {
            report["audits"][audit]["numericValue"].as_f64()
        })?;
        columns.push(match audit {
            "total-blocking-time" => format!("{figure:.0}"),
            "cumulative-layout-shift" => format!("{figure:.3}"),
            _ => format!("{:.1}", figure / 1e3),
        });
    }
    Ok(format!("| {} |", columns.join(" | ")))
}

/// The audits of all categories but performance that a page did not pass.
fn failed(name: &str, report: &Value) -> Vec<String> {
    let audits = CATEGORIES[1..].iter().filter_map(|category| {
        let references = report["categories"][*category]["auditRefs"].as_array()?;
        Some(references.iter().filter_map(move |reference| {
            let audit = &report["audits"][reference["id"].as_str()?];
            let failed = audit["score"].as_f64()? < 1.0 && reference["weight"].as_f64()? > 0.0;
            failed.then(|| {
                format!(
                    "{name}: {category}: {}",
                    audit["title"].as_str().unwrap_or("?")
                )
            })
        }))
    });
    audits.flatten().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{failed, flags, row};

    fn report(performance: f64) -> Value {
        let passed = json!({ "score": 1.0, "auditRefs": [] });
        json!({
            "categories": {
                "performance": { "score": performance, "auditRefs": [] },
                "accessibility": passed,
                "best-practices": passed,
                "seo": {
                    "score": 0.9,
                    "auditRefs": [{ "id": "meta", "weight": 1 }, { "id": "by-hand", "weight": 0 }],
                },
            },
            "audits": {
                "first-contentful-paint": { "numericValue": 1234.0 },
                "largest-contentful-paint": { "numericValue": 2345.0 },
                "total-blocking-time": { "numericValue": 99.6 },
                "cumulative-layout-shift": { "numericValue": 0.0123 },
                "meta": { "score": 0.0, "title": "No description" },
                "by-hand": { "score": null, "title": "Look yourself" },
            },
        })
    }

    #[test]
    fn no_quotes_are_around_all_flags() {
        let flags = flags();
        assert!(flags.starts_with("--") && flags.contains(" --no-sandbox "));
        assert!(
            flags.ends_with("=\"MAP * ~NOTFOUND, EXCLUDE 127.0.0.1\""),
            "{flags}"
        );
    }

    #[test]
    fn a_row_holds_the_medians_and_a_report_without_a_figure_is_refused() {
        let reports = [0.9, 0.5, 0.95].map(report);
        let expected = "| home | 90 | 100 | 100 | 90 | 1.2 | 2.3 | 100 | 0.012 |";
        assert_eq!(row("home", &reports).ok().as_deref(), Some(expected));
        let error = row("home", &[json!({})]).expect_err("no figure");
        assert_eq!(error.to_string(), "performance of home gives no result");
    }

    #[test]
    fn audits_that_did_not_pass_are_named() {
        assert_eq!(failed("home", &report(1.0)), ["home: seo: No description"]);
    }
}
