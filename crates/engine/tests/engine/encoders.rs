//! Encoders at toy sizes: padding, other names, other resolutions.

use engine::formula::{Formula, image};
use engine::model::decoder::DecoderExt;
use engine::model::{bert, dinov2, image_gpt, swin, vit};
use engine::ndarray::s;
use engine::nn::packed::Packed;
use engine::nn::position::interpolate::bicubic;
use engine::parameters::{Memory, Parameters};
use engine::trace::Recorder;

use crate::golden::file::{Case, case};
use crate::support::small_encoders::{small_bert, small_swin, small_vit};

/// f32 against float64, through two blocks, with weights of size 1.
const F32_BLOCKS_TOLERANCE: f32 = 2e-5;

fn source(case: &Case, shapes: Vec<(String, Vec<usize>)>) -> Memory {
    let mut source = Memory::default();
    for (name, _) in shapes {
        source.insert(name.clone(), case.any(&name));
    }
    source
}

/// A source with the parameters of `from` under the names that `rename` gives.
fn renamed(from: &mut dyn Parameters, rename: impl Fn(&str) -> String) -> Memory {
    let mut to = Memory::default();
    for name in from.names() {
        to.insert(rename(&name), from.read(&name).unwrap());
    }
    to
}

fn replaced(name: &str, pairs: &[(&str, &str)]) -> String {
    let apply = |name: String, (from, to): &(&str, &str)| name.replace(from, to);
    pairs.iter().fold(name.to_owned(), apply)
}

#[test]
fn padding_is_not_seen_wherever_it_stands() {
    let c = case("encoders", "bert");
    let model = bert::Bert::load(small_bert(), &mut source(&c, small_bert().shapes())).unwrap();
    let ids = c.two("ids").mapv(|id| id as usize);
    let mask = c.two("mask").mapv(|see| see == 1.0);
    let logits = model.forward_batch(ids.view(), mask.view()).unwrap();
    c.check("logits", logits.view().into_dyn(), F32_BLOCKS_TOLERANCE);
    let sentences = model.sentences(ids.view(), mask.view()).unwrap();
    c.check(
        "sentences",
        sentences.view().into_dyn(),
        F32_BLOCKS_TOLERANCE,
    );

    let tokens = Packed::new(ids.view(), mask.view()).unwrap();
    let types = c.two("types");
    let types: Vec<usize> = types
        .iter()
        .zip(&mask)
        .filter(|(_, see)| **see)
        .map(|(&t, _)| t as usize)
        .collect();
    let hidden = model.hidden(&tokens, Some(&types), &mut None).unwrap();
    let hidden = tokens.unpack(hidden.view()).unwrap();
    c.check("hidden", hidden.view().into_dyn(), F32_BLOCKS_TOLERANCE);

    assert!(model.forward(&[0; 8], None).is_err());
    assert!(model.forward(&[13], None).is_err());
    assert!(model.sentence(&[], None).is_err());
    assert!(model.hidden(&tokens, Some(&[2; 11]), &mut None).is_err());
}

#[test]
fn names_without_the_model_in_front_are_known() {
    let mut full = Formula::new(3, small_bert().shapes());
    let mut bare = renamed(&mut full, |name| replaced(name, &[("bert.", "")]));
    let a = bert::Bert::load(small_bert(), &mut full).unwrap();
    let b = bert::Bert::load(small_bert(), &mut bare).unwrap();
    let ids = [1, 12, 7];
    assert_eq!(
        a.forward(&ids, None).unwrap(),
        b.forward(&ids, None).unwrap()
    );

    let mut full = Formula::new(3, small_swin().shapes());
    let mut bare = renamed(&mut full, |name| replaced(name, &[("swinv2.", "")]));
    let a = swin::Swin::load(small_swin(), &mut full).unwrap();
    let b = swin::Swin::load(small_swin(), &mut bare).unwrap();
    let picture = image(16, 1);
    assert_eq!(
        a.forward(picture.view(), None).unwrap(),
        b.forward(picture.view(), None).unwrap()
    );
}

/// From timm's names, without the packed projections, to those of Hugging Face's files.
const HUB: &[(&str, &str)] = &[
    ("patch_embed.proj", "embeddings.patch_embeddings.projection"),
    ("pos_embed", "embeddings.position_embeddings"),
    ("cls_token", "embeddings.cls_token"),
    ("blocks.", "encoder.layer."),
    ("norm1", "layernorm_before"),
    ("norm2", "layernorm_after"),
    ("attn.proj", "attention.output.dense"),
    ("mlp.fc1", "intermediate.dense"),
    ("mlp.fc2", "output.dense"),
];

#[test]
fn timm_and_hugging_face_name_the_same_vit() {
    let config = small_vit(vit::Pooling::Class);
    let mut timm = Formula::new(4, config.shapes());
    let mut hub = Memory::default();
    for name in timm.names() {
        let tensor = timm.read(&name).unwrap();
        if let Some((block, kind)) = name.split_once("attn.qkv.") {
            for (n, part) in ["query", "key", "value"].into_iter().enumerate() {
                let block = replaced(block, HUB);
                let rows = tensor.slice_each_axis(|axis| match axis.axis.index() {
                    0 => (8 * n..8 * (n + 1)).into(),
                    _ => (..).into(),
                });
                hub.insert(
                    format!("vit.{block}attention.attention.{part}.{kind}"),
                    rows.to_owned(),
                );
            }
        } else if let Some(kind) = name.strip_prefix("head.") {
            hub.insert(format!("classifier.{kind}"), tensor);
        } else if let Some(kind) = name.strip_prefix("norm.") {
            hub.insert(format!("vit.layernorm.{kind}"), tensor);
        } else {
            hub.insert(format!("vit.{}", replaced(&name, HUB)), tensor);
        }
    }
    let a = vit::Vit::load(config.clone(), &mut timm).unwrap();
    let b = vit::Vit::load(config, &mut hub).unwrap();
    let picture = image(6, 1);
    let (a, b) = (
        a.forward(picture.view(), None).unwrap(),
        b.forward(picture.view(), None).unwrap(),
    );
    assert!((a - b).iter().all(|d| d.abs() < 1e-6));
}

#[test]
fn dinov2_has_the_names_of_its_files_too() {
    let config = dinov2::Config {
        width: 8,
        heads: 2,
        layers: 2,
        inner: 12,
        patch: 2,
        image: 6,
        norm_eps: 1e-6,
    };
    let mut new = Formula::new(4, config.shapes());
    let mut hub = renamed(&mut new, |name| {
        let name = replaced(name, &[("attention.o_proj", "attention.output.dense")]);
        let parts = [
            ("q_proj", "attention.query"),
            ("k_proj", "attention.key"),
            ("v_proj", "attention.value"),
        ];
        format!("dinov2.{}", replaced(&name, &parts))
    });
    let a = dinov2::Dinov2::load(config.clone(), &mut new).unwrap();
    let b = dinov2::Dinov2::load(config, &mut hub).unwrap();
    let picture = image(8, 1);
    assert_eq!(
        a.forward(picture.view(), None).unwrap(),
        b.forward(picture.view(), None).unwrap()
    );
}

#[test]
fn pictures_need_not_be_square() {
    let c = case("encoders", "vit");
    let config = small_vit(vit::Pooling::Class);
    let mut all = Memory::default();
    for (name, _) in config.shapes() {
        let layers = [
            ("blocks.", "layers."),
            ("patch_embed.proj", "embeddings.patch_embeddings.projection"),
        ];
        let name = replaced(
            &replaced(&name, &layers),
            &[("pos_embed", "embeddings.position_embeddings")],
        );
        let name = replaced(
            &name,
            &[("norm1", "layernorm_before"), ("norm2", "layernorm_after")],
        );
        let name = replaced(
            &name,
            &[
                ("cls_token", "embeddings.cls_token"),
                ("attn.proj", "attention.o_proj"),
            ],
        );
        let names = match (name.strip_prefix("head."), name.strip_prefix("norm.")) {
            (Some(kind), _) => vec![format!("classifier.{kind}")],
            (_, Some(kind)) => vec![format!("vit.layernorm.{kind}")],
            _ if name.contains("attn.qkv") => ["q", "k", "v"]
                .map(|part| {
                    format!(
                        "vit.{}",
                        name.replace("attn.qkv", &format!("attention.{part}_proj"))
                    )
                })
                .to_vec(),
            _ => vec![format!("vit.{name}")],
        };
        for name in names {
            all.insert(name.clone(), c.any(&name));
        }
    }
    let model = vit::Vit::load(config, &mut all).unwrap();
    let logits = model.forward(c.three("image").view(), None).unwrap();
    c.check("logits", logits.view().into_dyn(), F32_BLOCKS_TOLERANCE);
}

#[test]
fn mean_pooling_reads_the_patches() {
    let config = small_vit(vit::Pooling::Mean);
    let model = vit::Vit::load(config.clone(), &mut Formula::new(4, config.shapes())).unwrap();
    let mut seen = Recorder::default();
    model.forward(image(6, 1).view(), Some(&mut seen)).unwrap();
    let hidden = seen.get("norm").unwrap();
    let patches = hidden
        .slice(s![1.., ..])
        .mean_axis(engine::ndarray::Axis(0))
        .unwrap();
    let pooled = seen.get("pooled").unwrap();
    assert!(
        (&patches.into_dyn() - pooled)
            .iter()
            .all(|d| d.abs() < 1e-6)
    );

    // Without a class token the table of positions is one row shorter.
    let shapes = config
        .shapes()
        .into_iter()
        .filter(|(name, _)| name != "cls_token");
    let shapes = shapes.map(|(name, shape)| match name.as_str() {
        "pos_embed" => (name, vec![1, 9, 8]),
        _ => (name, shape),
    });
    let model = vit::Vit::load(config, &mut Formula::new(4, shapes)).unwrap();
    assert_eq!(
        model.hidden(image(6, 1).view(), &mut None).unwrap().dim(),
        (9, 8)
    );
}

#[test]
fn swin_with_biases_trained_at_another_window() {
    let c = case("encoders", "swin");
    let model = swin::Swin::load(small_swin(), &mut source(&c, small_swin().shapes())).unwrap();
    let logits = model.forward(c.three("image").view(), None).unwrap();
    c.check("logits", logits.view().into_dyn(), 1e-4);
    assert!(model.forward(image(12, 0).view(), None).is_err());
    let odd = swin::Config {
        window: 3,
        ..small_swin()
    };
    assert!(swin::Swin::load(odd.clone(), &mut Formula::new(0, odd.shapes())).is_err());
}

#[test]
fn stretched_tables() {
    let c = case("encoders", "bicubic");
    let table = c.two("table");
    for (name, (rows, columns)) in [("larger", (7, 9)), ("smaller", (2, 3)), ("mixed", (3, 6))] {
        let found = bicubic(table.view(), (5, 4), (rows, columns)).unwrap();
        let found = found.into_shape_with_order((rows, columns, 3)).unwrap();
        c.check(name, found.view().into_dyn(), 1e-6);
    }
}

#[test]
fn image_gpt_as_transformers() {
    let c = case("encoders", "image_gpt");
    let config = image_gpt::Config {
        vocabulary: 9,
        width: 8,
        heads: 2,
        layers: 2,
        inner: 32,
        context: 16,
        norm_eps: 1e-5,
    };
    let mut parameters = source(&c, image_gpt::shapes(&config));
    let model = image_gpt::ImageGpt::load(config, &mut parameters).unwrap();
    let ids: Vec<usize> = c.one("ids").iter().map(|&id| id as usize).collect();
    let logits = model.forward(&ids, None).unwrap();
    c.check(
        "logits",
        logits.slice(s![.., ..8]).into_dyn(),
        F32_BLOCKS_TOLERANCE,
    );
}
