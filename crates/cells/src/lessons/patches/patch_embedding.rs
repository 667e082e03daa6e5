//! Patches times a matrix, and the same by a convolution whose stride is the patch; the matrix is a
//! trained ViT's, or random.

use std::sync::Arc;

use engine::model::vit::Vit;
use ndarray::{Array1, Array2, Array3, Array4, Axis};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::lessons::patches::patch_cutter::{cut_inputs, patch_side, prepared};
use crate::model_cache::ModelCache;
use crate::parts::digit_models;
use crate::parts::measure::{largest, row_differences};
use crate::parts::trained::{self, RANDOM, VIT};
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Tokens and numbers of each that the tables show.
const SHOWN: (usize, usize) = (8, 6);

/// The cell `patch-embedding`.
pub const SPEC: CellSpec = CellSpec {
    name: "patch-embedding",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: trained::files,
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let mut all = cut_inputs();
    all.push(trained::model(&[VIT, RANDOM]));
    all.push(InputSpec::number(
        "width",
        "Token dimension D",
        (8.0, 768.0, 8.0),
        64.0,
    ));
    all.push(InputSpec::seed(7));
    all.push(InputSpec::entry("selected", "Selected number", 2, None));
    all.push(InputSpec::entry(
        "filter",
        "Selected parameter of E",
        2,
        Some(&[0, 0]),
    ));
    all
}

/// The steps of the computation, each short enough not to be felt.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one, and it lives for three slices"
)]
enum Stage {
    Prepare,
    Embed {
        image: Array3<f32>,
    },
    Convolve {
        image: Array3<f32>,
        filters: Array4<f32>,
        bias: Option<Array1<f32>>,
        tokens: Array2<f32>,
    },
}

struct Embedding {
    inputs: Inputs,
    /// The trained model; none for random weights.
    vit: Option<Arc<Vit>>,
    record: Record,
    stage: Stage,
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit, or a model that is not there.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let vit = match trained::file(inputs.choice("model")?) {
        Some(file) => Some(cache.opened::<Vit>(file)?),
        None => {
            patch_side(inputs)?;
            None
        }
    };
    Ok(Box::new(Embedding {
        inputs: inputs.clone(),
        vit,
        record: Record::new(),
        stage: Stage::Prepare,
    }))
}

impl Job for Embedding {
    fn advance(&mut self) -> Result<Progress, CellError> {
        match std::mem::replace(&mut self.stage, Stage::Prepare) {
            Stage::Prepare => {
                let image = match self.vit {
                    Some(_) => drawing(&mut self.record, &self.inputs)?,
                    None => prepared(&mut self.record, &self.inputs, false)?,
                };
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
                bias,
                tokens,
            } => self.convolve(&image, &filters, bias.as_ref(), &tokens),
        }
    }
}

/// The picture as a drawing, in the place and size that the digit models know, `[1, 28, 28]`.
fn drawing(record: &mut Record, inputs: &Inputs) -> Result<Array3<f32>, CellError> {
    let pixels = inputs.pixels("picture")?;
    let (width, height) = (pixels.width, pixels.height);
    let image = shown!(
        record,
        engine::picture::from_rgb8,
        &pixels.rgb[..],
        width,
        height
    )?;
    let ink = shown!(record, engine::drawing::ink, image.view());
    let digit = shown!(record, engine::drawing::centred, ink.view());
    let digit = digit.map_err(|_| {
        let message = "this picture is empty: choose another, or random parameters";
        CellError::input("picture", "Picture", message)
    })?;
    record.tensor("drawing", &digit.index_axis(Axis(0), 0));
    Ok(digit)
}

impl Embedding {
    /// E as a matrix: patches `[N, C_0·P·P]` times its transpose.
    fn embed(&mut self, image: Array3<f32>) -> Result<(), CellError> {
        let record = &mut self.record;
        let side = match &self.vit {
            Some(vit) => vit.config().patch,
            None => patch_side(&self.inputs)?,
        };
        let channels = image.dim().0;
        let patches = shown!(record, engine::nn::patch::cut, image.view(), side)?;
        let inner = patches.ncols();
        let (e, bias) = match &self.vit {
            Some(vit) => (
                digit_models::filters(record, vit)?,
                vit.tokens().patches.bias.clone(),
            ),
            None => {
                let (width, seed) = (self.inputs.count("width")?, self.inputs.seed()?);
                // Variance 1 / inner keeps the tokens' values near 1.
                let std = engine::math::sqrt(1.0 / inner as f32);
                let e = shown!(
                    record,
                    engine::rng::normal_matrix,
                    seed,
                    "patch_embedding",
                    width,
                    inner,
                    std
                );
                (e, None)
            }
        };
        let width = e.nrows();
        let view = bias.as_ref().map(|bias| bias.view());
        let tokens = shown!(
            record,
            engine::nn::patch::embed,
            patches.view(),
            e.view(),
            view
        )?;
        record.number("tokens", patches.nrows() as f64);
        record.number("inner", inner as f64);
        record.number("width", width as f64);
        record.number("parameters", (width * inner) as f64);
        record.tensor("token_0", &tokens.row(0));
        let filters = e
            .to_shape((width, channels, side, side))
            .map_err(|error| CellError::Mismatch(error.to_string()))?
            .to_owned();
        self.stage = Stage::Convolve {
            image,
            filters,
            bias,
            tokens,
        };
        Ok(())
    }

    /// The same numbers by a convolution with stride P, brought into the same order: `[C, H/P,
    /// W/P]` -> `[N, C]`.
    fn convolve(
        &mut self,
        image: &Array3<f32>,
        filters: &Array4<f32>,
        bias: Option<&Array1<f32>>,
        tokens: &Array2<f32>,
    ) -> Result<Progress, CellError> {
        let record = &mut self.record;
        let (side, bias) = (filters.dim().2, bias.map(|bias| bias.view()));
        let map = shown!(
            record,
            explain::convolution::conv2d,
            image.view(),
            filters.view(),
            bias,
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
    use crate::input::{InputValue, Picture};
    use crate::parts::test_models::{choice, computed, number};

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
                .with("model", choice(RANDOM))
                .with("size", number(size))
                .with("patch", number(patch))
                .with("width", number(width));
            let c = computed(&SPEC, &crate::picture::with_drawn_samples(given)).unwrap();
            let difference = c.at("largest_difference", &[]).unwrap();
            assert!(difference < 1e-5, "{size} {patch} {width}: {difference}");
            assert_eq!(c.at("parameters", &[]), Some(width * 3.0 * patch * patch));
        }
    }

    fn drawn(name: &str) -> Inputs {
        let picture = Picture {
            name: name.to_owned(),
            pixels: crate::picture::draw(name).map(Arc::new),
        };
        Inputs::defaults(&inputs()).with("picture", InputValue::Picture(picture))
    }

    /// The same of the trained matrix, with its bias: and both are what the model itself makes of
    /// the drawing.
    #[test]
    fn a_trained_matrix_is_a_convolution_too() {
        let c = computed(&SPEC, &drawn("seven")).unwrap();
        let difference = c.at("largest_difference", &[]).unwrap();
        assert!(difference < 1e-5, "{difference}");
        for (name, expected) in [
            ("tokens", 49.0),
            ("inner", 16.0),
            ("width", 64.0),
            ("parameters", 1024.0),
        ] {
            assert_eq!(c.at(name, &[]), Some(expected), "{name}");
        }
        assert_eq!(c.tensor("filters").unwrap().shape(), [64, 4, 4]);
        let vit: Arc<Vit> = crate::parts::test_models::cache()
            .opened("digit-vit.safetensors")
            .unwrap();
        let drawing = c.tensor("drawing").unwrap().values.mapv(|x| x as f32);
        let drawing = drawing.into_dimensionality::<ndarray::Ix2>().unwrap();
        let mut seen = engine::trace::Recorder::default();
        vit.forward(drawing.insert_axis(Axis(0)).view(), Some(&mut seen))
            .unwrap();
        let embedded = seen.get("embedding").unwrap();
        let first = c.at("first", &[]).unwrap() as usize;
        for (t, j) in [(0, 0), (3, 5), (7, 2)] {
            let (own, shown) = (
                embedded[[first + t, j]],
                c.at("by_matrix", &[t, j]).unwrap(),
            );
            assert!((f64::from(own) - shown).abs() < 1e-6, "{own} {shown}");
        }
    }
}
