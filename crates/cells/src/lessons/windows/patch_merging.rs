//! Patch merging on a picture: the vectors of two by two neighbours side by side, and what a linear layer
//! and a norm make of them.

use engine::nn::norm::LayerNorm;
use engine::nn::patch_merge::PatchMerge;
use engine::nn::projection::Projection;
use engine::parameters::Weight;
use ndarray::{Array2, ArrayView1};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::lessons::patches::patch_cutter::scaled;
use crate::parts::untrained::drawn;
use crate::picture;
use crate::spec::{CellSpec, Run};

/// Side of the picture in pixels.
const SIZE: usize = 64;

/// Side of a patch in pixels.
const PATCH: usize = 4;

/// Tokens along a side before merging.
const ACROSS: usize = SIZE / PATCH;

/// Side in pixels of what a merged token holds.
pub const MERGED: usize = 2 * PATCH;

/// Stages of the table.
const STAGES: u32 = 4;

/// The four neighbours, as the vector has them.
const NEIGHBOURS: [&str; 4] = ["top left", "bottom left", "top right", "bottom right"];

/// The cell `patch-merging`.
pub const SPEC: CellSpec = CellSpec {
    name: "patch-merging",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let last = (ACROSS * ACROSS / 4 - 1) as f64;
    vec![
        picture::input("picture", "Picture"),
        InputSpec::number(
            "chosen",
            "Merged token, counted from 0",
            (0.0, last, 1.0),
            27.0,
        ),
        InputSpec::number("width", "Numbers $C$ of a token", (2.0, 8.0, 1.0), 4.0),
        InputSpec::seed(7),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (chosen, width, seed) = (
        inputs.count("chosen")?,
        inputs.count("width")?,
        inputs.seed()?,
    );
    let mut record = Record::new();
    let image = scaled(&mut record, inputs, SIZE)?;
    let patches = shown!(record, engine::nn::patch::cut, image.view(), PATCH)?;
    let std = |inputs: usize| engine::nn::attention::scale(inputs);
    let inner = patches.ncols();
    let e = drawn(
        &mut record,
        seed,
        "patch_embedding",
        (width, inner),
        std(inner),
    );
    let bias = None::<ArrayView1<'_, f32>>;
    let map = shown!(
        record,
        engine::nn::patch::embed,
        patches.view(),
        e.view(),
        bias
    )?;
    let size = (ACROSS, ACROSS);
    let gathered = shown!(record, engine::nn::patch_merge::gather, map.view(), size)?;

    let weight = drawn(
        &mut record,
        seed,
        "reduction",
        (2 * width, 4 * width),
        std(4 * width),
    );
    let merge = PatchMerge {
        reduction: Projection {
            weight: Weight::Dense(weight),
            bias: None,
        },
        norm: LayerNorm::new(2 * width),
    };
    let mut seen = engine::trace::Recorder::default();
    let trace = &mut Some(&mut seen as &mut dyn engine::trace::Observer);
    let merged = shown!(
        record,
        engine::nn::patch_merge::PatchMerge::forward,
        &merge,
        map.view(),
        size,
        trace
    )?;
    let reduced = crate::parts::trained::told(&seen, "merge.reduced")?;

    let row = gathered.row(chosen);
    let four = Array2::from_shape_fn((4, width), |(part, c)| row[part * width + c]);
    record.tensor("picture", &image);
    record.tensor("four", &four);
    record.tensor("gathered", &row);
    record.tensor("reduced", &reduced.row(chosen));
    record.tensor("merged", &merged.row(chosen));
    record.words("neighbours", NEIGHBOURS.map(str::to_owned).to_vec());
    record.number("chosen", chosen as f64);
    record.number("side", ACROSS as f64);
    record.number("side.merged", (ACROSS / 2) as f64);
    record.number("width", width as f64);
    record.number("width.gathered", gathered.ncols() as f64);
    record.number("width.merged", merged.ncols() as f64);
    record.number("numbers", map.len() as f64);
    record.number("numbers.merged", merged.len() as f64);
    record.number(
        "parameters",
        merge.reduction.weight.dim().0 as f64 * merge.reduction.weight.dim().1 as f64,
    );
    // The pyramid, as long as the map can be halved.
    let stages =
        |of: fn(u32, usize) -> usize| (0..STAGES).map(|n| of(n, width) as f64).collect::<Vec<_>>();
    record.numbers("pyramid.side", stages(|n, _| ACROSS >> n));
    record.numbers("pyramid.pixels", stages(|n, _| PATCH << n));
    record.numbers("pyramid.width", stages(|n, width| width << n));
    record.numbers(
        "pyramid.numbers",
        stages(|n, width| (ACROSS >> n).pow(2) * (width << n)),
    );
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::number;

    fn at(chosen: usize, width: usize) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("chosen", number(chosen as f64))
            .with("width", number(width as f64));
        SPEC.compute(&picture::with_drawn_samples(given)).unwrap()
    }

    fn all(c: &Computation, name: &str) -> Vec<f64> {
        c.tensor(name).unwrap().values.iter().copied().collect()
    }

    /// 4C numbers become 2C, so a map has half as many numbers as before.
    #[test]
    fn shapes_of_a_merge() {
        for width in 2..=8 {
            let c = at(5, width);
            assert_eq!(all(&c, "gathered").len(), 4 * width);
            assert_eq!(all(&c, "merged").len(), 2 * width);
            assert_eq!(all(&c, "gathered"), all(&c, "four"));
            let (before, after) = (c.at("numbers", &[]), c.at("numbers.merged", &[]));
            assert_eq!(before.unwrap(), 2.0 * after.unwrap());
            assert_eq!(c.at("parameters", &[]), Some((8 * width * width) as f64));
        }
    }

    /// The four rows are the embeddings of two by two patches, column by column.
    #[test]
    fn the_four_are_neighbours() {
        // Merged token 27 is in row 3, column 3: patches (6, 6) to (7, 7), whose numbers are 102, 118, 103, 119.
        let given = picture::with_drawn_samples(Inputs::defaults(&inputs()));
        let mut record = Record::new();
        let image = scaled(&mut record, &given, SIZE).unwrap();
        let patches = engine::nn::patch::cut(image.view(), PATCH).unwrap();
        let e = drawn(
            &mut record,
            7,
            "patch_embedding",
            (4, 48),
            engine::nn::attention::scale(48),
        );
        let map = engine::nn::patch::embed(patches.view(), e.view(), None).unwrap();
        let c = at(27, 4);
        for (part, patch) in [102, 118, 103, 119].into_iter().enumerate() {
            for n in 0..4 {
                assert_eq!(c.at("four", &[part, n]), Some(f64::from(map[[patch, n]])));
            }
        }
    }

    /// The norm leaves mean 0 and variance 1, but for the epsilon.
    #[test]
    fn what_comes_out_is_normalised() {
        let merged = all(&at(27, 4), "merged");
        let mean = merged.iter().sum::<f64>() / 8.0;
        let variance = merged.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 8.0;
        assert!(
            mean.abs() < 1e-6 && (variance - 1.0).abs() < 1e-2,
            "{mean} {variance}"
        );
    }

    /// The pyramid of the lesson: the side halves, the width doubles, the numbers halve.
    #[test]
    fn the_pyramid() {
        let c = at(27, 4);
        assert_eq!(all(&c, "pyramid.side"), [16.0, 8.0, 4.0, 2.0]);
        assert_eq!(all(&c, "pyramid.pixels"), [4.0, 8.0, 16.0, 32.0]);
        assert_eq!(all(&c, "pyramid.width"), [4.0, 8.0, 16.0, 32.0]);
        assert_eq!(all(&c, "pyramid.numbers"), [1024.0, 512.0, 256.0, 128.0]);
    }
}
