//! The vocabulary of a shipped model in a file of its own: cells that only cut texts need no more.

use std::path::Path;

use engine::format::safetensors::SafeTensors;

use crate::{Result, TrainError};

/// The models whose vocabularies have a file, and the key of their metadata that holds it.
const KEYS: [(&str, &str); 3] = [
    ("tiny-bert", "vocab.txt"),
    ("tiny-gpt", "tokenizer.json"),
    ("translator", "tokenizer.json"),
];

/// The name and the content of the file for the vocabulary of a model, byte by byte as it is in the
/// metadata of the model's file; `None` for a model whose vocabulary no cell needs by itself.
///
/// # Errors
/// When the file is no such model.
pub fn vocabulary_file(model: &str, path: &Path, whole: &[u8]) -> Result<Option<(String, String)>> {
    let Some((_, key)) = KEYS.iter().find(|(name, _)| *name == model) else {
        return Ok(None);
    };
    let file = SafeTensors::parse(whole.into()).map_err(TrainError::format(path))?;
    let inside = file.metadata().iter().find(|(name, _)| name == key);
    let (_, text) = inside.ok_or_else(|| TrainError::content(path, "a vocabulary", "none"))?;
    Ok(Some((format!("{model}-{key}"), text.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_files_are_those_in_the_models() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"));
        for (model, _) in KEYS {
            let path = folder.join(format!("{model}.safetensors"));
            let whole = std::fs::read(&path).unwrap();
            let (name, text) = vocabulary_file(model, &path, &whole).unwrap().unwrap();
            let shipped = std::fs::read_to_string(folder.join(&name)).unwrap();
            assert!(shipped == text, "{name}");
        }
        assert_eq!(vocabulary_file("digit-vit", folder, &[]).unwrap(), None);
    }
}
