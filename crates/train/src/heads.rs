//! `head-race`: the runs of the task with two questions, for every number of heads, and the log that
//! the site ships.
//!
//! ```text
//! setting   NAME        VALUE                  what was run, and how
//! first     TASK-HEADS  SEED  loss …           of the first steps, each to its last bit
//! training  TASK-HEADS  SEED  loss …           means over a tenth of the steps each, in nats
//! right     TASK-HEADS  SEED  before first both    shares of right answers after the last step
//! ```
//! The fields of a line are separated by tabs. TASK is `both`, or `before` for runs that are asked
//! for the symbol before alone. The runs compute with the kernels whose bits are the same
//! in a browser, so a run in the reader's tab repeats the one in the log.

use crate::Result;
use crate::frame::replace;
use explain::two_questions::{
    HEADS, HELD_OUT, LENGTH, Questions, Run, STEPS, SYMBOLS, TwoQuestions, WIDTH,
};
use std::fmt::Write;
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "head-race.tsv";
/// Steps whose losses are in the log to the last bit.
pub const FIRST: usize = 3;
/// Means along a training run.
const MEANS: usize = 10;
/// The tasks, with their names in the log, and the number of runs for each number of heads, with seeds
/// one after the other.
pub const TASKS: [(&str, Questions, u64); 2] = [
    ("both", Questions::Both, 5),
    ("before", Questions::Before, 3),
];

/// Trains every number of heads on both tasks and writes the log to `out`.
///
/// # Errors
/// When the log cannot be written.
pub fn race(seed: u64, out: &Path) -> Result<()> {
    let mut log = settings(seed)?;
    for (task, questions, seeds) in TASKS {
        for heads in HEADS {
            for seed in seed..seed + seeds {
                let lines = one(task, questions, heads, seed)?;
                eprint!("{lines}");
                log.push_str(&lines);
            }
        }
    }
    let path = out.join(FILE);
    replace(&path, log.as_bytes())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// The lines on all runs together.
fn settings(seed: u64) -> Result<String> {
    let mut all = String::new();
    let parameters = TwoQuestions::new(1, seed)?.count()?;
    for (name, value) in [
        (
            "command",
            format!("cargo xtask train head-race --seed {seed}"),
        ),
        ("steps", STEPS.to_string()),
        ("seeds", TASKS[0].2.to_string()),
        ("seeds of one question", TASKS[1].2.to_string()),
        ("symbols", SYMBOLS.to_string()),
        ("length", LENGTH.to_string()),
        ("width", WIDTH.to_string()),
        ("held out", HELD_OUT.to_string()),
        ("parameters", parameters.to_string()),
    ] {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(all, "setting\t{name}\t{value}");
    }
    Ok(all)
}

/// The lines of one run.
fn one(task: &str, questions: Questions, heads: usize, seed: u64) -> Result<String> {
    let mut run = Run::new(heads, seed, questions)?;
    let losses = (0..STEPS).map(|_| run.step());
    let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
    let mut log = String::new();
    let mut line = |kind: &str, fields: Vec<String>| {
        let fields = fields.join("\t");
        let _ = writeln!(log, "{kind}\t{task}-{heads}\t{seed}\t{fields}");
    };
    let first = losses.iter().take(FIRST).map(ToString::to_string);
    line("first", first.collect());
    let means = losses.chunks(losses.len().div_ceil(MEANS)).map(|part| {
        let sum: f64 = part.iter().copied().map(f64::from).sum();
        format!("{:.4}", sum / part.len() as f64)
    });
    line("training", means.collect());
    let right = run.evaluate()?.map(|share| format!("{share:.4}"));
    line("right", right.to_vec());
    Ok(log)
}
