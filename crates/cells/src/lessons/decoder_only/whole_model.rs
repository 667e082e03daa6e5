//! The forward pass of tiny-gpt, or of a GPT-2 that the reader has opened, over the reader's text: one
//! of its tensors, one number of that tensor with what it was computed from, and the next token.

use std::sync::Arc;

use engine::model::gpt2::Gpt2;
use engine::token::tokenizer::Tokenizer;
use explain::one_number::{Part, Pass, Site};
use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, InputValue, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::block_parts::AT_ONCE;
pub use crate::parts::decoder_parts::DECODER;
use crate::parts::decoder_parts::PARTS;
use crate::parts::trained::{self, GPT, Pieces, START};
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};
use crate::text_model::TextModel;

mod next_token;
mod opened_tensor;

use next_token::next;
use opened_tensor::Opened;

/// Most tokens that are read, with the one that begins every text.
const MOST_TOKENS: usize = 32;

/// The widest tensor of tiny-gpt: the first layer of the MLP.
const WIDEST: usize = 512;

/// The most blocks, heads and columns of a tensor that an opened model has: limits of the inputs that
/// choose one.
const MOST_OPENED: (f64, f64, f64) = (64.0, 64.0, 16_384.0);

/// Next tokens that are shown as bars.
pub const TOP: usize = 4;

/// Tokens of the vocabulary that are columns of the logits: the most likely ones.
const COLUMNS: usize = 8;

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Text");

/// What is shown of the token that ends a text.
const END: &str = "\u{27e8}end\u{27e9}";

/// The answer where the open model is no GPT-2.
const NO_GPT2: &str = "This cell writes out the numbers of a GPT-2 one by one. The open model is of another kind: a Llama has other \
                       norms, another MLP, and queries and keys that are turned by their positions.";

/// The cell `whole-model`.
pub const SPEC: CellSpec = CellSpec {
    name: "whole-model",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The cell on a GPT-2 that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: SPEC.name,
    inputs: opened_inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(GPT).into_iter().collect(),
    start: |inputs, cache| Whole::start(inputs, trained::gpt(cache)?, WIDEST),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    inputs_of(trained::MOST, WIDEST as f64)
}

fn opened_inputs() -> Vec<InputSpec> {
    let (layers, heads, widest) = MOST_OPENED;
    inputs_of((layers, heads), widest)
}

/// The inputs for models of at most so many blocks and heads, with tensors of at most so many columns.
fn inputs_of(blocks_and_heads: (f64, f64), widest: f64) -> Vec<InputSpec> {
    let part = InputSpec {
        default: InputValue::Choice("scores".to_owned()),
        ..InputSpec::choice("part", "Part", &PARTS)
    };
    let mut all = vec![
        InputSpec::text(SENTENCE.0, SENTENCE.1, "The dog ran after the"),
        InputSpec::number("tau", "Temperature $\u{3c4}$", (0.1, 2.0, 0.1), 1.0),
        part,
    ];
    all.extend(trained::layer_and_head_of(blocks_and_heads, (4.0, 3.0)));
    let most = MOST_TOKENS as f64;
    all.extend([
        // A number beyond means the last: the selection follows a text that grows.
        InputSpec::number("row", "Row", (1.0, most, 1.0), most),
        InputSpec::number("column", "Column", (1.0, widest, 1.0), 3.0),
        InputSpec::seed(7),
    ]);
    all
}

/// Starts the cell on a GPT-2 that the reader has opened.
///
/// # Errors
/// A model of another kind.
pub fn start_opened(inputs: &Inputs, model: Arc<dyn TextModel>) -> Result<Box<dyn Job>, CellError> {
    Whole::start(inputs, model, AT_ONCE)
}

fn gpt2(model: &dyn TextModel) -> Result<&Gpt2, CellError> {
    let found = model.decoder().gpt2();
    found.ok_or_else(|| CellError::Mismatch(NO_GPT2.to_owned()))
}

/// A model with what it has computed of a text, of which the reader opens one part after the other.
struct Whole {
    model: Arc<dyn TextModel>,
    inputs: Inputs,
    /// Columns of a tensor that are shown at once.
    at_once: usize,
    read: Option<Reading>,
}

impl Whole {
    fn start(
        inputs: &Inputs,
        model: Arc<dyn TextModel>,
        at_once: usize,
    ) -> Result<Box<dyn Job>, CellError> {
        gpt2(&*model)?;
        Ok(Box::new(Self {
            model,
            inputs: inputs.clone(),
            at_once,
            read: None,
        }))
    }
}

impl Job for Whole {
    fn advance(&mut self) -> Result<Progress, CellError> {
        let model = gpt2(&*self.model)?;
        let typed = Typed::of(&self.inputs, &*self.model)?;
        let known = self.read.take().filter(|read| read.typed.ids == typed.ids);
        let read = match known {
            Some(read) => Reading { typed, ..read },
            None => Reading::of(model, typed)?,
        };
        let found = read.computed(&self.inputs, (model, self.model.tokenizer()), self.at_once);
        self.read = Some(read);
        Ok(Progress::Done(Box::new(found?)))
    }

    /// A forward pass of a large model takes long, and opens every part of itself.
    fn is_kept(&self) -> bool {
        true
    }

    fn go_on(&mut self, inputs: &Inputs, _cache: &ModelCache) -> Result<bool, CellError> {
        self.inputs = inputs.clone();
        Ok(true)
    }
}

/// The tokens of the reader's text.
struct Typed {
    text: String,
    /// Their ids, and before them that of the token that begins every text.
    ids: Vec<usize>,
    /// Their texts.
    tokens: Vec<String>,
    /// The most tokens that the cell reads.
    most: usize,
}

impl Typed {
    fn of(inputs: &Inputs, model: &dyn TextModel) -> Result<Self, CellError> {
        let text = inputs.text(SENTENCE.0)?.trim();
        let context = model.decoder().context();
        let pieces = Pieces::of_text(model.tokenizer(), text)?
            .at_most(MOST_TOKENS - 1, SENTENCE.0, SENTENCE.1)?
            .within(model.name(), (context, 1), SENTENCE)?;
        let start = model.start()?;
        Ok(Self {
            text: text.to_owned(),
            ids: std::iter::once(start).chain(pieces.ids).collect(),
            tokens: std::iter::once(START.to_owned())
                .chain(pieces.texts)
                .collect(),
            most: MOST_TOKENS.min(context),
        })
    }
}

/// A forward pass over a text.
struct Reading {
    typed: Typed,
    pass: Pass,
    /// `[T, V]`.
    logits: Array2<f32>,
    /// The call of the forward pass.
    calls: Vec<Call>,
}

impl Reading {
    fn of(model: &Gpt2, typed: Typed) -> Result<Self, CellError> {
        let mut record = Record::new();
        let ids = &typed.ids[..];
        let pass = shown!(record, explain::one_number::Pass::new, model, ids)?;
        let site = Site {
            part: Part::Logits,
            block: 0,
            head: 0,
        };
        let logits = pass.tensor(model, site)?;
        Ok(Self {
            typed,
            pass,
            logits,
            calls: record.finish().calls,
        })
    }

    /// What the inputs open.
    fn computed(
        &self,
        inputs: &Inputs,
        (model, tokenizer): (&Gpt2, &dyn Tokenizer),
        at_once: usize,
    ) -> Result<Computation, CellError> {
        let mut record = Record::new();
        record.calls(&self.calls);
        let Typed {
            text,
            ids,
            tokens,
            most,
        } = &self.typed;
        let tau = inputs.number("tau")? as f32;
        let last = self.logits.row(ids.len() - 1);
        let draw = (inputs.seed()?, ids.len());
        let order = next(&mut record, tokenizer, (last, tau), draw)?;
        let opened = Opened {
            inputs,
            model,
            tokenizer,
            at_once,
            pass: &self.pass,
            logits: &self.logits,
            tau,
            columns: &order,
            tokens,
        };
        opened.keep(&mut record)?;
        record.number("tokens", ids.len() as f64);
        record.number("most", *most as f64);
        record.number("vocabulary", self.logits.ncols() as f64);
        record.words("tokens", tokens.clone());
        record.words("text", vec![text.clone()]);
        Ok(record.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::JobCache;
    use crate::model_cache::CausalLm;
    use crate::parts::block_parts::{Of, Spot};
    use crate::parts::test_models::{cache, choice, computed, number, text};
    use engine::model::decoder::DecoderExt;
    use engine::trace::Recorder;
    use ndarray::Axis;

    fn given() -> Inputs {
        Inputs::defaults(&inputs())
    }

    fn opened(part: &str) -> Computation {
        computed(&SPEC, &given().with("part", choice(part))).unwrap()
    }

    fn shape(c: &Computation, name: &str) -> Vec<usize> {
        c.tensor(name).unwrap().shape().to_vec()
    }

    fn value(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// The shapes of all parts for a text of T tokens: C = 128, D = 32, F = 512.
    #[test]
    fn every_part_has_its_shape() {
        let tokens = value(&opened("scores"), "tokens") as usize;
        assert_eq!(tokens, 6);
        for part in PARTS {
            let c = opened(part);
            let cols = match part {
                "q" | "k" | "v" | "heads" => 32,
                "scores" | "weights" => tokens,
                "mlp-in" | "activation" => 512,
                "logits" | "probabilities" => COLUMNS,
                _ => 128,
            };
            assert_eq!(shape(&c, "opened"), [tokens, cols], "{part}");
            let terms = match part {
                "q" | "k" | "v" | "attention-out" | "mlp-in" | "logits" => [128, 4],
                "scores" => [32, 4],
                "weights" => [tokens, 3],
                "heads" => [tokens, 4],
                "mlp-out" => [512, 4],
                "input" | "residual-1" | "residual-2" => [2, 2],
                _ => [0, 0],
            };
            assert_eq!(shape(&c, "terms"), terms, "{part}");
            assert_eq!(c.words("terms.columns").len(), terms[1]);
            assert_eq!(c.words("steps.names").len(), shape(&c, "steps")[0]);
        }
    }

    /// What is opened after something else is what a new computation opens, of the text that was read
    /// before and of another.
    #[test]
    fn a_kept_pass_opens_what_a_new_one_does() {
        let (cache, mut jobs) = (cache(), JobCache::default());
        let other = "Once upon a time";
        for (part, sentence) in [
            ("scores", None),
            ("mlp-in", None),
            ("probabilities", None),
            ("q", Some(other)),
            ("q", None),
        ] {
            let mut inputs = given().with("part", choice(part));
            if let Some(sentence) = sentence {
                inputs = inputs.with("sentence", text(sentence));
            }
            let mut job = jobs.begin(&ENTRY, &inputs, &cache).unwrap();
            let Progress::Done(found) = job.advance().unwrap() else {
                panic!("one slice does all");
            };
            jobs.keep(SPEC.name, job);
            assert_eq!(*found, computed(&SPEC, &inputs).unwrap(), "{part}");
        }
    }

    /// Every opened number is that of the model's own pass, in each block and head.
    #[test]
    fn what_is_opened_is_the_models_own_pass() {
        let gpt = cache().opened::<CausalLm>("tiny-gpt.safetensors").unwrap();
        let mut recorder = Recorder::default();
        let start = gpt.tokenizer.special().end.unwrap();
        let mut ids = vec![start];
        ids.extend(gpt.tokenizer.encode("The dog ran after the").unwrap());
        gpt.model.forward(&ids, Some(&mut recorder)).unwrap();
        for (layer, head) in [(1, 1), (4, 3)] {
            let at = |part: &str| {
                let given = given().with("part", choice(part));
                let given = given.with("layer", number(f64::from(layer)));
                computed(&SPEC, &given.with("head", number(f64::from(head)))).unwrap()
            };
            for (part, name) in [
                ("norm-1", "norm_1"),
                ("q", "attention.q"),
                ("k", "attention.k"),
                ("v", "attention.v"),
                ("scores", "attention.scores"),
                ("weights", "attention.weights"),
                ("heads", "attention.heads"),
                ("attention-out", "attention.output"),
                ("residual-1", "residual_1"),
                ("norm-2", "norm_2"),
                ("mlp-in", "mlp.before"),
                ("activation", "mlp.inner"),
                ("mlp-out", "mlp.output"),
                ("residual-2", "output"),
            ] {
                let c = at(part);
                let found = recorder
                    .get(&format!("blocks.{}.{name}", layer - 1))
                    .unwrap();
                let found = match found.ndim() {
                    3 => found.index_axis(Axis(0), head as usize - 1).to_owned(),
                    _ => found.clone(),
                };
                let expected = found.mapv(f64::from);
                assert_eq!(c.tensor("opened").unwrap().values, expected, "{part}");
            }
        }
        for (part, name) in [("token", "embedding"), ("input", "input"), ("norm", "norm")] {
            let expected = recorder.get(name).unwrap().mapv(f64::from);
            assert_eq!(opened(part).tensor("opened").unwrap().values, expected);
        }
        let logits = recorder.get("logits").unwrap();
        let c = opened("logits");
        let largest = logits
            .index_axis(Axis(0), 5)
            .fold(f32::MIN, |m, &x| m.max(x));
        assert_eq!(c.at("opened", &[5, 0]), Some(f64::from(largest)));
    }

    /// The terms and steps of numbers in all corners of each tensor end at the displayed number, to
    /// the rounding of 32 bits.
    #[test]
    fn the_running_sum_ends_at_the_number() {
        for part in PARTS {
            for (layer, head) in [(1.0, 1.0), (3.0, 4.0)] {
                for (row, column) in [(1.0, 1.0), (32.0, 1.0), (4.0, 3.0), (32.0, 512.0)] {
                    let mut at = given().with("part", choice(part));
                    for (name, chosen) in [
                        ("layer", layer),
                        ("head", head),
                        ("row", row),
                        ("column", column),
                    ] {
                        at = at.with(name, number(chosen));
                    }
                    let c = computed(&SPEC, &at).unwrap();
                    let place = ["row", "column"].map(|name| value(&c, name) as usize - 1);
                    let shown = c.at("opened", &place).unwrap();
                    assert_eq!(value(&c, "value"), shown, "{part}");
                    let steps = c.tensor("steps").unwrap().values.clone();
                    let end = steps.iter().last().copied().unwrap();
                    assert_eq!((end - shown).abs(), value(&c, "difference"));
                    let near = 1e-5 * shown.abs().max(1.0);
                    assert!(
                        (end - shown).abs() < near,
                        "{part} {place:?}: {end} {shown}"
                    );
                    let terms = c.tensor("terms").unwrap();
                    if let [count, columns] = *terms.shape()
                        && columns == 4
                    {
                        let (mut total, mut product) = (0.0_f32, 0.0_f32);
                        for k in 0..count {
                            let at = |m| terms.at(&[k, m]).unwrap() as f32;
                            product = at(0) * at(1);
                            total += product;
                            assert_eq!((at(2), at(3)), (product, total), "{part} {k}");
                        }
                        assert!(product.is_finite());
                    }
                }
            }
        }
    }

    /// The bars and all other tokens add up to 1 at each temperature; a low one favours the first.
    #[test]
    fn the_bars_add_up_to_one() {
        let at = |tau| computed(&SPEC, &given().with("tau", number(tau))).unwrap();
        let mut first = 1.0;
        for tau in [0.1, 0.5, 1.0, 2.0] {
            let c = at(tau);
            let bars = &c.tensor("next.probabilities").unwrap().values;
            assert_eq!(bars.len(), TOP);
            let total = bars.sum() + value(&c, "next.others");
            assert!((total - 1.0).abs() < 1e-5, "{tau}: {total}");
            let now = c.at("next.probabilities", &[0]).unwrap();
            assert!(now <= first, "{tau}");
            first = now;
        }
        // The same numbers as in the tensor.
        let open = opened("probabilities");
        for n in 0..TOP {
            let last = open.at("opened", &[5, n]).unwrap();
            assert_eq!(open.at("next.probabilities", &[n]), Some(last));
        }
    }

    /// A text that takes the most likely token again and again keeps its tokens, until it is full.
    #[test]
    fn a_text_grows_token_by_token() {
        let mut grown = "Once upon a time there was".to_owned();
        let mut seen = Vec::new();
        let mut tokens = 7.0;
        loop {
            let c = computed(&SPEC, &given().with("sentence", text(&grown))).unwrap();
            assert_eq!(value(&c, "tokens"), tokens, "{grown}");
            assert_eq!(
                value(&c, "row"),
                tokens,
                "the last row stays the selected one"
            );
            assert!(c.words("tokens").starts_with(&seen), "{grown}");
            assert_eq!(c.words("text")[0], grown);
            seen = c.words("tokens").to_vec();
            seen.push(c.words("next.words")[0].clone());
            let next = &c.words("next.texts")[0];
            if next.is_empty() || tokens == value(&c, "most") {
                break;
            }
            grown.push_str(next);
            tokens += 1.0;
        }
        assert!(tokens > 12.0, "{grown}");
        // Each seed draws by itself, and the same again.
        let drawn = |seed| {
            let c = computed(&SPEC, &given().with("seed", number(seed))).unwrap();
            c.words("drawn")[0].clone()
        };
        let all: Vec<String> = (0..20).map(|seed| drawn(f64::from(seed))).collect();
        assert_eq!(all[3], drawn(3.0));
        assert!(all.iter().any(|word| *word != all[0]));
    }

    #[test]
    fn a_text_without_tokens_or_with_too_many_gets_a_message() {
        for sentence in ["", "  ", &"the ".repeat(MOST_TOKENS)] {
            let error = computed(&SPEC, &given().with("sentence", text(sentence))).unwrap_err();
            assert!(matches!(error, CellError::Input { .. }), "{error}");
        }
        let one = computed(&SPEC, &given().with("sentence", text("Once"))).unwrap();
        assert_eq!(shape(&one, "opened"), [2, 2]);
    }

    /// Each number that can be opened from another one is the very number that its terms have.
    #[test]
    fn the_source_of_a_term_is_that_number() {
        let sizes = (4, 4);
        let open = |spot: Spot| {
            let mut at = given().with("part", choice(spot.part));
            for (name, chosen) in [
                ("layer", spot.layer),
                ("head", spot.head),
                ("row", spot.row + 1),
                ("column", spot.column + 1),
            ] {
                at = at.with(name, number(chosen as f64));
            }
            computed(&SPEC, &at).unwrap()
        };
        let mut found = 0;
        for part in PARTS {
            for (layer, head) in [(1, 2), (4, 3)] {
                let spot = Spot::new(&DECODER, (layer, head), part, (4, 2)).unwrap();
                let c = open(spot);
                let count = shape(&c, "terms")[0];
                for (k, m) in [(0, 0), (1, 0), (3, 0), (1, 1), (4, 1), (70, 0)] {
                    let term = c.at("terms", &[k, m]);
                    let source = spot.source(&DECODER, Of::Term(k, m), count, sizes);
                    if let (Some(source), Some(term)) = (source, term) {
                        // A score that is hidden shows its value before the mask.
                        if term.is_finite() {
                            assert_eq!(value(&open(source), "value"), term, "{spot:?} {k} {m}");
                            found += 1;
                        }
                    }
                }
                if let Some(source) = spot.source(&DECODER, Of::Step(0), count, sizes) {
                    let step = c.at("steps", &[0]).unwrap();
                    assert_eq!(value(&open(source), "value"), step, "{spot:?}");
                    found += 1;
                }
            }
        }
        assert!(found > 70, "{found}");
        assert_eq!(Spot::new(&DECODER, (1, 1), "w", (0, 0)), None);
    }

    /// What the lesson says of the cell as it opens.
    #[test]
    fn the_last_word_looks_back_at_the_dog() {
        let c = opened("weights");
        assert_eq!(c.words("tokens")[2], "\u{2423}dog");
        assert_eq!((value(&c, "layer"), value(&c, "head")), (4.0, 3.0));
        assert_eq!((value(&c, "row"), value(&c, "column")), (6.0, 3.0));
        let weight = value(&c, "value");
        assert!((0.8..0.9).contains(&weight), "{weight}");
        let words = c.words("next.words");
        assert_eq!(words[..2], ["\u{2423}dog", "\u{2423}cat"]);
        let share = c.at("next.probabilities", &[0]).unwrap();
        assert!((0.6..0.67).contains(&share), "{share}");
        // Without the head's score of the dog, no other score of the row is near.
        let c = opened("scores");
        let row: Vec<f64> = (0..6).map(|s| c.at("opened", &[5, s]).unwrap()).collect();
        assert!(row.iter().all(|score| *score <= row[2]), "{row:?}");
        assert_eq!(shape(&c, "terms"), [32, 4]);
    }

    /// What to try: another word changes the stream from its position on, and the temperature
    /// changes nothing but the probabilities.
    #[test]
    fn another_word_changes_nothing_before_it_and_the_temperature_no_matrix() {
        let at = |sentence: &str, tau: f64, part: &str| {
            let given = given().with("sentence", text(sentence));
            let given = given.with("part", choice(part));
            computed(&SPEC, &given.with("tau", number(tau))).unwrap()
        };
        let (dog, cat) = ("The dog ran after the", "The cat ran after the");
        let [a, b] = [dog, cat].map(|sentence| at(sentence, 1.0, "residual-2"));
        assert_eq!(a.words("tokens").len(), b.words("tokens").len());
        for row in 0..6 {
            let rows = [&a, &b].map(|c| {
                let opened = &c.tensor("opened").unwrap().values;
                opened.index_axis(Axis(0), row).to_owned()
            });
            assert_eq!(rows[0] == rows[1], row < 2, "row {row}");
        }
        for part in PARTS {
            let [cold, warm] = [0.2, 1.5].map(|tau| at(dog, tau, part));
            let same = cold.tensor("opened") == warm.tensor("opened");
            assert_eq!(same, part != "probabilities", "{part}");
        }
    }
}
