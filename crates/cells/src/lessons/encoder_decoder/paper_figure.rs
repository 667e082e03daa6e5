//! The figure of the 2017 paper with the sizes of its models: how many parameters each box has.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// A box of the figure.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Its text.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub says: &'static str,
}

const fn block(name: &'static str, says: &'static str) -> Block {
    Block { name, says }
}

/// The number of boxes of the encoder, which come first.
pub const ENCODER: usize = 7;

/// The boxes that are repeated in each block, of the encoder and of the decoder.
pub const REPEATED: [std::ops::Range<usize>; 2] = [2..6, 9..15];

/// The boxes, in the order in which data flows.
pub const BLOCKS: [Block; 17] = [
    block(
        "Source embedding",
        "Looks up the vector of each source token and multiplies it by $\u{221a}C$.",
    ),
    block(
        "Add positions",
        "Adds sines and cosines of the position. They are computed, not learned.",
    ),
    block(
        "Self-attention",
        "Each source token takes from all source tokens.",
    ),
    block(
        "Add and norm",
        "Adds the input of the attention to its output, then layer norm.",
    ),
    block(
        "MLP",
        "Two matrices with a ReLU between, for each token alone.",
    ),
    block(
        "Add and norm",
        "Adds the input of the MLP to its output, then layer norm.",
    ),
    block(
        "Encoder\u{2019}s output",
        "One vector for each source token. The cross-attention of every decoder block reads it.",
    ),
    block(
        "Target embedding",
        "Looks up the vectors of the tokens written so far, in the same table.",
    ),
    block(
        "Add positions",
        "The same sines and cosines as on the other side.",
    ),
    block(
        "Masked self-attention",
        "Each target token takes from itself and from the ones before it.",
    ),
    block(
        "Add and norm",
        "Adds the input of the attention to its output, then layer norm.",
    ),
    block(
        "Cross-attention",
        "Queries come from the decoder, keys and values from the encoder\u{2019}s output.",
    ),
    block(
        "Add and norm",
        "Adds the input of the cross-attention to its output, then layer norm.",
    ),
    block(
        "MLP",
        "Two matrices with a ReLU between, for each token alone.",
    ),
    block(
        "Add and norm",
        "Adds the input of the MLP to its output, then layer norm.",
    ),
    block(
        "Linear",
        "The dot product with the vector of every token of the same table: a logit for each.",
    ),
    block(
        "Softmax",
        "Turns the logits into the probabilities of the next token.",
    ),
];

/// The models of table 3: name, C, F, blocks on each side, heads, and the published number of
/// parameters.
const MODELS: [(&str, [u64; 4], f64); 2] = [
    ("base", [512, 2_048, 6, 8], 65e6),
    ("big", [1_024, 4_096, 6, 16], 213e6),
];

/// The cell `paper-figure`.
pub const SPEC: CellSpec = CellSpec {
    name: "paper-figure",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let limits = (1_000.0, 60_000.0, 100.0);
    vec![
        InputSpec::choice("model", "Model", &["base", "big"]),
        InputSpec::number("vocabulary", "Vocabulary $V$", limits, 37_000.0),
        InputSpec::entry("box", "Selected box", 1, Some(&[11])),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let chosen = inputs.choice("model")?;
    let known = MODELS.iter().find(|(name, ..)| *name == chosen);
    let (_, [c, f, n, heads], published) =
        known.ok_or_else(|| CellError::Missing(chosen.to_owned()))?;
    let v = inputs.count("vocabulary")? as u64;
    let found = shown!(record, explain::parameter_count::parameters, v, *c, *f, *n);
    let one = |at: usize| match at {
        0 => found.table,
        2 | 9 | 11 => found.attention,
        3 | 5 | 10 | 12 | 14 => found.norm,
        4 | 13 => found.mlp,
        _ => 0,
    };
    let is_repeated = |at: usize| REPEATED.iter().any(|range| range.contains(&at));
    let times = |at: usize| if is_repeated(at) { *n } else { 1 };
    let numbers = |of: &dyn Fn(usize) -> f64| (0..BLOCKS.len()).map(of).collect::<Vec<_>>();
    let total = found.total as f64;
    record.numbers("one", numbers(&|at| one(at) as f64));
    record.numbers("all", numbers(&|at| (one(at) * times(at)) as f64));
    record.numbers("share", numbers(&|at| (one(at) * times(at)) as f64 / total));
    for (name, count) in [
        ("layers", *n),
        ("heads", *heads),
        ("width", *c),
        ("inner", *f),
        ("vocabulary", v),
        ("table", found.table),
        ("encoder.block", found.encoder_block),
        ("decoder.block", found.decoder_block),
        ("total", found.total),
    ] {
        record.number(name, count as f64);
    }
    record.number("millions", total / 1e6);
    record.number("published", published / 1e6);
    let rest = total - found.table as f64;
    record.number("needed", (published - rest) / *c as f64);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, number};

    fn of(model: &str, vocabulary: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("model", choice(model))
            .with("vocabulary", number(vocabulary));
        SPEC.compute(&given).unwrap()
    }

    /// The figures of the lesson: 63.1 and 214.2 million with 37,000 tokens, and the vocabularies
    /// with which the published figures would come out.
    #[test]
    fn both_models_are_counted() {
        let (base, big) = (of("base", 37_000.0), of("big", 37_000.0));
        let at = |c: &Computation, name: &str| c.at(name, &[]).unwrap();
        assert_eq!(at(&base, "total"), 63_082_496.0);
        assert_eq!((at(&base, "millions") * 10.0).round(), 631.0);
        assert_eq!((at(&big, "millions") * 10.0).round(), 2142.0);
        assert_eq!(at(&base, "needed").round(), 40_745.0);
        assert_eq!(at(&big, "needed").round(), 35_784.0);
        // The MLPs, the attentions and the table.
        let sum = |boxes: &[usize]| {
            boxes
                .iter()
                .map(|&n| base.at("share", &[n]).unwrap())
                .sum::<f64>()
        };
        let shares =
            [sum(&[4, 13]), sum(&[2, 9, 11]), sum(&[0])].map(|share| (share * 100.0).round());
        assert_eq!(shares, [40.0, 30.0, 30.0]);
        for c in [&base, &big] {
            let all = &c.tensor("all").unwrap().values;
            assert_eq!(all.sum(), at(c, "total"), "the boxes are the whole");
            let shares = &c.tensor("share").unwrap().values;
            assert!((shares.sum() - 1.0).abs() < 1e-9);
        }
    }

    /// The exercise: 40,700 tokens give 65.0 million.
    #[test]
    fn another_vocabulary_gives_the_published_number() {
        assert_eq!(
            (of("base", 40_700.0).at("millions", &[]).unwrap() * 10.0).round(),
            650.0
        );
    }
}
