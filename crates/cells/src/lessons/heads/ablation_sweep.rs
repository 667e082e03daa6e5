//! Every head of tiny-gpt, or of a model that the reader has opened, switched off in turn: what it
//! costs.

use std::sync::Arc;

use engine::model::decoder::DecoderExt;
use engine::trace::Recorder;
use ndarray::{Array1, Array2};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::readers::all_weights;
use crate::parts::said::{self, Said};
use crate::parts::trained::{self, GPT};
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};
use crate::text_model::TextModel;

/// The cell `ablation-sweep`.
pub const SPEC: CellSpec = CellSpec {
    name: "ablation-sweep",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(GPT).into_iter().collect(),
    start: |inputs, cache| start(inputs, trained::gpt(cache)?),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let mut all = said::inputs();
    let selected = Some(&[0, 2][..]);
    all.push(InputSpec::entry(
        "selected",
        "Selected layer and head",
        2,
        selected,
    ));
    all
}

/// Starts the sweep over the heads of a model.
///
/// # Errors
/// A text without tokens, or with too many.
pub fn start(inputs: &Inputs, text_model: Arc<dyn TextModel>) -> Result<Box<dyn Job>, CellError> {
    let said = Said::chosen(inputs, &*text_model)?;
    let (model, ids) = (text_model.decoder(), &said.ids[..]);
    let mut record = Record::new();
    let off: &[usize] = &[];
    let losses = shown!(
        record,
        explain::switched_heads::token_losses,
        model,
        ids,
        off
    )?;
    let whole = said.mean(&losses);
    Ok(Box::new(Sweep {
        sizes: (model.layers(), model.heads()),
        said,
        record,
        whole,
        losses: Vec::new(),
        model: text_model,
    }))
}

/// The heads that have been switched off so far.
struct Sweep {
    model: Arc<dyn TextModel>,
    said: Said,
    record: Record,
    /// Layers, and heads of each.
    sizes: (usize, usize),
    /// The mean loss with all heads on.
    whole: f64,
    /// The mean loss without each head.
    losses: Vec<f64>,
}

impl Job for Sweep {
    /// One head.
    fn advance(&mut self) -> Result<Progress, CellError> {
        let (done, count) = (self.losses.len(), self.sizes.0 * self.sizes.1);
        if done == count {
            self.finish()?;
            let record = std::mem::take(&mut self.record);
            return Ok(Progress::Done(Box::new(record.finish())));
        }
        let losses =
            explain::switched_heads::token_losses(self.model.decoder(), &self.said.ids, &[done])?;
        self.losses.push(self.said.mean(&losses));
        Ok(Progress::Working((done + 1) as f32 / (count + 1) as f32))
    }
}

impl Sweep {
    /// Ranks the heads, and keeps the weights of all.
    fn finish(&mut self) -> Result<(), CellError> {
        let (layers, heads) = self.sizes;
        let mut seen = Recorder::default();
        let decoder = self.model.decoder();
        decoder.forward(&self.said.ids, Some(&mut seen))?;
        let weights = all_weights(&seen, layers, heads)?;
        let [previous, induction] = self.said.patterns(&weights);
        let effects: Vec<f64> = self.losses.iter().map(|loss| loss - self.whole).collect();
        let mut order: Vec<usize> = (0..effects.len()).collect();
        order.sort_by(|&a, &b| effects[b].total_cmp(&effects[a]));
        let record = &mut self.record;
        self.said.keep_tokens(record);
        record.number("whole", self.whole);
        record.number("layers", layers as f64);
        record.number("heads", heads as f64);
        let wide = |all: Vec<f64>| -> Array1<f32> { all.iter().map(|&x| x as f32).collect() };
        let ranked = |all: &Array2<f32>| -> Array1<f32> {
            order.iter().map(|&n| all[[n / heads, n % heads]]).collect()
        };
        record.tensor("losses", &wide(self.losses.clone()));
        record.tensor("effects", &wide(effects.clone()));
        let sorted = order.iter().map(|&n| effects[n]).collect();
        record.tensor("ranked", &wide(sorted));
        record.numbers("order", order.iter().map(|&n| n as f64).collect());
        record.tensor("ranked.previous", &ranked(&previous));
        record.tensor("ranked.induction", &ranked(&induction));
        record.tensor("previous", &previous);
        record.tensor("induction", &induction);
        record.tensor("weights", &weights);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::computation::Computation;
    use crate::parts::said::YOURS;
    use crate::parts::test_models::{choice, computed, number};

    fn of(seed: f64) -> Computation {
        computed(
            &SPEC,
            &Inputs::defaults(&inputs()).with("seed", number(seed)),
        )
        .unwrap()
    }

    fn effect(c: &Computation, layer: usize, head: usize) -> f64 {
        c.at("effects", &[(layer - 1) * 4 + head - 1]).unwrap()
    }

    /// What the lesson says: two heads of layer 1 stand out, and the three induction heads do not.
    #[test]
    fn the_sweep_finds_two_heads_of_layer_one_and_no_induction_head() {
        for seed in 2..6 {
            let c = of(f64::from(seed));
            assert!(effect(&c, 1, 1) > 5.0 && effect(&c, 1, 3) > 5.0);
            for layer in 1..=4 {
                for head in 1..=4 {
                    let is_one = layer == 1 && (head == 1 || head == 3);
                    assert!(is_one || effect(&c, layer, head) < 0.8, "{layer}.{head}");
                }
            }
            // The heads that look at what came after the same token.
            for (head, least) in [(1, 0.6), (2, 0.85), (3, 0.75)] {
                assert!(c.at("induction", &[1, head - 1]).unwrap() > least);
            }
            assert!(c.at("previous", &[0, 2]).unwrap() > 0.85);
        }
    }

    #[test]
    fn the_ranking_is_sorted_and_complete() {
        let c = of(2.0);
        let mut order: Vec<usize> = (0..16)
            .map(|n| c.at("order", &[n]).unwrap() as usize)
            .collect();
        for n in 0..15 {
            assert!(c.at("ranked", &[n]) >= c.at("ranked", &[n + 1]));
            assert_eq!(c.at("ranked", &[n]), c.at("effects", &[order[n]]));
        }
        order.sort_unstable();
        assert_eq!(order, (0..16).collect::<Vec<_>>());
        let first = c.at("losses", &[0]).unwrap() - c.at("whole", &[]).unwrap();
        assert!((first - effect(&c, 1, 1)).abs() < 1e-4);
    }

    /// What the lesson says of the story: one head of layer 1 costs most by far.
    #[test]
    fn on_a_story_most_heads_can_be_missed() {
        let given = Inputs::defaults(&inputs()).with("text", choice(YOURS));
        let c = computed(&SPEC, &given).unwrap();
        assert!(effect(&c, 1, 1) > 2.0);
        for n in 1..16 {
            assert!(c.at("effects", &[n]).unwrap() < 0.4, "{n}");
        }
    }
}
