//! One neuron of tiny-gpt: the tokens that fire it, the tokens that it promotes, and the model's
//! next token when the neuron fires more or less.

use engine::nn::softmax::top_indices;
use engine::token::tokenizer::Tokenizer;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::CausalLm;
use crate::parts::trained::{self, GPT, Pieces};
use crate::spec::{CellSpec, Run, WorkerKind};

/// Most tokens that are read.
const MOST_TOKENS: usize = 24;

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Sentence");

/// Tokens that are listed.
pub const TOP: usize = 6;

/// Tokens before the one that fires, which are shown with it.
const BEFORE: usize = 3;

/// Sentences of our own in which the neuron is looked for.
const SENTENCES: [&str; 16] = [
    "The cat sat on the mat and looked at the bird.",
    "Tom and his mom went to the park to play.",
    "She was very happy and said thank you.",
    "He opened the door and saw a big box.",
    "I want to eat some bread and cheese.",
    "The king lived in a castle with the queen.",
    "Can you help me find my shoes?",
    "Her mother told her not to go into the forest.",
    "The boy was sad because he lost his toy car.",
    "We went to the beach and swam in the sea.",
    "My father works in a big city.",
    "Lily loved to draw flowers and trees.",
    "It was cold, so she put on her red coat.",
    "Do not forget to close the window.",
    "I have three brothers and one sister.",
    "They played in the sun until it was dark.",
];

/// The cell `neuron`.
pub const SPEC: CellSpec = CellSpec {
    name: "neuron",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(GPT).into_iter().collect(),
    start: |inputs, cache| trained::once_with_gpt(inputs, cache, compute),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let sentence = "Tom went home with the";
    vec![
        InputSpec::text(SENTENCE.0, SENTENCE.1, sentence),
        InputSpec::number("layer", "Block", (1.0, 4.0, 1.0), 2.0),
        InputSpec::number("neuron", "Neuron", (1.0, 512.0, 1.0), 433.0),
        InputSpec::number("added", "Add to its activation", (-20.0, 20.0, 0.5), 0.0),
    ]
}

fn compute(inputs: &Inputs, gpt: &CausalLm) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let (model, tokenizer) = (&gpt.model, &gpt.tokenizer);
    let pieces = Pieces::of_text(tokenizer, inputs.text(SENTENCE.0)?.trim())?.at_most(
        MOST_TOKENS,
        SENTENCE.0,
        SENTENCE.1,
    )?;
    let start = tokenizer.special().end;
    let start =
        start.ok_or_else(|| CellError::Missing("the token that begins a text".to_owned()))?;
    let ids: Vec<usize> = std::iter::once(start).chain(pieces.ids).collect();
    let (layer, neuron) = (inputs.count("layer")? - 1, inputs.count("neuron")? - 1);
    let ids = &ids[..];
    let own = shown!(record, explain::neuron::activations, model, ids, layer)?;
    // The first row is that of the token that begins a text.
    let own: Vec<f64> = own
        .column(neuron)
        .iter()
        .skip(1)
        .map(|&a| f64::from(a))
        .collect();
    let last = own.last().copied().unwrap_or_default();
    record.number("activation", last);
    record.numbers("activations", own);
    record.words("tokens", pieces.texts);
    fires(&mut record, gpt, start, (layer, neuron))?;
    let value = shown!(record, explain::neuron::value, model, layer, neuron)?;
    let promoted = shown!(record, explain::neuron::promoted, model, &value)?;
    let best = top_indices(promoted.view(), TOP);
    record.numbers(
        "promoted",
        best.iter().map(|&id| f64::from(promoted[id])).collect(),
    );
    let added = inputs.number("added")? as f32;
    let place = (layer, neuron);
    let before = explain::neuron::with_added(model, ids, place, 0.0)?;
    let after = shown!(
        record,
        explain::neuron::with_added,
        model,
        ids,
        place,
        added
    )?;
    let before = engine::nn::softmax::softmax(before.view());
    let after = shown!(record, engine::nn::softmax::softmax, after.view());
    for (name, all) in [("before", &before), ("after", &after)] {
        let sum: f64 = best.iter().map(|&id| f64::from(all[id])).sum();
        record.number(&format!("{name}.promoted"), sum);
        let first = top_indices(all.view(), TOP);
        let shares = first.iter().map(|&id| f64::from(all[id])).collect();
        record.numbers(&format!("{name}.probabilities"), shares);
        let words = Pieces::of_ids(tokenizer, first)?.texts;
        record.words(&format!("{name}.words"), words);
    }
    record.words("promoted.words", Pieces::of_ids(tokenizer, best)?.texts);
    record.number("added", f64::from(added));
    record.number("activation.now", last + f64::from(added));
    record.number("sentences", SENTENCES.len() as f64);
    record.number("neurons", model.config().inner as f64);
    Ok(record.finish())
}

/// Where in our sentences the neuron fires most.
fn fires(
    record: &mut Record,
    gpt: &CausalLm,
    start: usize,
    (layer, neuron): (usize, usize),
) -> Result<(), CellError> {
    let mut found: Vec<(f32, String)> = Vec::new();
    for sentence in SENTENCES {
        let pieces = Pieces::of_text(&gpt.tokenizer, sentence)?;
        let ids: Vec<usize> = std::iter::once(start).chain(pieces.ids).collect();
        let own = explain::neuron::activations(&gpt.model, &ids, layer)?;
        for t in 0..pieces.texts.len() {
            let words = pieces.texts[t.saturating_sub(BEFORE)..=t].concat();
            let text = words.replace('\u{2423}', " ");
            found.push((own[[t + 1, neuron]], text.trim().to_owned()));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(TOP);
    record.numbers("fires", found.iter().map(|(a, _)| f64::from(*a)).collect());
    record.words(
        "fires.texts",
        found.into_iter().map(|(_, text)| text).collect(),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number, text};

    fn with(layer: f64, neuron: f64, added: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("layer", number(layer))
            .with("neuron", number(neuron))
            .with("added", number(added));
        computed(&SPEC, &given).unwrap()
    }

    fn now(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says of this neuron: *my*, *her* and *his* fire it most, it promotes words of
    /// the family, and when it fires more, they become likely.
    #[test]
    fn a_neuron_of_the_family() {
        let c = with(2.0, 433.0, 0.0);
        let last = |text: &String| {
            text.split(' ')
                .next_back()
                .unwrap_or_default()
                .to_lowercase()
        };
        let fires: Vec<String> = c.words("fires.texts").iter().map(last).collect();
        assert_eq!(fires, ["my", "her", "her", "his", "his", "the"]);
        for word in ["son", "mom", "parents", "father"] {
            assert!(
                c.words("promoted.words")
                    .contains(&format!("\u{2423}{word}"))
            );
        }
        assert_eq!(now(&c, "before.promoted"), now(&c, "after.promoted"));
        assert_eq!(c.words("after.words")[0], "\u{2423}other");
        let more = with(2.0, 433.0, 20.0);
        assert_eq!(
            more.words("after.words")[..3],
            ["\u{2423}family", "\u{2423}brother", "\u{2423}father"]
        );
        assert!(now(&more, "before.promoted") < 0.01 && now(&more, "after.promoted") > 0.14);
    }

    /// The neurons of the view's other buttons.
    #[test]
    fn neurons_of_the_other_buttons() {
        let ends = |layer, neuron, mark: &str| {
            let c = with(layer, neuron, 0.0);
            c.words("fires.texts")
                .iter()
                .all(|text| text.ends_with(mark))
        };
        assert!(ends(3.0, 452.0, "."));
        let starts = with(3.0, 452.0, 0.0);
        assert!(
            starts
                .words("promoted.words")
                .contains(&"\u{2423}She".to_owned())
        );
        let to = with(2.0, 48.0, 0.0);
        assert!(to.words("fires.texts")[0].ends_with(" to"));
        assert!(
            to.words("promoted.words")
                .contains(&"\u{2423}do".to_owned())
        );
        let i = with(3.0, 50.0, 0.0);
        assert!(i.words("fires.texts")[..2].iter().all(|text| text == "I"));
        assert!(
            i.words("promoted.words")
                .contains(&"\u{2423}think".to_owned())
        );
    }

    #[test]
    fn a_sentence_without_tokens_is_refused() {
        for sentence in ["", "   "] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(sentence));
            assert!(computed(&SPEC, &given).is_err());
        }
    }
}
