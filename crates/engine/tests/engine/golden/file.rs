//! Reading `tests/golden/engine/*.json` and comparing with it.

use engine::ndarray::{Array1, Array2, ArrayD, ArrayViewD, Dimension, Ix1, Ix2, Ix3, Ix4, IxDyn};
use serde_json::Value;

/// One case of a file: named tensors.
pub(crate) struct Case {
    place: String,
    tensors: Value,
}

/// The case `case` of `tests/golden/engine/FILE.json`.
pub(crate) fn case(file: &str, case: &str) -> Case {
    let path = format!(
        "{}/../../tests/golden/engine/{file}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let whole: Value = serde_json::from_str(&text).unwrap();
    for key in ["script", "torch", "numpy", "seed"] {
        assert!(
            !whole["header"][key].is_null(),
            "{path}: the header does not say {key}"
        );
    }
    let tensors = whole["cases"][case].clone();
    assert!(tensors.is_object(), "{path}: no case {case}");
    Case {
        place: format!("{file}/{case}"),
        tensors,
    }
}

impl Case {
    /// A tensor of any number of axes; true and false read as 1 and 0.
    pub(crate) fn any(&self, name: &str) -> ArrayD<f32> {
        let tensor = &self.tensors[name];
        let list = |key: &str| {
            tensor[key]
                .as_array()
                .unwrap_or_else(|| panic!("{}: no tensor {name}", self.place))
                .clone()
        };
        let shape: Vec<usize> = list("shape")
            .iter()
            .map(|n| n.as_u64().unwrap() as usize)
            .collect();
        let number = |value: &Value| match value {
            Value::Bool(truth) => f32::from(u8::from(*truth)),
            Value::String(text) if text == "-inf" => f32::NEG_INFINITY,
            // The nine digits are read as f32 directly: by way of f64 they would be rounded twice.
            other => other.to_string().parse().unwrap(),
        };
        ArrayD::from_shape_vec(IxDyn(&shape), list("data").iter().map(number).collect()).unwrap()
    }

    fn with_axes<D: Dimension>(&self, name: &str) -> engine::ndarray::Array<f32, D> {
        self.any(name)
            .into_dimensionality()
            .unwrap_or_else(|error| panic!("{} {name}: {error}", self.place))
    }

    pub(crate) fn one(&self, name: &str) -> Array1<f32> {
        self.with_axes::<Ix1>(name)
    }

    pub(crate) fn two(&self, name: &str) -> Array2<f32> {
        self.with_axes::<Ix2>(name)
    }

    pub(crate) fn three(&self, name: &str) -> engine::ndarray::Array3<f32> {
        self.with_axes::<Ix3>(name)
    }

    pub(crate) fn four(&self, name: &str) -> engine::ndarray::Array4<f32> {
        self.with_axes::<Ix4>(name)
    }

    /// Compares with the stored tensor, prints the largest difference, and panics where it is above
    /// the tolerance. Infinities must be the same ones.
    #[track_caller]
    pub(crate) fn check(&self, name: &str, found: ArrayViewD<'_, f32>, tolerance: f32) {
        let expected = self.any(name);
        assert_eq!(
            found.shape(),
            expected.shape(),
            "{} {name}: shape",
            self.place
        );
        let mut largest = 0.0f32;
        for (&found, &expected) in found.iter().zip(&expected) {
            if found == expected {
                continue;
            }
            let difference = (found - expected).abs();
            assert!(
                difference <= tolerance,
                "{} {name}: found {found}, expected {expected}",
                self.place
            );
            largest = largest.max(difference);
        }
        println!(
            "{:<28} {name:<20} largest difference {largest:.1e} (allowed {tolerance:.0e})",
            self.place
        );
    }
}
