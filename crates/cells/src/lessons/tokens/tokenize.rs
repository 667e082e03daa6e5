//! A text cut into tokens by a vocabulary of the reader's choice, with their ids, and back.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::trained::{BERT, GPT, TRANSLATOR};
use crate::parts::vocabularies::{self, BYTES, CHARACTERS, GPT2, UNCASED, Vocabulary, not_blank};
use crate::spec::{CellSpec, Run, WorkerKind, once};

/// The text: its name and its label.
const TEXT: (&str, &str) = ("text", "Text");

/// The cell `tokenize`.
pub const SPEC: CellSpec = CellSpec {
    name: "tokenize",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: vocabularies::files,
    start: |inputs, cache| {
        let vocabulary = Vocabulary::chosen(inputs, cache)?;
        let inputs = inputs.clone();
        Ok(once(move || compute(&inputs, &vocabulary)))
    },
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text(TEXT.0, TEXT.1, "How many letters r are in strawberry?"),
        vocabularies::choice(&[GPT, BERT, TRANSLATOR, CHARACTERS, BYTES, GPT2, UNCASED]),
    ]
}

fn compute(inputs: &Inputs, vocabulary: &Vocabulary) -> Result<Computation, CellError> {
    let text = not_blank(inputs, TEXT)?;
    let mut record = Record::new();
    let cut = vocabulary.cut(&mut record, text)?.shown(TEXT)?;
    cut.keep(&mut record, "");
    let decoded = vocabulary.decode(&cut.ids)?;
    record.number("characters", text.chars().count() as f64);
    record.number("bytes", text.len() as f64);
    record.number("count", cut.ids.len() as f64);
    record.number("size", vocabulary.size() as f64);
    record.number("same", f64::from(u8::from(decoded == text)));
    record.words("decoded", vec![decoded]);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, from_npm, text};

    fn cut(sentence: &str, vocabulary: &str) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("text", text(sentence))
            .with("vocabulary", choice(vocabulary));
        computed(&SPEC, &given).unwrap()
    }

    fn ids(c: &Computation) -> Vec<f64> {
        c.tensor("ids").unwrap().values.iter().copied().collect()
    }

    /// What the lesson says of the text that the page begins with.
    #[test]
    fn the_sentence_of_the_page_is_cut_as_the_lesson_says() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        let tokens = c.words("tokens");
        let expected = ["\u{2423}st", "raw", "ber", "ry", "?"];
        assert!(tokens.ends_with(&expected.map(str::to_owned)), "{tokens:?}");
        assert_eq!(tokens[..2], ["How", "\u{2423}many"]);
        assert_eq!(tokens.len(), 12);
        assert_eq!(c.at("characters", &[]), Some(37.0));
        assert_eq!(c.at("size", &[]), Some(2048.0));
        assert_eq!(c.at("same", &[]), Some(1.0));
        assert_eq!(c.at("count", &[]), Some(tokens.len() as f64));
    }

    /// Vocabularies of characters and bytes need no file; a character may be several bytes.
    #[test]
    fn characters_and_bytes_are_the_plainest_vocabularies() {
        let c = cut("t\u{e8} \u{1f642}", CHARACTERS);
        assert_eq!(ids(&c), [116.0, 232.0, 32.0, 128_578.0]);
        assert_eq!(c.words("tokens")[2], "\u{2423}");
        let c = cut("t\u{e8} \u{1f642}", BYTES);
        assert_eq!(
            c.words("tokens")[..3],
            ["t", "\u{27e8}C3\u{27e9}", "\u{27e8}A8\u{27e9}"]
        );
        assert_eq!(ids(&c)[1..3], [195.0, 168.0]);
        assert_eq!(
            (c.at("count", &[]), c.at("size", &[])),
            (Some(8.0), Some(256.0))
        );
        for name in [CHARACTERS, BYTES] {
            assert!(
                vocabularies::files(&Inputs::default().with("vocabulary", choice(name))).is_empty()
            );
        }
    }

    /// Byte-level vocabularies give every text back; WordPiece loses capitals, spaces and what it
    /// cannot write.
    #[test]
    fn only_word_pieces_lose_something() {
        let texts = [
            "  Two  spaces\nand a tab\t.",
            "Z\u{fc}rich, \u{5bff}\u{53f8}!",
            "\u{1f642}\u{200d}\u{1f642}",
        ];
        for text in texts {
            for name in [GPT, TRANSLATOR, CHARACTERS, BYTES] {
                let c = cut(text, name);
                assert_eq!(c.words("decoded"), [text], "{name}");
                assert_eq!(c.at("same", &[]), Some(1.0), "{name}");
            }
        }
        let c = cut("Is it  Strawberry?", BERT);
        assert_eq!(c.at("same", &[]), Some(0.0));
        assert_eq!(c.words("decoded"), ["is it strawberry ?"]);
        let c = cut("\u{5bff}\u{53f8}", BERT);
        assert_eq!(c.words("tokens"), ["[UNK]", "[UNK]"]);
    }

    /// The check of the curriculum, and of GPT-2 what the lesson says.
    #[test]
    fn the_vocabularies_of_bert_and_gpt2_cut_as_published() {
        if from_npm() {
            assert_eq!(ids(&cut("hello world!", UNCASED)), [7592.0, 2088.0, 999.0]);
            let c = cut("strawberry", GPT2);
            assert_eq!(c.words("tokens"), ["st", "raw", "berry"]);
            assert_eq!(c.at("size", &[]), Some(50_257.0));
            assert_eq!(
                cut(" strawberry", GPT2).words("tokens"),
                ["\u{2423}strawberry"]
            );
        }
    }

    #[test]
    fn a_blank_text_and_a_long_one_get_a_message() {
        for sentence in ["", " \n", &"the ".repeat(121)] {
            let given = Inputs::defaults(&inputs()).with("text", text(sentence));
            let error = computed(&SPEC, &given).unwrap_err();
            assert!(matches!(error, CellError::Input { .. }), "{error}");
        }
    }
}
