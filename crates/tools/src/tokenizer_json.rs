//! Writes a byte-level vocabulary as `tokenizer.json`, which Hugging Face's library reads too.

use engine::token::byte_bpe::ByteBpe;
use engine::token::tokenizer::{SpecialTokens, Tokenizer};
use engine::{EngineError, Result};
use serde_json::{Map, Value, json};

/// The file of a vocabulary that cuts text as GPT-2 does, such as [`engine::token::train::train`]
/// gives.
///
/// ```
/// use engine::token::{json, split::Split, tokenizer::Tokenizer, train::train};
/// use tools::tokenizer_json::tokenizer_json;
/// let trained = train("low low lower lowest", 3, Split::Gpt2)?.tokenizer;
/// let again = json::tokenizer(&tokenizer_json(&trained)?)?;
/// assert_eq!(again.encode("slow low")?, trained.encode("slow low")?);
/// # Ok::<(), engine::EngineError>(())
/// ```
///
/// # Errors
/// When the vocabulary has no such form.
pub fn tokenizer_json(tokenizer: &ByteBpe) -> Result<String> {
    let wrong = |found: &str| {
        EngineError::value("tokenizer_json", "vocabulary", "cut as GPT-2's is", found)
    };
    let written = tokenizer.gguf().ok_or_else(|| wrong("none"))?;
    let split = written.pre.unwrap_or_default();
    if split != "gpt-2" {
        return Err(wrong(&split));
    }
    let special = tokenizer.special();
    let ids = [special.end, special.begin, special.mask, special.padding];
    let mut ids: Vec<usize> = ids.into_iter().flatten().collect();
    ids.sort_unstable();
    ids.dedup();
    let added = ids.into_iter().map(|id| {
        json!({
            "id": id, "content": written.tokens[id], "special": true,
            "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
        })
    });
    let added: Vec<Value> = added.collect();
    let vocabulary: Map<String, Value> = (written.tokens.iter().enumerate())
        .map(|(id, token)| (token.clone(), json!(id)))
        .collect();
    let bytes = json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true });
    let file = json!({
        "version": "1.0",
        "added_tokens": added,
        "normalizer": null,
        "pre_tokenizer": bytes,
        "post_processor": ends(special, &written.tokens),
        "decoder": bytes,
        "model": { "type": "BPE", "vocab": vocabulary, "merges": written.merges.unwrap_or_default() },
    });
    Ok(file.to_string())
}

/// What puts the tokens around a text with which a model was trained; null where there are none.
fn ends(special: &SpecialTokens, tokens: &[String]) -> Value {
    let part = |id: usize| json!({ "SpecialToken": { "id": tokens[id], "type_id": 0 } });
    let begin = special.begin.filter(|_| special.add_begin);
    let end = special.end.filter(|_| special.add_end);
    if begin.or(end).is_none() {
        return Value::Null;
    }
    let around = |name: &str| {
        let text = json!({ "Sequence": { "id": name, "type_id": 0 } });
        let parts = begin.map(part).into_iter().chain([text]);
        parts.chain(end.map(part)).collect::<Vec<_>>()
    };
    let named = [begin, end].into_iter().flatten().map(|id| {
        let named = json!({ "id": tokens[id], "ids": [id], "tokens": [tokens[id]] });
        (tokens[id].clone(), named)
    });
    let pair = [around("A"), around("B")].concat();
    json!({
        "type": "TemplateProcessing",
        "single": around("A"),
        "pair": pair,
        "special_tokens": named.collect::<Map<String, Value>>(),
    })
}
