//! Toy sizes of encoders.

use engine::formula::Formula;
use engine::model::{bert, swin, transformer, vit};

/// A toy model or its sizes.
pub(crate) fn small_bert() -> bert::Config {
    bert::Config {
        vocabulary: 13,
        width: 8,
        heads: 2,
        layers: 2,
        inner: 12,
        context: 7,
        types: 2,
        norm_eps: 1e-12,
    }
}

/// A toy model or its sizes.
pub(crate) fn small_vit(pooling: vit::Pooling) -> vit::Config {
    vit::Config {
        width: 8,
        heads: 2,
        layers: 1,
        inner: 12,
        channels: 3,
        patch: 2,
        image: 6,
        classes: 3,
        norm_eps: 1e-12,
        pooling,
        positions: true,
    }
}

/// A toy model or its sizes.
pub(crate) fn small_swin() -> swin::Config {
    swin::Config {
        width: 8,
        depths: vec![2, 1],
        heads: vec![2, 4],
        window: 4,
        trained_windows: vec![6, 3],
        patch: 2,
        image: 16,
        classes: 3,
        inner_ratio: 2,
        norm_eps: 1e-5,
    }
}

/// A toy model or its sizes.
pub(crate) fn small_transformer() -> transformer::Transformer {
    let config = transformer::Config {
        vocabulary: 20,
        width: 8,
        heads: 2,
        inner: 16,
        encoder_layers: 2,
        decoder_layers: 2,
        norm_eps: 1e-5,
    };
    transformer::Transformer::load(config.clone(), &mut Formula::new(5, config.shapes())).unwrap()
}
