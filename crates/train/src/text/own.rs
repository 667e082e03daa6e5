//! Sentences of our own, for words of the lessons' examples that are rare in the data.

/// One sentence on each line.
const SENTENCES: &str = include_str!("own_sentences.txt");

/// The sentences.
pub fn sentences() -> Vec<String> {
    SENTENCES.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_one_sentence() {
        for sentence in sentences() {
            assert_eq!(super::super::stories::sentences(&sentence).len(), 1);
            assert!(sentence.ends_with(['.', '?']), "{sentence}");
        }
    }
}
