//! Models from the disk.

use super::arguments::{Failure, bytes, progress};
use engine::format::file_bytes::{FileBytes, ReadAt};
use engine::format::tensors::{Element, Tensors};
use engine::model::bert::Bert;
use engine::open::{Files, Opened, OpenedModel, PartName, Weights, open};
use engine::parameters::MatrixForm;
use engine::quant::Type;
use engine::token::tokenizer::Tokenizer;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A file's bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::file(path, error))
}

/// A file of the disk, which is read where it lies.
struct OnDisk {
    file: Mutex<File>,
    size: usize,
}

impl ReadAt for OnDisk {
    fn size(&self) -> usize {
        self.size
    }

    fn read_at(&self, start: usize, place: &mut [u8]) -> Result<(), String> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let found = file.seek(SeekFrom::Start(start as u64));
        let read = found.and_then(|_| file.read_exact(place));
        read.map_err(|error| error.to_string())
    }
}

/// A file's bytes, which are read when they are asked for.
pub(crate) fn open_file(path: &Path) -> Result<FileBytes, Failure> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = opened.map_err(|error| Failure::file(path, error))?;
    if !metadata.is_file() {
        return Err(Failure::file(path, "not a file"));
    }
    Ok(FileBytes::stored(OnDisk {
        file: Mutex::new(file),
        size: metadata.len() as usize,
    }))
}

/// The weights at a path, or in a folder, and what lies beside them. Another vocabulary may be
/// named.
pub(crate) fn files(path: &Path, tokenizer: Option<&Path>) -> Result<Files, Failure> {
    let weights = weights(path)?;
    let opened = open_file(&weights)?;
    progress(&format!(
        "reading {} ({})",
        weights.display(),
        bytes(opened.size())
    ));
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let mut files = Files::new(weights.display().to_string(), opened);
    for path in other_parts(&weights) {
        // One that is not there is named when the model is opened.
        if path.exists() {
            let part = open_file(&path)?;
            files.more.push((path.display().to_string(), part));
        }
    }
    let mut beside: Vec<PathBuf> = Vec::new();
    let folder = weights
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) {
        beside.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    beside.sort();
    if tokenizer.is_some() {
        beside.retain(|path| name(path).contains("config.json"));
    }
    beside.extend(tokenizer.map(Path::to_path_buf));
    for path in beside
        .iter()
        .filter(|path| **path != weights && Files::is_of_use(&name(path)))
    {
        files.beside.push((name(path), read(path)?));
    }
    if let Some(tokenizer) = tokenizer.filter(|path| !Files::is_of_use(&name(path))) {
        let known = "tokenizer.json, vocab.json, vocab.txt, *.model, *.vocab or tok*.bin";
        return Err(Failure::file(
            tokenizer,
            format!("expected a vocabulary called {known}"),
        ));
    }
    progress("");
    Ok(files)
}

/// The other files of a model of which a file is a part.
fn other_parts(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some(part) = PartName::parse(&name) else {
        return Vec::new();
    };
    let others = (1..=part.count()).filter(|&number| number != part.number());
    others
        .map(|number| path.with_file_name(part.name_of(number)))
        .collect()
}

/// The file of weights that a path means: itself, or the one in a folder, or there the first of its
/// parts.
fn weights(path: &Path) -> Result<PathBuf, Failure> {
    if !path.is_dir() {
        return Ok(path.to_path_buf());
    }
    let entries = std::fs::read_dir(path).map_err(|error| Failure::file(path, error))?;
    let is_weights = |path: &PathBuf| {
        let kind = path.extension().unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // llama2.c calls its vocabularies `.bin` too.
        kind == "safetensors" || kind == "gguf" || kind == "bin" && !name.starts_with("tok")
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_weights)
        .collect();
    found.sort();
    if let Some(model) = found
        .iter()
        .find(|path| path.ends_with("model.safetensors"))
    {
        return Ok(model.clone());
    }
    let part = found.first().map(|first| other_parts(first));
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [first, others @ ..] if part.as_deref() == Some(others) => Ok(first.clone()),
        [] => Err(Failure::file(
            path,
            "holds no .safetensors, .gguf or .bin file",
        )),
        many => Err(Failure::file(
            path,
            format!("holds {} files of weights: name one of them", many.len()),
        )),
    }
}

/// The model in some files, its matrices in `form`. Says on the terminal which types are kept in
/// another one.
pub(crate) fn model(files: &Files, form: MatrixForm) -> Result<Opened, Failure> {
    progress("loading the model");
    let opened = open(files, form)?;
    progress("");
    if form == MatrixForm::Fast {
        let weights = Weights::of(files)?;
        let slow = slow_types(weights.tensors());
        if !slow.is_empty() {
            eprintln!(
                "kept for speed: {} (--as-stored keeps the types of the file)",
                slow.join(", ")
            );
        }
    }
    Ok(opened)
}

/// The types of matrices that are kept in another type unless the reader wants them as stored, such
/// as `Q6_K as Q6`.
pub(crate) fn slow_types(tensors: &Tensors) -> Vec<String> {
    let slow = tensors
        .entries()
        .iter()
        .filter_map(|entry| match entry.element() {
            Element::Number(kind) if !kind.has_fast_product() => {
                Some(format!("{} as {}", kind.name(), kind.fast().name()))
            }
            _ => None,
        });
    slow.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The vocabulary of a model, which it needs.
pub(crate) fn vocabulary<'a>(
    files: &Files,
    opened: &'a Opened,
) -> Result<&'a dyn Tokenizer, Failure> {
    let missing = || {
        format!(
            "{}: needs a vocabulary beside it, or --tokenizer FILE",
            files.name
        )
    };
    opened
        .tokenizer
        .as_deref()
        .ok_or_else(|| Failure::Other(missing()))
}

/// The BERT that is needed, and its vocabulary.
pub(crate) fn encoder<'a>(
    files: &Files,
    opened: &'a Opened,
) -> Result<(&'a Bert, &'a dyn Tokenizer), Failure> {
    match &opened.model {
        OpenedModel::Bert(model) => Ok((model, vocabulary(files, opened)?)),
        other => Err(wrong_kind(files, other)),
    }
}

/// The error for a model that cannot do what is asked.
pub(crate) fn wrong_kind(files: &Files, model: &OpenedModel) -> Failure {
    let commands = match model {
        OpenedModel::Gpt2(_) | OpenedModel::Llama(_) => "generate",
        OpenedModel::Bert(_) => "embed or fill-mask",
        OpenedModel::Vit(_) | OpenedModel::Swin(_) => "classify",
        OpenedModel::Dinov2(_) => "nothing here: it has no classes",
    };
    Failure::Other(format!(
        "{}: this is a {}; use {commands}",
        files.name,
        model.name()
    ))
}

/// The type that an option names.
pub(crate) fn kind(name: &str) -> Result<Type, Failure> {
    Type::from_name(name).map_err(|error| {
        let known: Vec<String> = Type::ALL
            .iter()
            .map(|kind| kind.name().to_lowercase())
            .collect();
        Failure::Usage(format!("--type: {error}; known are {}", known.join(", ")))
    })
}
