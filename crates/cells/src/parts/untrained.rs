//! Untrained layers over sentences, which many cells compute with: word vectors, position vectors
//! and weights, drawn from the seed that the reader sees.

use engine::nn::attention::Mask;
use explain::one_head::SelfAttention;
use ndarray::{Array2, ArrayView2};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputValue, Inputs};

/// Rows of an untrained embedding table; words find theirs by a hash.
const VOCABULARY: usize = 1_000;

/// A matrix `[rows, cols]` of normal numbers, from the stream `name` of the seed.
pub(crate) fn drawn(
    record: &mut Record,
    seed: u64,
    name: &str,
    (rows, cols): (usize, usize),
    std: f32,
) -> Array2<f32> {
    shown!(
        record,
        engine::rng::normal_matrix,
        seed,
        name,
        rows,
        cols,
        std
    )
}

/// The words' rows of the untrained table `name`, `[T, width]`.
pub(crate) fn embedded(
    record: &mut Record,
    tokens: &[String],
    seed: u64,
    name: &str,
    width: usize,
) -> Result<Array2<f32>, CellError> {
    let ids = shown!(record, engine::token::words::ids, tokens, VOCABULARY);
    let table = drawn(record, seed, name, (VOCABULARY, width), 1.0);
    Ok(shown!(
        record,
        engine::nn::embedding::embed,
        table.view(),
        &ids[..]
    )?)
}

/// Sinusoidal position vectors for `[T, C]` tokens.
pub(crate) fn positions(record: &mut Record, tokens: usize, width: usize) -> Array2<f32> {
    shown!(
        record,
        engine::nn::position::sinusoidal::table,
        tokens,
        width
    )
}

/// Word vectors with their position vectors added.
pub(crate) fn placed(
    record: &mut Record,
    x: ArrayView2<'_, f32>,
    places: ArrayView2<'_, f32>,
) -> Result<Array2<f32>, CellError> {
    Ok(shown!(
        record,
        engine::nn::position::absolute::add,
        x,
        places
    )?)
}

/// The causal mask where it is asked for, otherwise none.
pub(crate) fn causal_or_none(record: &mut Record, causal: bool, tokens: usize) -> Mask {
    if causal {
        Mask::Boolean(shown!(record, engine::nn::mask::causal, tokens))
    } else {
        Mask::None
    }
}

/// The weights of an untrained self-attention layer.
pub(crate) struct Layer {
    w_q: Array2<f32>,
    w_k: Array2<f32>,
    w_v: Array2<f32>,
}

impl Layer {
    /// Square matrices of `width`; `prefix` is put before `w_q`, `w_k` and `w_v` in the names of
    /// their streams.
    pub(crate) fn draw(
        record: &mut Record,
        seed: u64,
        prefix: &str,
        width: usize,
        std: f32,
    ) -> Self {
        let [w_q, w_k, w_v] = ["w_q", "w_k", "w_v"].map(|name| {
            drawn(
                record,
                seed,
                &format!("{prefix}{name}"),
                (width, width),
                std,
            )
        });
        Self { w_q, w_k, w_v }
    }

    /// The layer over one sequence.
    pub(crate) fn run(
        &self,
        record: &mut Record,
        x: ArrayView2<'_, f32>,
        mask: &Mask,
    ) -> Result<SelfAttention, CellError> {
        let (w_q, w_k, w_v) = (self.w_q.view(), self.w_k.view(), self.w_v.view());
        Ok(shown!(
            record,
            explain::one_head::self_attention,
            x,
            w_q,
            w_k,
            w_v,
            mask
        )?)
    }

    /// The layer from one sequence, which asks, to another, which answers.
    pub(crate) fn run_across(
        &self,
        record: &mut Record,
        asks: ArrayView2<'_, f32>,
        answers: ArrayView2<'_, f32>,
    ) -> Result<SelfAttention, CellError> {
        let (w_q, w_k, w_v) = (self.w_q.view(), self.w_k.view(), self.w_v.view());
        Ok(shown!(
            record,
            explain::one_head::cross_attention,
            asks,
            answers,
            w_q,
            w_k,
            w_v
        )?)
    }
}

/// The order of words that the reader made; backwards where it belongs to another number of words.
pub(crate) fn order_in_use(inputs: &Inputs, len: usize) -> Result<Vec<usize>, CellError> {
    match inputs.0.get("order") {
        Some(InputValue::Order(order)) if order.len() != len => Ok((0..len).rev().collect()),
        _ => inputs.order("order", len),
    }
}
