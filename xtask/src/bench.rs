//! `cargo xtask bench`: measures full-size models in headless Chromium through the site's own bench page.

mod webdriver;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::process::say;
use crate::server::{Habits, Server};
use crate::system::{self, Need};
use crate::{build, npm, project, tools};
use webdriver::Session;

/// Models with the types of their matrices.
const MODELS: [(&str, &str); 6] = [
    ("gpt2", "q8_0"),
    ("gpt2", "q4_0"),
    ("smollm2-135m", "q8_0"),
    ("vit-b16", "q8_0"),
    ("vit-b16", "f32"),
    ("minilm", "q8_0"),
];

/// The worker's builds with the number of threads: only one of them has several.
const ENGINES: [(&str, u32); 3] = [("relaxed", 1), ("simd128", 1), ("relaxed-threads", 2)];

/// The least number of runs: with fewer a median says little on a busy machine.
const LEAST_RUNS: u32 = 5;

/// The most browsers at the same time: each holds a model of its own.
const MOST_BESIDE: u32 = 8;

/// How long one line of the list may take.
const MOST: Duration = Duration::from_secs(1200);

/// The page's result once it is there, with the spread of each figure over the runs; the empty text before.
const RESULT: &str = "const result = window.benchResult;
    if (result === undefined) return '';
    const line = { ...result };
    for (const key of ['prefill_tokens_per_s', 'decode_tokens_per_s', 'picture_ms', 'sentences_per_s']) {
        const all = (window.benchRuns ?? []).map((run) => run[key]).filter((value) => value !== null).sort((a, b) => a - b);
        if (all.length === 0) continue;
        const median = (all[(all.length - 1) >> 1] + all[all.length >> 1]) / 2;
        const digits = (value) => Number(value.toPrecision(4));
        line[key] = { median: digits(median), min: digits(all[0]), max: digits(all.at(-1)) };
    }
    return JSON.stringify(line);";

/// What the command line asks for.
struct Options {
    only: Vec<String>,
    runs: u32,
    builds: bool,
    /// Browsers that measure the same at the same time.
    beside: u32,
}

/// Builds the site, measures the list or the part of it that the options name, prints one JSON line each.
///
/// # Errors
/// When an option is wrong, something cannot be installed or built, or the browser cannot be driven.
pub(crate) fn command(options: &[String]) -> Result<ExitCode, Failure> {
    let options = read(options)?;
    let list: Vec<Case> = cases().filter(|case| options.takes(case)).collect();
    if list.is_empty() {
        let all: Vec<String> = cases().map(|case| case.name()).collect();
        return Err(Failure::usage(format!(
            "--only names nothing of the list:\n  {}\n",
            all.join("\n  ")
        )));
    }
    system::ensure(&[Need::Linker, Need::Node, Need::Browser])?;
    if options.builds {
        tools::ensure()?;
        npm::ensure()?;
        build::build("./")?;
    }
    if !project::dist().join("bench/index.html").is_file() {
        return Err(Failure::new(
            "there is no built site in dist/; run without --no-build",
        ));
    }
    let server = Server::start(&project::dist(), Habits::ROOT);
    let mut failed = false;
    for case in list {
        say(format_args!("measuring {}", case.name()));
        // A browser of its own: nothing is left of the one before.
        for line in measure_beside(&server.url(&case.page(options.runs)), options.beside)? {
            failed |= line.contains("\"error\":");
            println!("{line}");
        }
    }
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// One line of the list.
#[derive(Clone, Copy)]
struct Case {
    model: &'static str,
    kind: &'static str,
    build: &'static str,
    threads: u32,
}

impl Case {
    fn name(&self) -> String {
        format!(
            "{} {} {} {}",
            self.model, self.kind, self.build, self.threads
        )
    }

    fn page(&self, runs: u32) -> String {
        let Self {
            model,
            kind,
            build,
            threads,
        } = self;
        format!(
            "bench/?model={model}&type={kind}&build={build}&threads={threads}&prompt=128&new=64&runs={runs}"
        )
    }
}

fn cases() -> impl Iterator<Item = Case> {
    MODELS.into_iter().flat_map(|(model, kind)| {
        ENGINES.into_iter().map(move |(build, threads)| Case {
            model,
            kind,
            build,
            threads,
        })
    })
}

impl Options {
    /// Whether all words of one `--only` are words of the case.
    fn takes(&self, case: &Case) -> bool {
        let name = case.name();
        let has = |only: &String| {
            only.split(' ')
                .all(|word| name.split(' ').any(|part| part == word))
        };
        self.only.is_empty() || self.only.iter().any(has)
    }
}

fn read(options: &[String]) -> Result<Options, Failure> {
    let mut read = Options {
        only: Vec::new(),
        runs: LEAST_RUNS,
        builds: true,
        beside: 1,
    };
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match option.as_str() {
            "--no-build" => read.builds = false,
            "--only" => {
                let words = rest
                    .next()
                    .ok_or_else(|| Failure::usage("--only needs words of the list"))?;
                read.only.push(words.clone());
            }
            "--runs" => {
                let runs = rest.next().and_then(|runs| runs.parse().ok());
                let enough = runs.filter(|&runs| runs >= LEAST_RUNS);
                read.runs = enough.ok_or_else(|| {
                    Failure::usage(format!("--runs needs a number from {LEAST_RUNS}"))
                })?;
            }
            "--beside" => {
                let count = rest.next().and_then(|count| count.parse().ok());
                read.beside = count
                    .filter(|count| (1..=MOST_BESIDE).contains(count))
                    .ok_or_else(|| {
                        Failure::usage(format!("--beside needs a number from 1 to {MOST_BESIDE}"))
                    })?;
            }
            other => return Err(Failure::usage(format!("bench does not take `{other}`"))),
        }
    }
    Ok(read)
}

/// Measures the same in several browsers at once. What they reach together is what this machine's cores and memory give to work that
/// shares nothing: the most that as many threads could reach.
fn measure_beside(url: &str, count: u32) -> Result<Vec<String>, Failure> {
    if count == 1 {
        return Ok(vec![measure(url)?]);
    }
    let lines = std::thread::scope(|scope| {
        let started: Vec<_> = (0..count).map(|_| scope.spawn(|| measure(url))).collect();
        let joined = started.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(Failure::new("a measurement stopped")))
        });
        joined.collect::<Result<Vec<_>, _>>()
    })?;
    let marked = |line: String| line.replacen('{', &format!("{{\"beside\":{count},"), 1);
    Ok(lines.into_iter().map(marked).collect())
}

/// Opens a bench page in a new browser and waits for its result.
fn measure(url: &str) -> Result<String, Failure> {
    let session = Session::start()?;
    session.open(url)?;
    let begun = Instant::now();
    loop {
        let line = session.text_of(RESULT)?;
        if !line.is_empty() {
            return Ok(line);
        }
        if begun.elapsed() > MOST {
            return Err(Failure::new(format!("{url} gives no result")));
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[cfg(test)]
mod tests {
    use super::{cases, read};

    #[test]
    fn only_takes_words_of_the_list() {
        let count = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
            read(&options)
                .map(|options| cases().filter(|case| options.takes(case)).count())
                .ok()
        };
        assert_eq!(count(&[]), Some(18));
        assert_eq!(count(&["--only", "gpt2"]), Some(6));
        assert_eq!(
            count(&["--only", "gpt2 q8_0 relaxed 1", "--only", "vit-b16 f32"]),
            Some(4)
        );
        assert_eq!(count(&["--only", "gpt"]), Some(0));
        assert_eq!(count(&["--runs", "9", "--no-build"]), Some(18));
        assert_eq!(count(&["--beside", "2"]), Some(18));
        for wrong in [
            &["--runs", "2"][..],
            &["--only"],
            &["fast"],
            &["--beside", "0"],
            &["--beside", "9"],
        ] {
            assert_eq!(count(wrong), None);
        }
    }
}
