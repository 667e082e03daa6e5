//! A Llama vocabulary from `tokenizer.json`, which describes it as BPE with `byte_fallback`.
//!
//! Such a file has no scores but merges in order, which were sorted by score: the score of a token
//! is minus the rank of the first merge that makes it. Tokens of several characters that no merge
//! makes are never used.

use std::collections::HashMap;

use serde_json::Value;

use super::added::AddedToken;
use super::json::{array, merges, read_special, read_vocabulary, refuse, text};
use super::llama::{Llama, LlamaFiles, TokenKind};
use crate::error::Result;

/// The tokenizer that such a file describes.
pub(super) fn read(file: &Value) -> Result<Llama> {
    let space_before = read_spaces(file)?;
    let (vocabulary, added) = read_vocabulary(file)?;
    let strips = |token: &&AddedToken| token.strips_left || token.strips_right;
    if let Some(token) = added.iter().find(strips) {
        let expected = "without lstrip and rstrip";
        return Err(refuse("added_tokens", expected, &token.text));
    }
    let mut ranks: HashMap<String, usize> = HashMap::new();
    for (rank, line) in merges(&file["model"])?.iter().enumerate() {
        ranks.entry(line.replacen(' ', "", 1)).or_insert(rank);
    }
    let special = read_special(file, &vocabulary)?;
    let mut kinds: Vec<TokenKind> = (vocabulary.tokens().iter())
        .map(|token| match TokenKind::from_name(token) {
            TokenKind::Byte => TokenKind::Byte,
            _ if token.chars().count() < 2 || ranks.contains_key(token) => TokenKind::Normal,
            _ => TokenKind::Unused,
        })
        .collect();
    for token in &added {
        kinds[token.id] = if token.special {
            TokenKind::Control
        } else {
            TokenKind::UserDefined
        };
    }
    if let Some(unknown) = special.unknown {
        kinds[unknown] = TokenKind::Unknown;
    }
    let score = |token: &String| ranks.get(token).map_or(0.0, |&rank| -(rank as f32));
    Llama::new(LlamaFiles {
        scores: vocabulary.tokens().iter().map(score).collect(),
        tokens: vocabulary.tokens().to_vec(),
        kinds,
        special,
        space_before,
    })
}

/// Whether a space is put before the text. Spaces must become `▁`, in a normalizer or in a
/// pre-tokenizer.
fn read_spaces(file: &Value) -> Result<bool> {
    let (normalizer, cut) = (&file["normalizer"], &file["pre_tokenizer"]);
    let is = |step: &Value, kind: &str, part: &str| {
        text(&step["type"]) == kind && text(&step[part]) == "▁"
    };
    let replaces =
        |step: &Value| is(step, "Replace", "content") && text(&step["pattern"]["String"]) == " ";
    if cut.is_null() {
        let steps = match text(&normalizer["type"]) {
            "Sequence" => array(&normalizer["normalizers"]),
            _ => std::slice::from_ref(normalizer),
        };
        return match steps {
            [first, second] if is(first, "Prepend", "prepend") && replaces(second) => Ok(true),
            [only] if replaces(only) => Ok(false),
            _ => Err(refuse(
                "normalizer",
                "one that writes spaces as ▁",
                normalizer,
            )),
        };
    }
    let whole = normalizer.is_null() && cut["split"] == Value::Bool(false);
    match (
        whole && is(cut, "Metaspace", "replacement"),
        text(&cut["prepend_scheme"]),
    ) {
        (true, "always") => Ok(true),
        (true, "never") => Ok(false),
        _ => Err(refuse(
            "pre_tokenizer",
            "none, or Metaspace for always or never without split",
            cut,
        )),
    }
}
