//! Finds an item of the engine in its source tree, by the path that a caller writes.

use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::{ImplItem, Item, UseTree};

use crate::error::{BuildError, read};

/// Most re-exports that are followed one after another.
const MOST_REEXPORTS: usize = 4;

/// An item in the source tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Source file.
    pub(crate) file: PathBuf,
    /// First line of the item, its documentation included.
    pub(crate) line: usize,
    /// The item's text.
    pub(crate) text: String,
}

/// A module: its items, and where its source is.
struct Module {
    file: PathBuf,
    /// Folder that holds the files of its submodules.
    folder: PathBuf,
    items: Vec<Item>,
}

/// Finds `path` (without the crate's name: `nn::attention::attend`, `model::bert::Bert::forward`)
/// under the crate's folder `src`.
///
/// # Errors
/// A text that says what is missing; a source file that cannot be read or parsed.
pub(crate) fn item(src: &Path, path: &[String]) -> Result<Result<Found, String>, BuildError> {
    find(src, path, 0)
}

fn find(
    src: &Path,
    path: &[String],
    reexports: usize,
) -> Result<Result<Found, String>, BuildError> {
    let mut module = open(&src.join("lib.rs"), src.to_owned())?;
    for (i, name) in path.iter().enumerate() {
        if let Some(found) = direct(&module, &path[i..]) {
            return text_of(&module.file, found).map(Ok);
        }
        match submodule(&module, name)? {
            Some(inner) => module = inner,
            None => {
                return match below(&module, &path[i..])? {
                    Some(found) => Ok(Ok(found)),
                    None => reexported(src, path, i, &module, reexports),
                };
            }
        }
    }
    Ok(Err(format!(
        "`{}` is a module, not a function",
        path.join("::")
    )))
}

/// A type's method whose `impl` stands in a module below the type's.
fn below(module: &Module, path: &[String]) -> Result<Option<Found>, BuildError> {
    if path.len() != 2 {
        return Ok(None);
    }
    for item in &module.items {
        if let Item::Mod(inner) = item
            && let Some(inner) = submodule(module, &inner.ident.to_string())?
            && let Some(found) = direct(&inner, path)
        {
            return text_of(&inner.file, found).map(Some);
        }
    }
    Ok(None)
}

/// Follows a `pub use` of the module that makes `path[at]` visible in it.
fn reexported(
    src: &Path,
    path: &[String],
    at: usize,
    module: &Module,
    reexports: usize,
) -> Result<Result<Found, String>, BuildError> {
    let missing = || {
        format!(
            "`{}` has no `{}`",
            module.file.display(),
            path[at..].join("::")
        )
    };
    if reexports == MOST_REEXPORTS {
        return Ok(Err(missing()));
    }
    for item in &module.items {
        let Item::Use(used) = item else { continue };
        let mut targets = Vec::new();
        targets_of(&used.tree, &mut Vec::new(), &path[at], &mut targets);
        for target in targets {
            let (src, full) = match sibling(src, &target) {
                Some(other) => (other, [&target[1..], &path[at + 1..]].concat()),
                None => {
                    let full = absolute(&target, &path[..at], &path[at + 1..]);
                    (src.to_owned(), full)
                }
            };
            if let Ok(found) = find(&src, &full, reexports + 1)? {
                return Ok(Ok(found));
            }
        }
    }
    Ok(Err(missing()))
}

/// The source folder of another crate of ours, where the first name of a path is that crate's.
fn sibling(src: &Path, target: &[String]) -> Option<PathBuf> {
    let crates = src.parent()?.parent()?;
    let other = crates.join(target.first()?).join("src");
    (other != src && other.join("lib.rs").is_file()).then_some(other)
}

/// The paths in a `use` that may bring `name` in, globs included.
fn targets_of(tree: &UseTree, before: &mut Vec<String>, name: &str, out: &mut Vec<Vec<String>>) {
    let with = |before: &[String], last: &str| [before, &[last.to_owned()]].concat();
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            targets_of(&path.tree, before, name, out);
            before.pop();
        }
        UseTree::Name(leaf) if leaf.ident == name => out.push(with(before, name)),
        UseTree::Rename(leaf) if leaf.rename == name => {
            out.push(with(before, &leaf.ident.to_string()));
        }
        UseTree::Glob(_) => out.push(with(before, name)),
        UseTree::Group(group) => {
            for inner in &group.items {
                targets_of(inner, before, name, out);
            }
        }
        UseTree::Name(_) | UseTree::Rename(_) => {}
    }
}

/// A path in a `use` of the module `here`, from the crate's root, with the rest of the wanted path.
fn absolute(target: &[String], here: &[String], rest: &[String]) -> Vec<String> {
    let (base, tail): (&[String], &[String]) = match target.first().map(String::as_str) {
        Some("crate" | "engine") => (&[], &target[1..]),
        Some("self") => (here, &target[1..]),
        Some("super") => (&here[..here.len().saturating_sub(1)], &target[1..]),
        _ => (here, target),
    };
    [base, tail, rest].concat()
}

fn open(file: &Path, folder: PathBuf) -> Result<Module, BuildError> {
    let parsed = syn::parse_file(&read(file)?).map_err(|error| BuildError::Source {
        path: file.to_owned(),
        line: error.span().start().line,
        message: error.to_string(),
    })?;
    Ok(Module {
        file: file.to_owned(),
        folder,
        items: parsed.items,
    })
}

fn submodule(module: &Module, name: &str) -> Result<Option<Module>, BuildError> {
    for item in &module.items {
        if let Item::Mod(inner) = item
            && inner.ident == name
        {
            let folder = module.folder.join(name);
            if let Some((_, items)) = &inner.content {
                return Ok(Some(Module {
                    file: module.file.clone(),
                    folder,
                    items: items.clone(),
                }));
            }
            let own = module.folder.join(format!("{name}.rs"));
            let file = if own.is_file() {
                own
            } else {
                folder.join("mod.rs")
            };
            return open(&file, folder).map(Some);
        }
    }
    Ok(None)
}

/// The lines of what `path` names directly in a module: a function, a type, or a type's method.
fn direct(module: &Module, path: &[String]) -> Option<(usize, usize)> {
    match path {
        [name] => module
            .items
            .iter()
            .find(|item| names_item(item, name))
            .map(lines),
        [owner, method] => module
            .items
            .iter()
            .find_map(|item| method_of(item, owner, method)),
        _ => None,
    }
}

fn names_item(item: &Item, name: &str) -> bool {
    match item {
        Item::Fn(f) => f.sig.ident == name,
        Item::Struct(s) => s.ident == name,
        Item::Enum(e) => e.ident == name,
        Item::Const(c) => c.ident == name,
        _ => false,
    }
}

fn method_of(item: &Item, owner: &str, method: &str) -> Option<(usize, usize)> {
    match item {
        Item::Impl(block) => {
            let syn::Type::Path(of) = &*block.self_ty else {
                return None;
            };
            (of.path.segments.last()?.ident == owner).then_some(())?;
            block.items.iter().find_map(|inner| match inner {
                ImplItem::Fn(f) if f.sig.ident == method => Some(lines(f)),
                _ => None,
            })
        }
        Item::Trait(block) if block.ident == owner => {
            block.items.iter().find_map(|inner| match inner {
                syn::TraitItem::Fn(f) if f.sig.ident == method => Some(lines(f)),
                _ => None,
            })
        }
        _ => None,
    }
}

/// First and last line. The span of an item includes its documentation.
fn lines(item: &impl Spanned) -> (usize, usize) {
    let span = item.span();
    (span.start().line, span.end().line)
}

fn text_of(file: &Path, (first, last): (usize, usize)) -> Result<Found, BuildError> {
    let source = read(file)?;
    let taken: Vec<&str> = source
        .lines()
        .skip(first - 1)
        .take(last + 1 - first)
        .collect();
    let indent = taken
        .iter()
        .filter(|l| !l.trim().is_empty())
        .map(|l| l.len() - l.trim_start().len())
        .min()
        .unwrap_or(0);
    let text = taken
        .iter()
        .map(|l| l.get(indent..).unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    Ok(Found {
        file: file.to_owned(),
        line: first,
        text,
    })
}
