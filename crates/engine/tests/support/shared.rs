//! Where the data and reference files outside the repository are.

use std::path::PathBuf;

/// A path in the shared folder (`NOTEBOOK_SHARED`, or `shared` beside the repository); where it is missing this is said and the
/// test passes.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let beside = || format!("{}/../../../shared", env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::var("NOTEBOOK_SHARED").unwrap_or_else(|_| beside());
    let whole = PathBuf::from(folder).join(path);
    if whole.exists() {
        return Some(whole);
    }
    println!("skipped: {} is absent", whole.display());
    None
}
