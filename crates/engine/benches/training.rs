//! One step of training, with the plain kernels and with each of the quick ones in one run:
//! `cargo bench -p engine --bench training`
//!
//! The Transformer of 2 + 2 blocks, 64 wide, that reverses 16 symbols, and the translator through
//! one fixed vector.

#[cfg(not(target_family = "wasm"))]
mod native {
    use criterion::{BenchmarkId, Criterion};
    use engine::error::EngineError;
    use engine::formula::Formula;
    use engine::grad::{Draw, Pairs, Settings, Task, gradients, initialise};
    use engine::kernel;
    use engine::model::encoder_decoder::EncoderDecoder;
    use engine::model::seq2seq::{self, Seq2Seq};
    use engine::model::transformer::{Config, Transformer};
    use engine::nn::packed::Packed;
    use engine::rng::Rng;
    use engine::trainable::Trainable;
    use std::hint::black_box;

    /// Loss and gradients by every implementation that training may use.
    fn compare<M: Trainable>(
        c: &mut Criterion,
        name: &str,
        model: &mut M,
        loss: impl Fn(&M, &mut engine::grad::Tape) -> engine::Result<engine::grad::Var>,
    ) {
        let mut group = c.benchmark_group(name);
        group.sample_size(10);
        for kernels in kernel::implementations() {
            let settings = Settings {
                kernels,
                ..Settings::default()
            };
            group.bench_function(BenchmarkId::from_parameter(kernels.name()), |b| {
                b.iter(|| black_box(gradients(model, &settings, &loss)));
            });
        }
        group.finish();
    }

    /// 16 pairs of 16 symbols.
    pub(super) fn transformer(c: &mut Criterion) -> Result<(), EngineError> {
        let task = Task::Reverse {
            symbols: 10,
            length: 16,
        };
        let config = Config {
            vocabulary: task.vocabulary(),
            width: 64,
            heads: 4,
            inner: 256,
            encoder_layers: 2,
            decoder_layers: 2,
            norm_eps: 1e-5,
        };
        let mut model = Transformer::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
        initialise(&mut model, 1, Draw::Xavier)?;
        let pairs = Pairs::draw(&task, &mut Rng::new(1), 16, false)?;
        compare(c, "transformer 64, 16 x 16", &mut model, |model, tape| {
            pairs.loss(model, tape, 0.0)
        });
        Ok(())
    }

    /// 16 pairs of 10 words.
    pub(super) fn recurrent(c: &mut Criterion) -> Result<(), EngineError> {
        let config = seq2seq::Config {
            source_vocabulary: 2000,
            target_vocabulary: 2000,
            embedding: 64,
            width: 128,
            layers: 1,
            readout: None,
            feeds_context: false,
            reverse_source: true,
        };
        let mut model = Seq2Seq::load(config, &mut Formula::new(0, config.shapes()))?;
        let ids: Vec<usize> = (0..160).map(|n| n * 7 % 2000).collect();
        let words = Packed::many(ids.clone(), vec![10; 16])?;
        let answers: Vec<Option<usize>> = ids.into_iter().map(Some).collect();
        compare(c, "gru 128, 16 x 10 words", &mut model, |model, tape| {
            let logits = model.run(tape, &words, &words)?;
            tape.cross_entropy(&logits, &answers, 0.1)
        });
        Ok(())
    }
}

#[cfg(not(target_family = "wasm"))]
fn main() -> Result<(), engine::EngineError> {
    let mut criterion = criterion::Criterion::default().configure_from_args();
    native::transformer(&mut criterion)?;
    native::recurrent(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}

#[cfg(target_family = "wasm")]
fn main() {}
