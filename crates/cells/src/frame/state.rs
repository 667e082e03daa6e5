//! The state of a page as text for the address bar: only inputs that differ from their default,
//! versioned, compressed, at most 8 kB.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// Version written into every link. A link of another version opens too: inputs that still exist
/// are restored, the others are named.
pub const VERSION: u32 = 1;

/// Longest state that goes into a link, in bytes.
pub const LONGEST_BYTES: usize = 8 * 1024;

/// Decompressed size above which a link is refused.
const LARGEST_DECODED_BYTES: usize = 1 << 20;

/// Reason that a state could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The edits do not fit into a link.
    #[error("these edits take {size_bytes} bytes in a link, and a link holds {LONGEST_BYTES}")]
    TooLong {
        /// Bytes needed.
        size_bytes: usize,
    },
    /// The link is not one of ours, or was cut or changed on its way.
    #[error(
        "the part of this link that holds the edits is damaged, so the page shows its own values"
    )]
    Damaged,
}

/// A decoded link.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Version that wrote the link.
    pub version: u32,
    /// Values by input key (`cell-id.input`, or `$name` for an input of the page).
    pub values: BTreeMap<String, Value>,
}

/// Writes a state; an empty one is the empty text.
///
/// # Errors
/// [`StateError::TooLong`] above 8 kB.
pub fn encode(values: &BTreeMap<String, Value>) -> Result<String, StateError> {
    if values.is_empty() {
        return Ok(String::new());
    }
    let json =
        Value::Object(values.iter().map(|(k, v)| (k.clone(), v.clone())).collect()).to_string();
    let packed = miniz_oxide::deflate::compress_to_vec(json.as_bytes(), 8);
    let text = format!("{VERSION}.{}", URL_SAFE_NO_PAD.encode(packed));
    if text.len() > LONGEST_BYTES {
        return Err(StateError::TooLong {
            size_bytes: text.len(),
        });
    }
    Ok(text)
}

/// Reads a state.
///
/// # Errors
/// [`StateError::Damaged`] for anything that [`encode`] cannot have written.
pub fn decode(text: &str) -> Result<State, StateError> {
    if text.is_empty() {
        return Ok(State {
            version: VERSION,
            values: BTreeMap::new(),
        });
    }
    let (version, body) = text.split_once('.').ok_or(StateError::Damaged)?;
    let version = version.parse().map_err(|_| StateError::Damaged)?;
    let packed = URL_SAFE_NO_PAD
        .decode(body)
        .map_err(|_| StateError::Damaged)?;
    let json = miniz_oxide::inflate::decompress_to_vec_with_limit(&packed, LARGEST_DECODED_BYTES)
        .map_err(|_| StateError::Damaged)?;
    match serde_json::from_slice(&json) {
        Ok(Value::Object(map)) => Ok(State {
            version,
            values: map.into_iter().collect(),
        }),
        _ => Err(StateError::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn round_trips_and_is_empty_for_no_edit() {
        assert_eq!(encode(&BTreeMap::new()), Ok(String::new()));
        let values = BTreeMap::from([
            (
                "$sentence".to_owned(),
                json!("Le chat s\u{2019}est assis \u{1f431}"),
            ),
            (
                "qkv-by-hand.x".to_owned(),
                json!([[1.0, 0.5], [0.0, -2.25]]),
            ),
        ]);
        let text = encode(&values).unwrap();
        assert!(
            text.chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        );
        assert_eq!(
            decode(&text).unwrap(),
            State {
                version: VERSION,
                values
            }
        );
    }

    #[test]
    fn too_long_is_refused_with_its_size() {
        let mut rng = engine::rng::Rng::new(7);
        let noise: String = (0..40_000)
            .map(|_| char::from(b'a' + rng.below(26) as u8))
            .collect();
        let values = BTreeMap::from([("a.text".to_owned(), json!(noise))]);
        assert!(
            matches!(encode(&values), Err(StateError::TooLong { size_bytes }) if size_bytes > LONGEST_BYTES)
        );
    }

    proptest! {
        #[test]
        fn damaged_links_never_panic(text in ".{0,200}") {
            let _ = decode(&text);
        }

        #[test]
        fn a_changed_character_is_noticed_or_harmless(at in 2_usize..60, c in "[A-Za-z0-9_-]") {
            let values = BTreeMap::from([("qkv.x".to_owned(), json!([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))]);
            let mut text = encode(&values).unwrap();
            if at < text.len() {
                text.replace_range(at..=at, &c);
            }
            let _ = decode(&text);
        }
    }
}
