//! Files that are cut off, absurd or wrong, and what is said of them.

use super::make;
use engine::format::error::FormatError;
use engine::format::gguf::Gguf;
use engine::format::gguf_value::{Array, Value};
use engine::format::llama2c::Llama2c;
use engine::format::safetensors::SafeTensors;
use engine::model::llama::Llama;
use engine::ndarray::array;
use engine::parameters::{Compressed, Parameters, Weight};
use engine::quant::Type;
use tools::TensorBytes;
use tools::gguf::write;

fn gguf_error(bytes: &[u8]) -> String {
    Gguf::parse(bytes.into()).unwrap_err().to_string()
}

fn safetensors_error(header: &str, data: usize) -> String {
    let file = make::safetensors_with(header, &vec![0; data]);
    SafeTensors::parse(file.into()).unwrap_err().to_string()
}

#[test]
fn gguf_is_read_as_written() {
    let file = make::gguf();
    let read = Gguf::parse(file.clone().into()).unwrap();
    let mut sorted = make::metadata();
    sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert_eq!(read.metadata(), sorted);
    for (name, shape, bytes) in make::llama() {
        let entry = read.tensors.entry(name).unwrap();
        assert_eq!(entry.shape(), shape);
        assert_eq!(read.tensors.bytes(name).unwrap(), bytes);
    }
    read.tensors.check_finite().unwrap();
    // What was read and is written in the same order is the same file.
    let entries = read.tensors.entries().iter();
    let all: Vec<_> = entries
        .map(|entry| read.tensors.bytes(entry.name()).unwrap())
        .collect();
    let tensors: Vec<TensorBytes<'_>> = read
        .tensors
        .entries()
        .iter()
        .zip(&all)
        .map(|(entry, bytes)| TensorBytes {
            name: entry.name(),
            shape: entry.shape(),
            kind: match entry.name() {
                "blocks" => Type::Q8_0,
                _ => Type::F32,
            },
            bytes,
        })
        .collect();
    assert_eq!(write(&make::metadata(), &tensors).unwrap(), file);
    // Version 2 is the same file.
    let mut second = file;
    second[4] = 2;
    assert_eq!(Gguf::parse(second.into()).unwrap().version, 2);
}

#[test]
fn a_small_llama_and_its_vocabulary_come_out_of_gguf() {
    let read = Gguf::parse(make::gguf().into()).unwrap();
    let model = Llama::load(read.llama().unwrap(), &mut read.parameters().unwrap()).unwrap();
    assert_eq!(model.config().vocabulary, 5);
    assert_eq!(read.vocabulary().unwrap().tokens.len(), 5);
    assert!(read.gpt2().is_err());
    let names = read.parameters().unwrap().names();
    assert!(names.contains(&"layers.0.self_attn.q_proj.weight".to_owned()));
    let mut tensors = read.tensors;
    assert!(matches!(
        tensors.weight("blocks", 2, 32).unwrap(),
        Weight::Packed(_)
    ));
}

#[test]
fn every_cut_of_a_file_is_refused() {
    let (gguf, safetensors, llama2c) = (make::gguf(), make::safetensors(), make::llama2c());
    // The last tensor's padding may be missing.
    let end = gguf.len() - 64;
    for length in 0..end {
        assert!(Gguf::parse(gguf[..length].into()).is_err(), "{length}");
    }
    for length in 0..safetensors.len() {
        assert!(
            SafeTensors::parse(safetensors[..length].into()).is_err(),
            "{length}"
        );
    }
    for length in 0..llama2c.len() {
        assert!(
            Llama2c::parse(llama2c[..length].into()).is_err(),
            "{length}"
        );
    }
}

#[test]
fn absurd_lengths_in_gguf_are_refused() {
    let head = |tensors: u64, entries: u64| {
        let (tensors, entries) = (tensors.to_le_bytes(), entries.to_le_bytes());
        [&b"GGUF\x03\0\0\0"[..], &tensors, &entries].concat()
    };
    let absurd = 1u64 << 63;
    assert!(gguf_error(&head(absurd, 0)).contains("directory of tensors"));
    assert!(gguf_error(&head(0, absurd)).contains("metadata"));
    let key = [&1u64.to_le_bytes()[..], b"k"].concat();
    let text = [
        &head(0, 1)[..],
        &key,
        &8u32.to_le_bytes(),
        &absurd.to_le_bytes(),
    ]
    .concat();
    assert_eq!(
        gguf_error(&text),
        "gguf: k needs 9223372036854775808 bytes, 0 are left"
    );
    let list = [
        &head(0, 1)[..],
        &key,
        &9u32.to_le_bytes(),
        &12u32.to_le_bytes(),
        &absurd.to_le_bytes(),
    ];
    assert!(gguf_error(&list.concat()).contains("k needs 18446744073709551615 bytes"));
    let mut deep = [&head(0, 1)[..], &key, &9u32.to_le_bytes()].concat();
    for _ in 0..100 {
        deep.extend(9u32.to_le_bytes());
        deep.extend(1u64.to_le_bytes());
    }
    assert!(gguf_error(&deep).contains("nested at most 3 deep"));
    let tensor = |axes: &[u64], kind: u32, offset: u64| {
        let mut file = [&head(1, 0)[..], &1u64.to_le_bytes(), b"t"].concat();
        file.extend((axes.len() as u32).to_le_bytes());
        file.extend(axes.iter().flat_map(|axis| axis.to_le_bytes()));
        file.extend(kind.to_le_bytes());
        file.extend(offset.to_le_bytes());
        file.resize(256, 0);
        gguf_error(&file)
    };
    for (error, part) in [
        (
            tensor(&[absurd, 2], 0, 0),
            "tensor t: expected a shape that fits in memory",
        ),
        (tensor(&[0], 0, 0), "axes from 1 on"),
        (tensor(&[1; 5], 0, 0), "at most 4 axes"),
        (tensor(&[4], 77, 0), "found unsupported type 77"),
        // Q2_K; what can be read is named as well.
        (
            tensor(&[256], 10, 0),
            "tensor t: expected one of the types F32, F16, BF16, Q8_0, Q6_K, Q5_1, Q5_K, Q5_0, Q4_1, \
             Q4_K, Q4_0, found unsupported type Q2_K",
        ),
        (
            tensor(&[31], 8, 0),
            "rows of whole blocks, found rows of 31 in Q8_0",
        ),
        (tensor(&[4], 0, 8), "a multiple of 32"),
        (tensor(&[4], 0, absurd), "bytes before the file's end"),
        (tensor(&[1000], 0, 0), "bytes before the file's end"),
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn what_is_wrong_in_gguf_is_named() {
    assert_eq!(
        gguf_error(b"GGML"),
        "gguf: magic bytes: expected \"GGUF\", found \"GGML\""
    );
    assert!(gguf_error(b"GGUF\x01\0\0\0").contains("version: expected 2 or 3, found 1"));
    assert!(gguf_error(b"GGUF\0\0\0\x03").contains("big-endian"));
    let value = |value| vec![("general.alignment".to_owned(), value)];
    assert!(write(&value(Value::U32(3)), &[]).is_err());
    assert!(write(&[value(Value::U32(8)), value(Value::U32(8))].concat(), &[]).is_err());
    let deep = Array::Array(vec![Array::Array(vec![Array::Array(vec![Array::Bool(
        vec![],
    )])])]);
    assert!(write(&[("k".to_owned(), Value::Array(deep))], &[]).is_err());
    let tensor = TensorBytes {
        name: "t",
        shape: &[2],
        kind: Type::F32,
        bytes: &[0; 8],
    };
    assert!(write(&[], &[tensor, tensor]).is_err());
    let error = write(
        &[],
        &[TensorBytes {
            shape: &[3],
            ..tensor
        }],
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "gguf: tensor t: expected 12 bytes for [3] in F32, found 8"
    );
    // Two tensors in one place.
    let tensors = [
        tensor,
        TensorBytes {
            name: "u",
            ..tensor
        },
    ];
    let mut file = write(&[], &tensors).unwrap();
    let second = file
        .windows(8)
        .position(|bytes| bytes == 32u64.to_le_bytes())
        .unwrap();
    file[second] = 0;
    assert!(gguf_error(&file).contains("tensor u: expected bytes after those of t"));
}

/// A matrix is packed a few rows at a time; the reported position of a number that is not finite
/// still counts from the first row.
#[test]
fn an_infinite_number_is_named_by_its_place_in_the_matrix() {
    let (rows, cols) = (4500, 1024);
    let mut bytes = vec![1; rows * Type::Q8_0.bytes(cols).unwrap()];
    let last = bytes.len() - Type::Q8_0.block_bytes();
    bytes[last..last + 2].copy_from_slice(&0x7c00_u16.to_le_bytes());
    let tensor = TensorBytes {
        name: "t",
        shape: &[rows, cols],
        kind: Type::Q8_0,
        bytes: &bytes,
    };
    let mut tensors = Gguf::parse(write(&[], &[tensor]).unwrap().into())
        .unwrap()
        .tensors;
    let error = tensors.weight("t", rows, cols).unwrap_err().to_string();
    let expected = format!("found inf at {}", rows * cols - 32);
    assert!(error.ends_with(&expected), "{error}");
}

#[test]
fn missing_misshapen_and_infinite_tensors_are_named() {
    let read = Gguf::parse(make::gguf().into()).unwrap();
    let mut source = read.parameters().unwrap();
    let config = engine::model::llama::Config {
        layers: 2,
        ..read.llama().unwrap()
    };
    let error = Llama::load(config, &mut source).unwrap_err().to_string();
    assert!(
        error.contains("blk.1.attn_q") && error.ends_with("found none"),
        "{error}"
    );
    let config = engine::model::llama::Config {
        inner: 8,
        ..read.llama().unwrap()
    };
    let error = Llama::load(config, &mut source).unwrap_err().to_string();
    assert!(error.contains("expected [8, 4], found [6, 4]"), "{error}");
    let bytes = [1.0f32, f32::NAN].map(f32::to_le_bytes).concat();
    let tensor = TensorBytes {
        name: "t",
        shape: &[2],
        kind: Type::F32,
        bytes: &bytes,
    };
    let file = write(&[], &[tensor]).unwrap();
    let error = Gguf::parse(file.into())
        .unwrap()
        .tensors
        .check_finite()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "gguf: tensor t: expected finite numbers, found NaN at 1"
    );
}

#[test]
fn safetensors_are_read_in_every_form() {
    let read = SafeTensors::parse(make::safetensors().into()).unwrap();
    assert_eq!(read.metadata(), [("format".to_owned(), "pt".to_owned())]);
    let mut tensors = read.tensors;
    assert_eq!(
        tensors.read("b").unwrap(),
        array![1.0, -2.0, 0.5].into_dyn()
    );
    assert_eq!(tensors.read("c").unwrap().sum(), 1.0);
    assert_eq!(tensors.names(), ["a", "b", "c"]);
    assert!(
        tensors
            .read("d")
            .unwrap_err()
            .to_string()
            .contains("found I64")
    );
    assert_eq!(tensors.bytes("d").unwrap()[0], 7);
    assert!(matches!(
        tensors.weight("a", 2, 32).unwrap(),
        Weight::Packed(_)
    ));
    let mut packed = Compressed::new(tensors.clone(), Type::Q8_0);
    let Weight::Packed(packed) = packed.weight("a", 2, 32).unwrap() else {
        panic!("not packed");
    };
    let packed = packed.rows(&[0, 1]).unwrap();
    let plain = tensors.read("a").unwrap();
    let step = 32.0 / 127.0;
    for (packed, plain) in packed.iter().zip(&plain) {
        assert!((packed - plain).abs() <= 0.51 * step, "{packed} {plain}");
    }
}

/// Bytes of 34 numbers with two scales.
fn scaled(header: &str) -> Result<SafeTensors, FormatError> {
    let bytes = (0..34).map(|n: i8| (n - 2).cast_unsigned());
    // 0.5 and 2 as f16.
    let data: Vec<u8> = bytes.chain([0x00, 0x38, 0x00, 0x40]).collect();
    SafeTensors::parse(make::safetensors_with(header, &data).into())
}

const SCALED: &str = r#"{"__metadata__":{"weights":"Q8_0"},
    "a":{"dtype":"I8","shape":[2,17],"data_offsets":[0,34]},
    "a.scales":{"dtype":"F16","shape":[2],"data_offsets":[34,38]}}"#;

#[test]
fn signed_bytes_are_read_with_their_scales() {
    let mut tensors = scaled(SCALED).unwrap().tensors;
    let found = tensors.read("a").unwrap();
    assert_eq!(found.shape(), [2, 17]);
    let expected = (0..34).map(|n| (n as f32 - 2.0) * if n < 32 { 0.5 } else { 2.0 });
    assert!(found.iter().copied().eq(expected), "{found}");
    assert_eq!(tensors.names(), ["a"]);
    assert_eq!(tensors.form("a"), Type::F32);
    assert_eq!(tensors.entry("a").unwrap().element().name(), "Q8_0");
    let weight = tensors.weight("a", 2, 17).unwrap();
    assert_eq!(weight.rows(&[0, 1]).unwrap().into_dyn(), found);
    assert!(tensors.check_finite().is_ok());

    // Where the metadata do not say so, bytes are bytes.
    let plain = SCALED.replace("Q8_0", "I8");
    let mut plain = scaled(&plain).unwrap().tensors;
    assert_eq!(plain.names(), ["a.scales"]);
    assert!(
        plain
            .read("a")
            .unwrap_err()
            .to_string()
            .contains("found I8")
    );
}

#[test]
fn scales_that_do_not_fit_are_named() {
    for (from, to, part) in [
        (
            "a.scales",
            "b.scales",
            "tensor a: expected 2 scales in F16 as a.scales, found none",
        ),
        (
            "F16",
            "BF16",
            "expected 2 scales in F16 as a.scales, found none",
        ),
        ("[2],", "[2,1],", "found [2, 1]"),
        ("[2],", "[1,2],", "found [1, 2]"),
    ] {
        let error = scaled(&SCALED.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let header = SCALED
        .replace("[2,17]", "[35,1]")
        .replace("[0,34]", "[0,35]");
    let header = header
        .replace("F16", "I8")
        .replace("[2]", "[3]")
        .replace("[34,38]", "[35,38]");
    let error = scaled(&header).unwrap_err().to_string();
    assert!(error.contains("found none"), "{error}");

    // An infinite scale.
    let mut file = make::safetensors_with(SCALED, &[1; 38]);
    let end = file.len() - 2;
    file[end..].copy_from_slice(&[0x00, 0x7c]);
    let mut tensors = SafeTensors::parse(file.into()).unwrap().tensors;
    for error in [
        tensors.check_finite().unwrap_err().to_string(),
        tensors.read("a").unwrap_err().to_string(),
    ] {
        assert!(error.contains("finite numbers, found inf at 32"), "{error}");
    }
}

#[test]
fn what_is_wrong_in_safetensors_is_named() {
    let one = |offsets: &str, shape: &str| {
        format!(r#"{{"t":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#)
    };
    for (header, data, part) in [
        (
            one("[0,4]", "[1]"),
            0,
            "tensor t: expected 4 bytes for [1] in F32, within 0",
        ),
        (one("[0,8]", "[1]"), 8, "found those from 0 to 8"),
        (one("[4,0]", "[1]"), 8, "found those from 4 to 0"),
        (
            one("[4,8]", "[1]"),
            8,
            "expected its bytes at offset 0, found 4",
        ),
        (
            one("[0,4]", "[1]"),
            8,
            "the tensors together: expected 4 bytes, found 8",
        ),
        (one("[0,4]", "[9223372036854775808,2]"), 4, "fits in memory"),
        (one("[0,4]", "[18446744073709551616]"), 4, "expected usize"),
        (one("[0,4]", "[0,9223372036854775808]"), 4, "fits in memory"),
        (
            one("[0,4]", "[1]").replace("F32", "F31"),
            4,
            "expected a known dtype, found F31",
        ),
    ] {
        let error = safetensors_error(&header, data);
        assert!(error.contains(part), "{error}");
    }
    let part = r#""t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
    let error = safetensors_error(&format!("{{{part},{part}}}"), 0);
    assert!(
        error.contains("expected one of this name, found two"),
        "{error}"
    );
    let error = SafeTensors::parse((1u64 << 63).to_le_bytes()[..].into()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("header's length: expected at most 100000000")
    );
    let error = SafeTensors::parse(1000u64.to_le_bytes()[..].into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "safetensors: the header needs 1000 bytes, 0 are left"
    );
}

#[test]
fn llama2c_files_have_the_length_that_their_sizes_need() {
    let read = Llama2c::parse(make::llama2c().into()).unwrap();
    let mut tensors = read.tensors;
    assert_eq!(tensors.shape("lm_head.weight"), Some(vec![5, 4]));
    // The last number of the file is the head's last.
    let head = tensors.read("lm_head.weight").unwrap();
    assert_eq!(head[[4, 3]], ((194 - 1) % 17) as f32 * 0.1 - 0.8);
    for header in [
        [0; 7],
        [-4, 6, 1, 2, 2, 5, 3],
        [i32::MAX; 7],
        [i32::MIN; 7],
        [1 << 24, 1 << 24, 1 << 24, 1, 1, 1 << 24, 1 << 24],
        [4, 6, 1, 3, 2, 5, 3],
    ] {
        let error = Llama2c::parse(make::llama2c_with(header, 9).into()).unwrap_err();
        assert!(error.to_string().starts_with("llama2.c: "), "{error}");
    }
}
