//! One step of each recurrent translator, and its reading of the source: 32 tokens, states 512
//! wide, vocabularies of 8192. `cargo bench -p engine --bench recurrent`

#[cfg(not(target_family = "wasm"))]
mod native {
    use criterion::{BatchSize, Criterion};
    use engine::error::EngineError;
    use engine::formula::Formula;
    use engine::model::seq2seq::{self, Seq2Seq};
    use engine::model::seq2seq_attention::{self, AttentiveSeq2Seq};
    use std::hint::black_box;

    fn source() -> Vec<usize> {
        (0..32).map(|n| n * 7).collect()
    }

    /// Through one fixed vector.
    pub(super) fn fixed(c: &mut Criterion) -> Result<(), EngineError> {
        let config = seq2seq::Config {
            source_vocabulary: 8192,
            target_vocabulary: 8192,
            embedding: 256,
            width: 512,
            layers: 2,
            readout: None,
            feeds_context: false,
            reverse_source: true,
        };
        let model = Seq2Seq::load(config, &mut Formula::new(0, config.shapes()))?;
        let source = source();
        let state = model.encode(&source, None)?;
        let mut group = c.benchmark_group("seq2seq 2 x 512");
        group.bench_function("source of 32 tokens", |b| {
            b.iter(|| black_box(model.encode(&source, None)));
        });
        group.bench_function("next token", |b| {
            let step = |state: &mut _| black_box(model.step(state, 5, None));
            b.iter_batched_ref(|| state.clone(), step, BatchSize::SmallInput);
        });
        group.finish();
        Ok(())
    }

    /// With attention over all of the source.
    pub(super) fn attentive(c: &mut Criterion) -> Result<(), EngineError> {
        let config = seq2seq_attention::Config {
            source_vocabulary: 8192,
            target_vocabulary: 8192,
            embedding: 256,
            width: 512,
            inner: 512,
            readout: None,
        };
        let model = AttentiveSeq2Seq::load(config, &mut Formula::new(0, config.shapes()))?;
        let source = source();
        let state = model.encode(&source, None)?;
        let mut group = c.benchmark_group("seq2seq with attention, 512");
        group.bench_function("source of 32 tokens", |b| {
            b.iter(|| black_box(model.encode(&source, None)));
        });
        group.bench_function("next token", |b| {
            let step = |state: &mut _| black_box(model.step(state, 5, None));
            b.iter_batched_ref(|| state.clone(), step, BatchSize::SmallInput);
        });
        group.finish();
        Ok(())
    }
}

#[cfg(not(target_family = "wasm"))]
fn main() {
    let mut criterion = criterion::Criterion::default().configure_from_args();
    for result in [
        native::fixed(&mut criterion),
        native::attentive(&mut criterion),
    ] {
        if let Err(error) = result {
            eprintln!("{error}");
        }
    }
    criterion.final_summary();
}

#[cfg(target_family = "wasm")]
fn main() {}
