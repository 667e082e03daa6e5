//! How far the raw scores of tiny-bert's heads spread: after training, and with random parameters.

use engine::grad::Draw;
use engine::model::bert::Bert;
use engine::token::tokenizer::Tokenizer;
use engine::trace::Recorder;
use ndarray::{Array2, ArrayView2, Axis, Ix3};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::MaskedLm;
use crate::parts::trained::{self, BERT, Pieces};
use crate::spec::{CellSpec, Run, WorkerKind, once};

/// The text that is read: its name and its label.
const TEXT: (&str, &str) = ("text", "Text");

/// Standard deviation of the matrices and tables with which tiny-bert's training began (Devlin et
/// al. 2019).
const AT_FIRST: f32 = 0.02;

/// The cell `trained-scores`.
pub const SPEC: CellSpec = CellSpec {
    name: "trained-scores",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(BERT).into_iter().collect(),
    start: |inputs, cache| {
        let bert = cache.opened::<MaskedLm>("tiny-bert.safetensors")?;
        let inputs = inputs.clone();
        Ok(once(move || compute(&inputs, &bert)))
    },
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let text = "The little girl has a red ball and she plays with it in the park every day";
    vec![InputSpec::text(TEXT.0, TEXT.1, text), InputSpec::seed(7)]
}

fn compute(inputs: &Inputs, bert: &MaskedLm) -> Result<Computation, CellError> {
    let (mut record, seed) = (Record::new(), inputs.seed()?);
    let config = bert.model.config();
    let words = engine::token::words::split(inputs.text(TEXT.0)?, usize::MAX);
    let special = bert.tokenizer.special();
    let added = special.begin.iter().chain(&special.end).count();
    let pieces = Pieces::of_words(&bert.tokenizer, &words)?
        .within(BERT, (config.context, added), TEXT)?
        .enclosed(&bert.tokenizer);
    spreads(&mut record, "trained", &bert.model, &pieces.ids)?;
    lengths(&mut record, &bert.model, &pieces.ids)?;
    for (name, draw) in [("xavier", Draw::Xavier), ("normal", Draw::Normal(AT_FIRST))] {
        let mut model = bert.model.clone();
        engine::grad::initialise(&mut model, seed, draw)?;
        spreads(&mut record, name, &model, &pieces.ids)?;
    }
    let width = config.width / config.heads;
    record.number("width", width as f64);
    record.number("root", f64::from(engine::math::sqrt(width as f32)));
    record.number("at.first", f64::from(AT_FIRST));
    record.number("pairs", (pieces.ids.len() * pieces.ids.len()) as f64);
    let named = |what: &str, count| (1..=count).map(|n| format!("{what} {n}")).collect();
    record.words("layer", named("layer", config.layers));
    record.words("head", named("head", config.heads));
    Ok(record.finish())
}

/// The queries or the keys of a head, as the model reported them.
fn part<'a>(
    seen: &'a Recorder,
    (layer, head): (usize, usize),
    part: &str,
) -> Result<ArrayView2<'a, f32>, CellError> {
    let name = format!("blocks.{layer}.attention.{part}");
    let all = seen
        .get(&name)
        .and_then(|all| all.view().into_dimensionality::<Ix3>().ok());
    all.map(|all| all.index_axis_move(Axis(0), head))
        .ok_or(CellError::Missing(name))
}

/// The typical length of the queries and of the keys of each head: the root of the mean square.
fn lengths(record: &mut Record, model: &Bert, ids: &[usize]) -> Result<(), CellError> {
    let config = model.config();
    let mut seen = Recorder::default();
    model.forward(ids, Some(&mut seen))?;
    let tokens = engine::math::sqrt(ids.len() as f32);
    for (name, letter) in [("queries", "q"), ("keys", "k")] {
        let mut found = Array2::zeros((config.layers, config.heads));
        for (head, value) in found.indexed_iter_mut() {
            let vectors = part(&seen, head, letter)?;
            *value = explain::stats::frobenius(vectors) as f32 / tokens;
        }
        record.tensor(name, &found);
    }
    Ok(())
}

/// The standard deviation of q · k over all pairs of tokens, for each layer and head.
fn spreads(record: &mut Record, name: &str, model: &Bert, ids: &[usize]) -> Result<(), CellError> {
    let config = model.config();
    let mut seen = Recorder::default();
    model.forward(ids, Some(&mut seen))?;
    let mut found = Array2::zeros((config.layers, config.heads));
    for ((layer, head), value) in found.indexed_iter_mut() {
        let part = |name: &str| part(&seen, (layer, head), name);
        let (q, k) = (part("q")?, part("k")?);
        // The other heads repeat the calls of the first.
        let is_first = name == "trained" && (layer, head) == (0, 0);
        let spread = if is_first {
            let raw = shown!(record, engine::nn::attention::scores, q, k, 1.0_f32)?;
            let raw = raw.flatten();
            shown!(record, explain::stats::standard_deviation, raw.view())
        } else {
            let raw = engine::nn::attention::scores(q, k, 1.0)?;
            explain::stats::standard_deviation(raw.flatten().view())
        };
        *value = spread as f32;
    }
    record.tensor(name, &found);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number, text};

    fn all(c: &Computation, name: &str) -> Vec<f64> {
        c.tensor(name).unwrap().values.iter().copied().collect()
    }

    /// What the lesson says of the three models.
    #[test]
    fn trained_heads_spread_and_random_ones_follow_their_draw() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        assert_eq!(c.tensor("trained").unwrap().shape(), [3, 4]);
        let root = c.at("root", &[]).unwrap();
        assert!((root - 24.0_f64.sqrt()).abs() < 1e-6);
        // Two heads of the first layer are far above the root and one of the third is a little more
        // than twice as large; the other nine are near it.
        let (trained, far) = (all(&c, "trained"), [1, 3]);
        for (head, spread) in trained.iter().enumerate() {
            let times = spread / root;
            let holds = match head {
                1 | 3 => times > 5.0,
                11 => (2.0..2.5).contains(&times),
                _ => (0.5..2.0).contains(&times),
            };
            assert!(holds, "{head}: {trained:?}");
        }
        // Their vectors are about twice as long as the root, and aligned: scores of random
        // directions would spread by the product of the lengths over the root.
        let (queries, keys) = (all(&c, "queries"), all(&c, "keys"));
        for head in far {
            let lengths = queries[head] * keys[head];
            let longer = lengths / (root * root);
            assert!((3.5..5.0).contains(&longer), "{head}: {longer}");
            let aligned = trained[head] * root / lengths;
            assert!((1.6..2.0).contains(&aligned), "{head}: {aligned}");
        }
        let xavier = all(&c, "xavier");
        for spread in &xavier {
            assert!((0.5..1.0).contains(&(spread / root)), "{xavier:?}");
        }
        let of_layers: Vec<f64> = xavier.chunks(4).map(|heads| heads.iter().sum()).collect();
        assert!(of_layers.is_sorted_by(|a, b| a > b), "{of_layers:?}");
        assert!(all(&c, "normal").iter().all(|s| *s < 0.1 * root));
    }

    #[test]
    fn the_seed_changes_the_random_models_only() {
        let of = |seed: f64| {
            let given = Inputs::defaults(&inputs()).with("seed", number(seed));
            computed(&SPEC, &given).unwrap()
        };
        let (a, b) = (of(7.0), of(8.0));
        assert_eq!(all(&a, "trained"), all(&b, "trained"));
        assert_ne!(all(&a, "xavier"), all(&b, "xavier"));
        assert_ne!(all(&a, "normal"), all(&b, "normal"));
    }

    #[test]
    fn a_text_that_the_model_cannot_read_gets_a_message() {
        for words in [" ".to_owned(), "the ".repeat(70)] {
            let given = Inputs::defaults(&inputs()).with("text", text(&words));
            let found = computed(&SPEC, &given);
            assert!(matches!(found, Err(CellError::Input { .. })), "{words}");
        }
    }
}
