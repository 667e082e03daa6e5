//! The share of each token that is left in the final hidden state of a trained encoder, and whether
//! the decoder makes use of it.
//!
//! ```text
//! loss(y | x) = −Σ_t ln p(y_t | y_<t, x)                     y the translation of the sentence, its end included
//! rise_p = mean over the replacements r of loss(y | x with r at position p) − loss(y | x)              nats
//! ```
//! A token whose replacement changes neither the translation nor its probability is forgotten.

use std::sync::Arc;

use engine::translate::{TranslationModel, Translator};
use ndarray::{Array2, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::race;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The model with the fixed vector.
const FILE: &str = race::MODELS[0].1;

/// Most tokens of the sentence, and of what is put in their places.
const MOST: (usize, usize) = (32, 12);

/// The cell `forgetting`.
pub const SPEC: CellSpec = CellSpec {
    name: "forgetting",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files,
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text(
            "sentence",
            "Sentence",
            "The cat that the dog that the boy owned chased ran away.",
        ),
        InputSpec::text("others", "Replacement words", "we house red never two"),
    ]
}

/// The file of the encoder.
fn files(_: &Inputs) -> Vec<&'static str> {
    vec![FILE]
}

/// Begins to compute.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let (translator, inputs) = (cache.opened::<Translator>(FILE)?, inputs.clone());
    Ok(once(move || compute(&inputs, &translator)))
}

fn compute(inputs: &Inputs, translator: &Arc<Translator>) -> Result<Computation, CellError> {
    let TranslationModel::Gru(model) = &translator.model else {
        return Err(CellError::Mismatch(format!("{FILE} holds another model")));
    };
    let ids = race::typed(inputs, "sentence", "Sentence", translator, MOST.0)?;
    let label = "Replacement words";
    let others = race::typed(inputs, "others", label, translator, MOST.1)?;
    let mut record = Record::new();
    let fading = shown!(
        record,
        engine::model::seq2seq::Seq2Seq::fading,
        model,
        &ids,
        &others
    )?;
    let order = model.reading_order(&(0..ids.len()).collect::<Vec<_>>());
    let last = ids.len() - 1;
    let mut left = vec![0.0; ids.len()];
    let mut each = Array2::zeros((ids.len(), others.len()));
    for (read, &place) in order.iter().enumerate() {
        left[place] = f64::from(fading.mean[[read, last]]);
        let row = fading.moves.index_axis(Axis(0), read);
        each.row_mut(place).assign(&row.column(last));
    }
    behaviour(&mut record, translator, &ids, &others)?;
    record.number("left.first", left[0]);
    record.number("left.last", left[last]);
    let third = ids.len().div_ceil(3);
    record.number("left.begin", mean(&left[..third]));
    record.number("left.end", mean(&left[ids.len() - third..]));
    record.number(
        "left.least",
        left.iter().copied().fold(f64::INFINITY, f64::min),
    );
    record.numbers("left", left);
    record.tensor("left.each", &each);
    record.tensor("fading", &fading.mean);
    record.number("tokens.count", ids.len() as f64);
    record.number("width", model.config().width as f64);
    let tokens = race::pieces(translator, &ids)?;
    let reads = order.iter().map(|&place| tokens[place].clone());
    record.words("reads", reads.collect());
    record.words("tokens", tokens);
    record.words("others", race::pieces(translator, &others)?);
    Ok(record.finish())
}

fn mean(part: &[f64]) -> f64 {
    part.iter().sum::<f64>() / part.len().max(1) as f64
}

/// What the decoder writes once a token is replaced, and how much less likely the translation of
/// the sentence itself becomes.
fn behaviour(
    record: &mut Record,
    translator: &Translator,
    ids: &[usize],
    others: &[usize],
) -> Result<(), CellError> {
    let own = shown!(
        record,
        engine::translate::Translator::greedy,
        translator,
        ids
    )?;
    let before = loss(translator, ids, &own)?;
    let (mut rises, mut words, mut texts, mut same) = (vec![], vec![], vec![], vec![]);
    for (place, &id) in ids.iter().enumerate() {
        let mut changed = ids.to_vec();
        let mut rise = Vec::new();
        let mut first = None;
        for &other in others.iter().filter(|&&other| other != id) {
            changed[place] = other;
            rise.push(loss(translator, &changed, &own)? - before);
            if first.is_none() {
                first = Some((other, translator.greedy(&changed)?));
            }
        }
        // With no other word the token stays, and with it the translation.
        let (other, written) = first.unwrap_or_else(|| (id, own.clone()));
        rises.push(rise.iter().sum::<f64>() / rise.len().max(1) as f64);
        same.push(if written == own { 1.0 } else { 0.0 });
        words.extend(race::pieces(translator, &[other])?);
        texts.push(translator.text(&written)?);
    }
    record.number("rise.first", rises.first().copied().unwrap_or_default());
    record.number("rise.last", rises.last().copied().unwrap_or_default());
    record.numbers("rise", rises);
    record.numbers("same", same);
    record.words("translation", vec![translator.text(&own)?]);
    record.words("replacement", words);
    record.words("changed", texts);
    Ok(())
}

/// −ln of the probability that a target is written after a source, its end included, in nats.
fn loss(translator: &Translator, source: &[usize], target: &[usize]) -> Result<f64, CellError> {
    let mut reading = translator.read(source)?;
    let (mut last, mut sum) = (translator.end(), 0.0);
    for &id in target.iter().chain([&translator.end()]) {
        let logits = reading.feed(last)?;
        let probabilities = engine::nn::softmax::softmax(logits.view());
        sum -= engine::math::double::ln(f64::from(probabilities[id].max(f32::MIN_POSITIVE)));
        last = id;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;

    fn with(changed: &[(&str, &str)]) -> Result<Computation, CellError> {
        let cache =
            ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"));
        let mut given = Inputs::defaults(&inputs());
        for (name, text) in changed {
            given = given.with(name, InputValue::Text((*text).to_owned()));
        }
        jobs::compute(&SPEC, &given, &cache)
    }

    /// The encoder reads from the first token to the last. What it reads first fills an empty state
    /// and leaves most; the bars are the last column of the picture.
    #[test]
    fn the_beginning_is_kept_best() {
        let found = with(&[]).unwrap();
        let at = |name: &str, index: &[usize]| found.at(name, index).unwrap();
        assert_eq!(found.words("reads"), found.words("tokens"));
        assert!(at("left.begin", &[]) > 1.5 * at("left.end", &[]));
        let count = found.words("tokens").len();
        for place in 0..count {
            assert_eq!(at("left", &[place]), at("fading", &[place, count - 1]));
            assert!(at("left", &[place]) >= at("left.least", &[]));
        }
        assert_eq!(at("fading", &[3, 1]), 0.0, "not read yet");
        // What the lesson says of the fold.
        assert!(at("fading", &[0, 0]) > 4.0 * at("fading", &[13, 13]));
        assert_eq!(found.words("tokens")[7..9], ["boy", "own"]);
        assert!(at("left", &[7]) < at("left.last", &[]));
        assert!(at("left.last", &[]) < at("left.first", &[]));
    }

    /// What the lesson says of the decoder: no replacement leaves the translation as it is, and the
    /// beginning matters most to it.
    #[test]
    fn the_beginning_matters_most_to_the_decoder() {
        let found = with(&[]).unwrap();
        let values = &found.tensor("rise").unwrap().values;
        let rise: Vec<f64> = values.iter().copied().collect();
        let third = rise.len() / 3;
        let (first, last) = (mean(&rise[..third]), mean(&rise[rise.len() - third..]));
        assert!(first > 1.5 * last, "{first} {last}");
        assert!(rise[1] > 3.0 * rise[8], "{} {}", rise[1], rise[8]);
        let same = &found.tensor("same").unwrap().values;
        assert!(same.iter().all(|&same| same == 0.0), "{same:?}");
    }

    /// The figures that the lesson gives for the site's own sentences: the longer a sentence, the
    /// less is left of each token, and from ten tokens on the first third always leaves more than
    /// the last.
    #[test]
    fn long_sentences_leave_less_of_each_token() {
        let cache =
            ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"));
        let translator = cache.opened::<Translator>(FILE).unwrap();
        let TranslationModel::Gru(model) = &translator.model else {
            panic!("another model");
        };
        let others = translator.ids("we house red never two").unwrap();
        let text = cache.opened::<String>("eval-en-it.tsv").unwrap();
        let (mut of_length, mut long) = (vec![Vec::new(); 32], 0);
        for pair in engine::translate::read_set(&text).unwrap() {
            let ids = translator.ids(&pair.english).unwrap();
            let fading = model.fading(&ids, &others).unwrap();
            let left: Vec<f64> = (fading.mean.column(ids.len() - 1).iter())
                .map(|&moved| f64::from(moved))
                .collect();
            let third = left.len().div_ceil(3);
            if left.len() >= 10 {
                let (begin, end) = (mean(&left[..third]), mean(&left[left.len() - third..]));
                assert!(begin > end, "{}: {begin} {end}", pair.english);
                long += 1;
            }
            of_length[left.len()].push(mean(&left));
        }
        assert_eq!(long, 127);
        for (count, percent) in [(5, 65.0), (10, 41.0), (14, 28.0)] {
            let found = 100.0 * mean(&of_length[count]);
            assert!((found - percent).abs() < 0.5, "{count}: {found}");
        }
    }

    /// The translations beside the bars are those of the changed sentences, and the loss of the
    /// sentence's own translation is least when nothing is replaced.
    #[test]
    fn the_translations_are_those_of_the_changed_sentences() {
        let found = with(&[("sentence", "i am hungry"), ("others", "tired")]).unwrap();
        assert_eq!(found.words("replacement"), ["tired"; 3]);
        let other = with(&[("sentence", "i am tired"), ("others", "tired")]).unwrap();
        assert_eq!(found.words("changed")[2], other.words("translation")[0]);
        assert_eq!(found.at("same", &[2]), Some(0.0));
        assert!(found.at("rise", &[2]).unwrap() > 1.0);
        assert_eq!(other.at("rise", &[2]), Some(0.0), "tired for tired");
        assert_eq!(other.at("same", &[2]), Some(1.0));
        assert_eq!(other.words("changed")[2], other.words("translation")[0]);
    }

    #[test]
    fn empty_boxes_are_answered_in_words() {
        for name in ["sentence", "others"] {
            let error = with(&[(name, "  ")]).unwrap_err();
            assert!(matches!(error, CellError::Input { .. }), "{error}");
        }
    }
}
