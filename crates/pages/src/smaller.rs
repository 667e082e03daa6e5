//! Makes the wasm files of a site smaller after gzip without changing what they do: their functions
//! come in another order ([`ordered`]), and their imports get short names. `wasm-bindgen` gives each
//! import a long name with a hash, which compresses badly.

use std::collections::BTreeMap;
use std::path::Path;

use wasmparser::{Parser, Payload};

use crate::error::{BuildError, names, read};
use crate::order::{OrderError, ordered};

/// Orders the functions of every wasm file below `folder`, in place, and shortens the names of its
/// imports where its script lies beside it.
///
/// # Errors
/// A file that cannot be read or written, or is not wasm.
pub fn make_smaller(folder: &Path) -> Result<(), BuildError> {
    for name in names(folder)? {
        let path = folder.join(&name);
        if path.is_dir() {
            make_smaller(&path)?;
        } else if path.extension().is_some_and(|kind| kind == "wasm") {
            let failed = |source| BuildError::File {
                path: path.clone(),
                source,
            };
            let refused = |error: OrderError| {
                BuildError::Other(format!(
                    "the functions of {} cannot be ordered: {error}",
                    path.display()
                ))
            };
            let wasm = std::fs::read(&path).map_err(failed)?;
            let script = name.strip_suffix("_bg.wasm");
            let script = script.map(|stem| folder.join(format!("{stem}.js")));
            let mut short = BTreeMap::new();
            if let Some(script) = script.filter(|script| script.is_file()) {
                let text = read(&script)?;
                let (names, text) = shortened(&wasm, text).map_err(refused)?;
                replace(&script, text.as_bytes())?;
                short = names;
            }
            let ordered = ordered(&wasm, short).map_err(refused)?;
            replace(&path, &ordered)?;
        }
    }
    Ok(())
}

/// Puts a new file in the place of one. What is built again later may be a second name of the old
/// file (`bind::copy_folder`), which stays as it was.
fn replace(path: &Path, content: &[u8]) -> Result<(), BuildError> {
    let new = path.with_extension("ordered");
    std::fs::write(&new, content)
        .and_then(|()| std::fs::rename(&new, path))
        .map_err(|source| BuildError::File {
            path: path.to_owned(),
            source,
        })
}

/// A short name for each import of `wasm` that its script names once, and the script with these
/// names.
fn shortened(
    wasm: &[u8],
    mut script: String,
) -> Result<(BTreeMap<String, String>, String), OrderError> {
    let mut short = BTreeMap::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let Payload::ImportSection(imports) = payload? else {
            continue;
        };
        for import in imports.into_imports() {
            let name = import?.name;
            if name.starts_with("__wbg_") && script.matches(name).count() == 1 {
                let new = format!("i{}", short.len());
                script = script.replace(name, &new);
                short.insert(name.to_owned(), new);
            }
        }
    }
    Ok((short, script))
}

#[cfg(test)]
mod tests {
    use wasmparser::Validator;

    use super::*;
    use crate::order::tests::module;

    #[test]
    fn imports_get_short_names_in_file_and_script() {
        let wasm = module();
        let script = "{ __wbg_b_01234567: function() {}, other: 1 }".to_owned();
        let (short, text) = shortened(&wasm, script).unwrap();
        assert_eq!(text, "{ i0: function() {}, other: 1 }");
        let renamed = ordered(&wasm, short).unwrap();
        Validator::new().validate_all(&renamed).unwrap();
        let mut found = Vec::new();
        for payload in Parser::new(0).parse_all(&renamed) {
            if let Payload::ImportSection(imports) = payload.unwrap() {
                let imports = imports.into_imports().map(Result::unwrap);
                found.extend(imports.map(|import| (import.module, import.name)));
            }
        }
        assert_eq!(found, [("a", "i0")]);
        // A name that stands there twice may mean something else, and stays.
        let twice = "__wbg_b_01234567 __wbg_b_01234567".to_owned();
        let (short, text) = shortened(&wasm, twice.clone()).unwrap();
        assert_eq!((short.len(), text), (0, twice));
    }

    #[test]
    fn the_other_name_of_a_file_keeps_what_it_holds() {
        let folder = std::env::temp_dir().join(format!("order-test-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, other) = (folder.join("a.js"), folder.join("kept.js"));
        std::fs::write(&file, "long").unwrap();
        std::fs::hard_link(&file, &other).unwrap();
        replace(&file, b"i0").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"i0");
        assert_eq!(std::fs::read(&other).unwrap(), b"long");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
