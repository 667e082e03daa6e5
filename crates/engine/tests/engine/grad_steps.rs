//! Every step of the tape against central differences.

use engine::Result;
use engine::grad::{Settings, Tape, Var, gradients};
use engine::kernel;
use engine::ndarray::{Array2, array};
use engine::nn::compute::Compute;
use engine::nn::feed_forward::Activation;
use engine::nn::grouped::{GroupedAttention, Qkv};
use engine::nn::kv_cache::KvCache;
use engine::nn::plain::Plain;
use engine::nn::position::rope::Pairing;
use engine::nn::position::rope::{Rope, Scaling};
use engine::nn::projection::Projection;
use engine::nn::unfold::Windows;
use engine::parameters::Weight;
use engine::rng::normal_matrix;

use crate::gradients::check::{Bag, STEP, check, weigh};

/// All rows of weight `n` as a matrix of the tape, so that a step's input has a gradient.
fn input(bag: &Bag, tape: &mut Tape, n: usize) -> Var {
    let rows: Vec<usize> = (0..bag.table(n).nrows()).collect();
    tape.lookup(bag.table(n), &rows).unwrap()
}

/// Checks a step that takes weights as matrices.
fn step(
    shapes: &[[usize; 2]],
    vectors: &[usize],
    run: impl Fn(&Bag, &mut Tape, &[Var]) -> Result<Var>,
) {
    check(&mut Bag::new(shapes, vectors), STEP, |bag: &Bag, tape| {
        let all: Vec<Var> = (0..shapes.len()).map(|n| input(bag, tape, n)).collect();
        let y = run(bag, tape, &all)?;
        weigh(tape, &y)
    });
}

#[test]
fn products() {
    check(
        &mut Bag::new(&[[5, 7], [3, 7]], &[3]),
        STEP,
        |bag: &Bag, tape| {
            let x = input(bag, tape, 0);
            let y = tape.linear(&x, &bag.weights[1], Some(&bag.vectors[0]))?;
            weigh(tape, &y)
        },
    );
    // One weight in two places: both shares are added.
    check(
        &mut Bag::new(&[[6, 6], [4, 6]], &[]),
        STEP,
        |bag: &Bag, tape| {
            let x = tape.embed(&bag.weights[1], &[1, 3, 1, 0, 2])?;
            let y = tape.linear(&x, &bag.weights[0], None)?;
            let y = tape.linear(&y, &bag.weights[1], None)?;
            weigh(tape, &y)
        },
    );
}

#[test]
fn norms() {
    check(
        &mut Bag::new(&[[4, 9]], &[9, 9]),
        STEP,
        |bag: &Bag, tape| {
            let x = input(bag, tape, 0);
            let y = tape.layer_norm(&x, &bag.vectors[0], &bag.vectors[1], 1e-5)?;
            weigh(tape, &y)
        },
    );
    check(&mut Bag::new(&[[4, 9]], &[9]), STEP, |bag: &Bag, tape| {
        let x = input(bag, tape, 0);
        let y = tape.rms_norm(&x, &bag.vectors[0], 1e-5)?;
        weigh(tape, &y)
    });
}

/// The mean cross-entropy of targets that are distributions, of targets that add up to less, and of single
/// classes, where it is the other cross-entropy.
#[test]
fn cross_entropy_of_distributions() {
    let targets = array![[0.2, 0.5, 0.3], [0.0, 1.0, 0.0], [0.1, 0.1, 0.1]];
    check(&mut Bag::new(&[[3, 3]], &[]), STEP, |bag: &Bag, tape| {
        let x = input(bag, tape, 0);
        tape.soft_cross_entropy(&x, targets.view())
    });
    let mut tape = Tape::new();
    let x = tape.constant(array![[0.3, -1.0, 2.0], [1.0, 0.0, 0.5]].view());
    let one_hot = array![[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
    let found = tape.soft_cross_entropy(&x, one_hot.view()).unwrap();
    let expected = tape.cross_entropy(&x, &[Some(2), Some(0)], 0.0).unwrap();
    let apart = tape.value(&found).unwrap() - tape.value(&expected).unwrap();
    assert!(apart[[0, 0]].abs() < 1e-6);
    assert!(tape.soft_cross_entropy(&x, targets.view()).is_err());
}

#[test]
fn activations() {
    for activation in [
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::QuickGelu,
        Activation::Silu,
    ] {
        step(&[[3, 11]], &[], |_, tape, x| {
            Ok(tape.activate(x[0], activation))
        });
    }
    step(&[[3, 11]], &[], |_, tape, x| Ok(tape.tanh(x[0])));
}

/// A kink has no difference: relu is checked where it is known.
#[test]
fn relu_lets_through_what_is_above_zero() {
    let mut bag = Bag::new(&[[2, 8]], &[]);
    let (_, found) = gradients(&mut bag, &Settings::default(), |bag, tape| {
        let x = input(bag, tape, 0);
        let y = tape.activate(x, Activation::Relu);
        tape.weighted_sum(&y, &[3.0; 16])
    })
    .unwrap();
    let numbers = bag.table(0).iter();
    for (x, slope) in numbers.zip(found.get("w0").unwrap()) {
        assert_eq!(*slope, if *x > 0.0 { 3.0 } else { 0.0 });
    }
}

#[test]
fn rows_and_columns() {
    step(&[[3, 4], [3, 4]], &[], |_, tape, x| tape.add(x[0], &x[1]));
    step(&[[3, 4]], &[], |_, tape, x| tape.add(x[0], &x[0]));
    step(&[[6, 4], [2, 4]], &[], |_, tape, x| {
        tape.add_repeated(x[0], &x[1])
    });
    step(&[[3, 4]], &[], |_, tape, x| Ok(tape.scale(x[0], -1.5)));
    step(&[[3, 4]], &[4], |bag, tape, x| {
        tape.scale_columns(x[0], &bag.vectors[0])
    });
    step(&[[3, 7]], &[], |_, tape, x| {
        let (left, right) = (tape.columns(&x[0], 0..4)?, tape.columns(&x[0], 3..7)?);
        tape.add(left, &right)
    });
    step(&[[3, 2], [3, 4]], &[], |_, tape, x| {
        tape.concat(&[&x[0], &x[1], &x[0]])
    });
    step(&[[4, 3]], &[], |_, tape, x| tape.gather(&x[0], &[3, 0, 3]));
    step(&[[2, 3], [1, 3]], &[], |_, tape, x| {
        tape.scatter(5, 3, &[(x[0], vec![4, 1]), (x[1], vec![2])])
    });
    step(&[[6, 3]], &[3], |bag, tape, x| {
        tape.prepend(x[0], &bag.vectors[0], 2)
    });
    step(&[[6, 3]], &[], |_, tape, x| {
        tape.mean_rows(&x[0], &[0..2, 1..6])
    });
    check(&mut Bag::new(&[[5, 3]], &[]), STEP, |bag: &Bag, tape| {
        let y = tape.interpolate_positions(bag.table(0), 1, (2, 2))?;
        weigh(tape, &y)
    });
}

#[test]
fn windows_and_turns() {
    let windows = Windows {
        height: 4,
        width: 5,
        side: 3,
        stride: 2,
        padding: 1,
    };
    step(&[[40, 2]], &[], |_, tape, x| tape.unfold(&x[0], &windows));
    let rope = Rope {
        width: 4,
        base: 100.0,
        pairing: Pairing::Halves,
        scaling: Scaling::None,
    };
    let rotary = rope.table(&[0, 1, 5]).unwrap();
    step(&[[3, 12]], &[], |_, tape, x| {
        tape.apply_rotary(x[0], &rotary, 6)
    });
}

#[test]
fn products_row_factors_and_mixtures() {
    step(&[[3, 4], [3, 4]], &[], |_, tape, x| {
        tape.multiply(x[0], &x[1])
    });
    step(&[[3, 4], [3, 1]], &[], |_, tape, x| {
        tape.scale_rows(x[0], &x[1])
    });
    for k in [1, 2, 5] {
        step(&[[4, 5]], &[], |_, tape, x| tape.top_k_softmax(&x[0], k));
    }
    let mut tape = Tape::new();
    let x = tape.constant(array![[0.0, 2.0], [1.0, 0.0]].view());
    assert_eq!(tape.nonzero_rows(&x, 0).unwrap(), [1]);
    assert!(tape.nonzero_rows(&x, 2).is_err());
    assert!(tape.top_k_softmax(&x, 3).is_err());
    assert!(tape.scale_rows(x, &x).is_err());
    let other = tape.constant(array![[1.0, 2.0]].view());
    assert!(tape.multiply(x, &other).is_err());
}

fn layer(kv_heads: usize) -> GroupedAttention {
    let nothing = || Projection {
        weight: Weight::Dense(normal_matrix(1, "w", 1, 1, 1.0)),
        bias: None,
    };
    GroupedAttention {
        qkv: Qkv::Fused(nothing()),
        output: nothing(),
        heads: 4,
        kv_heads,
        head_width: 3,
        window: None,
    }
}

#[test]
fn attention() {
    let shapes = [[7, 12], [7, 12], [7, 12]];
    step(&shapes, &[], |_, tape, x| {
        tape.attend([x[0], x[1], x[2]], 4, &[4, 3])
    });
    for kv_heads in [4, 2, 1] {
        let (layer, narrow) = (layer(kv_heads), 3 * kv_heads);
        step(&[[7, 12], [7, narrow], [7, narrow]], &[], |_, tape, x| {
            let mut caches = vec![KvCache::new(kv_heads, 3); 2];
            tape.attend_causally(&layer, [x[0], x[1], x[2]], &[4, 3], &mut caches)
        });
    }
    // A bias by distance that is shorter than the texts, as long, and longer: then a number of it has
    // no pair.
    for reach in [1, 3, 4, 6] {
        let shapes = [[7, 12], [7, 12], [7, 12], [4, reach]];
        step(&shapes, &[], |_, tape, x| {
            tape.attend_with_bias([x[0], x[1], x[2]], &x[3], &[4, 3])
        });
    }
    step(&[[5, 12], [9, 12], [9, 12]], &[], |_, tape, x| {
        let memory = tape.cache_kv([x[1], x[2]], 4, &[6, 3])?;
        tape.cross_attention(x[0], 4, &[2, 3], &memory)
    });
}

#[test]
fn gates_and_alignments() {
    step(&[[3, 15], [3, 15], [3, 5]], &[], |_, tape, x| {
        tape.gru_gates(&x[0], &x[1], &x[2])
    });
    step(&[[3, 5], [7, 5], [7, 4]], &[5], |bag, tape, x| {
        tape.additive_attention(&x[0], &bag.vectors[0], &x[1], &x[2], &[0..4, 4..7, 0..4])
    });
}

#[test]
fn softmax_and_mixture() {
    step(&[[3, 5]], &[], |_, tape, x| Ok(tape.softmax(&x[0])));
    step(&[[3, 5], [5, 2]], &[], |_, tape, x| {
        let weights = tape.softmax(&x[0]);
        tape.product(&weights, &x[1])
    });
    // Both factors one matrix: both shares are added.
    step(&[[4, 4]], &[], |_, tape, x| tape.product(&x[0], &x[0]));
}

#[test]
fn losses() {
    for smoothing in [0.0, 0.1] {
        check(&mut Bag::new(&[[4, 6]], &[]), STEP, |bag: &Bag, tape| {
            let x = input(bag, tape, 0);
            tape.cross_entropy(&x, &[Some(5), None, Some(0), Some(2)], smoothing)
        });
    }
}

#[test]
fn dropout_keeps_the_mean_and_its_gradient() {
    let mut bag = Bag::new(&[[40, 50]], &[]);
    let run = |bag: &mut Bag, dropout: f32, seed: u64| {
        let settings = Settings {
            dropout,
            seed,
            ..Settings::default()
        };
        let (_, found) = gradients(bag, &settings, |bag, tape| {
            let x = input(bag, tape, 0);
            let y = tape.dropout(x);
            tape.weighted_sum(&y, &[1.0; 2000])
        })
        .unwrap();
        found.get("w0").unwrap().to_vec()
    };
    assert!(run(&mut bag, 0.0, 1).iter().all(|&g| g == 1.0));
    let found = run(&mut bag, 0.25, 1);
    assert!(found.iter().all(|&g| g == 0.0 || g == 1.0 / 0.75));
    let kept = found.iter().filter(|&&g| g != 0.0).count();
    assert!((1400..1600).contains(&kept), "{kept} of 2000");
    assert_eq!(found, run(&mut bag, 0.25, 1));
    assert_ne!(found, run(&mut bag, 0.25, 2));
    // Inference has none.
    let x = normal_matrix(1, "x", 2, 2, 1.0);
    assert_eq!(Plain::silent().dropout(x.clone()), x);
}

/// The tape's results are those of inference, to rounding; with the plain kernels both add in one
/// order.
#[test]
fn a_tape_computes_what_inference_does() {
    let x = normal_matrix(2, "x", 7, 12, 1.0);
    let mut tape = Tape::new();
    let on_tape = tape.constant(x.view());
    for heads in [1, 3] {
        let found = tape.attend([on_tape; 3], heads, &[4, 3]).unwrap();
        let mut plain = Plain::silent();
        let all = [x.clone(), x.clone(), x.clone()];
        let expected = plain.attend(all, heads, &[4, 3]).unwrap();
        let found = tape.value(&found).unwrap();
        assert!((&found - &expected).iter().all(|d| d.abs() < 1e-5));
    }
    for reach in [1, 3, 9] {
        let bias = normal_matrix(2, "bias", 3, reach, 1.0);
        let on_tape_bias = tape.constant(bias.view());
        let found = tape.attend_with_bias([on_tape; 3], &on_tape_bias, &[4, 3]);
        let found = tape.value(&found.unwrap()).unwrap();
        let all = [x.clone(), x.clone(), x.clone()];
        let expected = Plain::silent().attend_with_bias(all, &bias, &[4, 3]);
        let differences = &found - &expected.unwrap();
        assert!(differences.iter().all(|d| d.abs() < 1e-5));
    }
    assert_ne!(kernel::steady().name(), "relaxed");
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut tape = Tape::new();
    let x = tape.constant(normal_matrix(1, "x", 2, 3, 1.0).view());
    let y = tape.constant(normal_matrix(1, "y", 3, 2, 1.0).view());
    assert!(tape.add(x, &y).is_err());
    assert!(tape.concat(&[&x, &y]).is_err());
    assert!(tape.concat(&[]).is_err());
    assert!(tape.columns(&x, 2..4).is_err());
    assert!(tape.gather(&x, &[2]).is_err());
    assert!(tape.scatter(2, 3, &[(x, vec![0, 0])]).is_err());
    assert!(tape.mean_rows(&x, &[0..1, 1..3]).is_err());
    assert!(tape.product(&x, &x).is_err());
    assert!(tape.attend([x, x, y], 1, &[2]).is_err());
    assert!(tape.attend([x; 3], 2, &[2]).is_err());
    assert!(tape.attend([x; 3], 1, &[3]).is_err());
    let (one, none) = (tape.constant(array![[0.5]].view()), Array2::zeros((1, 0)));
    let none = tape.constant(none.view());
    assert!(tape.attend_with_bias([x; 3], &one, &[2]).is_ok());
    assert!(tape.attend_with_bias([x; 3], &one, &[3]).is_err());
    assert!(tape.attend_with_bias([x; 3], &x, &[2]).is_err());
    assert!(tape.attend_with_bias([x; 3], &none, &[2]).is_err());
    assert!(tape.cross_entropy(&x, &[None, None], 0.0).is_err());
    assert!(tape.cross_entropy(&x, &[Some(3), None], 0.0).is_err());
    assert!(tape.cross_entropy(&x, &[Some(0)], 0.0).is_err());
    assert!(tape.cross_entropy(&x, &[Some(0), None], 1.0).is_err());
    let mut caches = [KvCache::new(4, 3)];
    let row = normal_matrix(1, "r", 1, 12, 1.0);
    caches[0].append(row.view(), row.view()).unwrap();
    let q = tape.constant(row.view());
    let error = tape.attend_causally(&layer(4), [q; 3], &[1], &mut caches);
    assert_eq!(
        error.unwrap_err().to_string(),
        "training: expected whole texts, found a cache of 1 tokens"
    );
    let mut bag = Bag::new(&[[2, 2]], &[]);
    let not_a_loss = gradients(&mut bag, &Settings::default(), |bag, tape| {
        Ok(input(bag, tape, 0))
    });
    assert!(not_a_loss.is_err());
    let settings = Settings {
        dropout: 1.0,
        ..Settings::default()
    };
    let all_dropped = gradients(&mut bag, &settings, |bag, tape| {
        let x = input(bag, tape, 0);
        weigh(tape, &x)
    });
    assert!(all_dropped.is_err());
}
