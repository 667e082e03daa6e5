//! What `tiny-bert` says of a few sentences that lessons and readers ask it, from its shipped file.

use engine::format::json;
use engine::model::bert::{Bert, Config};
use engine::open::shipped::Shipped;
use engine::token::tokenizer::Tokenizer;
use engine::token::word_piece::{WordPiece, WordPieceFiles};

use crate::cards;

/// The model with its vocabulary.
struct Filler {
    model: Bert,
    tokenizer: WordPiece,
}

impl Filler {
    fn open() -> Self {
        let bytes = std::fs::read(cards::folder().join("tiny-bert.safetensors")).unwrap();
        let file = Shipped::parse("tiny-bert", bytes.into(), json::read).unwrap();
        let vocabulary = WordPieceFiles::from_vocab_txt(file.text("vocab.txt").unwrap());
        Self {
            model: file
                .model(|number, source| Bert::load(Config::from_keys(number)?, source))
                .unwrap(),
            tokenizer: WordPiece::new(vocabulary).unwrap(),
        }
    }

    /// The score of each piece at the gap of a text.
    fn scores(&self, text: &str) -> Vec<f32> {
        let (begin, end) = (self.tokenizer.special().begin, self.tokenizer.special().end);
        let marked = self.tokenizer.encode_marked(text).unwrap();
        let ids: Vec<usize> = begin.into_iter().chain(marked).chain(end).collect();
        let mask = self.tokenizer.special().mask.unwrap();
        let gap = ids.iter().position(|&id| id == mask).unwrap();
        self.model.forward(&ids, None).unwrap().row(gap).to_vec()
    }

    /// The score of a word that is one piece.
    fn score(&self, scores: &[f32], word: &str) -> f32 {
        let ids = self.tokenizer.encode(word).unwrap();
        assert_eq!(ids.len(), 1, "{word}");
        scores[ids[0]]
    }

    /// The most likely pieces at the gap, most likely first.
    fn top(&self, text: &str, count: usize) -> Vec<String> {
        let scores = self.scores(text);
        let mut ids: Vec<usize> = (0..scores.len()).collect();
        ids.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let token = |&id: &usize| self.tokenizer.token(id).unwrap().to_owned();
        ids[..count].iter().map(token).collect()
    }
}

#[test]
fn words_of_the_curriculum_are_one_piece() {
    let filler = Filler::open();
    for word in ["mat", "bank", "train", "animal", "telescope", "bites"] {
        assert_eq!(filler.tokenizer.encode(word).unwrap().len(), 1, "{word}");
    }
}

#[test]
fn a_pronoun_agrees_with_its_noun() {
    let filler = Filler::open();
    for (text, right, wrong) in [
        ("The girl lost [MASK] book.", "her", "his"),
        ("The boy lost [MASK] book.", "his", "her"),
    ] {
        let scores = filler.scores(text);
        let [right, wrong] = [right, wrong].map(|word| filler.score(&scores, word));
        assert!(right > wrong, "{text}: {right} and {wrong}");
    }
}

#[test]
fn a_cup_holds_a_drink() {
    let top = Filler::open().top("She drank a cup of [MASK].", 5);
    let drinks = [
        "tea",
        "coffee",
        "water",
        "milk",
        "juice",
        "wine",
        "chocolate",
    ];
    assert!(
        top.iter().any(|word| drinks.contains(&word.as_str())),
        "{top:?}"
    );
}
