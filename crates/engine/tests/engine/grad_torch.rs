//! Gradients and steps of the optimiser against PyTorch's.

use engine::Result;
use engine::grad::{AdamW, Gradients, Settings, gradients};
use engine::model::encoder_decoder::EncoderDecoder;
use engine::model::transformer::{Config, Transformer};
use engine::ndarray::{Array1, Array2, ArrayD, IxDyn};
use engine::nn::compute::Compute;
use engine::nn::gru::GruCell;
use engine::nn::packed::Packed;
use engine::nn::picture_tokens::{PictureTokens, load_patches};
use engine::parameters::{Memory, Weight};
use engine::trainable::{self, Kind, Trainable, Visit};

use crate::golden::file::{Case, case};
use crate::gradients::check::Bag;

/// f32 through a Transformer of two blocks and back, gradients of about 1.
const TRANSFORMER_TOLERANCE: f32 = 2e-5;
/// A few products and sigmoids and back, gradients of some units.
const STEP_TOLERANCE: f32 = 5e-6;

fn source(case: &Case, names: &[&str]) -> Memory {
    let mut memory = Memory::default();
    for name in names {
        memory.insert(*name, case.any(name));
    }
    memory
}

/// Compares the gradients of `parts`, one after the other, with that of PyTorch's parameter `name`.
#[track_caller]
fn same(case: &Case, name: &str, found: &Gradients, parts: &[&str], tolerance: f32) {
    let name = format!("grad.{name}");
    let shape = case.any(&name).shape().to_vec();
    let all: Vec<f32> = parts
        .iter()
        .flat_map(|part| {
            found
                .get(part)
                .unwrap_or_else(|| panic!("no gradient {part}"))
        })
        .copied()
        .collect();
    let all = ArrayD::from_shape_vec(IxDyn(&shape), all).unwrap();
    case.check(&name, all.view(), tolerance);
}

#[test]
fn a_transformer_with_padding_smoothing_and_ignored_places() {
    let c = case("gradients", "transformer");
    let config = Config {
        vocabulary: 7,
        width: 8,
        heads: 2,
        inner: 12,
        encoder_layers: 1,
        decoder_layers: 1,
        norm_eps: 1e-5,
    };
    let shapes = config.shapes();
    let names: Vec<&str> = shapes.iter().map(|(name, _)| name.as_str()).collect();
    let mut model = Transformer::load(config, &mut source(&c, &names)).unwrap();
    // PyTorch's batch is padded; ours has no padding to compute.
    let source = Packed::many(vec![3, 1, 4, 1, 5, 2], vec![4, 2]).unwrap();
    let target = Packed::many(vec![0, 5, 2, 0, 6], vec![3, 2]).unwrap();
    let answers = [Some(5), Some(2), Some(1), Some(6), None];
    for settings in [Settings::default(), Settings::reference()] {
        let (loss, found) = gradients(&mut model, &settings, |model, tape| {
            let logits = model.run(tape, &source, &target)?;
            tape.cross_entropy(&logits, &answers, 0.1)
        })
        .unwrap();
        assert!((loss - c.one("loss")[0]).abs() < TRANSFORMER_TOLERANCE);
        let mut compared = 0;
        for name in &names {
            let parts = match name.split_once("in_proj_") {
                Some((place, part)) => ["q", "k", "v"]
                    .map(|n| format!("{place}{n}_proj.{part}"))
                    .to_vec(),
                None => vec![(*name).to_owned()],
            };
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            same(&c, name, &found, &parts, TRANSFORMER_TOLERANCE);
            compared += parts.len();
        }
        assert_eq!(compared, found.iter().count());
    }
}

struct Cell(GruCell);

impl Trainable for Cell {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.0.parameters("gru", "l0", visit)
    }
}

#[test]
fn a_step_of_a_gru() {
    let c = case("gradients", "gru_step");
    let parts = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"];
    let mut memory = Memory::default();
    for part in parts {
        memory.insert(format!("gru.{part}_l0"), c.any(part));
    }
    let mut cell = Cell(GruCell::load(&mut memory, "gru", "l0", 4, 6).unwrap());
    let (_, found) = gradients(&mut cell, &Settings::default(), |cell, tape| {
        let (x, h) = (
            tape.constant(c.two("x").view()),
            tape.constant(c.two("h").view()),
        );
        let next = cell.0.next_batch(tape, &x, &h)?;
        tape.weighted_sum(&next, c.two("weights").as_slice().unwrap())
    })
    .unwrap();
    for part in parts {
        same(
            &c,
            part,
            &found,
            &[&format!("gru.{part}_l0")],
            STEP_TOLERANCE,
        );
    }
}

struct Tokens(PictureTokens);

impl Trainable for Tokens {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let PictureTokens {
            patches,
            class,
            positions,
            ..
        } = &mut self.0;
        patches.parameters("proj", visit)?;
        let positions = positions.as_mut().unwrap();
        trainable::array(positions, "pos_embed", Kind::Table, visit)?;
        trainable::array(class.as_mut().unwrap(), "cls_token", Kind::Table, visit)
    }
}

#[test]
fn a_patch_embedding() {
    let c = case("gradients", "patches");
    let flat = |name: &str| Array1::from_iter(c.any(name));
    let positions = Array2::from_shape_vec((5, 5), flat("pos_embed").to_vec()).unwrap();
    let mut source = source(&c, &["proj.weight", "proj.bias"]);
    let mut tokens = Tokens(PictureTokens {
        patch: 2,
        patches: load_patches(&mut source, "proj", 5, 3, 2).unwrap(),
        class: Some(flat("cls_token")),
        positions: Some(positions),
    });
    let (_, found) = gradients(&mut tokens, &Settings::default(), |tokens, tape| {
        let x = tokens.0.run(tape, c.four("images").view())?;
        let y = tape.tanh(x);
        tape.weighted_sum(&y, c.three("weights").as_slice().unwrap())
    })
    .unwrap();
    for name in ["proj.weight", "proj.bias", "cls_token", "pos_embed"] {
        same(&c, name, &found, &[name], STEP_TOLERANCE);
    }
}

#[test]
fn adamw_with_clipping() {
    let c = case("gradients", "adamw");
    let mut bag = Bag {
        weights: vec![Weight::Dense(c.two("w0"))],
        vectors: vec![c.one("v0")],
    };
    let mut optimiser = AdamW {
        beta_2: 0.98,
        eps: 1e-6,
        decay: 0.1,
        ..AdamW::default()
    };
    for n in 0..5 {
        let slope = |name: &str| c.any(&format!("grad{n}.{name}"));
        // A loss that has just these gradients.
        let (_, mut found) = gradients(&mut bag, &Settings::default(), |bag, tape| {
            let w = tape.lookup(bag.table(0), &[0, 1, 2])?;
            let w = tape.weighted_sum(&w, slope("w0").as_slice().unwrap())?;
            let ones = tape.constant(Array2::ones((1, 4)).view());
            let scaled = tape.scale_columns(ones, &bag.vectors[0])?;
            let v = tape.weighted_sum(&scaled, slope("v0").as_slice().unwrap())?;
            tape.add(w, &v)
        })
        .unwrap();
        let norm = found.clip(3.5);
        assert!((norm - c.one("norms")[n]).abs() < 1e-5);
        assert!(found.norm() <= 3.5001);
        optimiser.step(&mut bag, &found, 0.02).unwrap();
    }
    c.check("end.w0", bag.table(0).view().into_dyn(), 1e-6);
    c.check("end.v0", bag.vectors[0].view().into_dyn(), 1e-6);
    // Another model's moments are refused.
    let mut other = Bag::new(&[[2, 2]], &[]);
    let (_, found) = gradients(&mut other, &Settings::default(), |bag, tape| {
        let w = tape.lookup(bag.table(0), &[0])?;
        tape.weighted_sum(&w, &[1.0, 1.0])
    })
    .unwrap();
    assert!(optimiser.step(&mut other, &found, 0.02).is_err());
}
