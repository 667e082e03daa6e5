//! GRUs, sequence-to-sequence models and the mixture of experts against PyTorch, at each
//! intermediate.

use engine::formula::Formula;
use engine::model::encoder_decoder::EncoderDecoder;
use engine::model::{seq2seq, seq2seq_attention};
use engine::ndarray::{Array1, Array2, Array3, ArrayViewMutD, Axis, concatenate, stack};
use engine::nn::gru::Gru;
use engine::nn::moe::MixtureOfExperts;
use engine::nn::pre_norm::Mlp;
use engine::nn::projection::Projection;
use engine::nn::swiglu::SwiGlu;
use engine::parameters::{Memory, Weight};
use engine::trace::{Observer, Recorder};

use crate::golden::file::{Case, case};

/// f32, a few steps of sums of some twenty products through tanh and sigmoid.
const F32_STEPS_TOLERANCE: f32 = 3e-6;

fn source(case: &Case, shapes: Vec<(String, Vec<usize>)>) -> Memory {
    let mut source = Memory::default();
    for (name, _) in shapes {
        source.insert(name.clone(), case.any(&name));
    }
    source
}

fn ids(case: &Case, name: &str) -> Vec<usize> {
    case.one(name).iter().map(|&id| id as usize).collect()
}

#[test]
fn gru_layers() {
    let c = case("recurrent", "gru");
    let gru = Gru::load(&mut source(&c, Gru::shapes("gru", 4, 6, 2)), "gru", 4, 6, 2).unwrap();
    let start = c.two("start");
    let mut states: Vec<Array1<f32>> = start.outer_iter().map(|row| row.to_owned()).collect();
    let mut seen = Recorder::default();
    let y = gru
        .forward(c.two("x").view(), &mut states, &mut Some(&mut seen))
        .unwrap();
    c.check("y", y.view().into_dyn(), F32_STEPS_TOLERANCE);
    let end = stack(Axis(0), &[states[0].view(), states[1].view()]).unwrap();
    c.check("end", end.view().into_dyn(), F32_STEPS_TOLERANCE);
    let last = seen.get("layers.1.steps.4.state").unwrap();
    assert_eq!(last.view(), states[1].view().into_dyn());
    assert!(
        gru.forward(c.two("x").view(), &mut states[..1], &mut None)
            .is_err()
    );
}

fn fixed(reverse_source: bool) -> seq2seq::Config {
    seq2seq::Config {
        source_vocabulary: 9,
        target_vocabulary: 7,
        embedding: 4,
        width: 6,
        layers: 2,
        readout: None,
        feeds_context: false,
        reverse_source,
    }
}

#[test]
fn a_fixed_vector() {
    let c = case("recurrent", "seq2seq");
    let (text, target) = (ids(&c, "source"), ids(&c, "target"));
    for (reverse, logits) in [(false, "logits"), (true, "reversed_logits")] {
        let config = fixed(reverse);
        let model = seq2seq::Seq2Seq::load(config, &mut source(&c, config.shapes())).unwrap();
        let mut seen = Recorder::default();
        let found = model.forward(&text, &target, Some(&mut seen)).unwrap();
        c.check(logits, found.view().into_dyn(), F32_STEPS_TOLERANCE);
        if !reverse {
            let vector = seen.get("encoder.states").unwrap();
            c.check("vector", vector.view(), F32_STEPS_TOLERANCE);
        }
        let mut state = model.encode(&text, None).unwrap();
        for (t, &id) in target.iter().enumerate() {
            let step = model.step(&mut state, id, None).unwrap();
            assert_eq!(step, found.row(t));
        }
    }
}

#[test]
fn a_context_vector_that_each_step_reads() {
    let c = case("recurrent", "fed");
    let (text, target) = (ids(&c, "source"), ids(&c, "target"));
    let config = seq2seq::Config {
        readout: Some(5),
        feeds_context: true,
        ..fixed(false)
    };
    let model = seq2seq::Seq2Seq::load(config, &mut source(&c, config.shapes())).unwrap();
    let mut seen = Recorder::default();
    let found = model.forward(&text, &target, Some(&mut seen)).unwrap();
    c.check("logits", found.view().into_dyn(), F32_STEPS_TOLERANCE);
    for (name, recorded) in [("vector", "encoder.states"), ("readout", "decoder.readout")] {
        let recorded = seen.get(recorded).unwrap();
        c.check(name, recorded.view(), F32_STEPS_TOLERANCE);
    }
    let mut state = model.encode(&text, None).unwrap();
    for (t, &id) in target.iter().enumerate() {
        let step = model.step(&mut state, id, None).unwrap();
        assert_eq!(step, found.row(t));
    }
    let mut wrong = state.clone();
    wrong.context = Array1::zeros(2);
    assert!(model.step(&mut wrong, 0, None).is_err());
}

#[test]
fn what_the_encoder_said_is_all_that_the_decoder_knows() {
    struct Forget;
    impl Observer for Forget {
        fn observe(&mut self, _: &str, _: engine::ndarray::ArrayViewD<'_, f32>) {}
        fn change(&mut self, name: &str, mut tensor: ArrayViewMutD<'_, f32>) {
            if name == "encoder.states" {
                tensor.fill(0.0);
            }
        }
    }
    let c = case("recurrent", "seq2seq");
    let config = fixed(false);
    let model = seq2seq::Seq2Seq::load(config, &mut source(&c, config.shapes())).unwrap();
    let with = |text: &[usize]| model.forward(text, &[0, 5], Some(&mut Forget)).unwrap();
    assert_eq!(with(&[3, 1, 4]), with(&[8, 8]));
    assert_ne!(
        with(&[3, 1, 4]),
        model.forward(&[3, 1, 4], &[0, 5], None).unwrap()
    );
}

#[test]
fn attention_over_the_source() {
    let c = case("recurrent", "attention");
    let config = seq2seq_attention::Config {
        source_vocabulary: 9,
        target_vocabulary: 7,
        embedding: 4,
        width: 6,
        inner: 5,
        readout: None,
    };
    let mut parameters = source(&c, config.shapes());
    let model = seq2seq_attention::AttentiveSeq2Seq::load(config, &mut parameters).unwrap();
    let mut seen = Recorder::default();
    let (text, target) = (ids(&c, "source"), ids(&c, "target"));
    let logits = model.forward(&text, &target, Some(&mut seen)).unwrap();
    c.check("logits", logits.view().into_dyn(), F32_STEPS_TOLERANCE);
    let annotations = seen.get("encoder.annotations").unwrap();
    c.check("annotations", annotations.view(), F32_STEPS_TOLERANCE);
    let rows: Vec<_> = (0..target.len())
        .map(|t| {
            let weights = seen.get(&format!("decoder.steps.{t}.attention.weights"));
            weights.unwrap().view().insert_axis(Axis(0))
        })
        .collect();
    let weights = concatenate(Axis(0), &rows).unwrap();
    c.check("weights", weights.view(), F32_STEPS_TOLERANCE);
    assert!(model.encode(&[], None).is_err());
}

/// Pairs of different lengths, padded, and the places where tokens stand.
fn batch(rows: &[&[usize]], columns: usize) -> (Array2<usize>, Array2<bool>) {
    let shape = (rows.len(), columns);
    let id = |(b, t): (usize, usize)| rows[b].get(t).copied().unwrap_or(0);
    let there = |(b, t): (usize, usize)| t < rows[b].len();
    (
        Array2::from_shape_fn(shape, id),
        Array2::from_shape_fn(shape, there),
    )
}

/// Whether each pair's logits in a batch are those of the pair alone, and padding's are 0.
fn each_alone(
    sources: &[&[usize]],
    targets: &[&[usize]],
    found: &Array3<f32>,
    alone: impl Fn(&[usize], &[usize]) -> Array2<f32>,
) {
    for ((source, target), logits) in sources.iter().zip(targets).zip(found.outer_iter()) {
        let expected = alone(source, target);
        for (t, row) in logits.outer_iter().enumerate() {
            if t >= target.len() {
                assert!(row.iter().all(|&x| x == 0.0));
                continue;
            }
            let near = row
                .iter()
                .zip(expected.row(t))
                .all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(
                near,
                "{source:?} {target:?} {t}: {row} and {}",
                expected.row(t)
            );
        }
    }
}

#[test]
fn a_padded_batch_is_its_pairs() {
    let sources: [&[usize]; 4] = [&[3, 1, 4, 8, 5], &[2], &[7, 7, 6], &[1, 2]];
    let targets: [&[usize]; 4] = [&[0, 5], &[0, 1, 2, 3], &[0], &[]];
    let ((source, source_mask), (target, target_mask)) = (batch(&sources, 6), batch(&targets, 5));
    for reverse in [false, true] {
        let config = fixed(reverse);
        let model = seq2seq::Seq2Seq::load(config, &mut Formula::new(3, config.shapes())).unwrap();
        let found = model.forward_batch(
            source.view(),
            source_mask.view(),
            target.view(),
            target_mask.view(),
        );
        each_alone(&sources, &targets, &found.unwrap(), |s, t| {
            model.forward(s, t, None).unwrap()
        });
        let few = target_mask.slice(engine::ndarray::s![..3, ..]);
        assert!(
            model
                .forward_batch(source.view(), source_mask.view(), target.view(), few)
                .is_err()
        );
    }
    let config = seq2seq_attention::Config {
        source_vocabulary: 9,
        target_vocabulary: 7,
        embedding: 4,
        width: 6,
        inner: 5,
        readout: None,
    };
    let mut parameters = Formula::new(3, config.shapes());
    let model = seq2seq_attention::AttentiveSeq2Seq::load(config, &mut parameters).unwrap();
    let found = model.forward_batch(
        source.view(),
        source_mask.view(),
        target.view(),
        target_mask.view(),
    );
    each_alone(&sources, &targets, &found.unwrap(), |s, t| {
        model.forward(s, t, None).unwrap()
    });
    let empty = Array2::from_elem(source_mask.dim(), false);
    let error = model.forward_batch(
        source.view(),
        empty.view(),
        target.view(),
        target_mask.view(),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "encode: source tokens must be at least 1, found a source of padding alone"
    );
}

#[test]
fn a_mixture_of_experts() {
    let c = case("recurrent", "moe");
    let layer = |name: &str| Projection {
        weight: Weight::Dense(c.two(&format!("{name}.weight"))),
        bias: None,
    };
    let experts = (0..5).map(|n| SwiGlu {
        gate: layer(&format!("experts.{n}.gate")),
        up: layer(&format!("experts.{n}.up")),
        down: layer(&format!("experts.{n}.down")),
    });
    let mut moe = MixtureOfExperts {
        router: layer("router"),
        experts: experts.collect(),
        top_k: 2,
    };
    let mut seen = Recorder::default();
    let y = moe
        .forward(c.two("x").view(), &mut Some(&mut seen))
        .unwrap();
    let weights = seen.get("mlp.router.weights").unwrap();
    c.check("weights", weights.view(), F32_STEPS_TOLERANCE);
    c.check("y", y.view().into_dyn(), 1e-5);
    moe.top_k = 6;
    assert!(moe.forward(c.two("x").view(), &mut None).is_err());
}
