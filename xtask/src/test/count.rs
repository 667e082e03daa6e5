//! Counts tests in the output of `cargo test` and of the wasm-bindgen test runner, which print the same line.

use std::ops::Add;

/// How many tests passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
}

impl Count {
    /// A check that is one test by itself, such as formatting.
    pub(super) fn of_check(passed: bool) -> Self {
        Self {
            passed: usize::from(passed),
            failed: usize::from(!passed),
            skipped: 0,
        }
    }

    /// A step that could not even run.
    pub(super) fn one_failed() -> Self {
        Self::of_check(false)
    }

    /// A step whose inputs are not here.
    pub(super) fn one_skipped() -> Self {
        Self {
            skipped: 1,
            ..Self::default()
        }
    }

    /// Adds up the lines `test result: ok. 5 passed; 0 failed; 1 ignored; …` in `output`. A run that failed without
    /// naming a failed test (it did not compile, or the browser did not start) counts as one failure, and so does a
    /// run that held no test at all: a suite that has silently become empty must not look green.
    pub(super) fn of_tests(succeeded: bool, output: &str) -> Self {
        let mut sum = output
            .lines()
            .filter_map(of_line)
            .fold(Self::default(), Self::add);
        if sum.failed == 0 && (!succeeded || sum.passed == 0) {
            sum.failed = 1;
        }
        sum
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

#[cfg(test)]
mod tests {
    use super::Count;

    const OUTPUT: &str = "running 3 tests\ntest a ... ok\n\
        test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s\n\
        test result: \u{1b}[31mFAILED\u{1b}[0m. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";

    #[test]
    fn adds_up_every_result_line() {
        assert_eq!(
            Count::of_tests(false, OUTPUT),
            Count {
                passed: 7,
                failed: 2,
                skipped: 1
            }
        );
    }

    #[test]
    fn a_run_that_did_not_compile_is_a_failure() {
        assert_eq!(
            Count::of_tests(false, "error: could not compile"),
            Count {
                passed: 0,
                failed: 1,
                skipped: 0
            }
        );
    }

    #[test]
    fn a_run_without_tests_is_a_failure() {
        assert_eq!(
            Count::of_tests(true, "test result: ok. 0 passed; 0 failed; 0 ignored"),
            Count::one_failed()
        );
    }
}
