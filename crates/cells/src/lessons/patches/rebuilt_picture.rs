//! A picture rebuilt from the tokens of its patches: what the matrix E keeps of it.

use ndarray::{Array1, Array2, ArrayView1};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::lessons::patches::patch_cutter::scaled;
use crate::parts::measure::{largest, row_differences};
use crate::picture;
use crate::spec::{CellSpec, Run};

/// Side of the picture in pixels.
const SIZE: usize = 112;

/// Side of a patch.
pub const SIDE: usize = 4;

/// Numbers in a patch: three colours.
const INNER: usize = 3 * SIDE * SIDE;

/// Columns of E that are waves, the smoothest first.
const WAVES: &str = "waves";

/// Columns of E that are drawn at random, as before training.
const RANDOM: &str = "random";

/// The cell `rebuilt-picture`.
pub const SPEC: CellSpec = CellSpec {
    name: "rebuilt-picture",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let most = INNER as f64;
    vec![
        picture::input("picture", "Picture"),
        InputSpec::choice("columns", "Columns of $E$", &[WAVES, RANDOM]),
        InputSpec::number("width", "Token dimension $D$", (3.0, most, 3.0), 12.0),
        InputSpec::seed(7),
        InputSpec::number(
            "chosen",
            "Chosen patch, counted from 0",
            (0.0, 783.0, 1.0),
            406.0,
        ),
    ]
}

/// E transposed, a row for each number of a token.
fn embedding(record: &mut Record, inputs: &Inputs) -> Result<Array2<f32>, CellError> {
    let width = inputs.count("width")?;
    if inputs.choice("columns")? == WAVES {
        return Ok(shown!(
            record,
            explain::waves::patterns,
            width,
            3_usize,
            SIDE
        )?);
    }
    let seed = inputs.seed()?;
    let std = engine::math::sqrt(1.0 / INNER as f32);
    Ok(shown!(
        record,
        engine::rng::normal_matrix,
        seed,
        "rebuilt_picture",
        width,
        INNER,
        std
    ))
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = scaled(&mut record, inputs, SIZE)?;
    let e = embedding(&mut record, inputs)?;
    let patches = shown!(record, engine::nn::patch::cut, image.view(), SIDE)?;
    let bias: Option<ArrayView1<'_, f32>> = None;
    let tokens = shown!(
        record,
        engine::nn::patch::embed,
        patches.view(),
        e.view(),
        bias
    )?;
    let back = shown!(record, explain::pseudo_inverse::pseudo_inverse, e.view())?;
    // The way back is the same step with another matrix: E⁺ in place of E.
    let rebuilt = shown!(
        record,
        engine::nn::patch::embed,
        tokens.view(),
        back.view(),
        bias
    )?;
    let picture = shown!(
        record,
        engine::nn::patch::uncut,
        rebuilt.view(),
        3_usize,
        SIZE,
        SIZE,
        SIDE
    )?;
    let differences = row_differences(patches.view(), rebuilt.view());
    let squares: Array1<f32> = (&patches - &rebuilt).iter().map(|x| x * x).collect();
    let mean = shown!(record, explain::stats::mean, squares.view());
    let chosen = inputs.count("chosen")?.min(patches.nrows() - 1);
    record.number("inner", INNER as f64);
    record.number("width", e.nrows() as f64);
    record.number("chosen", chosen as f64);
    record.number("largest_difference", largest(&differences));
    record.number("rms_difference", mean.sqrt());
    record.tensor("patch", &patches.row(chosen));
    record.tensor("token", &tokens.row(chosen));
    record.tensor("rebuilt_patch", &rebuilt.row(chosen));
    record.tensor("picture", &image);
    record.tensor("rebuilt", &picture);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, number};

    fn at(columns: &str, width: f64, seed: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("columns", choice(columns))
            .with("width", number(width))
            .with("seed", number(seed));
        SPEC.compute(&picture::with_drawn_samples(given)).unwrap()
    }

    fn differences(c: &Computation) -> (f64, f64) {
        let at = |name| c.at(name, &[]).unwrap();
        (at("largest_difference"), at("rms_difference"))
    }

    /// Exact where a token has as many numbers as a patch, for waves and for any random columns.
    #[test]
    fn with_as_many_columns_as_numbers_the_picture_comes_back() {
        for (columns, seed) in [(WAVES, 7.0), (RANDOM, 7.0), (RANDOM, 8.0), (RANDOM, 9.0)] {
            let (largest, _) = differences(&at(columns, INNER as f64, seed));
            // A difference of one level of brightness is 1 / 255.
            assert!(largest < 2e-4, "{columns} {seed}: {largest}");
        }
    }

    /// Below, something is lost, and less with every column.
    #[test]
    fn with_fewer_columns_something_is_lost() {
        for columns in [WAVES, RANDOM] {
            let widths = (1..=16).map(|n| 3.0 * f64::from(n));
            let lost: Vec<f64> = widths
                .map(|w| differences(&at(columns, w, 7.0)).1)
                .collect();
            let falls = lost.windows(2).all(|pair| pair[1] < pair[0]);
            assert!(falls, "{columns}: {lost:?}");
            assert!(lost[14] > 1e-4, "{columns}: {lost:?}");
        }
        let (waves, random) = (at(WAVES, 12.0, 7.0), at(RANDOM, 12.0, 7.0));
        assert!(differences(&random).1 > 3.0 * differences(&waves).1);
    }

    /// The rebuilt picture has the same tokens as the first one: what is lost is what E does not
    /// see.
    #[test]
    fn the_rebuilt_picture_has_the_same_tokens() {
        for columns in [WAVES, RANDOM] {
            let given = Inputs::defaults(&inputs()).with("columns", choice(columns));
            let e = embedding(&mut Record::new(), &given).unwrap();
            let c = at(columns, 12.0, 7.0);
            let row = |name: &str| -> Vec<f32> {
                c.tensor(name)
                    .unwrap()
                    .values
                    .iter()
                    .map(|&x| x as f32)
                    .collect()
            };
            let (token, rebuilt) = (row("token"), row("rebuilt_patch"));
            let rebuilt = Array2::from_shape_vec((1, INNER), rebuilt).unwrap();
            let again = engine::nn::patch::embed(rebuilt.view(), e.view(), None).unwrap();
            for (a, b) in token.iter().zip(again.row(0)) {
                assert!((a - b).abs() < 1e-5, "{columns}: {a} {b}");
            }
        }
    }

    /// Mean colours alone: each patch is rebuilt as a plain square.
    #[test]
    fn three_waves_keep_the_mean_of_each_colour() {
        let c = at(WAVES, 3.0, 7.0);
        for channel in 0..3 {
            let of = |name: &str| -> Vec<f64> {
                let all = &c.tensor(name).unwrap().values;
                all.iter().skip(16 * channel).take(16).copied().collect()
            };
            let mean = of("patch").iter().sum::<f64>() / 16.0;
            assert!(of("rebuilt_patch").iter().all(|x| (x - mean).abs() < 1e-6));
        }
    }
}
