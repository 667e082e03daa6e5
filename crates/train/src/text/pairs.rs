//! English sentences with their Italian versions, from the Tatoeba collection.
//!
//! `eng-ita-tatoeba/formatted.zip` holds one text, `English TAB Italian` on each line; an English
//! sentence has as many lines as it has versions. Sentences are normalised
//! ([`engine::translate::normalised`]), and a pair is used when neither side is longer than
//! [`LONGEST`] words.
//!
//! Public original: github.com/nikodallanoce/NeuralMachineTranslation, `dataset/formatted.zip`,
//! commit b9ae3fab9a814dbbd840f505ffed1813fdca4f67, itself from manythings.org/anki (`ita-eng`) and
//! so from tatoeba.org, CC BY 2.0 FR.

use crate::{Result, TrainError};
use engine::translate::{Pair, length, normalised};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

/// Path of the pairs in the folder of data.
pub const FILE: &str = "eng-ita-tatoeba/formatted.zip";
/// The most words of a sentence.
pub const LONGEST: usize = 14;
/// A file with fewer lines than this is not the collection.
const FEWEST: usize = 100_000;
/// No such text is unpacked to more bytes than this.
const MOST_BYTES: u64 = 100_000_000;

/// All pairs of the collection, one for each English sentence.
///
/// # Errors
/// When the file is missing, no zip file with one text of such lines, or too short.
pub fn read(data: &Path) -> Result<Vec<Pair>> {
    let path = data.join(FILE);
    let pairs = parse(&unzip(&path)?).map_err(|(line, found)| {
        let expected = "English, a tab and Italian on each line";
        TrainError::content(&path, expected, format!("{found:?} on line {line}"))
    })?;
    let lines: usize = pairs.iter().map(|pair| pair.italian.len()).sum();
    if lines < FEWEST {
        let expected = format!("at least {FEWEST} pairs");
        return Err(TrainError::content(&path, expected, lines));
    }
    Ok(pairs)
}

/// The English sentences as the collection writes them, each once.
///
/// # Errors
/// See [`read`].
pub fn english(data: &Path) -> Result<Vec<String>> {
    let path = data.join(FILE);
    let text = unzip(&path)?;
    let sides = text.lines().filter_map(|line| line.split_once('\t'));
    let mut sentences: Vec<&str> = sides.map(|(english, _)| english.trim()).collect();
    sentences.dedup();
    if sentences.len() < FEWEST {
        let expected = format!("at least {FEWEST} sentences");
        return Err(TrainError::content(&path, expected, sentences.len()));
    }
    Ok(sentences.into_iter().map(str::to_owned).collect())
}

/// The first text in a zip file.
fn unzip(path: &Path) -> Result<String> {
    let file = std::fs::File::open(path).map_err(|error| TrainError::file("read", path, error))?;
    let wrong = |error: zip::result::ZipError| TrainError::content(path, "a zip file", error);
    let mut archive = zip::ZipArchive::new(file).map_err(wrong)?;
    let entry = archive.by_index(0).map_err(wrong)?;
    let mut text = String::new();
    let read = entry.take(MOST_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| TrainError::content(path, "a text in UTF-8", error))?;
    if text.len() as u64 > MOST_BYTES {
        let expected = format!("a text of at most {MOST_BYTES} bytes");
        return Err(TrainError::content(path, expected, "more"));
    }
    Ok(text)
}

/// The pairs in a text; else the line that is none.
fn parse(text: &str) -> Result<Vec<Pair>, (usize, String)> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (n, line) in text.lines().enumerate() {
        let wrong = || (n + 1, line.chars().take(40).collect());
        let (english, italian) = line.split_once('\t').ok_or_else(wrong)?;
        let (english, italian) = (normalised(english), normalised(italian));
        let fits = |sentence: &str| (1..=LONGEST).contains(&length(sentence));
        if !(fits(&english) && fits(&italian)) {
            continue;
        }
        let place = *places.entry(english.clone()).or_insert(pairs.len());
        if place == pairs.len() {
            pairs.push(Pair {
                english,
                italian: vec![italian],
            });
        } else if !pairs[place].italian.contains(&italian) {
            pairs[place].italian.push(italian);
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_one_sentence_come_together() {
        let text = "Hi.\tCiao!\r\nHi!\tCiao.\r\nhi\tSalve.\r\nRun!\tCorri!\n";
        let pairs = parse(text).unwrap();
        assert_eq!(pairs.len(), 2);
        assert_eq!(pairs[0].english, "hi");
        assert_eq!(pairs[0].italian, ["ciao", "salve"]);
        assert_eq!(pairs[1].italian, ["corri"]);
    }

    #[test]
    fn long_and_empty_sentences_are_left_out() {
        let long = "a ".repeat(LONGEST + 1);
        let text = format!("{long}\tuno\nuno\t{long}\n.\tuno\none two\tuno due\n");
        let pairs = parse(&text).unwrap();
        assert_eq!(pairs.len(), 1);
        assert_eq!(pairs[0].words(), 2);
    }

    #[test]
    fn a_line_without_tab_is_named() {
        assert_eq!(parse("a\tb\nno tab"), Err((2, "no tab".to_owned())));
    }

    #[test]
    fn a_missing_file_and_one_that_is_no_zip_are_named() {
        let folder = std::env::temp_dir().join(format!("pairs-{}", std::process::id()));
        let error = read(&folder).unwrap_err().to_string();
        assert!(error.contains("formatted.zip"), "{error}");
        let path = folder.join(FILE);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "Hi.\tCiao!\n").unwrap();
        let error = read(&folder).unwrap_err().to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(error.contains("expected a zip file"), "{error}");
    }
}
