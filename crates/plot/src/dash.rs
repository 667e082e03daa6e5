//! Dashed curves: they tell curves of one colour apart.

/// Lengths of strokes and gaps; the first curve is solid.
pub(crate) const DASHES: [&[f64]; 4] = [&[], &[7.0, 4.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0]];

/// The strokes of a polyline; all of it where it is solid.
pub(crate) fn dashed(points: &[(f64, f64)], dashes: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let Some(&first) = dashes.first() else {
        return vec![points.to_vec()];
    };
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let (mut which, mut left) = (0, first);
    let mut piece = Vec::new();
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let length = (b.0 - a.0).hypot(b.1 - a.1);
        let at = |t: f64| (a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t);
        let mut done = 0.0;
        while length - done > left {
            if which % 2 == 0 {
                piece.push(at(done / length));
                piece.push(at((done + left) / length));
                pieces.push(std::mem::take(&mut piece));
            }
            done += left;
            which = (which + 1) % dashes.len();
            left = dashes[which];
        }
        left -= length - done;
        if which % 2 == 0 {
            piece.push(at(if length > 0.0 { done / length } else { 0.0 }));
            piece.push(b);
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::dashed;

    #[test]
    fn dashes_go_round_corners_and_leave_gaps() {
        let corner = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)];
        let pieces = dashed(&corner, &[6.0, 2.0]);
        assert_eq!(pieces[0], [(0.0, 0.0), (6.0, 0.0)]);
        assert_eq!(pieces[1].first(), Some(&(8.0, 0.0)));
        assert_eq!(pieces[1].last(), Some(&(10.0, 4.0)));
        assert_eq!(dashed(&corner, &[]), [corner]);
        assert!(dashed(&[(3.0, 3.0)], &[6.0, 2.0]).is_empty());
        assert!(dashed(&[(3.0, 3.0), (3.0, 3.0)], &[6.0, 2.0]).len() <= 1);
    }
}
