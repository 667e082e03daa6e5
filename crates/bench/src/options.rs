//! The command line.

use std::ffi::OsString;

use lexopt::{Arg, Error, ValueExt};

use crate::cases::{self, Case};
use crate::cpu::Cpu;

/// The least number of runs: with fewer a median says little on a busy machine.
const LEAST_RUNS: u32 = 5;

/// The most browsers at the same time: each holds a model of its own.
const MOST_BESIDE: u32 = 8;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Measures full-size models in headless Chromium: for each a JSON line with median, least and largest figure.

  --only WORDS   measure the lines of the list that have all WORDS: --only 'gpt2 q8_0'; may be given again;
                 the large models smollm2-360m, qwen2-500m and llama3-1b are measured only if WORDS name them
  --runs N       runs of each line, at least 5 (the default)
  --beside N     measure the same in N browsers at once, at most 8: what the machine gives to N threads
  --cpu SET      leave Chromium only the instructions of other processors: vnni (AVX-VNNI), avx2, or sse4
  --edits        measure edits of the lessons' cells instead: a JSON line for each lesson with the controls whose edit
                 keeps the page busy for 50 ms or more, and the milliseconds from a point drawn on a pad to the new answer
  --trainings    measure instead how long the live trainings on digits take, from the first step to the last: a JSON line for
                 each with its seconds, which are to be fewer than 60
  --pages        measure instead how long a reader with a slow phone waits for the cells of each page: 1.6 Mbit/s, 150 ms, a
                 processor slowed down four times, 390 px; medians of --runs visits; --only WORD names pages
  --lighthouse   measure instead what Lighthouse says of each page with its settings for a phone; --runs and --only as above
  --soak MINUTES measure instead the memory of a long visit: all lessons by links, and a model in the lab, in rounds
  --files        measure instead how large models open as files, made with random weights: from an address, from the browser's
                 storage and from the disk, with the memory of engine and browser; --only chooses among them
  --loop         measure instead how long a save takes until the open page shows it: of a lesson, a style sheet, a file of
                 src/, a cell's computation. Files of the project are changed meanwhile, and put back
  --dist DIR     the built site (dist)
  --list         print the chosen lines and measure nothing
";

/// The command line's wishes.
pub(crate) struct Options {
    pub(crate) only: Vec<String>,
    pub(crate) runs: u32,
    /// Browsers that measure the same at the same time.
    pub(crate) beside: u32,
    /// The instructions that Chromium may use; all that this machine has without it.
    pub(crate) cpu: Option<Cpu>,
    pub(crate) edits: bool,
    /// Measure the training runs of lessons.
    pub(crate) trainings: bool,
    /// Measure what a reader waits for.
    pub(crate) pages: bool,
    /// Ask Lighthouse.
    pub(crate) lighthouse: bool,
    /// Minutes of a visit whose memory is measured.
    pub(crate) soak_minutes: Option<u32>,
    /// Measure how files of models open.
    pub(crate) files: bool,
    /// Measure what an author waits for.
    pub(crate) saves: bool,
    pub(crate) dist: String,
    pub(crate) list: bool,
    pub(crate) help: bool,
}

impl Options {
    /// Reads them.
    ///
    /// # Errors
    /// When an option is unknown, lacks its value or is out of its range.
    pub(crate) fn read(mut parser: lexopt::Parser) -> Result<Self, Error> {
        let mut read = Self {
            only: Vec::new(),
            runs: LEAST_RUNS,
            beside: 1,
            cpu: None,
            edits: false,
            trainings: false,
            pages: false,
            lighthouse: false,
            soak_minutes: None,
            files: false,
            saves: false,
            dist: "dist".to_owned(),
            list: false,
            help: false,
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Long("only") => read.only.push(parser.value()?.string()?),
                Arg::Long("runs") => {
                    read.runs = number("--runs", parser.value()?, LEAST_RUNS, u32::MAX)?;
                }
                Arg::Long("beside") => {
                    read.beside = number("--beside", parser.value()?, 1, MOST_BESIDE)?;
                }
                Arg::Long("cpu") => {
                    let name = parser.value()?.string()?;
                    let known = "--cpu knows vnni, avx2 and sse4";
                    read.cpu = Some(Cpu::from_name(&name).ok_or(known)?);
                }
                Arg::Long("pages") => read.pages = true,
                Arg::Long("lighthouse") => read.lighthouse = true,
                Arg::Long("soak") => {
                    let minutes = number("--soak", parser.value()?, 1, u32::MAX)?;
                    read.soak_minutes = Some(minutes);
                }
                Arg::Long("files") => read.files = true,
                Arg::Long("loop") => read.saves = true,
                Arg::Long("edits") => read.edits = true,
                Arg::Long("trainings") => read.trainings = true,
                Arg::Long("dist") => read.dist = parser.value()?.string()?,
                Arg::Long("list") => read.list = true,
                Arg::Long("help") | Arg::Short('h') => read.help = true,
                other => return Err(other.unexpected()),
            }
        }
        if read.cpu.is_some() && read.measures_pages() {
            return Err("--cpu is for the list of models".into());
        }
        Ok(read)
    }

    /// Whether lines of the list are measured, as they are or as files.
    pub(crate) fn measures_models(&self) -> bool {
        self.files || !self.measures_pages()
    }

    /// Whether they choose something else than the speed of models.
    fn measures_pages(&self) -> bool {
        let visits = self.edits || self.trainings || self.pages || self.lighthouse || self.saves;
        visits || self.files || self.soak_minutes.is_some()
    }

    /// The lines of the list that they choose: all but those of large models, unless `--only` names
    /// some. With `--files` and without `--only` they are the large ones; each is opened once, in
    /// the build with relaxed SIMD.
    pub(crate) fn cases(&self) -> Vec<Case> {
        let chosen = |case: &Case| match self.only.is_empty() {
            _ if self.files && case.build() != "relaxed" => false,
            true => case.is_usual() != self.files,
            false => self.only.iter().any(|words| case.has_all(words)),
        };
        cases::all().filter(chosen).collect()
    }
}

fn number(name: &str, value: OsString, least: u32, most: u32) -> Result<u32, Error> {
    let number = value.parse::<u32>()?;
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    let range = if most == u32::MAX {
        format!("{name} needs a number from {least}")
    } else {
        format!("{name} needs a number from {least} to {most}")
    };
    Err(range.into())
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn only_takes_words_of_the_list() {
        let count = |options: &[&str]| {
            let words = std::iter::once("bench").chain(options.iter().copied());
            Options::read(lexopt::Parser::from_iter(words))
                .map(|options| options.cases().len())
                .ok()
        };
        assert_eq!(count(&[]), Some(18));
        assert_eq!(count(&["--only", "gpt2"]), Some(6));
        assert_eq!(
            count(&["--only", "gpt2 q8_0 relaxed 1", "--only", "vit-b16 f32"]),
            Some(4)
        );
        assert_eq!(count(&["--only", "gpt"]), Some(0));
        // Large models have to be named.
        assert_eq!(count(&["--only", "llama3-1b"]), Some(6));
        assert_eq!(count(&["--only", "qwen2-500m q4_0 simd128"]), Some(1));
        assert_eq!(count(&["--only", "simd128"]), Some(6));
        assert_eq!(count(&["--runs", "9", "--list"]), Some(18));
        assert_eq!(count(&["--beside", "2"]), Some(18));
        assert_eq!(count(&["--cpu", "avx2"]), Some(18));
        assert_eq!(count(&["--files"]), Some(6));
        assert_eq!(count(&["--files", "--only", "llama3-1b"]), Some(2));
        assert_eq!(count(&["--files", "--only", "lama"]), Some(0));
        for wrong in [
            &["--runs", "2"][..],
            &["--only"],
            &["fast"],
            &["--beside", "0"],
            &["--beside", "9"],
            &["--cpu", "avx9"],
            &["--cpu", "avx2", "--edits"],
            &["--cpu", "avx2", "--trainings"],
            &["--soak"],
            &["--soak", "0"],
            &["--cpu", "avx2", "--soak", "5"],
        ] {
            assert_eq!(count(wrong), None);
        }
    }
}
