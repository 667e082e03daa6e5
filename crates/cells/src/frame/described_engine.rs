//! Descriptions for "Show the Rust" of what the engine's functions take and give, where it is
//! neither an array nor a number.

use engine::beam::Hypothesis;
use engine::grad::{Difference, Evaluation, Learner, OneWord, Pairs, Schedule, Seen, TaskConfig};
use engine::model::bert::Bert;
use engine::model::cnn::Cnn;
use engine::model::decoder::Decoder as TextDecoder;
use engine::model::encoder_decoder::EncoderDecoder;
use engine::model::gpt2::{Config, Gpt2};
use engine::model::image_gpt::ImageGpt;
use engine::model::llama::Llama;
use engine::model::seq2seq::{Fading, Seq2Seq};
use engine::model::seq2seq_attention::AttentiveSeq2Seq;
use engine::model::swin::{Config as SwinConfig, Swin};
use engine::model::transformer::Transformer;
use engine::model::vit::{Config as VitConfig, Vit};
use engine::nn::bahdanau::AdditiveAttention;
use engine::nn::feed_forward::Activation;
use engine::nn::parts::Parts;
use engine::nn::patch_merge::PatchMerge;
use engine::nn::unfold::Windows;
use engine::parameters::Weight;
use engine::token::byte_bpe::ByteBpe;
use engine::token::tokenizer::Tokenizer;
use engine::token::word_piece::WordPiece;
use engine::trace::Recorder;
use engine::translate::{Alignments, BeamTree, Pair, TranslationModel, Translator};

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

/// An ImageGPT is shown by its sizes.
impl Describe for ImageGpt {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        let config = self.config();
        config.layers.describe("layers", out);
        config.width.describe("width", out);
        config.context.describe("pixels", out);
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

/// A Swin V2 is shown by its sizes.
impl Describe for Swin {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.config().describe(name, out);
    }
}

impl Describe for VitConfig {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let Self {
            layers,
            width,
            heads,
            inner,
            patch,
            image,
            classes,
            ..
        } = self;
        let text = format!(
            "{layers} blocks of dimension {width}, {heads} heads, F = {inner}, patches of {patch} \
             pixels, pictures of {image}, {classes} classes"
        );
        text.describe(name, out);
    }
}

impl Describe for SwinConfig {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.width.describe("width", out);
        self.depths.describe("depths", out);
        self.heads.describe("heads", out);
        self.window.describe("window", out);
        self.patch.describe("patch", out);
        self.image.describe("image", out);
    }
}

impl Describe for PatchMerge {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        let (outputs, inputs) = self.reduction.weight.dim();
        format!("{inputs} numbers to {outputs}").describe("reduction", out);
        self.norm.gamma.describe("gamma", out);
        self.norm.beta.describe("beta", out);
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

impl Describe for Activation {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{self:?}").describe(name, out);
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

/// Texts as the ids of their tokens.
/// The tensors of a model's file.
impl Describe for [(String, Vec<usize>)] {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("the names and shapes of {} tensors", self.len()).describe(name, out);
    }
}

impl Describe for [Vec<usize>] {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{} texts of tokens", self.len()).describe(name, out);
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

describe_models!(Seq2Seq, AttentiveSeq2Seq, Vit, Cnn);

impl Describe for Windows {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("{self:?}").describe(name, out);
    }
}

impl Describe for [Windows] {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let all: Vec<String> = self.iter().map(|layer| format!("{layer:?}")).collect();
        all.describe(name, out);
    }
}

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

/// The layers after which each token is reached.
impl Describe for Vec<Option<usize>> {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        let reached = self.iter().flatten().count();
        format!("{reached} of {} tokens are reached", self.len()).describe(name, out);
    }
}
