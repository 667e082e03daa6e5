//! The fast algorithms on one row: reductions, softmax, norms and activations; `unsafe` for the reasons given in
//! [`super::generic`].
//!
//! A remainder shorter than a vector is filled up with what changes nothing: 0 in a sum, −∞ in a maximum or a softmax, the mean
//! in a variance.

use super::generic::dot;
use super::vector::Vector;
use crate::math;

/// Replaces each vector of `x` by `change` of it; the remainder is filled up with `fill`.
#[inline(always)]
unsafe fn map<V: Vector>(x: &mut [f32], fill: f32, mut change: impl FnMut(V) -> V) {
    let (length, x) = (x.len(), x.as_mut_ptr());
    // SAFETY: every load and store is at `at` + lanes ≤ length.
    unsafe {
        let mut at = 0;
        while at + V::LANES <= length {
            change(V::load(x.add(at))).store(x.add(at));
            at += V::LANES;
        }
        if at < length {
            let left = length - at;
            change(V::load_part(x.add(at), left, fill)).store_part(x.add(at), left);
        }
    }
}

/// Joins `term` of each vector of `x` into one vector, four at a time; the remainder is filled up with `fill`.
#[inline(always)]
unsafe fn fold<V: Vector>(
    x: &[f32],
    start: f32,
    fill: f32,
    term: impl Fn(V) -> V,
    join: impl Fn(V, V) -> V,
) -> V {
    let (length, x) = (x.len(), x.as_ptr());
    // SAFETY: every load reads at `at` + lanes ≤ length.
    unsafe {
        let mut totals = [V::splat(start); 4];
        let mut at = 0;
        while at + 4 * V::LANES <= length {
            for (n, total) in totals.iter_mut().enumerate() {
                *total = join(*total, term(V::load(x.add(at + n * V::LANES))));
            }
            at += 4 * V::LANES;
        }
        while at + V::LANES <= length {
            totals[0] = join(totals[0], term(V::load(x.add(at))));
            at += V::LANES;
        }
        if at < length {
            totals[1] = join(totals[1], term(V::load_part(x.add(at), length - at, fill)));
        }
        join(join(totals[0], totals[1]), join(totals[2], totals[3]))
    }
}

#[inline(always)]
pub(super) unsafe fn sum<V: Vector>(x: &[f32]) -> f32 {
    // x [N] -> scalar
    // SAFETY: `fold` stays inside `x`; the instruction set is the caller's promise.
    unsafe {
        let add = |total: V, value: V| total.add(value);
        fold::<V>(x, 0.0, 0.0, |value| value, add).reduce_add()
    }
}

#[inline(always)]
pub(super) unsafe fn max<V: Vector>(x: &[f32]) -> f32 {
    // x [N] -> scalar
    // SAFETY: `fold` stays inside `x`; the instruction set is the caller's promise.
    unsafe {
        let larger = |largest: V, value: V| largest.max(value);
        fold::<V>(
            x,
            f32::NEG_INFINITY,
            f32::NEG_INFINITY,
            |value| value,
            larger,
        )
        .reduce_max()
    }
}

#[inline(always)]
pub(super) unsafe fn softmax<V: Vector>(x: &mut [f32]) {
    // x [N]
    // SAFETY: `max` and `map` stay inside `x`; the instruction set is the caller's promise.
    unsafe {
        let largest = max::<V>(x);
        if largest == f32::NEG_INFINITY {
            x.fill(0.0);
            return;
        }
        let (shift, mut total) = (V::splat(largest), V::splat(0.0));
        let exponential = |value: V| {
            let power = exp_below_88(value.sub(shift));
            total = total.add(power);
            power
        };
        map::<V>(x, f32::NEG_INFINITY, exponential);
        let total = V::splat(total.reduce_add());
        let share = |value: V| value.div(total);
        map::<V>(x, 0.0, share);
    }
}

#[inline(always)]
pub(super) unsafe fn layer_norm<V: Vector>(
    x: &[f32],
    gamma: &[f32],
    beta: &[f32],
    eps: f32,
    out: &mut [f32],
) {
    // x, gamma, beta, out [C]
    let (length, width) = (x.len(), x.len() as f32);
    // SAFETY: `sum` and `fold` stay inside `x`; every load and store below is at `at` + lanes ≤ length of all four slices.
    unsafe {
        let mean = sum::<V>(x) / width;
        let shift = V::splat(mean);
        let square = |value: V| value.sub(shift).mul(value.sub(shift));
        let add = |total: V, value: V| total.add(value);
        let variance = fold::<V>(x, 0.0, mean, square, add).reduce_add() / width;
        let inverse = V::splat(1.0 / math::sqrt(variance + eps));

        let (x, gamma, beta, out) = (x.as_ptr(), gamma.as_ptr(), beta.as_ptr(), out.as_mut_ptr());
        let mut at = 0;
        while at + V::LANES <= length {
            let normal = V::load(x.add(at)).sub(shift).mul(inverse);
            normal
                .mul_add(V::load(gamma.add(at)), V::load(beta.add(at)))
                .store(out.add(at));
            at += V::LANES;
        }
        if at < length {
            let left = length - at;
            let normal = V::load_part(x.add(at), left, mean).sub(shift).mul(inverse);
            let (gamma, beta) = (
                V::load_part(gamma.add(at), left, 0.0),
                V::load_part(beta.add(at), left, 0.0),
            );
            normal.mul_add(gamma, beta).store_part(out.add(at), left);
        }
    }
}

#[inline(always)]
pub(super) unsafe fn rms_norm<V: Vector>(x: &[f32], gamma: &[f32], eps: f32, out: &mut [f32]) {
    // x, gamma, out [C]
    let length = x.len();
    // SAFETY: `dot` stays inside `x`; every load and store below is at `at` + lanes ≤ length of all three slices.
    unsafe {
        let inverse = V::splat(1.0 / math::sqrt(dot::<V>(x, x) / length as f32 + eps));
        let (x, gamma, out) = (x.as_ptr(), gamma.as_ptr(), out.as_mut_ptr());
        let mut at = 0;
        while at + V::LANES <= length {
            V::load(x.add(at))
                .mul(inverse)
                .mul(V::load(gamma.add(at)))
                .store(out.add(at));
            at += V::LANES;
        }
        if at < length {
            let left = length - at;
            let gamma = V::load_part(gamma.add(at), left, 0.0);
            V::load_part(x.add(at), left, 0.0)
                .mul(inverse)
                .mul(gamma)
                .store_part(out.add(at), left);
        }
    }
}

#[inline(always)]
pub(super) unsafe fn relu<V: Vector>(x: &mut [f32]) {
    // x [N]
    // SAFETY: `map` stays inside `x`; the instruction set is the caller's promise.
    unsafe {
        let zero = V::splat(0.0);
        let bend = |value: V| value.select_lt(zero, zero, value);
        map::<V>(x, 0.0, bend);
    }
}

#[inline(always)]
pub(super) unsafe fn gelu<V: Vector>(x: &mut [f32]) {
    // x [N]
    // SAFETY: `map` stays inside `x`; the instruction set is the caller's promise.
    unsafe {
        let (zero, one) = (V::splat(0.0), V::splat(1.0));
        let bend = |value: V| {
            let tail = normal_tail(value.max(zero.sub(value)));
            value.mul(value.select_lt(zero, tail, one.sub(tail)))
        };
        map::<V>(x, 0.0, bend);
    }
}

/// exp(x) for x up to 88, within 2 units in the last place; exactly 0 below −87.3, where f32 would leave its normal range.
///
/// x = n ln 2 + r with |r| ≤ ln 2 / 2, and exp(r) from the polynomial of the Cephes library (Moshier, `expf.c`). ln 2 is taken off
/// in two parts, the first of which has so few digits that n times it is exact.
#[inline(always)]
unsafe fn exp_below_88<V: Vector>(x: V) -> V {
    const LOWEST: f32 = -87.3;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    const SERIES: [f32; 6] = [
        1.987_569_1e-4,
        1.398_2e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        1.666_666_5e-1,
        0.5,
    ];
    // SAFETY: arithmetic alone; the instruction set is the caller's promise.
    unsafe {
        let kept = x.max(V::splat(LOWEST));
        let n = kept.mul(V::splat(std::f32::consts::LOG2_E)).round();
        let r = n.mul_add(V::splat(-LN_2_LOW), n.mul_add(V::splat(-LN_2_HIGH), kept));
        let mut series = V::splat(SERIES[0]);
        for coefficient in &SERIES[1..] {
            series = series.mul_add(r, V::splat(*coefficient));
        }
        let power = series
            .mul_add(r.mul(r), r.add(V::splat(1.0)))
            .mul(n.exp2_whole());
        x.select_lt(V::splat(LOWEST), V::splat(0.0), power)
    }
}

/// 1 − Φ(z) = erfc(z/√2)/2 for z ≥ 0, within 1e-7: Abramowitz and Stegun 1964, formula 7.1.26.
#[inline(always)]
unsafe fn normal_tail<V: Vector>(z: V) -> V {
    const P: f32 = 0.327_591_1 * std::f32::consts::FRAC_1_SQRT_2;
    const SERIES: [f32; 5] = [
        1.061_405_4,
        -1.453_152,
        1.421_413_7,
        -0.284_496_74,
        0.254_829_6,
    ];
    // SAFETY: arithmetic alone; the instruction set is the caller's promise.
    unsafe {
        let t = V::splat(1.0).div(z.mul_add(V::splat(P), V::splat(1.0)));
        let mut series = V::splat(SERIES[0]);
        for coefficient in &SERIES[1..] {
            series = series.mul_add(t, V::splat(*coefficient));
        }
        let bell = exp_below_88(z.mul(z).mul(V::splat(-0.5)));
        series.mul(t).mul(bell).mul(V::splat(0.5))
    }
}
