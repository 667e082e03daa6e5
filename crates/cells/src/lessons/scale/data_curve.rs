//! How many test digits two small networks read, one with convolutions and one a Vision Transformer, by
//! the number of digits that they have learned from; and the same question as it was published for
//! photographs.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::{bias_runs, published, scale_runs};
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The numbers of steps that the reader chooses between.
const LENGTHS: [&str; 2] = ["300", "3000"];

/// Pictures of ImageNet, ImageNet-21k and JFT, as Dosovitskiy et al. 2021 give them in section 4.1.
const PICTURES: [f64; 3] = [1.3e6, 14e6, 303e6];

/// The share of ImageNet's test pictures that ViT-B/16 and ViT-L/16 name, after pre-training on each of
/// them (table 5 of the same).
const PUBLISHED: [(&str, [f64; 3]); 2] = [
    ("published.base", published::BASE),
    ("published.large", published::LARGE),
];

/// The cell `data-curve`.
pub const SPEC: CellSpec = CellSpec {
    name: "data-curve",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| scale_runs::files(),
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![InputSpec::choice("length", "Steps of a run", &LENGTHS)]
}

/// Begins to compute.
///
/// # Errors
/// A log that is not one.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let few = cache.opened::<String>(bias_runs::LOG)?;
    let more = cache.opened::<String>(scale_runs::LOG)?;
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, [&few, &more])))
}

fn compute(inputs: &Inputs, logs: [&str; 2]) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let long = inputs.choice("length")? == LENGTHS[1];
    scale_runs::curve(&mut record, logs, long)?;
    record.numbers("published.pictures", PICTURES.to_vec());
    for (name, shares) in PUBLISHED {
        record.numbers(name, shares.to_vec());
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{cache, choice, computed};

    fn of(length: &str) -> Computation {
        let given = Inputs::defaults(&inputs()).with("length", choice(length));
        computed(&SPEC, &given).unwrap()
    }

    fn all(c: &Computation, name: &str) -> Vec<f64> {
        c.tensor(name).unwrap().values.iter().copied().collect()
    }

    /// The means are those of the logs, read here a second time in another way.
    #[test]
    fn means_are_those_of_the_logs() {
        let log = |name: &str| (*cache().opened::<String>(name).unwrap()).clone();
        let both = log(bias_runs::LOG) + &log(scale_runs::LOG);
        for (length, end) in [("300", ""), ("3000", "-long")] {
            let c = of(length);
            for kind in ["cnn", "vit"] {
                for (n, size) in all(&c, "sizes").into_iter().enumerate() {
                    let start = format!("right\t{kind}-{size}{end}\t");
                    let lines = both.lines().filter_map(|line| line.strip_prefix(&start));
                    let shares: Vec<f64> = lines
                        .map(|line| line.split('\t').nth(1).unwrap().parse().unwrap())
                        .collect();
                    assert_eq!(c.at("seeds", &[]), Some(shares.len() as f64));
                    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
                    let found = c.at(&format!("{kind}.mean"), &[n]).unwrap();
                    assert!((found - mean).abs() < 1e-6, "{kind} {size}");
                }
            }
        }
    }

    /// What the lesson says: no crossing, from any number of digits, and after either number of steps.
    #[test]
    fn the_curves_do_not_cross() {
        for length in LENGTHS {
            let c = of(length);
            let (low, high) = (all(&c, "cnn.low"), all(&c, "vit.high"));
            for (n, (cnn, vit)) in low.iter().zip(&high).enumerate() {
                assert!(cnn > vit, "{length} {n}: {cnn} {vit}");
            }
        }
    }

    /// What the lesson says of the short runs: the difference is largest at 1,000 digits, 14 points.
    #[test]
    fn the_gap_is_widest_at_a_thousand_digits() {
        let c = of("300");
        let (sizes, gap) = (all(&c, "sizes"), all(&c, "gap"));
        let widest = (0..gap.len()).max_by(|&a, &b| gap[a].total_cmp(&gap[b]));
        let widest = widest.unwrap();
        assert_eq!(
            (sizes[widest], (100.0 * gap[widest]).round()),
            (1000.0, 14.0)
        );
    }

    /// What the lesson says of the long runs: the difference halves.
    #[test]
    fn longer_runs_come_closer() {
        let c = of("3000");
        let shares = |name: &str| {
            all(&c, name)
                .iter()
                .map(|x| (1e3 * x).round())
                .collect::<Vec<_>>()
        };
        assert_eq!(shares("cnn.mean"), [708.0, 922.0, 979.0]);
        assert_eq!(shares("vit.mean"), [592.0, 843.0, 919.0]);
        let gap = all(&c, "gap");
        assert!(gap[0] > gap[1] && gap[1] > gap[2] && gap[2] < 0.55 * gap[0]);
        // After 300 steps it does not.
        let gap = all(&of("300"), "gap");
        assert!(gap[4] > gap[0]);
    }

    /// The published models cross: the larger one is behind on the smallest set alone.
    #[test]
    fn the_published_curves_cross() {
        let c = of("300");
        let (base, large) = (all(&c, "published.base"), all(&c, "published.large"));
        assert!(large[0] < base[0] && large[1] > base[1] && large[2] > base[2]);
    }

    #[test]
    fn a_damaged_log_is_refused() {
        let log = |name: &str| (*cache().opened::<String>(name).unwrap()).clone();
        let (few, more) = (log(bias_runs::LOG), log(scale_runs::LOG));
        let given = Inputs::defaults(&inputs());
        let without = more.replace("right\tvit-9500\t", "right\tvit-9\t");
        assert!(compute(&given, [&few, &more]).is_ok());
        assert!(compute(&given, [&few, &without]).is_err());
        assert!(compute(&given, [&more, &more]).is_err());
    }
}
