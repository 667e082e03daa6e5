//! What the command-line programs share: arguments, files, messages.
#![allow(dead_code, reason = "each program uses a part")]

pub(crate) mod files;

use engine::kernel::threads;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Why a program stops.
pub(crate) enum Failure {
    /// The arguments are wrong: exit code 2.
    Usage(String),
    /// What they ask for cannot be done: exit code 1.
    Other(String),
    /// Nobody reads the output any more, as behind `| head`: all is well.
    NobodyReads,
}

impl Failure {
    /// What went wrong with a file.
    pub(crate) fn file(path: &std::path::Path, error: impl std::fmt::Display) -> Self {
        Self::Other(format!("{}: {error}", path.display()))
    }
}

impl<E: std::error::Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let any: &dyn std::error::Error = &error;
        match any.downcast_ref::<std::io::Error>() {
            Some(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Other(error.to_string()),
        }
    }
}

/// Prints a line; unlike `println!` it does not panic where the output is full or closed.
macro_rules! say {
    ($($part:tt)*) => {{
        use std::io::Write;
        writeln!(std::io::stdout(), $($part)*)?;
    }};
}
pub(crate) use say;

/// Runs a program with the arguments of the command line.
pub(crate) fn main(help: &str, run: fn(Arguments) -> Result<(), Failure>) -> ExitCode {
    let arguments = Arguments::new(std::env::args_os().skip(1));
    if arguments
        .rest
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
        println!("{help}");
        return ExitCode::SUCCESS;
    }
    match run(arguments) {
        Ok(()) | Err(Failure::NobodyReads) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            let usage = help
                .lines()
                .find(|line| line.starts_with("usage:"))
                .unwrap_or_default();
            eprintln!("{message}\n{usage}\n--help says more.");
            ExitCode::from(2)
        }
        Err(Failure::Other(message)) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Arguments that are taken out one by one.
pub(crate) struct Arguments {
    rest: Vec<OsString>,
}

impl Arguments {
    fn new(arguments: impl Iterator<Item = OsString>) -> Self {
        Self {
            rest: arguments.collect(),
        }
    }

    /// Reads options and words: `option` gets the name of each option without dashes and a way to its value, and says whether it
    /// knows it; the other words are returned.
    pub(crate) fn read(
        self,
        mut option: impl FnMut(
            &str,
            &mut dyn FnMut() -> Result<String, Failure>,
        ) -> Result<bool, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let usage = |error: lexopt::Error| Failure::Usage(error.to_string());
        let mut parser = lexopt::Parser::from_args(self.rest);
        let mut words = Vec::new();
        while let Some(argument) = parser.next().map_err(usage)? {
            let name = match argument {
                lexopt::Arg::Long(name) => name.to_owned(),
                lexopt::Arg::Short(name) => name.to_string(),
                lexopt::Arg::Value(word) => {
                    words.push(
                        word.into_string()
                            .map_err(|_| Failure::Usage("an argument is not UTF-8".to_owned()))?,
                    );
                    continue;
                }
            };
            let mut value = || {
                let value = parser.value().map_err(usage)?;
                value
                    .into_string()
                    .map_err(|_| Failure::Usage(format!("the value of --{name} is not UTF-8")))
            };
            if !option(&name, &mut value)? {
                return Err(Failure::Usage(format!("there is no option --{name}")));
            }
        }
        Ok(words)
    }
}

/// A number from a text.
pub(crate) fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, Failure> {
    let wrong = || Failure::Usage(format!("--{name} must be a number, found {text:?}"));
    text.parse().map_err(|_| wrong())
}

/// Starts threads: as many as asked for, else one for each core.
pub(crate) fn start_threads(count: Option<usize>) -> Result<(), Failure> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let count = count.unwrap_or_else(cores).max(1);
    threads::start(count)?;
    threads::limit(count);
    Ok(())
}

/// The one word that a program needs.
pub(crate) fn one(words: &[String], name: &str) -> Result<PathBuf, Failure> {
    match words {
        [word] => Ok(PathBuf::from(word)),
        [] => Err(Failure::Usage(format!("{name} is missing"))),
        [_, more, ..] => Err(Failure::Usage(format!(
            "one {name} is enough, found also {more:?}"
        ))),
    }
}

/// A line on the terminal that stands there until the next one, for work that takes long.
pub(crate) fn progress(text: &str) {
    use std::io::IsTerminal;
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{text}");
    }
}

/// Bytes as a reader likes them.
pub(crate) fn bytes(count: usize) -> String {
    let count = count as f64;
    match count {
        _ if count >= 1e9 => format!("{:.2} GB", count / 1e9),
        _ if count >= 1e6 => format!("{:.1} MB", count / 1e6),
        _ if count >= 1e3 => format!("{:.1} kB", count / 1e3),
        _ => format!("{count} bytes"),
    }
}
