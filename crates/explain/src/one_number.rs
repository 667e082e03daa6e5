//! One number of a GPT-2's forward pass, and what it was computed from, term by term.
//!
//! ```text
//! a product     y = Σ_k x_k · w_k (· scale) (+ bias)      queries, keys, values, scores, heads, W_O, MLP, logits
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
//! Vaswani et al. 2017, "Attention is all you need", sections 3.2 and 3.3.

use engine::error::{EngineError, Result};
use engine::math;
use engine::model::decoder::DecoderExt;
use engine::model::gpt2::Gpt2;
use engine::nn::attention::{Mask, apply_mask, scale};
use engine::nn::embedding::embed;
use engine::nn::feed_forward::Activation;
use engine::nn::grouped::{GroupedAttention, Qkv};
use engine::nn::norm::LayerNorm;
use engine::nn::pre_norm::PreNormBlock;
use engine::nn::projection::Projection;
use engine::parameters::Weight;
use engine::trace::Recorder;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Ix2, Ix3};

use crate::norm_steps::layer_norm_steps;
use crate::softmax_steps::safe;

/// A tensor of the forward pass, in the order in which they are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
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
    /// `[T, V]`: the logits of the next token.
    Logits,
}

impl Part {
    /// The name under which an observer hears of it; `None` for the tables, which are parameters.
    fn name(self, block: usize) -> Option<String> {
        let part = match self {
            Self::Tokens => return Some("embedding".to_owned()),
            Self::Positions => return None,
            Self::Input => return Some("input".to_owned()),
            Self::Norm => return Some("norm".to_owned()),
            Self::Logits => return Some("logits".to_owned()),
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
        };
        Some(format!("blocks.{block}.{part}"))
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

/// The columns of the terms: of a product its two factors, the product and the running sum.
const PROJECTED: &[&str] = &["$x$", "$W$", "product", "running sum"];
const SCORED: &[&str] = &["$q$", "$k$", "product", "running sum"];
const MIXED: &[&str] = &["weight", "$v$", "product", "running sum"];
const JOINED: &[&str] = &["heads", "$W_O$", "product", "running sum"];
const WIDENED: &[&str] = &["$x$", "$W_1$", "product", "running sum"];
const NARROWED: &[&str] = &["inner", "$W_2$", "product", "running sum"];
const READ: &[&str] = &["$x$", "$E$", "product", "running sum"];

/// The columns of a softmax.
const SHARED: &[&str] = &["score", "exp", "running sum"];

/// The columns of a sum of two numbers.
const SUM: &[&str] = &["number", "running sum"];

/// A forward pass over one text, with all intermediates.
#[derive(Debug, Clone)]
pub struct Pass {
    ids: Vec<usize>,
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
            ids: ids.to_vec(),
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
    /// When the model has no such block or head.
    pub fn tensor(&self, model: &Gpt2, site: Site) -> Result<Array2<f32>> {
        // -> [T, C], [T, D], [T, T], [T, F] or [T, V]
        let Some(name) = site.part.name(site.block) else {
            let table = model.trunk().positions.as_ref();
            let table = table.ok_or_else(|| missing("a table of positions"))?;
            let rows: Vec<usize> = (0..self.ids.len()).collect();
            return embed(table.view(), &rows);
        };
        if site.part.is_of_head() {
            self.head(&name, site.head)
        } else {
            self.matrix(&name)
        }
    }

    fn matrix(&self, name: &str) -> Result<Array2<f32>> {
        let found = self.recorder.get(name);
        let found = found.and_then(|found| found.view().into_dimensionality::<Ix2>().ok());
        found
            .map(|found| found.to_owned())
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
    /// When the model has no such block or head, or the tensor no such row or column.
    pub fn number(&self, model: &Gpt2, site: Site, (t, c): (usize, usize)) -> Result<OneNumber> {
        let tensor = self.tensor(model, site)?;
        let value = tensor.get((t, c)).copied();
        let value = value.ok_or_else(|| missing(&format!("row {t}, column {c}")))?;
        let (columns, terms, steps) = match site.part {
            Part::Queries | Part::Keys | Part::Values => self.projection(model, site, (t, c))?,
            Part::Scores | Part::Weights | Part::Heads | Part::AttentionOutput => {
                self.attention(model, site, (t, c))?
            }
            Part::MlpIn | Part::Activation | Part::MlpOut => self.mlp(model, site, (t, c))?,
            _ => self.stream(model, site, (t, c), value)?,
        };
        Ok(OneNumber {
            value,
            columns,
            terms,
            steps,
        })
    }

    /// Row `t` of another part of the same block and head.
    fn row(&self, model: &Gpt2, site: Site, part: Part, t: usize) -> Result<Array1<f32>> {
        let tensor = self.tensor(model, Site { part, ..site })?;
        Ok(tensor.row(t).to_owned())
    }

    /// A number of the queries, keys or values.
    fn projection(&self, model: &Gpt2, site: Site, (t, c): (usize, usize)) -> Result<Parts> {
        let attention = &block(model, site)?.attention;
        let Qkv::Fused(layer) = &attention.qkv else {
            return Err(missing("one matrix for queries, keys and values"));
        };
        let x = self.row(model, site, Part::Norm1, t)?;
        linear(x.view(), layer, column_of(attention, site, c), PROJECTED)
    }

    /// A number of the steps of a head, or of their output.
    fn attention(&self, model: &Gpt2, site: Site, (t, c): (usize, usize)) -> Result<Parts> {
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
            Part::Weights => softmax(other(Part::Scores)?.view(), (t, c)),
            Part::Heads => {
                let (weights, v) = (row(Part::Weights)?, other(Part::Values)?);
                let (terms, total) = products(weights.view(), v.column(c));
                Ok((MIXED, terms, vec![("= sum", total)]))
            }
            _ => {
                let attention = &block(model, site)?.attention;
                let part = Part::Heads;
                let heads = (0..attention.heads)
                    .map(|head| self.tensor(model, Site { part, head, ..site }));
                let heads = heads.collect::<Result<Vec<_>>>()?;
                let joined: Array1<f32> = heads.iter().flat_map(|h| h.row(t).to_vec()).collect();
                linear(joined.view(), &attention.output, c, JOINED)
            }
        }
    }

    /// A number of the MLP.
    fn mlp(&self, model: &Gpt2, site: Site, (t, c): (usize, usize)) -> Result<Parts> {
        let mlp = &block(model, site)?.mlp;
        let row = |part| self.row(model, site, part, t);
        match site.part {
            Part::MlpIn => linear(row(Part::Norm2)?.view(), &mlp.up, c, WIDENED),
            Part::MlpOut => linear(row(Part::Activation)?.view(), &mlp.down, c, NARROWED),
            _ => Ok(activation(row(Part::MlpIn)?[c], mlp.activation)),
        }
    }

    /// A number of the stream, of a norm, or of the logits.
    fn stream(
        &self,
        model: &Gpt2,
        site: Site,
        (t, c): (usize, usize),
        value: f32,
    ) -> Result<Parts> {
        let row = |part| self.row(model, site, part, t);
        Ok(match site.part {
            Part::Tokens => {
                let id = self.ids[t];
                let entry = model.tokens().rows(&[id])?[[0, c]];
                none(vec![("row of $E$, the id", id as f32), ("=", entry)])
            }
            Part::Positions => none(vec![("row of the table", t as f32), ("=", value)]),
            Part::Input => sum(row(Part::Tokens)?[c], row(Part::Positions)?[c]),
            Part::Norm1 => norm(self.before(site)?.row(t), &block(model, site)?.norm_1, c),
            Part::Residual1 => sum(self.before(site)?[[t, c]], row(Part::AttentionOutput)?[c]),
            Part::Norm2 => norm(row(Part::Residual1)?.view(), &block(model, site)?.norm_2, c),
            Part::Residual2 => sum(row(Part::Residual1)?[c], row(Part::MlpOut)?[c]),
            Part::Norm => {
                let block = model.config().layers;
                let last = self.before(Site { block, ..site })?;
                norm(last.row(t), &model.trunk().norm, c)
            }
            _ => {
                let weights = model.trunk().head().rows(&[c])?;
                let (terms, total) = products(row(Part::Norm)?.view(), weights.row(0));
                (READ, terms, vec![("= sum", total)])
            }
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

/// Columns, terms and steps.
type Parts = (
    &'static [&'static str],
    Array2<f32>,
    Vec<(&'static str, f32)>,
);

fn none(steps: Vec<(&'static str, f32)>) -> Parts {
    (&[], Array2::zeros((0, 0)), steps)
}

/// The products of two vectors, [K, 4]: factors, product, running sum; and the sum.
fn products(left: ArrayView1<'_, f32>, right: ArrayView1<'_, f32>) -> (Array2<f32>, f32) {
    // left [K], right [K] -> [K, 4]
    let mut terms = Array2::zeros((left.len(), 4));
    let mut total = 0.0_f32;
    for (mut term, (&x, &w)) in terms.rows_mut().into_iter().zip(left.iter().zip(right)) {
        let product = x * w;
        total += product;
        term.assign(&ndarray::aview1(&[x, w, product, total]));
    }
    (terms, total)
}

/// One number of a linear layer.
fn linear(
    x: ArrayView1<'_, f32>,
    layer: &Projection,
    output: usize,
    columns: &'static [&'static str],
) -> Result<Parts> {
    // x [C_in]
    let weights: &Weight = &layer.weight;
    let (terms, total) = products(x, weights.rows(&[output])?.row(0));
    let mut steps = vec![("sum", total)];
    let bias = layer.bias.as_ref().map(|bias| bias[output]);
    if let Some(bias) = bias {
        steps.push(("+ bias", bias));
    }
    steps.push(("=", total + bias.unwrap_or(0.0)));
    Ok((columns, terms, steps))
}

/// a + b.
fn sum(a: f32, b: f32) -> Parts {
    let terms = ndarray::array![[a, a], [b, a + b]];
    (SUM, terms, vec![("= sum", a + b)])
}

/// A number of a row of scores after mask and softmax.
fn softmax(scores: ArrayView2<'_, f32>, (t, c): (usize, usize)) -> Result<Parts> {
    // scores [T, T]
    let masked = apply_mask(scores, &Mask::Causal { first: 0 }, 0)?;
    let all = safe(masked.row(t), 1.0)?;
    let mut terms = Array2::zeros((masked.ncols(), 3));
    let mut total = 0.0_f32;
    for (k, mut term) in terms.rows_mut().into_iter().enumerate() {
        total += all.exponentials[k];
        term.assign(&ndarray::aview1(&[
            masked[[t, k]],
            all.exponentials[k],
            total,
        ]));
    }
    let own = all.exponentials[c];
    let steps = vec![("exp", own), ("\u{f7} sum", total), ("=", own / total)];
    Ok((SHARED, terms, steps))
}

/// Number `c` of a layer norm.
fn norm(x: ArrayView1<'_, f32>, norm: &LayerNorm, c: usize) -> Parts {
    // x [C]
    let steps = layer_norm_steps(x, norm.eps);
    let (gamma, beta) = (norm.gamma[c], norm.beta[c]);
    none(vec![
        ("$x$", x[c]),
        ("\u{2212} mean", steps.mean),
        ("\u{f7} standard deviation", steps.deviation),
        ("\u{d7} $\u{3b3}$", gamma),
        ("+ $\u{3b2}$", beta),
        ("=", steps.output[c] * gamma + beta),
    ])
}

/// The activation of one number; the steps of GELU as GPT-2 computes it.
fn activation(x: f32, activation: Activation) -> Parts {
    if activation != Activation::GeluTanh {
        let mut one = ndarray::array![[x]];
        activation.apply(&mut one);
        return none(vec![("$x$", x), ("=", one[[0, 0]])]);
    }
    let inside = math::sqrt(2.0 / std::f32::consts::PI) * (x + 0.044_715 * x * x * x);
    let tanh = math::tanh(inside);
    none(vec![
        ("$x$", x),
        (
            "$u$ = \u{221a}(2/\u{3c0}) ($x$ + 0.044715 $x$\u{b3})",
            inside,
        ),
        ("tanh $u$", tanh),
        ("= $x$ (1 + tanh $u$) / 2", x * (1.0 + tanh) / 2.0),
    ])
}

/// The column of the joined matrix of queries, keys and values that number `c` of a head comes
/// from.
fn column_of(attention: &GroupedAttention, site: Site, c: usize) -> usize {
    let width = attention.heads * attention.head_width;
    let third = match site.part {
        Part::Queries => 0,
        Part::Keys => 1,
        _ => 2,
    };
    third * width + site.head * attention.head_width + c
}

fn block(model: &Gpt2, site: Site) -> Result<&PreNormBlock<LayerNorm, GroupedAttention>> {
    let found = model.trunk().blocks.get(site.block);
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
