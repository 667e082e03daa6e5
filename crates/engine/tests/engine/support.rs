//! Small models that the formula fills, and files of tensors.

pub(crate) mod safetensors;
pub(crate) mod small;
pub(crate) mod small_encoders;
