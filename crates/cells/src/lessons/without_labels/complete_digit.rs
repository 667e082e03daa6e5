//! The first rows of the reader's digit, completed twelve times by digit-gpt, and what digit-cnn reads in
//! the completions.

use engine::model::cnn::Cnn;
use engine::model::image_gpt::ImageGpt;
use engine::picture::resize;
use explain::half_digit::{ACROSS, GREYS, PIXELS, brightness};
use ndarray::{Array2, Array3};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::drawn;
use crate::parts::trained::{self, CNN, DIGIT_GPT};
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// Completions.
pub const COUNT: usize = 12;

/// The digits.
const CLASSES: usize = 10;

/// The cell `complete-digit`.
pub const SPEC: CellSpec = CellSpec {
    name: "complete-digit",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| {
        [DIGIT_GPT, CNN]
            .into_iter()
            .filter_map(trained::file)
            .collect()
    },
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let most = ACROSS as f64 - 1.0;
    vec![
        drawn::input(),
        InputSpec::number("rows", "Rows given", (1.0, most, 1.0), ACROSS as f64 / 2.0),
        InputSpec::number("tau", "Temperature $\u{3c4}$", (0.0, 2.0, 0.1), 1.0),
        InputSpec::seed(1),
    ]
}

fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let file = |name| trained::file(name).unwrap_or_default();
    let gpt = cache.opened::<ImageGpt>(file(DIGIT_GPT))?;
    let cnn = cache.opened::<Cnn>(file(CNN))?;
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &gpt, &cnn)))
}

fn compute(inputs: &Inputs, gpt: &ImageGpt, cnn: &Cnn) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    let (rows, tau) = (inputs.count("rows")?, inputs.number("tau")? as f32);
    let seed = inputs.seed()?;
    let digit = image.view();
    let pixels = shown!(record, explain::half_digit::tokens, digit)?;
    let given = &pixels[..rows * ACROSS];
    let completed = shown!(
        record,
        explain::half_digit::complete,
        gpt,
        given,
        COUNT,
        tau,
        seed
    )?;
    // What is hidden is drawn as paper.
    let seen = Array2::from_shape_fn((ACROSS, ACROSS), |(row, col)| match row < rows {
        true => brightness(pixels[row * ACROSS + col]),
        false => 0.0,
    });
    record.tensor("given", &seen);
    let pictures = Array3::from_shape_fn((COUNT, ACROSS, ACROSS), |(n, row, col)| {
        brightness(completed[[n, row * ACROSS + col]])
    });
    record.tensor("completed", &pictures);
    let mut counts = vec![0.0; CLASSES];
    let mut read = Vec::with_capacity(COUNT);
    for small in pictures.outer_iter() {
        let large = resize(small.insert_axis(ndarray::Axis(0)), 2 * ACROSS, 2 * ACROSS)?;
        let logits = cnn.forward_batch(large.view().insert_axis(ndarray::Axis(0)))?;
        let best = drawn::best(&logits.row(0).to_owned());
        counts[best] += 1.0;
        read.push(best as f64);
    }
    record.number(
        "kinds",
        counts.iter().filter(|&&count| count > 0.0).count() as f64,
    );
    record.numbers("read", read);
    record.numbers("counts", counts);
    let own = &pixels[..];
    let bits = shown!(record, explain::half_digit::bits, gpt, own)?;
    let hidden = &bits[rows * ACROSS..];
    let mean = hidden.iter().sum::<f32>() / hidden.len() as f32;
    record.number("bits", f64::from(mean));
    record.number("bits.even", f64::from(GREYS.ilog2()));
    record.number("rows", rows as f64);
    record.number("across", ACROSS as f64);
    record.number("pixels.hidden", (PIXELS - rows * ACROSS) as f64);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::{Drawing, ready};
    use crate::input::InputValue;
    use crate::parts::test_models::{computed, number};

    fn at(label: usize, given: &[(&str, f64)]) -> Computation {
        let mut inputs =
            Inputs::defaults(&inputs()).with(drawn::NAME, InputValue::Drawing(ready(label)));
        for &(name, value) in given {
            inputs = inputs.with(name, number(value));
        }
        computed(&SPEC, &inputs).unwrap()
    }

    /// What the lesson says of the 4: with half of it, nine of twelve completions are read as a 9; with ten
    /// rows all as a 4, and the hidden rows cost far less than two bits a pixel.
    #[test]
    fn ten_rows_settle_the_four() {
        let half = at(4, &[]);
        assert_eq!(half.at("counts", &[9]), Some(9.0));
        assert!(half.at("bits", &[]).unwrap() < 0.6);
        assert_eq!(at(4, &[("rows", 10.0)]).at("counts", &[4]), Some(12.0));
    }

    /// At temperature 0 all completions are one; an empty pad is completed too.
    #[test]
    fn a_cold_model_has_one_completion() {
        let c = at(4, &[("tau", 0.0)]);
        assert_eq!(c.at("kinds", &[]), Some(1.0));
        let blank =
            Inputs::defaults(&inputs()).with(drawn::NAME, InputValue::Drawing(Drawing::default()));
        let c = computed(&SPEC, &blank).unwrap();
        assert_eq!(
            c.tensor("completed").unwrap().shape(),
            [COUNT, ACROSS, ACROSS]
        );
        assert_eq!(c.at("bits.even", &[]), Some(2.0));
    }
}
