//! The trained translator with attention on a sentence of the reader's: which source words each
//! word of the translation was written from.

use engine::model::seq2seq_attention::AttentiveSeq2Seq;
use engine::token::tokenizer::Tokenizer;
use engine::translate::{Translator, length, normalised};
use std::ops::Range;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::race::END;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The translator with additive attention.
type Attentive = Translator<AttentiveSeq2Seq>;

/// The model's file below `models/`.
pub(crate) const FILE: &str = "seq2seq-attention.safetensors";

/// Most words of a sentence. The model has learned from sentences of up to 14.
const MOST_WORDS: usize = 18;

/// Most tokens of a sentence: an unknown word becomes many.
const MOST_PIECES: usize = 48;

/// The cell `alignment-lines`.
pub const SPEC: CellSpec = CellSpec {
    name: "alignment-lines",
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
        InputSpec::text("sentence", "English sentence", "She has blue eyes."),
        InputSpec::choice("show", "Lines between", &["words", "pieces"]),
        InputSpec::word("selected", "Selected word", "occhi"),
    ]
}

/// The model, whatever the inputs are.
fn files(_: &Inputs) -> Vec<&'static str> {
    vec![FILE]
}

/// Begins to compute.
///
/// # Errors
/// When the model is not there or is another one.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let translator = cache.opened::<Attentive>(FILE)?;
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &translator)))
}

fn compute(inputs: &Inputs, translator: &Attentive) -> Result<Computation, CellError> {
    let sentence = inputs.text("sentence")?;
    let refuse = |message: String| CellError::input("sentence", "English sentence", message);
    let count = length(&normalised(sentence));
    if count == 0 {
        return Err(refuse("type at least one word.".to_owned()));
    }
    if count > MOST_WORDS {
        return Err(refuse(format!(
            "this cell shows at most {MOST_WORDS} words, and there are {count}. Your text is kept: shorten it to continue."
        )));
    }
    let mut record = Record::new();
    let source = shown!(
        record,
        engine::translate::Translator::ids,
        translator,
        sentence
    )?;
    if source.len() > MOST_PIECES {
        let found = source.len();
        return Err(refuse(format!(
            "this text has {found} pieces of words, and this cell shows at most {MOST_PIECES}. Your text is kept: shorten it to continue."
        )));
    }
    let found = shown!(record, engine::translate::aligned, translator, &source)?;
    let words = |ids: &[usize]| engine::translate::words(translator, ids);
    let (to, from) = (words(&found.target)?, words(&source)?);
    record.number("source.pieces", source.len() as f64);
    record.number("target.pieces", found.target.len() as f64);
    let pieces =
        |words: &[Range<usize>]| words.iter().cloned().flatten().map(|n| n..n + 1).collect();
    let whole = inputs.choice("show")? == "words";
    let (to, from): (Vec<_>, Vec<_>) = if whole {
        (to, from)
    } else {
        (pieces(&to), pieces(&from))
    };
    let weights = shown!(
        record,
        engine::translate::by_words,
        found.weights.view(),
        &to[..],
        &from[..]
    )?;
    let heaviest = shown!(record, engine::translate::heaviest, weights.view());
    let aligned = heaviest.len() - usize::from(found.target.last() == Some(&translator.end()));
    let crossings = shown!(record, engine::translate::crossings, &heaviest[..aligned]);
    record.tensor("weights", &weights);
    record.numbers("heaviest", heaviest.iter().map(|&j| j as f64).collect());
    record.number("crossings", crossings as f64);
    record.words("source", names(translator, &source, &from)?);
    record.words("target", names(translator, &found.target, &to)?);
    let written: Vec<usize> = found
        .target
        .into_iter()
        .filter(|&id| id != translator.end())
        .collect();
    record.words("translation", vec![translator.text(&written)?]);
    Ok(record.finish())
}

/// The text of words or tokens; a token within a word has a hyphen before it.
fn names(
    translator: &Attentive,
    ids: &[usize],
    ranges: &[Range<usize>],
) -> Result<Vec<String>, CellError> {
    let mut names = Vec::new();
    for range in ranges {
        let ids = &ids[range.clone()];
        let text = translator.tokenizer().decode(ids)?;
        names.push(if ids == [translator.end()] {
            END.to_owned()
        } else if range.start == 0 || text.starts_with(' ') {
            text.trim().to_owned()
        } else {
            format!("-{text}")
        });
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;

    fn cache() -> ModelCache {
        ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"))
    }

    fn given(sentence: &str, show: &str) -> Inputs {
        Inputs::defaults(&inputs())
            .with("sentence", InputValue::Text(sentence.to_owned()))
            .with("show", InputValue::Choice(show.to_owned()))
    }

    fn of(sentence: &str, show: &str) -> Computation {
        jobs::compute(&SPEC, &given(sentence, show), &cache()).unwrap()
    }

    /// The reordering of the curriculum: the noun of the translation looks at the last word, the
    /// adjective after it at the one before.
    #[test]
    fn the_adjective_after_the_noun_looks_back() {
        let c = jobs::compute(&SPEC, &Inputs::defaults(&inputs()), &cache()).unwrap();
        assert_eq!(c.words("source"), ["she", "has", "blue", "eyes"]);
        assert_eq!(c.words("target"), ["ha", "gli", "occhi", "blu", END]);
        assert_eq!(c.words("translation"), ["ha gli occhi blu"]);
        let heaviest = |t: usize| c.at("heaviest", &[t]).unwrap() as usize;
        assert_eq!([0, 1, 2, 3].map(heaviest), [1, 3, 3, 2]);
        let weight = |t, s| c.at("weights", &[t, s]).unwrap();
        assert!(weight(2, 3) > 0.5 && weight(3, 2) > 0.5);
        // The pronoun is in the verb.
        assert!(weight(0, 0) + weight(0, 1) > 0.8 && weight(0, 0) > 0.2);
        assert_eq!(c.at("crossings", &[]), Some(2.0));
    }

    /// The lesson's note on annotations that tell of other words.
    #[test]
    fn a_verb_that_agrees_with_its_pronoun_looks_mostly_at_the_verb() {
        let c = of("They have blue eyes", "words");
        assert_eq!(c.words("target")[0], "hanno");
        let weight = |s| c.at("weights", &[0, s]).unwrap();
        assert!(
            weight(1) > 0.7 && weight(0) < 0.2,
            "{} {}",
            weight(0),
            weight(1)
        );
    }

    /// The lesson's claim about an adjective that comes before its noun.
    #[test]
    fn an_adjective_that_goes_first_crosses_nothing() {
        let c = of("We live in an old house", "words");
        assert_eq!(c.words("translation"), ["viviamo in una vecchia casa"]);
        assert_eq!(c.at("crossings", &[]), Some(0.0));
    }

    #[test]
    fn every_row_is_a_share_of_one_in_words_and_pieces() {
        let sentence = "The photographer was astonished.";
        let (words, pieces) = (of(sentence, "words"), of(sentence, "pieces"));
        assert_eq!(words.words("source").len(), 4);
        let count = pieces.words("source").len();
        assert_eq!(pieces.at("source.pieces", &[]), Some(count as f64));
        assert!(count > 4, "{:?}", pieces.words("source"));
        let joined: String = pieces.words("source").concat();
        assert_eq!(joined.replace('-', ""), words.words("source").concat());
        for c in [&words, &pieces] {
            let weights = &c.tensor("weights").unwrap().values;
            let shape = [c.words("target").len(), c.words("source").len()];
            assert_eq!(weights.shape(), shape);
            for row in weights.rows() {
                assert!((row.sum() - 1.0).abs() < 1e-5, "{row}");
            }
            assert_eq!(c.words("target").last().map(String::as_str), Some(END));
        }
    }

    #[test]
    fn what_cannot_be_shown_is_refused_in_words() {
        let long = "word ".repeat(MOST_WORDS + 1);
        let spelt = "zqxjkvwzqxjkvwzqxjkvwzqxjkvwzqxjkvwzqxjkvwzqxjkvwzqxjkvw".repeat(2);
        for sentence in ["", " ... ", &long, &spelt] {
            let error = jobs::compute(&SPEC, &given(sentence, "words"), &cache()).unwrap_err();
            assert!(
                matches!(error, CellError::Input { .. }),
                "{sentence}: {error}"
            );
        }
    }
}
