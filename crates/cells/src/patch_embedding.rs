//! Patches times a matrix, and the same by a convolution whose stride is the patch.

use ndarray::{Array2, Array3, Array4, ArrayView1};

use crate::error::CellError;
use crate::input::{InputSpec, Inputs};
use crate::measure::{largest, row_differences};
use crate::patch_cutter::{cut_inputs, patch_side, prepared};
use crate::shown::Record;
use crate::spec::{CellSpec, Desk, Job, Progress, Run};

/// Tokens and numbers of each that the tables show.
const SHOWN: (usize, usize) = (8, 6);

/// The cell `patch-embedding`.
pub const SPEC: CellSpec = CellSpec {
    name: "patch-embedding",
    summary: "The embedding of patches as a matrix product and as a strided convolution, and the largest difference.",
    inputs,
    run: Run::Sliced(Desk::Models),
};

fn inputs() -> Vec<InputSpec> {
    let mut all = cut_inputs();
    all.push(InputSpec::number(
        "width",
        "Width D of a token",
        (8.0, 768.0, 8.0),
        64.0,
    ));
    all.push(InputSpec::seed(7));
    all
}

/// Neither side of the comparison adds a bias.
const NO_BIAS: Option<ArrayView1<'static, f32>> = None;

/// The steps of the computation, each short enough not to be felt.
enum Stage {
    Prepare,
    Embed {
        image: Array3<f32>,
    },
    Convolve {
        image: Array3<f32>,
        filters: Array4<f32>,
        tokens: Array2<f32>,
    },
}

struct Embedding {
    inputs: Inputs,
    record: Record,
    stage: Stage,
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit.
pub(crate) fn start(inputs: &Inputs) -> Result<Box<dyn Job>, CellError> {
    patch_side(inputs)?;
    Ok(Box::new(Embedding {
        inputs: inputs.clone(),
        record: Record::new(),
        stage: Stage::Prepare,
    }))
}

impl Job for Embedding {
    fn advance(&mut self) -> Result<Progress, CellError> {
        match std::mem::replace(&mut self.stage, Stage::Prepare) {
            Stage::Prepare => {
                let image = prepared(&mut self.record, &self.inputs, false)?;
                self.stage = Stage::Embed { image };
                Ok(Progress::Working(0.1))
            }
            Stage::Embed { image } => {
                self.embed(image)?;
                Ok(Progress::Working(0.4))
            }
            Stage::Convolve {
                image,
                filters,
                tokens,
            } => self.convolve(&image, &filters, &tokens),
        }
    }
}

impl Embedding {
    /// E as a matrix: patches `[N, 3·P·P]` times its transpose.
    fn embed(&mut self, image: Array3<f32>) -> Result<(), CellError> {
        let record = &mut self.record;
        let (side, width, seed) = (
            patch_side(&self.inputs)?,
            self.inputs.count("width")?,
            self.inputs.seed()?,
        );
        let channels = image.dim().0;
        let inner = channels * side * side;
        // Variance 1 / inner keeps the tokens' values near 1.
        let std = engine::math::sqrt(1.0 / inner as f32);
        let patches = shown!(record, engine::nn::patch::cut, image.view(), side)?;
        let e = shown!(
            record,
            engine::rng::normal_matrix,
            seed,
            "patch_embedding",
            width,
            inner,
            std
        );
        let tokens = shown!(
            record,
            engine::nn::patch::embed,
            patches.view(),
            e.view(),
            NO_BIAS
        )?;
        record.number("tokens", patches.nrows() as f64);
        record.number("inner", inner as f64);
        record.number("parameters", (width * inner) as f64);
        record.tensor("token_0", &tokens.row(0));
        let filters = e
            .to_shape((width, channels, side, side))
            .map_err(|error| CellError::Mismatch(error.to_string()))?
            .to_owned();
        self.stage = Stage::Convolve {
            image,
            filters,
            tokens,
        };
        Ok(())
    }

    /// The same numbers by a convolution with stride P, brought into the same order: `[C, H/P, W/P]` -> `[N, C]`.
    fn convolve(
        &mut self,
        image: &Array3<f32>,
        filters: &Array4<f32>,
        tokens: &Array2<f32>,
    ) -> Result<Progress, CellError> {
        let record = &mut self.record;
        let side = filters.dim().2;
        let map = shown!(
            record,
            engine::nn::conv::conv2d,
            image.view(),
            filters.view(),
            NO_BIAS,
            side
        )?;
        let (width, rows, cols) = map.dim();
        let same =
            Array2::from_shape_fn((rows * cols, width), |(n, c)| map[[c, n / cols, n % cols]]);
        let differences = row_differences(tokens.view(), same.view());
        record.number("largest_difference", largest(&differences));
        // From the middle of the picture: the first patches of many are sky.
        let from = (rows / 2 * cols).min((rows * cols).saturating_sub(SHOWN.0));
        let few = |m: &Array2<f32>| {
            let (r, c) = (m.nrows().min(SHOWN.0), m.ncols().min(SHOWN.1));
            Array2::from_shape_fn((r, c), |(t, j)| m[[from + t, j]])
        };
        record.number("first", from as f64);
        record.tensor("by_matrix", &few(tokens));
        record.tensor("by_convolution", &few(&same));
        Ok(Progress::Done(Box::new(std::mem::take(record).finish())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk;
    use crate::input::InputValue;
    use crate::shelf::Shelf;

    /// The curriculum's check: equal to a strided convolution within 1e-5.
    #[test]
    fn a_matrix_product_is_a_strided_convolution() {
        for (size, patch, width) in [
            (224.0, 32.0, 64.0),
            (224.0, 16.0, 96.0),
            (64.0, 15.0, 8.0),
            (8.0, 4.0, 16.0),
        ] {
            let given = Inputs::defaults(&inputs())
                .with("size", InputValue::Number(size))
                .with("patch", InputValue::Number(patch))
                .with("width", InputValue::Number(width));
            let c = desk::compute(
                &SPEC,
                &crate::picture::with_drawn_samples(given),
                &Shelf::default(),
            )
            .unwrap();
            let difference = c.at("largest_difference", &[]).unwrap();
            assert!(difference < 1e-5, "{size} {patch} {width}: {difference}");
            assert_eq!(c.at("parameters", &[]), Some(width * 3.0 * patch * patch));
        }
    }
}
