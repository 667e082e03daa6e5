//! A layer over three words, with every matrix small enough to read: what the cell on one head and two
//! cells on several heads compute with.

use explain::multi_head::Heads;
use ndarray::arr2;

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};

/// Words of the example.
pub(crate) const TOKENS: usize = 3;

/// C: the width of word vectors, and of all heads together.
pub(crate) const WIDTH: usize = 4;

/// The numbers of heads that divide the width.
const HEADS: &[&str] = &["1", "2", "4"];

/// A matrix of the layer that the reader edits.
pub(crate) fn square(
    name: &'static str,
    label: &'static str,
    entries: [[f32; WIDTH]; WIDTH],
) -> InputSpec {
    InputSpec::matrix(name, label, (WIDTH, WIDTH), (WIDTH, WIDTH), arr2(&entries))
}

/// The word vectors X and the matrices of queries, keys and values.
pub(crate) fn matrices(
    x: [[f32; WIDTH]; TOKENS],
    [w_q, w_k, w_v]: [[[f32; WIDTH]; WIDTH]; 3],
) -> Vec<InputSpec> {
    let (tokens, width) = ((TOKENS, TOKENS), (WIDTH, WIDTH));
    vec![
        InputSpec::matrix("x", "X: word vectors", tokens, width, arr2(&x)),
        square("w_q", "$W_Q$: what a word looks for", w_q),
        square("w_k", "$W_K$: what a word offers", w_k),
        square("w_v", "$W_V$: what a word passes on", w_v),
    ]
}

/// The layer's inputs. The example is made by hand: the features of a word are article, thing, action
/// and alive. In the first two columns an action looks for a thing, in the last two for an article.
pub(crate) fn inputs() -> Vec<InputSpec> {
    let x = [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 1.0],
        [0.0, 0.0, 1.0, 0.0],
    ];
    let w_q = [
        [2.0, 0.0, 0.0, 2.0],
        [0.0, 2.0, 2.0, 0.0],
        [2.0, 0.0, 2.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ];
    let w_k = [
        [0.0, 0.0, 2.0, 0.0],
        [2.0, 0.0, 0.0, 0.0],
        [0.0, 2.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 2.0],
    ];
    let w_v = [
        [0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ];
    let mut all = matrices(x, [w_q, w_k, w_v]);
    all.push(InputSpec::choice("heads", "Heads, H", HEADS));
    all
}

/// H.
pub(crate) fn heads(inputs: &Inputs) -> Result<usize, CellError> {
    Ok(match inputs.choice("heads")? {
        "4" => 4,
        "2" => 2,
        _ => 1,
    })
}

/// The heads on the inputs.
pub(crate) fn attended(record: &mut Record, inputs: &Inputs) -> Result<Heads, CellError> {
    let (x, w_q) = (inputs.matrix("x")?, inputs.matrix("w_q")?);
    let (w_k, w_v) = (inputs.matrix("w_k")?, inputs.matrix("w_v")?);
    let heads = heads(inputs)?;
    Ok(shown!(
        record,
        explain::multi_head::attend_heads,
        x.view(),
        w_q.view(),
        w_k.view(),
        w_v.view(),
        heads
    )?)
}
