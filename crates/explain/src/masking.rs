//! The masking recipe of BERT, with its dice on the table: which tokens are to be guessed, and what
//! the model reads in their positions.
//!
//! ```text
//! first throw  1 … 15     the token is chosen: the model has to guess it
//! second throw 1 … 80     it reads [MASK]
//!             81 … 90     it reads a random token
//!             91 … 100    it reads the token itself
//! ```
//!
//! ```
//! use explain::masking::mask_tokens;
//! let found = mask_tokens(&[7, 8, 9], &[15, 16, 3], &[80, 1, 100], &[5, 5, 5], 4);
//! assert_eq!((found.inputs, found.chosen), (vec![4, 8, 9], vec![true, false, true]));
//! ```
//!
//! Source: Devlin et al. 2019, "BERT: pre-training of deep bidirectional transformers for language
//! understanding", section 3.1.

use engine::rng::Rng;

/// The throws that choose a token, out of 100.
pub const CHOSEN: usize = 15;

/// The second throws that make it `[MASK]`.
pub const MASKED: usize = 80;

/// The second throws up to which it is `[MASK]` or a random token.
pub const REPLACED: usize = 90;

/// What [`mask_tokens`] gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// `[T]`: the ids that the model reads.
    pub inputs: Vec<usize>,
    /// `[T]`: the tokens that it has to guess.
    pub chosen: Vec<bool>,
}

/// The recipe: `first` and `second` hold the throws for each token, from 1 to 100, and `others` a
/// random token.
pub fn mask_tokens(
    ids: &[usize],
    first: &[usize],
    second: &[usize],
    others: &[usize],
    mask: usize,
) -> Masked {
    // ids, first, second, others [T] -> inputs, chosen [T]
    let chosen: Vec<bool> = first.iter().map(|&throw| throw <= CHOSEN).collect();
    let read = |(n, &id): (usize, &usize)| match second[n] {
        _ if !chosen[n] => id,
        throw if throw <= MASKED => mask,
        throw if throw <= REPLACED => others[n],
        _ => id,
    };
    let inputs = ids.iter().enumerate().map(read).collect();
    Masked { inputs, chosen }
}

/// Throws of a die with the sides 1 to 100 for each of `count` tokens, and for each a random token
/// out of a vocabulary whose ids go from `ids.0` to `ids.1 - 1`: those of reading `reading`.
pub fn throws((seed, reading): (u64, usize), count: usize, ids: (usize, usize)) -> [Vec<usize>; 3] {
    let mut rng = Rng::named(seed, &format!("reading.{reading}"));
    let mut all = [const { Vec::new() }; 3];
    for _ in 0..count {
        let throws = [
            rng.below(100) + 1,
            rng.below(100) + 1,
            ids.0 + rng.below(ids.1.saturating_sub(ids.0)),
        ];
        for (list, throw) in all.iter_mut().zip(throws) {
            list.push(throw);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_throw_does_what_the_recipe_says() {
        let (first, second) = ([15, 15, 15, 15, 16, 1], [80, 81, 90, 91, 1, 1]);
        let found = mask_tokens(&[10, 11, 12, 13, 14, 15], &first, &second, &[20; 6], 4);
        assert_eq!(found.inputs, [4, 20, 20, 13, 14, 4]);
        assert_eq!(found.chosen, [true, true, true, true, false, true]);
    }

    /// Over many tokens, 15 in 100 are chosen, and of these 80, 10 and 10 in 100.
    #[test]
    fn shares_are_those_of_the_recipe() {
        let count = 200_000;
        let [first, second, others] = throws((1, 1), count, (5, 1000));
        let found = mask_tokens(&vec![0; count], &first, &second, &others, 4);
        let share = |n: usize, of: usize| n as f64 / of as f64;
        let chosen = found.chosen.iter().filter(|&&is| is).count();
        assert!((share(chosen, count) - 0.15).abs() < 0.003);
        let read = |wanted: &dyn Fn(usize) -> bool| {
            let all = found.inputs.iter().zip(&found.chosen);
            all.filter(|&(&id, &is)| is && wanted(id)).count()
        };
        assert!((share(read(&|id| id == 4), chosen) - 0.8).abs() < 0.01);
        assert!((share(read(&|id| id >= 5), chosen) - 0.1).abs() < 0.01);
        assert!((share(read(&|id| id == 0), chosen) - 0.1).abs() < 0.01);
    }

    #[test]
    fn the_same_seed_throws_the_same() {
        assert_eq!(throws((3, 2), 9, (5, 50)), throws((3, 2), 9, (5, 50)));
        assert_ne!(throws((3, 2), 9, (5, 50)), throws((3, 3), 9, (5, 50)));
        let [first, second, others] = throws((3, 2), 500, (5, 50));
        let mut throws = first.iter().chain(&second);
        assert!(throws.all(|n| (1..=100).contains(n)));
        assert!(others.iter().all(|id| (5..50).contains(id)));
    }
}
