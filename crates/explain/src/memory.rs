//! The memory of a decoder: parameters, the cache of keys and values, and what training keeps.
//!
//! ```text
//! parameters of a block    C(H + 2G + H)D + F C (2, or 3 with a gate), and norms and biases
//! cache of T tokens        2 L T G D                       K and V of each layer
//! kept by training         L (T (6 C + 2 G D + 2 F) + H T²)     with a gate 3 F for 2 F
//! ```
//! All are numbers, not bytes. Training keeps what the backward pass reads: for each layer and token
//! the input of both norms, what they gave, q, k and v, the output of the heads, the MLP before and after its
//! nonlinearity; and all weights of attention, H T². Dropout would keep its masks too.
//!
//! ```
//! use explain::memory::Decoder;
//! let gpt2 = Decoder::gpt(12, 768, 12, 50_257, 1_024);
//! assert_eq!(gpt2.parameters(), 124_439_808);
//! assert_eq!(gpt2.cache(1), 18_432);
//! ```
//!
//! Source: Korthikanti et al. 2022, "Reducing activation recomputation in large Transformer models",
//! equation 1 (the same with dropout, in bytes); Rajbhandari et al. 2020, "ZeRO", section 3.1 (16
//! bytes a parameter with Adam); Ainslie et al. 2023, "GQA" (G heads of keys and values).

/// The sizes of a decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoder {
    /// L.
    pub layers: usize,
    /// C.
    pub width: usize,
    /// H.
    pub heads: usize,
    /// G, heads of keys and values.
    pub kv_heads: usize,
    /// F.
    pub inner: usize,
    /// V.
    pub vocabulary: usize,
    /// Rows of the table of positions; 0 where there is none.
    pub positions: usize,
    /// Whether it is built as Llama: a gate in the MLP, no biases, RMS norm, and a head apart from
    /// the table of tokens. Else as GPT-2.
    pub is_llama: bool,
}

/// Bytes of a parameter in training with Adam: in 16 bits itself and its gradient, in 32 bits a copy
/// and the two averages.
pub const TRAINING_BYTES: u64 = 16;

impl Decoder {
    /// A decoder as GPT-2 is.
    pub fn gpt(
        layers: usize,
        width: usize,
        heads: usize,
        vocabulary: usize,
        positions: usize,
    ) -> Self {
        Self {
            layers,
            width,
            heads,
            kv_heads: heads,
            inner: 4 * width,
            vocabulary,
            positions,
            is_llama: false,
        }
    }

    /// D.
    pub fn head_width(&self) -> usize {
        self.width / self.heads.max(1)
    }

    /// Numbers that are learned.
    pub fn parameters(&self) -> u64 {
        let (c, f) = (self.width as u64, self.inner as u64);
        let narrow = (self.kv_heads * self.head_width()) as u64;
        let attention = 2 * c * c + 2 * c * narrow;
        let (block, ends) = if self.is_llama {
            (
                attention + 3 * c * f + 2 * c,
                c + self.vocabulary as u64 * c,
            )
        } else {
            let biases = 2 * c + 2 * narrow + f + c;
            (attention + 2 * c * f + biases + 4 * c, 2 * c)
        };
        let tables = (self.vocabulary + self.positions) as u64 * c;
        tables + self.layers as u64 * block + ends
    }

    /// Numbers of the cache of keys and values of `tokens` tokens.
    pub fn cache(&self, tokens: usize) -> u64 {
        let narrow = (self.kv_heads * self.head_width()) as u64;
        2 * self.layers as u64 * tokens as u64 * narrow
    }

    /// Numbers that training keeps for the backward pass of a text, besides the weights of
    /// attention.
    pub fn activations(&self, tokens: usize) -> u64 {
        let (c, f) = (self.width as u64, self.inner as u64);
        let narrow = (self.kv_heads * self.head_width()) as u64;
        let mlp = if self.is_llama { 3 * f } else { 2 * f };
        self.layers as u64 * tokens as u64 * (6 * c + 2 * narrow + mlp)
    }

    /// Weights of attention that training keeps where they are not computed again.
    pub fn attention_weights(&self, tokens: usize) -> u64 {
        let t = tokens as u64;
        (self.layers * self.heads) as u64 * t * t
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::model::{gpt2, llama};

    const LLAMA: Decoder = Decoder {
        layers: 32,
        width: 4_096,
        heads: 32,
        kv_heads: 8,
        inner: 14_336,
        vocabulary: 128_256,
        positions: 0,
        is_llama: true,
    };

    fn sum(shapes: Vec<(String, Vec<usize>)>) -> u64 {
        let sizes = shapes
            .iter()
            .map(|(_, shape)| shape.iter().product::<usize>());
        sizes.sum::<usize>() as u64
    }

    /// The count is that of the names and shapes of the engine's models.
    #[test]
    fn parameters_are_those_of_the_engine() {
        let config = gpt2::Config::gpt2_124m();
        let own = Decoder::gpt(12, 768, 12, 50_257, 1_024);
        assert_eq!(own.parameters(), sum(config.shapes()));
        let small = gpt2::Config {
            vocabulary: 2_048,
            width: 128,
            heads: 4,
            layers: 4,
            inner: 512,
            context: 256,
            ..config
        };
        let own = Decoder::gpt(4, 128, 4, 2_048, 256);
        assert_eq!(own.parameters(), sum(small.shapes()));
        assert_eq!(own.parameters(), 1_088_256, "the card of tiny-gpt");
        let keys = |key: &str| match key {
            "width" => Some(4_096.0),
            "heads" => Some(32.0),
            "key_value_heads" => Some(8.0),
            "layers" => Some(32.0),
            "inner" => Some(14_336.0),
            "vocabulary" => Some(128_256.0),
            "context" => Some(8_192.0),
            _ => None,
        };
        let pairing = engine::nn::position::rope::Pairing::Halves;
        let llama = llama::Config::from_keys(&keys, pairing).unwrap();
        // The head is a table of its own.
        let head = 128_256 * 4_096;
        assert_eq!(LLAMA.parameters(), sum(llama.shapes()) + head);
        assert_eq!(LLAMA.parameters(), 8_030_261_248);
    }

    /// Equation 1 of Korthikanti et al., T C (34 + 5 H T / C) bytes a layer, without the masks and
    /// outputs of dropout: one byte for each number of two outputs of width C, three for each weight.
    #[test]
    fn activations_are_those_of_the_paper_without_dropout() {
        for (layers, width, heads, tokens) in [(1, 64, 4, 10), (12, 768, 12, 1_024)] {
            let own = Decoder::gpt(layers, width, heads, 100, 100);
            let (l, c, h, t) = (layers as u64, width as u64, heads as u64, tokens as u64);
            let paper = l * (34 * t * c + 5 * h * t * t);
            let dropout = l * (2 * t * c + 3 * h * t * t);
            let kept = own.activations(tokens) + own.attention_weights(tokens);
            assert_eq!(2 * kept, paper - dropout);
        }
    }

    /// 128 KiB a token for Llama 3 8B, a quarter of what 32 heads of keys and values would take.
    #[test]
    fn caches_grow_with_heads_of_keys_and_values() {
        assert_eq!(2 * LLAMA.cache(1), 131_072);
        let all = Decoder {
            kv_heads: 32,
            ..LLAMA
        };
        assert_eq!(all.cache(7), 4 * LLAMA.cache(7));
    }
}
