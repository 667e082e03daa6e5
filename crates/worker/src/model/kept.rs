//! The type of a model's matrices in its file, told by the file's name, and the type in which they
//! are kept in memory: what a download will take is said before it starts.

use engine::quant::Type;

use super::packing::Packing;

/// Each type with its part of a file's name and the bits of a number, with its share of the scales.
/// The page has this table and not the engine's, which comes with the code of the formats.
static TYPES: [(Type, &str, f64); 11] = [
    (Type::F32, "f32", 32.0),
    (Type::F16, "f16", 16.0),
    (Type::Bf16, "bf16", 16.0),
    (Type::Q8_0, "q8_0", 8.5),
    (Type::Q6K, "q6_k", 6.5625),
    (Type::Q5_1, "q5_1", 6.0),
    (Type::Q5K, "q5_k", 5.5),
    (Type::Q5_0, "q5_0", 5.5),
    (Type::Q4_1, "q4_1", 5.0),
    (Type::Q4K, "q4_k", 4.5),
    (Type::Q4_0, "q4_0", 4.5),
];

/// The type of memory alone in which Q6_K is kept, likewise.
static KEPT: (Type, &str, f64) = (Type::Q6, "q6", 7.0);

/// The name of a type in lower case.
pub fn type_name(kind: Type) -> &'static str {
    row(kind).1
}

fn row(kind: Type) -> &'static (Type, &'static str, f64) {
    let found = TYPES.iter().chain([&KEPT]).find(|(own, ..)| *own == kind);
    found.unwrap_or(&TYPES[0])
}

/// The type of most matrices of a file, by the file's name: the last type in the name, or F32 for
/// llama2.c's format; `None` where the name says nothing.
pub fn named_type(name: &str) -> Option<Type> {
    let name = name.to_lowercase().replace("fp", "f");
    // Of two that end at the same letter, `f16` and `bf16`, the later one in the table counts.
    let said = TYPES
        .iter()
        .filter_map(|&(kind, own, _)| Some((name.rfind(own)? + own.len(), kind)))
        .max_by_key(|&(end, _)| end);
    match said {
        Some((_, kind)) => Some(kind),
        None => name.ends_with(".bin").then_some(Type::F32),
    }
}

/// The types that the matrices of a file may have, by the file's name, the one with the fewest
/// bytes in memory first: the same twice where the name says it, otherwise plain numbers of 32 or
/// 16 bits.
pub fn stored_types(name: &str) -> [Type; 2] {
    named_type(name).map_or([Type::F32, Type::Bf16], |kind| [kind, kind])
}

/// The type in which a matrix of a type is kept, by the reader's choice of a form, `None` for the
/// usual one.
pub fn kept_type(stored: Type, packing: Option<Packing>) -> Type {
    match (packing, stored) {
        (None, _) => stored.fast(),
        (Some(Packing::Stored), _) => stored,
        (Some(packing), _) => packing.kind(),
    }
}

/// The bytes in memory for each byte in the file, of a matrix of a type in a form.
pub fn kept_share(stored: Type, packing: Option<Packing>) -> f64 {
    row(kept_type(stored, packing)).2 / row(stored).2
}

/// About the fewest and the most bytes that the matrices in a file take while the model runs, by
/// the file's name and its size in bytes, in a form: the same twice where the name says the type.
/// The few matrices of other types that a file may have are counted like the rest.
pub fn kept_bytes(name: &str, file_bytes: u64, packing: Option<Packing>) -> [u64; 2] {
    stored_types(name).map(|stored| (file_bytes as f64 * kept_share(stored, packing)) as u64)
}

#[cfg(test)]
mod tests {
    use engine::format::gguf::Gguf;
    use engine::formula::fill;
    use engine::parameters::{MatrixForm, Parameters, Weight};
    use engine::quant::quantize;
    use tools::{TensorBytes, gguf};

    use super::super::counting_loader::{CountingLoader, LoadCounts};
    use super::*;

    const CHOICES: [Option<Packing>; 5] = [
        None,
        Some(Packing::Stored),
        Some(Packing::Q8_0),
        Some(Packing::Q4_0),
        Some(Packing::F32),
    ];

    #[test]
    fn every_type_has_its_name_and_its_bits() {
        for kind in Type::ALL.into_iter().chain([Type::Q6]) {
            let (own, name, bits) = *row(kind);
            assert_eq!(own, kind, "{}", kind.name());
            assert_eq!(name, kind.name().to_lowercase());
            assert_eq!(Type::from_name(type_name(kind)), Ok(kind));
            let (bytes, numbers) = (kind.block_bytes() as f64, kind.block_len() as f64);
            assert_eq!(bits, 8.0 * bytes / numbers, "{name}");
        }
    }

    #[test]
    fn bytes_in_memory_are_those_of_a_matrix_that_is_loaded() {
        let shape = [64, 512];
        let numbers = fill("numbers", 2, shape[0] * shape[1], 3);
        for kind in Type::ALL {
            let bytes = quantize(kind, &numbers).unwrap();
            let tensor = TensorBytes {
                name: "a.weight",
                shape: &shape,
                kind,
                bytes: &bytes,
            };
            let file = gguf::write(&[], &[tensor]).unwrap();
            let file = Gguf::parse(file.into()).unwrap();
            for packing in CHOICES {
                let mut ignore = |_| {};
                let counts = LoadCounts::new(&mut ignore);
                // As a model is opened from a file.
                let form = packing.map_or(MatrixForm::Fast, Packing::form);
                let source = Box::new(file.tensors.clone());
                let mut loader = CountingLoader::new(source, form, &counts);
                let loaded = loader.weight("a.weight", shape[0], shape[1]).unwrap();
                let Weight::Packed(matrix) = loaded else {
                    panic!("{} in {packing:?} is not packed", kind.name())
                };
                assert_eq!(
                    matrix.kind(),
                    kept_type(kind, packing),
                    "{} in {packing:?}",
                    kind.name()
                );
                let forecast = bytes.len() as f64 * kept_share(kind, packing);
                let share = forecast / counts.bytes() as f64;
                assert!(
                    (share - 1.0).abs() < 0.05,
                    "{} in {packing:?}: {share}",
                    kind.name()
                );
            }
        }
    }

    #[test]
    fn types_are_known_by_the_name_of_the_file() {
        for kind in Type::ALL {
            for name in [
                format!("model-{}.gguf", kind.name()),
                format!("f32.model.{}_M-00001-of-00002.gguf", type_name(kind)),
            ] {
                assert_eq!(named_type(&name), Some(kind), "{name}");
            }
        }
        assert_eq!(named_type("model-fp16.safetensors"), Some(Type::F16));
        assert_eq!(named_type("stories15M.bin"), Some(Type::F32));
        for name in ["model.safetensors", "model.gguf", "model-Q3_K.gguf", ""] {
            assert_eq!(named_type(name), None, "{name}");
        }
    }

    #[test]
    fn a_forecast_takes_the_readers_choice() {
        use Packing::{F32, Q4_0, Q8_0, Stored};
        for (name, packing, bytes) in [
            ("model-q8_0.gguf", None, [1000; 2]),
            ("model.Q4_0.gguf", None, [1000; 2]),
            ("stories.bin", None, [1000; 2]),
            ("stories.bin", Some(Q8_0), [265; 2]),
            ("model-f16.gguf", None, [1000; 2]),
            ("model-bf16.gguf", Some(Stored), [1000; 2]),
            ("model-f16.gguf", Some(F32), [2000; 2]),
            ("model-f16.gguf", Some(Q4_0), [281; 2]),
            ("model-Q4_K_M.gguf", None, [1111; 2]),
            ("model-Q4_K_M.gguf", Some(Stored), [1000; 2]),
            ("model-Q4_K_M.gguf", Some(F32), [7111; 2]),
            ("model-Q6_K.gguf", None, [1066; 2]),
            ("model-Q5_K_M.gguf", None, [1090; 2]),
            ("model-Q5_1.gguf", None, [1000; 2]),
            // Of 32 or of 16 bits.
            ("model.safetensors", None, [1000; 2]),
            ("model.safetensors", Some(F32), [1000, 2000]),
            ("model.safetensors", Some(Q8_0), [265, 531]),
        ] {
            let found = kept_bytes(name, 1000, packing);
            assert_eq!(found, bytes, "{name} in {packing:?}");
        }
    }
}
