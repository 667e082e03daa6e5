//! Two published laws of how large a model should be for a budget of training, and where they
//! disagree.

use explain::scaling_laws::{hoffmann_parameters, kaplan_parameters, ratio_parameters};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The laws, as tensors are named after them.
pub const LAWS: [&str; 3] = ["kaplan", "hoffmann", "ratio"];

/// Smallest and largest budget, as powers of ten of operations.
const BUDGETS: (f64, f64) = (18.0, 26.0);

/// The cell `scaling-laws`.
pub const SPEC: CellSpec = CellSpec {
    name: "scaling-laws",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![InputSpec::number(
        "power",
        "Budget: power of ten of operations",
        (BUDGETS.0, BUDGETS.1, 0.01),
        23.76,
    )]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let operations = engine::math::double::pow(10.0, inputs.number("power")?);
    let mut record = Record::new();
    let sizes = [
        shown!(record, explain::scaling_laws::kaplan_parameters, operations),
        shown!(
            record,
            explain::scaling_laws::hoffmann_parameters,
            operations
        ),
        shown!(record, explain::scaling_laws::ratio_parameters, operations),
    ];
    for (name, size) in LAWS.into_iter().zip(sizes) {
        let read = shown!(record, explain::scaling_laws::tokens, operations, size);
        let loss = shown!(record, explain::scaling_laws::hoffmann_loss, size, read);
        record.number(&format!("{name}.parameters"), size / 1e9);
        record.number(&format!("{name}.tokens"), read / 1e9);
        record.number(&format!("{name}.each"), read / size);
        record.number(&format!("{name}.loss"), loss);
    }
    record.number("operations", operations);
    record.number("disagreement", sizes[0] / sizes[1]);
    curves(&mut record);
    Ok(record.finish())
}

/// The sizes against the budget.
fn curves(record: &mut Record) {
    let powers = || (0..=16).map(|n| BUDGETS.0 + 0.5 * f64::from(n));
    let budgets: Vec<f64> = powers()
        .map(|power| engine::math::double::pow(10.0, power))
        .collect();
    let laws = [kaplan_parameters, hoffmann_parameters, ratio_parameters];
    for (name, law) in LAWS.into_iter().zip(laws) {
        let curve = budgets.iter().map(|&budget| law(budget)).collect();
        record.numbers(&format!("{name}.curve"), curve);
    }
    record.numbers("budgets", budgets);
}

#[cfg(test)]
mod tests {
    use explain::scaling_laws::{hoffmann_loss, tokens};

    use super::*;
    use crate::input::InputValue;

    fn with(power: f64) -> Computation {
        let given = Inputs::defaults(&inputs()).with("power", InputValue::Number(power));
        SPEC.compute(&given).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says of the budget of Chinchilla: 25 times as many parameters after Kaplan,
    /// and a higher loss by the other law.
    #[test]
    fn the_laws_disagree_about_large_budgets() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        let disagreement = number(&c, "disagreement");
        assert!((24.0..26.0).contains(&disagreement), "{disagreement}");
        let loss = |name: &str| number(&c, &format!("{name}.loss"));
        assert!(loss("hoffmann") < loss("ratio") && loss("ratio") < loss("kaplan"));
        assert!((number(&c, "ratio.each") - 20.0).abs() < 1e-9);
        assert!(number(&c, "kaplan.each") < 1.0);
        // The curves come nearer for small budgets.
        assert!(number(&with(19.0), "disagreement") < disagreement);
    }

    /// Every row spends the whole budget.
    #[test]
    fn each_row_spends_the_budget() {
        for power in [18.0, 21.3, 26.0] {
            let c = with(power);
            let operations = number(&c, "operations");
            for name in LAWS {
                let of = |what: &str| 1e9 * number(&c, &format!("{name}.{what}"));
                let spent = 6.0 * of("parameters") * of("tokens");
                assert!((spent / operations - 1.0).abs() < 1e-9, "{name}");
                assert!(number(&c, &format!("{name}.loss")) > hoffmann_loss(1e15, 1e15));
            }
        }
        assert!((tokens(6e20, 1e10) - 1e10).abs() < 1.0);
    }
}
