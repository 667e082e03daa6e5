//! The program that makes the pages, which is kept running.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;

use crate::error::ServeError;
use crate::server::CLIENT;

/// The running program. It ends when this is dropped.
pub(crate) struct Pages {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// An answer: what was asked about, or why it failed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    /// The addresses of the pages that are new.
    pub(crate) changed: Vec<String>,
    /// The compiled files are new.
    pub(crate) new: bool,
    error: Option<String>,
}

/// Path of the compiled program.
pub(crate) fn program(target: &Path) -> PathBuf {
    let name = format!("pages{}", std::env::consts::EXE_SUFFIX);
    target.join("debug").join(name)
}

impl Pages {
    /// Starts it, to write into `out`.
    ///
    /// # Errors
    /// When it is not there or cannot be started.
    pub(crate) fn start(program: &Path, out: &Path) -> Result<Self, ServeError> {
        let name = program.display().to_string();
        let mut child = Command::new(program)
            .args(["--follow", "--script", CLIENT, "--out"])
            .arg(out)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(ServeError::program(&name))?;
        let (orders, answers) = (child.stdin.take(), child.stdout.take());
        let answers =
            answers.ok_or_else(|| ServeError::Build(format!("{name} cannot be heard")))?;
        Ok(Self {
            child,
            orders,
            answers: BufReader::new(answers),
        })
    }

    /// Has it do something and waits for the answer.
    ///
    /// # Errors
    /// What went wrong, in its words.
    pub(crate) fn ask(&mut self, order: &str) -> Result<Answer, ServeError> {
        let program = || ServeError::program("pages");
        if let Some(orders) = &mut self.orders {
            writeln!(orders, "{order}").map_err(program())?;
            orders.flush().map_err(program())?;
        }
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(program())?;
        let answer: Answer = serde_json::from_str(&line)
            .map_err(|_| ServeError::Build("the program that makes the pages ended".to_owned()))?;
        match answer.error {
            Some(error) => Err(ServeError::Build(error)),
            None => Ok(answer),
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // It ends when its input does.
        self.orders = None;
        let _ = self.child.wait();
    }
}
