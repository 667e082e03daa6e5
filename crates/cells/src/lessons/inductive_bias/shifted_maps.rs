//! A shift of the picture, followed through a convolutional network and a Vision Transformer: which of
//! their maps move with it, and what moves the answer back.

use engine::model::cnn::Cnn;
use engine::model::vit::Vit;
use engine::nn::unfold::Windows;
use engine::trace::Recorder;
use explain::shift::Rolling;
use ndarray::{Array1, Array2, Array3, Axis, Slice, stack};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::digit_models::{Three, watched, watched_cnn};
use crate::parts::drawn;
use crate::parts::trained::told;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// Side of a picture in pixels.
const SIDE: usize = engine::drawing::SIDE;

/// Pixels from a square of the last map, and from a patch, to the next.
const LAST: usize = 4;

/// The cell `shifted-maps`.
pub const SPEC: CellSpec = CellSpec {
    name: "shifted-maps",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| Three::files(),
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let most = 2.0 * LAST as f64;
    vec![
        drawn::input(),
        InputSpec::number("shift", "Pixels to the right", (0.0, most, 1.0), 1.0),
    ]
}

fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let models = Three::open(cache)?;
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &models)))
}

/// A map of squares, before and after the shift of the picture: `[N, C]`, row by row.
struct Stage {
    before: Array2<f32>,
    after: Array2<f32>,
    /// Squares along a side.
    across: usize,
    /// Columns of squares at each side that look beyond the border.
    border: usize,
}

impl Stage {
    /// Squares that the picture's shift is, rounded down where they are no whole number.
    fn squares(&self, shift: usize) -> usize {
        shift * self.across / SIDE
    }

    /// What of the map after the shift is not the map before it, shifted: the numbers in the middle that
    /// differ in any bit, those near the border, the numbers of both parts, and the largest difference in
    /// the middle.
    fn compared(&self, shifted: &Array2<f32>, squares: usize) -> [f64; 5] {
        let (last, width) = (self.across - 1, self.across);
        let is_border = |column: usize| column < self.border || column > last - self.border;
        let mut found = [0.0f64; 5];
        for (n, (after, before)) in self
            .after
            .outer_iter()
            .zip(shifted.outer_iter())
            .enumerate()
        {
            let column = n % width;
            let from = (column + width - squares % width) % width;
            let part = usize::from(self.border > 0 && (is_border(column) || is_border(from)));
            for (after, before) in after.iter().zip(before) {
                found[2 + part] += 1.0;
                found[part] += f64::from(u8::from(after.to_bits() != before.to_bits()));
                if part == 0 {
                    found[4] = found[4].max(f64::from((after - before).abs()));
                }
            }
        }
        found
    }
}

/// The first convolution at every pixel, without its stride, `[784, C]`.
fn without_stride(
    record: &mut Record,
    cnn: &Cnn,
    image: &Array3<f32>,
) -> Result<Array2<f32>, CellError> {
    let missing = || CellError::Missing("a convolution".to_owned());
    let layer = cnn.convolution(0).ok_or_else(missing)?;
    let first = cnn
        .config()
        .windows()
        .first()
        .copied()
        .ok_or_else(missing)?;
    let windows = Windows { stride: 1, ..first };
    let pixels = image.to_shape((SIDE * SIDE, 1));
    let pixels = pixels.map_err(|error| CellError::Mismatch(error.to_string()))?;
    let pixels = pixels.view();
    let all = &windows;
    let rows = shown!(record, engine::nn::unfold::Windows::unfold, all, pixels)?;
    Ok(layer.forward(rows.view())?)
}

/// The maps of the stages for a picture, and the answers of the three models.
struct Reading {
    maps: Vec<Array2<f32>>,
    answers: [Array1<f32>; 3],
}

fn read(record: &mut Record, models: &Three, image: &Array3<f32>) -> Result<Reading, CellError> {
    let mut maps = vec![without_stride(record, &models.cnn, image)?];
    let mut seen = Recorder::default();
    let cnn = watched_cnn(record, &models.cnn, image, &mut seen)?;
    for n in 0..2 {
        maps.push(told(&seen, &format!("convs.{n}"))?);
    }
    let (bag, seen) = watched(record, &models.bag, image)?;
    maps.push(told(&seen, "embedding")?);
    let mut hidden = told(&seen, "norm")?;
    // The class token comes before the patches.
    hidden.slice_axis_inplace(Axis(0), Slice::from(1..));
    maps.push(hidden);
    let (vit, _) = watched(record, &models.vit, image)?;
    Ok(Reading {
        maps,
        answers: [cnn, vit, bag],
    })
}

/// The answers where the shift is undone inside: the last map of the convolutions is moved back before the
/// dense layers read it, and each patch of digit-vit gets the position vector that it had.
fn undone(
    record: &mut Record,
    models: &Three,
    image: &Array3<f32>,
    squares: isize,
) -> Result<[Array1<f32>; 2], CellError> {
    let across = SIDE / LAST;
    let rolling = |name: &str, right: isize| Rolling {
        name: name.to_owned(),
        grid: (across, across),
        by: [0, right],
    };
    let pictures = image.view().insert_axis(Axis(0));
    let (cnn, mut back) = (&*models.cnn, rolling("convs.1", -squares));
    let cnn = shown!(
        record,
        engine::model::cnn::Cnn::watched,
        cnn,
        pictures,
        &mut back
    )?;
    let (picture, mut along) = (image.view(), rolling("positions", squares));
    let vit: &Vit = &models.vit;
    let vit = shown!(
        record,
        engine::model::vit::Vit::forward,
        vit,
        picture,
        Some(&mut along)
    )?;
    Ok([cnn.index_axis_move(Axis(0), 0), vit])
}

fn compute(inputs: &Inputs, models: &Three) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    let shift = inputs.count("shift")?;
    let (picture, by) = (image.view(), [0, shift as isize]);
    let shifted = shown!(record, explain::shift::rolled, picture, by);
    record.tensor("shifted", &shifted);
    let before = read(&mut record, models, &image)?;
    let after = read(&mut record, models, &shifted)?;
    let sizes = [
        (SIDE, 2),
        (SIDE / 2, 1),
        (SIDE / LAST, 1),
        (SIDE / LAST, 0),
        (SIDE / LAST, 0),
    ];
    let mut columns: [Vec<f64>; 7] = Default::default();
    let pairs = before.maps.into_iter().zip(after.maps).zip(sizes);
    for ((before, after), (across, border)) in pairs {
        let stage = Stage {
            before,
            after,
            across,
            border,
        };
        let squares = stage.squares(shift);
        let (map, grid, by) = (stage.before.view(), (across, across), [0, squares as isize]);
        let expected = shown!(record, explain::shift::rolled_rows, map, grid, by)?;
        let found = stage.compared(&expected, squares);
        let exact = shift as f64 * across as f64 / SIDE as f64;
        let numbers = found.into_iter().chain([exact, squares as f64]);
        for (column, number) in columns.iter_mut().zip(numbers) {
            column.push(number);
        }
    }
    let names = [
        "changed",
        "border.changed",
        "of",
        "border.of",
        "largest",
        "squares",
        "whole",
    ];
    for (name, column) in names.into_iter().zip(columns) {
        record.numbers(name, column);
    }
    answers(
        &mut record,
        models,
        &shifted,
        (shift / LAST) as isize,
        [before.answers, after.answers],
    )?;
    Ok(record.finish())
}

/// The answers of each model in place, shifted, and with the shift undone inside.
fn answers(
    record: &mut Record,
    models: &Three,
    shifted: &Array3<f32>,
    squares: isize,
    [before, after]: [[Array1<f32>; 3]; 2],
) -> Result<(), CellError> {
    let [cnn, vit] = undone(record, models, shifted, squares)?;
    let bag = after[2].clone();
    let all = before.into_iter().zip(after).zip([cnn, vit, bag]);
    for (name, ((before, after), undone)) in Three::NAMES.iter().zip(all) {
        let rows = [before, after, undone].map(|scores| drawn::probabilities(&scores));
        let views = rows.each_ref().map(|row| row.view());
        let rows =
            stack(Axis(0), &views).map_err(|error| CellError::Mismatch(error.to_string()))?;
        record.tensor(name, &rows);
        for (n, when) in ["before", "after", "undone"].iter().enumerate() {
            let best = drawn::best(&rows.row(n).to_owned());
            record.number(&format!("{name}.{when}"), best as f64);
        }
        let apart = |n: usize| {
            let pairs = rows.row(0).to_vec().into_iter().zip(rows.row(n).to_vec());
            pairs.fold(0.0, |most: f64, (a, b)| most.max(f64::from((a - b).abs())))
        };
        record.number(&format!("{name}.apart"), apart(1));
        record.number(&format!("{name}.undone.apart"), apart(2));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::input::InputValue;
    use crate::parts::test_models::{computed, number};

    fn at(label: usize, shift: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with(drawn::NAME, InputValue::Drawing(ready(label)))
            .with("shift", number(shift));
        computed(&SPEC, &given).unwrap()
    }

    fn of(c: &Computation, name: &str, stage: usize) -> f64 {
        c.at(name, &[stage]).unwrap()
    }

    /// What the lesson says of the maps: at one pixel only the convolution without a stride moves with the
    /// picture, to the bit; at two the first map does, at four the second and the patch embeddings do; and
    /// without positions the last block's outputs, up to rounding.
    #[test]
    fn maps_move_by_whole_squares() {
        for label in 0..10 {
            for (shift, exact) in [
                (1.0, [true, false, false, false]),
                (2.0, [true, true, false, false]),
                (4.0, [true; 4]),
            ] {
                let c = at(label, shift);
                for (stage, is_exact) in exact.into_iter().enumerate() {
                    let (changed, all) = (of(&c, "changed", stage), of(&c, "of", stage));
                    assert_eq!(
                        changed == 0.0,
                        is_exact,
                        "{label} by {shift}, stage {stage}: {changed} of {all}"
                    );
                }
            }
            let c = at(label, 4.0);
            assert!(of(&c, "largest", 4) < 1e-5, "{}", of(&c, "largest", 4));
            assert_eq!(
                [1, 2, 4].map(|stage| of(&c, "whole", stage)),
                [2.0, 1.0, 1.0]
            );
        }
    }

    /// What the lesson says of the answers: at four pixels the model without positions gives the same one,
    /// the other two do not, and with the shift undone inside they do, digit-cnn but for the border.
    #[test]
    fn undoing_the_shift_inside_brings_the_answer_back() {
        let c = at(4, 4.0);
        let apart = |name: &str| c.at(&format!("{name}.apart"), &[]).unwrap();
        assert!(apart("bag") < 1e-5, "{}", apart("bag"));
        assert!(
            apart("cnn") > 1e-3 && apart("vit") > 1e-3,
            "{} {}",
            apart("cnn"),
            apart("vit")
        );
        assert!(apart("vit.undone") < 1e-5, "{}", apart("vit.undone"));
        assert!(
            apart("cnn.undone") < apart("cnn") / 2.0,
            "{} {}",
            apart("cnn.undone"),
            apart("cnn")
        );
    }

    /// At two pixels the model without positions is half as sure; at eight the other two misread the 4, and
    /// with the shift undone inside they read it again.
    #[test]
    fn two_and_eight_pixels() {
        let c = at(4, 2.0);
        let sure = |row: usize| c.at("bag", &[row, 4]).unwrap();
        assert!(sure(0) > 0.85 && sure(1) < sure(0) / 2.0);
        let c = at(4, 8.0);
        for (name, wrong) in [("cnn", 1.0), ("vit", 7.0)] {
            assert_eq!(c.at(&format!("{name}.after"), &[]), Some(wrong));
            assert_eq!(c.at(&format!("{name}.undone"), &[]), Some(4.0));
        }
    }
}
