//! Two sentences in one padded batch: batch norm and layer norm of one of them while the other one
//! gets longer or shorter.

use ndarray::{Array1, Array2, ArrayView2, Axis, Slice, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// ε of both norms.
const EPS: f32 = 1e-5;

/// Words of your sentence.
const YOURS: [&str; 3] = ["the", "cat", "sat"];

/// Words that the other sentence may have.
const OTHER: [&str; 6] = ["one", "day", "a", "dog", "ran", "home"];

/// Words that it has at first; what moves is measured from there.
const AT_FIRST: usize = 3;

/// The vectors of these words: numbers for the eye, none of them learned.
const OTHER_VECTORS: [[f32; 4]; 6] = [
    [0.9, -0.3, 1.1, 0.2],
    [-0.6, 1.4, 0.1, -1.2],
    [0.2, 0.4, -0.9, 1.5],
    [2.1, -1.6, 0.7, 0.3],
    [-1.3, 0.8, 1.9, -0.4],
    [1.7, 2.2, -1.1, 0.6],
];

/// The cell `batch-norm-moves`.
pub const SPEC: CellSpec = CellSpec {
    name: "batch-norm-moves",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let yours = arr2(&[
        [0.5, -1.0, 0.8, 0.1],
        [1.2, 0.6, -0.4, 1.0],
        [-0.7, 0.3, 1.5, -0.9],
    ]);
    let most = OTHER.len() as f64;
    vec![
        InputSpec::number(
            "length",
            "Words in the other sentence",
            (1.0, most, 1.0),
            AT_FIRST as f64,
        ),
        InputSpec::toggle("padding", "Count the padding", true),
        InputSpec::matrix("yours", "Your vectors", (3, 3), (4, 4), yours),
    ]
}

/// The rows `from` to `to`, without the latter.
fn rows_of(from: usize, to: usize) -> Slice {
    Slice::from(from..to)
}

/// The batch: your words, those of the other sentence, and zeros until both are equally long. With
/// it, which rows are words.
fn batch(yours: ArrayView2<'_, f32>, length: usize) -> (Array2<f32>, Array1<bool>) {
    let longest = length.max(YOURS.len());
    let mut rows = Array2::zeros((2 * longest, yours.ncols()));
    rows.slice_axis_mut(Axis(0), rows_of(0, YOURS.len()))
        .assign(&yours);
    let other = arr2(&OTHER_VECTORS);
    rows.slice_axis_mut(Axis(0), rows_of(longest, longest + length))
        .assign(&other.slice_axis(Axis(0), rows_of(0, length)));
    let is_word = |row: usize| row % longest < if row < longest { YOURS.len() } else { length };
    (rows, (0..2 * longest).map(is_word).collect())
}

/// Both norms of your rows, in a batch with another sentence of this length.
fn norms(
    record: &mut Record,
    yours: ArrayView2<'_, f32>,
    length: usize,
    padding: bool,
) -> Result<[Array2<f32>; 2], CellError> {
    let (rows, words) = batch(yours, length);
    let counts = words.mapv(|is_word| padding || is_word);
    let batch_normed = shown!(
        record,
        explain::norm_steps::batch_norm,
        rows.view(),
        counts.view(),
        EPS
    )?;
    let (gamma, beta) = (Array1::ones(rows.ncols()), Array1::zeros(rows.ncols()));
    let layer_normed = shown!(
        record,
        engine::nn::norm::layer_norm,
        rows.view(),
        gamma.view(),
        beta.view(),
        EPS
    )?;
    let own = rows_of(0, YOURS.len());
    Ok([batch_normed, layer_normed].map(|all| all.slice_axis(Axis(0), own).to_owned()))
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let yours = inputs.matrix("yours")?;
    let (length, padding) = (inputs.count("length")?, inputs.toggle("padding")?);
    let mut record = Record::new();
    let [by_batch, by_layer] = norms(&mut record, yours.view(), length, padding)?;
    // Before the other sentence changed: its calls are no news.
    let first = norms(&mut Record::new(), yours.view(), AT_FIRST, padding)?;
    let moved = |now: &Array2<f32>, before: &Array2<f32>| {
        let all = now.iter().zip(before);
        f64::from(all.fold(0.0_f32, |most, (a, b)| most.max((a - b).abs())))
    };
    record.number("batch.moved", moved(&by_batch, &first[0]));
    record.number("layer.moved", moved(&by_layer, &first[1]));
    let equal = (by_layer.iter().zip(&first[1])).all(|(a, b)| a.to_bits() == b.to_bits());
    record.number("layer.equal", f64::from(u8::from(equal)));
    let (rows, words) = batch(yours.view(), length);
    let longest = rows.nrows() / 2;
    record.tensor("batch", &rows);
    record.tensor("batch.norm", &by_batch);
    record.tensor("layer.norm", &by_layer);
    record.number("first", AT_FIRST as f64);
    record.number("rows", rows.nrows() as f64);
    let padded = words.iter().filter(|&&is_word| !is_word).count();
    record.number("padded", padded as f64);
    let name = |row: usize| match (words[row], row < longest) {
        (false, _) => "padding".to_owned(),
        (true, true) => format!("your {}", YOURS[row]),
        (true, false) => format!("other {}", OTHER[row - longest]),
    };
    record.words("batch.rows", (0..rows.nrows()).map(name).collect());
    record.words("own.rows", YOURS.map(str::to_owned).to_vec());
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn with(length: usize, padding: bool) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("length", InputValue::Number(length as f64))
            .with("padding", InputValue::Toggle(padding));
        SPEC.compute(&given).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says: with batch norm another length moves your numbers, whether the padding
    /// counts or not; with layer norm they stay equal to the bit.
    #[test]
    fn only_batch_norm_moves_your_numbers() {
        for padding in [true, false] {
            let first = with(AT_FIRST, padding);
            assert_eq!(number(&first, "batch.moved"), 0.0);
            for length in 1..=OTHER.len() {
                let c = with(length, padding);
                assert_eq!(number(&c, "layer.moved"), 0.0);
                assert_eq!(number(&c, "layer.equal"), 1.0);
                assert_eq!(c.tensor("layer.norm"), first.tensor("layer.norm"));
                let moved = number(&c, "batch.moved");
                assert!(
                    length == AT_FIRST || moved > 0.1,
                    "{length} {padding}: {moved}"
                );
            }
        }
        // With six words, by more than a tenth of a standard deviation.
        assert!(number(&with(6, true), "batch.moved") > 0.2);
    }

    /// Padding is added until both sentences are equally long.
    #[test]
    fn both_sentences_are_padded_to_one_length() {
        for (length, rows, padded) in [(1, 6.0, 2.0), (3, 6.0, 0.0), (6, 12.0, 3.0)] {
            let c = with(length, true);
            assert_eq!((number(&c, "rows"), number(&c, "padded")), (rows, padded));
            assert_eq!(c.words("batch.rows").len() as f64, rows);
            let zeros = c.words("batch.rows").iter().filter(|w| *w == "padding");
            assert_eq!(zeros.count() as f64, padded);
        }
        let names = with(4, true);
        let names = names.words("batch.rows");
        assert_eq!(
            names[..5],
            ["your the", "your cat", "your sat", "padding", "other one"]
        );
    }

    /// Over the rows that count, each column of batch norm has mean 0.
    #[test]
    fn batch_norm_is_over_the_columns() {
        let yours = Inputs::defaults(&inputs()).matrix("yours").unwrap().clone();
        let (rows, words) = batch(yours.view(), 5);
        let normed = explain::norm_steps::batch_norm(rows.view(), words.view(), EPS).unwrap();
        for column in normed.columns() {
            let kept = column.iter().zip(&words).filter(|(_, word)| **word);
            let sum: f32 = kept.map(|(value, _)| value).sum();
            assert!(sum.abs() < 1e-4, "{sum}");
        }
    }
}
