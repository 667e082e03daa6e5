//! Writing of trained parameters into the file that pages load, and of its card.

use super::card::{Table, tables, update};
use super::files;
use super::progress::time;
use super::run::{Options, Trained};
use super::subject::{Figure, Subject};
use crate::{Result, TrainError};
use engine::format::safetensors::SafeTensors;
use engine::format::tensors::{Element, Entry, SCALED};
use engine::parameters::Memory;
use engine::quant::Type;
use engine::trainable::saved;
use std::path::Path;
use tools::safetensors::{is_matrix, write_parameters, write_scaled};

/// The most bytes of one shipped model.
pub const LARGEST_FILE: usize = 3_000_000;

/// The most bytes of all shipped models together.
pub const LARGEST_ALL: usize = 14_000_000;

/// The row of a card that says how matrices are stored.
pub const WEIGHTS: &str = "weights";

/// The row of a card with its figures in half precision, in their order.
pub const HALF: &str = "the same scores with weights in half precision";

/// The row of a card with the size that a reader downloads.
pub const GZIP: &str = "bytes after gzip";

/// Writes the best parameters to `folder`, with the model's card in `MODELS.md`: matrices as signed
/// bytes with scales (Q8_0) where every figure stays as it is in half precision, or within
/// [`Figure::allowed`]; else in half precision. Both are measured.
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
    let origin = Origin {
        seed: options.seed.to_string(),
        command: command(subject, options, data),
        step: trained.step.to_string(),
        time: format!("{}, one thread, {}", time(trained.elapsed_s), machine()),
    };
    write(subject, &trained.best, &origin, folder)
}

/// Ships the parameters of a file that was shipped before in half precision. Seed, command, best
/// step and time stay those of its training.
///
/// # Errors
/// As [`ship`], and where the file has other weights or `MODELS.md` has no card of the model.
pub fn ship_again<S: Subject>(subject: &S, from: &Path, folder: &Path) -> Result<()> {
    let file = SafeTensors::parse(files::read(from)?.into()).map_err(TrainError::format(from))?;
    let mut tensors = file.tensors.clone();
    let scaled = |entry: &&Entry| matches!(entry.element(), Element::Scaled { .. });
    if let Some(entry) = tensors.entries().iter().find(scaled) {
        let found = format!("{} in {}", entry.name(), entry.element().name());
        return Err(TrainError::content(from, "weights in F16", found));
    }
    let cards = folder.join(CARDS);
    let text = String::from_utf8_lossy(&files::read(&cards)?).into_owned();
    let card = tables(&text)
        .into_iter()
        .find(|card| card.name == subject.name())
        .ok_or_else(|| TrainError::content(&cards, subject.name(), "no such section"))?;
    let said = |row: &str| {
        let found = card.get(row).map(str::to_owned);
        found.ok_or_else(|| TrainError::content(&cards, format!("{row} in {}", card.name), "none"))
    };
    let seed = file.metadata().iter().find(|(key, _)| key == "seed");
    let seed = seed.ok_or_else(|| TrainError::content(from, "its seed", "none"))?;
    let origin = Origin {
        seed: seed.1.clone(),
        command: said(COMMAND)?,
        step: said(STEP)?,
        time: said(TIME)?,
    };
    let mut model = subject.load(&mut tensors)?;
    write(subject, &saved(&mut model)?, &origin, folder)
}

const CARDS: &str = "MODELS.md";
const COMMAND: &str = "command";
const STEP: &str = "best step";
const TIME: &str = "time taken";

/// The text of a card on its matrices of signed bytes.
fn scaled_text<S: Subject>(subject: &S, best: &Memory) -> String {
    let bits = match subject.bits() {
        8 => String::new(),
        fewer => format!(" ({fewer} of 8 bits used)"),
    };
    let matrices = || best.iter().filter(|(_, tensor)| is_matrix(tensor.shape()));
    let kept = matrices().filter(|(name, _)| subject.keeps(name)).count();
    let kept = match kept {
        0 => String::new(),
        kept => format!(
            "; {kept} of {} matrices stay in half precision",
            matrices().count()
        ),
    };
    format!("Q8_0: signed bytes{bits} with a scale for each {SCALED}{kept}")
}

/// What a card says of the training.
struct Origin {
    seed: String,
    command: String,
    step: String,
    time: String,
}

fn write<S: Subject>(subject: &S, best: &Memory, origin: &Origin, folder: &Path) -> Result<()> {
    let name = subject.name();
    let path = folder.join(format!("{name}.safetensors"));
    let format = TrainError::format(&path);
    let measured = |bytes: Vec<u8>| {
        let mut tensors = SafeTensors::parse(bytes.into()).map_err(&format)?.tensors;
        subject.measure(&subject.load(&mut tensors)?)
    };
    // Without metadata first: what is measured is what is in the file.
    eprintln!("measuring {name} in half precision");
    let half = measured(write_parameters(&[], best, Type::F16).map_err(&format)?)?;
    eprintln!("measuring {name} with matrices as signed bytes");
    let scaled = measured(
        write_scaled(&[], best, subject.bits(), |name| subject.keeps(name)).map_err(&format)?,
    )?;
    for (half, scaled) in half.iter().zip(&scaled) {
        let (name, half, scaled) = (&scaled.name, half.shown(), scaled.shown());
        println!(
            "{}: {name}: {half} in half precision, {scaled} as signed bytes",
            subject.name()
        );
    }
    let mut pairs = half.iter().zip(&scaled);
    let lost = pairs.find(|(half, scaled)| !scaled.holds(half.value));
    let (figures, weights) = match lost {
        None => (&scaled, scaled_text(subject, best)),
        Some((exact, lossy)) => {
            let (name, exact, lossy) = (&exact.name, exact.shown(), lossy.shown());
            (
                &half,
                format!("half precision: with Q8_0, {name}, is {lossy} and not {exact}"),
            )
        }
    };
    let metadata = metadata(subject, &origin.seed, figures)?;
    let bytes = match lost {
        None => write_scaled(&metadata, best, subject.bits(), |name| subject.keeps(name)),
        Some(_) => write_parameters(&metadata, best, Type::F16),
    }
    .map_err(&format)?;
    check_sizes(folder, &path, name, bytes.len())?;
    let mut rows = rows(subject, best, &bytes, origin, weights)?;
    rows.extend(
        figures
            .iter()
            .map(|figure| (figure.name.clone(), figure.shown())),
    );
    if lost.is_none() {
        let half: Vec<String> = half.iter().map(Figure::shown).collect();
        rows.push((HALF.to_owned(), half.join(", ")));
    }
    let card = Table {
        name: name.to_owned(),
        about: subject.card().about,
        rows,
    };
    let cards = folder.join(CARDS);
    let text = match cards.exists() {
        true => String::from_utf8_lossy(&files::read(&cards)?).into_owned(),
        false => String::new(),
    };
    files::replace(&path, &bytes)?;
    files::replace(&cards, update(&text, &card).as_bytes())?;
    println!("{} ({} bytes)", path.display(), bytes.len());
    Ok(())
}

fn metadata<S: Subject>(
    subject: &S,
    seed: &str,
    figures: &[Figure],
) -> Result<Vec<(String, String)>> {
    let mut all = vec![
        ("config".to_owned(), subject.config().to_string()),
        ("seed".to_owned(), seed.to_owned()),
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
    best: &Memory,
    bytes: &[u8],
    origin: &Origin,
    weights: String,
) -> Result<Vec<(String, String)>> {
    let card = subject.card();
    let count: usize = best.iter().map(|(_, tensor)| tensor.len()).sum();
    let gzip = files::gzip_size(bytes)?;
    let rows = [
        ("file", format!("{}.safetensors", subject.name())),
        ("bytes", bytes.len().to_string()),
        (GZIP, gzip.to_string()),
        (WEIGHTS, weights),
        ("parameters", count.to_string()),
        ("data", card.data),
        ("licence of the data", card.licence),
        ("public original", card.source),
        (COMMAND, origin.command.clone()),
        (STEP, origin.step.clone()),
        (TIME, origin.time.clone()),
    ];
    Ok(rows.map(|(name, value)| (name.to_owned(), value)).into())
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
