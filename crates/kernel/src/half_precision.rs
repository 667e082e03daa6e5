//! Numbers in half precision (IEEE 754 binary16: a sign, five bits of exponent, ten of the number) as
//! `f32`, which holds each of them exactly.

/// 2¹¹²: the bias of the exponent is 127 in `f32` and 15 in half precision.
pub(crate) const BIAS: f32 = f32::from_bits((127 + 112) << 23);

/// The value of a number in half precision. No branch, so that loops over it become vectors; this
/// also needs no instruction of its own and no `half` crate.
pub(crate) fn widened(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let (sign, magnitude) = ((bits & 0x8000) << 16, bits & 0x7fff);
    // Exact, also for numbers below the smallest normal one.
    let number = (f32::from_bits(magnitude << 13) * BIAS).to_bits();
    // Infinity and NaN have the largest exponent in both.
    let largest = if magnitude < 0x7c00 { 0 } else { 0x7f80_0000 };
    f32::from_bits(sign | largest | number)
}

/// The values of numbers in half precision.
///
/// # Panics
/// When there are not as many places as numbers.
pub fn widen(halves: &[u16], out: &mut [f32]) {
    assert_eq!(halves.len(), out.len(), "numbers and places");
    for (out, &bits) in out.iter_mut().zip(halves) {
        *out = widened(bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value by the definition of the format.
    fn defined(bits: u16) -> f64 {
        let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
        match exponent {
            0 => sign * fraction * 2.0_f64.powi(-24),
            31 if fraction == 0.0 => sign * f64::INFINITY,
            31 => f64::NAN,
            _ => sign * (1.0 + fraction / 1024.0) * 2.0_f64.powi(exponent - 15),
        }
    }

    #[test]
    fn every_number_has_its_value() {
        // Miri is slow.
        let step = if cfg!(miri) { 97 } else { 1 };
        for bits in (0..=u16::MAX).step_by(step) {
            let mut out = [0.0];
            widen(&[bits], &mut out);
            let (found, expected) = (f64::from(out[0]), defined(bits));
            assert_eq!(found.is_nan(), expected.is_nan(), "{bits:#x}");
            let same = found == expected && found.is_sign_negative() == (bits >> 15 == 1);
            assert!(
                same || expected.is_nan(),
                "{bits:#x}: {found} for {expected}"
            );
        }
    }
}
