//! Two models on the reader's drawing: one answers from its class token, the other from the mean of its
//! patches.

use std::sync::Arc;

use engine::model::vit::Vit;
use ndarray::{Array2, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::trained::{self, VIT, VIT_MEAN};
use crate::parts::{drawn, readers};
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The cell `class-or-mean`.
pub const SPEC: CellSpec = CellSpec {
    name: "class-or-mean",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| {
        [VIT, VIT_MEAN]
            .into_iter()
            .filter_map(trained::file)
            .collect()
    },
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![drawn::input()]
}

fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let open = |name: &str| cache.opened::<Vit>(trained::file(name).unwrap_or_default());
    let (class, mean): (Arc<Vit>, Arc<Vit>) = (open(VIT)?, open(VIT_MEAN)?);
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &class, &mean)))
}

fn compute(inputs: &Inputs, class: &Vit, mean: &Vit) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    let seen = drawn::read(&mut record, "class.", class, &image)?;
    let config = class.config();
    let all = readers::all_weights(&seen, config.layers, config.heads)?;
    // The class token's row in the last layer, the mean over the heads.
    let last = all.index_axis(Axis(0), config.layers - 1);
    let row = last.index_axis(Axis(1), 0);
    let row = row.mean_axis(Axis(0)).unwrap_or_default();
    record.tensor("class.weights", &drawn::as_grid(&row.to_vec()[1..]));
    record.number("class.to_itself", f64::from(row[0]));

    drawn::answer(&mut record, "mean.", mean, &image)?;
    let side = config.image / config.patch;
    let even = Array2::from_elem((side, side), 1.0 / (side * side) as f32);
    record.tensor("mean.weights", &even);
    for (name, model) in [("class", class), ("mean", mean)] {
        let config = model.config();
        let shapes = match model.has_class_token() {
            true => config.shapes(),
            false => config.shapes_of_patches(),
        };
        let parameters: usize = shapes
            .iter()
            .map(|(_, shape)| shape.iter().product::<usize>())
            .sum();
        record.number(&format!("{name}.parameters"), parameters as f64);
        let tokens = side * side + usize::from(model.has_class_token());
        record.number(&format!("{name}.tokens"), tokens as f64);
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::parts::test_models::on_drawing;

    fn of(label: usize) -> Computation {
        on_drawing(&SPEC, ready(label)).unwrap()
    }

    /// Both read all ten ready digits, as sure as each other.
    #[test]
    fn both_read_the_ready_digits() {
        for label in 0..10 {
            let c = of(label);
            for model in ["class", "mean"] {
                assert_eq!(c.at(&format!("{model}.answer"), &[]), Some(label as f64));
                let sure = c.at(&format!("{model}.answer.probability"), &[]).unwrap();
                assert!(sure > 0.9, "{model} {label} {sure}");
            }
        }
    }

    /// The class token's weights differ from patch to patch, the mean's do not; 128 parameters apart.
    #[test]
    fn the_class_token_chooses_and_the_mean_does_not() {
        let c = of(4);
        let class = &c.tensor("class.weights").unwrap().values;
        let itself = c.at("class.to_itself", &[]).unwrap();
        assert!((class.sum() + itself - 1.0).abs() < 1e-5);
        assert!(class.iter().any(|&weight| weight > 0.2));
        let mean = &c.tensor("mean.weights").unwrap().values;
        assert!(
            mean.iter()
                .all(|&weight| (weight - 1.0 / 49.0).abs() < 1e-7)
        );
        let count = |model: &str| c.at(&format!("{model}.parameters"), &[]).unwrap();
        assert_eq!((count("class"), count("mean")), (139_018.0, 138_890.0));
        assert_eq!(c.at("mean.tokens", &[]), Some(49.0));
    }
}
