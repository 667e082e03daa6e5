//! The JSON header of a safetensors file: an object of tensors, with texts under `__metadata__`.
//!
//! The header is read as a stream into the directory that is kept, so a hostile header takes at
//! most a few times its own length.

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

use super::error::FormatError;
use super::safetensors::FORMAT;

/// The key of the texts.
const METADATA: &str = "__metadata__";
/// The largest number of axes; more than any model has.
const MOST_AXES: usize = 8;
/// The largest number of texts under `__metadata__`. An empty text takes six bytes in the file and
/// many times as much in memory.
const MOST_METADATA: usize = 4096;

/// The header's description of one tensor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    pub(super) dtype: String,
    shape: Shape,
    pub(super) data_offsets: [usize; 2],
}

impl Description {
    /// The tensor's shape, rows first.
    pub(super) fn shape(&self) -> &[usize] {
        &self.shape.0
    }
}

/// The tensors and the texts under `__metadata__`, each with its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Header {
    pub(super) tensors: Vec<(String, Description)>,
    pub(super) metadata: Vec<(String, String)>,
}

impl Header {
    /// Reads the header's text.
    ///
    /// # Errors
    /// When it is not JSON, or not an object of tensors.
    pub(super) fn parse(text: &str) -> Result<Self, FormatError> {
        serde_json::from_str(text).map_err(refused)
    }

    /// Takes the header out of its text as JSON that someone else has read: two tensors of one name
    /// are one by then.
    ///
    /// # Errors
    /// When it is not an object of tensors.
    pub(super) fn of(value: Value) -> Result<Self, FormatError> {
        let Value::Object(entries) = value else {
            return Err(refused("another value"));
        };
        let mut header = Self::default();
        for (name, value) in entries {
            if name == METADATA {
                header.metadata = texts(value).ok_or_else(|| refused("other metadata"))?;
            } else {
                let description = description(&value).ok_or_else(|| {
                    let expected = "a dtype, a shape and two data_offsets";
                    FormatError::tensor(FORMAT, &name, expected, "another description")
                })?;
                header.tensors.push((name, description));
            }
        }
        Ok(header)
    }
}

/// The error of a header in another form.
fn refused(found: impl ToString) -> FormatError {
    FormatError::part(FORMAT, "header", "the tensors as JSON", found)
}

/// The description of a tensor, if `value` is one and nothing more.
fn description(value: &Value) -> Option<Description> {
    let fields = value.as_object().filter(|fields| fields.len() == 3)?;
    let sizes = |name: &str| -> Option<Vec<usize>> {
        let numbers = fields.get(name)?.as_array()?.iter();
        numbers
            .map(|number| usize::try_from(number.as_u64()?).ok())
            .collect()
    };
    Some(Description {
        dtype: fields.get("dtype")?.as_str()?.to_owned(),
        shape: Shape(sizes("shape").filter(|shape| shape.len() <= MOST_AXES)?),
        data_offsets: sizes("data_offsets")?.try_into().ok()?,
    })
}

/// The texts of the metadata, if `value` is nothing else.
fn texts(value: Value) -> Option<Vec<(String, String)>> {
    let Value::Object(texts) = value else {
        return None;
    };
    if texts.len() > MOST_METADATA {
        return None;
    }
    let text = |(key, value)| match value {
        Value::String(text) => Some((key, text)),
        _ => None,
    };
    texts.into_iter().map(text).collect()
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut header = Header::default();
                while let Some(name) = map.next_key::<String>()? {
                    if name == METADATA {
                        let Texts(texts) = map.next_value()?;
                        header.metadata.extend(texts);
                    } else {
                        header.tensors.push((name, map.next_value()?));
                    }
                }
                Ok(header)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// At most [`MOST_METADATA`] texts with their keys.
struct Texts(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MOST_METADATA} texts of metadata")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    if texts.len() == MOST_METADATA {
                        return Err(A::Error::invalid_length(MOST_METADATA + 1, &self));
                    }
                    texts.push(entry);
                }
                Ok(Texts(texts))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// At most [`MOST_AXES`] sizes.
#[derive(Debug, Clone, PartialEq)]
struct Shape(Vec<usize>);

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Axes;
        impl<'de> Visitor<'de> for Axes {
            type Value = Shape;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MOST_AXES} axes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut axes: A) -> Result<Shape, A::Error> {
                let mut shape = Vec::new();
                while let Some(size) = axes.next_element()? {
                    if shape.len() == MOST_AXES {
                        return Err(A::Error::invalid_length(MOST_AXES + 1, &self));
                    }
                    shape.push(size);
                }
                Ok(Shape(shape))
            }
        }
        deserializer.deserialize_seq(Axes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header() {
        let text = r#" {"__metadata__":{"a\n\u00e9\ud83d\ude00\/":"b"},"x":{"dtype":"F32","shape":[2, 3],"data_offsets":[0,24]}}  "#;
        let header = Header::parse(text).unwrap();
        assert_eq!(header.metadata, [("a\né😀/".to_owned(), "b".to_owned())]);
        let (_, tensor) = &header.tensors[0];
        assert_eq!(
            (tensor.shape(), tensor.data_offsets),
            (&[2, 3][..], [0, 24])
        );
        assert_eq!(Header::parse("{}").unwrap(), Header::default());
        assert_eq!(
            Header::of(serde_json::from_str(text).unwrap()).unwrap(),
            header
        );
    }

    #[test]
    fn metadata_is_bounded() {
        let texts = |count: usize| {
            let texts: Vec<String> = (0..count).map(|n| format!(r#""{n}":"""#)).collect();
            Header::parse(&format!(r#"{{"__metadata__":{{{}}}}}"#, texts.join(",")))
        };
        assert_eq!(texts(MOST_METADATA).unwrap().metadata.len(), MOST_METADATA);
        let error = texts(MOST_METADATA + 1).unwrap_err().to_string();
        assert!(error.contains("at most 4096 texts of metadata"), "{error}");
    }

    #[test]
    fn malformed_headers_are_refused() {
        for bad in [
            "",
            "[]",
            "{",
            "{\"a",
            "{\"a\\",
            "{\"a\":1}",
            "{} x",
            r#"{"__metadata__":{"a":1}}"#,
            r#"{"__metadata__":{"\x":"escape"}}"#,
            r#"{"__metadata__":{"\ud83d":"half a pair"}}"#,
            r#"{"__metadata__":{"\u+123":"sign"}}"#,
            r#"{"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1e3],"data_offsets":[0,4]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}}"#,
            r#"{"x":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1]}}"#,
            r#"{"x":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":0}}"#,
        ] {
            assert!(Header::parse(bad).is_err(), "{bad}");
            // A name that comes twice cannot be seen any more in a value.
            let value = serde_json::from_str(bad).ok();
            if let Some(value) = value.filter(|_| bad.matches("dtype").count() < 2) {
                assert!(Header::of(value).is_err(), "{bad}");
            }
        }
        let deep = format!(r#"{{"x":{}"#, "[".repeat(200_000));
        assert!(Header::parse(&deep).is_err());
    }
}
