//! The choice of the next token from the scores of eight words, or of the eight most likely tokens of
//! a model that the reader has opened: temperature, top-k, top-p, and draws from a seed.

use std::sync::Arc;

use engine::model::decoder::Session;
use engine::nn::softmax::top_indices;
use engine::sample::{Sampler, Sampling};
use ndarray::{Array1, Array2, ArrayView1, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::trained::{self, Pieces};
use crate::spec::{CellSpec, Job, Run, WorkerKind};
use crate::text_model::TextModel;

/// The words that may follow. These are tokens that tiny-gpt finds likely after [`BEFORE`].
pub const WORDS: [&str; 8] = ["girl", "boy", "bird", "dog", "cat", "old", "fish", "bear"];

/// The text that the words follow.
pub const BEFORE: &str = "Once upon a time there was a little";

/// The scores of the words by tiny-gpt, to a tenth.
const SCORES: [f32; 8] = [7.9, 7.2, 4.9, 4.1, 3.3, 2.9, 2.8, 2.5];

/// Words that are drawn.
pub const DRAWS: usize = 12;

/// The cell `sampling`.
pub const SPEC: CellSpec = CellSpec {
    name: "sampling",
    inputs,
    run: Run::Now(compute),
};

/// Most tokens of a text of the reader's.
const MOST_TOKENS: usize = 48;

/// The text that an opened model continues: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Your text");

/// The cell on a model that the reader has opened, which gives the scores.
pub const OPENED: CellSpec = CellSpec {
    name: SPEC.name,
    inputs: opened_inputs,
    run: Run::Sliced(WorkerKind::Models),
};

fn opened_inputs() -> Vec<InputSpec> {
    let mut all = vec![InputSpec::text(SENTENCE.0, SENTENCE.1, BEFORE)];
    all.extend(settings());
    all
}

fn inputs() -> Vec<InputSpec> {
    let count = WORDS.len();
    let scores = Array2::from_shape_fn((count, 1), |(n, _)| SCORES[n]);
    let mut all = vec![InputSpec::matrix(
        "scores",
        "Scores",
        (count, count),
        (1, 1),
        scores,
    )];
    all.extend(settings());
    all
}

/// How the next token is chosen from the scores.
fn settings() -> [InputSpec; 4] {
    let count = WORDS.len();
    [
        InputSpec::number("tau", "Temperature $\u{3c4}$", (0.1, 3.0, 0.1), 1.0),
        InputSpec::number("k", "Top-$k$", (1.0, count as f64, 1.0), count as f64),
        InputSpec::number("p", "Top-$p$", (0.05, 1.0, 0.05), 1.0),
        InputSpec::seed(1),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let scores = inputs.matrix("scores")?;
    draw(&mut record, inputs, scores.column(0), &WORDS)?;
    Ok(record.finish())
}

/// Starts the cell on a model that the reader has opened.
///
/// # Errors
/// None: the computation has its own.
pub fn start_opened(inputs: &Inputs, model: Arc<dyn TextModel>) -> Result<Box<dyn Job>, CellError> {
    Ok(trained::once_with(inputs, model, compute_opened))
}

fn compute_opened(inputs: &Inputs, model: &dyn TextModel) -> Result<Computation, CellError> {
    let (decoder, tokenizer) = (model.decoder(), model.tokenizer());
    let text = inputs.text(SENTENCE.0)?.trim();
    let pieces = Pieces::of_text(tokenizer, text)?
        .at_most(MOST_TOKENS, SENTENCE.0, SENTENCE.1)?
        .within(model.name(), (decoder.context(), 1), SENTENCE)?;
    let mut ids = vec![model.start()?];
    ids.extend(pieces.ids);
    let logits = Session::new(decoder).feed(&ids)?;
    // As when it writes: rows that fill the matrix up and name no token are never drawn.
    let tokens = tokenizer.size().min(logits.len());
    let row = logits.slice_axis(Axis(0), (..tokens).into());
    let best = top_indices(row, WORDS.len());
    let mut record = Record::new();
    let probabilities = shown!(record, engine::nn::softmax::softmax, row);
    let share: f32 = best.iter().map(|&id| probabilities[id]).sum();
    let scores: Array1<f32> = best.iter().map(|&id| logits[id]).collect();
    let words = Pieces::of_ids(tokenizer, best)?.texts;
    let names: Vec<&str> = words.iter().map(String::as_str).collect();
    draw(&mut record, inputs, scores.view(), &names)?;
    record.tensor("scores", &scores);
    record.number("share", f64::from(share));
    record.words("words", words);
    Ok(record.finish())
}

/// Keeps what is left of the scores of these words, and which of them are drawn.
fn draw(
    record: &mut Record,
    inputs: &Inputs,
    scores: ArrayView1<'_, f32>,
    words: &[&str],
) -> Result<(), CellError> {
    let (tau, p) = (inputs.number("tau")? as f32, inputs.number("p")? as f32);
    let k = inputs.count("k")?;
    let found = shown!(record, explain::survivors::survivors, scores, tau, k, p);
    record.tensor("tempered", &found.tempered);
    record.tensor("kept", &found.kept);
    let left = found.kept.iter().filter(|&&share| share > 0.0).count();
    record.number("survivors", left as f64);
    let sampling = Sampling {
        temperature: tau,
        top_k: Some(k),
        top_p: Some(p),
        ..Sampling::default()
    };
    let mut sampler = Sampler::new(sampling, inputs.seed()?)?;
    let drawn = (0..DRAWS).map(|_| sampler.next(scores, &[]));
    let drawn = drawn.collect::<engine::Result<Vec<usize>>>()?;
    let mut counts = vec![0.0; words.len()];
    for &word in &drawn {
        counts[word] += 1.0;
    }
    let drawn = drawn.iter().map(|&word| words[word].to_owned());
    record.words("drawn", drawn.collect());
    record.numbers("counts", counts);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::number;
    use crate::parts::trained::GPT;

    fn of(given: &[(&str, f64)]) -> Computation {
        let mut inputs = Inputs::defaults(&super::inputs());
        for &(name, value) in given {
            inputs = inputs.with(name, number(value));
        }
        SPEC.compute(&inputs).unwrap()
    }

    fn kept(c: &Computation) -> Vec<f64> {
        c.tensor("kept").unwrap().values.iter().copied().collect()
    }

    /// The scores are tiny-gpt's, rounded.
    #[test]
    fn the_scores_are_those_of_the_model() {
        use engine::model::decoder::Session;
        use engine::token::tokenizer::Tokenizer;
        let cache = crate::parts::test_models::cache();
        let file = crate::parts::trained::file(GPT).unwrap();
        let gpt = cache.opened::<crate::model_cache::CausalLm>(file).unwrap();
        let mut ids = vec![gpt.tokenizer.special().end.unwrap()];
        ids.extend(gpt.tokenizer.encode(BEFORE).unwrap());
        let logits = Session::new(&gpt.model).feed(&ids).unwrap();
        for (word, score) in WORDS.iter().zip(SCORES) {
            let id = gpt.tokenizer.encode(&format!(" {word}")).unwrap();
            assert_eq!(id.len(), 1, "{word}");
            assert!(
                (logits[id[0]] - score).abs() < 0.07,
                "{word}: {}",
                logits[id[0]]
            );
        }
    }

    /// What the lesson says of temperature and cuts.
    #[test]
    fn cold_is_sharp_hot_is_even_and_cuts_leave_the_best() {
        let plain = kept(&of(&[]));
        assert!((0.6..0.65).contains(&plain[0]), "{plain:?}");
        assert!(kept(&of(&[("tau", 0.1)]))[0] > 0.99);
        let hot = kept(&of(&[("tau", 3.0)]));
        assert!(hot[0] < 0.4 && hot[7] > 0.05);
        assert_eq!(of(&[("k", 3.0)]).at("survivors", &[]), Some(3.0));
        assert_eq!(of(&[("p", 0.9)]).at("survivors", &[]), Some(2.0));
        // Flat scores leave more words within the same share.
        assert!(of(&[("p", 0.9), ("tau", 3.0)]).at("survivors", &[]) > Some(4.0));
        for c in [of(&[("k", 3.0)]), of(&[("p", 0.7), ("tau", 2.0)])] {
            assert!((kept(&c).iter().sum::<f64>() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_seed_repeats_its_draws_and_cut_words_are_never_drawn() {
        let words = |given: &[(&str, f64)]| of(given).words("drawn").to_vec();
        assert_eq!(words(&[("seed", 5.0)]), words(&[("seed", 5.0)]));
        assert_ne!(words(&[("seed", 5.0)]), words(&[("seed", 6.0)]));
        for seed in 0..40 {
            let c = of(&[("seed", f64::from(seed)), ("tau", 3.0), ("k", 2.0)]);
            let drawn = c.words("drawn");
            assert!(drawn.iter().all(|word| WORDS[..2].contains(&word.as_str())));
            assert_eq!(c.tensor("counts").unwrap().values.sum(), DRAWS as f64);
        }
    }

    /// At the limits of the inputs there is always a survivor.
    #[test]
    fn some_word_always_survives() {
        for scores in [
            [1e6_f32; 8],
            [-1e6; 8],
            [1e6, -1e6, 0.0, 0.0, 0.0, 0.0, 0.0, 1e6],
        ] {
            let scores = Array2::from_shape_fn((8, 1), |(n, _)| scores[n]);
            let given = Inputs::defaults(&inputs())
                .with("scores", InputValue::Matrix(scores))
                .with("tau", number(0.1))
                .with("p", number(0.05));
            let c = SPEC.compute(&given).unwrap();
            assert!(kept(&c).iter().all(|share| share.is_finite()));
            assert!(c.at("survivors", &[]) >= Some(1.0));
        }
    }

    /// A row that fills an opened model's embedding up is never drawn, as when the model writes.
    #[test]
    fn a_row_without_a_token_is_not_drawn() {
        let given = Inputs::defaults(&opened_inputs());
        let whole = crate::parts::trained::gpt(&crate::parts::test_models::cache()).unwrap();
        let best = &compute_opened(&given, &*whole).unwrap().words("words")[0].clone();
        let cut = best.replace('\u{2423}', "Ġ");
        let model = crate::parts::test_models::FewerTokens::before(&cut, whole).unwrap();
        let found = compute_opened(&given, &model).unwrap();
        assert!(!found.words("words").contains(best));
        assert_eq!(found.words("words").len(), WORDS.len());
    }
}
