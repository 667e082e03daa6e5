//! Descriptions for "Show the Rust" of results that are neither arrays nor numbers.

use engine::beam::Hypothesis;
use engine::grad::{Difference, Evaluation, Learner, OneWord, Pairs, Schedule, Seen, TaskConfig};
use engine::model::bert::Bert;
use engine::model::decoder::Decoder as TextDecoder;
use engine::model::encoder_decoder::EncoderDecoder;
use engine::model::gpt2::{Config, Gpt2};
use engine::model::llama::Llama;
use engine::model::seq2seq::{Fading, Seq2Seq};
use engine::model::seq2seq_attention::AttentiveSeq2Seq;
use engine::model::transformer::Transformer;
use engine::model::vit::Vit;
use engine::nn::bahdanau::AdditiveAttention;
use engine::nn::feed_forward::Activation;
use engine::nn::parts::Parts;
use engine::parameters::Weight;
use engine::token::byte_bpe::ByteBpe;
use engine::token::tokenizer::Tokenizer;
use engine::token::word_piece::WordPiece;
use engine::trace::Recorder;
use engine::translate::{Alignments, BeamTree, Pair, TranslationModel, Translator};
use explain::budget::Budget;
use explain::byte_pairs::{Learned, Merge};
use explain::cost::LayerCost;
use explain::deep_stack::{DeepStack, StackRun};
use explain::descent::{Nodes, OneParameter, Path};
use explain::expert_words::ExpertRun;
use explain::fact_memory::FactRun;
use explain::forced::BothPrefixes;
use explain::gpt_sizes::Count;
use explain::induction::Induction;
use explain::kv_race::Race;
use explain::logistic::LogisticHead;
use explain::masking::Masked;
use explain::memory::Decoder;
use explain::multi_head::{Heads, WithoutTranspose};
use explain::norm_stack::NormStack;
use explain::norm_steps::NormSteps;
use explain::one_number::{OneNumber, Pass, Site};
use explain::online_softmax::Online;
use explain::parameter_count::Parameters;
use explain::power_law::PowerLaw;
use explain::smoothed::Smoothed;
use explain::softmax_steps::SoftmaxSteps;
use explain::stats::Histogram;
use explain::sub_layers::Stream;
use explain::survivors::Survivors;
use explain::two_layers::TwoLayers;
use explain::two_maps::Search;
use explain::two_questions::{Run, TwoQuestions};
use explain::wrong_mask::Mistake;

use crate::frame::shown::{Describe, Described};

impl Describe for TaskConfig {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{:?}", self.task).describe(name, out);
        self.shortest.describe("shortest", out);
        self.batch.describe("batch", out);
        self.schedule.describe("schedule", out);
        self.seed.describe("seed", out);
    }
}

impl Describe for Schedule {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        match *self {
            Self::InverseRoot { peak, warmup } => {
                "falls as the inverse root".describe(name, out);
                peak.describe("peak", out);
                warmup.describe("warmup", out);
            }
            Self::Cosine {
                peak,
                last,
                warmup,
                steps,
            } => {
                "falls as a cosine".describe(name, out);
                peak.describe("peak", out);
                last.describe("last", out);
                warmup.describe("warmup", out);
                steps.describe("steps", out);
            }
        }
    }
}

/// A learner is shown by what it learns, the sizes of its model, and how far it is.
impl<M: EncoderDecoder + Describe> Describe for Learner<M> {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.task_config().describe(name, out);
        self.model.describe("model", out);
        self.steps().describe("steps", out);
    }
}

/// A Transformer is shown by its sizes and by which of its parts are in use.
impl Describe for Transformer {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        let config = self.config();
        config.encoder_layers.describe("layers", out);
        config.width.describe("width", out);
        format!("{:?}", self.parts()).describe("parts", out);
    }
}

impl Describe for Fading {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.moves.describe("moves", out);
        self.mean.describe("mean", out);
    }
}

/// A translator's model is shown by its kind and sizes.
impl Describe for TranslationModel {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        match self {
            Self::Gru(model) => model.describe(name, out),
            Self::Attention(model) => model.describe(name, out),
            Self::Transformer(model) => model.describe(name, out),
        }
    }
}

/// So is the translator around it.
impl<M: Describe> Describe for Translator<M> {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.model.describe(name, out);
    }
}

impl Describe for Pairs {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.source.ids.describe(&format!("{name}.source"), out);
        self.target.ids.describe(&format!("{name}.target"), out);
    }
}

impl Describe for Evaluation {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.loss.describe("loss", out);
        self.right.describe("right", out);
    }
}

impl Describe for Difference {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.weight.describe("weight", out);
        self.here.describe("here", out);
        self.sides[..].describe("sides", out);
        self.losses[..].describe("losses", out);
    }
}

/// A network is shown by its sizes and what it reads a score off with.
impl Describe for AdditiveAttention {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let (inner, width) = self.query.dim();
        format!("a state of {width} numbers, inner width {inner}").describe(name, out);
        self.score.describe("score", out);
    }
}

/// A word whose scores are free is described by what [`OneWord::evaluate`] sees of it.
impl Describe for OneWord {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        "scores, annotations, words and the right one".describe(name, out);
    }
}

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

impl Describe for Activation {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{self:?}").describe(name, out);
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

/// A text that a search found.
impl Describe for Hypothesis {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.ids.describe(name, out);
        self.log_probability.describe("log_probability", out);
        self.score.describe("score", out);
    }
}

/// The texts that a search found, best first: the first one.
impl Describe for Vec<Hypothesis> {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.first().describe(name, out);
    }
}

impl Describe for BeamTree {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.best.describe("best", out);
        let kept: Vec<usize> = self.kept.iter().map(Vec::len).collect();
        kept.describe("texts kept", out);
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

impl Describe for Llama {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        let config = self.config();
        config.vocabulary.describe("vocabulary", out);
        config.width.describe("width", out);
        config.heads.describe("heads", out);
        config.kv_heads.describe("kv_heads", out);
        config.layers.describe("layers", out);
        config.inner.describe("inner", out);
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

/// Texts as the ids of their tokens.
impl Describe for [Vec<usize>] {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{} texts of tokens", self.len()).describe(name, out);
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

impl Describe for Seen {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.scores.describe("scores", out);
        self.weights.describe("weights", out);
        self.context.describe("context", out);
        self.probabilities.describe("probabilities", out);
        self.loss.describe("loss", out);
        self.by_context.describe("by_context", out);
        self.by_scores.describe("by_scores", out);
    }
}

impl Describe for Vec<Pair> {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{} sentences with their translations", self.len()).describe(name, out);
    }
}

impl Describe for Alignments {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.target.describe("target", out);
        self.weights.describe("weights", out);
    }
}

/// Words as ranges of tokens.
impl Describe for [std::ops::Range<usize>] {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let ranges: Vec<String> = self.iter().map(|r| format!("{r:?}")).collect();
        ranges.describe(name, out);
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

impl Describe for Config {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.vocabulary.describe("vocabulary", out);
        self.width.describe("width", out);
        self.heads.describe("heads", out);
        self.layers.describe("layers", out);
        self.inner.describe("inner", out);
        self.context.describe("context", out);
    }
}

/// Models are shown by their sizes: their weights are thousands of numbers.
macro_rules! describe_models {
    ($($model:ty),*) => {$(
        impl Describe for $model {
            fn describe(&self, name: &str, out: &mut Vec<Described>) {
                format!("{:?}", self.config()).describe(name, out);
            }
        }
    )*};
}
describe_models!(Seq2Seq, AttentiveSeq2Seq, Vit);

/// Their sizes without the small number in their norms.
macro_rules! describe_trunks {
    ($($model:ty),*) => {$(
        impl Describe for $model {
            fn describe(&self, _name: &str, out: &mut Vec<Described>) {
                let config = self.config();
                config.vocabulary.describe("vocabulary", out);
                config.width.describe("width", out);
                config.heads.describe("heads", out);
                config.layers.describe("layers", out);
                config.inner.describe("inner", out);
                config.context.describe("context", out);
            }
        }
    )*};
}
describe_trunks!(Bert, Gpt2);

/// A decoder of any kind.
impl Describe for dyn TextDecoder + '_ {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.vocabulary().describe("vocabulary", out);
        self.heads().describe("heads", out);
        self.layers().describe("layers", out);
        self.context().describe("context", out);
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

impl Describe for Parts {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{self:?}").describe(name, out);
    }
}

/// Vocabularies are shown by their sizes.
macro_rules! describe_vocabularies {
    ($($tokenizer:ty),*) => {$(
        impl Describe for $tokenizer {
            fn describe(&self, name: &str, out: &mut Vec<Described>) {
                format!("a vocabulary of {} tokens", self.size()).describe(name, out);
            }
        }
    )*};
}
describe_vocabularies!(ByteBpe, WordPiece);

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

/// A table of a model is shown by its sizes.
impl Describe for Weight {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{:?}", self.dim()).describe(name, out);
    }
}

/// An observer that keeps what it is told: how many intermediates there were.
impl Describe for Recorder {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("keeps {} intermediates", self.names().len()).describe(name, out);
    }
}

impl Describe for LayerCost {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.multiplications.describe("multiplications", out);
        self.sequential.describe("sequential", out);
        self.path.describe("path", out);
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

/// A decoder is shown by its sizes.
impl Describe for Decoder {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let (layers, width, heads) = (self.layers, self.width, self.heads);
        format!("{layers} layers of dimension {width} with {heads} heads").describe(name, out);
    }
}

/// The layers after which each token is reached.
impl Describe for Vec<Option<usize>> {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let reached = self.iter().flatten().count();
        format!("{reached} of {} tokens are reached", self.len()).describe(name, out);
    }
}
