//! Two heads made by hand that continue a repetition.

use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::trained::START;
use crate::parts::words;
use crate::spec::{CellSpec, Run};

/// Most words.
const MOST_WORDS: usize = 9;

/// The cell `induction-by-hand`.
pub const SPEC: CellSpec = CellSpec {
    name: "induction-by-hand",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text("sentence", "Words", "blue seven hat door blue seven"),
        InputSpec::toggle("previous", "Head 1: previous token", true),
        InputSpec::number(
            "sharpness",
            "Score of two equal words",
            (0.0, 12.0, 0.5),
            8.0,
        ),
        InputSpec::entry("selected", "Selected pair", 2, None),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let typed = words::tokens(inputs, "sentence", "Words", MOST_WORDS)?;
    let lower = typed.iter().map(|word| word.to_lowercase());
    let tokens: Vec<String> = std::iter::once(START.to_owned()).chain(lower).collect();
    let mut known: Vec<String> = Vec::new();
    for token in &tokens {
        if !known.contains(token) {
            known.push(token.clone());
        }
    }
    let x = Array2::from_shape_fn((tokens.len(), known.len()), |(t, n)| {
        if tokens[t] == known[n] { 1.0 } else { 0.0 }
    });
    let (sharpness, looks_back) = (
        inputs.number("sharpness")? as f32,
        inputs.toggle("previous")?,
    );
    let found = shown!(
        record,
        explain::induction::induction,
        x.view(),
        sharpness,
        looks_back
    )?;
    let last = found.next.row(tokens.len() - 1);
    let best = last.iter().enumerate().fold(
        0,
        |best, (n, share)| if *share > last[best] { n } else { best },
    );
    record.words("best", vec![known[best].clone()]);
    record.number("best.share", f64::from(last[best]));
    record.tensor("x", &x);
    record.tensor("previous", &found.previous);
    record.tensor("weights", &found.weights);
    record.tensor("next", &found.next);
    record.tensor("expected", &last);
    record.words("tokens", tokens);
    record.words("known", known);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn of(sentence: &str, previous: bool) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("sentence", InputValue::Text(sentence.to_owned()))
            .with("previous", InputValue::Toggle(previous));
        SPEC.compute(&given).unwrap()
    }

    /// What the lesson says: the two heads expect *hat*, and without head 1 nothing in particular.
    #[test]
    fn the_two_heads_continue_the_list() {
        let given = Inputs::defaults(&inputs());
        let c = SPEC.compute(&given).unwrap();
        assert_eq!(c.words("best"), ["hat"]);
        assert!(c.at("best.share", &[]).unwrap() > 0.99);
        // The last word looks at *hat*, one after the first *seven*.
        assert!(c.at("weights", &[6, 3]).unwrap() > 0.99);
        let c = of("blue seven hat door blue seven", false);
        assert!(c.at("best.share", &[]).unwrap() < 0.3);
        for t in 0..7 {
            assert!((c.at("weights", &[6, t]).unwrap() - 1.0 / 7.0).abs() < 1e-6);
        }
    }

    /// What the exercise says: two continuations share the weight, and capital letters do not count.
    #[test]
    fn two_continuations_share_the_weight() {
        let c = of("The cat and the dog and the", true);
        let at = |word: &str| {
            let n = c.words("known").iter().position(|known| known == word);
            c.at("expected", &[n.unwrap()]).unwrap()
        };
        assert!((at("cat") - 0.5).abs() < 0.01 && (at("dog") - 0.5).abs() < 0.01);
    }

    #[test]
    fn a_word_that_was_not_there_has_no_continuation() {
        let c = of("blue seven hat", true);
        assert!(c.at("best.share", &[]).unwrap() < 0.3);
        let none = Inputs::defaults(&inputs()).with("sentence", InputValue::Text(" ".to_owned()));
        assert!(SPEC.compute(&none).is_err());
    }
}
