//! The parameters of a Transformer of 2017, counted from its sizes.
//!
//! ```text
//! attention  4 (C² + C)      MLP  2 C F + F + C      norm  2 C      table  V C, for source, target and output
//! encoder block  attention + MLP + 2 norms           decoder block  2 attentions + MLP + 3 norms
//! ```
//!
//! ```
//! use explain::parameter_count::parameters;
//! let base = parameters(37_000, 512, 2_048, 6);
//! assert_eq!((base.encoder_block, base.decoder_block), (3_152_384, 4_204_032));
//! assert_eq!(base.total, 63_082_496);
//! ```
//!
//! Source: Vaswani et al. 2017, sections 3.1 to 3.4 and table 3.

/// How many parameters the parts of a Transformer have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// Four matrices C to C with their biases, of all heads together.
    pub attention: u64,
    /// Two matrices with their biases.
    pub mlp: u64,
    /// A scale and a shift.
    pub norm: u64,
    /// A block of the encoder.
    pub encoder_block: u64,
    /// A block of the decoder.
    pub decoder_block: u64,
    /// The one table of source, target and output.
    pub table: u64,
    /// The whole model.
    pub total: u64,
}

/// The parameters of a model with a vocabulary of `v` tokens, width `c`, inner width `f`, and `n`
/// blocks on each side.
pub fn parameters(v: u64, c: u64, f: u64, n: u64) -> Parameters {
    let attention = 4 * (c * c + c);
    let mlp = 2 * c * f + f + c;
    let norm = 2 * c;
    let encoder_block = attention + mlp + 2 * norm;
    let decoder_block = 2 * attention + mlp + 3 * norm;
    let table = v * c;
    Parameters {
        attention,
        mlp,
        norm,
        encoder_block,
        decoder_block,
        table,
        total: table + n * (encoder_block + decoder_block),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::model::transformer::Config;

    /// The same as the shapes of the engine's model.
    #[test]
    fn the_count_is_that_of_the_shapes() {
        for (vocabulary, width, inner, layers) in [(37_000, 512, 2_048, 6), (4_096, 112, 512, 2)] {
            let config = Config {
                vocabulary,
                width,
                heads: 4,
                inner,
                encoder_layers: layers,
                decoder_layers: layers,
                norm_eps: 1e-5,
            };
            let shapes = config.shapes();
            let sizes = shapes
                .iter()
                .map(|(_, shape)| shape.iter().product::<usize>());
            let sizes: usize = sizes.sum();
            let [v, c, f, n] = [vocabulary, width, inner, layers].map(|size| size as u64);
            assert_eq!(parameters(v, c, f, n).total, sizes as u64);
        }
    }
}
