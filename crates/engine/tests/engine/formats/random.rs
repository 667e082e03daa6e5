//! Random bytes and changed files make no reader panic.

use super::make;
use engine::format::{gguf, llama2c, safetensors};
use proptest::prelude::*;

const CASES: u32 = 10_000;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(CASES)
    }
}

type Entry = fn(&[u8]);

/// A change of a file: bytes replaced at a place, then the file cut off (or not).
fn change() -> impl Strategy<Value = (Vec<(prop::sample::Index, u8)>, prop::sample::Index, bool)> {
    let bytes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
    (
        bytes,
        any::<prop::sample::Index>(),
        prop::bool::weighted(0.2),
    )
}

fn random_bytes(magic: &[u8], entry: Entry) {
    let bytes = prop::collection::vec(any::<u8>(), 0..200);
    let mut runner = prop::test_runner::TestRunner::new(config());
    let run = |(bytes, known): (Vec<u8>, bool)| {
        // Half of them get past the first check.
        let start: &[u8] = if known { magic } else { &[] };
        entry(&[start, &bytes].concat());
        Ok(())
    };
    runner.run(&(bytes, any::<bool>()), run).unwrap();
}

/// Most changes go where the lengths are: into the first `head` bytes.
fn changed(file: &[u8], head: usize, entry: Entry) {
    let mut runner = prop::test_runner::TestRunner::new(config());
    entry(file);
    let run = |(bytes, end, cut): (Vec<(prop::sample::Index, u8)>, prop::sample::Index, bool)| {
        let mut changed = file.to_vec();
        for (n, (at, byte)) in bytes.iter().enumerate() {
            let range = if n == 0 { file.len() } else { head };
            changed[at.index(range)] = *byte;
        }
        if cut {
            changed.truncate(end.index(file.len()));
        }
        entry(&changed);
        Ok(())
    };
    runner.run(&change(), run).unwrap();
}

#[test]
fn any_bytes_as_gguf() {
    random_bytes(
        b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0",
        gguf::parse_never_panics,
    );
}

#[test]
fn any_bytes_as_safetensors() {
    random_bytes(
        b"\x20\0\0\0\0\0\0\0{\"a\":",
        safetensors::parse_never_panics,
    );
}

#[test]
fn any_bytes_as_llama2c() {
    random_bytes(&make::llama2c()[..24], llama2c::parse_never_panics);
}

#[test]
fn changed_gguf() {
    let file = make::gguf();
    // The tensors' bytes begin somewhere in the last 2,000.
    changed(&file, file.len() - 2000, gguf::parse_never_panics);
}

#[test]
fn changed_safetensors() {
    changed(&make::safetensors(), 330, safetensors::parse_never_panics);
}

#[test]
fn changed_scales() {
    let header = r#"{"__metadata__":{"weights":"Q8_0"},"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},
        "a.scales":{"dtype":"F16","shape":[1],"data_offsets":[3,5]}}"#;
    let file = make::safetensors_with(header, &[1; 5]);
    changed(&file, 8 + header.len(), safetensors::parse_never_panics);
}

#[test]
fn changed_llama2c() {
    changed(&make::llama2c(), 28, llama2c::parse_never_panics);
}
