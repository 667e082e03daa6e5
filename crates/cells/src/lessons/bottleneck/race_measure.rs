//! Three translators on the site's own sentences: exact matches and BLEU against length, as many
//! sentences as the reader lets it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use engine::translate::{Pair, Translator};
use explain::score::Score;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::race::{self, MODELS, SENTENCES, SET, in_turn};
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Words of the sentences that are measured together.
const BUCKETS: [RangeInclusive<usize>; 6] = [2..=4, 5..=6, 7..=8, 9..=10, 11..=12, 13..=14];

/// Number of words from which a sentence counts as long.
const LONG: usize = 9;

/// Draws for an interval, and their seed.
const DRAWS: (usize, u64) = (400, 1);

/// The cell `race-measure`.
pub const SPEC: CellSpec = CellSpec {
    name: "race-measure",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files,
    start,
    partial_from: Some(1),
};

fn inputs() -> Vec<InputSpec> {
    vec![InputSpec::number(
        "steps",
        "Sentences",
        (0.0, SENTENCES as f64, 1.0),
        0.0,
    )]
}

/// The sentences, without which nothing can be measured, and the three models' files.
fn files(inputs: &Inputs) -> Vec<&'static str> {
    let mut files = vec![SET];
    files.extend(race::files(inputs));
    files
}

/// Begins to measure.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let mut record = Record::new();
    let pairs = in_turn(race::sentences(&mut record, cache)?);
    let mut measuring = Measuring {
        pairs: Arc::new(pairs),
        reading: record.finish().calls,
        training: Training::new(inputs, Vec::new(), show)?,
    };
    measuring.add_arrived(cache)?;
    Ok(Box::new(measuring))
}

/// The measurement of the models that are here; one that arrives later catches up with the others.
struct Measuring {
    pairs: Arc<Vec<Pair>>,
    /// The calls that read the sentences.
    reading: Vec<Call>,
    training: Training<Runner>,
}

impl Measuring {
    /// Adds the models that have arrived since, in the order of [`MODELS`].
    fn add_arrived(&mut self, cache: &ModelCache) -> Result<(), CellError> {
        for (place, (name, translator)) in race::open(cache)?.into_iter().enumerate() {
            let runners = self.training.courses_mut();
            if runners.iter().all(|runner| runner.name != name) {
                let runner = Runner {
                    name,
                    translator,
                    pairs: Arc::clone(&self.pairs),
                    score: Score::default(),
                    last: String::new(),
                    reading: self.reading.clone(),
                    calls: Vec::new(),
                };
                runners.insert(place.min(runners.len()), runner);
            }
        }
        Ok(())
    }
}

impl Job for Measuring {
    fn advance(&mut self) -> Result<Progress, CellError> {
        self.training.advance()
    }

    fn is_kept(&self) -> bool {
        self.training.is_kept()
    }

    fn go_on(&mut self, inputs: &Inputs, cache: &ModelCache) -> Result<bool, CellError> {
        if !self.training.go_on(inputs, cache)? {
            return Ok(false);
        }
        self.add_arrived(cache)?;
        self.training.start_counting();
        Ok(true)
    }
}

/// One of the three, and how it did so far.
struct Runner {
    name: &'static str,
    translator: Arc<Translator>,
    pairs: Arc<Vec<Pair>>,
    score: Score,
    last: String,
    /// The calls that read the sentences.
    reading: Vec<Call>,
    calls: Vec<Call>,
}

impl Steps for Runner {
    fn steps(&self) -> u64 {
        self.score.counts.len() as u64
    }

    /// The next sentence. The first one is noted for "Show the Rust"; all others repeat its calls.
    fn step(&mut self) -> Result<(), CellError> {
        let place = self.score.counts.len();
        let pair = self
            .pairs
            .get(place)
            .ok_or_else(|| CellError::Mismatch(format!("{SET} has no sentence {place}")))?;
        let mut record = Record::new();
        let (text, _) = race::translation(&mut record, &self.translator, &pair.english)?;
        if place == 0 {
            self.calls.extend(record.finish().calls);
        }
        self.score.push(&text, &pair.italian);
        self.last = text;
        Ok(())
    }
}

/// The scores of some of the sentences.
fn part(score: &Score, chosen: &[usize]) -> Score {
    Score {
        counts: chosen.iter().map(|&n| score.counts[n]).collect(),
        exact: chosen.iter().map(|&n| score.exact[n]).collect(),
    }
}

fn show(runners: &[Runner], _: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let Some(first) = runners.first() else {
        return Err(CellError::Missing("models".to_owned()));
    };
    let done = first.score.counts.len();
    let words: Vec<usize> = first.pairs[..done].iter().map(Pair::words).collect();
    let places = |wanted: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..done).filter(|&n| wanted(words[n])).collect()
    };
    let buckets: Vec<Vec<usize>> = BUCKETS
        .iter()
        .map(|bucket| places(&|words| bucket.contains(&words)))
        .collect();
    record.number("steps", done as f64);
    record.number("sentences", SENTENCES as f64);
    record.numbers("bucket.from", BUCKETS.map(|b| *b.start() as f64).to_vec());
    record.numbers("bucket.to", BUCKETS.map(|b| *b.end() as f64).to_vec());
    record.numbers(
        "bucket.middle",
        BUCKETS.map(|b| (b.start() + b.end()) as f64 / 2.0).to_vec(),
    );
    record.numbers(
        "bucket.count",
        buckets.iter().map(|b| b.len() as f64).collect(),
    );
    record.calls(&first.reading);
    for runner in runners {
        let name = runner.name;
        record.calls(&runner.calls);
        let (mut bleu, mut exact) = (Vec::new(), Vec::new());
        for bucket in buckets.iter().filter(|bucket| !bucket.is_empty()) {
            let score = part(&runner.score, bucket);
            bleu.push(100.0 * score.bleu());
            exact.push(score.exact());
        }
        record.numbers(&format!("{name}.bleu"), bleu);
        record.numbers(&format!("{name}.exact"), exact);
        if done > 0 {
            record.number(&format!("{name}.bleu.all"), 100.0 * runner.score.bleu());
            record.number(&format!("{name}.exact.all"), runner.score.exact());
        }
        record.words(&format!("{name}.last"), vec![runner.last.clone()]);
    }
    leads(&mut record, runners, &places(&|words| words >= LONG));
    let last = done.checked_sub(1).map(|n| &first.pairs[n]);
    let last = |texts: fn(&Pair) -> Vec<String>| last.map(texts).unwrap_or_default();
    record.words("english", last(|pair| vec![pair.english.clone()]));
    record.words("italian", last(|pair| pair.italian.clone()));
    Ok(record.finish())
}

/// Points of BLEU by which the two models with attention lead the fixed vector on long sentences,
/// with the interval that other sentences of the kind would move that in.
fn leads(record: &mut Record, runners: &[Runner], long: &[usize]) {
    record.number("long.from", LONG as f64);
    record.number("long.count", long.len() as f64);
    // It comes first where it is here.
    let (fixed, others) = match runners.split_first() {
        Some((fixed, others)) if fixed.name == MODELS[0].0 && !long.is_empty() => (fixed, others),
        _ => return,
    };
    let fixed = part(&fixed.score, long);
    for runner in others {
        let name = runner.name;
        let other = part(&runner.score, long);
        let (draws, seed) = DRAWS;
        let (low, high) = other.lead_interval(&fixed, draws, seed);
        record.number(
            &format!("{name}.lead"),
            100.0 * (other.bleu() - fixed.bleu()),
        );
        record.number(&format!("{name}.lead.low"), 100.0 * low);
        record.number(&format!("{name}.lead.high"), 100.0 * high);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs::{self, JobCache};

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models");

    fn given(steps: usize) -> Inputs {
        Inputs::defaults(&inputs()).with("steps", InputValue::Number(steps as f64))
    }

    fn measured(steps: usize, cache: &ModelCache) -> Computation {
        jobs::compute(&SPEC, &given(steps), cache).unwrap()
    }

    /// Whoever stops early has measured every length, and each sentence is measured once.
    #[test]
    fn the_first_sentences_are_of_all_lengths() {
        let text = std::fs::read_to_string(format!("{FOLDER}/{SET}")).unwrap();
        let pairs = engine::translate::read_set(&text).unwrap();
        assert_eq!(pairs.len(), SENTENCES);
        let turns = in_turn(pairs.clone());
        let first: Vec<usize> = turns[..13].iter().map(Pair::words).collect();
        assert_eq!(first, (2..=14).collect::<Vec<_>>());
        assert!(pairs.iter().all(|pair| turns.contains(pair)));
        let counted = |pair: &Pair| BUCKETS.iter().filter(|b| b.contains(&pair.words())).count();
        assert!(turns.iter().all(|pair| counted(pair) == 1));
    }

    /// Going on gives what measuring at once gives; nothing measured has no score.
    #[test]
    fn going_on_is_measuring_at_once() {
        let (cache, mut kept) = (ModelCache::of_folder(FOLDER), JobCache::default());
        let entry = jobs::find(SPEC.name).unwrap();
        for steps in [0, 2, 5] {
            let mut job = kept.begin(entry, &given(steps), &cache).unwrap();
            let found = loop {
                if let Progress::Done(found) = job.advance().unwrap() {
                    break found;
                }
            };
            kept.keep(SPEC.name, job);
            assert_eq!(found.tensors, measured(steps, &cache).tensors, "{steps}");
            assert_eq!(found.at("fixed.bleu.all", &[]).is_some(), steps > 0);
            assert_eq!(found.words("english").len(), steps.min(1));
        }
    }

    /// A model that arrives later catches up, and in the end nothing tells that it was late.
    #[test]
    fn models_that_arrive_one_by_one_give_the_same_result() {
        let whole = measured(4, &ModelCache::of_folder(FOLDER));
        let (arriving, mut kept) = (ModelCache::default(), JobCache::default());
        let entry = jobs::find(SPEC.name).unwrap();
        let read = |file: &str| std::fs::read(format!("{FOLDER}/{file}")).unwrap();
        arriving.put(SET, read(SET).into());
        // The last one first: the order of arrival does not matter.
        for (count, place) in [2, 0, 1].into_iter().enumerate() {
            let (name, file) = MODELS[place];
            arriving.put(file, read(file).into());
            let mut job = kept.begin(entry, &given(4), &arriving).unwrap();
            let mut shares = Vec::new();
            let part = loop {
                match job.advance().unwrap() {
                    Progress::Working(share) => shares.push(share),
                    Progress::Done(part) => break part,
                }
            };
            kept.keep(SPEC.name, job);
            assert_eq!(shares.len(), 4, "only {name} is measured");
            assert_eq!(shares.last(), Some(&1.0));
            assert!(
                part.tensors
                    .iter()
                    .all(|(name, found)| whole.tensor(name) == Some(found))
            );
            assert_eq!(part.fingerprint() == whole.fingerprint(), count == 2);
        }
    }

    /// One sentence: exact or not, by the model alone.
    #[test]
    fn a_score_is_that_of_the_translations() {
        let cache = ModelCache::of_folder(FOLDER);
        let found = measured(13, &cache);
        let text = cache.opened::<String>(SET).unwrap();
        let pairs = in_turn(engine::translate::read_set(&text).unwrap());
        for (name, file) in MODELS {
            let model = cache.opened::<Translator>(file).unwrap();
            let mut score = Score::default();
            for pair in &pairs[..13] {
                score.push(&model.translate(&pair.english).unwrap(), &pair.italian);
            }
            assert_eq!(
                found.at(&format!("{name}.exact.all"), &[]),
                Some(score.exact())
            );
            assert_eq!(
                found.at(&format!("{name}.bleu.all"), &[]),
                Some(100.0 * score.bleu())
            );
        }
    }

    /// All sentences: the figures of the models' cards, and what the lesson says of them.
    #[test]
    fn all_of_it_is_what_the_cards_say() {
        let cards = std::fs::read_to_string(format!("{FOLDER}/MODELS.md")).unwrap();
        let found = measured(SENTENCES, &ModelCache::of_folder(FOLDER));
        for (name, file) in MODELS {
            let card = cards
                .split("\n## ")
                .find(|card| card.contains(&format!("| file | {file} |")));
            let row = format!("| BLEU, the site's own {SENTENCES} sentences | ");
            let said = card.and_then(|card| card.split_once(&row)?.1.split(' ').next());
            let said: f64 = said.and_then(|said| said.parse().ok()).unwrap();
            let bleu = found.at(&format!("{name}.bleu.all"), &[]).unwrap();
            assert!(
                (bleu - said).abs() < 0.3,
                "{name}: {bleu}, the card says {said}"
            );
        }
        let gap = |place: usize| {
            let of = |name: &str| found.at(&format!("{name}.exact"), &[place]).unwrap();
            of("attention") - of("fixed")
        };
        assert!(gap(3) > 0.1, "9 and 10 words");
        for name in ["attention", "transformer"] {
            let low = found.at(&format!("{name}.lead.low"), &[]).unwrap();
            assert!(
                low > 5.0,
                "{name} is ahead of one vector on long sentences: {low}"
            );
        }
    }
}
