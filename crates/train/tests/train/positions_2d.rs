//! What the lesson on positions in two dimensions says of MNIST's test digits, and the tables of
//! `position-tables`: they are complete, and the run repeats its first losses.

use engine::format::json;
use engine::format::safetensors::SafeTensors;
use engine::model::vit::{Config, Vit};
use engine::ndarray::{Array2, Array3, ArrayView3, Axis, Ix2};
use engine::nn::position::interpolate::bicubic;
use engine::open::shipped::Shipped;
use engine::parameters::Parameters;
use engine::rng::Rng;
use engine::trace::Observer;
use explain::grid_positions::{WithPositions, in_reading_order, nearest};
use explain::jigsaw::rearranged;
use explain::similarity::cosine;
use skip::shared;
use std::path::{Path, PathBuf};
use training::digits::data::{Digits, Mnist};
use training::digits::position_tables::{FILE, FIRST, Run, STEPS, name};

use crate::cards::{card, number};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/models")
}

fn model(name: &str) -> Vit {
    let name = format!("{name}.safetensors");
    let bytes = std::fs::read(folder().join(&name)).unwrap();
    let file = Shipped::parse(&name, bytes.into(), json::read).unwrap();
    let vit = file.model(|number, source| Vit::load(Config::from_keys(number)?, source));
    vit.unwrap()
}

fn test_digits() -> Option<Digits> {
    Some(Mnist::read(&shared("data/mnist")?).unwrap().test)
}

/// Whether a model reads digit `n` right, of a picture `[1, H, W]`.
fn is_right(
    vit: &Vit,
    digits: &Digits,
    n: usize,
    picture: ArrayView3<'_, f32>,
    observer: Option<&mut dyn Observer>,
) -> bool {
    let logits = vit.forward(picture, observer).unwrap();
    let best = engine::nn::softmax::top_indices(logits.view(), 1)[0];
    best == digits.labels[n]
}

fn picture(digits: &Digits, n: usize) -> Array3<f32> {
    digits.picture(n).insert_axis(Axis(0)).to_owned()
}

/// Digit `n` with its patches in an order of its own.
fn shuffled(digits: &Digits, n: usize) -> Array3<f32> {
    let order = Rng::named(7, &format!("shuffle.{n}")).permutation(49);
    rearranged(picture(digits, n).view(), 4, &order).unwrap()
}

/// Right answers to shuffled test digits, and how many of them are ones: with positions and without.
#[test]
fn shuffled_test_digits() {
    let Some(digits) = test_digits() else {
        return;
    };
    let count = |name: &str| {
        let vit = model(name);
        let right = |n: &usize| is_right(&vit, &digits, *n, shuffled(&digits, *n).view(), None);
        let all: Vec<usize> = (0..digits.len()).filter(right).collect();
        let ones = all.iter().filter(|&&n| digits.labels[n] == 1).count();
        (all.len(), ones)
    };
    let found = std::thread::scope(|scope| {
        let count = &count;
        let runs = ["digit-vit", "digit-vit-nopos"].map(|name| scope.spawn(move || count(name)));
        runs.map(|run| run.join().unwrap())
    });
    assert_eq!(found[0], (2205, 1082));
    assert_eq!(found[1].0, 8465);
    // The table of the lesson: in place as the cards say, shuffled as counted here.
    let lesson = folder().join("../../lessons/21-positions-2d.md");
    let lesson = std::fs::read_to_string(lesson).unwrap();
    for (row, name, (shuffled, _)) in [
        ("with positions", "digit-vit", found[0]),
        ("without positions", "digit-vit-nopos", found[1]),
    ] {
        let in_place = number(&card(name), "right of 10000 test digits, %");
        let shuffled = 100.0 * shuffled as f64 / digits.len() as f64;
        let row = format!("| {row} | {in_place:.2} % | {shuffled:.2} % |\n");
        assert!(lesson.contains(&row), "{row}");
    }
}

/// How many test digits are enlarged, the first ones.
const ENLARGED: usize = 2000;

/// Right answers to test digits as they are, and enlarged from 28 to 48 pixels, with the table of
/// positions interpolated, with the nearest vectors, and in reading order.
#[test]
fn enlarged_test_digits() {
    let Some(digits) = test_digits() else {
        return;
    };
    let vit = model("digit-vit");
    let all = vit.tokens().positions.clone().unwrap();
    let (_, table) = all.view().split_at(Axis(0), 1);
    let tables = [
        bicubic(table, (7, 7), (12, 12)).unwrap(),
        nearest(table, (7, 7), (12, 12)).unwrap(),
        in_reading_order(table, 144).unwrap(),
    ];
    let count = |patches: &Array2<f32>| {
        let patches = patches.clone();
        let mut given = WithPositions { patches };
        let right = |n: &usize| {
            let image = picture(&digits, *n);
            let image = engine::picture::resize(image.view(), 48, 48).unwrap();
            is_right(&vit, &digits, *n, image.view(), Some(&mut given))
        };
        (0..ENLARGED).filter(right).count()
    };
    let found = std::thread::scope(|scope| {
        let count = &count;
        let runs = tables
            .each_ref()
            .map(|table| scope.spawn(move || count(table)));
        runs.map(|run| run.join().unwrap())
    });
    assert_eq!(found, [1950, 1854, 343]);
    let right = |n: &usize| is_right(&vit, &digits, *n, picture(&digits, *n).view(), None);
    assert_eq!((0..ENLARGED).filter(right).count(), 1960);
}

fn tables() -> SafeTensors {
    let bytes = std::fs::read(folder().join(FILE)).unwrap();
    assert!(bytes.len() < 60_000, "{} bytes", bytes.len());
    SafeTensors::parse(bytes.into()).unwrap()
}

fn table(file: &mut SafeTensors, step: u64) -> Array2<f32> {
    let read = file.tensors.read(&name(step)).unwrap();
    read.into_dimensionality::<Ix2>().unwrap()
}

#[test]
fn every_table_is_there() {
    let mut file = tables();
    for step in STEPS {
        assert_eq!(table(&mut file, step).dim(), (49, 64), "{step}");
    }
    assert_eq!(file.tensors.names().len(), STEPS.len());
}

/// The run, begun again: its first table is the one in the file, in half precision, and its first losses
/// have the same bits.
#[test]
fn the_run_repeats_its_beginning() {
    let Some(data) = shared("data/mnist") else {
        return;
    };
    let mut file = tables();
    let said = file.metadata().iter().find(|(key, _)| key == "first");
    let first: Vec<f32> = said
        .unwrap()
        .1
        .split(' ')
        .map(|loss| loss.parse().unwrap())
        .collect();
    assert_eq!(first.len(), FIRST);
    let mut run = Run::new(Mnist::read(&data).unwrap(), 1).unwrap();
    let (drawn, stored) = (run.table().unwrap(), table(&mut file, 0));
    assert!((&drawn - &stored).iter().all(|d| d.abs() < 1e-3));
    for logged in first {
        assert_eq!(run.step().unwrap().to_bits(), logged.to_bits());
    }
}

/// The last table is much like that of the shipped digit-vit: two runs by one recipe.
#[test]
fn the_last_table_is_like_that_of_digit_vit() {
    let vit = model("digit-vit");
    let own = vit.tokens().positions.clone().unwrap();
    let last = table(&mut tables(), STEPS[STEPS.len() - 1]);
    for (n, row) in last.outer_iter().enumerate() {
        let alike = cosine(row, own.row(n + 1)).unwrap();
        assert!((0.8..0.99).contains(&alike), "{n}: {alike}");
    }
}
