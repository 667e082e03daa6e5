//! The browser's reader of JSON against ours.

use serde_json::Value;
use wasm_bindgen_test::wasm_bindgen_test;
use worker::json;

#[wasm_bindgen_test]
fn the_browsers_reader_gives_the_same_values() {
    for text in [
        r#"{"config": {"width": 64, "norm_eps": 1e-5, "tied": true, "bias": null}}"#,
        r#"{"x": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]}, "__metadata__": {}}"#,
        r#"[[], {}, "", "a\n\u00e9\ud83d\ude00\/", "\u0000", -7, 0, 2.5, -1e-3, 9007199254740991]"#,
        r#"{"10": 1, "2": 2, "b": 3, "a": 4, "__proto__": 5}"#,
        " null ",
    ] {
        let ours: Value = serde_json::from_str(text).unwrap();
        assert_eq!(json::read(text).unwrap(), ours, "{text}");
    }
}

#[wasm_bindgen_test]
fn what_is_not_json_is_refused_with_the_browsers_words() {
    for text in ["", "{", "{} x", "[1,]", "nil"] {
        assert!(!json::read(text).unwrap_err().is_empty(), "{text}");
    }
}

#[wasm_bindgen_test]
fn a_number_beyond_javascripts_range_is_none() {
    let read = json::read("[1e308, 1e400]").unwrap();
    assert_eq!(read[0], 1e308);
    assert!(read[1].is_null());
}
