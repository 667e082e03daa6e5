//! Readers of the vocabularies that come with llama2.c's models: `tokenizer.bin` and
//! SentencePiece's `.vocab` and `.model`.
//!
//! ```text
//! tokenizer.bin   longest token in bytes (i32), then for each token: score (f32), length in bytes (i32), the bytes
//! .vocab          one line for each token: text TAB score
//! .model          a protocol buffer: field 1 of the message, repeated, is a token {1: text, 2: score, 3: kind}
//! ```
//! All numbers are little-endian.
//!
//! Source: Karpathy 2023, llama2.c (`tokenizer.py`, `run.c`); `sentencepiece_model.proto`.

use super::llama::{LlamaFiles, TokenKind};
use crate::format::cursor::{Cursor, utf8};
use crate::format::error::{FormatError, shortened};

type Result<T> = std::result::Result<T, FormatError>;

/// Reads a `tokenizer.bin` such as `tok512.bin`. The file has neither the ids nor the kinds of
/// special tokens: they are known by their usual names.
///
/// # Errors
/// When the file ends early, or a token is not UTF-8.
pub fn from_tokenizer_bin(file: &[u8]) -> Result<LlamaFiles> {
    let (mut tokens, mut scores) = (Vec::new(), Vec::new());
    let mut cursor = Cursor::new("tokenizer.bin", file);
    cursor.u32("the longest token")?;
    while cursor.left() > 0 {
        scores.push(f32::from_bits(cursor.u32("a score")?));
        let length = cursor.u32("a token's length")?;
        let token = cursor.utf8(length.into(), "a token")?;
        tokens.push(match token {
            // llama2.c writes these two on lines of their own.
            "\n<s>\n" | "\n</s>\n" => token.trim().to_owned(),
            _ => token.replace(' ', "\u{2581}"),
        });
    }
    Ok(LlamaFiles::named(tokens, scores))
}

/// Reads a `.vocab` such as `tok105.vocab`. Special tokens are known by their usual names.
///
/// # Errors
/// When a line is not a text, a tab and a number.
pub fn from_vocab(file: &str) -> Result<LlamaFiles> {
    let (mut tokens, mut scores) = (Vec::new(), Vec::new());
    // Not `lines`: a token may be or end in a carriage return.
    for line in file.strip_suffix('\n').unwrap_or(file).split('\n') {
        let read = line
            .rsplit_once('\t')
            .and_then(|(token, score)| Some((token, score.trim().parse::<f32>().ok()?)));
        let (token, score) = read.ok_or_else(|| {
            let found = format!("{:?}", shortened(line));
            FormatError::part(".vocab", "a line", "a text, a tab and a number", found)
        })?;
        tokens.push(token.to_owned());
        scores.push(score);
    }
    Ok(LlamaFiles::named(tokens, scores))
}

/// Reads a `.model` such as `tok105.model`, for the byte-pair models that Llama uses. The options
/// of the model are skipped.
///
/// # Errors
/// When the file is not such a message.
pub fn from_model(file: &[u8]) -> Result<LlamaFiles> {
    let (mut tokens, mut scores, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    let mut message = Cursor::new(MODEL, file);
    while message.left() > 0 {
        let (1, Field::Bytes(token)) = field(&mut message)? else {
            continue;
        };
        let mut token = Cursor::new(MODEL, token);
        let (mut written, mut score, mut kind) = (String::new(), 0.0, TokenKind::Normal);
        while token.left() > 0 {
            match field(&mut token)? {
                (1, Field::Bytes(text)) => written = utf8(MODEL, text, "a token")?.to_owned(),
                (2, Field::Fixed(bits)) => score = f32::from_bits(bits),
                (3, Field::Number(number)) => {
                    kind = TokenKind::from_number(i32::try_from(number).unwrap_or_default());
                }
                _ => {}
            }
        }
        tokens.push(written);
        scores.push(score);
        kinds.push(kind);
    }
    Ok(LlamaFiles {
        kinds,
        ..LlamaFiles::named(tokens, scores)
    })
}

/// The ending of SentencePiece's models, for errors.
const MODEL: &str = ".model";

/// The value of a field of a protocol buffer.
enum Field<'a> {
    Number(u64),
    Fixed(u32),
    Bytes(&'a [u8]),
}

/// A number of seven bits a byte, lowest first.
fn varint(cursor: &mut Cursor<'_>) -> Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = cursor.array("a number")?;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    let expected = "at most ten bytes";
    Err(FormatError::part(
        MODEL,
        "a number",
        expected,
        "a longer one",
    ))
}

/// The number of a field, and its value.
fn field<'a>(cursor: &mut Cursor<'a>) -> Result<(u64, Field<'a>)> {
    let key = varint(cursor)?;
    let value = match key & 7 {
        0 => Field::Number(varint(cursor)?),
        1 => Field::Bytes(cursor.take(8, "a field")?),
        2 => {
            let length = varint(cursor)?;
            Field::Bytes(cursor.take(length, "a field")?)
        }
        5 => Field::Fixed(cursor.u32("a field")?),
        other => {
            let expected = "wire type 0, 1, 2 or 5";
            return Err(FormatError::part(MODEL, "a field", expected, other));
        }
    };
    Ok((key >> 3, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(tokens: &[(&str, f32)]) -> Vec<u8> {
        let mut file = vec![9, 0, 0, 0];
        for (text, score) in tokens {
            file.extend(score.to_le_bytes());
            file.extend((text.len() as u32).to_le_bytes());
            file.extend(text.as_bytes());
        }
        file
    }

    #[test]
    fn tokenizer_bin_gives_tokens_and_scores() {
        let file = bin(&[
            ("<unk>", 0.0),
            ("\n<s>\n", 0.0),
            (" a", -1.0),
            ("<0x0A>", 0.0),
        ]);
        let files = from_tokenizer_bin(&file).unwrap();
        assert_eq!(files.tokens, ["<unk>", "<s>", "▁a", "<0x0A>"]);
        assert_eq!(files.scores, [0.0, 0.0, -1.0, 0.0]);
        assert_eq!(
            files.kinds[1..],
            [TokenKind::Control, TokenKind::Normal, TokenKind::Byte]
        );
        for length in [1, 6, 13, file.len() - 1] {
            assert!(from_tokenizer_bin(&file[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn vocab_lines_are_a_token_and_a_score() {
        let files = from_vocab("<unk>\t0\n\t\t-1\n▁\t-2.5\n").unwrap();
        assert_eq!(files.tokens, ["<unk>", "\t", "▁"]);
        assert_eq!(files.scores, [0.0, -1.0, -2.5]);
        let error = from_vocab("a\tb").unwrap_err();
        assert!(error.to_string().contains(r#"found "a\tb""#), "{error}");
    }

    #[test]
    fn model_fields_that_are_not_tokens_are_skipped() {
        let file = [
            &b"\x0A\x0A\x0A\x01a\x15\x00\x00\x80\xBF\x18\x04"[..],
            b"\x12\x02zz\x1D\x00\x00\x00\x00\x20\x96\x01",
        ]
        .concat();
        let files = from_model(&file).unwrap();
        assert_eq!((files.tokens[0].as_str(), files.scores[0]), ("a", -1.0));
        assert_eq!(files.kinds, [TokenKind::UserDefined]);
        assert!(from_model(b"\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01").is_err());
        assert!(from_model(b"\x0B").is_err());
    }
}
