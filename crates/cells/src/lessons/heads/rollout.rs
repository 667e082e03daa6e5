//! Which words count for a hidden word: the weights of the last layer, attention rollout, and what
//! happens when each word is hidden too.

use engine::nn::softmax::top_indices;
use engine::token::tokenizer::Tokenizer;
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
use crate::spec::{CellSpec, Run, WorkerKind, once};

/// Most tokens of a sentence, each of which has a row.
const MOST: usize = 16;

/// The cell `rollout`.
pub const SPEC: CellSpec = CellSpec {
    name: "rollout",
    summary: "The words that count for a hidden word of any sentence, by the last layer's weights, by attention rollout, and by hiding each word as well.",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(BERT).into_iter().collect(),
    start: |inputs, cache| {
        let bert = cache.opened::<MaskedLm>(trained::file(BERT).unwrap_or_default())?;
        let inputs = inputs.clone();
        Ok(once(move || compute(&inputs, &bert)))
    },
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let sentence = "The boy wanted to eat the cake but his mother said no";
    let most = MOST as f64;
    vec![
        InputSpec::text("sentence", "Your sentence", sentence),
        InputSpec::number("hidden", "Hidden token", (1.0, most, 1.0), 9.0),
    ]
}

fn compute(inputs: &Inputs, bert: &MaskedLm) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let (model, tokenizer) = (&bert.model, &bert.tokenizer);
    let typed = words::tokens(inputs, "sentence", "Your sentence", MOST)?;
    let pieces = Pieces::of_words(tokenizer, &typed)?;
    let pieces = pieces.at_most(MOST, "sentence", "Your sentence")?;
    let count = pieces.ids.len();
    let mask = tokenizer.special().mask;
    let mask = mask.ok_or_else(|| CellError::Missing("[MASK]".to_owned()))?;
    let (hidden, all) = (
        inputs.count("hidden")?.clamp(1, count),
        pieces.enclosed(tokenizer),
    );
    let mut ids = all.ids;
    let right = ids[hidden];
    ids[hidden] = mask;

    let mut seen = Recorder::default();
    let read = &ids[..];
    let logits = shown!(
        record,
        engine::model::bert::Bert::forward,
        model,
        read,
        Some(&mut seen)
    )?;
    let before = engine::nn::softmax::softmax(logits.row(hidden));
    let best = top_indices(before.view(), 1)[0];
    let config = model.config();
    let weights = all_weights(&seen, config.layers, config.heads)?;
    let rolled = shown!(record, explain::rollout::rollout, weights.view())?;
    let last = weights.index_axis(Axis(0), config.layers.saturating_sub(1));
    let last = last.index_axis(Axis(1), hidden);
    let last = last.mean_axis(Axis(0)).unwrap_or_default();
    let rolled = rolled.row(hidden).to_owned();

    let mut effects = Array1::zeros(ids.len());
    let others: Vec<usize> = (1..=count).filter(|&t| t != hidden).collect();
    for &other in &others {
        let mut both = ids.clone();
        both[other] = mask;
        let logits = model.forward(&both, None)?;
        let after = engine::nn::softmax::softmax(logits.row(hidden));
        effects[other] = (before[best] - after[best]).abs();
    }
    let chosen = |x: &Array1<f32>| -> Vec<f32> { others.iter().map(|&t| x[t]).collect() };
    let (of_last, of_rolled, of_effects) = (chosen(&last), chosen(&rolled), chosen(&effects));
    record.number("agreement.last", rank_correlation(&of_last, &of_effects));
    record.number(
        "agreement.rollout",
        rank_correlation(&of_rolled, &of_effects),
    );
    record.number("ratio.rollout", spread(&of_rolled));
    record.number("ratio.effects", spread(&of_effects));
    record.tensor("last", &last);
    record.tensor("rollout", &rolled);
    record.tensor("effects", &effects);
    record.number("hidden", hidden as f64);
    record.number("count", count as f64);
    record.number("best.probability", f64::from(before[best]));
    record.number("right.probability", f64::from(before[right]));
    let word = |id: usize| visible(tokenizer.token(id).unwrap_or_default());
    record.words("best", vec![word(best)]);
    record.words("right", vec![word(right)]);
    let mut texts = all.texts;
    if let Some(text) = texts.get_mut(hidden) {
        "[MASK]".clone_into(text);
    }
    record.words("tokens", texts);
    Ok(record.finish())
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
