//! `cargo xtask test`: every check that CI runs, two at a time where they do not disturb each
//! other, to the end whatever fails.

mod count;
mod steps;
mod wasm;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use count::{Count, Outcome};
use steps::{Lane, Step};

use crate::failure::Failure;
use crate::process::{print, quietly, say};
use crate::system::{self, Need};
use crate::{npm, tools};

/// How one step ended.
struct Report {
    step: &'static Step,
    outcome: Outcome,
    took: Duration,
}

/// Runs the steps that the options name (all by default) and prints a summary.
///
/// # Errors
/// When an option is wrong or a needed program cannot be installed.
pub(crate) fn command(options: &[String]) -> Result<ExitCode, Failure> {
    if matches!(options, [flag] if flag == "--list") {
        for step in steps::ALL {
            println!("{:<16} {}", step.name, step.title);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(options)?;
    prepare(&chosen)?;
    let begun = Instant::now();
    let of = |lane: Lane| -> Vec<&'static Step> {
        chosen
            .iter()
            .copied()
            .filter(|step| step.lane == lane)
            .collect()
    };
    let beside = of(Lane::Beside);
    let together = std::thread::spawn(move || quietly(|| in_turn(&beside)));
    let mut reports = in_turn(&of(Lane::Front));
    let (others, text) = together
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    print(&text);
    reports.extend(others);
    reports.extend(in_turn(&of(Lane::Last)));
    reports.sort_by_key(|report| {
        steps::ALL
            .iter()
            .position(|step| step.name == report.step.name)
    });
    Ok(summarise(&reports, begun.elapsed()))
}

/// Runs steps one after the other.
fn in_turn(steps: &[&'static Step]) -> Vec<Report> {
    let run = |step: &'static Step| {
        print(&format!("\n== {}: {} ==\n", step.name, step.title));
        let start = Instant::now();
        let outcome = (step.run)().unwrap_or_else(|failure| {
            print(&format!("xtask: {failure}\n"));
            Outcome::one_failed(&failure.to_string())
        });
        Report {
            step,
            outcome,
            took: start.elapsed(),
        }
    };
    steps.iter().map(|step| run(step)).collect()
}

/// The steps named by `--only NAME` options, in their order; all without options.
fn choose(options: &[String]) -> Result<Vec<&'static Step>, Failure> {
    let mut names = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match (option.as_str(), rest.next()) {
            ("--only", Some(name)) if steps::ALL.iter().any(|step| step.name == *name) => {
                names.push(name.as_str());
            }
            ("--only", name) => {
                let list: Vec<&str> = steps::ALL.iter().map(|step| step.name).collect();
                let name = name.map_or("", String::as_str);
                return Err(Failure::usage(format!(
                    "`{name}` is no step; the steps are {}",
                    list.join(", ")
                )));
            }
            (other, _) => return Err(Failure::usage(format!("test does not take `{other}`"))),
        }
    }
    Ok(steps::ALL
        .iter()
        .filter(|step| names.is_empty() || names.contains(&step.name))
        .collect())
}

/// Installs what the chosen steps need and is missing.
fn prepare(chosen: &[&Step]) -> Result<(), Failure> {
    println!("== set-up: what the tests need ==");
    let mut needs = vec![Need::Linker];
    needs.extend(
        [Need::Browser, Need::Node]
            .into_iter()
            .filter(|need| chosen.iter().any(|step| step.needs.contains(need))),
    );
    system::ensure(&needs)?;
    if chosen.iter().any(|step| step.wasm) {
        tools::ensure()?;
    }
    if needs.contains(&Need::Node) {
        npm::ensure()?;
    }
    say("everything needed is there");
    Ok(())
}

/// Prints the table and the closing line. Steps that ran at the same time make the sum of their
/// seconds larger than the whole.
fn summarise(reports: &[Report], took: Duration) -> ExitCode {
    println!("\n== summary (a check without tests of its own counts as one) ==");
    println!(
        "{:<16} {:>7} {:>7} {:>8} {:>8}",
        "step", "passed", "failed", "skipped", "seconds"
    );
    let mut total = Count::default();
    for Report {
        step,
        outcome,
        took: step_took,
    } in reports
    {
        println!("{}", row(step.name, outcome.count, *step_took));
        total = total + outcome.count;
    }
    println!("{}", row("together", total, took));
    name_skipped(reports);
    name_failed(reports);
    println!(
        "\n{} passed, {} failed, {} skipped",
        total.passed, total.failed, total.skipped
    );
    if total.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints the names of the tests that did not run, under the reason that each gave.
fn name_skipped(reports: &[Report]) {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Report { step, outcome, .. } in reports {
        for skipped in &outcome.skipped {
            let parts = [step.name, &skipped.program, &skipped.test];
            let name = parts.into_iter().filter(|part| !part.is_empty());
            let names = by_reason.entry(&skipped.reason).or_default();
            names.push(name.collect::<Vec<_>>().join(" "));
        }
    }
    if by_reason.is_empty() {
        return;
    }
    println!("\nskipped, with the reason:");
    for (reason, names) in by_reason {
        println!("  {reason}");
        for name in names {
            println!("    {name}");
        }
    }
}

/// Repeats what the failed tests said, at the end of a long output.
fn name_failed(reports: &[Report]) {
    for Report { step, outcome, .. } in reports {
        for failure in &outcome.failures {
            println!("\nfailed: {} {failure}", step.name);
        }
    }
}

fn row(name: &str, count: Count, took: Duration) -> String {
    let Count {
        passed,
        failed,
        skipped,
    } = count;
    let mark = if failed == 0 { "" } else { "  FAILED" };
    format!(
        "{name:<16} {passed:>7} {failed:>7} {skipped:>8} {:>8.0}{mark}",
        took.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::choose;

    fn names(options: &[&str]) -> Result<Vec<&'static str>, String> {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        choose(&options)
            .map(|steps| steps.iter().map(|step| step.name).collect())
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn only_takes_names_of_steps() {
        assert_eq!(names(&["--only", "fmt"]), Ok(vec!["fmt"]));
        assert_eq!(
            names(&["--only", "e2e", "--only", "fmt"]),
            Ok(vec!["fmt", "e2e"])
        );
        assert!(names(&["--only", "nothing"]).is_err_and(|text| text.contains("kernels-relaxed")));
        assert!(names(&["--only"]).is_err());
        assert!(names(&["fmt"]).is_err());
        assert!(names(&[]).is_ok_and(|all| all.len() > 5));
    }
}
