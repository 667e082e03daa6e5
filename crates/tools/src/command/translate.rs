//! English to Italian: the command `translate`.

use super::arguments::{Arguments, Failure, number, say};
use super::files;
use engine::format::json;
use engine::translate::{Translator, open};
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Translates sentences from English to Italian, by one of the models of the race.

usage: notebook translate --model FILE [SENTENCE...] [OPTIONS]

FILE is public/models/seq2seq-gru.safetensors, seq2seq-attention.safetensors or translator.safetensors. Without a SENTENCE each line
of the standard input is one.

  --beam N       beam search with N texts instead of always taking the most likely token; all that end are printed, best first
  --penalty X    its length penalty (default 0.6)

Exit code 1 where a file cannot be used, 2 for wrong arguments.";

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let (mut model, mut beam, mut penalty) = (None, None::<usize>, 0.6f32);
    let sentences = arguments.read(|name, value| {
        match name {
            "model" => model = Some(PathBuf::from(value()?)),
            "beam" => beam = Some(number(name, &value()?)?),
            "penalty" => penalty = number(name, &value()?)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let path = model.ok_or_else(|| Failure::Usage("--model FILE is missing".to_owned()))?;
    let translator = open(
        &path.display().to_string(),
        files::read(&path)?.into(),
        json::read,
    )?;
    if !sentences.is_empty() {
        let mut sentences = sentences.iter();
        return sentences.try_for_each(|sentence| translate(&translator, sentence, beam, penalty));
    }
    for sentence in std::io::stdin().lines() {
        translate(&translator, &sentence?, beam, penalty)?;
    }
    Ok(())
}

/// Prints the translation of a sentence, or with a beam those that were found.
fn translate(
    translator: &Translator,
    sentence: &str,
    beam: Option<usize>,
    penalty: f32,
) -> Result<(), Failure> {
    let source = translator.ids(sentence)?;
    let Some(width) = beam.filter(|_| !source.is_empty()) else {
        say!("{}", translator.translate(sentence)?);
        return Ok(());
    };
    for found in translator.beam(&source, width, penalty)? {
        say!("{:8.4}  {}", found.score, translator.text(&found.ids)?);
    }
    Ok(())
}
