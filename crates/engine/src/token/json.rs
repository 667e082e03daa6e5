//! Vocabularies from Hugging Face's files: `vocab.json` with `merges.txt`, and `tokenizer.json`.
//!
//! What a file asks for and this crate does not do is an error that names it, not a slightly different tokenizer.

use serde_json::Value;

use super::added::AddedToken;
use super::bert_text::BertText;
use super::byte_bpe::{ByteBpe, ByteBpeFiles};
use super::json_llama;
use super::split::Split;
use super::tokenizer::{SpecialTokens, Tokenizer};
use super::vocabulary::Vocabulary;
use super::word_piece::{WordPiece, WordPieceFiles};
use crate::error::{EngineError, Result};

/// The expressions by which files name the rules of [`Split`], with the rules.
const PATTERNS: [(&str, Split); 3] = [
    (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        Split::Gpt2,
    ),
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Split::Llama3,
    ),
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Split::Qwen2,
    ),
];

/// GPT-2's tokenizer from `vocab.json` (or `encoder.json`) and `merges.txt` (or `vocab.bpe`).
///
/// # Errors
/// When a file is not of that form, or a merge does not fit the vocabulary.
pub fn byte_bpe(vocab_json: &str, merges_txt: &str) -> Result<ByteBpe> {
    const NAME: &str = "vocab.json";
    let vocabulary = Vocabulary::from_pairs(pairs(NAME, &parse(NAME, vocab_json)?)?)?;
    let end = vocabulary.first_of(&["<|endoftext|>"]);
    let special = SpecialTokens {
        begin: end,
        end,
        ..SpecialTokens::default()
    };
    let added = end.map(|id| added_special(&vocabulary, id));
    let lines = merges_txt
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("#version"));
    ByteBpe::new(ByteBpeFiles {
        tokens: vocabulary.pieces().to_vec(),
        merges: lines.map(str::to_owned).collect(),
        added: added.into_iter().collect(),
        special,
        ..ByteBpeFiles::default()
    })
}

/// The tokenizer that a `tokenizer.json` describes: byte-level BPE, Llama's vocabulary or WordPiece.
///
/// # Errors
/// When the file is not of that form, or asks for what this crate does not do.
pub fn tokenizer(tokenizer_json: &str) -> Result<Box<dyn Tokenizer>> {
    let file = parse(FILE, tokenizer_json)?;
    let is_llama = file["model"]["byte_fallback"] == Value::Bool(true);
    match text(&file["model"]["type"]) {
        "BPE" if is_llama => Ok(Box::new(json_llama::read(&file)?)),
        "BPE" => Ok(Box::new(read_bytes(&file)?)),
        "WordPiece" => Ok(Box::new(read_word_piece(&file)?)),
        // Files of older versions do not say it.
        "" if file["model"]["merges"].is_array() => Ok(Box::new(read_bytes(&file)?)),
        other => Err(refuse(FILE, "model.type", "BPE or WordPiece", other)),
    }
}

pub(super) const FILE: &str = "tokenizer.json";

/// The byte-level vocabulary that a `tokenizer.json` describes.
///
/// # Errors
/// When the file is not of that form, is of another kind, or asks for what this crate does not do.
pub fn read_byte_bpe(tokenizer_json: &str) -> Result<ByteBpe> {
    read_bytes(&parse(FILE, tokenizer_json)?)
}

fn read_bytes(file: &Value) -> Result<ByteBpe> {
    let model = &file["model"];
    for name in [
        "byte_fallback",
        "continuing_subword_prefix",
        "end_of_word_suffix",
        "dropout",
    ] {
        let value = &model[name];
        if !(value.is_null()
            || *value == Value::Bool(false)
            || text(value).is_empty() && value.is_string())
        {
            return Err(refuse(FILE, name, "off", value));
        }
    }
    if !file["normalizer"].is_null() {
        return Err(refuse(
            FILE,
            "normalizer",
            "none for BPE",
            &file["normalizer"],
        ));
    }
    let merges = merges(model)?;
    let (vocabulary, added) = read_vocabulary(file)?;
    ByteBpe::new(ByteBpeFiles {
        special: read_special(file, &vocabulary)?,
        tokens: vocabulary.pieces().to_vec(),
        merges,
        split: read_split(&file["pre_tokenizer"])?,
        added,
        whole_words: model["ignore_merges"] == Value::Bool(true),
    })
}

/// The merges, each written `left right`.
pub(super) fn merges(model: &Value) -> Result<Vec<String>> {
    let merge = |merge: &Value| match (merge.as_str(), merge.as_array().map(Vec::as_slice)) {
        (Some(line), _) => Ok(line.to_owned()),
        (None, Some([Value::String(left), Value::String(right)])) => Ok(format!("{left} {right}")),
        _ => Err(refuse(FILE, "merges", "pairs of tokens", merge)),
    };
    array(&model["merges"]).iter().map(merge).collect()
}

/// The rules by which text is cut: a `ByteLevel` step, which has GPT-2's, or one that names them and a `ByteLevel` step after it.
fn read_split(step: &Value) -> Result<Split> {
    let steps = match text(&step["type"]) {
        "Sequence" => array(&step["pretokenizers"]),
        _ => std::slice::from_ref(step),
    };
    let (named, bytes) = match steps {
        [bytes] => (None, bytes),
        [named, bytes] => (Some(named), bytes),
        _ => return Err(refuse(FILE, "pre_tokenizer", "one or two steps", step)),
    };
    if text(&bytes["type"]) != "ByteLevel" || bytes["add_prefix_space"] == Value::Bool(true) {
        let expected = "ByteLevel without add_prefix_space";
        return Err(refuse(FILE, "pre_tokenizer", expected, bytes));
    }
    let own_rules = bytes["use_regex"] != Value::Bool(false);
    match named {
        None if own_rules => Ok(Split::Gpt2),
        Some(named)
            if !own_rules
                && named["behavior"] == "Isolated"
                && named["invert"] != Value::Bool(true) =>
        {
            let pattern = text(&named["pattern"]["Regex"]);
            let known = PATTERNS.iter().find(|(known, _)| *known == pattern);
            known
                .map(|(_, split)| *split)
                .ok_or_else(|| refuse(FILE, "pattern", "that of GPT-2, Llama 3 or Qwen2", pattern))
        }
        _ => Err(refuse(
            FILE,
            "pre_tokenizer",
            "one set of rules for words",
            step,
        )),
    }
}

fn read_word_piece(file: &Value) -> Result<WordPiece> {
    let (model, normalizer) = (&file["model"], &file["normalizer"]);
    if text(&model["continuing_subword_prefix"]) != "##" {
        return Err(refuse(
            FILE,
            "continuing_subword_prefix",
            "##",
            &model["continuing_subword_prefix"],
        ));
    }
    for (name, expected) in [
        ("normalizer", "BertNormalizer"),
        ("pre_tokenizer", "BertPreTokenizer"),
    ] {
        if text(&file[name]["type"]) != expected {
            return Err(refuse(FILE, name, expected, &file[name]));
        }
    }
    let flag = |name: &str, default: bool| normalizer[name].as_bool().unwrap_or(default);
    let lower_case = flag("lowercase", true);
    let (vocabulary, added) = read_vocabulary(file)?;
    let special = SpecialTokens {
        unknown: vocabulary
            .id(text(&model["unk_token"]))
            .map(|id| id as usize),
        ..read_special(file, &vocabulary)?
    };
    let longest = model["max_input_chars_per_word"].as_u64().unwrap_or(100);
    WordPiece::new(WordPieceFiles {
        tokens: vocabulary.pieces().to_vec(),
        text: BertText {
            clean: flag("clean_text", true),
            cut_chinese: flag("handle_chinese_chars", true),
            strip_accents: flag("strip_accents", lower_case),
            lower_case,
        },
        longest_word: usize::try_from(longest).unwrap_or(100),
        added,
        special,
    })
}

/// All tokens, those of the model and the added ones.
pub(super) fn read_vocabulary(file: &Value) -> Result<(Vocabulary, Vec<AddedToken>)> {
    let mut tokens = pairs(FILE, &file["model"]["vocab"])?;
    let mut added = Vec::new();
    for token in array(&file["added_tokens"]) {
        let flag = |name: &str| token[name] == Value::Bool(true);
        let (content, id) = (text(&token["content"]), id(FILE, &token["id"])?);
        if content.is_empty() || flag("single_word") {
            return Err(refuse(
                FILE,
                "added_tokens",
                "with content, not single_word",
                token,
            ));
        }
        match file["model"]["vocab"].get(content) {
            None => tokens.push((content.to_owned(), id)),
            Some(known) if known.as_u64() == Some(id as u64) => {}
            Some(known) => {
                return Err(refuse(
                    FILE,
                    "added_tokens",
                    &format!("{content:?}: {known}"),
                    id,
                ));
            }
        }
        added.push(AddedToken {
            text: content.to_owned(),
            id,
            special: flag("special"),
            strips_left: flag("lstrip"),
            strips_right: flag("rstrip"),
        });
    }
    Ok((Vocabulary::from_pairs(tokens)?, added))
}

/// The special tokens by their usual names, and what the last step puts around a text.
pub(super) fn read_special(file: &Value, vocabulary: &Vocabulary) -> Result<SpecialTokens> {
    let (begin, end) = read_ends(&file["post_processor"])?;
    let place = |name: &Option<String>| match name {
        Some(name) => match vocabulary.id(name) {
            Some(id) => Ok(Some(id as usize)),
            None => Err(refuse(
                FILE,
                "post_processor",
                "a token of the vocabulary",
                name,
            )),
        },
        None => Ok(None),
    };
    Ok(SpecialTokens {
        add_begin: begin.is_some(),
        add_end: end.is_some(),
        begin: place(&begin)?
            .or_else(|| vocabulary.first_of(&["<|begin_of_text|>", "<s>", "[CLS]"])),
        end: place(&end)?.or_else(|| {
            vocabulary.first_of(&["<|endoftext|>", "<|end_of_text|>", "</s>", "[SEP]"])
        }),
        unknown: vocabulary.first_of(&[text(&file["model"]["unk_token"])]),
        padding: vocabulary.first_of(&["[PAD]", "<pad>"]),
        mask: vocabulary.first_of(&["[MASK]", "<mask>"]),
    })
}

/// The names of the tokens that the last step puts before and after a text.
fn read_ends(step: &Value) -> Result<(Option<String>, Option<String>)> {
    let owned = |value: &Value| value.as_str().map(str::to_owned);
    match text(&step["type"]) {
        "" | "ByteLevel" => Ok((None, None)),
        "BertProcessing" | "RobertaProcessing" => {
            Ok((owned(&step["cls"][0]), owned(&step["sep"][0])))
        }
        "Sequence" => {
            let mut ends = (None, None);
            for step in array(&step["processors"]) {
                let (begin, end) = read_ends(step)?;
                ends = (ends.0.or(begin), ends.1.or(end));
            }
            Ok(ends)
        }
        "TemplateProcessing" => {
            let template = array(&step["single"]);
            let name = |part: &Value| owned(&part["SpecialToken"]["id"]);
            match template {
                [text] if text.get("Sequence").is_some() => Ok((None, None)),
                [begin, text] if text.get("Sequence").is_some() => Ok((name(begin), None)),
                [text, end] if text.get("Sequence").is_some() => Ok((None, name(end))),
                [begin, _, end] => Ok((name(begin), name(end))),
                _ => Err(refuse(
                    FILE,
                    "post_processor",
                    "at most one token on each side",
                    step,
                )),
            }
        }
        other => Err(refuse(FILE, "post_processor", "a template", other)),
    }
}

fn added_special(vocabulary: &Vocabulary, id: usize) -> AddedToken {
    AddedToken {
        text: vocabulary.piece(id).unwrap_or_default().to_owned(),
        id,
        special: true,
        ..AddedToken::default()
    }
}

fn parse(name: &'static str, file: &str) -> Result<Value> {
    serde_json::from_str(file).map_err(|error| refuse(name, "the file", "JSON", error))
}

fn pairs(name: &'static str, map: &Value) -> Result<Vec<(String, usize)>> {
    let map = map
        .as_object()
        .ok_or_else(|| refuse(name, "vocab", "an object from tokens to ids", map))?;
    map.iter()
        .map(|(token, number)| Ok((token.clone(), id(name, number)?)))
        .collect()
}

fn id(name: &'static str, number: &Value) -> Result<usize> {
    let read = number.as_u64().and_then(|id| usize::try_from(id).ok());
    read.ok_or_else(|| refuse(name, "id", "a whole number", number))
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// An error in which long values are cut.
pub(super) fn refuse(
    name: &'static str,
    part: &'static str,
    expected: &str,
    found: impl ToString,
) -> EngineError {
    const LONGEST: usize = 120;
    let mut found = found.to_string();
    if found.chars().count() > LONGEST {
        found = found.chars().take(LONGEST).chain(['…']).collect();
    }
    EngineError::value(name, part, expected, found)
}
