//! A table of learned positions on a grid, brought to another grid in the two simplest ways, to compare
//! with the engine's interpolation; and a model that reads with whatever table it is given.
//!
//! ```text
//! nearest:           row r' takes row ⌊(r' + 1/2) · H / H'⌋, and so do columns      [H·W, C] -> [H'·W', C]
//! in_reading_order:  patch n takes entry n mod (H·W), whatever the grid             [H·W, C] -> [N, C]
//! ```
//!
//! ```
//! use explain::grid_positions::{in_reading_order, nearest};
//! use ndarray::array;
//! let table = array![[0.0], [1.0], [2.0], [3.0]]; // 2 x 2
//! let found = nearest(table.view(), (2, 2), (2, 3))?;
//! assert_eq!(found.column(0).to_vec(), [0.0, 1.0, 1.0, 2.0, 3.0, 3.0]);
//! let found = in_reading_order(table.view(), 6)?;
//! assert_eq!(found.column(0).to_vec(), [0.0, 1.0, 2.0, 3.0, 0.0, 1.0]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: `torch.nn.functional.interpolate(mode="nearest-exact")`; Dosovitskiy et al. 2021, section
//! 3.2, for what pictures of another size need.

use engine::error::{EngineError, Result};
use engine::trace::Observer;
use ndarray::{Array2, ArrayView2, ArrayViewD, ArrayViewMutD, Axis};

/// The table of another grid: each new patch takes the vector of the nearest old one. Grids are (rows,
/// columns).
///
/// # Errors
/// When the table has not one row for each patch of `from`, or none.
pub fn nearest(
    table: ArrayView2<'_, f32>,
    from: (usize, usize),
    to: (usize, usize),
) -> Result<Array2<f32>> {
    // table [H·W, C] -> [H'·W', C]
    check(table, from.0 * from.1)?;
    let old = |new: usize, from: usize, to: usize| (2 * new + 1) * from / (2 * to);
    let places = (0..to.0 * to.1).map(|n| {
        let (row, column) = (old(n / to.1, from.0, to.0), old(n % to.1, from.1, to.1));
        row * from.1 + column
    });
    Ok(table.select(Axis(0), &places.collect::<Vec<_>>()))
}

/// The entries of the table in the order of the patches, from the first again when all are used: what a
/// program does that counts patches and forgets the grid.
///
/// # Errors
/// When the table is empty.
pub fn in_reading_order(table: ArrayView2<'_, f32>, patches: usize) -> Result<Array2<f32>> {
    // table [H·W, C] -> [N, C]
    check(table, table.nrows())?;
    let places: Vec<usize> = (0..patches).map(|n| n % table.nrows()).collect();
    Ok(table.select(Axis(0), &places))
}

fn check(table: ArrayView2<'_, f32>, rows: usize) -> Result<()> {
    if rows == 0 || table.nrows() != rows {
        let expected = format!("{rows} rows, at least 1");
        return Err(EngineError::shape(
            "grid_positions",
            expected,
            format!("{}", table.nrows()),
        ));
    }
    Ok(())
}

/// An observer that gives a Vision Transformer other vectors for the positions of its patches. That of
/// a token before them, the class token, stays. A table of another size changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct WithPositions {
    /// `[N, C]`, a row for each patch.
    pub patches: Array2<f32>,
}

impl Observer for WithPositions {
    fn observe(&mut self, _: &str, _: ArrayViewD<'_, f32>) {}

    fn change(&mut self, name: &str, mut tensor: ArrayViewMutD<'_, f32>) {
        let (rows, width) = self.patches.dim();
        let fits = tensor.ndim() == 2 && tensor.shape()[1] == width && tensor.shape()[0] >= rows;
        if name == "positions" && fits {
            let before = tensor.shape()[0] - rows;
            for (row, own) in self.patches.outer_iter().enumerate() {
                tensor.index_axis_mut(Axis(0), before + row).assign(&own);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::formula::{Formula, image};
    use engine::model::vit::{Config, Pooling, Vit};
    use engine::nn::position::interpolate::bicubic;
    use engine::trace::Recorder;

    /// A table whose entries name their own row and column.
    fn grid(rows: usize, columns: usize) -> Array2<f32> {
        Array2::from_shape_fn((rows * columns, 2), |(n, axis)| {
            [n / columns, n % columns][axis] as f32
        })
    }

    #[test]
    fn the_nearest_entry_is_the_one_whose_centre_is_nearest() {
        for (from, to) in [(7, 12), (7, 8), (7, 5), (3, 3), (1, 4)] {
            let found = nearest(grid(from, from).view(), (from, from), (to, to)).unwrap();
            for n in 0..to * to {
                for (axis, new) in [n / to, n % to].into_iter().enumerate() {
                    let centre = (new as f32 + 0.5) * from as f32 / to as f32;
                    let apart = (found[[n, axis]] + 0.5 - centre).abs();
                    assert!(apart <= 0.5 + 1e-5, "{from} {to}: {apart}");
                }
            }
        }
        assert!(nearest(grid(2, 2).view(), (2, 3), (4, 4)).is_err());
        assert!(in_reading_order(Array2::zeros((0, 2)).view(), 4).is_err());
    }

    #[test]
    fn the_same_grid_keeps_the_table() {
        let table = grid(7, 7);
        assert_eq!(nearest(table.view(), (7, 7), (7, 7)).unwrap(), table);
        assert_eq!(in_reading_order(table.view(), 49).unwrap(), table);
        let few = in_reading_order(table.view(), 25).unwrap();
        assert_eq!(few, table.view().split_at(Axis(0), 25).0);
    }

    fn vit() -> Vit {
        let config = Config {
            width: 8,
            heads: 2,
            layers: 1,
            inner: 16,
            channels: 3,
            patch: 4,
            image: 8,
            classes: 5,
            norm_eps: 1e-6,
            pooling: Pooling::Class,
            positions: true,
        };
        Vit::load(config.clone(), &mut Formula::new(0, config.shapes())).unwrap()
    }

    /// The model with the interpolated table is the model that interpolates by itself.
    #[test]
    fn a_model_reads_with_the_table_that_it_is_given() {
        let (vit, picture) = (vit(), image(12, 0));
        let table = vit.tokens().positions.clone().unwrap();
        let (_, patches) = table.view().split_at(Axis(0), 1);
        let own = vit.forward(picture.view(), None).unwrap();
        let mut given = WithPositions {
            patches: bicubic(patches, (2, 2), (3, 3)).unwrap(),
        };
        let found = vit.forward(picture.view(), Some(&mut given)).unwrap();
        assert!((&own - &found).iter().all(|d| d.abs() < 1e-5));
        let mut other = WithPositions {
            patches: in_reading_order(patches, 9).unwrap(),
        };
        let found = vit.forward(picture.view(), Some(&mut other)).unwrap();
        assert!((&own - &found).iter().any(|d| d.abs() > 1e-3));
    }

    /// The vector of the class token is left alone, and what does not fit is not taken.
    #[test]
    fn only_the_positions_of_patches_change() {
        let vit = vit();
        let table = vit.tokens().positions.clone().unwrap();
        for (rows, taken) in [(4, true), (9, false)] {
            let patches = Array2::from_elem((rows, 8), 3.0);
            let mut both = Both(WithPositions { patches }, Recorder::default());
            vit.forward(image(8, 0).view(), Some(&mut both)).unwrap();
            let found = both.1.get("positions").unwrap();
            let class = found.index_axis(Axis(0), 0);
            assert_eq!(class, table.row(0).into_dyn());
            assert_eq!(found[[1, 0]] == 3.0, taken);
        }
    }

    /// An observer that changes, and one that keeps.
    struct Both(WithPositions, Recorder);

    impl Observer for Both {
        fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
            self.1.observe(name, tensor);
        }

        fn change(&mut self, name: &str, tensor: ArrayViewMutD<'_, f32>) {
            self.0.change(name, tensor);
        }
    }
}
