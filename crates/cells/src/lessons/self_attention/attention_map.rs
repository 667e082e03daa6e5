//! A sentence through an attention layer, of a trained model or with random weights: what each word
//! takes from every other word.

use explain::one_head::SelfAttention;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, InputValue, Inputs};
use crate::jobs::Entry;
use crate::parts::readers;
use crate::parts::trained::{self, BERT, GPT, Head, RANDOM};
use crate::parts::untrained::{Layer, causal_or_none, embedded, placed, positions};
use crate::parts::words;
use crate::selection::Selection;
use crate::spec::{CellSpec, Run, WorkerKind};
use crate::text_model::Reader;

/// Most words of the random layer, which could read any number.
const MOST_WORDS: usize = 48;

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Your sentence");

/// Width of word vectors, queries, keys and values of the random layer.
const WIDTH: usize = 16;

/// Spread of its weight matrices: wide enough that the rows differ to the eye.
const STD: f32 = 0.35;

/// Something that a head of tiny-bert does in a sentence, for the reader to look at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// What is seen, in a few words.
    pub label: &'static str,
    /// The layer and the head, counted from 1.
    pub head: [u8; 2],
    /// The word that asks.
    pub word: &'static str,
    /// The word from which it takes most.
    pub takes_from: &'static str,
}

/// The sentence of the examples: tiny-bert knows each of its words whole.
pub const EXAMPLE: &str = "The little girl has a red ball";

/// The examples. A test checks that each is true.
pub const EXAMPLES: [Example; 4] = [
    Example {
        label: "Articles find their nouns",
        head: [1, 3],
        word: "The",
        takes_from: "girl",
    },
    Example {
        label: "Each word looks one back",
        head: [1, 2],
        word: "girl",
        takes_from: "little",
    },
    Example {
        label: "Each word looks at the next one",
        head: [1, 4],
        word: "has",
        takes_from: "a",
    },
    Example {
        label: "Most words attend to [CLS]",
        head: [2, 2],
        word: "red",
        takes_from: "[CLS]",
    },
];

impl Example {
    /// The inputs that show it on the reader's own sentence, which stays.
    pub fn head_inputs(&self) -> Vec<(&'static str, InputValue)> {
        let keeps = ["sentence", "selected"];
        let mut inputs = self.inputs();
        inputs.retain(|(name, _)| !keeps.contains(name));
        inputs
    }

    /// The inputs that show it.
    pub fn inputs(&self) -> Vec<(&'static str, InputValue)> {
        let [layer, head] = self.head.map(|n| InputValue::Number(f64::from(n)));
        vec![
            ("sentence", InputValue::Text(EXAMPLE.to_owned())),
            ("model", InputValue::Choice(BERT.to_owned())),
            ("layer", layer),
            ("head", head),
            (
                "selected",
                InputValue::Selection(Selection::word(self.word)),
            ),
        ]
    }
}

/// The cell `attention-map`.
pub const SPEC: CellSpec = CellSpec {
    name: "attention-map",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: trained::files,
    start: |inputs, cache| trained::job(inputs, cache, compute),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let mut all = vec![
        InputSpec::text(SENTENCE.0, SENTENCE.1, "The cat sat on the mat"),
        trained::model(&[BERT, GPT, RANDOM]),
        InputSpec::toggle("causal", "Causal mask: no word sees a later one", false),
        InputSpec::seed(7),
        InputSpec::word("selected", "Selected word", "cat"),
    ];
    all.extend(trained::layer_and_head(1.0, 2.0));
    all
}

/// Computes the cell with the weights that the reader chose.
fn compute(inputs: &Inputs, model: Option<&Reader>) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let layer = match model {
        None => random(&mut record, inputs)?,
        Some(reader) => {
            let text = inputs.text(SENTENCE.0)?;
            let reading = readers::read(reader, &mut record, text, SENTENCE, None)?;
            let head = Head::chosen(&mut record, inputs, reading.sizes)?;
            let (place, mask) = (("", "attention"), &reading.mask);
            head.attention(&mut record, &reading.seen, place, mask)?
        }
    };
    record.tensor("q", &layer.q);
    record.tensor("k", &layer.k);
    record.tensor("v", &layer.v);
    record.tensor("scores", &layer.attention.scores);
    record.tensor("weights", &layer.attention.weights);
    record.tensor("output", &layer.attention.output);
    Ok(record.finish())
}

/// One layer with random weights over untrained word vectors with sines and cosines added.
fn random(record: &mut Record, inputs: &Inputs) -> Result<SelfAttention, CellError> {
    let tokens = words::tokens(inputs, SENTENCE.0, SENTENCE.1, MOST_WORDS)?;
    let seed = inputs.seed()?;
    let x = embedded(record, &tokens, seed, "embedding", WIDTH)?;
    let places = positions(record, tokens.len(), WIDTH);
    let x = placed(record, x.view(), places.view())?;
    let layer = Layer::draw(record, seed, "", WIDTH, STD);
    let mask = causal_or_none(record, inputs.toggle("causal")?, tokens.len());
    record.words("tokens", tokens);
    layer.run(record, x.view(), &mask)
}

#[cfg(test)]
mod tests {
    use engine::trace::Recorder;

    use super::*;
    use crate::input::InputValue;
    use crate::model_cache::MaskedLm;
    use crate::parts::test_models::{choice, computed, number, text};
    use crate::parts::trained::{Pieces, START};

    fn given(model: &str) -> Inputs {
        Inputs::defaults(&inputs()).with("model", choice(model))
    }

    #[test]
    fn every_row_of_weights_sums_to_one_and_the_mask_hides_what_follows() {
        for (model, causal) in [(RANDOM, false), (RANDOM, true), (BERT, false)] {
            let given = given(model).with("causal", InputValue::Toggle(causal));
            let c = computed(&SPEC, &given).unwrap();
            let weights = &c.tensor("weights").unwrap().values;
            let count = c.words("tokens").len();
            assert_eq!(weights.shape(), [count, count]);
            for i in 0..count {
                let row: f64 = (0..count).map(|j| weights[[i, j]]).sum();
                assert!((row - 1.0).abs() < 1e-6, "{row}");
                let hidden = (i + 1..count).all(|j| weights[[i, j]] == 0.0);
                assert!(hidden == causal || i + 1 == count, "{model}, row {i}");
            }
        }
    }

    /// The lesson's claim about the first layer: one head looks at the token before, another at the
    /// next token.
    #[test]
    fn two_heads_of_the_first_layer_look_at_their_neighbours() {
        for (head, step) in [(2.0, -1_isize), (4.0, 1)] {
            let c = computed(&SPEC, &given(BERT).with("head", number(head))).unwrap();
            let tokens = c.words("tokens").len() as isize;
            assert_eq!(c.words("tokens")[..4], ["[CLS]", "the", "cat", "sat"]);
            // From the words inside the sentence, which have neighbours on both sides.
            for t in 2..5_isize {
                assert!(t + step < tokens);
                let index = [t as usize, (t + step) as usize];
                let weight = c.at("weights", &index).unwrap();
                assert!(weight > 0.5, "head {head}, piece {t}: {weight}");
            }
        }
    }

    /// The tokens of an example, and for each the token from which it takes most.
    fn shown(example: &Example) -> (Vec<String>, Vec<usize>, Computation) {
        let mut given = Inputs::defaults(&inputs());
        let named = example.inputs().into_iter();
        given
            .0
            .extend(named.map(|(name, value)| (name.to_owned(), value)));
        let c = computed(&SPEC, &given).unwrap();
        let tokens = c.words("tokens").to_vec();
        let most = favourites(&c);
        (tokens, most, c)
    }

    /// For each token, the token from which it takes most.
    fn favourites(c: &Computation) -> Vec<usize> {
        let rows = &c.tensor("weights").unwrap().values;
        let count = c.words("tokens").len();
        let of = |row: usize| {
            let weight = |column: usize| rows[[row, column]];
            (0..count).max_by(|&a, &b| weight(a).total_cmp(&weight(b)))
        };
        (0..count).map(|row| of(row).unwrap()).collect()
    }

    #[test]
    fn every_example_shows_what_it_says() {
        for example in EXAMPLES {
            let (tokens, most, c) = shown(&example);
            assert_eq!(tokens.len(), EXAMPLE.split(' ').count() + 2, "{tokens:?}");
            let place = |word: &str| {
                let found = tokens
                    .iter()
                    .position(|token| token.eq_ignore_ascii_case(word));
                found.unwrap_or_else(|| panic!("{word} is not among {tokens:?}"))
            };
            let (row, from) = (place(example.word), place(example.takes_from));
            let weight = c.at("weights", &[row, from]).unwrap();
            assert!(weight > 0.6, "{}: {weight}", example.label);
            assert_eq!(most[row], from, "{}", example.label);
        }
    }

    /// What the labels of the examples say of all words, not only of the selected one.
    #[test]
    fn the_labels_of_the_examples_hold_for_the_whole_sentence() {
        let [articles, back, next, rest] = EXAMPLES.each_ref().map(|example| shown(example).1);
        // [CLS] the little girl has a red ball [SEP]
        assert_eq!((articles[1], articles[5]), (3, 7));
        for word in 1..8 {
            assert_eq!((back[word], next[word]), (word - 1, word + 1));
        }
        assert!(rest[1..8].iter().filter(|&&from| from == 0).count() >= 5);
    }

    /// The lesson's claim: above the first layer, most words take most from the two tokens around
    /// the sentence.
    #[test]
    fn most_words_attend_to_the_ends_above_the_first_layer() {
        for (layer, is_most) in [(1.0, false), (2.0, true), (3.0, true)] {
            let mut at_ends = 0;
            for head in 1..=4_u8 {
                let given = given(BERT).with("layer", number(layer));
                let c = computed(&SPEC, &given.with("head", number(head.into()))).unwrap();
                let of_words = &favourites(&c)[1..7];
                at_ends += of_words.iter().filter(|&&to| to == 0 || to == 7).count();
            }
            assert_eq!(at_ends > 12, is_most, "layer {layer}: {at_ends} of 24");
        }
    }

    /// The claim of the lesson on relative positions: this head works where neighbouring rows of
    /// the table of positions are unlike.
    #[test]
    fn the_head_that_looks_back_works_where_the_table_alternates() {
        let sentence = "once upon a time there was a little girl who had a red ball and she went \
                        to the park with her mother and her father and they saw a dog";
        let c = computed(&SPEC, &given(BERT).with("sentence", text(sentence))).unwrap();
        for t in 19..=26 {
            let weight = c.at("weights", &[t, t - 1]).unwrap();
            assert!(weight > 0.9, "token {t}: {weight}");
        }
    }

    #[test]
    fn what_is_shown_is_what_the_model_computed() {
        let c = computed(&SPEC, &given(BERT).with("layer", number(3.0))).unwrap();
        let cache = crate::parts::test_models::cache();
        let bert: std::sync::Arc<MaskedLm> = cache.opened("tiny-bert.safetensors").unwrap();
        let pieces = Pieces::of_words(
            &bert.tokenizer,
            &["the", "cat", "sat", "on", "the", "mat"].map(str::to_owned),
        )
        .unwrap()
        .enclosed(&bert.tokenizer);
        let mut seen = Recorder::default();
        bert.model.forward(&pieces.ids, Some(&mut seen)).unwrap();
        let weights = seen.get("blocks.2.attention.weights").unwrap();
        for (i, j) in [(0, 0), (3, 2), (7, 5)] {
            let (own, shown) = (weights[[1, i, j]], c.at("weights", &[i, j]).unwrap());
            assert!((f64::from(own) - shown).abs() < 1e-6, "{own} {shown}");
        }
    }

    /// The panel opens the function that `Bert` itself ran, with the numbers of that run: nothing
    /// is computed a second time.
    #[test]
    fn the_panel_shows_the_function_that_the_model_ran() {
        let c = computed(&SPEC, &given(BERT).with("layer", number(2.0))).unwrap();
        let paths: Vec<&str> = c.calls.iter().map(|call| &*call.path).collect();
        let attend = "engine::nn::attention::attend";
        assert_eq!(paths, ["engine::model::bert::Bert::forward", attend]);
        let weights = &c.tensor("weights").unwrap().values;
        let call = c.calls.iter().find(|call| call.path == attend).unwrap();
        let shown = call
            .outputs
            .iter()
            .find(|one| one.name == "weights")
            .unwrap();
        assert_eq!(shown.shape, weights.shape());
        assert!(shown.values.iter().zip(weights).all(|(a, b)| a == b));
    }

    #[test]
    fn a_layer_beyond_the_last_is_the_last() {
        let c = computed(&SPEC, &given(BERT).with("layer", number(4.0))).unwrap();
        assert_eq!(
            (c.at("layer", &[]), c.at("layers", &[])),
            (Some(3.0), Some(3.0))
        );
        // The home page speaks of twelve heads.
        assert_eq!(c.at("heads", &[]), Some(4.0));
        let c = computed(&SPEC, &given(GPT).with("layer", number(4.0))).unwrap();
        assert_eq!(
            (c.at("layer", &[]), c.at("heads", &[])),
            (Some(4.0), Some(4.0))
        );
        assert_eq!(c.words("tokens")[..2], [START, "The"]);
        assert_eq!(c.at("weights", &[1, 2]), Some(0.0));
    }

    #[test]
    fn the_seed_decides_the_weights() {
        let of = |model: &str, seed: f64| {
            let given = given(model).with("seed", number(seed));
            computed(&SPEC, &given).unwrap().tensors
        };
        assert_eq!(of(RANDOM, 7.0), of(RANDOM, 7.0));
        assert_ne!(of(RANDOM, 7.0), of(RANDOM, 8.0));
        assert_eq!(of(BERT, 7.0), of(BERT, 8.0));
    }

    /// As much as the model reads is computed, one word more gets a message that says how much
    /// that is.
    #[test]
    fn a_text_may_be_as_long_as_the_model_reads() {
        for (model, most, added, message) in [
            (RANDOM, 48, 0, "at most 48 words"),
            (BERT, 62, 2, "63 tokens, and tiny-bert reads at most 62"),
            (GPT, 255, 1, "256 tokens, and tiny-gpt reads at most 255"),
        ] {
            let of = |count: usize| {
                let sentence = format!("The{}", " the".repeat(count - 1));
                computed(&SPEC, &given(model).with("sentence", text(&sentence)))
            };
            let found = of(most).unwrap();
            let count = most + added;
            assert_eq!(found.words("tokens").len(), count, "{model}");
            assert_eq!(found.tensor("weights").unwrap().shape(), [count, count]);
            let error = of(most + 1).unwrap_err();
            assert!(matches!(error, CellError::Input { .. }), "{error}");
            assert!(error.to_string().contains(message), "{error}");
        }
        let ordinary =
            "The quick brown fox jumps over the lazy dog near the river bank today, he said.";
        for sentence in [ordinary, "antidisestablishmentarianism"] {
            let given = given(BERT).with("sentence", text(sentence));
            assert!(computed(&SPEC, &given).is_ok(), "{sentence}");
        }
        for model in [RANDOM, BERT, GPT] {
            let found = computed(&SPEC, &given(model).with("sentence", text(" ")));
            assert!(matches!(found, Err(CellError::Input { .. })), "{model}");
        }
    }
}
