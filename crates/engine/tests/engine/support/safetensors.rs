//! The tensors of a safetensors file, for tests of models.

use engine::format::safetensors::SafeTensors;
use engine::format::tensors::Tensors;
use engine::ndarray::ArrayD;
use engine::parameters::Parameters;
use std::path::Path;

/// All tensors of numbers as parameters.
pub(crate) fn parameters(path: &Path) -> Tensors {
    let bytes = std::fs::read(path).unwrap();
    SafeTensors::parse(bytes.into()).unwrap().tensors
}

/// All tensors of numbers, each with its name.
pub(crate) fn tensors(path: &Path) -> Vec<(String, ArrayD<f32>)> {
    let mut source = parameters(path);
    let names = source.names().into_iter();
    names
        .map(|name| {
            let tensor = source.read(&name).unwrap();
            (name, tensor)
        })
        .collect()
}
