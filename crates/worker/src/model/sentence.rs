//! An encoder on sentences: the similarity of two, and predictions for gaps.

use engine::EngineError;
use engine::model::bert::Bert;
use engine::ndarray::Array1;
use engine::open::top;
use engine::token::tokenizer::Tokenizer;

use super::error::ModelError;
use super::protocol::{Candidate, Compared, Filled};
use super::writing::{token_text, token_texts};

/// Number of the most likely tokens for a gap that the page gets.
const CANDIDATES: usize = 10;

/// The cosine of the angle between the vectors of two sentences: each the mean of its tokens' last
/// hidden states, brought to length 1 (Reimers and Gurevych 2019, "Sentence-BERT", section 3).
///
/// # Errors
/// When a sentence is longer than the context, or the vocabulary cannot write it.
pub(super) fn compare(
    model: &Bert,
    tokenizer: &dyn Tokenizer,
    sentences: [&str; 2],
) -> Result<Compared, ModelError> {
    let [first, second] = sentences.map(|sentence| {
        let ids = whole(model, tokenizer, tokenizer.encode(sentence)?)?;
        let vector = model.sentence(&ids, None)?;
        Ok::<_, ModelError>((token_texts(tokenizer, &ids)?, vector))
    });
    let ((first, a), (second, b)) = (first?, second?);
    Ok(Compared {
        tokens: [first, second],
        similarity: a.dot(&b),
        elapsed_ms: 0.0,
    })
}

/// The most likely tokens of the vocabulary for each `[MASK]` of a text (Devlin et al. 2019,
/// "BERT", section 3.1, task 1).
///
/// # Errors
/// When the text has no gap, is longer than the context, or the vocabulary cannot write it.
pub(super) fn fill(
    model: &Bert,
    tokenizer: &dyn Tokenizer,
    text: &str,
) -> Result<Filled, ModelError> {
    let ids = whole(model, tokenizer, tokenizer.encode_marked(text)?)?;
    let mask = tokenizer.special().mask;
    let gaps: Vec<usize> = (0..ids.len()).filter(|&t| Some(ids[t]) == mask).collect();
    if gaps.is_empty() {
        return Err(ModelError::NoGap);
    }
    let logits = model.forward(&ids, None)?;
    let candidates = |gap: usize| {
        // Rows that only fill the model's matrices up have no token.
        let known = logits.row(gap).into_iter().take(tokenizer.size());
        let known: Array1<f32> = known.copied().collect();
        let best = top(&known, CANDIDATES).into_iter();
        let best = best.map(|(id, probability)| {
            Ok(Candidate {
                text: token_text(tokenizer, id, true)?,
                probability,
                taken: false,
            })
        });
        Ok((gap, best.collect::<Result<_, EngineError>>()?))
    };
    Ok(Filled {
        gaps: gaps
            .into_iter()
            .map(candidates)
            .collect::<Result<_, EngineError>>()?,
        tokens: token_texts(tokenizer, &ids)?,
        elapsed_ms: 0.0,
    })
}

/// The ids between the tokens that begin and end a text.
fn whole(
    model: &Bert,
    tokenizer: &dyn Tokenizer,
    ids: Vec<usize>,
) -> Result<Vec<usize>, ModelError> {
    if ids.is_empty() {
        return Err(ModelError::Empty);
    }
    let ids = tokenizer.enclosed(&ids);
    let context = model.config().context;
    if ids.len() > context {
        return Err(ModelError::TooLong {
            context,
            asked: ids.len(),
        });
    }
    Ok(ids)
}
