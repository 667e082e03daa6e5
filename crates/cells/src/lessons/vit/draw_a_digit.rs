//! The reader's drawing read by digit-vit, and its answers while the drawing grew.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::model::vit::Vit;
use ndarray::{Array1, Array2};

use crate::computation::Computation;
use crate::drawing::Drawing;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::digit_models;
use crate::parts::drawn;
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Points of the drawing from one moment of the film to the next.
const EVERY: usize = 4;

/// The cell `draw-a-digit`.
pub const SPEC: CellSpec = CellSpec {
    name: "draw-a-digit",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = digit_models::entry(SPEC.name, start);

fn inputs() -> Vec<InputSpec> {
    vec![drawn::input()]
}

/// Begins the film.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    Ok(Box::new(Film {
        vit: digit_models::vit(cache)?,
        drawing: drawn::drawing(inputs)?.clone(),
        read: Vec::new(),
    }))
}

/// The film of a drawing that grows: what was read once is not read again.
struct Film {
    vit: Arc<Vit>,
    drawing: Drawing,
    /// The moments that have been read, without the last: points drawn, and the probabilities.
    read: Vec<(usize, Array1<f32>)>,
}

/// The numbers of points at which the drawing is read: every few of them, and after each stroke.
fn moments(drawing: &Drawing) -> Vec<usize> {
    let mut ends = 0;
    let ends = drawing.0.iter().map(|stroke| {
        ends += stroke.len();
        ends
    });
    let mut all: BTreeSet<usize> = ends.collect();
    if all.is_empty() {
        all.insert(0);
    }
    all.extend((EVERY..=drawing.points()).step_by(EVERY));
    all.into_iter().collect()
}

impl Job for Film {
    /// One moment.
    fn advance(&mut self) -> Result<Progress, CellError> {
        let moments = moments(&self.drawing);
        let before = moments.len().saturating_sub(1);
        match moments.get(self.read.len()) {
            Some(&points) if self.read.len() < before => {
                let image = drawn::quiet_image(&self.drawing.first(points))?;
                let logits = self.vit.forward(image.view(), None)?;
                self.read.push((points, drawn::probabilities(&logits)));
                let share = self.read.len() as f32 / moments.len() as f32;
                Ok(Progress::Working(share))
            }
            _ => Ok(Progress::Done(Box::new(self.finish(&moments)?))),
        }
    }

    fn is_kept(&self) -> bool {
        true
    }

    /// Keeps the moments before the drawing became another one.
    fn go_on(&mut self, inputs: &Inputs, _: &ModelCache) -> Result<bool, CellError> {
        let drawing = drawn::drawing(inputs)?.clone();
        let common = self.drawing.common(&drawing);
        let after = moments(&drawing);
        let last = after.last().copied().unwrap_or_default();
        let is_same = |(n, (points, _)): (usize, &(usize, Array1<f32>))| {
            *points <= common && *points < last && after.get(n) == Some(points)
        };
        let kept = (self.read.iter().enumerate())
            .take_while(|&read| is_same(read))
            .count();
        self.read.truncate(kept);
        self.drawing = drawing;
        Ok(true)
    }
}

impl Film {
    /// Reads the whole drawing, and records it with the film.
    fn finish(&self, moments: &[usize]) -> Result<Computation, CellError> {
        let mut record = Record::new();
        let image = drawn::image(&mut record, &self.drawing)?;
        let last = drawn::answer(&mut record, "", &self.vit, &image)?;
        let read = self.read.iter().map(|(_, row)| row);
        let rows: Vec<&Array1<f32>> = read.chain(std::iter::once(&last)).collect();
        let film = Array2::from_shape_fn((rows.len(), last.len()), |(n, class)| rows[n][class]);
        record.tensor("film", &film);
        record.numbers("moments", moments.iter().map(|&n| n as f64).collect());
        let strokes: Vec<usize> = (moments.iter())
            .map(|&points| self.drawing.first(points).0.len())
            .collect();
        self.note_changes(&mut record, (moments, &strokes), &rows);
        record.numbers("stroke", strokes.iter().map(|&n| n as f64).collect());
        record.number("strokes", self.drawing.0.len() as f64);
        record.number("points", self.drawing.points() as f64);
        let config = self.vit.config();
        let side = config.image / config.patch;
        record.number("tokens", (1 + side * side) as f64);
        record.number("classes", config.classes as f64);
        let parameters: usize = (config.shapes().iter())
            .map(|(_, shape)| shape.iter().product::<usize>())
            .sum();
        record.number("parameters", parameters as f64);
        Ok(record.finish())
    }

    /// The moments at which the most likely digit became another one.
    fn note_changes(
        &self,
        record: &mut Record,
        (moments, strokes): (&[usize], &[usize]),
        rows: &[&Array1<f32>],
    ) {
        let best: Vec<usize> = rows.iter().map(|row| drawn::best(row)).collect();
        let changes: Vec<usize> = (1..best.len())
            .filter(|&n| best[n] != best[n - 1])
            .collect();
        let each = |of: &dyn Fn(usize) -> f64| changes.iter().map(|&n| of(n)).collect::<Vec<_>>();
        record.numbers("change.points", each(&|n| moments[n] as f64));
        record.numbers("change.stroke", each(&|n| strokes[n] as f64));
        record.numbers("change.from", each(&|n| best[n - 1] as f64));
        record.numbers("change.to", each(&|n| best[n] as f64));
        record.numbers("change.probability", each(&|n| f64::from(rows[n][best[n]])));
        let drawings = changes.iter().map(|&n| self.drawing.first(moments[n]));
        let drawings = drawings.map(|drawing| drawing.to_text());
        record.words("change.drawing", drawings.collect());
        record.numbers("best", best.iter().map(|&class| class as f64).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::input::InputValue;
    use crate::parts::test_models::{cache, computed, on_drawing};

    fn of(drawing: Drawing) -> Computation {
        on_drawing(&SPEC, drawing).unwrap()
    }

    fn numbers(c: &Computation, name: &str) -> Vec<f64> {
        c.tensor(name).unwrap().values.iter().copied().collect()
    }

    /// What the lesson says of its 4: a one, a six and a zero before the second stroke makes it a four.
    #[test]
    fn the_second_stroke_makes_it_a_four() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        assert_eq!(
            (c.at("answer", &[]), c.at("strokes", &[])),
            (Some(4.0), Some(2.0))
        );
        assert!(c.at("answer.probability", &[]).unwrap() > 0.94);
        let (to, stroke) = (numbers(&c, "change.to"), numbers(&c, "change.stroke"));
        assert_eq!(to, [1.0, 6.0, 0.0, 4.0]);
        assert_eq!(stroke, [1.0, 1.0, 2.0, 2.0]);
        // A model of 1 + 49 tokens and ten classes, counted.
        for (name, expected) in [
            ("tokens", 50.0),
            ("classes", 10.0),
            ("parameters", 139_018.0),
        ] {
            assert_eq!(c.at(name, &[]), Some(expected), "{name}");
        }
    }

    /// Each of the ten ready digits is read right, with more than 90 %.
    #[test]
    fn ready_digits_are_read() {
        for label in 0..10 {
            let c = of(ready(label));
            assert_eq!(c.at("answer", &[]), Some(label as f64));
            assert!(c.at("answer.probability", &[]).unwrap() > 0.9, "{label}");
        }
    }

    /// A bar makes a 7 of the ready 1; a short one does not.
    #[test]
    fn one_more_stroke_makes_a_seven_of_a_one() {
        let one = ready(1);
        let [x, y] = one.0[0][0];
        let with_bar = |length: u16| {
            let mut drawing = one.clone();
            let bar = (0..=length / 15).map(|n| [x - length + 15 * n, y]);
            drawing.0.push(bar.collect());
            let c = of(drawing);
            (
                c.at("answer", &[]).unwrap(),
                c.at("answer.probability", &[]).unwrap(),
            )
        };
        let (answer, sure) = with_bar(60);
        assert!(
            answer == 1.0 && (0.6..0.8).contains(&sure),
            "{answer} {sure}"
        );
        let (answer, sure) = with_bar(135);
        assert!(answer == 7.0 && sure > 0.94, "{answer} {sure}");
    }

    /// Each row of the film is the answer to a beginning of the drawing.
    #[test]
    fn the_film_is_the_answers_to_the_beginnings() {
        let drawing = ready(7);
        let c = of(drawing.clone());
        let moments = numbers(&c, "moments");
        assert_eq!(moments.last(), Some(&(drawing.points() as f64)));
        for n in [0, 5, moments.len() - 1] {
            let beginning = of(drawing.first(moments[n] as usize));
            for class in 0..10 {
                assert_eq!(
                    c.at("film", &[n, class]),
                    beginning.at("probabilities", &[class])
                );
            }
        }
    }

    /// A job that follows a drawing stroke by stroke gives what a new one gives, to the last bit.
    #[test]
    fn a_film_that_goes_on_is_the_same_film() {
        let (cache, whole) = (cache(), ready(4));
        let given =
            |drawing: Drawing| Inputs::default().with(drawn::NAME, InputValue::Drawing(drawing));
        let finished = |job: &mut dyn Job| loop {
            if let Progress::Done(c) = job.advance().unwrap() {
                return c.fingerprint();
            }
        };
        let mut job = start(&given(whole.first(3)), &cache).unwrap();
        let other = ready(9);
        for drawing in [
            whole.first(10),
            whole.first(11),
            whole.clone(),
            whole.first(30),
            Drawing::default(),
            other,
        ] {
            assert!(job.go_on(&given(drawing.clone()), &cache).unwrap());
            assert_eq!(finished(&mut *job), of(drawing).fingerprint());
        }
    }

    /// What the lesson says of an empty pad: the blank picture is read as a digit, with 94 %.
    #[test]
    fn an_empty_pad_is_a_blank_picture() {
        let c = of(Drawing::default());
        assert!(numbers(&c, "image").iter().all(|&ink| ink == 0.0));
        assert_eq!(
            (c.at("points", &[]), c.at("moments", &[0])),
            (Some(0.0), Some(0.0))
        );
        let sure = c.at("answer.probability", &[]).unwrap();
        assert_eq!(c.at("answer", &[]), Some(1.0));
        assert!((0.935..0.945).contains(&sure), "{sure}");
    }
}
