//! Training with one, two and three threads: the same bits.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use engine::formula::Formula;
use engine::grad::{AdamW, Draw, Settings, Tape, Var, gradients, gradients_of_parts, initialise};
use engine::kernel::{self, threads};
use engine::model::decoder::{Decoder, Tokens};
use engine::model::encoder_decoder::EncoderDecoder;
use engine::model::gpt2::{self, Gpt2};
use engine::model::seq2seq::{self, Seq2Seq};
use engine::model::seq2seq_attention::{self, AttentiveSeq2Seq};
use engine::model::transformer::{self, Transformer};
use engine::model::vit::{self, Pooling, Vit};
use engine::nn::packed::Packed;
use engine::rng::Rng;
use engine::trainable::Trainable;
use ndarray::Array4;

/// Steps of a run.
const STEPS: usize = 3;

/// The bits of all losses, of the gradients' lengths and of the parameters after the last step.
fn train<M: Trainable + Clone>(
    model: &M,
    settings: &Settings,
    loss: impl Fn(&M, &mut Tape) -> engine::Result<Var>,
) -> Vec<u32> {
    let mut model = model.clone();
    initialise(&mut model, 1, Draw::Xavier).unwrap();
    let mut optimiser = AdamW {
        decay: 0.05,
        ..AdamW::default()
    };
    let mut bits = Vec::new();
    for _ in 0..STEPS {
        let (loss, mut found) = gradients(&mut model, settings, &loss).unwrap();
        bits.extend([loss.to_bits(), found.clip(0.5).to_bits()]);
        optimiser.step(&mut model, &found, 0.01).unwrap();
    }
    let visit = &mut |parameter: engine::trainable::Parameter<'_>| {
        bits.extend(parameter.values.iter().map(|value| value.to_bits()));
        Ok(())
    };
    model.parameters(visit).unwrap();
    bits
}

/// Compares runs of a model with one, two and three threads, with the quickest kernels and with
/// those that have the same bits in a browser.
fn check<M: Trainable + Clone>(
    name: &str,
    model: &M,
    loss: impl Fn(&M, &mut Tape) -> engine::Result<Var>,
) {
    for kernels in [kernel::steady(), kernel::same_bits()] {
        let settings = Settings {
            kernels,
            ..Settings::default()
        };
        threads::limit(1);
        let alone = train(model, &settings, &loss);
        for count in 2..=3 {
            threads::start(count).unwrap();
            threads::limit(count);
            assert_eq!(threads::count(), count);
            let found = train(model, &settings, &loss);
            let same = found == alone;
            assert!(same, "{name}, {} on {count} threads", kernels.name());
        }
    }
}

/// A batch of two parts has the mean of their gradients, weighted by the positions that count, and
/// the same bits on any number of threads.
fn check_parts(model: &Gpt2, halves: [&Packed; 2]) {
    let mut model = model.clone();
    initialise(&mut model, 1, Draw::Xavier).unwrap();
    let loss = |model: &Gpt2, tape: &mut Tape, texts: &Packed| {
        let tokens = Tokens::fresh(&texts.ids, &texts.lengths, 32, VOCABULARY)?;
        let caches = &mut model.caches(texts.lengths.len());
        let hidden = model.run(tape, &tokens, caches)?;
        let logits = model.run_logits(tape, &hidden)?;
        tape.cross_entropy(&logits, &answers(texts), 0.0)
    };
    let settings = [Settings::default(); 2];
    let mut found = Vec::new();
    for count in 1..=3 {
        threads::start(count).unwrap();
        threads::limit(count);
        let run = |n: usize, model: &Gpt2, tape: &mut Tape| loss(model, tape, halves[n]);
        found.push(gradients_of_parts(&mut model, &settings, run).unwrap());
    }
    let bits = |(loss, found): &(f32, engine::grad::Gradients)| {
        let all = found
            .iter()
            .flat_map(|(_, values)| values)
            .map(|value| value.to_bits());
        all.chain([loss.to_bits()]).collect::<Vec<_>>()
    };
    assert!(found.iter().all(|other| bits(other) == bits(&found[0])));

    let count = |texts: &Packed| answers(texts).iter().flatten().count() as f32;
    let counts = halves.map(count);
    let shares = counts.map(|count| count / (counts[0] + counts[1]));
    assert!((shares[0] - 0.5).abs() > 0.01);
    let parts = halves.map(|texts| {
        gradients(&mut model, &settings[0], |model, tape| {
            loss(model, tape, texts)
        })
        .unwrap()
    });
    let (whole, found) = &found[0];
    assert!((shares[0] * parts[0].0 + shares[1] * parts[1].0 - whole).abs() < 1e-5);
    for (name, values) in found.iter() {
        let [a, b] = [0, 1].map(|n: usize| parts[n].1.get(name).unwrap());
        for ((a, b), value) in a.iter().zip(b).zip(values) {
            assert!(
                (shares[0] * a + shares[1] * b - value).abs() < 1e-5,
                "{name}"
            );
        }
    }
    let none = gradients_of_parts(&mut model, &[], |_, model, tape| {
        loss(model, tape, halves[0])
    });
    let error = none.unwrap_err().to_string();
    assert!(error.contains("parts"), "{error}");
}

/// Ids below `vocabulary`, in sequences of different lengths.
fn words(seed: u64, vocabulary: usize) -> Packed {
    let mut rng = Rng::new(seed);
    let lengths: Vec<usize> = (0..48).map(|_| 6 + rng.below(20)).collect();
    let count = lengths.iter().sum();
    let ids = (0..count).map(|_| rng.below(vocabulary)).collect();
    Packed::many(ids, lengths).unwrap()
}

fn answers(words: &Packed) -> Vec<Option<usize>> {
    // Some positions do not count.
    let ids = words.ids.iter().enumerate();
    ids.map(|(n, &id)| (n % 7 != 0).then_some(id)).collect()
}

const VOCABULARY: usize = 300;

// One test: the threads are those of the program.
#[test]
fn threads_change_no_bit() {
    let config = vit::Config {
        width: 64,
        heads: 4,
        layers: 2,
        inner: 128,
        channels: 1,
        patch: 4,
        image: 28,
        classes: 10,
        norm_eps: 1e-6,
        pooling: Pooling::Class,
        positions: true,
    };
    let model = Vit::load(config.clone(), &mut Formula::new(0, config.shapes())).unwrap();
    let mut rng = Rng::new(3);
    let pictures = Array4::from_shape_fn((24, 1, 28, 28), |_| rng.uniform());
    let labels: Vec<Option<usize>> = (0..24).map(|n| Some(n % 10)).collect();
    check("ViT", &model, |model, tape| {
        let (hidden, lengths) = model.run(tape, pictures.view())?;
        let logits = model.run_logits(tape, &hidden, &lengths)?;
        tape.cross_entropy(&logits, &labels, 0.05)
    });

    let config = gpt2::Config {
        vocabulary: VOCABULARY,
        width: 64,
        heads: 4,
        layers: 2,
        inner: 256,
        context: 32,
        norm_eps: 1e-5,
    };
    let model = Gpt2::load(config.clone(), &mut Formula::new(0, config.shapes())).unwrap();
    let (source, target) = (words(1, VOCABULARY), words(2, VOCABULARY));
    let (expected, next) = (answers(&target), answers(&source));
    check("GPT-2", &model, |model, tape| {
        let tokens = Tokens::fresh(&source.ids, &source.lengths, 32, VOCABULARY)?;
        let caches = &mut model.caches(source.lengths.len());
        let hidden = model.run(tape, &tokens, caches)?;
        let logits = model.run_logits(tape, &hidden)?;
        tape.cross_entropy(&logits, &next, 0.0)
    });

    let mut long = words(4, VOCABULARY);
    long.ids.extend(&source.ids);
    long.lengths.extend(&source.lengths);
    check_parts(&model, [&source, &long]);

    let config = transformer::Config {
        vocabulary: VOCABULARY,
        width: 48,
        heads: 4,
        inner: 192,
        encoder_layers: 1,
        decoder_layers: 1,
        norm_eps: 1e-5,
    };
    let model = Transformer::load(config.clone(), &mut Formula::new(0, config.shapes())).unwrap();
    check("Transformer", &model, |model, tape| {
        let logits = model.run(tape, &source, &target)?;
        tape.cross_entropy(&logits, &expected, 0.1)
    });

    let config = seq2seq::Config {
        source_vocabulary: VOCABULARY,
        target_vocabulary: VOCABULARY,
        embedding: 48,
        width: 96,
        layers: 1,
        readout: None,
        feeds_context: false,
        reverse_source: true,
    };
    let model = Seq2Seq::load(config, &mut Formula::new(0, config.shapes())).unwrap();
    check("GRU", &model, |model, tape| {
        let logits = model.run(tape, &source, &target)?;
        tape.cross_entropy(&logits, &expected, 0.1)
    });

    let config = seq2seq_attention::Config {
        source_vocabulary: VOCABULARY,
        target_vocabulary: VOCABULARY,
        embedding: 48,
        width: 64,
        inner: 64,
        readout: Some(48),
    };
    let model = AttentiveSeq2Seq::load(config, &mut Formula::new(0, config.shapes())).unwrap();
    check("GRU with attention", &model, |model, tape| {
        let logits = model.run(tape, &source, &target)?;
        tape.cross_entropy(&logits, &expected, 0.1)
    });
}
