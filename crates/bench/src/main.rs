//! `bench`: measures full-size models in headless Chromium through the bench page of the built
//! site, and prints one JSON line for each; with other options, how long edits of the lessons' cells
//! or their training runs take, or pages over a slow line, or Lighthouse's scores, or an author's
//! saves, or the memory of a long visit, or how large models open as files. `cargo xtask bench` builds
//! the site and runs it.

mod cases;
mod cpu;
mod drive;
mod edits;
mod lighthouse;
mod measure;
mod memory;
mod model_files;
mod options;
mod pages;
mod saves;
mod soak;
mod trainings;

use std::path::Path;
use std::process::ExitCode;

use browser_harness::{ChromiumError, Habits, Server};
use options::Options;

/// A reason why nothing was measured.
#[derive(Debug, thiserror::Error)]
enum BenchError {
    #[error("{0}")]
    Option(#[from] lexopt::Error),
    #[error("there is no built site in {0}: `cargo xtask bench` builds it")]
    NoSite(String),
    #[error("the page cannot be served or measured: {0}")]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Chromium(#[from] ChromiumError),
    #[error("{0} gives no result")]
    NoResult(String),
    #[error("the development server: {0}")]
    Serve(#[from] devserver::ServeError),
    #[error("this system does not say what its processor can do")]
    UnknownProcessor,
    #[error("this processor ({name}) cannot run that: it lacks {lacks}")]
    Processor { name: String, lacks: String },
    #[error("a model's file cannot be made: {0}")]
    File(String),
    #[error("a measurement stopped")]
    Stopped,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode, BenchError> {
    let options = Options::read(lexopt::Parser::from_env())?;
    let cases = options.cases();
    let measures_models = options.measures_models();
    if options.help || options.list || (cases.is_empty() && measures_models) {
        return Ok(print_without_measuring(&options));
    }
    if options.saves {
        for line in saves::of_author()? {
            println!("{line}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let dist = Path::new(&options.dist);
    if !dist.join("bench/index.html").is_file() {
        return Err(BenchError::NoSite(options.dist));
    }
    if options.pages {
        for line in pages::of_site(dist, &options)? {
            println!("{line}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if options.lighthouse {
        for line in lighthouse::of_site(dist, &options)? {
            println!("{line}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if options.files {
        let scratch = std::env::temp_dir().join(format!("bench-{}", std::process::id()));
        let opened = model_files::opened(dist, &scratch, &cases);
        // It may not even have been made.
        let _ = std::fs::remove_dir_all(&scratch);
        return opened.map(|()| ExitCode::SUCCESS);
    }
    let server = Server::start(dist, Habits::ROOT)?;
    if options.edits {
        for line in edits::of_lessons(&server, dist)? {
            println!("{line}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if options.trainings {
        for line in trainings::of_lessons(&server)? {
            println!("{line}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(minutes) = options.soak_minutes {
        for line in soak::for_minutes(&server, dist, minutes)? {
            println!("{line}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(cpu) = options.cpu {
        let flags = cpu::of_this_machine("flags");
        if flags.is_empty() {
            return Err(BenchError::UnknownProcessor);
        }
        let lacks = cpu.lacks(&flags);
        if !lacks.is_empty() {
            return Err(BenchError::Processor {
                name: cpu::of_this_machine("model name"),
                lacks: lacks.join(", "),
            });
        }
    }
    let mut failed = false;
    for case in cases {
        println!("bench: measuring {}", case.name());
        let url = server.url(&case.page(options.runs));
        for line in measure::in_browsers(&url, options.beside, options.cpu)? {
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

/// Prints the help, or the cases that were chosen; a choice of nothing is a mistake.
fn print_without_measuring(options: &Options) -> ExitCode {
    if options.help {
        print!("{}", options::HELP);
        return ExitCode::SUCCESS;
    }
    if !options.measures_models() {
        // The list is that of the models.
        return ExitCode::SUCCESS;
    }
    let cases = options.cases();
    for case in &cases {
        println!("{}", case.name());
    }
    if !cases.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("bench: --only names nothing of the list:");
    for case in cases::all() {
        eprintln!("  {}", case.name());
    }
    ExitCode::FAILURE
}
