//! `bias-runs`: what convolutions assume and a Vision Transformer has to learn, in figures. Two small
//! networks learn from 100, 300 and 1,000 digits ([`explain::few_digits`]), and the shipped models of
//! digits read test digits that are moved, shuffled or partly covered. The site ships the log.
//!
//! ```text
//! setting   NAME            VALUE             what was run, and how
//! first     KIND-SIZE       SEED  loss …      of the first steps, each to its last bit
//! right     KIND-SIZE       SEED  share       of the test digits, after the last step
//! moved     MODEL           1     share …     right of digits moved by 0, 1, … pixels, each in four directions
//! shuffled  MODEL           1     share       right of digits whose patches are shuffled
//! covered   MODEL           1     share …     right of digits with 0, 8, … random patches covered with paper
//! ```
//! The fields of a line are separated by tabs. KIND is `cnn` or `vit`. The training runs compute with the
//! kernels that give the same bits on every machine.

use super::data::{self, Mnist};
use crate::frame::{read, replace};
use crate::{Result, TrainError};
use engine::format::json;
use engine::model::cnn::{self, Cnn};
use engine::model::vit::{self, Vit};
use engine::ndarray::{Array3, ArrayView3, Axis};
use engine::nn::softmax::top_indices;
use engine::open::shipped::Shipped;
use engine::rng::Rng;
use explain::few_digits::{Digits, FewRun, Kind, SIZES, STEPS};
use explain::jigsaw::rearranged;
use explain::shift::moved;
use std::fmt::Write;
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "bias-runs.tsv";
/// Runs of each scheme, with seeds one after the other.
pub const SEEDS: u64 = 5;
/// Steps whose losses are in the log to the last bit.
pub const FIRST: usize = 3;
/// Test digits of MNIST that runs are tested with: the first ones.
pub const TEST: usize = 1000;
/// Test digits of MNIST that are moved, shuffled and covered: the first ones.
pub const CHANGED: usize = 500;
/// The farthest that digits are moved, in pixels.
pub const FARTHEST: usize = 6;
/// Numbers of patches that are covered: every eighth, up to this many of the 49.
pub const COVERED: usize = 40;
/// From one number of covered patches to the next.
pub const EVERY: usize = 8;
/// The models that read changed digits.
pub const MODELS: [&str; 3] = ["digit-cnn", "digit-vit", "digit-vit-nopos"];

/// The side of a patch, and the number of patches.
const PATCH: usize = 4;
const PATCHES: usize = 49;

/// A shipped model of digits.
#[allow(
    clippy::large_enum_variant,
    reason = "three are read, one after the other; the parameters lie elsewhere"
)]
pub enum Reader {
    /// With convolutions.
    Cnn(Cnn),
    /// A Vision Transformer.
    Vit(Vit),
}

impl Reader {
    /// The model of this name, from the folder of shipped models.
    ///
    /// # Errors
    /// When its file is missing or damaged.
    pub fn open(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(format!("{name}.safetensors"));
        let wrong = |error| TrainError::content(&path, "a model", error);
        let file = Shipped::parse(name, read(&path)?.into(), json::read).map_err(wrong)?;
        let model = match name {
            "digit-cnn" => file
                .model(|number, source| Cnn::load(cnn::Config::from_keys(number)?, source))
                .map(Self::Cnn),
            _ => file
                .model(|number, source| Vit::load(vit::Config::from_keys(number)?, source))
                .map(Self::Vit),
        };
        model.map_err(wrong)
    }

    /// The digit that the model reads.
    ///
    /// # Errors
    /// When the picture has another size.
    pub fn reads(&self, picture: ArrayView3<'_, f32>) -> Result<usize> {
        // picture [1, 28, 28] -> scalar
        let logits = match self {
            Self::Cnn(cnn) => cnn
                .forward_batch(picture.insert_axis(Axis(0)))?
                .index_axis_move(Axis(0), 0),
            Self::Vit(vit) => vit.forward(picture, None)?,
        };
        let best = top_indices(logits.view(), 1);
        Ok(best.first().copied().unwrap_or_default())
    }

    /// The share of the first test digits that the model reads right, each through `change`, which gets
    /// the digit's number.
    ///
    /// # Errors
    /// As [`Self::reads`], and those of `change`.
    pub fn share(
        &self,
        digits: &data::Digits,
        change: impl Fn(usize, ArrayView3<'_, f32>) -> Result<Array3<f32>>,
    ) -> Result<f64> {
        let mut right = 0;
        for n in 0..CHANGED {
            let picture = digits.picture(n).insert_axis(Axis(0));
            let changed = change(n, picture)?;
            right += usize::from(self.reads(changed.view())? == digits.labels[n]);
        }
        Ok(right as f64 / CHANGED as f64)
    }
}

/// The share of digits moved by so many pixels that a model reads right, over the four directions.
///
/// # Errors
/// As [`Reader::reads`].
pub fn moved_by(model: &Reader, digits: &data::Digits, by: usize) -> Result<f64> {
    let by = by as isize;
    if by == 0 {
        return model.share(digits, |_, picture| Ok(picture.to_owned()));
    }
    let mut total = 0.0;
    for direction in [[by, 0], [-by, 0], [0, by], [0, -by]] {
        total += model.share(digits, |_, picture| Ok(moved(picture, direction)))?;
    }
    Ok(total / 4.0)
}

/// The share of digits with shuffled patches, each in an order of its own.
///
/// # Errors
/// As [`Reader::reads`].
pub fn shuffled(model: &Reader, digits: &data::Digits) -> Result<f64> {
    model.share(digits, |n, picture| {
        let order = Rng::named(7, &format!("shuffle.{n}")).permutation(PATCHES);
        Ok(rearranged(picture, PATCH, &order)?)
    })
}

/// The share of digits of which so many patches, drawn at random, are covered with paper.
///
/// # Errors
/// As [`Reader::reads`].
pub fn covered(model: &Reader, digits: &data::Digits, patches: usize) -> Result<f64> {
    model.share(digits, |n, picture| {
        let order = Rng::named(7, &format!("cover.{n}")).permutation(PATCHES);
        Ok(explain::jigsaw::covered(picture, PATCH, &order[..patches])?)
    })
}

/// The digits that a run learns: another set for each seed.
///
/// # Errors
/// None for these digits.
pub fn learned(mnist: &Mnist, size: usize, seed: u64) -> Result<Digits> {
    let order = Rng::named(seed, "subset").permutation(mnist.train.len());
    some(&mnist.train, order.into_iter().take(size))
}

/// The digits that it is tested with.
///
/// # Errors
/// None for these digits.
pub fn tested(mnist: &Mnist) -> Result<Digits> {
    some(&mnist.test, 0..TEST)
}

/// Some digits of MNIST.
fn some(digits: &data::Digits, numbers: impl Iterator<Item = usize> + Clone) -> Result<Digits> {
    let picture = |n| digits.picture(n).insert_axis(Axis(0)).to_owned();
    let pictures: Vec<Array3<f32>> = numbers.clone().map(picture).collect();
    Ok(Digits::of(
        &pictures,
        numbers.map(|n| digits.labels[n]).collect(),
    )?)
}

/// Trains all networks, the first of each with the seed `seed`, measures the shipped models, and writes
/// the log to `out`, which holds them.
///
/// # Errors
/// When data or models are missing, a run fails, or the log cannot be written.
pub fn bias_runs(data: &Path, seed: u64, out: &Path) -> Result<()> {
    let mnist = Mnist::read(data)?;
    let mut log = settings(seed);
    for lines in in_threads(MODELS.len(), |n| of_model(&mnist, out, MODELS[n]))? {
        eprint!("{lines}");
        log.push_str(&lines);
    }
    let test = tested(&mnist)?;
    for size in SIZES {
        for (name, kind) in Kind::ALL {
            let scheme = format!("{name}-{size}");
            let all = in_threads(SEEDS as usize, |n| {
                let own = seed + n as u64;
                let run = FewRun::new(kind, learned(&mnist, size, own)?, own)?;
                of_run(run, &test, &scheme, own)
            })?;
            for lines in all {
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

/// The results of `work` for 0, 1, …, each on a thread of its own.
pub(super) fn in_threads<T: Send>(
    count: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let work = &work;
        let all: Vec<_> = (0..count).map(|n| scope.spawn(move || work(n))).collect();
        let joined = all.into_iter().map(|one| {
            one.join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect()
    })
}

/// The lines on all runs together.
fn settings(seed: u64) -> String {
    let mut all = String::new();
    for (name, value) in [
        (
            "command",
            format!("cargo xtask train bias-runs --data ../shared/data/mnist --seed {seed}"),
        ),
        ("seeds", SEEDS.to_string()),
        ("steps", STEPS.to_string()),
        ("test digits", TEST.to_string()),
        ("changed test digits", CHANGED.to_string()),
    ] {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(all, "setting\t{name}\t{value}");
    }
    all
}

/// The numbers of a line.
pub(super) fn line(log: &mut String, (kind, scheme): (&str, &str), seed: u64, numbers: &[String]) {
    let _ = writeln!(log, "{kind}\t{scheme}\t{seed}\t{}", numbers.join("\t"));
}

fn share(share: f64) -> String {
    format!("{share:.4}")
}

/// The lines on a shipped model.
fn of_model(mnist: &Mnist, folder: &Path, name: &str) -> Result<String> {
    let (model, digits) = (Reader::open(folder, name)?, &mnist.test);
    let mut log = String::new();
    let shares = (0..=FARTHEST).map(|by| Ok(share(moved_by(&model, digits, by)?)));
    let shares = shares.collect::<Result<Vec<_>>>()?;
    line(&mut log, ("moved", name), 1, &shares);
    line(
        &mut log,
        ("shuffled", name),
        1,
        &[share(shuffled(&model, digits)?)],
    );
    let counts = (0..=COVERED).step_by(EVERY);
    let shares = counts.map(|count| Ok(share(covered(&model, digits, count)?)));
    let shares = shares.collect::<Result<Vec<_>>>()?;
    line(&mut log, ("covered", name), 1, &shares);
    Ok(log)
}

/// The lines of one training run.
fn of_run(mut run: FewRun, test: &Digits, scheme: &str, seed: u64) -> Result<String> {
    let losses = (0..STEPS).map(|_| run.step());
    let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
    let mut log = String::new();
    let first: Vec<String> = losses.iter().take(FIRST).map(ToString::to_string).collect();
    line(&mut log, ("first", scheme), seed, &first);
    let right = run.right(test)? as f64 / test.len() as f64;
    line(&mut log, ("right", scheme), seed, &[share(right)]);
    Ok(log)
}
