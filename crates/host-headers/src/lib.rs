//! The headers that a host sends with the files of a site, as the site lists them in `_headers`.
//!
//! Some static hosts read this file from the root of a site. A line that starts with `/` is a path,
//! and a `*` at its end stands for any further characters. The indented lines after it are headers
//! for the files of this path. A file gets the headers of every path that fits it. A line that
//! starts with `#` is a comment.
//!
//! ```
//! # fn test() -> Result<(), host_headers::HeadersError> {
//! let headers = host_headers::HostHeaders::parse("/*\n  Referrer-Policy: no-referrer\n")?;
//! assert_eq!(headers.of("/lab/"), [("Referrer-Policy", "no-referrer")]);
//! # Ok(())
//! # }
//! # test().unwrap();
//! ```

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The name of the file, which is in the root of a site.
pub const FILE: &str = "_headers";

/// The headers of a site that lists none: they isolate a page from other origins, so that the
/// threads of a worker may share memory.
const ISOLATION: [(&str, &str); 2] = [
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Embedder-Policy", "require-corp"),
];

/// A reason why the headers cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HeadersError {
    /// The file is there and cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: std::io::Error,
    },
    /// A line is none of those that the file may have.
    #[error("_headers:{line}: expected a path (* only at its end), an indented `Name: value` or #")]
    Line {
        /// Its number, from 1.
        line: usize,
    },
}

/// The headers of the files of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The path from the root of the site, with a slash before it; a `*` at its end stands for any
    /// further characters.
    pub path: String,
    /// Names and values, in their order.
    pub headers: Vec<(String, String)>,
}

impl Rule {
    fn fits(&self, path: &str) -> bool {
        match self.path.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => path == self.path,
        }
    }
}

/// The headers of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostHeaders(Vec<Rule>);

impl Default for HostHeaders {
    /// Those of a site that lists none.
    fn default() -> Self {
        let headers = ISOLATION.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self(vec![Rule {
            path: "/*".to_owned(),
            headers: headers.to_vec(),
        }])
    }
}

impl HostHeaders {
    /// Reads the list of the site in a folder; the default where it has none.
    ///
    /// # Errors
    /// When the file cannot be read, or has a line that means nothing.
    pub fn read(folder: &Path) -> Result<Self, HeadersError> {
        let path = folder.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(HeadersError::Read { path, source }),
        }
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    /// When a line means nothing.
    pub fn parse(text: &str) -> Result<Self, HeadersError> {
        let mut rules: Vec<Rule> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let words = line.trim();
            if words.is_empty() || words.starts_with('#') {
                continue;
            }
            let wrong = HeadersError::Line { line: number + 1 };
            if line.starts_with('/') {
                if words.strip_suffix('*').unwrap_or(words).contains('*') {
                    return Err(wrong);
                }
                rules.push(Rule {
                    path: words.to_owned(),
                    headers: Vec::new(),
                });
                continue;
            }
            let is_indented = line.starts_with([' ', '\t']);
            let header = words
                .split_once(':')
                .map(|(name, value)| (name.trim(), value.trim()))
                .filter(|(name, value)| is_indented && !name.is_empty() && !value.is_empty());
            match (rules.last_mut(), header) {
                (Some(rule), Some((name, value))) => {
                    rule.headers.push((name.to_owned(), value.to_owned()));
                }
                _ => return Err(wrong),
            }
        }
        Ok(Self(rules))
    }

    /// Names and values of the headers of a file; `path` starts with a slash, at the root of the
    /// site. A name that several paths give is in the list as often.
    pub fn of(&self, path: &str) -> Vec<(&str, &str)> {
        let rules = self.0.iter().filter(|rule| rule.fits(path));
        rules
            .flat_map(|rule| &rule.headers)
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    /// The paths with their headers, in the order of the file.
    pub fn rules(&self) -> &[Rule] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# All files.\n/*\n  A: one\n  B: two: three\n\n\
        /start-*\n\tA: four\n  # Not this.\n/sw.js\n  C: five\n";

    #[test]
    fn a_file_gets_the_headers_of_every_path_that_fits() {
        let headers = HostHeaders::parse(TEXT).unwrap();
        let all = [("A", "one"), ("B", "two: three")];
        for path in ["/", "/lab/", "/start", "/sub/start-1.js", "/sw.js.map"] {
            assert_eq!(headers.of(path), all, "{path}");
        }
        assert_eq!(headers.of("/start-1.js"), [all[0], all[1], ("A", "four")]);
        assert_eq!(headers.of("/sw.js"), [all[0], all[1], ("C", "five")]);
        let paths: Vec<&str> = headers.rules().iter().map(|r| r.path.as_str()).collect();
        assert_eq!(paths, ["/*", "/start-*", "/sw.js"]);
    }

    #[test]
    fn a_line_that_means_nothing_is_named() {
        for (text, wrong) in [
            ("  A: before any path\n", 1),
            ("/*\nA: not indented\n", 2),
            ("/*\n  A: one\n  no colon\n", 3),
            ("/*\n  A:\n", 2),
            ("/*\n  : b\n", 2),
            ("/*.js\n  A: b\n", 1),
        ] {
            match HostHeaders::parse(text) {
                Err(HeadersError::Line { line }) => assert_eq!(line, wrong, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(HostHeaders::parse("").unwrap().of("/").is_empty());
    }

    #[test]
    fn a_folder_without_the_file_isolates_its_pages() {
        let folder = std::env::temp_dir().join(format!("host-headers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let without = HostHeaders::read(&folder).unwrap();
        assert_eq!(without, HostHeaders::default());
        assert_eq!(without.of("/lab/"), ISOLATION);
        std::fs::write(folder.join(FILE), TEXT).unwrap();
        assert_eq!(HostHeaders::read(&folder).unwrap().of("/").len(), 2);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_site_lists_its_headers() {
        let public = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public");
        let headers = HostHeaders::read(&public).unwrap();
        for wanted in ISOLATION {
            assert!(headers.of("/lab/").contains(&wanted), "{wanted:?}");
        }
    }
}
