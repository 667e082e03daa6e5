//! What each scheme does with positions, and the gradients of its parameters.

use super::*;
use crate::formula::Formula;
use crate::grad::{Draw, Settings, gradients, initialise};
use crate::nn::plain::Plain;
use crate::trainable::replace;

const SCHEMES: [Positions; 6] = [
    Positions::None,
    Positions::Sines,
    Positions::Table,
    Positions::Bias { distances: 3 },
    Positions::Alibi,
    Positions::Rotary { factor: 1.0 },
];

fn model(positions: Positions) -> PositionDecoder {
    let config = Config {
        vocabulary: 7,
        width: 8,
        heads: 2,
        layers: 2,
        inner: 16,
        context: 5,
        norm_eps: 1e-5,
    };
    let shapes = PositionDecoder::shapes(&config, positions);
    let mut model = PositionDecoder::load(config, positions, &mut Formula::new(0, shapes)).unwrap();
    initialise(&mut model, 3, Draw::Xavier).unwrap();
    model
}

fn logits(model: &PositionDecoder, ids: &[usize], lengths: &[usize]) -> Array2<f32> {
    let mut plain = Plain::silent();
    let hidden = model.run(&mut plain, ids, lengths).unwrap();
    model.run_logits(&mut plain, &hidden).unwrap()
}

fn is_close(a: &Array2<f32>, b: &Array2<f32>) -> bool {
    a.dim() == b.dim() && (a - b).iter().all(|d| d.abs() < 1e-4)
}

/// The last token after two others, in either order: without positions and with one block, the order
/// is lost.
#[test]
fn only_without_positions_does_the_order_not_matter() {
    for positions in SCHEMES {
        let mut model = model(positions);
        model.trunk.blocks.truncate(1);
        if let Some(bias) = &mut model.bias {
            bias[[0, 1]] = 2.0;
        }
        let last = |ids: &[usize]| logits(&model, ids, &[3]).slice(s![2.., ..]).to_owned();
        let (one, other) = (last(&[1, 2, 3]), last(&[2, 1, 3]));
        assert_eq!(
            is_close(&one, &other),
            positions == Positions::None,
            "{positions:?}"
        );
    }
}

/// Texts are packed: each is computed as if it were alone, and no later token is seen.
#[test]
fn each_text_is_read_by_itself_and_from_the_left() {
    for positions in SCHEMES {
        let model = model(positions);
        let both = logits(&model, &[1, 2, 3, 4, 5], &[2, 3]);
        let second = logits(&model, &[3, 4, 5], &[3]);
        assert!(is_close(&both.slice(s![2.., ..]).to_owned(), &second));
        let shorter = logits(&model, &[3, 4], &[2]);
        assert!(is_close(&both.slice(s![2..4, ..]).to_owned(), &shorter));
    }
}

/// The tape computes the same, and every parameter has the gradient that differences give.
#[test]
fn gradients_are_those_of_differences() {
    let (ids, lengths) = ([1, 2, 3, 4, 5, 6, 0, 1], [5, 3]);
    let targets: Vec<Option<usize>> = (0..8).map(|n| Some((n + 3) % 7)).collect();
    for positions in SCHEMES {
        let mut model = model(positions);
        let loss = |model: &mut PositionDecoder| {
            gradients(model, &Settings::default(), |model, tape| {
                let hidden = model.run(tape, &ids, &lengths)?;
                let logits = model.run_logits(tape, &hidden)?;
                let plain = super::tests::logits(model, &ids, &lengths);
                assert!(is_close(&tape.value(&logits)?, &plain), "{positions:?}");
                tape.cross_entropy(&logits, &targets, 0.0)
            })
            .unwrap()
        };
        let (_, found) = loss(&mut model);
        assert!(found.missing().is_empty(), "{:?}", found.missing());
        for (name, slopes) in found.iter() {
            let at = slopes.len() / 2;
            let value = replace(&mut model, name, at, 0.0).unwrap();
            let step = 1.0 / 256.0;
            let [below, above] = [-step, step].map(|by| {
                replace(&mut model, name, at, value + by).unwrap();
                f64::from(loss(&mut model).0)
            });
            replace(&mut model, name, at, value).unwrap();
            let slope = ((above - below) / f64::from(2.0 * step)) as f32;
            let error = (slope - slopes[at]).abs();
            assert!(
                error < 2e-3 * (1.0 + slope.abs()),
                "{positions:?} {name}: {slope} {}",
                slopes[at]
            );
        }
    }
}

#[test]
fn interpolation_reads_between_the_positions() {
    let rotary = model(Positions::Rotary { factor: 1.0 });
    let ids = [1, 2, 3];
    let same = rotary.interpolated(1.0).unwrap();
    assert!(is_close(
        &logits(&rotary, &ids, &[3]),
        &logits(&same, &ids, &[3])
    ));
    let four = rotary.interpolated(4.0).unwrap();
    assert_eq!(four.positions(), Positions::Rotary { factor: 4.0 });
    assert!(!is_close(
        &logits(&rotary, &ids, &[3]),
        &logits(&four, &ids, &[3])
    ));
    // Token 4 of the interpolated model is rotated as token 1.
    let (one, other) = (rotary.rotary(&[1]).unwrap(), four.rotary(&[4]).unwrap());
    assert_eq!(one, other);
}

#[test]
fn what_a_scheme_cannot_do_is_refused() {
    let table = model(Positions::Table);
    let run = |model: &PositionDecoder, ids: &[usize], lengths: &[usize]| {
        model.run(&mut Plain::silent(), ids, lengths).is_ok()
    };
    assert!(run(&table, &[1; 5], &[5]));
    assert!(!run(&table, &[1; 6], &[6]), "the table has five rows");
    for positions in SCHEMES {
        let model = model(positions);
        assert_eq!(run(&model, &[1; 6], &[6]), positions != Positions::Table);
        assert!(!run(&model, &[1; 4], &[3]));
        assert!(!run(&model, &[7], &[1]));
        let rotary = matches!(positions, Positions::Rotary { .. });
        assert_eq!(model.interpolated(4.0).is_ok(), rotary);
    }
    let rotary = model(Positions::Rotary { factor: 1.0 });
    assert!(!run(&rotary.interpolated(0.0).unwrap(), &[1], &[1]));
    let none = Positions::Bias { distances: 0 };
    let config = rotary.config().clone();
    let shapes = PositionDecoder::shapes(&config, none);
    assert!(PositionDecoder::load(config, none, &mut Formula::new(0, shapes)).is_err());
}
