//! Which parts of a Transformer hold how many of its parameters, by the names that they have in its
//! file: those of `torch.nn.Transformer` or of timm's Vision Transformers.
//!
//! ```
//! use explain::parameter_parts::{PARTS, by_part};
//! let shapes = [
//!     ("patch_embed.proj.weight".to_owned(), vec![64, 1, 4, 4]),
//!     ("blocks.0.attn.qkv.bias".to_owned(), vec![192]),
//! ];
//! assert_eq!(PARTS[..2], ["embedding", "attention"]);
//! assert_eq!(by_part(&shapes), [1024, 192, 0, 0, 0]);
//! ```

/// The parts: tokens and positions, attention, MLPs, norms, and what reads the classes off.
pub const PARTS: [&str; 5] = ["embedding", "attention", "mlp", "norms", "head"];

/// What a name has in it that says its part, as a place in [`PARTS`]; the first that is found counts.
const WORDS: [(&str, usize); 6] = [
    ("norm", 3),
    ("attn", 1),
    ("linear1", 2),
    ("linear2", 2),
    ("mlp", 2),
    ("head", 4),
];

/// The number of parameters in each of [`PARTS`], given the name and the shape of every tensor. What no
/// name tells is an embedding.
pub fn by_part(shapes: &[(String, Vec<usize>)]) -> Vec<usize> {
    // names and shapes -> [5]
    let mut counts = vec![0; PARTS.len()];
    for (name, shape) in shapes {
        let found = WORDS.iter().find(|(word, _)| name.contains(word));
        counts[found.map_or(0, |(_, part)| *part)] += shape.iter().product::<usize>();
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter_count::parameters;
    use engine::model::transformer::Config;

    /// The parts of the Transformer of 2017 are those that its formulas give.
    #[test]
    fn the_parts_are_those_of_the_formulas() {
        let config = Config {
            vocabulary: 4_096,
            width: 112,
            heads: 4,
            inner: 512,
            encoder_layers: 2,
            decoder_layers: 2,
            norm_eps: 1e-5,
        };
        let whole = parameters(4_096, 112, 512, 2);
        let expected = [
            whole.table,
            // One in each block of the encoder, two in each of the decoder.
            6 * whole.attention,
            4 * whole.mlp,
            10 * whole.norm,
            0,
        ];
        let found: Vec<u64> = by_part(&config.shapes())
            .into_iter()
            .map(|count| count as u64)
            .collect();
        assert_eq!(found, expected);
        assert_eq!(found.iter().sum::<u64>(), whole.total);
    }
}
