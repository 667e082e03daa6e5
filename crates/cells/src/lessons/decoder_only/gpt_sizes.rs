//! Parameters of a GPT, counted from its sizes: GPT-2, GPT-3, or the reader's own.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The inputs: blocks, width, vocabulary and context.
pub const SIZES: [&str; 4] = ["layers", "width", "vocabulary", "context"];

/// Published models, and tiny-gpt: name and sizes, in the order of [`SIZES`].
pub const KNOWN: [(&str, [f64; 4]); 4] = [
    ("tiny-gpt", [4.0, 128.0, 2_048.0, 256.0]),
    ("GPT-2", [12.0, 768.0, 50_257.0, 1_024.0]),
    ("GPT-2 XL", [48.0, 1_600.0, 50_257.0, 1_024.0]),
    ("GPT-3", [96.0, 12_288.0, 50_257.0, 2_048.0]),
];

/// The kinds of parameters, in the order of the tensor `parts`.
pub const PARTS: [&str; 5] = ["token table", "position table", "attention", "MLP", "norms"];

/// Bytes of a number in half precision.
const HALF: u64 = 2;

/// The cell `gpt-sizes`.
pub const SPEC: CellSpec = CellSpec {
    name: "gpt-sizes",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let [layers, width, vocabulary, context] = KNOWN[1].1;
    vec![
        InputSpec::number(SIZES[0], "Blocks $L$", (1.0, 128.0, 1.0), layers),
        InputSpec::number(SIZES[1], "Dimension $C$", (16.0, 16_384.0, 16.0), width),
        InputSpec::number(
            SIZES[2],
            "Vocabulary $V$",
            (256.0, 262_144.0, 1.0),
            vocabulary,
        ),
        InputSpec::number(SIZES[3], "Context", (16.0, 131_072.0, 1.0), context),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let mut sizes = [0; 4];
    for (size, name) in sizes.iter_mut().zip(SIZES) {
        *size = inputs.number(name)? as usize;
    }
    let [layers, width, vocabulary, context] = sizes;
    let config = &explain::gpt_sizes::config(layers, width, vocabulary, context);
    let found = shown!(record, explain::gpt_sizes::count, config);
    let parts = [
        found.tokens,
        found.positions,
        found.attention,
        found.mlp,
        found.norms,
    ];
    let total = found.total() as f64;
    record.numbers("parts", parts.iter().map(|&n| n as f64).collect());
    record.numbers(
        "parts.share",
        parts.iter().map(|&n| n as f64 / total).collect(),
    );
    record.number("total", total);
    record.number("gigabytes", total * HALF as f64 / 1e9);
    let token = (HALF * explain::gpt_sizes::cached_numbers(config)) as f64;
    record.number("cache.token", token);
    record.number("cache.full", token * context as f64 / 1e9);
    let (mut known, mut caches) = (Vec::new(), Vec::new());
    for (_, [layers, width, vocabulary, context]) in KNOWN {
        let tokens = context;
        let [layers, width] = [layers as usize, width as usize];
        let config =
            explain::gpt_sizes::config(layers, width, vocabulary as usize, context as usize);
        known.push(explain::gpt_sizes::count(&config).total() as f64);
        let token = (HALF * explain::gpt_sizes::cached_numbers(&config)) as f64;
        caches.push(token * tokens / 1e9);
    }
    record.numbers("known.cache", caches);
    record.numbers("known", known);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::number;

    /// The counts that the lesson quotes.
    #[test]
    fn the_published_models_have_their_published_sizes() {
        for ((name, sizes), expected) in KNOWN.into_iter().zip([
            1_088_256.0,
            124_439_808.0,
            1_557_611_200.0,
            174_604_259_328.0,
        ]) {
            let mut given = Inputs::defaults(&inputs());
            for (size, value) in SIZES.into_iter().zip(sizes) {
                given = given.with(size, number(value));
            }
            let c = SPEC.compute(&given).unwrap();
            assert_eq!(c.at("total", &[]), Some(expected), "{name}");
            let parts = c.tensor("parts").unwrap().values.sum();
            assert_eq!(parts, expected);
        }
    }

    /// In GPT-3 nearly all is in the blocks, in GPT-2 a third is the token table; a full cache of
    /// GPT-3 takes 9.7 GB.
    #[test]
    fn large_models_are_their_blocks() {
        let of = |sizes: [f64; 4]| {
            let mut given = Inputs::defaults(&inputs());
            for (size, value) in SIZES.into_iter().zip(sizes) {
                given = given.with(size, number(value));
            }
            SPEC.compute(&given).unwrap()
        };
        let (two, three) = (of(KNOWN[1].1), of(KNOWN[3].1));
        assert!((0.3..0.32).contains(&two.at("parts.share", &[0]).unwrap()));
        assert!(three.at("parts.share", &[0]).unwrap() < 0.004);
        let mlp = three.at("parts", &[3]).unwrap() / three.at("parts", &[2]).unwrap();
        assert!((mlp - 2.0).abs() < 0.001);
        assert!((three.at("cache.full", &[]).unwrap() - 9.66).abs() < 0.01);
        assert_eq!(three.at("cache.token", &[]), Some(4_718_592.0));
        assert_eq!(two.at("known.cache", &[3]), three.at("cache.full", &[]));
    }
}
