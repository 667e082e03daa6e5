//! A matrix on its way from a computation to the page: values, labels, and where each value came
//! from.

use std::sync::Arc;

use cells::Computation;
use cells::computation::reference;

use super::Place;

/// Rows and columns of numbers with their origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Name of the tensor, or `input:NAME`.
    pub source: String,
    /// Leading indices, for a slice of a tensor with more than two axes.
    pub prefix: Vec<usize>,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// The values, row by row.
    pub values: Arc<[f64]>,
    /// Names of the rows; empty for plain numbering.
    pub row_labels: Vec<String>,
    /// Names of the columns; empty for plain numbering.
    pub col_labels: Vec<String>,
    /// A tensor of one axis, shown as one row: `data-from` has one index.
    pub vector: bool,
    /// The names of the rows have symbols between dollar signs. Names that a reader typed may have
    /// such signs for another reason.
    pub symbols: bool,
}

impl Grid {
    /// The matrix `name` of a computation, or the slice of it behind `prefix`; `None` where there
    /// is no such tensor or the slice has more than two axes. A vector becomes one row.
    pub fn from_tensor(computation: &Computation, name: &str, prefix: Vec<usize>) -> Option<Self> {
        let tensor = computation.tensor(name)?;
        let mut slice = tensor.values.view();
        for &index in &prefix {
            if slice.ndim() == 0 || index >= slice.shape()[0] {
                return None;
            }
            slice = slice.index_axis_move(ndarray::Axis(0), index);
        }
        let (rows, cols, vector) = match *slice.shape() {
            [n] => (1, n, true),
            [rows, cols] => (rows, cols, false),
            _ => return None,
        };
        Some(Self {
            source: name.to_owned(),
            prefix,
            rows,
            cols,
            values: slice.iter().copied().collect(),
            row_labels: Vec::new(),
            col_labels: Vec::new(),
            vector,
            symbols: false,
        })
    }

    /// A matrix input of a cell; `source` is `input:NAME`.
    pub fn from_matrix(source: impl Into<String>, matrix: &ndarray::Array2<f32>) -> Self {
        Self {
            source: source.into(),
            prefix: Vec::new(),
            rows: matrix.nrows(),
            cols: matrix.ncols(),
            values: matrix.iter().map(|&x| f64::from(x)).collect(),
            row_labels: Vec::new(),
            col_labels: Vec::new(),
            vector: false,
            symbols: false,
        }
    }

    /// The same grid with names for rows and columns.
    #[must_use]
    pub fn labelled(mut self, rows: Vec<String>, cols: Vec<String>) -> Self {
        self.row_labels = rows;
        self.col_labels = cols;
        self
    }

    /// The value at a row and column.
    pub fn at(&self, row: usize, col: usize) -> Option<f64> {
        if col >= self.cols {
            return None;
        }
        self.values.get(row * self.cols + col).copied()
    }

    /// Origin of a value, as `data-from` holds it.
    pub fn from(&self, row: usize, col: usize) -> String {
        origin(&self.source, &self.prefix, self.vector, row, col)
    }

    /// Places of the smallest and the largest finite value.
    pub fn ends(&self) -> Option<(Place, Place)> {
        let finite = || {
            self.values
                .iter()
                .enumerate()
                .filter(|(_, v)| v.is_finite())
        };
        let low = finite().min_by(|a, b| a.1.total_cmp(b.1))?.0;
        let high = finite().max_by(|a, b| a.1.total_cmp(b.1))?.0;
        let place = |i: usize| (i / self.cols, i % self.cols);
        Some((place(low), place(high)))
    }

    /// Smallest and largest finite value.
    pub fn range(&self) -> Option<(f64, f64)> {
        let (low, high) = self.ends()?;
        Some((self.at(low.0, low.1)?, self.at(high.0, high.1)?))
    }

    /// Name of a row: its label, or `row 3`.
    pub fn row_name(&self, row: usize) -> String {
        named(&self.row_labels, row, "row")
    }

    /// Name of a column: its label, or `column 3`.
    pub fn col_name(&self, col: usize) -> String {
        named(&self.col_labels, col, "column")
    }
}

/// The label at `index`, or `word` with the number counted from 1.
pub(crate) fn named(labels: &[String], index: usize, word: &str) -> String {
    match labels.get(index) {
        Some(label) if !label.trim().is_empty() => label.clone(),
        _ => format!("{word} {}", index + 1),
    }
}

/// `data-from` of one element.
pub(crate) fn origin(
    source: &str,
    prefix: &[usize],
    vector: bool,
    row: usize,
    col: usize,
) -> String {
    let mut index = prefix.to_vec();
    if !vector {
        index.push(row);
    }
    index.push(col);
    reference(source, &index)
}

#[cfg(test)]
mod tests {
    use super::Grid;
    use cells::{Computation, Tensor};
    use ndarray::{Array1, Array3};

    fn computation() -> Computation {
        let mut c = Computation::default();
        let heads = Array3::from_shape_fn((2, 2, 3), |(h, i, j)| (100 * h + 10 * i + j) as f32);
        c.tensors.insert("heads".into(), Tensor::from_f32(&heads));
        c.tensors.insert(
            "row".into(),
            Tensor::from_f32(&Array1::from_vec(vec![3.0_f32, -1.0, f32::NEG_INFINITY])),
        );
        c
    }

    #[test]
    fn slices_keep_their_origin() {
        let grid = Grid::from_tensor(&computation(), "heads", vec![1]).unwrap();
        assert_eq!((grid.rows, grid.cols), (2, 3));
        assert_eq!(grid.at(1, 2), Some(112.0));
        assert_eq!(grid.from(1, 2), "heads[1,1,2]");
        assert_eq!(computation().resolve(&grid.from(1, 2)), Some(112.0));
        assert_eq!(grid.at(0, 3), None, "a column too far is not the next row");
        assert_eq!(grid.at(2, 0), None);
        assert!(Grid::from_tensor(&computation(), "heads", vec![2]).is_none());
        assert!(Grid::from_tensor(&computation(), "heads", vec![]).is_none());
        assert!(Grid::from_tensor(&computation(), "nothing", vec![]).is_none());
    }

    #[test]
    fn vectors_have_one_index_and_infinities_no_part_in_the_range() {
        let grid = Grid::from_tensor(&computation(), "row", vec![]).unwrap();
        assert_eq!(grid.from(0, 1), "row[1]");
        assert_eq!(grid.range(), Some((-1.0, 3.0)));
        assert_eq!(grid.ends(), Some(((0, 1), (0, 0))));
        assert_eq!(
            (grid.row_name(0), grid.col_name(2)),
            ("row 1".into(), "column 3".into())
        );
    }
}
