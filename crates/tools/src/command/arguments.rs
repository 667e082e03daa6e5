//! Arguments, failures and messages, which all commands share.

use engine::kernel::threads;
use std::ffi::OsString;
use std::path::PathBuf;

/// The reason for which a command stops.
pub(crate) enum Failure {
    /// The arguments are wrong: exit code 2.
    Usage(String),
    /// What they ask for cannot be done: exit code 1.
    Other(String),
    /// The output has no reader any more, as before `| head`: exit code 0.
    NobodyReads,
    /// All is printed already; the exit code says how it ended.
    Code(u8),
}

impl Failure {
    /// A failure that names a file.
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

/// The arguments of a command, without its name.
pub(crate) struct Arguments(pub(crate) Vec<OsString>);

impl Arguments {
    /// Reads options and words. `option` gets the name of each option without dashes and a function
    /// that reads its value, and returns false for an option that it does not know; the other words
    /// are returned.
    pub(crate) fn read(
        self,
        mut option: impl FnMut(
            &str,
            &mut dyn FnMut() -> Result<String, Failure>,
        ) -> Result<bool, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let usage = |error: lexopt::Error| Failure::Usage(error.to_string());
        let mut parser = lexopt::Parser::from_args(self.0);
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

/// The one word that a command needs.
pub(crate) fn one(words: &[String], name: &str) -> Result<PathBuf, Failure> {
    match words {
        [word] => Ok(PathBuf::from(word)),
        [] => Err(Failure::Usage(format!("{name} is missing"))),
        [_, more, ..] => Err(Failure::Usage(format!(
            "one {name} is enough, found also {more:?}"
        ))),
    }
}

/// Replaces the last line of the terminal, for work that takes long.
pub(crate) fn progress(text: &str) {
    use std::io::IsTerminal;
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{text}");
    }
}

/// A number of bytes with a unit, as `1.50 MB`.
pub(crate) fn bytes(count: usize) -> String {
    let count = count as f64;
    match count {
        _ if count >= 1e9 => format!("{:.2} GB", count / 1e9),
        _ if count >= 1e6 => format!("{:.1} MB", count / 1e6),
        _ if count >= 1e3 => format!("{:.1} kB", count / 1e3),
        _ => format!("{count} bytes"),
    }
}
