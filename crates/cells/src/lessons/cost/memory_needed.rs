//! The memory that three decoders need to read a text of T tokens: to answer, and to be trained on it.

use explain::memory::{Decoder, TRAINING_BYTES};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The models.
const MODELS: &[&str] = &["Llama 3.1 8B", "GPT-2", "tiny-gpt"];

/// Bytes of a number in 16 bits.
const BYTES: f64 = 2.0;

/// Bytes of a gigabyte.
const GIGABYTE: f64 = 1e9;

/// The rows of the drawing: parts of an answer, and of a step of training.
pub const PARTS: [&str; 5] = ["weights", "cache", "state", "activations", "attention"];

/// The cell `memory-needed`.
pub const SPEC: CellSpec = CellSpec {
    name: "memory-needed",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::choice("model", "Model", MODELS),
        InputSpec::number(
            "tokens",
            "Tokens $T$ in the text",
            (16.0, 131_072.0, 16.0),
            8_192.0,
        ),
    ]
}

/// The sizes of a model, from its published configuration.
fn decoder(name: &str) -> Decoder {
    match name {
        "tiny-gpt" => Decoder::gpt(4, 128, 4, 2_048, 256),
        "GPT-2" => Decoder::gpt(12, 768, 12, 50_257, 1_024),
        _ => Decoder {
            layers: 32,
            width: 4_096,
            heads: 32,
            kv_heads: 8,
            inner: 14_336,
            vocabulary: 128_256,
            positions: 0,
            is_llama: true,
        },
    }
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let tokens = inputs.count("tokens")?;
    let model = decoder(inputs.choice("model")?);
    let mut record = Record::new();
    let parameters = shown!(record, explain::memory::Decoder::parameters, &model);
    let cache = shown!(record, explain::memory::Decoder::cache, &model, tokens);
    let kept = shown!(
        record,
        explain::memory::Decoder::activations,
        &model,
        tokens
    );
    let weights = shown!(
        record,
        explain::memory::Decoder::attention_weights,
        &model,
        tokens
    );
    let found = [
        BYTES * parameters as f64,
        BYTES * cache as f64,
        (TRAINING_BYTES * parameters) as f64,
        BYTES * kept as f64,
        BYTES * weights as f64,
    ];
    let largest = found.iter().copied().fold(0.0, f64::max);
    for (name, bytes) in PARTS.into_iter().zip(found) {
        record.number(&format!("{name}.gigabytes"), bytes / GIGABYTE);
        record.number(&format!("{name}.share"), bytes / largest);
    }
    let [answer, training] = [&found[..2], &found[2..]].map(|part| part.iter().sum::<f64>());
    record.number("answer.gigabytes", answer / GIGABYTE);
    record.number("training.gigabytes", training / GIGABYTE);
    record.number("ratio", training / answer);
    record.number("parameters", parameters as f64);
    record.number("cache.token", BYTES * model.cache(1) as f64);
    // As many tokens as have a cache as large as the weights.
    let equal = parameters as f64 / model.cache(1) as f64;
    record.number("cache.equal", equal.ceil());
    record.number("layers", model.layers as f64);
    record.number("width", model.width as f64);
    record.number("heads", model.heads as f64);
    record.number("kv_heads", model.kv_heads as f64);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn with(model: &str, tokens: usize) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("model", InputValue::Choice(model.to_owned()))
            .with("tokens", InputValue::Number(tokens as f64));
        SPEC.compute(&given).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// The published numbers of parameters; tiny-gpt's is that of its card.
    #[test]
    fn models_have_as_many_parameters_as_published() {
        for (model, parameters) in [
            ("Llama 3.1 8B", 8_030_261_248.0),
            ("GPT-2", 124_439_808.0),
            ("tiny-gpt", 1_088_256.0),
        ] {
            assert_eq!(number(&with(model, 16), "parameters"), parameters);
        }
    }

    /// What the lesson says of Llama: 128 KiB a token; at 131,072 tokens the cache is larger than
    /// the weights.
    #[test]
    fn the_cache_of_a_long_text_outgrows_the_weights() {
        let c = with("Llama 3.1 8B", 131_072);
        assert_eq!(number(&c, "cache.token"), 131_072.0);
        assert!(number(&c, "cache.gigabytes") > number(&c, "weights.gigabytes"));
        let equal = number(&c, "cache.equal") as usize;
        let at = |tokens| {
            let model = decoder("Llama 3.1 8B");
            model.cache(tokens) >= model.parameters()
        };
        assert!(at(equal) && !at(equal - 1));
        assert!((120_000..125_000).contains(&equal), "{equal}");
    }

    /// Training needs eight times the weights before the first token, and the weights of attention
    /// grow with the square.
    #[test]
    fn training_needs_many_times_the_memory() {
        let [short, long] = [4_096, 16_384].map(|tokens| with("Llama 3.1 8B", tokens));
        assert_eq!(
            number(&short, "state.gigabytes"),
            8.0 * number(&short, "weights.gigabytes")
        );
        let grown = |name: &str| number(&long, name) / number(&short, name);
        assert!((grown("attention.gigabytes") - 16.0).abs() < 1e-9);
        assert!((grown("activations.gigabytes") - 4.0).abs() < 1e-9);
        assert!((grown("cache.gigabytes") - 4.0).abs() < 1e-9);
        assert_eq!(grown("state.gigabytes"), 1.0);
    }
}
