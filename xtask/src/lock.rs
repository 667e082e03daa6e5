//! Reads a version out of `Cargo.lock`: the wasm-bindgen program must match the locked library
//! exactly.

use crate::failure::Failure;
use crate::project;

/// The locked version of the package `name`.
///
/// # Errors
/// When `Cargo.lock` cannot be read or does not hold the package.
pub(crate) fn version_of(name: &str) -> Result<String, Failure> {
    let path = project::root().join("Cargo.lock");
    let text =
        std::fs::read_to_string(&path).map_err(|error| Failure::file("read", &path, &error))?;
    find(&text, name).ok_or_else(|| Failure::new(format!("Cargo.lock holds no package `{name}`")))
}

/// Finds `version = "…"` in the `[[package]]` table whose name is `name`.
fn find(lock: &str, name: &str) -> Option<String> {
    let wanted = format!("name = \"{name}\"");
    let table = lock
        .split("[[package]]")
        .find(|table| table.lines().any(|line| line.trim() == wanted))?;
    let line = table
        .lines()
        .find_map(|line| line.trim().strip_prefix("version = \""))?;
    line.strip_suffix('"').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn finds_the_package_of_exactly_that_name() {
        let lock = "version = 4\n\n[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"9.9.9\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\nsource = \"registry\"\n";
        assert_eq!(find(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(find(lock, "wasm"), None);
    }
}
