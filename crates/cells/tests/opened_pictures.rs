//! Cells on models of pictures that a reader has opened: digit-vit by the handle gives what the lesson
//! shows, and ViT-Tiny what PyTorch computes from the same bytes of a photograph.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::path::Path;
use std::sync::Arc;

use cells::lessons::vit::{class_heads, class_token_lens, patch_attention};
use cells::model_cache::ModelCache;
use cells::opened::{self, window_reach};
use cells::picture_model::OpenedPicture;
use cells::text_model::{OpenedSentence, Reader};
use cells::{CellError, CellSpec, Computation, InputValue, Inputs, Progress, jobs};
use engine::formula::{Formula, image};
use engine::model::dinov2::{self, Dinov2};
use engine::model::vit::{Config, Pooling, Vit};
use engine::model::{bert, bert::Bert};
use engine::open::{Files, Labels, OpenedModel};
use engine::parameters::MatrixForm;
use engine::picture::from_rgb8;
use ndarray::Array3;
use serde_json::Value;

/// The picture of the reference.
const CAT: &str = "vit-tiny-patch16-224/reference/chelsea-224.png";

fn defaults(spec: &CellSpec) -> Inputs {
    Inputs::defaults(&(spec.inputs)())
}

/// The result of a cell on an opened model and its picture, and the number of slices that it took.
fn computed<M>(
    spec: &CellSpec,
    inputs: &Inputs,
    opened: &Arc<M>,
) -> Result<(Computation, usize), CellError>
where
    Arc<M>: Into<opened::Model>,
{
    let mut job = opened::start(spec.name, inputs, Arc::clone(opened))?;
    for slices in 1.. {
        if let Progress::Done(computation) = job.advance()? {
            return Ok((*computation, slices));
        }
    }
    unreachable!("a job ends")
}

fn on(spec: &CellSpec, opened: &Arc<OpenedPicture>) -> Computation {
    computed(spec, &defaults(spec), opened).unwrap().0
}

fn asked(query: usize) -> Inputs {
    defaults(&patch_attention::OPENED).with("query", InputValue::Number(query as f64))
}

fn assert_near(found: f64, expected: f64, within: f64, what: &str) {
    let apart = (found - expected).abs();
    assert!(apart < within, "{what}: {found}, not {expected}");
}

/// digit-vit, with the picture that the lesson's cells begin with.
fn digit_vit() -> (ModelCache, Arc<OpenedPicture>) {
    let cache = ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"));
    let vit = cache.opened::<Vit>("digit-vit.safetensors").unwrap();
    let lesson = jobs::compute(
        &patch_attention::SPEC,
        &defaults(&patch_attention::SPEC),
        &cache,
    );
    let picture = lesson.unwrap().tensor("image").unwrap().values.clone();
    let picture: Array3<f32> = picture.mapv(|x| x as f32).into_dimensionality().unwrap();
    (cache, Arc::new(OpenedPicture::new(vit, picture, None)))
}

/// All that the lesson's cells show, to the last bit.
#[test]
fn the_shipped_model_by_the_handle_gives_the_same_bits() {
    let (cache, opened) = digit_vit();
    for query in [0, 18, 49] {
        let given =
            defaults(&patch_attention::SPEC).with("query", InputValue::Number(query as f64));
        let lesson = jobs::compute(&patch_attention::SPEC, &given, &cache).unwrap();
        let (found, _) = computed(&patch_attention::OPENED, &asked(query), &opened).unwrap();
        for tensor in [
            "weights",
            "to_class",
            "largest",
            "rollout",
            "rollout.to_class",
            "query",
        ] {
            assert_eq!(
                found.tensor(tensor),
                lesson.tensor(tensor),
                "{query}: {tensor}"
            );
        }
    }
    for (token, blocks) in [(0, 4), (25, 2), (49, 0)] {
        let of = |spec: &CellSpec| {
            let number = |n: usize| InputValue::Number(n as f64);
            let token = defaults(spec).with("token", number(token));
            token.with("blocks", number(blocks))
        };
        let spec = &class_token_lens::SPEC;
        let lesson = jobs::compute(spec, &of(spec), &cache).unwrap();
        let spec = &class_token_lens::OPENED;
        let (found, _) = computed(spec, &of(spec), &opened).unwrap();
        for tensor in [
            "answer",
            "answer.probability",
            "knows",
            "best",
            "best.probability",
            "patches.class",
            "patches.group",
            "patches.probability",
            "groups.count",
            "others",
            "token",
            "blocks",
            "count",
        ] {
            assert_eq!(found.tensor(tensor), lesson.tensor(tensor), "{tensor}");
        }
        assert_eq!(found.words("depths"), lesson.words("depths"));
    }
    let spec = &class_heads::SPEC;
    let lesson = jobs::compute(spec, &defaults(spec), &cache).unwrap();
    let heads = on(&class_heads::OPENED, &opened);
    for tensor in ["changes", "probabilities", "order", "whole", "turned"] {
        assert_eq!(heads.tensor(tensor), lesson.tensor(tensor), "{tensor}");
    }
    let found = on(&class_token_lens::OPENED, &opened);
    // Without names, classes are numbers.
    assert_eq!(found.words("prediction"), ["class 4"]);
    assert_eq!(found.words("words").len(), 5 * class_token_lens::TOP);
}

/// ViT-Tiny on a picture of the shared data: one that is of its size already is only normalised, as the
/// reference does; another one is scaled and cropped as its configuration says.
fn vit_tiny(picture: &str) -> Option<Arc<OpenedPicture>> {
    let picture = skip::shared(&format!("data/{picture}"))?;
    let folder = skip::shared("data/vit-tiny-patch16-224")?;
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let mut files = Files::new("model.safetensors", read("model.safetensors"));
    let config = ("config.json".to_owned(), read("config.json"));
    files.beside.push(config);
    let opened = engine::open::open(&files, MatrixForm::Stored).unwrap();
    let OpenedModel::Vit(vit) = opened.model else {
        panic!("it is a ViT");
    };
    let (rgb, width, height) = rgb8(&picture);
    let image = from_rgb8(&rgb, width, height).unwrap();
    let image = match (width, height) {
        (224, 224) => (image - 0.5) / 0.5,
        _ => opened.preparation.unwrap().apply(image.view()).unwrap(),
    };
    let names = names()?;
    let labels = Some(Arc::new(Labels::parse(&names).unwrap()));
    Some(Arc::new(OpenedPicture::new(Arc::new(vit), image, labels)))
}

/// The names of the classes, from the list of the shared data.
fn names() -> Option<String> {
    let list = skip::shared("data/imagenet-labels")?;
    Some(std::fs::read_to_string(list.join("imagenet-simple-labels.json")).unwrap())
}

fn rgb8(path: &Path) -> (Vec<u8>, usize, usize) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    bytes.truncate(info.buffer_size());
    (bytes, info.width as usize, info.height as usize)
}

fn reference() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/golden/reference/vit-tiny.json"
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(reference: &Value, name: &str) -> Vec<f64> {
    serde_json::from_value(reference[name].clone()).unwrap()
}

/// Attention, rollout and distances in the photograph of a cat.
#[test]
fn vit_tiny_attends_as_in_pytorch() {
    let Some(opened) = vit_tiny(CAT) else {
        return;
    };
    let reference = reference();
    let within = 1e-4;
    let check = |c: &Computation, (layer, head): (usize, usize), row: &[f64]| {
        let at = |index: &[usize]| c.at("weights", &[&[layer, head], index].concat()).unwrap();
        assert_near(
            c.at("to_class", &[layer, head]).unwrap(),
            row[0],
            within,
            "class",
        );
        for (patch, &expected) in row[1..].iter().enumerate() {
            assert_near(at(&[patch / 14, patch % 14]), expected, within, "a patch");
        }
    };
    let (c, _) = computed(&patch_attention::OPENED, &asked(0), &opened).unwrap();
    assert_eq!(c.tensor("weights").unwrap().shape(), [12, 3, 14, 14]);
    for (n, row) in numbers(&reference, "class_token").chunks(197).enumerate() {
        check(&c, (n / 3, n % 3), row);
    }
    let rolled = numbers(&reference, "rollout");
    assert_near(
        c.at("rollout.to_class", &[]).unwrap(),
        rolled[0],
        within,
        "rollout",
    );
    for (patch, &expected) in rolled[1..].iter().enumerate() {
        let found = c.at("rollout", &[patch / 14, patch % 14]).unwrap();
        assert_near(found, expected, within, "rollout");
    }
    for (n, &expected) in numbers(&reference, "distances").iter().enumerate() {
        let found = c.at("distance", &[n / 3, n % 3]).unwrap();
        assert_near(found, expected, 0.02, "distance in pixels");
    }
    let query = reference["query"].as_u64().unwrap() as usize;
    let (c, _) = computed(&patch_attention::OPENED, &asked(1 + query), &opened).unwrap();
    let layers: Vec<usize> = serde_json::from_value(reference["of_query"].clone()).unwrap();
    for (n, row) in numbers(&reference, "patch").chunks(197).enumerate() {
        check(&c, (layers[n / 3], n % 3), row);
    }
    // What is sent to the page is one query, not all.
    let sent: usize = c.tensors.values().map(|tensor| tensor.values.len()).sum();
    assert!(sent < 10_000, "{sent} numbers");
}

/// The answer after each block, and without each head.
#[test]
fn vit_tiny_knows_the_cat_as_in_pytorch() {
    let Some(opened) = vit_tiny(CAT) else {
        return;
    };
    let reference = reference();
    let c = on(&class_token_lens::OPENED, &opened);
    let classes: Vec<usize> = serde_json::from_value(reference["lens_classes"].clone()).unwrap();
    let names = Labels::parse(&names().unwrap()).unwrap();
    let shares = numbers(&reference, "lens_probabilities");
    for (n, (&class, &share)) in classes.iter().zip(&shares).enumerate() {
        let found = c.at("probabilities", &[n / 3, n % 3]).unwrap();
        assert_near(found, share, 1e-4, "a probability of the lens");
        // Classes that are as likely as each other may change places.
        let is_close = |other: Option<&f64>| other.is_some_and(|o| (o - share).abs() < 2e-4);
        let neighbours = [
            n.checked_sub(1).and_then(|m| shares.get(m)),
            shares.get(n + 1),
        ];
        if n % 3 < 2 && !neighbours.into_iter().any(is_close) {
            assert_eq!(c.words("words")[n], names.name(class), "depth {}", n / 3);
        }
    }
    assert_eq!(c.words("prediction"), ["Egyptian Mau"]);
    assert_eq!(c.at("classes", &[]), Some(1000.0));
    let knows = c.at("knows", &[]).unwrap() as usize;
    println!("the class token knows the cat from block {knows} on");
    for depth in knows..13 {
        assert_eq!(c.words("words")[3 * depth], "Egyptian Mau");
    }

    let (c, slices) = computed(
        &class_heads::OPENED,
        &defaults(&class_heads::OPENED),
        &opened,
    )
    .unwrap();
    // One slice for each head, so that it can be stopped between two.
    assert_eq!(slices, 37);
    let changes = numbers(&reference, "changes");
    for (n, &expected) in changes.iter().enumerate() {
        let (head, class) = (n / 5, n % 5);
        let found = c.at("changes", &[class, head / 3, head % 3]).unwrap();
        assert_near(found, expected, 1e-3, "a change of a logit");
    }
    let order: Vec<usize> = (0..36)
        .map(|n| c.at("order", &[0, n]).unwrap() as usize)
        .collect();
    let first = changes.chunks(5).map(|head| head[0]);
    let least = first.fold(f64::INFINITY, f64::min);
    assert_near(
        changes[5 * order[0]],
        least,
        1e-3,
        "the head that costs most",
    );
    println!("without head {} the logit changes by {least:.3}", order[0]);
}

/// The pictures of the shared data are what they show.
#[test]
fn vit_tiny_names_photographs() {
    for (picture, expected) in [
        (CAT, "Egyptian Mau"),
        ("photos/chelsea.png", "Egyptian Mau"),
        ("photos/coffee.png", "espresso"),
    ] {
        let Some(opened) = vit_tiny(picture) else {
            return;
        };
        let c = on(&class_token_lens::OPENED, &opened);
        assert_eq!(c.words("prediction"), [expected]);
    }
}

/// A Vision Transformer of three layers with two heads, as a formula fills it.
fn small(pooling: Pooling) -> Vit {
    let config = Config {
        width: 12,
        heads: 2,
        layers: 3,
        inner: 20,
        channels: 3,
        patch: 4,
        image: 12,
        classes: 6,
        norm_eps: 1e-6,
        pooling,
        positions: true,
    };
    let shapes = match pooling {
        Pooling::Class => config.shapes(),
        Pooling::Mean => config.shapes_of_patches(),
    };
    Vit::load(config, &mut Formula::new(1, shapes)).unwrap()
}

/// Where no class token comes first, patch 1 is token 0.
#[test]
fn a_model_without_a_class_token_is_asked_by_its_patches() {
    let opened = OpenedPicture::new(Arc::new(small(Pooling::Mean)), image(12, 0), None);
    let opened = Arc::new(opened);
    let ask = |query: usize| {
        let (c, _) = computed(&patch_attention::OPENED, &asked(query), &opened).unwrap();
        c
    };
    let all = &opened.attention().unwrap().weights;
    for query in [1, 5, 9] {
        let c = ask(query);
        for patch in 0..9 {
            let found = c.at("weights", &[2, 1, patch / 3, patch % 3]).unwrap();
            assert_eq!(found, f64::from(all[[2, 1, query - 1, patch]]));
        }
        assert_eq!(c.at("to_class", &[2, 1]), Some(0.0));
    }
    assert_eq!(ask(0).tensor("weights"), ask(1).tensor("weights"));
    // A query that the picture has not is its last patch.
    assert_eq!(ask(4000).tensor("weights"), ask(9).tensor("weights"));
    let lens = on(&class_token_lens::OPENED, &opened);
    assert_eq!(lens.words("depths").len(), 4);
}

/// A model of features shows its heads, and is told that it has no classes.
#[test]
fn a_dinov2_attends_and_has_no_class() {
    let config = dinov2::Config {
        width: 12,
        heads: 2,
        layers: 2,
        inner: 24,
        patch: 4,
        image: 12,
        norm_eps: 1e-6,
    };
    let model = Dinov2::load(config.clone(), &mut Formula::new(3, config.shapes())).unwrap();
    let opened = Arc::new(OpenedPicture::new(Arc::new(model), image(16, 1), None));
    let c = on(&patch_attention::OPENED, &opened);
    assert_eq!(c.tensor("weights").unwrap().shape(), [2, 2, 4, 4]);
    let sum = c.tensor("rollout").unwrap().values.sum() + c.at("rollout.to_class", &[]).unwrap();
    assert_near(sum, 1.0, 1e-5, "rollout");
    for spec in [&class_token_lens::OPENED, &class_heads::OPENED] {
        let why = computed(spec, &defaults(spec), &opened).unwrap_err();
        assert!(
            why.to_string().contains("it gives a vector for each patch"),
            "{why}"
        );
    }
}

/// A head that is off writes nothing: a small model whose heads are all switched off one by one.
#[test]
fn a_sweep_over_heads_is_what_the_engine_gives_without_each() {
    let (vit, picture) = (small(Pooling::Class), image(12, 4));
    let own = vit.forward(picture.view(), None).unwrap();
    let without: Vec<_> = (0..6)
        .map(|head| explain::switched_heads::class_logits(&vit, picture.view(), &[head]).unwrap())
        .collect();
    let opened = Arc::new(OpenedPicture::new(Arc::new(vit), picture, None));
    let c = on(&class_heads::OPENED, &opened);
    let classes = c.words("classes");
    assert_eq!(classes.len(), class_heads::TOP);
    for (n, name) in classes.iter().enumerate() {
        let class: usize = name.trim_start_matches("class ").parse().unwrap();
        for (head, logits) in without.iter().enumerate() {
            let found = c.at("changes", &[n, head / 2, head % 2]).unwrap();
            assert_eq!(found, f64::from(logits[class] - own[class]));
        }
    }
    assert_eq!(c.at("count", &[]), Some(6.0));
    assert_eq!(c.words("answers").len(), 6);
}

#[test]
fn a_model_of_another_kind_is_refused_in_plain_words() {
    let why = |cell: &str, inputs: &Inputs, model: opened::Model| {
        let found = opened::start(cell, inputs, model);
        found.err().unwrap().to_string()
    };
    let picture = Arc::new(OpenedPicture::new(
        Arc::new(small(Pooling::Class)),
        image(12, 0),
        None,
    ));
    let text = &cells::lessons::decoder_only::logit_lens::SPEC;
    let windows = &window_reach::OPENED;
    let found = why(
        windows.name,
        &defaults(windows),
        Arc::clone(&picture).into(),
    );
    assert!(found.contains("attends to all of the picture"), "{found}");
    let found = why(text.name, &defaults(text), picture.into());
    assert!(found.contains("a model that reads text"), "{found}");
    let config = bert::Config {
        vocabulary: 10,
        width: 12,
        heads: 2,
        layers: 1,
        inner: 20,
        context: 8,
        types: 2,
        norm_eps: 1e-12,
    };
    let model = Bert::load(config.clone(), &mut Formula::new(5, config.shapes())).unwrap();
    let reader = Reader::Encoder(Arc::new(OpenedSentence {
        model: Arc::new(model),
        tokenizer: Arc::new(none::Nothing::default()),
    }));
    let spec = &patch_attention::OPENED;
    let found = why(spec.name, &defaults(spec), reader.into());
    assert!(found.contains("a model that reads pictures"), "{found}");
}

/// A vocabulary that is not asked for anything.
mod none {
    use std::borrow::Cow;

    use engine::error::Result;
    use engine::token::tokenizer::{SpecialTokens, Tokenizer};
    use engine::token::vocabulary::Vocabulary;

    pub(crate) struct Nothing(Vocabulary, SpecialTokens);

    impl Default for Nothing {
        fn default() -> Self {
            let vocabulary = Vocabulary::new(vec!["a".to_owned()]).unwrap();
            Self(vocabulary, SpecialTokens::default())
        }
    }

    impl Tokenizer for Nothing {
        fn encode_as(&self, _: &str, _: bool) -> Result<Vec<usize>> {
            Ok(Vec::new())
        }

        fn vocabulary(&self) -> &Vocabulary {
            &self.0
        }

        fn token_bytes(&self, _: usize, _: bool) -> Result<Option<Cow<'_, [u8]>>> {
            Ok(None)
        }

        fn special(&self) -> &SpecialTokens {
            &self.1
        }
    }
}
