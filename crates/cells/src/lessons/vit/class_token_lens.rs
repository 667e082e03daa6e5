//! The logit lens on the class token of a Vision Transformer: its answer read off after each block. The
//! lesson's cell reads the reader's drawing with digit-vit; the other one the picture that an opened model
//! read last.

use std::sync::Arc;

use engine::model::vit::Vit;
use engine::nn::softmax::top_indices;
use ndarray::{Array2, Array3, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::digit_models;
use crate::parts::drawn;
use crate::parts::opened_picture;
use crate::picture_model::OpenedPicture;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// Classes that are named after each block of an opened model.
pub const TOP: usize = 3;

/// The cell `class-token-lens`.
pub const SPEC: CellSpec = CellSpec {
    name: "class-token-lens",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = digit_models::entry(SPEC.name, |inputs, cache| {
    drawn::once_with_vit(inputs, cache, compute)
});

/// The cell on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: SPEC.name,
    inputs: || vec![opened_picture::input()],
    run: SPEC.run,
};

/// Starts the cell on a model and the picture that it read last.
///
/// # Errors
/// A model without classes.
pub fn start_opened(_: &Inputs, opened: Arc<OpenedPicture>) -> Result<Box<dyn Job>, CellError> {
    opened.model.classifier()?;
    Ok(once(move || compute_opened(&opened)))
}

fn inputs() -> Vec<InputSpec> {
    vec![drawn::input()]
}

fn compute(inputs: &Inputs, vit: &Vit) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    let found = read_off(&mut record, vit, &image)?;
    record.tensor("lens", &found);
    let digits = (0..found.ncols()).map(|class| class.to_string());
    record.words("digits", digits.collect());
    Ok(record.finish())
}

fn compute_opened(opened: &OpenedPicture) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let found = read_off(&mut record, opened.model.classifier()?, &opened.image)?;
    let count = TOP.min(found.ncols());
    let tops: Vec<Vec<usize>> = (found.outer_iter())
        .map(|row| top_indices(row, count))
        .collect();
    let shares = Array2::from_shape_fn((tops.len(), count), |(depth, n)| {
        found[[depth, tops[depth][n]]]
    });
    record.tensor("probabilities", &shares);
    let names = tops.concat();
    let names = names.iter().map(|&class| opened.class_name(class));
    record.words("words", names.collect());
    if let Some(&last) = tops.last().and_then(|top| top.first()) {
        record.words("prediction", vec![opened.class_name(last)]);
    }
    record.number("classes", found.ncols() as f64);
    Ok(record.finish())
}

/// The probabilities of the classes at each depth, `[L + 1, classes]`; the most likely one at each, and
/// the depth from which on it is the answer, are recorded.
fn read_off(record: &mut Record, vit: &Vit, image: &Array3<f32>) -> Result<Array2<f32>, CellError> {
    let found = shown!(record, explain::class_lens::class_lens, vit, image.view())?;
    let rows: Vec<_> = found.outer_iter().map(|row| row.to_owned()).collect();
    let best: Vec<usize> = rows.iter().map(drawn::best).collect();
    let last = best.last().copied().unwrap_or_default();
    record.number("answer", last as f64);
    record.tensor("answer.probability", &found.index_axis(Axis(1), last));
    // The first depth from which on the most likely class is the answer.
    let knows = best.iter().rposition(|&class| class != last);
    record.number("knows", knows.map_or(0, |depth| depth + 1) as f64);
    record.numbers("best", best.iter().map(|&class| class as f64).collect());
    let tops = rows
        .iter()
        .zip(&best)
        .map(|(row, &class)| f64::from(row[class]));
    record.numbers("best.probability", tops.collect());
    let depths = (0..rows.len()).map(|depth| match depth {
        0 => "embedding".to_owned(),
        _ => format!("block {depth}"),
    });
    record.words("depths", depths.collect());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::parts::test_models::{computed, on_drawing};

    fn of(label: usize) -> Computation {
        on_drawing(&SPEC, ready(label)).unwrap()
    }

    /// Before the first block the class token has read nothing: every drawing gets the same answer.
    #[test]
    fn without_a_block_every_drawing_is_a_five() {
        let first = of(0);
        for label in 0..10 {
            let c = of(label);
            assert_eq!(c.at("best", &[0]), Some(5.0));
            assert!((c.at("best.probability", &[0]).unwrap() - 0.38).abs() < 0.005);
            for class in 0..10 {
                assert_eq!(c.at("lens", &[0, class]), first.at("lens", &[0, class]));
            }
        }
    }

    /// What the lesson says of the 4: a nine after the second block, a four after the third.
    #[test]
    fn the_four_is_a_nine_after_two_blocks() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        let best: Vec<f64> = c.tensor("best").unwrap().values.iter().copied().collect();
        assert_eq!(best, [5.0, 4.0, 9.0, 4.0, 4.0]);
        assert_eq!(c.at("knows", &[]), Some(3.0));
        let at = |depth: usize| c.at("answer.probability", &[depth]).unwrap();
        assert!(at(0) < 0.03 && at(1) < 0.2 && at(3) < 0.5 && at(4) > 0.94);
    }

    /// Nine of the ten ready digits are known after the second block at the latest, all after the third;
    /// none with more than 80 % before that.
    #[test]
    fn most_ready_digits_are_known_after_two_blocks() {
        let knows: Vec<f64> = (0..10)
            .map(|label| of(label).at("knows", &[]).unwrap())
            .collect();
        assert_eq!(
            knows.iter().filter(|&&depth| depth <= 2.0).count(),
            9,
            "{knows:?}"
        );
        assert!(knows.iter().all(|&depth| depth <= 3.0));
        for label in 0..10 {
            let c = of(label);
            assert_eq!(c.at("answer", &[]), Some(label as f64));
            assert!(c.at("answer.probability", &[2]).unwrap() < 0.8);
        }
    }
}
