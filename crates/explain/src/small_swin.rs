//! A small Swin V2 with untrained parameters, drawn from a seed, whose windows shift, stay, or shift
//! without a mask: enough to see which patches can hear of which.
//!
//! ```text
//! matrices: normal, standard deviation 1/√inputs      norms: scale 1, shift 0      biases: 0
//! logit_scale: ln 10, the value before training
//! ```
//!
//! ```
//! use engine::model::swin::Config;
//! use explain::small_swin::{Windows, inverted, small_swin, with_windows};
//! let config = Config {
//!     width: 8, depths: vec![2], heads: vec![2], window: 2, trained_windows: vec![], patch: 2, image: 8, classes: 3,
//!     inner_ratio: 2, norm_eps: 1e-5,
//! };
//! let model = with_windows(&small_swin(&config, 7)?, Windows::Fixed);
//! let image = ndarray::Array3::zeros((3, 8, 8));
//! let other = inverted(image.view(), 2, 5)?;
//! assert_ne!(model.forward(image.view(), None)?, model.forward(other.view(), None)?);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Liu et al. 2021, "Swin Transformer", section 3.2 and figure 4 (shifted windows and their
//! mask); Liu et al. 2022, "Swin Transformer V2", section 3 (the block).

use engine::error::{EngineError, Result};
use engine::model::swin::{Config, Swin};
use engine::nn::attention::scale;
use engine::parameters::Memory;
use engine::rng::normal_matrix;
use engine::{math, nn::patch};
use ndarray::{Array3, ArrayD, ArrayView3, IxDyn};

/// The scores of cosine attention are multiplied by this before training.
pub const FIRST_SCALE: f32 = 10.0;

/// What the windows of a model do from block to block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// Every block has the same windows.
    Fixed,
    /// Those of every second block are shifted, as in Swin.
    Shifted,
    /// The same, but patches that only the roll made neighbours see each other.
    Unmasked,
}

/// The model with the parameters that [`parameters`] draws.
///
/// # Errors
/// When the sizes do not fit each other.
pub fn small_swin(config: &Config, seed: u64) -> Result<Swin> {
    Swin::load(config.clone(), &mut parameters(config, seed)?)
}

/// The parameters, under the names that [`Swin::load`] asks for. Each matrix has a random stream of
/// its own, which has the parameter's name.
///
/// # Errors
/// When a shape has no sides.
pub fn parameters(config: &Config, seed: u64) -> Result<Memory> {
    let mut all = Memory::default();
    for (name, shape) in config.shapes() {
        let inputs: usize = shape.iter().skip(1).product();
        let tensor = if name.ends_with("logit_scale") {
            ArrayD::from_elem(IxDyn(&shape), math::ln(FIRST_SCALE))
        } else if shape.len() > 1 {
            let drawn = normal_matrix(seed, &name, shape[0], inputs, scale(inputs));
            // As many numbers as the shape asks for, in the same order.
            let reshaped = drawn.into_dyn().into_shape_with_order(IxDyn(&shape));
            reshaped.map_err(|e| EngineError::shape("small swin", "a matrix", e.to_string()))?
        } else {
            // Scales of norms are the only weights with one axis.
            ArrayD::from_elem(IxDyn(&shape), f32::from(u8::from(name.ends_with("weight"))))
        };
        all.insert(name, tensor);
    }
    Ok(all)
}

/// The model with these windows in all its blocks.
pub fn with_windows(model: &Swin, windows: Windows) -> Swin {
    let mut model = model.clone();
    for block in model.blocks_mut() {
        if windows != Windows::Shifted {
            block.mask = None;
        }
        if windows == Windows::Fixed {
            block.shift = 0;
        }
    }
    model
}

/// The picture with one patch, counted row by row from 0, turned into its negative.
///
/// # Errors
/// When there is no such patch.
pub fn inverted(image: ArrayView3<'_, f32>, side: usize, chosen: usize) -> Result<Array3<f32>> {
    // image [C_0, H, W], values 0 to 1 -> [C_0, H, W]
    let (_, height, width) = image.dim();
    let count = patch::count(height, width, side);
    if chosen >= count {
        let expected = format!("below {count}");
        return Err(EngineError::value("inverted", "chosen", expected, chosen));
    }
    let across = width / side;
    let (y, x) = (chosen / across * side, chosen % across * side);
    let is_inside = |row, column| (y..y + side).contains(&row) && (x..x + side).contains(&column);
    let mut image = image.to_owned();
    for ((_, row, column), value) in image.indexed_iter_mut() {
        if is_inside(row, column) {
            *value = 1.0 - *value;
        }
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::trace::Recorder;

    const BLOCKS: usize = 6;

    fn config() -> Config {
        Config {
            width: 8,
            depths: vec![BLOCKS],
            heads: vec![2],
            window: 4,
            trained_windows: vec![],
            patch: 2,
            image: 24,
            classes: 3,
            inner_ratio: 2,
            norm_eps: 1e-5,
        }
    }

    fn picture() -> Array3<f32> {
        Array3::from_shape_fn((3, 24, 24), |(c, y, x)| {
            ((c * 7 + y * 5 + x * 3) % 11) as f32 / 11.0
        })
    }

    /// For each block the patches whose vector changes in any bit when a patch does.
    fn reached(windows: Windows, chosen: usize) -> Vec<Vec<usize>> {
        let model = with_windows(&small_swin(&config(), 7).unwrap(), windows);
        let image = picture();
        let other = inverted(image.view(), 2, chosen).unwrap();
        let [before, after] = [image, other].map(|image| {
            let mut seen = Recorder::default();
            model.forward(image.view(), Some(&mut seen)).unwrap();
            seen
        });
        let block = |n: usize| {
            let name = format!("stages.0.blocks.{n}.output");
            let [a, b] = [&before, &after].map(|seen| seen.get(&name).unwrap());
            let rows = a.rows().into_iter().zip(b.rows());
            let changed = rows.enumerate().filter(|(_, (a, b))| a != b);
            changed.map(|(n, _)| n).collect()
        };
        (0..BLOCKS).map(block).collect()
    }

    /// The patches of some rows and columns of the map of 12 x 12.
    fn square(rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Vec<usize> {
        rows.flat_map(|row| columns.clone().map(move |column| row * 12 + column))
            .collect()
    }

    /// Patch (3, 3) is the last of the first window: what it says never leaves it, however many blocks
    /// there are.
    #[test]
    fn nothing_crosses_a_border_of_windows_that_stay() {
        for chosen in [0, 39] {
            for block in reached(Windows::Fixed, chosen) {
                assert_eq!(block, square(0..4, 0..4));
            }
        }
    }

    #[test]
    fn shifted_windows_pass_it_on() {
        let blocks = reached(Windows::Shifted, 39);
        assert_eq!(blocks[0], square(0..4, 0..4));
        assert_eq!(blocks[1], square(0..6, 0..6));
        assert_eq!(blocks[2], square(0..8, 0..8));
        assert_eq!(blocks[3], square(0..10, 0..10));
        assert_eq!(blocks[4], square(0..12, 0..12));
    }

    /// Without the mask, the corner of the picture hears at once of the opposite one.
    #[test]
    fn without_the_mask_the_picture_is_a_ring() {
        let masked = &reached(Windows::Shifted, 0)[1];
        let unmasked = &reached(Windows::Unmasked, 0)[1];
        assert_eq!(masked, &square(0..6, 0..6));
        assert!(unmasked.contains(&143) && !masked.contains(&143));
        assert!(masked.iter().all(|patch| unmasked.contains(patch)));
        assert_eq!(unmasked.len(), 64);
    }

    #[test]
    fn only_the_chosen_patch_is_inverted() {
        let image = picture();
        let other = inverted(image.view(), 2, 13).unwrap();
        for ((c, row, column), value) in other.indexed_iter() {
            let is_inside = (2..4).contains(&row) && (2..4).contains(&column);
            let before = image[[c, row, column]];
            let expected = if is_inside { 1.0 - before } else { before };
            assert_eq!(*value, expected);
        }
        assert!(inverted(image.view(), 2, 144).is_err());
    }
}
