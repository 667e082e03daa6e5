//! The attention of a Swin V2 that the reader has opened, within the window of one patch: the weights of its
//! token in every head of a block, how far each head looks, and what the token has read of the whole picture
//! by attention rollout.

use std::sync::Arc;

use engine::model::swin::Swin;
use engine::nn::window_block::WindowBlock;
use engine::trace::Observer;
use explain::window_attention::{mean_distance, order};
use ndarray::{Array1, Array3, ArrayViewD, Axis, Ix3};

use super::window_reach::{OpenedWindows, chosen_input};
use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::opened_picture;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The most blocks that can be asked for; no published model has more.
const MOST_BLOCKS: f64 = 48.0;

/// Most attention weights of a block that are kept: 320 MB.
const MOST_WEIGHTS: usize = 80_000_000;

/// The cell `window-heads`, on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: "window-heads",
    inputs: || {
        vec![
            opened_picture::input(),
            chosen_input("Patch that looks, counted from 0"),
            InputSpec::number("blocks", "Block", (1.0, MOST_BLOCKS, 1.0), 1.0),
            InputSpec::entry("head", "Head", 1, Some(&[0])),
        ]
    },
    run: Run::Sliced(WorkerKind::Models),
};

/// Starts the cell on a model and the picture that it read last.
///
/// # Errors
/// None: the computation has its own.
pub fn start_opened(
    inputs: &Inputs,
    opened: Arc<OpenedWindows>,
) -> Result<Box<dyn Job>, CellError> {
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &opened)))
}

/// The attention weights of the heads of a block, `[N·H, M·M, M·M]`: the heads of a window one after the
/// other.
///
/// # Errors
/// When there is no such block, it has too many weights, or what the pass of the model meets.
pub(super) fn weights_of(
    model: &Swin,
    image: &Array3<f32>,
    block: usize,
) -> Result<Array3<f32>, CellError> {
    let Some((name, found)) = places(model).into_iter().nth(block) else {
        return Err(CellError::Missing(format!("block {}", block + 1)));
    };
    let (side, window) = (found.size.0, found.window);
    let heads = found.attention.bias.dim().0;
    let count = (side * side)
        .saturating_mul(window * window)
        .saturating_mul(heads);
    if count > MOST_WEIGHTS {
        let message = format!(
            "The {heads} heads of this block have {count} attention weights: more than this cell keeps ({MOST_WEIGHTS})."
        );
        return Err(CellError::Mismatch(message));
    }
    let mut seen = Seen {
        name: format!("{name}.attention.weights"),
        found: None,
    };
    model.forward(image.view(), Some(&mut seen))?;
    seen.found.ok_or(CellError::Missing(seen.name))
}

/// An observer that keeps the tensor of one name.
struct Seen {
    name: String,
    found: Option<Array3<f32>>,
}

impl Observer for Seen {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        if name == self.name
            && let Ok(tensor) = tensor.into_dimensionality::<Ix3>()
        {
            self.found = Some(tensor.to_owned());
        }
    }
}

/// The blocks, with the names under which an observer hears of them.
fn places(model: &Swin) -> Vec<(String, &WindowBlock)> {
    let depths = model.config().depths.iter().enumerate();
    let names = depths.flat_map(|(stage, &depth)| {
        (0..depth).map(move |block| format!("stages.{stage}.blocks.{block}"))
    });
    names.zip(model.blocks()).collect()
}

fn compute(inputs: &Inputs, opened: &OpenedWindows) -> Result<Computation, CellError> {
    let all = places(&opened.model);
    let count = all.len();
    let number = inputs.count("blocks")?.clamp(1, count.max(1));
    let Some((_, block)) = all.get(number - 1) else {
        return Err(CellError::Missing(format!("block {number}")));
    };
    let weights = opened.weights(number - 1)?;
    let (side, window) = (block.size.0, block.window);
    let heads = block.attention.bias.dim().0;
    let across = opened.across();
    let chosen = inputs
        .count("chosen")?
        .min((across * across).saturating_sub(1));
    let token = (across / side.max(1)).max(1);
    let own = chosen / across / token * side + chosen % across / token;
    let order = order(block)?;
    let area = window * window;
    let place = order.iter().position(|&id| id == own).unwrap_or_default();
    let (number_of_window, row) = (place / area, place % area);
    let mut on_map = Array3::from_elem((heads, side, side), f32::NEG_INFINITY);
    let mut in_window = Array3::zeros((heads, window, window));
    for head in 0..heads {
        let of_head = weights.index_axis(Axis(0), number_of_window * heads + head);
        let row = of_head.index_axis(Axis(0), row);
        for (key, (&weight, &id)) in row
            .iter()
            .zip(&order[number_of_window * area..])
            .enumerate()
        {
            on_map[[head, id / side, id % side]] = weight;
            in_window[[head, key / window, key % window]] = weight;
        }
    }
    let of_heads = in_window.outer_iter();
    let most: Array1<f32> = of_heads
        .map(|map| map.fold(0.0, |most, &w| w.max(most)))
        .collect();
    let mut record = Record::new();
    record.number("largest", f64::from(most.fold(0.0, |most, &w| w.max(most))));
    record.tensor("weights", &on_map);
    record.tensor("window.weights", &in_window);
    record.tensor("most", &most);
    let itself = (0..heads).map(|head| in_window[[head, row / window, row % window]]);
    record.tensor("itself", &itself.collect::<Array1<f32>>());
    record.number("even", 1.0 / area as f64);
    let pixels = token * opened.model.config().patch;
    let distance = mean_distance(block, weights.view(), pixels)?;
    record.tensor("distance", &distance);
    let rollout = opened.means()?.rollout(number, own)?;
    // What the token covers itself has by far the largest share; on its scale the others would be
    // invisible.
    let is_own = |y: usize, x: usize| y / token * side + x / token == own;
    let (mut of_itself, mut most) = (0.0_f32, 0.0_f32);
    for ((y, x), &share) in rollout.indexed_iter() {
        if is_own(y, x) {
            of_itself += share;
        } else {
            most = most.max(share);
        }
    }
    record.number("rollout.itself", f64::from(of_itself));
    record.number("rollout.most", f64::from(most));
    let reached = rollout.iter().filter(|&&share| share > 0.0).count();
    record.number("rollout.reached", reached as f64);
    record.tensor("rollout", &rollout);
    record.number("patches", (across * across) as f64);
    record.number("chosen", chosen as f64);
    record.number("own", own as f64);
    record.number("across", across as f64);
    record.number("heads", heads as f64);
    record.number("blocks", number as f64);
    record.number("count", count as f64);
    record.number("token.patches", token as f64);
    record.number("token.pixels", pixels as f64);
    record.number("window", window as f64);
    record.number("shift", block.shift as f64);
    Ok(record.finish())
}
