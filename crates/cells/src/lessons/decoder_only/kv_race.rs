//! A small untrained decoder that reads a text token by token, with a key-value cache and without:
//! the same logits, the multiplications of both, and the bytes of the cache for fewer heads of keys
//! and values.

use engine::rng::Rng;
use explain::kv_race::{CONTEXT, HEADS, VOCABULARY};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::parts::measure::largest;
use crate::spec::{CellSpec, Run, WorkerKind, once};

/// The numbers of heads of keys and values to choose from.
const KV_HEADS: &[&str] = &["8", "4", "2", "1"];

/// The seed of the parameters and of the text.
const SEED: u64 = 1;

/// The cell `kv-race`.
pub const SPEC: CellSpec = CellSpec {
    name: "kv-race",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| {
        let inputs = inputs.clone();
        Ok(once(move || compute(&inputs)))
    },
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let most = f64::from(CONTEXT);
    vec![
        InputSpec::number("tokens", "Tokens", (1.0, most, 1.0), 32.0),
        InputSpec::choice("kv-heads", "Heads of keys and values", KV_HEADS),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let tokens = inputs.count("tokens")?;
    let chosen = inputs.choice("kv-heads")?;
    let wrong = |_| CellError::Mismatch(format!("{chosen} is no number of heads"));
    let kv_heads = chosen.parse::<usize>().map_err(wrong)?;
    let model = &shown!(record, explain::kv_race::model, kv_heads, SEED)?;
    let mut rng = Rng::named(SEED, "text");
    let ids: Vec<usize> = (0..tokens)
        .map(|_| rng.below(VOCABULARY as usize))
        .collect();
    let ids = &ids[..];
    let race = shown!(record, explain::kv_race::race, model, ids)?;
    let differences: Vec<f64> = race.differences.iter().map(|&d| f64::from(d)).collect();
    record.number("difference", largest(&differences));
    record.tensor("logits", &race.logits);
    let config = model.config();
    let (mut cached, mut whole) = (Vec::new(), Vec::new());
    for t in 0..tokens {
        cached.push(explain::kv_race::multiplications(config, t, 1) as f64);
        whole.push(explain::kv_race::multiplications(config, 0, t + 1) as f64);
    }
    let sum = |steps: &[f64]| steps.iter().sum::<f64>();
    record.number("cached.last", cached.last().copied().unwrap_or_default());
    record.number("whole.last", whole.last().copied().unwrap_or_default());
    record.number("cached.total", sum(&cached));
    record.number("whole.total", sum(&whole));
    record.number("ratio", sum(&whole) / sum(&cached));
    let running = |steps: &[f64]| {
        let mut sum = 0.0;
        let add = |&step: &f64| {
            sum += step / 1e6;
            sum
        };
        steps.iter().map(add).collect::<Vec<f64>>()
    };
    record.numbers("cached.running", running(&cached));
    record.numbers("whole.running", running(&whole));
    record.numbers("token", (1..=tokens).map(|t| t as f64).collect());
    record.number("bytes", race.bytes as f64);
    let full = race.bytes * HEADS as usize / kv_heads.max(1);
    record.number("bytes.full", full as f64);
    record.number("smaller", full as f64 / race.bytes.max(1) as f64);
    record.number("bytes.share", race.bytes as f64 / full.max(1) as f64);
    record.number("heads", f64::from(HEADS));
    record.number("kv.heads", kv_heads as f64);
    let shapes = config.shapes().into_iter();
    let parameters: usize = shapes
        .map(|(_, shape)| shape.iter().product::<usize>())
        .sum();
    record.number("parameters", parameters as f64);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number};

    fn with(tokens: f64, kv_heads: &str) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("tokens", number(tokens))
            .with("kv-heads", choice(kv_heads));
        computed(&SPEC, &given).unwrap()
    }

    fn at(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// The same logits, whatever shares the keys.
    #[test]
    fn the_cache_changes_rounding_at_most() {
        for kv_heads in KV_HEADS {
            let c = with(64.0, kv_heads);
            assert!(at(&c, "difference") < 1e-5, "{}", at(&c, "difference"));
        }
    }

    /// With the cache a token costs a little more each time, without it the whole text again.
    #[test]
    fn without_the_cache_the_work_grows_with_the_square() {
        let [short, long] = [16.0, 32.0].map(|tokens| with(tokens, "8"));
        let times = |name: &str| at(&long, name) / at(&short, name);
        assert!(
            (1.9..2.2).contains(&times("cached.total")),
            "{}",
            times("cached.total")
        );
        assert!(
            (3.7..4.3).contains(&times("whole.total")),
            "{}",
            times("whole.total")
        );
        // One token: nothing to save.
        assert_eq!(at(&with(1.0, "8"), "ratio"), 1.0);
        // What the guess of the lesson says.
        let ratio = at(&long, "ratio");
        assert!((14.0..17.0).contains(&ratio), "{ratio}");
        assert_eq!(long.tensor("whole.running").unwrap().values.len(), 32);
    }

    /// Fewer heads of keys and values: a smaller cache by the same factor.
    #[test]
    fn the_cache_shrinks_with_the_heads_that_it_keeps() {
        for (kv_heads, smaller) in [("8", 1.0), ("4", 2.0), ("2", 4.0), ("1", 8.0)] {
            let c = with(32.0, kv_heads);
            assert_eq!(at(&c, "smaller"), smaller);
            assert_eq!(at(&c, "bytes"), 32.0 * 2.0 * 2.0 * 64.0 * 4.0 / smaller);
            assert_eq!(at(&c, "bytes.full"), 32_768.0);
        }
        assert!(at(&with(32.0, "1"), "parameters") < at(&with(32.0, "8"), "parameters"));
    }
}
