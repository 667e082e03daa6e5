//! Large models as files: how fast the lab opens one, from an address, from the browser's storage
//! and from the reader's disk, and how much memory that takes at most.

use std::path::Path;
use std::time::{Duration, Instant};

use browser_harness::{Chromium, ChromiumError, Habits, Logs, Server};
use engine::format::gguf_value::Value;
use engine::format::names::Architecture;
use engine::formula::fill;
use engine::quant::{Type, quantize};
use fantoccini::Locator;
use serde_json::json;
use tools::{TensorBytes, gguf};
use worker::model::any_model::ModelConfig;
use worker::model::shape::Shape;

use crate::BenchError;
use crate::cases::Case;
use crate::drive::{OPEN, press, script, wait};
use crate::memory::processes_bytes;

/// The name of the file on its host.
const FILE: &str = "model.gguf";

/// Numbers that are drawn before they are packed.
const PANEL: usize = 1 << 20;

/// Time between two looks at the browser's memory.
const LOOK: Duration = Duration::from_millis(200);

/// The longest that a file may take to open.
const PATIENCE: Duration = Duration::from_secs(300);

/// A script: whether the lab's form is there.
const FORM: &str = "return document.querySelector('.lab-open input[type=file]') !== null";

/// A script: writes `arguments[0]` into the field for an address.
const ADDRESS: &str = "
    const field = document.querySelector('.lab [name=url]');
    field.value = arguments[0];
    field.dispatchEvent(new Event('input', { bubbles: true }));";

/// A script: the error of the lab, or an empty text.
const ERROR: &str = "return document.querySelector('.lab .cell-error')?.textContent ?? ''";

/// A script: the properties of the opened model, by name.
const FACTS: &str = "return Object.fromEntries([...document.querySelectorAll('.lab-facts div')]
    .map(one => [one.querySelector('dt').textContent, one.querySelector('dd').textContent]))";

/// A script: reads what is stored in pieces of 16 MiB and gives the bytes and the milliseconds.
const READ_STORED: &str = "
    const done = arguments[arguments.length - 1];
    (async () => {
        const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('models');
        let [bytes, begun] = [0, performance.now()];
        for await (const handle of folder.values()) {
            const file = await handle.getFile();
            for (let from = 0; from < file.size; from += 1 << 24)
                bytes += (await file.slice(from, from + (1 << 24)).arrayBuffer()).byteLength;
        }
        return [bytes, performance.now() - begun];
    })().then(done, error => done(String(error)));";

/// Where a file comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Address,
    Storage,
    Disk,
}

impl Way {
    const fn name(self) -> &'static str {
        match self {
            Self::Address => "an address of this machine",
            Self::Storage => "the browser's storage",
            Self::Disk => "the disk",
        }
    }
}

/// Makes the file of each case's model and measures how it opens: a JSON line for each way. The
/// folder `scratch` holds the file meanwhile.
///
/// # Errors
/// When a case is no Llama, a file cannot be written, or the browser cannot be driven.
pub(crate) fn opened(dist: &Path, scratch: &Path, cases: &[Case]) -> Result<(), BenchError> {
    std::fs::create_dir_all(scratch)?;
    // The host of the site has the file too: a browser asks no other host without its leave.
    for entry in std::fs::read_dir(dist)? {
        let entry = entry?;
        let link = scratch.join(entry.file_name());
        std::os::unix::fs::symlink(entry.path().canonicalize()?, link)?;
    }
    let file = scratch.join(FILE);
    for case in cases {
        write(case, &file)?;
        let server = Server::start(scratch, Habits::ROOT)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(measure(&server, case, &file))?;
    }
    Ok(())
}

/// Opens a file in each way, each in a browser of its own, and prints a line for it. What is stored
/// by the first is found by the second, which has the same profile.
async fn measure(server: &Server, case: &Case, file: &Path) -> Result<(), BenchError> {
    let bytes = std::fs::metadata(file)?.len();
    for ways in [&[Way::Address, Way::Storage][..], &[Way::Disk]] {
        let profile = std::env::temp_dir().join(format!("files-{}", std::process::id()));
        let argument = format!("--user-data-dir={}", profile.display());
        let opened = async {
            for &way in ways {
                let chromium = Chromium::start_with(Logs::None, &[&argument]).await?;
                let page = server.url(&format!("lab/?build={}", case.build()));
                let line = open(&chromium, &page, way, file, &argument).await?;
                println!("{}", line_of(case, way, bytes, &line));
            }
            Ok::<_, BenchError>(())
        }
        .await;
        // Left by a browser that ended while it was written.
        let _ = std::fs::remove_dir_all(&profile);
        opened?;
    }
    Ok(())
}

/// What one opening took.
struct Opening {
    /// What the lab says of the model.
    facts: serde_json::Value,
    seconds: f64,
    /// What the processes of the browser took more than before, at most.
    grown_bytes: f64,
    /// Bytes and milliseconds of reading what is stored, without opening it.
    stored: Option<[f64; 2]>,
}

fn line_of(case: &Case, way: Way, bytes: u64, opening: &Opening) -> serde_json::Value {
    let megabytes = bytes as f64 / 1e6;
    let rounded = |x: f64| (10.0 * x).round() / 10.0;
    json!({
        "model": case.name(),
        "from": way.name(),
        "file_mb": rounded(megabytes),
        "seconds": rounded(opening.seconds),
        "mb_per_s": rounded(megabytes / opening.seconds),
        "processes_grew_mb": rounded(opening.grown_bytes / 1e6),
        "storage_mb_per_s": opening.stored.map(|[bytes, ms]| rounded(bytes / 1000.0 / ms)),
        "facts": opening.facts,
    })
}

async fn open(
    chromium: &Chromium,
    page: &str,
    way: Way,
    file: &Path,
    argument: &str,
) -> Result<Opening, BenchError> {
    let client = chromium.client();
    client.goto(page).await.map_err(ChromiumError::from)?;
    wait(chromium, page, FORM, &[]).await?;
    let memory = || processes_bytes(argument).unwrap_or(f64::NAN);
    let before = memory();
    let mut begun = Instant::now();
    if way == Way::Disk {
        let picker = client
            .find(Locator::Css(".lab-open input[type=file]"))
            .await;
        let picker = picker.map_err(ChromiumError::from)?;
        let chosen = picker.send_keys(&file.display().to_string()).await;
        chosen.map_err(ChromiumError::from)?;
    } else {
        let address = page.split("lab/").next().unwrap_or(page).to_owned() + FILE;
        script(chromium, ADDRESS, &[json!(address)]).await?;
        begun = Instant::now();
        press(chromium, "Fetch and open").await?;
        if way == Way::Address {
            begun = Instant::now();
            press(chromium, "Fetch it").await?;
        }
    }
    let mut most = before;
    while script(chromium, OPEN, &[]).await? != json!(true) {
        let error = script(chromium, ERROR, &[]).await?;
        if error != json!("") || begun.elapsed() > PATIENCE {
            return Err(BenchError::NoResult(format!("{}: {error}", way.name())));
        }
        most = most.max(memory());
        tokio::time::sleep(LOOK).await;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let grown_bytes = most.max(memory()) - before;
    let facts = script(chromium, FACTS, &[]).await?;
    let stored = match way {
        Way::Storage => Some(read_stored(chromium).await?),
        Way::Address | Way::Disk => None,
    };
    Ok(Opening {
        facts,
        seconds,
        grown_bytes,
        stored,
    })
}

/// Bytes and milliseconds of reading what is stored. The engine has the file open no more.
async fn read_stored(chromium: &Chromium) -> Result<[f64; 2], BenchError> {
    let client = chromium.client();
    let read = client.execute_async(READ_STORED, Vec::new()).await;
    let read = read.map_err(ChromiumError::from)?;
    match [read[0].as_f64(), read[1].as_f64()] {
        [Some(bytes), Some(ms)] => Ok([bytes, ms]),
        _ => Err(BenchError::NoResult(format!("the storage: {read}"))),
    }
}

/// Writes a GGUF file with the shape of a case's model and random weights, without a vocabulary.
///
/// # Errors
/// When the model is no Llama, or the file cannot be written.
fn write(case: &Case, path: &Path) -> Result<(), BenchError> {
    let wrong = |what: &dyn std::fmt::Display| BenchError::File(format!("{}: {what}", case.name()));
    let shape = Shape::from_name(case.model()).map_err(|error| wrong(&error))?;
    let kind = Type::from_name(case.kind()).map_err(|error| wrong(&error))?;
    let ModelConfig::Llama(config) = shape.sizes() else {
        return Err(wrong(&"only Llamas are measured as files"));
    };
    let parameters = shape.parameters();
    let has_biases = parameters
        .iter()
        .any(|(name, _)| name.ends_with("q_proj.bias"));
    let architecture = match has_biases {
        true => Architecture::Qwen2,
        false => Architecture::Llama,
    };
    let name = architecture.name();
    let text = |key: &str, text: &str| (key.to_owned(), Value::Text(text.to_owned()));
    let whole = |key: &str, n: usize| {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        (format!("{name}.{key}"), Value::U32(n))
    };
    let number = |key: &str, x: f32| (format!("{name}.{key}"), Value::F32(x));
    let metadata = [
        text("general.architecture", name),
        text("general.name", shape.title),
        whole("vocab_size", config.vocabulary),
        whole("context_length", config.context),
        whole("embedding_length", config.width),
        whole("feed_forward_length", config.inner),
        whole("block_count", config.layers),
        whole("attention.head_count", config.heads),
        whole("attention.head_count_kv", config.kv_heads),
        whole("rope.dimension_count", config.rope.width),
        number("attention.layer_norm_rms_epsilon", config.norm_eps),
        number("rope.freq_base", config.rope.base),
    ];
    let mut tensors = Vec::new();
    for (theirs, shape) in parameters {
        let name = architecture
            .gguf_name(&theirs)
            .ok_or_else(|| wrong(&theirs))?;
        let kind = if shape.len() == 2 { kind } else { Type::F32 };
        let count: usize = shape.iter().product();
        let mut bytes = Vec::with_capacity(kind.bytes(count).unwrap_or_default());
        for first in (0..count).step_by(PANEL) {
            let numbers = PANEL.min(count - first);
            let drawn = fill(&theirs, shape.len(), numbers, first as u64);
            bytes.extend(quantize(kind, &drawn).map_err(|error| wrong(&error))?);
        }
        tensors.push((name, shape, kind, bytes));
    }
    let borrowed: Vec<_> = tensors.iter().map(TensorBytes::from).collect();
    let file = gguf::write(&metadata, &borrowed).map_err(|error| wrong(&error))?;
    std::fs::write(path, file)?;
    Ok(())
}
