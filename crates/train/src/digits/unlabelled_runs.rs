//! `unlabelled-runs`: what is learned from digits without labels, in figures. Small networks teach
//! themselves ([`explain::dino`]), and a linear probe reads classes off the features of `digit-gpt`
//! ([`explain::linear_probe`]). The site ships the log.
//!
//! ```text
//! setting   NAME    VALUE                  what was run, and how
//! first     KIND    SEED  loss …           of the first steps, each to its last bit
//! right     KIND    SEED  share share      of the test digits by their neighbours: in place, and moved
//! entropy   KIND    SEED  nats nats        of the last step: entropy of the mean target, mean entropy
//! probe     MODEL   SEED  share …          of the test digits by the probe, after the embedding and each block
//! ```
//! The fields of a line are separated by tabs. KIND is one of [`explain::dino::Without::ALL`], `random`
//! for a network before its first step, or `pixels`; MODEL is `digit-gpt`, `random` (its parameters drawn
//! anew) or `pixels`. Everything is computed with the kernels that give the same bits on every machine.

use super::data::{self, Mnist};
use crate::frame::{read, replace};
use crate::{Result, TrainError};
use engine::format::json;
use engine::grad::{Draw, initialise};
use engine::kernel;
use engine::model::gpt2::Config;
use engine::model::image_gpt::ImageGpt;
use engine::ndarray::{Array2, ArrayView2, Axis};
use engine::open::shipped::Shipped;
use engine::shape::matrix;
use explain::dino::{self, DinoRun, MOVED, STEPS, Without, moved_digits, right_by_pixels};
use explain::few_digits::Digits;
use explain::half_digit::{PIXELS, brightness, tokens};
use explain::linear_probe::{DEVIATION, Probe, features};
use explain::logistic::standardised;
use std::fmt::Write;
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "unlabelled-runs.tsv";
/// Runs of each kind, with seeds one after the other.
pub const SEEDS: u64 = 3;
/// Steps whose losses are in the log to the last bit.
pub const FIRST: usize = 3;
/// Training digits of MNIST that a run sees: the first ones.
pub const SEEN: usize = 2000;
/// Of these, those whose labels the vote knows.
pub const KNOWN: usize = 1000;
/// Training digits whose labels the probe learns from: the first ones.
pub const PROBED: usize = 500;
/// Test digits of MNIST: the first ones.
pub const TEST: usize = 1000;

/// Some digits of MNIST: the first ones.
///
/// # Errors
/// None for these digits.
pub fn first(digits: &data::Digits, count: usize) -> Result<Digits> {
    let picture = |n| digits.picture(n).insert_axis(Axis(0)).to_owned();
    let pictures: Vec<_> = (0..count).map(picture).collect();
    let labels = (0..count).map(|n| digits.labels[n]).collect();
    Ok(Digits::of(&pictures, labels)?)
}

/// `digit-gpt`, from the folder of shipped models.
///
/// # Errors
/// When its file is missing or damaged.
pub fn digit_gpt(folder: &Path) -> Result<ImageGpt> {
    let path = folder.join("digit-gpt.safetensors");
    let wrong = |error| TrainError::content(&path, "a model", error);
    let file = Shipped::parse("digit-gpt", read(&path)?.into(), json::read).map_err(wrong)?;
    let model = file.model(|number, source| ImageGpt::load(Config::from_keys(number)?, source));
    model.map_err(wrong)
}

/// Trains all networks, the first of each kind with the seed `seed`, probes `digit-gpt`, and writes the
/// log to `out`, which holds that model.
///
/// # Errors
/// When data or model are missing, a run fails, other kernels are in use already, or the log cannot be
/// written.
pub fn unlabelled_runs(data: &Path, seed: u64, out: &Path) -> Result<()> {
    if !kernel::use_same_bits() {
        return Err(TrainError::Kernels);
    }
    let mnist = Mnist::read(data)?;
    let (seen, test) = (first(&mnist.train, SEEN)?, first(&mnist.test, TEST)?);
    let known = first(&mnist.train, KNOWN)?;
    let mut log = settings(seed);
    let both = [test.clone(), moved_digits(&test)];
    let shares = |count: &dyn Fn(&Digits) -> Result<usize>| -> Result<Vec<String>> {
        let one = |test: &Digits| Ok(share(count(test)?, TEST));
        both.iter().map(one).collect()
    };
    let pixels = shares(&|test| Ok(right_by_pixels(&known, test)?))?;
    line(&mut log, ("right", "pixels"), 1, &pixels);
    for n in 0..SEEDS {
        let own = seed + n;
        for (kind, without) in Without::ALL {
            let mut run = DinoRun::new(seen.clone(), without, own)?;
            if without == Without::Nothing {
                let found = shares(&|test| Ok(run.right(&known, test)?))?;
                line(&mut log, ("right", "random"), own, &found);
            }
            let losses = (0..STEPS).map(|_| run.step());
            let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
            let firsts: Vec<String> = losses.iter().take(FIRST).map(ToString::to_string).collect();
            line(&mut log, ("first", kind), own, &firsts);
            let found = shares(&|test| Ok(run.right(&known, test)?))?;
            line(&mut log, ("right", kind), own, &found);
            let entropies = run.entropies().unwrap_or_default();
            let entropies = entropies.map(|nats| format!("{nats:.4}"));
            line(&mut log, ("entropy", kind), own, &entropies);
            eprintln!("{kind} {own}: {found:?} {entropies:?}");
        }
    }
    probes(&mut log, &digit_gpt(out)?, [&known, &test], seed)?;
    let path = out.join(FILE);
    replace(&path, log.as_bytes())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// The lines on probes: of the model, of the same with random parameters, and of the pixels.
fn probes(log: &mut String, model: &ImageGpt, digits: [&Digits; 2], seed: u64) -> Result<()> {
    let [known, test] = digits;
    let labels: Vec<usize> = known.labels[..PROBED]
        .iter()
        .chain(&test.labels)
        .copied()
        .collect();
    let pictures = known.pictures.outer_iter().take(PROBED);
    let pixels = pictures.chain(test.pictures.outer_iter()).map(tokens);
    let pixels = pixels.collect::<engine::Result<Vec<Vec<usize>>>>()?;
    let mut random = model.clone();
    initialise(&mut random, seed, Draw::Normal(DEVIATION))?;
    let models = [("digit-gpt", model), ("random", &random)];
    for (name, model) in models {
        let mut shares = Vec::new();
        for x in by_depth(model, &pixels)? {
            shares.push(probed(x.view(), &labels)?);
        }
        eprintln!("{name}: {shares:?}");
        line(log, ("probe", name), seed, &shares);
    }
    let flat: Vec<f32> = pixels
        .iter()
        .flatten()
        .map(|&token| brightness(token))
        .collect();
    let flat = matrix("probe", pixels.len(), PIXELS, flat)?;
    line(
        log,
        ("probe", "pixels"),
        seed,
        &[probed(flat.view(), &labels)?],
    );
    Ok(())
}

/// The features of all digits, a matrix for each depth.
fn by_depth(model: &ImageGpt, pixels: &[Vec<usize>]) -> Result<Vec<Array2<f32>>> {
    let half = pixels.len() / 2;
    let of = |some: &[Vec<usize>]| -> Result<Vec<Array2<f32>>> {
        let all = some.iter().map(|pixels| features(model, pixels));
        Ok(all.collect::<engine::Result<Vec<_>>>()?)
    };
    // On two threads: each digit has the same bits on any.
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| of(&pixels[half..]));
        let first = of(&pixels[..half]);
        let joined = second.join();
        (
            first,
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        )
    });
    let all = [first?, second?].concat();
    let depths = all.first().map_or(0, Array2::nrows);
    let depth = |depth: usize| {
        let rows: Vec<ArrayView2<'_, f32>> = (all.iter())
            .map(|one| one.row(depth).insert_axis(Axis(0)))
            .collect();
        engine::ndarray::concatenate(Axis(0), &rows)
    };
    let wrong = |error: engine::ndarray::ShapeError| {
        engine::EngineError::shape("probe", "rows of one length", error.to_string())
    };
    Ok((0..depths)
        .map(|n| depth(n).map_err(wrong))
        .collect::<engine::Result<_>>()?)
}

/// The share of the test digits that a probe reads, which learns from the first rows.
fn probed(x: ArrayView2<'_, f32>, labels: &[usize]) -> Result<String> {
    let x = standardised(x, PROBED);
    let (learned, test) = x.view().split_at(Axis(0), PROBED);
    let probe = Probe::trained(learned, &labels[..PROBED])?;
    Ok(share(probe.right(test, &labels[PROBED..])?, TEST))
}

/// The lines on all runs together.
fn settings(seed: u64) -> String {
    let mut all = String::new();
    for (name, value) in [
        (
            "command",
            format!("cargo xtask train unlabelled-runs --data ../shared/data/mnist --seed {seed}"),
        ),
        ("seeds", SEEDS.to_string()),
        ("steps", STEPS.to_string()),
        ("digits", SEEN.to_string()),
        ("known digits", KNOWN.to_string()),
        ("test digits", TEST.to_string()),
        ("probed digits", PROBED.to_string()),
        ("moved by", MOVED.to_string()),
        ("outputs", dino::OUTPUTS.to_string()),
    ] {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(all, "setting\t{name}\t{value}");
    }
    all
}

/// The numbers of a line.
fn line(log: &mut String, (kind, scheme): (&str, &str), seed: u64, numbers: &[String]) {
    let _ = writeln!(log, "{kind}\t{scheme}\t{seed}\t{}", numbers.join("\t"));
}

fn share(right: usize, of: usize) -> String {
    format!("{:.4}", right as f64 / of as f64)
}
