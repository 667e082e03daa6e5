//! JSON as the browser reads it. The files that cells read are the site's own, and the browser's
//! reader is there already: ours would be a sixth of what a page waits for.

use js_sys::{Array, JSON, Object};
use serde_json::{Map, Value};
use wasm_bindgen::{JsCast, JsValue};

/// The largest whole number that JavaScript's numbers hold exactly with all smaller ones.
const LARGEST: f64 = 9_007_199_254_740_991.0;

/// Reads a text as one JSON value.
///
/// # Errors
/// When the text is not JSON; the message is the browser's.
pub fn read(text: &str) -> Result<Value, String> {
    let wrong = |error: JsValue| {
        let error: Option<js_sys::Error> = error.dyn_into().ok();
        error.map_or_else(String::new, |error| error.message().into())
    };
    JSON::parse(text).map(|read| value(&read)).map_err(wrong)
}

/// The same value as ours.
fn value(read: &JsValue) -> Value {
    if let Some(text) = read.as_string() {
        return Value::String(text);
    }
    if let Some(read) = read.as_f64() {
        return number(read);
    }
    if let Some(yes) = read.as_bool() {
        return Value::Bool(yes);
    }
    if let Some(array) = read.dyn_ref::<Array>() {
        return Value::Array(array.iter().map(|element| value(&element)).collect());
    }
    match read.dyn_ref::<Object>() {
        Some(object) => Value::Object(members(object)),
        None => Value::Null,
    }
}

/// Whole numbers as such; JavaScript has one kind of number. One beyond its range is nothing, and
/// is refused where a number is needed.
fn number(read: f64) -> Value {
    match read {
        _ if read.fract() != 0.0 || read.abs() > LARGEST => Value::from(read),
        _ if read < 0.0 => Value::from(read as i64),
        _ => Value::from(read as u64),
    }
}

fn members(object: &Object) -> Map<String, Value> {
    let entries = Object::entries(object);
    let member = |entry: JsValue| {
        let entry: Array = entry.unchecked_into();
        (
            entry.get(0).as_string().unwrap_or_default(),
            value(&entry.get(1)),
        )
    };
    entries.iter().map(member).collect()
}
