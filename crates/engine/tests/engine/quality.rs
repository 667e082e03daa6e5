//! What fewer bits cost: full-size and trained models with packed weights and 8-bit activations
//! beside the same in f32, and a text whose keys and values are kept in half precision.

use engine::formula::Formula;
use engine::model::bert::{self, Bert};
use engine::model::decoder::{Decoder, DecoderExt, Session};
use engine::model::gpt2::{self, Gpt2};
use engine::ndarray::{Array1, Array2, ArrayD, ArrayView1};
use engine::nn::kv_cache::Precision;
use engine::open::{Files, Opened, OpenedModel, open, top};
use engine::parameters::{Compressed, MatrixForm, Parameters, Weight};
use engine::picture::from_rgb8;
use engine::quant::Type;
use engine::sample::{Sampler, Sampling};
use serde_json::Value;
use skip::shared;
use std::path::Path;

use crate::support::safetensors;

/// Root mean square of the error of a row's logits, in units of their standard deviation.
const MOST_ERROR: f32 = 0.05;
/// The same for each type that files have. With one bit less, the error of the weights doubles.
const MOST_ERRORS: [(Type, f32); 10] = [
    (Type::F16, 0.001),
    (Type::Bf16, 0.008),
    (Type::Q8_0, 0.03),
    (Type::Q6K, 0.06),
    (Type::Q5K, 0.12),
    (Type::Q5_1, 0.12),
    (Type::Q5_0, 0.13),
    (Type::Q4K, 0.25),
    (Type::Q4_1, 0.25),
    (Type::Q4_0, 0.25),
];
/// A lead of the first token, in the same units, that must survive.
const LEAD: f32 = 0.3;
/// How far the probability of one of the five most likely classes may move.
const PROBABILITY: f32 = 0.03;
/// How far the probability of any next token may move when keys and values have 16 bits.
const HALF_CACHE: f32 = 0.01;
/// How far the similarity of two sentences may move.
const SIMILARITY: f32 = 0.01;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn best(row: ArrayView1<'_, f32>) -> usize {
    (0..row.len()).fold(0, |best, n| if row[n] > row[best] { n } else { best })
}

/// A source whose matrices are those of a file in one type: packed into it, and then kept as the
/// engine keeps that type.
struct StoredIn<P>(Type, P);

impl<P: Parameters> Parameters for StoredIn<P> {
    engine::forward_description!(self => self.1);

    fn read(&mut self, name: &str) -> engine::Result<ArrayD<f32>> {
        self.1.read(name)
    }

    fn pack(&self, name: &str, matrix: Array2<f32>) -> engine::Result<Weight> {
        Ok(match MatrixForm::In(self.0).pack(name, matrix)? {
            Weight::Packed(stored) => Weight::Packed(stored.fast().unwrap()),
            plain @ Weight::Dense(_) => plain,
        })
    }
}

/// The logits of a GPT-2 whose matrices a file has in this type.
fn gpt2_logits(file: &Value, seed: u64, kind: Type) -> Array2<f32> {
    let numbers = |key: &str| file["hyperparameters"][key].as_f64();
    let config = gpt2::Config::from_keys(&numbers).unwrap();
    let source = Formula::new(seed, config.shapes());
    let model = Gpt2::load(config, &mut StoredIn(kind, source)).unwrap();
    let ids: Vec<usize> = serde_json::from_value(file["ids"].clone()).unwrap();
    model.forward(&ids, None).unwrap()
}

/// The root mean square of the error of a row's logits, in units of their standard deviation.
fn error_of_row(exact: ArrayView1<'_, f32>, packed: ArrayView1<'_, f32>) -> f32 {
    let difference = &exact - &packed;
    let mean_square = difference.mapv(|d| d * d).mean().unwrap();
    mean_square.sqrt() / exact.std(0.0)
}

/// How far the first token of a row leads the second, in units of the row's standard deviation.
fn lead(row: ArrayView1<'_, f32>) -> f32 {
    let first = best(row);
    let others = (0..row.len()).filter(|&n| n != first).map(|n| row[n]);
    (row[first] - others.fold(f32::NEG_INFINITY, f32::max)) / row.std(0.0)
}

#[test]
fn gpt2_keeps_its_logits() {
    let Some(path) = shared("reference/gpt2.json") else {
        return;
    };
    let file = json(&path);
    let own = file["seed"].as_u64().unwrap();
    for seed in [own, own + 1, own + 2] {
        let exact = gpt2_logits(&file, seed, Type::F32);
        let packed = gpt2_logits(&file, seed, Type::Q8_0);
        assert_eq!(exact.nrows(), 16);
        let (mut squares, mut worst, mut led) = (0.0, 0.0f32, 0);
        for (exact, packed) in exact.outer_iter().zip(packed.outer_iter()) {
            let error = error_of_row(exact, packed);
            squares += error * error;
            worst = worst.max(error);
            if lead(exact) > LEAD {
                led += 1;
                assert_eq!(best(packed), best(exact), "seed {seed}");
            }
        }
        let error = (squares / 16.0).sqrt();
        println!(
            "GPT-2 shape, seed {seed}: Q8_0 is off by {:.2} % of a standard deviation, {:.2} % in the worst row; {led} of 16 rows have a clear first token, kept",
            100.0 * error,
            100.0 * worst
        );
        assert!(error <= MOST_ERROR, "seed {seed}: {error}");
    }
}

/// What each type of weights costs, as a file in it is read: with 8 bits of the activations for
/// quantized types and all of them for numbers of 16 bits.
#[test]
fn each_type_moves_the_logits_no_further_than_its_bits_allow() {
    let Some(path) = shared("reference/gpt2.json") else {
        return;
    };
    let file = json(&path);
    let seed = file["seed"].as_u64().unwrap();
    let exact = gpt2_logits(&file, seed, Type::F32);
    println!(
        "type, bits a weight in the file, error of the logits in % of their standard deviation, first tokens kept"
    );
    for (kind, most) in MOST_ERRORS {
        let packed = gpt2_logits(&file, seed, kind);
        let rows = || exact.outer_iter().zip(packed.outer_iter());
        let squares: f32 = rows().map(|(a, b)| error_of_row(a, b).powi(2)).sum();
        let error = (squares / exact.nrows() as f32).sqrt();
        let kept = rows().filter(|(a, b)| best(*a) == best(*b)).count();
        let bits = 8.0 * kind.block_bytes() as f64 / kind.block_len() as f64;
        println!(
            "{}, {bits}, {:.3}, {kept} of {}",
            kind.name(),
            100.0 * error,
            exact.nrows()
        );
        assert!(error > 0.0 && error <= most, "{}: {error}", kind.name());
    }
}

fn opened(folder: &Path, kind: Type) -> Opened {
    let mut files = Files::new(
        "model.safetensors",
        std::fs::read(folder.join("model.safetensors")).unwrap(),
    );
    files.beside.push((
        "config.json".to_owned(),
        std::fs::read(folder.join("config.json")).unwrap(),
    ));
    open(&files, kind.into()).unwrap()
}

#[test]
fn vit_tiny_keeps_its_classes() {
    let Some(folder) = shared("data/vit-tiny-patch16-224") else {
        return;
    };
    let models = [Type::F32, Type::Q8_0].map(|kind| opened(&folder, kind));
    let classes = |model: &Opened, name: &str| {
        let file = std::fs::File::open(folder.join(format!("reference/{name}-224.png"))).unwrap();
        let mut reader = png::Decoder::new(std::io::BufReader::new(file))
            .read_info()
            .unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        bytes.truncate(info.buffer_size());
        let image = (from_rgb8(&bytes, 224, 224).unwrap() - 0.5) / 0.5;
        let OpenedModel::Vit(model) = &model.model else {
            panic!("no ViT");
        };
        top(&model.forward(image.view(), None).unwrap(), 1000)
    };
    let mut worst = 0.0f32;
    for name in [
        "astronaut",
        "chelsea",
        "china",
        "coffee",
        "flower",
        "rocket",
    ] {
        let [exact, packed] = [0, 1].map(|n: usize| classes(&models[n], name));
        assert_eq!(exact[0].0, packed[0].0, "{name}");
        for &(class, probability) in &exact[..5] {
            let other = packed.iter().find(|found| found.0 == class).unwrap().1;
            worst = worst.max((probability - other).abs());
        }
    }
    println!(
        "ViT-Tiny: Q8_0 keeps the first class of six pictures and moves no top-5 probability by more than {worst:.4}"
    );
    assert!(worst <= PROBABILITY);
}

#[test]
fn minilm_keeps_its_similarities() {
    let Some(folder) = shared("data/all-minilm-l6-v2") else {
        return;
    };
    let numbers = json(&folder.join("config.json"));
    let rows: Vec<Vec<usize>> =
        serde_json::from_value(json(&folder.join("reference.json"))["token_ids"].clone()).unwrap();
    let sentences = |kind: Type| -> Vec<Array1<f32>> {
        let config = bert::Config::from_keys(&|key| numbers[key].as_f64()).unwrap();
        let source = safetensors::parameters(&folder.join("model.safetensors"));
        let model = Bert::load(config, &mut Compressed::new(source, kind)).unwrap();
        rows.iter()
            .map(|ids| model.sentence(ids, None).unwrap())
            .collect()
    };
    let (exact, packed) = (sentences(Type::F32), sentences(Type::Q8_0));
    let mut worst = 0.0f32;
    for a in 0..rows.len() {
        for b in 0..a {
            let moved = exact[a].dot(&exact[b]) - packed[a].dot(&packed[b]);
            worst = worst.max(moved.abs());
        }
    }
    println!(
        "MiniLM: Q8_0 moves no similarity of {} sentences by more than {worst:.4}",
        rows.len()
    );
    assert!(rows.len() > 1 && worst <= SIMILARITY);
}

/// The probabilities after each token of a text that is read token by token.
fn read(model: &dyn Decoder, ids: &[usize], kept: Precision) -> Array2<f32> {
    let mut session = Session::in_precision(model, kept);
    let mut rows = Array2::zeros((ids.len(), model.vocabulary()));
    for (&id, mut row) in ids.iter().zip(rows.outer_iter_mut()) {
        row.assign(&session.feed(&[id]).unwrap());
        engine::kernel::softmax(row.as_slice_mut().unwrap());
    }
    let bytes = session.size_bytes();
    let number = match kept {
        Precision::Single => 4,
        Precision::Half => 2,
    };
    assert!(bytes > 0 && bytes.is_multiple_of(ids.len() * number));
    rows
}

#[test]
fn half_precision_of_keys_and_values_keeps_the_next_token() {
    let shipped = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../public/models/tiny-gpt.safetensors"
    );
    let mut models = vec![("tiny-gpt", Path::new(shipped).to_owned(), 96)];
    if let Some(path) = shared("data/stories260K/stories260K-f32.gguf") {
        models.push(("stories260K", path, 256));
    }
    for (name, path, length) in models {
        let file_name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let files = Files::new(file_name, std::fs::read(path).unwrap());
        let opened = open(&files, MatrixForm::default()).unwrap();
        let model = opened.model.decoder().unwrap();
        // A text of the model's own after words that it knows: a token that no training has seen is
        // followed by any other such.
        let sampling = Sampling {
            temperature: 1.0,
            ..Sampling::default()
        };
        let mut sampler = Sampler::new(sampling, 7).unwrap();
        let tokenizer = opened.tokenizer.as_ref().unwrap();
        let mut ids = tokenizer.encode("Once upon a time").unwrap();
        let (mut session, mut read_so_far) = (Session::new(model), 0);
        while ids.len() < length {
            let scores = session.feed(&ids[read_so_far..]).unwrap();
            read_so_far = ids.len();
            ids.push(sampler.next(scores.view(), &ids).unwrap());
        }
        let single = read(model, &ids, Precision::Single);
        let half = read(model, &ids, Precision::Half);
        let moved = (&single - &half)
            .iter()
            .fold(0.0f32, |most, d| most.max(d.abs()));
        // The model is sure of some of the tokens, and not of others.
        let likely = single.outer_iter().map(|row| row[best(row)]);
        let sure = likely.filter(|most| *most > 0.5).count();
        assert!(sure > length / 8 && sure < length, "{name}: sure of {sure}");
        println!(
            "{name}: keys and values in half precision move no probability of {length} next tokens by more than {moved:.1e}"
        );
        // They are rounded, and that is all.
        assert!(moved > 0.0 && moved <= HALF_CACHE, "{name}: {moved}");
        for (single, half) in single.outer_iter().zip(half.outer_iter()) {
            let (first, second) = (best(single), best(half));
            assert!(single[first] - single[second] <= 2.0 * HALF_CACHE, "{name}");
        }
    }
}
