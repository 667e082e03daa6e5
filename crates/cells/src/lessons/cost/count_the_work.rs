//! The multiplications of four layers for a text of T tokens of C numbers, with the steps that must
//! follow one another and the longest path of a signal.

use explain::cost::{self, LayerCost};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// Longest text: 2^17 tokens.
pub const LONGEST: usize = 131_072;

/// Texts as people met them: what it is, its tokens, the dimension of the model.
pub const CASES: [(&str, usize, usize); 3] = [
    ("A sentence, in the model of 2017", 50, 512),
    ("The longest text of GPT-2", 1_024, 768),
    ("The longest text of Llama 3.1 8B", LONGEST, 4_096),
];

/// The layers, as tensors are named after them.
pub const LAYERS: [&str; 4] = ["attention", "recurrent", "convolution", "restricted"];

/// The cell `count-the-work`.
pub const SPEC: CellSpec = CellSpec {
    name: "count-the-work",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("tokens", "Tokens $T$", (2.0, LONGEST as f64, 1.0), 50.0),
        InputSpec::number("width", "Dimension $C$", (8.0, 16_384.0, 8.0), 512.0),
        InputSpec::number("kernel", "Kernel $k$", (2.0, 15.0, 1.0), 3.0),
        InputSpec::number("window", "Window $r$", (2.0, 4_096.0, 1.0), 128.0),
    ]
}

/// The costs of the four layers, in the order of [`LAYERS`].
fn costs(
    tokens: usize,
    width: usize,
    kernel: usize,
    window: usize,
) -> Result<[LayerCost; 4], CellError> {
    Ok([
        cost::self_attention(tokens, width),
        cost::recurrent(tokens, width),
        cost::convolution(tokens, width, kernel)?,
        cost::restricted_attention(tokens, width, window)?,
    ])
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (tokens, width) = (inputs.count("tokens")?, inputs.count("width")?);
    let (kernel, window) = (inputs.count("kernel")?, inputs.count("window")?);
    let mut record = Record::new();
    let attention = shown!(record, explain::cost::self_attention, tokens, width);
    let recurrent = shown!(record, explain::cost::recurrent, tokens, width);
    let convolution = shown!(record, explain::cost::convolution, tokens, width, kernel)?;
    let restricted = shown!(
        record,
        explain::cost::restricted_attention,
        tokens,
        width,
        window
    )?;
    for (name, found) in LAYERS
        .into_iter()
        .zip([attention, recurrent, convolution, restricted])
    {
        let LayerCost {
            multiplications,
            sequential,
            path,
        } = found;
        record.number(&format!("{name}.multiplications"), multiplications as f64);
        record.number(&format!("{name}.sequential"), sequential as f64);
        record.number(&format!("{name}.path"), path as f64);
    }
    let scores = shown!(record, explain::cost::score_count, tokens);
    let projections = shown!(record, explain::cost::projections, tokens, width);
    record.number("scores", scores as f64);
    record.number("projections", projections as f64);
    // How many times the work of the recurrence attention does: T / C.
    let times = |a: LayerCost, b: LayerCost| a.multiplications as f64 / b.multiplications as f64;
    record.number("ratio", times(attention, recurrent));
    let cases = CASES.map(|(_, t, c)| times(cost::self_attention(t, c), cost::recurrent(t, c)));
    record.numbers("cases.tokens", CASES.map(|(_, t, _)| t as f64).to_vec());
    record.numbers("cases.width", CASES.map(|(_, _, c)| c as f64).to_vec());
    record.numbers("cases.ratio", cases.to_vec());
    curves(&mut record, width, kernel, window)?;
    Ok(record.finish())
}

/// The multiplications of each layer for 2, 4, 8, … tokens.
fn curves(
    record: &mut Record,
    width: usize,
    kernel: usize,
    window: usize,
) -> Result<(), CellError> {
    let lengths: Vec<usize> = (1..=LONGEST.ilog2()).map(|power| 1 << power).collect();
    let mut found: [Vec<f64>; 4] = Default::default();
    for &length in &lengths {
        for (curve, cost) in found.iter_mut().zip(costs(length, width, kernel, window)?) {
            curve.push(cost.multiplications as f64);
        }
    }
    for (name, curve) in LAYERS.into_iter().zip(found) {
        record.numbers(&format!("{name}.curve"), curve);
    }
    record.numbers("lengths", lengths.into_iter().map(|n| n as f64).collect());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn with(tokens: usize, width: usize) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("tokens", InputValue::Number(tokens as f64))
            .with("width", InputValue::Number(width as f64));
        SPEC.compute(&given).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// The curriculum's check, and the lesson's: 4,096 tokens have 16,777,216 scores a head.
    #[test]
    fn four_thousand_tokens_have_sixteen_million_scores() {
        assert_eq!(number(&with(4_096, 512), "scores"), 16_777_216.0);
    }

    /// What the lesson says of a sentence, and of "T is nearly always below C".
    #[test]
    fn attention_is_cheap_for_sentences_and_dear_for_books() {
        let sentence = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        assert_eq!(number(&sentence, "attention.multiplications"), 2_560_000.0);
        assert_eq!(number(&sentence, "recurrent.multiplications"), 26_214_400.0);
        assert!((number(&sentence, "ratio") - 50.0 / 512.0).abs() < 1e-12);
        let ratios = sentence.tensor("cases.ratio").unwrap();
        let ratios: Vec<f64> = ratios.values.iter().copied().collect();
        assert!(ratios[0] < 0.1 && (ratios[1] - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!(ratios[2], 32.0);
        assert_eq!(number(&with(131_072, 4_096), "ratio"), 32.0);
        // The projections are the larger part of attention below 2C tokens.
        for (tokens, is_larger) in [(1_023, true), (1_025, false)] {
            let c = with(tokens, 512);
            let attention = number(&c, "attention.multiplications");
            assert_eq!(number(&c, "projections") > attention, is_larger);
        }
    }

    /// The curves meet where T = C, and pass through the numbers beside them.
    #[test]
    fn the_curves_cross_at_as_many_tokens_as_numbers() {
        let c = with(1_024, 1_024);
        let lengths = c.tensor("lengths").unwrap();
        let at = lengths.values.iter().position(|&n| n == 1_024.0).unwrap();
        for name in LAYERS {
            let point = c.at(&format!("{name}.curve"), &[at]).unwrap();
            assert_eq!(point, number(&c, &format!("{name}.multiplications")));
        }
        assert_eq!(
            c.at("attention.curve", &[at]),
            c.at("recurrent.curve", &[at])
        );
        let before = |name: &str| c.at(&format!("{name}.curve"), &[at - 1]).unwrap();
        assert!(before("attention") < before("recurrent"));
    }

    /// Table 1 of Vaswani et al.: steps in sequence and longest paths.
    #[test]
    fn only_recurrence_waits_and_only_attention_reaches_all() {
        let c = with(1_000, 64);
        let of = |what: &str| LAYERS.map(|name| number(&c, &format!("{name}.{what}")));
        assert_eq!(of("sequential"), [1.0, 1_000.0, 1.0, 1.0]);
        assert_eq!(of("path"), [1.0, 999.0, 500.0, 8.0]);
    }
}
