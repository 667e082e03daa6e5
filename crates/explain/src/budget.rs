//! The parameters of a GPT-2, matrix by matrix.
//!
//! ```text
//! W_Q, W_K, W_V, W_O   [C, C] each          4 C²           attention
//! W_1 [C, F], W_2 [F, C]                    2 C F = 8 C²   MLP, F = 4 C
//! a block: 12 C², two thirds of them in the MLP; with biases and norms 12 C² + 13 C
//! tokens [V, C], positions [T, C], the last norm 2 C
//! ```
//!
//! ```
//! use explain::budget::{budget, matrices};
//! assert_eq!(matrices(512, 2048).iter().sum::<u64>(), 12 * 512 * 512);
//! let found = budget(&engine::model::gpt2::Config::gpt2_124m());
//! assert_eq!(found.total, 124_439_808);
//! ```
//!
//! Source: Vaswani et al. 2017, sections 3.2.2 and 3.3; Radford et al. 2019, table 2; Kaplan et al. 2020,
//! "Scaling laws for neural language models", table 1 (12 C² a layer).

use engine::model::gpt2::Config;

/// The sizes of the six matrices of a block: W_Q, W_K, W_V, W_O, W_1, W_2.
pub fn matrices(c: usize, f: usize) -> [u64; 6] {
    let square = c as u64 * c as u64;
    let wide = c as u64 * f as u64;
    [square, square, square, square, wide, wide]
}

/// What [`budget`] counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// The six matrices of one block.
    pub matrices: [u64; 6],
    /// Biases and norms of one block.
    pub rest: u64,
    /// All attention: matrices and biases of all blocks.
    pub attention: u64,
    /// All MLPs: matrices and biases of all blocks.
    pub mlp: u64,
    /// The norms, the last one included.
    pub norms: u64,
    /// The table of tokens, which is also the output matrix.
    pub tokens: u64,
    /// The table of positions.
    pub positions: u64,
    /// All parameters.
    pub total: u64,
}

/// Counts the parameters of a GPT-2 of these sizes.
pub fn budget(config: &Config) -> Budget {
    let (c, f, layers) = (config.width, config.inner, config.layers as u64);
    let matrices = matrices(c, f);
    let (width, inner) = (c as u64, f as u64);
    let attention = matrices[..4].iter().sum::<u64>() + 4 * width;
    let mlp = matrices[4..].iter().sum::<u64>() + inner + width;
    let found = Budget {
        matrices,
        rest: 4 * width + inner + width + 4 * width,
        attention: layers * attention,
        mlp: layers * mlp,
        norms: layers * 4 * width + 2 * width,
        tokens: config.vocabulary as u64 * width,
        positions: config.context as u64 * width,
        total: 0,
    };
    let total = found.attention + found.mlp + found.norms + found.tokens + found.positions;
    Budget { total, ..found }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts are those of the shapes that the engine loads.
    #[test]
    fn the_counts_are_those_of_the_shapes() {
        let small = Config {
            vocabulary: 2048,
            width: 128,
            heads: 4,
            layers: 4,
            inner: 512,
            context: 256,
            norm_eps: 1e-5,
        };
        for config in [Config::gpt2_124m(), small] {
            let size = |shape: &Vec<usize>| shape.iter().product::<usize>() as u64;
            let of = |part: &str| {
                let all = config.shapes();
                let own = all.iter().filter(|(name, _)| name.contains(part));
                own.map(|(_, shape)| size(shape)).sum::<u64>()
            };
            let found = budget(&config);
            assert_eq!(found.total, of(""));
            assert_eq!((found.attention, found.mlp), (of(".attn."), of(".mlp.")));
            assert_eq!((found.tokens, found.positions), (of("wte"), of("wpe")));
            assert_eq!(found.norms, of("ln_"));
            let block = found.matrices.iter().sum::<u64>() + found.rest;
            assert_eq!(config.layers as u64 * block, of(".h."));
        }
    }

    /// Two thirds of the six matrices are in the MLP, whatever the width.
    #[test]
    fn two_thirds_are_in_the_mlp() {
        for c in [16, 128, 512, 768, 12_288] {
            let all = matrices(c, 4 * c);
            let c = c as u64;
            assert_eq!(all.iter().sum::<u64>(), 12 * c * c);
            assert_eq!(all[4] + all[5], 8 * c * c);
        }
    }
}
