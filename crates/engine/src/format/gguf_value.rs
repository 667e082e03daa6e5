//! Values in a GGUF file's metadata.
//!
//! | number | type | number | type |
//! |---|---|---|---|
//! | 0, 1 | u8, i8 | 7 | bool, one byte |
//! | 2, 3 | u16, i16 | 8 | text: length as u64, UTF-8 |
//! | 4, 5 | u32, i32 | 9 | array: type as u32, length as u64, elements |
//! | 6, 12 | f32, f64 | 10, 11 | u64, i64 |

use super::cursor::Cursor;
use super::error::FormatError;
use super::gguf::refuse;

/// The deepest nesting of arrays that is read: an array of arrays of arrays of numbers. Known files
/// have no nested arrays at all.
pub const DEEPEST: usize = 3;

macro_rules! values {
    ($($variant:ident $number:literal $kind:ty;)*) => {
        /// The value of a key.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Value {
            $(#[doc = concat!("One `", stringify!($kind), "`.")] $variant($kind),)*
            /// True or false.
            Bool(bool),
            /// A text.
            Text(String),
            /// Many values of one type.
            Array(Array),
        }

        /// The elements of an array.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Array {
            $(#[doc = concat!("Each a `", stringify!($kind), "`.")] $variant(Vec<$kind>),)*
            /// True or false.
            Bool(Vec<bool>),
            /// Texts.
            Text(Vec<String>),
            /// Arrays, which need not be of one type.
            Array(Vec<Array>),
        }

        impl Value {
            pub(super) fn read(cursor: &mut Cursor<'_>, key: &str) -> Result<Self, FormatError> {
                Ok(match cursor.u32(key)? {
                    $($number => Self::$variant(<$kind>::from_le_bytes(cursor.array(key)?)),)*
                    7 => Self::Bool(truth(cursor.array(key)?, key)?),
                    8 => Self::Text(cursor.text(key)?.to_owned()),
                    9 => Self::Array(Array::read(cursor, key, 1)?),
                    other => return Err(unknown(key, other)),
                })
            }

            /// The number, of any type of numbers; `None` for another value.
            pub fn number(&self) -> Option<f64> {
                match self {
                    $(Self::$variant(value) => Some(*value as f64),)*
                    Self::Bool(_) | Self::Text(_) | Self::Array(_) => None,
                }
            }
        }

        impl Array {
            fn read(cursor: &mut Cursor<'_>, key: &str, depth: usize) -> Result<Self, FormatError> {
                if depth > DEEPEST {
                    let expected = format!("arrays nested at most {DEEPEST} deep");
                    return Err(refuse(key, expected, "a deeper one"));
                }
                Ok(match cursor.u32(key)? {
                    $($number => Self::$variant(many(cursor, key, size_of::<$kind>() as u64, |cursor| {
                        cursor.array(key).map(<$kind>::from_le_bytes)
                    })?),)*
                    7 => Self::Bool(many(cursor, key, 1, |cursor| truth(cursor.array(key)?, key))?),
                    8 => Self::Text(many(cursor, key, 8, |cursor| cursor.text(key).map(str::to_owned))?),
                    // An empty array is 12 bytes: its type and its length.
                    9 => Self::Array(many(cursor, key, 12, |cursor| Self::read(cursor, key, depth + 1))?),
                    other => return Err(unknown(key, other)),
                })
            }

            /// The number at a position, of any type of numbers; `None` where there is no number.
            pub fn number(&self, at: usize) -> Option<f64> {
                match self {
                    $(Self::$variant(values) => values.get(at).map(|value| *value as f64),)*
                    Self::Bool(_) | Self::Text(_) | Self::Array(_) => None,
                }
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$variant(values) => values.len(),)*
                    Self::Bool(values) => values.len(),
                    Self::Text(values) => values.len(),
                    Self::Array(values) => values.len(),
                }
            }
        }
    };
}

values! {
    U8 0 u8;
    I8 1 i8;
    U16 2 u16;
    I16 3 i16;
    U32 4 u32;
    I32 5 i32;
    F32 6 f32;
    U64 10 u64;
    I64 11 i64;
    F64 12 f64;
}

impl Value {
    /// The text; `None` for another value.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number from 0 on; `None` for another value, and for a number that memory cannot
    /// address.
    pub fn size(&self) -> Option<usize> {
        match *self {
            Self::U8(n) => Some(n.into()),
            Self::U16(n) => Some(n.into()),
            Self::U32(n) => usize::try_from(n).ok(),
            Self::U64(n) => usize::try_from(n).ok(),
            Self::I8(n) => usize::try_from(n).ok(),
            Self::I16(n) => usize::try_from(n).ok(),
            Self::I32(n) => usize::try_from(n).ok(),
            Self::I64(n) => usize::try_from(n).ok(),
            _ => None,
        }
    }

    /// True or false; `None` for another value.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of an array; `None` for another value.
    pub fn array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }
}

impl Array {
    /// True without any element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The texts of an array of texts; `None` for another array.
    pub fn texts(&self) -> Option<&[String]> {
        match self {
            Self::Text(texts) => Some(texts),
            _ => None,
        }
    }
}

/// The elements of an array, each of at least `each` bytes, after their number.
fn many<'a, T>(
    cursor: &mut Cursor<'a>,
    key: &str,
    each: u64,
    read: impl Fn(&mut Cursor<'a>) -> Result<T, FormatError>,
) -> Result<Vec<T>, FormatError> {
    let count = cursor.count(each, key)?;
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        values.push(read(cursor)?);
    }
    Ok(values)
}

fn truth([byte]: [u8; 1], key: &str) -> Result<bool, FormatError> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(refuse(key, "0 or 1 for a truth value", other)),
    }
}

fn unknown(key: &str, number: u32) -> FormatError {
    let found = format!("type {number}");
    refuse(key, "a value of a type from 0 to 12", found)
}
