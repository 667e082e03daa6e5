//! What a Vision Transformer has before and after its blocks: pixels, patches, class token, positions,
//! and the logits of the classes, which are read from the class token alone.

use engine::error::Result;
use engine::model::vit::Vit;
use engine::nn::attention::Mask;
use engine::nn::norm::LayerNorm;
use engine::nn::softmax::softmax as probabilities;
use ndarray::{Array2, Axis, concatenate};

use super::terms::{CLASSIFIED, EMBEDDED, Parts, linear, none, softmax, sum};
use super::{Block, Part, Pass, PreNorm, missing};

/// Row and column in [`Part::Pixels`] of number `at` of patch `n`, for patches of `patch` by `patch`
/// pixels of a picture with so many rows and columns.
pub fn pixel_of(
    patch: usize,
    (height, width): (usize, usize),
    (n, at): (usize, usize),
) -> (usize, usize) {
    let (patch, across) = (patch.max(1), (width / patch.max(1)).max(1));
    let (channel, inside) = (at / (patch * patch), at % (patch * patch));
    let row = channel * height + n / across * patch + inside / patch;
    (row, n % across * patch + inside % patch)
}

impl PreNorm for Vit {
    fn block(&self, n: usize) -> Option<Block<'_>> {
        let block = self.blocks().get(n)?;
        Some(Block {
            norm_1: &block.norm_1,
            qkv: &block.attention.qkv,
            output: &block.attention.output,
            heads: block.attention.heads,
            norm_2: &block.norm_2,
            mlp: &block.mlp,
        })
    }

    fn layers(&self) -> usize {
        self.config().layers
    }

    fn last_norm(&self) -> &LayerNorm {
        Vit::last_norm(self)
    }

    fn mask(&self) -> Mask {
        Mask::None
    }

    fn outside(&self, pass: &Pass, part: Part) -> Result<Array2<f32>> {
        // -> [C_0·H, W], [N, C_0·P·P], [N, C], [1 + N, C], [1, C] or [1, classes]
        match part {
            Part::Pixels => {
                let picture = pass.picture()?;
                let (channels, height, width) = picture.dim();
                let rows = picture.to_shape((channels * height, width));
                rows.map(|rows| rows.into_owned())
                    .map_err(|_| missing("a picture"))
            }
            Part::Patches => pass.matrix("patches"),
            Part::Embedding => pass.matrix("embedding"),
            Part::WithClass => {
                let class = self.tokens().class.as_ref();
                let class = class.ok_or_else(|| missing("a class token"))?;
                let (class, patches) =
                    (class.view().insert_axis(Axis(0)), pass.matrix("embedding")?);
                concatenate(Axis(0), &[class, patches.view()]).map_err(|_| missing("patches"))
            }
            Part::Positions => pass.matrix("positions"),
            Part::Input => pass.matrix("input"),
            Part::Norm => pass.matrix("norm"),
            Part::Class => pass.vector("pooled"),
            Part::Logits => pass.vector("logits"),
            Part::Probabilities => {
                let logits = pass.vector("logits")?;
                Ok(probabilities(logits.row(0)).insert_axis(Axis(0)))
            }
            _ => Err(missing("a part of a Vision Transformer")),
        }
    }

    fn outside_number(
        &self,
        pass: &Pass,
        part: Part,
        (t, c): (usize, usize),
        value: f32,
    ) -> Result<Parts> {
        let other = |part| self.outside(pass, part);
        Ok(match part {
            Part::Pixels => none(vec![("= brightness", value)]),
            Part::Patches => {
                let (_, height, width) = pass.picture()?.dim();
                let place = pixel_of(self.config().patch, (height, width), (t, c));
                let pixel = other(Part::Pixels)?.get(place).copied();
                let pixel = pixel.ok_or_else(|| missing("a pixel"))?;
                none(vec![("pixel", pixel), ("=", pixel)])
            }
            Part::Embedding => {
                let patches = other(Part::Patches)?;
                linear(patches.row(t), &self.tokens().patches, c, EMBEDDED)?
            }
            Part::WithClass => match t.checked_sub(1) {
                None => none(vec![("= a parameter", value)]),
                Some(patch) => {
                    let embedded = other(Part::Embedding)?[[patch, c]];
                    none(vec![("embedded patch", embedded), ("=", embedded)])
                }
            },
            Part::Positions => none(vec![("row of the table", t as f32), ("=", value)]),
            Part::Input => sum(
                other(Part::WithClass)?[[t, c]],
                other(Part::Positions)?[[t, c]],
            ),
            Part::Class => {
                let class = other(Part::Norm)?[[0, c]];
                none(vec![("class token", class), ("=", class)])
            }
            Part::Logits => linear(other(Part::Class)?.row(t), self.head(), c, CLASSIFIED)?,
            Part::Probabilities => softmax(other(Part::Logits)?.row(t), c)?,
            _ => return Err(missing("a part of a Vision Transformer")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_number::Site;
    use engine::formula::{Formula, image};
    use engine::model::vit::{Config, Pooling};

    const ALL: [Part; 24] = [
        Part::Pixels,
        Part::Patches,
        Part::Embedding,
        Part::WithClass,
        Part::Positions,
        Part::Input,
        Part::Norm1,
        Part::Queries,
        Part::Keys,
        Part::Values,
        Part::Scores,
        Part::Weights,
        Part::Heads,
        Part::AttentionOutput,
        Part::Residual1,
        Part::Norm2,
        Part::MlpIn,
        Part::Activation,
        Part::MlpOut,
        Part::Residual2,
        Part::Norm,
        Part::Class,
        Part::Logits,
        Part::Probabilities,
    ];

    fn config() -> Config {
        Config {
            width: 8,
            heads: 2,
            layers: 2,
            inner: 16,
            channels: 3,
            patch: 4,
            image: 8,
            classes: 5,
            norm_eps: 1e-6,
            pooling: Pooling::Class,
            positions: true,
        }
    }

    fn model() -> Vit {
        Vit::load(config(), &mut Formula::new(0, config().shapes())).unwrap()
    }

    /// Every number of every tensor is what its terms and steps end at, in colour too.
    #[test]
    fn every_number_is_what_its_terms_add_up_to() {
        let (model, picture) = (model(), image(8, 0));
        let pass = Pass::of_picture(&model, picture.view()).unwrap();
        let logits = model.forward(picture.view(), None).unwrap();
        for part in ALL {
            for (block, head) in [(0, 0), (1, 1)] {
                let site = Site { part, block, head };
                let tensor = pass.tensor(&model, site).unwrap();
                let rows = match part {
                    Part::Pixels => 24,
                    Part::Patches | Part::Embedding => 4,
                    Part::Class | Part::Logits | Part::Probabilities => 1,
                    _ => 5,
                };
                assert_eq!(tensor.nrows(), rows, "{part:?}");
                for ((t, c), &value) in tensor.indexed_iter() {
                    let one = pass.number(&model, site, (t, c)).unwrap();
                    assert_eq!(one.value, value);
                    let (end, near) = (one.end(), 2e-6 * value.abs().max(1.0));
                    assert!(
                        (end - value).abs() < near,
                        "{site:?} {t} {c}: {end} {value}"
                    );
                    assert!(one.terms.is_empty() || one.terms.ncols() == one.columns.len());
                }
            }
        }
        let site = Site {
            part: Part::Logits,
            block: 0,
            head: 0,
        };
        assert_eq!(pass.tensor(&model, site).unwrap().row(0), logits);
    }

    /// Where a pixel is says the same as the cut of the picture.
    #[test]
    fn a_number_of_a_patch_is_its_pixel() {
        let picture = image(8, 0);
        let cuts = engine::nn::patch::cut(picture.view(), 4).unwrap();
        let rows = picture.to_shape((24, 8)).unwrap();
        for (place, &value) in cuts.indexed_iter() {
            assert_eq!(rows[pixel_of(4, (8, 8), place)], value, "{place:?}");
        }
    }

    /// Parts of other models, blocks and places that are not there, and a model without a class
    /// token are refused.
    #[test]
    fn what_is_not_there_is_refused() {
        let (model, picture) = (model(), image(8, 0));
        let pass = Pass::of_picture(&model, picture.view()).unwrap();
        for (part, block, place) in [
            (Part::Tokens, 0, (0, 0)),
            (Part::Scores, 2, (0, 0)),
            (Part::Class, 0, (1, 0)),
            (Part::Pixels, 0, (0, 8)),
        ] {
            let site = Site {
                part,
                block,
                head: 0,
            };
            assert!(pass.number(&model, site, place).is_err(), "{part:?}");
        }
        let pooling = Pooling::Mean;
        let config = Config {
            pooling,
            ..config()
        };
        let mut source = Formula::new(0, config.shapes_of_patches());
        let mean = Vit::load(config, &mut source).unwrap();
        assert!(Pass::of_picture(&mean, picture.view()).is_err());
    }
}
