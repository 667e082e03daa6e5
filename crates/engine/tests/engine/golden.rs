//! Each layer against PyTorch, at each intermediate: `cargo test -p engine --test engine golden --
//! --nocapture` prints the largest difference of each tensor. The values and the script that made
//! them are in `tests/golden/engine/`.

pub(crate) mod file;

use engine::ndarray::{Array2, Axis};
use engine::nn::attention::{Mask, Scoring, attend, scale};
use engine::nn::compute::Compute;
use engine::nn::feed_forward::{Activation, FeedForward};
use engine::nn::full_attention::FullAttention;
use engine::nn::grouped::{GroupedAttention, Qkv};
use engine::nn::kv_cache::KvCache;
use engine::nn::norm::LayerNorm;
use engine::nn::parts::Parts;
use engine::nn::plain::Plain;
use engine::nn::position::rope::Pairing;
use engine::nn::position::{alibi, relative, sinusoidal};
use engine::nn::pre_norm::PreNormBlock;
use engine::nn::projection::Projection;
use engine::nn::{embedding, linear, norm, patch, softmax};
use engine::parameters::Weight;
use engine::trace::{Observer, Recorder};
use explain::one_head::{cross_attention, self_attention};
use explain::{convolution, rotary};
use file::{Case, case};

/// f32, a few operations on numbers of size about 1: some units of the last place (1.2e-7).
const F32_TOLERANCE: f32 = 5e-7;

/// f32, sums of some ten to forty products, or norms: rounding adds up.
const F32_SUM_TOLERANCE: f32 = 2e-6;

/// f32, a whole block: what the earlier sub-layers rounded passes through the later ones.
const F32_BLOCK_TOLERANCE: f32 = 3e-6;

#[test]
fn linear_maps() {
    let c = case("linear", "linear");
    let y = linear::linear(
        c.two("x").view(),
        c.two("weight").view(),
        Some(c.one("bias").view()),
    )
    .unwrap();
    c.check("y", y.view().into_dyn(), F32_SUM_TOLERANCE);
    let c = case("linear", "project");
    let y = linear::project(c.two("x").view(), c.two("w").view()).unwrap();
    c.check("y", y.view().into_dyn(), F32_SUM_TOLERANCE);
}

#[test]
fn softmax_and_its_jacobian() {
    let c = case("softmax", "vector");
    let x = c.one("x");
    let weights = softmax::softmax(x.view());
    c.check("weights", weights.view().into_dyn(), F32_TOLERANCE);
    c.check(
        "weights",
        softmax::softmax_naive(x.view()).view().into_dyn(),
        F32_TOLERANCE,
    );
    c.check(
        "jacobian",
        softmax::jacobian(weights.view()).view().into_dyn(),
        F32_TOLERANCE,
    );
    let entropy = engine::ndarray::arr1(&[softmax::entropy(weights.view())]);
    c.check("entropy", entropy.view().into_dyn(), F32_TOLERANCE);

    let c = case("softmax", "rows");
    c.check(
        "weights",
        softmax::softmax_rows(c.two("x").view()).view().into_dyn(),
        F32_TOLERANCE,
    );

    let c = case("softmax", "temperature");
    let mut weights = Array2::zeros((3, 9));
    for (mut row, &tau) in weights.rows_mut().into_iter().zip(&c.one("tau")) {
        row.assign(&softmax::softmax_temperature(c.one("x").view(), tau).unwrap());
    }
    c.check("weights", weights.view().into_dyn(), F32_TOLERANCE);
}

#[test]
fn scaled_dot_product_attention_with_every_mask() {
    for name in ["none", "boolean", "additive", "minus_infinity"] {
        let c = case("attention", name);
        let mask = match name {
            "none" => Mask::None,
            "boolean" => Mask::Boolean(c.two("mask").mapv(|see| see == 1.0)),
            _ => Mask::Additive(c.two("mask")),
        };
        let (q, k, v) = (c.two("q"), c.two("k"), c.two("v"));
        let scoring = Scoring::Dot(scale(q.ncols()));
        let [q, k, v] = [&q, &k, &v].map(|x| x.view().insert_axis(Axis(0)));
        let found = attend(q, k, v, &scoring, &mask, &mut None).unwrap();
        for (name, tensor, tolerance) in [
            ("scores", &found.scores, F32_SUM_TOLERANCE),
            ("masked", &found.masked, F32_SUM_TOLERANCE),
            ("weights", &found.weights, F32_TOLERANCE),
            ("output", &found.output, F32_SUM_TOLERANCE),
        ] {
            c.check(name, tensor.index_axis(Axis(0), 0).into_dyn(), tolerance);
        }
    }
}

#[test]
fn self_and_cross_attention() {
    for name in ["self", "cross"] {
        let c = case("attention", name);
        let (x, source) = (c.two("x"), c.two("source"));
        let (w_q, w_k, w_v) = (c.two("w_q"), c.two("w_k"), c.two("w_v"));
        let found = if name == "self" {
            self_attention(x.view(), w_q.view(), w_k.view(), w_v.view(), &Mask::None)
        } else {
            cross_attention(x.view(), source.view(), w_q.view(), w_k.view(), w_v.view())
        };
        let found = found.unwrap();
        c.check("q", found.q.view().into_dyn(), F32_SUM_TOLERANCE);
        c.check("k", found.k.view().into_dyn(), F32_SUM_TOLERANCE);
        c.check("v", found.v.view().into_dyn(), F32_SUM_TOLERANCE);
        c.check(
            "output",
            found.attention.output.view().into_dyn(),
            F32_SUM_TOLERANCE,
        );
    }
}

/// A layer as PyTorch stores it, `[outputs, inputs]` with or without a bias.
fn layer(c: &Case, weight: &str, bias: Option<&str>) -> Projection {
    Projection {
        weight: Weight::Dense(c.two(weight)),
        bias: bias.map(|bias| c.one(bias)),
    }
}

/// PyTorch's fused `[3C, C]` projection to queries, keys and values, and the one to the output.
fn projections(c: &Case, prefix: &str, biased: bool) -> (Qkv, Projection) {
    let name = |part: &str, kind: &str| format!("{prefix}{part}_{kind}");
    let one = |part: &str| {
        let bias = name(part, "bias");
        layer(c, &name(part, "weight"), biased.then_some(&bias))
    };
    (Qkv::Fused(one("in_proj")), one("out_proj"))
}

/// The causal attention of GPT-2 with the weights of a case.
fn causal_attention(c: &Case, prefix: &str, heads: usize) -> GroupedAttention {
    let (qkv, output) = projections(c, prefix, true);
    let head_width = output.weight.dim().0 / heads;
    GroupedAttention {
        qkv,
        output,
        heads,
        kv_heads: heads,
        head_width,
        window: None,
    }
}

#[test]
fn multi_head_attention() {
    for (name, biased) in [("plain", false), ("biased_causal", true)] {
        let c = case("multi_head", name);
        let (x, mut seen) = (c.two("x"), Recorder::default());
        let tokens = [x.nrows()];
        let trace: &mut Option<&mut dyn Observer> = &mut Some(&mut seen);
        let output = if biased {
            let attention = causal_attention(&c, "", 2);
            let mut caches = [KvCache::new(2, attention.head_width)];
            attention.forward(x.view(), &tokens, &mut caches, None, trace)
        } else {
            let (qkv, output) = projections(&c, "", false);
            let attention = FullAttention {
                qkv,
                output,
                heads: 2,
            };
            attention.forward(x.view(), &tokens, trace)
        };
        let output = output.unwrap();
        c.check("output", output.view().into_dyn(), F32_SUM_TOLERANCE);
        for (part, tolerance) in [
            ("q", F32_SUM_TOLERANCE),
            ("k", F32_SUM_TOLERANCE),
            ("v", F32_SUM_TOLERANCE),
            ("weights", F32_TOLERANCE),
            ("heads", F32_SUM_TOLERANCE),
        ] {
            let found = seen.get(&format!("attention.{part}")).unwrap();
            c.check(part, found.view(), tolerance);
        }
    }
}

#[test]
fn norms_embedding_and_activations() {
    let c = case("norm", "layer_norm");
    let y = norm::layer_norm(
        c.two("x").view(),
        c.one("gamma").view(),
        c.one("beta").view(),
        1e-5,
    )
    .unwrap();
    c.check("y", y.view().into_dyn(), F32_SUM_TOLERANCE);
    let c = case("norm", "rms_norm");
    let y = norm::rms_norm(c.two("x").view(), c.one("gamma").view(), 1e-5).unwrap();
    c.check("y", y.view().into_dyn(), F32_SUM_TOLERANCE);
    let c = case("norm", "embedding");
    let ids: Vec<usize> = c.one("ids").iter().map(|&id| id as usize).collect();
    c.check(
        "y",
        embedding::embed(c.two("table").view(), &ids)
            .unwrap()
            .view()
            .into_dyn(),
        0.0,
    );
    let c = case("norm", "activations");
    for (name, activation, tolerance) in [
        ("relu", Activation::Relu, 0.0),
        ("gelu", Activation::Gelu, F32_TOLERANCE),
    ] {
        let mut x = c.two("x");
        activation.apply(&mut x);
        c.check(name, x.view().into_dyn(), tolerance);
    }
}

#[test]
fn additive_positions() {
    let c = case("position", "sinusoidal");
    c.check(
        "table",
        sinusoidal::table(12, 10).view().into_dyn(),
        F32_TOLERANCE,
    );
    let c = case("position", "learned");
    let (x, mut compute) = (c.two("x"), Plain::silent());
    let first: Vec<usize> = (0..x.nrows()).collect();
    let positions = compute.lookup(&c.two("table"), &first).unwrap();
    let y = compute.add(x, &positions).unwrap();
    c.check("y", y.view().into_dyn(), F32_TOLERANCE);
    let c = case("position", "relative");
    let bias = relative::bias_matrix(&c.one("by_offset").to_vec(), 6, 8).unwrap();
    c.check("bias", bias.view().into_dyn(), 0.0);
    let c = case("position", "alibi");
    for heads in [1, 8, 12] {
        let slopes = engine::ndarray::Array1::from_vec(alibi::slopes(heads));
        c.check(
            &format!("slopes_{heads}"),
            slopes.view().into_dyn(),
            F32_TOLERANCE,
        );
    }
    c.check("bias", alibi::bias(6, 0.25).view().into_dyn(), 0.0);
}

#[test]
fn rotary_positions_in_both_pairings_and_interpolated() {
    let c = case("position", "rotary");
    let (x, positions) = (c.two("x"), c.one("positions").to_vec());
    let neighbours = rotary::rotate(x.view(), &positions, 10_000.0).unwrap();
    c.check("neighbours", neighbours.view().into_dyn(), F32_TOLERANCE);
    let halves = rotary::rotate_pairs(x.view(), &positions, 10_000.0, Pairing::Halves).unwrap();
    c.check("halves", halves.view().into_dyn(), F32_TOLERANCE);
    let squeezed = rotary::interpolate(&positions, 2048, 8192);
    c.check(
        "squeezed_positions",
        engine::ndarray::aview1(&squeezed).into_dyn(),
        F32_TOLERANCE,
    );
    let interpolated = rotary::rotate(x.view(), &squeezed, 10_000.0).unwrap();
    c.check(
        "interpolated",
        interpolated.view().into_dyn(),
        F32_TOLERANCE,
    );
}

#[test]
fn convolution_and_patches() {
    let c = case("conv", "strided");
    let bias = c.one("bias");
    let y = convolution::conv2d(
        c.three("image").view(),
        c.four("weight").view(),
        Some(bias.view()),
        2,
    )
    .unwrap();
    c.check("y", y.view().into_dyn(), F32_SUM_TOLERANCE);
    let c = case("conv", "dense");
    let y = convolution::conv2d(c.three("image").view(), c.four("weight").view(), None, 1).unwrap();
    c.check("y", y.view().into_dyn(), F32_SUM_TOLERANCE);

    let c = case("conv", "patch");
    let (image, weight, bias) = (c.three("image"), c.four("weight"), c.one("bias"));
    let patches = patch::cut(image.view(), 4).unwrap();
    c.check("patches", patches.view().into_dyn(), 0.0);
    let flat = weight.to_shape((5, 48)).unwrap();
    let tokens = patch::embed(patches.view(), flat.view(), Some(bias.view())).unwrap();
    c.check("tokens", tokens.view().into_dyn(), F32_SUM_TOLERANCE);
    let convolved = convolution::conv2d(image.view(), weight.view(), Some(bias.view()), 4).unwrap();
    c.check("conv", convolved.view().into_dyn(), F32_SUM_TOLERANCE);
}

#[test]
fn pre_norm_block_with_a_causal_mask() {
    let c = case("block", "pre_norm_causal");
    let norm = |n: usize| LayerNorm {
        gamma: c.one(&format!("norm{n}_weight")),
        beta: c.one(&format!("norm{n}_bias")),
        eps: 1e-5,
    };
    let attention = causal_attention(&c, "self_attn_", 2);
    let mut caches = [KvCache::new(2, attention.head_width)];
    let block = PreNormBlock {
        norm_1: norm(1),
        attention,
        scale_1: None,
        norm_2: norm(2),
        mlp: FeedForward {
            up: layer(&c, "linear1_weight", Some("linear1_bias")),
            activation: Activation::Gelu,
            down: layer(&c, "linear2_weight", Some("linear2_bias")),
        },
        scale_2: None,
    };
    let (x, mut recorder) = (c.two("x"), Recorder::default());
    let (tokens, parts) = ([x.nrows()], Parts::default());
    let trace: &mut Option<&mut dyn Observer> = &mut Some(&mut recorder);
    let output = block.run(&mut Plain::new(trace), x, parts, |attention, compute, x| {
        attention.run(compute, x, &tokens, &mut caches, None, parts)
    });
    let output = output.unwrap();
    c.check("output", output.view().into_dyn(), F32_BLOCK_TOLERANCE);
    for (name, tensor) in recorder
        .iter()
        .filter(|(name, _)| *name != "attention.scores")
    {
        c.check(name, tensor.view(), F32_BLOCK_TOLERANCE);
    }
}
