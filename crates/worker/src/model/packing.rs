//! Forms of a model's matrices in memory.

use engine::parameters::MatrixForm;
use engine::quant::Type;
use serde::{Deserialize, Serialize};

/// A form of matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Packing {
    /// Plain numbers of four bytes.
    F32,
    /// 32 numbers of 8 bits with a scale.
    Q8_0,
    /// 32 numbers of 4 bits with a scale.
    Q4_0,
    /// As the file has them, also where products with them are slow; random weights are plain
    /// numbers.
    Stored,
}

impl Packing {
    /// The forms that any matrix can be brought into, from the most exact to the smallest.
    pub const ALL: [Self; 3] = [Self::F32, Self::Q8_0, Self::Q4_0];

    /// The engine's form.
    pub fn form(self) -> MatrixForm {
        match self {
            Self::Stored => MatrixForm::Stored,
            other => MatrixForm::In(other.kind()),
        }
    }

    /// The type of matrices that are drawn in this form.
    pub fn kind(self) -> Type {
        match self {
            Self::F32 | Self::Stored => Type::F32,
            Self::Q8_0 => Type::Q8_0,
            Self::Q4_0 => Type::Q4_0,
        }
    }

    /// Its name in addresses and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Q8_0 => "q8_0",
            Self::Q4_0 => "q4_0",
            Self::Stored => "stored",
        }
    }

    /// The form of a name, in capitals or not.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .chain([Self::Stored])
            .find(|packing| packing.name().eq_ignore_ascii_case(name))
    }
}
