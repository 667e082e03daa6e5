//! The mean of some checkpoints of one training run, parameter by parameter.
//!
//! ```text
//! θ̄ = (θ_1 + … + θ_n) / n        one θ for each checkpoint; parameters of the same name are averaged
//! ```
//! The sums are kept in double precision, so the mean of equal checkpoints is the checkpoint, to the
//! last bit.
//!
//! ```
//! use engine::parameters::{Memory, Parameters};
//! use explain::averaged::averaged;
//! use ndarray::array;
//! let checkpoint = |first: f32| {
//!     let mut parameters = Memory::default();
//!     parameters.insert("a.bias", array![first, 2.0].into_dyn());
//!     parameters
//! };
//! let mut mean = averaged(&[checkpoint(1.0), checkpoint(4.0)])?;
//! assert_eq!(mean.read("a.bias")?, array![2.5, 2.0].into_dyn());
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 6.1.

use engine::error::{EngineError, Result};
use engine::parameters::{Memory, Parameters, expect_shape};
use ndarray::ArrayD;

/// The mean of each parameter over some checkpoints.
///
/// # Errors
/// When there is no checkpoint, or they do not have the same parameters with the same shapes.
pub fn averaged(checkpoints: &[Memory]) -> Result<Memory> {
    let Some((first, others)) = checkpoints.split_first() else {
        return Err(EngineError::value(
            "averaged",
            "checkpoints",
            "at least 1",
            0,
        ));
    };
    for other in others {
        for (name, tensor) in other.iter() {
            expect_shape(first.shape(name), name, tensor.shape())?;
        }
    }
    let mut mean = Memory::default();
    for (name, tensor) in first.iter() {
        let mut sum: ArrayD<f64> = tensor.mapv(f64::from);
        for other in others {
            expect_shape(other.shape(name), name, tensor.shape())?;
            let found = other.iter().find(|(own, _)| *own == name);
            if let Some((_, values)) = found {
                sum.zip_mut_with(values, |sum, &value| *sum += f64::from(value));
            }
        }
        let count = checkpoints.len() as f64;
        mean.insert(name, sum.mapv(|sum| (sum / count) as f32));
    }
    Ok(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::rng::Rng;
    use ndarray::{Array1, Array2, array};

    fn checkpoint(seed: u64) -> Memory {
        let mut rng = Rng::new(seed);
        let mut parameters = Memory::default();
        let matrix = Array2::from_shape_simple_fn((3, 4), || rng.uniform());
        let bias = Array1::from_shape_simple_fn(3, || rng.uniform());
        parameters.insert("a.weight", matrix.into_dyn());
        parameters.insert("a.bias", bias.into_dyn());
        parameters
    }

    #[test]
    fn each_number_is_the_mean_of_its_own() {
        let all: Vec<Memory> = (1..=5).map(checkpoint).collect();
        let mut mean = averaged(&all).unwrap();
        for name in ["a.weight", "a.bias"] {
            let found = mean.read(name).unwrap();
            let mut expected = found.mapv(|_| 0.0);
            for one in &all {
                expected += &(one.clone().read(name).unwrap() / 5.0);
            }
            let largest = (&found - &expected).fold(0.0_f32, |most, x| most.max(x.abs()));
            assert!(largest < 1e-6, "{name}: {largest}");
        }
    }

    #[test]
    fn one_checkpoint_is_its_own_mean() {
        let one = checkpoint(7);
        let mean = averaged(&[one.clone(), one.clone(), one.clone()]).unwrap();
        assert!(mean.iter().eq(one.iter()));
    }

    #[test]
    fn checkpoints_of_other_models_are_refused() {
        assert!(averaged(&[]).is_err());
        let mut wide = checkpoint(1);
        wide.insert("a.bias", array![1.0, 2.0].into_dyn());
        let error = averaged(&[checkpoint(1), wide]).unwrap_err().to_string();
        assert!(error.contains("a.bias"), "{error}");
        let mut more = checkpoint(1);
        more.insert("b.bias", array![1.0].into_dyn());
        for pair in [[checkpoint(1), more.clone()], [more, checkpoint(1)]] {
            let error = averaged(&pair).unwrap_err().to_string();
            assert!(error.contains("b.bias"), "{error}");
        }
    }
}
