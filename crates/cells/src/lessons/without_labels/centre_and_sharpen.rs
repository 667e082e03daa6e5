//! A teacher's outputs for four pictures, centred and sharpened or not, and the two entropies that tell a
//! collapse.

use engine::math;
use ndarray::{Array1, Axis, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// Pictures, and outputs of each.
pub const SIZE: usize = 4;

/// The cell `centre-and-sharpen`.
pub const SPEC: CellSpec = CellSpec {
    name: "centre-and-sharpen",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    // Every picture has its largest output first, and another one that is larger than usual.
    let outputs = arr2(&[
        [3.0, 1.0, 0.2, 0.4],
        [2.6, 1.6, 0.2, 0.4],
        [2.8, 1.0, 0.8, 0.4],
        [2.8, 1.0, 0.2, 1.0],
    ]);
    let size = (SIZE, SIZE);
    vec![
        InputSpec::matrix("outputs", "Teacher\u{2019}s outputs", size, size, outputs),
        InputSpec::toggle("centring", "Centring", true),
        InputSpec::number("tau", "Temperature $\u{3c4}$", (0.01, 10.0, 0.01), 0.04),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let (outputs, tau) = (inputs.matrix("outputs")?, inputs.number("tau")? as f32);
    let mean = outputs.mean_axis(Axis(0));
    let centre = match inputs.toggle("centring")? {
        true => mean.unwrap_or_else(|| Array1::zeros(SIZE)),
        false => Array1::zeros(SIZE),
    };
    let found = shown!(
        record,
        explain::centre_and_sharpen::targets,
        outputs.view(),
        centre.view(),
        tau
    )?;
    record.tensor("centre", &centre);
    record.tensor("centred", &found.centred);
    record.tensor("probabilities", &found.probabilities);
    record.tensor("mean", &found.mean);
    record.number("all.entropy", f64::from(found.entropy_of_mean));
    record.number("each.entropy", f64::from(found.mean_entropy));
    record.number("most", f64::from(math::ln(SIZE as f32)));
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::number;

    fn pair(centring: bool, tau: f64) -> (f64, f64) {
        let given = Inputs::defaults(&inputs())
            .with("centring", InputValue::Toggle(centring))
            .with("tau", number(tau));
        let c = SPEC.compute(&given).unwrap();
        let at = |name: &str| c.at(name, &[]).unwrap();
        (at("all.entropy"), at("each.entropy"))
    }

    /// What the lesson says: with both, each picture is sure and all outputs are used; without the centre
    /// all are sure of the first output, without sharpening none is sure of any.
    #[test]
    fn which_collapse_has_which_entropies() {
        let most = 4.0_f64.ln();
        let (all, each) = pair(true, 0.04);
        assert!(all > most - 0.01 && each < 0.05, "{all} {each}");
        let (all, each) = pair(false, 0.04);
        assert!(all < 1e-6 && each < 1e-6, "{all} {each}");
        let (all, each) = pair(true, 10.0);
        assert!(all > most - 0.001 && each > most - 0.001, "{all} {each}");
    }

    /// The default outputs are largest in the first column, for every picture.
    #[test]
    fn every_picture_has_the_same_largest_output() {
        let given = Inputs::defaults(&inputs());
        let outputs = given.matrix("outputs").unwrap();
        for row in outputs.rows() {
            assert!(row.iter().skip(1).all(|&x| x < row[0]));
        }
    }
}
