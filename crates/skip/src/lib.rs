//! Records tests that could not run, so that they are counted as skipped and not as passed.
//!
//! A test whose input is absent calls [`because`] (or [`shared`], which does so itself) and
//! returns. Rust's test harness counts it as passed. `cargo xtask test` sets [`VARIABLE`] to a
//! file, reads that file after the step and moves each recorded test from passed to skipped.
//!
//! ```
//! # fn test() {
//! let Some(folder) = skip::shared("data/mnist") else {
//!     return;
//! };
//! assert!(folder.is_dir());
//! # }
//! ```

use std::collections::BTreeSet;
use std::fmt::Display;
use std::panic::Location;
use std::path::PathBuf;

/// The environment variable that names the file to which skipped tests are appended.
pub const VARIABLE: &str = "NOTEBOOK_SKIPPED";

/// The environment variable that names the folder with files from outside the repository.
pub const SHARED: &str = "NOTEBOOK_SHARED";

/// Opens a line about a skipped test in the output of a browser test.
const MARK: &str = "SKIPPED ";

/// Opens the line that the runner of browser tests logs before each test.
const INVOKING: &str = "Invoking test: ";

/// A test that did not run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Why, as one line.
    pub reason: String,
    /// The test's program; empty where the browser ran it.
    pub program: String,
    /// The test's name with its modules, or the place in the source where the name is unknown.
    pub test: String,
}

/// Records that the running test is skipped. The test has to return after it.
#[track_caller]
pub fn because(reason: impl Display) {
    let reason = reason.to_string().replace(['\n', '\t'], " ");
    let test = test_name(Location::caller());
    record(&test, &reason);
}

/// The path of `path` in the shared folder. Where it is absent, the running test is recorded as
/// skipped.
#[track_caller]
pub fn shared(path: &str) -> Option<PathBuf> {
    let whole = shared_folder().join(path);
    if whole.exists() {
        return Some(whole);
    }
    because(format_args!("{path} is not in the shared folder"));
    None
}

/// The folder with files from outside the repository: the one that `NOTEBOOK_SHARED` names, else
/// `shared` beside the checkout. It may be absent.
pub fn shared_folder() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    std::env::var_os(SHARED).map_or_else(|| PathBuf::from(beside), PathBuf::from)
}

/// The distinct tests in the text of a file of records, each with the reason that it gave first.
pub fn from_records(text: &str) -> BTreeSet<Skipped> {
    let mut known = BTreeSet::new();
    let one = |line: &str| {
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        let (program, test, reason) = (parts.next()?, parts.next()?, parts.next()?);
        let is_new = known.insert((program.clone(), test.clone()));
        is_new.then_some(Skipped {
            reason,
            program,
            test,
        })
    };
    text.lines().filter_map(one).collect()
}

/// The distinct tests in the output of tests that ran in a browser with `--nocapture`. Each takes
/// the name that the runner logged last, where it logs names: a browser's thread has none.
pub fn from_output(text: &str) -> BTreeSet<Skipped> {
    let mut running = None;
    let mut skipped = BTreeSet::new();
    for line in text.lines() {
        if let Some((_, name)) = line.split_once(INVOKING) {
            running = Some(name.trim());
        } else if let Some((_, line)) = line.split_once(MARK)
            && let Some((place, reason)) = line.split_once(": ")
        {
            skipped.insert(Skipped {
                reason: reason.to_owned(),
                program: String::new(),
                test: running.unwrap_or(place).to_owned(),
            });
        }
    }
    skipped
}

/// The name of the thread, which the harness calls after the test; on its main thread, the caller's
/// place.
fn test_name(caller: &Location<'_>) -> String {
    match std::thread::current().name() {
        Some(name) if name != "main" => name.to_owned(),
        _ => format!("{}:{}", caller.file(), caller.line()),
    }
}

#[cfg(target_family = "wasm")]
fn record(test: &str, reason: &str) {
    wasm_bindgen_test::console_log!("{MARK}{test}: {reason}");
}

#[cfg(not(target_family = "wasm"))]
fn record(test: &str, reason: &str) {
    eprintln!("{MARK}{test}: {reason}");
    let Some(path) = std::env::var_os(VARIABLE) else {
        return;
    };
    let program = std::env::current_exe().ok();
    let program = program
        .as_ref()
        .and_then(|path| path.file_stem())
        .map_or_else(String::new, |name| without_hash(&name.to_string_lossy()));
    if let Err(error) = append(&path, &format!("{program}\t{test}\t{reason}\n")) {
        eprintln!("{} cannot be written: {error}", path.display());
    }
}

/// Appends one line with a single call, so that lines of several tests do not mix.
#[cfg(not(target_family = "wasm"))]
fn append(path: &std::ffi::OsStr, line: &str) -> std::io::Result<()> {
    use std::io::Write;
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)?
        .write_all(line.as_bytes())
}

/// A program's name without the hash that cargo appends.
#[cfg(not(target_family = "wasm"))]
fn without_hash(name: &str) -> String {
    let is_hash =
        |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.rsplit_once('-') {
        Some((name, hash)) if is_hash(hash) => name.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::{Location, append, from_output, from_records, test_name, without_hash};

    #[test]
    fn records_come_back_once_for_each_test() {
        let file = std::env::temp_dir().join(format!("skip-{}", std::process::id()));
        for line in ["a\tt\tno data\n", "a\tt\tno more\n", "b\tt\tno data\n"] {
            append(file.as_os_str(), line).expect("the folder for passing files can be written");
        }
        let text = std::fs::read_to_string(&file).expect("it was written");
        std::fs::remove_file(&file).expect("it is there");
        let found = from_records(&text);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|skipped| skipped.reason == "no data"));
    }

    #[test]
    fn lines_of_the_browser_take_the_name_that_was_logged_before() {
        let output = "Invoking test: a::b\nSKIPPED suite.rs:3: no: such file\nInvoking test: a::c\n\
            Invoking test: a::d\n    SKIPPED suite.rs:3: no: such file\n";
        let found: Vec<(String, String)> = from_output(output)
            .into_iter()
            .map(|skipped| (skipped.test, skipped.reason))
            .collect();
        let expected = ["a::b", "a::d"].map(|name| (name.to_owned(), "no: such file".to_owned()));
        assert_eq!(found, expected);
        let place = from_output("SKIPPED suite.rs:3: no file");
        assert_eq!(place.first().expect("there is one").test, "suite.rs:3");
    }

    #[test]
    fn the_hash_of_a_program_is_dropped() {
        assert_eq!(
            without_hash("reference_models-0123456789abcdef"),
            "reference_models"
        );
        assert_eq!(without_hash("two-words"), "two-words");
    }

    #[test]
    #[track_caller]
    fn a_test_knows_its_name() {
        let name = test_name(Location::caller());
        // With one test thread the harness runs tests on its main thread.
        let expected = ["tests::a_test_knows_its_name", ".rs:"];
        assert!(expected.iter().any(|part| name.contains(part)), "{name}");
    }
}
