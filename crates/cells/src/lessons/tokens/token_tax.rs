//! One request in six languages, as emoji and in the reader's own words: how many tokens each takes.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::trained::{GPT, TRANSLATOR};
use crate::parts::vocabularies::{self, BYTES, GPT2, Vocabulary, not_blank};
use crate::spec::{CellSpec, Run, WorkerKind, once};

/// The same request in several languages, each with the code of the language.
pub const SENTENCES: [(&str, &str, &str); 7] = [
    ("English", "en", "I would like a cup of tea, please."),
    ("Italian", "it", "Vorrei una tazza di t\u{e8}, per favore."),
    ("German", "de", "Ich h\u{e4}tte gern eine Tasse Tee, bitte."),
    (
        "Greek",
        "el",
        "\u{398}\u{3b1} \u{3ae}\u{3b8}\u{3b5}\u{3bb}\u{3b1} \u{3ad}\u{3bd}\u{3b1} \u{3c6}\u{3bb}\u{3b9}\u{3c4}\u{3b6}\u{3ac}\u{3bd}\u{3b9} \u{3c4}\u{3c3}\u{3ac}\u{3b9}, \u{3c0}\u{3b1}\u{3c1}\u{3b1}\u{3ba}\u{3b1}\u{3bb}\u{3ce}.",
    ),
    (
        "Hindi",
        "hi",
        "\u{915}\u{943}\u{92a}\u{92f}\u{93e} \u{92e}\u{941}\u{91d}\u{947} \u{90f}\u{915} \u{915}\u{92a} \u{91a}\u{93e}\u{92f} \u{926}\u{940}\u{91c}\u{93f}\u{90f}\u{964}",
    ),
    (
        "Japanese",
        "ja",
        "\u{304a}\u{8336}\u{3092}\u{4e00}\u{676f}\u{304a}\u{9858}\u{3044}\u{3057}\u{307e}\u{3059}\u{3002}",
    ),
    ("Emoji", "", "\u{1f64f}\u{1f375}\u{1f642}"),
];

/// The reader's own sentence: its name and its label.
const YOURS: (&str, &str) = ("yours", "Your own sentence");

/// The cell `token-tax`.
pub const SPEC: CellSpec = CellSpec {
    name: "token-tax",
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
        vocabularies::choice(&[GPT, TRANSLATOR, BYTES, GPT2]),
        InputSpec::text(YOURS.0, YOURS.1, "A cup of coffee, quick!"),
    ]
}

fn compute(inputs: &Inputs, vocabulary: &Vocabulary) -> Result<Computation, CellError> {
    let yours = not_blank(inputs, YOURS)?;
    let mut record = Record::new();
    let (mut characters, mut bytes, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
    let given = SENTENCES.iter().map(|&(.., sentence)| sentence);
    for sentence in given.chain([yours]) {
        characters.push(sentence.chars().count() as f64);
        bytes.push(sentence.len() as f64);
        tokens.push(vocabulary.count(sentence)? as f64);
    }
    // One of the texts for "Show the Rust".
    vocabulary.cut(&mut record, SENTENCES[0].2)?;
    let most = tokens.iter().copied().fold(0.0, f64::max);
    let english = tokens.first().copied().unwrap_or(1.0);
    record.numbers("shares", tokens.iter().map(|count| count / most).collect());
    record.numbers(
        "ratios",
        tokens.iter().map(|count| count / english).collect(),
    );
    record.numbers("characters", characters);
    record.numbers("bytes", bytes);
    record.numbers("tokens", tokens);
    record.words("yours", vec![yours.to_owned()]);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, from_npm, text};

    fn counts(vocabulary: &str, of: &str) -> Vec<f64> {
        let given = Inputs::defaults(&inputs()).with("vocabulary", choice(vocabulary));
        let c = computed(&SPEC, &given).unwrap();
        let values = &c.tensor(of).unwrap().values;
        values.iter().take(SENTENCES.len()).copied().collect()
    }

    /// The numbers of the lesson, and the claims of its guess.
    #[test]
    fn a_language_that_was_not_learned_costs_about_a_token_a_byte() {
        let (bytes, ours) = (counts(BYTES, "tokens"), counts(GPT, "tokens"));
        assert_eq!(bytes, counts(GPT, "bytes"));
        assert_eq!(bytes, [34.0, 36.0, 38.0, 67.0, 71.0, 36.0, 12.0]);
        assert_eq!(ours, [11.0, 20.0, 23.0, 67.0, 71.0, 36.0, 12.0]);
        assert_eq!(
            counts(GPT, "characters"),
            [34.0, 35.0, 37.0, 37.0, 27.0, 12.0, 3.0]
        );
        let ratios = counts(GPT, "ratios");
        assert!(ratios[4] > 6.0 && ratios[4] < 7.0, "{ratios:?}");
        // The translator has learned Italian beside English, and none of the others.
        let translator = counts(TRANSLATOR, "tokens");
        assert_eq!(translator, [10.0, 11.0, 22.0, 67.0, 71.0, 36.0, 12.0]);
    }

    /// What the lesson says of GPT-2.
    #[test]
    fn gpt2_taxes_them_too() {
        if from_npm() {
            assert_eq!(
                counts(GPT2, "tokens"),
                [10.0, 17.0, 17.0, 42.0, 42.0, 19.0, 8.0]
            );
        }
    }

    #[test]
    fn the_readers_sentence_is_counted_too() {
        let of = |yours: &str| {
            computed(
                &SPEC,
                &Inputs::defaults(&inputs()).with("yours", text(yours)),
            )
        };
        let c = of("t\u{e8}!").unwrap();
        let own = |name: &str| c.at(name, &[SENTENCES.len()]);
        assert_eq!((own("characters"), own("bytes")), (Some(3.0), Some(4.0)));
        assert!(matches!(of(" ").unwrap_err(), CellError::Input { .. }));
    }
}
