//! The translator and digit-vit side by side: their sizes from their own files, and which of their
//! parts holds how many parameters.

use std::sync::Arc;

use engine::model::transformer::Transformer;
use engine::model::vit::Vit;
use engine::translate::Translator;
use explain::parameter_parts::PARTS;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::Inputs;
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::digit_models;
use crate::parts::trained::{self, TRANSLATOR, VIT};
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The cell `two-transformers`.
pub const SPEC: CellSpec = CellSpec {
    name: "two-transformers",
    inputs: Vec::new,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| {
        [TRANSLATOR, VIT]
            .into_iter()
            .filter_map(trained::file)
            .collect()
    },
    start,
    partial_from: None,
};

fn start(_: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let file = trained::file(TRANSLATOR).unwrap_or_default();
    let translator = cache.opened::<Translator<Transformer>>(file)?;
    let vit = digit_models::vit(cache)?;
    Ok(once(move || Ok(compute(&translator, &vit))))
}

/// The number of parameters of each part, and of all, under the name of a model.
fn count(record: &mut Record, model: &str, shapes: &[(String, Vec<usize>)]) {
    let counts = shown!(record, explain::parameter_parts::by_part, shapes);
    for (part, count) in PARTS.iter().zip(&counts) {
        record.number(&format!("{model}.{part}"), *count as f64);
    }
    let all: usize = counts.iter().sum();
    record.number(&format!("{model}.parameters"), all as f64);
}

fn compute(translator: &Arc<Translator<Transformer>>, vit: &Arc<Vit>) -> Computation {
    let mut record = Record::new();
    let config = translator.model.config();
    for (name, size) in [
        ("encoder", config.encoder_layers),
        ("decoder", config.decoder_layers),
        ("width", config.width),
        ("heads", config.heads),
        ("inner", config.inner),
        ("in", config.vocabulary),
        ("out", config.vocabulary),
    ] {
        record.number(&format!("translator.{name}"), size as f64);
    }
    count(&mut record, "translator", &config.shapes());

    let config = vit.config();
    let pixels = config.channels * config.patch * config.patch;
    for (name, size) in [
        ("encoder", config.layers),
        ("decoder", 0),
        ("width", config.width),
        ("heads", config.heads),
        ("inner", config.inner),
        ("in", pixels),
        ("out", config.classes),
    ] {
        record.number(&format!("vit.{name}"), size as f64);
    }
    count(&mut record, "vit", &config.shapes());
    record.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{cache, computed};

    /// The seven rows of sizes, of both models: the configurations in their files.
    #[test]
    fn sizes_are_those_of_the_files() {
        let cache = cache();
        let file = trained::file(TRANSLATOR).unwrap();
        let translator = cache.opened::<Translator<Transformer>>(file).unwrap();
        let of = translator.model.config();
        let of_translator = [
            of.encoder_layers,
            of.decoder_layers,
            of.width,
            of.heads,
            of.inner,
            of.vocabulary,
            of.vocabulary,
        ];
        let vit = digit_models::vit(&cache).unwrap();
        let of = vit.config();
        let pixels = of.channels * of.patch * of.patch;
        let of_vit = [
            of.layers, 0, of.width, of.heads, of.inner, pixels, of.classes,
        ];
        assert_eq!(of_translator, [2, 2, 112, 4, 512, 4096, 4096]);
        assert_eq!(of_vit, [4, 0, 64, 4, 128, 16, 10]);
        let c = computed(&SPEC, &Inputs::default()).unwrap();
        let names = ["encoder", "decoder", "width", "heads", "inner", "in", "out"];
        for (model, sizes) in [("translator", of_translator), ("vit", of_vit)] {
            let found = names.map(|name| c.at(&format!("{model}.{name}"), &[]));
            assert_eq!(found, sizes.map(|size| Some(size as f64)), "{model}");
        }
    }

    /// Every parameter of both models is of one kind, and the sums are the numbers of the models' cards.
    #[test]
    fn each_parameter_is_counted_once() {
        let c = computed(&SPEC, &Inputs::default()).unwrap();
        let at = |name: &str| c.at(name, &[]).unwrap();
        for (model, of) in [("translator", TRANSLATOR), ("vit", VIT)] {
            let sum: f64 = PARTS
                .iter()
                .map(|part| at(&format!("{model}.{part}")))
                .sum();
            assert_eq!(sum, at(&format!("{model}.parameters")), "{of}");
            println!(
                "{of} {:?}",
                PARTS.map(|part| at(&format!("{model}.{part}")))
            );
        }
        assert_eq!(at("vit.parameters"), 139_018.0);
    }
}
