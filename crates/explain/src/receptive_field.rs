//! The part of a picture that one number of a convolutional network is computed from.
//!
//! ```text
//! paths[y, x] = the number of ways from the pixel (y, x) to the number through the windows of all layers   [H, W]
//! ```
//! A pixel with no path cannot change the number, whatever the parameters are; the others are its
//! *receptive field*. Pixels with many paths count for more: the middle of the field.
//!
//! ```
//! use engine::nn::unfold::Windows;
//! use explain::receptive_field::paths;
//! let windows = |side| Windows { height: side, width: side, side: 3, stride: 2, padding: 1 };
//! let found = paths(&[windows(8), windows(4)], [1, 1])?;
//! assert_eq!(found.dim(), (8, 8));
//! // Rows 1 to 7: three rows of the map before it, 1 to 3, each of which reads three rows of pixels.
//! assert_eq!(found.column(4).to_vec(), [0.0, 1.0, 1.0, 2.0, 1.0, 2.0, 1.0, 1.0]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Luo et al. 2016, "Understanding the effective receptive field in deep convolutional neural
//! networks", section 2.

use engine::error::{EngineError, Result};
use engine::nn::unfold::Windows;
use ndarray::Array2;

/// The number of paths from each pixel to the number at row and column `unit` of the last layer.
///
/// # Errors
/// When there is no layer, a layer does not continue the one before it, or the last has no such number.
pub fn paths(layers: &[Windows], unit: [usize; 2]) -> Result<Array2<f32>> {
    // -> [H, W]
    let Some(last) = layers.last() else {
        return Err(EngineError::value("paths", "layers", "at least 1", 0));
    };
    let out = last.out()?;
    if unit[0] >= out.0 || unit[1] >= out.1 {
        let expected = format!("a place in {} x {}", out.0, out.1);
        return Err(EngineError::shape("paths", expected, format!("{unit:?}")));
    }
    let mut counts = Array2::zeros(out);
    counts[unit] = 1.0;
    for layer in layers.iter().rev() {
        if counts.dim() != layer.out()? {
            let expected = format!("{:?}", layer.out()?);
            let found = format!("{:?}", counts.dim());
            return Err(EngineError::shape("paths", expected, found));
        }
        let mut below = Array2::zeros((layer.height, layer.width));
        for ((row, column), &count) in counts.indexed_iter().filter(|(_, count)| **count > 0.0) {
            for at in 0..layer.side * layer.side {
                let place = |n: usize, inside: usize| {
                    (n * layer.stride + inside).checked_sub(layer.padding)
                };
                let (y, x) = (place(row, at / layer.side), place(column, at % layer.side));
                // None for the padding, which is no pixel.
                if let (Some(y), Some(x)) = (y, x)
                    && let Some(sum) = below.get_mut((y, x))
                {
                    *sum += count;
                }
            }
        }
        counts = below;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::formula::Formula;
    use engine::model::cnn::{Cnn, Config};
    use engine::trace::Recorder;
    use ndarray::Array4;

    /// A pixel without a path changes no bit of the number; in a network without a bias that kills it,
    /// each pixel with a path does.
    #[test]
    fn a_pixel_without_a_path_changes_nothing() {
        let config = Config {
            channels: 1,
            image: 12,
            widths: vec![6, 6],
            side: 3,
            inner: 5,
            classes: 4,
        };
        let model = Cnn::load(config.clone(), &mut Formula::new(1, config.shapes())).unwrap();
        let windows = config.windows();
        let grey = Array4::from_elem((1, 1, 12, 12), 0.5);
        let seen = |image: &Array4<f32>, layer: usize, unit: usize| {
            let mut recorder = Recorder::default();
            model.watched(image.view(), &mut recorder).unwrap();
            let map = recorder.get(&format!("convs.{layer}")).unwrap();
            map.index_axis(ndarray::Axis(0), unit).to_owned()
        };
        for (layer, unit, across) in [(0, [0, 5], 6), (1, [1, 2], 3), (1, [0, 0], 3)] {
            let found = paths(&windows[..=layer], unit).unwrap();
            let number = unit[0] * across + unit[1];
            let before = seen(&grey, layer, number);
            for ((y, x), &count) in found.indexed_iter() {
                let mut image = grey.clone();
                image[[0, 0, y, x]] = 1.0;
                let has_changed = seen(&image, layer, number) != before;
                assert_eq!(has_changed, count > 0.0, "{layer} {unit:?} {y} {x}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let layer = Windows {
            height: 8,
            width: 8,
            side: 3,
            stride: 2,
            padding: 1,
        };
        assert!(paths(&[], [0, 0]).is_err());
        assert!(paths(&[layer], [4, 0]).is_err());
        assert!(paths(&[layer, layer], [0, 0]).is_err());
    }
}
