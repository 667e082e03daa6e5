//! Sentences as vectors: the command `embed`.

use super::arguments::{Arguments, Failure, number, say, start_threads};
use super::files;
use engine::parameters::MatrixForm;
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) const HELP: &str = "\
Turns sentences into vectors of length 1, by a BERT that was trained for it (mean of the tokens).

usage: notebook embed MODEL SENTENCE... [OPTIONS]

MODEL is a .safetensors with its config.json and vocabulary beside it, a .gguf, or a folder with one.

  --similarity        prints the cosine similarity of each pair in place of the vectors
  --tokenizer FILE    another vocabulary than the one in or beside the model
  --type TYPE         keeps matrices in q8_0, q4_0, f32 or another type
  --as-stored         keeps matrices as the file has them, also where that is slow
  --threads N         (default: as many as the machine has cores)

Each sentence gives one line of JSON: {\"sentence\": …, \"embedding\": […]}; each pair {\"a\": …, \"b\": …, \"similarity\": …}.
Exit code 1 where a file cannot be used, 2 for wrong arguments.";

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let (mut similarity, mut tokenizer, mut threads) = (false, None, None);
    let mut form = MatrixForm::default();
    let words = arguments.read(|name, value| {
        match name {
            "similarity" => similarity = true,
            "tokenizer" => tokenizer = Some(PathBuf::from(value()?)),
            "threads" => threads = Some(number(name, &value()?)?),
            "type" => form = files::kind(&value()?)?.into(),
            "as-stored" => form = MatrixForm::Stored,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let [model, sentences @ ..] = words.as_slice() else {
        return Err(Failure::Usage("MODEL is missing".to_owned()));
    };
    if sentences.is_empty() || similarity && sentences.len() < 2 {
        return Err(Failure::Usage("SENTENCE is missing".to_owned()));
    }
    start_threads(threads)?;
    let files = files::files(Path::new(model), tokenizer.as_deref())?;
    let opened = files::model(&files, form)?;
    let (model, tokenizer) = files::encoder(&files, &opened)?;
    let mut all = Vec::new();
    for sentence in sentences {
        let ids = tokenizer.enclosed(&tokenizer.encode(sentence)?);
        let embedding = model.sentence(&ids, None)?;
        if !similarity {
            say!(
                "{}",
                json!({"sentence": sentence, "embedding": embedding.to_vec()})
            );
        }
        all.push((sentence, embedding));
    }
    if similarity {
        for (n, (a, first)) in all.iter().enumerate() {
            for (b, second) in &all[n + 1..] {
                say!(
                    "{}",
                    json!({"a": a, "b": b, "similarity": first.dot(second)})
                );
            }
        }
    }
    Ok(())
}
