//! Ten thousand scores of random queries and keys, with and without the square root, and what
//! softmax makes of them.

use explain::stats::Histogram;
use ndarray::{Array2, ArrayView2, Axis, Slice, aview1, stack};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Pairs of a query and a key in each histogram.
pub(crate) const DRAWS: usize = 10_000;

/// Widest d_k.
const WIDEST: usize = 1024;

/// Bins of the histograms: odd, so that one has 0 in its middle.
const BINS: usize = 61;

/// Random numbers drawn in one slice: a few milliseconds of work.
const NUMBERS_PER_SLICE: usize = 40_000;

/// Queries over which the curves against d_k are averaged.
const QUERIES: usize = 32;

/// The cell `why-scale`.
pub const SPEC: CellSpec = CellSpec {
    name: "why-scale",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| start(inputs),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number(
            "d_k",
            "Width of queries and keys, $d_k$",
            (1.0, WIDEST as f64, 1.0),
            64.0,
        ),
        InputSpec::number("keys", "Keys in the row", (2.0, 16.0, 1.0), 8.0),
        InputSpec::number("reach", "Axis range \u{b1}", (4.0, 128.0, 1.0), 32.0),
        InputSpec::seed(7),
        InputSpec::entry("selected", "Selected entry", 2, None),
    ]
}

/// The draws, a few at a time.
struct Draws {
    record: Record,
    seed: u64,
    d_k: usize,
    keys: usize,
    reach: f64,
    scale: f32,
    raw: Vec<f32>,
    scaled: Vec<f32>,
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit.
fn start(inputs: &Inputs) -> Result<Box<dyn Job>, CellError> {
    let d_k = inputs.count("d_k")?;
    let mut record = Record::new();
    let scale = shown!(record, engine::nn::attention::scale, d_k);
    Ok(Box::new(Draws {
        record,
        seed: inputs.seed()?,
        d_k,
        keys: inputs.count("keys")?,
        reach: inputs.number("reach")?,
        scale,
        raw: Vec::with_capacity(DRAWS),
        scaled: Vec::with_capacity(DRAWS),
    }))
}

impl Job for Draws {
    fn advance(&mut self) -> Result<Progress, CellError> {
        if self.raw.len() < DRAWS {
            self.draw()?;
            return Ok(Progress::Working(self.raw.len() as f32 / DRAWS as f32));
        }
        self.spread()?;
        self.row()?;
        self.curves()?;
        let record = std::mem::take(&mut self.record);
        Ok(Progress::Done(Box::new(record.finish())))
    }
}

impl Draws {
    /// Draws the next pairs. Only the calls of the first portion are kept for the panel; the rest
    /// repeat them.
    fn draw(&mut self) -> Result<(), CellError> {
        let first = self.raw.len();
        let portion = (NUMBERS_PER_SLICE / (2 * self.d_k)).clamp(1, 1000);
        let rows = portion.min(DRAWS - first);
        let (seed, d_k, scale) = (self.seed, self.d_k, self.scale);
        let (raw, scaled) = if first == 0 {
            let record = &mut self.record;
            let q = shown!(
                record,
                engine::rng::normal_rows,
                seed,
                "q",
                first,
                rows,
                d_k
            );
            let k = shown!(
                record,
                engine::rng::normal_rows,
                seed,
                "k",
                first,
                rows,
                d_k
            );
            let (q, k) = (q.view(), k.view());
            let raw = shown!(record, explain::similarity::scaled_dot_rows, q, k, 1.0_f32)?;
            let scaled = shown!(record, explain::similarity::scaled_dot_rows, q, k, scale)?;
            (raw, scaled)
        } else {
            let q = engine::rng::normal_rows(seed, "q", first, rows, d_k);
            let k = engine::rng::normal_rows(seed, "k", first, rows, d_k);
            (
                explain::similarity::scaled_dot_rows(q.view(), k.view(), 1.0)?,
                explain::similarity::scaled_dot_rows(q.view(), k.view(), scale)?,
            )
        };
        self.raw.extend(raw);
        self.scaled.extend(scaled);
        Ok(())
    }

    /// Means, variances and histograms of all draws.
    fn spread(&mut self) -> Result<(), CellError> {
        let (low, high) = (-self.reach, self.reach);
        for (name, values) in [("raw", &self.raw), ("scaled", &self.scaled)] {
            let (record, x) = (&mut self.record, aview1(values));
            let mean = shown!(record, explain::stats::mean, x);
            let variance = shown!(record, explain::stats::variance, x);
            let Histogram {
                centres,
                counts,
                outside,
            } = shown!(record, explain::stats::histogram, x, low, high, BINS)?;
            record.number(&format!("mean.{name}"), mean);
            record.number(&format!("variance.{name}"), variance);
            record.number(&format!("outside.{name}"), outside);
            record.numbers(&format!("histogram.{name}"), counts);
            record.numbers("centres", centres);
        }
        let ratio = self.variance_over_width();
        self.record.number("ratio", ratio);
        self.record.number("draws", self.raw.len() as f64);
        self.record.number("scale", f64::from(self.scale));
        Ok(())
    }

    /// The measured variance of q·k as a share of d_k: the claim of the lesson is that it is 1.
    fn variance_over_width(&self) -> f64 {
        explain::stats::variance(aview1(&self.raw)) / self.d_k as f64
    }

    /// Softmax of the scores of the first query with the first keys.
    fn row(&mut self) -> Result<(), CellError> {
        let (seed, d_k, keys, scale) = (self.seed, self.d_k, self.keys, self.scale);
        let record = &mut self.record;
        let q = shown!(record, engine::rng::normal_rows, seed, "q", 0, 1, d_k);
        let k = shown!(record, engine::rng::normal_rows, seed, "k", 0, keys, d_k);
        let (q, k) = (q.view(), k.view());
        let raw = shown!(record, engine::nn::attention::scores, q, k, 1.0_f32)?;
        let scaled = shown!(record, engine::nn::attention::scores, q, k, scale)?;
        let scores = [raw.row(0), scaled.row(0)];
        let weights = scores.map(|s| shown!(record, engine::nn::softmax::softmax, s));
        for (name, weights) in ["raw", "scaled"].into_iter().zip(&weights) {
            let entropy = shown!(record, engine::nn::softmax::entropy, weights.view());
            let jacobian = shown!(record, engine::nn::softmax::jacobian, weights.view());
            let norm = shown!(record, explain::stats::frobenius, jacobian.view());
            record.tensor(&format!("jacobian.{name}"), &jacobian);
            record.number(&format!("entropy.{name}"), f64::from(entropy));
            record.number(&format!("norm.{name}"), norm);
        }
        let even = uniform_entropy(keys);
        record.number("entropy.uniform", f64::from(even));
        let both = |a: [ndarray::ArrayView1<'_, f32>; 2]| {
            stack(Axis(0), &a).map_err(|e| CellError::Mismatch(e.to_string()))
        };
        record.tensor("scores", &both(scores)?);
        record.tensor("weights", &both([weights[0].view(), weights[1].view()])?);
        record.words(
            "row",
            vec!["q\u{b7}k".into(), "q\u{b7}k / \u{221a}d_k".into()],
        );
        record.words("key", (0..keys).map(|j| format!("key {}", j + 1)).collect());
        Ok(())
    }

    /// Entropy and norm of the Jacobian against d_k, each the mean over many queries with the same
    /// keys. The functions are those of the row above, so their calls are not kept again.
    fn curves(&mut self) -> Result<(), CellError> {
        let q = engine::rng::normal_rows(self.seed, "q", 0, QUERIES, WIDEST);
        let k = engine::rng::normal_rows(self.seed, "k", 0, self.keys, WIDEST);
        let widths: Vec<usize> = (0..=10).map(|power| 1 << power).collect();
        let mut found = vec![Vec::new(); 4];
        for &width in &widths {
            let narrow = Slice::from(..width);
            let (q, k) = (q.slice_axis(Axis(1), narrow), k.slice_axis(Axis(1), narrow));
            let scales = [1.0, engine::nn::attention::scale(width)];
            for (i, scale) in scales.into_iter().enumerate() {
                let scores = engine::nn::attention::scores(q, k, scale)?;
                let (entropy, norm) =
                    averages(engine::nn::softmax::softmax_rows(scores.view()).view());
                found[2 * i].push(entropy);
                found[2 * i + 1].push(norm);
            }
        }
        let names = ["entropy.raw", "norm.raw", "entropy.scaled", "norm.scaled"];
        for (name, values) in names.into_iter().zip(found) {
            self.record.numbers(&format!("curve.{name}"), values);
        }
        let widths = widths.into_iter().map(|w| w as f64).collect();
        self.record.numbers("curve.d_k", widths);
        Ok(())
    }
}

/// Entropy of equal weights: the most that a row of that number of keys can have.
fn uniform_entropy(keys: usize) -> f32 {
    let even = engine::nn::softmax::softmax(ndarray::Array1::zeros(keys).view());
    engine::nn::softmax::entropy(even.view())
}

/// Mean entropy and mean norm of the Jacobian over the rows.
fn averages(weights: ArrayView2<'_, f32>) -> (f64, f64) {
    let rows = weights.nrows() as f64;
    let sums = weights
        .rows()
        .into_iter()
        .fold((0.0, 0.0), |(entropy, norm), row| {
            let jacobian: Array2<f32> = engine::nn::softmax::jacobian(row);
            (
                entropy + f64::from(engine::nn::softmax::entropy(row)),
                norm + explain::stats::frobenius(jacobian.view()),
            )
        });
    (sums.0 / rows, sums.1 / rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::computation::Computation;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::model_cache::ModelCache;

    fn at(d_k: usize, seed: u32) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("d_k", InputValue::Number(d_k as f64))
            .with("seed", InputValue::Number(f64::from(seed)));
        jobs::compute(&SPEC, &given, &ModelCache::default()).unwrap()
    }

    /// The curriculum's check: over 10,000 draws the variance of q·k is d_k within 5 %, and that of
    /// the scaled score 1.
    #[test]
    fn the_variance_of_a_score_is_its_width() {
        for d_k in [1, 2, 3, 8, 16, 64, 100, 128, 300, 512, 1024] {
            let c = at(d_k, 7);
            assert_eq!(c.at("draws", &[]), Some(10_000.0));
            let ratio = c.at("variance.raw", &[]).unwrap() / d_k as f64;
            assert!((ratio - 1.0).abs() < 0.05, "d_k = {d_k}: {ratio}");
            assert_eq!(c.at("ratio", &[]), Some(ratio));
            let scaled = c.at("variance.scaled", &[]).unwrap();
            assert!((scaled - 1.0).abs() < 0.05, "d_k = {d_k}: {scaled}");
        }
    }

    #[test]
    fn every_draw_is_in_the_histogram_or_outside() {
        let c = at(64, 3);
        for name in ["raw", "scaled"] {
            let counts = c.tensor(&format!("histogram.{name}")).unwrap().values.sum();
            assert_eq!(
                counts + c.at(&format!("outside.{name}"), &[]).unwrap(),
                10_000.0
            );
        }
    }

    /// The point of the lesson: wide unscaled scores make softmax nearly one-hot and its derivative
    /// nearly nothing.
    #[test]
    fn without_the_root_entropy_and_jacobian_vanish() {
        let c = at(64, 7);
        let last = |name: &str| c.at(&format!("curve.{name}"), &[10]).unwrap();
        let first = |name: &str| c.at(&format!("curve.{name}"), &[0]).unwrap();
        assert!(last("entropy.raw") < 0.2 * first("entropy.raw"));
        assert!(last("norm.raw") < 0.2 * last("norm.scaled"));
        assert!((last("entropy.scaled") - first("entropy.scaled")).abs() < 0.4);
    }

    #[test]
    fn widening_keeps_the_numbers_that_were_there() {
        let (narrow, wide) = (at(1, 7), at(2, 7));
        let curve = |c: &Computation, i: usize| c.at("curve.entropy.raw", &[i]);
        assert_eq!(curve(&narrow, 1), curve(&wide, 1));
    }

    #[test]
    fn progress_grows_to_the_end() {
        let given = Inputs::defaults(&inputs()).with("d_k", InputValue::Number(1024.0));
        let mut job = start(&given).unwrap();
        let mut shares = Vec::new();
        while let Progress::Working(share) = job.advance().unwrap() {
            shares.push(share);
        }
        assert!(shares.windows(2).all(|w| w[0] < w[1]));
        assert_eq!(shares.last(), Some(&1.0));
    }
}
