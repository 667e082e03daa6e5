//! Weights as a GGUF file: the command `quantize`.

use super::arguments::{Arguments, Failure, bytes, progress, say};
use super::files;
use engine::quant::Type;
use std::io::Write;
use std::path::{Path, PathBuf};
use tools::export::{is_packed, to_gguf};

pub(crate) const HELP: &str = "\
Writes the model in a file as GGUF, its matrices in the type that is asked for.

usage: notebook quantize IN OUT.gguf [--type TYPE] [--tokenizer FILE]

IN is a .safetensors of GPT-2, Llama, Mistral, Qwen2 or BERT with its config.json and vocabulary beside it, a .gguf, a llama2.c .bin, or
a folder with one of these. Tensors get llama.cpp's names; norms, biases and position tables stay F32, matrices whose rows are not
whole blocks become F16.

  --type TYPE         f32, f16, bf16, q8_0 (default), q6_k, q5_1, q5_k, q5_0, q4_1, q4_k or q4_0
  --tokenizer FILE    another vocabulary than the one beside the model

Exit code 1 where a file cannot be used, 2 for wrong arguments.";

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let (mut kind, mut tokenizer) = (Type::Q8_0, None);
    let words = arguments.read(|name, value| {
        match name {
            "type" => kind = files::kind(&value()?)?,
            "tokenizer" => tokenizer = Some(PathBuf::from(value()?)),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let [input, output] = words.as_slice() else {
        return Err(Failure::Usage("IN and OUT.gguf are needed".to_owned()));
    };
    let (input, output) = (Path::new(input), Path::new(output));
    let same = |a: &Path, b: &Path| Some(a.canonicalize().ok()? == b.canonicalize().ok()?);
    if same(input, output) == Some(true) {
        return Err(Failure::Usage(
            "IN and OUT.gguf are the same file".to_owned(),
        ));
    }
    let files = files::files(input, tokenizer.as_deref())?;
    if is_packed(&files)? {
        eprintln!(
            "{}: has blocks already; packing them again loses a little more",
            files.name
        );
    }
    let file = to_gguf(&files, kind, |done, of| {
        progress(&format!("tensor {done} of {of}"));
    })?;
    progress("");
    write(output, &file)?;
    let before = files.weight_bytes();
    say!(
        "{}: {} (was {})",
        output.display(),
        bytes(file.len()),
        bytes(before)
    );
    Ok(())
}

/// Writes beside the place and renames, so that no half of a file is ever there.
fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let part = path.with_extension("gguf.part");
    let written = std::fs::File::create(&part).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    });
    written.map_err(|error| {
        // What was begun is of no use; that it may not be there is no matter.
        let _ = std::fs::remove_file(&part);
        Failure::file(path, error)
    })
}
