//! Writing of trained parameters into the file that pages load, and of its card.

use super::card::{Table, update};
use super::files;
use super::progress::time;
use super::run::{Options, Trained};
use super::subject::{Figure, Subject};
use crate::{Result, TrainError};
use engine::format::safetensors::SafeTensors;
use engine::quant::Type;
use engine::trainable::{Trainable, count};
use std::path::Path;
use tools::safetensors::write_parameters;

/// The most bytes of one shipped model.
pub const LARGEST_FILE: usize = 3_000_000;

/// The most bytes of all shipped models together.
pub const LARGEST_ALL: usize = 14_000_000;

/// Rounds the best parameters to half precision, measures the model in that form, and writes it to
/// `folder` with its card in `MODELS.md`.
///
/// # Errors
/// When files cannot be read or written, the model is too large, or the engine refuses; no file is
/// changed then.
pub fn ship<S: Subject>(
    subject: &S,
    trained: &Trained,
    options: &Options,
    (folder, data): (&Path, &Path),
) -> Result<()> {
    let name = subject.name();
    let path = folder.join(format!("{name}.safetensors"));
    let format = TrainError::format(&path);
    // Without metadata first: what is measured is what is in the file.
    let rounded = write_parameters(&[], &trained.best, Type::F16).map_err(&format)?;
    let mut tensors = SafeTensors::parse(rounded.into()).map_err(&format)?.tensors;
    let mut model = subject.load(&mut tensors)?;
    eprintln!("measuring {name}");
    let figures = subject.measure(&model)?;
    let metadata = metadata(subject, options, &figures)?;
    let bytes = write_parameters(&metadata, &trained.best, Type::F16).map_err(&format)?;
    check_sizes(folder, &path, name, bytes.len())?;
    let command = command(subject, options, data);
    let rows = rows(subject, &mut model, &bytes, trained, &figures, command)?;
    let card = Table {
        name: name.to_owned(),
        about: subject.card().about,
        rows,
    };
    let cards = folder.join("MODELS.md");
    let text = match cards.exists() {
        true => String::from_utf8_lossy(&files::read(&cards)?).into_owned(),
        false => String::new(),
    };
    files::replace(&path, &bytes)?;
    files::replace(&cards, update(&text, &card).as_bytes())?;
    for figure in &figures {
        println!("{name}: {} {}", figure.name, figure.shown());
    }
    println!("{} ({} bytes)", path.display(), bytes.len());
    Ok(())
}

fn metadata<S: Subject>(
    subject: &S,
    options: &Options,
    figures: &[Figure],
) -> Result<Vec<(String, String)>> {
    let mut all = vec![
        ("config".to_owned(), subject.config().to_string()),
        ("seed".to_owned(), options.seed.to_string()),
    ];
    if let Some(score) = figures.first() {
        all.push(("score".to_owned(), score.shown()));
        all.push(("score_of".to_owned(), score.name.clone()));
    }
    all.extend(subject.beside()?);
    Ok(all)
}

/// The command that makes the file again.
fn command<S: Subject>(subject: &S, options: &Options, data: &Path) -> String {
    let option = |name: &str, value: Option<u64>| {
        let text = value.map(|n| format!(" --{name} {n}"));
        text.unwrap_or_default()
    };
    format!(
        "`cargo xtask train {} --data {}{}{}{}`",
        subject.name(),
        data.display(),
        option("seed", Some(options.seed)),
        option("steps", options.steps),
        option("stop-after", options.stop_after)
    )
}

fn rows<S: Subject>(
    subject: &S,
    model: &mut S::Model,
    bytes: &[u8],
    trained: &Trained,
    figures: &[Figure],
    command: String,
) -> Result<Vec<(String, String)>> {
    let card = subject.card();
    let model: &mut dyn Trainable = model;
    let mut rows: Vec<(String, String)> = [
        ("file", format!("{}.safetensors", subject.name())),
        ("bytes", bytes.len().to_string()),
        ("parameters", count(model)?.to_string()),
        ("data", card.data),
        ("licence of the data", card.licence),
        ("public original", card.source),
        ("command", command),
        ("best step", trained.step.to_string()),
        (
            "time taken",
            format!("{}, one thread, {}", time(trained.elapsed_s), machine()),
        ),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    rows.extend(
        figures
            .iter()
            .map(|figure| (figure.name.clone(), figure.shown())),
    );
    Ok(rows)
}

/// The processor's name.
fn machine() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = known.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':'));
    let kernels = engine::kernel::steady().name();
    match name {
        Some((_, name)) => format!("{} ({kernels})", name.trim()),
        None => format!("{} ({kernels})", std::env::consts::ARCH),
    }
}

/// Refuses a file that is too large, by itself or with the others in the folder.
fn check_sizes(folder: &Path, path: &Path, name: &str, bytes: usize) -> Result<()> {
    let too_large = |bytes, what, most| TrainError::TooLarge {
        name: name.to_owned(),
        bytes,
        what,
        most,
    };
    if bytes > LARGEST_FILE {
        return Err(too_large(bytes, "a model", LARGEST_FILE));
    }
    let mut all = bytes;
    if folder.is_dir() {
        let wrong = |error| TrainError::file("read", folder, error);
        for entry in std::fs::read_dir(folder).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let other = entry.path();
            let is_model = other
                .extension()
                .is_some_and(|kind| kind == "safetensors" || kind == "gguf");
            if is_model && other != path {
                all += entry.metadata().map_err(wrong)?.len() as usize;
            }
        }
    }
    match all > LARGEST_ALL {
        true => Err(too_large(all, "all models together", LARGEST_ALL)),
        false => Ok(()),
    }
}
