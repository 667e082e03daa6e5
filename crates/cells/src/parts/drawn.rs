//! The reader's drawing of a digit, as the models of digits receive it, and what digit-vit makes of it.

use engine::model::vit::Vit;
use engine::trace::{Observer, Recorder};
use ndarray::{Array1, Array2, Array3};

use crate::computation::Computation;
use crate::drawing::{Drawing, PEN, SIDE};
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::model_cache::ModelCache;
use crate::parts::digit_models::{self, watched};
use crate::spec::{Job, once};

/// The name of the input.
pub(crate) const NAME: &str = "drawing";

/// Its label.
const LABEL: &str = "Your drawing";

/// The drawing that the cells begin with: a 4 of two strokes, digit 4 of `explain::drawn_digits`.
const FOUR: &str = "mZxkx8iiLhKUf6eeiodKzbzAaLPYbfWzwVMATsPSccQ0qSklVklXclZUlbUkdMkfEkg0ji0ik0hm0gosfqces8d.nxvnKFmyUmSkly1lTGk7VkrjkbvkT7kMPkEkj05jdRjFei1qil3iGLh-S";

/// The input.
pub(crate) fn input() -> InputSpec {
    InputSpec::drawing(NAME, LABEL, Drawing::parse(FOUR).unwrap_or_default())
}

/// The drawing.
pub(crate) fn drawing(inputs: &Inputs) -> Result<&Drawing, CellError> {
    inputs.drawing(NAME)
}

/// The points of a drawing in pixels of the pen's canvas, `[N, 2]`, and how many each stroke has.
fn on_canvas(drawing: &Drawing) -> (Array2<f32>, Vec<usize>) {
    let all = drawing.0.concat();
    let points = Array2::from_shape_fn((all.len(), 2), |(n, axis)| {
        f32::from(all[n][axis]) * scale()
    });
    (points, drawing.0.iter().map(Vec::len).collect())
}

/// Pixels of the pen's canvas for each step of the pad.
fn scale() -> f32 {
    explain::pen::SIDE as f32 / f32::from(SIDE)
}

/// The picture that a model of digits receives, `[1, 28, 28]`: the ink, scaled and centred by mass. An
/// empty pad has nothing to centre and is a blank picture.
pub(crate) fn image(record: &mut Record, drawing: &Drawing) -> Result<Array3<f32>, CellError> {
    if drawing.points() == 0 {
        let image = blank();
        record.tensor("image", &image);
        return Ok(image);
    }
    let (points, lengths) = on_canvas(drawing);
    let (points, lengths, radius) = (points.view(), &lengths[..], f32::from(PEN) * scale());
    let ink = shown!(record, explain::pen::ink, points, lengths, radius)?;
    let image = shown!(record, engine::drawing::centred, ink.view())?;
    record.tensor("image", &image);
    Ok(image)
}

/// The same without a record.
pub(crate) fn quiet_image(drawing: &Drawing) -> Result<Array3<f32>, CellError> {
    if drawing.points() == 0 {
        return Ok(blank());
    }
    let (points, lengths) = on_canvas(drawing);
    let ink = explain::pen::ink(points.view(), &lengths, f32::from(PEN) * scale())?;
    Ok(engine::drawing::centred(ink.view())?)
}

fn blank() -> Array3<f32> {
    Array3::zeros((1, engine::drawing::SIDE, engine::drawing::SIDE))
}

/// The probabilities of the ten digits.
pub(crate) fn probabilities(logits: &Array1<f32>) -> Array1<f32> {
    engine::nn::softmax::softmax(logits.view())
}

/// The class with the largest probability.
pub(crate) fn best(probabilities: &Array1<f32>) -> usize {
    engine::nn::softmax::top_indices(probabilities.view(), 1)
        .first()
        .copied()
        .unwrap_or_default()
}

/// The probabilities that a model gives a picture; they are recorded, with `place` before the names.
pub(crate) fn answer(
    record: &mut Record,
    place: &str,
    vit: &Vit,
    image: &Array3<f32>,
) -> Result<Array1<f32>, CellError> {
    let (picture, observer) = (image.view(), None::<&mut dyn Observer>);
    let logits = shown!(
        record,
        engine::model::vit::Vit::forward,
        vit,
        picture,
        observer
    )?;
    let found = probabilities(&logits);
    note(record, place, &found);
    Ok(found)
}

/// The same with every intermediate result, which is returned.
pub(crate) fn read(
    record: &mut Record,
    place: &str,
    vit: &Vit,
    image: &Array3<f32>,
) -> Result<Recorder, CellError> {
    let (scores, seen) = watched(record, vit, image)?;
    note(record, place, &probabilities(&scores));
    Ok(seen)
}

/// Records the probabilities of the ten digits, and the most likely one.
pub(crate) fn note(record: &mut Record, place: &str, found: &Array1<f32>) {
    record.tensor(&format!("{place}probabilities"), found);
    let answer = best(found);
    record.number(&format!("{place}answer"), answer as f64);
    let probability = f64::from(found[answer]);
    record.number(&format!("{place}answer.probability"), probability);
}

/// One number for each patch, as the grid of patches, `[side, side]`.
pub(crate) fn as_grid(patches: &[f32]) -> Array2<f32> {
    let side = patches.len().isqrt();
    Array2::from_shape_fn((side, side), |(row, col)| patches[row * side + col])
}

/// A computation in one slice on the reader's inputs and digit-vit.
pub(crate) fn once_with_vit(
    inputs: &Inputs,
    cache: &ModelCache,
    compute: fn(&Inputs, &Vit) -> Result<Computation, CellError>,
) -> Result<Box<dyn Job>, CellError> {
    let vit = digit_models::vit(cache)?;
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &vit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::input::InputValue;

    #[test]
    fn the_first_drawing_is_the_fourth_ready_digit() {
        assert_eq!(ready(4).to_text(), FOUR);
        assert_eq!(input().default, InputValue::Drawing(ready(4)));
    }

    /// A drawing is read where it is on the pad, and however large.
    #[test]
    fn a_drawing_is_centred() {
        let found = quiet_image(&ready(4)).unwrap();
        assert_eq!(found.dim(), (1, 28, 28));
        let moved = ready(4).0.into_iter().map(|stroke| {
            let moved = stroke.into_iter().map(|[x, y]| [x - 64, y + 64]);
            moved.collect()
        });
        let moved = quiet_image(&Drawing(moved.collect())).unwrap();
        let apart = (&found - &moved).mapv(f32::abs);
        assert!(apart.iter().all(|&apart| apart < 1e-5));
    }
}
