//! The runs of `position-race` and the log that the site ships.
//!
//! ```text
//! setting   NAME    VALUE                  what was run, and how
//! first     SCHEME  SEED  loss …           of the first steps, each to its last bit
//! training  SCHEME  SEED  loss …           means over a thirtieth of the steps each, in nats
//! position  SCHEME  SEED  loss …           on held-out windows: means over 8 positions each, in nats; - where a learned
//!                                          table has no row
//! ```
//! The fields of a line are separated by tabs.

use super::position_decoder::Positions;
use super::positions::{
    EVALUATED, FACTOR, INTERPOLATED, Run, SCHEMES, STEPS, TRAINED, Texts, expect_numbers,
};
use crate::Result;
use crate::frame::{Options, Subject, losses, replace, train};
use engine::trainable::count;
use std::fmt::Write;
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "position-race.tsv";
/// Runs of each scheme, with seeds one after the other.
const SEEDS: u64 = 3;
/// Steps whose losses are in the log to the last bit.
pub const FIRST: usize = 3;
/// Means along a training run.
const MEANS: usize = 30;
/// Positions of a mean.
const BUCKET: usize = 8;

/// Trains every scheme with three seeds, the first of which is that of the options, each in a folder
/// of its own in the work folder, and writes the log to `out`. With `resume`, runs that are done are
/// not repeated.
///
/// # Errors
/// When the data or a work folder cannot be read or written, or a run fails.
pub fn race(data: &Path, options: &Options, out: &Path) -> Result<()> {
    let texts = Texts::read(data)?;
    let mut log = settings(&texts, data, options);
    for seed in options.seed..options.seed + SEEDS {
        for scheme in SCHEMES {
            eprintln!("{}, seed {seed}", scheme.0);
            log.push_str(&one(&texts, scheme, seed, options)?);
        }
    }
    let path = out.join(FILE);
    replace(&path, log.as_bytes())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// The lines on all runs together.
fn settings(texts: &Texts, data: &Path, options: &Options) -> String {
    let [training, _, _] = texts.counts();
    let kernels = engine::kernel::steady().name();
    let mut command = format!(
        "cargo xtask train position-race --data {} --seed {}",
        data.display(),
        options.seed
    );
    if let Some(steps) = options.steps.filter(|&steps| steps != STEPS) {
        let _ = write!(command, " --steps {steps}");
    }
    let steps = options.steps.unwrap_or(STEPS);
    let mut all = String::new();
    for (name, value) in [
        ("command", command),
        ("kernels", kernels.to_owned()),
        ("steps", steps.to_string()),
        ("trained", TRAINED.to_string()),
        ("evaluated", EVALUATED.to_string()),
        ("factor", FACTOR.to_string()),
        ("bucket", BUCKET.to_string()),
        ("windows", texts.windows().to_string()),
        ("vocabulary", texts.vocabulary().to_string()),
        ("training tokens", training.to_string()),
    ] {
        let _ = writeln!(all, "setting\t{name}\t{value}");
    }
    all
}

/// The lines of one run, and of its rotary model with interpolated positions.
fn one(
    texts: &Texts,
    scheme: (&'static str, Positions),
    seed: u64,
    options: &Options,
) -> Result<String> {
    let (name, positions) = scheme;
    let work = options.work.join(format!("{name}-{seed}"));
    let own = Options {
        seed,
        resume: options.resume && work.join("checkpoint.safetensors").exists(),
        work: work.clone(),
        ..options.clone()
    };
    let run = Run::new(texts, scheme);
    let mut best = train(&run, &own)?.best;
    let mut model = run.load(&mut best)?;
    let steps = losses(&work)?;
    let mut log = String::new();
    if seed == options.seed {
        let _ = writeln!(log, "setting\tparameters of {name}\t{}", count(&mut model)?);
    }
    let first = steps.iter().take(FIRST).map(ToString::to_string);
    line(&mut log, ["first", name], seed, first);
    let means = (0..MEANS).map(|n| {
        let part = &steps[n * steps.len() / MEANS..(n + 1) * steps.len() / MEANS];
        mean(part.iter().copied().map(f64::from))
    });
    line(&mut log, ["training", name], seed, means.map(nats));
    let length = match positions {
        Positions::Table => TRAINED,
        _ => EVALUATED,
    };
    let mut measured = vec![(name, run.by_position(&model, length)?)];
    if let Positions::Rotary { .. } = positions {
        let stretched = model.interpolated(FACTOR as f32)?;
        measured.push((INTERPOLATED, run.by_position(&stretched, length)?));
    }
    for (name, by_position) in measured {
        expect_numbers(&work, &by_position)?;
        let known = by_position.chunks(BUCKET);
        let known = known.map(|part| nats(mean(part.iter().copied())));
        let rest = std::iter::repeat_n("-".to_owned(), (EVALUATED - length) / BUCKET);
        line(&mut log, ["position", name], seed, known.chain(rest));
    }
    Ok(log)
}

fn line(log: &mut String, head: [&str; 2], seed: u64, fields: impl Iterator<Item = String>) {
    let fields: Vec<String> = fields.collect();
    let _ = writeln!(log, "{}\t{seed}\t{}", head.join("\t"), fields.join("\t"));
}

fn nats(loss: f64) -> String {
    format!("{loss:.4}")
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}
