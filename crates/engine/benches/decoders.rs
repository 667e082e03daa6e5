//! One step of each decoder at full size: the next token behind 64 others, and those 64 at once. `cargo bench -p engine --bench decoders`

#[cfg(not(target_family = "wasm"))]
mod native {
    use criterion::Criterion;
    use engine::formula::Formula;
    use engine::model::decoder::{Decoder, Session};
    use engine::model::gpt2::{self, Gpt2};
    use engine::model::llama::{self, Llama};
    use engine::nn::position::rotary::Pairing;
    use std::hint::black_box;

    fn steps(c: &mut Criterion, name: &str, model: &dyn Decoder) {
        let ids: Vec<usize> = (0..64).map(|n| n * 7).collect();
        let mut read = Session::new(model);
        if let Err(error) = read.feed(&ids) {
            eprintln!("{name}: {error}");
            return;
        }
        let mut group = c.benchmark_group(name);
        group.sample_size(10);
        group.bench_function("next token", |b| {
            b.iter(|| {
                read.truncate(ids.len());
                black_box(read.feed(black_box(&[5])))
            });
        });
        group.bench_function("64 tokens at once", |b| {
            b.iter(|| black_box(Session::new(model).feed(black_box(&ids))));
        });
    }

    /// GPT-2 124M.
    pub(super) fn gpt2(c: &mut Criterion) {
        let sizes = [12, 12, 768, 3072, 50_257, 1024];
        let names = ["layers", "heads", "width", "inner", "vocabulary", "context"];
        let config = gpt2::Config::from_keys(&|key| lookup(&names, &sizes, key));
        let model = config.and_then(|config| {
            let mut source = Formula::new(0, config.shapes());
            Gpt2::load(config, &mut source)
        });
        match model {
            Ok(model) => steps(c, "gpt2 124M", &model),
            Err(error) => eprintln!("gpt2: {error}"),
        }
    }

    /// SmolLM2 135M.
    pub(super) fn llama(c: &mut Criterion) {
        let sizes = [30, 9, 3, 576, 1536, 49_152, 8192, 100_000];
        let names = [
            "layers",
            "heads",
            "key_value_heads",
            "width",
            "inner",
            "vocabulary",
            "context",
            "rope_theta",
        ];
        let config = llama::Config::from_keys(&|key| lookup(&names, &sizes, key), Pairing::Halves);
        let model = config.and_then(|config| {
            let mut source = Formula::new(0, config.shapes());
            Llama::load(config, &mut source)
        });
        match model {
            Ok(model) => steps(c, "llama 135M", &model),
            Err(error) => eprintln!("llama: {error}"),
        }
    }

    fn lookup(names: &[&str], sizes: &[u32], key: &str) -> Option<f64> {
        let place = names.iter().position(|&name| name == key)?;
        sizes.get(place).map(|&size| f64::from(size))
    }
}

#[cfg(not(target_family = "wasm"))]
fn main() {
    let mut criterion = criterion::Criterion::default().configure_from_args();
    native::gpt2(&mut criterion);
    native::llama(&mut criterion);
    criterion.final_summary();
}

#[cfg(target_family = "wasm")]
fn main() {}
