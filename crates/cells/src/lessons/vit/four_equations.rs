//! The four equations of the Vision Transformer, each with its tensors for the reader's drawing.

use engine::model::vit::Vit;
use ndarray::Axis;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::digit_models;
use crate::parts::{drawn, trained};
use crate::spec::{CellSpec, Run, WorkerKind};

/// The cell `four-equations`.
pub const SPEC: CellSpec = CellSpec {
    name: "four-equations",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = digit_models::entry(SPEC.name, |inputs, cache| {
    drawn::once_with_vit(inputs, cache, compute)
});

fn inputs() -> Vec<InputSpec> {
    vec![
        drawn::input(),
        InputSpec::number("block", "Block", (1.0, 4.0, 1.0), 1.0),
    ]
}

fn compute(inputs: &Inputs, vit: &Vit) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    let seen = drawn::read(&mut record, "", vit, &image)?;
    let config = vit.config();
    let block = inputs.count("block")?.clamp(1, config.layers);
    let told = |name: &str| trained::told(&seen, name);
    let of_block = |part: &str| told(&format!("blocks.{}.{part}", block - 1));
    let before = match block {
        1 => told("input")?,
        _ => told(&format!("blocks.{}.output", block - 2))?,
    };
    record.tensor("z_0", &told("input")?);
    record.tensor("before", &before);
    let (added, middle) = (of_block("attention.output")?, of_block("residual_1")?);
    let (written, after) = (of_block("mlp.output")?, of_block("output")?);
    let apart = (&before + &added - &middle)
        .iter()
        .chain((&middle + &written - &after).iter())
        .fold(0.0, |most: f32, difference| most.max(difference.abs()));
    record.number("difference", f64::from(apart));
    record.tensor("msa", &added);
    record.tensor("middle", &middle);
    record.tensor("mlp", &written);
    record.tensor("after", &after);
    let last = told("norm")?;
    record.tensor("y", &last.index_axis(Axis(0), 0));
    record.number("block", block as f64);
    for (name, count) in [
        ("patches", last.nrows() - 1),
        ("tokens", last.nrows()),
        ("width", config.width),
        ("inner", config.inner),
        ("heads", config.heads),
        ("layers", config.layers),
        (
            "patch_numbers",
            config.channels * config.patch * config.patch,
        ),
        ("classes", config.classes),
    ] {
        record.number(name, count as f64);
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{cache, computed, number};

    fn of(block: f64) -> Computation {
        let given = Inputs::defaults(&inputs()).with("block", number(block));
        computed(&SPEC, &given).unwrap()
    }

    /// The shapes of the four lines, and the sums of the second and third in every block.
    #[test]
    fn every_line_has_its_shape_and_sums_up() {
        for block in 1..=4 {
            let c = of(f64::from(block));
            for name in ["z_0", "before", "msa", "middle", "mlp", "after"] {
                assert_eq!(c.tensor(name).unwrap().shape(), [50, 64], "{name}");
            }
            assert_eq!(c.tensor("y").unwrap().shape(), [64]);
            assert!(c.at("difference", &[]).unwrap() < 1e-5);
        }
    }

    /// A block continues where the one before has ended; the first from the embedding.
    #[test]
    fn blocks_follow_one_another() {
        let all: Vec<Computation> = (1..=4).map(|block| of(f64::from(block))).collect();
        assert_eq!(all[0].tensor("before"), all[0].tensor("z_0"));
        for two in all.windows(2) {
            assert_eq!(two[0].tensor("after"), two[1].tensor("before"));
        }
        for (name, expected) in [
            ("tokens", 50.0),
            ("patches", 49.0),
            ("patch_numbers", 16.0),
            ("width", 64.0),
            ("heads", 4.0),
            ("inner", 128.0),
            ("classes", 10.0),
        ] {
            assert_eq!(all[0].at(name, &[]), Some(expected), "{name}");
        }
    }

    /// The shapes that the cell prints beside the four lines are those of the model's parameters.
    #[test]
    fn printed_shapes_are_those_of_the_parameters() {
        let c = of(1.0);
        let shapes = digit_models::vit(&cache()).unwrap().config().shapes();
        let all: [(&str, &[&str]); 6] = [
            ("cls_token", &["width"]),
            ("pos_embed", &["tokens", "width"]),
            ("patch_embed.proj.weight", &["width", "patch_numbers"]),
            ("blocks.0.mlp.fc1.weight", &["inner", "width"]),
            ("blocks.3.mlp.fc2.weight", &["width", "inner"]),
            ("head.weight", &["classes", "width"]),
        ];
        for (name, printed) in all {
            let (_, shape) = shapes.iter().find(|(known, _)| known == name).unwrap();
            let sizes: Vec<f64> = printed
                .iter()
                .map(|size| c.at(size, &[]).unwrap())
                .collect();
            let count: usize = shape.iter().product();
            assert_eq!(sizes.iter().product::<f64>(), count as f64, "{name}");
            // In front of a vector, and of the table of positions, the files have axes of one.
            let rows = shape.iter().find(|&&rows| rows > 1).unwrap();
            assert_eq!(sizes[0], *rows as f64, "{name}");
        }
    }
}
