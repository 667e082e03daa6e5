//! Distillation: a small network learns few digits from their labels, and from what another network, its
//! teacher, says of them.
//!
//! ```text
//! alone   CE(softmax(z), y)
//! hard    ½ CE(softmax(z), y) + ½ CE(softmax(z), argmax z_t)
//! soft    ½ CE(softmax(z), y) + ½ τ² CE(softmax(z / τ), softmax(z_t / τ))           τ = 3
//! ```
//! z are the logits of the student, z_t those of the teacher, y are the labels. Up to a constant, the soft
//! term is the divergence KL(teacher ‖ student) times τ². DeiT reads the teacher's part off a token of its
//! own; here both parts are of the same logits.
//!
//! ```
//! use explain::distillation::{Distilled, Teaching};
//! use explain::few_digits::Digits;
//! let digits = Digits::drawn(0..20)?;
//! let teacher = ndarray::Array2::from_shape_fn((20, 10), |(n, k)| if k == n % 10 { 4.0 } else { 0.0 });
//! let mut student = Distilled::new(digits, Some(&teacher), Teaching::Soft, 1)?;
//! let first = student.step()?;
//! for _ in 0..10 {
//!     student.step()?;
//! }
//! assert!(student.step()? < first);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Hinton et al. 2015, "Distilling the knowledge in a neural network", section 2; Touvron et al.
//! 2021, "Training data-efficient image Transformers", section 4 (equations 2 and 3).

use engine::error::{EngineError, Result};
use engine::grad::{Settings, Tape, Var, gradients};
use engine::model::cnn::Cnn;
use engine::nn::compute::Compute;
use engine::nn::softmax::top_indices;
use ndarray::{Array2, ArrayView2, Axis};

use crate::few_digits::{Digits, FewRun, Kind};

/// τ: what logits are divided by before soft targets are compared.
pub const TEMPERATURE: f32 = 3.0;

/// The share of the teacher in the loss.
pub const SHARE: f32 = 0.5;

/// Drawn digits that a student learns in the runs of the lesson.
pub const LEARNED: usize = 500;

/// Digits that the teacher reads together.
const LOOK: usize = 50;

/// What a student learns from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Teaching {
    /// The labels alone.
    Alone,
    /// The labels, and the class that the teacher answers.
    Hard,
    /// The labels, and the probabilities that the teacher gives.
    Soft,
}

impl Teaching {
    /// All, with their names in results.
    pub const ALL: [(&'static str, Self); 3] = [
        ("alone", Self::Alone),
        ("hard", Self::Hard),
        ("soft", Self::Soft),
    ];
}

/// The logits of a teacher for some digits, and how many of them it reads right; the logits have the same
/// bits on every machine, as those of its students.
///
/// # Errors
/// When the teacher reads pictures of another size.
pub fn taught(teacher: &Cnn, digits: &Digits) -> Result<(Array2<f32>, usize)> {
    // -> [N, 10]
    let (mut teacher, settings) = (teacher.clone(), Settings::same_bits());
    let mut all = Array2::zeros((digits.len(), 10));
    let chunks = digits.pictures.axis_chunks_iter(Axis(0), LOOK);
    for (pictures, mut to) in chunks.zip(all.axis_chunks_iter_mut(Axis(0), LOOK)) {
        gradients(&mut teacher, &settings, |teacher, tape: &mut Tape| {
            let logits = teacher.run(tape, pictures)?;
            to.assign(&tape.value(&logits)?);
            // Nothing is learned: any loss will do.
            tape.weighted_sum(&logits, &vec![0.0; to.len()])
        })?;
    }
    let answers = all.outer_iter().map(|row| top_indices(row, 1));
    let both = answers.zip(&digits.labels);
    let right = both.filter(|(best, label)| best.first() == Some(label));
    let right = right.count();
    Ok((all, right))
}

/// The loss of a student, as above; `teacher` are the logits of its teacher for the same digits, of which
/// the student that learns alone needs none.
///
/// # Errors
/// When shapes do not fit, or there is no teacher where one is needed.
pub fn loss(
    tape: &mut Tape,
    logits: &Var,
    labels: &[Option<usize>],
    teacher: Option<ArrayView2<'_, f32>>,
    teaching: Teaching,
) -> Result<Var> {
    // logits [B, 10], teacher [B, 10] -> [1, 1]
    let own = tape.cross_entropy(logits, labels, 0.0)?;
    let other = match (teaching, teacher) {
        (Teaching::Alone, _) => return Ok(own),
        (_, None) => {
            return Err(EngineError::value(
                "distillation",
                "teacher",
                "logits",
                "none",
            ));
        }
        (Teaching::Hard, Some(teacher)) => {
            let best = teacher.outer_iter().map(|row| top_indices(row, 1));
            let answers: Vec<Option<usize>> = best.map(|best| best.first().copied()).collect();
            tape.cross_entropy(logits, &answers, 0.0)?
        }
        (Teaching::Soft, Some(teacher)) => {
            let cooled = tape.constant((&teacher / TEMPERATURE).view());
            let targets = tape.softmax(&cooled);
            let targets = tape.value(&targets)?;
            let cooled = tape.scale(*logits, 1.0 / TEMPERATURE);
            let loss = tape.soft_cross_entropy(&cooled, targets.view())?;
            tape.scale(loss, TEMPERATURE * TEMPERATURE)
        }
    };
    let own = tape.scale(own, 1.0 - SHARE);
    let other = tape.scale(other, SHARE);
    tape.add(own, &other)
}

/// A student: a small Vision Transformer, and what it learns from.
#[derive(Debug, Clone)]
pub struct Distilled {
    /// The training run of the student.
    pub run: FewRun,
    teaching: Teaching,
    /// The logits of the teacher for all training digits.
    teacher: Option<Array2<f32>>,
}

impl Distilled {
    /// A student before its first step. Students with one seed start from the same parameters and see the
    /// same digits in the same order.
    ///
    /// # Errors
    /// When there are too few digits, or the teacher's logits are not those of the digits.
    pub fn new(
        digits: Digits,
        teacher: Option<&Array2<f32>>,
        teaching: Teaching,
        seed: u64,
    ) -> Result<Self> {
        if let Some(teacher) = teacher {
            let expected = [digits.len(), 10];
            engine::shape::expect("distillation", "teacher", &expected, teacher.shape())?;
        }
        let needs = teaching != Teaching::Alone;
        Ok(Self {
            run: FewRun::new(Kind::Vit, digits, seed)?,
            teaching,
            teacher: teacher.filter(|_| needs).cloned(),
        })
    }

    /// One step; returns the loss before it, in nats.
    ///
    /// # Errors
    /// As [`loss`].
    pub fn step(&mut self) -> Result<f32> {
        // -> scalar
        let (teacher, teaching) = (&self.teacher, self.teaching);
        self.run.step_with(|tape, logits, labels, chosen| {
            let rows = teacher.as_ref().map(|all| all.select(Axis(0), chosen));
            loss(
                tape,
                logits,
                labels,
                rows.as_ref().map(|rows| rows.view()),
                teaching,
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn teacher(strength: f32) -> Array2<f32> {
        Array2::from_shape_fn((40, 10), |(n, k)| if k == n % 10 { strength } else { 0.0 })
    }

    /// A teacher that answers with the labels changes nothing about the hard loss, and one that is certain
    /// of them has soft targets that are the labels.
    #[test]
    fn a_teacher_that_knows_no_more_than_the_labels() {
        let digits = Digits::drawn(0..40).unwrap();
        let start = |teaching, teacher: &Array2<f32>| {
            Distilled::new(digits.clone(), Some(teacher), teaching, 2).unwrap()
        };
        let right = teacher(4.0);
        let alone = start(Teaching::Alone, &right).step().unwrap();
        let hard = start(Teaching::Hard, &right).step().unwrap();
        assert!((alone - hard).abs() < 1e-5, "{alone} {hard}");
        let mut tape = Tape::new();
        let z = tape.constant(ndarray::array![[1.0, 0.5], [0.0, 2.0]].view());
        let labels = [Some(0), Some(1)];
        let certain = ndarray::array![[300.0, 0.0], [0.0, 300.0]];
        let found = loss(&mut tape, &z, &labels, Some(certain.view()), Teaching::Soft).unwrap();
        let own = tape.cross_entropy(&z, &labels, 0.0).unwrap();
        let cooled = tape.scale(z, 1.0 / TEMPERATURE);
        let soft = tape.cross_entropy(&cooled, &labels, 0.0).unwrap();
        let number = |tape: &Tape, var| tape.value(&var).unwrap()[[0, 0]];
        let expected = 0.5 * number(&tape, own) + 4.5 * number(&tape, soft);
        assert!((number(&tape, found) - expected).abs() < 1e-5);
    }

    #[test]
    fn a_student_without_its_teacher_is_refused() {
        let digits = Digits::drawn(0..40).unwrap();
        let mut student = Distilled::new(digits.clone(), None, Teaching::Hard, 1).unwrap();
        assert!(student.step().is_err());
        let few = Array2::zeros((3, 10));
        assert!(Distilled::new(digits, Some(&few), Teaching::Soft, 1).is_err());
    }
}
