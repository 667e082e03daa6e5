//! The parts of digit-vit by their names.

use explain::one_number::pixel_of;

use crate::parts::block_parts::{Of, Spot, Stages};

/// The side of a patch of digit-vit, and of its picture.
pub(crate) const PATCH: usize = 4;
pub(crate) const SIDE: usize = 28;

/// All parts, in the order in which they are computed.
pub(crate) const PARTS: [&str; 24] = [
    "pixels",
    "patches",
    "embedding",
    "with-class",
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
    "class",
    "logits",
    "probabilities",
];

/// The parts of a Vision Transformer that reads drawings.
pub static VIT: Stages = Stages {
    parts: &PARTS,
    before: 6,
    outside,
};

fn outside(spot: Spot, of: Of) -> Option<Spot> {
    Some(match (spot.part, of) {
        ("patches", Of::Step(0)) => {
            let (row, column) = pixel_of(PATCH, (SIDE, SIDE), (spot.row, spot.column));
            spot.at("pixels", row, column)
        }
        ("embedding", Of::Term(k, 0)) => spot.at("patches", spot.row, k),
        ("with-class", Of::Step(0)) => spot.at("embedding", spot.row.checked_sub(1)?, spot.column),
        ("input", Of::Term(0, 0)) => spot.of("with-class"),
        ("input", Of::Term(1, 0)) => spot.of("position"),
        ("class", Of::Step(0)) => spot.of("norm"),
        ("logits", Of::Term(k, 0)) => spot.at("class", spot.row, k),
        ("probabilities", Of::Term(k, 0)) => spot.at("logits", spot.row, k),
        _ => return None,
    })
}
