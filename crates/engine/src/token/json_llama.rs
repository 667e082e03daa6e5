//! A Llama vocabulary from `tokenizer.json`, where it stands as BPE with `byte_fallback`.
//!
//! Such a file has no scores but merges in order: the score of a token is minus the place of the first merge that makes it, which
//! is how these merges were made out of scores. Tokens of several characters that no merge makes are never used.

use std::collections::HashMap;

use serde_json::Value;

use super::json::{FILE, array, merges, read_special, read_vocabulary, refuse, text};
use super::llama::{Llama, LlamaFiles, TokenKind};
use super::tokenizer::SpecialTokens;
use crate::error::Result;

pub(super) fn read(file: &Value) -> Result<Llama> {
    let space_before = read_spaces(file)?;
    let (vocabulary, added) = read_vocabulary(file)?;
    if let Some(token) = added
        .iter()
        .find(|token| token.strips_left || token.strips_right)
    {
        return Err(refuse(
            FILE,
            "added_tokens",
            "without lstrip and rstrip",
            &token.text,
        ));
    }
    let mut ranks: HashMap<String, usize> = HashMap::new();
    for (rank, line) in merges(&file["model"])?.iter().enumerate() {
        ranks.entry(line.replacen(' ', "", 1)).or_insert(rank);
    }
    let unknown = vocabulary
        .id(text(&file["model"]["unk_token"]))
        .map(|id| id as usize);
    let mut kinds: Vec<TokenKind> = (vocabulary.pieces().iter())
        .map(|piece| match TokenKind::from_name(piece) {
            TokenKind::Byte => TokenKind::Byte,
            _ if piece.chars().count() < 2 || ranks.contains_key(piece) => TokenKind::Normal,
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
    if let Some(unknown) = unknown {
        kinds[unknown] = TokenKind::Unknown;
    }
    let score = |piece: &String| ranks.get(piece).map_or(0.0, |&rank| -(rank as f32));
    Llama::new(LlamaFiles {
        scores: vocabulary.pieces().iter().map(score).collect(),
        tokens: vocabulary.pieces().to_vec(),
        kinds,
        special: SpecialTokens {
            unknown,
            ..read_special(file, &vocabulary)?
        },
        space_before,
    })
}

/// Whether a space is put before the text. Spaces must be written `▁`, by either of the two ways in which files say so.
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
                FILE,
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
            FILE,
            "pre_tokenizer",
            "none, or Metaspace for always or never without split",
            cut,
        )),
    }
}
