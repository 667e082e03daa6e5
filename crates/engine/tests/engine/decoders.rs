//! What holds of every decoder, on small models that the formula fills: cache, batch, hooks, and
//! what is refused.

use engine::EngineError;
use engine::model::decoder::{DecoderExt, Session};
use engine::ndarray::{ArrayView2, ArrayViewD, ArrayViewMutD, Axis, Ix3, array, s};
use engine::trace::{Observer, Recorder};

use crate::support::small::{IDS, all, llama, llama_config};

/// f32: the cached pass multiplies the same numbers in products of other shapes.
const F32_TOLERANCE: f32 = 2e-6;

#[track_caller]
fn assert_close(found: ArrayView2<'_, f32>, expected: ArrayView2<'_, f32>, what: &str) {
    assert_eq!(found.dim(), expected.dim(), "{what}");
    let largest = (&found - &expected)
        .iter()
        .fold(0.0f32, |a, b| a.max(b.abs()));
    assert!(largest <= F32_TOLERANCE, "{what}: {largest}");
}

#[test]
fn the_models_differ_in_what_they_say() {
    let models = all();
    let logits: Vec<_> = models
        .iter()
        .map(|(_, model)| model.forward(&IDS, None).unwrap())
        .collect();
    for (n, one) in logits.iter().enumerate() {
        assert!(one.iter().all(|x| x.is_finite()));
        assert!(logits[..n].iter().all(|other| other != one));
    }
}

#[test]
fn a_cached_feed_is_the_full_pass() {
    for (name, model) in all() {
        let full = model.forward(&IDS, None).unwrap();
        let mut session = Session::new(&*model);
        let mut start = 0;
        for length in [3, 1, 2, 1] {
            let logits = session.feed(&IDS[start..start + length]).unwrap();
            start += length;
            assert_eq!(session.position(), start);
            let last = full.slice(s![start - 1..start, ..]);
            assert_close(logits.view().insert_axis(Axis(0)), last, name);
        }
        assert!(session.size_bytes() > 0);
        // Back to the fourth token, and on again from a copy.
        session.truncate(4);
        let logits = session.clone().feed(&IDS[4..]).unwrap();
        assert_close(
            logits.view().insert_axis(Axis(0)),
            full.slice(s![6.., ..]),
            name,
        );
        assert_eq!(session.position(), 4);
    }
}

#[test]
fn a_long_text_is_read_in_pieces_or_not_at_all() {
    let config = engine::model::gpt2::Config {
        vocabulary: 23,
        width: 8,
        heads: 2,
        layers: 2,
        inner: 16,
        context: 600,
        norm_eps: 1e-5,
    };
    let mut source = engine::formula::Formula::new(0, config.shapes());
    let model = engine::model::gpt2::Gpt2::load(config, &mut source).unwrap();
    let mut ids: Vec<usize> = (0..600).map(|n| n * n % 23).collect();
    let full = model.forward(&ids, None).unwrap();
    let mut session = Session::new(&model);
    let logits = session.feed(&ids[..599]).unwrap();
    assert_eq!(session.position(), 599);
    let row = |logits: &engine::ndarray::Array1<f32>| logits.clone().insert_axis(Axis(0));
    assert_close(row(&logits).view(), full.slice(s![598..599, ..]), "599");
    let logits = session.feed(&ids[599..]).unwrap();
    assert_close(row(&logits).view(), full.slice(s![599.., ..]), "the last");

    let mut session = Session::new(&model);
    ids[550] = 23;
    assert!(session.feed(&ids).is_err());
    assert!(session.feed(&[0; 601]).is_err());
    assert_eq!(session.position(), 0);
}

#[test]
fn rows_of_a_padded_batch_are_those_of_each_text_alone() {
    // What stands in the padding is never read, not even where it is no token.
    let absurd = usize::MAX;
    let ids = array![
        [3, 22, 4, 4, 0],
        [7, absurd, absurd, absurd, absurd],
        [1, 2, 3, absurd, absurd]
    ];
    let lengths = [5, 1, 3];
    for (name, model) in all() {
        let batch = model.forward_batch(ids.view(), &lengths).unwrap();
        assert_eq!(batch.dim(), (3, 5, 23));
        for (b, &length) in lengths.iter().enumerate() {
            let alone = model.forward(&ids.row(b).to_vec()[..length], None).unwrap();
            assert_close(batch.slice(s![b, ..length, ..]), alone.view(), name);
            assert!(batch.slice(s![b, length.., ..]).iter().all(|&x| x == 0.0));
        }
        assert!(model.forward_batch(ids.view(), &[5, 1]).is_err());
        assert!(model.forward_batch(ids.view(), &[5, 1, 6]).is_err());
    }
}

#[test]
fn several_texts_are_read_on_side_by_side() {
    for (name, model) in all() {
        let mut caches = model.caches(2);
        model.feed(&[3, 22, 7], &[2, 1], &mut caches, None).unwrap();
        // The second beam is dropped, the first goes on twice.
        let mut beams = caches.gather(&[0, 0]).unwrap();
        let logits = model.feed(&[4, 5], &[1, 1], &mut beams, None).unwrap();
        for (b, id) in [4, 5].into_iter().enumerate() {
            let alone = model.forward(&[3, 22, id], None).unwrap();
            assert_close(
                logits.slice(s![b..b + 1, ..]),
                alone.slice(s![2.., ..]),
                name,
            );
        }
        assert!(model.feed(&[4], &[1, 0], &mut beams, None).is_err());
        assert!(model.feed(&[4], &[1], &mut beams, None).is_err());
    }
}

#[test]
fn a_full_context_says_so_and_reads_nothing() {
    for (name, model) in all() {
        let mut session = Session::new(&*model);
        session.feed(&IDS).unwrap();
        let error = session.feed(&[1, 2, 3]).unwrap_err();
        let expected = EngineError::ContextFull {
            context: 9,
            position: 7,
            tokens: 3,
        };
        assert_eq!(error, expected, "{name}");
        session.feed(&[1, 2]).unwrap();
        assert!(model.forward(&[0; 10], None).is_err());
        assert!(session.feed(&[]).is_err());
        assert_eq!(model.forward(&[], None).unwrap().dim(), (0, 23));
        let error = model.forward(&[23], None).unwrap_err().to_string();
        assert_eq!(
            error,
            "decoder: id must be below the vocabulary size 23, found 23"
        );
    }
}

/// Multiplies one head of an intermediate.
struct ScaleHead {
    name: &'static str,
    head: usize,
    by: f32,
    hits: usize,
}

impl Observer for ScaleHead {
    fn observe(&mut self, _: &str, _: ArrayViewD<'_, f32>) {}

    fn change(&mut self, name: &str, mut tensor: ArrayViewMutD<'_, f32>) {
        if name == self.name {
            let mut head = tensor.index_axis_mut(Axis(0), self.head);
            head *= self.by;
            self.hits += 1;
        }
    }
}

/// Puts a stored tensor in place of an intermediate.
struct Replace<'a>(&'a str, &'a engine::ndarray::ArrayD<f32>);

impl Observer for Replace<'_> {
    fn observe(&mut self, _: &str, _: ArrayViewD<'_, f32>) {}

    fn change(&mut self, name: &str, mut tensor: ArrayViewMutD<'_, f32>) {
        if name == self.0 {
            tensor.assign(self.1);
        }
    }
}

#[test]
fn hooks_zero_scale_and_replace() {
    for (name, model) in all() {
        let mut seen = Recorder::default();
        let plain = model.forward(&IDS, Some(&mut seen)).unwrap();
        let run = |name: &'static str, by: f32| {
            let mut hook = ScaleHead {
                name,
                head: 1,
                by,
                hits: 0,
            };
            let logits = model.forward(&IDS, Some(&mut hook)).unwrap();
            assert_eq!(hook.hits, 1, "{name}");
            logits
        };
        // An observer that changes nothing changes no bit, and neither does a factor of 1.
        assert_eq!(plain, model.forward(&IDS, None).unwrap());
        assert_eq!(plain, run("blocks.1.attention.heads", 1.0));
        let zeroed = run("blocks.1.attention.heads", 0.0);
        assert_ne!(plain, zeroed);
        // A head without weights mixes nothing: the same ablation by another name.
        assert_eq!(zeroed, run("blocks.1.attention.weights", 0.0));
        for part in ["q", "k", "v", "scores"] {
            let place: &'static str = match part {
                "q" => "blocks.0.attention.q",
                "k" => "blocks.0.attention.k",
                "v" => "blocks.0.attention.v",
                _ => "blocks.0.attention.scores",
            };
            assert_ne!(plain, run(place, 3.0), "{name} {part}");
        }

        // With another text's last hidden state the logits are that text's.
        let mut other = Recorder::default();
        let there = model
            .forward(&[9, 9, 1, 2, 3, 4, 5], Some(&mut other))
            .unwrap();
        let state = other.get("blocks.1.output").unwrap();
        let mut hook = Replace("blocks.1.output", state);
        assert_eq!(model.forward(&IDS, Some(&mut hook)).unwrap(), there);
    }
}

#[test]
fn every_intermediate_has_a_name_and_a_shape() {
    let mut seen = Recorder::default();
    let mut session = Session::new(Box::new(llama(llama_config(), &[])));
    session.feed(&[5, 6]).unwrap();
    session.feed_traced(&IDS[..3], Some(&mut seen)).unwrap();
    let shape = |name: &str| seen.get(name).unwrap().shape().to_vec();
    assert_eq!(shape("embedding"), [3, 12]);
    assert_eq!(shape("blocks.1.attention.q"), [6, 3, 4]);
    assert_eq!(shape("blocks.1.attention.k"), [2, 3, 4]);
    assert_eq!(shape("blocks.1.attention.weights"), [6, 3, 5]);
    assert_eq!(shape("blocks.1.mlp.gate"), [3, 20]);
    assert_eq!(shape("logits"), [1, 23]);
    assert_eq!(seen.names().len(), 1 + 2 * (4 + 7 + 4) + 2);
    let weights = seen.get("blocks.0.attention.weights").unwrap();
    let weights = weights.view().into_dimensionality::<Ix3>().unwrap();
    for t in 0..3 {
        assert!(weights.slice(s![.., t, t + 3..]).iter().all(|&w| w == 0.0));
        let sums = weights.slice(s![.., t, ..]).sum_axis(Axis(1));
        assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-6));
    }
}

#[test]
fn a_long_text_gives_the_same_bits_in_pieces_and_as_a_whole() {
    // Without an observer the queries are taken in pieces, with one all at once.
    let mut config = llama_config();
    config.context = 200;
    let model = llama(config, &[]);
    let ids: Vec<usize> = (0..150).map(|n| n * n % 23).collect();
    let mut seen = Recorder::default();
    let whole = model.forward(&ids, Some(&mut seen)).unwrap();
    assert_eq!(model.forward(&ids, None).unwrap(), whole);
    let weights = seen.get("blocks.1.attention.weights").unwrap();
    assert_eq!(weights.shape(), [6, 150, 150]);
}
