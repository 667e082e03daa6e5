//! Sentences that the reader types, split into words for the cells.

use engine::token::words::split;

use crate::error::CellError;
use crate::input::Inputs;

/// The words of the text input `name`, at least one and at most `most`.
///
/// # Errors
/// [`CellError::Input`] with a message for the reader where there is no word or are too many;
/// [`CellError::Missing`].
pub(crate) fn tokens(
    inputs: &Inputs,
    name: &str,
    label: &str,
    most: usize,
) -> Result<Vec<String>, CellError> {
    // One more than allowed is enough to know; the rest of a long text is not even split.
    let words = split(inputs.text(name)?, most + 1);
    if words.is_empty() {
        return Err(CellError::input(name, label, "type at least one word."));
    }
    if words.len() > most {
        let message = format!(
            "this cell shows at most {most} words and signs, and there are more. Your text is kept: shorten it to continue."
        );
        return Err(CellError::input(name, label, message));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{InputSpec, InputValue};

    #[test]
    fn words_are_counted_before_they_are_used() {
        let specs = vec![InputSpec::text("sentence", "Sentence", "The cat sat.")];
        let given = |text: &str| {
            Inputs::defaults(&specs).with("sentence", InputValue::Text(text.to_owned()))
        };
        assert_eq!(
            tokens(&given("The cat sat."), "sentence", "Sentence", 4).unwrap(),
            ["The", "cat", "sat", "."]
        );
        for text in ["", " \n ", "one two three four five"] {
            let error = tokens(&given(text), "sentence", "Sentence", 4).unwrap_err();
            assert!(matches!(error, CellError::Input { .. }), "{error}");
        }
    }
}
