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

/// How the tests of a step ended, with the names of those that did not run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) count: Count,
    pub(super) skipped: BTreeSet<Skipped>,
}

impl Outcome {
    /// A check that is one test by itself, such as formatting.
    pub(super) fn of_check(passed: bool) -> Self {
        let count = Count {
            passed: usize::from(passed),
            failed: usize::from(!passed),
            skipped: 0,
        };
        let skipped = BTreeSet::new();
        Self { count, skipped }
    }

    /// A step that could not even run.
    pub(super) fn one_failed() -> Self {
        Self::of_check(false)
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
        Self { count, skipped }
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
        if count.failed == 0 && (!succeeded || count.passed == 0) {
            count.failed = 1;
        }
        let failed: BTreeSet<&str> = output.lines().filter_map(failed_test).collect();
        let mut skipped = recorded;
        // One that failed as well is counted as failed already.
        skipped.retain(|skipped| !failed.contains(skipped.test.as_str()));
        let moved = skipped.len().min(count.passed);
        count.passed -= moved;
        count.skipped += moved;
        skipped.extend(output.lines().filter_map(ignored_test));
        Self { count, skipped }
    }
}

impl Add for Outcome {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            skipped: self.skipped.into_iter().chain(other.skipped).collect(),
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
        assert_eq!(
            Outcome::of_tests(true, empty, BTreeSet::new()),
            Outcome::one_failed()
        );
    }

    #[test]
    fn a_run_whose_tests_were_all_skipped_is_none() {
        let output = "test result: ok. 1 passed; 0 failed; 0 ignored";
        assert_eq!(counted(true, output, "program\ta\tno data\n"), [0, 0, 1]);
    }
}
