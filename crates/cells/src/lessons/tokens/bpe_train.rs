//! Byte-pair encoding learned from the reader's text, merge by merge, and used on another text.

use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::parts::vocabularies::{Cut, not_blank, spelled};
use crate::spec::{CellSpec, Run, WorkerKind, once_from};
use explain::byte_pairs::Learned;

/// Most merges.
const MOST: usize = 60;

/// Most bytes of a text that is learned from.
const LONGEST: usize = 1200;

/// The texts: their names and labels.
const TEXT: (&str, &str) = ("text", "Text to learn from");
const OTHER: (&str, &str) = ("other", "Another text");

/// The cell `bpe-train`.
pub const SPEC: CellSpec = CellSpec {
    name: "bpe-train",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| Ok(once_from(inputs, compute)),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let text = "She sells sea shells by the sea shore. The shells she sells are sea shells.";
    let merges = (0.0, MOST as f64, 1.0);
    vec![
        InputSpec::text(TEXT.0, TEXT.1, text),
        InputSpec::number("merges", "Merges", merges, 3.0),
        InputSpec::text(OTHER.0, OTHER.1, "He sees the shells"),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let text = not_blank(inputs, TEXT)?;
    let other = not_blank(inputs, OTHER)?;
    if text.len() > LONGEST {
        let message = format!(
            "this is {} bytes, and this cell learns from at most {LONGEST}. Your text is kept: shorten it to continue.",
            text.len()
        );
        return Err(CellError::input(TEXT.0, TEXT.1, message));
    }
    let wanted = inputs.count("merges")?;
    let mut record = Record::new();
    let learned = shown!(record, explain::byte_pairs::learn, text, wanted);
    // All merges that the text allows are known, so the page can say which comes next.
    let all = explain::byte_pairs::learn(text, MOST);
    let cut = cut(&learned, learned.words.concat()).shown(TEXT)?;
    cut.keep(&mut record, "");
    let merges = learned.merges.as_slice();
    let ids = shown!(record, explain::byte_pairs::cut, other, merges);
    let cut_other = self::cut(&learned, ids).shown(OTHER)?;
    cut_other.keep(&mut record, "other.");
    record.number("count", cut.ids.len() as f64);
    record.number("bytes", text.len() as f64);
    record.number("other.count", cut_other.ids.len() as f64);
    record.number("other.bytes", other.len() as f64);
    keep_merges(&mut record, &learned, &all);
    let course = |text: &str| -> Vec<f64> {
        let after = |n: usize| explain::byte_pairs::cut(text, &all.merges[..n]).len() as f64;
        (0..=all.merges.len()).map(after).collect()
    };
    record.numbers("course", course(text));
    record.numbers("other.course", course(other));
    Ok(record.finish())
}

/// The tokens of these ids, as the page shows them.
fn cut(learned: &Learned, ids: Vec<usize>) -> Cut {
    let texts = ids.iter().map(|&id| spelled(learned.text(id))).collect();
    Cut { ids, texts }
}

/// Keeps the merges so far, and the one that comes next.
fn keep_merges(record: &mut Record, learned: &Learned, all: &Learned) {
    let merges = &learned.merges;
    let text = |id: usize| spelled(all.text(id));
    let pairs = Array2::from_shape_fn((merges.len(), 2), |(n, side)| merges[n].pair[side] as f32);
    record.tensor("pairs", &pairs);
    record.numbers("new", merges.iter().map(|merge| merge.id as f64).collect());
    record.numbers(
        "counts",
        merges.iter().map(|merge| merge.count as f64).collect(),
    );
    for (name, side) in [("left", 0), ("right", 1)] {
        record.words(
            name,
            merges.iter().map(|merge| text(merge.pair[side])).collect(),
        );
    }
    record.number("merges", merges.len() as f64);
    record.number("possible", all.merges.len() as f64);
    record.number("size", learned.tokens.len() as f64);
    let next = all.merges.get(merges.len());
    record.words(
        "next",
        next.iter().flat_map(|merge| merge.pair.map(text)).collect(),
    );
    record.numbers(
        "next.count",
        next.iter().map(|merge| merge.count as f64).collect(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number, text};

    fn learned(from: &str, merges: f64, other: &str) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("text", text(from))
            .with("merges", number(merges))
            .with("other", text(other));
        computed(&SPEC, &given).unwrap()
    }

    fn page(merges: f64) -> Computation {
        let given = Inputs::defaults(&inputs()).with("merges", number(merges));
        computed(&SPEC, &given).unwrap()
    }

    /// What the lesson says of the text that the page begins with.
    #[test]
    fn the_first_merges_of_the_page_are_those_of_the_lesson() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        let merged = |c: &Computation| -> Vec<String> {
            let pairs = c.words("left").iter().zip(c.words("right"));
            pairs
                .map(|(left, right)| format!("{left}{right}"))
                .collect()
        };
        assert_eq!(merged(&c), ["\u{2423}s", "he", "ll"]);
        assert_eq!(c.at("counts", &[0]), Some(10.0));
        let all = page(MOST as f64);
        for word in ["\u{2423}sea", "\u{2423}shells", "\u{2423}sells"] {
            assert!(merged(&all).contains(&word.to_owned()), "{word}");
            assert!(all.words("tokens").contains(&word.to_owned()), "{word}");
        }
        assert_eq!(all.at("merges", &[]), Some(10.0));
        assert_eq!(all.at("counts", &[9]), Some(2.0));
        // The other text gains less.
        let gain =
            |tokens: &str, bytes: &str| all.at(bytes, &[]).unwrap() / all.at(tokens, &[]).unwrap();
        assert!(gain("count", "bytes") > gain("other.count", "other.bytes") + 0.3);
    }

    /// Every merge shortens the text by the count of its pair, and the words come back whole.
    #[test]
    fn a_merge_takes_away_as_many_tokens_as_its_pair_occurred() {
        let mut before = page(0.0);
        assert_eq!(before.at("count", &[]), before.at("bytes", &[]));
        assert_eq!(before.at("size", &[]), Some(256.0));
        let possible = before.at("possible", &[]).unwrap();
        for merges in 1..=possible as usize {
            let after = page(merges as f64);
            let count = |c: &Computation| c.at("count", &[]).unwrap();
            assert_eq!(
                count(&before) - count(&after),
                after.at("counts", &[merges - 1]).unwrap()
            );
            assert_eq!(
                before.at("next.count", &[0]),
                after.at("counts", &[merges - 1])
            );
            assert_eq!(after.at("course", &[merges]), after.at("count", &[]));
            assert_eq!(
                after.at("other.course", &[merges]),
                after.at("other.count", &[])
            );
            before = after;
        }
        assert!(before.words("next").is_empty());
        let all = page(MOST as f64);
        assert_eq!(all.at("merges", &[]), Some(possible));
        let whole = all.words("tokens").concat().replace('\u{2423}', " ");
        assert!(whole.starts_with("She sells sea shells by the sea shore. The"));
    }

    /// The example of the block of code.
    #[test]
    fn low_lower_lowest() {
        let c = learned("low low lower lowest", 5.0, "slow");
        let counts: Vec<f64> = c.tensor("counts").unwrap().values.iter().copied().collect();
        assert_eq!(counts, [4.0, 4.0, 3.0, 2.0]);
        assert_eq!(
            c.words("tokens"),
            [
                "low",
                "\u{2423}low",
                "\u{2423}lowe",
                "r",
                "\u{2423}lowe",
                "s",
                "t"
            ]
        );
        assert_eq!(c.words("other.tokens"), ["s", "low"]);
    }

    #[test]
    fn texts_without_words_or_with_too_many_get_a_message() {
        for (name, long) in [("text", "word ".repeat(400)), ("other", "xyz".repeat(60))] {
            for value in ["", " ", &long] {
                let given = Inputs::defaults(&inputs()).with(name, text(value));
                let error = computed(&SPEC, &given).unwrap_err();
                assert!(matches!(error, CellError::Input { .. }), "{error}");
            }
        }
    }
}
