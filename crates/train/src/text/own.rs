//! Sentences of our own: with words of the lessons' examples that are rare in the data, and with a
//! possessive pronoun that agrees with its noun.

/// What a model's card says of them.
pub const ABOUT: &str = "sentences of our own (crates/train/src/text/own.rs): 80 with words of the lessons that are rare there, 480 in which *her* or *his* agrees with a noun";

/// One sentence on each line.
const SENTENCES: &str = include_str!("own_sentences.txt");

/// Nouns for a woman, each with one for a man.
const PEOPLE: [(&str, &str); 8] = [
    ("girl", "boy"),
    ("woman", "man"),
    ("queen", "king"),
    ("mother", "father"),
    ("grandmother", "grandfather"),
    ("sister", "brother"),
    ("aunt", "uncle"),
    ("daughter", "son"),
];

/// What each of them does; `_` is the pronoun.
const DEEDS: [&str; 30] = [
    "put _ shoes under the bed",
    "opened _ umbrella in the rain",
    "forgot _ bag at school",
    "showed me _ drawing",
    "closed _ book and went to bed",
    "found _ pencil under the table",
    "washed _ hands before dinner",
    "dropped _ ice cream",
    "took off _ wet coat",
    "called _ best friend",
    "sold _ old bicycle",
    "wrote _ name on the paper",
    "could not find _ glasses",
    "sat on _ chair",
    "drank _ coffee",
    "lives with _ two dogs",
    "broke _ arm",
    "cleaned _ room",
    "brushed _ hair",
    "gave the letter to _ teacher",
    "waited for _ friends",
    "ate _ soup slowly",
    "left _ towel at the beach",
    "loves _ cat",
    "read _ letter twice",
    "forgot _ own name",
    "carried _ bag to the station",
    "painted _ house",
    "is proud of _ garden",
    "wants to sell _ car",
];

/// The sentences.
pub fn sentences() -> Vec<String> {
    let rare = SENTENCES.lines().map(str::to_owned);
    rare.chain(pronouns()).collect()
}

/// A sentence for each person and deed.
fn pronouns() -> impl Iterator<Item = String> {
    DEEDS.into_iter().flat_map(|deed| {
        PEOPLE.into_iter().flat_map(move |(woman, man)| {
            [(woman, "her"), (man, "his")]
                .map(|(noun, pronoun)| format!("The {noun} {}.", deed.replace('_', pronoun)))
        })
    })
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

    /// A model that is asked for the pronoun of a lost book must not have read it.
    #[test]
    fn pronouns_agree_and_no_test_is_among_them() {
        let all: Vec<String> = pronouns().collect();
        assert_eq!(all.len(), 480);
        assert_eq!(all[0], "The girl put her shoes under the bed.");
        assert_eq!(all[1], "The boy put his shoes under the bed.");
        assert!(
            sentences()
                .iter()
                .all(|sentence| !sentence.contains("lost"))
        );
    }

    #[test]
    fn the_card_counts_them() {
        let rare = SENTENCES.lines().count();
        assert!(ABOUT.contains(&format!(": {rare} with words")), "{rare}");
        assert!(ABOUT.contains(&format!("{} in which", pronouns().count())));
    }
}
