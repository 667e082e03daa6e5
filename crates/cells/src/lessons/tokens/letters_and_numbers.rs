//! What a model gets instead of letters and digits: the tokens of a word with their ids, in four
//! spellings, and which of the numbers from 1 to 1,000 are one token.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::trained::{BERT, GPT, TRANSLATOR};
use crate::parts::vocabularies::{self, BYTES, Cut, GPT2, UNCASED, Vocabulary, not_blank};
use crate::spec::{CellSpec, Run, WorkerKind, once};

/// The word and the letter: their names and labels.
const WORD: (&str, &str) = ("word", "Word");
const LETTER: (&str, &str) = ("letter", "Letter to count");

/// Most characters of the word.
const LONGEST: usize = 60;

/// The numbers that are cut, grouped by how many digits they have.
const LAST: usize = 1000;
const GROUPS: usize = 4;

/// The spellings of the word, as their tensors begin.
pub const FORMS: [&str; 4] = ["plain", "spaced", "capital", "capitals"];

/// The cell `letters-and-numbers`.
pub const SPEC: CellSpec = CellSpec {
    name: "letters-and-numbers",
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
        InputSpec::text(WORD.0, WORD.1, "strawberry"),
        InputSpec::text(LETTER.0, LETTER.1, "r"),
        vocabularies::choice(&[GPT, BERT, TRANSLATOR, BYTES, GPT2, UNCASED]),
    ]
}

fn compute(inputs: &Inputs, vocabulary: &Vocabulary) -> Result<Computation, CellError> {
    let word = not_blank(inputs, WORD)?.trim();
    if word.chars().count() > LONGEST {
        let message = format!(
            "type at most {LONGEST} characters. Your text is kept: shorten it to continue."
        );
        return Err(CellError::input(WORD.0, WORD.1, message));
    }
    // Of a longer text the first character; the page says which one is counted.
    let letter = not_blank(inputs, LETTER)?.trim().chars().next();
    let letter = letter.unwrap_or_default();
    let mut record = Record::new();
    for (form, text) in FORMS.into_iter().zip(spellings(word)) {
        let cut = vocabulary.cut(&mut record, &text)?.shown(WORD)?;
        cut.keep(&mut record, &format!("{form}."));
        if form == FORMS[0] {
            let found = counted(vocabulary, &cut, letter);
            record.words("counted", vec![letter.to_string()]);
            record.number("letters", found.iter().sum());
            record.numbers("plain.letters", found);
        }
    }
    numbers(&mut record, vocabulary)?;
    Ok(record.finish())
}

/// The word alone, after a space, with a first capital, and in capitals.
fn spellings(word: &str) -> [String; 4] {
    let mut rest = word.chars();
    let first: String = rest
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    [
        word.to_owned(),
        format!(" {word}"),
        first + rest.as_str(),
        word.to_uppercase(),
    ]
}

/// How often the letter is in each token, small or capital.
fn counted(vocabulary: &Vocabulary, cut: &Cut, letter: char) -> Vec<f64> {
    let is_it = |c: &char| c.to_lowercase().eq(letter.to_lowercase());
    let count = |&id: &usize| vocabulary.letters(id).chars().filter(is_it).count() as f64;
    cut.ids.iter().map(count).collect()
}

/// Keeps how many numbers of one to four digits are a single token, alone and after a space.
fn numbers(record: &mut Record, vocabulary: &Vocabulary) -> Result<(), CellError> {
    let (mut all, mut alone, mut spaced) = ([0.0; GROUPS], [0.0; GROUPS], [0.0; GROUPS]);
    for number in 1..=LAST {
        let text = number.to_string();
        let group = text.len() - 1;
        all[group] += 1.0;
        alone[group] += f64::from(u8::from(vocabulary.count(&text)? == 1));
        spaced[group] += f64::from(u8::from(vocabulary.count(&format!(" {text}"))? == 1));
    }
    for (name, counts) in [("all", all), ("alone", alone), ("spaced", spaced)] {
        record.number(&format!("numbers.{name}.total"), counts.iter().sum());
        record.numbers(&format!("numbers.{name}"), counts.to_vec());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, from_npm, text};

    fn of(word: &str, vocabulary: &str) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("word", text(word))
            .with("vocabulary", choice(vocabulary));
        computed(&SPEC, &given).unwrap()
    }

    fn values(c: &Computation, name: &str) -> Vec<f64> {
        c.tensor(name).unwrap().values.iter().copied().collect()
    }

    /// What the lesson says of *strawberry* in tiny-gpt.
    #[test]
    fn strawberry_is_four_tokens_and_three_letters_r() {
        let c = of("strawberry", GPT);
        assert_eq!(c.words("plain.tokens"), ["st", "raw", "ber", "ry"]);
        assert_eq!(values(&c, "plain.letters"), [0.0, 1.0, 1.0, 1.0]);
        assert_eq!(c.at("letters", &[]), Some(3.0));
        assert_eq!(c.words("spaced.tokens")[0], "\u{2423}st");
        assert_eq!(c.words("capital.tokens"), ["St", "raw", "ber", "ry"]);
        assert_eq!(c.words("capitals.tokens").len(), 10);
        // The tokens of the four spellings share no first id.
        let first: Vec<f64> = FORMS
            .iter()
            .map(|form| c.at(&format!("{form}.ids"), &[0]).unwrap())
            .collect();
        assert!(
            (0..4).all(|i| (0..i).all(|j| first[i] != first[j])),
            "{first:?}"
        );
    }

    /// The counts of the lesson.
    #[test]
    fn few_numbers_are_one_token_in_our_vocabularies() {
        let c = of("strawberry", GPT);
        assert_eq!(values(&c, "numbers.all"), [9.0, 90.0, 900.0, 1.0]);
        assert_eq!(values(&c, "numbers.alone"), [9.0, 1.0, 0.0, 0.0]);
        assert_eq!(values(&c, "numbers.spaced"), [2.0, 0.0, 0.0, 0.0]);
        let c = of("strawberry", BERT);
        assert_eq!(values(&c, "numbers.alone"), values(&c, "numbers.spaced"));
    }

    /// What the lesson says of GPT-2.
    #[test]
    fn most_numbers_are_one_token_of_gpt2() {
        if from_npm() {
            let c = of("strawberry", GPT2);
            assert_eq!(values(&c, "numbers.alone"), [9.0, 90.0, 719.0, 1.0]);
            assert_eq!(values(&c, "numbers.spaced"), [9.0, 90.0, 405.0, 1.0]);
            assert_eq!(c.words("plain.tokens"), ["st", "raw", "berry"]);
            assert_eq!(c.words("spaced.tokens"), ["\u{2423}strawberry"]);
            assert_eq!(c.words("capitals.tokens"), ["ST", "RAW", "BER", "RY"]);
        }
    }

    /// The signs with which the page shows bytes and pieces are no letters.
    #[test]
    fn marks_are_not_counted_as_letters() {
        let count = |word: &str, letter: &str, vocabulary: &str| {
            let given = Inputs::defaults(&inputs())
                .with("word", text(word))
                .with("letter", text(letter))
                .with("vocabulary", choice(vocabulary));
            computed(&SPEC, &given).unwrap().at("letters", &[]).unwrap()
        };
        // The bytes of the letter are shown as C3 and AF.
        assert_eq!(count("na\u{ef}ve", "c", BYTES), 0.0);
        assert_eq!(count("na\u{ef}ve", "V", BYTES), 1.0);
        assert_eq!(count("strawberries", "#", BERT), 0.0);
        assert_eq!(count("\u{5bff}", "u", BERT), 0.0);
        assert_eq!(count("strawberry", "ry", BERT), 3.0);
    }

    #[test]
    fn a_word_and_one_letter_are_needed() {
        for (name, value) in [
            ("word", " "),
            ("word", &"w".repeat(61)),
            ("letter", ""),
            ("letter", " "),
        ] {
            let given = Inputs::defaults(&inputs()).with(name, text(value));
            let error = computed(&SPEC, &given).unwrap_err();
            assert!(matches!(error, CellError::Input { .. }), "{error}");
        }
    }
}
