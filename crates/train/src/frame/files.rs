//! Files, whole or not at all.

use crate::{Result, TrainError};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// A file's bytes.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| TrainError::file("read", path, error))
}

/// The content of a gzip file, at most `most` bytes.
///
/// # Errors
/// When it cannot be read, is damaged, or holds more.
pub fn read_gz(path: &Path, most: usize) -> Result<Vec<u8>> {
    let wrong = |error| TrainError::file("read", path, error);
    let file = File::open(path).map_err(wrong)?;
    let mut bytes = Vec::new();
    // One more than may be, to know that there is more.
    let mut reader = GzDecoder::new(file).take(most as u64 + 1);
    reader.read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() > most {
        let expected = format!("at most {most} bytes unpacked");
        return Err(TrainError::content(path, expected, "more"));
    }
    Ok(bytes)
}

/// The number of bytes that a browser downloads where the server compresses: as `gzip -9`.
///
/// # Errors
/// When they cannot be compressed.
pub fn gzip_size(bytes: &[u8]) -> Result<usize> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let packed = packed.write_all(bytes).and_then(|()| packed.finish());
    let packed =
        packed.map_err(|error| TrainError::file("compress", Path::new("weights"), error))?;
    Ok(packed.len())
}

/// Writes a file under another name and then renames it, so that at every moment either the old
/// file is there whole or the new one.
///
/// # Errors
/// When it cannot be written; the old file is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let wrong = |error| TrainError::file("write", path, error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let mut file = File::create(&part).map_err(wrong)?;
    file.write_all(bytes).map_err(wrong)?;
    // Renamed before its bytes are on the disk it could be empty after a power cut.
    file.sync_all().map_err(wrong)?;
    std::fs::rename(&part, path).map_err(wrong)
}

/// A Markdown table of two columns without a head.
pub fn table(rows: &[(String, String)]) -> String {
    let mut text = String::from("| | |\n|---|---|\n");
    for (name, value) in rows {
        text.push_str(&format!("| {name} | {value} |\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};

    fn folder(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("train-files-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let path = folder("whole").join("a/b.txt");
        replace(&path, b"old").unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(read(&path).unwrap(), b"new");
        let beside: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(beside.len(), 1, "{beside:?}");
        // A folder of that name is in the way: what is there stays.
        let taken = path.parent().unwrap().to_path_buf();
        assert!(replace(&taken, b"x").is_err());
        assert_eq!(read(&path).unwrap(), b"new");
    }

    #[test]
    fn packed_files_are_read_up_to_a_bound() {
        let path = folder("packed").join("x.gz");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&[7; 1000]).unwrap();
        let whole = encoder.finish().unwrap();
        replace(&path, &whole).unwrap();
        assert_eq!(read_gz(&path, 1000).unwrap(), [7; 1000]);
        let error = read_gz(&path, 999).unwrap_err().to_string();
        assert!(error.ends_with("x.gz: expected at most 999 bytes unpacked, found more"));
        replace(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(read_gz(&path, 1000).is_err());
    }
}
