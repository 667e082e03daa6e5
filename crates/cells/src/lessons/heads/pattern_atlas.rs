//! The heads of a trained model on a sentence of the reader's, each with scores that say what it
//! looks at.

use explain::head_scores::{COUNT, EVEN, INDUCTION, head_scores};
use ndarray::{Array3, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::readers;
use crate::parts::trained::{self, BERT, GPT};
use crate::spec::{CellSpec, Job, Run, WorkerKind};
use crate::text_model::Reader;

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Your sentence");

/// Most tokens of a text: more would be too small to be told apart in a thumbnail.
const MOST: usize = 16;

/// The names of the scores, in the order of [`head_scores`], and what a head without a clear pattern
/// is called.
pub const NAMES: [&str; COUNT + 1] = [
    "previous",
    "next",
    "special",
    "same",
    "induction",
    "even",
    "mixed",
];

/// The index of [`NAMES`] for a head without a clear pattern.
const MIXED: usize = COUNT;

/// The least score of a pattern that names a head, and the least evenness that does.
const CLEAR: f32 = 0.5;
const CLEARLY_EVEN: f32 = 0.8;

/// The cell `pattern-atlas`.
pub const SPEC: CellSpec = CellSpec {
    name: "pattern-atlas",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: trained::files,
    start: |inputs, cache| trained::job(inputs, cache, compute),
    partial_from: None,
};

/// The cell on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: SPEC.name,
    inputs: || readers::opened_inputs(inputs()),
    run: SPEC.run,
};

/// Starts the cell on a model that the reader has opened.
///
/// # Errors
/// None: the computation has its own.
pub fn start_opened(inputs: &Inputs, reader: Reader) -> Result<Box<dyn Job>, CellError> {
    Ok(readers::once_with(inputs, reader, compute))
}

fn inputs() -> Vec<InputSpec> {
    let sentence = "The dog saw the cat and the cat saw the dog";
    vec![
        InputSpec::text(SENTENCE.0, SENTENCE.1, sentence),
        trained::model(&[BERT, GPT]),
        InputSpec::entry("selected", "Selected layer and head", 2, Some(&[0, 1])),
    ]
}

fn compute(inputs: &Inputs, model: Option<&Reader>) -> Result<Computation, CellError> {
    let reader = model.ok_or_else(|| CellError::Missing("model".to_owned()))?;
    let mut record = Record::new();
    let text = inputs.text(SENTENCE.0)?;
    let reading = readers::read(reader, &mut record, text, SENTENCE, Some(MOST))?;
    let weights = reading.weights()?;
    let is_causal = matches!(reader, Reader::Decoder(_));
    let (layers, heads) = reading.sizes;
    let (ids, words) = (&reading.ids[..], reading.words);
    let mut scores = Array3::<f32>::zeros((layers, heads, COUNT));
    for layer in 0..layers {
        for head in 0..heads {
            let map = weights
                .index_axis(Axis(0), layer)
                .index_axis_move(Axis(0), head);
            // The others repeat the call of the first.
            let found = if (layer, head) == (0, 0) {
                shown!(
                    record,
                    explain::head_scores::head_scores,
                    map,
                    ids,
                    words,
                    is_causal
                )
            } else {
                head_scores(map, ids, words, is_causal)
            };
            let mut row = scores.index_axis_mut(Axis(0), layer);
            row.row_mut(head).assign(&found);
        }
    }
    let kinds = scores.map_axis(Axis(2), |row| kind_of(&row.to_vec()) as f32);
    let named = (0..=MIXED).map(|kind| kinds.iter().filter(|&&k| k == kind as f32).count());
    record.numbers("named", named.map(|count| count as f64).collect());
    record.tensor("weights", &weights);
    record.tensor("scores", &scores);
    record.tensor("kinds", &kinds);
    let is_repeated = |t: usize| ids[words.0..t].contains(&ids[t]);
    let repeated = (words.0..words.1).filter(|&t| is_repeated(t)).count();
    record.number("repeated", repeated as f64);
    record.number("layers", layers as f64);
    record.number("heads", heads as f64);
    record.number("count", (layers * heads) as f64);
    Ok(record.finish())
}

/// The index of the name of a head with these scores.
fn kind_of(scores: &[f32]) -> usize {
    let patterns = scores.iter().enumerate().take(INDUCTION + 1);
    let best = patterns.max_by(|a, b| a.1.total_cmp(b.1));
    match best {
        Some((kind, &score)) if score >= CLEAR => kind,
        _ if scores.get(EVEN).is_some_and(|&even| even >= CLEARLY_EVEN) => EVEN,
        _ => MIXED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, text};
    use explain::head_scores::{NEXT, PREVIOUS, SAME, SPECIAL};

    fn of(model: &str, sentence: Option<&str>) -> Computation {
        let mut given = Inputs::defaults(&inputs()).with("model", choice(model));
        if let Some(sentence) = sentence {
            given = given.with("sentence", text(sentence));
        }
        computed(&SPEC, &given).unwrap()
    }

    fn score(c: &Computation, layer: usize, head: usize, kind: usize) -> f64 {
        c.at("scores", &[layer - 1, head - 1, kind]).unwrap()
    }

    fn name(c: &Computation, layer: usize, head: usize) -> &'static str {
        NAMES[c.at("kinds", &[layer - 1, head - 1]).unwrap() as usize]
    }

    /// What the lesson says of tiny-bert: two heads of layer 1 look at the neighbours, and in layer 3
    /// most weight is on [CLS] and [SEP]. So it is on other sentences.
    #[test]
    fn two_heads_of_tiny_bert_look_at_the_neighbours() {
        for sentence in [
            None,
            Some("The cat sat on the mat"),
            Some("The girl has a red ball and the boy has a blue ball"),
        ] {
            let c = of(BERT, sentence);
            assert_eq!(c.at("count", &[]), Some(12.0));
            assert!(score(&c, 1, 2, PREVIOUS) > 0.9);
            assert!(score(&c, 1, 4, NEXT) > 0.8);
            assert_eq!((name(&c, 1, 2), name(&c, 1, 4)), ("previous", "next"));
            let special = (1..=4).map(|head| score(&c, 3, head, SPECIAL)).sum::<f64>() / 4.0;
            assert!(special > 0.5, "{special}");
        }
    }

    /// What the lesson says of tiny-gpt: the heads of layer 1 and 2 that it names.
    #[test]
    fn tiny_gpt_has_a_head_for_the_previous_token_and_one_for_induction() {
        let c = of(GPT, None);
        assert!(score(&c, 1, 3, PREVIOUS) > 0.95);
        assert!(score(&c, 1, 1, SAME) > 0.95);
        assert_eq!((name(&c, 1, 3), name(&c, 1, 1)), ("previous", "same"));
        assert_eq!(name(&c, 2, 1), "induction");
        // Head 2 of layer 2, an induction head on lists, rests on the start token here.
        assert_eq!(name(&c, 2, 2), "special");
    }

    /// The weight that one word of a sentence gives another, in each of the twelve heads of tiny-bert.
    fn of_word(sentence: &str, word: &str, other: &str) -> Vec<f64> {
        let c = of(BERT, Some(sentence));
        let place = |word: &str| c.words("tokens").iter().position(|t| t == word).unwrap();
        let (row, column) = (place(word), place(other));
        let heads = (0..12).map(|n| [n / 4, n % 4, row, column]);
        heads.map(|at| c.at("weights", &at).unwrap()).collect()
    }

    /// What the lesson says of *telescope*: one head gives the noun more weight, another the verb.
    #[test]
    fn heads_do_not_agree_about_the_telescope() {
        let sentence = "The man saw the girl with the telescope";
        let (verb, noun) = (
            of_word(sentence, "telescope", "saw"),
            of_word(sentence, "telescope", "girl"),
        );
        let near = |found: f64, value: f64| (found - value).abs() < 0.005;
        assert!(near(noun[0], 0.17) && near(verb[0], 0.085), "1.1");
        assert!(near(noun[2], 0.063) && near(verb[2], 0.14), "1.3");
    }

    /// What the lesson says of *it* and *its*: no head gives *animal* an eighth, and one head gives
    /// *law* a fifth.
    #[test]
    fn no_head_of_tiny_bert_finds_the_animal() {
        for ending in ["tired", "wide"] {
            let sentence =
                format!("The animal did not cross the street because it was too {ending}");
            let found = of_word(&sentence, "it", "animal");
            assert!(found.iter().all(|&w| w < 0.125), "{found:?}");
        }
        let law = "The Law will never be perfect but its application should be just";
        let found = of_word(law, "its", "law");
        assert!((0.18..0.25).contains(&found[6]), "{found:?}");
        assert!(found.iter().all(|&w| w <= found[6]), "{found:?}");
    }

    /// Only the induction score needs a token that comes twice.
    #[test]
    fn without_a_repetition_there_is_no_induction() {
        let c = of(GPT, Some("Lily has a red ball"));
        assert_eq!(c.at("repeated", &[]), Some(0.0));
        for layer in 1..=4 {
            for head in 1..=4 {
                assert_eq!(score(&c, layer, head, INDUCTION), 0.0);
            }
        }
        assert!(of(GPT, None).at("repeated", &[]).unwrap() > 3.0);
    }

    #[test]
    fn names_follow_from_the_scores() {
        assert_eq!(kind_of(&[0.1, 0.6, 0.2, 0.1, 0.0, 0.9]), NEXT);
        assert_eq!(kind_of(&[0.1, 0.2, 0.4, 0.1, 0.0, 0.9]), EVEN);
        assert_eq!(kind_of(&[0.1, 0.2, 0.4, 0.1, 0.0, 0.5]), MIXED);
    }

    #[test]
    fn a_text_that_is_too_long_for_thumbnails_is_refused() {
        for words in [" ".to_owned(), "the ".repeat(17)] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(&words));
            let found = computed(&SPEC, &given);
            assert!(matches!(found, Err(CellError::Input { .. })), "{words}");
        }
    }
}
