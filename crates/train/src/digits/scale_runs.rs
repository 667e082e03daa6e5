//! `scale-runs`: whether a Vision Transformer overtakes convolutions when there are more digits to learn.
//! The two small networks of [`explain::few_digits`] learn more digits than those of
//! [`super::bias_runs`], and, in a second group of runs, for ten times as many steps. The site ships the
//! log.
//!
//! ```text
//! setting   NAME               VALUE             what was run, and how
//! first     KIND-SIZE[-long]   SEED  loss …      of the first steps, each to its last bit
//! right     KIND-SIZE[-long]   SEED  share       of the test digits, after the last step
//! ```
//! The fields of a line are separated by tabs. KIND is `cnn` or `vit`. All runs compute with the kernels
//! that give the same bits on every machine.

use super::bias_runs::{FIRST, TEST, learned, tested};
use super::data::Mnist;
use crate::Result;
use crate::frame::replace;
use explain::few_digits::{Digits, FewRun, Kind, STEPS};
use std::fmt::Write;
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "scale-runs.tsv";
/// The sizes of training sets of the short runs, beyond those of `bias-runs`; the last is all of them.
pub const SIZES: [usize; 2] = [3000, 9500];
/// The number of short runs of each kind and size, with seeds one after the other.
pub const SEEDS: u64 = 5;
/// The sizes of training sets of the long runs.
pub const LONG_SIZES: [usize; 3] = [100, 1000, 9500];
/// Steps of a long run.
pub const LONG: u64 = 10 * STEPS;

/// One training run of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Its name in the log.
    pub scheme: String,
    /// The kind of its network.
    pub kind: Kind,
    /// The number of digits that it learns.
    pub size: usize,
    /// Its seed.
    pub seed: u64,
    /// Its number of steps.
    pub steps: u64,
}

impl Planned {
    /// All runs, the first of each kind and size with the seed `seed`.
    pub fn all(seed: u64) -> Vec<Self> {
        let short = SIZES.map(|size| (size, SEEDS, STEPS, ""));
        let long = LONG_SIZES.map(|size| (size, 1, LONG, "-long"));
        let mut all = Vec::new();
        for (size, seeds, steps, end) in short.into_iter().chain(long) {
            for (name, kind) in Kind::ALL {
                for n in 0..seeds {
                    all.push(Self {
                        scheme: format!("{name}-{size}{end}"),
                        kind,
                        size,
                        seed: seed + n,
                        steps,
                    });
                }
            }
        }
        all
    }

    /// The run before its first step.
    ///
    /// # Errors
    /// None for these digits.
    pub fn begin(&self, mnist: &Mnist) -> Result<FewRun> {
        let digits = learned(mnist, self.size, self.seed)?;
        Ok(FewRun::new(self.kind, digits, self.seed)?.lasting(self.steps))
    }

    /// Its lines in the log.
    fn lines(&self, mnist: &Mnist, test: &Digits) -> Result<String> {
        let mut run = self.begin(mnist)?;
        let losses = (0..self.steps).map(|_| run.step());
        let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
        let first: Vec<String> = losses.iter().take(FIRST).map(ToString::to_string).collect();
        let right = run.right(test)? as f64 / test.len() as f64;
        let (scheme, seed) = (&self.scheme, self.seed);
        Ok(format!(
            "first\t{scheme}\t{seed}\t{}\nright\t{scheme}\t{seed}\t{right:.4}\n",
            first.join("\t")
        ))
    }
}

/// Trains all networks, and writes the log to `out`.
///
/// # Errors
/// When data are missing, a run fails, or the log cannot be written.
pub fn scale_runs(data: &Path, seed: u64, out: &Path) -> Result<()> {
    let mnist = Mnist::read(data)?;
    let test = tested(&mnist)?;
    let mut log = String::new();
    for (name, value) in [
        (
            "command",
            format!("cargo xtask train scale-runs --data ../shared/data/mnist --seed {seed}"),
        ),
        ("seeds", SEEDS.to_string()),
        ("steps", STEPS.to_string()),
        ("long steps", LONG.to_string()),
        ("test digits", TEST.to_string()),
    ] {
        // Writing to a String cannot fail.
        let _ = writeln!(log, "setting\t{name}\t{value}");
    }
    for run in Planned::all(seed) {
        let lines = run.lines(&mnist, &test)?;
        eprint!("{lines}");
        log.push_str(&lines);
    }
    let path = out.join(FILE);
    replace(&path, log.as_bytes())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
