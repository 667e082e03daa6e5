//! One printable character for each byte: how byte-level vocabularies write their tokens in text files.
//!
//! Bytes that are printable in Latin-1 stand for themselves (33 to 126, 161 to 172, 174 to 255); the others, in order, are
//! U+0100, U+0101 and so on, so that a space is `Ġ` (U+0120).
//!
//! Source: Radford et al. 2019, code (`encoder.py`, `bytes_to_unicode`).

/// Whether a byte stands for itself.
const fn is_itself(byte: u8) -> bool {
    matches!(byte, 33..=126 | 161..=172 | 174..=255)
}

/// The characters of the bytes that do not stand for themselves: U+0100 and those after it.
const FIRST: u32 = 0x100;

/// How many bytes below this one do not stand for themselves.
fn rank(byte: u8) -> u32 {
    (0..byte).filter(|&below| !is_itself(below)).count() as u32
}

/// The character that a byte is written as.
pub fn character(byte: u8) -> char {
    if is_itself(byte) {
        return char::from(byte);
    }
    char::from_u32(FIRST + rank(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The byte that a character stands for; `None` where it stands for none.
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

/// The bytes of a written token. A token with a character that stands for no byte is its own UTF-8.
pub fn bytes(piece: &str) -> Vec<u8> {
    let read: Option<Vec<u8>> = piece.chars().map(byte).collect();
    read.unwrap_or_else(|| piece.as_bytes().to_vec())
}

/// How bytes are written in a vocabulary's file.
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
    fn a_piece_of_other_characters_is_its_own_text() {
        assert_eq!(byte('我'), None);
        assert_eq!(bytes("<我>"), "<我>".as_bytes());
    }
}
