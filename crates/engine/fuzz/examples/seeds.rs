//! Writes a small valid file of each format into `corpus/`, for the fuzzer to start from.

#[path = "../../tests/formats/make.rs"]
mod make;

fn main() -> std::io::Result<()> {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (target, bytes) in [
        ("gguf", make::gguf()),
        ("safetensors", make::safetensors()),
        ("llama2c", make::llama2c()),
    ] {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("valid"), bytes)?;
    }
    Ok(())
}
