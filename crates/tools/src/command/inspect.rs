//! What is in a file of weights: the command `inspect`.

use super::arguments::{Arguments, Failure, bytes, one, say};
use super::files;
use engine::format::gguf_value::Value;
use engine::open::Weights;
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) const HELP: &str = "\
Says what is in a file of weights: GGUF, safetensors or llama2.c.

usage: notebook inspect FILE [OPTIONS]

  --json      one JSON object in place of a table
  --finite    also looks for numbers that are NaN or infinite

Exit code 1 where the file cannot be used, 2 for wrong arguments.";

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let (mut as_json, mut finite) = (false, false);
    let words = arguments.read(|name, _| {
        match name {
            "json" => as_json = true,
            "finite" => finite = true,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let path = one(&words, "FILE")?;
    let content = files::open_file(&path)?;
    let name = path.display().to_string();
    let size = content.size();
    let weights = Weights::parse(&name, content)?;
    let metadata = metadata(&weights);
    let tensors = weights.tensors();
    if finite {
        tensors
            .check_finite()
            .map_err(|error| Failure::file(&path, error))?;
    }
    let entries = tensors.entries();
    let mut types: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries {
        *types.entry(entry.element().name()).or_default() += 1;
    }
    let numbers: usize = entries
        .iter()
        .map(|entry| entry.shape().iter().product::<usize>())
        .sum();
    if as_json {
        let tensors: Vec<_> = entries
            .iter()
            .map(|entry| json!({"name": entry.name(), "type": entry.element().name(), "shape": entry.shape(), "bytes": entry.bytes()}))
            .collect();
        let metadata: serde_json::Map<String, serde_json::Value> = metadata
            .into_iter()
            .map(|(key, value)| (key, value.into()))
            .collect();
        say!(
            "{}",
            json!({"file": name, "format": weights.format(), "bytes": size, "numbers": numbers, "metadata": metadata, "tensors": tensors})
        );
        return Ok(());
    }
    say!(
        "{name}: {}, {}, {} tensors, {numbers} numbers",
        weights.format(),
        bytes(size),
        entries.len()
    );
    let types: Vec<String> = types
        .iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    say!("types: {}", types.join(", "));
    let slow = files::slow_types(tensors);
    if !slow.is_empty() {
        say!("opened for speed: {}", slow.join(", "));
    }
    for (key, value) in metadata {
        say!("{key} = {value}");
    }
    let widest = entries
        .iter()
        .map(|entry| entry.name().chars().count())
        .max()
        .unwrap_or(0)
        .min(60);
    for entry in entries {
        say!(
            "{:<widest$}  {:<5}  {:<10}  {:?}",
            entry.name(),
            entry.element().name(),
            bytes(entry.bytes()),
            entry.shape()
        );
    }
    if finite {
        say!("all numbers are finite");
    }
    Ok(())
}

/// What the file says besides its tensors.
fn metadata(weights: &Weights) -> Vec<(String, String)> {
    match weights {
        Weights::Gguf(file) => file
            .metadata()
            .iter()
            .map(|(key, value)| (key.clone(), short(value)))
            .collect(),
        Weights::SafeTensors(file) => file.metadata().to_vec(),
        Weights::Llama2c(file) => {
            let config = &file.config;
            let sizes = [
                ("width", config.width),
                ("inner", config.inner),
                ("layers", config.layers),
                ("heads", config.heads),
                ("key/value heads", config.kv_heads),
                ("vocabulary", config.vocabulary),
                ("context", config.context),
            ];
            sizes
                .map(|(name, size)| (name.to_owned(), size.to_string()))
                .to_vec()
        }
    }
}

/// A value in one line; long ones are cut.
fn short(value: &Value) -> String {
    const LONGEST: usize = 100;
    if let Some(array) = value.array() {
        let shown: Vec<String> = match array.texts() {
            Some(texts) => texts
                .iter()
                .take(6)
                .map(|text| format!("{text:?}"))
                .collect(),
            None => (0..array.len().min(6))
                .filter_map(|n| Some(array.number(n)?.to_string()))
                .collect(),
        };
        let more = if array.len() > shown.len() {
            ", …"
        } else {
            ""
        };
        return format!("[{}{more}] ({} values)", shown.join(", "), array.len());
    }
    let text = match (value.text(), value.truth(), value.number()) {
        (Some(text), ..) => format!("{text:?}"),
        (_, Some(truth), _) => truth.to_string(),
        (_, _, Some(number)) => number.to_string(),
        _ => "?".to_owned(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
