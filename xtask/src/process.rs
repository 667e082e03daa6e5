//! Runs other programs: says what is run and why, and reports how it ended.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use crate::failure::Failure;
use crate::project;

thread_local! {
    /// What this thread and the programs that it runs have printed, where it keeps that for later.
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does some work and returns what it, and every program that it ran, would have printed.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> (T, String) {
    KEPT.set(Some(String::new()));
    let done = work();
    (done, KEPT.take().unwrap_or_default())
}

/// Prints text, or keeps it where [`quietly`] asks for that.
pub(crate) fn print(text: &str) {
    let is_kept =
        KEPT.with_borrow_mut(|kept| kept.as_mut().map(|kept| kept.push_str(text)).is_some());
    if !is_kept {
        // A closed terminal must not end the run.
        let _ = std::io::stdout().lock().write_all(text.as_bytes());
    }
}

/// Prints one line about what happens next.
pub(crate) fn say(line: impl std::fmt::Display) {
    print(&format!("xtask: {line}\n"));
}

/// A command that runs in the project's root with cargo's bin folder on the path.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(project::root())
        .env("PATH", search_path());
    // Set by `cargo run` for this program alone; inherited, they would make the inner cargo rebuild
    // with other settings.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// The cargo that runs this program, else the one on the path.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// `PATH` with cargo's bin folder at its end, where `cargo install` puts programs.
fn search_path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Some(bin) = cargo_bin()
        && !folders.contains(&bin)
    {
        folders.push(bin);
    }
    std::env::join_paths(folders).unwrap_or(path)
}

/// Cargo's bin folder.
fn cargo_bin() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    home.map(|home| home.join("bin"))
}

/// The full path of a program on the search path.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&search_path())
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Runs a command with the terminal as its output.
///
/// # Errors
/// When it cannot be started or ends with a failure.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let shown = line_of(command);
    let failed = |status: ExitStatus| Failure::new(format!("`{shown}` failed ({status})"));
    let status = if KEPT.with_borrow(Option::is_some) {
        run_to_end(command)?.0
    } else {
        println!("$ {shown}");
        command.status().map_err(|error| no_start(&shown, &error))?
    };
    if status.success() {
        Ok(())
    } else {
        Err(failed(status))
    }
}

/// Runs a command in place of this program where the system can do that, so whoever stops this
/// program stops it; elsewhere as [`run`].
///
/// # Errors
/// When it cannot be started; elsewhere also when it ends with a failure.
pub(crate) fn run_in_place(command: &mut Command) -> Result<(), Failure> {
    #[cfg(unix)]
    {
        let shown = line_of(command);
        println!("$ {shown}");
        Err(no_start(
            &shown,
            &std::os::unix::process::CommandExt::exec(command),
        ))
    }
    #[cfg(not(unix))]
    run(command)
}

/// What a command printed to its standard output, or nothing when it cannot run or fails.
pub(crate) fn output_of(command: &mut Command) -> Option<String> {
    let output = command
        .stderr(Stdio::null())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command, prints what it prints as it comes, and returns all of it.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn run_and_read(command: &mut Command) -> Result<(bool, String), Failure> {
    run_to_end(command).map(|(status, text)| (status.success(), text))
}

fn no_start(shown: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot start `{shown}`: {error}"))
}

fn run_to_end(command: &mut Command) -> Result<(ExitStatus, String), Failure> {
    let shown = line_of(command);
    print(&format!("$ {shown}\n"));
    let is_kept = KEPT.with_borrow(Option::is_some);
    if !is_kept && std::io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| no_start(&shown, &error))?;
    let text = Arc::new(Mutex::new(String::new()));
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child
            .stdout
            .take()
            .map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        child
            .stderr
            .take()
            .map(|stream| Box::new(stream) as Box<dyn Read + Send>),
    ];
    let readers: Vec<_> = streams
        .into_iter()
        .flatten()
        .map(|stream| {
            let text = Arc::clone(&text);
            std::thread::spawn(move || read(stream, &text, !is_kept))
        })
        .collect();
    let status = child
        .wait()
        .map_err(|error| Failure::new(format!("lost track of `{shown}`: {error}")))?;
    for reader in readers {
        // A reader that panicked has lost output, not the exit status; the step is judged by both.
        let _ = reader.join();
    }
    let text = text.lock().map(|text| text.clone()).unwrap_or_default();
    if is_kept {
        print(&text);
    }
    Ok((status, text))
}

/// Reads a stream line by line into `all`, and copies it to the terminal where `echo` asks for
/// that.
fn read(stream: impl Read, all: &Mutex<String>, echo: bool) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while reader
        .read_until(b'\n', &mut line)
        .is_ok_and(|count| count > 0)
    {
        let text = String::from_utf8_lossy(&line);
        if echo {
            let mut terminal = std::io::stdout().lock();
            // A closed terminal must not end the run.
            let _ = terminal.write_all(text.as_bytes());
        }
        if let Ok(mut all) = all.lock() {
            all.push_str(&text);
        }
        line.clear();
    }
}

/// The most characters of a command that are shown: the formatter is given every file of the cells.
const SHOWN: usize = 300;

/// A command as one would type it; a long one without its end.
fn line_of(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    if let Some(name) = Path::new(&words[0]).file_name() {
        words[0] = name.to_string_lossy().into_owned();
    }
    let line = words.join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
