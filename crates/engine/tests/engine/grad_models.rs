//! Every model that is trained: gradients against central differences, all parameters reached,
//! saved and loaded again.

use engine::Result;
use engine::format::safetensors::SafeTensors;
use engine::formula::{self, Formula};
use engine::grad::{Settings, Tape, Var, gradients};
use engine::model::decoder::{Decoder, Tokens};
use engine::model::encoder_decoder::EncoderDecoder;
use engine::model::vit::Pooling;
use engine::model::{
    bert, cnn, dinov2, gpt2, image_gpt, llama, seq2seq, seq2seq_attention, transformer, vit,
};
use engine::ndarray::{Array4, Axis, stack};
use engine::nn::compute::Compute;
use engine::nn::packed::Packed;
use engine::nn::position::rope::{Pairing, Rope, Scaling};
use engine::parameters::{Compressed, Memory, Parameters};
use engine::quant::Type;
use engine::trainable::{Trainable, count, restore, saved};
use tools::safetensors::write_parameters;

use crate::gradients::check::{FINE_STEP, check};

/// Larger than the formula's, so that attention and gates are not near their straight parts.
const GROWN: f32 = 6.0;

/// Checks the gradients, then that the saved parameters are those that the model is loaded from.
fn learns<M: Trainable>(
    shapes: Vec<(String, Vec<usize>)>,
    load: impl Fn(&mut dyn Parameters) -> Result<M>,
    loss: impl Fn(&M, &mut Tape) -> Result<Var>,
) {
    let expected: usize = shapes
        .iter()
        .map(|(_, shape)| shape.iter().product::<usize>())
        .sum();
    let mut model = load(&mut Formula::new(3, shapes)).unwrap();
    assert_eq!(count(&mut model).unwrap(), expected);
    grow(&mut model);
    check(&mut model, FINE_STEP, &loss);
    let settings = Settings::default();
    let (value, found) = gradients(&mut model, &settings, &loss).unwrap();
    let mut memory: Memory = saved(&mut model).unwrap();
    let mut again = load(&mut memory).unwrap();
    assert_eq!(
        (value, found),
        gradients(&mut again, &settings, &loss).unwrap()
    );
    // Back to where it was, from a file too.
    let file = write_parameters(&[], &memory, Type::F32).unwrap();
    let mut file = SafeTensors::parse(file.into()).unwrap().tensors;
    for source in [&mut memory as &mut dyn Parameters, &mut file] {
        grow(&mut again);
        assert_ne!(value, gradients(&mut again, &settings, &loss).unwrap().0);
        restore(&mut again, source).unwrap();
        assert_eq!(value, gradients(&mut again, &settings, &loss).unwrap().0);
    }
    assert!(restore(&mut again, &mut Memory::default()).is_err());
    // What was packed for inference can be trained on.
    let mut packed = load(&mut Compressed::new(memory, Type::F32)).unwrap();
    assert_eq!(value, gradients(&mut packed, &settings, &loss).unwrap().0);
}

fn grow<M: Trainable>(model: &mut M) {
    model
        .parameters(&mut |parameter| {
            if parameter.shape.len() > 1 {
                parameter
                    .values
                    .iter_mut()
                    .for_each(|value| *value *= GROWN);
            }
            Ok(())
        })
        .unwrap();
}

fn pairs() -> (Packed, Packed, Vec<Option<usize>>) {
    let source = Packed::many(vec![3, 1, 4, 1, 5, 2, 0], vec![3, 1, 3]).unwrap();
    let target = Packed::many(vec![0, 5, 2, 0, 6, 0, 1, 2], vec![3, 2, 3]).unwrap();
    let answers = [5, 2, 1, 6, 1, 1, 2, 4].map(Some).to_vec();
    (source, target, answers)
}

#[test]
fn a_fixed_vector() {
    for (reverse_source, readout) in [(false, None), (true, None), (false, Some(3))] {
        let config = seq2seq::Config {
            source_vocabulary: 6,
            target_vocabulary: 7,
            embedding: 4,
            width: 5,
            layers: 2,
            readout,
            feeds_context: readout.is_some(),
            reverse_source,
        };
        let (source, target, answers) = pairs();
        learns(
            config.shapes(),
            |parameters| seq2seq::Seq2Seq::load(config, parameters),
            |model, tape| {
                let logits = model.run(tape, &source, &target)?;
                tape.cross_entropy(&logits, &answers, 0.1)
            },
        );
    }
}

#[test]
fn attention_over_the_source() {
    let config = seq2seq_attention::Config {
        source_vocabulary: 6,
        target_vocabulary: 7,
        embedding: 4,
        width: 5,
        inner: 3,
        readout: None,
    };
    let (source, target, answers) = pairs();
    learns(
        config.shapes(),
        |parameters| seq2seq_attention::AttentiveSeq2Seq::load(config, parameters),
        |model, tape| {
            let logits = model.run(tape, &source, &target)?;
            tape.cross_entropy(&logits, &answers, 0.0)
        },
    );
}

#[test]
fn a_transformer() {
    let config = transformer::Config {
        vocabulary: 7,
        width: 8,
        heads: 2,
        inner: 12,
        encoder_layers: 2,
        decoder_layers: 2,
        norm_eps: 1e-5,
    };
    let (source, target, answers) = pairs();
    learns(
        config.shapes(),
        |parameters| transformer::Transformer::load(config.clone(), parameters),
        |model, tape| {
            let logits = model.run(tape, &source, &target)?;
            tape.cross_entropy(&logits, &answers, 0.1)
        },
    );
}

#[test]
fn decoders() {
    let (ids, lengths) = ([1, 4, 2, 0, 3, 3, 5], [4, 3]);
    let answers = [4, 2, 0, 3, 3, 5, 1].map(Some);
    let config = gpt2::Config {
        vocabulary: 6,
        width: 8,
        heads: 2,
        layers: 2,
        inner: 12,
        context: 4,
        norm_eps: 1e-5,
    };
    learns(
        config.shapes(),
        |parameters| gpt2::Gpt2::load(config.clone(), parameters),
        |model, tape| {
            let tokens = Tokens::fresh(&ids, &lengths, 4, 6)?;
            let hidden = model.run(tape, &tokens, &mut model.caches(2))?;
            let logits = model.run_logits(tape, &hidden)?;
            tape.cross_entropy(&logits, &answers, 0.0)
        },
    );
    let config = image_gpt::Config {
        vocabulary: 7,
        width: 8,
        heads: 2,
        layers: 2,
        inner: 12,
        context: 4,
        norm_eps: 1e-5,
    };
    learns(
        image_gpt::shapes(&config),
        |parameters| image_gpt::ImageGpt::load(config.clone(), parameters),
        |model, tape| {
            let tokens = Tokens::fresh(&ids, &lengths, 4, 7)?;
            let hidden = model.run(tape, &tokens, &mut model.caches(2))?;
            let logits = model.run_logits(tape, &hidden)?;
            tape.cross_entropy(&logits, &answers, 0.0)
        },
    );
}

#[test]
fn masked_words() {
    let config = bert::Config {
        vocabulary: 9,
        width: 8,
        heads: 2,
        layers: 2,
        inner: 12,
        context: 5,
        types: 2,
        norm_eps: 1e-12,
    };
    let text = Packed::many(vec![1, 8, 3, 4, 8, 0, 2], vec![4, 3]).unwrap();
    let answers = [None, Some(5), None, None, Some(7), None, None];
    learns(
        config.shapes(),
        |parameters| bert::Bert::load(config.clone(), parameters),
        |model, tape| {
            let types = [0, 0, 1, 1, 0, 0, 0];
            let hidden = model.run(tape, &text, Some(&types))?;
            let logits = model.run_logits(tape, &hidden)?;
            tape.cross_entropy(&logits, &answers, 0.0)
        },
    );
}

fn pictures(side: usize) -> Array4<f32> {
    let all = [formula::image(side, 1), formula::image(side, 2)];
    stack(Axis(0), &[all[0].view(), all[1].view()]).unwrap()
}

#[test]
fn picture_models() {
    for (pooling, positions) in [
        (Pooling::Class, true),
        (Pooling::Mean, true),
        (Pooling::Class, false),
    ] {
        let config = vit::Config {
            width: 8,
            heads: 2,
            layers: 2,
            inner: 12,
            channels: 3,
            patch: 2,
            image: 4,
            classes: 3,
            norm_eps: 1e-6,
            pooling,
            positions,
        };
        learns(
            config.shapes(),
            |parameters| vit::Vit::load(config.clone(), parameters),
            |model, tape| {
                let (hidden, lengths) = model.run(tape, pictures(4).view())?;
                let logits = model.run_logits(tape, &hidden, &lengths)?;
                tape.cross_entropy(&logits, &[Some(2), Some(0)], 0.1)
            },
        );
    }
    let config = cnn::Config {
        channels: 3,
        image: 7,
        widths: vec![3, 4],
        side: 3,
        inner: 6,
        classes: 3,
    };
    learns(
        config.shapes(),
        |parameters| cnn::Cnn::load(config.clone(), parameters),
        |model, tape| {
            let logits = model.run(tape, pictures(7).view())?;
            tape.cross_entropy(&logits, &[Some(2), Some(0)], 0.0)
        },
    );
}

#[test]
fn rotary_positions_groups_gates_and_experts() {
    // All experts for each token: a step of the check changes no choice.
    for experts in [None, Some((3, 3))] {
        let config = llama::Config {
            vocabulary: 7,
            width: 8,
            heads: 4,
            kv_heads: 2,
            head_width: 2,
            layers: 2,
            inner: 6,
            context: 5,
            norm_eps: 1e-5,
            rope: Rope {
                width: 2,
                base: 100.0,
                pairing: Pairing::Halves,
                scaling: Scaling::None,
            },
            experts,
            windows: Vec::new(),
            mlp_bias: true,
        };
        let (ids, lengths) = ([3, 1, 4, 1, 5, 2, 6], [4, 3]);
        let answers = [1, 4, 1, 5, 2, 6, 0].map(Some);
        learns(
            config.shapes(),
            |parameters| llama::Llama::load(config.clone(), parameters),
            |model, tape| {
                let tokens = Tokens::fresh(&ids, &lengths, 5, 7)?;
                let hidden = model.run(tape, &tokens, &mut model.caches(2))?;
                let logits = model.run_logits(tape, &hidden)?;
                tape.cross_entropy(&logits, &answers, 0.1)
            },
        );
    }
}

#[test]
fn layer_scales_of_features() {
    let config = dinov2::Config {
        width: 4,
        heads: 2,
        layers: 2,
        inner: 6,
        patch: 2,
        image: 4,
        norm_eps: 1e-5,
    };
    let answers: Vec<Option<usize>> = (0..10).map(|n| Some(n * 3 % 4)).collect();
    learns(
        config.shapes(),
        |parameters| dinov2::Dinov2::load(config.clone(), parameters),
        |model, tape| {
            let features = model.run(tape, pictures(4).view())?;
            tape.cross_entropy(&features, &answers, 0.1)
        },
    );
}

#[test]
fn what_the_loss_does_not_reach_is_named() {
    let config = gpt2::Config {
        vocabulary: 6,
        width: 4,
        heads: 2,
        layers: 1,
        inner: 8,
        context: 3,
        norm_eps: 1e-5,
    };
    let mut model =
        gpt2::Gpt2::load(config.clone(), &mut Formula::new(3, config.shapes())).unwrap();
    let (_, found) = gradients(&mut model, &Settings::default(), |model, tape| {
        let x = tape.constant(engine::rng::normal_matrix(1, "x", 2, 4, 1.0).view());
        let logits = model.run_logits(tape, &x)?;
        tape.cross_entropy(&logits, &[Some(1), Some(2)], 0.0)
    })
    .unwrap();
    assert_eq!(found.missing().len(), config.shapes().len() - 1);
    assert!(!found.missing().contains(&"transformer.wte.weight"));
    assert!(
        found
            .get("transformer.wpe.weight")
            .unwrap()
            .iter()
            .all(|&g| g == 0.0)
    );
}
