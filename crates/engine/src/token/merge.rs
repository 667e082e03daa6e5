//! The loop that byte-level BPE and the Llama vocabulary share: it merges neighbours, the best pair
//! first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A pair that may be merged, ordered by priority, then from left to right.
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

/// A node in the doubly linked list of the symbols that are left; the symbol of a node that was
/// merged into its left neighbour is `None`.
struct Node<S> {
    symbol: Option<S>,
    previous: usize,
    next: usize,
}

/// Merges neighbours until no pair can be merged: each time the pair of lowest priority, of equal
/// ones the leftmost.
///
/// `join` gives the symbol that two neighbours become, and the priority. n symbols cost O(n log n).
pub(super) fn merge<S: Copy + Eq, P: Ord>(
    symbols: &[S],
    join: impl Fn(S, S) -> Option<(P, S)>,
) -> Vec<S> {
    let mut nodes: Vec<Node<S>> = (symbols.iter().enumerate())
        .map(|(at, &symbol)| Node {
            symbol: Some(symbol),
            // Before the first: usize::MAX, past the end of the list like the position after the
            // last.
            previous: at.wrapping_sub(1),
            next: at + 1,
        })
        .collect();
    let candidate = |nodes: &[Node<S>], left: usize| {
        let first = nodes.get(left)?;
        let pair = (first.symbol?, nodes.get(first.next)?.symbol?);
        let (priority, joined) = join(pair.0, pair.1)?;
        Some(Reverse(Candidate {
            priority,
            left,
            pair,
            joined,
        }))
    };
    let mut heap: BinaryHeap<_> = (0..nodes.len())
        .filter_map(|left| candidate(&nodes, left))
        .collect();
    while let Some(Reverse(best)) = heap.pop() {
        let next = nodes[best.left].next;
        let found = (
            nodes[best.left].symbol,
            nodes.get(next).and_then(|node| node.symbol),
        );
        if found != (Some(best.pair.0), Some(best.pair.1)) {
            continue; // One of the two has been merged since.
        }
        let after = nodes[next].next;
        nodes[next].symbol = None;
        nodes[best.left].symbol = Some(best.joined);
        nodes[best.left].next = after;
        if let Some(node) = nodes.get_mut(after) {
            node.previous = best.left;
        }
        let previous = nodes[best.left].previous;
        heap.extend(candidate(&nodes, previous));
        heap.extend(candidate(&nodes, best.left));
    }
    nodes.iter().filter_map(|node| node.symbol).collect()
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
