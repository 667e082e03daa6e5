//! Values of a GGUF file's metadata as bytes: the reverse of [`engine::format::gguf_value`].

use engine::format::gguf_value::{Array, Value};

/// The type numbers of what is not a number.
const BOOL: u32 = 7;
const TEXT: u32 = 8;
const ARRAY: u32 = 9;

macro_rules! numbers {
    ($($variant:ident $number:literal;)*) => {
        /// Appends a value behind its type.
        pub(crate) fn write_value(file: &mut Vec<u8>, value: &Value) {
            match value {
                $(Value::$variant(value) => {
                    file.extend(u32::to_le_bytes($number));
                    file.extend(value.to_le_bytes());
                })*
                Value::Bool(value) => {
                    file.extend(BOOL.to_le_bytes());
                    file.push(u8::from(*value));
                }
                Value::Text(value) => {
                    file.extend(TEXT.to_le_bytes());
                    write_text(file, value);
                }
                Value::Array(value) => {
                    file.extend(ARRAY.to_le_bytes());
                    write_array(file, value);
                }
            }
        }

        /// Appends the type of an array's elements, their number and the elements.
        fn write_array(file: &mut Vec<u8>, array: &Array) {
            let number = match array {
                $(Array::$variant(_) => $number,)*
                Array::Bool(_) => BOOL,
                Array::Text(_) => TEXT,
                Array::Array(_) => ARRAY,
            };
            file.extend(number.to_le_bytes());
            file.extend((array.len() as u64).to_le_bytes());
            match array {
                $(Array::$variant(values) => {
                    values.iter().for_each(|value| file.extend(value.to_le_bytes()));
                })*
                Array::Bool(values) => file.extend(values.iter().copied().map(u8::from)),
                Array::Text(values) => values.iter().for_each(|text| write_text(file, text)),
                Array::Array(values) => values.iter().for_each(|array| write_array(file, array)),
            }
        }
    };
}

numbers! {
    U8 0;
    I8 1;
    U16 2;
    I16 3;
    U32 4;
    I32 5;
    F32 6;
    U64 10;
    I64 11;
    F64 12;
}

/// Appends a text behind its length in bytes.
pub(crate) fn write_text(file: &mut Vec<u8>, text: &str) {
    file.extend((text.len() as u64).to_le_bytes());
    file.extend(text.as_bytes());
}

/// The number of arrays nested in each other, `array` included.
pub(crate) fn depth(array: &Array) -> usize {
    match array {
        Array::Array(arrays) => 1 + arrays.iter().map(depth).max().unwrap_or(0),
        _ => 1,
    }
}
