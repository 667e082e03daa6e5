#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engine::format::safetensors::parse_never_panics(bytes));
