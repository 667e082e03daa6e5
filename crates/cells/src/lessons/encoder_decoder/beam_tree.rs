//! The tree of a beam search over the translations of a sentence.

use engine::beam::Hypothesis;
use engine::math::double;
use engine::translate::Translator;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::race;
use crate::parts::trained::START;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The model's file below `models/`.
const FILE: &str = "translator.safetensors";

/// Most tokens of the sentence.
const MOST: usize = 16;

/// The cell `beam-tree`.
pub const SPEC: CellSpec = CellSpec {
    name: "beam-tree",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| vec![FILE],
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text("sentence", "English sentence", "My sister lives in Rome."),
        InputSpec::number("beam", "Beam size", (1.0, 8.0, 1.0), 4.0),
        InputSpec::number("alpha", "Length penalty $\u{3b1}$", (0.0, 2.0, 0.1), 0.0),
    ]
}

/// Begins to compute.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let translator = cache.opened::<Translator>(FILE)?;
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &translator)))
}

/// A text of the tree.
struct Node {
    ids: Vec<usize>,
    log_probability: f64,
    parent: usize,
    row: usize,
    ended: bool,
}

/// The texts that were kept, the start first, for as many tokens as the best one has.
fn nodes(kept: &[Vec<Hypothesis>], columns: usize) -> Vec<Node> {
    let mut all = vec![Node {
        ids: Vec::new(),
        log_probability: 0.0,
        parent: 0,
        row: 0,
        ended: false,
    }];
    let mut before = 0..1;
    for round in kept.iter().take(columns) {
        let mut round: Vec<&Hypothesis> = round.iter().collect();
        round.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability));
        let first = all.len();
        for (row, text) in round.into_iter().enumerate() {
            let begins = |n: &usize| {
                text.ids
                    .split_last()
                    .is_some_and(|(_, own)| own == all[*n].ids)
            };
            let parent = before.clone().find(begins).unwrap_or(0);
            all.push(Node {
                ids: text.ids.clone(),
                log_probability: text.log_probability,
                parent,
                row,
                ended: text.ended,
            });
        }
        before = first..all.len();
    }
    all
}

/// Notes the texts of the tree, and which of them lead to the best text and to the greedy one.
fn keep_tree(
    record: &mut Record,
    translator: &Translator,
    tree: &[Node],
    [best, greedy]: [&Hypothesis; 2],
) -> Result<(), CellError> {
    let numbers = |of: &dyn Fn(&Node) -> f64| tree.iter().map(of).collect::<Vec<f64>>();
    let is = |yes: bool| f64::from(u8::from(yes));
    record.numbers("tree.step", numbers(&|node| node.ids.len() as f64));
    record.numbers("tree.row", numbers(&|node| node.row as f64));
    record.numbers("tree.parent", numbers(&|node| node.parent as f64));
    record.numbers("tree.p", numbers(&|node| double::exp(node.log_probability)));
    let share = |node: &Node| double::exp(node.log_probability - tree[node.parent].log_probability);
    record.numbers("tree.share", numbers(&share));
    record.numbers(
        "tree.best",
        numbers(&|node| is(best.ids.starts_with(&node.ids))),
    );
    record.numbers(
        "tree.greedy",
        numbers(&|node| is(greedy.ids.starts_with(&node.ids))),
    );
    record.numbers("tree.ended", numbers(&|node| is(node.ended)));
    let last = tree
        .iter()
        .map(|node| node.ids.last().copied().unwrap_or(translator.end()));
    let mut tokens = race::texts(translator, &last.collect::<Vec<_>>())?;
    START.clone_into(&mut tokens[0]);
    record.words("tree.tokens", tokens);
    let rows = tree.iter().map(|node| node.row + 1).max().unwrap_or(1);
    record.number("rows", rows as f64);
    Ok(())
}

fn compute(inputs: &Inputs, translator: &Translator) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let source = race::typed(inputs, "sentence", "English sentence", translator, MOST)?;
    let (reads, beam, alpha) = (
        &source[..],
        inputs.count("beam")?,
        inputs.number("alpha")? as f32,
    );
    let found = shown!(
        record,
        engine::translate::Translator::beam_tree,
        translator,
        reads,
        beam,
        alpha
    )?;
    let alone = translator.beam(reads, 1, alpha)?;
    let nothing = || CellError::Missing("a translation".to_owned());
    let best = found.best.first().ok_or_else(nothing)?;
    let greedy = alone.first().ok_or_else(nothing)?;
    let tree = nodes(&found.kept, best.ids.len());
    keep_tree(&mut record, translator, &tree, [best, greedy])?;
    record.number("columns", (best.ids.len() + 1) as f64);
    for (name, text) in [("best", best), ("greedy", greedy)] {
        record.words(name, vec![race::text(translator, &text.ids)?]);
        record.number(&format!("{name}.p"), double::exp(text.log_probability));
        record.number(&format!("{name}.log"), text.log_probability);
        record.number(&format!("{name}.score"), text.score);
        record.number(&format!("{name}.tokens"), text.ids.len() as f64);
    }
    record.number("best.penalty", best.log_probability / best.score);
    record.number(
        "ratio",
        double::exp(best.log_probability - greedy.log_probability),
    );
    record.number("beam", beam as f64);
    let all = found.best.iter();
    record.numbers(
        "found.p",
        all.clone()
            .map(|text| double::exp(text.log_probability))
            .collect(),
    );
    record.numbers("found.score", all.clone().map(|text| text.score).collect());
    record.numbers(
        "found.tokens",
        all.clone().map(|text| text.ids.len() as f64).collect(),
    );
    let texts = all.map(|text| race::text(translator, &text.ids));
    record.words("found", texts.collect::<Result<_, _>>()?);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{cache, computed, number, text};

    fn of(sentence: &str, beam: f64, alpha: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("sentence", text(sentence))
            .with("beam", number(beam))
            .with("alpha", number(alpha));
        computed(&SPEC, &given).unwrap()
    }

    /// The cell's own sentence is one of the site's, greedy decoding loses it, and four beams do not.
    #[test]
    fn greedy_loses_the_default_sentence_and_four_beams_win_it() {
        let pairs = race::sentences(&mut Record::new(), &cache()).unwrap();
        let own = pairs
            .iter()
            .find(|pair| pair.english == "my sister lives in rome")
            .unwrap();
        let c = of("My sister lives in Rome.", 4.0, 0.0);
        assert_eq!(c.words("greedy"), ["mia sorella vive in roma"]);
        assert_eq!(c.words("best"), ["mia sorella vive a roma"]);
        assert!(
            own.italian.contains(&c.words("best")[0])
                && !own.italian.contains(&c.words("greedy")[0])
        );
        let at = |name: &str| c.at(name, &[]).unwrap();
        assert!((at("greedy.p") - 0.055).abs() < 0.001 && (at("best.p") - 0.155).abs() < 0.001);
        // With one beam the best is what greedy decoding finds.
        let one = of("My sister lives in Rome.", 1.0, 0.0);
        assert_eq!(one.words("best"), one.words("greedy"));
        assert_eq!(one.at("ratio", &[]), Some(1.0));
        // Both go on from *vive*: *in* is the first by a hair, but little follows it as surely.
        let tokens = c.words("tree.tokens");
        let node = |token: &str, step: f64, row: f64| {
            let is = |n: &usize| {
                let place = [c.at("tree.step", &[*n]), c.at("tree.row", &[*n])];
                tokens[*n] == token && place == [Some(step), Some(row)]
            };
            (0..tokens.len()).find(is).unwrap()
        };
        let share = |n: usize| c.at("tree.share", &[n]).unwrap();
        let (first, second) = (node("in", 4.0, 0.0), node("a", 4.0, 1.0));
        assert_eq!([first, second], [13, 14], "as the lesson quotes them");
        assert!(share(first) > share(second) && share(first) - share(second) < 0.002);
        assert_eq!([node("rom", 5.0, 0.0), node("rom", 5.0, 1.0)], [17, 18]);
        assert!(share(17) > 0.8 && share(18) < 0.4);
        assert!(c.at("ratio", &[]).unwrap() > 2.5);
        // Two beams are enough.
        assert_eq!(
            of("My sister lives in Rome.", 2.0, 0.0).words("best"),
            c.words("best")
        );
    }

    /// Every text but the start continues one of the column before, and the best is among them.
    #[test]
    fn the_tree_is_a_tree() {
        let c = of("They have three small children.", 5.0, 0.6);
        let values = |name: &str| {
            c.tensor(name)
                .unwrap()
                .values
                .iter()
                .copied()
                .collect::<Vec<_>>()
        };
        let (step, parent, share, p) = (
            values("tree.step"),
            values("tree.parent"),
            values("tree.share"),
            values("tree.p"),
        );
        for n in 1..step.len() {
            let from = parent[n] as usize;
            assert_eq!(step[from] + 1.0, step[n]);
            assert!((p[from] * share[n] / p[n] - 1.0).abs() < 1e-9);
            assert!(share[n] > 0.0 && share[n] < 1.0);
        }
        let best: f64 = values("tree.best").iter().sum();
        assert_eq!(
            Some(best),
            c.at("columns", &[]),
            "one text of the best in each column"
        );
    }

    /// What the lesson says of a sentence that loses a word with more beams.
    #[test]
    fn a_more_probable_translation_can_be_worse() {
        let c = of("They have three small children.", 4.0, 0.0);
        assert_eq!(c.words("greedy"), ["hanno tre bambini piccoli"]);
        assert_eq!(c.words("best"), ["hanno tre figli"]);
        assert!(c.at("best.p", &[]) > c.at("greedy.p", &[]));
        // A penalty of 1 brings the word back; the one of the paper does not.
        let best =
            |alpha| of("They have three small children.", 4.0, alpha).words("best")[0].clone();
        assert_eq!(best(0.6), "hanno tre figli");
        assert_eq!(best(1.0), "hanno tre bambini piccoli");
    }

    #[test]
    fn a_sentence_without_words_is_refused() {
        for sentence in ["", "...", &"the ".repeat(17)] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(sentence));
            assert!(matches!(
                computed(&SPEC, &given),
                Err(CellError::Input { .. })
            ));
        }
    }
}
