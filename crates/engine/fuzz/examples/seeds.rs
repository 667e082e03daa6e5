//! Writes small valid files of each format into `corpus/`, for the fuzzer to start from.

#[allow(dead_code, reason = "the tests of models use more of it")]
#[path = "../../tests/gguf_models/convert.rs"]
mod convert;
#[path = "../../tests/formats/make.rs"]
mod make;

use convert::{CONVERTED, bert_file, gpt2_file, llama_config, llama_file};
use engine::nn::position::rotary::Pairing;

fn main() -> std::io::Result<()> {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut experts = llama_config(Pairing::Halves);
    experts.experts = Some((2, 1));
    for (target, name, bytes) in [
        ("gguf", "every-type", make::gguf()),
        ("gguf", "gpt2", gpt2_file(CONVERTED)),
        ("gguf", "bert", bert_file(CONVERTED)),
        ("gguf", "experts", llama_file("llama", &experts, false, CONVERTED)),
        ("safetensors", "every-type", make::safetensors()),
        ("llama2c", "small", make::llama2c()),
    ] {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
