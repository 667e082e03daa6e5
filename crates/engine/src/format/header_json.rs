//! The JSON at the head of a safetensors file, and no more JSON than that: an object whose values are objects of texts, whole
//! numbers and lists of whole numbers.
//!
//! A parser for all JSON would build a tree many times the size of a hostile header; this one keeps only what a directory needs.

use super::error::{FormatError, shortened};

const FORMAT: &str = super::safetensors::FORMAT;
/// More axes than any model has.
const MOST_AXES: usize = 8;
/// More texts than any file has under `__metadata__`; an empty one takes six bytes there and many times as much here.
const MOST_METADATA: usize = 4096;

/// A tensor as the header describes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Described {
    pub(super) name: String,
    pub(super) dtype: String,
    pub(super) shape: Vec<usize>,
    pub(super) offsets: [usize; 2],
}

/// The tensors and the texts under `__metadata__`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Header {
    pub(super) tensors: Vec<Described>,
    pub(super) metadata: Vec<(String, String)>,
}

impl Header {
    pub(super) fn parse(text: &str) -> Result<Self, FormatError> {
        let mut json = Json { text, position: 0 };
        let mut header = Self::default();
        json.object(|json, key| {
            if key == "__metadata__" {
                return json.object(|json, key| {
                    if header.metadata.len() == MOST_METADATA {
                        return Err(
                            json.wrong(&format!("at most {MOST_METADATA} texts of metadata"))
                        );
                    }
                    header.metadata.push((key, json.text()?));
                    Ok(())
                });
            }
            header.tensors.push(described(json, key)?);
            Ok(())
        })?;
        json.space();
        match json.peek() {
            None => Ok(header),
            Some(_) => Err(json.wrong("spaces up to the header's end")),
        }
    }
}

fn described(json: &mut Json<'_>, name: String) -> Result<Described, FormatError> {
    let (mut dtype, mut shape, mut offsets) = (None, None, None);
    json.object(|json, key| {
        match key.as_str() {
            "dtype" => dtype = Some(json.text()?),
            "shape" => shape = Some(json.numbers(MOST_AXES)?),
            "data_offsets" => {
                let at = json.clone();
                let found = <[usize; 2]>::try_from(json.numbers(2)?);
                offsets = Some(found.map_err(|_| at.wrong("two data_offsets"))?);
            }
            _ => return Err(json.wrong("dtype, shape or data_offsets")),
        }
        Ok(())
    })?;
    match (dtype, shape, offsets) {
        (Some(dtype), Some(shape), Some(offsets)) => Ok(Described {
            name,
            dtype,
            shape,
            offsets,
        }),
        _ => Err(FormatError::tensor(
            FORMAT,
            &name,
            "dtype, shape and data_offsets",
            "not all of them",
        )),
    }
}

/// What is still to be read.
#[derive(Debug, Clone)]
struct Json<'a> {
    text: &'a str,
    position: usize,
}

impl Json<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    /// Whether this comes next, which is then read.
    fn next_is(&mut self, wanted: u8) -> bool {
        self.space();
        let found = self.peek() == Some(wanted);
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: u8) -> Result<(), FormatError> {
        if self.next_is(wanted) {
            return Ok(());
        }
        Err(self.wrong(&format!("{:?}", char::from(wanted))))
    }

    fn wrong(&self, expected: &str) -> FormatError {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let found: String = rest.chars().take(20).collect();
        let part = format!("header at byte {}", self.position);
        FormatError::part(FORMAT, part, expected, format!("{:?}", shortened(&found)))
    }

    /// An object; `read` gets each key and reads its value.
    fn object(
        &mut self,
        mut read: impl FnMut(&mut Self, String) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        self.expect(b'{')?;
        if self.next_is(b'}') {
            return Ok(());
        }
        loop {
            let key = self.text()?;
            self.expect(b':')?;
            read(self, key)?;
            if self.next_is(b'}') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    fn numbers(&mut self, most: usize) -> Result<Vec<usize>, FormatError> {
        self.expect(b'[')?;
        let mut numbers = Vec::new();
        if self.next_is(b']') {
            return Ok(numbers);
        }
        loop {
            if numbers.len() == most {
                return Err(self.wrong(&format!("at most {most} numbers")));
            }
            numbers.push(self.number()?);
            if self.next_is(b']') {
                return Ok(numbers);
            }
            self.expect(b',')?;
        }
    }

    fn number(&mut self) -> Result<usize, FormatError> {
        self.space();
        let rest = self.text.get(self.position..).unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest.get(..digits).and_then(|digits| digits.parse().ok());
        let number = number.ok_or_else(|| self.wrong("a whole number that fits in memory"))?;
        self.position += digits;
        Ok(number)
    }

    fn text(&mut self) -> Result<String, FormatError> {
        self.expect(b'"')?;
        let start = self.position;
        // The end first, so that the text is allocated once.
        let mut escaped = false;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.position += 2;
                }
                Some(0x20..) => self.position += 1,
                _ => return Err(self.wrong("a text's end")),
            }
        }
        let raw = self.text.get(start..self.position);
        let raw = raw.ok_or_else(|| self.wrong("a text"))?;
        self.position += 1;
        if !escaped {
            return Ok(raw.to_owned());
        }
        unescaped(raw).ok_or_else(|| self.wrong("known escapes in the text before"))
    }
}

/// A JSON text without its escapes; `None` where one is unknown.
fn unescaped(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(rest.get(..at)?);
        let kind = *rest.as_bytes().get(at + 1)?;
        rest = rest.get(at + 2..)?;
        text.push(match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let (code, after) = unit(rest)?;
                rest = after;
                // Characters beyond U+FFFF come as two units.
                if (0xd800..0xdc00).contains(&code) {
                    let (low, after) = unit(rest.strip_prefix("\\u")?)?;
                    rest = after;
                    let low = low.checked_sub(0xdc00).filter(|&low| low < 0x400)?;
                    char::from_u32(0x1_0000 + ((code - 0xd800) << 10) + low)?
                } else {
                    char::from_u32(code)?
                }
            }
            _ => return None,
        });
    }
    text.push_str(rest);
    Some(text)
}

/// Four hexadecimal digits, and what follows.
fn unit(text: &str) -> Option<(u32, &str)> {
    let digits = text.get(..4)?;
    let hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16)
        .ok()
        .filter(|_| hexadecimal)?;
    Some((code, text.get(4..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header() {
        let text = r#" {"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2, 3],"data_offsets":[0,24]}}  "#;
        let header = Header::parse(text).unwrap();
        assert_eq!(header.metadata, [("a".to_owned(), "b".to_owned())]);
        assert_eq!(header.tensors[0].shape, [2, 3]);
        assert_eq!(header.tensors[0].offsets, [0, 24]);
        assert_eq!(Header::parse("{}").unwrap(), Header::default());
    }

    #[test]
    fn escapes() {
        assert_eq!(unescaped(r"a\n\u00e9\ud83d\ude00\/").unwrap(), "a\né😀/");
        for bad in [r"\x", r"\ud83d", r"\u12", r"\udc00", r"\u+123"] {
            assert_eq!(unescaped(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_no_header_is_refused() {
        for bad in [
            "",
            "[]",
            "{",
            "{\"a",
            "{\"a\\",
            "{\"a\":1}",
            "{} x",
            r#"{"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1e3],"data_offsets":[0,4]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}}"#,
            r#"{"x":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1]}}"#,
        ] {
            assert!(Header::parse(bad).is_err(), "{bad}");
        }
    }
}
