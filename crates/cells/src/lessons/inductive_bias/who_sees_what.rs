//! Which pixels a number of digit-cnn is computed from, and how far each head of digit-vit reaches on the
//! reader's digit.

use engine::model::cnn::Cnn;
use engine::model::vit::Vit;
use explain::attention_distance::Patches;
use ndarray::{Array1, Array2, Array3, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::trained::{self, CNN, VIT};
use crate::parts::{digit_models, drawn, readers};
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// Side of a digit in pixels.
pub const SIDE: usize = engine::drawing::SIDE;

/// The last pixel of a row or column.
const LAST: f64 = 27.0;

/// The least and the most colour of a pixel that is seen.
const TINT: (f32, f32) = (0.25, 0.8);

/// The cell `who-sees-what`.
pub const SPEC: CellSpec = CellSpec {
    name: "who-sees-what",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| [CNN, VIT].into_iter().filter_map(trained::file).collect(),
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        drawn::input(),
        InputSpec::number("layer", "Convolution", (1.0, 2.0, 1.0), 1.0),
        InputSpec::number(
            "row",
            "Row of the number, in pixels",
            (0.0, LAST, 1.0),
            12.0,
        ),
        InputSpec::number(
            "column",
            "Column of the number, in pixels",
            (0.0, LAST, 1.0),
            12.0,
        ),
    ]
}

fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let cnn = cache.opened::<Cnn>(trained::file(CNN).unwrap_or_default())?;
    let vit = digit_models::vit(cache)?;
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &cnn, &vit)))
}

fn compute(inputs: &Inputs, cnn: &Cnn, vit: &Vit) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    field(&mut record, inputs, cnn, &image)?;
    let seen = drawn::read(&mut record, "", vit, &image)?;
    let config = vit.config();
    let all = readers::all_weights(&seen, config.layers, config.heads)?;
    let weights = all.view();
    let side = config.image / config.patch;
    let patches = &Patches {
        before: 1,
        rows: side,
        columns: side,
        side: config.patch,
    };
    let found = shown!(
        record,
        explain::attention_distance::mean_distance,
        weights,
        patches
    )?;
    let even = shown!(record, explain::attention_distance::even_distance, patches);
    record.tensor("distance", &found);
    record.number("even", f64::from(even));
    let (low, high) = found.iter().fold((f32::MAX, 0.0f32), |(low, high), &x| {
        (low.min(x), high.max(x))
    });
    record.number("nearest", f64::from(low));
    record.number("farthest", f64::from(high));
    let mean = found.mean_axis(Axis(1)).unwrap_or_default();
    record.tensor("mean", &mean);
    components(&mut record, vit)?;
    Ok(record.finish())
}

/// The principal components of the filters of digit-vit's patch embedding, as patches.
fn components(record: &mut Record, vit: &Vit) -> Result<(), CellError> {
    let e = digit_models::filters(record, vit)?;
    let filters = e.view();
    let found = shown!(
        record,
        explain::principal_components::principal_components,
        filters
    )?;
    let patches = digit_models::as_patches(&found.directions, vit.config().patch)?;
    record.tensor("components", &patches);
    let (mut sum, shares) = (0.0, &found.shares);
    let sums: Array1<f32> = shares
        .iter()
        .map(|share| {
            sum += share;
            sum
        })
        .collect();
    record.tensor("shares", shares);
    record.tensor("shares.sum", &sums);
    record.number("filters.count", e.nrows() as f64);
    Ok(())
}

/// The receptive field of the chosen number, and the picture coloured by it.
fn field(
    record: &mut Record,
    inputs: &Inputs,
    cnn: &Cnn,
    image: &Array3<f32>,
) -> Result<(), CellError> {
    let windows = cnn.config().windows();
    let depth = inputs.count("layer")?.clamp(1, windows.len().max(1));
    let layers = windows.get(..depth).unwrap_or_default();
    let stride: usize = layers.iter().map(|layer| layer.stride).product();
    let unit = [
        inputs.count("row")? / stride,
        inputs.count("column")? / stride,
    ];
    let paths = shown!(record, explain::receptive_field::paths, layers, unit)?;
    let (height, width) = paths.dim();
    let has_path = |line: ndarray::ArrayView1<'_, f32>| line.sum() > 0.0;
    let rows = paths
        .rows()
        .into_iter()
        .filter(|&row| has_path(row))
        .count();
    let columns = paths
        .columns()
        .into_iter()
        .filter(|&column| has_path(column))
        .count();
    record.number("field.rows", rows as f64);
    record.number("field.columns", columns as f64);
    record.number("field.pixels", (rows * columns) as f64);
    record.number(
        "field.share",
        (rows * columns) as f64 / (height * width) as f64,
    );
    record.number("stride", stride as f64);
    record.number("across", (width / stride) as f64);
    record.number("unit.row", unit[0] as f64);
    record.number("unit.column", unit[1] as f64);
    let most = paths.iter().copied().fold(0.0, f32::max);
    record.number("paths.most", f64::from(most));
    record.tensor("paths", &paths);
    record.tensor("field", &coloured(image, &paths, most));
    Ok(())
}

/// The ink in white, the field in blue and green: the more paths, the brighter.
fn coloured(image: &Array3<f32>, paths: &Array2<f32>, most: f32) -> Array3<f32> {
    let (low, high) = TINT;
    Array3::from_shape_fn((3, paths.nrows(), paths.ncols()), |(channel, y, x)| {
        let (ink, count) = (image[[0, y, x]], paths[[y, x]]);
        let tint = match (channel, count > 0.0) {
            (0, _) | (_, false) => 0.0,
            (1, true) => 0.6 * (low + (high - low) * count / most),
            _ => low + (high - low) * count / most,
        };
        ink.max(tint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number};

    fn at(layer: f64, row: f64, column: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("layer", number(layer))
            .with("row", number(row))
            .with("column", number(column));
        computed(&SPEC, &given).unwrap()
    }

    /// A number of the first map sees 5 by 5 pixels, one of the second 13 by 13; fewer at the border.
    #[test]
    fn fields_grow_with_depth() {
        let size = |c: &Computation| {
            ["rows", "columns", "pixels"].map(|what| c.at(&format!("field.{what}"), &[]).unwrap())
        };
        assert_eq!(size(&at(1.0, 12.0, 12.0)), [5.0, 5.0, 25.0]);
        assert_eq!(size(&at(2.0, 12.0, 12.0)), [13.0, 13.0, 169.0]);
        assert_eq!(size(&at(2.0, 0.0, 27.0)), [7.0, 10.0, 70.0]);
        let c = at(2.0, 12.0, 12.0);
        assert_eq!(c.at("paths", &[12, 12]), c.at("paths.most", &[]));
        assert_eq!(c.at("paths", &[5, 12]), Some(0.0));
    }

    /// What the lesson says of the reach of the heads on the 4: those of the first block look nearly as far as
    /// a head that takes the same from all; the nearest is in the second block.
    #[test]
    fn no_head_is_local() {
        let c = at(1.0, 12.0, 12.0);
        let of = |name: &str, index: &[usize]| c.at(name, index).unwrap();
        let even = of("even", &[]);
        for head in 0..4 {
            let reach = of("distance", &[0, head]);
            assert!(reach > even - 0.6 && reach < even, "{head}: {reach} {even}");
        }
        // The lesson quotes the nearest and the farthest head of the first block.
        let first = [0, 1, 2, 3].map(|head| of("distance", &[0, head]));
        let least = first.into_iter().fold(f64::INFINITY, f64::min);
        let most = first.into_iter().fold(0.0, f64::max);
        assert_eq!((first[0], first[3]), (least, most), "{first:?}");
        assert_eq!(of("nearest", &[]), of("distance", &[1, 0]));
        assert!(of("nearest", &[]) > 11.0);
    }

    /// The filters use all 16 directions of a patch, a few of them more: what the lesson says.
    #[test]
    fn filters_have_principal_components() {
        let c = at(1.0, 12.0, 12.0);
        let of = |name: &str, index: &[usize]| c.at(name, index).unwrap();
        assert_eq!(c.tensor("components").unwrap().shape(), [16, 4, 4]);
        assert_eq!(of("filters.count", &[]), 64.0);
        assert!((of("shares.sum", &[15]) - 1.0).abs() < 1e-5);
        assert!(of("shares", &[0]) < 0.2 && of("shares", &[15]) > 0.01);
    }
}
