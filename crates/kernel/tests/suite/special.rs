//! Checks of NaN, infinities, −0 and empty slices, at every position of a slice of every length.

use super::{WEIGHT_TOLERANCE, assert_close, numbers};
use crate::suite::random::Rng;
use kernel::Kernels;

fn softmax_of(kernels: &Kernels, x: &[f32]) -> Vec<f32> {
    let mut out = x.to_vec();
    kernels.softmax(&mut out);
    out
}

pub(crate) fn softmax_special(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    // An empty slice has no weights; a slice with every entry masked has weights of 0.
    assert!(softmax_of(kernels, &[]).is_empty());
    let hidden = vec![f32::NEG_INFINITY; length];
    assert!(
        softmax_of(kernels, &hidden)
            .iter()
            .all(|w| w.to_bits() == 0)
    );
    if length == 0 {
        return;
    }
    let mut rng = Rng::new(seed);
    let x = numbers(seed, "x", length);

    // One NaN or +∞ anywhere makes the whole row NaN.
    for poison in [f32::NAN, f32::INFINITY] {
        let mut spoiled = x.clone();
        spoiled[rng.below(length)] = poison;
        assert!(
            softmax_of(kernels, &spoiled).iter().all(|w| w.is_nan()),
            "{poison} in {length}"
        );
    }

    // One visible entry of any value has the weight 1, to the bit; the weight of −10,000 beside 0
    // is also exactly 0.
    for low in [f32::NEG_INFINITY, -1e4] {
        let mut single = vec![low; length];
        let at = rng.below(length);
        single[at] = if low == -1e4 { 0.0 } else { x[at] };
        for (i, weight) in softmax_of(kernels, &single).into_iter().enumerate() {
            assert_eq!(weight.to_bits(), if i == at { 1.0f32.to_bits() } else { 0 });
        }
    }

    // −0 is 0, huge rows do not overflow, the smallest numbers do not divide by 0.
    for same in [
        0.0,
        -0.0,
        1000.0,
        -1000.0,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        1e-45,
    ] {
        for weight in softmax_of(kernels, &vec![same; length]) {
            assert_close(
                weight,
                1.0 / length as f32,
                WEIGHT_TOLERANCE,
                "equal entries",
            );
        }
    }
}

pub(crate) fn max_special(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    assert_eq!(kernels.max(&[]), f32::NEG_INFINITY);
    if length == 0 {
        return;
    }
    let mut x = numbers(seed, "x", length);
    let mut rng = Rng::new(seed);
    x[rng.below(length)] = f32::INFINITY;
    assert_eq!(kernels.max(&x), f32::INFINITY);
    x[rng.below(length)] = f32::NAN;
    assert!(kernels.max(&x).is_nan());
    assert_eq!(
        kernels.max(&vec![f32::NEG_INFINITY; length]),
        f32::NEG_INFINITY
    );
    assert_eq!(kernels.max(&vec![-0.0; length]), 0.0);
}

pub(crate) fn activations_keep_nan(kernels: &Kernels, _seed: u64, [length, ..]: [usize; 3]) {
    let cases = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.0,
        -0.0,
        40.0,
        -40.0,
    ];
    let x: Vec<f32> = cases.iter().cycle().take(length).copied().collect();
    let (mut relu, mut gelu) = (x.clone(), x.clone());
    kernels.relu(&mut relu);
    kernels.gelu(&mut gelu);
    for smooth in [Kernels::silu, Kernels::gelu_tanh] {
        let mut found = x.clone();
        smooth(kernels, &mut found);
        for i in 0..length {
            match x[i] {
                // −∞ · 0 has no value.
                none if none.is_nan() || none == f32::NEG_INFINITY => assert!(found[i].is_nan()),
                low if low < 0.0 => assert_close(found[i], 0.0, 1e-15, "far below 0"),
                other => assert_eq!(found[i], other),
            }
        }
    }
    for i in 0..length {
        match x[i] {
            nan if nan.is_nan() => assert!(relu[i].is_nan() && gelu[i].is_nan()),
            // −∞ · 0 has no value.
            f32::NEG_INFINITY => assert!(relu[i] == 0.0 && gelu[i].is_nan()),
            low if low < 0.0 => assert!(relu[i] == 0.0 && gelu[i] == 0.0),
            other => assert!(
                relu[i] == other && gelu[i] == other,
                "{other}: {} {}",
                relu[i],
                gelu[i]
            ),
        }
    }
}
