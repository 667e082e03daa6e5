//! Tiny decoders that differ only in how positions enter: the loss of our logged runs by position,
//! up to four times the trained length.

use std::ops::Range;

use ndarray::{Array2, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The log of the runs.
const LOG: &str = "position-race.tsv";

/// The label of the one scheme that is not shown at first: a variant of the sines.
const APPENDED: &str = "Sines, appended";
/// The schemes: the name of the input, that in the log, and the label.
const SCHEMES: [(&str, &str, &str); 8] = [
    ("none", "none", "No positions"),
    ("sines", "sines", "Sines"),
    ("learned", "learned", "Learned table"),
    ("bias", "bias", "Learned bias"),
    ("alibi", "alibi", "ALiBi"),
    ("rotary", "rotary", "Rotary"),
    (
        "interpolated",
        "rotary-interpolated",
        "Rotary, interpolated",
    ),
    ("appended", "appended", APPENDED),
];

/// The cell `position-race`.
pub const SPEC: CellSpec = CellSpec {
    name: "position-race",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| vec![LOG],
    start,
    partial_from: None,
};

/// Which lines the chart shows; the results have all.
fn inputs() -> Vec<InputSpec> {
    let shown = |(name, _, label)| InputSpec::toggle(name, label, label != APPENDED);
    SCHEMES.map(shown).to_vec()
}

fn start(_: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let log = cache.opened::<String>(LOG)?;
    Ok(once(move || compute(&log)))
}

fn compute(log: &str) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let number = |name: &str| -> Result<usize, CellError> {
        let found = explain::run_log::setting(log, name)?;
        let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
        found.parse().map_err(wrong)
    };
    let (bucket, trained) = (number("bucket")?.max(1), number("trained")?);
    let evaluated = number("evaluated")?;
    // Within the trained length, up to twice as far, and the rest.
    let ends = [0, trained, 2 * trained, evaluated].map(|end| end / bucket);
    let ranges: Vec<Range<usize>> = ends.windows(2).map(|w| w[0]..w[1]).collect();
    let mut seeds = 0;
    for (n, (name, logged, _)) in SCHEMES.into_iter().enumerate() {
        let runs = Runs::read(log, logged, &ranges)?;
        // The others repeat the calls of the first.
        if n == 0 {
            record.calls(&runs.calls);
        }
        seeds = runs.seeds;
        tensors(&mut record, name, &runs.by_position);
        tensors(&mut record, &format!("{name}.within"), &runs.within);
    }
    let middle = |n: usize| (n * bucket) as f64 + (bucket as f64 + 1.0) / 2.0;
    record.numbers("position", (0..evaluated / bucket).map(middle).collect());
    for (name, ends) in [("from", 0), ("to", 1)] {
        let end =
            |range: &Range<usize>| [range.start * bucket + 1, range.end * bucket][ends] as f64;
        record.numbers(&format!("within.{name}"), ranges.iter().map(end).collect());
    }
    record.number("seeds", seeds as f64);
    for name in [
        "trained",
        "evaluated",
        "factor",
        "steps",
        "windows",
        "bucket",
        "vocabulary",
    ] {
        record.number(name, number(name)? as f64);
    }
    record.number("parameters", number("parameters of none")? as f64);
    let command = explain::run_log::setting(log, "command")?;
    record.words("command", vec![command.to_owned()]);
    Ok(record.finish())
}

/// The runs of one scheme: mean, lowest and highest loss over the seeds.
struct Runs {
    seeds: usize,
    /// `[3, N]`: at each position.
    by_position: Array2<f32>,
    /// `[3, ranges]`: within each range that the scheme reaches the end of.
    within: Array2<f32>,
    calls: Vec<Call>,
}

impl Runs {
    fn read(log: &str, scheme: &str, ranges: &[Range<usize>]) -> Result<Self, CellError> {
        let mut record = Record::new();
        let rows = shown!(record, explain::run_log::rows, log, "position", scheme)?;
        let by_position = shown!(record, explain::run_log::spread, rows.view())?;
        let within = shown!(record, explain::run_log::means_within, rows.view(), ranges)?;
        let within = shown!(record, explain::run_log::spread, within.view())?;
        Ok(Self {
            seeds: rows.nrows(),
            by_position,
            within,
            calls: record.finish().calls,
        })
    }
}

/// Mean, lowest and highest loss as three vectors.
fn tensors(record: &mut Record, name: &str, spread: &Array2<f32>) {
    record.tensor(name, &spread.index_axis(Axis(0), 0));
    record.tensor(&format!("{name}.low"), &spread.index_axis(Axis(0), 1));
    record.tensor(&format!("{name}.high"), &spread.index_axis(Axis(0), 2));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models");

    fn computed() -> Computation {
        let cache = ModelCache::of_folder(FOLDER);
        jobs::compute(&SPEC, &Inputs::defaults(&inputs()), &cache).unwrap()
    }

    /// The numbers are those of the log, read here a second time in another way.
    #[test]
    fn means_and_spreads_are_those_of_the_log() {
        let log = std::fs::read_to_string(format!("{FOLDER}/{LOG}")).unwrap();
        let c = computed();
        for (name, logged, _) in SCHEMES {
            let start = format!("position\t{logged}\t");
            let runs: Vec<Vec<f64>> = (log.lines())
                .filter_map(|line| line.strip_prefix(&start))
                .map(|line| {
                    line.split('\t')
                        .skip(1)
                        .filter_map(|x| x.parse().ok())
                        .collect()
                })
                .collect();
            assert_eq!(c.at("seeds", &[]), Some(runs.len() as f64));
            let count = if name == "learned" { 8 } else { 32 };
            for n in 0..count {
                let all = || runs.iter().map(|run| run[n]);
                let mean = all().sum::<f64>() / runs.len() as f64;
                assert!((c.at(name, &[n]).unwrap() - mean).abs() < 1e-5);
                let (low, high) = (all().fold(9.0, f64::min), all().fold(0.0, f64::max));
                assert!((c.at(&format!("{name}.low"), &[n]).unwrap() - low).abs() < 1e-5);
                assert!((c.at(&format!("{name}.high"), &[n]).unwrap() - high).abs() < 1e-5);
            }
            assert_eq!(c.tensor(name).unwrap().values.len(), count);
            let ranges = [0..8, 8..16, 16..32].into_iter().filter(|r| r.end <= count);
            let means = ranges.map(|r| {
                let all = runs.iter().flat_map(|run| &run[r.clone()]);
                all.sum::<f64>() / (runs.len() * r.len()) as f64
            });
            for (n, mean) in means.enumerate() {
                let found = c.at(&format!("{name}.within"), &[n]).unwrap();
                assert!((found - mean).abs() < 1e-5, "{name}: {found} {mean}");
            }
        }
        assert_eq!(c.at("position", &[0]), Some(4.5));
        assert_eq!(c.at("position", &[31]), Some(252.5));
        assert_eq!(
            (c.at("within.from", &[2]), c.at("within.to", &[2])),
            (Some(129.0), Some(256.0))
        );
    }

    /// A scheme that is not shown stays in the table.
    #[test]
    fn what_is_shown_changes_no_number() {
        let cache = ModelCache::of_folder(FOLDER);
        let hidden = Inputs::defaults(&inputs()).with("sines", InputValue::Toggle(false));
        let found = jobs::compute(&SPEC, &hidden, &cache).unwrap();
        assert_eq!(found.tensors, computed().tensors);
    }

    #[test]
    fn a_damaged_log_is_refused() {
        let log = std::fs::read_to_string(format!("{FOLDER}/{LOG}")).unwrap();
        assert!(compute(&log).is_ok());
        for (from, to) in [
            ("setting\tbucket\t8", "setting\tbucket\teight"),
            ("setting\tsteps", "setting\tstep"),
            (
                "position\tsines\t1",
                "position\twaves\t1\t-\nposition\tsines\t1\tx",
            ),
        ] {
            assert!(log.contains(from), "{from}");
            assert!(compute(&log.replace(from, to)).is_err(), "{from}");
        }
    }
}
