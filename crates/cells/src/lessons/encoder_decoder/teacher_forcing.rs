//! The loss of the trained translator with the right tokens before each position, and with its own.

use std::sync::Arc;

use engine::translate::{Pair, Translator};
use explain::forced::BothPrefixes;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::race::{self, SENTENCES, SET};
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// The model's file below `models/`.
const FILE: &str = "translator.safetensors";

/// Positions of the curves: few sentences are longer.
const POSITIONS: usize = 14;

/// The cell `teacher-forcing`.
pub const SPEC: CellSpec = CellSpec {
    name: "teacher-forcing",
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
    let limits = (1.0, SENTENCES as f64, 1.0);
    vec![InputSpec::number(
        "sentence",
        "Sentence number",
        limits,
        124.0,
    )]
}

/// Begins to measure.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let mut record = Record::new();
    let pairs = race::sentences(&mut record, cache)?;
    Ok(Box::new(Measuring {
        pairs,
        translator: cache.opened::<Translator>(FILE)?,
        chosen: inputs.count("sentence")?,
        found: Vec::new(),
        calls: record.finish().calls,
    }))
}

/// One sentence: the tokens of its translation, and their losses.
struct Sentence {
    target: Vec<usize>,
    losses: BothPrefixes,
}

/// The measurement of all sentences, one a slice.
struct Measuring {
    pairs: Vec<Pair>,
    translator: Arc<Translator>,
    chosen: usize,
    found: Vec<Sentence>,
    calls: Vec<Call>,
}

impl Job for Measuring {
    fn advance(&mut self) -> Result<Progress, CellError> {
        let Some(pair) = self.pairs.get(self.found.len()) else {
            return Ok(Progress::Done(Box::new(self.show()?)));
        };
        let measured = sentence(&self.translator, pair)?;
        self.found.push(measured);
        let share = self.found.len() as f32 / self.pairs.len() as f32;
        Ok(Progress::Working(share))
    }

    fn is_kept(&self) -> bool {
        true
    }

    /// To another sentence: all of them are measured anyway.
    fn go_on(&mut self, inputs: &Inputs, _: &ModelCache) -> Result<bool, CellError> {
        self.chosen = inputs.count("sentence")?;
        Ok(true)
    }
}

/// The losses of the accepted translation that is most probable for the model.
fn sentence(translator: &Translator, pair: &Pair) -> Result<Sentence, CellError> {
    let source = translator.ids(&pair.english)?;
    let mut best: Option<(f64, Vec<usize>)> = None;
    for version in &pair.italian {
        let mut target = translator.ids(version)?;
        target.push(translator.end());
        let total = explain::forced::right_loss(translator, &source, &target)?;
        if best.as_ref().is_none_or(|(least, _)| total < *least) {
            best = Some((total, target));
        }
    }
    let (_, target) = best.ok_or_else(|| CellError::Missing("a translation".to_owned()))?;
    let losses = explain::forced::both_prefixes(translator, &source, &target)?;
    Ok(Sentence { target, losses })
}

/// The mean of some numbers; 0 of none.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

impl Measuring {
    fn show(&self) -> Result<Computation, CellError> {
        let mut record = Record::new();
        record.calls(&self.calls);
        self.one(&mut record)?;
        // By position, over all sentences that are so long; and after the first difference.
        let mut curves = vec![(Vec::new(), Vec::new()); POSITIONS];
        let (mut all, mut after) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        let mut parted = 0;
        for Sentence { target, losses } in &self.found {
            let parting = losses.parting(target);
            parted += usize::from(parting.is_some());
            for (n, (&right, &own)) in losses.right.iter().zip(&losses.own).enumerate() {
                let late = parting.is_some_and(|first| n > first).then_some(&mut after);
                let place = curves.get_mut(n);
                for (rights, owns) in [Some(&mut all), place, late].into_iter().flatten() {
                    rights.push(right);
                    owns.push(own);
                }
            }
        }
        record.numbers("position", (1..=POSITIONS).map(|n| n as f64).collect());
        record.numbers(
            "position.count",
            curves.iter().map(|(all, _)| all.len() as f64).collect(),
        );
        record.numbers(
            "position.right",
            curves.iter().map(|(right, _)| mean(right)).collect(),
        );
        record.numbers(
            "position.own",
            curves.iter().map(|(_, own)| mean(own)).collect(),
        );
        for (name, number) in [
            ("sentences", self.found.len() as f64),
            ("tokens", all.0.len() as f64),
            ("mean.right", mean(&all.0)),
            ("mean.own", mean(&all.1)),
            ("parted", parted as f64),
            ("after.tokens", after.0.len() as f64),
            ("after.right", mean(&after.0)),
            ("after.own", mean(&after.1)),
        ] {
            record.number(name, number);
        }
        Ok(record.finish())
    }

    /// The chosen sentence, token by token.
    fn one(&self, record: &mut Record) -> Result<(), CellError> {
        let place = self.chosen.clamp(1, self.pairs.len().max(1)) - 1;
        let (Some(pair), Some(found)) = (self.pairs.get(place), self.found.get(place)) else {
            return Err(CellError::Missing("a sentence".to_owned()));
        };
        let (translator, target) = (&*self.translator, &found.target[..]);
        let source = translator.ids(&pair.english)?;
        let source = &source[..];
        let losses = shown!(
            record,
            explain::forced::both_prefixes,
            translator,
            source,
            target
        )?;
        record.words("english", vec![pair.english.clone()]);
        record.words("right.tokens", race::texts(translator, target)?);
        record.words("own.tokens", race::texts(translator, &losses.chosen)?);
        record.number("one.right", mean(&losses.right));
        record.number("one.own", mean(&losses.own));
        let same = losses.parting(target).unwrap_or(target.len());
        record.number("same", same as f64);
        record.number("number", (place + 1) as f64);
        record.numbers("right", losses.right);
        record.numbers("own", losses.own);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::{self, JobCache};
    use crate::parts::test_models::{cache, computed, number};

    fn given(sentence: usize) -> Inputs {
        Inputs::defaults(&inputs()).with("sentence", number(sentence as f64))
    }

    /// Until the own tokens differ from the right ones, both losses are the same to the last bit.
    #[test]
    fn both_losses_agree_until_the_prefixes_differ() {
        for sentence in [1, 20, 120] {
            let c = computed(&SPEC, &given(sentence)).unwrap();
            let same = c.at("same", &[]).unwrap() as usize;
            let tokens = c.words("right.tokens").len();
            for n in 0..tokens.min(same + 1) {
                assert_eq!(c.at("right", &[n]), c.at("own", &[n]), "{sentence}, {n}");
            }
        }
    }

    /// Another sentence needs no new measurement, and gives what a new one would.
    #[test]
    fn another_sentence_is_shown_at_once() {
        let (cache, mut kept) = (cache(), JobCache::default());
        let entry = jobs::find(SPEC.name).unwrap();
        let run = |kept: &mut JobCache, sentence: usize| {
            let mut job = kept.begin(entry, &given(sentence), &cache).unwrap();
            let mut slices = 0;
            let found = loop {
                match job.advance().unwrap() {
                    Progress::Working(_) => slices += 1,
                    Progress::Done(found) => break found,
                }
            };
            kept.keep(SPEC.name, job);
            (slices, found)
        };
        assert_eq!(run(&mut kept, 1).0, SENTENCES);
        let (slices, found) = run(&mut kept, 100);
        assert_eq!(slices, 0);
        assert_eq!(found.tensors, computed(&SPEC, &given(100)).unwrap().tensors);
    }

    /// The figures of the lesson.
    #[test]
    fn the_loss_is_larger_after_own_tokens() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        assert_eq!(
            c.words("english"),
            ["she has never been to the united states"]
        );
        assert!(c.words("right.tokens")[3] == "stata" && c.words("own.tokens")[3] == "stato");
        let at = |name: &str| c.at(name, &[]).unwrap();
        assert_eq!(at("same"), 3.0);
        assert!(at("one.own") > 3.0 * at("one.right"));
        assert!(at("mean.own") > 3.0 * at("mean.right"));
        assert!(at("after.own") > 5.0 * at("after.right"));
        assert_eq!((at("sentences"), at("parted")), (273.0, 137.0));
        // One pass gives the same loss as token after token.
        let translator = cache().opened::<Translator>(FILE).unwrap();
        let ids = |text: &str| translator.ids(text).unwrap();
        let source = ids("she has never been to the united states");
        let target = [
            ids("non è mai stata negli stati uniti"),
            vec![translator.end()],
        ]
        .concat();
        let found = explain::forced::both_prefixes(&translator, &source, &target).unwrap();
        let total: f64 = found.right.iter().sum();
        let whole = explain::forced::right_loss(&translator, &source, &target).unwrap();
        assert!((total - whole).abs() < 1e-3);
        assert!((total / target.len() as f64 - at("one.right")).abs() < 1e-9);
    }
}
