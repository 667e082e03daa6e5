//! Files that came from an address and are stored on the device: their names, and whether stored
//! bytes can be used or continued.
//!
//! Each address has two files in one folder of the origin private file system: its bytes, as far as
//! they came, and their properties ([`FileInfo`]). A file is whole when it has as many bytes as its
//! properties say.

use engine::rng::fnv1a64;
use serde::{Deserialize, Serialize};

/// The folder.
pub const FOLDER: &str = "models";

/// The end of the name of the file with the properties; the bytes have the same name without it.
pub const INFO_END: &str = ".json";

/// Stored bytes before the end of a part that are fetched once more and compared with the host's: a
/// host of another origin may hide the headers that tell its versions apart.
pub const OVERLAP: u64 = 1 << 16;

/// The name of the bytes of an address: 64 bits of FNV-1a, since an address may be longer than a
/// file's name. The properties hold the address itself, so two addresses of one name are told
/// apart.
pub fn stored_name(url: &str) -> String {
    format!("{:016x}", fnv1a64(url))
}

/// Properties of stored bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileInfo {
    /// Their address.
    pub url: String,
    /// Bytes of the whole file, where the host stated it.
    pub total: Option<u64>,
    /// The host's name for this version of the file: its strong `ETag`, else `Last-Modified`.
    pub mark: Option<String>,
}

/// What a reader can do after a download that broke off, with so many stored bytes before it and
/// after it; nothing where there are too few to continue from.
pub fn after_break(before: u64, now: u64) -> Option<&'static str> {
    match now {
        0..=OVERLAP => None,
        _ if now == before => Some(
            "It ended there before, too: its host may promise more than it has. If the browser can download it by itself, \
             do so and open it from this device.",
        ),
        _ => Some("What came is kept: open it again, and only the rest is fetched."),
    }
}

/// What a reader can do where stored bytes do not open.
pub const IF_DAMAGED: &str = "The file is kept on this device: if it is damaged, delete it from the list of what is kept, and fetch it again.";

/// The use of stored bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// The whole file is stored.
    Whole,
    /// This number of bytes is used; the stored bytes after them are compared with those that come.
    Part(u64),
    /// The whole file has to be fetched.
    Nothing,
}

impl FileInfo {
    /// The use of `here` stored bytes with these properties.
    pub fn reuse(&self, url: &str, here: u64) -> Reuse {
        match self.total {
            Some(total) if self.url == url && here == total => Reuse::Whole,
            Some(total) if self.url == url && (OVERLAP + 1..total).contains(&here) => {
                Reuse::Part(here - OVERLAP)
            }
            _ => Reuse::Nothing,
        }
    }

    /// Returns whether an answer holds the rest of a file of this length and mark after `here`
    /// bytes. A host of another origin hides most of its headers; the number of bytes has to fit in
    /// any case.
    pub fn is_continued_by(&self, here: u64, answer: &ResponseInfo) -> bool {
        let fits = |left: u64| self.total == Some(here + left);
        let same_mark = match (&self.mark, &answer.mark) {
            (Some(own), Some(theirs)) => own == theirs,
            _ => true,
        };
        let begins = |range: &String| range.starts_with(&format!("bytes {here}-"));
        let same_place = answer.range.as_ref().is_none_or(begins);
        answer.status == 206 && answer.length.is_some_and(fits) && same_mark && same_place
    }
}

/// The parts of a host's answer that matter here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseInfo {
    /// HTTP's status.
    pub status: u16,
    /// Bytes of the body, where the host states it.
    pub length: Option<u64>,
    /// `Content-Range`, where it can be read.
    pub range: Option<String>,
    /// See [`FileInfo::mark`].
    pub mark: Option<String>,
}

impl ResponseInfo {
    /// Reads a status and headers, which `header` looks up.
    pub fn new(status: u16, header: impl Fn(&str) -> Option<String>) -> Self {
        let length = header("Content-Length").and_then(|length| length.parse().ok());
        let strong = header("ETag").filter(|tag| !tag.starts_with("W/"));
        Self {
            status,
            // A compressed body has another length than the host states.
            length: length.filter(|_| header("Content-Encoding").is_none()),
            range: header("Content-Range"),
            mark: strong.or_else(|| header("Last-Modified")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> FileInfo {
        FileInfo {
            url: "https://host/a.gguf".to_owned(),
            total: Some(100),
            mark: Some("\"v1\"".to_owned()),
        }
    }

    #[test]
    fn stored_bytes_are_used_continued_or_fetched_again() {
        let reuse = |url, here| info().reuse(url, here);
        assert_eq!(reuse("https://host/a.gguf", 100), Reuse::Whole);
        // A part that is no longer than what would be compared is not worth a question.
        for here in [0, 40, 101] {
            assert_eq!(reuse("https://host/a.gguf", here), Reuse::Nothing);
        }
        let long = FileInfo {
            total: Some(1 << 20),
            ..info()
        };
        assert_eq!(long.reuse(&long.url, OVERLAP), Reuse::Nothing);
        assert_eq!(long.reuse(&long.url, OVERLAP + 40), Reuse::Part(40));
        assert_eq!(long.reuse(&long.url, 1 << 20), Reuse::Whole);
        // Another address that happens to have the same name.
        assert_eq!(reuse("https://host/b.gguf", 100), Reuse::Nothing);
        let unknown = FileInfo {
            total: None,
            ..info()
        };
        assert_eq!(
            unknown.reuse("https://host/a.gguf", 1 << 19),
            Reuse::Nothing
        );
    }

    #[test]
    fn only_the_rest_of_the_same_file_continues_it() {
        let answer = |status: u16, headers: &'static [(&str, &str)]| {
            ResponseInfo::new(status, |name| {
                let found = headers.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let continues = |status, headers| info().is_continued_by(40, &answer(status, headers));
        assert!(continues(206, &[("Content-Length", "60")]));
        assert!(continues(
            206,
            &[
                ("Content-Length", "60"),
                ("Content-Range", "bytes 40-99/100"),
                ("ETag", "\"v1\"")
            ]
        ));
        for (status, headers) in [
            (200, &[("Content-Length", "60")][..]),
            (206, &[("Content-Length", "61")]),
            (206, &[]),
            (206, &[("Content-Length", "60"), ("ETag", "\"v2\"")]),
            (
                206,
                &[
                    ("Content-Length", "60"),
                    ("Content-Range", "bytes 0-59/100"),
                ],
            ),
            (
                206,
                &[("Content-Length", "60"), ("Content-Encoding", "gzip")],
            ),
        ] {
            assert!(!continues(status, headers), "{status} {headers:?}");
        }
        let weak = answer(200, &[("ETag", "W/\"v1\""), ("Last-Modified", "Monday")]);
        assert_eq!(weak.mark.as_deref(), Some("Monday"));
    }

    #[test]
    fn a_download_that_ends_where_it_ended_before_is_not_said_to_continue() {
        assert_eq!(after_break(0, 0), None);
        assert_eq!(after_break(1 << 20, 0), None);
        assert_eq!(after_break(0, OVERLAP), None, "all of it is fetched again");
        for (before, now) in [(0, 1 << 17), (1 << 17, 1 << 18), (1 << 18, 1 << 17)] {
            let words = after_break(before, now).unwrap();
            assert!(words.contains("only the rest"), "{words}");
        }
        let words = after_break(1 << 17, 1 << 17).unwrap();
        assert!(words.contains("open it from this device"), "{words}");
    }

    #[test]
    fn names_are_short_and_differ() {
        assert_eq!(stored_name(""), "cbf29ce484222325");
        assert_ne!(stored_name("https://host/a"), stored_name("https://host/b"));
    }
}
