//! Merging neighbours, best pair first: the loop that byte-level BPE and the Llama vocabulary share.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A pair that may be merged. Ordered by priority, then from left to right.
struct Candidate<S, P> {
    priority: P,
    left: usize,
    pair: (S, S),
    joined: S,
}

impl<S, P: Ord> Ord for Candidate<S, P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (&self.priority, self.left).cmp(&(&other.priority, other.left))
    }
}

impl<S, P: Ord> PartialOrd for Candidate<S, P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<S, P: Ord> PartialEq for Candidate<S, P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<S, P: Ord> Eq for Candidate<S, P> {}

/// A place in the doubly linked list of what is left; a symbol that went into its left neighbour is `None`.
struct Place<S> {
    symbol: Option<S>,
    previous: usize,
    next: usize,
}

/// Merges neighbours until no pair can be: each time the pair of lowest priority, of equal ones the leftmost.
///
/// `join` says what two neighbours become, and with which priority. n symbols cost O(n log n).
pub(super) fn merge<S: Copy + Eq, P: Ord>(
    symbols: &[S],
    join: impl Fn(S, S) -> Option<(P, S)>,
) -> Vec<S> {
    let mut places: Vec<Place<S>> = (symbols.iter().enumerate())
        .map(|(at, &symbol)| Place {
            symbol: Some(symbol),
            // Before the first: usize::MAX, past the end of the list like the place after the last.
            previous: at.wrapping_sub(1),
            next: at + 1,
        })
        .collect();
    let candidate = |places: &[Place<S>], left: usize| {
        let first = places.get(left)?;
        let pair = (first.symbol?, places.get(first.next)?.symbol?);
        let (priority, joined) = join(pair.0, pair.1)?;
        Some(Reverse(Candidate {
            priority,
            left,
            pair,
            joined,
        }))
    };
    let mut heap: BinaryHeap<_> = (0..places.len())
        .filter_map(|left| candidate(&places, left))
        .collect();
    while let Some(Reverse(best)) = heap.pop() {
        let next = places[best.left].next;
        let found = (
            places[best.left].symbol,
            places.get(next).and_then(|place| place.symbol),
        );
        if found != (Some(best.pair.0), Some(best.pair.1)) {
            continue; // One of the two has been merged since.
        }
        let after = places[next].next;
        places[next].symbol = None;
        places[best.left].symbol = Some(best.joined);
        places[best.left].next = after;
        if let Some(place) = places.get_mut(after) {
            place.previous = best.left;
        }
        let previous = places[best.left].previous;
        heap.extend(candidate(&places, previous));
        heap.extend(candidate(&places, best.left));
    }
    places.iter().filter_map(|place| place.symbol).collect()
}

#[cfg(test)]
mod tests {
    use super::merge;

    #[test]
    fn lowest_priority_first_then_leftmost() {
        // Symbols are digits; two equal ones become their sum, smaller ones first.
        let join = |a: u32, b: u32| (a == b).then_some((a, a + b));
        assert_eq!(merge(&[1, 1, 1], join), [2, 1]);
        assert_eq!(merge(&[1, 1, 1, 1, 2], join), [4, 2]);
        assert_eq!(merge(&[4, 4, 2, 1, 1], join), [8, 4]);
        assert_eq!(merge(&[], join), [0u32; 0]);
    }
}
