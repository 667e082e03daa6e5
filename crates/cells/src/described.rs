//! What "Show the Rust" prints of results that are neither arrays nor numbers.

use engine::model::tiny_decoder::{TinyConfig, TinyDecoder};
use engine::nn::softmax_steps::SoftmaxSteps;
use engine::stats::Histogram;

use crate::shown::{Describe, Described};

impl Describe for SoftmaxSteps {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.exponents.describe("exponents", out);
        self.exponentials.describe("exponentials", out);
        self.total.describe("total", out);
        self.weights.describe("weights", out);
    }
}

impl Describe for Histogram {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.centres.describe("centres", out);
        self.counts.describe("counts", out);
        self.outside.describe("outside", out);
    }
}

impl Describe for TinyConfig {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.vocabulary.describe("vocabulary", out);
        self.width.describe("width", out);
        self.heads.describe("heads", out);
        self.blocks.describe("blocks", out);
        self.max_tokens.describe("max_tokens", out);
        format!("{:?}", self.positions).describe("positions", out);
    }
}

/// A model is shown by its sizes: its weights are thousands of numbers.
impl Describe for TinyDecoder {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.config().describe(name, out);
    }
}
