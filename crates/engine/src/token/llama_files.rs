//! Reading the small files that come with llama2.c's models: `tokenizer.bin` and SentencePiece's `.vocab` and `.model`.
//!
//! ```text
//! tokenizer.bin   longest token in bytes (i32), then for each token: score (f32), length in bytes (i32), the bytes
//! .vocab          one line for each token: piece TAB score
//! .model          a protocol buffer: field 1 of the message, repeated, is a token {1: piece, 2: score, 3: kind}
//! ```
//! All numbers are little-endian.
//!
//! Source: Karpathy 2023, llama2.c (`tokenizer.py`, `run.c`); `sentencepiece_model.proto`.

use super::llama::{LlamaFiles, TokenKind};
use crate::error::{EngineError, Result};

/// Reads a `tokenizer.bin` such as `tok512.bin`. It says neither the ids of the special tokens nor the kinds: they are known by
/// their usual names.
///
/// # Errors
/// When the file ends early, or a token is no UTF-8.
pub fn from_tokenizer_bin(file: &[u8]) -> Result<LlamaFiles> {
    const NAME: &str = "tokenizer.bin";
    let (mut tokens, mut scores) = (Vec::new(), Vec::new());
    let mut rest = Bytes {
        name: NAME,
        left: file,
    };
    rest.take(4)?;
    while !rest.left.is_empty() {
        scores.push(f32::from_bits(rest.word()?));
        let length = rest.word()?;
        let piece = rest.text(length as usize)?;
        tokens.push(match piece {
            // llama2.c writes these two on lines of their own.
            "\n<s>\n" | "\n</s>\n" => piece.trim().to_owned(),
            _ => piece.replace(' ', "\u{2581}"),
        });
    }
    Ok(LlamaFiles::named(tokens, scores))
}

/// Reads a `.vocab` such as `tok105.vocab`. Special tokens are known by their usual names.
///
/// # Errors
/// When a line is not a piece, a tab and a number.
pub fn from_vocab(file: &str) -> Result<LlamaFiles> {
    let (mut tokens, mut scores) = (Vec::new(), Vec::new());
    // Not `lines`: a piece may be or end in a carriage return.
    for line in file.strip_suffix('\n').unwrap_or(file).split('\n') {
        let read = line
            .rsplit_once('\t')
            .and_then(|(piece, score)| Some((piece, score.trim().parse::<f32>().ok()?)));
        let (piece, score) =
            read.ok_or_else(|| refuse(".vocab", "lines of a piece, a tab and a number", line))?;
        tokens.push(piece.to_owned());
        scores.push(score);
    }
    Ok(LlamaFiles::named(tokens, scores))
}

/// Reads a `.model` such as `tok105.model`, for the byte-pair models that Llama uses. Of the options of the model only the tokens
/// are read.
///
/// # Errors
/// When the file is no such message.
pub fn from_model(file: &[u8]) -> Result<LlamaFiles> {
    const NAME: &str = ".model";
    let (mut tokens, mut scores, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    let mut message = Bytes {
        name: NAME,
        left: file,
    };
    while !message.left.is_empty() {
        let (field, value) = message.field()?;
        let (1, Field::Bytes(token)) = (field, value) else {
            continue;
        };
        let mut token = Bytes {
            name: NAME,
            left: token,
        };
        let (mut piece, mut score, mut kind) = (String::new(), 0.0, TokenKind::Normal);
        while !token.left.is_empty() {
            match token.field()? {
                (1, Field::Bytes(text)) => piece = utf8(NAME, text)?.to_owned(),
                (2, Field::Fixed(bits)) => score = f32::from_bits(bits),
                (3, Field::Number(number)) => {
                    kind = TokenKind::from_number(i32::try_from(number).unwrap_or_default());
                }
                _ => {}
            }
        }
        tokens.push(piece);
        scores.push(score);
        kinds.push(kind);
    }
    Ok(LlamaFiles {
        kinds,
        ..LlamaFiles::named(tokens, scores)
    })
}

/// A value of a protocol buffer.
enum Field<'a> {
    Number(u64),
    Fixed(u32),
    Bytes(&'a [u8]),
}

/// What is left to read of a file.
struct Bytes<'a> {
    name: &'static str,
    left: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let Some((taken, left)) = self.left.split_at_checked(length) else {
            let expected = format!("{length} more bytes");
            return Err(refuse(
                self.name,
                &expected,
                &format!("{} bytes", self.left.len()),
            ));
        };
        self.left = left;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u32> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(bytes))
    }

    fn text(&mut self, length: usize) -> Result<&'a str> {
        let name = self.name;
        utf8(name, self.take(length)?)
    }

    /// A number of seven bits a byte, lowest first.
    fn varint(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(refuse(
            self.name,
            "a number of at most ten bytes",
            "a longer one",
        ))
    }

    fn field(&mut self) -> Result<(u64, Field<'a>)> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Field::Number(self.varint()?),
            1 => Field::Bytes(self.take(8)?),
            2 => {
                let length = self.varint()?;
                Field::Bytes(self.take(usize::try_from(length).unwrap_or(usize::MAX))?)
            }
            5 => Field::Fixed(self.word()?),
            other => {
                return Err(refuse(
                    self.name,
                    "a field of wire type 0, 1, 2 or 5",
                    &other.to_string(),
                ));
            }
        };
        Ok((key >> 3, value))
    }
}

fn utf8<'a>(name: &'static str, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|_| refuse(name, "UTF-8", &format!("{bytes:02x?}")))
}

fn refuse(name: &'static str, expected: &str, found: &str) -> EngineError {
    EngineError::value(name, "the file", expected, format!("{found:?}"))
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
    fn tokenizer_bin_gives_pieces_and_scores() {
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
    fn vocab_lines_are_a_piece_and_a_score() {
        let files = from_vocab("<unk>\t0\n\t\t-1\n▁\t-2.5\n").unwrap();
        assert_eq!(files.tokens, ["<unk>", "\t", "▁"]);
        assert_eq!(files.scores, [0.0, -1.0, -2.5]);
        let error = from_vocab("a\tb").unwrap_err();
        assert!(error.to_string().contains(r#"found "a\tb""#), "{error}");
    }

    #[test]
    fn model_fields_that_are_not_tokens_are_passed_over() {
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
