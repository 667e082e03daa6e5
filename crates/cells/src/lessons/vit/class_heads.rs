//! Every head of a model of pictures, switched off in turn: what that does to the scores of its most likely
//! classes. The lesson's cell reads the reader's drawing with digit-vit; the other one the picture that an
//! opened model read last, by a Vision Transformer or a Swin V2.

use std::sync::Arc;

use engine::nn::softmax::{softmax, top_indices};
use explain::switched_heads::{class_logits, swin_logits};
use ndarray::{Array1, Array2, Array3};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::opened::window_reach::OpenedWindows;
use crate::parts::digit_models;
use crate::parts::drawn;
use crate::parts::opened_picture;
use crate::picture_model::OpenedPicture;
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Classes whose scores are shown.
pub const TOP: usize = 5;

/// The cell `class-heads`.
pub const SPEC: CellSpec = CellSpec {
    name: "class-heads",
    inputs: || inputs(drawn::input()),
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = digit_models::entry(SPEC.name, start);

/// The cell on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: SPEC.name,
    inputs: || inputs(opened_picture::input()),
    run: SPEC.run,
};

fn inputs(picture: InputSpec) -> Vec<InputSpec> {
    let class = InputSpec::entry("class", "Class whose score is shown", 1, Some(&[0]));
    vec![picture, class]
}

fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let vit = digit_models::vit(cache)?;
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    let (model, picture, off): (_, _, &[usize]) = (&*vit, image.view(), &[]);
    let whole = shown!(
        record,
        explain::switched_heads::class_logits,
        model,
        picture,
        off
    )?;
    let heads = vec![vit.config().heads; vit.config().layers];
    Ok(Box::new(Sweep::new(
        record,
        heads,
        whole,
        Model {
            logits: Box::new(move |off: &[usize]| Ok(class_logits(&vit, image.view(), off)?)),
            name: Box::new(|class| class.to_string()),
        },
    )))
}

/// Starts the sweep over the heads of a model.
///
/// # Errors
/// A model without classes, or what its pass meets.
pub fn start_opened(_: &Inputs, opened: Arc<OpenedPicture>) -> Result<Box<dyn Job>, CellError> {
    let (layers, heads) = opened.model.layers_and_heads();
    let whole = class_logits(opened.model.classifier()?, opened.image.view(), &[])?;
    let named = Arc::clone(&opened);
    Ok(Box::new(Sweep::new(
        Record::new(),
        vec![heads; layers],
        whole,
        Model {
            logits: Box::new(move |off: &[usize]| {
                let vit = opened.model.classifier()?;
                Ok(class_logits(vit, opened.image.view(), off)?)
            }),
            name: Box::new(move |class| named.class_name(class)),
        },
    )))
}

/// Starts the sweep over the heads of a model with windows: a head is off in all windows of its block.
///
/// # Errors
/// What the model's pass meets.
pub fn start_windows(_: &Inputs, opened: Arc<OpenedWindows>) -> Result<Box<dyn Job>, CellError> {
    let whole = swin_logits(&opened.model, opened.image.view(), &[])?;
    let named = Arc::clone(&opened);
    Ok(Box::new(Sweep::new(
        Record::new(),
        opened.heads(),
        whole,
        Model {
            logits: Box::new(move |off: &[usize]| {
                Ok(swin_logits(&opened.model, opened.image.view(), off)?)
            }),
            name: Box::new(move |class| named.class_name(class)),
        },
    )))
}

/// The logits of a picture with heads switched off, whose numbers count through all layers.
type Logits = dyn Fn(&[usize]) -> Result<Array1<f32>, CellError> + Send;

/// A model with its picture.
struct Model {
    logits: Box<Logits>,
    /// The name of a class.
    name: Box<dyn Fn(usize) -> String + Send>,
}

/// The heads that have been switched off so far.
struct Sweep {
    record: Record,
    model: Model,
    /// Every head, as its layer and its number there.
    heads: Vec<(usize, usize)>,
    /// Layers, and the most heads of one.
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
        let (done, count) = (self.without.len(), self.heads.len());
        if done == count {
            return Ok(Progress::Done(Box::new(self.finish())));
        }
        let logits = (self.model.logits)(&[done])?;
        self.without.push(logits);
        Ok(Progress::Working((done + 1) as f32 / (count + 1) as f32))
    }
}

impl Sweep {
    /// No head is switched off yet; `heads` says how many each layer has.
    fn new(record: Record, heads: Vec<usize>, whole: Array1<f32>, model: Model) -> Self {
        let count = TOP.min(whole.len());
        Self {
            record,
            model,
            sizes: (heads.len(), heads.iter().copied().max().unwrap_or_default()),
            heads: (heads.iter().enumerate())
                .flat_map(|(layer, &heads)| (0..heads).map(move |head| (layer, head)))
                .collect(),
            classes: top_indices(softmax(whole.view()).view(), count),
            whole,
            without: Vec::new(),
        }
    }

    /// What each head does to each class.
    fn finish(&mut self) -> crate::Computation {
        let mut record = std::mem::take(&mut self.record);
        let (layers, most) = self.sizes;
        let shares: Vec<Array1<f32>> = (self.without.iter())
            .map(|logits| softmax(logits.view()))
            .collect();
        let of = |class: usize, number: usize| self.without[number][class] - self.whole[class];
        // A layer with fewer heads than another has places without one.
        let shape = (self.classes.len(), layers, most);
        let mut changes = Array3::from_elem(shape, f32::NEG_INFINITY);
        let mut probabilities = changes.clone();
        // The heads of each class by the size of the change, the largest loss first.
        let mut order = Array2::zeros((shape.0, self.heads.len()));
        for (n, &class) in self.classes.iter().enumerate() {
            for (number, &(layer, head)) in self.heads.iter().enumerate() {
                changes[[n, layer, head]] = of(class, number);
                probabilities[[n, layer, head]] = shares[number][class];
            }
            let mut all: Vec<usize> = (0..self.heads.len()).collect();
            all.sort_by(|&a, &b| of(class, a).total_cmp(&of(class, b)));
            for (slot, number) in order.row_mut(n).iter_mut().zip(all) {
                let (layer, head) = self.heads[number];
                *slot = (layer * most + head) as f32;
            }
        }
        let own = softmax(self.whole.view());
        let own: Array1<f32> = self.classes.iter().map(|&class| own[class]).collect();
        let name = |&class: &usize| (self.model.name)(class);
        record.words("classes", self.classes.iter().map(name).collect());
        record.tensor("changes", &changes);
        record.tensor("probabilities", &probabilities);
        record.tensor("order", &order);
        record.tensor("whole", &own);
        record.number("count", self.heads.len() as f64);
        let answers: Vec<usize> = shares.iter().map(drawn::best).collect();
        let other = |answer: &&usize| Some(*answer) != self.classes.first();
        record.number("turned", answers.iter().filter(other).count() as f64);
        record.words("answers", answers.iter().map(name).collect());
        record.words(
            "layer.names",
            (1..=layers).map(|n| format!("layer {n}")).collect(),
        );
        record.words(
            "head.names",
            (1..=most).map(|n| format!("head {n}")).collect(),
        );
        record.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::parts::test_models::{cache, computed, on_drawing};

    /// Each change is that of the score without the head, and the ranking begins with the largest loss.
    #[test]
    fn changes_are_those_of_the_model_without_each_head() {
        let c = computed(&SPEC, &Inputs::defaults(&(SPEC.inputs)())).unwrap();
        let vit = digit_models::vit(&cache()).unwrap();
        let image = drawn::quiet_image(&ready(4)).unwrap();
        let own = vit.forward(image.view(), None).unwrap();
        for (n, name) in c.words("classes").iter().enumerate() {
            let class: usize = name.parse().unwrap();
            for head in 0..16 {
                let without = class_logits(&vit, image.view(), &[head]).unwrap();
                let change = c.at("changes", &[n, head / 4, head % 4]).unwrap();
                assert_eq!(change, f64::from(without[class] - own[class]));
            }
            let ranked: Vec<f64> = (0..16)
                .map(|rank| {
                    let head = c.at("order", &[n, rank]).unwrap() as usize;
                    c.at("changes", &[n, head / 4, head % 4]).unwrap()
                })
                .collect();
            assert!(ranked.is_sorted(), "{ranked:?}");
        }
    }

    /// What the lesson says of the 4: no head alone turns the answer; the third head of the third block is
    /// worth most, and holds the 9 down most; the sharpest head of the second block is hardly missed.
    #[test]
    fn one_head_of_the_third_block_is_worth_most() {
        let c = on_drawing(&SPEC, ready(4)).unwrap();
        assert_eq!(c.words("classes")[..2], ["4", "9"]);
        assert_eq!(
            (c.at("turned", &[]), c.at("count", &[])),
            (Some(0.0), Some(16.0))
        );
        let change =
            |n: usize, layer: usize, head: usize| c.at("changes", &[n, layer, head]).unwrap();
        let place = (2 * 4 + 2) as f64;
        assert_eq!(c.at("order", &[0, 0]), Some(place));
        assert_eq!(c.at("order", &[1, 15]), Some(place));
        assert!((-0.7..-0.5).contains(&change(0, 2, 2)) && change(1, 2, 2) > 1.5);
        assert!(change(0, 1, 1).abs() < 0.1);
        assert!(c.at("probabilities", &[0, 2, 2]).unwrap() > 0.8);
        assert!(c.at("probabilities", &[1, 2, 2]).unwrap() > 0.1);
    }
}
