//! One pass of each encoder at full size. `cargo bench -p engine --bench encoders`

#[cfg(not(target_family = "wasm"))]
mod native {
    use criterion::Criterion;
    use engine::formula::{Formula, image};
    use engine::model::{bert, dinov2, swin, transformer, vit};
    use std::hint::black_box;

    fn pass<T, E: std::fmt::Display>(
        c: &mut Criterion,
        name: &str,
        model: Result<T, E>,
        run: impl Fn(&T),
    ) {
        let model = match model {
            Ok(model) => model,
            Err(error) => return eprintln!("{name}: {error}"),
        };
        let mut group = c.benchmark_group("encoders");
        group.sample_size(10);
        group.bench_function(name, |b| b.iter(|| run(black_box(&model))));
    }

    /// The sizes of the files in `shared/reference`.
    pub(super) fn all(c: &mut Criterion) {
        let ids: Vec<usize> = (0..64).map(|n| n * 7).collect();
        let config = bert::Config::minilm_l6();
        let model = bert::Bert::load(config.clone(), &mut Formula::new(0, config.shapes()));
        pass(c, "bert 6 x 384, sentence of 64 tokens", model, |model| {
            black_box(model.sentence(&ids, None)).ok();
        });

        let config = vit::Config::vit_b16();
        let model = vit::Vit::load(config.clone(), &mut Formula::new(0, config.shapes()));
        let picture = image(224, 0);
        pass(c, "vit b/16, 224 pixels", model, |model| {
            black_box(model.forward(picture.view(), None)).ok();
        });

        let config = dinov2::Config {
            width: 384,
            heads: 6,
            layers: 12,
            inner: 1536,
            patch: 14,
            image: 518,
            norm_eps: 1e-6,
        };
        let model = dinov2::Dinov2::load(config.clone(), &mut Formula::new(0, config.shapes()));
        pass(c, "dinov2 s/14, 224 pixels", model, |model| {
            black_box(model.forward(picture.view(), None)).ok();
        });

        let config = swin::Config {
            width: 96,
            depths: vec![2, 2, 6, 2],
            heads: vec![3, 6, 12, 24],
            window: 8,
            trained_windows: Vec::new(),
            patch: 4,
            image: 256,
            classes: 1000,
            inner_ratio: 4,
            norm_eps: 1e-5,
        };
        let model = swin::Swin::load(config.clone(), &mut Formula::new(0, config.shapes()));
        let picture = image(256, 0);
        pass(c, "swin v2 tiny, 256 pixels", model, |model| {
            black_box(model.forward(picture.view(), None)).ok();
        });

        let config = transformer::Config {
            vocabulary: 37_000,
            width: 512,
            heads: 8,
            inner: 2048,
            encoder_layers: 6,
            decoder_layers: 6,
            norm_eps: 1e-5,
        };
        let shapes = config.shapes();
        let model = transformer::Transformer::load(config, &mut Formula::new(0, shapes));
        pass(c, "transformer base, 16 tokens greedily", model, |model| {
            black_box(model.greedy(&ids[..16], 1, usize::MAX, 16)).ok();
        });
    }
}

#[cfg(not(target_family = "wasm"))]
fn main() {
    let mut criterion = criterion::Criterion::default().configure_from_args();
    native::all(&mut criterion);
    criterion.final_summary();
}

#[cfg(target_family = "wasm")]
fn main() {}
