//! `shape-runs`: what more depth, more width and smaller patches do for a small Vision Transformer that
//! learns digits. One of the three is changed at a time ([`explain::vit_shapes`]); steps, digits and the
//! learning rate stay. The site ships the log.
//!
//! ```text
//! setting   NAME    VALUE             what was run, and how
//! first     L-C-P   SEED  loss …      of the first steps, each to its last bit
//! right     L-C-P   SEED  share       of the test digits, after the last step
//! ```
//! The fields of a line are separated by tabs; L-C-P are blocks, width and patch size. The runs of one
//! seed see the same digits in the same order. All compute with the kernels that give the same bits on
//! every machine.

use super::bias_runs::{FIRST, learned};
use super::data::Mnist;
use crate::Result;
use crate::frame::replace;
use engine::ndarray::Axis;
use explain::few_digits::{Digits, FewRun};
use explain::vit_shapes::{STEPS, Shape, all};
use std::fmt::Write;
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "shape-runs.tsv";
/// Runs of each shape, with seeds one after the other.
pub const SEEDS: u64 = 3;
/// The number of digits that a run learns: all of them.
pub const SIZE: usize = 9500;

/// A run before its first step.
///
/// # Errors
/// None for these digits and shapes.
pub fn begin(mnist: &Mnist, shape: Shape, seed: u64) -> Result<FewRun> {
    let digits = learned(mnist, SIZE, seed)?;
    Ok(FewRun::of(shape.network(seed)?, digits, seed)?.lasting(STEPS))
}

/// The digits that the runs are tested with: all test digits.
///
/// # Errors
/// None for these digits.
pub fn tested(mnist: &Mnist) -> Result<Digits> {
    let pictures = (0..mnist.test.len()).map(|n| mnist.test.picture(n).insert_axis(Axis(0)));
    let pictures: Vec<_> = pictures.map(|picture| picture.to_owned()).collect();
    Ok(Digits::of(&pictures, mnist.test.labels.clone())?)
}

/// The lines of one run.
fn lines(mnist: &Mnist, test: &Digits, shape: Shape, seed: u64) -> Result<String> {
    let mut run = begin(mnist, shape, seed)?;
    let losses = (0..STEPS).map(|_| run.step());
    let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
    let first: Vec<String> = losses.iter().take(FIRST).map(ToString::to_string).collect();
    let right = run.right(test)? as f64 / test.len() as f64;
    let name = shape.name();
    Ok(format!(
        "first\t{name}\t{seed}\t{}\nright\t{name}\t{seed}\t{right:.4}\n",
        first.join("\t")
    ))
}

/// Trains all networks, the first of each shape with the seed `seed`, and writes the log to `out`.
///
/// # Errors
/// When data are missing, a run fails, or the log cannot be written.
pub fn shape_runs(data: &Path, seed: u64, out: &Path) -> Result<()> {
    let mnist = Mnist::read(data)?;
    let test = tested(&mnist)?;
    let mut log = String::new();
    for (name, value) in [
        (
            "command",
            format!("cargo xtask train shape-runs --data ../shared/data/mnist --seed {seed}"),
        ),
        ("seeds", SEEDS.to_string()),
        ("steps", STEPS.to_string()),
        ("digits", SIZE.to_string()),
        ("test digits", test.len().to_string()),
    ] {
        // Writing to a String cannot fail.
        let _ = writeln!(log, "setting\t{name}\t{value}");
    }
    for shape in all() {
        for own in seed..seed + SEEDS {
            let lines = lines(&mnist, &test, shape, own)?;
            eprint!("{lines}");
            log.push_str(&lines);
        }
    }
    let path = out.join(FILE);
    replace(&path, log.as_bytes())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
