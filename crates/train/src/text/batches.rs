//! Batches of about as long examples.

use engine::rng::Rng;

/// Batches whose examples are sorted together.
const POOL: usize = 50;

/// Batches of `size` of the examples of the given lengths, each example once but for the last ones,
/// which fill no batch. The order is random; pools of 50 batches are sorted by length, so that a
/// batch holds examples of about one length.
pub fn batches(lengths: &[usize], size: usize, rng: &mut Rng) -> Vec<Vec<usize>> {
    let size = size.max(1);
    let order = rng.permutation(lengths.len());
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for pool in order.chunks(POOL * size) {
        let mut pool = pool.to_vec();
        pool.sort_by_key(|&place| lengths[place]);
        let whole: Vec<&[usize]> = pool.chunks_exact(size).collect();
        let order = rng.permutation(whole.len()).into_iter();
        batches.extend(order.map(|place| whole[place].to_vec()));
    }
    if batches.is_empty() && !order.is_empty() {
        batches.push(order);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_sees_each_example_once_in_batches_of_like_lengths() {
        let lengths: Vec<usize> = (0..1000).map(|n| 1 + n * 7 % 13).collect();
        let dealt = batches(&lengths, 8, &mut Rng::new(3));
        assert_eq!(dealt.len(), 125);
        let mut seen = vec![0; 1000];
        for batch in &dealt {
            assert_eq!(batch.len(), 8);
            let of = batch.iter().map(|&place| lengths[place]);
            let (low, high) = (of.clone().min().unwrap(), of.max().unwrap());
            assert!(high - low <= 2, "{low} {high}");
            batch.iter().for_each(|&place| seen[place] += 1);
        }
        assert!(seen.iter().all(|&times| times == 1));
        assert_eq!(batches(&lengths, 8, &mut Rng::new(3)), dealt);
        assert_ne!(batches(&lengths, 8, &mut Rng::new(4)), dealt);
    }

    #[test]
    fn fewer_examples_than_a_batch_are_one_batch() {
        assert_eq!(batches(&[1, 2, 3], 8, &mut Rng::new(1))[0].len(), 3);
        assert!(batches(&[], 8, &mut Rng::new(1)).is_empty());
    }
}
