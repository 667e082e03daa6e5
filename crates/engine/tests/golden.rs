//! Each layer against PyTorch, at each intermediate: `cargo test -p engine --test golden -- --nocapture` prints the largest
//! difference of each tensor. The values and the script that made them are in `tests/golden/engine/`.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "golden/file.rs"]
mod file;

use engine::ndarray::{Array2, Axis, s};
use engine::nn::attention::{Mask, attend, cross_attention, scale, self_attention};
use engine::nn::block::{LayerNorm, PreNormDecoderBlock};
use engine::nn::mask::causal;
use engine::nn::mlp::{self, Mlp};
use engine::nn::multi_head::{MultiHead, ProjectionBias};
use engine::nn::position::{alibi, learned::LearnedTable, relative, rotary, sinusoidal};
use engine::nn::{conv, embedding, linear, norm, patch, softmax};
use engine::trace::Recorder;
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
        "log_weights",
        softmax::log_softmax(x.view()).view().into_dyn(),
        F32_SUM_TOLERANCE,
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
        let found = attend(q.view(), k.view(), v.view(), scale(q.ncols()), &mask).unwrap();
        c.check("scores", found.scores.view().into_dyn(), F32_SUM_TOLERANCE);
        c.check("masked", found.masked.view().into_dyn(), F32_SUM_TOLERANCE);
        c.check("weights", found.weights.view().into_dyn(), F32_TOLERANCE);
        c.check("output", found.output.view().into_dyn(), F32_SUM_TOLERANCE);
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

/// PyTorch's fused `[3C, C]` projection and output projection, as the engine's four matrices (x · W, hence transposed).
fn multi_head_of(c: &Case, prefix: &str, heads: usize, biased: bool) -> MultiHead {
    let fused = c.two(&format!("{prefix}in_proj_weight"));
    let width = fused.ncols();
    let part = |n: usize| {
        fused
            .slice(s![n * width..(n + 1) * width, ..])
            .t()
            .to_owned()
    };
    let bias = biased.then(|| {
        let fused = c.one(&format!("{prefix}in_proj_bias"));
        let part = |n: usize| fused.slice(s![n * width..(n + 1) * width]).to_owned();
        ProjectionBias {
            q: part(0),
            k: part(1),
            v: part(2),
            o: c.one(&format!("{prefix}out_proj_bias")),
        }
    });
    let w_o = c.two(&format!("{prefix}out_proj_weight")).t().to_owned();
    MultiHead {
        w_q: part(0),
        w_k: part(1),
        w_v: part(2),
        w_o,
        bias,
        heads,
    }
}

#[test]
fn multi_head_attention() {
    for (name, biased) in [("plain", false), ("biased_causal", true)] {
        let c = case("multi_head", name);
        let mask = if biased {
            Mask::Boolean(causal(5))
        } else {
            Mask::None
        };
        let found = multi_head_of(&c, "", 2, biased)
            .forward(c.two("x").view(), &mask)
            .unwrap();
        c.check("q", found.q.view().into_dyn(), F32_SUM_TOLERANCE);
        c.check("k", found.k.view().into_dyn(), F32_SUM_TOLERANCE);
        c.check("v", found.v.view().into_dyn(), F32_SUM_TOLERANCE);
        c.check("weights", found.weights.view().into_dyn(), F32_TOLERANCE);
        c.check("heads", found.heads.view().into_dyn(), F32_SUM_TOLERANCE);
        c.check("output", found.output.view().into_dyn(), F32_SUM_TOLERANCE);
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
    c.check("relu", mlp::relu(c.two("x").view()).view().into_dyn(), 0.0);
    c.check(
        "gelu",
        mlp::gelu(c.two("x").view()).view().into_dyn(),
        F32_TOLERANCE,
    );
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
    let y = LearnedTable {
        table: c.two("table"),
    }
    .add(c.two("x").view())
    .unwrap();
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
    let halves = rotary::rotate_half(x.view(), &positions, 10_000.0).unwrap();
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
    let y = conv::conv2d(
        c.three("image").view(),
        c.four("weight").view(),
        Some(bias.view()),
        2,
    )
    .unwrap();
    c.check("y", y.view().into_dyn(), F32_SUM_TOLERANCE);
    let c = case("conv", "dense");
    let y = conv::conv2d(c.three("image").view(), c.four("weight").view(), None, 1).unwrap();
    c.check("y", y.view().into_dyn(), F32_SUM_TOLERANCE);

    let c = case("conv", "patch");
    let (image, weight, bias) = (c.three("image"), c.four("weight"), c.one("bias"));
    let patches = patch::cut(image.view(), 4).unwrap();
    c.check("patches", patches.view().into_dyn(), 0.0);
    let flat = weight.to_shape((5, 48)).unwrap();
    let tokens = patch::embed(patches.view(), flat.view(), Some(bias.view())).unwrap();
    c.check("tokens", tokens.view().into_dyn(), F32_SUM_TOLERANCE);
    let convolved = conv::conv2d(image.view(), weight.view(), Some(bias.view()), 4).unwrap();
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
    let block = PreNormDecoderBlock {
        norm_1: norm(1),
        attention: multi_head_of(&c, "self_attn_", 2, true),
        norm_2: norm(2),
        mlp: Mlp {
            w_1: c.two("linear1_weight").t().to_owned(),
            b_1: c.one("linear1_bias"),
            w_2: c.two("linear2_weight").t().to_owned(),
            b_2: c.one("linear2_bias"),
        },
    };
    let x = c.two("x");
    let mut recorder = Recorder::default();
    let output = block
        .forward(
            x.view(),
            &Mask::Boolean(causal(x.len_of(Axis(0)))),
            Some(&mut recorder),
        )
        .unwrap();
    c.check("output", output.view().into_dyn(), F32_BLOCK_TOLERANCE);
    for (name, tensor) in recorder
        .iter()
        .filter(|(name, _)| *name != "attention.scores")
    {
        c.check(name, tensor.view(), F32_BLOCK_TOLERANCE);
    }
}
