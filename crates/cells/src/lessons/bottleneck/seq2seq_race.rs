//! Three models that learned from the same pairs translate one sentence.

use std::sync::Arc;

use engine::translate::{TranslationModel, Translator, length, normalised};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::race;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// Most tokens of the sentence.
const MOST: usize = 48;

/// The longest sentences that the models learned from, in words.
const LONGEST_LEARNED: f64 = 14.0;

/// The cell `seq2seq-race`.
pub const SPEC: CellSpec = CellSpec {
    name: "seq2seq-race",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: race::files,
    start,
    partial_from: Some(0),
};

fn inputs() -> Vec<InputSpec> {
    vec![InputSpec::text(
        "sentence",
        "English sentence",
        "We see the sky.",
    )]
}

/// Begins to translate.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let (models, inputs) = (race::open(cache)?, inputs.clone());
    Ok(once(move || compute(&inputs, &models)))
}

/// The translations of the models that are here.
fn compute(inputs: &Inputs, models: &[(&str, Arc<Translator>)]) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let sentence = inputs.text("sentence")?;
    for (name, translator) in models {
        let ids = race::typed(inputs, "sentence", "English sentence", translator, MOST)?;
        let read = match &translator.model {
            TranslationModel::Gru(model) => model.reading_order(&ids),
            TranslationModel::Attention(_) | TranslationModel::Transformer(_) => ids,
        };
        record.words(&format!("{name}.reads"), race::pieces(translator, &read)?);
        let (text, tokens) = race::translation(&mut record, translator, sentence)?;
        record.number(&format!("{name}.tokens"), tokens as f64);
        record.words(name, vec![text]);
    }
    let words = length(&normalised(sentence));
    record.number("words", words as f64);
    record.number("longest.learned", LONGEST_LEARNED);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::parts::race::MODELS;

    fn cache() -> ModelCache {
        ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"))
    }

    fn race(sentence: &str, cache: &ModelCache) -> Result<Computation, CellError> {
        let given =
            Inputs::defaults(&inputs()).with("sentence", InputValue::Text(sentence.to_owned()));
        jobs::compute(&SPEC, &given, cache)
    }

    /// The cell shows what the model in the file says by itself, and all read the same tokens.
    #[test]
    fn three_models_translate_the_same_sentence() {
        let cache = cache();
        let found = race("We see the sky.", &cache).unwrap();
        for (name, file) in MODELS {
            let alone = cache.opened::<Translator>(file).unwrap();
            let expected = alone.translate("we see the sky").unwrap();
            assert_eq!(found.words(name), [expected], "{name}");
        }
        assert!(found.words("attention")[0].contains("cielo"));
        for name in ["attention", "transformer"] {
            let reads = found.words(&format!("{name}.reads"));
            assert_eq!(reads, found.words("fixed.reads"), "{name}");
        }
        assert_eq!(found.at("words", &[]), Some(4.0));
    }

    /// Each file that arrives adds its model's translation and changes no other.
    #[test]
    fn what_has_arrived_is_a_part_of_the_whole_result() {
        let whole = race("We see the sky.", &cache()).unwrap();
        let arriving = ModelCache::default();
        let entry = jobs::find(SPEC.name).unwrap();
        for (count, (_, file)) in MODELS.into_iter().enumerate() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models/").to_owned();
            arriving.put(file, std::fs::read(path + file).unwrap().into());
            let mut job = (entry.start)(&Inputs::defaults(&inputs()), &arriving).unwrap();
            let crate::Progress::Done(part) = job.advance().unwrap() else {
                panic!("it is done in one go");
            };
            for (place, (name, _)) in MODELS.into_iter().enumerate() {
                let here = place <= count;
                let expected = if here { whole.words(name) } else { &[] };
                assert_eq!(part.words(name), expected, "{name} with {file}");
            }
            assert!(
                part.tensors
                    .iter()
                    .all(|(name, found)| whole.tensor(name) == Some(found))
            );
            assert_eq!(
                part.fingerprint() == whole.fingerprint(),
                count + 1 == MODELS.len()
            );
        }
    }

    #[test]
    fn nothing_and_too_much_are_answered_in_words() {
        let cache = cache();
        for sentence in ["", " . ", "the cat and the dog ".repeat(30).as_str()] {
            let error = race(sentence, &cache).unwrap_err();
            assert!(matches!(error, CellError::Input { .. }), "{error}");
        }
        let emoji = race("\u{1f642} caffè 漢字", &cache).unwrap();
        assert_eq!(emoji.words("transformer").len(), 1);
    }
}
