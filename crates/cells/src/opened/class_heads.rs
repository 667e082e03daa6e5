//! Every head of a Vision Transformer that the reader has opened, switched off in turn: what that does to
//! the scores of its most likely classes.

use std::sync::Arc;

use engine::nn::softmax::{softmax, top_indices};
use explain::switched_heads::class_logits;
use ndarray::{Array1, Array2, Array3};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::Inputs;
use crate::parts::drawn;
use crate::parts::opened_picture;
use crate::picture_model::OpenedPicture;
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Classes whose scores are shown.
pub const TOP: usize = 5;

/// The cell `class-heads`, on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: "class-heads",
    inputs: || vec![opened_picture::input()],
    run: Run::Sliced(WorkerKind::Models),
};

/// Starts the sweep over the heads of a model.
///
/// # Errors
/// A model without classes, or what its pass meets.
pub fn start_opened(_: &Inputs, opened: Arc<OpenedPicture>) -> Result<Box<dyn Job>, CellError> {
    let (vit, image) = (opened.model.classifier()?, opened.image.view());
    let whole = class_logits(vit, image, &[])?;
    let count = TOP.min(whole.len());
    Ok(Box::new(Sweep {
        sizes: opened.model.layers_and_heads(),
        classes: top_indices(softmax(whole.view()).view(), count),
        whole,
        without: Vec::new(),
        opened,
    }))
}

/// The heads that have been switched off so far.
struct Sweep {
    opened: Arc<OpenedPicture>,
    /// Layers, and heads of each.
    sizes: (usize, usize),
    /// The most likely classes with all heads on, the first being the answer.
    classes: Vec<usize>,
    /// The logits with all heads on.
    whole: Array1<f32>,
    /// The logits without each head.
    without: Vec<Array1<f32>>,
}

impl Job for Sweep {
    /// One head.
    fn advance(&mut self) -> Result<Progress, CellError> {
        let (done, count) = (self.without.len(), self.sizes.0 * self.sizes.1);
        if done == count {
            return Ok(Progress::Done(Box::new(self.finish())));
        }
        let vit = self.opened.model.classifier()?;
        let logits = class_logits(vit, self.opened.image.view(), &[done])?;
        self.without.push(logits);
        Ok(Progress::Working((done + 1) as f32 / (count + 1) as f32))
    }
}

impl Sweep {
    /// What each head does to each class.
    fn finish(&self) -> crate::Computation {
        let mut record = Record::new();
        let (layers, heads) = self.sizes;
        let shares: Vec<Array1<f32>> = (self.without.iter())
            .map(|logits| softmax(logits.view()))
            .collect();
        let of = |class: usize, number: usize| self.without[number][class] - self.whole[class];
        let shape = (self.classes.len(), layers, heads);
        let place = |layer: usize, head: usize| layer * heads + head;
        let changes = Array3::from_shape_fn(shape, |(n, layer, head)| {
            of(self.classes[n], place(layer, head))
        });
        let probabilities = Array3::from_shape_fn(shape, |(n, layer, head)| {
            shares[place(layer, head)][self.classes[n]]
        });
        // The heads of each class by the size of the change, the largest loss first.
        let mut order = Array2::zeros((shape.0, layers * heads));
        for (n, mut row) in order.outer_iter_mut().enumerate() {
            let mut all: Vec<usize> = (0..layers * heads).collect();
            all.sort_by(|&a, &b| of(self.classes[n], a).total_cmp(&of(self.classes[n], b)));
            for (slot, head) in row.iter_mut().zip(all) {
                *slot = head as f32;
            }
        }
        let own = softmax(self.whole.view());
        let own: Array1<f32> = self.classes.iter().map(|&class| own[class]).collect();
        let names = (self.classes.iter()).map(|&class| self.opened.class_name(class));
        record.words("classes", names.collect());
        record.tensor("changes", &changes);
        record.tensor("probabilities", &probabilities);
        record.tensor("order", &order);
        record.tensor("whole", &own);
        record.number("count", (layers * heads) as f64);
        let answers: Vec<usize> = shares.iter().map(drawn::best).collect();
        let other = |answer: &&usize| Some(*answer) != self.classes.first();
        record.number("turned", answers.iter().filter(other).count() as f64);
        let names = answers.iter().map(|&class| self.opened.class_name(class));
        record.words("answers", names.collect());
        record.words(
            "layer.names",
            (1..=layers).map(|n| format!("layer {n}")).collect(),
        );
        record.words(
            "head.names",
            (1..=heads).map(|n| format!("head {n}")).collect(),
        );
        record.finish()
    }
}
