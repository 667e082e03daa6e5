//! A linear probe that reads digits off the features of digit-gpt, at every depth: beside random
//! parameters and raw pixels, here and in our logged runs.

use std::sync::Arc;

use engine::grad::{Draw, initialise};
use engine::model::decoder::Decoder;
use engine::model::image_gpt::ImageGpt;
use explain::drawn_digits::digit;
use explain::half_digit::{PIXELS, brightness};
use explain::linear_probe::{DEVIATION, Probe};
use explain::logistic::standardised;
use ndarray::{Array2, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::trained::{self, DIGIT_GPT};
use crate::parts::unlabelled_runs::{self, LOG};
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Digits to test with: the first ones.
const TEST: usize = 100;

/// Most digits to learn from, and the numbers that the reader chooses from.
const LEARN: usize = 100;
const NAMES: [&str; 3] = ["20", "50", "100"];

/// The cell `linear-probe`.
pub const SPEC: CellSpec = CellSpec {
    name: "linear-probe",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| {
        let mut files: Vec<_> = trained::file(DIGIT_GPT).into_iter().collect();
        files.push(LOG);
        files
    },
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::choice("labels", "Labelled digits", &["100", "50", "20"]),
        InputSpec::seed(1),
    ]
}

/// The features of digits, which are computed one after the other.
struct Probing {
    inputs: Inputs,
    /// digit-gpt, and the same with random parameters.
    models: [Arc<ImageGpt>; 2],
    pixels: Vec<Vec<usize>>,
    /// Of each digit and model, `[depths, C]`.
    features: Vec<[Array2<f32>; 2]>,
    calls: Vec<Call>,
    log: Arc<String>,
}

/// Begins to compute.
///
/// # Errors
/// None for the files of the site.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let model = cache.opened::<ImageGpt>(trained::file(DIGIT_GPT).unwrap_or_default())?;
    let mut random = (*model).clone();
    initialise(&mut random, inputs.seed()?, Draw::Normal(DEVIATION))?;
    let one = |n: usize| explain::half_digit::tokens(digit(n)?.image.view());
    let pixels = (0..TEST + LEARN).map(one).collect::<engine::Result<_>>()?;
    Ok(Box::new(Probing {
        inputs: inputs.clone(),
        models: [model, Arc::new(random)],
        pixels,
        features: Vec::new(),
        calls: Vec::new(),
        log: cache.opened::<String>(LOG)?,
    }))
}

impl Job for Probing {
    fn advance(&mut self) -> Result<Progress, CellError> {
        let done = self.features.len();
        let Some(pixels) = self.pixels.get(done) else {
            return Ok(Progress::Done(Box::new(self.show()?)));
        };
        let [model, random] = &self.models;
        let first = if done == 0 {
            let (mut record, model) = (Record::new(), &**model);
            let found = shown!(record, explain::linear_probe::features, model, pixels)?;
            self.calls = record.finish().calls;
            found
        } else {
            explain::linear_probe::features(model, pixels)?
        };
        let second = explain::linear_probe::features(random, pixels)?;
        self.features.push([first, second]);
        Ok(Progress::Working((done + 1) as f32 / (TEST + LEARN) as f32))
    }

    fn is_kept(&self) -> bool {
        true
    }

    /// To another number of labels: the features stay.
    fn go_on(&mut self, inputs: &Inputs, _: &ModelCache) -> Result<bool, CellError> {
        if inputs.seed()? != self.inputs.seed()? {
            return Ok(false);
        }
        self.inputs = inputs.clone();
        Ok(true)
    }
}

impl Probing {
    fn show(&self) -> Result<Computation, CellError> {
        let mut record = Record::new();
        record.calls(&self.calls);
        let chosen = self.inputs.choice("labels")?;
        let count = NAMES.iter().find(|&&name| name == chosen).copied();
        let count: usize = count.unwrap_or(NAMES[2]).parse().unwrap_or(LEARN);
        let [model, _] = &self.models;
        let depths = model.layers() + 1;
        for (n, name) in ["trained", "random"].into_iter().enumerate() {
            let mut shares = Vec::with_capacity(depths);
            for depth in 0..depths {
                let width = model.config().width;
                let x = Array2::from_shape_fn((TEST + count, width), |(row, col)| {
                    self.features[order(row, count)][n][[depth, col]]
                });
                shares.push(probed(&mut record, &x, count)?);
            }
            let last = shares.last().copied().unwrap_or_default();
            record.number(&format!("{name}.last"), last);
            record.numbers(name, shares);
        }
        let x = Array2::from_shape_fn((TEST + count, PIXELS), |(row, col)| {
            brightness(self.pixels[order(row, count)][col])
        });
        let share = probed(&mut record, &x, count)?;
        record.numbers("pixels", vec![share; depths]);
        record.numbers("depths", (0..depths).map(|depth| depth as f64).collect());
        record.number("labels.now", count as f64);
        record.number("test", TEST as f64);
        unlabelled_runs::probes(&mut record, &self.log)?;
        Ok(record.finish())
    }
}

/// The number of the digit in a row: first those to learn from, then those to test with.
fn order(row: usize, count: usize) -> usize {
    if row < count { TEST + row } else { row - count }
}

/// The share of the test digits that a probe reads, which learns from the first rows. The calls of the
/// first probe are noted; the others repeat them.
fn probed(record: &mut Record, x: &Array2<f32>, count: usize) -> Result<f64, CellError> {
    let x = standardised(x.view(), count);
    let (learned, test) = x.view().split_at(Axis(0), count);
    let labels = |from: usize, to: usize| (from..to).map(|n| n % 10).collect::<Vec<usize>>();
    let (known, wanted) = (labels(TEST, TEST + count), labels(0, TEST));
    let known = &known[..];
    let probe = shown!(
        record,
        explain::linear_probe::Probe::trained,
        learned,
        known
    )?;
    Ok(Probe::right(&probe, test, &wanted)? as f64 / TEST as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed};

    fn at(labels: &str) -> Computation {
        let given = Inputs::defaults(&inputs()).with("labels", choice(labels));
        computed(&SPEC, &given).unwrap()
    }

    fn last(c: &Computation, name: &str) -> f64 {
        c.at(name, &[4]).unwrap()
    }

    /// What the lesson says: learned features beat random parameters by far; pixels are better on drawn
    /// digits, and about as good on MNIST.
    #[test]
    fn learned_features_beat_random_parameters() {
        for labels in ["100", "20"] {
            let c = at(labels);
            assert!(last(&c, "trained") > last(&c, "random") + 0.25);
            assert!(last(&c, "pixels") > last(&c, "trained"));
            assert!(last(&c, "log.trained") > 0.8 && last(&c, "log.random") < 0.45);
            assert!((last(&c, "log.trained") - last(&c, "log.pixels")).abs() < 0.02);
            let log: Vec<f64> = (0..5).map(|n| c.at("log.trained", &[n]).unwrap()).collect();
            assert!(log.windows(2).all(|pair| pair[0] < pair[1]), "{log:?}");
        }
    }

    /// Fewer labels after more give what a new computation gives.
    #[test]
    fn features_are_kept() {
        let cache = crate::parts::test_models::cache();
        let of = |labels: &str| Inputs::defaults(&inputs()).with("labels", choice(labels));
        let mut job = start(&of("100"), &cache).unwrap();
        while !matches!(job.advance().unwrap(), Progress::Done(_)) {}
        assert!(job.go_on(&of("20"), &cache).unwrap());
        let Progress::Done(found) = job.advance().unwrap() else {
            panic!("the features are there");
        };
        assert_eq!(
            found.tensor("trained").unwrap(),
            at("20").tensor("trained").unwrap()
        );
    }
}
