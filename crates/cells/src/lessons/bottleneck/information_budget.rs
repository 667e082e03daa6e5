//! Bits that a message may need against bits that one vector has.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// Points of the line in the chart.
const POINTS: usize = 41;

/// The cell `information-budget`.
pub const SPEC: CellSpec = CellSpec {
    name: "information-budget",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number(
            "tokens",
            "T, tokens in the text",
            (1.0, 5000.0, 1.0),
            1000.0,
        ),
        InputSpec::number(
            "vocabulary",
            "V, tokens in the vocabulary",
            (2.0, 250_000.0, 1.0),
            50_000.0,
        ),
        InputSpec::number(
            "width",
            "C, numbers in the vector",
            (1.0, 4096.0, 1.0),
            512.0,
        ),
        InputSpec::number("bits", "b, bits per number", (1.0, 64.0, 1.0), 32.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (tokens, vocabulary) = (inputs.count("tokens")?, inputs.count("vocabulary")?);
    let (width, bits) = (inputs.count("width")?, inputs.count("bits")?);
    let mut record = Record::new();
    let token = shown!(record, explain::capacity::token_bits, vocabulary);
    let message = shown!(record, explain::capacity::message_bits, tokens, vocabulary);
    let vector = shown!(record, explain::capacity::vector_bits, width, bits);
    let most = shown!(
        record,
        explain::capacity::longest_message,
        vocabulary,
        vector
    );
    record.number("token.bits", token);
    record.number("message.bits", message);
    record.number("vector.bits", vector);
    record.number("share", message / vector);
    record.number("longest", most);
    record.number("too.long", most + 1.0);
    record.number("fits", f64::from(u8::from(message <= vector)));
    // The chart reaches beyond both the text and the crossing.
    let end = 1.25 * most.max(tokens as f64);
    let lengths: Vec<f64> = (0..POINTS)
        .map(|n| (end * n as f64 / (POINTS - 1) as f64).round())
        .collect();
    let line = |&length: &f64| explain::capacity::message_bits(length as usize, vocabulary);
    record.numbers("line.message", lengths.iter().map(line).collect());
    record.numbers("line.vector", vec![vector; POINTS]);
    record.numbers("line.tokens", lengths);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn with(tokens: f64) -> Computation {
        let given = Inputs::defaults(&inputs()).with("tokens", InputValue::Number(tokens));
        SPEC.compute(&given).unwrap()
    }

    /// The figures of the curriculum: at 1,000 tokens the usual claim "it does not fit" is not yet
    /// true; it starts at 1,050.
    #[test]
    fn a_thousand_tokens_still_fit_and_a_thousand_and_fifty_do_not() {
        let at = |found: &Computation, name: &str| found.at(name, &[]).unwrap();
        let found = with(1000.0);
        assert_eq!(at(&found, "message.bits").round(), 15_610.0);
        assert_eq!(at(&found, "vector.bits"), 16_384.0);
        assert_eq!(at(&found, "fits"), 1.0);
        assert_eq!(at(&found, "too.long"), 1050.0);
        assert_eq!(at(&with(1049.0), "fits"), 1.0);
        assert_eq!(at(&with(1050.0), "fits"), 0.0);
    }

    #[test]
    fn the_lines_cross_where_the_longest_message_ends() {
        let found = with(30.0);
        let of = |name: &str| found.tensor(name).unwrap().values.clone();
        let (tokens, message, vector) = (of("line.tokens"), of("line.message"), of("line.vector"));
        let longest = found.at("longest", &[]).unwrap();
        for n in 0..POINTS {
            assert_eq!(message[n] <= vector[n], tokens[n] <= longest, "{n}");
        }
        assert!(tokens[POINTS - 1] > longest);
    }
}
