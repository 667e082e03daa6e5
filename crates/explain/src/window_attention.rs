//! What attention within windows amounts to over a whole picture: how far the heads of a Swin V2 look, and
//! attention rollout back to the patches.
//!
//! ```text
//! mean = 1/T · Σ_t Σ_s a_ts d_ts               a: a head's weights, s in the window of t; d_ts in pixels
//! r_ℓ−1 = ½ (r_ℓ + r_ℓ · Ā_ℓ)                  through a block; Ā: mean over its heads, 0 outside a window
//! r'_2y+i,2x+j = ¼ r_yx                        through a merge: four neighbours count the same
//! ```
//! r begins with 1 at one token after a block and ends with the shares of the tokens of the first stage. As
//! in a Vision Transformer, values, W_O, MLPs and norms do not enter, nor do the weights of a merge.
//!
//! ```
//! use engine::formula::image;
//! use engine::model::swin::Config;
//! use explain::window_attention::Means;
//! let config = Config {
//!     width: 8, depths: vec![2, 2], heads: vec![1, 2], window: 2, trained_windows: vec![], patch: 2, image: 16,
//!     classes: 3, inner_ratio: 2, norm_eps: 1e-5,
//! };
//! let model = explain::small_swin::small_swin(&config, 0)?;
//! let means = Means::of(&model, image(16, 0).view())?;
//! // After the first block a token has read its own window of 2 x 2 only.
//! let shares = means.rollout(1, 0)?;
//! assert_eq!(shares.iter().filter(|&&share| share > 0.0).count(), 4);
//! assert!((shares.sum() - 1.0).abs() < 1e-5);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Abnar and Zuidema 2020, "Quantifying attention flow in Transformers", section 3; Dosovitskiy et
//! al. 2021, "An image is worth 16x16 words", appendix D.7 (distance). Both are of attention without
//! windows; the quarter of a merge is ours.

use engine::error::{EngineError, Result};
use engine::math;
use engine::model::swin::Swin;
use engine::nn::window::partition;
use engine::nn::window_block::WindowBlock;
use engine::trace::Observer;
use ndarray::{Array1, Array2, Array3, ArrayView3, ArrayViewD, Axis, Ix3};

/// The number of each token in the map, in the order of the windows: `[T]`, the tokens of a window one
/// after the other.
///
/// # Errors
/// When the windows do not divide the map.
pub fn order(block: &WindowBlock) -> Result<Vec<usize>> {
    let (height, width) = block.size;
    let ids = Array2::from_shape_fn((height * width, 1), |(n, _)| n as f32);
    let ordered = partition(ids.view(), block.size, block.window, block.shift)?;
    Ok(ordered.iter().map(|&id| id as usize).collect())
}

/// The mean distance between a token and the tokens that it attends to, for each head of a block, in the
/// units of `side`, the side of a token. Of windows that hold two edges of the picture the other edge has
/// no weight.
///
/// # Errors
/// When the weights are not those of the block.
pub fn mean_distance(
    block: &WindowBlock,
    weights: ArrayView3<'_, f32>,
    side: usize,
) -> Result<Array1<f32>> {
    // weights [N·H, M·M, M·M] -> [H]
    let (order, area) = (order(block)?, block.window * block.window);
    let heads = block.attention.bias.dim().0;
    let windows = order.len() / area.max(1);
    check(weights, (windows * heads, area))?;
    let columns = block.size.1.max(1);
    let apart = |t: usize, s: usize| {
        let pixels = |a: usize, b: usize| (a.abs_diff(b) * side) as f32;
        let down = pixels(t / columns, s / columns);
        let across = pixels(t % columns, s % columns);
        math::sqrt(down * down + across * across)
    };
    let of_head = |head: usize| {
        let of_window = |window: usize| {
            let tokens = &order[window * area..(window + 1) * area];
            let weights = weights.index_axis(Axis(0), window * heads + head);
            let each = weights
                .indexed_iter()
                .map(|((t, s), weight)| weight * apart(tokens[t], tokens[s]));
            each.sum::<f32>()
        };
        (0..windows).map(of_window).sum::<f32>() / order.len().max(1) as f32
    };
    Ok((0..heads).map(of_head).collect())
}

fn check(weights: ArrayView3<'_, f32>, (matrices, area): (usize, usize)) -> Result<()> {
    if weights.dim() == (matrices, area, area) {
        return Ok(());
    }
    let expected = format!("[{matrices}, {area}, {area}]");
    let found = format!("{:?}", weights.shape());
    Err(EngineError::shape("window_attention", expected, found))
}

/// The attention weights of each block of a Swin V2 on one picture, averaged over its heads.
#[derive(Debug)]
pub struct Means(Vec<Mean>);

#[derive(Debug)]
struct Mean {
    /// Side of the map in tokens.
    side: usize,
    /// As [`order`].
    order: Vec<usize>,
    /// `[N, M·M, M·M]`
    weights: Array3<f32>,
}

impl Means {
    /// Runs a model on a picture, once.
    ///
    /// # Errors
    /// When the picture has another size.
    pub fn of(model: &Swin, image: ArrayView3<'_, f32>) -> Result<Self> {
        // image [3, H, W]
        let heads = model.blocks().map(|block| block.attention.bias.dim().0);
        let mut seen = Averaging {
            heads: heads.collect(),
            means: Vec::new(),
        };
        model.forward(image, Some(&mut seen))?;
        let blocks = model.blocks().zip(seen.means);
        let of_block = |(block, weights): (&WindowBlock, Array3<f32>)| {
            let order = order(block)?;
            let area = block.window * block.window;
            check(weights.view(), (order.len() / area.max(1), area))?;
            let side = block.size.0;
            Ok(Mean {
                side,
                order,
                weights,
            })
        };
        blocks.map(of_block).collect::<Result<_>>().map(Self)
    }

    /// The share of each token of the first stage in one token after so many blocks, by the weights alone:
    /// they sum to one. The token is one of the stage of the last of these blocks.
    ///
    /// # Errors
    /// When there is no such token, or there are not so many blocks.
    pub fn rollout(&self, blocks: usize, token: usize) -> Result<Array2<f32>> {
        // -> [side, side] of the first stage
        let Some(passed) = self.0.get(..blocks) else {
            let most = format!("at most {}", self.0.len());
            return Err(EngineError::value("rollout", "blocks", most, blocks));
        };
        let last = passed.last().or_else(|| self.0.first());
        let mut side = last.map_or(0, |mean| mean.side);
        let mut shares = vec![0.0; side * side];
        let Some(own) = shares.get_mut(token) else {
            let most = format!("less than {}", side * side);
            return Err(EngineError::value("rollout", "token", most, token));
        };
        *own = 1.0;
        for mean in passed.iter().rev() {
            if mean.side > side {
                shares = spread(&shares, side);
                side = mean.side;
            }
            shares = mean.back(&shares);
        }
        Array2::from_shape_vec((side, side), shares)
            .map_err(|error| EngineError::shape("rollout", "a square map", error.to_string()))
    }
}

impl Mean {
    /// The shares before the block, of those after it.
    fn back(&self, after: &[f32]) -> Vec<f32> {
        // [T] -> [T]
        let mut before: Vec<f32> = after.iter().map(|share| share / 2.0).collect();
        let area = self.weights.dim().1.max(1);
        for (weights, tokens) in self.weights.outer_iter().zip(self.order.chunks(area)) {
            for (row, &query) in weights.outer_iter().zip(tokens) {
                let share = after[query] / 2.0;
                if share > 0.0 {
                    for (weight, &key) in row.iter().zip(tokens) {
                        before[key] += share * weight;
                    }
                }
            }
        }
        before
    }
}

/// The shares of the tokens that a merge has joined, of a map of this side.
fn spread(after: &[f32], side: usize) -> Vec<f32> {
    let before = 2 * side;
    let of = |n: usize| after[n / before / 2 * side + n % before / 2] / 4.0;
    (0..before * before).map(of).collect()
}

/// An observer that averages the weights of each block over its heads, and keeps nothing else.
struct Averaging {
    heads: Vec<usize>,
    means: Vec<Array3<f32>>,
}

impl Observer for Averaging {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        // tensor [N·H, M·M, M·M], the heads of a window one after the other
        let heads = self
            .heads
            .get(self.means.len())
            .copied()
            .unwrap_or(1)
            .max(1);
        if name.ends_with(".attention.weights")
            && let Ok(weights) = tensor.into_dimensionality::<Ix3>()
        {
            let windows = weights.axis_chunks_iter(Axis(0), heads);
            let mut mean = Array3::zeros((windows.len(), weights.dim().1, weights.dim().2));
            for (mut mean, of_heads) in mean.outer_iter_mut().zip(windows) {
                mean.assign(&(of_heads.sum_axis(Axis(0)) / heads as f32));
            }
            self.means.push(mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention_distance::{self, Patches};
    use crate::rollout::rollout;
    use engine::formula::image;
    use engine::model::swin::Config;
    use engine::trace::Recorder;

    fn small(depths: Vec<usize>, window: usize, heads: Vec<usize>) -> Swin {
        let config = Config {
            width: 8,
            depths,
            heads,
            window,
            trained_windows: Vec::new(),
            patch: 2,
            image: 16,
            classes: 3,
            inner_ratio: 2,
            norm_eps: 1e-5,
        };
        crate::small_swin::small_swin(&config, 7).unwrap()
    }

    fn weights_of(model: &Swin, block: usize) -> Array3<f32> {
        let mut seen = Recorder::default();
        model.forward(image(16, 0).view(), Some(&mut seen)).unwrap();
        let name = format!("stages.0.blocks.{block}.attention.weights");
        let weights = seen.get(&name).unwrap().view();
        weights.into_dimensionality::<Ix3>().unwrap().to_owned()
    }

    /// A window that is the whole map is attention without windows: rollout and distance are those of a
    /// Vision Transformer.
    #[test]
    fn one_window_is_no_window() {
        let model = small(vec![3], 8, vec![2]);
        let picture = image(16, 0);
        let means = Means::of(&model, picture.view()).unwrap();
        let all: Vec<Array3<f32>> = (0..3).map(|block| weights_of(&model, block)).collect();
        let all: Vec<_> = all.iter().map(|weights| weights.view()).collect();
        let all = ndarray::stack(Axis(0), &all).unwrap();
        let expected = rollout(all.view()).unwrap();
        for token in [0, 27, 63] {
            let found = means.rollout(3, token).unwrap();
            let apart = found.iter().zip(expected.row(token));
            assert!(apart.clone().count() == 64);
            for (a, b) in apart {
                assert!((a - b).abs() < 1e-6, "{a}, not {b}");
            }
        }
        let patches = Patches {
            before: 0,
            rows: 8,
            columns: 8,
            side: 2,
        };
        let expected = attention_distance::mean_distance(all.view(), &patches).unwrap();
        for (n, block) in model.blocks().enumerate() {
            let found = mean_distance(block, weights_of(&model, n).view(), 2).unwrap();
            for (a, b) in found.iter().zip(expected.row(n)) {
                assert!((a - b).abs() < 1e-4, "{a}, not {b}");
            }
        }
    }

    /// Shares sum to one, reach the window, then through the shift its neighbours, and a merged token
    /// begins with four.
    #[test]
    fn shares_spread_as_windows_shift_and_merge() {
        let model = small(vec![2, 2], 4, vec![1, 2]);
        let means = Means::of(&model, image(16, 0).view()).unwrap();
        let reached = |blocks: usize, token: usize| {
            let shares = means.rollout(blocks, token).unwrap();
            assert!((shares.sum() - 1.0).abs() < 1e-5);
            assert_eq!(shares.dim(), (8, 8));
            shares.iter().filter(|&&share| share > 0.0).count()
        };
        assert_eq!(reached(0, 9), 1);
        assert_eq!(reached(1, 9), 16);
        // The shifted window of the token at (3, 3) holds rows and columns 2 to 5, of all four windows.
        assert_eq!(reached(2, 27), 64);
        // The corner's shifted window holds its own rows and columns 0 and 1 only, of one window.
        assert_eq!(reached(2, 0), 16);
        // The second stage is one window of 4 x 4 tokens, each of which holds four.
        assert_eq!(reached(3, 0), 64);
        let merged = spread(&[1.0, 0.0, 0.0, 0.0], 2);
        let quarter = |n: usize| if [0, 1, 4, 5].contains(&n) { 0.25 } else { 0.0 };
        assert_eq!(merged, (0..16).map(quarter).collect::<Vec<f32>>());
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let model = small(vec![2], 4, vec![1]);
        let means = Means::of(&model, image(16, 0).view()).unwrap();
        let why = means.rollout(3, 0).unwrap_err().to_string();
        assert!(why.contains("at most 2"), "{why}");
        let why = means.rollout(1, 64).unwrap_err().to_string();
        assert!(why.contains("less than 64"), "{why}");
        let block = model.blocks().next().unwrap();
        let why = mean_distance(block, Array3::zeros((4, 9, 9)).view(), 1).unwrap_err();
        assert!(why.to_string().contains("[4, 16, 16]"), "{why}");
    }
}
