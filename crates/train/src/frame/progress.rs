//! The progress of a training run on the terminal.

use super::log::Line;
use super::subject::Recipe;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Time between lines about steps: on a terminal, where they stand in one place, and in a file.
const BETWEEN: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(1)];

/// Writes progress to the standard error.
pub(super) struct Progress {
    steps: u64,
    score: &'static str,
    /// First step of this run, for its speed.
    first: u64,
    began: Instant,
    shown: Instant,
    terminal: bool,
}

impl Progress {
    pub(super) fn new(recipe: &Recipe, step: u64) -> Self {
        let now = Instant::now();
        Self {
            steps: recipe.steps,
            score: recipe.score,
            first: step,
            began: now,
            shown: now,
            terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Shows a line of the log, if it is time to.
    pub(super) fn show(&mut self, line: &Line) {
        match *line {
            Line::Step { step, loss, .. } => {
                if self.shown.elapsed() < BETWEEN[usize::from(self.terminal)] {
                    return;
                }
                self.shown = Instant::now();
                let text = format!(
                    "step {step} of {}  loss {loss:.4}  {}",
                    self.steps,
                    self.left(step)
                );
                self.print(&text, !self.terminal);
            }
            Line::Evaluation {
                step,
                held_out_loss,
                score,
            } => {
                let (name, left) = (self.score, self.left(step));
                let text = format!(
                    "step {step}: held-out loss {held_out_loss:.4}, {name} {score:.3}  {left}"
                );
                self.print(&text, true);
            }
        }
    }

    /// The time that the rest takes at the speed of this run.
    fn left(&self, step: u64) -> String {
        let done = step.saturating_sub(self.first).max(1) as f64;
        let left_s =
            self.began.elapsed().as_secs_f64() / done * self.steps.saturating_sub(step) as f64;
        format!("{} left", time(left_s))
    }

    fn print(&self, text: &str, end: bool) {
        let mut out = std::io::stderr().lock();
        // A closed terminal must not end a training.
        let _ = match (self.terminal, end) {
            (true, false) => write!(out, "\r\x1b[K{text}"),
            (true, true) => writeln!(out, "\r\x1b[K{text}"),
            (false, _) => writeln!(out, "{text}"),
        };
        let _ = out.flush();
    }
}

/// A time in words.
pub(super) fn time(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_words() {
        let found = [0.4, 59.6, 61.0, 7320.0].map(super::time);
        assert_eq!(found, ["0 s", "1 min 0 s", "1 min 1 s", "2 h 2 min"]);
    }
}
