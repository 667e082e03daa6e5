//! The command line of the trainer.

use lexopt::{Arg, Error, Parser, ValueExt};
use std::path::PathBuf;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Trains a model that the lessons ship, and writes it with its card to public/models.

While it runs, its checkpoint, a log (log.jsonl) and a picture of the loss (loss.svg) are in the work folder. A training
run that was interrupted continues with --resume, and ends with the same bits as one that was not.

With --from FILE nothing is trained: the weights of a file that was shipped in half precision are shipped anew.

Usage: cargo xtask train MODEL --data PATH [OPTIONS]

Models:
  digit-vit          a ViT that reads handwritten digits (data: mnist)
  digit-vit-nopos    digit-vit without a table of positions (data: mnist)
  digit-vit-gap      digit-vit with global average pooling in place of the class token (data: mnist)
  digit-cnn          two convolutions that read handwritten digits, to compare with digit-vit (data: mnist)
  digit-gpt          a small ImageGPT that completes half a digit (data: mnist)
  seq2seq-gru        English to Italian through one fixed vector (data: eng-ita-tatoeba)
  seq2seq-attention  English to Italian with additive attention (data: eng-ita-tatoeba)
  translator         English to Italian by the Transformer of 2017 (data: eng-ita-tatoeba)
  tiny-gpt           a decoder that writes simple English (data: eng-ita-tatoeba, tinystories-sample, tinystories-more)
  tiny-gpt-no-lists  tiny-gpt without lists of random tokens in its training (data: as tiny-gpt)
  position-race      tiny decoders that differ in how positions enter, three seeds each: only their log is shipped, as
                     position-race.tsv (data: tinystories-more)
  translator-runs    the translator with label smoothing and without, and the means of its last checkpoints: only their log is
                     shipped, as translator-runs.tsv (data: eng-ita-tatoeba)
  position-tables    the table of positions of digit-vit at a few steps of its training: only these are shipped, as
                     position-tables.safetensors (data: mnist)
  head-race          layers that differ in their number of heads: only their log is shipped, as head-race.tsv (no data)
  depth-runs         stacks with and without residual connections, and with norms before and after the sums, several seeds
                     each: only their log is shipped, as depth-runs.tsv (no data, so no --data)
  mlp-runs           MLPs with four nonlinearities at four learning rates, and mixtures of experts with a balance loss and
                     without, five seeds each: only their log is shipped, as mlp-runs.tsv (no data)
  bias-runs          small networks with convolutions and with attention on 100 to 1,000 digits, five seeds each, and the
                     shipped models of digits on moved, shuffled and covered digits: only the log is shipped, as
                     bias-runs.tsv (data: mnist)
  scale-runs         the same small networks on up to 9,500 digits, and for ten times as many steps: only the log is
                     shipped, as scale-runs.tsv (data: mnist)
  shape-runs         small ViTs that differ in depth, width or patch size, three seeds each, on 9,500 digits: only the log is
                     shipped, as shape-runs.tsv (data: mnist)
  unlabelled-runs    small networks that learn digits without labels, three seeds each, and linear probes of digit-gpt: only
                     the log is shipped, as unlabelled-runs.tsv (data: mnist)
  drawn-runs         the runs of three cells on digits that the site draws, five seeds each: a CNN against three ViTs, students
                     of a teacher, and networks without labels. Only the log is shipped, as drawn-runs.tsv (no data)
  story-race         no training: the 4-gram that tiny-gpt is compared with, on two stories with hidden words; only its log is
                     shipped, as story-race.tsv (data: as tiny-gpt)
  tiny-bert          an encoder that fills in masked words (data: as tiny-gpt)

Options:
  --data PATH           the folder of the data
  --out PATH            folder for the trained model and MODELS.md [default: public/models]
  --work PATH           folder for checkpoint, log and picture [default: target/train/MODEL]
  --seed N              seed of all random draws [default: 1]
  --steps N             the most steps, in place of the recipe's: the learning rate falls over as many
  --stop-after N        stop after this step, before the learning rate has fallen to its end
  --threads N           threads that share the work, two of them the gradients of a step; the result has the same bits
                        [default: one for each core]
  --checkpoint-every N  steps between checkpoints [default: 200]
  --from FILE           ship the weights of this file again, in place of training
  --resume              continue from the last checkpoint
";

/// A model that can be trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    DigitVit,
    DigitVitNopos,
    DigitVitGap,
    DigitCnn,
    DigitGpt,
    Seq2seqGru,
    Seq2seqAttention,
    Translator,
    TinyGpt,
    TinyGptNoLists,
    TinyBert,
    PositionRace,
    TranslatorRuns,
    PositionTables,
    HeadRace,
    DepthRuns,
    MlpRuns,
    BiasRuns,
    ScaleRuns,
    ShapeRuns,
    UnlabelledRuns,
    DrawnRuns,
    StoryRace,
}

impl Model {
    const ALL: [(&'static str, Self); 23] = [
        ("digit-vit", Self::DigitVit),
        ("digit-vit-nopos", Self::DigitVitNopos),
        ("digit-vit-gap", Self::DigitVitGap),
        ("digit-cnn", Self::DigitCnn),
        ("digit-gpt", Self::DigitGpt),
        ("seq2seq-gru", Self::Seq2seqGru),
        ("seq2seq-attention", Self::Seq2seqAttention),
        ("translator", Self::Translator),
        ("tiny-gpt", Self::TinyGpt),
        ("tiny-gpt-no-lists", Self::TinyGptNoLists),
        ("tiny-bert", Self::TinyBert),
        ("position-race", Self::PositionRace),
        ("translator-runs", Self::TranslatorRuns),
        ("position-tables", Self::PositionTables),
        ("head-race", Self::HeadRace),
        ("depth-runs", Self::DepthRuns),
        ("mlp-runs", Self::MlpRuns),
        ("bias-runs", Self::BiasRuns),
        ("scale-runs", Self::ScaleRuns),
        ("shape-runs", Self::ShapeRuns),
        ("unlabelled-runs", Self::UnlabelledRuns),
        ("drawn-runs", Self::DrawnRuns),
        ("story-race", Self::StoryRace),
    ];

    fn named(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|&(_, model)| model).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|(known, _)| *known).collect();
            format!("there is no model {name}; there are {}", known.join(", ")).into()
        })
    }
}

/// A training run as the command line asks for it.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) model: Model,
    pub(crate) data: PathBuf,
    pub(crate) out: PathBuf,
    pub(crate) work: Option<PathBuf>,
    pub(crate) from: Option<PathBuf>,
    pub(crate) seed: u64,
    pub(crate) steps: Option<u64>,
    pub(crate) threads: Option<usize>,
    pub(crate) stop_after: Option<u64>,
    pub(crate) checkpoint_every: u64,
    pub(crate) resume: bool,
}

impl Arguments {
    /// Reads the command line; `None` where it asks for help.
    ///
    /// # Errors
    /// When a word is unknown, a value is missing or out of its range, or model or data are not
    /// named.
    pub(crate) fn read(mut parser: Parser) -> Result<Option<Self>, Error> {
        let (mut model, mut data, mut work, mut from) = (None, None, None, None);
        let mut out = PathBuf::from("public/models");
        let (mut seed, mut steps, mut stop_after) = (1, None, None);
        let mut threads = None;
        let (mut checkpoint_every, mut resume) = (200, false);
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Value(name) if model.is_none() => {
                    model = Some(Model::named(&name.string()?)?);
                }
                Arg::Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Arg::Long("out") => out = PathBuf::from(parser.value()?),
                Arg::Long("work") => work = Some(PathBuf::from(parser.value()?)),
                Arg::Long("from") => from = Some(PathBuf::from(parser.value()?)),
                Arg::Long("seed") => seed = parser.value()?.parse()?,
                Arg::Long("steps") => steps = Some(at_least_one(&mut parser)?),
                Arg::Long("threads") => {
                    let count = parser.value()?.parse::<usize>()?;
                    if count == 0 {
                        return Err("a number of threads is at least 1".into());
                    }
                    threads = Some(count);
                }
                Arg::Long("stop-after") => stop_after = Some(at_least_one(&mut parser)?),
                Arg::Long("checkpoint-every") => checkpoint_every = at_least_one(&mut parser)?,
                Arg::Long("resume") => resume = true,
                Arg::Long("help") | Arg::Short('h') => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        let logs_runs = matches!(model, Some(Model::PositionRace | Model::TranslatorRuns));
        if logs_runs && (from.is_some() || stop_after.is_some()) {
            return Err("position-race and translator-runs ship no weights and log whole runs: they take neither --from nor --stop-after".into());
        }
        let is_whole = from.is_none() && stop_after.is_none() && steps.is_none() && !resume;
        if model == Some(Model::StoryRace) && !is_whole {
            return Err("story-race trains nothing: it takes only --data and --out".into());
        }
        if model == Some(Model::PositionTables) && !is_whole {
            return Err("position-tables ships no weights and logs a whole run: it takes only --data, --seed and --out".into());
        }
        let on_digits = matches!(
            model,
            Some(Model::BiasRuns | Model::ScaleRuns | Model::ShapeRuns | Model::UnlabelledRuns)
        );
        if on_digits && !is_whole {
            return Err("bias-runs, scale-runs, shape-runs and unlabelled-runs ship no weights and log whole runs: they take only --data, --seed and --out".into());
        }
        if matches!(
            model,
            Some(Model::HeadRace | Model::DepthRuns | Model::MlpRuns | Model::DrawnRuns)
        ) {
            if !is_whole {
                return Err("head-race, depth-runs, mlp-runs and drawn-runs ship no weights and log whole runs: they take only --seed and --out".into());
            }
            // They draw their data themselves.
            data = data.or_else(|| Some(PathBuf::new()));
        }
        Ok(Some(Self {
            model: model.ok_or("name a model; --help lists them")?,
            data: data.ok_or("--data PATH is missing: the folder of the data")?,
            out,
            work,
            from,
            seed,
            steps,
            threads,
            stop_after,
            checkpoint_every,
            resume,
        }))
    }
}

fn at_least_one(parser: &mut Parser) -> Result<u64, Error> {
    let value = parser.value()?.parse::<u64>()?;
    if value == 0 {
        return Err("a number of steps is at least 1".into());
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::{Arguments, HELP, Model};
    use std::path::Path;

    fn read(words: &[&str]) -> Result<Option<Arguments>, String> {
        let words = std::iter::once("train").chain(words.iter().copied());
        Arguments::read(lexopt::Parser::from_iter(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_are_those_of_the_help() {
        let found = read(&["tiny-gpt", "--data", "x"]).unwrap().unwrap();
        assert_eq!(found.model, Model::TinyGpt);
        assert_eq!(found.data, Path::new("x"));
        assert_eq!(found.out, Path::new("public/models"));
        assert_eq!((found.seed, found.checkpoint_every), (1, 200));
        assert_eq!(
            (found.steps, found.stop_after, found.work),
            (None, None, None)
        );
        assert_eq!(found.threads, None);
        assert!(!found.resume && found.from.is_none());
    }

    #[test]
    fn runs_that_draw_their_data_need_none_and_have_their_own_steps() {
        for (name, model) in [
            ("depth-runs", Model::DepthRuns),
            ("head-race", Model::HeadRace),
            ("mlp-runs", Model::MlpRuns),
            ("drawn-runs", Model::DrawnRuns),
        ] {
            let found = read(&[name, "--out", "o", "--seed", "2"]).unwrap().unwrap();
            assert_eq!(
                (found.model, found.out.as_path(), found.seed),
                (model, Path::new("o"), 2)
            );
            for option in ["--steps", "--stop-after", "--from"] {
                assert!(read(&[name, option, "3"]).is_err(), "{name} {option}");
            }
        }
        assert!(read(&["position-race"]).is_err());
    }

    #[test]
    fn tables_of_positions_are_of_a_whole_run() {
        let found = read(&["position-tables", "--data", "d"]).unwrap().unwrap();
        assert_eq!(found.model, Model::PositionTables);
        for option in ["--steps", "--stop-after", "--from"] {
            let words = ["position-tables", "--data", "d", option, "3"];
            assert!(read(&words).is_err(), "{option}");
        }
    }

    #[test]
    fn runs_on_digits_are_whole() {
        for (name, model) in [
            ("bias-runs", Model::BiasRuns),
            ("shape-runs", Model::ShapeRuns),
            ("unlabelled-runs", Model::UnlabelledRuns),
        ] {
            let found = read(&[name, "--data", "d"]).unwrap().unwrap();
            assert_eq!(found.model, model);
            assert!(read(&[name, "--data", "d", "--steps", "3"]).is_err());
        }
    }

    #[test]
    fn every_option_is_read() {
        let words = "--data d digit-vit --out o --work w --seed 7 --steps 9 --stop-after 3 \
            --checkpoint-every 2 --resume --from f --threads 2";
        let found = read(&words.split_whitespace().collect::<Vec<_>>());
        let found = found.unwrap().unwrap();
        assert_eq!(
            (found.seed, found.steps, found.stop_after),
            (7, Some(9), Some(3))
        );
        assert_eq!((found.checkpoint_every, found.resume), (2, true));
        assert_eq!(found.threads, Some(2));
        assert_eq!(found.out, Path::new("o"));
        assert_eq!(found.work.as_deref(), Some(Path::new("w")));
        assert_eq!(found.from.as_deref(), Some(Path::new("f")));
    }

    #[test]
    fn the_help_names_every_model() {
        for (name, _) in Model::ALL {
            assert!(HELP.contains(&format!("\n  {name} ")), "{name}");
        }
        assert!(read(&["--help"]).unwrap().is_none());
        assert!(read(&["tiny-gpt", "-h"]).unwrap().is_none());
    }

    #[test]
    fn mistakes_are_named() {
        for (words, part) in [
            (&["tiny-gpt"][..], "--data"),
            (&["--data", "x"], "name a model"),
            (
                &["tiny", "--data", "x"],
                "there is no model tiny; there are digit-vit",
            ),
            (&["tiny-gpt", "--data", "x", "--steps", "0"], "at least 1"),
            (&["tiny-gpt", "--data", "x", "--steps", "many"], "many"),
            (&["tiny-gpt", "--data", "x", "--threads", "0"], "at least 1"),
            (&["tiny-gpt", "--data", "x", "--fast"], "--fast"),
            (&["tiny-gpt", "more", "--data", "x"], "more"),
            (
                &["position-race", "--data", "x", "--from", "f"],
                "no weights",
            ),
            (
                &["position-race", "--data", "x", "--stop-after", "3"],
                "whole runs",
            ),
            (
                &["translator-runs", "--data", "x", "--stop-after", "3"],
                "whole runs",
            ),
            (&["head-race", "--steps", "3"], "whole runs"),
            (
                &["story-race", "--data", "x", "--steps", "3"],
                "trains nothing",
            ),
            (&["story-race"], "--data"),
        ] {
            let why = read(words).unwrap_err();
            assert!(why.contains(part), "{why}");
        }
    }
}
