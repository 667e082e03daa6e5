#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engine::format::gguf::parse_never_panics(bytes));
