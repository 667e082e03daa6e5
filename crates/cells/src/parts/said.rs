//! What a decoder reads in cells about its heads: random tokens that are said twice, or a text of
//! the reader's.

use std::ops::Range;

use engine::rng::Rng;
use explain::head_scores::{INDUCTION, PREVIOUS, head_scores};
use ndarray::{Array1, Array2, Array4, Axis};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::trained::{Pieces, START};
use crate::text_model::TextModel;

/// Random tokens that are said twice.
pub(crate) const TWICE: &str = "random tokens, twice";

/// A text of the reader's.
pub(crate) const YOURS: &str = "your text";

/// Random tokens of a list.
pub(crate) const LIST: usize = 20;

/// Most tokens of a text of the reader's.
const MOST_TOKENS: usize = 48;

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Your text");

/// A story in which a name comes back.
const STORY: &str = "Once upon a time there was a little girl named Lily. She loved to play in the park \
                     with her dog. One day, Lily saw a big red ball. Lily wanted to play with the ball.";

/// The inputs of a cell whose model reads one of both.
pub(crate) fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::choice("text", "The model reads", &[TWICE, YOURS]),
        InputSpec::seed(2),
        InputSpec::text(SENTENCE.0, SENTENCE.1, STORY),
    ]
}

/// What the model reads.
pub(crate) struct Said {
    /// All tokens, the one that begins every text first.
    pub(crate) ids: Vec<usize>,
    /// Their texts.
    pub(crate) texts: Vec<String>,
    /// Of a list that is said twice: the losses of the first time.
    pub(crate) first: Option<Range<usize>>,
    /// The losses that count: of a list, those of the second time, but for its first token, which
    /// nobody could know; of a text, all.
    pub(crate) counted: Range<usize>,
}

impl Said {
    /// What the inputs choose.
    ///
    /// # Errors
    /// A text without tokens, or with too many for the cell or the model; a vocabulary without
    /// tokens to draw from.
    pub(crate) fn chosen(inputs: &Inputs, model: &dyn TextModel) -> Result<Self, CellError> {
        let (tokenizer, context) = (model.tokenizer(), model.decoder().context());
        let start = model.start()?;
        let is_list = inputs.choice("text")? == TWICE;
        let ids = if is_list {
            let mut rng = Rng::named(inputs.seed()?, "induction");
            let tokens = longer_tokens(model)?;
            let ids = explain::induction::twice_from(start, &tokens, LIST, &mut rng);
            if tokens.is_empty() || ids.len() > context {
                return Err(CellError::Mismatch(no_list(context)));
            }
            ids
        } else {
            let text = inputs.text(SENTENCE.0)?.trim();
            let pieces = Pieces::of_text(tokenizer, text)?;
            let pieces = pieces.at_most(MOST_TOKENS, SENTENCE.0, SENTENCE.1)?;
            let pieces = pieces.within(model.name(), (context, 1), SENTENCE)?;
            std::iter::once(start).chain(pieces.ids).collect()
        };
        let mut texts = Pieces::of_ids(tokenizer, ids.clone())?.texts;
        if let Some(first) = texts.first_mut() {
            START.clone_into(first);
        }
        let losses = ids.len() - 1;
        Ok(Self {
            ids,
            texts,
            first: is_list.then_some(0..LIST),
            counted: if is_list { LIST + 1..losses } else { 0..losses },
        })
    }

    /// The mean of the losses that count.
    pub(crate) fn mean(&self, losses: &Array1<f32>) -> f64 {
        mean(losses, &self.counted)
    }

    /// The mean of the losses of the first time, of a list that is said twice.
    pub(crate) fn first_mean(&self, losses: &Array1<f32>) -> Option<f64> {
        self.first.as_ref().map(|first| mean(losses, first))
    }

    /// Keeps the means of these losses, under names that end in `suffix`.
    pub(crate) fn keep_means(&self, record: &mut Record, losses: &Array1<f32>, suffix: &str) {
        if let Some(first) = self.first_mean(losses) {
            record.number(&format!("first{suffix}"), first);
        }
        record.number(&format!("mean{suffix}"), self.mean(losses));
    }

    /// Keeps the tokens: all of them, and without the first, which has no loss.
    pub(crate) fn keep_tokens(&self, record: &mut Record) {
        record.words("tokens", self.texts.clone());
        record.words("predicted", self.texts.iter().skip(1).cloned().collect());
        record.number("list", LIST as f64);
    }

    /// How much each head, `[L, H]`, looks at the token before, and at what came after the same
    /// token earlier.
    pub(crate) fn patterns(&self, weights: &Array4<f32>) -> [Array2<f32>; 2] {
        let (layers, heads, tokens, _) = weights.dim();
        let words = (1, tokens);
        [PREVIOUS, INDUCTION].map(|kind| {
            Array2::from_shape_fn((layers, heads), |(layer, head)| {
                let map = weights
                    .index_axis(Axis(0), layer)
                    .index_axis_move(Axis(0), head);
                head_scores(map, &self.ids, words, true)[kind]
            })
        })
    }
}

/// The tokens of two bytes or more, which are words and parts of them in the usual vocabularies: a
/// byte by itself hardly ever is a token of a text.
fn longer_tokens(model: &dyn TextModel) -> Result<Vec<usize>, CellError> {
    let tokenizer = model.tokenizer();
    let mut all = Vec::new();
    for id in 0..tokenizer.size().min(model.decoder().vocabulary()) {
        let bytes = tokenizer.token_bytes(id, false)?;
        let is_unknown = tokenizer.special().unknown == Some(id);
        if !is_unknown && bytes.is_some_and(|bytes| bytes.len() > 1) {
            all.push(id);
        }
    }
    Ok(all)
}

/// The reason why a model cannot read the list.
fn no_list(context: usize) -> String {
    format!(
        "A list of {LIST} tokens that is said twice is {} tokens with the one that begins it. This model reads at most \
         {context}, or has no tokens of several letters: choose a text of your own.",
        2 * LIST + 1
    )
}

/// The mean of the losses of a range.
fn mean(losses: &Array1<f32>, of: &Range<usize>) -> f64 {
    let chosen = losses.iter().skip(of.start).take(of.len());
    chosen.map(|&loss| f64::from(loss)).sum::<f64>() / of.len().max(1) as f64
}
