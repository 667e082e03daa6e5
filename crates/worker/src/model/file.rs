//! Names of the files of a model: the weights, and the files that a host may have beside them.

use engine::open::PartName;

use super::error::ModelError;
use crate::build::Build;

/// Bytes of the largest file that is read into memory by a build with 32-bit addresses: no piece of
/// memory is larger than 2 GiB there.
const LARGEST_PIECE: u64 = 0x7f00_0000;

/// Bytes of the largest file that a build reads into memory, where the browser does not store it:
/// file and model are in memory side by side.
pub fn largest_in_memory(build: Build) -> u64 {
    if build.is_wide() {
        build.largest_weights() / 2
    } else {
        LARGEST_PIECE
    }
}

/// The error of weights of this many bytes, which are too large for a build.
pub fn too_large(build: Build, bytes: u64) -> ModelError {
    ModelError::TooLarge {
        bytes,
        memory_gb: build.most_memory_gb(),
    }
}

/// Returns whether a file that starts with these bytes is a web page, which a host sends in place of
/// a file that it describes or does not have.
pub fn is_web_page(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    ["<!doctype html", "<html"].iter().any(|begin| {
        text.get(..begin.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(begin))
    })
}

/// What to say where a browser has no answer of a host and tells no more than that it has none.
pub fn no_answer(url: &str, why: &str) -> String {
    // Its pages cannot be read by other sites, only its files.
    let is_page = url.contains("huggingface.co/") && url.contains("/blob/");
    let way_on = if is_page {
        "The address of a file has /resolve/ where its page has /blob/"
    } else {
        "If the browser can download it by itself, do so and open it from this device"
    };
    format!(
        "either no host answers there, or the host does not allow other sites to read its files (CORS): {why}. {way_on}"
    )
}

/// The indices of the weights among files of these names, the first part first where they are in
/// several files; all others lie beside them.
///
/// # Errors
/// When there are no weights, or files of several models.
pub fn weights_among(names: &[&str]) -> Result<Vec<usize>, ModelError> {
    if let [_] = names {
        return Ok(vec![0]);
    }
    // llama2.c's vocabulary ends as its weights do.
    let is_weights = |name: &str| {
        let vocabulary = name.starts_with("tok") && name.ends_with(".bin");
        [".gguf", ".safetensors", ".bin"]
            .iter()
            .any(|end| name.ends_with(end))
            && !vocabulary
    };
    let found = names
        .iter()
        .enumerate()
        .filter(|(_, name)| is_weights(name));
    let mut found: Vec<_> = found
        .map(|(place, name)| (PartName::parse(name), place))
        .collect();
    found.sort_by_key(|(part, _)| part.map(|part| part.number()));
    let is_one = match found.as_slice() {
        [] => return Err(ModelError::NoWeights),
        [_] => true,
        [(Some(first), _), others @ ..] => others
            .iter()
            .all(|(part, _)| part.is_some_and(|part| part.is_with(first))),
        _ => false,
    };
    if is_one {
        return Ok(found.into_iter().map(|(_, place)| place).collect());
    }
    Err(ModelError::SeveralModels { count: found.len() })
}

/// The addresses of all files of the weights at an address: of all parts, if it is that of one of
/// them.
pub fn addresses(url: &str) -> Vec<String> {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let Some((folder, name)) = path.rsplit_once('/') else {
        return vec![url.to_owned()];
    };
    match PartName::parse(name) {
        Some(part) => (1..=part.count())
            .map(|number| format!("{folder}/{}", part.name_of(number)))
            .collect(),
        None => vec![url.to_owned()],
    }
}

/// Bytes at the start of weights that show their format.
pub const KIND_BYTES: usize = 9;

/// The files to ask a host for beside weights that start with these bytes, in groups: of a group
/// the first that is there is enough.
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
    fn web_pages_are_known_by_their_beginning() {
        for page in [
            "<!DOCTYPE html>",
            "\n  <!doctype HTML lang=en>",
            "\u{feff}<html><head>",
        ] {
            assert!(is_web_page(page.as_bytes()), "{page}");
        }
        for file in [
            &b"GGUF"[..],
            b"{\"a\":1}",
            b"<unk>",
            b"",
            b"\xff\xfe<",
            b"<!doc",
        ] {
            assert!(!is_web_page(file), "{file:?}");
        }
    }

    #[test]
    fn a_host_without_an_answer_leaves_a_way_on() {
        let words = no_answer("https://host/a.gguf", "Failed to fetch");
        for part in ["(CORS): Failed to fetch. If", "open it from this device"] {
            assert!(words.contains(part), "{part}: {words}");
        }
        let page = no_answer("https://huggingface.co/a/b/blob/main/a.gguf", "Failed");
        assert!(
            page.contains("/resolve/") && !page.contains("download"),
            "{page}"
        );
    }

    #[test]
    fn weights_are_told_from_what_lies_beside_them() {
        let at = |names: &[&str]| weights_among(names).map_err(|error| error.to_string());
        assert_eq!(at(&["notes.txt"]), Ok(vec![0]));
        assert_eq!(
            at(&["config.json", "model.safetensors", "vocab.txt"]),
            Ok(vec![1])
        );
        assert_eq!(at(&["tok512.bin", "stories260K.bin"]), Ok(vec![1]));
        assert!(at(&["config.json", "vocab.txt"]).is_err());
        let parts = [
            "a-00002-of-00002.safetensors",
            "config.json",
            "a-00001-of-00002.safetensors",
        ];
        assert_eq!(at(&parts), Ok(vec![2, 0]));
        for others in [
            &["model-1.safetensors", "model-2.safetensors"],
            &["a-1-of-2.gguf", "b-2-of-2.gguf"],
            &["a-1-of-2.gguf", "a.gguf"],
        ] {
            let why = at(others).unwrap_err();
            assert!(why.contains("2 files of weights"), "{why}");
        }
    }

    #[test]
    fn the_addresses_of_parts_are_known_from_one_of_them() {
        assert_eq!(addresses("https://h/a.gguf?x=1"), ["https://h/a.gguf?x=1"]);
        assert_eq!(
            addresses("https://h/f/a-2-of-2.gguf?download=true"),
            ["https://h/f/a-1-of-2.gguf", "https://h/f/a-2-of-2.gguf"]
        );
    }
}
