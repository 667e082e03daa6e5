//! The attention of a Vision Transformer over a picture: the weights of one query, the class token or a
//! patch, in every head of every layer, and by rollout. The lesson's cell reads the reader's drawing with
//! digit-vit; the other one the picture that an opened model read last.

use std::sync::Arc;

use engine::model::vit::Vit;
use explain::attention_distance::even_distance;
use ndarray::{Array2, Array4, ArrayView1, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::picture_model::{Attention, OpenedPicture};
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::digit_models;
use crate::parts::drawn;
use crate::parts::opened_picture;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// Patches of a drawing.
const PATCHES: usize = 49;

/// Most patches of a picture that an opened model reads.
const MOST_PATCHES: usize = 4096;

/// What the large picture shows.
pub const ROLLOUT: &str = "rollout";

/// The cell `patch-attention`.
pub const SPEC: CellSpec = CellSpec {
    name: "patch-attention",
    inputs: || inputs(drawn::input(), PATCHES, &[1, 1]),
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = digit_models::entry(SPEC.name, |inputs, cache| {
    drawn::once_with_vit(inputs, cache, compute)
});

/// The cell on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: SPEC.name,
    inputs: || inputs(opened_picture::input(), MOST_PATCHES, &[0, 0]),
    run: SPEC.run,
};

/// Starts the cell on a model and the picture that it read last.
///
/// # Errors
/// None: the computation has its own.
pub fn start_opened(
    inputs: &Inputs,
    opened: Arc<OpenedPicture>,
) -> Result<Box<dyn Job>, CellError> {
    let inputs = inputs.clone();
    Ok(once(move || compute_opened(&inputs, &opened)))
}

fn inputs(picture: InputSpec, patches: usize, selected: &'static [usize]) -> Vec<InputSpec> {
    vec![
        picture,
        InputSpec::number(
            "query",
            "Query: 0 is the class token, from 1 a patch",
            (0.0, patches as f64, 1.0),
            0.0,
        ),
        InputSpec::choice("shown", "Shown", &["one head", ROLLOUT]),
        InputSpec::entry("selected", "Selected layer and head", 2, Some(selected)),
    ]
}

fn compute(inputs: &Inputs, vit: &Vit) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    let found = Attention::of(&mut record, vit, &image)?;
    if let Some(logits) = &found.logits {
        drawn::note(&mut record, "", &drawn::probabilities(logits));
    }
    let token = asked(&mut record, &found, inputs.count("query")?)?;
    let ink = inked(&image.index_axis(Axis(0), 0).to_owned(), found.patches.side);
    let rows = found.weights.index_axis(Axis(2), token);
    let (layers, heads, _) = rows.dim();
    let on_ink = Array2::from_shape_fn((layers, heads), |(layer, head)| {
        on(
            rows.index_axis(Axis(0), layer).index_axis(Axis(0), head),
            &ink,
        )
    });
    record.tensor("on_ink", &on_ink);
    record.number(
        "rollout.on_ink",
        f64::from(on(found.rolled.row(token), &ink)),
    );
    record.number("inked", ink.iter().filter(|&&has| has).count() as f64);
    Ok(record.finish())
}

fn compute_opened(inputs: &Inputs, opened: &OpenedPicture) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let found = opened.attention()?;
    asked(&mut record, found, inputs.count("query")?)?;
    record.tensor("distance", &found.distances);
    let nearest = found
        .distances
        .fold(f32::INFINITY, |least, &d| least.min(d));
    let farthest = found.distances.fold(0.0, |most: f32, &d| most.max(d));
    record.number("distance.least", f64::from(nearest));
    record.number("distance.most", f64::from(farthest));
    let even = even_distance(&found.patches);
    record.number("distance.even", f64::from(even));
    let (layers, heads) = found.distances.dim();
    record.words(
        "layer.names",
        (1..=layers).map(|n| format!("layer {n}")).collect(),
    );
    record.words(
        "head.names",
        (1..=heads).map(|n| format!("head {n}")).collect(),
    );
    Ok(record.finish())
}

/// Records what a query attends to: 0 asks the class token, n the patch n. Where no token comes before
/// the patches, 0 asks the first patch. Returns the token that was asked.
fn asked(record: &mut Record, found: &Attention, query: usize) -> Result<usize, CellError> {
    let patches = &found.patches;
    let (before, columns) = (patches.before, patches.columns);
    let count = patches.rows * columns;
    let query = query.min(count);
    let token = match (query, before) {
        (0, 0) => 0,
        (0, _) => before - 1,
        _ => before + query - 1,
    };
    if token >= found.weights.dim().2 {
        return Err(CellError::Missing(format!("patch {query}")));
    }
    let rows = found.weights.index_axis(Axis(2), token);
    let (layers, heads, _) = rows.dim();
    let at = |y: usize, x: usize| before + y * columns + x;
    let of_heads = Array4::from_shape_fn((layers, heads, patches.rows, columns), |(l, h, y, x)| {
        rows[[l, h, at(y, x)]]
    });
    record.tensor("weights", &of_heads);
    let each = |of: &dyn Fn(ArrayView1<'_, f32>) -> f32| {
        Array2::from_shape_fn((layers, heads), |(layer, head)| {
            of(rows.index_axis(Axis(0), layer).index_axis(Axis(0), head))
        })
    };
    let largest = |row: ArrayView1<'_, f32>| {
        let on_patches = row.iter().skip(before);
        on_patches.fold(0.0, |most: f32, &weight| most.max(weight))
    };
    let to_class = |row: ArrayView1<'_, f32>| -> f32 { row.iter().take(before).sum() };
    record.tensor("to_class", &each(&to_class));
    record.tensor("largest", &each(&largest));
    let rolled = found.rolled.row(token);
    let map = Array2::from_shape_fn((patches.rows, columns), |(y, x)| rolled[at(y, x)]);
    record.tensor("rollout", &map);
    record.number("rollout.to_class", f64::from(to_class(rolled)));
    record.number("rollout.largest", f64::from(largest(rolled)));
    record.number("patches", count as f64);
    record.number("query", query as f64);
    record.number("layers", layers as f64);
    record.number("heads", heads as f64);
    Ok(token)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::input::InputValue;
    use crate::parts::test_models::{computed, number};

    fn of(query: f64) -> Computation {
        let given = Inputs::defaults(&(SPEC.inputs)()).with("query", number(query));
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

    /// The heads that the lesson quotes: in the first block the fourth gives ink least and the third most,
    /// in the second block the third least.
    #[test]
    fn quoted_heads_are_the_least_and_the_most() {
        let c = of(0.0);
        let on_ink = |layer: usize| [0, 1, 2, 3].map(|h| c.at("on_ink", &[layer, h]).unwrap());
        let least = |row: [f64; 4]| row.into_iter().fold(f64::INFINITY, f64::min);
        let first = on_ink(0);
        assert_eq!(first[3], least(first), "{first:?}");
        assert_eq!(first[2], first.into_iter().fold(0.0, f64::max), "{first:?}");
        let second = on_ink(1);
        assert_eq!(second[2], least(second), "{second:?}");
    }

    /// Another drawing, other patches.
    #[test]
    fn attention_follows_the_drawing() {
        let given =
            Inputs::defaults(&(SPEC.inputs)()).with(drawn::NAME, InputValue::Drawing(ready(1)));
        let one = computed(&SPEC, &given).unwrap();
        assert_ne!(one.tensor("weights"), of(0.0).tensor("weights"));
        assert_eq!(one.at("answer", &[]), Some(1.0));
    }
}
