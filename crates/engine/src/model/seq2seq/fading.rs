//! The trace of a token in the encoder's state after others were read.
//!
//! ```text
//! h_s                 the state of all layers after s of the S tokens, in the order of reading             [layers · C]
//! h_s(p, r)           the same where the token at position p is replaced by r
//! m(p, r, s) = ‖h_s(p, r) − h_s‖ / ‖h_s‖                how far the replacement moves the state, as a share of its length
//! ```
//! A token whose replacement does not move the last state h_S is forgotten: the decoder starts from
//! that state and cannot tell the two sentences apart. The converse does not hold: a state may move
//! in ways that the decoder makes no use of.

use super::Seq2Seq;
use crate::error::{EngineError, Result};
use ndarray::{Array1, Array2, Array3, Axis, s};

/// The distance by which replacing a token moves the state.
#[derive(Debug, Clone, PartialEq)]
pub struct Fading {
    /// m `[S, R, S]`: position of the replaced token, replacement, tokens read less one. Positions
    /// are counted in the order of reading. 0 before the token is read, and where the replacement
    /// is the token itself.
    pub moves: Array3<f32>,
    /// `[S, S]`: the mean over the replacements that are not the token itself; 0 where there are
    /// none.
    pub mean: Array2<f32>,
}

impl Seq2Seq {
    /// The distance by which each replacement moves the encoder's state, at each position of a
    /// source, at once and as more is read.
    ///
    /// # Errors
    /// When there is no source token or no replacement, or an id is outside the vocabulary.
    pub fn fading(&self, source: &[usize], replacements: &[usize]) -> Result<Fading> {
        // source [S], replacements [R] -> moves [S, R, S]
        for (argument, ids) in [("source tokens", source), ("replacements", replacements)] {
            if ids.is_empty() {
                return Err(EngineError::value("fading", argument, "at least 1", 0));
            }
        }
        let ids = self.reading_order(source);
        let count = ids.len();
        let states = self.states(&self.encoder.start(), &ids)?;
        let mut moves = Array3::zeros((count, replacements.len(), count));
        let mut mean = Array2::zeros((count, count));
        for position in 0..count {
            let mut others = 0;
            for (r, &other) in replacements.iter().enumerate() {
                if other == ids[position] {
                    continue;
                }
                others += 1;
                let mut changed = ids[position..].to_vec();
                changed[0] = other;
                let before = match position {
                    0 => self.encoder.start(),
                    _ => states[position - 1].clone(),
                };
                let after = self.states(&before, &changed)?;
                for (n, (now, was)) in after.iter().zip(&states[position..]).enumerate() {
                    moves[[position, r, position + n]] = share(now, was);
                }
            }
            if others > 0 {
                let sum = moves.slice(s![position, .., ..]).sum_axis(Axis(0));
                mean.row_mut(position).assign(&(sum / others as f32));
            }
        }
        Ok(Fading { moves, mean })
    }

    /// The states of all layers after each of the ids, read in this order from `start`.
    fn states(&self, start: &[Array1<f32>], ids: &[usize]) -> Result<Vec<Vec<Array1<f32>>>> {
        let x = self.source_tokens.rows(ids)?;
        let mut state = start.to_vec();
        (0..ids.len())
            .map(|n| {
                (self.encoder).forward(x.slice(s![n..=n, ..]), &mut state, &mut None)?;
                Ok(state.clone())
            })
            .collect()
    }
}

/// ‖now − was‖ / ‖was‖ over all layers; the squares are added in f64.
fn share(now: &[Array1<f32>], was: &[Array1<f32>]) -> f32 {
    let (mut apart, mut length) = (0.0, 0.0);
    for (now, was) in now.iter().zip(was) {
        for (&now, &was) in now.iter().zip(was) {
            let (difference, was) = (f64::from(now) - f64::from(was), f64::from(was));
            apart += difference * difference;
            length += was * was;
        }
    }
    if length > 0.0 {
        (apart / length).sqrt() as f32
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Formula;
    use crate::model::seq2seq::Config;

    fn model(reverse_source: bool) -> Seq2Seq {
        let config = Config {
            source_vocabulary: 9,
            target_vocabulary: 9,
            embedding: 4,
            width: 6,
            layers: 2,
            readout: None,
            feeds_context: false,
            reverse_source,
        };
        Seq2Seq::load(config, &mut Formula::new(3, config.shapes())).unwrap()
    }

    /// The last column equals a comparison of the vectors of the two encoded sentences, in either
    /// order of reading.
    #[test]
    fn the_last_column_compares_two_vectors() {
        let source = [3, 1, 4, 1, 5];
        for reverse in [false, true] {
            let model = model(reverse);
            let found = model.fading(&source, &[2, 7]).unwrap();
            let whole = model.encode(&source, None).unwrap().layers;
            for place in 0..source.len() {
                let mut other = source;
                other[place] = 7;
                let expected = share(&model.encode(&other, None).unwrap().layers, &whole);
                let read = if reverse { 4 - place } else { place };
                let error = found.moves[[read, 1, 4]] - expected;
                assert!(expected > 0.0 && error.abs() < 1e-6, "{reverse} {place}");
            }
        }
    }

    #[test]
    fn nothing_moves_before_it_is_read_or_when_it_stays() {
        let found = model(false).fading(&[3, 1, 4], &[1, 6]).unwrap();
        assert_eq!(found.moves[[1, 0, 2]], 0.0, "1 for 1");
        assert_eq!(found.moves[[2, 1, 1]], 0.0, "not read yet");
        assert!(found.moves[[1, 1, 1]] > 0.0);
        assert_eq!(found.mean[[1, 2]], found.moves[[1, 1, 2]]);
        let both = found.moves[[0, 0, 2]] + found.moves[[0, 1, 2]];
        assert!((found.mean[[0, 2]] - both / 2.0).abs() < 1e-7);
        let alone = model(false).fading(&[1], &[1]).unwrap();
        assert_eq!(alone.mean[[0, 0]], 0.0);
    }

    #[test]
    fn something_must_be_read_and_replaced() {
        let model = model(true);
        for (source, others) in [(&[][..], &[1][..]), (&[1], &[])] {
            assert!(model.fading(source, others).is_err());
        }
        assert!(model.fading(&[1], &[9]).is_err(), "no such token");
    }
}
