//! The parameters of a GPT, counted from its sizes, and the memory of its key-value cache.
//!
//! ```text
//! token table V · C      position table context · C      attention L (4 C² + 4 C)      MLP L (8 C² + 5 C)      norms 2 C (2 L + 1)
//! cache of one token: keys and values of each layer, 2 · L · C numbers
//! ```
//!
//! ```
//! use engine::model::gpt2::Config;
//! use explain::gpt_sizes::count;
//! assert_eq!(count(&Config::gpt2_124m()).total(), 124_439_808);
//! ```
//!
//! Source: Radford et al. 2019 (GPT-2), table 2; Brown et al. 2020 (GPT-3), table 2.1.

use engine::model::gpt2::Config;

/// Parameters of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// The token table, which is also the matrix of the logits.
    pub tokens: u64,
    /// The position table.
    pub positions: u64,
    /// The matrices and biases of all attentions.
    pub attention: u64,
    /// Those of all MLPs.
    pub mlp: u64,
    /// Scales and shifts of all norms.
    pub norms: u64,
}

impl Count {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.tokens + self.positions + self.attention + self.mlp + self.norms
    }
}

/// The sizes of a GPT whose MLPs are four times as wide as its stream. The number of heads changes no
/// count.
pub fn config(layers: usize, width: usize, vocabulary: usize, context: usize) -> Config {
    Config {
        vocabulary,
        width,
        heads: 1,
        layers,
        inner: 4 * width,
        context,
        norm_eps: 1e-5,
    }
}

/// Counts the parameters that [`Config::shapes`] lists, by their names.
pub fn count(config: &Config) -> Count {
    let mut all = Count::default();
    for (name, shape) in config.shapes() {
        let numbers = shape.iter().map(|&n| n as u64).product::<u64>();
        let kind = if name.contains(".wte.") {
            &mut all.tokens
        } else if name.contains(".wpe.") {
            &mut all.positions
        } else if name.contains(".attn.") {
            &mut all.attention
        } else if name.contains(".mlp.") {
            &mut all.mlp
        } else {
            &mut all.norms
        };
        *kind += numbers;
    }
    all
}

/// Numbers that the key-value cache keeps for each token.
pub fn cached_numbers(config: &Config) -> u64 {
    2 * (config.layers * config.width) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The models of the papers, from their published sizes.
    #[test]
    fn the_published_sizes_have_the_published_counts() {
        for (sizes, expected) in [
            ((12, 768, 50_257, 1_024), 124_439_808),
            ((24, 1_024, 50_257, 1_024), 354_823_168),
            ((36, 1_280, 50_257, 1_024), 774_030_080),
            ((48, 1_600, 50_257, 1_024), 1_557_611_200),
            ((96, 12_288, 50_257, 2_048), 174_604_259_328),
            ((4, 128, 2_048, 256), 1_088_256),
        ] {
            let (layers, width, vocabulary, context) = sizes;
            let config = config(layers, width, vocabulary, context);
            let found = count(&config);
            assert_eq!(found.total(), expected);
            let (l, c) = (layers as u64, width as u64);
            assert_eq!(found.attention, l * (4 * c * c + 4 * c));
            assert_eq!(found.mlp, l * (8 * c * c + 5 * c));
            assert_eq!(found.norms, 2 * c * (2 * l + 1));
        }
    }
}
