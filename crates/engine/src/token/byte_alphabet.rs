//! One printable character for each byte: the spelling of tokens in the text files of byte-level
//! vocabularies.
//!
//! Bytes that are printable in Latin-1 are written as themselves (33 to 126, 161 to 172, 174 to
//! 255); the others, in order, as U+0100, U+0101 and so on, so a space is `Ġ` (U+0120).
//!
//! Source: Radford et al. 2019, code (`encoder.py`, `bytes_to_unicode`).

/// True for a byte that is written as itself.
const fn is_itself(byte: u8) -> bool {
    matches!(byte, 33..=126 | 161..=172 | 174..=255)
}

/// The first character of the bytes that are not written as themselves.
const FIRST: u32 = 0x100;

/// The number of bytes below this one that are not written as themselves.
fn rank(byte: u8) -> u32 {
    (0..byte).filter(|&below| !is_itself(below)).count() as u32
}

/// The character of a byte.
pub fn character(byte: u8) -> char {
    if is_itself(byte) {
        return char::from(byte);
    }
    char::from_u32(FIRST + rank(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The byte of a character; `None` for a character that is not in the alphabet.
pub fn byte(character: char) -> Option<u8> {
    match u8::try_from(u32::from(character)) {
        Ok(byte) => is_itself(byte).then_some(byte),
        Err(_) => {
            let wanted = u32::from(character) - FIRST;
            (0..=255u8)
                .filter(|&byte| !is_itself(byte))
                .nth(wanted as usize)
        }
    }
}

/// The bytes of a token in this spelling. A token with a character that is not in the alphabet is
/// its own UTF-8.
pub fn bytes(token: &str) -> Vec<u8> {
    let read: Option<Vec<u8>> = token.chars().map(byte).collect();
    read.unwrap_or_else(|| token.as_bytes().to_vec())
}

/// The bytes in the order of GPT-2's ids: first those that are written as themselves.
pub fn in_order() -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.sort_by_key(|&byte| !is_itself(byte));
    bytes
}

/// The spelling of bytes in a vocabulary's file.
pub fn written(bytes: &[u8]) -> String {
    bytes.iter().copied().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_character_of_its_own() {
        let all: Vec<u8> = (0..=255).collect();
        let text = written(&all);
        assert_eq!(text.chars().count(), 256);
        assert_eq!(bytes(&text), all);
        assert_eq!(written(b" a\n\xAD\xFF"), "ĠaĊŃÿ");
    }

    #[test]
    fn a_token_of_other_characters_is_its_own_text() {
        assert_eq!(byte('我'), None);
        assert_eq!(bytes("<我>"), "<我>".as_bytes());
    }
}
