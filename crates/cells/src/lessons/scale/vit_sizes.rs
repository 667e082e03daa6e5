//! Parameters of a Vision Transformer and its work for one picture, from sizes of the reader's.

use engine::model::vit::Config;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The inputs: blocks, dimension, inner dimension of the MLP, heads, patch and picture.
pub const SIZES: [&str; 6] = ["layers", "width", "inner", "heads", "patch", "image"];

/// The models of Dosovitskiy et al. 2021, table 1: name and sizes, in the order of [`SIZES`].
pub const KNOWN: [(&str, [f64; 6]); 3] = [
    ("ViT-B/16", [12.0, 768.0, 3_072.0, 12.0, 16.0, 224.0]),
    ("ViT-L/16", [24.0, 1_024.0, 4_096.0, 16.0, 16.0, 224.0]),
    ("ViT-H/14", [32.0, 1_280.0, 5_120.0, 16.0, 14.0, 224.0]),
];

/// The names of the parts, in the order of the tensor `parts`.
pub const NAMES: [&str; 5] = ["patches, positions", "attention", "MLP", "norms", "head"];

/// The side of the patches that others are compared with.
const PATCH: usize = 16;

/// The cell `vit-sizes`.
pub const SPEC: CellSpec = CellSpec {
    name: "vit-sizes",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let [layers, width, inner, heads, patch, image] = KNOWN[0].1;
    vec![
        InputSpec::number(SIZES[0], "Blocks $L$", (1.0, 64.0, 1.0), layers),
        InputSpec::number(SIZES[1], "Dimension $C$", (64.0, 2_048.0, 64.0), width),
        InputSpec::number(SIZES[2], "MLP $F$", (64.0, 8_192.0, 64.0), inner),
        InputSpec::number(SIZES[3], "Heads $H$", (1.0, 32.0, 1.0), heads),
        InputSpec::number(SIZES[4], "Patch $P$ in pixels", (4.0, 32.0, 1.0), patch),
        InputSpec::number(SIZES[5], "Side in pixels", (32.0, 512.0, 16.0), image),
    ]
}

fn configuration([layers, width, inner, heads, patch, image]: [usize; 6]) -> Config {
    Config {
        layers,
        width,
        inner,
        heads,
        patch,
        image,
        ..Config::vit_b16()
    }
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let mut sizes = [0; 6];
    for (size, name) in sizes.iter_mut().zip(SIZES) {
        *size = inputs.count(name)?;
    }
    let config = &configuration(sizes);
    if !config.width.is_multiple_of(config.heads) {
        let message = "every head gets an equal part of the dimension: choose a number of heads \
             that divides it";
        return Err(CellError::input("heads", "Heads", message));
    }
    let parts = shown!(record, explain::vit_sizes::parameters, config);
    let cost = shown!(record, explain::vit_sizes::cost, config);
    let total = parts.iter().sum::<usize>() as f64;
    record.numbers("parts", parts.iter().map(|&n| n as f64).collect());
    record.numbers(
        "parts.share",
        parts.iter().map(|&n| n as f64 / total).collect(),
    );
    record.number("total", total);
    record.number("patches", cost.patches as f64);
    record.number("scores", cost.scores as f64);
    record.number("multiplications", cost.multiplications as f64);
    record.number("head.width", (config.width / config.heads) as f64);
    // The same model with patches of 16 pixels.
    let coarse = Config {
        patch: PATCH,
        ..config.clone()
    };
    let coarse = explain::vit_sizes::cost(&coarse);
    record.number("coarse.patches", coarse.patches as f64);
    record.number("scores.ratio", cost.scores as f64 / coarse.scores as f64);
    let base = configuration(KNOWN[0].1.map(|size| size as usize));
    let work = explain::vit_sizes::cost(&base).multiplications as f64;
    record.number("work.ratio", cost.multiplications as f64 / work);
    record.number(
        "base.ratio",
        total / explain::vit_sizes::parameters(&base).iter().sum::<usize>() as f64,
    );
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::number;
    use explain::parameter_parts::PARTS;

    fn of(sizes: &[(&str, f64)]) -> Computation {
        let mut given = Inputs::defaults(&inputs());
        for &(name, value) in sizes {
            given = given.with(name, number(value));
        }
        SPEC.compute(&given).unwrap()
    }

    fn known(n: usize) -> Vec<(&'static str, f64)> {
        SIZES.into_iter().zip(KNOWN[n].1).collect()
    }

    /// The counts that the lesson quotes.
    #[test]
    fn the_published_models_have_these_counts() {
        assert_eq!(PARTS.len(), NAMES.len());
        for (n, expected) in [86_567_656.0, 304_326_632.0, 632_045_800.0]
            .into_iter()
            .enumerate()
        {
            let c = of(&known(n));
            assert_eq!(c.at("total", &[]), Some(expected));
            assert_eq!(c.tensor("parts").unwrap().values.sum(), expected);
        }
    }

    /// What the lesson says of patches of 14: 256 in place of 196, and 1.71 times the scores.
    #[test]
    fn smaller_patches() {
        let c = of(&known(2));
        assert_eq!(
            (c.at("patches", &[]), c.at("coarse.patches", &[])),
            (Some(256.0), Some(196.0))
        );
        assert!((c.at("scores.ratio", &[]).unwrap() - 1.706).abs() < 0.001);
        // Half the side of a patch: sixteen times the scores, and hardly another parameter.
        let (coarse, fine) = (of(&[]), of(&[("patch", 8.0)]));
        assert_eq!(fine.at("scores.ratio", &[]), Some(16.0));
        let parameters = fine.at("total", &[]).unwrap() / coarse.at("total", &[]).unwrap();
        assert!((0.99..1.01).contains(&parameters), "{parameters}");
        let work = fine.at("work.ratio", &[]).unwrap();
        assert!((4.0..5.0).contains(&work), "{work}");
    }

    /// Twice the blocks are twice the work; twice the width is nearly four times.
    #[test]
    fn depth_and_width() {
        let work = |sizes: &[(&str, f64)]| of(sizes).at("work.ratio", &[]).unwrap();
        assert!((work(&[("layers", 24.0)]) - 2.0).abs() < 0.02);
        let wide = work(&[("width", 1_536.0), ("inner", 6_144.0), ("heads", 24.0)]);
        assert!((3.7..4.0).contains(&wide), "{wide}");
    }

    #[test]
    fn heads_that_do_not_divide_the_dimension_are_refused() {
        let given = Inputs::defaults(&inputs()).with("heads", number(5.0));
        assert!(matches!(SPEC.compute(&given), Err(CellError::Input { .. })));
    }
}
