//! One number of a pre-norm Transformer's forward pass, and what it was computed from, term by term:
//! of a GPT-2 over a text, or of a Vision Transformer over a picture.
//!
//! ```text
//! a product     y = Σ_k x_k · w_k (· scale) (+ bias)      patches · E, queries, keys, values, scores, heads, W_O, MLP, logits
//! a sum         y = a + b                                 the input, the residual stream
//! a softmax     y = exp(x − m) / Σ_k exp(x_k − m)         attention weights, probabilities
//! a norm        y = (x − mean) / deviation · γ + β
//! an activation y = GELU(x)
//! ```
//! The terms of a sum are added in their order, and each product is rounded before it is added. The
//! product with packed parameters ([`engine::kernel::matmul_f32`]) and the mix of values do the same
//! with the kernels of a browser, so their sums end at the last bit. The product of queries and keys
//! adds several partial sums: its last bits may differ.
//!
//! ```
//! use engine::model::gpt2::Config;
//! use explain::{one_number::{Part, Pass, Site}, small_decoder::small_decoder};
//! let config = Config { vocabulary: 50, width: 16, heads: 2, layers: 2, inner: 64, context: 32, norm_eps: 1e-5 };
//! let model = small_decoder(&config, 7)?;
//! let pass = Pass::new(&model, &[3, 1, 4])?;
//! let site = Site { part: Part::Scores, block: 1, head: 0 };
//! let found = pass.number(&model, site, (2, 1))?; // How well token 2's query fits token 1's key.
//! assert_eq!(found.terms.dim(), (8, 4)); // Eight products of two factors, and their running sum.
//! assert!((found.end() - found.value).abs() < 1e-6);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Radford et al. 2019, "Language models are unsupervised multitask learners", section 2.3;
//! Vaswani et al. 2017, "Attention is all you need", sections 3.2 and 3.3; Dosovitskiy et al. 2021,
//! "An image is worth 16x16 words", section 3.1, equations 1 to 4.

mod decoder;
mod terms;
mod vit;

use engine::error::{EngineError, Result};
use engine::model::decoder::DecoderExt;
use engine::model::gpt2::Gpt2;
use engine::model::vit::Vit;
use engine::nn::attention::{Mask, apply_mask, scale};
use engine::nn::feed_forward::FeedForward;
use engine::nn::grouped::Qkv;
use engine::nn::norm::LayerNorm;
use engine::nn::projection::Projection;
use engine::trace::Recorder;
use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView3, Axis, Ix1, Ix2, Ix3};

use crate::softmax_steps::safe;
pub use terms::Parts;
use terms::{
    JOINED, MIXED, NARROWED, PROJECTED, SCORED, WIDENED, activation, linear, norm, products,
    softmax, sum,
};
pub use vit::pixel_of;

/// A tensor of the forward pass, in the order in which they are computed. Those of pictures have a
/// row for each patch, N, and with the class token 1 + N.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// `[C_0·H, W]`: the picture, its channels one below the other.
    Pixels,
    /// `[N, C_0·P·P]`: its patches, each as a row.
    Patches,
    /// `[N, C]`: the patches times E, plus a bias.
    Embedding,
    /// `[1 + N, C]`: the class token, and the embedded patches below it.
    WithClass,
    /// `[T, C]`: the rows of the token table.
    Tokens,
    /// `[T, C]`: the rows of the position table.
    Positions,
    /// `[T, C]`: their sum, the residual stream at its start.
    Input,
    /// `[T, C]`: the norm before attention.
    Norm1,
    /// `[T, D]`: the queries of a head.
    Queries,
    /// `[T, D]`: its keys.
    Keys,
    /// `[T, D]`: its values.
    Values,
    /// `[T, T]`: its scores, before the mask.
    Scores,
    /// `[T, T]`: its attention weights.
    Weights,
    /// `[T, D]`: its weighted sums of values.
    Heads,
    /// `[T, C]`: all heads side by side times W_O, what attention adds to the stream.
    AttentionOutput,
    /// `[T, C]`: the stream after attention.
    Residual1,
    /// `[T, C]`: the norm before the MLP.
    Norm2,
    /// `[T, F]`: the first layer of the MLP.
    MlpIn,
    /// `[T, F]`: its activation.
    Activation,
    /// `[T, C]`: the second layer of the MLP, what it adds to the stream.
    MlpOut,
    /// `[T, C]`: the stream after the MLP.
    Residual2,
    /// `[T, C]`: the norm after the last block.
    Norm,
    /// `[1, C]`: the row of the class token, all that the class head reads.
    Class,
    /// `[T, V]`: the logits of the next token; of a picture `[1, classes]`.
    Logits,
    /// `[1, classes]`: the probabilities of the classes of a picture.
    Probabilities,
}

impl Part {
    /// The name under which an observer of a block hears of it; `None` before and after the blocks.
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Norm1 => "norm_1",
            Self::Queries => "attention.q",
            Self::Keys => "attention.k",
            Self::Values => "attention.v",
            Self::Scores => "attention.scores",
            Self::Weights => "attention.weights",
            Self::Heads => "attention.heads",
            Self::AttentionOutput => "attention.output",
            Self::Residual1 => "residual_1",
            Self::Norm2 => "norm_2",
            Self::MlpIn => "mlp.before",
            Self::Activation => "mlp.inner",
            Self::MlpOut => "mlp.output",
            Self::Residual2 => "output",
            _ => return None,
        })
    }

    /// True where each head has a matrix of its own.
    pub fn is_of_head(self) -> bool {
        (Self::Queries..=Self::Heads).contains(&self)
    }

    /// True where each block has one.
    pub fn is_of_block(self) -> bool {
        (Self::Norm1..=Self::Residual2).contains(&self)
    }
}

/// A part of one block and head, both counted from 0; before and after the blocks they do not
/// matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// The tensor.
    pub part: Part,
    /// Its block.
    pub block: usize,
    /// Its head.
    pub head: usize,
}

/// A number with what it was computed from.
#[derive(Debug, Clone, PartialEq)]
pub struct OneNumber {
    /// The number that the forward pass has.
    pub value: f32,
    /// What the columns of `terms` are.
    pub columns: &'static [&'static str],
    /// `[K, M]`: a row for each term; the last column is the running sum. No rows where the number
    /// is no sum.
    pub terms: Array2<f32>,
    /// What is done after the sum, with the numbers that it is done with; the last one is the
    /// result.
    pub steps: Vec<(&'static str, f32)>,
}

impl OneNumber {
    /// The number at which terms and steps end.
    pub fn end(&self) -> f32 {
        self.steps.last().map_or(f32::NAN, |step| step.1)
    }
}

/// The parameters of a pre-norm block, whatever its attention may look at.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The norm before attention.
    pub norm_1: &'a LayerNorm,
    /// To queries, keys and values.
    pub qkv: &'a Qkv,
    /// H·D to C.
    pub output: &'a Projection,
    /// H.
    pub heads: usize,
    /// The norm before the MLP.
    pub norm_2: &'a LayerNorm,
    /// The MLP.
    pub mlp: &'a FeedForward,
}

/// A Transformer of pre-norm blocks. The blocks are the same for all of them; each kind has parts of
/// its own before and after.
pub trait PreNorm {
    /// Block `n`, counted from 0.
    fn block(&self, n: usize) -> Option<Block<'_>>;

    /// The number of blocks.
    fn layers(&self) -> usize;

    /// The norm after the last block.
    fn last_norm(&self) -> &LayerNorm;

    /// The pairs of tokens that may attend to each other.
    fn mask(&self) -> Mask;

    /// A tensor before or after the blocks.
    ///
    /// # Errors
    /// When this kind of model has no such part, or the pass is another model's.
    fn outside(&self, pass: &Pass, part: Part) -> Result<Array2<f32>>;

    /// What row `t` and column `c` of such a tensor, `value`, was computed from.
    ///
    /// # Errors
    /// As [`Self::outside`].
    fn outside_number(
        &self,
        pass: &Pass,
        part: Part,
        place: (usize, usize),
        value: f32,
    ) -> Result<Parts>;
}

/// What a model has read.
#[derive(Debug, Clone)]
enum Read {
    Tokens(Vec<usize>),
    /// `[C_0, H, W]`.
    Picture(Array3<f32>),
}

/// A forward pass over one text or picture, with all intermediates.
#[derive(Debug, Clone)]
pub struct Pass {
    read: Read,
    recorder: Recorder,
}

impl Pass {
    /// The forward pass over the tokens `ids`.
    ///
    /// # Errors
    /// When the text is longer than the context, or an id is outside the vocabulary.
    pub fn new(model: &Gpt2, ids: &[usize]) -> Result<Self> {
        // ids [T]
        let mut recorder = Recorder::default();
        model.forward(ids, Some(&mut recorder))?;
        Ok(Self {
            read: Read::Tokens(ids.to_vec()),
            recorder,
        })
    }

    /// The forward pass over a picture.
    ///
    /// # Errors
    /// When the model reads no such picture, or has no class token.
    pub fn of_picture(model: &Vit, image: ArrayView3<'_, f32>) -> Result<Self> {
        // image [C_0, H, W]
        if !model.has_class_token() {
            return Err(missing("a class token"));
        }
        let mut recorder = Recorder::default();
        model.forward(image, Some(&mut recorder))?;
        Ok(Self {
            read: Read::Picture(image.to_owned()),
            recorder,
        })
    }

    /// What was recorded.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// A tensor of the pass, as the model computed it.
    ///
    /// # Errors
    /// When the model has no such part, block or head.
    pub fn tensor(&self, model: &dyn PreNorm, site: Site) -> Result<Array2<f32>> {
        // -> [T, C], [T, D], [T, T], [T, F] or [T, V]
        let Some(name) = site.part.name() else {
            return model.outside(self, site.part);
        };
        let name = format!("blocks.{}.{name}", site.block);
        if site.part.is_of_head() {
            self.head(&name, site.head)
        } else {
            self.matrix(&name)
        }
    }

    fn ids(&self) -> Result<&[usize]> {
        match &self.read {
            Read::Tokens(ids) => Ok(ids),
            Read::Picture(_) => Err(missing("a text")),
        }
    }

    fn picture(&self) -> Result<&Array3<f32>> {
        match &self.read {
            Read::Picture(picture) => Ok(picture),
            Read::Tokens(_) => Err(missing("a picture")),
        }
    }

    fn matrix(&self, name: &str) -> Result<Array2<f32>> {
        let found = self.recorder.get(name);
        let found = found.and_then(|found| found.view().into_dimensionality::<Ix2>().ok());
        found
            .map(|found| found.to_owned())
            .ok_or_else(|| missing(name))
    }

    /// A vector as a matrix of one row.
    fn vector(&self, name: &str) -> Result<Array2<f32>> {
        let found = self.recorder.get(name);
        let found = found.and_then(|found| found.view().into_dimensionality::<Ix1>().ok());
        found
            .map(|found| found.insert_axis(Axis(0)).to_owned())
            .ok_or_else(|| missing(name))
    }

    fn head(&self, name: &str, head: usize) -> Result<Array2<f32>> {
        let found = self.recorder.get(name);
        let found = found.and_then(|found| found.view().into_dimensionality::<Ix3>().ok());
        let found = found.filter(|found| head < found.dim().0);
        found
            .map(|found| found.index_axis(Axis(0), head).to_owned())
            .ok_or_else(|| missing(name))
    }

    /// One number of a tensor, row `t` and column `c`, with what it was computed from.
    ///
    /// # Errors
    /// When the model has no such part, block or head, or the tensor no such row or column.
    pub fn number(
        &self,
        model: &dyn PreNorm,
        site: Site,
        (t, c): (usize, usize),
    ) -> Result<OneNumber> {
        let tensor = self.tensor(model, site)?;
        let value = tensor.get((t, c)).copied();
        let value = value.ok_or_else(|| missing(&format!("row {t}, column {c}")))?;
        let (columns, terms, steps) = match site.part {
            Part::Queries | Part::Keys | Part::Values => self.projection(model, site, (t, c))?,
            Part::Scores | Part::Weights | Part::Heads | Part::AttentionOutput => {
                self.attention(model, site, (t, c))?
            }
            Part::MlpIn | Part::Activation | Part::MlpOut => self.mlp(model, site, (t, c))?,
            Part::Norm => {
                let block = model.layers();
                let last = self.before(Site { block, ..site })?;
                norm(last.row(t), model.last_norm(), c)
            }
            part if part.is_of_block() => self.stream(model, site, (t, c))?,
            part => model.outside_number(self, part, (t, c), value)?,
        };
        Ok(OneNumber {
            value,
            columns,
            terms,
            steps,
        })
    }

    /// Row `t` of another part of the same block and head.
    fn row(&self, model: &dyn PreNorm, site: Site, part: Part, t: usize) -> Result<Array1<f32>> {
        let tensor = self.tensor(model, Site { part, ..site })?;
        Ok(tensor.row(t).to_owned())
    }

    /// A number of the queries, keys or values.
    fn projection(&self, model: &dyn PreNorm, site: Site, (t, c): (usize, usize)) -> Result<Parts> {
        let block = block(model, site)?;
        let Qkv::Fused(layer) = block.qkv else {
            return Err(missing("one matrix for queries, keys and values"));
        };
        let x = self.row(model, site, Part::Norm1, t)?;
        linear(x.view(), layer, column_of(block, site, c), PROJECTED)
    }

    /// A number of the steps of a head, or of their output.
    fn attention(&self, model: &dyn PreNorm, site: Site, (t, c): (usize, usize)) -> Result<Parts> {
        let other = |part| self.tensor(model, Site { part, ..site });
        let row = |part| self.row(model, site, part, t);
        match site.part {
            Part::Scores => {
                let (q, k) = (row(Part::Queries)?, other(Part::Keys)?);
                let (terms, total) = products(q.view(), k.row(c));
                let scale = scale(q.len());
                let factor = "\u{d7} $1/\u{221a}d_k$";
                let steps = vec![("sum", total), (factor, scale), ("=", total * scale)];
                Ok((SCORED, terms, steps))
            }
            Part::Weights => {
                let scores = other(Part::Scores)?;
                let masked = apply_mask(scores.view(), &model.mask(), 0)?;
                softmax(masked.row(t), c)
            }
            Part::Heads => {
                let (weights, v) = (row(Part::Weights)?, other(Part::Values)?);
                let (terms, total) = products(weights.view(), v.column(c));
                Ok((MIXED, terms, vec![("= sum", total)]))
            }
            _ => {
                let block = block(model, site)?;
                let part = Part::Heads;
                let heads =
                    (0..block.heads).map(|head| self.tensor(model, Site { part, head, ..site }));
                let heads = heads.collect::<Result<Vec<_>>>()?;
                let joined: Array1<f32> = heads.iter().flat_map(|h| h.row(t).to_vec()).collect();
                linear(joined.view(), block.output, c, JOINED)
            }
        }
    }

    /// A number of the MLP.
    fn mlp(&self, model: &dyn PreNorm, site: Site, (t, c): (usize, usize)) -> Result<Parts> {
        let mlp = block(model, site)?.mlp;
        let row = |part| self.row(model, site, part, t);
        match site.part {
            Part::MlpIn => linear(row(Part::Norm2)?.view(), &mlp.up, c, WIDENED),
            Part::MlpOut => linear(row(Part::Activation)?.view(), &mlp.down, c, NARROWED),
            _ => Ok(activation(row(Part::MlpIn)?[c], mlp.activation)),
        }
    }

    /// A number of a block's stream or norms.
    fn stream(&self, model: &dyn PreNorm, site: Site, (t, c): (usize, usize)) -> Result<Parts> {
        let row = |part| self.row(model, site, part, t);
        let block = block(model, site)?;
        Ok(match site.part {
            Part::Norm1 => norm(self.before(site)?.row(t), block.norm_1, c),
            Part::Residual1 => sum(self.before(site)?[[t, c]], row(Part::AttentionOutput)?[c]),
            Part::Norm2 => norm(row(Part::Residual1)?.view(), block.norm_2, c),
            _ => sum(row(Part::Residual1)?[c], row(Part::MlpOut)?[c]),
        })
    }

    /// The stream that a block reads.
    fn before(&self, site: Site) -> Result<Array2<f32>> {
        match site.block.checked_sub(1) {
            Some(before) => self.matrix(&format!("blocks.{before}.output")),
            None => self.matrix("input"),
        }
    }
}

/// The steps from the logits of a position to the probability of token `id` at a temperature.
///
/// # Errors
/// When the temperature is not above 0, or there is no such token.
pub fn probability(logits: ArrayView1<'_, f32>, id: usize, tau: f32) -> Result<OneNumber> {
    // logits [V]
    let all = safe(logits, tau)?;
    let logit = logits.get(id).copied();
    let logit = logit.ok_or_else(|| missing(&format!("token {id}")))?;
    let largest = engine::kernel::max(&logits.to_vec());
    Ok(OneNumber {
        value: all.weights[id],
        columns: &[],
        terms: Array2::zeros((0, 0)),
        steps: vec![
            ("logit", logit),
            ("\u{2212} the largest", largest),
            ("\u{f7} temperature", tau),
            ("exp of that", all.exponentials[id]),
            ("\u{f7} the sum over all tokens", all.total),
            ("=", all.exponentials[id] / all.total),
        ],
    })
}

/// The column of the joined matrix of queries, keys and values that number `c` of a head comes
/// from.
fn column_of(block: Block<'_>, site: Site, c: usize) -> usize {
    let width = block.output.weight.dim().1;
    let head_width = width / block.heads.max(1);
    let third = match site.part {
        Part::Queries => 0,
        Part::Keys => 1,
        _ => 2,
    };
    third * width + site.head * head_width + c
}

fn block(model: &dyn PreNorm, site: Site) -> Result<Block<'_>> {
    let found = model.block(site.block);
    found.ok_or_else(|| missing(&format!("block {}", site.block)))
}

fn missing(expected: &str) -> EngineError {
    EngineError::shape("one_number", expected, "none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_decoder::small_decoder;
    use engine::model::gpt2::Config;

    const ALL: [Part; 19] = [
        Part::Tokens,
        Part::Positions,
        Part::Input,
        Part::Norm1,
        Part::Queries,
        Part::Keys,
        Part::Values,
        Part::Scores,
        Part::Weights,
        Part::Heads,
        Part::AttentionOutput,
        Part::Residual1,
        Part::Norm2,
        Part::MlpIn,
        Part::Activation,
        Part::MlpOut,
        Part::Residual2,
        Part::Norm,
        Part::Logits,
    ];

    fn model() -> Gpt2 {
        let config = Config {
            vocabulary: 40,
            width: 16,
            heads: 2,
            layers: 3,
            inner: 32,
            context: 16,
            norm_eps: 1e-5,
        };
        small_decoder(&config, 5).unwrap()
    }

    /// Every number of every tensor is that of the model's own pass, and its terms and steps end at
    /// it.
    #[test]
    fn every_number_is_what_its_terms_add_up_to() {
        let (model, ids) = (model(), [1, 2, 3, 5]);
        let pass = Pass::new(&model, &ids).unwrap();
        let logits = model.forward(&ids, None).unwrap();
        for part in ALL {
            for (block, head) in [(0, 0), (2, 1)] {
                let site = Site { part, block, head };
                let tensor = pass.tensor(&model, site).unwrap();
                assert_eq!(tensor.nrows(), 4);
                for ((t, c), &value) in tensor.indexed_iter() {
                    let one = pass.number(&model, site, (t, c)).unwrap();
                    assert_eq!(one.value, value);
                    let near = 2e-6 * value.abs().max(1.0);
                    let end = one.end();
                    assert!(
                        (end - value).abs() < near,
                        "{site:?} {t} {c}: {end} {value}"
                    );
                    assert!(one.terms.is_empty() || one.terms.ncols() == one.columns.len());
                }
            }
        }
        let site = |part| Site {
            part,
            block: 0,
            head: 0,
        };
        let found = pass.tensor(&model, site(Part::Logits)).unwrap();
        let largest = (&found - &logits).fold(0.0_f32, |most, d| most.max(d.abs()));
        assert!(largest < 1e-5, "{largest}");
        for (part, terms) in [
            (Part::Queries, 16),
            (Part::Scores, 8),
            (Part::Weights, 4),
            (Part::Heads, 4),
            (Part::MlpOut, 32),
            (Part::Residual2, 2),
            (Part::Norm1, 0),
        ] {
            let one = pass.number(&model, site(part), (1, 0)).unwrap();
            assert_eq!(one.terms.nrows(), terms, "{part:?}");
        }
    }

    #[test]
    fn a_probability_is_a_share_of_all_exponentials() {
        let logits = ndarray::array![1.0_f32, 3.0, 2.0];
        let one = |id, tau| probability(logits.view(), id, tau).unwrap();
        let total: f32 = (0..3).map(|id| one(id, 1.0).end()).sum();
        assert!((total - 1.0).abs() < 1e-6);
        assert!((one(1, 1.0).end() - one(1, 1.0).value).abs() < 1e-6);
        assert!(one(1, 0.5).value > one(1, 1.0).value);
        assert!(probability(logits.view(), 3, 1.0).is_err());
        assert!(probability(logits.view(), 0, 0.0).is_err());
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let (model, part) = (model(), Part::Scores);
        let pass = Pass::new(&model, &[1, 2]).unwrap();
        for (block, head, place) in [
            (3, 0, (0, 0)),
            (0, 2, (0, 0)),
            (0, 0, (2, 0)),
            (0, 0, (0, 2)),
        ] {
            let site = Site { part, block, head };
            assert!(pass.number(&model, site, place).is_err());
        }
        assert!(Pass::new(&model, &[40]).is_err());
    }
}
