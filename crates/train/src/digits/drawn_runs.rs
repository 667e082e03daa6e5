//! `drawn-runs`: the training runs of three cells, made as the reader's tab makes them, on digits that the
//! site draws. Their seeds are not those that a reader begins with, so a reader's runs are further draws
//! from the same distribution. The site ships the log.
//!
//! ```text
//! setting   NAME      VALUE            what was run, and how
//! first     SCHEME    SEED  loss …     of the first steps, each to its last bit
//! right     SCHEME    SEED  share      of the test digits, after the last step
//! ```
//! The fields of a line are separated by tabs. SCHEME is `few-KIND-SIZE` for a network of
//! [`explain::few_digits`] that learned SIZE digits, `distil-KIND` for a student of `digit-cnn`
//! ([`explain::distillation`]), or `dino-KIND` for a network that teaches itself ([`explain::dino`]), which
//! is asked about moved digits. Everything is computed with the kernels that give the same bits on every
//! machine.

use super::bias_runs::{Reader, in_threads, line};
use crate::frame::replace;
use crate::{Result, TrainError};
use engine::kernel;
use explain::dino::{self, DinoRun, Without, moved_digits};
use explain::distillation::{Distilled, LEARNED, Teaching, taught};
use explain::few_digits::{self, Digits, FewRun, Kind, SIZES};
use std::fmt::Write;
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "drawn-runs.tsv";
/// Runs of each scheme, with seeds one after the other.
pub const SEEDS: u64 = 5;
/// Steps whose losses are in the log to the last bit.
pub const FIRST: usize = 3;
/// The seed of the first runs of the shipped log.
pub const SEED: u64 = 11;

/// The networks on few digits, with their names in the log.
///
/// One with convolutions, and the three Vision Transformers.
pub fn networks() -> impl Iterator<Item = (&'static str, Kind)> {
    Kind::ALL[..1].iter().chain(&Kind::VITS).copied()
}

/// Makes all runs, the first of each scheme with the seed `seed`, and writes the log to `out`, which holds
/// `digit-cnn`.
///
/// # Errors
/// When the teacher is missing, a run fails, other kernels are in use already, or the log cannot be
/// written.
pub fn drawn_runs(seed: u64, out: &Path) -> Result<()> {
    if !kernel::use_same_bits() {
        return Err(TrainError::Kernels);
    }
    let mut log = settings(seed);
    let mut note = |lines: Vec<String>| {
        for lines in lines {
            eprint!("{lines}");
            log.push_str(&lines);
        }
    };
    let seeds = |work: &(dyn Fn(u64) -> Result<String> + Sync)| {
        in_threads(SEEDS as usize, |n| work(seed + n as u64))
    };
    let test = Digits::to_test()?;
    for size in SIZES {
        for (name, kind) in networks() {
            note(seeds(&|own| few(kind, size, &test, name, own))?);
        }
    }
    for (name, teaching) in Teaching::ALL {
        note(seeds(&|own| student(out, teaching, &test, name, own))?);
    }
    for (name, without) in Without::ALL {
        note(seeds(&|own| without_labels(without, name, own))?);
    }
    let path = out.join(FILE);
    replace(&path, log.as_bytes())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// The lines on all runs together.
fn settings(seed: u64) -> String {
    let mut all = String::new();
    for (name, value) in [
        (
            "command",
            format!("cargo xtask train drawn-runs --seed {seed}"),
        ),
        ("seeds", SEEDS.to_string()),
        ("first seed", seed.to_string()),
        ("steps", few_digits::STEPS.to_string()),
        ("steps without labels", dino::STEPS.to_string()),
        ("test digits", few_digits::TEST.to_string()),
    ] {
        // Writing to a String cannot fail.
        let _ = writeln!(all, "setting\t{name}\t{value}");
    }
    all
}

/// The lines of a run: its losses, and what it reads of the test digits afterwards.
fn lines(scheme: &str, seed: u64, losses: &[f32], right: usize, of: usize) -> String {
    let mut log = String::new();
    let first: Vec<String> = losses.iter().take(FIRST).map(ToString::to_string).collect();
    line(&mut log, ("first", scheme), seed, &first);
    let right = format!("{:.4}", right as f64 / of as f64);
    line(&mut log, ("right", scheme), seed, &[right]);
    log
}

/// A network that learns few digits.
fn few(kind: Kind, size: usize, test: &Digits, name: &str, seed: u64) -> Result<String> {
    let mut run = FewRun::new(kind, Digits::to_learn(size, seed)?, seed)?;
    let losses = (0..few_digits::STEPS).map(|_| run.step());
    let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
    let scheme = format!("few-{name}-{size}");
    Ok(lines(&scheme, seed, &losses, run.right(test)?, test.len()))
}

/// A student of the teacher in the folder of shipped models.
fn student(
    folder: &Path,
    teaching: Teaching,
    test: &Digits,
    name: &str,
    seed: u64,
) -> Result<String> {
    let Reader::Cnn(teacher) = Reader::open(folder, "digit-cnn")? else {
        let path = folder.join("digit-cnn.safetensors");
        return Err(TrainError::content(&path, "a model", "no CNN"));
    };
    let learned = Digits::to_learn(LEARNED, seed)?;
    let (logits, _) = taught(&teacher, &learned)?;
    let mut student = Distilled::new(learned, Some(&logits), teaching, seed)?;
    let losses = (0..few_digits::STEPS).map(|_| student.step());
    let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
    let (scheme, right) = (format!("distil-{name}"), student.run.right(test)?);
    Ok(lines(&scheme, seed, &losses, right, test.len()))
}

/// A network that teaches itself; its neighbours vote on moved test digits.
fn without_labels(without: Without, name: &str, seed: u64) -> Result<String> {
    let test = moved_digits(&Digits::drawn(0..dino::TEST)?);
    let known = Digits::drawn(dino::TEST..dino::TEST + dino::KNOWN)?;
    let seen = Digits::drawn(dino::TEST..dino::TEST + dino::SEEN)?;
    let mut run = DinoRun::new(seen, without, seed)?;
    let losses = (0..dino::STEPS).map(|_| run.step());
    let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
    let (scheme, right) = (format!("dino-{name}"), run.right(&known, &test)?);
    Ok(lines(&scheme, seed, &losses, right, test.len()))
}
