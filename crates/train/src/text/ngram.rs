//! The language model to beat: n-grams with interpolated modified Kneser–Ney smoothing, over the
//! tokens of a vocabulary.
//!
//! ```text
//! P_n(w | h) = max(c(h w) − D(c(h w)), 0) / Σ_v c(h v) + γ(h) P_{n−1}(w | h without its first token)
//! γ(h)       = (D₁ N₁(h) + D₂ N₂(h) + D₃ N₃₊(h)) / Σ_v c(h v)                  N_k(h): tokens seen k times after h
//! P_0(w)     = 1 / V
//! Y = n₁/(n₁ + 2 n₂),  D_k = k − (k + 1) Y n_{k+1}/n_k                         n_k: n-grams seen k times
//! ```
//! c counts how often an n-gram was seen at the highest order and at the beginning of a text;
//! elsewhere how many different tokens stood before it. Texts do not see each other: each begins
//! with its start token, which is only ever a context.
//!
//! Source: Chen and Goodman 1999, "An empirical study of smoothing techniques for language
//! modeling", section 4 and equation 26.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// The longest n-grams.
pub const MOST: usize = 4;
/// Bits of an id in a key.
const BITS: u32 = 16;

/// An n-gram as one number: its ids one after the other.
type Key = u64;
type Map<T> = HashMap<Key, T, BuildHasherDefault<Mixed>>;

/// Keys are spread by one multiplication and a shift: they are whole numbers, and millions of them
/// are looked up.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte) ^ self.0);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = engine::rng::mix(key);
    }
}

fn key(ids: &[usize]) -> Key {
    ids.iter().fold(0, |key, &id| key << BITS | id as u64)
}

/// The counts of the tokens after a context.
#[derive(Debug, Clone, Copy, Default)]
struct Followers {
    total: u64,
    /// Tokens that were seen once, twice and more often.
    times: [u32; 3],
}

/// One order.
#[derive(Debug, Default)]
struct Order {
    counts: Map<u32>,
    followers: Map<Followers>,
    discounts: [f64; 3],
}

/// A smoothed n-gram model.
#[derive(Debug)]
pub struct Ngrams {
    /// Place n − 1 holds the n-grams.
    orders: Vec<Order>,
    vocabulary: usize,
}

impl Ngrams {
    /// The model of some texts. Each begins with a token that is not predicted; ids are below
    /// `vocabulary`, at most 2¹⁶.
    pub fn new<'a>(
        texts: impl Iterator<Item = &'a [usize]>,
        order: usize,
        vocabulary: usize,
    ) -> Self {
        let order = order.clamp(1, MOST);
        let mut counts: Vec<Map<u32>> = (0..order).map(|_| Map::default()).collect();
        for text in texts {
            for end in 1..text.len() {
                let longest = order.min(end + 1);
                // The whole of a beginning, or an n-gram of the highest order.
                *counts[longest - 1]
                    .entry(key(&text[end + 1 - longest..=end]))
                    .or_default() += 1;
            }
        }
        for n in (1..order).rev() {
            // How many different tokens stand before each shorter n-gram.
            let shorter = (1u64 << (BITS as usize * n)) - 1;
            let longer: Vec<Key> = counts[n].keys().copied().collect();
            for key in longer {
                *counts[n - 1].entry(key & shorter).or_default() += 1;
            }
        }
        Self {
            orders: counts.into_iter().map(Order::new).collect(),
            vocabulary: vocabulary.max(1),
        }
    }

    /// Number of n-grams of all orders.
    pub fn count(&self) -> usize {
        self.orders.iter().map(|order| order.counts.len()).sum()
    }

    /// P(w | the tokens before).
    pub fn probability(&self, before: &[usize], id: usize) -> f64 {
        let mut probability = 1.0 / self.vocabulary as f64;
        for (n, order) in self.orders.iter().enumerate() {
            let Some(context) = before.len().checked_sub(n).map(|first| &before[first..]) else {
                break;
            };
            let Some(known) = order.followers.get(&key(context)) else {
                break;
            };
            let whole = key(context) << BITS | id as u64;
            let count = order.counts.get(&whole).copied().unwrap_or(0);
            let times = known.times.iter().zip(order.discounts);
            let freed: f64 = times
                .map(|(&times, discount)| f64::from(times) * discount)
                .sum();
            let kept = f64::from(count) - order.discount(count);
            probability = (kept.max(0.0) + freed * probability) / known.total as f64;
        }
        probability
    }

    /// The information in a text after its first token, in bits.
    pub fn bits(&self, text: &[usize]) -> f64 {
        let longest = self.orders.len() - 1;
        (1..text.len())
            .map(|end| {
                -self
                    .probability(&text[end.saturating_sub(longest)..end], text[end])
                    .log2()
            })
            .sum()
    }
}

impl Order {
    fn new(counts: Map<u32>) -> Self {
        let mut followers: Map<Followers> = Map::default();
        let mut seen = [0u64; 4];
        for (&key, &count) in &counts {
            let known = followers.entry(key >> BITS).or_default();
            known.total += u64::from(count);
            known.times[count.clamp(1, 3) as usize - 1] += 1;
            if let Some(seen) = seen.get_mut(count as usize - 1) {
                *seen += 1;
            }
        }
        let [n1, n2, n3, n4] = seen.map(|n| n as f64);
        let y = if n1 > 0.0 { n1 / (n1 + 2.0 * n2) } else { 0.0 };
        let discount = |k: f64, n: f64, next: f64| {
            let found = if n > 0.0 {
                k - (k + 1.0) * y * next / n
            } else {
                y
            };
            found.clamp(0.0, k)
        };
        Self {
            discounts: [
                discount(1.0, n1, n2),
                discount(2.0, n2, n3),
                discount(3.0, n3, n4),
            ],
            counts,
            followers,
        }
    }

    fn discount(&self, count: u32) -> f64 {
        match count {
            0 => 0.0,
            some => self.discounts[some.min(3) as usize - 1],
        }
    }
}

/// All runs of words in some texts, to find the longest that another text has in common with them.
#[derive(Debug, Default)]
pub struct Runs {
    known: Vec<HashSet<u64>>,
}

impl Runs {
    /// Longer runs are not told apart.
    pub const LONGEST: usize = 20;

    /// All runs of words in some texts; none goes from one text to the next.
    pub fn new<'a>(texts: impl Iterator<Item = &'a [String]>) -> Self {
        let mut known = vec![HashSet::new(); Self::LONGEST];
        for words in texts {
            for start in 0..words.len() {
                let mut hash = 0;
                for (word, known) in words[start..].iter().zip(&mut known) {
                    hash = engine::rng::mix(hash ^ engine::rng::fnv1a64(word));
                    known.insert(hash);
                }
            }
        }
        Self { known }
    }

    /// The length of the longest run of words that the texts have too.
    pub fn longest(&self, words: &[String]) -> usize {
        let from = |start: usize| {
            let mut hash = 0;
            let run = words[start..]
                .iter()
                .zip(&self.known)
                .take_while(|(word, known)| {
                    hash = engine::rng::mix(hash ^ engine::rng::fnv1a64(word));
                    known.contains(&hash)
                });
            run.count()
        };
        (0..words.len()).map(from).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<Vec<usize>> {
        let text = |n: usize| {
            let mut text = vec![0];
            text.extend((0..9).map(|k| 1 + (n * n + k * k * 3 + n * k) % 6));
            text
        };
        (0..40).map(text).collect()
    }

    #[test]
    fn probabilities_of_all_tokens_add_up_to_one() {
        let texts = texts();
        let model = Ngrams::new(texts.iter().map(Vec::as_slice), 4, 8);
        for before in [&[][..], &[0], &[0, 1], &[3, 2, 5], &[7, 7, 1], &[1, 4, 4]] {
            let sum: f64 = (0..8).map(|id| model.probability(before, id)).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{before:?}: {sum}");
            assert!((0..8).all(|id| model.probability(before, id) > 0.0));
        }
    }

    /// Computed by hand: bigrams of "a b", "a b", "a c", "b c" with starts (0). Continuations: b
    /// follows 0 and a, so 2 of 5 bigram types.
    #[test]
    fn two_orders_are_as_computed_by_hand() {
        let texts: [&[usize]; 4] = [&[0, 1, 2], &[0, 1, 2], &[0, 1, 3], &[0, 2, 3]];
        let model = Ngrams::new(texts.into_iter(), 2, 4);
        // Bigrams: 01 3 times, 12 twice, 13, 02, 23 once: n = [3, 1, 1, 0]; Y = 3/5.
        let y = 3.0 / 5.0;
        let d = [1.0 - 2.0 * y / 3.0, 2.0 - 3.0 * y, 3.0];
        assert!(
            model.orders[1]
                .discounts
                .iter()
                .zip(d)
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
        // Unigrams: 1 after one token, 2 after two, 3 after two: n = [1, 2, 0, 0]; Y = 1/5.
        let (y, total) = (1.0 / 5.0, 5.0);
        let (d1, d2) = (1.0 - 2.0 * y * 2.0, 2.0);
        let freed = d1 + 2.0 * d2;
        let unigram = |count: f64, d: f64| (count - d + freed / 4.0) / total;
        let p2 = unigram(2.0, d2);
        assert!((model.probability(&[], 2) - p2).abs() < 1e-12);
        // After 1: 2 twice, 3 once.
        let freed = d[0] + d[1];
        let expected = (2.0 - d[1] + freed * p2) / 3.0;
        assert!((model.probability(&[1], 2) - expected).abs() < 1e-12);
        let bits = model.bits(&[0, 1, 2]);
        let whole = -(model.probability(&[0], 1) * expected).log2();
        assert!((bits - whole).abs() < 1e-12);
    }

    #[test]
    fn a_longer_context_helps_where_it_says_more() {
        let text: Vec<usize> = (0..400).map(|n| [1, 2, 1, 3][n % 4]).collect();
        let two = Ngrams::new(std::iter::once(text.as_slice()), 2, 4);
        let three = Ngrams::new(std::iter::once(text.as_slice()), 3, 4);
        assert!(three.bits(&text) < 0.2 * two.bits(&text));
    }

    #[test]
    fn the_longest_common_run_is_found() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let known = [words("the cat sat on the mat"), words("a dog ran")];
        let runs = Runs::new(known.iter().map(Vec::as_slice));
        assert_eq!(runs.longest(&words("my cat sat on a mat")), 3);
        assert_eq!(runs.longest(&words("the mat a dog")), 2);
        assert_eq!(runs.longest(&words("blue")), 0);
        assert_eq!(runs.longest(&[]), 0);
    }
}
