//! Names of the files of a model: the weights, and the files that a host may have beside them.

use super::error::ModelError;

/// Bytes of the largest file that is read: no piece of memory is larger than 2 GiB, and the model needs memory beside it.
pub const LARGEST: u64 = 0x7f00_0000;

/// The index of the weights among files of these names; all others lie beside them.
///
/// # Errors
/// When there are no weights, or a model in several parts.
pub fn weights_among(names: &[&str]) -> Result<usize, ModelError> {
    if let [_] = names {
        return Ok(0);
    }
    // llama2.c's vocabulary ends as its weights do.
    let is_weights = |name: &str| {
        let vocabulary = name.starts_with("tok") && name.ends_with(".bin");
        [".gguf", ".safetensors", ".bin"]
            .iter()
            .any(|end| name.ends_with(end))
            && !vocabulary
    };
    let mut found = names
        .iter()
        .enumerate()
        .filter(|(_, name)| is_weights(name));
    match (found.next(), found.count()) {
        (None, _) => Err(ModelError::NoWeights),
        (Some((place, _)), 0) => Ok(place),
        (Some(_), others) => Err(ModelError::Parts { count: others + 1 }),
    }
}

/// The files to ask a host for beside weights that start with these bytes, in groups: of a group the first that is there is enough.
pub fn beside(weights: &[u8]) -> &'static [&'static [&'static str]] {
    if weights.starts_with(b"GGUF") {
        &[]
    } else if weights.get(8) == Some(&b'{') {
        &[
            &["config.json"],
            &["preprocessor_config.json"],
            &["tokenizer.json", "vocab.txt", "tokenizer.model"],
        ]
    } else {
        &[&["tokenizer.json", "tokenizer.bin", "tok512.bin"]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_told_from_what_lies_beside_them() {
        let at = |names: &[&str]| weights_among(names).map_err(|error| error.to_string());
        assert_eq!(at(&["notes.txt"]), Ok(0));
        assert_eq!(
            at(&["config.json", "model.safetensors", "vocab.txt"]),
            Ok(1)
        );
        assert_eq!(at(&["tok512.bin", "stories260K.bin"]), Ok(1));
        assert!(at(&["config.json", "vocab.txt"]).is_err());
        assert!(
            at(&["model-1.safetensors", "model-2.safetensors"])
                .unwrap_err()
                .contains("2 files")
        );
    }
}
