//! Digits in another size, read by digit-vit with its table of positions brought to the larger grid in
//! three ways.

use std::sync::Arc;

use engine::model::vit::Vit;
use explain::drawn_digits::digit;
use explain::grid_positions::WithPositions;
use ndarray::{Array1, Array2, Array3, ArrayView2, Axis, stack};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::digit_models;
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Side of a patch in pixels.
pub const SIDE: usize = 4;

/// Patches along a side in training.
const TRAINED: (usize, usize) = (7, 7);

/// Digits to read.
const DIGITS: usize = 200;

/// The ways to bring the table to another grid.
const WAYS: [&str; 3] = ["cubic", "nearest", "order"];

/// The cell `interpolate`.
pub const SPEC: CellSpec = CellSpec {
    name: "interpolate",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = digit_models::entry(SPEC.name, start);

fn inputs() -> Vec<InputSpec> {
    let most = DIGITS as f64;
    vec![
        InputSpec::number(
            "size",
            "Side of the picture in pixels",
            (20.0, 56.0, 4.0),
            48.0,
        ),
        InputSpec::number("steps", "Digits", (0.0, most, 1.0), 1.0),
    ]
}

/// Begins to measure.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let vit = digit_models::vit(cache)?;
    let reader = Reader::new(vit, inputs.count("size")?)?;
    Ok(Box::new(Training::new(inputs, vec![reader], show)?))
}

/// The model with three tables, and how many digits it has read with each.
struct Reader {
    vit: Arc<Vit>,
    size: usize,
    /// In the order of [`WAYS`].
    tables: [WithPositions; 3],
    right: [usize; 3],
    steps: usize,
    last: Option<Last>,
    calls: Vec<Call>,
}

/// The digit that was read last.
struct Last {
    label: usize,
    picture: Array3<f32>,
    /// `[3, 10]`, a row for each way.
    probabilities: Array2<f32>,
}

/// A grid as high as wide.
fn square(size: usize) -> (usize, usize) {
    (size / SIDE, size / SIDE)
}

impl Reader {
    fn new(vit: Arc<Vit>, size: usize) -> Result<Self, CellError> {
        let mut record = Record::new();
        let missing = || CellError::Missing("a table of positions".to_owned());
        let all = vit.tokens().positions.as_ref().ok_or_else(missing)?;
        // The vector of the class token comes first, and belongs to no place.
        let first = usize::from(vit.has_class_token());
        let (_, table) = all.view().split_at(Axis(0), first);
        let tables = brought(&mut record, table, square(size))?;
        let tables = tables.map(|patches| WithPositions { patches });
        Ok(Self {
            vit,
            size,
            tables,
            right: [0; 3],
            steps: 0,
            last: None,
            calls: record.finish().calls,
        })
    }

    /// The probabilities of a picture with one of the tables.
    fn read(
        &self,
        record: &mut Record,
        way: usize,
        image: &Array3<f32>,
    ) -> Result<Vec<f32>, CellError> {
        let (vit, picture) = (&*self.vit, image.view());
        let mut positions = self.tables[way].clone();
        // The first digit is noted for "Show the Rust"; all others repeat its calls.
        let logits = match self.steps {
            0 => shown!(
                record,
                engine::model::vit::Vit::forward,
                vit,
                picture,
                Some(&mut positions)
            )?,
            _ => vit.forward(picture, Some(&mut positions))?,
        };
        Ok(engine::nn::softmax::softmax(logits.view()).to_vec())
    }
}

/// The table on the larger grid in each of the [`WAYS`].
fn brought(
    record: &mut Record,
    table: ArrayView2<'_, f32>,
    grid: (usize, usize),
) -> Result<[Array2<f32>; 3], CellError> {
    let patches = grid.0 * grid.1;
    let cubic = shown!(
        record,
        engine::nn::position::interpolate::bicubic,
        table,
        TRAINED,
        grid
    )?;
    let nearest = shown!(
        record,
        explain::grid_positions::nearest,
        table,
        TRAINED,
        grid
    )?;
    let order = shown!(
        record,
        explain::grid_positions::in_reading_order,
        table,
        patches
    )?;
    Ok([cubic, nearest, order])
}

impl Steps for Reader {
    fn steps(&self) -> u64 {
        self.steps as u64
    }

    fn step(&mut self) -> Result<(), CellError> {
        let mut record = Record::new();
        let (digit, size) = (digit(self.steps)?, self.size);
        let image = digit.image.view();
        let picture = match self.steps {
            0 => shown!(record, engine::picture::resize, image, size, size)?,
            _ => engine::picture::resize(image, size, size)?,
        };
        let mut rows = Vec::with_capacity(30);
        for way in 0..WAYS.len() {
            rows.extend(self.read(&mut record, way, &picture)?);
        }
        let probabilities = Array2::from_shape_vec((WAYS.len(), rows.len() / WAYS.len()), rows)
            .map_err(|error| CellError::Mismatch(error.to_string()))?;
        for (right, row) in self.right.iter_mut().zip(probabilities.outer_iter()) {
            let best = engine::nn::softmax::top_indices(row, 1);
            *right += usize::from(best.first() == Some(&digit.label));
        }
        self.calls.extend(record.finish().calls);
        self.last = Some(Last {
            label: digit.label,
            picture,
            probabilities,
        });
        self.steps += 1;
        Ok(())
    }
}

fn show(readers: &[Reader], _: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let Some(reader) = readers.first() else {
        return Err(CellError::Missing("a model".to_owned()));
    };
    rows_taken(&mut record, square(reader.size))?;
    record.calls(&reader.calls);
    let grid = square(reader.size);
    record.number("steps", reader.steps as f64);
    record.number("digits", DIGITS as f64);
    record.number("across", grid.0 as f64);
    record.number("patches", (grid.0 * grid.1) as f64);
    record.number("trained", (TRAINED.0 * TRAINED.1) as f64);
    for (name, &right) in WAYS.iter().zip(&reader.right) {
        record.number(&format!("{name}.count"), right as f64);
        if reader.steps > 0 {
            let share = right as f64 / reader.steps as f64;
            record.number(&format!("{name}.share"), share);
        }
    }
    let Some(last) = &reader.last else {
        return Ok(record.finish());
    };
    record.number("label", last.label as f64);
    record.tensor("picture", &last.picture);
    record.tensor("probabilities", &last.probabilities);
    for (name, row) in WAYS.iter().zip(last.probabilities.outer_iter()) {
        let best = engine::nn::softmax::top_indices(row, 1);
        let best = best.first().copied().unwrap_or_default();
        record.number(&format!("{name}.answer"), best as f64);
    }
    Ok(record.finish())
}

/// Where each new row of patches stands on the trained grid: a table whose entries are the numbers of
/// their rows, brought to the new grid by interpolation and by the nearest entry.
fn rows_taken(record: &mut Record, grid: (usize, usize)) -> Result<(), CellError> {
    let (rows, columns) = TRAINED;
    let numbers = Array2::from_shape_fn((rows * columns, 1), |(n, _)| (n / columns) as f32);
    let numbers = numbers.view();
    let cubic = shown!(
        record,
        engine::nn::position::interpolate::bicubic,
        numbers,
        TRAINED,
        grid
    )?;
    let nearest = explain::grid_positions::nearest(numbers, TRAINED, grid)?;
    // The first number of each new row.
    let column =
        |table: &Array2<f32>| -> Array1<f32> { table.iter().step_by(grid.1).copied().collect() };
    let (cubic, nearest) = (column(&cubic), column(&nearest));
    let both = stack(Axis(0), &[cubic.view(), nearest.view()])
        .map_err(|error| CellError::Mismatch(error.to_string()))?;
    record.tensor("old_rows", &cubic);
    record.tensor("rows", &both);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{cache, computed, number};

    fn at(size: f64, steps: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("size", number(size))
            .with("steps", number(steps));
        computed(&SPEC, &given).unwrap()
    }

    fn counts(c: &Computation) -> [f64; 3] {
        WAYS.map(|way| c.at(&format!("{way}.count"), &[]).unwrap())
    }

    /// The figures of the lesson: 28 pixels become 48, as 224 become 384 in the paper.
    #[test]
    fn two_hundred_digits_with_three_tables() {
        let c = at(48.0, 200.0);
        assert_eq!(counts(&c), [200.0, 192.0, 35.0]);
        assert_eq!(c.at("patches", &[]), Some(144.0));
        assert_eq!(c.at("order.share", &[]), Some(35.0 / 200.0));
    }

    /// In the size of training all three tables are the learned one.
    #[test]
    fn in_the_trained_size_nothing_is_interpolated() {
        let c = at(28.0, 20.0);
        assert_eq!(counts(&c), [20.0; 3]);
        for class in 0..10 {
            let [a, b, c] = [0, 1, 2].map(|way| c.at("probabilities", &[way, class]).unwrap());
            assert!(a == b && b == c, "{class}");
        }
    }

    /// The cubic way is what the model does by itself.
    #[test]
    fn the_model_interpolates_by_itself() {
        let c = at(48.0, 3.0);
        let vit = cache().opened::<Vit>("digit-vit.safetensors").unwrap();
        let image = digit(2).unwrap().image;
        let image = engine::picture::resize(image.view(), 48, 48).unwrap();
        let own = vit.forward(image.view(), None).unwrap();
        let own = engine::nn::softmax::softmax(own.view());
        for (class, own) in own.iter().enumerate() {
            let found = c.at("probabilities", &[0, class]).unwrap();
            assert!((found - f64::from(*own)).abs() < 1e-5, "{class}");
        }
    }

    /// Before the first digit there is a table and no answer.
    #[test]
    fn before_the_first_digit_nothing_is_read() {
        let c = at(40.0, 0.0);
        assert_eq!(
            (c.at("across", &[]), c.at("label", &[])),
            (Some(10.0), None)
        );
        assert_eq!(c.tensor("old_rows").unwrap().shape(), [10]);
        assert_eq!(c.at("rows", &[1, 9]), Some(6.0));
    }
}
