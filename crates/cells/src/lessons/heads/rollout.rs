//! Which words count for a hidden word: the weights of the last layer, attention rollout, and what
//! happens when each word is hidden too. By tiny-bert, or by an encoder that the reader has opened.

use std::sync::Arc;

use engine::nn::softmax::top_indices;
use engine::trace::Recorder;
use explain::rollout::rank_correlation;
use ndarray::{Array1, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::MaskedLm;
use crate::parts::readers::all_weights;
use crate::parts::trained::{self, BERT, Pieces, visible};
use crate::parts::words;
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};
use crate::text_model::SentenceModel;

/// Most tokens of a sentence, each of which has a row.
const MOST: usize = 16;

/// The sentence: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Your sentence");

/// The answer where the open model cannot fill in a hidden word.
const NO_MASKS: &str = "This cell hides words and lets the model fill them in. The open model came without the part that fills in words, \
                        or its vocabulary has no token for a hidden one.";

/// The cell `rollout`.
pub const SPEC: CellSpec = CellSpec {
    name: "rollout",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(BERT).into_iter().collect(),
    start: |inputs, cache| {
        let file = trained::file(BERT).unwrap_or_default();
        start(inputs, cache.opened::<MaskedLm>(file)?)
    },
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let sentence = "The boy wanted to eat the cake but his mother said no";
    let most = MOST as f64;
    vec![
        InputSpec::text(SENTENCE.0, SENTENCE.1, sentence),
        InputSpec::number("hidden", "Hidden token", (1.0, most, 1.0), 9.0),
    ]
}

/// Starts the cell on an encoder.
///
/// # Errors
/// An encoder that fills in no words, or a text without tokens, or with too many.
pub fn start(inputs: &Inputs, model: Arc<dyn SentenceModel>) -> Result<Box<dyn Job>, CellError> {
    let (encoder, tokenizer) = (model.encoder(), model.tokenizer());
    let special = tokenizer.special();
    let mask = special.mask.filter(|_| encoder.fills_masks());
    let mask = mask.ok_or_else(|| CellError::Mismatch(NO_MASKS.to_owned()))?;
    let typed = words::tokens(inputs, SENTENCE.0, SENTENCE.1, MOST)?;
    let (before, after) = (special.begin.iter().count(), special.end.iter().count());
    let pieces = Pieces::of_words(tokenizer, &typed)?
        .at_most(MOST, SENTENCE.0, SENTENCE.1)?
        .within(
            model.name(),
            (encoder.config().context, before + after),
            SENTENCE,
        )?;
    let count = pieces.ids.len();
    let all = pieces.enclosed(tokenizer);
    let hidden = before + inputs.count("hidden")?.clamp(1, count) - 1;
    let mut ids = all.ids;
    let right = std::mem::replace(&mut ids[hidden], mask);
    let mut texts = all.texts;
    "[MASK]".clone_into(&mut texts[hidden]);
    let others = (before..before + count).filter(|&t| t != hidden).collect();
    Ok(Box::new(Hiding {
        effects: Array1::zeros(ids.len()),
        model,
        ids,
        texts,
        mask,
        hidden,
        right,
        others,
        read: None,
        done: 0,
    }))
}

/// A sentence with a hidden word, in which each other word is hidden as well, one after the other.
struct Hiding {
    model: Arc<dyn SentenceModel>,
    /// The tokens, the hidden one replaced.
    ids: Vec<usize>,
    texts: Vec<String>,
    /// The token of a hidden word.
    mask: usize,
    /// The position of the hidden token, and the token itself.
    hidden: usize,
    right: usize,
    /// The positions of the other tokens of the sentence.
    others: Vec<usize>,
    read: Option<Reading>,
    /// How many of the others have been hidden, and what that changed.
    done: usize,
    effects: Array1<f32>,
}

/// What the model makes of the sentence with one hidden word.
struct Reading {
    record: Record,
    /// `[V]`: the probabilities of the hidden token.
    probabilities: Array1<f32>,
    /// The most likely one.
    best: usize,
    /// `[T]`: the weights of the last layer, and those by rollout.
    last: Array1<f32>,
    rolled: Array1<f32>,
}

impl Reading {
    fn of(model: &dyn SentenceModel, ids: &[usize], hidden: usize) -> Result<Self, CellError> {
        let mut record = Record::new();
        let mut seen = Recorder::default();
        let model = model.encoder();
        let logits = shown!(
            record,
            engine::model::bert::Bert::forward,
            model,
            ids,
            Some(&mut seen)
        )?;
        let probabilities = engine::nn::softmax::softmax(logits.row(hidden));
        let config = model.config();
        let weights = all_weights(&seen, config.layers, config.heads)?;
        let rolled = shown!(record, explain::rollout::rollout, weights.view())?;
        let last = weights.index_axis(Axis(0), config.layers.saturating_sub(1));
        let last = last.index_axis(Axis(1), hidden);
        Ok(Self {
            record,
            best: top_indices(probabilities.view(), 1)[0],
            probabilities,
            last: last.mean_axis(Axis(0)).unwrap_or_default(),
            rolled: rolled.row(hidden).to_owned(),
        })
    }
}

impl Job for Hiding {
    /// One pass of the model.
    fn advance(&mut self) -> Result<Progress, CellError> {
        let Some(read) = &self.read else {
            self.read = Some(Reading::of(&*self.model, &self.ids, self.hidden)?);
            return Ok(self.progress());
        };
        let Some(&other) = self.others.get(self.done) else {
            return Ok(Progress::Done(Box::new(self.finished()?)));
        };
        let mut both = self.ids.clone();
        both[other] = self.mask;
        let logits = self.model.encoder().forward(&both, None)?;
        let now = engine::nn::softmax::softmax(logits.row(self.hidden));
        self.effects[other] = (read.probabilities[read.best] - now[read.best]).abs();
        self.done += 1;
        Ok(self.progress())
    }
}

impl Hiding {
    fn progress(&self) -> Progress {
        Progress::Working((self.done + 1) as f32 / (self.others.len() + 1) as f32)
    }

    fn finished(&mut self) -> Result<Computation, CellError> {
        let missing = || CellError::Missing("the sentence that was read".to_owned());
        let Reading {
            mut record,
            probabilities,
            best,
            last,
            rolled,
        } = self.read.take().ok_or_else(missing)?;
        let (tokenizer, effects) = (self.model.tokenizer(), &self.effects);
        let chosen = |x: &Array1<f32>| -> Vec<f32> { self.others.iter().map(|&t| x[t]).collect() };
        let (of_last, of_rolled, of_effects) = (chosen(&last), chosen(&rolled), chosen(effects));
        record.number("agreement.last", rank_correlation(&of_last, &of_effects));
        record.number(
            "agreement.rollout",
            rank_correlation(&of_rolled, &of_effects),
        );
        record.number("ratio.rollout", spread(&of_rolled));
        record.number("ratio.effects", spread(&of_effects));
        record.tensor("last", &last);
        record.tensor("rollout", &rolled);
        record.tensor("effects", effects);
        record.number("hidden", self.hidden as f64);
        record.number("count", (self.others.len() + 1) as f64);
        record.number("best.probability", f64::from(probabilities[best]));
        record.number("right.probability", f64::from(probabilities[self.right]));
        let word = |id: usize| visible(tokenizer.token(id).unwrap_or_default());
        record.words("best", vec![word(best)]);
        record.words("right", vec![word(self.right)]);
        record.words("tokens", std::mem::take(&mut self.texts));
        Ok(record.finish())
    }
}

/// How many times as large as the smallest the largest of some numbers is.
fn spread(x: &[f32]) -> f64 {
    let low = x.iter().copied().fold(f32::INFINITY, f32::min);
    let high = x.iter().copied().fold(0.0_f32, f32::max);
    if low > 0.0 && low.is_finite() {
        f64::from(high) / f64::from(low)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number, text};

    fn of(sentence: &str, hidden: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("sentence", text(sentence))
            .with("hidden", number(hidden));
        computed(&SPEC, &given).unwrap()
    }

    /// What the lesson says of *his* in the sentence: hiding *mother* costs most and *boy* second, while
    /// rollout gives *but* twice as much as *boy*, and *cake* about as much.
    #[test]
    fn rollout_misses_whose_mother_it_is() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        let place = |word: &str| c.words("tokens").iter().position(|t| t == word).unwrap();
        let at = |name: &str, word: &str| c.at(name, &[place(word)]).unwrap();
        assert_eq!(
            (c.words("best"), c.words("right")),
            (&["his".to_owned()][..], &["his".to_owned()][..])
        );
        assert!(c.at("best.probability", &[]).unwrap() > 0.75);
        assert!(at("effects", "mother") > 0.7);
        for word in ["wanted", "to", "eat", "cake", "but", "said", "no"] {
            assert!(at("effects", word) < at("effects", "boy"), "{word}");
        }
        assert!(at("rollout", "but") > 1.9 * at("rollout", "boy"));
        assert!(at("rollout", "cake") >= at("rollout", "boy"));
        assert!(c.at("ratio.rollout", &[]).unwrap() < 6.0);
        assert!(c.at("ratio.effects", &[]).unwrap() > 50.0);
    }

    /// A row of a rollout sums to one, like a row of weights.
    #[test]
    fn rollout_is_a_share() {
        let c = of("Lily went to the park with her mother", 7.0);
        for name in ["last", "rollout"] {
            let sum: f64 = c.tensor(name).unwrap().values.sum();
            assert!((sum - 1.0).abs() < 1e-5, "{name} {sum}");
        }
        let hidden = c.at("hidden", &[]).unwrap() as usize;
        assert_eq!(c.words("tokens")[hidden], "[MASK]");
        assert_eq!(c.at("effects", &[hidden]), Some(0.0));
        assert!(c.at("agreement.rollout", &[]).unwrap().abs() <= 1.0);
    }

    #[test]
    fn a_number_beyond_the_sentence_hides_its_last_token() {
        let c = of("The cat sat", 16.0);
        assert_eq!(c.words("tokens")[3], "[MASK]");
        let one = of("cat", 1.0);
        assert_eq!(one.at("agreement.rollout", &[]), Some(0.0));
        let none = Inputs::defaults(&inputs()).with("sentence", text(" "));
        assert!(computed(&SPEC, &none).is_err());
    }
}
