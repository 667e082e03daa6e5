//! The learning rate of the 2017 paper, step by step.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The last step that is drawn, and the distance between two points.
const STEPS: (u64, u64) = (20_000, 100);

/// The cell `learning-rate`.
pub const SPEC: CellSpec = CellSpec {
    name: "learning-rate",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("width", "Width $C$", (64.0, 2_048.0, 64.0), 512.0),
        InputSpec::number("warmup", "Warm-up steps", (400.0, 16_000.0, 100.0), 4_000.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let (c, warmup) = (
        inputs.count("width")? as u64,
        inputs.count("warmup")? as u64,
    );
    let peak = shown!(record, explain::paper_rate::rate, c, warmup, warmup);
    let rate = |n: u64| explain::paper_rate::rate(c, warmup, n);
    let (last, apart) = STEPS;
    let steps: Vec<u64> = std::iter::once(1)
        .chain((1..=last / apart).map(|n| n * apart))
        .collect();
    record.numbers("step", steps.iter().map(|&n| n as f64).collect());
    record.numbers("rate", steps.iter().map(|&n| rate(n)).collect());
    record.number("warmup", warmup as f64);
    record.number("peak", peak);
    record.number("first", rate(1));
    record.number("last.step", last as f64);
    record.number("last", rate(last));
    record.number("half", rate(4 * warmup) / peak);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::number;

    fn of(width: f64, warmup: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("width", number(width))
            .with("warmup", number(warmup));
        SPEC.compute(&given).unwrap()
    }

    /// What the lesson says: the peak, and half of it after four times as many steps.
    #[test]
    fn the_rate_climbs_and_falls_as_the_paper_says() {
        let c = of(512.0, 4_000.0);
        let at = |name: &str| c.at(name, &[]).unwrap();
        assert!((at("peak") - 6.988e-4).abs() < 1e-7);
        assert!((at("half") - 0.5).abs() < 1e-12);
        let rate = &c.tensor("rate").unwrap().values;
        let highest = rate.iter().copied().fold(0.0, f64::max);
        assert_eq!(highest, at("peak"));
        // Four times the width halves every rate.
        let wide = of(2_048.0, 4_000.0);
        assert!((wide.at("peak", &[]).unwrap() / at("peak") - 0.5).abs() < 1e-12);
    }
}
