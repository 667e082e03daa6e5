//! Vocabularies from Hugging Face's files: `vocab.json` with `merges.txt`, and `tokenizer.json`.
//!
//! An option that this crate does not compute is an error that names it; it never becomes a
//! slightly different tokenizer.

use serde_json::Value;

use super::added::AddedToken;
use super::bert_text::BertText;
use super::byte_bpe::{ByteBpe, ByteBpeFiles};
use super::json_llama;
use super::split::Split;
use super::tokenizer::{SpecialTokens, Tokenizer};
use super::vocabulary::Vocabulary;
use super::word_piece::{WordPiece, WordPieceFiles};
use crate::decimal::decimal;
use crate::error::{EngineError, Result};
use crate::format::error::shortened;

/// The regular expressions in files for the rules of [`Split`].
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
/// When a file has another form, or a merge does not fit the vocabulary.
pub fn byte_bpe(vocab_json: &str, merges_txt: &str) -> Result<ByteBpe> {
    const NAME: &str = "vocab.json";
    let vocabulary = Vocabulary::from_pairs(pairs(NAME, &parse(NAME, vocab_json)?)?)?;
    let end = vocabulary.first_of(&["<|endoftext|>"]);
    let special = SpecialTokens {
        begin: end,
        end,
        ..SpecialTokens::default()
    };
    let added = end.map(|id| AddedToken {
        text: vocabulary.token(id).unwrap_or_default().to_owned(),
        id,
        special: true,
        ..AddedToken::default()
    });
    let lines = merges_txt
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("#version"));
    ByteBpe::new(ByteBpeFiles {
        tokens: vocabulary.tokens().to_vec(),
        merges: lines.map(str::to_owned).collect(),
        added: added.into_iter().collect(),
        special,
        ..ByteBpeFiles::default()
    })
}

/// The tokenizer that a `tokenizer.json` describes: byte-level BPE, Llama's vocabulary or
/// WordPiece.
///
/// # Errors
/// When the file has another form, or an option that this crate does not compute.
pub fn tokenizer(tokenizer_json: &str) -> Result<Box<dyn Tokenizer>> {
    let file = parse(FILE, tokenizer_json)?;
    let is_llama = file["model"]["byte_fallback"].as_bool() == Some(true);
    match text(&file["model"]["type"]) {
        "BPE" if is_llama => Ok(Box::new(json_llama::read(&file)?)),
        "BPE" => Ok(Box::new(read_byte_bpe(&file)?)),
        "WordPiece" => Ok(Box::new(read_word_piece(&file)?)),
        // Files of older versions have no type.
        "" if file["model"]["merges"].is_array() => Ok(Box::new(read_byte_bpe(&file)?)),
        other => Err(refuse("model.type", "BPE or WordPiece", other)),
    }
}

/// The name of the file, for errors.
const FILE: &str = "tokenizer.json";

/// The byte-level vocabulary that a `tokenizer.json` describes.
///
/// # Errors
/// When the file has another form, describes a vocabulary of another kind, or has an option that
/// this crate does not compute.
pub fn read_byte_bpe(file: &Value) -> Result<ByteBpe> {
    let model = &file["model"];
    for name in [
        "byte_fallback",
        "continuing_subword_prefix",
        "end_of_word_suffix",
        "dropout",
    ] {
        let value = &model[name];
        if !(value.is_null() || value.as_bool() == Some(false) || value.as_str() == Some("")) {
            return Err(refuse(name, "off", shown(value)));
        }
    }
    if !file["normalizer"].is_null() {
        let found = shown(&file["normalizer"]);
        return Err(refuse("normalizer", "none for BPE", found));
    }
    let merges = merges(model)?;
    let (vocabulary, added) = read_vocabulary(file)?;
    ByteBpe::new(ByteBpeFiles {
        special: read_special(file, &vocabulary)?,
        tokens: vocabulary.tokens().to_vec(),
        merges,
        split: read_split(&file["pre_tokenizer"])?,
        added,
        whole_words: model["ignore_merges"].as_bool() == Some(true),
    })
}

/// The merges, each in the form `left right`.
pub(super) fn merges(model: &Value) -> Result<Vec<String>> {
    let merge = |merge: &Value| match (merge.as_str(), merge.as_array().map(Vec::as_slice)) {
        (Some(line), _) => Ok(line.to_owned()),
        (None, Some([Value::String(left), Value::String(right)])) => Ok(format!("{left} {right}")),
        _ => Err(refuse("merges", "pairs of tokens", shown(merge))),
    };
    array(&model["merges"]).iter().map(merge).collect()
}

/// The rules by which text is cut: either a `ByteLevel` step, which has GPT-2's rules, or a step
/// with the rules and a `ByteLevel` step after it.
fn read_split(step: &Value) -> Result<Split> {
    let steps = match text(&step["type"]) {
        "Sequence" => array(&step["pretokenizers"]),
        _ => std::slice::from_ref(step),
    };
    let (named, bytes) = match steps {
        [bytes] => (None, bytes),
        [named, bytes] => (Some(named), bytes),
        _ => return Err(refuse("pre_tokenizer", "one or two steps", shown(step))),
    };
    if text(&bytes["type"]) != "ByteLevel" || bytes["add_prefix_space"].as_bool() == Some(true) {
        let expected = "ByteLevel without add_prefix_space";
        return Err(refuse("pre_tokenizer", expected, shown(bytes)));
    }
    let own_rules = bytes["use_regex"].as_bool() != Some(false);
    match named {
        None if own_rules => Ok(Split::Gpt2),
        Some(named)
            if !own_rules
                && named["behavior"] == "Isolated"
                && named["invert"].as_bool() != Some(true) =>
        {
            let pattern = text(&named["pattern"]["Regex"]);
            let known = PATTERNS.iter().find(|(known, _)| *known == pattern);
            let unknown = || refuse("pattern", "that of GPT-2, Llama 3 or Qwen2", pattern);
            known.map(|(_, split)| *split).ok_or_else(unknown)
        }
        _ => Err(refuse(
            "pre_tokenizer",
            "one set of rules for words",
            shown(step),
        )),
    }
}

fn read_word_piece(file: &Value) -> Result<WordPiece> {
    let (model, normalizer) = (&file["model"], &file["normalizer"]);
    let prefix = "continuing_subword_prefix";
    if model[prefix] != "##" {
        return Err(refuse(prefix, "##", shown(&model[prefix])));
    }
    for (name, expected) in [
        ("normalizer", "BertNormalizer"),
        ("pre_tokenizer", "BertPreTokenizer"),
    ] {
        if text(&file[name]["type"]) != expected {
            return Err(refuse(name, expected, shown(&file[name])));
        }
    }
    let flag = |name: &str, default: bool| normalizer[name].as_bool().unwrap_or(default);
    let lower_case = flag("lowercase", true);
    let (vocabulary, added) = read_vocabulary(file)?;
    let longest = model["max_input_chars_per_word"].as_u64().unwrap_or(100);
    WordPiece::new(WordPieceFiles {
        special: read_special(file, &vocabulary)?,
        tokens: vocabulary.tokens().to_vec(),
        text: BertText {
            clean: flag("clean_text", true),
            cut_chinese: flag("handle_chinese_chars", true),
            strip_accents: flag("strip_accents", lower_case),
            lower_case,
        },
        longest_word: usize::try_from(longest).unwrap_or(100),
        added,
    })
}

/// All tokens, those of the model and the added ones.
pub(super) fn read_vocabulary(file: &Value) -> Result<(Vocabulary, Vec<AddedToken>)> {
    let mut tokens = pairs(FILE, &file["model"]["vocab"])?;
    let mut added = Vec::new();
    for token in array(&file["added_tokens"]) {
        let flag = |name: &str| token[name].as_bool() == Some(true);
        let (content, id) = (text(&token["content"]), id(FILE, &token["id"])?);
        if content.is_empty() || flag("single_word") {
            return Err(refuse(
                "added_tokens",
                "with content, not single_word",
                shown(token),
            ));
        }
        match file["model"]["vocab"].get(content) {
            None => tokens.push((content.to_owned(), id)),
            Some(known) if known.as_u64() == Some(id as u64) => {}
            Some(known) => {
                return Err(refuse(
                    "added_tokens",
                    &format!("{}: {}", quoted(content), shown(known)),
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

/// The special tokens by their usual names, and the tokens that the last step puts before and after
/// a text.
pub(super) fn read_special(file: &Value, vocabulary: &Vocabulary) -> Result<SpecialTokens> {
    let (begin, end) = read_ends(&file["post_processor"])?;
    let known = |name: &str| {
        let unknown = || refuse("post_processor", "a token of the vocabulary", name);
        vocabulary.first_of(&[name]).ok_or_else(unknown)
    };
    Ok(SpecialTokens {
        add_begin: begin.is_some(),
        add_end: end.is_some(),
        begin: (begin.map(known).transpose()?)
            .or_else(|| vocabulary.first_of(&["<|begin_of_text|>", "<s>", "[CLS]"])),
        end: (end.map(known).transpose()?).or_else(|| {
            vocabulary.first_of(&["<|endoftext|>", "<|end_of_text|>", "</s>", "[SEP]"])
        }),
        unknown: vocabulary.first_of(&[text(&file["model"]["unk_token"])]),
        padding: vocabulary.first_of(&["[PAD]", "<pad>"]),
        mask: vocabulary.first_of(&["[MASK]", "<mask>"]),
    })
}

/// The names of the tokens that the last step puts before and after a text.
fn read_ends(step: &Value) -> Result<(Option<&str>, Option<&str>)> {
    fn name(part: &Value) -> Option<&str> {
        part["SpecialToken"]["id"].as_str()
    }
    match text(&step["type"]) {
        "" | "ByteLevel" => Ok((None, None)),
        "BertProcessing" | "RobertaProcessing" => {
            Ok((step["cls"][0].as_str(), step["sep"][0].as_str()))
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
            let is_text = |part: &Value| part.get("Sequence").is_some();
            match array(&step["single"]) {
                [text] if is_text(text) => Ok((None, None)),
                [begin, text] if is_text(text) => Ok((name(begin), None)),
                [text, end] if is_text(text) => Ok((None, name(end))),
                [begin, _, end] => Ok((name(begin), name(end))),
                _ => Err(refuse(
                    "post_processor",
                    "at most one token on each side",
                    shown(step),
                )),
            }
        }
        other => Err(refuse("post_processor", "a template", other)),
    }
}

fn parse(name: &'static str, file: &str) -> Result<Value> {
    serde_json::from_str(file).map_err(|error| refuse_in(name, "the file", "JSON", error))
}

fn pairs(name: &'static str, map: &Value) -> Result<Vec<(String, usize)>> {
    let map = map
        .as_object()
        .ok_or_else(|| refuse_in(name, "vocab", "an object from tokens to ids", shown(map)))?;
    map.iter()
        .map(|(token, number)| Ok((token.clone(), id(name, number)?)))
        .collect()
}

fn id(name: &'static str, number: &Value) -> Result<usize> {
    let read = number.as_u64().and_then(|id| usize::try_from(id).ok());
    read.ok_or_else(|| refuse_in(name, "id", "a whole number", shown(number)))
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A value for the message of an error; of a list or an object only what it is, which is enough to
/// find it, and needs no writer of JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => decimal(number.as_f64().unwrap_or_default()),
        Value::String(text) => quoted(text),
        Value::Array(values) => format!("a list of {}", values.len()),
        Value::Object(members) => match members.get("type").and_then(Value::as_str) {
            Some(kind) => kind.to_owned(),
            None => {
                let names: Vec<&str> = members.keys().take(8).map(String::as_str).collect();
                format!("an object with {}", names.join(", "))
            }
        },
    }
}

/// A text in quotation marks.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// The error of a part of a `tokenizer.json`; a long value is shortened.
pub(super) fn refuse(part: &'static str, expected: &str, found: impl ToString) -> EngineError {
    refuse_in(FILE, part, expected, found)
}

fn refuse_in(
    name: &'static str,
    part: &'static str,
    expected: &str,
    found: impl ToString,
) -> EngineError {
    EngineError::value(name, part, expected, shortened(&found.to_string()))
}
