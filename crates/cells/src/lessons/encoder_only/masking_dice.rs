//! The masking recipe with its dice: what becomes of each token of a text in one reading, and the
//! counts over many readings against what is expected.

use engine::token::tokenizer::Tokenizer;
use engine::token::word_piece::WordPiece;
use explain::masking::{CHOSEN, MASKED, REPLACED, throws};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::trained::{Pieces, visible};
use crate::parts::words;
use crate::spec::{CellSpec, Run, WorkerKind, once};

/// Most words and signs of a text, and most of its tokens.
const MOST: usize = 30;

/// Most readings.
const READINGS: f64 = 1000.0;

/// The vocabulary of tiny-bert.
const VOCABULARY: &str = "tiny-bert-vocab.txt";

/// The text that is read: its name and its label.
const TEXT: (&str, &str) = ("text", "Your text");

/// The outcomes, in the order of the counts.
const NAMES: [&str; 4] = ["chosen", "[MASK]", "random token", "itself"];

/// The cell `masking-dice`.
pub const SPEC: CellSpec = CellSpec {
    name: "masking-dice",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| vec![VOCABULARY],
    start: |inputs, cache| {
        let vocabulary = cache.opened::<WordPiece>(VOCABULARY)?;
        let inputs = inputs.clone();
        Ok(once(move || compute(&inputs, &vocabulary)))
    },
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let text = "The little girl went to the park with her dog and played with a red ball all day.";
    vec![
        InputSpec::text(TEXT.0, TEXT.1, text),
        InputSpec::number("readings", "Readings", (1.0, READINGS, 1.0), 1.0),
        // Here the first reading has all three outcomes.
        InputSpec::seed(44),
    ]
}

fn compute(inputs: &Inputs, vocabulary: &WordPiece) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let typed = words::tokens(inputs, TEXT.0, TEXT.1, MOST)?;
    let pieces = Pieces::of_words(vocabulary, &typed)?.at_most(MOST, TEXT.0, TEXT.1)?;
    let special = vocabulary.special();
    let mask = special.mask;
    let mask = mask.ok_or_else(|| CellError::Missing("[MASK]".to_owned()))?;
    let (count, seed) = (pieces.ids.len(), inputs.seed()?);
    let readings = inputs.count("readings")?;
    // The special tokens come first in the vocabulary.
    let random = (mask + 1, vocabulary.size());
    let mut counts = [0_usize; 4];
    let ids = &pieces.ids[..];
    for reading in 1..=readings {
        let [first, second, others] = throws((seed, reading), count, random);
        for (&first, &second) in first.iter().zip(&second) {
            if first <= CHOSEN {
                let outcome = 1 + usize::from(second > MASKED) + usize::from(second > REPLACED);
                counts[0] += 1;
                counts[outcome] += 1;
            }
        }
        if reading == readings {
            let (first, second, others) = (&first[..], &second[..], &others[..]);
            let found = shown!(
                record,
                explain::masking::mask_tokens,
                ids,
                first,
                second,
                others,
                mask
            );
            let numbers = |all: &[usize]| all.iter().map(|&n| n as f64).collect();
            record.numbers("first", numbers(first));
            record.numbers("second", numbers(second));
            record.numbers("others", numbers(others));
            record.numbers("inputs", numbers(&found.inputs));
            let chosen = found.chosen.iter().map(|&is| f64::from(u8::from(is)));
            record.numbers("chosen", chosen.collect());
            let word = |&id: &usize| visible(vocabulary.token(id).unwrap_or_default());
            record.words("read", found.inputs.iter().map(word).collect());
        }
    }
    let all = (count * readings) as f64;
    let of = [all, counts[0] as f64, counts[0] as f64, counts[0] as f64];
    let shares = counts.iter().zip(of).map(|(&n, of)| n as f64 / of.max(1.0));
    record.numbers("shares", shares.collect());
    record.numbers("counts", counts.iter().map(|&n| n as f64).collect());
    let rule = [CHOSEN, MASKED, REPLACED - MASKED, 100 - REPLACED];
    let rule = rule.map(|n| n as f64 / 100.0);
    let expected = [1.0, rule[0], rule[0], rule[0]];
    let expected = rule.iter().zip(expected).map(|(rule, of)| rule * of * all);
    record.numbers("expected", expected.collect());
    record.numbers("rule", rule.to_vec());
    record.number("all", all);
    record.number("readings", readings as f64);
    record.number("mask", mask as f64);
    record.numbers("ids", ids.iter().map(|&id| id as f64).collect());
    record.words("outcomes", NAMES.map(str::to_owned).to_vec());
    record.words("tokens", pieces.texts);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number, text};

    fn at(seed: f64, readings: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("seed", number(seed))
            .with("readings", number(readings));
        computed(&SPEC, &given).unwrap()
    }

    /// What a token reads follows from its throws.
    #[test]
    fn each_token_reads_what_its_throws_say() {
        for reading in 1..40 {
            let c = at(1.0, f64::from(reading));
            for (n, token) in c.words("tokens").iter().enumerate() {
                let [first, second] = ["first", "second"].map(|name| c.at(name, &[n]).unwrap());
                let read = &c.words("read")[n];
                if first > 15.0 || second > 90.0 {
                    assert_eq!(read, token);
                } else if second <= 80.0 {
                    assert_eq!(read, "[MASK]");
                } else {
                    assert_ne!(read, "[MASK]");
                }
                assert_eq!(c.at("chosen", &[n]).unwrap() == 1.0, first <= 15.0);
            }
        }
    }

    /// Over a thousand readings the counts are near their expectation: within four standard
    /// deviations of a sum of independent throws.
    #[test]
    fn many_readings_come_near_the_expectation() {
        let c = at(1.0, 1000.0);
        let all = c.at("all", &[]).unwrap();
        for n in 0..4 {
            let [found, expected] = ["counts", "expected"].map(|name| c.at(name, &[n]).unwrap());
            let deviation = (expected * (1.0 - expected / all)).sqrt();
            assert!(
                (found - expected).abs() < 4.0 * deviation,
                "{n}: {found} {expected}"
            );
        }
    }

    /// The parts of the chosen ones add up.
    #[test]
    fn every_chosen_token_has_one_outcome() {
        for seed in 0..20 {
            let c = at(f64::from(seed), 7.0);
            let count = |n: usize| c.at("counts", &[n]).unwrap();
            assert_eq!(count(0), count(1) + count(2) + count(3));
        }
    }

    #[test]
    fn a_text_without_words_is_refused() {
        for given in ["", "  ", &"word ".repeat(100)] {
            let given = Inputs::defaults(&inputs()).with("text", text(given));
            assert!(computed(&SPEC, &given).is_err());
        }
    }
}
