//! The path of a signal from one position of a sequence to another: its steps, and the positions on
//! the way.
//!
//! ```text
//! recurrence                  from each position to the next one                                  d steps
//! convolution, kernel k       each layer reaches k − 1 positions further                          ⌈d/(k − 1)⌉ layers
//! dilated convolution         layer l reaches 0, k^l, 2 k^l … (k − 1) k^l positions further       as many as d has digits to base k
//! self-attention              from anywhere to anywhere                                           1 layer
//! ```
//! with d the distance between the two. Between the ends of n positions, d = n − 1, that is n − 1,
//! about n/k, ⌈log_k n⌉ and 1. Kernels look to one side, as in a decoder; one that looks to both
//! sides reaches half as far, so a contiguous one needs twice the layers.
//!
//! ```
//! use explain::path::{attention, contiguous, dilated, recurrent};
//! assert_eq!(recurrent(2, 7), [2, 3, 4, 5, 6, 7]);
//! assert_eq!(contiguous(2, 7, 3)?, [2, 4, 6, 7]);
//! assert_eq!(dilated(2, 7, 3)?, [2, 4, 7]); // 5 = 2 + 1 · 3
//! assert_eq!(attention(2, 7), [2, 7]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, "Attention is all you need", section 4 and table 1 (maximum path
//! length); van den Oord et al. 2016, "WaveNet", section 2.1, and Kalchbrenner et al. 2017, "Neural
//! machine translation in linear time" (dilations that grow with depth).

use engine::error::{EngineError, Result};

/// The positions that a signal passes in a recurrent network, both ends included; the network reads
/// in that direction.
pub fn recurrent(from: usize, to: usize) -> Vec<usize> {
    steps(from, to, 1)
}

/// The positions on the way in steps of `reach`.
fn steps(from: usize, to: usize, reach: usize) -> Vec<usize> {
    let next = |&at: &usize| (at != to).then(|| towards(at, to, reach));
    std::iter::successors(Some(from), next).collect()
}

/// The positions after each layer of convolutions whose kernels hold `kernel` neighbours. The
/// signal goes as far as each layer reaches.
///
/// # Errors
/// When the kernel holds fewer than two positions and so reaches nothing.
pub fn contiguous(from: usize, to: usize, kernel: usize) -> Result<Vec<usize>> {
    check(kernel)?;
    Ok(steps(from, to, kernel - 1))
}

/// The positions after each layer of dilated convolutions: the digits of the distance to base
/// `kernel`, the lowest first, are how far each layer carries the signal in units of its dilation.
/// A digit of 0 stays where it is.
///
/// # Errors
/// When the kernel holds fewer than two positions and so reaches nothing.
pub fn dilated(from: usize, to: usize, kernel: usize) -> Result<Vec<usize>> {
    check(kernel)?;
    let mut path = vec![from];
    let (mut at, mut rest, mut dilation) = (from, from.abs_diff(to), 1);
    while rest > 0 {
        at = towards(at, to, rest % kernel * dilation);
        path.push(at);
        rest /= kernel;
        dilation *= kernel;
    }
    Ok(path)
}

/// The positions before and after one layer of attention.
pub fn attention(from: usize, to: usize) -> Vec<usize> {
    steps(from, to, from.abs_diff(to))
}

/// The position after a step of at most `reach` towards `to`.
fn towards(at: usize, to: usize, reach: usize) -> usize {
    if at < to {
        to.min(at + reach)
    } else {
        to.max(at.saturating_sub(reach))
    }
}

fn check(kernel: usize) -> Result<()> {
    if kernel < 2 {
        return Err(EngineError::value("path", "kernel", "at least 2", kernel));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least number of layers after which `to` is reached, by trying every way.
    fn tried(from: usize, to: usize, n: usize, reach: impl Fn(usize) -> Vec<usize>) -> usize {
        let mut here = vec![false; n];
        here[from] = true;
        for layer in 0.. {
            if here[to] {
                return layer;
            }
            let mut next = vec![false; n];
            for at in (0..n).filter(|&at| here[at]) {
                for end in reach(layer).into_iter().map(|step| at + step) {
                    if end < n {
                        next[end] = true;
                    }
                }
            }
            here = next;
        }
        unreachable!()
    }

    #[test]
    fn no_way_is_shorter() {
        let n = 30;
        for kernel in 2..=6 {
            for to in 0..n {
                let steps = |path: Vec<usize>| path.len() - 1;
                assert_eq!(steps(recurrent(0, to)), tried(0, to, n, |_| vec![1]));
                let wide = tried(0, to, n, |_| (0..kernel).collect());
                let growing = |layer: usize| {
                    let dilation = kernel.pow(layer as u32);
                    (0..kernel).map(|step| step * dilation).collect()
                };
                let digits = steps(dilated(0, to, kernel).unwrap());
                assert_eq!(digits, tried(0, to, n, growing));
                assert_eq!(steps(contiguous(0, to, kernel).unwrap()), wide);
                assert_eq!(wide, to.div_ceil(kernel - 1));
                assert_eq!(steps(attention(0, to)), usize::from(to > 0));
            }
        }
    }

    /// ⌈log_k n⌉ layers join the ends of n positions, and each layer moves by a multiple of its
    /// dilation that its kernel has.
    #[test]
    fn dilated_layers_are_as_many_as_digits() {
        for kernel in 2..=6_usize {
            for n in 2..200 {
                let path = dilated(0, n - 1, kernel).unwrap();
                let logarithm = (1..).find(|&l| kernel.pow(l) >= n).unwrap();
                assert_eq!(path.len() - 1, logarithm as usize, "{kernel} {n}");
                for (layer, pair) in path.windows(2).enumerate() {
                    let dilation = kernel.pow(layer as u32);
                    let moved = pair[1] - pair[0];
                    assert!(moved % dilation == 0 && moved / dilation < kernel);
                }
                assert_eq!(path.last(), Some(&(n - 1)));
            }
        }
    }

    #[test]
    fn ways_back_are_ways() {
        assert_eq!(recurrent(3, 1), [3, 2, 1]);
        assert_eq!(contiguous(7, 2, 3).unwrap(), [7, 5, 3, 2]);
        assert_eq!(dilated(7, 2, 3).unwrap(), [7, 5, 2]);
        assert_eq!(dilated(4, 4, 3).unwrap(), [4]);
        assert!(contiguous(0, 3, 1).is_err() && dilated(0, 3, 0).is_err());
    }
}
