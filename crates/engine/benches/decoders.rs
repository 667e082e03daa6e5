//! One step of each decoder at full size (the lessons' and the mixture of experts: smaller): the
//! next token behind 64 others, and those 64 at once. `cargo bench -p engine --bench decoders`

#[cfg(not(target_family = "wasm"))]
mod native {
    use criterion::Criterion;
    use engine::formula::Formula;
    use engine::model::decoder::{Decoder, DecoderExt, Session};
    use engine::model::gpt2::{self, Gpt2};
    use engine::model::image_gpt::{self, ImageGpt};
    use engine::model::llama::{self, Llama};
    use engine::nn::position::rope::Pairing;
    use explain::small_decoder::small_decoder;
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

    /// A Llama of 6 blocks, 384 wide, whose tokens go through 2 of 8 experts.
    pub(super) fn experts(c: &mut Criterion) {
        let sizes = [6, 6, 384, 1024, 8192, 512, 8, 2];
        let names = [
            "layers",
            "heads",
            "width",
            "inner",
            "vocabulary",
            "context",
            "experts",
            "experts_per_token",
        ];
        let config = llama::Config::from_keys(&|key| lookup(&names, &sizes, key), Pairing::Halves);
        let model = config.and_then(|config| {
            let mut source = Formula::new(0, config.shapes());
            Llama::load(config, &mut source)
        });
        match model {
            Ok(model) => steps(c, "llama 6 x 384, 2 of 8 experts", &model),
            Err(error) => eprintln!("experts: {error}"),
        }
    }

    /// ImageGPT-small.
    pub(super) fn image_gpt(c: &mut Criterion) {
        let config = image_gpt::Config {
            vocabulary: 513,
            width: 512,
            heads: 8,
            layers: 24,
            inner: 2048,
            context: 1024,
            norm_eps: 1e-5,
        };
        let mut source = Formula::new(0, image_gpt::shapes(&config));
        match ImageGpt::load(config, &mut source) {
            Ok(model) => steps(c, "image gpt s", &model),
            Err(error) => eprintln!("image gpt: {error}"),
        }
    }

    /// The lessons' small decoder.
    pub(super) fn tiny(c: &mut Criterion) {
        let config = gpt2::Config {
            vocabulary: 64,
            width: 32,
            heads: 4,
            layers: 2,
            inner: 128,
            context: 64,
            norm_eps: 1e-5,
        };
        let ids: Vec<usize> = (0..64).collect();
        match small_decoder(&config, 0) {
            Ok(model) => {
                c.bench_function("small decoder 2 x 32, 64 tokens", |b| {
                    b.iter(|| black_box(model.forward(black_box(&ids), None)));
                });
            }
            Err(error) => eprintln!("small decoder: {error}"),
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
    native::tiny(&mut criterion);
    native::gpt2(&mut criterion);
    native::llama(&mut criterion);
    native::experts(&mut criterion);
    native::image_gpt(&mut criterion);
    criterion.final_summary();
}

#[cfg(target_family = "wasm")]
fn main() {}
