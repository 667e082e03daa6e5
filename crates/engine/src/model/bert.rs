//! BERT: an encoder of text, with the head that fills masks, and as an encoder of sentences.
//!
//! ```text
//! x = norm(E[ids] + positions + types)             ids [T] -> [T, C]
//! x = block_n(x), n = 0 …                          post-norm, every token sees every other -> [T, C]
//! logits = norm(gelu(x · Wᵀ + b)) · Eᵀ + b_V       masked-LM head -> [T, V]
//! sentence = mean of x over the tokens, at length 1               -> [C]
//! ```
//!
//! ```
//! use engine::model::bert::{Bert, Config};
//! use engine::formula::Formula;
//! use ndarray::array;
//! let config = Config { vocabulary: 11, width: 8, heads: 2, layers: 2, inner: 16, context: 6, types: 2, norm_eps: 1e-12 };
//! let model = Bert::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! assert_eq!(model.forward(&[1, 4, 2], None)?.dim(), (3, 11));
//! let batch = array![[1, 4, 2], [1, 2, 0]];
//! let mask = array![[true, true, true], [true, true, false]];
//! let sentences = model.sentences(batch.view(), mask.view())?;
//! assert!((&sentences.row(1) - &model.sentence(&[1, 2], None)?).iter().all(|d| d.abs() < 1e-6));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Devlin et al. 2019, "BERT: Pre-training of deep bidirectional Transformers", section 3;
//! Reimers and Gurevych 2019, "Sentence-BERT", section 3. Names of parameters: Hugging Face's, with
//! and without `bert.` before them.

use super::bert_blocks::{block, block_parameters};
use super::config::{self, Lookup};
use super::names::{Shapes, prefix};
use crate::error::{EngineError, Result};
use crate::nn::compute::Compute;
use crate::nn::feed_forward::Activation;
use crate::nn::norm::{LayerNorm, Norm};
use crate::nn::packed::Packed;
use crate::nn::parts::Parts;
use crate::nn::plain::Plain;
use crate::nn::pooling::{mean, unit};
use crate::nn::post_norm::PostNormBlock;
use crate::nn::projection::Projection;
use crate::parameters::{Parameters, Weight, matrix, vector};
use crate::trace::{Observer, observe};
use crate::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array1, Array2, Array3, ArrayView2, s};

/// The sizes of a BERT.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// V.
    pub vocabulary: usize,
    /// C, a multiple of `heads`.
    pub width: usize,
    /// H.
    pub heads: usize,
    /// Number of blocks.
    pub layers: usize,
    /// F.
    pub inner: usize,
    /// Rows of the position table: the longest text.
    pub context: usize,
    /// Rows of the table of token types.
    pub types: usize,
    /// Added to the variance in each norm.
    pub norm_eps: f32,
}

impl Config {
    /// all-MiniLM-L6-v2, 23 million parameters (Wang et al. 2020; its `config.json`).
    pub fn minilm_l6() -> Self {
        Self {
            vocabulary: 30_522,
            width: 384,
            heads: 12,
            layers: 6,
            inner: 1536,
            context: 512,
            types: 2,
            norm_eps: 1e-12,
        }
    }

    /// The sizes from named numbers: our reference files', Hugging Face's or GGUF's names (see
    /// [`super::config`]).
    ///
    /// # Errors
    /// When a size is missing or not a whole number in range, or the heads do not divide the width.
    pub fn from_keys(lookup: Lookup<'_>) -> Result<Self> {
        let size = |names: &[&'static str]| config::size("bert", lookup, names);
        let types = ["types", "type_vocab_size", "token_type_count"];
        let eps = ["norm_eps", "layer_norm_eps", "attention.layer_norm_epsilon"];
        let config = Self {
            vocabulary: size(&["vocabulary", "vocab_size"])?,
            width: size(&["width", "hidden_size", "embedding_length"])?,
            heads: size(&["heads", "num_attention_heads", "attention.head_count"])?,
            layers: size(&["layers", "num_hidden_layers", "block_count"])?,
            inner: size(&["inner", "intermediate_size", "feed_forward_length"])?,
            context: size(&["context", "max_position_embeddings", "context_length"])?,
            types: config::optional("bert", lookup, &types)?.unwrap_or(2),
            norm_eps: config::number(lookup, &eps).unwrap_or(1e-12) as f32,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        config::divides("bert", "heads", self.heads, self.width)
    }

    /// The names of all parameters with their shapes, the head's too, as Hugging Face's files have
    /// them.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (v, c, f) = (self.vocabulary, self.width, self.inner);
        let mut all = Shapes::default();
        for (name, rows) in [
            ("word", v),
            ("position", self.context),
            ("token_type", self.types),
        ] {
            all.add(table(name), &[rows, c]);
        }
        all.layer("bert.embeddings.LayerNorm", &[c]);
        for n in 0..self.layers {
            let name = |part: &str| format!("bert.encoder.layer.{n}.{part}");
            for part in ["self.query", "self.key", "self.value", "output.dense"] {
                all.layer(&name(&format!("attention.{part}")), &[c, c]);
            }
            all.layer(&name("attention.output.LayerNorm"), &[c]);
            all.layer(&name("intermediate.dense"), &[f, c]);
            all.layer(&name("output.dense"), &[c, f]);
            all.layer(&name("output.LayerNorm"), &[c]);
        }
        all.layer(&format!("{HEAD}.transform.dense"), &[c, c]);
        all.layer(&format!("{HEAD}.transform.LayerNorm"), &[c]);
        all.add(format!("{HEAD}.bias"), &[v]);
        all.0
    }
}

/// The name of a table of the embedding.
fn table(name: &str) -> String {
    format!("bert.embeddings.{name}_embeddings.weight")
}

/// The prefix of the names of the head's parameters.
const HEAD: &str = "cls.predictions";

/// The masked-LM head; its last matrix is the token table.
#[derive(Debug, Clone)]
struct Head {
    transform: Projection,
    norm: LayerNorm,
    bias: Array1<f32>,
}

/// The model: three tables, blocks, and a head where the source has one.
#[derive(Debug, Clone)]
pub struct Bert {
    config: Config,
    words: Weight,
    positions: Array2<f32>,
    types: Array2<f32>,
    norm: LayerNorm,
    blocks: Vec<PostNormBlock>,
    head: Option<Head>,
    parts: Parts,
}

impl Bert {
    /// The model with the parameters of a source; without the head where the source has none.
    ///
    /// # Errors
    /// When the heads do not divide the width, or a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let (v, c, eps) = (config.vocabulary, config.width, config.norm_eps);
        let root = prefix(source, &["bert.", ""], "embeddings.word_embeddings.weight");
        let tables = format!("{root}embeddings.");
        let positions = format!("{tables}position_embeddings.weight");
        let types = format!("{tables}token_type_embeddings.weight");
        let blocks = (0..config.layers)
            .map(|n| block(&config, source, &format!("{root}encoder.layer.{n}.")));
        let blocks = blocks.collect::<Result<_>>()?;
        let dense = format!("{HEAD}.transform.dense.weight");
        let has_head = source.shape(&dense).is_some();
        let head = has_head.then(|| head(&config, source)).transpose()?;
        Ok(Self {
            words: source.weight(&format!("{tables}word_embeddings.weight"), v, c)?,
            positions: matrix(source, &positions, config.context, c)?,
            types: matrix(source, &types, config.types, c)?,
            norm: LayerNorm::load(source, &format!("{tables}LayerNorm"), c, eps)?,
            blocks,
            head,
            parts: Parts::default(),
            config,
        })
    }

    /// The sizes of the model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The word table, `[V, C]`.
    pub fn words(&self) -> &Weight {
        &self.words
    }

    /// The position table, a row for each position, `[context, C]`.
    pub fn positions(&self) -> ArrayView2<'_, f32> {
        self.positions.view()
    }

    /// The same model with these parts in use; without positions, the rows of the position table
    /// are not added. The mask has no meaning here: BERT has none.
    pub fn with_parts(&self, parts: Parts) -> Self {
        let mut model = self.clone();
        model.parts = parts;
        for block in &mut model.blocks {
            block.parts = parts;
        }
        model
    }

    /// The hidden states of one or more texts, `[N, C]` in the order of `tokens`; `types` holds a
    /// type for each token, all 0 where there is none. The observer gets `embedding`, `input`, then
    /// `blocks.N.…` (see [`PostNormBlock::forward`]).
    ///
    /// # Errors
    /// When an id, a type or a position is outside its table.
    pub fn hidden(
        &self,
        tokens: &Packed,
        types: Option<&[usize]>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // ids [N] -> [N, C]
        self.run(&mut Plain::new(trace), tokens, types)
    }

    /// As [`Self::hidden`], generic over the executor.
    ///
    /// # Errors
    /// As [`Self::hidden`].
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        tokens: &Packed,
        types: Option<&[usize]>,
    ) -> Result<C::Matrix> {
        // ids [N] -> [N, C]
        let zeros = vec![0; if types.is_none() { tokens.ids.len() } else { 0 }];
        let types = types.unwrap_or(&zeros);
        self.check(tokens, types)?;
        let mut x = compute.embed(&self.words, &tokens.ids)?;
        if self.parts.positions {
            let positions = compute.lookup(&self.positions, &tokens.positions)?;
            x = compute.add(x, &positions)?;
        }
        let types = compute.lookup(&self.types, types)?;
        let mut x = compute.add(x, &types)?;
        compute.trace("embedding", &mut x);
        let mut x = self.parts.norm(compute, &self.norm, &x)?;
        compute.trace("input", &mut x);
        let mut x = compute.dropout(x);
        for (n, block) in self.blocks.iter().enumerate() {
            let prefix = || format!("blocks.{n}.");
            x = compute.scope(prefix, |compute| block.run(compute, x, &tokens.lengths))?;
        }
        Ok(x)
    }

    fn check(&self, tokens: &Packed, types: &[usize]) -> Result<()> {
        let longest = tokens.positions.iter().max().map_or(0, |last| last + 1);
        let wrong = types.iter().find(|&&kind| kind >= self.config.types);
        if longest > self.config.context {
            let expected = format!("at most {}", self.config.context);
            return Err(EngineError::value("bert", "tokens", expected, longest));
        }
        if types.len() != tokens.ids.len() {
            let expected = format!("{} token types", tokens.ids.len());
            let found = types.len().to_string();
            return Err(EngineError::shape("bert", expected, found));
        }
        match wrong {
            Some(kind) => {
                let expected = format!("below {}", self.config.types);
                Err(EngineError::value("bert", "token type", expected, kind))
            }
            None => Ok(()),
        }
    }

    /// True when it has the masked-LM head.
    pub fn fills_masks(&self) -> bool {
        self.head.is_some()
    }

    /// The masked-LM logits of hidden states. The observer gets `head.dense`, `head.norm` and
    /// `logits`.
    ///
    /// # Errors
    /// When the source had no head, or the hidden states have another width.
    pub fn logits(
        &self,
        hidden: ArrayView2<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // hidden [T, C] -> [T, V]
        self.run_logits(&mut Plain::new(trace), &hidden.to_owned())
    }

    /// As [`Self::logits`], generic over the executor.
    ///
    /// # Errors
    /// As [`Self::logits`].
    pub fn run_logits<C: Compute>(&self, compute: &mut C, hidden: &C::Matrix) -> Result<C::Matrix> {
        // hidden [T, C] -> [T, V]
        let head = self.head.as_ref().ok_or_else(|| EngineError::Parameter {
            name: format!("{HEAD}.transform.dense.weight"),
            expected: format!("{:?}", [self.config.width; 2]),
            found: "none".to_owned(),
        })?;
        let dense = head.transform.run(compute, hidden)?;
        let mut dense = compute.activate(dense, Activation::Gelu);
        compute.trace("head.dense", &mut dense);
        let mut normed = head.norm.run(compute, &dense)?;
        compute.trace("head.norm", &mut normed);
        let mut logits = compute.linear(&normed, &self.words, Some(&head.bias))?;
        compute.trace("logits", &mut logits);
        Ok(logits)
    }

    /// The masked-LM logits at every position of one text. The observer gets the intermediates of
    /// [`Self::hidden`] and [`Self::logits`].
    ///
    /// # Errors
    /// When an id is outside the vocabulary, the text is longer than the context, or the source had
    /// no head.
    pub fn forward(&self, ids: &[usize], trace: Option<&mut dyn Observer>) -> Result<Array2<f32>> {
        // ids [T] -> [T, V]
        let mut trace = trace;
        let hidden = self.hidden(&Packed::one(ids), None, &mut trace)?;
        self.logits(hidden.view(), &mut trace)
    }

    /// As [`Self::forward`] for several texts, padded to one length; the mask is true where there
    /// is a token. Logits of padding are 0.
    ///
    /// # Errors
    /// As [`Self::forward`], and when the mask has another shape than the ids.
    pub fn forward_batch(
        &self,
        ids: ArrayView2<'_, usize>,
        mask: ArrayView2<'_, bool>,
    ) -> Result<Array3<f32>> {
        // ids [B, T], mask [B, T] -> [B, T, V]
        let tokens = Packed::new(ids, mask)?;
        let hidden = self.hidden(&tokens, None, &mut None)?;
        tokens.unpack(self.logits(hidden.view(), &mut None)?.view())
    }

    /// One vector of length 1 for a text. The observer gets the intermediates of [`Self::hidden`],
    /// `pooled` and `sentence`.
    ///
    /// # Errors
    /// When there is no id, one is outside the vocabulary, or the text is longer than the context.
    pub fn sentence(&self, ids: &[usize], trace: Option<&mut dyn Observer>) -> Result<Array1<f32>> {
        // ids [T] -> [C]
        let mut trace = trace;
        let hidden = self.hidden(&Packed::one(ids), None, &mut trace)?;
        let mut pooled = mean(hidden.view())?;
        observe(&mut trace, "pooled", &mut pooled);
        let mut sentence = unit(pooled);
        observe(&mut trace, "sentence", &mut sentence);
        Ok(sentence)
    }

    /// As [`Self::sentence`] for several texts, padded to one length; the mask is true where there
    /// is a token.
    ///
    /// # Errors
    /// As [`Self::sentence`], and when the mask has another shape than the ids.
    pub fn sentences(
        &self,
        ids: ArrayView2<'_, usize>,
        mask: ArrayView2<'_, bool>,
    ) -> Result<Array2<f32>> {
        // ids [B, T], mask [B, T] -> [B, C]
        let tokens = Packed::new(ids, mask)?;
        let hidden = self.hidden(&tokens, None, &mut None)?;
        let mut all = Array2::zeros((ids.nrows(), self.config.width));
        for (rows, mut sentence) in tokens.ranges().zip(all.rows_mut()) {
            sentence.assign(&unit(mean(hidden.slice(s![rows, ..]))?));
        }
        Ok(all)
    }
}

fn head(config: &Config, source: &mut dyn Parameters) -> Result<Head> {
    let (c, norm) = (config.width, format!("{HEAD}.transform.LayerNorm"));
    Ok(Head {
        transform: Projection::load(source, &format!("{HEAD}.transform.dense"), c, c, true)?,
        norm: LayerNorm::load(source, &norm, c, config.norm_eps)?,
        bias: vector(source, &format!("{HEAD}.bias"), config.vocabulary)?,
    })
}

impl Trainable for Bert {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        trainable::weight(&mut self.words, &table("word"), Kind::Table, visit)?;
        let positions = &mut self.positions;
        trainable::array(positions, &table("position"), Kind::Table, visit)?;
        trainable::array(&mut self.types, &table("token_type"), Kind::Table, visit)?;
        self.norm.parameters("bert.embeddings.LayerNorm", visit)?;
        for (n, block) in self.blocks.iter_mut().enumerate() {
            block_parameters(block, &format!("bert.encoder.layer.{n}."), visit)?;
        }
        let Some(Head {
            transform,
            norm,
            bias,
        }) = &mut self.head
        else {
            return Ok(());
        };
        transform.parameters(&format!("{HEAD}.transform.dense"), visit)?;
        norm.parameters(&format!("{HEAD}.transform.LayerNorm"), visit)?;
        trainable::array(bias, &format!("{HEAD}.bias"), Kind::Bias, visit)
    }
}
