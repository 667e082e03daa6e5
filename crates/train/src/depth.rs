//! The runs on depth and the log that the site ships: stacks with and without residual connections
//! on two spirals ([`explain::deep_stack`]), and stacks with norms before and after the sums, with
//! warm-up and without ([`explain::norm_stack`]).
//!
//! ```text
//! setting  NAME    VALUE                what was run, and how
//! first    SCHEME  SEED  loss …         of the first steps, each to its last bit
//! stack    SCHEME  SEED  loss …         means over a 40th of the steps each, in nats
//! right    SCHEME  SEED  count          points of the right class at the end
//! norm     SCHEME  SEED  loss …         means over a 40th of the steps each, in nats
//! ```
//! The fields of a line are separated by tabs. All runs compute with the kernels that give the same
//! bits on every machine.

use crate::Result;
use crate::frame::replace;
use explain::deep_stack::{self, Kind, StackRun};
use explain::norm_stack::{self, NormRun, Place};
use std::fmt::Write;
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "depth-runs.tsv";
/// Runs of each stack, with seeds one after the other.
pub const STACK_SEEDS: u64 = 5;
/// Runs of each place of the norms.
pub const NORM_SEEDS: u64 = 3;
/// Steps whose losses are in the log to the last bit.
pub const FIRST: usize = 3;
/// Means along a run.
pub const POINTS: usize = 40;

/// The stacks: name in the log, kind and depth.
pub const STACKS: [(&str, Kind, usize); 4] = [
    ("plain-6", Kind::Plain, deep_stack::SHALLOW),
    ("plain-20", Kind::Plain, deep_stack::DEEP),
    ("residual-6", Kind::Residual, deep_stack::SHALLOW),
    ("residual-20", Kind::Residual, deep_stack::DEEP),
];

/// The runs on norms: name in the log, place of the norms and steps of warm-up.
pub const NORMS: [(&str, Place, u64); 4] = [
    ("before-0", Place::Before, 0),
    ("before-warm", Place::Before, norm_stack::WARM_UP),
    ("after-0", Place::After, 0),
    ("after-warm", Place::After, norm_stack::WARM_UP),
];

/// Trains all stacks, the first of each with the seed `seed`, and writes the log to `out`.
///
/// # Errors
/// When a run fails, or the log cannot be written.
pub fn depth_runs(seed: u64, out: &Path) -> Result<()> {
    let mut log = settings(seed);
    for own in seed..seed + STACK_SEEDS {
        for (name, kind, depth) in STACKS {
            eprintln!("{name}, seed {own}");
            let mut run = StackRun::new(kind, depth, own)?;
            let losses = (0..deep_stack::STEPS).map(|_| run.step());
            let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
            lines(&mut log, ("stack", name), own, &losses);
            let _ = writeln!(log, "right\t{name}\t{own}\t{}", run.right()?);
        }
    }
    for own in seed..seed + NORM_SEEDS {
        for (name, place, warm_up) in NORMS {
            eprintln!("norms {name}, seed {own}");
            let rate = (norm_stack::RATE, warm_up);
            let mut run = NormRun::new(place, norm_stack::DEPTH, rate, own)?;
            let losses = (0..norm_stack::STEPS).map(|_| run.step());
            let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
            lines(&mut log, ("norm", name), own, &losses);
        }
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
            format!("cargo xtask train depth-runs --seed {seed}"),
        ),
        ("points", POINTS.to_string()),
        ("stack steps", deep_stack::STEPS.to_string()),
        ("stack width", deep_stack::WIDTH.to_string()),
        ("stack rate", deep_stack::RATE.to_string()),
        ("norm steps", norm_stack::STEPS.to_string()),
        ("norm depth", norm_stack::DEPTH.to_string()),
        ("norm rate", norm_stack::RATE.to_string()),
        ("norm warm-up", norm_stack::WARM_UP.to_string()),
    ] {
        let _ = writeln!(all, "setting\t{name}\t{value}");
    }
    all
}

/// The first losses of a run, each to its last bit, and the means of its parts.
fn lines(log: &mut String, (kind, name): (&str, &str), seed: u64, losses: &[f32]) {
    let first: Vec<String> = losses.iter().take(FIRST).map(f32::to_string).collect();
    let _ = writeln!(log, "first\t{name}\t{seed}\t{}", first.join("\t"));
    let part = losses.len() / POINTS;
    let mean = |part: &[f32]| {
        let sum: f64 = part.iter().copied().map(f64::from).sum();
        format!("{:.4}", sum / part.len() as f64)
    };
    let means: Vec<String> = losses.chunks(part.max(1)).map(mean).collect();
    let _ = writeln!(log, "{kind}\t{name}\t{seed}\t{}", means.join("\t"));
}
