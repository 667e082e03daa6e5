//! The list of files that the service worker keeps for reading offline.

use std::path::Path;

use host_headers::HostHeaders;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::error::{BuildError, names, read, write};
use crate::preview;

const SCRIPT: &str = "sw.js";

/// Files and folders for the host, for search engines and for other sites, which no page reads.
const FOR_OTHERS: [&str; 4] = ["_headers", "robots.txt", "sitemap.xml", preview::FOLDER];

/// Where the service worker's version stands before it is listed.
const VERSION_MARK: &str = "\"@version\"";

/// Where its list stands.
const FILES_MARK: &str = "{/*files*/}";

/// The place of the headers that it adds where a host sends none.
const HEADERS_MARK: &str = "[/*headers*/]";

/// Takes a copy of an earlier release build away again.
const OFF: &str = include_str!("../assets/sw-off.js");

/// Writes `sw.js` in `folder` anew from `template`, with every other file of the folder and its
/// hash, and with the headers that the site asks of its host.
///
/// # Errors
/// A file that cannot be read, a template without its marks.
pub fn relist(folder: &Path, template: &Path) -> Result<(), BuildError> {
    let script = read(template)?;
    let marks = [VERSION_MARK, FILES_MARK, HEADERS_MARK];
    if !marks.iter().all(|mark| script.contains(*mark)) {
        return Err(BuildError::Other(format!(
            "{} has lost its marks",
            template.display()
        )));
    }
    let mut files = Map::new();
    collect(folder, "", &mut files)?;
    let list = Value::Object(files).to_string();
    let version = Value::from(hash(list.as_bytes())).to_string();
    write(
        &folder.join(SCRIPT),
        &script
            .replace(VERSION_MARK, &version)
            .replace(FILES_MARK, &list)
            .replace(HEADERS_MARK, &headers(folder)?.to_string()),
    )
}

/// Path, name and value of each header that the site in a folder asks of its host.
fn headers(folder: &Path) -> Result<Value, BuildError> {
    let headers =
        HostHeaders::read(folder).map_err(|error| BuildError::Other(error.to_string()))?;
    let mut list = Vec::new();
    for rule in headers.rules() {
        for (name, value) in &rule.headers {
            list.push(json!([rule.path, name, value]));
        }
    }
    Ok(Value::Array(list))
}

/// Writes the `sw.js` of debug builds, which removes what a release build kept.
///
/// # Errors
/// When it cannot be written.
pub fn switch_off(folder: &Path) -> Result<(), BuildError> {
    write(&folder.join(SCRIPT), OFF)
}

fn collect(folder: &Path, prefix: &str, files: &mut Map<String, Value>) -> Result<(), BuildError> {
    for name in names(folder)? {
        let path = folder.join(&name);
        let key = format!("{prefix}{name}");
        if FOR_OTHERS.contains(&key.as_str()) {
            continue;
        }
        if path.is_dir() {
            collect(&path, &format!("{key}/"), files)?;
        } else if key != SCRIPT && !name.starts_with('.') {
            let content =
                std::fs::read(&path).map_err(|source| BuildError::File { path, source })?;
            files.insert(key, Value::from(hash(&content)));
        }
    }
    Ok(())
}

/// The first 8 bytes of SHA-256, in hexadecimal.
pub(crate) fn hash(content: &[u8]) -> String {
    Sha256::digest(content)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
