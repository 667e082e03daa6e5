//! The angles of sinusoidal and rotary positions, pictured as the hands of clocks, and their
//! wavelengths.
//!
//! ```text
//! angles(positions, ω)[t, i] = positions[t] · ω[i]      positions [T], ω [D/2] -> [T, D/2], radians
//! wavelengths(ω)[i]          = 2π / ω[i]                ω [D/2] -> [D/2], positions a round
//! ```
//!
//! ```
//! use explain::angle::{angles, wavelengths};
//! use explain::rotary::frequencies;
//! let omega = frequencies(4, 10_000.0);
//! assert!((angles(&[5.0], &omega)[[0, 1]] - 0.05).abs() < 1e-6);
//! assert!((wavelengths(&omega)[0] - 6.283_185).abs() < 1e-5);
//! ```
//!
//! Angles are multiplied in f64. Source: Vaswani et al. 2017, section 3.5; Su et al. 2021
//! (RoFormer), section 3.2.

use ndarray::{Array1, Array2};

/// The angle of each hand at each position, in radians, not reduced to one round.
pub fn angles(positions: &[f32], frequencies: &[f32]) -> Array2<f32> {
    // positions [T], frequencies [D/2] -> [T, D/2]
    Array2::from_shape_fn((positions.len(), frequencies.len()), |(t, i)| {
        (f64::from(positions[t]) * f64::from(frequencies[i])) as f32
    })
}

/// The positions that each hand takes for one round; infinite for a hand that does not move.
pub fn wavelengths(frequencies: &[f32]) -> Array1<f32> {
    // frequencies [D/2] -> [D/2]
    frequencies
        .iter()
        .map(|&omega| (std::f64::consts::TAU / f64::from(omega)) as f32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_is_back_after_one_wavelength() {
        let omega = [1.0, 0.25];
        let waves = wavelengths(&omega);
        let turned = angles(waves.as_slice().unwrap(), &omega);
        assert!((turned[[0, 0]] - std::f32::consts::TAU).abs() < 1e-6);
        assert!((turned[[1, 1]] - std::f32::consts::TAU).abs() < 1e-6);
        assert!(wavelengths(&[0.0])[0].is_infinite());
    }
}
