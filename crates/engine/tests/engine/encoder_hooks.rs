//! Encoders at toy sizes: steps and batches of a translation, ablation of every intermediate,
//! missing parameters.

use engine::formula::{Formula, image};
use engine::model::encoder_decoder::EncoderDecoder;
use engine::model::{bert, dinov2, swin, vit};
use engine::ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, array, s};
use engine::trace::{Observer, Recorder};

use crate::support::small_encoders::{small_bert, small_swin, small_transformer, small_vit};

#[test]
fn a_translation_in_a_batch_or_step_by_step_is_the_same() {
    let model = small_transformer();
    let (source, target) = (
        array![[3, 1, 4, 1], [5, 9, 0, 0]],
        array![[1, 7, 2], [1, 6, 0]],
    );
    let source_mask = array![[true, true, true, true], [true, true, false, false]];
    let target_mask = array![[true, true, true], [true, true, false]];
    let batch = model
        .forward_batch(
            source.view(),
            source_mask.view(),
            target.view(),
            target_mask.view(),
        )
        .unwrap();
    let near =
        |a: ArrayViewD<'_, f32>, b: ArrayViewD<'_, f32>| (&a - &b).iter().all(|d| d.abs() < 1e-6);
    let one = model.forward(&[5, 9], &[1, 6], None).unwrap();
    assert!(near(
        batch.slice(s![1, ..2, ..]).into_dyn(),
        one.view().into_dyn()
    ));
    assert!(batch.slice(s![1, 2, ..]).iter().all(|&x| x == 0.0));
    let mut translation = model.read(&[5, 9], None).unwrap();
    for (n, id) in [1, 6].into_iter().enumerate() {
        let logits = translation.feed(&[id]).unwrap();
        assert!(near(logits.view().into_dyn(), one.row(n).into_dyn()));
    }
    assert_eq!(translation.position(), 2);
    assert!(translation.feed(&[]).is_err());
    assert!(translation.feed(&[20]).is_err());

    let written = model.greedy(&[5, 9], 1, 0, 6).unwrap();
    let mut before = vec![1];
    before.extend(&written[..written.len() - 1]);
    let logits = model.forward(&[5, 9], &before, None).unwrap();
    for (row, &id) in logits.outer_iter().zip(&written) {
        assert!(row.iter().all(|&other| other <= row[id] + 1e-6));
    }
}

/// Zeroes one intermediate.
struct Zero<'a>(&'a str);

impl Observer for Zero<'_> {
    fn observe(&mut self, _: &str, _: ArrayViewD<'_, f32>) {}

    fn change(&mut self, name: &str, mut tensor: ArrayViewMutD<'_, f32>) {
        if name == self.0 {
            tensor.fill(0.0);
        }
    }
}

/// Looking changes nothing; zeroing any intermediate changes the result.
fn hooks(run: impl Fn(Option<&mut dyn Observer>) -> ArrayD<f32>) -> Vec<String> {
    let plain = run(None);
    let mut seen = Recorder::default();
    assert_eq!(run(Some(&mut seen)), plain);
    for name in seen.names() {
        let ablated = run(Some(&mut Zero(name)));
        assert_ne!(ablated, plain, "{name}");
    }
    seen.names().into_iter().map(str::to_owned).collect()
}

#[test]
fn every_intermediate_can_be_ablated() {
    let config = small_bert();
    let model = bert::Bert::load(config.clone(), &mut Formula::new(1, config.shapes())).unwrap();
    let names = hooks(|trace| model.forward(&[3, 1, 4], trace).unwrap().into_dyn());
    assert_eq!(names.len(), 2 + 2 * 14 + 3);

    let config = small_vit(vit::Pooling::Class);
    let model = vit::Vit::load(config.clone(), &mut Formula::new(1, config.shapes())).unwrap();
    let names = hooks(|trace| model.forward(image(8, 1).view(), trace).unwrap().into_dyn());
    assert!(names.contains(&"blocks.0.attention.weights".to_owned()));

    let config = dinov2::Config {
        width: 8,
        heads: 2,
        layers: 1,
        inner: 12,
        patch: 2,
        image: 6,
        norm_eps: 1e-6,
    };
    let model =
        dinov2::Dinov2::load(config.clone(), &mut Formula::new(1, config.shapes())).unwrap();
    let names = hooks(|trace| model.forward(image(6, 1).view(), trace).unwrap().into_dyn());
    assert!(names.contains(&"blocks.0.scale_2".to_owned()));

    let model =
        swin::Swin::load(small_swin(), &mut Formula::new(1, small_swin().shapes())).unwrap();
    let names = hooks(|trace| {
        model
            .forward(image(16, 1).view(), trace)
            .unwrap()
            .into_dyn()
    });
    assert!(names.contains(&"stages.0.merge.output".to_owned()));

    let model = small_transformer();
    let names = hooks(|trace| {
        model
            .forward(&[3, 1, 4], &[1, 5], trace)
            .unwrap()
            .into_dyn()
    });
    assert!(names.contains(&"decoder.blocks.1.cross.attention.weights".to_owned()));
}

#[test]
fn parameters_that_are_missing_are_named() {
    let without = |shapes: Vec<(String, Vec<usize>)>, missing: &str| {
        let kept = shapes.into_iter().filter(|(name, _)| name != missing);
        Formula::new(0, kept.collect::<Vec<_>>())
    };
    let name = "bert.encoder.layer.1.output.dense.bias";
    let error =
        bert::Bert::load(small_bert(), &mut without(small_bert().shapes(), name)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("parameter {name}: expected [8], found none")
    );
    let name = "swinv2.encoder.layers.0.blocks.1.attention.self.logit_scale";
    let error =
        swin::Swin::load(small_swin(), &mut without(small_swin().shapes(), name)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("parameter {name}: expected [2, 1, 1], found none")
    );
    let config = small_vit(vit::Pooling::Class);
    let error =
        vit::Vit::load(config.clone(), &mut without(config.shapes(), "pos_embed")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "parameter pos_embed: expected [1, 10, 8], found none"
    );
}
