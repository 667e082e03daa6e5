//! The log of a training: JSON lines, one for each step and each evaluation.

use super::files;
use super::subject::Evaluation;
use crate::{Result, TrainError};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    /// A step of training.
    Step {
        /// Its number, counted from 1.
        step: u64,
        /// The loss of its batch.
        loss: f32,
        /// The learning rate.
        rate: f32,
    },
    /// A look at examples that are not trained on.
    Evaluation {
        /// The step after which it was made.
        step: u64,
        /// The mean loss there.
        held_out_loss: f64,
        /// The score there.
        score: f64,
    },
}

impl Line {
    fn step(&self) -> u64 {
        match *self {
            Self::Step { step, .. } | Self::Evaluation { step, .. } => step,
        }
    }

    pub(super) fn evaluation(step: u64, found: Evaluation) -> Self {
        Self::Evaluation {
            step,
            held_out_loss: found.loss,
            score: found.score,
        }
    }
}

/// The log that is being written.
pub(super) struct Log {
    path: PathBuf,
    file: BufWriter<File>,
    pub(super) lines: Vec<Line>,
}

impl Log {
    /// Opens a log to continue it after a step. Lines of later steps, which a training run that was
    /// killed wrote after its last checkpoint, are removed.
    pub(super) fn open(path: &Path, after: u64) -> Result<Self> {
        let (mut lines, mut kept) = (Vec::new(), String::new());
        if path.exists() {
            let bytes = files::read(path)?;
            for text in String::from_utf8_lossy(&bytes).lines() {
                match serde_json::from_str::<Line>(text) {
                    Ok(line) if line.step() <= after => {
                        lines.push(line);
                        // As it was: a number that is read and written again may be rounded.
                        kept.push_str(text);
                        kept.push('\n');
                    }
                    // Later steps, and the line at which it was killed.
                    _ => break,
                }
            }
        }
        files::replace(path, kept.as_bytes())?;
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|error| TrainError::file("write", path, error))?;
        Ok(Self {
            path: path.to_path_buf(),
            file: BufWriter::new(file),
            lines,
        })
    }

    /// Adds a line.
    pub(super) fn push(&mut self, line: Line) -> Result<()> {
        self.lines.push(line);
        let written = serde_json::to_writer(&mut self.file, &line).map_err(std::io::Error::from);
        let written = written.and_then(|()| self.file.write_all(b"\n"));
        written.map_err(|error| TrainError::file("write", &self.path, error))
    }

    /// Hands all lines to the system.
    pub(super) fn flush(&mut self) -> Result<()> {
        let done = self.file.flush();
        done.map_err(|error| TrainError::file("write", &self.path, error))
    }
}

/// The loss of each step, from the log in a work folder.
///
/// # Errors
/// When the log cannot be read or holds something other than steps and evaluations.
pub fn losses(work: &Path) -> Result<Vec<f32>> {
    let path = work.join(super::run::LOG);
    let bytes = files::read(&path)?;
    let mut losses = Vec::new();
    for text in String::from_utf8_lossy(&bytes).lines() {
        let line = serde_json::from_str::<Line>(text);
        let line = line.map_err(|error| TrainError::content(&path, "a step", error))?;
        if let Line::Step { loss, .. } = line {
            losses.push(loss);
        }
    }
    Ok(losses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_after_a_checkpoint_is_taken_away() {
        let path = std::env::temp_dir().join(format!("train-log-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let step = |step| Line::Step {
            step,
            loss: 0.5,
            rate: 1e-3,
        };
        let found = Evaluation {
            loss: 0.25,
            score: 97.5,
        };
        let mut log = Log::open(&path, 0).unwrap();
        for n in 1..=3 {
            log.push(step(n)).unwrap();
        }
        log.push(Line::evaluation(3, found)).unwrap();
        log.push(step(4)).unwrap();
        log.flush().unwrap();
        let mut cut = files::read(&path).unwrap();
        cut.extend(b"{\"step\":5,\"lo");
        files::replace(&path, &cut).unwrap();
        let log = Log::open(&path, 3).unwrap();
        let expected = [step(1), step(2), step(3), Line::evaluation(3, found)];
        assert_eq!(log.lines, expected);
        assert_eq!(
            files::read(&path).unwrap().split(|&b| b == b'\n').count(),
            5
        );
    }
}
