//! A layer of several heads over three words, with every matrix small enough to read: what two cells
//! of the lesson on heads compute with.

use explain::multi_head::Heads;
use ndarray::arr2;

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};

/// Words of the example.
const TOKENS: usize = 3;

/// C: the width of word vectors, and of all heads together.
pub(crate) const WIDTH: usize = 4;

/// The numbers of heads that divide the width.
const HEADS: &[&str] = &["1", "2", "4"];

/// The layer's inputs. The example is made by hand: the features of a word are article, thing, action
/// and alive. In the first two columns an action looks for a thing, in the last two for an article.
pub(crate) fn inputs() -> Vec<InputSpec> {
    let square = |name, label, entries: [[f32; WIDTH]; WIDTH]| {
        InputSpec::matrix(name, label, (WIDTH, WIDTH), (WIDTH, WIDTH), arr2(&entries))
    };
    vec![
        InputSpec::matrix(
            "x",
            "X: word vectors",
            (TOKENS, TOKENS),
            (WIDTH, WIDTH),
            arr2(&[
                [1.0, 0.0, 0.0, 0.0],
                [0.0, 1.0, 0.0, 1.0],
                [0.0, 0.0, 1.0, 0.0],
            ]),
        ),
        square(
            "w_q",
            "$W_Q$: what a word looks for",
            [
                [2.0, 0.0, 0.0, 2.0],
                [0.0, 2.0, 2.0, 0.0],
                [2.0, 0.0, 2.0, 0.0],
                [0.0, 0.0, 0.0, 0.0],
            ],
        ),
        square(
            "w_k",
            "$W_K$: what a word offers",
            [
                [0.0, 0.0, 2.0, 0.0],
                [2.0, 0.0, 0.0, 0.0],
                [0.0, 2.0, 0.0, 0.0],
                [0.0, 0.0, 0.0, 2.0],
            ],
        ),
        square(
            "w_v",
            "$W_V$: what a word passes on",
            [
                [0.0, 0.0, 1.0, 0.0],
                [1.0, 0.0, 0.0, 0.0],
                [0.0, 1.0, 0.0, 0.0],
                [0.0, 0.0, 0.0, 1.0],
            ],
        ),
        InputSpec::choice("heads", "Heads, H", HEADS),
    ]
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
