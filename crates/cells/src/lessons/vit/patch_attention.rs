//! The attention of digit-vit over the reader's drawing: the weights of one query, the class token or a
//! patch, in every head of every layer, and by rollout.

use engine::model::vit::Vit;
use ndarray::{Array2, Array4, ArrayView1, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::digit_models;
use crate::parts::{drawn, readers};
use crate::spec::{CellSpec, Run, WorkerKind};

/// Patches of a drawing.
const PATCHES: usize = 49;

/// What the large picture shows.
pub const ROLLOUT: &str = "rollout";

/// The cell `patch-attention`.
pub const SPEC: CellSpec = CellSpec {
    name: "patch-attention",
    summary: "Which patches of your drawing the class token, or any patch, attends to in each head of digit-vit, on one scale for all; and rollout.",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = digit_models::entry(SPEC.name, |inputs, cache| {
    drawn::once_with_vit(inputs, cache, compute)
});

fn inputs() -> Vec<InputSpec> {
    let last = PATCHES as f64;
    vec![
        drawn::input(),
        InputSpec::number(
            "query",
            "Query: 0 is the class token, 1 to 49 a patch",
            (0.0, last, 1.0),
            0.0,
        ),
        InputSpec::choice("shown", "Shown", &["one head", ROLLOUT]),
        InputSpec::entry("selected", "Selected layer and head", 2, Some(&[1, 1])),
    ]
}

fn compute(inputs: &Inputs, vit: &Vit) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    let seen = drawn::read(&mut record, "", vit, &image)?;
    let config = vit.config();
    let (layers, heads) = (config.layers, config.heads);
    let all = readers::all_weights(&seen, layers, heads)?;
    let rolled = shown!(record, explain::rollout::rollout, all.view())?;
    let query = inputs.count("query")?.min(all.dim().3 - 1);
    let side = config.image / config.patch;
    let ink = inked(&image.index_axis(Axis(0), 0).to_owned(), config.patch);

    let rows = all.index_axis(Axis(2), query);
    let grid = |l: usize, h: usize, y: usize, x: usize| rows[[l, h, 1 + y * side + x]];
    let of_heads =
        Array4::from_shape_fn((layers, heads, side, side), |(l, h, y, x)| grid(l, h, y, x));
    record.tensor("weights", &of_heads);
    record.tensor("to_class", &rows.index_axis(Axis(2), 0));
    let each = |of: &dyn Fn(ArrayView1<'_, f32>) -> f32| {
        Array2::from_shape_fn((layers, heads), |(l, h)| {
            let row = rows.index_axis(Axis(0), l);
            of(row.index_axis(Axis(0), h))
        })
    };
    record.tensor("on_ink", &each(&|row| on(row, &ink)));
    record.tensor("largest", &each(&|row| largest(row)));
    let rolled = rolled.row(query);
    record.tensor("rollout", &drawn::as_grid(&rolled.to_vec()[1..]));
    record.number("rollout.to_class", f64::from(rolled[0]));
    record.number("rollout.on_ink", f64::from(on(rolled, &ink)));
    record.number("rollout.largest", f64::from(largest(rolled)));
    record.number("inked", ink.iter().filter(|&&has| has).count() as f64);
    record.number("patches", (side * side) as f64);
    record.number("query", query as f64);
    record.number("layers", layers as f64);
    record.number("heads", heads as f64);
    Ok(record.finish())
}

/// Which patches have ink.
fn inked(image: &Array2<f32>, patch: usize) -> Vec<bool> {
    let blocks = image.exact_chunks((patch, patch));
    blocks.into_iter().map(|block| block.sum() > 0.0).collect()
}

/// The weight on patches with ink, the first token being the class token.
fn on(row: ArrayView1<'_, f32>, ink: &[bool]) -> f32 {
    let patches = row.iter().skip(1).zip(ink);
    patches
        .filter(|(_, has)| **has)
        .map(|(weight, _)| weight)
        .sum()
}

/// The largest weight on a patch.
fn largest(row: ArrayView1<'_, f32>) -> f32 {
    row.iter()
        .skip(1)
        .fold(0.0, |most: f32, &weight| most.max(weight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::input::InputValue;
    use crate::parts::test_models::{computed, number};

    fn of(query: f64) -> Computation {
        let given = Inputs::defaults(&inputs()).with("query", number(query));
        computed(&SPEC, &given).unwrap()
    }

    /// The weights of a query over class token and patches sum to one, in every head and by rollout.
    #[test]
    fn weights_are_shares() {
        for query in [0.0, 18.0, 49.0] {
            let c = of(query);
            let weights = &c.tensor("weights").unwrap().values;
            for layer in 0..4 {
                for head in 0..4 {
                    let row = weights.index_axis(Axis(0), layer);
                    let patches = row.index_axis(Axis(0), head).sum();
                    let class = c.at("to_class", &[layer, head]).unwrap();
                    assert!((patches + class - 1.0).abs() < 1e-5);
                }
            }
            let patches = c.tensor("rollout").unwrap().values.sum();
            let class = c.at("rollout.to_class", &[]).unwrap();
            assert!((patches + class - 1.0).abs() < 1e-5);
        }
    }

    /// What the lesson says of the class token: it reads off the patches, not itself; in the second layer
    /// from ink, in the first from everywhere; and rollout blurs this.
    #[test]
    fn the_class_token_reads_ink() {
        let c = of(0.0);
        let mean = |name: &str, layer: usize| {
            (0..4)
                .map(|h| c.at(name, &[layer, h]).unwrap())
                .sum::<f64>()
                / 4.0
        };
        assert!(mean("on_ink", 0) < 0.5 && mean("on_ink", 1) > 0.97 && mean("on_ink", 2) > 0.95);
        assert_eq!(
            (c.at("inked", &[]), c.at("patches", &[])),
            (Some(19.0), Some(49.0))
        );
        assert!(c.at("largest", &[1, 1]).unwrap() > 0.9);
        assert!(c.at("weights", &[1, 1, 2, 3]).unwrap() > 0.9);
        for layer in 0..4 {
            for head in 0..4 {
                assert!(c.at("to_class", &[layer, head]).unwrap() < 0.05);
            }
        }
        assert!(c.at("rollout.largest", &[]).unwrap() < 0.06);
        let on_ink = c.at("rollout.on_ink", &[]).unwrap();
        assert!((0.5..0.65).contains(&on_ink), "{on_ink}");
    }

    /// Another drawing, other patches.
    #[test]
    fn attention_follows_the_drawing() {
        let given = Inputs::defaults(&inputs()).with(drawn::NAME, InputValue::Drawing(ready(1)));
        let one = computed(&SPEC, &given).unwrap();
        assert_ne!(one.tensor("weights"), of(0.0).tensor("weights"));
        assert_eq!(one.at("answer", &[]), Some(1.0));
    }
}
