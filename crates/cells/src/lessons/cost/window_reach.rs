//! Masks that show each token only some of the earlier ones: what they cost, how far the first word can
//! come through some layers, and how many of them it takes to the last one.

use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The masks.
const PATTERNS: &[&str] = &[
    "window",
    "blocks",
    "window and strides",
    "everything before",
];

/// Side of the picture of a mask.
pub const SIDE: usize = 20;

/// Most layers, each of which is drawn.
pub const MOST_LAYERS: usize = 12;

/// The cell `window-reach`.
pub const SPEC: CellSpec = CellSpec {
    name: "window-reach",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::choice("pattern", "Mask", PATTERNS),
        InputSpec::number("size", "Window $w$", (2.0, 256.0, 1.0), 64.0),
        InputSpec::number("depth", "Layers", (1.0, MOST_LAYERS as f64, 1.0), 8.0),
        InputSpec::number("tokens", "Words $T$", (20.0, 600.0, 1.0), 500.0),
    ]
}

fn mask(record: &mut Record, pattern: &str, tokens: usize, size: usize) -> Array2<bool> {
    match pattern {
        "window" => shown!(record, explain::reach::window, tokens, size),
        "blocks" => shown!(record, engine::nn::mask::blocks, tokens, size),
        "window and strides" => shown!(record, engine::nn::mask::strided, tokens, size),
        _ => shown!(record, engine::nn::mask::causal, tokens),
    }
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (tokens, size) = (inputs.count("tokens")?, inputs.count("size")?);
    let depth = inputs.count("depth")?;
    let mut record = Record::new();
    let mask = mask(&mut record, inputs.choice("pattern")?, tokens, size);
    let view = mask.view();
    let from = 0;
    let reached = shown!(record, explain::reach::layers, view, from)?;
    let density = shown!(record, explain::reach::density, view, SIDE);
    record.tensor("density", &density);
    let pairs = mask.iter().filter(|see| **see).count() as f64;
    let all = (tokens * (tokens + 1) / 2) as f64;
    record.number("pairs", pairs);
    record.number("pairs.all", all);
    record.number("pairs.share", pairs / all);
    record.number("pairs.total", pairs * depth as f64);
    // No number for a word that is never reached.
    if let Some(layers) = reached.last().copied().flatten() {
        record.number("layers", layers as f64);
    }
    let last = reached.iter().flatten().max().copied().unwrap_or_default();
    record.number("layers.last", last as f64);
    let count = |layer: usize| {
        let there = reached.iter().flatten().filter(|&&at| at <= layer);
        there.count() as f64
    };
    record.numbers("reached", (0..=depth).map(count).collect());
    let layer: Vec<f64> = (0..=depth).map(|layer| layer as f64).collect();
    record.numbers("reached.layer", layer);
    record.number("known", count(depth));
    record.number("depth", depth as f64);
    record.number("tokens", tokens as f64);
    record.number("size", size as f64);
    spans(&mut record, &reached, depth);
    Ok(record.finish())
}

/// The words that are reached after each layer, as runs from one word to another.
fn spans(record: &mut Record, reached: &[Option<usize>], depth: usize) {
    let (mut layer_of, mut from, mut to) = (Vec::new(), Vec::new(), Vec::new());
    for layer in 0..=depth {
        let is_there = |t: usize| reached[t].is_some_and(|at| at <= layer);
        let mut start = None;
        for t in 0..=reached.len() {
            let here = t < reached.len() && is_there(t);
            match (start, here) {
                (None, true) => start = Some(t),
                (Some(first), false) => {
                    layer_of.push(layer as f64);
                    from.push((first + 1) as f64);
                    to.push(t as f64);
                    start = None;
                }
                _ => {}
            }
        }
    }
    record.numbers("span.layer", layer_of);
    record.numbers("span.from", from);
    record.numbers("span.to", to);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn with(pattern: &str, size: usize) -> Computation {
        stacked(pattern, size, 8)
    }

    fn stacked(pattern: &str, size: usize, depth: usize) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("pattern", InputValue::Choice(pattern.to_owned()))
            .with("size", InputValue::Number(size as f64))
            .with("depth", InputValue::Number(depth as f64));
        SPEC.compute(&given).unwrap()
    }

    fn layers(c: &Computation) -> Option<f64> {
        c.at("layers", &[])
    }

    /// The curriculum's question: from word 1 to word 500 with windows of 64 it takes 8 layers, as
    /// ⌈499 / 63⌉.
    #[test]
    fn word_one_reaches_word_five_hundred() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        assert_eq!(layers(&c), Some(8.0));
        let reached: Vec<f64> = c
            .tensor("reached")
            .unwrap()
            .values
            .iter()
            .copied()
            .collect();
        assert_eq!(reached[..3], [1.0, 64.0, 127.0]);
        assert_eq!(reached[8], 500.0);
        // 63 words with fewer before them, and 437 with the whole window.
        let pairs = (1..64).sum::<usize>() + 64 * 437;
        assert_eq!(c.at("pairs", &[]), Some(pairs as f64));
        assert_eq!(c.at("pairs.all", &[]), Some(125_250.0));
    }

    /// What the lesson says of the other masks.
    #[test]
    fn strides_need_two_layers_and_blocks_never_end() {
        assert_eq!(layers(&with("blocks", 64)), None);
        let c = with("blocks", 64);
        assert_eq!(c.at("layers.last", &[]), Some(1.0));
        assert_eq!(c.at("reached", &[1]), Some(64.0));
        for size in [16, 22, 64] {
            assert_eq!(
                layers(&with("window and strides", size)),
                Some(2.0),
                "{size}"
            );
        }
        assert_eq!(layers(&with("everything before", 64)), Some(1.0));
    }

    /// The exercise: which sizes let the last word know of the first with less than a fifth of the
    /// pairs a layer, and with how many layers.
    #[test]
    fn windows_need_ten_layers_for_a_fifth_of_the_pairs_and_strides_two() {
        let goal = |pattern: &str, size: usize, depth: usize| {
            let c = stacked(pattern, size, depth);
            let of = |name: &str| c.at(name, &[]).unwrap();
            of("known") >= 500.0 && of("pairs.share") < 0.2
        };
        let sizes = |pattern: &str, depth: usize| -> Vec<usize> {
            (2..=256)
                .filter(|&size| goal(pattern, size, depth))
                .collect()
        };
        let range = |from: usize, to: usize| (from..=to).collect::<Vec<_>>();
        assert_eq!(sizes("window", MOST_LAYERS), range(43, 52));
        assert_eq!(sizes("window", 10), [51, 52]);
        assert!(sizes("window", 9).is_empty());
        assert_eq!(sizes("window and strides", 2), range(6, 47));
        assert!(sizes("window and strides", 1).is_empty());
        for pattern in ["blocks", "everything before"] {
            assert!(sizes(pattern, MOST_LAYERS).is_empty(), "{pattern}");
        }
        let pairs = |size: usize| with("window and strides", size).at("pairs", &[]).unwrap();
        let fewest = (2..=256).min_by(|&a, &b| pairs(a).total_cmp(&pairs(b)));
        assert_eq!(fewest, Some(16));
    }

    /// Every number of a goal is there for every mask, and more layers never know less.
    #[test]
    fn what_can_be_known_grows_with_the_layers() {
        for pattern in PATTERNS {
            let mut before = 1.0;
            for depth in 1..=MOST_LAYERS {
                let c = stacked(pattern, 30, depth);
                let known = c.at("known", &[]).unwrap();
                assert!(known >= before, "{pattern}");
                assert_eq!(c.at("reached", &[depth]), Some(known));
                let total = c.at("pairs", &[]).unwrap() * depth as f64;
                assert_eq!(c.at("pairs.total", &[]), Some(total));
                before = known;
            }
        }
        assert_eq!(stacked("blocks", 64, 12).at("known", &[]), Some(64.0));
    }

    /// The spans of a layer hold as many words as are reached.
    #[test]
    fn spans_are_what_is_reached() {
        for pattern in PATTERNS {
            let c = with(pattern, 30);
            let of = |name: &str| {
                let tensor = c.tensor(name).unwrap();
                tensor.values.iter().copied().collect::<Vec<f64>>()
            };
            let (layer, from, to) = (of("span.layer"), of("span.from"), of("span.to"));
            for (n, reached) in of("reached").into_iter().enumerate() {
                let words: f64 = (0..layer.len())
                    .filter(|&i| layer[i] == n as f64)
                    .map(|i| to[i] - from[i] + 1.0)
                    .sum();
                assert_eq!(words, reached, "{pattern} {n}");
            }
        }
    }
}
