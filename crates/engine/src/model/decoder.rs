//! Decoders: the pass over a text, batches, and incremental reading with a cache.
//!
//! ```
//! use engine::model::{decoder::{DecoderExt, Session}, gpt2::{Config, Gpt2}};
//! use engine::{formula::Formula, parameters::Parameters};
//! let config = Config { vocabulary: 10, width: 8, heads: 2, layers: 1, inner: 16, context: 4, norm_eps: 1e-5 };
//! let model = Gpt2::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! let all = model.forward(&[3, 1, 4], None)?;
//! assert_eq!(all.dim(), (3, 10));
//! let mut session = Session::new(&model);
//! session.feed(&[3, 1])?;
//! let last = session.feed(&[4])?;
//! assert!((&last - &all.row(2)).iter().all(|d| d.abs() < 1e-5));
//! session.feed(&[0])?;
//! assert_eq!(
//!     session.feed(&[0]).unwrap_err().to_string(),
//!     "the context is full: the model reads at most 4 tokens, it holds 4 and was given 1 more"
//! );
//! # Ok::<(), engine::EngineError>(())
//! ```

use super::gpt2::Gpt2;
use crate::error::{EngineError, Result};
use crate::nn::kv_cache::{KvCaches, Precision};
use crate::nn::packed::ranges;
use crate::shape::rows;
use crate::trace::{Observer, observe};
use ndarray::{Array1, Array2, Array3, ArrayView2, s};
use std::ops::Deref;

/// New tokens of one or more sequences, one sequence after the other, known to fit vocabulary and
/// context.
#[derive(Debug, Clone)]
pub struct Tokens<'a> {
    ids: &'a [usize],
    lengths: &'a [usize],
    positions: Vec<usize>,
}

impl<'a> Tokens<'a> {
    /// Whole texts from their beginnings, as training reads them: `lengths[b]` ids of text b, one
    /// text after the other.
    ///
    /// # Errors
    /// When the lengths are not those of the ids, a text is longer than the context, or an id is
    /// outside the vocabulary.
    pub fn fresh(
        ids: &'a [usize],
        lengths: &'a [usize],
        context: usize,
        vocabulary: usize,
    ) -> Result<Self> {
        let nothing = KvCaches::new(0, lengths.len(), 0, 0);
        follow(ids, lengths, &nothing, context, vocabulary)
    }

    /// `[T]`: the ids of all sequences.
    pub fn ids(&self) -> &[usize] {
        self.ids
    }

    /// `[B]`: how many of them belong to each sequence.
    pub fn lengths(&self) -> &[usize] {
        self.lengths
    }

    /// `[T]`: the position of each token in its sequence, from 0.
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }
}

/// A model that computes, after each token, the logits of the next one.
pub trait Decoder: Send + Sync {
    /// Number of blocks.
    fn layers(&self) -> usize;

    /// H: the heads of each block that ask; a model may share keys and values between some of them.
    fn heads(&self) -> usize;

    /// The longest text that it reads, in tokens.
    fn context(&self) -> usize;

    /// V.
    fn vocabulary(&self) -> usize;

    /// Empty caches for `sequences` texts.
    fn caches(&self, sequences: usize) -> KvCaches;

    /// The hidden states after the last norm, `[T, C]`. The caches hold the earlier tokens and take
    /// in the new ones.
    ///
    /// # Errors
    /// When an id is outside the vocabulary or the caches are another model's.
    fn hidden(
        &self,
        tokens: &Tokens<'_>,
        caches: &mut KvCaches,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>>;

    /// The logits of hidden states, `[T, C]` to `[T, V]`.
    ///
    /// # Errors
    /// When the hidden states have another width.
    fn logits(&self, hidden: ArrayView2<'_, f32>) -> Result<Array2<f32>>;

    /// The model as a GPT-2, whose parameters can be read; `None` for a model of another kind.
    fn gpt2(&self) -> Option<&Gpt2> {
        None
    }
}

/// The methods of every decoder, in terms of [`Decoder`]. A trait of its own, so a `dyn Decoder`
/// does not carry the code once for each kind of model.
pub trait DecoderExt: Decoder {
    /// The logits at every position of one text. The observer gets the intermediates that the
    /// model's documentation lists, then `logits`.
    ///
    /// # Errors
    /// When the text is longer than the context, or an id is outside the vocabulary.
    fn forward(&self, ids: &[usize], mut trace: Option<&mut dyn Observer>) -> Result<Array2<f32>> {
        // ids [T] -> [T, V]
        let mut caches = self.caches(1);
        let lengths = [ids.len()];
        let tokens = follow(ids, &lengths, &caches, self.context(), self.vocabulary())?;
        let hidden = self.hidden(&tokens, &mut caches, &mut trace)?;
        let mut logits = self.logits(hidden.view())?;
        observe(&mut trace, "logits", &mut logits);
        Ok(logits)
    }

    /// The logits of several texts, padded to one length: text b is the first `lengths[b]` ids of
    /// row b. The ids after them are not read, and their logits are 0.
    ///
    /// # Errors
    /// When there is not one length for each row, a length is above the row's or the context, or an
    /// id is outside the vocabulary.
    fn forward_batch(&self, ids: ArrayView2<'_, usize>, lengths: &[usize]) -> Result<Array3<f32>> {
        // ids [B, T], lengths [B] -> [B, T, V]
        let (batch, longest) = ids.dim();
        if lengths.len() != batch || lengths.iter().any(|&length| length > longest) {
            let expected = format!("{batch} lengths of at most {longest}");
            let found = format!("{lengths:?}");
            return Err(EngineError::shape("forward_batch", expected, found));
        }
        let first = |b: usize| ids.row(b).into_iter().copied().take(lengths[b]);
        let packed: Vec<usize> = (0..batch).flat_map(first).collect();
        let mut caches = self.caches(batch);
        let tokens = follow(&packed, lengths, &caches, self.context(), self.vocabulary())?;
        let hidden = self.hidden(&tokens, &mut caches, &mut None)?;
        let logits = self.logits(hidden.view())?;
        let mut out = Array3::zeros((batch, longest, self.vocabulary()));
        for (b, rows) in ranges(lengths).enumerate() {
            let mut text = out.slice_mut(s![b, ..lengths[b], ..]);
            text.assign(&logits.slice(s![rows, ..]));
        }
        Ok(out)
    }

    /// Reads `lengths[b]` new tokens of each sequence b, one sequence after the other in `ids`;
    /// returns the logits after the last token of each.
    ///
    /// # Errors
    /// When a sequence gets no token or more than fit, or an id is outside the vocabulary.
    fn feed(
        &self,
        ids: &[usize],
        lengths: &[usize],
        caches: &mut KvCaches,
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // ids [T], lengths [B] -> [B, V]
        if lengths.contains(&0) {
            let expected = "at least 1 for each sequence";
            return Err(EngineError::value("feed", "tokens", expected, 0));
        }
        let tokens = follow(ids, lengths, caches, self.context(), self.vocabulary())?;
        let hidden = self.hidden(&tokens, caches, &mut trace)?;
        let ends: Vec<usize> = ranges(lengths).map(|rows| rows.end - 1).collect();
        let last = rows("decoder", hidden.view(), &ends)?;
        let mut logits = self.logits(last.view())?;
        observe(&mut trace, "logits", &mut logits);
        Ok(logits)
    }
}

impl<D: Decoder + ?Sized> DecoderExt for D {}

/// New tokens with their positions, which follow the tokens in the caches.
fn follow<'a>(
    ids: &'a [usize],
    lengths: &'a [usize],
    caches: &KvCaches,
    context: usize,
    vocabulary: usize,
) -> Result<Tokens<'a>> {
    if lengths.len() != caches.sequences() || lengths.iter().sum::<usize>() != ids.len() {
        let expected = format!("{} ids in {} sequences", ids.len(), caches.sequences());
        let found = format!("lengths {lengths:?}");
        return Err(EngineError::shape("decoder", expected, found));
    }
    if let Some(id) = ids.iter().find(|&&id| id >= vocabulary) {
        let expected = format!("below the vocabulary size {vocabulary}");
        return Err(EngineError::value("decoder", "id", expected, id));
    }
    let mut positions = Vec::with_capacity(ids.len());
    for (b, &tokens) in lengths.iter().enumerate() {
        let position = caches.position(b);
        if position + tokens > context {
            return Err(EngineError::ContextFull {
                context,
                position,
                tokens,
            });
        }
        positions.extend(position..position + tokens);
    }
    Ok(Tokens {
        ids,
        lengths,
        positions,
    })
}

/// The most tokens that are read at once without an observer: the memory between the layers grows
/// with them, and more of them make the products no faster.
const CHUNK: usize = 256;

/// One text that a model reads token by token. `M` is a pointer to the model: `&Gpt2`, `Rc<dyn
/// Decoder>`, `Box<Llama>` …
#[derive(Debug, Clone)]
pub struct Session<M> {
    model: M,
    caches: KvCaches,
    /// The tokens whose keys and values the caches hold.
    read: Vec<usize>,
}

impl<M> Session<M>
where
    M: Deref,
    M::Target: Decoder,
{
    /// A session that has read nothing, with keys and values in single precision.
    pub fn new(model: M) -> Self {
        Self::in_precision(model, Precision::default())
    }

    /// As [`Self::new`], with keys and values in any precision.
    pub fn in_precision(model: M, precision: Precision) -> Self {
        let caches = model.caches(1).emptied(precision);
        Self {
            model,
            caches,
            read: Vec::new(),
        }
    }

    /// Reads new tokens; returns the logits after the last.
    ///
    /// # Errors
    /// When there is no token, more tokens than fit ([`EngineError::ContextFull`]; nothing is read
    /// then), or one that is outside the vocabulary.
    pub fn feed(&mut self, ids: &[usize]) -> Result<Array1<f32>> {
        // ids [T] -> [V]
        let (context, vocabulary) = (self.model.context(), self.model.vocabulary());
        // All are checked before any is read.
        follow(ids, &[ids.len()], &self.caches, context, vocabulary)?;
        let mut rest = ids;
        while rest.len() > CHUNK {
            let (chunk, after) = rest.split_at(CHUNK);
            let tokens = follow(chunk, &[CHUNK], &self.caches, context, vocabulary)?;
            self.model.hidden(&tokens, &mut self.caches, &mut None)?;
            self.read.extend(chunk);
            rest = after;
        }
        self.feed_traced(rest, None)
    }

    /// As [`Self::feed`], with an observer and all tokens at once.
    ///
    /// # Errors
    /// As [`Self::feed`].
    pub fn feed_traced(
        &mut self,
        ids: &[usize],
        trace: Option<&mut dyn Observer>,
    ) -> Result<Array1<f32>> {
        // ids [T] -> [V]
        let caches = &mut self.caches;
        let logits = self.model.feed(ids, &[ids.len()], caches, trace)?;
        self.read.extend(ids);
        Ok(logits.row(0).to_owned())
    }

    /// The number of tokens read so far.
    pub fn position(&self) -> usize {
        self.caches.position(0)
    }

    /// The longest text that fits, in tokens.
    pub fn context(&self) -> usize {
        self.model.context()
    }

    /// Forgets all but the first `tokens`.
    pub fn truncate(&mut self, tokens: usize) {
        self.caches.truncate(tokens);
        self.read.truncate(tokens);
    }

    /// The model that reads.
    pub fn model(&self) -> &M::Target {
        &self.model
    }

    /// Bytes of the keys and values kept.
    pub fn size_bytes(&self) -> usize {
        self.caches.size_bytes()
    }
}

impl<M> crate::generate::IncrementalDecoder for Session<M>
where
    M: Deref,
    M::Target: Decoder,
{
    fn feed(&mut self, ids: &[usize]) -> Result<Array1<f32>> {
        Self::feed(self, ids)
    }

    fn context(&self) -> usize {
        Self::context(self)
    }

    fn position(&self) -> usize {
        Self::position(self)
    }
}

/// For beam search: continues from the longest beginning that the text shares with the tokens that
/// were read last.
impl<M> crate::beam::NextToken for Session<M>
where
    M: Deref,
    M::Target: Decoder,
{
    fn logits(&mut self, ids: &[usize]) -> Result<Array1<f32>> {
        // ids [T] -> [V]
        let pairs = self.read.iter().zip(ids);
        let same = pairs.take_while(|(a, b)| a == b).count();
        // The last token is always read again, to compute its logits.
        let kept = same.min(ids.len().saturating_sub(1));
        self.truncate(kept);
        Self::feed(self, &ids[kept..])
    }
}
