//! Beam sizes on the site's own sentences: the length of the translations and their scores, as many
//! sentences as the reader lets it.

use std::sync::Arc;

use engine::translate::{Pair, Translator, length};
use explain::score::Score;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::race::{self, SENTENCES, SET};
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// The model's file below `models/`.
const FILE: &str = "translator.safetensors";

/// The beam sizes that are compared.
pub const SIZES: [usize; 4] = [1, 2, 4, 8];

/// The place of the size that is compared with greedy decoding sentence by sentence.
const WIDER: usize = 2;

/// The cell `beam-lengths`.
pub const SPEC: CellSpec = CellSpec {
    name: "beam-lengths",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| vec![SET, FILE],
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("alpha", "Length penalty $\u{3b1}$", (0.0, 2.0, 0.1), 0.0),
        InputSpec::number("steps", "Sentences", (0.0, SENTENCES as f64, 1.0), 0.0),
    ]
}

/// Begins to measure.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let mut record = Record::new();
    let pairs = Arc::new(race::in_turn(race::sentences(&mut record, cache)?));
    let reading = record.finish().calls;
    let translator = cache.opened::<Translator>(FILE)?;
    let alpha = inputs.number("alpha")? as f32;
    let runner = |size: &usize| Runner {
        size: *size,
        alpha,
        translator: Arc::clone(&translator),
        pairs: Arc::clone(&pairs),
        score: Score::default(),
        words: 0,
        texts: Vec::new(),
        calls: reading.clone(),
    };
    let runners = SIZES.iter().map(runner).collect();
    Ok(Box::new(Training::new(inputs, runners, show)?))
}

/// One beam size, and how it did so far.
struct Runner {
    size: usize,
    alpha: f32,
    translator: Arc<Translator>,
    pairs: Arc<Vec<Pair>>,
    score: Score,
    /// Of all translations together.
    words: usize,
    texts: Vec<String>,
    calls: Vec<Call>,
}

impl Steps for Runner {
    fn steps(&self) -> u64 {
        self.texts.len() as u64
    }

    /// The next sentence. The first one is noted for "Show the Rust"; all others repeat its calls.
    fn step(&mut self) -> Result<(), CellError> {
        let place = self.texts.len();
        let pair = self.pairs.get(place);
        let pair =
            pair.ok_or_else(|| CellError::Mismatch(format!("{SET} has no sentence {place}")))?;
        let (translator, size, alpha) = (&*self.translator, self.size, self.alpha);
        let source = translator.ids(&pair.english)?;
        let reads = &source[..];
        let mut record = Record::new();
        let found = match place {
            0 => shown!(
                record,
                engine::translate::Translator::beam,
                translator,
                reads,
                size,
                alpha
            )?,
            _ => translator.beam(reads, size, alpha)?,
        };
        self.calls.extend(record.finish().calls);
        let text = match found.first() {
            Some(best) => race::text(translator, &best.ids)?,
            None => String::new(),
        };
        self.score.push(&text, &pair.italian);
        self.words += length(&text);
        self.texts.push(text);
        Ok(())
    }
}

fn show(runners: &[Runner], _: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let (Some(greedy), Some(wider)) = (runners.first(), runners.get(WIDER)) else {
        return Err(CellError::Missing("beam sizes".to_owned()));
    };
    let done = greedy.texts.len();
    record.number("steps", done as f64);
    record.number("sentences", SENTENCES as f64);
    record.numbers("sizes", SIZES.map(|size| size as f64).to_vec());
    for runner in runners {
        record.calls(&runner.calls);
    }
    if done > 0 {
        let all = |of: &dyn Fn(&Runner) -> f64| runners.iter().map(of).collect::<Vec<f64>>();
        record.numbers("words", all(&|runner| runner.words as f64 / done as f64));
        record.numbers("bleu", all(&|runner| 100.0 * runner.score.bleu()));
        record.numbers("exact", all(&|runner| runner.score.exact()));
    }
    let differs = |n: &usize, (worse, better): (&Runner, &Runner)| {
        !worse.score.exact[*n] && better.score.exact[*n]
    };
    let won: Vec<usize> = (0..done).filter(|n| differs(n, (greedy, wider))).collect();
    let lost: Vec<usize> = (0..done).filter(|n| differs(n, (wider, greedy))).collect();
    record.number("wider", wider.size as f64);
    record.number("won", won.len() as f64);
    record.number("lost", lost.len() as f64);
    let of = |places: &[usize], text: &dyn Fn(usize) -> String| {
        places.iter().map(|&n| text(n)).collect()
    };
    for (name, places) in [("won", &won), ("lost", &lost)] {
        record.words(
            &format!("{name}.english"),
            of(places, &|n| greedy.pairs[n].english.clone()),
        );
        record.words(
            &format!("{name}.greedy"),
            of(places, &|n| greedy.texts[n].clone()),
        );
        record.words(
            &format!("{name}.wider"),
            of(places, &|n| wider.texts[n].clone()),
        );
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number};

    fn measured(steps: usize, alpha: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("alpha", number(alpha))
            .with("steps", number(steps as f64));
        computed(&SPEC, &given).unwrap()
    }

    /// What the lesson says: without a penalty, more beams give shorter translations; two beams are
    /// better than one, eight no better than two.
    #[test]
    fn more_beams_give_shorter_translations() {
        let c = measured(SENTENCES, 0.0);
        let all = |name: &str| {
            SIZES
                .iter()
                .enumerate()
                .map(|(n, _)| c.at(name, &[n]).unwrap())
                .collect::<Vec<_>>()
        };
        let (words, bleu) = (all("words"), all("bleu"));
        assert!(words.is_sorted_by(|a, b| a > b));
        let rounded = words.iter().map(|words| (words * 100.0).round() / 100.0);
        assert_eq!(rounded.collect::<Vec<_>>(), [7.25, 7.11, 6.99, 6.91]);
        let rounded = bleu.iter().map(|bleu| (bleu * 10.0).round() / 10.0);
        assert_eq!(rounded.collect::<Vec<_>>(), [65.2, 68.4, 68.4, 67.9]);
        assert_eq!(
            (c.at("won", &[]), c.at("lost", &[])),
            (Some(6.0), Some(3.0))
        );
        assert!(
            c.words("won.english")
                .contains(&"my sister lives in rome".to_owned())
        );
        assert!(
            c.words("lost.english")
                .contains(&"they have three small children".to_owned())
        );
    }

    /// Nothing measured has no score, and a penalty makes no translation shorter on average.
    #[test]
    fn a_penalty_makes_translations_longer() {
        assert!(measured(0, 0.0).tensor("bleu").is_none());
        let (none, some) = (measured(26, 0.0), measured(26, 1.0));
        for n in 0..SIZES.len() {
            assert!(some.at("words", &[n]) >= none.at("words", &[n]), "{n}");
        }
    }
}
