//! The blocks of ViT and DINOv2, under the names that Hugging Face's and timm's files have for
//! them.
//!
//! | part | `transformers` 5 | Hugging Face's files | timm |
//! |---|---|---|---|
//! | block n | `layers.n.` | `encoder.layer.n.` | `blocks.n.` |
//! | norms | `layernorm_before`, `layernorm_after` | the same; DINOv2: `norm1`, `norm2` | `norm1`, `norm2` |
//! | queries, keys, values | `attention.q_proj` … | `attention.attention.query` … | `attn.qkv`, one matrix |
//! | output of attention | `attention.o_proj` | `attention.output.dense` | `attn.proj` |
//! | MLP | `mlp.fc1`, `mlp.fc2` | `intermediate.dense`, `output.dense` | `mlp.fc1`, `mlp.fc2` |
//! | layer scales | `layer_scale1.lambda1` … | the same | `ls1.gamma` … |

use super::names::known;
use crate::error::{EngineError, Result};
use crate::nn::compute::Compute;
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::full_attention::FullAttention;
use crate::nn::grouped::Qkv;
use crate::nn::norm::{LayerNorm, Norm};
use crate::nn::parts::Parts;
use crate::nn::picture_tokens::{PictureTokens, load_patches};
use crate::nn::pre_norm::PreNormBlock;
use crate::nn::projection::Projection;
use crate::parameters::{Parameters, expect_shape, tensor, vector};
use crate::trainable::{self, Kind, Visit};
use ndarray::{Array1, Array2, ArrayView4};

/// The sizes that the blocks and the embedding need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// C.
    pub(super) width: usize,
    /// H.
    pub(super) heads: usize,
    /// Number of blocks.
    pub(super) layers: usize,
    /// F.
    pub(super) inner: usize,
    /// C_0.
    pub(super) channels: usize,
    /// P.
    pub(super) patch: usize,
    /// Patches that the position table is for.
    pub(super) patches: usize,
    /// Added to the variance in each norm.
    pub(super) norm_eps: f32,
    /// True where the blocks have layer scales.
    pub(super) scales: bool,
    /// True where a table of positions is added to the tokens.
    pub(super) positions: bool,
}

/// The encoder that ViT and DINOv2 share: embedding, blocks, last norm.
#[derive(Debug, Clone)]
pub(super) struct Encoder {
    pub(super) tokens: PictureTokens,
    pub(super) blocks: Vec<PreNormBlock>,
    pub(super) norm: LayerNorm,
}

impl Encoder {
    /// The encoder with the parameters of a source, whose names begin with `root`.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    pub(super) fn load(
        sizes: &Sizes,
        source: &mut dyn Parameters,
        root: &str,
        class: bool,
    ) -> Result<Self> {
        let last = known(source, root, &["layernorm", "norm"]);
        let blocks = (0..sizes.layers).map(|n| block(sizes, source, root, n));
        let blocks = blocks.collect::<Result<_>>()?;
        Ok(Self {
            tokens: tokens(sizes, source, root, class)?,
            blocks,
            norm: LayerNorm::load(source, &last, sizes.width, sizes.norm_eps)?,
        })
    }

    /// The tokens of pictures of one size after the last norm, one picture after the other, and how
    /// many tokens each has; generic over the executor. The observer gets the intermediates of
    /// [`PictureTokens::forward`], `blocks.N.…` (see [`PreNormBlock::run`]) and `norm`.
    ///
    /// # Errors
    /// When the pictures have not C_0 channels or are smaller than a patch.
    pub(super) fn run<C: Compute>(
        &self,
        compute: &mut C,
        images: ArrayView4<'_, f32>,
    ) -> Result<(C::Matrix, Vec<usize>)> {
        // images [B, C_0, H, W] -> [B·(1 + N), C]
        let x = self.tokens.run(compute, images)?;
        let count = images.dim().0;
        let lengths = vec![compute.dim(&x).0 / count.max(1); count];
        let (mut x, parts) = (compute.dropout(x), Parts::default());
        for (n, block) in self.blocks.iter().enumerate() {
            let prefix = || format!("blocks.{n}.");
            x = compute.scope(prefix, |compute| {
                block.run(compute, x, parts, |attention, compute, x| {
                    attention.run(compute, x, &lengths, parts)
                })
            })?;
        }
        let mut hidden = self.norm.run(compute, &x)?;
        compute.trace("norm", &mut hidden);
        Ok((hidden, lengths))
    }

    /// Visits all parameters under timm's names, which [`Self::load`] knows.
    ///
    /// # Errors
    /// When `visit` fails.
    pub(super) fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        tokens_parameters(&mut self.tokens, visit)?;
        for (n, block) in self.blocks.iter_mut().enumerate() {
            block_parameters(block, &format!("blocks.{n}."), visit)?;
        }
        self.norm.parameters("norm", visit)
    }
}

/// Block `n`; the names of all parameters begin with `root`.
fn block(sizes: &Sizes, source: &mut dyn Parameters, root: &str, n: usize) -> Result<PreNormBlock> {
    let (c, f, eps) = (sizes.width, sizes.inner, sizes.norm_eps);
    let places = ["layers", "encoder.layer", "blocks"].map(|list| format!("{root}{list}.{n}."));
    let place = places
        .iter()
        .find(|place| {
            let of = |norm| source.shape(&format!("{place}{norm}.weight")).is_some();
            of("layernorm_before") || of("norm1")
        })
        .unwrap_or(&places[0]);
    let name = |source: &dyn Parameters, names: &[&str]| known(source, place, names);

    let norm_1 = name(source, &["layernorm_before", "norm1"]);
    let norm_2 = name(source, &["layernorm_after", "norm2"]);
    let output = name(
        source,
        &["attention.o_proj", "attention.output.dense", "attn.proj"],
    );
    let up = name(source, &["mlp.fc1", "intermediate.dense"]);
    let down = name(source, &["mlp.fc2", "output.dense"]);
    let scale = |source: &mut dyn Parameters, hugging_face: &str, timm: &str| {
        let name = either(
            source,
            format!("{place}{hugging_face}"),
            format!("{place}{timm}"),
        );
        let scale = sizes.scales.then(|| vector(source, &name, c));
        scale.transpose()
    };
    Ok(PreNormBlock {
        norm_1: LayerNorm::load(source, &norm_1, c, eps)?,
        attention: FullAttention {
            qkv: qkv(source, place, c)?,
            output: Projection::load(source, &output, c, c, true)?,
            heads: sizes.heads,
        },
        scale_1: scale(source, "layer_scale1.lambda1", "ls1.gamma")?,
        norm_2: LayerNorm::load(source, &norm_2, c, eps)?,
        mlp: FeedForward {
            up: Projection::load(source, &up, c, f, true)?,
            activation: Activation::Gelu,
            down: Projection::load(source, &down, f, c, true)?,
        },
        scale_2: scale(source, "layer_scale2.lambda1", "ls2.gamma")?,
    })
}

/// The three projections; a bias is optional (`qkv_bias` in the models' configurations).
fn qkv(source: &mut dyn Parameters, place: &str, width: usize) -> Result<Qkv> {
    let fused = format!("{place}attn.qkv");
    let bias =
        |source: &dyn Parameters, name: &str| source.shape(&format!("{name}.bias")).is_some();
    if source.shape(&format!("{fused}.weight")).is_some() {
        let bias = bias(source, &fused);
        return Projection::load(source, &fused, width, 3 * width, bias).map(Qkv::Fused);
    }
    let mut part = |new: &str, old: &str| {
        let name = known(source, place, &[new, old]);
        let bias = bias(source, &name);
        Projection::load(source, &name, width, width, bias)
    };
    Ok(Qkv::Separate {
        q: part("attention.q_proj", "attention.attention.query")?,
        k: part("attention.k_proj", "attention.attention.key")?,
        v: part("attention.v_proj", "attention.attention.value")?,
    })
}

/// The first name where the source has it, else the other.
fn either(source: &dyn Parameters, first: String, other: String) -> String {
    match source.shape(&first) {
        Some(_) => first,
        None => other,
    }
}

/// Patches, class token and positions. Without a class token the position table has a row less.
fn tokens(
    sizes: &Sizes,
    source: &mut dyn Parameters,
    root: &str,
    class: bool,
) -> Result<PictureTokens> {
    let c = sizes.width;
    let rows = sizes.patches.saturating_add(usize::from(class));
    let patches = ["embeddings.patch_embeddings.projection", "patch_embed.proj"];
    let patches = known(source, root, &patches);
    let name = |source: &dyn Parameters, theirs: &str, timm: &str| {
        either(
            source,
            format!("{root}embeddings.{theirs}"),
            format!("{root}{timm}"),
        )
    };
    let positions = name(source, "position_embeddings", "pos_embed");
    let class_name = name(source, "cls_token", "cls_token");
    let class = class.then(|| flat(source, &class_name, &[1, 1, c]));
    Ok(PictureTokens {
        patch: sizes.patch,
        patches: load_patches(source, &patches, c, sizes.channels, sizes.patch)?,
        class: class.transpose()?,
        positions: (sizes.positions)
            .then(|| table(source, &positions, rows, c))
            .transpose()?,
    })
}

fn flat(source: &mut dyn Parameters, name: &str, shape: &[usize]) -> Result<Array1<f32>> {
    Ok(Array1::from_iter(tensor(source, name, shape)?))
}

/// `[1, rows, cols]` as a matrix.
fn table(source: &mut dyn Parameters, name: &str, rows: usize, cols: usize) -> Result<Array2<f32>> {
    expect_shape(source.shape(name), name, &[1, rows, cols])?;
    let stored = tensor(source, name, &[1, rows, cols])?;
    let table = stored.into_shape_with_order((rows, cols));
    table.map_err(|error| EngineError::shape("positions", "one table", error.to_string()))
}

/// Visits class token, positions and patches under timm's names.
fn tokens_parameters(tokens: &mut PictureTokens, visit: &mut Visit<'_>) -> Result<()> {
    if let Some(class) = &mut tokens.class {
        let shape = [1, 1, class.len()];
        trainable::array_as(class, "cls_token", &shape, Kind::Table, visit)?;
    }
    if let Some(positions) = &mut tokens.positions {
        let shape = [1, positions.nrows(), positions.ncols()];
        trainable::array_as(positions, "pos_embed", &shape, Kind::Table, visit)?;
    }
    let channels = tokens.channels();
    let Projection { weight, bias } = &mut tokens.patches;
    let shape = [weight.dim().0, channels, tokens.patch, tokens.patch];
    let name = "patch_embed.proj.weight";
    trainable::weight_as(weight, name, &shape, Kind::Matrix, visit)?;
    match bias {
        Some(bias) => trainable::array(bias, "patch_embed.proj.bias", Kind::Bias, visit),
        None => Ok(()),
    }
}

/// Visits a block under timm's names.
fn block_parameters(block: &mut PreNormBlock, place: &str, visit: &mut Visit<'_>) -> Result<()> {
    let name = |part: &str| format!("{place}{part}");
    let separate = ["attention.q_proj", "attention.k_proj", "attention.v_proj"];
    block.norm_1.parameters(&name("norm1"), visit)?;
    let qkv = &mut block.attention.qkv;
    qkv.parameters(place, "attn.qkv", separate, visit)?;
    let output = &mut block.attention.output;
    output.parameters(&name("attn.proj"), visit)?;
    block.norm_2.parameters(&name("norm2"), visit)?;
    block.mlp.up.parameters(&name("mlp.fc1"), visit)?;
    block.mlp.down.parameters(&name("mlp.fc2"), visit)?;
    for (scale, part) in [
        (&mut block.scale_1, "ls1.gamma"),
        (&mut block.scale_2, "ls2.gamma"),
    ] {
        if let Some(scale) = scale {
            trainable::array(scale, &name(part), Kind::Gain, visit)?;
        }
    }
    Ok(())
}
