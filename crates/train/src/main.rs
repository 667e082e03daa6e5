//! Trains one of the models that the lessons ship; see `--help`.

use clap::{Args, Parser, Subcommand};
use engine::model::cnn::Cnn;
use engine::model::vit::Vit;
use std::path::PathBuf;
use std::process::ExitCode;
use training::Result;
use training::digits::classifier::Classifier;
use training::digits::data::Mnist;
use training::digits::gpt::DigitGpt;
use training::frame::{Options, Subject, ship, train};
use training::text::language::Language;
use training::text::masked::Masked;
use training::text::translation::{Kind, Translation};

/// Trains a model that the lessons ship, and writes it with its card to public/models.
///
/// While it runs, its checkpoint, a log (log.jsonl) and a picture of the loss (loss.svg) are in the work folder. A training that was
/// interrupted goes on with --resume, and ends with the same bits as one that was not.
#[derive(Debug, Parser)]
#[command(name = "train")]
struct Arguments {
    #[command(subcommand)]
    model: Model,
}

#[derive(Debug, Subcommand)]
enum Model {
    /// A ViT that reads handwritten digits (data: mnist)
    DigitVit(Common),
    /// Two convolutions that read handwritten digits, to compare with digit-vit (data: mnist)
    DigitCnn(Common),
    /// A small ImageGPT that completes half a digit (data: mnist)
    DigitGpt(Common),
    /// English to Italian through one fixed vector (data: eng-ita-tatoeba)
    Seq2seqGru(Common),
    /// English to Italian with additive attention (data: eng-ita-tatoeba)
    Seq2seqAttention(Common),
    /// English to Italian by the Transformer of 2017 (data: eng-ita-tatoeba)
    Translator(Common),
    /// A decoder that writes simple English (data: eng-ita-tatoeba, tinystories-sample)
    TinyGpt(Common),
    /// An encoder that fills in masked words (data: eng-ita-tatoeba, tinystories-sample)
    TinyBert(Common),
}

#[derive(Debug, Args)]
struct Common {
    /// The folder of the data
    #[arg(long, value_name = "PATH")]
    data: PathBuf,
    /// Folder for the trained model and MODELS.md
    #[arg(long, value_name = "PATH", default_value = "public/models")]
    out: PathBuf,
    /// Folder for checkpoint, log and picture [default: target/train/NAME]
    #[arg(long, value_name = "PATH")]
    work: Option<PathBuf>,
    /// Seed of all random draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The most steps, in place of the recipe's: the learning rate falls over as many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Stop after this step, before the learning rate has fallen to its end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    stop_after: Option<u64>,
    /// Steps between checkpoints
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: u64,
    /// Go on from the last checkpoint
    #[arg(long)]
    resume: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("train: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.model {
        Model::DigitVit(common) => {
            let digits = Mnist::read(&common.data)?;
            make(&Classifier::<Vit>::new(digits), common)
        }
        Model::DigitCnn(common) => {
            let digits = Mnist::read(&common.data)?;
            make(&Classifier::<Cnn>::new(digits), common)
        }
        Model::DigitGpt(common) => make(&DigitGpt::new(&Mnist::read(&common.data)?)?, common),
        Model::Seq2seqGru(common) => translation(Kind::Gru, common),
        Model::Seq2seqAttention(common) => translation(Kind::Attention, common),
        Model::Translator(common) => translation(Kind::Transformer, common),
        Model::TinyGpt(common) => make(&Language::read(&common.data)?, common),
        Model::TinyBert(common) => make(&Masked::read(&common.data)?, common),
    }
}

fn translation(kind: Kind, common: &Common) -> Result<()> {
    make(&Translation::read(kind, &common.data)?, common)
}

/// Trains a model and ships it.
fn make<S: Subject>(subject: &S, common: &Common) -> Result<()> {
    let folder = || PathBuf::from("target/train").join(subject.name());
    let options = Options {
        work: common.work.clone().unwrap_or_else(folder),
        seed: common.seed,
        checkpoint_every: common.checkpoint_every,
        resume: common.resume,
        steps: common.steps,
        stop_after: common.stop_after,
    };
    let trained = train(subject, &options)?;
    ship(subject, &trained, &options, (&common.out, &common.data))
}
