//! A matrix times a vector: the dot products of its rows, and the grid of the plane as the matrix
//! moves it.

use ndarray::{Array2, ArrayView1, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The lines of the grid are at the whole numbers up to this one, on both sides of zero, and this
/// long.
const LAST: i8 = 3;

/// The cell `matrix-vector`.
pub const SPEC: CellSpec = CellSpec {
    name: "matrix-vector",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let side = (2, 2);
    let shear = arr2(&[[1.0, 0.5], [0.0, 1.0]]);
    vec![
        InputSpec::matrix("w", "Matrix $W$", side, side, shear),
        InputSpec::matrix("x", "Vector $x$", (1, 1), side, arr2(&[[1.0, 2.0]])),
    ]
}

/// The two ends of each line of the grid, one point a row.
fn ends() -> Array2<f32> {
    let last = f32::from(LAST);
    let across = (-LAST..=LAST).map(f32::from);
    let lines = across.flat_map(|at| [[at, -last], [at, last], [-last, at], [last, at]]);
    let lines: Vec<[f32; 2]> = lines.collect();
    arr2(&lines)
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (w, x) = (inputs.matrix("w")?, inputs.matrix("x")?);
    let no_bias: Option<ArrayView1<'_, f32>> = None;
    let mut record = Record::new();
    let output = shown!(
        record,
        engine::nn::linear::linear,
        x.view(),
        w.view(),
        no_bias
    )?;
    let mut terms = Array2::zeros(w.dim());
    for (row, mut slot) in w.rows().into_iter().zip(terms.rows_mut()) {
        slot.assign(&explain::similarity::products(row, x.row(0))?);
    }
    // The columns are what becomes of the arrows of length one along the axes.
    let units = Array2::eye(w.ncols());
    let columns = engine::nn::linear::linear(units.view(), w.view(), no_bias)?;
    let ends = ends();
    let moved = engine::nn::linear::linear(ends.view(), w.view(), no_bias)?;
    record.tensor("terms", &terms);
    record.tensor("output", &output.row(0));
    record.tensor("columns", &columns);
    record.tensor("grid", &moved);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn of(w: [[f32; 2]; 2], x: [f32; 2]) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("w", InputValue::Matrix(arr2(&w)))
            .with("x", InputValue::Matrix(arr2(&[x])));
        SPEC.compute(&given).unwrap()
    }

    fn pair(c: &Computation, name: &str, prefix: &[usize]) -> [f64; 2] {
        [0, 1].map(|j| c.at(name, &[prefix, &[j]].concat()).unwrap())
    }

    /// Each number of the result is the dot product of a row with the vector.
    #[test]
    fn the_result_is_the_rows_dot_products() {
        let c = of([[2.0, -1.0], [0.5, 3.0]], [1.0, 4.0]);
        assert_eq!(pair(&c, "output", &[]), [-2.0, 12.5]);
        assert_eq!(pair(&c, "terms", &[0]), [2.0, -4.0]);
        assert_eq!(pair(&c, "terms", &[1]), [0.5, 12.0]);
    }

    /// The arrows along the axes become the columns, and the result is their mixture.
    #[test]
    fn the_columns_are_what_becomes_of_the_axes() {
        let c = of([[2.0, -1.0], [0.5, 3.0]], [1.5, -2.0]);
        let (right, up) = (pair(&c, "columns", &[0]), pair(&c, "columns", &[1]));
        assert_eq!((right, up), ([2.0, 0.5], [-1.0, 3.0]));
        let output = pair(&c, "output", &[]);
        for j in 0..2 {
            assert!((1.5 * right[j] - 2.0 * up[j] - output[j]).abs() < 1e-6);
        }
    }

    /// The matrices of the view's buttons: a turn keeps lengths, and the flat one sends the whole
    /// grid to one line.
    #[test]
    fn a_turn_keeps_lengths_and_the_flat_matrix_keeps_one_line() {
        let turned = of([[0.8, -0.6], [0.6, 0.8]], [1.0, 2.0]);
        let [right, up] = pair(&turned, "output", &[]);
        assert!((right * right + up * up - 5.0).abs() < 1e-5);
        let flat = of([[1.0, 1.0], [0.5, 0.5]], [1.0, 2.0]);
        for row in 0..flat.tensor("grid").unwrap().shape()[0] {
            let [right, up] = pair(&flat, "grid", &[row]);
            assert!((up - 0.5 * right).abs() < 1e-6);
        }
    }

    /// Whatever the matrix, points at equal distances on a line are so afterwards: parallel lines
    /// stay parallel, and the origin stays where it is.
    #[test]
    fn lines_stay_lines() {
        let c = of([[1.3, -0.4], [0.7, 2.0]], [0.0, 0.0]);
        assert_eq!(pair(&c, "output", &[]), [0.0, 0.0]);
        let line = |n: usize, end: usize| pair(&c, "grid", &[4 * n + end]);
        for n in 1..7 {
            for end in 0..4 {
                let (before, after) = (line(n - 1, end), line(n, end));
                let (first, second) = (line(0, end), line(1, end));
                for j in 0..2 {
                    let step = second[j] - first[j];
                    assert!((after[j] - before[j] - step).abs() < 1e-5);
                }
            }
        }
    }
}
