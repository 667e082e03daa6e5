//! The engine functions that a cell shows: every `shown!(record, engine::path::to::item, …)` and
//! `traced!(…)` in its source.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

use crate::error::{BuildError, names, read};

/// The macros that show a function: one calls it, the other records a call that a model made.
const MACROS: [&str; 2] = ["shown", "traced"];

/// A path in a `shown!` or a `traced!`, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// `engine::nn::attention::attend`
    pub(crate) path: String,
    /// The source file of the cell.
    pub(crate) file: PathBuf,
    /// Line in it.
    pub(crate) line: usize,
}

/// The engine functions that a cell shows, in order, each once. `src` is the source folder of the
/// crate `cells`, where the cell's file is in the folder of its lesson below `lessons/`. Read are
/// that file, the files of a folder of its name, and the files of the crate that these import from:
/// the panel shows of all that what ran.
pub(crate) fn of_cell(src: &Path, name: &str) -> Result<Vec<Shown>, BuildError> {
    let mut found: Vec<Shown> = Vec::new();
    let mut keep = |all: Vec<Shown>| {
        for shown in all {
            if found.iter().all(|other| other.path != shown.path) {
                found.push(shown);
            }
        }
    };
    for file in sources(src, name)? {
        let parsed = parse(&file, &read(&file)?)?;
        keep(in_file(&file, &parsed)?);
        for imported in imports(&parsed) {
            if let Some(file) = file_of(src, &imported) {
                keep(in_file(&file, &parse(&file, &read(&file)?)?)?);
            }
        }
    }
    Ok(found)
}

/// The files of a cell: its own and those of a folder of its name.
fn sources(src: &Path, name: &str) -> Result<Vec<PathBuf>, BuildError> {
    let (lessons, stem) = (src.join("lessons"), name.replace('-', "_"));
    let mut files: Vec<PathBuf> = Vec::new();
    for lesson in names(&lessons)?.iter().map(|lesson| lessons.join(lesson)) {
        let own = lesson.join(format!("{stem}.rs"));
        if own.is_file() {
            files.push(own);
        }
        let folder = lesson.join(&stem);
        if folder.is_dir() {
            let names = names(&folder)?;
            let rust = names.iter().filter(|name| name.ends_with(".rs"));
            files.extend(rust.map(|name| folder.join(name)));
        }
    }
    if files.is_empty() {
        return Err(BuildError::Other(format!(
            "the cell {name} has no source {stem}.rs in a folder of {}",
            lessons.display()
        )));
    }
    Ok(files)
}

/// The file of the module that a path of the crate leads to or into.
fn file_of(src: &Path, path: &[String]) -> Option<PathBuf> {
    (1..=path.len()).rev().find_map(|length| {
        let file = src.join(path[..length].join("/")).with_extension("rs");
        file.is_file().then_some(file)
    })
}

/// The paths shown in one source file, in order. Comments and strings are no macro calls.
fn in_file(file: &Path, parsed: &syn::File) -> Result<Vec<Shown>, BuildError> {
    let mut calls = Calls {
        file,
        found: Vec::new(),
        wrong: None,
    };
    calls.visit_file(parsed);
    match calls.wrong {
        Some(error) => Err(error),
        None => Ok(calls.found),
    }
}

fn parse(file: &Path, text: &str) -> Result<syn::File, BuildError> {
    syn::parse_file(text).map_err(|error| BuildError::Source {
        path: file.to_owned(),
        line: error.span().start().line,
        message: error.to_string(),
    })
}

/// The paths of the same crate that a file imports, each once: `use crate::parts::{race,
/// words::tokens}` gives `parts::race` and `parts::words::tokens`.
fn imports(file: &syn::File) -> BTreeSet<Vec<String>> {
    let mut all = Vec::new();
    for item in &file.items {
        if let syn::Item::Use(item) = item {
            leaves(&item.tree, &mut Vec::new(), &mut all);
        }
    }
    let own = |path: Vec<String>| (path.first()? == "crate").then(|| path[1..].to_vec());
    all.into_iter().filter_map(own).collect()
}

/// The full paths in a `use`.
fn leaves(tree: &syn::UseTree, before: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, all);
            before.pop();
        }
        syn::UseTree::Group(group) => {
            for inner in &group.items {
                leaves(inner, before, all);
            }
        }
        syn::UseTree::Name(leaf) => {
            let name = leaf.ident.to_string();
            let own = (name != "self").then_some(name);
            all.push(before.iter().cloned().chain(own).collect());
        }
        syn::UseTree::Rename(leaf) => {
            let name = leaf.ident.to_string();
            all.push(before.iter().cloned().chain([name]).collect());
        }
        syn::UseTree::Glob(_) => all.push(before.clone()),
    }
}

struct Calls<'a> {
    file: &'a Path,
    found: Vec<Shown>,
    wrong: Option<BuildError>,
}

impl Calls<'_> {
    fn call(&mut self, line: usize, tokens: TokenStream) {
        match path_argument(tokens) {
            Some(path) => self.found.push(Shown {
                path,
                file: self.file.to_owned(),
                line,
            }),
            None => {
                let message = "shown! takes a record and then a path `engine::…`".to_owned();
                self.wrong = Some(BuildError::Source {
                    path: self.file.to_owned(),
                    line,
                    message,
                });
            }
        }
    }

    /// A `shown!` inside the arguments of another macro, where `syn` sees only tokens.
    fn nested(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => self.nested(group.stream()),
                TokenTree::Ident(name) if MACROS.iter().any(|known| name == known) => {
                    let bang =
                        tokens.next_if(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == '!'));
                    if bang.is_some()
                        && let Some(TokenTree::Group(group)) = tokens.next()
                    {
                        self.call(name.span().start().line, group.stream());
                        self.nested(group.stream());
                    }
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let Some(last) = call.path.segments.last() else {
            return;
        };
        if MACROS.iter().any(|known| last.ident == known) {
            self.call(last.ident.span().start().line, call.tokens.clone());
        }
        self.nested(call.tokens.clone());
    }
}

/// The second argument, as text, when it is a path that starts with `engine` or `explain`.
fn path_argument(tokens: TokenStream) -> Option<String> {
    let mut tokens = tokens.into_iter();
    // The record is an expression: everything up to the first comma outside brackets.
    tokens
        .by_ref()
        .find(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ','))?;
    let mut path = String::new();
    for token in tokens {
        match token {
            TokenTree::Ident(name) => path.push_str(&name.to_string()),
            TokenTree::Punct(p) if p.as_char() == ':' => path.push(':'),
            TokenTree::Punct(p) if p.as_char() == ',' => break,
            _ => return None,
        }
    }
    let is_ours = path.starts_with("engine::") || path.starts_with("explain::");
    is_ours.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_count() {
        let text = r#"
            // shown!(record, engine::not::in_a_comment)
            /// `shown!(record, engine::not::in_a_doc)`
            fn compute() -> Result<(), String> {
                let text = "shown!(record, engine::not::in_a_string)";
                let a = shown!(record, engine::nn::softmax::softmax, x.view())?;
                let b = vec![shown!(&mut self.record, engine::math::exp, a[0])];
                traced!(record, engine::nn::attention::attend, recorder, "blocks.0.attention", [q], found)?;
                assert!(shown!(record, engine::kernel::dot, shown!(record, engine::math::ln, 1.0), b) > 0.0);
                Ok(())
            }
        "#;
        let found = in_file(
            Path::new("cell.rs"),
            &parse(Path::new("cell.rs"), text).unwrap(),
        )
        .unwrap();
        let paths: Vec<(&str, usize)> = found.iter().map(|s| (s.path.as_str(), s.line)).collect();
        let expected = [
            ("engine::nn::softmax::softmax", 6),
            ("engine::math::exp", 7),
            ("engine::nn::attention::attend", 8),
            ("engine::kernel::dot", 9),
            ("engine::math::ln", 9),
        ];
        assert_eq!(paths, expected);
    }

    #[test]
    fn imported_paths_of_the_crate_are_listed_in_full() {
        let text = "use crate::parts::{other::{self, used}, third};\nuse std::path::Path;\nuse crate::words as sentences;\nuse crate::lessons::*;";
        let cell = parse(Path::new("cell.rs"), text).unwrap();
        let paths: Vec<String> = imports(&cell).iter().map(|path| path.join("::")).collect();
        let expected = [
            "lessons",
            "parts::other",
            "parts::other::used",
            "parts::third",
            "words",
        ];
        assert_eq!(paths, expected);
    }

    #[test]
    fn another_second_argument_is_an_error_with_its_line() {
        let text = "fn f() {\n shown!(record, other::function, 1);\n}";
        let cell = parse(Path::new("cell.rs"), text).unwrap();
        let error = in_file(Path::new("cell.rs"), &cell).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cell.rs:2: shown! takes a record and then a path `engine::…`"
        );
    }
}
