//! What came from an address and is kept on the device: how it is called there, and whether what is there can be used or gone on with.
//!
//! Each address has two files in one folder of the origin private file system: its bytes, as far as they came, and a note that says what
//! they are. A file is whole when it has as many bytes as the note says.

use serde::{Deserialize, Serialize};

/// The folder.
pub const FOLDER: &str = "models";

/// The end of a note's name; the bytes have the same name without it.
pub const INFO_END: &str = ".json";

/// The name of the bytes of an address: 64 bits of FNV-1a, since an address may be longer than a file's name. The note holds the address
/// itself, so that two addresses of one name are told from each other.
pub fn stored_name(url: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = url.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    format!("{hash:016x}")
}

/// What some kept bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileInfo {
    /// Where they come from.
    pub url: String,
    /// Bytes of the whole file, where the host said so.
    pub total: Option<u64>,
    /// What the host calls this version of the file: its strong `ETag`, else `Last-Modified`.
    pub mark: Option<String>,
}

/// What to do about an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// All of it is here.
    Whole,
    /// Ask for what follows so many bytes.
    Part(u64),
    /// Ask for all of it.
    Nothing,
}

impl FileInfo {
    /// What to do where `here` bytes are kept under this note.
    pub fn plan(&self, url: &str, here: u64) -> Reuse {
        match self.total {
            Some(total) if self.url == url && here == total => Reuse::Whole,
            Some(total) if self.url == url && (1..total).contains(&here) => Reuse::Part(here),
            _ => Reuse::Nothing,
        }
    }

    /// Whether an answer is what follows `here` bytes of this same file. A host of another origin hides most of its headers; the bytes
    /// that are left have to fit in any case.
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

/// What matters of a host's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseInfo {
    /// HTTP's status.
    pub status: u16,
    /// Bytes that come, where the host says so.
    pub length: Option<u64>,
    /// `Content-Range`, where it is to be seen.
    pub range: Option<String>,
    /// As [`FileInfo::mark`].
    pub mark: Option<String>,
}

impl ResponseInfo {
    /// From a status and a look-up of headers.
    pub fn new(status: u16, header: impl Fn(&str) -> Option<String>) -> Self {
        let length = header("Content-Length").and_then(|length| length.parse().ok());
        let strong = header("ETag").filter(|tag| !tag.starts_with("W/"));
        Self {
            status,
            // What comes compressed has another length than the host says.
            length: length.filter(|_| header("Content-Encoding").is_none()),
            range: header("Content-Range"),
            mark: strong.or_else(|| header("Last-Modified")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note() -> FileInfo {
        FileInfo {
            url: "https://host/a.gguf".to_owned(),
            total: Some(100),
            mark: Some("\"v1\"".to_owned()),
        }
    }

    #[test]
    fn what_is_here_is_taken_gone_on_with_or_fetched_anew() {
        let plan = |url, here| note().plan(url, here);
        assert_eq!(plan("https://host/a.gguf", 100), Reuse::Whole);
        assert_eq!(plan("https://host/a.gguf", 40), Reuse::Part(40));
        for here in [0, 101] {
            assert_eq!(plan("https://host/a.gguf", here), Reuse::Nothing);
        }
        // Another address that happens to have the same name.
        assert_eq!(plan("https://host/b.gguf", 100), Reuse::Nothing);
        let unknown = FileInfo {
            total: None,
            ..note()
        };
        assert_eq!(unknown.plan("https://host/a.gguf", 40), Reuse::Nothing);
    }

    #[test]
    fn only_the_rest_of_the_same_file_goes_on() {
        let answer = |status: u16, headers: &'static [(&str, &str)]| {
            ResponseInfo::new(status, |name| {
                let found = headers.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let goes_on = |status, headers| note().is_continued_by(40, &answer(status, headers));
        assert!(goes_on(206, &[("Content-Length", "60")]));
        assert!(goes_on(
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
            assert!(!goes_on(status, headers), "{status} {headers:?}");
        }
        let weak = answer(200, &[("ETag", "W/\"v1\""), ("Last-Modified", "Monday")]);
        assert_eq!(weak.mark.as_deref(), Some("Monday"));
    }

    #[test]
    fn names_are_short_and_differ() {
        assert_eq!(stored_name(""), "cbf29ce484222325");
        assert_ne!(stored_name("https://host/a"), stored_name("https://host/b"));
    }
}
