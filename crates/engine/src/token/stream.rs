//! Decoding of ids that come one by one, without printing half a character.
//!
//! A token may end in the middle of a character. [`StreamDecoder`] holds back the bytes of an
//! unfinished character until the tokens that complete it have come; its texts, joined, are the
//! text of all ids decoded at once.
//!
//! ```
//! use engine::token::{split::Split, stream::StreamDecoder, train::train};
//! let bytes_only = train("", 0, Split::Gpt2)?.tokenizer;
//! let mut stream = StreamDecoder::new(&bytes_only);
//! assert_eq!(stream.push(0xC3)?, "");
//! assert_eq!(stream.push(0xA9)?, "é");
//! assert_eq!(stream.push(0xC3)? + &stream.finish(), "\u{FFFD}");
//! # Ok::<(), engine::EngineError>(())
//! ```

use super::tokenizer::Tokenizer;
use crate::error::Result;

/// A decoder that turns ids into text as they come.
pub struct StreamDecoder<'a> {
    tokenizer: &'a dyn Tokenizer,
    /// The bytes of a character that has begun, at most three.
    pending: Vec<u8>,
    first: bool,
}

impl<'a> StreamDecoder<'a> {
    /// A decoder at the beginning of a text.
    pub fn new(tokenizer: &'a dyn Tokenizer) -> Self {
        Self {
            tokenizer,
            pending: Vec::new(),
            first: true,
        }
    }

    /// Takes the next id and returns the text that is complete with it, which may be empty.
    ///
    /// # Errors
    /// When there is no token of this id.
    pub fn push(&mut self, id: usize) -> Result<String> {
        if let Some(bytes) = self.tokenizer.token_bytes(id, self.first)? {
            self.pending.extend_from_slice(&bytes);
            self.first = false;
        }
        Ok(complete(&mut self.pending))
    }

    /// U+FFFD for a character that has begun and will not be completed; otherwise an empty text.
    pub fn finish(&mut self) -> String {
        let pending = std::mem::take(&mut self.pending);
        String::from_utf8_lossy(&pending).into_owned()
    }
}

/// Removes the text at the front of some bytes; an unfinished character at their end stays.
fn complete(bytes: &mut Vec<u8>) -> String {
    let mut text = String::new();
    loop {
        match std::str::from_utf8(bytes) {
            Ok(all) => {
                text.push_str(all);
                bytes.clear();
                return text;
            }
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                text.push_str(&String::from_utf8_lossy(valid));
                let Some(wrong) = error.error_len() else {
                    *bytes = rest.to_vec();
                    return text;
                };
                text.push(char::REPLACEMENT_CHARACTER);
                *bytes = rest[wrong..].to_vec();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::{split::Split, train::train};

    #[test]
    fn characters_come_whole_and_wrong_bytes_are_marked() {
        let tokenizer = train("", 0, Split::Gpt2).unwrap().tokenizer;
        let mut stream = StreamDecoder::new(&tokenizer);
        let bytes = "a🦙".as_bytes().iter().chain(b"\xFFb\xE2\x82c\xE2\x82");
        let mut given: Vec<String> = bytes
            .map(|&byte| stream.push(usize::from(byte)).unwrap())
            .collect();
        given.push(stream.finish());
        let expected = "a,,,,🦙,\u{FFFD},b,,,\u{FFFD}c,,,\u{FFFD}";
        assert_eq!(given.join(","), expected);
        assert_eq!(stream.finish(), "");
        assert!(stream.push(256).is_err());
    }
}
