//! Reading decimal numbers.
//!
//! The standard library needs a table of 10 kB for this, which does not compress. The browser reads
//! numbers with the same result: the nearest number with 64 bits (ECMAScript,
//! `StringNumericLiteral`).

/// The number that a text says in decimal digits, such as `-0.5` or `1e3`; `None` for anything
/// else, such as an empty text, `inf` or `NaN`.
pub fn parse(text: &str) -> Option<f64> {
    is_decimal(text).then(|| read(text)).flatten()
}

#[cfg(target_family = "wasm")]
fn read(text: &str) -> Option<f64> {
    Some(js_sys::parse_float(text))
}

#[cfg(not(target_family = "wasm"))]
fn read(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// Whether a text is a sign or none, digits with at most one point, and an exponent or none.
fn is_decimal(text: &str) -> bool {
    let without_sign = |text: &str| text.strip_prefix(['+', '-']).unwrap_or(text).to_owned();
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(without_sign(exponent))),
        None => (text, None),
    };
    let number = without_sign(number);
    let (whole, part) = number.split_once('.').unwrap_or((&number, ""));
    let exponent = exponent.is_none_or(|digits| !digits.is_empty() && are_digits(&digits));
    (whole.len() + part.len() > 0) && are_digits(whole) && are_digits(part) && exponent
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_that_looks_like_a_number_is_read_as_the_standard_library_reads_it(
            text in "[+-]?[0-9]{0,4}\\.?[0-9]{0,4}([eE][+-]?[0-9]{0,3})?"
        ) {
            prop_assert_eq!(parse(&text), text.parse().ok());
        }

        #[test]
        fn other_texts_are_read_as_by_the_standard_library_but_for_words(text in "[+\\-.0-9eE x_]{0,6}") {
            prop_assert_eq!(parse(&text), text.parse().ok());
        }
    }

    #[test]
    fn words_are_no_numbers() {
        for text in [
            "",
            "inf",
            "-infinity",
            "NaN",
            " 1",
            "1 ",
            "0x10",
            "1,5",
            ".",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
