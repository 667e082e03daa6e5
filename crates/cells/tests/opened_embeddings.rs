//! Cells on the first step of an opened Vision Transformer: its learned positions, and the filters that turn
//! patches into tokens.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::sync::Arc;

use cells::lessons::positions_2d::position_similarity;
use cells::model_cache::ModelCache;
use cells::opened::{self, patch_filters};
use cells::picture_model::OpenedPicture;
use cells::{CellError, CellSpec, Computation, InputValue, Inputs, Progress};
use engine::formula::{Formula, image};
use engine::model::dinov2::{self, Dinov2};
use engine::model::vit::Vit;
use engine::trace::Recorder;
use ndarray::{Array2, Array3, Axis, Slice};

fn shipped() -> ModelCache {
    ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"))
}

fn defaults(spec: &CellSpec) -> Inputs {
    Inputs::defaults(&(spec.inputs)())
}

/// The result of a cell on an opened model and its picture, computed in one slice.
fn computed(
    spec: &CellSpec,
    inputs: &Inputs,
    opened: &Arc<OpenedPicture>,
) -> Result<Computation, CellError> {
    let mut job = opened::start(spec.name, inputs, Arc::clone(opened))?;
    match job.advance()? {
        Progress::Done(computation) => Ok(*computation),
        Progress::Working(_) => unreachable!("one slice"),
    }
}

fn assert_near(found: f64, expected: f64, within: f64, what: &str) {
    let apart = (found - expected).abs();
    assert!(apart < within, "{what}: {found}, not {expected}");
}

/// A DINOv2 of 3 x 3 positions that reads a picture of 4 x 4 patches: its table is stretched.
fn small_dinov2() -> (Dinov2, Array3<f32>) {
    let config = dinov2::Config {
        width: 12,
        heads: 2,
        layers: 1,
        inner: 24,
        patch: 4,
        image: 12,
        norm_eps: 1e-6,
    };
    let model = Dinov2::load(config.clone(), &mut Formula::new(3, config.shapes())).unwrap();
    (model, image(16, 1))
}

/// Each map is the similarity of the vectors that the model adds to its patches.
#[test]
fn positions_are_compared_as_the_model_adds_them() {
    let spec = &position_similarity::OPENED;
    let (model, picture) = small_dinov2();
    let mut seen = Recorder::default();
    let tokens = model.tokens();
    tokens
        .forward(picture.view(), &mut Some(&mut seen))
        .unwrap();
    let table = seen.get("positions").unwrap().clone();
    let table: Array2<f32> = table.into_dimensionality().unwrap();
    assert_eq!(table.dim(), (17, 12));
    let opened = Arc::new(OpenedPicture::new(Arc::new(model), picture, None));
    let chosen = defaults(spec).with("chosen", InputValue::Number(6.0));
    let c = computed(spec, &chosen, &opened).unwrap();
    assert_eq!(
        (c.at("chosen", &[]), c.at("side", &[])),
        (Some(6.0), Some(4.0))
    );
    let length = |row: usize| table.row(row).dot(&table.row(row)).sqrt();
    for other in 0..16 {
        let dot = table.row(7).dot(&table.row(1 + other));
        let expected = f64::from(dot / (length(7) * length(1 + other)));
        let found = c.at("map", &[other / 4, other % 4]).unwrap();
        assert_near(found, expected, 1e-5, "similarity");
        // The chosen map lies where the patch does.
        let place = [0, 4 + other / 4, 8 + other % 4];
        assert_eq!(c.at("maps", &place), Some(found));
    }
    // The last patch, whatever is asked.
    let far = defaults(spec).with("chosen", InputValue::Number(4000.0));
    let c = computed(spec, &far, &opened).unwrap();
    assert_eq!(c.at("chosen", &[]), Some(15.0));
}

/// For a picture of the size of its training, a model's table is compared as it is.
#[test]
fn a_table_for_its_own_size_is_not_stretched() {
    let vit = shipped().opened::<Vit>("digit-vit.safetensors").unwrap();
    let table = vit.tokens().positions.clone().unwrap();
    let patches = table.slice_axis(Axis(0), Slice::from(1..));
    let alike = explain::similarity::cosine_rows(patches, patches).unwrap();
    let picture = image(28, 0);
    let grey = picture.slice_axis(Axis(0), Slice::from(..1)).to_owned();
    let opened = Arc::new(OpenedPicture::new(vit, grey, None));
    let spec = &position_similarity::OPENED;
    let chosen = defaults(spec).with("chosen", InputValue::Number(24.0));
    let c = computed(spec, &chosen, &opened).unwrap();
    for other in 0..49 {
        let found = c.at("map", &[other / 7, other % 7]).unwrap();
        assert_near(found, f64::from(alike[[24, other]]), 1e-6, "similarity");
    }
}

/// A model without a table of positions is told so; its filters are shown all the same.
#[test]
fn a_model_without_positions_has_none_to_compare() {
    let picture = image(28, 0)
        .slice_axis(Axis(0), Slice::from(..1))
        .to_owned();
    let bag = shipped().opened::<Vit>("digit-vit-nopos.safetensors");
    let opened = Arc::new(OpenedPicture::new(bag.unwrap(), picture, None));
    let spec = &position_similarity::OPENED;
    let why = computed(spec, &defaults(spec), &opened).unwrap_err();
    assert!(
        why.to_string().contains("a learned table of positions"),
        "{why}"
    );
    let c = computed(
        &patch_filters::OPENED,
        &defaults(&patch_filters::OPENED),
        &opened,
    )
    .unwrap();
    assert_eq!(c.tensor("gallery").unwrap().shape(), [1, 32, 32]);
}

/// The filters are those of the patch embedding, the largest first, and the response is the number that
/// the embedding holds.
#[test]
fn filters_give_the_numbers_of_the_embedding() {
    let spec = &patch_filters::OPENED;
    let (model, picture) = small_dinov2();
    let filters = model
        .tokens()
        .patches
        .weight
        .rows(&(0..12).collect::<Vec<_>>())
        .unwrap();
    let mut seen = Recorder::default();
    let tokens = model.tokens();
    tokens
        .forward(picture.view(), &mut Some(&mut seen))
        .unwrap();
    let embedding = seen.get("embedding").unwrap().clone();
    let opened = Arc::new(OpenedPicture::new(Arc::new(model), picture, None));
    let mut norms = Vec::new();
    for chosen in 0..12 {
        let inputs = defaults(spec).with("chosen", InputValue::Number(chosen as f64));
        let c = computed(spec, &inputs, &opened).unwrap();
        let dimension = c.at("dimension", &[]).unwrap() as usize - 1;
        let row = filters.row(dimension);
        assert_near(
            c.at("norm", &[]).unwrap(),
            f64::from(row.dot(&row).sqrt()),
            1e-5,
            "norm",
        );
        norms.push(c.at("norm", &[]).unwrap());
        for patch in 0..16 {
            let found = c.at("response", &[patch / 4, patch % 4]);
            assert_eq!(found, Some(f64::from(embedding[[patch, dimension]])));
        }
        // Its picture, at its place among eight in a row: grey is zero.
        let largest = row.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        for at in 0..48 {
            let (channel, y, x) = (at / 16, at / 4 % 4, at % 4);
            let place = [channel, 4 * (chosen / 8) + y, 4 * (chosen % 8) + x];
            let expected = f64::from(0.5 + 0.5 * row[at] / largest);
            assert_near(c.at("gallery", &place).unwrap(), expected, 1e-6, "pixel");
        }
        assert_eq!(c.at("gallery", &[0, 31, 31]), Some(0.5));
        assert_eq!(
            (c.at("count", &[]), c.at("listed", &[])),
            (Some(12.0), Some(12.0))
        );
    }
    assert!(norms.is_sorted_by(|a, b| a >= b), "{norms:?}");
    let beyond = defaults(spec).with("chosen", InputValue::Number(63.0));
    let c = computed(spec, &beyond, &opened).unwrap();
    assert_eq!(c.at("chosen", &[]), Some(11.0));
}
