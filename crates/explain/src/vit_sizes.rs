//! The sizes of Vision Transformers: parameters, counted from a configuration, and the work for one
//! picture.
//!
//! ```text
//! N = ⌊side / P⌋²     T = 1 + N, with the class token
//! scores            H · T² in each layer
//! multiplications   N · 3P² · C  +  L (4 T C² + 2 T² C + 2 T C F)  +  C K
//! ```
//!
//! ```
//! use engine::model::vit::Config;
//! use explain::vit_sizes::{cost, parameters};
//! let base = Config::vit_b16();
//! assert_eq!(parameters(&base).iter().sum::<usize>(), 86_567_656);
//! assert_eq!(cost(&base).patches, 196);
//! ```
//!
//! Source: Dosovitskiy et al. 2021, table 1 and section 4.1.

use engine::model::vit::Config;

use crate::parameter_parts::by_part;

/// What a model does for one picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// N.
    pub patches: u64,
    /// Scores of all heads of all layers among the patches alone: L H N².
    pub scores: u64,
    /// Multiplications, biases and norms left out.
    pub multiplications: u64,
}

/// The number of parameters in each of [`crate::parameter_parts::PARTS`].
pub fn parameters(config: &Config) -> Vec<usize> {
    // -> [5]
    by_part(&config.shapes())
}

/// The work for one picture of the side that the configuration names.
pub fn cost(config: &Config) -> Cost {
    let across = config.image.checked_div(config.patch).unwrap_or(0) as u64;
    let (n, c, f) = (across * across, config.width as u64, config.inner as u64);
    let (t, layers) = (1 + n, config.layers as u64);
    let pixels = (config.channels * config.patch * config.patch) as u64;
    let block = 4 * t * c * c + 2 * t * t * c + 2 * t * c * f;
    Cost {
        patches: n,
        scores: layers * config.heads as u64 * n * n,
        multiplications: n * pixels * c + layers * block + c * config.classes as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(layers: usize, width: usize, heads: usize, patch: usize) -> Config {
        Config {
            layers,
            width,
            heads,
            inner: 4 * width,
            patch,
            ..Config::vit_b16()
        }
    }

    /// The three models of the paper, and their published sizes: 86 M, 307 M, 632 M.
    #[test]
    fn the_models_of_the_paper() {
        for (config, expected) in [
            (of(12, 768, 12, 16), 86_567_656),
            (of(24, 1_024, 16, 16), 304_326_632),
            (of(32, 1_280, 16, 14), 632_045_800),
        ] {
            assert_eq!(parameters(&config).iter().sum::<usize>(), expected);
        }
    }

    /// Patches of 14 in place of 16 pixels: 256 in place of 196, and 1.71 times as many scores.
    #[test]
    fn smaller_patches_cost_the_square() {
        let [small, large] = [14, 16].map(|patch| cost(&of(32, 1_280, 16, patch)));
        assert_eq!((small.patches, large.patches), (256, 196));
        assert_eq!(small.scores * 196 * 196, large.scores * 256 * 256);
        let ratio = small.scores as f64 / large.scores as f64;
        assert!((ratio - 1.706).abs() < 0.001);
        // What torchvision gives for ViT-B/16: 17.56 billion multiply-adds, without the scores' share.
        let base = cost(&Config::vit_b16()).multiplications as f64;
        assert!((17.4e9..17.7e9).contains(&base), "{base}");
    }
}
