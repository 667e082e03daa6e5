//! Models with a part left out: without positions an encoder reads a set, without the mask a
//! decoder sees the future.

use engine::formula::Formula;
use engine::model::bert::{self, Bert};
use engine::model::decoder::DecoderExt;
use engine::model::gpt2::{self, Gpt2};
use engine::nn::packed::Packed;
use engine::nn::parts::Parts;
use engine::trace::Recorder;
use ndarray::{Array2, Axis};

fn bert() -> Bert {
    let config = bert::Config {
        vocabulary: 11,
        width: 8,
        heads: 2,
        layers: 2,
        inner: 16,
        context: 6,
        types: 2,
        norm_eps: 1e-12,
    };
    Bert::load(config.clone(), &mut Formula::new(3, config.shapes())).unwrap()
}

fn largest(a: &Array2<f32>, b: &Array2<f32>) -> f32 {
    (a - b).iter().fold(0.0, |most, d| most.max(d.abs()))
}

#[test]
fn without_positions_an_encoder_reads_a_set() {
    let hidden =
        |model: &Bert, ids: &[usize]| model.hidden(&Packed::one(ids), None, &mut None).unwrap();
    let (ids, order) = ([1, 4, 2, 9], [2, 0, 3, 1]);
    let moved: Vec<usize> = order.iter().map(|&i| ids[i]).collect();
    let difference = |model: &Bert| {
        let expected = hidden(model, &ids).select(Axis(0), &order);
        largest(&hidden(model, &moved), &expected)
    };
    let model = bert();
    let set = model.with_parts(Parts {
        positions: false,
        ..Parts::default()
    });
    assert!(difference(&set) < 1e-5, "{}", difference(&set));
    assert!(difference(&model) > 1e-3, "{}", difference(&model));
    assert_eq!(
        hidden(&set.with_parts(Parts::default()), &ids),
        hidden(&model, &ids)
    );
}

#[test]
fn without_the_mask_a_decoder_sees_the_future() {
    let config = gpt2::Config {
        vocabulary: 11,
        width: 8,
        heads: 2,
        layers: 2,
        inner: 16,
        context: 6,
        norm_eps: 1e-5,
    };
    let model = Gpt2::load(config.clone(), &mut Formula::new(3, config.shapes())).unwrap();
    let open = model.with_parts(Parts {
        mask: false,
        ..Parts::default()
    });
    let mut recorder = Recorder::default();
    let logits = |model: &Gpt2, ids: &[usize]| model.forward(ids, None).unwrap();
    let (before, after) = (logits(&model, &[1, 4, 2]), logits(&model, &[1, 4, 9]));
    assert_eq!(before.row(1), after.row(1));
    assert_ne!(before.row(2), after.row(2));
    let (before, after) = (logits(&open, &[1, 4, 2]), logits(&open, &[1, 4, 9]));
    assert_ne!(before.row(1), after.row(1));
    open.forward(&[1, 4, 2], Some(&mut recorder)).unwrap();
    let weights = recorder.get("blocks.1.attention.weights").unwrap();
    assert_eq!(weights.shape(), [2, 3, 3]);
    assert!(weights.iter().all(|&weight| weight > 0.0));
}
