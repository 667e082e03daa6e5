//! Small Vision Transformers of different shapes: depth, width or patch size is changed, and the two
//! others keep the value of one base, which is the Vision Transformer of [`crate::few_digits`].
//!
//! ```text
//! depth   1, 2, 4, 8 blocks
//! width   C = 16, 32, 64, 96, with F = 2 C and 4 heads
//! patch   P = 14, 7, 4, 2 pixels: N = (28 / P)² = 4, 16, 49, 196 patches
//! base    2 blocks, C = 32, P = 4
//! ```
//!
//! ```
//! use explain::vit_shapes::{Factor, Shape};
//! let finest = Factor::Patch.shapes()[3];
//! assert_eq!(finest.name(), "2-32-2");
//! assert_eq!(finest.network(1)?.count()?, 23_978);
//! assert!(Factor::Depth.shapes().contains(&Shape::BASE));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: our own comparison. Source of the question: Dosovitskiy et al. 2021, appendix D.2, which
//! changes the shape of ViT on photographs.

use engine::error::Result;
use engine::model::vit::Config;

use crate::few_digits::{Network, vit_config};

/// Steps of a run.
pub const STEPS: u64 = 1000;

/// The sizes of a network that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// L.
    pub layers: usize,
    /// C.
    pub width: usize,
    /// P, in pixels.
    pub patch: usize,
}

impl Shape {
    /// The shape that every factor contains.
    pub const BASE: Self = Self {
        layers: 2,
        width: 32,
        patch: 4,
    };

    /// All three numbers, as the log names the shape.
    pub fn name(self) -> String {
        format!("{}-{}-{}", self.layers, self.width, self.patch)
    }

    /// The configuration of the network.
    pub fn config(self) -> Config {
        Config {
            layers: self.layers,
            width: self.width,
            inner: 2 * self.width,
            patch: self.patch,
            ..vit_config()
        }
    }

    /// The network with random parameters.
    ///
    /// # Errors
    /// When the heads do not divide the width, or the patches the side of the picture.
    pub fn network(self, seed: u64) -> Result<Network> {
        Network::vit(self.config(), seed)
    }
}

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factor {
    /// The number of blocks.
    Depth,
    /// The dimension of the tokens.
    Width,
    /// The side of a patch.
    Patch,
}

impl Factor {
    /// All factors, with their names.
    pub const ALL: [(&'static str, Self); 3] = [
        ("depth", Self::Depth),
        ("width", Self::Width),
        ("patch", Self::Patch),
    ];

    /// The shapes of this factor, in the order of their work for a picture.
    pub fn shapes(self) -> [Shape; 4] {
        let base = Shape::BASE;
        match self {
            Self::Depth => [1, 2, 4, 8].map(|layers| Shape { layers, ..base }),
            Self::Width => [16, 32, 64, 96].map(|width| Shape { width, ..base }),
            Self::Patch => [14, 7, 4, 2].map(|patch| Shape { patch, ..base }),
        }
    }

    /// The value of the factor in a shape.
    pub fn of(self, shape: Shape) -> usize {
        match self {
            Self::Depth => shape.layers,
            Self::Width => shape.width,
            Self::Patch => shape.patch,
        }
    }
}

/// Every shape once, the base first.
pub fn all() -> Vec<Shape> {
    let mut all = vec![Shape::BASE];
    for (_, factor) in Factor::ALL {
        let others = factor.shapes().into_iter();
        all.extend(others.filter(|&shape| shape != Shape::BASE));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few_digits::{Digits, FewRun, Kind};
    use crate::vit_sizes::{cost, parameters};
    use engine::drawing::SIDE;

    /// Ten shapes; each factor changes its own number alone, from the least work to the most.
    #[test]
    fn one_number_changes_at_a_time() {
        let names: Vec<String> = all().into_iter().map(Shape::name).collect();
        assert_eq!(names.len(), 10);
        assert!(
            (1..10).all(|n| !names[..n].contains(&names[n])),
            "{names:?}"
        );
        for (name, factor) in Factor::ALL {
            let shapes = factor.shapes();
            for shape in shapes {
                let numbers = |s: Shape| [s.layers, s.width, s.patch];
                let pairs = numbers(shape).into_iter().zip(numbers(Shape::BASE));
                let changed = pairs.filter(|(a, b)| a != b).count();
                assert_eq!(changed, usize::from(shape != Shape::BASE), "{name}");
            }
            let work = shapes.map(|shape| cost(&shape.config()).multiplications);
            assert!(work.windows(2).all(|pair| pair[0] < pair[1]), "{work:?}");
        }
    }

    /// The base is the network of the lesson on inductive bias, number for number.
    #[test]
    fn the_base_is_the_small_vit() {
        let digits = Digits::drawn(0..40).unwrap();
        let mut here = FewRun::of(Shape::BASE.network(3).unwrap(), digits.clone(), 3).unwrap();
        let mut there = FewRun::new(Kind::Vit, digits, 3).unwrap();
        for _ in 0..3 {
            let losses = [&mut here, &mut there].map(|run| run.step().unwrap().to_bits());
            assert_eq!(losses[0], losses[1]);
        }
    }

    /// The counters agree with the network itself: its parameters, and the products of its matrices
    /// with the rows that each is applied to, with those of scores and mixtures.
    #[test]
    fn counts_are_those_of_the_network() {
        for shape in all() {
            let config = shape.config();
            let network = shape.network(1).unwrap();
            let total: usize = parameters(&config).iter().sum();
            assert_eq!(total, network.count().unwrap(), "{}", shape.name());
            let patches = (SIDE / shape.patch).pow(2);
            let tokens = patches + 1;
            let mut products = 2 * shape.layers * tokens * tokens * shape.width;
            for (name, sizes) in config.shapes() {
                if sizes.len() < 2 || !name.ends_with("weight") {
                    continue; // biases, norms, tokens and positions are added or scale
                }
                let rows = match name {
                    _ if name.contains("patch_embed") => patches,
                    _ if name.contains("head") => 1,
                    _ => tokens,
                };
                products += rows * sizes.iter().product::<usize>();
            }
            assert_eq!(cost(&config).multiplications, products as u64);
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let base = Shape::BASE;
        assert!(Shape { width: 33, ..base }.network(1).is_err());
        assert!(Shape { patch: 5, ..base }.network(1).is_err());
    }
}
