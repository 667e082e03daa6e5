//! Descriptions for "Show the Rust" of what the functions in `explain` take and give, where it is
//! neither an array nor a number.

use explain::attention_distance::Patches;
use explain::budget::Budget;
use explain::byte_pairs::{Learned, Merge};
use explain::centre_and_sharpen::Targets;
use explain::class_lens::Streams;
use explain::cost::LayerCost;
use explain::deep_stack::{DeepStack, StackRun};
use explain::descent::{Nodes, OneParameter, Path};
use explain::dino::DinoRun;
use explain::distillation::Distilled;
use explain::drawn_digits::Digit;
use explain::expert_words::ExpertRun;
use explain::fact_memory::FactRun;
use explain::few_digits::{Digits, FewRun};
use explain::forced::BothPrefixes;
use explain::gpt_sizes::Count;
use explain::grid_positions::WithPositions;
use explain::induction::Induction;
use explain::kv_race::Race;
use explain::linear_probe::Probe;
use explain::logistic::LogisticHead;
use explain::masked_patches::MaskedRun;
use explain::masking::Masked;
use explain::memory::Decoder;
use explain::multi_head::{Heads, WithoutTranspose};
use explain::norm_stack::NormStack;
use explain::norm_steps::NormSteps;
use explain::one_number::{OneNumber, Pass, Site};
use explain::online_softmax::Online;
use explain::parameter_count::Parameters;
use explain::power_law::PowerLaw;
use explain::principal_components::Components;
use explain::shift::Rolling;
use explain::small_swin::Windows;
use explain::smoothed::Smoothed;
use explain::softmax_steps::SoftmaxSteps;
use explain::stats::Histogram;
use explain::sub_layers::Stream;
use explain::survivors::Survivors;
use explain::token_sizes::TokenSizes;
use explain::two_layers::TwoLayers;
use explain::two_maps::Search;
use explain::two_questions::{Run, TwoQuestions};
use explain::vit_sizes::Cost;
use explain::window_cost::{Sizes, Stage};
use explain::wrong_mask::Mistake;

use crate::frame::shown::{Describe, Described};

/// A model of one parameter is described by what its functions return.
impl Describe for OneParameter {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        "one parameter, an input and the right answer".describe(name, out);
    }
}

impl Describe for Nodes {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.values.describe("values", out);
        self.gradients.describe("gradients", out);
        self.local.describe("local", out);
        self.passed.describe("passed", out);
    }
}

impl Describe for Path {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.w.describe("w", out);
        self.losses.describe("losses", out);
        self.gradients.describe("gradients", out);
    }
}

impl Describe for TwoLayers {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        "a network of two layers".describe(name, out);
    }
}

/// A run is described by its model and how far it is.
impl Describe for Run {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.model.describe(name, out);
        self.steps().describe("steps", out);
    }
}

impl Describe for TwoQuestions {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("a layer with H = {}", self.heads()).describe(name, out);
    }
}

impl Describe for Heads {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.q.describe("q", out);
        self.k.describe("k", out);
        self.v.describe("v", out);
        self.attention.describe(name, out);
        self.joined.describe("joined", out);
    }
}

impl Describe for Digit {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.label.describe("label", out);
        self.image.describe("image", out);
    }
}

impl Describe for WithPositions {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.patches.describe("positions of the patches", out);
    }
}

impl Describe for WithoutTranspose {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let text = match (self.split, self.join) {
            (false, false) => "no transpose is forgotten",
            (true, false) => "no transpose where the heads are cut",
            (false, true) => "no transpose where the heads are joined",
            (true, true) => "no transpose where the heads are cut and joined",
        };
        text.describe(name, out);
    }
}

impl Describe for Budget {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.matrices[..].describe("matrices", out);
        self.rest.describe("rest", out);
        self.attention.describe("attention", out);
        self.mlp.describe("mlp", out);
        self.norms.describe("norms", out);
        self.tokens.describe("tokens", out);
        self.positions.describe("positions", out);
        self.total.describe("total", out);
    }
}

impl Describe for BothPrefixes {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.right.describe("right", out);
        self.own.describe("own", out);
        self.chosen.describe("chosen", out);
    }
}

impl Describe for Parameters {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.attention.describe("attention", out);
        self.mlp.describe("mlp", out);
        self.norm.describe("norm", out);
        self.encoder_block.describe("encoder_block", out);
        self.decoder_block.describe("decoder_block", out);
        self.table.describe("table", out);
        self.total.describe("total", out);
    }
}

/// Runs are shown by how far they are.
impl Describe for FactRun {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.steps().describe("steps", out);
    }
}

impl Describe for ExpertRun {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.steps().describe("steps", out);
    }
}

impl Describe for FewRun {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.steps().describe("steps", out);
    }
}

impl Describe for Distilled {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.run.steps().describe("steps", out);
    }
}

impl Describe for MaskedRun {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.steps().describe("steps", out);
    }
}

impl Describe for DinoRun {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.steps().describe("steps", out);
    }
}

impl Describe for Cost {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.patches.describe("patches", out);
        self.scores.describe("scores", out);
        self.multiplications.describe("multiplications", out);
    }
}

impl Describe for Targets {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.centred.describe("centred", out);
        self.probabilities.describe("probabilities", out);
        self.mean.describe("mean", out);
        self.entropy_of_mean.describe("entropy_of_mean", out);
        self.mean_entropy.describe("mean_entropy", out);
    }
}

impl Describe for Probe {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.weights.describe("weights", out);
        self.bias.describe("bias", out);
    }
}

impl Describe for TokenSizes {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.tokens.describe("tokens", out);
        self.numbers.describe("numbers", out);
    }
}

impl Describe for Digits {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.pictures.describe("pictures", out);
        self.labels.describe("labels", out);
    }
}

impl Describe for Rolling {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let [down, right] = self.by;
        format!("moves {} by {down} and {right} squares", self.name).describe(name, out);
    }
}

impl Describe for Smoothed {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.probabilities.describe("probabilities", out);
        self.target.describe("target", out);
        self.gradient.describe("gradient", out);
        self.loss.describe("loss", out);
        self.least.describe("least", out);
    }
}

impl Describe for NormSteps {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.mean.describe("mean", out);
        self.centred.describe("centred", out);
        self.variance.describe("variance", out);
        self.deviation.describe("deviation", out);
        self.output.describe("output", out);
    }
}

impl Describe for Stream {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.lengths.describe("lengths", out);
        self.added.describe("added", out);
        self.difference.describe("difference", out);
        self.logits.describe("logits", out);
    }
}

impl Describe for Masked {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.inputs.describe("inputs", out);
        ndarray::arr1(&self.chosen).describe("chosen", out);
    }
}

impl Describe for LogisticHead {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.weights.describe("weights", out);
        self.bias.describe("bias", out);
    }
}

impl Describe for Survivors {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.tempered.describe("tempered", out);
        self.kept.describe("kept", out);
    }
}

impl Describe for Race {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.differences.describe("differences", out);
        self.logits.describe("logits", out);
        self.bytes.describe("bytes", out);
    }
}

impl Describe for Count {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.tokens.describe("tokens", out);
        self.positions.describe("positions", out);
        self.attention.describe("attention", out);
        self.mlp.describe("mlp", out);
        self.norms.describe("norms", out);
    }
}

/// A forward pass is described by how many intermediates it has.
impl Describe for Pass {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.recorder().describe(name, out);
    }
}

impl Describe for Site {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let Self { part, block, head } = self;
        format!("{part:?} of block {block}, head {head}, counted from 0").describe(name, out);
    }
}

impl Describe for OneNumber {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.value.describe("value", out);
        self.terms.describe("terms", out);
        for (name, number) in &self.steps {
            number.describe(&crate::frame::symbols::plain(name), out);
        }
    }
}

impl Describe for Induction {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.previous.describe("previous", out);
        self.before.describe("before", out);
        self.weights.describe("weights", out);
        self.next.describe("next", out);
    }
}

impl Describe for Search {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.given.describe("given", out);
        self.output.describe("output", out);
        self.maps.describe("maps", out);
        self.outputs.describe("outputs", out);
        self.distances.describe("distances", out);
        self.differences.describe("differences", out);
    }
}

impl Describe for StackRun {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.stack.describe(name, out);
    }
}

impl Describe for DeepStack {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{:?}, {} layers", self.kind(), self.depth()).describe(name, out);
    }
}

impl Describe for NormStack {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let (place, depth) = (self.place(), self.depth());
        format!("norms {place:?} the sums, {depth} blocks").describe(name, out);
    }
}

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

impl Describe for Mistake {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let kind = match self {
            Self::NoMask => "NoMask",
            Self::OneTooFar => "OneTooFar",
            Self::Transposed => "Transposed",
            Self::AfterSoftmax => "AfterSoftmax",
            Self::BeforeScaling(_) => "BeforeScaling",
        };
        kind.describe(name, out);
        if let Self::BeforeScaling(added) = self {
            added.describe("added", out);
        }
    }
}

impl Describe for [Merge] {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{} merges", self.len()).describe(name, out);
    }
}

impl Describe for Learned {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.merges.as_slice().describe("merges", out);
        format!("{} tokens", self.tokens.len()).describe("tokens", out);
        format!("{} words", self.words.len()).describe("words", out);
    }
}

impl Describe for LayerCost {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.multiplications.describe("multiplications", out);
        self.sequential.describe("sequential", out);
        self.path.describe("path", out);
    }
}

impl Describe for Streams {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let text = format!(
            "the stream before and after each of {} blocks",
            self.blocks()
        );
        text.describe(name, out);
    }
}

impl Describe for Patches {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{self:?}").describe(name, out);
    }
}

impl Describe for Windows {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{self:?}").describe(name, out);
    }
}

impl Describe for Sizes {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.picture.describe("picture", out);
        self.patch.describe("patch", out);
        self.window.describe("window", out);
        self.width.describe("width", out);
    }
}

impl Describe for Stage {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.side.describe("side", out);
        self.width.describe("width", out);
        self.windows.describe("windows", out);
        self.all_pairs.describe("all_pairs", out);
        self.pairs.describe("pairs", out);
        self.all_multiplications
            .describe("all_multiplications", out);
        self.multiplications.describe("multiplications", out);
    }
}

impl Describe for Online {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.maximum.describe("maximum", out);
        self.sum.describe("sum", out);
        self.mixed.describe("mixed", out);
        self.factor.describe("factor", out);
        self.term.describe("term", out);
    }
}

impl Describe for PowerLaw {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.exponent.describe("exponent", out);
        self.standard_error.describe("standard_error", out);
        self.factor.describe("factor", out);
    }
}

impl Describe for Components {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.directions.describe("directions", out);
        self.shares.describe("shares", out);
    }
}

/// A decoder is shown by its sizes.
impl Describe for Decoder {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let (layers, width, heads) = (self.layers, self.width, self.heads);
        format!("{layers} layers of dimension {width} with {heads} heads").describe(name, out);
    }
}
