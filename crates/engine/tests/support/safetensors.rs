//! The f32 tensors of a trusted safetensors file, for tests of models.

use engine::ndarray::{ArrayD, IxDyn};
use engine::parameters::Memory;
use serde_json::Value;
use std::path::Path;

/// All f32 tensors, each with its name.
pub(crate) fn tensors(path: &Path) -> Vec<(String, ArrayD<f32>)> {
    let bytes = std::fs::read(path).unwrap();
    let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
    let (header, data) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let header: Value = serde_json::from_slice(header).unwrap();
    let f32s = header.as_object().unwrap().iter();
    let f32s = f32s.filter(|(_, entry)| entry["dtype"] == "F32");
    let read = |(name, entry): (&String, &Value)| {
        let list = |key: &str| -> Vec<usize> {
            let list = entry[key].as_array().unwrap().iter();
            list.map(|n| n.as_u64().unwrap() as usize).collect()
        };
        let place = list("data_offsets");
        let numbers = data[place[0]..place[1]].chunks_exact(4);
        let numbers = numbers.map(|b| f32::from_le_bytes(b.try_into().unwrap()));
        let tensor = ArrayD::from_shape_vec(IxDyn(&list("shape")), numbers.collect());
        (name.clone(), tensor.unwrap())
    };
    f32s.map(read).collect()
}

/// All f32 tensors as parameters.
#[allow(dead_code, reason = "not every test loads a model")]
pub(crate) fn parameters(path: &Path) -> Memory {
    let mut source = Memory::default();
    for (name, tensor) in tensors(path) {
        source.insert(name, tensor);
    }
    source
}
