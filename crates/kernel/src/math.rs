//! Elementary functions that give the same bits natively and in wasm.
//!
//! `f32::exp` and its kind call the platform's C library or compiler runtime, so their last bit
//! depends on where they run. These call the `libm` crate (a port of musl's), which is plain Rust
//! arithmetic in a fixed order and is compiled into every build. A square root alone is the
//! processor's own: IEEE 754 says its last bit. The functions here work on `f32`; [`double`] holds
//! their `f64` twins.
//!
//! ```
//! assert_eq!(kernel::math::exp(0.0), 1.0);
//! assert_eq!(kernel::math::exp(f32::NEG_INFINITY), 0.0);
//! assert_eq!(kernel::math::exp(1.0).to_bits(), 0x402d_f854);
//! ```

/// e to the power `x`.
pub fn exp(x: f32) -> f32 {
    libm::expf(x)
}

/// Natural logarithm; NaN below 0, −∞ at 0.
pub fn ln(x: f32) -> f32 {
    libm::logf(x)
}

/// Hyperbolic tangent.
pub fn tanh(x: f32) -> f32 {
    libm::tanhf(x)
}

/// Sine of an angle in radians.
pub fn sin(x: f32) -> f32 {
    libm::sinf(x)
}

/// Cosine of an angle in radians.
pub fn cos(x: f32) -> f32 {
    libm::cosf(x)
}

/// The angle in radians, 0 to π, whose cosine is `x`; NaN outside −1 to 1.
pub fn acos(x: f32) -> f32 {
    libm::acosf(x)
}

/// Error function, (2/√π) ∫₀ˣ exp(−t²) dt.
pub fn erf(x: f32) -> f32 {
    libm::erff(x)
}

/// Square root, correctly rounded.
pub fn sqrt(x: f32) -> f32 {
    x.sqrt()
}

/// `x` to the power `y`.
pub fn pow(x: f32, y: f32) -> f32 {
    libm::powf(x, y)
}

/// The same functions on `f64`, for angles and random numbers, where `f32` would lose digits on the
/// way.
pub mod double {
    /// e to the power `x`.
    pub fn exp(x: f64) -> f64 {
        libm::exp(x)
    }

    /// Natural logarithm; NaN below 0, −∞ at 0.
    pub fn ln(x: f64) -> f64 {
        libm::log(x)
    }

    /// Hyperbolic tangent.
    pub fn tanh(x: f64) -> f64 {
        libm::tanh(x)
    }

    /// Sine of an angle in radians.
    pub fn sin(x: f64) -> f64 {
        libm::sin(x)
    }

    /// Cosine of an angle in radians.
    pub fn cos(x: f64) -> f64 {
        libm::cos(x)
    }

    /// The angle in radians, 0 to π, whose cosine is `x`; NaN outside −1 to 1.
    pub fn acos(x: f64) -> f64 {
        libm::acos(x)
    }

    /// Error function, (2/√π) ∫₀ˣ exp(−t²) dt.
    pub fn erf(x: f64) -> f64 {
        libm::erf(x)
    }

    /// Square root, correctly rounded.
    pub fn sqrt(x: f64) -> f64 {
        x.sqrt()
    }

    /// `x` to the power `y`.
    pub fn pow(x: f64, y: f64) -> f64 {
        libm::pow(x, y)
    }
}
