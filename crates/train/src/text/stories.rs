//! Stories of simple English: excerpts of TinyStories.
//!
//! ```text
//! a story: its paragraphs on one line, a space between them
//! ```
//! `tiny_stories.txt` has a blank line between the paragraphs of a story and none between two
//! stories; `tinystories_10k.txt` has a mark between two stories and a paragraph on each line.
//!
//! Public originals (Eldan and Li 2023, CDLA-Sharing-1.0): github.com/s-ajaykumar/smallGPT,
//! `data/tiny_stories.txt`, commit b8b899265a5574abd2c19d8857039309184a357c;
//! github.com/mines-opt-ml/decoding-gpt, `data/tinystories_10k.txt`, commit
//! 79274e31fe66ed5cf23be815bf51dc63a4ca57a6; github.com/Niklas6/Mini_GPT, `tinystories.txt`, commit
//! 0e9893779c9e2048205ea1339eb588983d72adc1, whose paragraphs are all in the first of these.

use crate::{Result, TrainError};
use std::path::Path;

/// The public originals of the stories, for a card.
pub const SOURCE: &str = "github.com/s-ajaykumar/smallGPT, data/tiny_stories.txt, commit b8b89926; github.com/mines-opt-ml/decoding-gpt, data/tinystories_10k.txt, commit 79274e31; held-out paragraphs from github.com/Niklas6/Mini_GPT, tinystories.txt, commit 0e989377";
/// Path of the sample in the folder of data: the first version of the models learned from it.
pub const SAMPLE: &str = "tinystories-sample/tinystories.txt";
/// Path of the stories without marks.
pub const UNMARKED: &str = "tinystories-more/tiny_stories.txt";
/// Path of the stories with marks.
pub const MARKED: &str = "tinystories-more/tinystories_10k.txt";
/// The mark between two stories.
const MARK: &str = "<|endoftext|>";
/// A file of fewer bytes is not the one that is expected.
const FEWEST_BYTES: usize = 100_000;

/// The paragraphs of the sample, in the order of the file.
///
/// # Errors
/// When the file is missing, shorter than expected, or not UTF-8.
pub fn paragraphs(data: &Path) -> Result<Vec<String>> {
    let text = text(data, SAMPLE)?;
    let lines = text.lines().map(mended);
    Ok(lines.filter(|line| !line.is_empty()).collect())
}

/// The stories of both larger files. A story that is cut off at the end of a file is one too.
///
/// # Errors
/// As [`paragraphs`], for either file.
pub fn stories(data: &Path) -> Result<Vec<String>> {
    let mut stories = unmarked(&text(data, UNMARKED)?);
    stories.extend(marked(&text(data, MARKED)?));
    Ok(stories)
}

fn text(data: &Path, file: &str) -> Result<String> {
    let path = data.join(file);
    let text = std::fs::read(&path).map_err(|error| TrainError::file("read", &path, error))?;
    let text = String::from_utf8(text)
        .map_err(|error| TrainError::content(&path, "a text in UTF-8", error))?;
    if text.len() < FEWEST_BYTES {
        let expected = format!("at least {FEWEST_BYTES} bytes");
        return Err(TrainError::content(&path, expected, text.len()));
    }
    Ok(text)
}

/// The stories of a text in which a line that follows another without a blank line begins a story.
fn unmarked(text: &str) -> Vec<String> {
    let mut stories: Vec<String> = Vec::new();
    let mut after_blank = false;
    for line in text.lines().map(mended) {
        match stories.last_mut() {
            _ if line.is_empty() => {}
            Some(story) if after_blank => {
                story.push(' ');
                story.push_str(&line);
            }
            _ => stories.push(line.clone()),
        }
        after_blank = line.is_empty();
    }
    stories
}

/// The stories between marks.
fn marked(text: &str) -> Vec<String> {
    let joined = |story: &str| {
        let lines = story.lines().map(mended).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    };
    let stories = text.split(MARK).map(joined);
    stories.filter(|story| !story.is_empty()).collect()
}

/// A line with single spaces, in which characters that were read in the wrong encoding are
/// replaced by those that were meant, and curly quotation marks by straight ones.
fn mended(line: &str) -> String {
    let mut line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    for (wrong, right) in [
        ("â€œ", "\""),
        ("â€™", "'"),
        ("â€", "\""),
        ("“", "\""),
        ("”", "\""),
        ("’", "'"),
    ] {
        line = line.replace(wrong, right);
    }
    line
}

/// The sentences of a text. A sentence ends with `.`, `!` or `?`, and a closing quotation mark
/// where there is one, before a space or at the end of the text.
pub fn sentences(text: &str) -> Vec<&str> {
    let (mut sentences, mut start) = (Vec::new(), 0);
    for (place, _) in text.match_indices(' ') {
        let before = text[..place].trim_end_matches('"');
        if before.ends_with(['.', '!', '?']) {
            sentences.push(&text[start..place]);
            start = place + 1;
        }
    }
    sentences.push(&text[start..]);
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_right_after_another_begins_a_story() {
        let text = "Lily ran.\n\nShe fell.\nBeep was a car.\n\n\n“Hi,”  he said.\n";
        assert_eq!(
            unmarked(text),
            ["Lily ran. She fell.", "Beep was a car. \"Hi,\" he said."]
        );
    }

    #[test]
    fn marks_end_stories() {
        let text = "\nA cat sat. \nIt slept.\n<|endoftext|>\n\nA dog ran.\n<|endoftext|>\n";
        assert_eq!(marked(text), ["A cat sat. It slept.", "A dog ran."]);
    }

    #[test]
    fn characters_in_the_wrong_encoding_are_mended() {
        assert_eq!(mended(" â€œItâ€™s,â€ he said. "), "\"It's,\" he said.");
    }

    #[test]
    fn sentences_keep_their_closing_quotation_mark() {
        let text = "\"Who is it?\" he said. \"I am!\" So he ran";
        let expected = ["\"Who is it?\"", "he said.", "\"I am!\"", "So he ran"];
        assert_eq!(sentences(text), expected);
        assert!(sentences("").is_empty());
    }
}
