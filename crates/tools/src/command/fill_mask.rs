//! Words for a gap: the command `fill-mask`.

use super::arguments::{Arguments, Failure, number, say, start_threads};
use super::files;
use engine::open::top;
use engine::parameters::MatrixForm;
use std::path::{Path, PathBuf};

pub(crate) const HELP: &str = "\
Says which words fill the gaps of a text, by a BERT with its masked-LM head.

usage: notebook fill-mask MODEL TEXT [OPTIONS]

MODEL is a .safetensors with its config.json and vocabulary beside it, a .gguf, or a folder with one. TEXT has at least one [MASK].

  --top N             so many words for each gap (default 5)
  --tokenizer FILE    another vocabulary than the one in or beside the model
  --type TYPE         keeps matrices in q8_0, q4_0, f32 or another type
  --as-stored         keeps matrices as the file has them, also where that is slow
  --threads N         (default: as many as the machine has cores)

Exit code 1 where a file cannot be used, 2 for wrong arguments.";

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let (mut count, mut tokenizer, mut threads) = (5, None, None);
    let mut form = MatrixForm::default();
    let words = arguments.read(|name, value| {
        match name {
            "top" => count = number(name, &value()?)?,
            "tokenizer" => tokenizer = Some(PathBuf::from(value()?)),
            "threads" => threads = Some(number(name, &value()?)?),
            "type" => form = files::kind(&value()?)?.into(),
            "as-stored" => form = MatrixForm::Stored,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let [path, text] = words.as_slice() else {
        return Err(Failure::Usage("MODEL and TEXT are needed".to_owned()));
    };
    start_threads(threads)?;
    let files = files::files(Path::new(path), tokenizer.as_deref())?;
    let opened = files::model(&files, form)?;
    let (model, tokenizer) = files::encoder(&files, &opened)?;
    let ids = tokenizer.enclosed(&tokenizer.encode_marked(text)?);
    if !model.fills_masks() {
        let message = "has no masked-LM head, which fills gaps; use embed";
        return Err(Failure::Other(format!("{}: {message}", files.name)));
    }
    let mask = tokenizer
        .special()
        .mask
        .ok_or_else(|| Failure::Other(format!("{}: its vocabulary has no [MASK]", files.name)))?;
    let gaps: Vec<usize> = (0..ids.len()).filter(|&t| ids[t] == mask).collect();
    if gaps.is_empty() {
        return Err(Failure::Usage("TEXT has no [MASK]".to_owned()));
    }
    let logits = model
        .forward(&ids, None)
        .map_err(|error| Failure::Other(format!("{}: {error}", files.name)))?;
    for (n, &gap) in gaps.iter().enumerate() {
        if gaps.len() > 1 {
            say!("[MASK] {}:", n + 1);
        }
        for (id, probability) in top(&logits.row(gap).to_owned(), count) {
            say!("{probability:.4}  {}", tokenizer.token(id).unwrap_or("?"));
        }
    }
    Ok(())
}
