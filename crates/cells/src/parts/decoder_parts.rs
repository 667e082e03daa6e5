//! The parts of a decoder by their names.

use crate::parts::block_parts::{Of, Spot, Stages};

/// All parts, in the order in which they are computed.
pub(crate) const PARTS: [&str; 20] = [
    "token",
    "position",
    "input",
    "norm-1",
    "q",
    "k",
    "v",
    "scores",
    "weights",
    "heads",
    "attention-out",
    "residual-1",
    "norm-2",
    "mlp-in",
    "activation",
    "mlp-out",
    "residual-2",
    "norm",
    "logits",
    "probabilities",
];

/// The parts of a decoder.
pub static DECODER: Stages = Stages {
    parts: &PARTS,
    before: 3,
    outside,
};

fn outside(spot: Spot, of: Of) -> Option<Spot> {
    Some(match (spot.part, of) {
        ("input", Of::Term(0, 0)) => spot.of("token"),
        ("input", Of::Term(1, 0)) => spot.of("position"),
        ("logits", Of::Term(k, 0)) => spot.at("norm", spot.row, k),
        ("probabilities", Of::Step(0)) => spot.of("logits"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::block_parts::{ATTENTION, MLP, tensor_of};
    use explain::one_number::Part;

    /// The way leads through every part of every block, forward and back.
    #[test]
    fn the_way_leads_through_the_whole_model() {
        let groups = [DECODER.before(), &ATTENTION, &MLP, DECODER.after()];
        assert_eq!(groups.concat(), PARTS);
        let walked = |at, steps| DECODER.walked(4, at, steps);
        let mut at = (3, "token");
        let mut passed = 1;
        while let Some(next) = walked(at, 1) {
            let back = walked(next, -1).unwrap();
            assert_eq!(back.1, at.1);
            if tensor_of(at.1).is_some_and(Part::is_of_block) {
                assert_eq!(back.0, at.0);
            }
            at = next;
            passed += 1;
        }
        assert_eq!(at.1, "probabilities");
        assert_eq!(passed, 3 + 4 * 14 + 3);
        assert_eq!(walked((1, "residual-2"), 1), Some((2, "norm-1")));
        assert_eq!(walked((1, "input"), 1), Some((1, "norm-1")));
        assert_eq!(walked((2, "norm"), -1), Some((4, "residual-2")));
        assert_eq!(walked((1, "token"), -1), None);
    }
}
