//! tiny-gpt continues a text: with the most likely token each time, and with tokens drawn at a
//! temperature, and how much of both texts repeats itself.

use engine::sample::Sampling;
use engine::token::tokenizer::Tokenizer;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::CausalLm;
use crate::parts::trained::{self, GPT, Pieces};
use crate::spec::{CellSpec, Run, WorkerKind};

/// Most tokens of the beginning.
const MOST_TOKENS: usize = 64;

/// Tokens that are written.
const WRITTEN: usize = 60;

/// Tokens of the runs that count as repeated.
const RUN: usize = 4;

/// The text that is continued: its name and its label.
const BEGINNING: (&str, &str) = ("beginning", "Beginning");

/// The cell `write-on`.
pub const SPEC: CellSpec = CellSpec {
    name: "write-on",
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
    vec![
        InputSpec::text(BEGINNING.0, BEGINNING.1, "I like"),
        InputSpec::number("tau", "Temperature $\u{3c4}$", (0.0, 2.0, 0.1), 0.8),
        InputSpec::seed(1),
    ]
}

fn compute(inputs: &Inputs, gpt: &CausalLm) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let tokenizer = &gpt.tokenizer;
    let text = inputs.text(BEGINNING.0)?.trim();
    let pieces =
        Pieces::of_text(tokenizer, text)?.at_most(MOST_TOKENS, BEGINNING.0, BEGINNING.1)?;
    let end = tokenizer.special().end;
    let end = end.ok_or_else(|| CellError::Missing("the token that begins a text".to_owned()))?;
    let ids: Vec<usize> = std::iter::once(end).chain(pieces.ids).collect();
    let (model, ids, seed) = (&gpt.model, &ids[..], inputs.seed()?);
    let drawn = Sampling {
        temperature: inputs.number("tau")? as f32,
        ..Sampling::default()
    };
    let greedy = explain::writing::write(model, ids, WRITTEN, end, (&Sampling::greedy(), seed))?;
    let own = explain::writing::write(model, ids, WRITTEN, end, (&drawn, seed))?;
    for (name, written) in [("greedy", greedy), ("drawn", own)] {
        let written = &written[..];
        let share = shown!(record, explain::writing::repeated, written, RUN);
        record.number(&format!("{name}.repeated"), share);
        let text = String::from_utf8_lossy(&tokenizer.decode_bytes(written)?).into_owned();
        record.words(&format!("{name}.text"), vec![text]);
    }
    record.words("beginning", vec![text.to_owned()]);
    record.number("written", WRITTEN as f64);
    record.number("run", RUN as f64);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{cache, computed, number, text};

    fn with(beginning: &str, tau: f64, seed: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("beginning", text(beginning))
            .with("tau", number(tau))
            .with("seed", number(seed));
        computed(&SPEC, &given).unwrap()
    }

    fn repeated(c: &Computation, name: &str) -> f64 {
        c.at(&format!("{name}.repeated"), &[]).unwrap()
    }

    /// The lesson's example: the most likely tokens end in a loop.
    #[test]
    fn the_most_likely_token_each_time_ends_in_a_loop() {
        let c = with("I like", 0.8, 1.0);
        assert!(repeated(&c, "greedy") > 0.5, "{}", repeated(&c, "greedy"));
        let text = &c.words("greedy.text")[0];
        let sentence = "The cat is black and white.";
        assert!(text.matches(sentence).count() >= 4, "{text}");
        assert!(repeated(&c, "drawn") < 0.1);
    }

    /// Where the model may end the text, it does so before it can repeat anything.
    #[test]
    fn with_the_end_token_the_example_ends() {
        let file = trained::file(GPT).unwrap();
        let gpt = cache().opened::<CausalLm>(file).unwrap();
        let end = gpt.tokenizer.special().end.unwrap();
        let pieces = Pieces::of_text(&gpt.tokenizer, "I like").unwrap();
        let ids: Vec<usize> = std::iter::once(end).chain(pieces.ids).collect();
        let none = usize::MAX;
        let how = (&Sampling::greedy(), 1);
        let written = explain::writing::write(&gpt.model, &ids, WRITTEN, none, how).unwrap();
        let length = written.iter().position(|&id| id == end).unwrap();
        let text = gpt.tokenizer.decode_bytes(&written[..length]).unwrap();
        assert_eq!(String::from_utf8_lossy(&text), " to play with my cat.");
    }

    /// Five beginnings, three seeds: the higher the temperature, the fewer repetitions.
    #[test]
    fn repetitions_fall_with_the_temperature() {
        let mean = |tau: f64| {
            let beginnings = [
                "I like",
                "The dog",
                "Once upon a time",
                "One day the king",
                "My mother",
            ];
            let seeds = [1.0, 2.0, 3.0];
            let all = beginnings
                .iter()
                .flat_map(|b| seeds.map(|seed| repeated(&with(b, tau, seed), "drawn")));
            all.sum::<f64>() / 15.0
        };
        let [cold, cool, warm] = [0.0, 0.3, 0.8].map(mean);
        // The shares that the lesson prints.
        for (found, printed) in [(cold, 0.40), (cool, 0.29), (warm, 0.01)] {
            assert!((found - printed).abs() < 0.005, "{found}, not {printed}");
        }
    }

    /// Same seed, same text; temperature 0 is greedy, whatever the seed.
    #[test]
    fn a_seed_repeats_its_text() {
        let text = |tau, seed| with("The dog", tau, seed).words("drawn.text").to_vec();
        assert_eq!(text(0.9, 4.0), text(0.9, 4.0));
        assert_ne!(text(0.9, 4.0), text(0.9, 5.0));
        let c = with("The dog", 0.0, 4.0);
        assert_eq!(c.words("drawn.text"), c.words("greedy.text"));
    }

    #[test]
    fn a_text_without_words_is_refused() {
        for beginning in ["", "   ", &"word ".repeat(300)] {
            let given = Inputs::defaults(&inputs()).with("beginning", text(beginning));
            assert!(computed(&SPEC, &given).is_err());
        }
    }
}
