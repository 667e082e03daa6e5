//! The fast algorithms on one row: reductions, softmax, norms and activation functions; `unsafe`
//! for the reasons that [`super::generic`] gives, so each needs a machine with the instruction set
//! of `V`.
//!
//! A remainder shorter than a vector is filled up with a neutral number: 0 in a sum, −∞ in a
//! maximum or a softmax, the mean in a variance.

use super::generic::dot;
use super::vector::Vector;
use crate::math;

/// Replaces each vector of a slice by an expression of it; the remainder is filled up. A macro,
/// because a closure is compiled without the instruction set. To be used in an `unsafe` block.
macro_rules! map {
    ($vector:ty, $x:expr, $fill:expr, |$value:ident| $change:expr) => {
        let (length, x) = ($x.len(), $x.as_mut_ptr());
        let mut at = 0;
        while at < length {
            let $value = <$vector>::load_up_to(x.add(at), length - at, $fill);
            $change.store_up_to(x.add(at), length - at);
            at += <$vector>::LANES;
        }
    };
}

/// Folds the vectors of a slice into four, in turn; the remainder is filled up. A macro for the
/// same reason as `map`.
macro_rules! fold {
    ($vector:ty, $x:expr, $start:expr, $fill:expr, |$total:ident, $value:ident| $join:expr) => {{
        let (length, x) = ($x.len(), $x.as_ptr());
        let mut totals = [<$vector>::splat($start); 4];
        let mut at = 0;
        while at + 4 * <$vector>::LANES <= length {
            for n in 0..4 {
                let ($total, $value) =
                    (totals[n], <$vector>::load(x.add(at + n * <$vector>::LANES)));
                totals[n] = $join;
            }
            at += 4 * <$vector>::LANES;
        }
        while at < length {
            let ($total, $value) = (
                totals[0],
                <$vector>::load_up_to(x.add(at), length - at, $fill),
            );
            totals[0] = $join;
            at += <$vector>::LANES;
        }
        totals
    }};
}

/// The sum of all lanes of four vectors.
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
unsafe fn total<V: Vector>([a, b, c, d]: [V; 4]) -> f32 {
    // SAFETY: arithmetic alone; the instruction set is the caller's promise.
    unsafe { a.add(b).add(c.add(d)).reduce_add() }
}

/// The sum Σᵢ xᵢ.
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
pub(crate) unsafe fn sum<V: Vector>(x: &[f32]) -> f32 {
    // x [N] -> scalar
    // SAFETY: `fold` reads up to `length`; the instruction set is the caller's promise.
    unsafe { total(fold!(V, x, 0.0, 0.0, |total, value| total.add(value))) }
}

/// The largest element, as [`crate::max`].
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
pub(crate) unsafe fn max<V: Vector>(x: &[f32]) -> f32 {
    // x [N] -> scalar
    // SAFETY: `fold` reads up to `length`; the instruction set is the caller's promise.
    unsafe {
        let least = f32::NEG_INFINITY;
        let [a, b, c, d] = fold!(V, x, least, least, |largest, value| largest.max(value));
        a.max(b).max(c.max(d)).reduce_max()
    }
}

/// The softmax in place, as [`crate::softmax`].
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
pub(crate) unsafe fn softmax<V: Vector>(x: &mut [f32]) {
    // x [N]
    // SAFETY: `max` and `map` stay inside `x`; the instruction set is the caller's promise.
    unsafe {
        let largest = max::<V>(x);
        if largest == f32::NEG_INFINITY {
            x.fill(0.0);
            return;
        }
        let (shift, mut total) = (V::splat(largest), V::splat(0.0));
        map!(V, x, f32::NEG_INFINITY, |value| {
            let power = exp_below_88(value.sub(shift));
            total = total.add(power);
            power
        });
        let total = V::splat(total.reduce_add());
        map!(V, x, 0.0, |value| value.div(total));
    }
}

/// A layer norm, as [`crate::layer_norm`].
///
/// # Safety
/// The machine has the instruction set of `V`, and the slices have the same length.
#[inline(always)]
pub(crate) unsafe fn layer_norm<V: Vector>(
    x: &[f32],
    gamma: &[f32],
    beta: &[f32],
    eps: f32,
    out: &mut [f32],
) {
    // x, gamma, beta, out [C]
    let (length, width) = (x.len(), x.len() as f32);
    // SAFETY: `sum` and `fold` stay inside `x`; below, `length` − `at` numbers remain in all four
    // slices.
    unsafe {
        let mean = sum::<V>(x) / width;
        let shift = V::splat(mean);
        let squares = fold!(V, x, 0.0, mean, |total, value| {
            let distance = value.sub(shift);
            distance.mul_add(distance, total)
        });
        let inverse = V::splat(1.0 / math::sqrt(total(squares) / width + eps));

        let (x, gamma, beta, out) = (x.as_ptr(), gamma.as_ptr(), beta.as_ptr(), out.as_mut_ptr());
        let mut at = 0;
        while at < length {
            let left = length - at;
            let normal = V::load_up_to(x.add(at), left, mean).sub(shift).mul(inverse);
            let (gamma, beta) = (
                V::load_up_to(gamma.add(at), left, 0.0),
                V::load_up_to(beta.add(at), left, 0.0),
            );
            normal.mul_add(gamma, beta).store_up_to(out.add(at), left);
            at += V::LANES;
        }
    }
}

/// An RMS norm, as [`crate::rms_norm`].
///
/// # Safety
/// The machine has the instruction set of `V`, and the slices have the same length.
#[inline(always)]
pub(crate) unsafe fn rms_norm<V: Vector>(x: &[f32], gamma: &[f32], eps: f32, out: &mut [f32]) {
    // x, gamma, out [C]
    let length = x.len();
    // SAFETY: `dot` stays inside `x`; below, `length` − `at` numbers remain in all three slices.
    unsafe {
        let inverse = V::splat(1.0 / math::sqrt(dot::<V>(x, x) / length as f32 + eps));
        let (x, gamma, out) = (x.as_ptr(), gamma.as_ptr(), out.as_mut_ptr());
        let mut at = 0;
        while at < length {
            let left = length - at;
            let gamma = V::load_up_to(gamma.add(at), left, 0.0);
            V::load_up_to(x.add(at), left, 0.0)
                .mul(inverse)
                .mul(gamma)
                .store_up_to(out.add(at), left);
            at += V::LANES;
        }
    }
}

/// ReLU in place.
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
pub(crate) unsafe fn relu<V: Vector>(x: &mut [f32]) {
    // x [N]
    // SAFETY: `map` stays inside `x`; the instruction set is the caller's promise.
    unsafe {
        let zero = V::splat(0.0);
        map!(V, x, 0.0, |value| value.select_lt(zero, zero, value));
    }
}

/// GELU in place: x · Φ(x).
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
pub(crate) unsafe fn gelu<V: Vector>(x: &mut [f32]) {
    // x [N]
    // SAFETY: `map` stays inside `x`; the instruction set is the caller's promise.
    unsafe {
        let (zero, one) = (V::splat(0.0), V::splat(1.0));
        map!(V, x, 0.0, |value| {
            let tail = normal_tail(value.max(zero.sub(value)));
            value.mul(value.select_lt(zero, tail, one.sub(tail)))
        });
    }
}

/// The exponential in place, of numbers up to 88.
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
pub(crate) unsafe fn exp<V: Vector>(x: &mut [f32]) {
    // x [N]
    // SAFETY: `map` stays inside `x`; the instruction set is the caller's promise.
    unsafe {
        map!(V, x, 0.0, |value| exp_below_88(value));
    }
}

/// SiLU in place: x / (1 + exp(−x)).
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
pub(crate) unsafe fn silu<V: Vector>(x: &mut [f32]) {
    // x [N]
    // SAFETY: `map` stays inside `x`; the instruction set is the caller's promise.
    unsafe {
        map!(V, x, 0.0, |value| sigmoid_times(value, value));
    }
}

/// GELU in place, by the approximation with tanh.
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
pub(crate) unsafe fn gelu_tanh<V: Vector>(x: &mut [f32]) {
    // x [N]
    // (1 + tanh z) / 2 = 1 / (1 + exp(−2 z)), and 2 √(2/π) = 1.5957691.
    const FACTOR: f32 = 1.595_769_2;
    // SAFETY: `map` stays inside `x`; the instruction set is the caller's promise.
    unsafe {
        let (one, cubic) = (V::splat(1.0), V::splat(0.044_715));
        map!(V, x, 0.0, |value| {
            let inner = cubic.mul(value.mul(value)).add(one).mul(value);
            sigmoid_times(inner.mul(V::splat(FACTOR)), value)
        });
    }
}

/// The quotient value / (1 + exp(−z)).
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
unsafe fn sigmoid_times<V: Vector>(z: V, value: V) -> V {
    // SAFETY: arithmetic alone; the instruction set is the caller's promise.
    unsafe {
        // exp(−|z|) never overflows: 1 / (1 + e) for z ≥ 0, e / (1 + e) below. NaN goes through.
        let (zero, one) = (V::splat(0.0), V::splat(1.0));
        let negative = zero.sub(z);
        let power = exp_below_88(z.select_lt(zero, z, negative));
        let above = z.select_lt(zero, power, one);
        value.mul(above).div(one.add(power))
    }
}

/// The exponential exp(x) for x up to 88, within 2 units in the last place; exactly 0 below −87.3,
/// where f32 would leave its normal range.
///
/// x = n ln 2 + r with |r| ≤ ln 2 / 2, and exp(r) from the polynomial of the Cephes library
/// (Moshier, `expf.c`). ln 2 is subtracted in two parts, the first of which has so few digits that
/// n times it is exact.
///
/// # Safety
/// The machine has the instruction set of `V`.
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

/// The tail 1 − Φ(z) = erfc(z/√2)/2 for z ≥ 0, within 1e-7: Abramowitz and Stegun 1964, formula
/// 7.1.26.
///
/// # Safety
/// The machine has the instruction set of `V`.
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
