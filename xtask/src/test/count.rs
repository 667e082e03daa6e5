//! Counts tests in the output of `cargo test` and of the wasm-bindgen test runner, which print the
//! same lines.

use std::collections::BTreeSet;
use std::ops::Add;

use skip::Skipped;

/// How many tests passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
}

/// How many lines of what a failed test said are repeated in the summary.
const LINES_OF_A_FAILURE: usize = 8;

/// How the tests of a step ended, with the names of those that did not run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) count: Count,
    pub(super) skipped: BTreeSet<Skipped>,
    /// Of each failed test its name and the first lines of what it said; of a run that failed without
    /// naming a test, the errors in its output.
    pub(super) failures: Vec<String>,
}

impl Outcome {
    /// A check that is one test by itself, such as formatting.
    pub(super) fn of_check(passed: bool, output: &str) -> Self {
        let count = Count {
            passed: usize::from(passed),
            failed: usize::from(!passed),
            skipped: 0,
        };
        let failures = if passed { Vec::new() } else { errors(output) };
        Self {
            count,
            failures,
            ..Self::default()
        }
    }

    /// A step that could not even run.
    pub(super) fn one_failed(reason: &str) -> Self {
        let mut outcome = Self::of_check(false, "");
        outcome.failures.push(reason.to_owned());
        outcome
    }

    /// A check whose inputs are not here.
    pub(super) fn one_skipped(name: &str, reason: &str) -> Self {
        let one = Skipped {
            reason: reason.to_owned(),
            program: String::new(),
            test: name.to_owned(),
        };
        let skipped = BTreeSet::from([one]);
        let count = Count {
            skipped: 1,
            ..Count::default()
        };
        Self {
            count,
            skipped,
            ..Self::default()
        }
    }

    /// Adds up the lines `test result: ok. 5 passed; 0 failed; 1 ignored; …` in `output`. The tests
    /// in `recorded` said that they could not run, and returned, so the harness counted them as
    /// passed: they are moved to the skipped ones.
    ///
    /// A run that failed without naming a failed test (it did not compile, or the browser did not
    /// start) counts as one failure, and so does a run that held no test at all: a suite that has
    /// silently become empty must not look green.
    pub(super) fn of_tests(succeeded: bool, output: &str, recorded: BTreeSet<Skipped>) -> Self {
        let lines = output.lines();
        let mut count = lines.filter_map(of_line).fold(Count::default(), Add::add);
        let mut failures = said_by_failed(output);
        if count.failed == 0 && (!succeeded || count.passed == 0) {
            count.failed = 1;
            failures.extend(errors(output));
        }
        let failed: BTreeSet<&str> = output.lines().filter_map(failed_test).collect();
        let mut skipped = recorded;
        // One that failed as well is counted as failed already.
        skipped.retain(|skipped| !failed.contains(skipped.test.as_str()));
        let moved = skipped.len().min(count.passed);
        count.passed -= moved;
        count.skipped += moved;
        skipped.extend(output.lines().filter_map(ignored_test));
        Self {
            count,
            skipped,
            failures,
        }
    }
}

impl Add for Outcome {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            skipped: self.skipped.into_iter().chain(other.skipped).collect(),
            failures: [self.failures, other.failures].concat(),
        }
    }
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }
}

fn of_line(line: &str) -> Option<Count> {
    let rest = line.split_once("test result:")?.1;
    let number = |word: &str| -> usize {
        rest.split(|character: char| ".;".contains(character))
            .find_map(|part| part.trim().strip_suffix(word)?.trim().parse().ok())
            .unwrap_or(0)
    };
    Some(Count {
        passed: number("passed"),
        failed: number("failed"),
        skipped: number("ignored"),
    })
}

/// Name and result of a line `test NAME ... RESULT`.
fn result_of(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("test ")?.split_once(" ... ")
}

/// What each failed test said: the sections `---- NAME stdout ----` of a native run and
/// `---- NAME output ----` of one in a browser.
fn said_by_failed(output: &str) -> Vec<String> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut is_within = false;
    for line in output.lines() {
        let header = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" ----"));
        if let Some(header) = header {
            found.push(vec![header.split(' ').next().unwrap_or(header)]);
            is_within = true;
        } else if line == "failures:" {
            is_within = false;
        } else if let (true, false, Some(lines)) =
            (is_within, line.trim().is_empty(), found.last_mut())
            && lines.len() <= LINES_OF_A_FAILURE
        {
            lines.push(line);
        }
    }
    found.iter().map(|lines| lines.join("\n    ")).collect()
}

/// The errors of a program, such as the compiler, each with the place that follows it.
fn errors(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output.lines().collect();
    let begin = (0..lines.len()).filter(|&n| lines[n].starts_with("error"));
    begin
        .take(LINES_OF_A_FAILURE)
        .map(|n| lines[n..(n + 2).min(lines.len())].join("\n    "))
        .collect()
}

fn failed_test(line: &str) -> Option<&str> {
    let (name, result) = result_of(line)?;
    result.contains("FAIL").then_some(name)
}

/// A test that is ignored unless it is asked for, with the reason in its attribute.
fn ignored_test(line: &str) -> Option<Skipped> {
    let (name, result) = result_of(line)?;
    let (_, rest) = result.split_once("ignored")?;
    // The end of the colour stands after the reason.
    let rest = rest.split('\u{1b}').next().unwrap_or(rest);
    let reason = rest.strip_prefix(", ").unwrap_or("ignored");
    Some(Skipped {
        reason: reason.to_owned(),
        program: String::new(),
        test: name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Count, Outcome};
    use std::collections::BTreeSet;

    const OUTPUT: &str = "running 3 tests\ntest a ... ok\ntest b ... FAILED\ntest c ... ignored, measures time\n\
        test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s\n\
        test result: \u{1b}[31mFAILED\u{1b}[0m. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";

    fn counted(succeeded: bool, output: &str, records: &str) -> [usize; 3] {
        let outcome = Outcome::of_tests(succeeded, output, skip::from_records(records));
        let Count {
            passed,
            failed,
            skipped,
        } = outcome.count;
        [passed, failed, skipped]
    }

    #[test]
    fn adds_up_every_result_line() {
        assert_eq!(counted(false, OUTPUT, ""), [7, 2, 1]);
    }

    #[test]
    fn a_test_that_said_it_cannot_run_is_skipped_and_not_passed() {
        let records =
            "program\ta\tno data\nprogram\ta\tno data\nother\ta\tno data\nprogram\tb\tno data\n";
        assert_eq!(counted(false, OUTPUT, records), [5, 2, 3]);
        let outcome = Outcome::of_tests(false, OUTPUT, skip::from_records(records));
        let named: Vec<(&str, &str)> = outcome
            .skipped
            .iter()
            .map(|skipped| (skipped.test.as_str(), skipped.reason.as_str()))
            .collect();
        assert_eq!(
            named,
            [("c", "measures time"), ("a", "no data"), ("a", "no data")]
        );
    }

    #[test]
    fn a_run_that_did_not_compile_is_a_failure() {
        assert_eq!(counted(false, "error: could not compile", ""), [0, 1, 0]);
    }

    #[test]
    fn a_run_without_tests_is_a_failure() {
        let empty = "test result: ok. 0 passed; 0 failed; 0 ignored";
        assert_eq!(counted(true, empty, ""), [0, 1, 0]);
    }

    fn failures(succeeded: bool, output: &str) -> Vec<String> {
        Outcome::of_tests(succeeded, output, BTreeSet::new()).failures
    }

    #[test]
    fn what_failed_tests_said_is_kept_for_the_summary() {
        let output = "test b ... FAILED\n\nfailures:\n\n---- b stdout ----\n\nthread 'b' panicked at t.rs:1:\nno row\n\n\
            ---- c output ----\nlog\n\nfailures:\n    b\n    c\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n";
        assert_eq!(
            failures(false, output),
            [
                "b\n    thread 'b' panicked at t.rs:1:\n    no row",
                "c\n    log"
            ]
        );
        assert!(failures(true, "test result: ok. 1 passed; 0 failed; 0 ignored").is_empty());
    }

    #[test]
    fn of_a_run_that_did_not_compile_the_errors_are_kept() {
        let output = "warning: w\nerror[E0308]: mismatched types\n --> a.rs:1:1\n  |\nerror: could not compile\n";
        let expected = [
            "error[E0308]: mismatched types\n     --> a.rs:1:1",
            "error: could not compile",
        ];
        assert_eq!(failures(false, output), expected);
        assert_eq!(Outcome::of_check(false, output).failures, expected);
        assert!(Outcome::of_check(true, output).failures.is_empty());
    }

    #[test]
    fn a_run_whose_tests_were_all_skipped_is_none() {
        let output = "test result: ok. 1 passed; 0 failed; 0 ignored";
        assert_eq!(counted(true, output, "program\ta\tno data\n"), [0, 0, 1]);
    }
}
