//! Stories of our own with hidden words, to race a model at guessing: four words fit each gap, and
//! whoever guesses gives each of them a probability.
//!
//! ```text
//! share of word w     2^(−b_w) / Σ_v 2^(−b_v)       b_w: bits that a model gives the word after the text before it
//! bits of a guess     −log₂ c where it is right,  −log₂ ((1 − c) / 3) where not        c: confidence, the rest is even
//! ```
//!
//! ```
//! use explain::hidden_story::{guess_bits, shares, story};
//! let first = &story(0).gaps[0];
//! assert!(first.before.ends_with("Every") && first.words[first.right] == "day");
//! assert_eq!(shares(&[1.0, 2.0, 3.0, 3.0]), [0.5, 0.25, 0.125, 0.125]);
//! assert_eq!(guess_bits(0.5, true), 1.0);
//! ```
//!
//! Source: Shannon 1951, "Prediction and entropy of printed English", section 3 (a reader guesses
//! the next letter); with four words to choose from, a guess needs no list of all words.

use engine::math::double;
use engine::rng::Rng;

/// Words that fit a gap.
pub const CHOICES: usize = 4;

/// The stories. In brackets, the words of a gap; the first is the one that was there.
const STORIES: [&str; 2] = [
    "Nina had a small red boat. Every [day|night|cat|tree] she took it to the pond behind the house. \
     One morning the wind was very [strong|small|hungry|clean] and the string [broke|sang|slept|grew]. \
     The boat sailed away, and Nina began to [cry|cook|eat|write]. A big dog heard her, jumped into the \
     [water|car|tree|bed], and swam to the boat. He brought it back in his [mouth|bag|hat|nose]. \
     From that day on, the dog and [Nina|Tom|Mia|Ben] were best [friends|toys|girls|food].",
    "It was raining, so Max could not go [outside|asleep|fast|red] to play. He looked out of the \
     [window|cake|song|dog] and felt very [sad|tall|clean|loud]. Then his sister came into the \
     [room|sky|lake|box] with an old sheet. \"Let us turn the table into a ship,\" she \
     [said|ate|slept|grew]. They put the sheet over the table and sailed to an island full of \
     [gold|rain|chairs|snow]. When the rain [stopped|sang|slept|cried], their mother called, \
     \"You can go out now.\" But [Max|Tom|Lily|Ben] did not want to leave the [ship|school|shop|cup].",
];

/// Number of stories.
pub const COUNT: usize = STORIES.len();

/// The most gaps of a story.
pub const MOST_GAPS: usize = 9;

/// A hidden word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The story up to the gap, without the space before the word.
    pub before: String,
    /// The words to choose from, in the order in which they are shown.
    pub words: Vec<String>,
    /// The place of the word that was there.
    pub right: usize,
}

/// A story with its gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// The whole text.
    pub text: String,
    /// The gaps, from the first on.
    pub gaps: Vec<Gap>,
}

/// A story, counted from 0; past the last comes the first again. The words of a gap are in a random
/// order that is always the same.
pub fn story(number: usize) -> Story {
    let mut rng = Rng::named(number as u64, "order of words");
    let (mut text, mut gaps) = (String::new(), Vec::new());
    let mut parts = STORIES[number % COUNT].split('[');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (words, after) = part.split_once(']').unwrap_or((part, ""));
        let words: Vec<&str> = words.split('|').collect();
        let order = rng.permutation(words.len());
        gaps.push(Gap {
            before: text.trim_end().to_owned(),
            words: order.iter().map(|&n| words[n].to_owned()).collect(),
            right: order.iter().position(|&n| n == 0).unwrap_or_default(),
        });
        text.push_str(words[0]);
        text.push_str(after);
    }
    Story { text, gaps }
}

/// The probabilities of some words among themselves, from the bits that a model gives each.
pub fn shares(bits: &[f64]) -> Vec<f64> {
    let fewest = bits.iter().copied().fold(f64::INFINITY, f64::min);
    let weight = |&b: &f64| double::exp((fewest - b) * std::f64::consts::LN_2);
    let weights: Vec<f64> = bits.iter().map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// The information in an event of this probability, in bits.
pub fn bits(probability: f64) -> f64 {
    // Without a sign where it is certain.
    0.0 - double::ln(probability) / std::f64::consts::LN_2
}

/// The bits of a guess with a confidence: what is left of it is spread evenly over the other words.
pub fn guess_bits(confidence: f64, is_right: bool) -> f64 {
    match is_right {
        true => bits(confidence),
        false => bits((1.0 - confidence) / (CHOICES - 1) as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gap_has_four_words_and_the_right_one_continues_the_story() {
        for n in 0..COUNT {
            let story = story(n);
            assert!((6..=MOST_GAPS).contains(&story.gaps.len()));
            assert!(!story.text.contains(['[', ']', '|']));
            for gap in &story.gaps {
                assert_eq!(gap.words.len(), CHOICES);
                let right = format!("{} {}", gap.before, gap.words[gap.right]);
                assert!(story.text.starts_with(&right), "{right}");
                let mut words = gap.words.clone();
                words.sort();
                words.dedup();
                assert_eq!(words.len(), CHOICES);
            }
        }
        assert_eq!(story(COUNT).text, story(0).text);
    }

    /// The right word is not always at the same place.
    #[test]
    fn the_order_gives_nothing_away() {
        for place in 0..CHOICES {
            let gaps = (0..COUNT).flat_map(|n| story(n).gaps);
            assert!(
                gaps.filter(|gap| gap.right == place).count() >= 1,
                "{place}"
            );
        }
    }

    #[test]
    fn an_even_guess_costs_two_bits() {
        assert!((guess_bits(0.25, true) - 2.0).abs() < 1e-12);
        assert!((guess_bits(0.25, false) - 2.0).abs() < 1e-12);
        assert!(guess_bits(0.99, false) > 8.0 && guess_bits(0.99, true) < 0.02);
        assert!(bits(1.0).is_sign_positive() && bits(1.0) == 0.0);
    }
}
