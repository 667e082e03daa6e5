//! Two variants of `digit-vit`, each with one part taken away, to see what the part is worth.
//!
//! ```text
//! digit-vit-nopos     x = [class; patches]                              no table of positions
//! digit-vit-gap       logits = mean over the patches of norm(x)         no class token
//! ```
//! Data, recipe and all other sizes are those of `digit-vit`.
//!
//! Source: Dosovitskiy et al. 2021, appendix D.3 (class token against global average pooling) and
//! appendix D.4, table 8 (no position embedding).

use super::classifier::{Network, vit_config, vit_file_config};
use engine::model::vit::{Config, Pooling, Vit};
use engine::ndarray::ArrayView4;
use engine::nn::compute::Compute;
use engine::parameters::Parameters;
use engine::trainable::{Trainable, Visit};
use serde_json::{Value, json};
use std::fmt::Debug;
use std::marker::PhantomData;

/// What a variant changes.
pub trait Change: Debug + Clone + Sync {
    /// The name that the variant ships under.
    const NAME: &'static str;

    /// The text of its card.
    const ABOUT: &'static str;

    /// The configuration of the variant.
    fn config() -> Config;

    /// The entry of its file's configuration that says so.
    fn entry() -> (&'static str, Value);
}

/// No table of positions: the answer does not depend on the order of the patches, up to rounding.
#[derive(Debug, Clone)]
pub struct WithoutPositions;

/// Global average pooling in place of the class token.
#[derive(Debug, Clone)]
pub struct AveragePooled;

impl Change for WithoutPositions {
    const NAME: &'static str = "digit-vit-nopos";

    const ABOUT: &'static str = "`digit-vit` without a table of positions, trained in the same way: it reads a handwritten digit as a bag of 49 patches (`engine::model::vit`).";

    fn config() -> Config {
        Config {
            positions: false,
            ..vit_config()
        }
    }

    fn entry() -> (&'static str, Value) {
        ("position_embedding", json!(0))
    }
}

impl Change for AveragePooled {
    const NAME: &'static str = "digit-vit-gap";

    const ABOUT: &'static str = "`digit-vit` with global average pooling in place of the class token, trained in the same way: the classifier reads the mean of the 49 patches (`engine::model::vit`).";

    fn config() -> Config {
        Config {
            pooling: Pooling::Mean,
            ..vit_config()
        }
    }

    fn entry() -> (&'static str, Value) {
        ("global_pool", json!("avg"))
    }
}

/// `digit-vit` with one change.
#[derive(Debug, Clone)]
pub struct Variant<K> {
    vit: Vit,
    change: PhantomData<K>,
}

impl<K> Trainable for Variant<K> {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> engine::Result<()> {
        self.vit.parameters(visit)
    }
}

impl<K: Change> Network for Variant<K> {
    const NAME: &'static str = K::NAME;

    const ABOUT: &'static str = K::ABOUT;

    fn shapes() -> Vec<(String, Vec<usize>)> {
        let config = K::config();
        match config.pooling {
            Pooling::Mean => config.shapes_of_patches(),
            Pooling::Class => config.shapes(),
        }
    }

    fn config() -> Value {
        let mut config = vit_file_config();
        let (name, value) = K::entry();
        if let Some(entries) = config.as_object_mut() {
            entries.insert(name.to_owned(), value);
        }
        config
    }

    fn load(source: &mut dyn Parameters) -> engine::Result<Self> {
        Ok(Self {
            vit: Vit::load(K::config(), source)?,
            change: PhantomData,
        })
    }

    fn logits<C: Compute>(
        &self,
        compute: &mut C,
        digits: ArrayView4<'_, f32>,
    ) -> engine::Result<C::Matrix> {
        self.vit.logits(compute, digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::drawing::SIDE;
    use engine::formula::Formula;
    use engine::ndarray::{Array4, Axis, concatenate};
    use engine::nn::plain::Plain;

    fn pictures() -> Array4<f32> {
        Array4::from_shape_fn((2, 1, SIDE, SIDE), |(n, _, row, col)| {
            ((n + row * 7 + col * col) % 11) as f32 / 11.0
        })
    }

    /// The lower half of each picture above the upper half: another order of the patches.
    fn reordered(pictures: &Array4<f32>) -> Array4<f32> {
        let middle = SIDE / 2 / vit_config().patch * vit_config().patch;
        let (upper, lower) = pictures.view().split_at(Axis(2), middle);
        concatenate(Axis(2), &[lower, upper]).unwrap()
    }

    fn change<N: Network>() -> f32 {
        let model = N::load(&mut Formula::new(1, N::shapes())).unwrap();
        let pictures = pictures();
        let logits =
            |pictures: &Array4<f32>| (model.logits(&mut Plain::silent(), pictures.view())).unwrap();
        let apart = logits(&pictures) - logits(&reordered(&pictures));
        apart.iter().fold(0.0, |most, x| x.abs().max(most))
    }

    #[test]
    fn without_positions_the_order_of_the_patches_is_only_rounding() {
        assert!(change::<Variant<WithoutPositions>>() < 1e-5);
        assert!(change::<Vit>() > 1e-4);
        assert!(change::<Variant<AveragePooled>>() > 1e-4);
    }

    /// What a file says is what was trained.
    #[test]
    fn the_file_has_the_configuration() {
        let file = Variant::<WithoutPositions>::config();
        let found = Config::from_keys(&|name| match name {
            "num_labels" => Some(10.0),
            name => file[name].as_f64(),
        });
        assert_eq!(found.unwrap(), <WithoutPositions as Change>::config());
    }

    #[test]
    fn each_variant_lacks_one_part() {
        let names = |shapes: Vec<(String, Vec<usize>)>| -> Vec<String> {
            shapes.into_iter().map(|(name, _)| name).collect()
        };
        let all = names(Vit::shapes());
        for (shapes, gone) in [
            (Variant::<WithoutPositions>::shapes(), "pos_embed"),
            (Variant::<AveragePooled>::shapes(), "cls_token"),
        ] {
            let left: Vec<String> = all.iter().filter(|name| *name != gone).cloned().collect();
            assert_eq!(names(shapes), left);
        }
        let shapes = Variant::<AveragePooled>::shapes();
        let model = Variant::<AveragePooled>::load(&mut Formula::new(1, shapes)).unwrap();
        let (hidden, _) = (model.vit.run(&mut Plain::silent(), pictures().view())).unwrap();
        assert_eq!(hidden.dim(), (2 * 49, 64), "no class token");
        let logits = model
            .logits(&mut Plain::silent(), pictures().view())
            .unwrap();
        assert_eq!(logits.dim(), (2, 10));
    }
}
