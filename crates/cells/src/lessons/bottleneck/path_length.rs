//! Steps between two positions of a sentence, and the way itself, for four ways of joining
//! positions.

use std::collections::BTreeMap;

use explain::path;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::words::tokens;
use crate::spec::{CellSpec, Run};

/// Most words that the cell draws.
pub const MOST: usize = 24;

/// Longest sentence of the chart.
const LONGEST: usize = 64;

/// The cell `path-length`.
pub const SPEC: CellSpec = CellSpec {
    name: "path-length",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let place = (1.0, MOST as f64, 1.0);
    vec![
        InputSpec::text(
            "sentence",
            "Sentence",
            "The cat that the dog that the boy owned chased ran away.",
        ),
        InputSpec::number("from", "From word", place, 2.0),
        InputSpec::number("to", "To word", place, 11.0),
        InputSpec::number("kernel", "k, words in a kernel", (2.0, 9.0, 1.0), 3.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let words = tokens(inputs, "sentence", "Sentence", MOST)?;
    let count = words.len();
    // A shorter sentence has a last word too.
    let place = |name| Ok::<usize, CellError>(inputs.count(name)?.min(count) - 1);
    let (from, to) = (place("from")?, place("to")?);
    let kernel = inputs.count("kernel")?;
    let mut record = Record::new();
    let paths = [
        (
            "recurrent",
            shown!(record, explain::path::recurrent, from, to),
        ),
        (
            "contiguous",
            shown!(record, explain::path::contiguous, from, to, kernel)?,
        ),
        (
            "dilated",
            shown!(record, explain::path::dilated, from, to, kernel)?,
        ),
        (
            "attention",
            shown!(record, explain::path::attention, from, to),
        ),
    ];
    for (name, path) in paths {
        record.number(&format!("steps.{name}"), steps(&path));
        let places = path.iter().map(|&at| (at + 1) as f64).collect();
        record.numbers(&format!("path.{name}"), places);
    }
    for (name, path) in ends(count, kernel)? {
        record.number(&format!("most.{name}"), steps(&path));
    }
    curves(&mut record, kernel)?;
    record.number("kernel", kernel as f64);
    record.number("from", (from + 1) as f64);
    record.number("to", (to + 1) as f64);
    record.number("count", count as f64);
    record.number("distance", from.abs_diff(to) as f64);
    record.words("tokens", words);
    Ok(record.finish())
}

/// For each way of joining, the steps between the ends of 2, 3, … words.
fn curves(record: &mut Record, kernel: usize) -> Result<(), CellError> {
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for n in 2..=LONGEST {
        for (name, path) in ends(n, kernel)? {
            all.entry(name).or_default().push(steps(&path));
        }
    }
    for (name, curve) in all {
        record.numbers(&format!("curve.{name}"), curve);
    }
    record.numbers("curve.length", (2..=LONGEST).map(|n| n as f64).collect());
    Ok(())
}

/// The ways between the ends of `count` positions.
fn ends(count: usize, kernel: usize) -> Result<[(&'static str, Vec<usize>); 4], CellError> {
    let last = count - 1;
    Ok([
        ("recurrent", path::recurrent(0, last)),
        ("contiguous", path::contiguous(0, last, kernel)?),
        ("dilated", path::dilated(0, last, kernel)?),
        ("attention", path::attention(0, last)),
    ])
}

fn steps(path: &[usize]) -> f64 {
    path.len().saturating_sub(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn at(found: &Computation, names: &str) -> [f64; 4] {
        ["recurrent", "contiguous", "dilated", "attention"]
            .map(|name| found.at(&format!("{names}.{name}"), &[]).unwrap())
    }

    /// From the cat to its verb: n steps, n/k layers, log_k n layers, one.
    #[test]
    fn the_cat_is_far_from_its_verb_unless_one_can_look() {
        let found = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        assert_eq!(found.words("tokens")[1], "cat");
        assert_eq!(found.words("tokens")[10], "ran");
        assert_eq!(at(&found, "steps"), [9.0, 5.0, 3.0, 1.0]);
        assert_eq!(at(&found, "most"), [12.0, 6.0, 3.0, 1.0]);
        let way = &found.tensor("path.dilated").unwrap().values;
        assert_eq!(
            way.iter().copied().collect::<Vec<_>>(),
            [2.0, 2.0, 2.0, 11.0]
        );
        for name in ["recurrent", "contiguous", "dilated", "attention"] {
            let at_13 = found.at(&format!("curve.{name}"), &[11]);
            assert_eq!(at_13, found.at(&format!("most.{name}"), &[]), "{name}");
        }
    }

    /// A position after the end of a shorter sentence means its last word; a word is no step from
    /// itself.
    #[test]
    fn places_stay_inside_the_sentence() {
        let given =
            Inputs::defaults(&inputs()).with("sentence", InputValue::Text("Birds fly".to_owned()));
        let found = SPEC.compute(&given).unwrap();
        assert_eq!(found.at("to", &[]), Some(2.0));
        assert_eq!(at(&found, "steps"), [0.0; 4]);
        let given = given.with("from", InputValue::Number(1.0));
        assert_eq!(at(&SPEC.compute(&given).unwrap(), "steps"), [1.0; 4]);
    }
}
