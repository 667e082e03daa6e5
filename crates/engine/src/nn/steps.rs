//! Steps through packed sequences side by side: each step reads the sequences that are not at their
//! end, so they share one product.

use super::packed::ranges;

/// The rows that are read at one step of several sequences.
pub(crate) struct SequenceStep {
    /// Indices, among the sequences of the step before, of those that are not at their end; `None`
    /// where all are.
    pub(crate) kept: Option<Vec<usize>>,
    /// The sequences that still read.
    pub(crate) sequences: Vec<usize>,
    /// The row that each of them reads.
    pub(crate) rows: Vec<usize>,
}

/// The steps of reading packed sequences side by side.
pub(crate) struct Steps<'a> {
    lengths: &'a [usize],
    reverse: bool,
    reading: Vec<usize>,
    n: usize,
}

impl<'a> Steps<'a> {
    /// Steps from the first row of each sequence on, or from the last with `reverse`.
    pub(crate) fn new(lengths: &'a [usize], reverse: bool) -> Self {
        Self {
            lengths,
            reverse,
            reading: (0..lengths.len()).collect(),
            n: 0,
        }
    }
}

impl Iterator for Steps<'_> {
    type Item = SequenceStep;

    fn next(&mut self) -> Option<SequenceStep> {
        let n = self.n;
        let before = self.reading.len();
        let kept = |&i: &usize| n < self.lengths[self.reading[i]];
        let kept: Vec<usize> = (0..before).filter(kept).collect();
        self.reading.retain(|&b| n < self.lengths[b]);
        if self.reading.is_empty() {
            return None;
        }
        let starts: Vec<_> = ranges(self.lengths).collect();
        let row = |&b: &usize| match self.reverse {
            true => starts[b].end - 1 - n,
            false => starts[b].start + n,
        };
        self.n += 1;
        Some(SequenceStep {
            kept: (kept.len() < before).then_some(kept),
            sequences: self.reading.clone(),
            rows: self.reading.iter().map(row).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_drop_out_at_their_ends() {
        let read = |reverse| -> Vec<_> {
            let steps = Steps::new(&[2, 0, 3], reverse);
            steps.map(|s| (s.kept, s.sequences, s.rows)).collect()
        };
        let (all, last) = (vec![0, 2], vec![2]);
        let (first, second) = (Some(vec![0, 2]), Some(vec![1]));
        let forwards = [
            (first.clone(), all.clone(), vec![0, 2]),
            (None, all.clone(), vec![1, 3]),
            (second.clone(), last.clone(), vec![4]),
        ];
        assert_eq!(read(false), forwards);
        let backwards = [
            (first, all.clone(), vec![1, 4]),
            (None, all, vec![0, 3]),
            (second, last, vec![2]),
        ];
        assert_eq!(read(true), backwards);
        assert_eq!(Steps::new(&[0, 0], false).count(), 0);
    }
}
