//! The result of a cell: named tensors, texts, and the engine calls that made them.

use engine::rng::{fnv1a64, mix};
use litemap::LiteMap;
use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};
use serde::{Deserialize, Serialize};

use crate::frame::shown::Call;

/// A named result. Values are kept as `f64`, which holds every `f32` and every count exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tensor {
    /// The values, any number of axes.
    pub values: ArrayD<f64>,
}

impl Tensor {
    /// Copies a tensor of the engine.
    pub fn from_f32<S: Data<Elem = f32>, D: Dimension>(array: &ArrayBase<S, D>) -> Self {
        Self {
            values: array.mapv(f64::from).into_dyn(),
        }
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        self.values.shape()
    }

    /// One element; a scalar has the empty index.
    pub fn at(&self, index: &[usize]) -> Option<f64> {
        self.values.get(IxDyn(index)).copied()
    }

    /// Rows and columns of a matrix, a vector counted as one row and a scalar as 1 x 1; `None`
    /// above two axes.
    pub fn rows_cols(&self) -> Option<(usize, usize)> {
        match *self.shape() {
            [] => Some((1, 1)),
            [n] => Some((1, n)),
            [r, c] => Some((r, c)),
            _ => None,
        }
    }

    /// The element at a row and column of the view that [`Tensor::rows_cols`] gives.
    pub fn cell(&self, row: usize, col: usize) -> Option<f64> {
        match self.shape().len() {
            0 => self.at(&[]),
            1 => self.at(&[col]),
            _ => self.at(&[row, col]),
        }
    }
}

/// Result of a cell for its inputs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Computation {
    /// Tensors by name, as `data-from` writes it.
    pub tensors: LiteMap<String, Tensor>,
    /// Lists of words that belong to the numbers (tokens, names of rows).
    pub texts: LiteMap<String, Vec<String>>,
    /// The engine functions that ran, in order.
    pub calls: Vec<Call>,
}

impl Computation {
    /// A tensor by name.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    /// One element of a tensor, `None` where name or index does not exist.
    pub fn at(&self, name: &str, index: &[usize]) -> Option<f64> {
        self.tensor(name)?.at(index)
    }

    /// A list of words, empty where there is none of that name.
    pub fn words(&self, name: &str) -> &[String] {
        self.texts.get(name).map_or(&[], Vec::as_slice)
    }

    /// A hash of the names, shapes, values to the last bit, and words: two results that show the
    /// same have the same one.
    pub fn fingerprint(&self) -> u64 {
        let join = |hash: u64, next: u64| mix(hash ^ next);
        let mut hash = 0;
        for (name, tensor) in &self.tensors {
            hash = join(hash, fnv1a64(name));
            for &length in tensor.shape() {
                hash = join(hash, length as u64);
            }
            for value in &tensor.values {
                hash = join(hash, value.to_bits());
            }
        }
        for (name, words) in &self.texts {
            hash = join(hash, fnv1a64(name));
            for word in words {
                hash = join(hash, fnv1a64(word));
            }
        }
        hash
    }

    /// The element that a reference such as `weights[0,2]` or `entropy` names.
    pub fn resolve(&self, reference: &str) -> Option<f64> {
        let (name, index) = parse_reference(reference)?;
        self.at(name, &index)
    }
}

/// Splits `weights[0,2]` into a name and an index; a bare name has the empty index.
pub fn parse_reference(reference: &str) -> Option<(&str, Vec<usize>)> {
    let reference = reference.trim();
    let Some((name, rest)) = reference.split_once('[') else {
        return (!reference.is_empty()).then(|| (reference, Vec::new()));
    };
    let inside = rest.strip_suffix(']')?;
    let index: Option<Vec<usize>> = inside.split(',').map(|i| i.trim().parse().ok()).collect();
    Some((name.trim(), index?))
}

/// Writes a reference as `data-from` holds it: the inverse of [`parse_reference`].
pub fn reference(name: &str, index: &[usize]) -> String {
    if index.is_empty() {
        return name.to_owned();
    }
    let list: Vec<String> = index.iter().map(usize::to_string).collect();
    format!("{name}[{}]", list.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr2;

    #[test]
    fn references_round_trip() {
        for (name, index) in [
            ("weights", vec![0, 2]),
            ("entropy", vec![]),
            ("heads.q", vec![1, 2, 3]),
        ] {
            let text = reference(name, &index);
            assert_eq!(parse_reference(&text), Some((name, index)));
        }
        assert_eq!(parse_reference("a[1,"), None);
        assert_eq!(parse_reference("a[x]"), None);
        assert_eq!(parse_reference(""), None);
    }

    #[test]
    fn the_fingerprint_tells_the_last_bit_of_a_value_and_its_place() {
        let of = |values: [f32; 2], word: &str| {
            let mut c = Computation::default();
            let tensor = Tensor::from_f32(&arr2(&[values]));
            c.tensors.insert("w".into(), tensor);
            c.texts.insert("tokens".into(), vec![word.to_owned()]);
            c.fingerprint()
        };
        let known = of([0.25, 0.75], "cat");
        assert_eq!(of([0.25, 0.75], "cat"), known);
        let next = f32::from_bits(0.75_f32.to_bits() + 1);
        for (values, word) in [
            ([0.25, next], "cat"),
            ([0.75, 0.25], "cat"),
            ([0.25, 0.75], "mat"),
        ] {
            assert_ne!(of(values, word), known);
        }
    }

    #[test]
    fn resolves_elements_and_refuses_what_is_not_there() {
        let mut c = Computation::default();
        c.tensors
            .insert("w".into(), Tensor::from_f32(&arr2(&[[0.25_f32, 0.75]])));
        assert_eq!(c.resolve("w[0,1]"), Some(0.75));
        assert_eq!(c.resolve("w[1,0]"), None);
        assert_eq!(c.resolve("w[0]"), None);
        assert_eq!(c.resolve("v"), None);
    }
}
