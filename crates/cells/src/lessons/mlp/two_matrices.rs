//! Two matrices with a ReLU between them or without, the plane before and after, and the one matrix
//! that both are without it.

use engine::nn::feed_forward::Activation;
use ndarray::{Array2, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The lines of the grid are this far apart, from −1 to 1, and made of pieces that are half as long.
const GAP: f32 = 0.5;

/// Lines of the grid in each direction.
const LINES: usize = 5;

/// Pieces of a line.
const PIECES: usize = 8;

/// The cell `two-matrices`.
pub const SPEC: CellSpec = CellSpec {
    name: "two-matrices",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let w_1 = arr2(&[[1.0, -0.6, -0.5], [0.2, 1.0, -1.1]]);
    let w_2 = arr2(&[[1.0, 0.1], [-0.4, 0.9], [-0.5, -0.8]]);
    vec![
        InputSpec::toggle("relu", "ReLU between them", true),
        InputSpec::toggle("multiplied", "Multiply them out", false),
        InputSpec::matrix("x", "Vector $x$", (1, 1), (2, 2), arr2(&[[0.8, 0.6]])),
        InputSpec::matrix("w_1", "First matrix $W_1$", (2, 2), (3, 3), w_1),
        InputSpec::matrix("w_2", "Second matrix $W_2$", (3, 3), (2, 2), w_2),
    ]
}

/// The two ends of each piece of each line of the grid, one point a row.
fn ends() -> Array2<f32> {
    let last = (LINES - 1) as f32 / 2.0;
    let mut points = Vec::new();
    for line in 0..LINES {
        let at = GAP * (line as f32 - last);
        for piece in 0..PIECES {
            let from = GAP / 2.0 * piece as f32 - 1.0;
            let to = from + GAP / 2.0;
            points.extend([[at, from], [at, to], [from, at], [to, at]]);
        }
    }
    arr2(&points)
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (w_1, w_2) = (inputs.matrix("w_1")?.view(), inputs.matrix("w_2")?.view());
    let x = inputs.matrix("x")?.view();
    let activation = inputs.toggle("relu")?.then_some(Activation::Relu);
    let mut record = Record::new();
    let output = shown!(record, explain::two_matrices::mlp, x, w_1, w_2, activation)?;
    let product = shown!(record, explain::two_matrices::multiplied, w_1, w_2)?;
    let mirror = explain::two_matrices::mlp(x.mapv(|x| -x).view(), w_1, w_2, activation)?;
    let single = engine::nn::linear::project(x, product.view())?;
    // Before and after the ReLU.
    let before = engine::nn::linear::project(x, w_1)?;
    let mut hidden = before.clone();
    if let Some(activation) = activation {
        activation.apply(&mut hidden);
    }
    let ends = ends();
    let grid = explain::two_matrices::mlp(ends.view(), w_1, w_2, activation)?;
    let straight = engine::nn::linear::project(ends.view(), product.view())?;
    let apart = (&grid - &straight).fold(0.0_f32, |most, d| most.max(d.abs()));
    for (name, tensor) in [
        ("before", &before),
        ("hidden", &hidden),
        ("output", &output),
        ("mirror", &mirror),
        ("single", &single),
    ] {
        record.tensor(name, &tensor.row(0));
    }
    record.tensor("product", &product);
    record.tensor("grid", &grid);
    record.tensor("grid.single", &straight);
    record.number("apart", f64::from(apart));
    record.number(
        "multiplied",
        f64::from(u8::from(inputs.toggle("multiplied")?)),
    );
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn given(relu: bool) -> Inputs {
        Inputs::defaults(&inputs()).with("relu", InputValue::Toggle(relu))
    }

    fn of(given: &Inputs) -> Computation {
        SPEC.compute(given).unwrap()
    }

    fn at(c: &Computation, name: &str, n: usize) -> f64 {
        c.at(name, &[n]).unwrap()
    }

    /// What the lesson says: without the ReLU the product of the matrices does the same, up to
    /// rounding, and −x gives minus what x gives; with it neither is so.
    #[test]
    fn only_without_the_relu_two_matrices_are_one() {
        let (without, with) = (of(&given(false)), of(&given(true)));
        assert!(without.at("apart", &[]).unwrap() < 1e-6);
        assert!(with.at("apart", &[]).unwrap() > 0.3);
        let sum = |c: &Computation, n: usize| at(c, "output", n) + at(c, "mirror", n);
        for n in 0..2 {
            assert!(sum(&without, n).abs() < 1e-6);
            assert!((at(&without, "single", n) - at(&without, "output", n)).abs() < 1e-6);
        }
        assert!(sum(&with, 0).abs() > 0.3 || sum(&with, 1).abs() > 0.3);
    }

    /// Whatever the matrices, without the ReLU the pieces of a line have the same direction.
    #[test]
    fn without_the_relu_lines_stay_straight() {
        let w_1 = engine::rng::normal_matrix(4, "1", 2, 3, 1.0);
        let given = given(false).with("w_1", InputValue::Matrix(w_1));
        let c = of(&given);
        for line in 0..LINES {
            let piece = |piece: usize, axis: usize| {
                let row = 4 * (line * PIECES + piece);
                c.at("grid", &[row + 1, axis]).unwrap() - c.at("grid", &[row, axis]).unwrap()
            };
            for n in 1..PIECES {
                for axis in 0..2 {
                    assert!((piece(n, axis) - piece(0, axis)).abs() < 1e-5);
                }
            }
        }
    }

    /// The example of the lesson: a fold, which no single matrix can make.
    #[test]
    fn two_neurons_fold_the_plane() {
        let folded = given(true)
            .with(
                "w_1",
                InputValue::Matrix(arr2(&[[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])),
            )
            .with(
                "w_2",
                InputValue::Matrix(arr2(&[[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])),
            );
        let c = of(&folded);
        assert_eq!(at(&c, "output", 0), at(&c, "mirror", 0));
        assert!((at(&c, "output", 0) - 0.8).abs() < 1e-6);
    }
}
