//! Invariants of attention and of the small decoder with any kernels: nothing leaks through a mask,
//! not one bit; the order of tokens changes the order of results and nothing else.

use engine::model::decoder::DecoderExt;
use engine::model::gpt2::{Config, Gpt2};
use engine::ndarray::{Array2, Axis};
use engine::nn::attention::{Mask, Scoring, attend, scale};
use engine::nn::feed_forward::{Activation, FeedForward};
use engine::nn::full_attention::FullAttention;
use engine::nn::grouped::Qkv;
use engine::nn::mask::causal;
use engine::nn::norm::LayerNorm;
use engine::nn::parts::Parts;
use engine::nn::plain::Plain;
use engine::nn::pre_norm::{Mlp, PreNormBlock};
use engine::nn::projection::Projection;
use engine::parameters::Weight;
use engine::rng::{Rng, normal_matrix};
use engine::trace::{Observer, Recorder};
use explain::one_head::{OneHead, self_attention};
use explain::small_decoder::parameters;

/// The curriculum's bound for |F(PX) − P F(X)|.
const EQUIVARIANCE_TOLERANCE: f32 = 1e-6;

/// The same bound for a whole block, as the lessons on Vision Transformers state it.
const BLOCK_TOLERANCE: f32 = 1e-5;

fn one_head(q: &Array2<f32>, k: &Array2<f32>, v: &Array2<f32>, mask: &Mask) -> OneHead {
    let scoring = Scoring::Dot(scale(q.ncols()));
    let [q, k, v] = [q, k, v].map(|x| x.view().insert_axis(Axis(0)));
    OneHead::of(&attend(q, k, v, &scoring, mask, &mut None).unwrap(), 0)
}

/// Later tokens that hold anything, NaN and ∞ included, leave earlier rows as they are, to the bit,
/// for every length to 40.
pub(crate) fn no_bit_leaks_through_a_causal_mask() {
    for tokens in 1..=40 {
        for width in [1, 4, 7, 16, 33] {
            let mut rng = Rng::new((tokens * 100 + width) as u64);
            let draw = |name| normal_matrix(tokens as u64, name, tokens, width, 1.0);
            let (q, k, v) = (draw("q"), draw("k"), draw("v"));
            let first_changed = rng.below(tokens);
            let poison = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -3.5][rng.below(5)];
            let spoil = |clean: &Array2<f32>| {
                let mut spoiled = clean.clone();
                spoiled
                    .slice_axis_mut(Axis(0), (first_changed..).into())
                    .fill(poison);
                spoiled
            };
            let hide = causal(tokens).mapv(|see| if see { 0.0 } else { f32::NEG_INFINITY });
            let first = 0;
            for mask in [
                Mask::Boolean(causal(tokens)),
                Mask::Additive(hide),
                Mask::Causal { first },
            ] {
                let clean = one_head(&q, &k, &v, &mask);
                let found = one_head(&spoil(&q), &spoil(&k), &spoil(&v), &mask);
                for row in 0..first_changed {
                    same_bits(
                        found.output.row(row).to_vec(),
                        clean.output.row(row).to_vec(),
                    );
                    same_bits(
                        found.weights.row(row).to_vec(),
                        clean.weights.row(row).to_vec(),
                    );
                    assert!(
                        clean
                            .weights
                            .row(row)
                            .iter()
                            .skip(row + 1)
                            .all(|w| w.to_bits() == 0)
                    );
                }
            }
        }
    }
}

fn same_bits(found: Vec<f32>, expected: Vec<f32>) {
    let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(found), bits(expected));
}

/// The lessons' small decoder with these positions; `None` keeps its sines and cosines.
fn decoder(positions: Option<Array2<f32>>) -> Gpt2 {
    let config = Config {
        vocabulary: 61,
        width: 24,
        heads: 3,
        layers: 2,
        inner: 96,
        context: 48,
        norm_eps: 1e-5,
    };
    let mut drawn = parameters(&config, 7);
    if let Some(positions) = positions {
        drawn.insert("transformer.wpe.weight", positions.into_dyn());
    }
    let model = Gpt2::load(config, &mut drawn).unwrap();
    model.with_activation(Activation::Gelu)
}

/// The logits with or without the mask and the position table.
fn logits(model: &Gpt2, ids: &[usize], mask: bool, positions: bool) -> Array2<f32> {
    let parts = Parts {
        mask,
        positions,
        ..Parts::default()
    };
    model.with_parts(parts).forward(ids, None).unwrap()
}

/// A changed token moves no earlier logit by one bit with the mask, and moves every one of their
/// rows without it.
pub(crate) fn the_decoder_does_not_leak() {
    let model = decoder(None);
    let mut rng = Rng::new(11);
    for tokens in [2, 3, 5, 8, 17, 48] {
        let ids: Vec<usize> = (0..tokens).map(|_| rng.below(61)).collect();
        let at = 1 + rng.below(tokens - 1);
        let mut changed = ids.clone();
        changed[at] = (ids[at] + 1) % 61;
        for causal in [true, false] {
            let before = logits(&model, &ids, causal, true);
            let after = logits(&model, &changed, causal, true);
            for row in 0..at {
                if causal {
                    same_bits(after.row(row).to_vec(), before.row(row).to_vec());
                } else {
                    assert_ne!(
                        after.row(row),
                        before.row(row),
                        "row {row} must see the change"
                    );
                }
            }
            assert_ne!(after.row(at), before.row(at));
        }
    }
}

/// F(PX) = P F(X) for self-attention without mask and positions.
pub(crate) fn attention_is_permutation_equivariant() {
    for tokens in 1..=24 {
        let draw = |name, rows| normal_matrix(tokens as u64, name, rows, 8, 0.5);
        let (x, w_q, w_k, w_v) = (draw("x", tokens), draw("q", 8), draw("k", 8), draw("v", 8));
        let order = Rng::new(tokens as u64).permutation(tokens);
        let run = |x: &Array2<f32>| {
            self_attention(x.view(), w_q.view(), w_k.view(), w_v.view(), &Mask::None)
                .unwrap()
                .attention
                .output
        };
        let difference = run(&x.select(Axis(0), &order)) - run(&x).select(Axis(0), &order);
        let largest = difference
            .iter()
            .fold(0.0, |largest: f32, d| largest.max(d.abs()));
        assert!(
            largest < EQUIVARIANCE_TOLERANCE,
            "{tokens} tokens: {largest}"
        );
    }
}

/// The largest difference between two results of one size.
fn largest_difference<'a>(
    found: impl IntoIterator<Item = &'a f32>,
    expected: impl IntoIterator<Item = &'a f32>,
) -> f32 {
    let pairs = found.into_iter().zip(expected);
    pairs.fold(0.0, |largest: f32, (a, b)| largest.max((a - b).abs()))
}

/// A block of a Vision Transformer with random parameters: C = 24, three heads, F = 96.
fn vit_block() -> PreNormBlock {
    let layer = |name: &str, outputs, inputs| Projection {
        weight: Weight::Dense(normal_matrix(5, name, outputs, inputs, 0.2)),
        bias: Some(normal_matrix(6, name, 1, outputs, 0.1).row(0).to_owned()),
    };
    let norm = |name: &str| LayerNorm {
        gamma: 1.0 + &normal_matrix(7, name, 1, 24, 0.1).row(0),
        beta: normal_matrix(8, name, 1, 24, 0.1).row(0).to_owned(),
        eps: 1e-6,
    };
    PreNormBlock {
        norm_1: norm("norm_1"),
        attention: FullAttention {
            qkv: Qkv::Fused(layer("qkv", 72, 24)),
            output: layer("o", 24, 24),
            heads: 3,
        },
        scale_1: None,
        norm_2: norm("norm_2"),
        mlp: FeedForward {
            up: layer("up", 96, 24),
            activation: Activation::Gelu,
            down: layer("down", 24, 96),
        },
        scale_2: None,
    }
}

/// Every intermediate result of the block, by its name.
fn recorded(block: &PreNormBlock, x: &Array2<f32>) -> Recorder {
    let mut recorder = Recorder::default();
    let mut trace: Option<&mut dyn Observer> = Some(&mut recorder);
    let compute = &mut Plain::new(&mut trace);
    let run = block.run(
        compute,
        x.clone(),
        Parts::default(),
        |attention, compute, x| attention.run(compute, x, &[x.nrows()], Parts::default()),
    );
    run.unwrap();
    recorder
}

/// In a block of a Vision Transformer, the steps on each token by itself (norms, projections to
/// queries, keys and values, MLP) give the same bits for a token wherever it is in the sequence;
/// what attention adds up over all tokens differs by rounding.
pub(crate) fn a_vit_block_is_permutation_equivariant() {
    let block = vit_block();
    for tokens in [1, 2, 3, 5, 8, 17, 50] {
        let x = normal_matrix(tokens as u64, "x", tokens, 24, 1.0);
        let order = Rng::new(tokens as u64).permutation(tokens);
        let moved = x.select(Axis(0), &order);
        let (plain, permuted) = (recorded(&block, &x), recorded(&block, &moved));
        let both = |name: &str, axis: usize| {
            let expected = plain.get(name).unwrap().select(Axis(axis), &order);
            (permuted.get(name).unwrap().to_owned(), expected)
        };
        for (name, axis) in [
            ("norm_1", 0),
            ("attention.q", 1),
            ("attention.k", 1),
            ("attention.v", 1),
        ] {
            let (found, expected) = both(name, axis);
            same_bits(found.into_iter().collect(), expected.into_iter().collect());
        }
        for (name, axis) in [
            ("attention.heads", 1),
            ("attention.output", 0),
            ("output", 0),
        ] {
            let (found, expected) = both(name, axis);
            let largest = largest_difference(&found, &expected);
            assert!(
                largest < BLOCK_TOLERANCE,
                "{name}, {tokens} tokens: {largest}"
            );
        }
        // What follows attention gets numbers that differ by rounding; given the same, it too moves them.
        let after = |x: &Array2<f32>| {
            let normed = block.norm_2.forward(x.view()).unwrap();
            block.mlp.forward(normed.view(), &mut None).unwrap()
        };
        let expected = after(&x).select(Axis(0), &order);
        same_bits(
            after(&moved).into_iter().collect(),
            expected.into_iter().collect(),
        );
    }
}

/// Without positions and mask "dog bites man" and "man bites dog" are one bag; with positions, or
/// with the mask, they are not.
pub(crate) fn positions_tell_word_orders_apart() {
    let (dog_first, man_first) = ([3, 14, 25], [25, 14, 3]);
    let difference = |model: &Gpt2, causal: bool, positions: bool| {
        let one = logits(model, &dog_first, causal, positions);
        let other = logits(model, &man_first, causal, positions).select(Axis(0), &[2, 1, 0]);
        (one - other)
            .iter()
            .fold(0.0, |largest: f32, d| largest.max(d.abs()))
    };
    let learned = normal_matrix(7, "positions", 48, 24, 1.0);
    for positions in [None, Some(learned)] {
        let model = decoder(positions);
        // Logits are sums of 24 products of size about 1, so the bound is that of attention, ten
        // times over.
        let without = difference(&model, false, false);
        assert!(without < 10.0 * EQUIVARIANCE_TOLERANCE, "{without}");
        assert!(difference(&model, false, true) > 0.01);
        assert!(difference(&model, true, false) > 0.01);
    }
}
