//! A digit whose patches lie in another order, read by digit-vit and by the same model without
//! positions.

use std::sync::Arc;

use engine::model::vit::Vit;
use ndarray::{Array1, Array2, Array3, Axis, stack};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::digit_models::watched;
use crate::parts::measure::{bits_changed, largest, row_differences};
use crate::parts::trained::{self, VIT, VIT_BAG, told};
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The next order of the button that shuffles.
pub use explain::jigsaw::shuffled;

/// Patches of a digit.
pub const PATCHES: usize = 49;

/// Side of a patch in pixels.
pub const SIDE: usize = 4;

/// The cell `jigsaw`.
pub const SPEC: CellSpec = CellSpec {
    name: "jigsaw",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| {
        [VIT, VIT_BAG]
            .into_iter()
            .filter_map(trained::file)
            .collect()
    },
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("drawing", "Drawing", (0.0, 199.0, 1.0), 16.0),
        InputSpec::order("order", "Order of the patches", PATCHES, PATCHES),
    ]
}

/// Begins to compute.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let opened = |name| cache.opened::<Vit>(trained::file(name).unwrap_or_default());
    let models = [("vit", opened(VIT)?), ("bag", opened(VIT_BAG)?)];
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &models)))
}

fn compute(inputs: &Inputs, models: &[(&str, Arc<Vit>); 2]) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let (number, order) = (inputs.count("drawing")?, inputs.order("order", PATCHES)?);
    let digit = shown!(record, explain::drawn_digits::digit, number)?;
    let arranged = shown!(
        record,
        explain::jigsaw::rearranged,
        digit.image.view(),
        SIDE,
        &order[..]
    )?;
    let moved = order.iter().enumerate().filter(|(to, from)| to != *from);
    record.number("label", digit.label as f64);
    record.number("patches", PATCHES as f64);
    record.number("moved", moved.count() as f64);
    record.tensor("picture", &arranged);
    for (name, vit) in models {
        let before = read(&mut record, vit, &digit.image)?;
        let after = read(&mut record, vit, &arranged)?;
        compared(&mut record, name, [before, after], &order, digit.label)?;
    }
    Ok(record.finish())
}

/// What a model makes of a picture: the embeddings of its patches and its probabilities.
struct Reading {
    embedded: Array2<f32>,
    probabilities: Array1<f32>,
}

fn read(record: &mut Record, vit: &Vit, image: &Array3<f32>) -> Result<Reading, CellError> {
    let (scores, seen) = watched(record, vit, image)?;
    let scores = scores.view();
    Ok(Reading {
        embedded: told(&seen, "embedding")?,
        probabilities: shown!(record, engine::nn::softmax::softmax, scores),
    })
}

/// Both answers of a model, and how far they are apart.
fn compared(
    record: &mut Record,
    name: &str,
    [before, after]: [Reading; 2],
    order: &[usize],
    label: usize,
) -> Result<(), CellError> {
    let rows = [before.probabilities.view(), after.probabilities.view()];
    let both = stack(Axis(0), &rows).map_err(|e| CellError::Mismatch(e.to_string()))?;
    // The patches moved, and their embeddings with them: row i is the former row order[i].
    let expected = before.embedded.select(Axis(0), order);
    let changed = bits_changed(after.embedded.view(), expected.view());
    let first = both.select(Axis(0), &[0]);
    let second = both.select(Axis(0), &[1]);
    let apart = largest(&row_differences(first.view(), second.view()));
    for (row, when) in ["before", "after"].into_iter().enumerate() {
        let best = engine::nn::softmax::top_indices(both.row(row), 1);
        let best = best.first().copied().unwrap_or_default();
        record.number(&format!("{name}.{when}"), best as f64);
    }
    record.number(&format!("{name}.sure"), f64::from(both[[1, label]]));
    record.number(&format!("{name}.largest"), apart);
    record.number(&format!("{name}.bits"), changed.iter().sum());
    record.tensor(name, &both);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::{computed, number};

    fn whole() -> Vec<usize> {
        (0..PATCHES).collect()
    }

    fn at(drawing: usize, order: Vec<usize>) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("drawing", number(drawing as f64))
            .with("order", InputValue::Order(order));
        computed(&SPEC, &given).unwrap()
    }

    fn value(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// In place nothing changes, not a bit.
    #[test]
    fn in_place_both_answers_are_one() {
        let c = at(16, whole());
        for name in ["vit", "bag"] {
            assert_eq!(value(&c, &format!("{name}.largest")), 0.0);
            assert_eq!(value(&c, &format!("{name}.bits")), 0.0);
            assert_eq!(value(&c, &format!("{name}.before")), 6.0);
        }
        assert_eq!((value(&c, "label"), value(&c, "moved")), (6.0, 0.0));
    }

    /// What the lesson says of the drawing that the cell opens with: shuffled, digit-vit reads a five
    /// where there was a six, and the model without positions the same six as before.
    #[test]
    fn the_first_shuffle_of_the_six() {
        let c = at(16, shuffled(&whole()));
        assert_eq!(
            (value(&c, "vit.before"), value(&c, "vit.after")),
            (6.0, 5.0)
        );
        assert_eq!(
            (value(&c, "bag.before"), value(&c, "bag.after")),
            (6.0, 6.0)
        );
        assert!(value(&c, "vit.largest") > 0.9);
        assert!(c.at("vit", &[0, 6]).unwrap() > 0.95 && c.at("bag", &[0, 6]).unwrap() > 0.95);
    }

    /// The patch embeddings are the former ones in the new order, to the bit; without positions the
    /// probabilities change by rounding alone: for every drawing of the first hundred, and an order of
    /// its own for each.
    #[test]
    fn without_positions_an_order_is_rounding() {
        let mut order = whole();
        for drawing in 0..100 {
            order = shuffled(&order);
            let c = at(drawing, order.clone());
            let apart = value(&c, "bag.largest");
            assert!(apart < 1e-5, "{drawing}: {apart}");
            assert_eq!(value(&c, "bag.before"), value(&c, "bag.after"), "{drawing}");
            for name in ["vit.bits", "bag.bits"] {
                assert_eq!(value(&c, name), 0.0, "{drawing}: {name}");
            }
        }
    }

    /// The solution of the exercise: two patches of the six change places.
    #[test]
    fn one_swap_is_enough() {
        let mut order = whole();
        order.swap(16, 30);
        let c = at(16, order);
        assert_eq!((value(&c, "moved"), value(&c, "vit.after")), (2.0, 5.0));
        assert!(value(&c, "vit.sure") < 0.1 && value(&c, "bag.sure") > 0.95);
    }

    /// The hint of the exercise: of all swaps, 30 change the answer, and all of them move one patch, which
    /// closes the loop of the six on the left.
    #[test]
    fn every_swap_that_changes_the_answer_moves_one_patch() {
        let cache = crate::parts::test_models::cache();
        let vit = cache.opened::<Vit>("digit-vit.safetensors").unwrap();
        let image = explain::drawn_digits::digit(16).unwrap().image;
        let reads = |order: &[usize]| {
            let moved = explain::jigsaw::rearranged(image.view(), SIDE, order).unwrap();
            let logits = vit.forward(moved.view(), None).unwrap();
            engine::nn::softmax::top_indices(logits.view(), 1)[0]
        };
        let (mut swaps, mut changed) = (0, Vec::new());
        for a in 0..PATCHES {
            for b in a + 1..PATCHES {
                let mut order = whole();
                order.swap(a, b);
                swaps += 1;
                if reads(&order) != 6 {
                    changed.push([a, b]);
                }
            }
        }
        assert_eq!((swaps, changed.len()), (1176, 30));
        assert!(changed.iter().all(|pair| pair.contains(&30)), "{changed:?}");
    }
}
