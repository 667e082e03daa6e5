//! The parameters of a GPT-2 of any size: the six matrices of a block, and all of the model.

use engine::model::gpt2::Config;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The first choice, and the one that takes the sizes of the sliders.
const MODELS: [&str; 3] = ["GPT-2", "tiny-gpt", "your sizes"];

/// The cell `block-budget`.
pub const SPEC: CellSpec = CellSpec {
    name: "block-budget",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::choice("model", "Sizes", &MODELS),
        InputSpec::number("width", "Width $C$", (16.0, 12_288.0, 16.0), 1600.0),
        InputSpec::number("layers", "Blocks", (1.0, 96.0, 1.0), 48.0),
    ]
}

/// The sizes of tiny-gpt.
fn tiny_gpt() -> Config {
    Config {
        vocabulary: 2048,
        width: 128,
        heads: 4,
        layers: 4,
        inner: 512,
        context: 256,
        norm_eps: 1e-5,
    }
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let config = match inputs.choice("model")? {
        "tiny-gpt" => tiny_gpt(),
        "GPT-2" => Config::gpt2_124m(),
        _ => {
            let width = inputs.count("width")?;
            Config {
                width,
                inner: 4 * width,
                layers: inputs.count("layers")?,
                ..Config::gpt2_124m()
            }
        }
    };
    let mut record = Record::new();
    let config = &config;
    let found = shown!(record, explain::budget::budget, config);
    let counts = |all: &[u64]| all.iter().map(|&count| count as f64).collect::<Vec<f64>>();
    record.numbers("matrices", counts(&found.matrices));
    let attention = found.matrices[..4].iter().sum::<u64>();
    let mlp = found.matrices[4..].iter().sum::<u64>();
    record.number("block.attention", attention as f64);
    record.number("block.mlp", mlp as f64);
    record.number("block", (attention + mlp) as f64);
    record.number("block.share", mlp as f64 / (attention + mlp) as f64);
    record.number("block.rest", found.rest as f64);
    let parts = [
        found.attention,
        found.mlp,
        found.norms,
        found.tokens,
        found.positions,
    ];
    record.numbers("parts", counts(&parts));
    let total = found.total as f64;
    record.numbers(
        "shares",
        parts.iter().map(|&part| part as f64 / total).collect(),
    );
    record.number("total", total);
    for (name, size) in [
        ("width", config.width),
        ("inner", config.inner),
        ("layers", config.layers),
        ("vocabulary", config.vocabulary),
        ("context", config.context),
    ] {
        record.number(name, size as f64);
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_cache::CausalLm;
    use crate::parts::test_models::{cache, choice, number};

    fn of(model: &str) -> Computation {
        let given = Inputs::defaults(&inputs()).with("model", choice(model));
        SPEC.compute(&given).unwrap()
    }

    fn now(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says of GPT-2: 124.4 million, and two thirds of a block's matrices in the
    /// MLP; of the whole model it is less than half.
    #[test]
    fn gpt2_has_124_million() {
        let c = of("GPT-2");
        assert_eq!(now(&c, "total"), 124_439_808.0);
        assert_eq!(now(&c, "block"), 12.0 * 768.0 * 768.0);
        assert!((now(&c, "block.share") - 2.0 / 3.0).abs() < 1e-12);
        let share = |n: usize| c.at("shares", &[n]).unwrap();
        assert!((0.45..0.46).contains(&share(1)) && (0.31..0.32).contains(&share(3)));
    }

    /// The counts of tiny-gpt are those of the file that the site ships.
    #[test]
    fn tiny_gpt_is_counted_from_its_file() {
        let gpt = cache().opened::<CausalLm>("tiny-gpt.safetensors").unwrap();
        assert_eq!(*gpt.model.config(), tiny_gpt());
        let mut model = gpt.model.clone();
        let counted = engine::trainable::count(&mut model).unwrap();
        assert_eq!(now(&of("tiny-gpt"), "total"), counted as f64);
    }

    /// The sizes that the sliders begin with are those of the largest GPT-2; Radford et al. 2019
    /// publish 1542M, and the shapes of its file give 1558M.
    #[test]
    fn the_sliders_begin_at_the_largest_gpt2() {
        let c = of("your sizes");
        assert_eq!(now(&c, "total"), 1_557_611_200.0);
        let wide = Inputs::defaults(&inputs())
            .with("model", choice("your sizes"))
            .with("width", number(12_288.0))
            .with("layers", number(96.0));
        let c = SPEC.compute(&wide).unwrap();
        assert!((174e9..176e9).contains(&now(&c, "total")));
    }
}
