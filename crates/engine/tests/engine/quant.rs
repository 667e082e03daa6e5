//! The types of weight files against the `gguf` package: bytes to numbers on the stored vectors,
//! numbers to bytes on `tests/golden/engine/quant.json`.

use engine::format::safetensors::SafeTensors;
use engine::quant::{QuantError, Type, dequantize, quantize};
use serde_json::Value;
use skip::shared;

fn json(path: &std::path::Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn stored_blocks_become_their_numbers_to_the_bit() {
    let Some(folder) = shared("data/gguf-quant-vectors") else {
        return;
    };
    let file = std::fs::read(folder.join("vectors.safetensors")).unwrap();
    let tensors = SafeTensors::parse(file.into()).unwrap().tensors;
    let mut seen = Vec::new();
    for (name, about) in json(&folder.join("vectors.json")).as_object().unwrap() {
        let number = |key: &str| usize::try_from(about[key].as_u64().unwrap()).unwrap();
        let kind = match Type::from_ggml(number("ggml_type") as u32) {
            Ok(kind) => kind,
            Err(error) => {
                assert_eq!(error.to_string(), format!("unsupported type {name}"));
                continue;
            }
        };
        assert_eq!(kind.name(), name);
        assert_eq!(kind.block_len(), number("block_elems"), "{name}");
        assert_eq!(kind.block_bytes(), number("block_bytes"), "{name}");
        let bytes = tensors.bytes(&format!("{name}.raw")).unwrap();
        let expected = tensors.bytes(&format!("{name}.f32")).unwrap();
        let mut numbers = vec![0.0; number("blocks") * kind.block_len()];
        dequantize(kind, &bytes, &mut numbers).unwrap();
        let found: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        assert!(*found == *expected, "{name}");
        seen.push(kind);
    }
    println!(
        "bit for bit: {}",
        seen.iter()
            .map(|kind| kind.name())
            .collect::<Vec<_>>()
            .join(" ")
    );
    // F32 has no vectors; it is its own bytes.
    assert_eq!(seen.len(), Type::ALL.len() - 1);
}

#[test]
fn numbers_become_the_blocks_of_the_gguf_package() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/golden/engine/quant.json"
    );
    let golden = json(path.as_ref());
    let bits: Vec<u32> = serde_json::from_value(golden["numbers"].clone()).unwrap();
    let numbers: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
    let packed = golden["packed"].as_object().unwrap();
    assert_eq!(packed.len(), 8);
    for (name, expected) in packed {
        let bytes = quantize(Type::from_name(name).unwrap(), &numbers).unwrap();
        let found: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, expected.as_str().unwrap(), "{name}");
    }
}

/// How far a number may be from what comes back, as a part of the largest in its block.
fn step(kind: Type) -> f32 {
    match kind {
        Type::F32 => 0.0,
        Type::F16 => 0.5 / 1024.0,
        Type::Bf16 => 0.5 / 128.0,
        Type::Q8_0 => 0.57 / 127.0,
        // Half a step, a whole one where the sign of the largest decides, and what rounded scales
        // lose.
        Type::Q6K | Type::Q6 => 1.1 / 32.0,
        Type::Q5_1 => 1.05 / 31.0,
        Type::Q5K => 1.1 / 31.0,
        Type::Q5_0 => 1.02 / 16.0,
        Type::Q4_1 => 1.02 / 15.0,
        Type::Q4K => 1.1 / 15.0,
        Type::Q4_0 => 1.02 / 8.0,
    }
}

#[test]
fn what_is_packed_comes_back_within_a_step() {
    for kind in Type::ALL {
        for (name, shift) in [("even", 0.0), ("above", 0.2), ("below", -0.2), ("far", 3.0)] {
            let drawn = engine::formula::fill(name, 2, 1024, 5);
            let numbers: Vec<f32> = drawn.iter().map(|x| x + shift).collect();
            let mut back = vec![0.0; numbers.len()];
            dequantize(kind, &quantize(kind, &numbers).unwrap(), &mut back).unwrap();
            let largest = numbers.iter().fold(0.0f32, |a, b| a.max(b.abs()));
            let worst = numbers
                .iter()
                .zip(&back)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            println!(
                "{} {name}: {:.5} of the largest",
                kind.name(),
                worst / largest
            );
            assert!(
                worst <= step(kind) * largest,
                "{} {name}: {worst} of {largest}",
                kind.name()
            );
        }
        for constant in [0.0, 1.0, -1.0, 1e-9] {
            let numbers = [constant; 256];
            let mut back = [f32::NAN; 256];
            dequantize(kind, &quantize(kind, &numbers).unwrap(), &mut back).unwrap();
            let near = |x: &f32| (x - constant).abs() <= step(kind) * constant.abs() + 1e-7;
            assert!(
                back.iter().all(near),
                "{} {constant}: {:?}",
                kind.name(),
                &back[..4]
            );
        }
    }
}

#[test]
fn types_are_found_by_name_and_number() {
    for kind in Type::ALL {
        assert_eq!(Type::from_name(&kind.name().to_lowercase()), Ok(kind));
        assert_eq!(Type::from_ggml(kind.ggml_id()), Ok(kind));
    }
    let unsupported = |name: &str| QuantError::Unsupported(name.to_owned());
    assert_eq!(Type::from_name("Q3_K"), Err(unsupported("Q3_K")));
    // A type of memory alone: no file has it, and no numbers are packed into it.
    assert_eq!(Type::from_name("q6"), Ok(Type::Q6));
    assert_eq!(
        Type::from_ggml(Type::Q6.ggml_id()),
        Err(unsupported(&u32::MAX.to_string()))
    );
    assert_eq!(quantize(Type::Q6, &[0.0; 32]), Err(unsupported("Q6")));
    assert_eq!(Type::from_ggml(8000), Err(unsupported("8000")));
}

#[test]
fn lengths_that_do_not_fit_are_named() {
    let error = quantize(Type::Q4_0, &[0.0; 33]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected whole blocks of 32 numbers, found 33 numbers"
    );
    let error = dequantize(Type::Q6K, &[0; 210], &mut [0.0; 255]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected 255 numbers in Q6_K, found 210 bytes"
    );
    assert_eq!(Type::F32.bytes(usize::MAX), None);
}
