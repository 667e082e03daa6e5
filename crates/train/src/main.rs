//! Trains one of the models that the lessons ship; see `--help`.

mod arguments;

use arguments::{Arguments, Model};
use engine::kernel::threads;
use engine::model::cnn::Cnn;
use engine::model::vit::Vit;
use std::path::PathBuf;
use std::process::ExitCode;
use training::depth::depth_runs;
use training::digits::bias_runs::bias_runs;
use training::digits::classifier::{Classifier, Network};
use training::digits::data::Mnist;
use training::digits::drawn_runs::drawn_runs;
use training::digits::gpt::DigitGpt;
use training::digits::position_tables;
use training::digits::scale_runs::scale_runs;
use training::digits::shape_runs::shape_runs;
use training::digits::unlabelled_runs::unlabelled_runs;
use training::digits::variants::{AveragePooled, Variant, WithoutPositions};
use training::frame::{Options, Subject, read, replace, ship, ship_again, train};
use training::heads;
use training::mlp::mlp_runs;
use training::text::language::Language;
use training::text::masked::{FIRST_LAYER, Masked, first_layer};
use training::text::position_race::race;
use training::text::story_race;
use training::text::translation::{Kind, Translation};
use training::text::translator_runs;
use training::text::vocabulary_file::vocabulary_file;
use training::{Result, TrainError};

fn main() -> ExitCode {
    let arguments = match Arguments::read(lexopt::Parser::from_env()) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{}", arguments::HELP);
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("train: {error}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("train: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    start_threads(arguments.threads)?;
    let data = &arguments.data;
    match arguments.model {
        Model::DigitVit => digits::<Vit>(arguments),
        Model::DigitVitNopos => digits::<Variant<WithoutPositions>>(arguments),
        Model::DigitVitGap => digits::<Variant<AveragePooled>>(arguments),
        Model::DigitCnn => digits::<Cnn>(arguments),
        Model::DigitGpt => make(&DigitGpt::new(&Mnist::read(data)?)?, arguments),
        Model::Seq2seqGru => translation(Kind::Gru, arguments),
        Model::Seq2seqAttention => translation(Kind::Attention, arguments),
        Model::Translator => translation(Kind::Transformer, arguments),
        Model::TinyGpt => make(&Language::read(data)?, arguments),
        Model::TinyGptNoLists => make(&Language::read(data)?.without_lists(), arguments),
        Model::TinyBert => bert(arguments),
        Model::PositionTables => position_tables::make(data, arguments.seed, &arguments.out),
        Model::HeadRace => heads::race(arguments.seed, &arguments.out),
        Model::DepthRuns => depth_runs(arguments.seed, &arguments.out),
        Model::BiasRuns => bias_runs(data, arguments.seed, &arguments.out),
        Model::ScaleRuns => scale_runs(data, arguments.seed, &arguments.out),
        Model::DrawnRuns => drawn_runs(arguments.seed, &arguments.out),
        Model::ShapeRuns => shape_runs(data, arguments.seed, &arguments.out),
        Model::UnlabelledRuns => unlabelled_runs(data, arguments.seed, &arguments.out),
        Model::MlpRuns => mlp_runs(arguments.seed, &arguments.out),
        Model::StoryRace => story_race::race(data, &arguments.out),
        Model::TranslatorRuns => {
            translator_runs::race(data, &options(arguments, "translator-runs"), &arguments.out)
        }
        Model::PositionRace => race(data, &options(arguments, "position-race"), &arguments.out),
    }
}

/// Starts threads: as many as asked for, else one for each core.
fn start_threads(count: Option<usize>) -> Result<()> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let count = count.unwrap_or_else(cores);
    threads::start(count).map_err(|source| TrainError::Threads { count, source })?;
    threads::limit(count);
    Ok(())
}

fn digits<N: Network>(arguments: &Arguments) -> Result<()> {
    let digits = Mnist::read(&arguments.data)?;
    make(&Classifier::<N>::new(digits), arguments)
}

fn translation(kind: Kind, arguments: &Arguments) -> Result<()> {
    make(&Translation::read(kind, &arguments.data)?, arguments)
}

/// Trains `tiny-bert`, and ships it whole and its first layer alone.
fn bert(arguments: &Arguments) -> Result<()> {
    let subject = Masked::read(&arguments.data)?;
    make(&subject, arguments)?;
    let whole = arguments
        .out
        .join(format!("{}.safetensors", subject.name()));
    let first = first_layer(&whole, &read(&whole)?)?;
    replace(&arguments.out.join(FIRST_LAYER), &first)
}

/// Trains a model and ships it, with its vocabulary where cells need that alone.
fn make<S: Subject>(subject: &S, arguments: &Arguments) -> Result<()> {
    make_model(subject, arguments)?;
    let name = subject.name();
    let whole = arguments.out.join(format!("{name}.safetensors"));
    if let Some((name, text)) = vocabulary_file(name, &whole, &read(&whole)?)? {
        replace(&arguments.out.join(name), text.as_bytes())?;
    }
    Ok(())
}

/// Trains a model and ships it, or ships the weights of a file again.
fn make_model<S: Subject>(subject: &S, arguments: &Arguments) -> Result<()> {
    if let Some(from) = &arguments.from {
        return ship_again(subject, from, &arguments.out);
    }
    let options = options(arguments, subject.name());
    let trained = train(subject, &options)?;
    ship(
        subject,
        &trained,
        &options,
        (&arguments.out, &arguments.data),
    )
}

/// The settings of a training run of this name.
fn options(arguments: &Arguments, name: &str) -> Options {
    let folder = || PathBuf::from("target/train").join(name);
    Options {
        work: arguments.work.clone().unwrap_or_else(folder),
        seed: arguments.seed,
        checkpoint_every: arguments.checkpoint_every,
        resume: arguments.resume,
        steps: arguments.steps,
        stop_after: arguments.stop_after,
    }
}
