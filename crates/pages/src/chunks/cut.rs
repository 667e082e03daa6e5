//! From a linked wasm file to the files of the site.
//!
//! Trunk has run `wasm-bindgen` on the whole site by the time its hook is called; here the linked
//! file is cut and its first part bound again, and the result replaces what Trunk left. The worker
//! for cells is cut in the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ::cells::CellSpec;
use serde_json::json;
use wasm_bindgen_cli_support::Bindgen;

use super::merge::{Contents, merge};
use super::module::{Module, constants};
use super::plan::{Common, Group, Plan, gather, plan};
use crate::error::{BuildError, names};
use crate::offline::hash;

/// What the first wasm of the site is called, before the dash and Trunk's hash.
const SITE: &str = "transformer-notebook-";

/// Most files that a chunk of the site needs besides its own. With the first file and those of the
/// worker a page then asks for few; the cells of some lessons come in several files of the worker.
fn most_shared(lesson: &str) -> usize {
    match lesson {
        "bottleneck" | "self_attention" | "multi_head" | "residual_and_norm" | "mlp"
        | "encoder_decoder" | "decoder_only" | "heads" => 1,
        "causal_mask" | "training" => 2,
        _ => 3,
    }
}

/// The same for a chunk of a worker. Some cells of a lesson compute without the models that the others
/// have: what they would share is in a file that none of these needs.
fn most_shared_in_worker(cells: &str) -> usize {
    let alone = [
        "train_the_race",
        "two_questions",
        "reshape_bug",
        "deep_plain_stack",
        "activations",
        "experts",
        "kv_race",
    ];
    usize::from(!alone.contains(&cells))
}

/// The part of a program that starts.
const FIRST: &str = "first.wasm";

const LOADER_NAME: &str = "load.js";

/// What decides which files a program is cut into.
const CUTTER: [&str; 4] = [
    include_str!("cut.rs"),
    include_str!("merge.rs"),
    include_str!("indices.rs"),
    include_str!("plan.rs"),
];

/// The script that fetches chunks, before it is filled in.
const LOADER: &str = include_str!("../../assets/load-chunks.js");

/// The files of the site that hold its chunks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chunks {
    /// For each chunk its files, shared ones included, relative to the site's root.
    files: BTreeMap<String, Vec<String>>,
    /// The script that fetches them.
    loader: Option<String>,
}

impl Chunks {
    /// The requests that a page with these cells can make early, besides the one for the first
    /// wasm: rel, file and kind of each. A page that shows a tool names its chunk in `tool`.
    pub(crate) fn preload<'a>(
        &self,
        cells: impl Iterator<Item = &'a str>,
        tool: Option<&str>,
    ) -> Vec<(&'static str, String, &'static str)> {
        let cells: Vec<&str> = cells.collect();
        let groups = ::cells::registry::GROUPS.iter();
        let needed = groups
            .filter(|group| group.cells.iter().any(|spec| cells.contains(&spec.name)))
            .map(|group| group.name)
            .chain(tool);
        let files: BTreeSet<&String> = needed
            .filter_map(|chunk| self.files.get(chunk))
            .flatten()
            .collect();
        let loader = self.loader.iter().map(|file| ("modulepreload", file, ""));
        loader
            .chain(files.into_iter().map(|file| ("preload", file, "fetch")))
            .map(|(rel, file, kind)| (rel, file.clone(), kind))
            .collect()
    }
}

/// Cuts the site's wasm `linked`, as the linker left it, into the built site in `out`, in place of
/// what Trunk left there.
///
/// # Errors
/// Where Trunk's output is not as expected, the file was linked without relocations, or something
/// cannot be written.
pub(crate) fn cut_site(linked: &Path, out: &Path) -> Result<Chunks, BuildError> {
    let stem = names(out)?
        .iter()
        .find_map(|name| {
            Some(
                name.strip_prefix(SITE)?
                    .strip_suffix("_bg.wasm")?
                    .to_owned(),
            )
        })
        .map(|hash| format!("{SITE}{hash}"))
        .ok_or_else(|| BuildError::Other(format!("Trunk left no {SITE}…_bg.wasm")))?;
    cut(
        linked,
        &read_bytes(linked)?,
        &stem,
        |_| None,
        |parts| plan(parts, most_shared, Common::Chunks),
        out,
    )
}

/// Cuts the wasm of a worker, as the linker left it, into the folder `out`. Its first part is
/// called `name` and a hash.
///
/// # Errors
/// Where the file was linked without relocations, or something cannot be written.
pub(crate) fn cut_worker(linked: &Path, name: &str, out: &Path) -> Result<(), BuildError> {
    let whole = read_bytes(linked)?;
    let stem = format!("{name}-{}", hash_of_cut(&whole));
    let plan = |parts| plan(parts, most_shared_in_worker, Common::First);
    let lesson = |cell: &str| {
        let is_it = |spec: &CellSpec| spec.name.replace('-', "_") == cell;
        let mut groups = ::cells::registry::GROUPS.iter();
        let group = groups.find(|group| group.cells.iter().any(|spec| is_it(spec)))?;
        Some(group.name)
    };
    cut(linked, &whole, &stem, lesson, plan, out).map(|_| ())
}

/// A hash for the names of the files that a program is cut into. The same program is cut into other
/// files by another cutter, and no cache may mix these.
fn hash_of_cut(whole: &[u8]) -> String {
    hash(&[whole, CUTTER.concat().as_bytes()].concat())
}

/// Cuts the content `whole` of the file `linked` into `out`: the first part, called `stem`, with
/// its script, and a folder with the others. Chunks of one `family` may come in one file, and
/// `plan` decides which parts do.
fn cut(
    linked: &Path,
    whole: &[u8],
    stem: &str,
    family: impl Fn(&str) -> Option<&'static str>,
    plan: impl FnOnce(Vec<Group>) -> Plan,
    out: &Path,
) -> Result<Chunks, BuildError> {
    // One name for all: the files belong together, and to no other build.
    let folder = format!("chunks-{}", hash_of_cut(whole));
    let site = out.join(&folder);
    create(&site)?;
    let cut = Cut::new(
        linked,
        whole,
        &out.join("cutting"),
        &format!("{folder}/{LOADER_NAME}"),
        stem,
    )?;
    let mut parts = cut.parts(linked)?;
    let gathered = gather(&parts, family);
    for part in &mut parts {
        part.chunks = (part.chunks.iter())
            .filter_map(|chunk| gathered.get(chunk).cloned())
            .collect();
    }
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut shared = 0;
    let plan = plan(parts);
    let moved = cut.variables(plan.copied(), linked, whole)?;
    let merged = |parts: &[String]| {
        let contents = parts.iter().map(|part| read_bytes(&cut.path(part)));
        merge(&contents.collect::<Result<Vec<_>, _>>()?, &moved)
            .map_err(|error| failed(linked, "the parts cannot be merged", &error))
    };
    if !plan.first.is_empty() || !moved.is_empty() {
        let parts = [&[FIRST.to_owned()][..], &plan.first].concat();
        write_bytes(&cut.path(FIRST), &merged(&parts)?)?;
    }
    for group in plan.files {
        let name = match group.chunks.first() {
            Some(chunk) if group.chunks.len() == 1 => format!("{chunk}.wasm"),
            _ => {
                shared += 1;
                format!("shared-{shared}.wasm")
            }
        };
        write_bytes(&site.join(&name), &merged(&group.parts)?)?;
        for chunk in group.chunks {
            files.entry(chunk).or_default().push(name.clone());
        }
    }
    // Also a chunk that needs no file has to be there for the first file to ask for.
    let of_chunk = |chunk: &String| {
        gathered
            .get(chunk)
            .and_then(|name| files.get(name))
            .cloned()
    };
    let chunks = cut.needed.keys();
    let files: BTreeMap<String, Vec<String>> = chunks
        .map(|chunk| (chunk.clone(), of_chunk(chunk).unwrap_or_default()))
        .collect();
    write_bytes(&site.join(LOADER_NAME), loader(stem, &files).as_bytes())?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(cut.path(FIRST))
        .out_name(stem)
        .typescript(false)
        .keep_lld_exports(true)
        .web(true)
        .and_then(|bindgen| bindgen.generate(out))
        .map_err(|error| failed(linked, "its first part cannot be bound", &error))?;
    cut.remove()?;
    let of_site = |name: &String| format!("{folder}/{name}");
    let files = files
        .iter()
        .map(|(chunk, names)| (chunk.clone(), names.iter().map(of_site).collect()));
    Ok(Chunks {
        files: files.collect(),
        loader: Some(format!("{folder}/{LOADER_NAME}")),
    })
}

/// The script that fetches the files of each chunk.
fn loader(stem: &str, files: &BTreeMap<String, Vec<String>>) -> String {
    let mut script = LOADER
        .replace("@main", &format!("../{stem}.js"))
        .replace("FILES = {}", &format!("FILES = {}", json!(files)));
    for chunk in files.keys() {
        // The names that `wasm_split` gives to what the first file imports.
        let name = format!("__wasm_split_load_{chunk}");
        script.push_str(&format!(
            "\nexport const {name} = (callback, data) => load({}, callback, data);\n",
            json!(chunk)
        ));
    }
    script
}

/// A program in parts, in a folder of its own.
struct Cut {
    folder: PathBuf,
    /// For each chunk the names of the parts that it needs.
    needed: BTreeMap<String, Vec<String>>,
}

impl Cut {
    /// Cuts the content `whole` of the file `linked`, whose first part will be imported as `stem`
    /// and imports what fetches the others from `loader`.
    fn new(
        linked: &Path,
        whole: &[u8],
        folder: &Path,
        loader: &str,
        stem: &str,
    ) -> Result<Self, BuildError> {
        let (first, link_name) = (folder.join(FIRST), format!("./{loader}"));
        let main_module = format!("../{stem}.js");
        // The library writes a script of its own there.
        create(folder.join(loader).parent().unwrap_or(folder))?;
        let mut options = wasm_split_cli_support::Options::new(whole);
        options.output_dir = folder;
        options.main_out_path = &first;
        options.link_name = &link_name;
        options.main_module = &main_module;
        options.target.web();
        let split = wasm_split_cli_support::transform(options)
            .map_err(|error| failed(linked, "cannot be cut", &error))?;
        let needed = split.prefetch_map.into_iter();
        Ok(Self {
            folder: folder.to_owned(),
            needed: needed
                .map(|(chunk, names)| {
                    (
                        chunk,
                        names.iter().map(|name| format!("{name}.wasm")).collect(),
                    )
                })
                .collect(),
        })
    }

    /// Every part but the first, with the chunks that need it.
    fn parts(&self, linked: &Path) -> Result<Vec<Group>, BuildError> {
        let mut chunks: BTreeMap<&String, BTreeSet<String>> = BTreeMap::new();
        for (chunk, parts) in &self.needed {
            for part in parts {
                chunks.entry(part).or_default().insert(chunk.clone());
            }
        }
        let parts = chunks.into_iter().map(|(part, chunks)| {
            let content = read_bytes(&self.path(part))?;
            let module = Module::parse(&content)
                .map_err(|error| failed(linked, "a part cannot be read", &error))?;
            Ok(Group {
                chunks,
                parts: vec![part.clone()],
                size: module.size(),
            })
        });
        parts.collect()
    }

    /// What the program may change of the content of `parts`, which are in several files. The first
    /// file has it: a second file would set it back.
    fn variables<'a>(
        &self,
        parts: impl IntoIterator<Item = &'a String>,
        linked: &Path,
        whole: &[u8],
    ) -> Result<Contents, BuildError> {
        let unread = |error| failed(linked, "a part cannot be read", &error);
        let constants = constants(whole).map_err(unread)?;
        let mut variables = Contents::new();
        for part in parts {
            let content = read_bytes(&self.path(part))?;
            let module = Module::parse(&content).map_err(unread)?;
            let changed = module.data.iter();
            let changed = changed.filter(|(address, _)| !constants.contains(address));
            variables.extend(changed.map(|&(address, content)| (address, content.to_vec())));
        }
        Ok(variables)
    }

    fn path(&self, part: &str) -> PathBuf {
        self.folder.join(part)
    }

    fn remove(self) -> Result<(), BuildError> {
        std::fs::remove_dir_all(&self.folder).map_err(|source| file_error(&self.folder, source))
    }
}

fn failed(linked: &Path, what: &str, error: &dyn std::fmt::Display) -> BuildError {
    BuildError::Other(format!("{}: {what}: {error}", linked.display()))
}

fn create(folder: &Path) -> Result<(), BuildError> {
    std::fs::create_dir_all(folder).map_err(|source| file_error(folder, source))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, BuildError> {
    std::fs::read(path).map_err(|source| file_error(path, source))
}

fn write_bytes(path: &Path, content: &[u8]) -> Result<(), BuildError> {
    std::fs::write(path, content).map_err(|source| file_error(path, source))
}

fn file_error(path: &Path, source: std::io::Error) -> BuildError {
    BuildError::File {
        path: path.to_owned(),
        source,
    }
}
