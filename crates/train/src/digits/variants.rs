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

/// `digit-vit` without a table of positions: its answer does not depend on the order of the
/// patches, up to rounding.
#[derive(Debug, Clone)]
pub struct WithoutPositions(pub Vit);

/// `digit-vit` with global average pooling in place of the class token.
#[derive(Debug, Clone)]
pub struct AveragePooled(pub Vit);

fn without_positions() -> Config {
    Config {
        positions: false,
        ..vit_config()
    }
}

fn average_pooled() -> Config {
    Config {
        pooling: Pooling::Mean,
        ..vit_config()
    }
}

/// The configuration of `digit-vit`'s file with one more entry.
fn with(name: &str, value: Value) -> Value {
    let mut config = vit_file_config();
    if let Some(entries) = config.as_object_mut() {
        entries.insert(name.to_owned(), value);
    }
    config
}

impl Trainable for WithoutPositions {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> engine::Result<()> {
        self.0.parameters(visit)
    }
}

impl Trainable for AveragePooled {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> engine::Result<()> {
        self.0.parameters(visit)
    }
}

impl Network for WithoutPositions {
    const NAME: &'static str = "digit-vit-nopos";

    const ABOUT: &'static str = "`digit-vit` without a table of positions, trained in the same way: it reads a handwritten digit as a bag of 49 patches (`engine::model::vit`).";

    fn shapes() -> Vec<(String, Vec<usize>)> {
        without_positions().shapes()
    }

    fn config() -> Value {
        with("position_embedding", json!(0))
    }

    fn load(source: &mut dyn Parameters) -> engine::Result<Self> {
        Vit::load(without_positions(), source).map(Self)
    }

    fn logits<C: Compute>(
        &self,
        compute: &mut C,
        digits: ArrayView4<'_, f32>,
    ) -> engine::Result<C::Matrix> {
        self.0.logits(compute, digits)
    }
}

impl Network for AveragePooled {
    const NAME: &'static str = "digit-vit-gap";

    const ABOUT: &'static str = "`digit-vit` with global average pooling in place of the class token, trained in the same way: the classifier reads the mean of the 49 patches (`engine::model::vit`).";

    fn shapes() -> Vec<(String, Vec<usize>)> {
        average_pooled().shapes_of_patches()
    }

    fn config() -> Value {
        with("global_pool", json!("avg"))
    }

    fn load(source: &mut dyn Parameters) -> engine::Result<Self> {
        Vit::load(average_pooled(), source).map(Self)
    }

    fn logits<C: Compute>(
        &self,
        compute: &mut C,
        digits: ArrayView4<'_, f32>,
    ) -> engine::Result<C::Matrix> {
        self.0.logits(compute, digits)
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
        assert!(change::<WithoutPositions>() < 1e-5);
        assert!(change::<Vit>() > 1e-4);
        assert!(change::<AveragePooled>() > 1e-4);
    }

    /// What a file says is what was trained.
    #[test]
    fn the_file_has_the_configuration() {
        let file = WithoutPositions::config();
        let found = Config::from_keys(&|name| match name {
            "num_labels" => Some(10.0),
            name => file[name].as_f64(),
        });
        assert_eq!(found.unwrap(), without_positions());
    }

    #[test]
    fn each_variant_lacks_one_part() {
        let names = |shapes: Vec<(String, Vec<usize>)>| -> Vec<String> {
            shapes.into_iter().map(|(name, _)| name).collect()
        };
        let all = names(Vit::shapes());
        for (shapes, gone) in [
            (WithoutPositions::shapes(), "pos_embed"),
            (AveragePooled::shapes(), "cls_token"),
        ] {
            let left: Vec<String> = all.iter().filter(|name| *name != gone).cloned().collect();
            assert_eq!(names(shapes), left);
        }
        let model = AveragePooled::load(&mut Formula::new(1, AveragePooled::shapes())).unwrap();
        let (hidden, _) = (model.0.run(&mut Plain::silent(), pictures().view())).unwrap();
        assert_eq!(hidden.dim(), (2 * 49, 64), "no class token");
        let logits = model
            .logits(&mut Plain::silent(), pictures().view())
            .unwrap();
        assert_eq!(logits.dim(), (2, 10));
    }
}
