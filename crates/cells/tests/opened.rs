//! Cells on models that a reader has opened: the shipped model gives the same numbers by the handle,
//! and models of other sizes and families those of a plain computation.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::borrow::Cow;
use std::sync::Arc;

use cells::lessons::decoder_only::{logit_lens, perplexity, sampling, whole_model};
use cells::lessons::heads::{ablation_sweep, induction, pattern_atlas, rollout};
use cells::lessons::multi_head::head_gallery;
use cells::model_cache::{CausalLm, MaskedLm, ModelCache};
use cells::text_model::{OpenedSentence, OpenedText, Reader, TextModel};
use cells::{
    CellError, CellSpec, Computation, InputValue, Inputs, Progress, jobs, opened as opened_cells,
};
use engine::error::Result;
use engine::formula::Formula;
use engine::model::bert::{self, Bert};
use engine::model::decoder::{Decoder, DecoderExt, Session};
use engine::model::gpt2::{self, Gpt2};
use engine::model::llama::{self, Llama};
use engine::nn::position::rope::{Pairing, Rope, Scaling};
use engine::nn::softmax::softmax;
use engine::parameters::{Compressed, Parameters};
use engine::quant::Type;
use engine::token::tokenizer::{SpecialTokens, Tokenizer};
use engine::token::vocabulary::Vocabulary;
use engine::trace::Recorder;
use ndarray::{Array2, ArrayD, Axis};

/// Tokens as numbers, the last of which begins a text.
struct Numbers {
    vocabulary: Vocabulary,
    special: SpecialTokens,
}

impl Numbers {
    fn new(size: usize, start: Option<usize>) -> Self {
        Self {
            vocabulary: Vocabulary::new((0..size).map(|id| id.to_string()).collect()).unwrap(),
            special: SpecialTokens {
                end: start,
                ..SpecialTokens::default()
            },
        }
    }
}

impl Tokenizer for Numbers {
    fn encode_as(&self, text: &str, _marked: bool) -> Result<Vec<usize>> {
        Ok(text
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect())
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn token_bytes(&self, id: usize, _first: bool) -> Result<Option<Cow<'_, [u8]>>> {
        let is_start = self.special.end == Some(id);
        Ok((!is_start).then(|| Cow::Owned(format!(" {id}").into_bytes())))
    }

    fn special(&self) -> &SpecialTokens {
        &self.special
    }
}

const VOCABULARY: usize = 60;
const START: usize = VOCABULARY - 1;

/// A model whose last token begins a text.
fn opened(model: impl Decoder + 'static) -> Arc<dyn TextModel> {
    let size = model.vocabulary();
    Arc::new(OpenedText {
        model: Arc::new(model),
        tokenizer: Arc::new(Numbers::new(size, Some(size - 1))),
    })
}

/// A source in which what a head writes is zero: its part of the output matrix.
struct Without {
    source: Formula,
    /// The matrix, the axis of the heads in it, and the rows or columns of the head.
    at: Option<(String, usize, std::ops::Range<usize>)>,
}

impl Parameters for Without {
    engine::forward_description!(self => self.source);

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        let mut read = self.source.read(name)?;
        if let Some((matrix, axis, head)) = &self.at
            && matrix == name
        {
            for n in head.clone() {
                read.index_axis_mut(Axis(*axis), n).fill(0.0);
            }
        }
        Ok(read)
    }
}

/// Layers and heads of both small models.
const SIZES: (usize, usize) = (3, 2);
/// The width of a head.
const HEAD: usize = 6;

/// A GPT-2 of the first `layers` blocks, without the head of that layer and number.
fn gpt2(layers: usize, context: usize, off: Option<(usize, usize)>) -> Gpt2 {
    let config = gpt2::Config {
        vocabulary: VOCABULARY,
        width: SIZES.1 * HEAD,
        heads: SIZES.1,
        layers,
        inner: 40,
        context,
        norm_eps: 1e-5,
    };
    let source = Formula::new(3, config.shapes());
    let at = off.map(|(layer, head)| {
        let matrix = format!("transformer.h.{layer}.attn.c_proj.weight");
        (matrix, 0, head * HEAD..(head + 1) * HEAD)
    });
    Gpt2::load(config, &mut Without { source, at }).unwrap()
}

/// A Llama, whose heads share keys and values, likewise.
fn llama(layers: usize, context: usize, off: Option<(usize, usize)>) -> Llama {
    let config = llama::Config {
        vocabulary: VOCABULARY,
        width: 12,
        heads: SIZES.1,
        kv_heads: 1,
        head_width: HEAD,
        layers,
        inner: 20,
        context,
        norm_eps: 1e-5,
        rope: Rope {
            width: HEAD,
            base: 10_000.0,
            pairing: Pairing::Halves,
            scaling: Scaling::None,
        },
        experts: None,
        windows: Vec::new(),
        mlp_bias: true,
    };
    let source = Formula::new(3, config.shapes());
    let at = off.map(|(layer, head)| {
        let matrix = format!("model.layers.{layer}.self_attn.o_proj.weight");
        (matrix, 1, head * HEAD..(head + 1) * HEAD)
    });
    Llama::load(config, &mut Without { source, at }).unwrap()
}

type Small = fn(usize, usize, Option<(usize, usize)>) -> Box<dyn Decoder>;

/// Both families.
const FAMILIES: [(&str, Small); 2] = [
    ("gpt2", |n, context, off| Box::new(gpt2(n, context, off))),
    ("llama", |n, context, off| Box::new(llama(n, context, off))),
];

/// The model of a family as a reader opens it.
fn whole(family: &str, context: usize) -> Arc<dyn TextModel> {
    match family {
        "gpt2" => opened(gpt2(SIZES.0, context, None)),
        _ => opened(llama(SIZES.0, context, None)),
    }
}

fn defaults(spec: &CellSpec) -> Inputs {
    Inputs::defaults(&(spec.inputs)())
}

/// The result of a cell on an opened model.
fn computed(
    cell: &str,
    inputs: &Inputs,
    model: &Arc<dyn TextModel>,
) -> std::result::Result<Computation, CellError> {
    read_by(cell, inputs, Reader::Decoder(Arc::clone(model)))
}

/// The result of a cell on a decoder or an encoder.
fn read_by(
    cell: &str,
    inputs: &Inputs,
    model: Reader,
) -> std::result::Result<Computation, CellError> {
    let mut job = opened_cells::start(cell, inputs, model)?;
    loop {
        if let Progress::Done(computation) = job.advance()? {
            return Ok(*computation);
        }
    }
}

/// The result of a cell of numbers, with a text.
fn on_text(spec: &CellSpec, text: &str, model: &Arc<dyn TextModel>) -> Computation {
    let inputs = defaults(spec).with("sentence", InputValue::Text(text.to_owned()));
    computed(spec.name, &inputs, model).unwrap()
}

/// −ln p of each token but the first, by a model that reads one token after the other.
fn losses(model: &dyn Decoder, ids: &[usize]) -> Vec<f64> {
    let mut session = Session::new(model);
    let pairs = ids.windows(2).map(|pair| {
        let logits = session.feed(&pair[..1]).unwrap();
        -f64::from(softmax(logits.view())[pair[1]]).ln()
    });
    pairs.collect()
}

fn assert_near(found: f64, expected: f64, what: &str) {
    let tolerance = 1e-4 * expected.abs().max(1.0);
    assert!(
        (found - expected).abs() < tolerance,
        "{what}: {found}, not {expected}"
    );
}

fn tiny_gpt() -> (ModelCache, Arc<CausalLm>) {
    let cache = ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"));
    let gpt = cache.opened::<CausalLm>("tiny-gpt.safetensors").unwrap();
    (cache, gpt)
}

/// All that the lesson's cell shows, to the last bit.
#[test]
fn the_shipped_model_by_the_handle_gives_the_same_bits() {
    let (cache, gpt) = tiny_gpt();
    let handle: Arc<dyn TextModel> = gpt.clone();
    for spec in [&logit_lens::SPEC, &ablation_sweep::SPEC, &perplexity::SPEC] {
        let inputs = defaults(spec);
        let lesson = jobs::compute(spec, &inputs, &cache).unwrap();
        assert_eq!(computed(spec.name, &inputs, &handle).unwrap(), lesson);
    }
    // Of a wide tensor, only some columns of an opened model are shown.
    let at = |spec: &CellSpec, part: &str, column: f64| {
        let part = InputValue::Choice(part.to_owned());
        let inputs = defaults(spec).with("part", part);
        inputs.with("column", InputValue::Number(column))
    };
    for part in ["scores", "q", "residual-2", "probabilities"] {
        let lesson = at(&whole_model::SPEC, part, 3.0);
        let lesson = jobs::compute(&whole_model::SPEC, &lesson, &cache).unwrap();
        let inputs = at(&whole_model::OPENED, part, 3.0);
        assert_eq!(computed("whole-model", &inputs, &handle).unwrap(), lesson);
    }
    let lesson = at(&whole_model::SPEC, "mlp-in", 300.0);
    let lesson = jobs::compute(&whole_model::SPEC, &lesson, &cache).unwrap();
    let inputs = at(&whole_model::OPENED, "mlp-in", 300.0);
    let some = computed("whole-model", &inputs, &handle).unwrap();
    let all = &lesson.tensor("opened").unwrap().values;
    let shown = all.slice_axis(Axis(1), (256..384).into());
    assert_eq!(some.tensor("opened").unwrap().values, shown);
    assert_eq!(
        (some.at("first", &[]), some.at("width", &[])),
        (Some(256.0), Some(512.0))
    );
    for name in ["value", "column", "terms", "steps"] {
        assert_eq!(some.tensor(name), lesson.tensor(name), "{name}");
    }
    // What chooses among the shipped models is no input of an opened one.
    let bert = cache.opened::<MaskedLm>("tiny-bert.safetensors").unwrap();
    for (lesson, spec) in [
        (&head_gallery::SPEC, &head_gallery::OPENED),
        (&pattern_atlas::SPEC, &pattern_atlas::OPENED),
    ] {
        for (name, reader) in [
            ("tiny-gpt", Reader::Decoder(handle.clone())),
            ("tiny-bert", Reader::Encoder(bert.clone())),
        ] {
            let choice = InputValue::Choice(name.to_owned());
            let lesson = jobs::compute(lesson, &defaults(lesson).with("model", choice), &cache);
            assert_eq!(
                read_by(spec.name, &defaults(spec), reader),
                lesson,
                "{name}"
            );
        }
    }
    let inputs = defaults(&rollout::SPEC);
    let lesson = jobs::compute(&rollout::SPEC, &inputs, &cache);
    assert_eq!(read_by("rollout", &inputs, Reader::Encoder(bert)), lesson);
    // The switches are other inputs; the result is the same.
    let off = defaults(&induction::SPEC).with("head-1-3", InputValue::Toggle(false));
    let lesson = jobs::compute(&induction::SPEC, &off, &cache).unwrap();
    let mut on = Array2::ones((4, 4));
    on[[0, 2]] = 0.0;
    let inputs = defaults(&induction::OPENED).with(induction::ON, InputValue::Matrix(on));
    assert_eq!(computed("induction", &inputs, &handle).unwrap(), lesson);
}

/// What the cells computed before they took a handle, by the model itself.
#[test]
fn the_shipped_models_numbers_are_those_of_its_own_pass() {
    let (cache, gpt) = tiny_gpt();
    let end = gpt.tokenizer.special().end.unwrap();
    let inputs = defaults(&logit_lens::SPEC);
    let c = jobs::compute(&logit_lens::SPEC, &inputs, &cache).unwrap();
    let mut ids = vec![end];
    ids.extend(
        gpt.tokenizer
            .encode(inputs.text("sentence").unwrap())
            .unwrap(),
    );
    let logits = gpt.model.forward(&ids, None).unwrap();
    let last = softmax(logits.row(ids.len() - 1));
    let best = last.iter().copied().fold(0.0, f32::max);
    assert_near(c.at("last", &[4]).unwrap(), f64::from(best), "tiny-gpt");
    // The list of the lesson, drawn as it was before.
    let list = jobs::compute(&induction::SPEC, &defaults(&induction::SPEC), &cache).unwrap();
    let mut rng = engine::rng::Rng::named(2, "induction");
    let said = explain::induction::twice(end, 20, &mut rng);
    let expected = losses(&gpt.model, &said);
    for (t, &loss) in expected.iter().enumerate() {
        assert_near(list.at("loss", &[t]).unwrap(), loss, "the list");
    }
}

/// At each depth, the model of only so many blocks.
#[test]
fn the_lens_reads_off_the_model_that_ends_there() {
    for (family, small) in FAMILIES {
        let c = on_text(&logit_lens::SPEC, "3 22 41 4 0", &whole(family, 48));
        assert_eq!(c.words("depths").len(), SIZES.0 + 1);
        for depth in 0..=SIZES.0 {
            let cut = small(depth, 48, None);
            let logits = cut.forward(&[START, 3, 22, 41, 4, 0], None).unwrap();
            let shares = softmax(logits.row(5));
            let mut order: Vec<usize> = (0..VOCABULARY).collect();
            order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
            for (n, &id) in order.iter().take(logit_lens::TOP).enumerate() {
                let found = c.at("probabilities", &[depth, n]).unwrap();
                assert_near(found, f64::from(shares[id]), family);
                let word = &c.words("words")[depth * logit_lens::TOP + n];
                assert_eq!(*word, format!("\u{2423}{id}"), "{family}, depth {depth}");
            }
        }
    }
}

/// A head that is off is one whose rows of the output matrix are zero.
#[test]
fn a_head_that_is_off_is_a_model_without_it() {
    for (family, small) in FAMILIES {
        let model = whole(family, 48);
        let all = small(SIZES.0, 48, None);
        let mut effects = Vec::new();
        for layer in 0..SIZES.0 {
            for head in 0..SIZES.1 {
                let mut on = Array2::ones(SIZES);
                on[[layer, head]] = 0.0;
                let inputs =
                    defaults(&induction::OPENED).with(induction::ON, InputValue::Matrix(on));
                let c = computed("induction", &inputs, &model).unwrap();
                let predicted = c.words("predicted").iter();
                let ids = predicted.map(|word| word.trim_start_matches('\u{2423}'));
                let ids = ids.map(|id| id.parse().unwrap());
                let ids: Vec<usize> = std::iter::once(START).chain(ids).collect();
                assert_eq!((ids.len(), &ids[1..21]), (41, &ids[21..]));
                let before = losses(&*all, &ids);
                let now = losses(&*small(SIZES.0, 48, Some((layer, head))), &ids);
                for t in 0..40 {
                    assert_near(c.at("loss", &[t]).unwrap(), before[t], family);
                    assert_near(c.at("loss.now", &[t]).unwrap(), now[t], family);
                }
                assert_ne!(c.at("mean", &[]), c.at("mean.now", &[]));
                let mean = |losses: &[f64]| losses[21..].iter().sum::<f64>() / 19.0;
                effects.push(mean(&now) - mean(&before));
            }
        }
        // The sweep switches off the same heads on the same list.
        let sweep = computed("ablation-sweep", &defaults(&ablation_sweep::SPEC), &model).unwrap();
        for (n, &effect) in effects.iter().enumerate() {
            assert_near(sweep.at("effects", &[n]).unwrap(), effect, family);
        }
        let weights = sweep.tensor("weights").unwrap().values.shape().to_vec();
        assert_eq!(weights, [SIZES.0, SIZES.1, 41, 41]);
    }
}

/// Every part of an opened GPT-2 is that of its own pass, and a number of it the sum that is written
/// out.
#[test]
fn every_number_of_an_opened_gpt2_is_the_sum_that_is_written_out() {
    let model = whole("gpt2", 48);
    let mut seen = Recorder::default();
    let ids = [START, 3, 22, 41, 4, 0];
    let own = gpt2(SIZES.0, 48, None);
    let logits = own.forward(&ids, Some(&mut seen)).unwrap();
    let given =
        defaults(&whole_model::OPENED).with("sentence", InputValue::Text("3 22 41 4 0".to_owned()));
    let at = |part: &str, (layer, head, row, column): (f64, f64, f64, f64)| {
        let mut given = given
            .clone()
            .with("part", InputValue::Choice(part.to_owned()));
        for (name, number) in [
            ("layer", layer),
            ("head", head),
            ("row", row),
            ("column", column),
        ] {
            given = given.with(name, InputValue::Number(number));
        }
        computed("whole-model", &given, &model).unwrap()
    };
    for part in whole_model::DECODER.parts {
        for place in [
            (1.0, 1.0, 1.0, 1.0),
            (3.0, 2.0, 5.0, 4.0),
            (64.0, 64.0, 32.0, 99.0),
        ] {
            let c = at(part, place);
            let value = c.at("value", &[]).unwrap();
            let selected = ["row", "column"].map(|name| c.at(name, &[]).unwrap() as usize - 1);
            assert_eq!(c.at("opened", &selected), Some(value), "{part}");
            let difference = c.at("difference", &[]).unwrap();
            assert!(
                difference < 1e-5 * value.abs().max(1.0),
                "{part}: {difference}"
            );
        }
    }
    for (part, name) in [
        ("norm-1", "norm_1"),
        ("attention-out", "attention.output"),
        ("mlp-in", "mlp.before"),
        ("residual-2", "output"),
    ] {
        let expected = seen.get(&format!("blocks.1.{name}")).unwrap();
        let c = at(part, (2.0, 1.0, 1.0, 1.0));
        let found = &c.tensor("opened").unwrap().values;
        assert_eq!(*found, expected.mapv(f64::from), "{part}");
    }
    for (part, name) in [("q", "q"), ("scores", "scores"), ("heads", "heads")] {
        let all = seen.get(&format!("blocks.1.attention.{name}")).unwrap();
        let expected = all.index_axis(Axis(0), 1).mapv(f64::from);
        let c = at(part, (2.0, 2.0, 1.0, 1.0));
        assert_eq!(c.tensor("opened").unwrap().values, expected, "{part}");
    }
    let c = at("scores", (1.0, 1.0, 1.0, 1.0));
    let shares = softmax(logits.row(5));
    for (n, word) in c.words("next.words").iter().enumerate() {
        let id: usize = word.trim_start_matches('\u{2423}').parse().unwrap();
        let found = c.at("next.probabilities", &[n]).unwrap();
        assert_near(found, f64::from(shares[id]), "the next token");
    }
}

/// The scores are the model's, and what follows is the lesson's cell on these scores.
#[test]
fn sampling_goes_on_from_the_models_scores() {
    for (family, small) in FAMILIES {
        let c = on_text(&sampling::OPENED, "3 22 41", &whole(family, 48));
        let logits = small(SIZES.0, 48, None).forward(&[START, 3, 22, 41], None);
        let mut row = logits.unwrap().row(3).to_vec();
        let shares = softmax(ndarray::aview1(&row));
        let share: f32 = (0..8)
            .map(|n| {
                let id: usize = c.words("words")[n]
                    .trim_start_matches('\u{2423}')
                    .parse()
                    .unwrap();
                assert_near(c.at("scores", &[n]).unwrap(), f64::from(row[id]), family);
                assert_eq!(row[id], row.iter().copied().fold(f32::MIN, f32::max));
                row[id] = f32::MIN;
                shares[id]
            })
            .sum();
        assert_near(c.at("share", &[]).unwrap(), f64::from(share), family);
        let scores = c.tensor("scores").unwrap().values.mapv(|x| x as f32);
        let scores = scores.into_shape_with_order((8, 1)).unwrap();
        let lesson = defaults(&sampling::SPEC).with("scores", InputValue::Matrix(scores));
        let lesson = sampling::SPEC.compute(&lesson).unwrap();
        for tensor in ["tempered", "kept", "counts"] {
            assert_eq!(
                c.tensor(tensor),
                lesson.tensor(tensor),
                "{family}: {tensor}"
            );
        }
    }
}

#[test]
fn bits_are_those_of_a_model_that_reads_token_by_token() {
    for (family, small) in FAMILIES {
        let c = on_text(&perplexity::SPEC, "7 7 30 2 58 11", &whole(family, 48));
        let ids = [START, 7, 7, 30, 2, 58, 11];
        let nats = losses(&*small(SIZES.0, 48, None), &ids);
        for (t, nats) in nats.iter().enumerate() {
            let bits = nats / std::f64::consts::LN_2;
            assert_near(c.at("own.bits", &[t]).unwrap(), bits, family);
        }
        let mean = nats.iter().sum::<f64>() / nats.len() as f64;
        assert_near(c.at("own.perplexity", &[]).unwrap(), mean.exp(), family);
    }
}

/// The rows of a decoder are those that it tells while it reads token by token.
#[test]
fn the_gallery_shows_the_weights_of_each_layer_and_head() {
    for (family, small) in FAMILIES {
        let c = on_text(&head_gallery::OPENED, "3 22 41 4 0", &whole(family, 48));
        let model = small(SIZES.0, 48, None);
        let mut session = Session::new(&*model);
        for (t, id) in [START, 3, 22, 41, 4, 0].into_iter().enumerate() {
            let mut seen = Recorder::default();
            session.feed_traced(&[id], Some(&mut seen)).unwrap();
            for layer in 0..SIZES.0 {
                let name = format!("blocks.{layer}.attention.weights");
                let row = seen.get(&name).unwrap();
                for (head, s) in (0..SIZES.1).flat_map(|head| (0..=t).map(move |s| (head, s))) {
                    let found = c.at("weights", &[layer, head, t, s]).unwrap();
                    assert_near(found, f64::from(row[[head, 0, s]]), family);
                }
            }
        }
        let atlas = on_text(&pattern_atlas::OPENED, "3 22 41 3 22", &whole(family, 48));
        assert_eq!(atlas.at("count", &[]), Some(6.0));
        assert_eq!(atlas.at("repeated", &[]), Some(2.0));
    }
}

/// An encoder that the reader has opened, with its head for masks or without.
#[test]
fn an_opened_bert_shows_its_weights_and_decoders_cells_refuse_it() {
    let config = bert::Config {
        vocabulary: VOCABULARY,
        width: 12,
        heads: 2,
        layers: 2,
        inner: 20,
        context: 10,
        types: 2,
        norm_eps: 1e-12,
    };
    let special = SpecialTokens {
        begin: Some(1),
        end: Some(2),
        mask: Some(3),
        ..SpecialTokens::default()
    };
    for has_head in [true, false] {
        let shapes = config.shapes().into_iter();
        let shapes = shapes.filter(|(name, _)| has_head || !name.starts_with("cls."));
        let model = Bert::load(config.clone(), &mut Formula::new(5, shapes)).unwrap();
        assert_eq!(model.fills_masks(), has_head);
        // The probabilities of position 2 of a text.
        let at_2 = |ids: &[usize]| softmax(model.forward(ids, None).unwrap().row(2));
        let hidden = has_head.then(|| [&[1, 7, 3, 9, 2], &[1, 3, 3, 9, 2]].map(|ids| at_2(ids)));
        let mut seen = Recorder::default();
        let tokens = engine::nn::packed::Packed::one(&[1, 7, 8, 9, 2]);
        model.hidden(&tokens, None, &mut Some(&mut seen)).unwrap();
        let mut tokenizer = Numbers::new(VOCABULARY, None);
        tokenizer.special = special.clone();
        let reader = Reader::Encoder(Arc::new(OpenedSentence {
            model: Arc::new(model),
            tokenizer: Arc::new(tokenizer),
        }));
        let text = |words: &str| {
            let words = InputValue::Text(words.to_owned());
            defaults(&head_gallery::OPENED).with("sentence", words)
        };
        let c = read_by("head-gallery", &text("7 8 9"), reader.clone()).unwrap();
        for layer in 0..2 {
            let name = format!("blocks.{layer}.attention.weights");
            let weights = seen.get(&name).unwrap();
            for (head, t) in [(0, 0), (1, 3), (1, 4)] {
                let found = c.at("weights", &[layer, head, t, 2]).unwrap();
                assert_eq!(found, f64::from(weights[[head, t, 2]]));
            }
        }
        let inputs = defaults(&rollout::SPEC)
            .with("sentence", InputValue::Text("7 8 9".to_owned()))
            .with("hidden", InputValue::Number(2.0));
        let found = read_by("rollout", &inputs, reader.clone());
        match hidden {
            Some([before, both]) => {
                let c = found.unwrap();
                let best: usize = c.words("best")[0].parse().unwrap();
                assert!(before.iter().all(|&p| p <= before[best]));
                let expected = f64::from((before[best] - both[best]).abs());
                assert_eq!(c.at("effects", &[1]), Some(expected));
                assert_eq!(c.at("right.probability", &[]), Some(f64::from(before[8])));
                assert_eq!(c.words("tokens"), ["1", "7", "[MASK]", "9", "2"]);
            }
            None => {
                let why = found.unwrap_err().to_string();
                assert!(
                    why.contains("without the part that fills in words"),
                    "{why}"
                );
            }
        }
        let long = read_by("head-gallery", &text("3 4 5 6 7 8 9 10 11"), reader.clone());
        let long = long.unwrap_err().to_string();
        assert!(long.contains("this model reads at most 8"), "{long}");
        let lens = read_by("logit-lens", &defaults(&logit_lens::SPEC), reader);
        let lens = lens.unwrap_err().to_string();
        assert!(lens.contains("such as a GPT-2 or a Llama"), "{lens}");
    }
}

/// The full-size GPT-2 whose parameters a formula fills, as PyTorch computed it.
#[test]
fn the_full_size_gpt2_predicts_what_pytorch_does() {
    let Some(folder) = skip::shared("reference") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("gpt2.json")).unwrap();
    let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
    let ids: Vec<usize> = serde_json::from_value(reference["ids"].clone()).unwrap();
    let config = gpt2::Config::gpt2_124m();
    let size = config.vocabulary;
    let model = Gpt2::load(config.clone(), &mut Formula::new(0, config.shapes())).unwrap();
    // The first of its tokens begins the text.
    let model: Arc<dyn TextModel> = Arc::new(OpenedText {
        model: Arc::new(model),
        tokenizer: Arc::new(Numbers::new(size, Some(ids[0]))),
    });
    let words: Vec<String> = ids[1..].iter().map(usize::to_string).collect();
    let c = on_text(&logit_lens::SPEC, &words.join(" "), &model);
    let expected = reference["last_logits"]["argmax"].as_u64().unwrap();
    assert_eq!(c.words("prediction"), [format!("\u{2423}{expected}")]);
    assert_eq!(c.words("depths").len(), 13);
    // Of the 124 million parameters and of a pass over them, only what is opened goes to the page.
    for (part, count, terms) in [("mlp-out", 128, 3_072), ("q", 64, 768), ("logits", 8, 768)] {
        let inputs = defaults(&whole_model::OPENED)
            .with("sentence", InputValue::Text(words.join(" ")))
            .with("part", InputValue::Choice(part.to_owned()))
            .with("layer", InputValue::Number(12.0))
            .with("column", InputValue::Number(700.0));
        let c = computed("whole-model", &inputs, &model).unwrap();
        assert_eq!(c.words("next.words")[0], format!("\u{2423}{expected}"));
        assert_eq!(c.at("layers", &[]), Some(12.0));
        let shape = |name: &str| c.tensor(name).unwrap().values.shape().to_vec();
        assert_eq!(shape("opened"), [ids.len(), count], "{part}");
        assert_eq!(shape("terms"), [terms, 4], "{part}");
        let difference = c.at("difference", &[]).unwrap();
        assert!(difference < 1e-3, "{part}: {difference}");
        let sent: usize = c.tensors.values().map(|tensor| tensor.values.len()).sum();
        assert!(sent < 20_000, "{part}: {sent} numbers");
    }
}

/// How long the sweep over 144 heads takes natively, on one thread: `cargo test -p cells --test opened
/// a_sweep_is_timed -- --ignored --nocapture`. The log is in `BENCHMARKS.md`.
#[test]
#[ignore = "a measurement, not a test"]
fn a_sweep_is_timed() {
    let config = gpt2::Config::gpt2_124m();
    let size = config.vocabulary;
    let mut source = Compressed::new(Formula::new(0, config.shapes()), Type::F32);
    let model: Arc<dyn TextModel> = Arc::new(OpenedText {
        model: Arc::new(Gpt2::load(config, &mut source).unwrap()),
        tokenizer: Arc::new(Numbers::new(size, Some(size - 1))),
    });
    let inputs = defaults(&ablation_sweep::SPEC);
    let (begun, model) = (std::time::Instant::now(), Reader::Decoder(model));
    let mut job = opened_cells::start("ablation-sweep", &inputs, model).unwrap();
    let (mut slices, mut longest) = (0, 0.0_f64);
    loop {
        let slice = std::time::Instant::now();
        let progress = job.advance().unwrap();
        longest = longest.max(slice.elapsed().as_secs_f64());
        slices += 1;
        if let Progress::Done(c) = progress {
            assert_eq!(c.tensor("effects").unwrap().values.len(), 144);
            break;
        }
    }
    let whole = begun.elapsed().as_secs_f64();
    println!("{whole:.1} s in {slices} slices, the longest {longest:.2} s");
}

#[test]
fn what_a_model_cannot_do_is_said_in_plain_words() {
    let short = whole("gpt2", 9);
    let why = |cell: &str, inputs: &Inputs, model: &Arc<dyn TextModel>| {
        computed(cell, inputs, model).unwrap_err().to_string()
    };
    let long = InputValue::Text("1 2 3 4 5 6 7 8 9 10".to_owned());
    for spec in [&logit_lens::SPEC, &perplexity::SPEC, &sampling::OPENED] {
        let inputs = defaults(spec).with("sentence", long.clone());
        let found = why(spec.name, &inputs, &short);
        assert!(found.contains("this model reads at most 8"), "{found}");
    }
    let list = defaults(&ablation_sweep::SPEC);
    let found = why("ablation-sweep", &list, &short);
    assert!(
        found.contains("41 tokens") && found.contains("at most 9"),
        "{found}"
    );
    // Too long for the cell.
    let long = InputValue::Text("1 ".repeat(100));
    let yours = InputValue::Choice("your text".to_owned());
    let list = list.with("text", yours).with("sentence", long);
    let found = why("ablation-sweep", &list, &whole("llama", 400));
    assert!(found.contains("this cell shows at most 48"), "{found}");
    let other = defaults(&induction::OPENED);
    let found = why("induction", &other, &whole("llama", 48));
    assert!(found.contains("3 layers with 2 heads"), "{found}");
    let without: Arc<dyn TextModel> = Arc::new(OpenedText {
        model: Arc::new(gpt2(1, 48, None)),
        tokenizer: Arc::new(Numbers::new(VOCABULARY, None)),
    });
    let inputs = defaults(&perplexity::SPEC).with("sentence", InputValue::Text("1 2".to_owned()));
    let found = why("perplexity", &inputs, &without);
    assert!(found.contains("without a vocabulary"), "{found}");
    let found = why(
        "whole-model",
        &defaults(&whole_model::OPENED),
        &whole("llama", 48),
    );
    assert!(found.contains("the numbers of a GPT-2"), "{found}");
    let found = why("rollout", &defaults(&rollout::SPEC), &short);
    assert!(found.contains("such as a BERT"), "{found}");
    let found = computed("attention-map", &inputs, &short).unwrap_err();
    assert!(matches!(found, CellError::Missing(_)), "{found}");
}
