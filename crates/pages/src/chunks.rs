//! Cuts the site's wasm into chunks: one for the cells of each lesson, so that no reader waits for all of them.
//!
//! The site marks the functions to cut at (`src/chunk.rs`) and, in release builds, is linked with its relocations
//! (`build.rs`). Trunk has run `wasm-bindgen` on the whole by the time its hook is called; here the linked file is
//! cut and its first part bound anew, and the result takes the place of what Trunk left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wasm_bindgen_cli_support::Bindgen;

use crate::error::{BuildError, names};
use crate::offline::hash;

/// What the first wasm of the site is called, before the dash and Trunk's hash.
const SITE: &str = "transformer-notebook-";

/// The files of the site that hold its chunks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chunks {
    /// For each chunk its files, shared ones included, relative to the site's root.
    files: BTreeMap<String, Vec<String>>,
    /// The script that fetches them.
    loader: Option<String>,
}

impl Chunks {
    /// What a page with these cells fetches besides the first wasm: rel, file and kind of each early request.
    pub(crate) fn preload<'a>(
        &self,
        cells: impl Iterator<Item = &'a str>,
    ) -> Vec<(&'static str, String, &'static str)> {
        let cells: Vec<&str> = cells.collect();
        let needed = ::cells::registry::GROUPS
            .iter()
            .filter(|group| group.cells.iter().any(|spec| cells.contains(&spec.name)));
        let mut files: Vec<&String> = needed
            .filter_map(|group| self.files.get(group.name))
            .flatten()
            .collect();
        files.sort();
        files.dedup();
        let loader = self.loader.iter().map(|file| ("modulepreload", file, ""));
        loader
            .chain(files.into_iter().map(|file| ("preload", file, "fetch")))
            .map(|(rel, file, kind)| (rel, file.clone(), kind))
            .collect()
    }
}

/// Cuts the wasm file `linked`, as the linker left it, into the built site in `out`.
///
/// # Errors
/// Where Trunk's output is not as expected, the file was linked without relocations, or something cannot be written.
pub(crate) fn cut(linked: &Path, out: &Path) -> Result<Chunks, BuildError> {
    let wrong = |what: &str, error: &dyn std::fmt::Display| {
        BuildError::Other(format!("{}: {what}: {error}", linked.display()))
    };
    let stem = names(out)?
        .into_iter()
        .find_map(|name| {
            Some(
                name.strip_prefix(SITE)?
                    .strip_suffix("_bg.wasm")?
                    .to_owned(),
            )
        })
        .map(|hash| format!("{SITE}{hash}"))
        .ok_or_else(|| BuildError::Other(format!("Trunk left no {SITE}…_bg.wasm")))?;
    let whole = std::fs::read(linked).map_err(|source| file_error(linked, source))?;
    // One name for all: the files belong together, and to no other build.
    let folder = format!("chunks-{}", hash(&whole));
    std::fs::create_dir_all(out.join(&folder))
        .map_err(|source| file_error(&out.join(&folder), source))?;
    let loader = format!("{folder}/load.js");
    let first = out.join("first.wasm");
    let (link_name, main_module) = (format!("./{loader}"), format!("../{stem}.js"));
    let mut options = wasm_split_cli_support::Options::new(&whole);
    options.output_dir = out;
    options.main_out_path = &first;
    options.link_name = &link_name;
    options.main_module = &main_module;
    options.target.web();
    let split =
        wasm_split_cli_support::transform(options).map_err(|e| wrong("cannot be cut", &e))?;
    for path in &split.split_modules {
        let name = path.file_name().unwrap_or_default();
        let to = out.join(&folder).join(name);
        std::fs::rename(path, &to).map_err(|source| file_error(&to, source))?;
    }
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(&first)
        .out_name(&stem)
        .typescript(false)
        .keep_lld_exports(true)
        .web(true)
        .and_then(|bindgen| bindgen.generate(out))
        .map_err(|e| wrong("its first part cannot be bound", &e))?;
    std::fs::remove_file(&first).map_err(|source| file_error(&first, source))?;
    let file = |name: &String| format!("{folder}/{name}.wasm");
    let files = split.prefetch_map.iter();
    Ok(Chunks {
        files: files
            .map(|(chunk, names)| (chunk.clone(), names.iter().map(file).collect()))
            .collect(),
        loader: Some(loader),
    })
}

fn file_error(path: &Path, source: std::io::Error) -> BuildError {
    BuildError::File {
        path: PathBuf::from(path),
        source,
    }
}
