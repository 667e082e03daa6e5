//! Time of a save until the open page shows it: the development server builds, Chromium shows a
//! page of it, and files of the project are changed as an author would and put back.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use browser_harness::{Chromium, ChromiumError, Logs};
use devserver::Serving;
use fantoccini::Client;
use serde_json::json;

use crate::BenchError;

/// Number of times that each save is made.
const RUNS: usize = 5;

/// The most time for the first build, and for any later one.
const FIRST: Duration = Duration::from_secs(3600);
const LATER: Duration = Duration::from_secs(600);

/// Time between two looks at the page.
const LOOK: Duration = Duration::from_millis(20);

/// A pause after each save, in which what is built behind the page comes to an end.
const PAUSE: Duration = Duration::from_secs(3);

/// A pause after the files are as they were, in which that is built.
const SETTLED: Duration = Duration::from_secs(30);

/// A lesson with a cell whose numbers its prose quotes.
const PAGE: &str = "lesson/self-attention/";

/// Something that an author saves.
struct Save {
    name: &'static str,
    /// Seconds that it may take.
    goal: f64,
    file: &'static str,
    /// The text that is replaced, and what by; `@n` is the number of the save. Without a text, the
    /// new one goes to the end.
    old: &'static str,
    new: &'static str,
    /// A script: whether the page shows save number `arguments[0]`. `arguments[1]` is what `BEFORE`
    /// gave.
    shown: &'static str,
}

/// A script: the first score of the cell, as the page showed it before anything was saved.
const BEFORE: &str = "return document.querySelector('#three-patches [data-from=\"scores[0,0]\"]')?.textContent ?? ''";

const SAVES: [Save; 4] = [
    Save {
        name: "a lesson",
        goal: 2.0,
        file: "lessons/05-self-attention.md",
        old: "",
        new: "\n\nSaved for the @n-th time.\n",
        shown: "return document.body.textContent.includes(`Saved for the ${arguments[0]}-th time.`)",
    },
    Save {
        name: "a style sheet",
        goal: 2.0,
        file: "style/base.css",
        old: "",
        new: "\nbody { --saved: @n; }\n",
        shown: "return getComputedStyle(document.body).getPropertyValue('--saved').trim() === String(arguments[0])",
    },
    Save {
        name: "a change in src/",
        goal: 15.0,
        file: "src/shell/page_tools.rs",
        old: "\"Verify this page\"",
        new: "\"Verify this page @n\"",
        shown: "return document.body.textContent.includes(`Verify this page ${arguments[0]}`)",
    },
    Save {
        name: "a cell's computation",
        goal: 25.0,
        file: "crates/cells/src/lessons/self_attention/three_patches.rs",
        old: "record.tensor(\"scores\", &attention.scores);",
        new: "record.tensor(\"scores\", &(&attention.scores + @n.0_f32));",
        shown: "const cell = document.querySelector('#three-patches [data-from=\"scores[0,0]\"]');
            const number = (text) => parseFloat(text.replace('\u{2212}', '-'));
            return cell !== null && Math.abs(number(cell.textContent) - number(arguments[1]) - arguments[0]) < 0.02",
    },
];

/// A file that is put back as it was when this is dropped.
struct Kept {
    path: PathBuf,
    text: String,
}

impl Kept {
    fn of(path: PathBuf) -> Result<Self, BenchError> {
        let text = std::fs::read_to_string(&path)?;
        Ok(Self { path, text })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(&self.path, &self.text) {
            eprintln!("bench: {} is not as it was: {error}", self.path.display());
        }
    }
}

/// Measures each save and gives a table: median, least and largest number of seconds, and the goal.
///
/// # Errors
/// When the server or the browser cannot be driven, or a save is not shown in time.
pub(crate) fn of_author() -> Result<Vec<String>, BenchError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    // This program lies in the folder that cargo builds everything into.
    let target = std::env::current_exe()?
        .ancestors()
        .nth(2)
        .map_or_else(|| root.join("target"), Path::to_owned);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut table = vec![
        "| saved | median s | least s | largest s | goal s |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    let begun = Instant::now();
    let serving = Serving::start(&root, target, 0)?;
    while !serving.is_ready() {
        if begun.elapsed() > FIRST {
            return Err(BenchError::NoResult("the first build".to_owned()));
        }
        std::thread::sleep(LOOK);
    }
    println!(
        "bench: the first build took {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    let base = format!("http://{}/", serving.address());
    table.extend(runtime.block_on(all(&root, &base, &SAVES))?);
    drop(serving);
    match Trunk::start(&root) {
        Some(trunk) => {
            let save = Save {
                name: "a lesson, with `trunk serve`",
                goal: 15.0,
                ..SAVES[0]
            };
            table.extend(runtime.block_on(all(&root, &trunk.base, &[save]))?);
        }
        None => table.push(
            "| a lesson, with `trunk serve` | skipped: Trunk is not installed | | | |".to_owned(),
        ),
    }
    Ok(table)
}

async fn all(root: &Path, base: &str, saves: &[Save]) -> Result<Vec<String>, BenchError> {
    let chromium = Chromium::start(Logs::None).await?;
    let client = chromium.client();
    let mut lines = Vec::new();
    open(client, &format!("{base}{PAGE}")).await?;
    let mut before = String::new();
    let begun = Instant::now();
    while before.is_empty() {
        if begun.elapsed() > FIRST {
            return Err(BenchError::NoResult(format!(
                "{PAGE} computes nothing, which"
            )));
        }
        let value = client.execute(BEFORE, vec![]).await.unwrap_or_default();
        before = value.as_str().unwrap_or_default().to_owned();
        tokio::time::sleep(LOOK).await;
    }
    for save in saves {
        println!("bench: saving {} {RUNS} times", save.name);
        lines.push(measure(root, client, save, &before).await?);
    }
    Ok(lines)
}

/// Opens a page, as soon as there is a server.
async fn open(client: &Client, url: &str) -> Result<(), BenchError> {
    let begun = Instant::now();
    loop {
        match client.goto(url).await {
            Ok(()) => return Ok(()),
            Err(error) if begun.elapsed() > FIRST => return Err(ChromiumError::from(error).into()),
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }
}

async fn measure(
    root: &Path,
    client: &Client,
    save: &Save,
    before: &str,
) -> Result<String, BenchError> {
    let kept = Kept::of(root.join(save.file))?;
    let mut seconds = Vec::new();
    for n in 1..=RUNS {
        let new = save.new.replace("@n", &n.to_string());
        let text = match save.old {
            "" => format!("{}{new}", kept.text),
            old if kept.text.contains(old) => kept.text.replacen(old, &new, 1),
            old => return Err(BenchError::NoResult(format!("{} without {old}", save.file))),
        };
        let begun = Instant::now();
        std::fs::write(&kept.path, text)?;
        let arguments = vec![json!(n), json!(before)];
        // A page that is being loaded answers with an error.
        while client.execute(save.shown, arguments.clone()).await.ok() != Some(json!(true)) {
            if begun.elapsed() > LATER {
                return Err(BenchError::NoResult(format!("save {n} of {}", save.name)));
            }
            tokio::time::sleep(LOOK).await;
        }
        seconds.push(begun.elapsed().as_secs_f64());
        tokio::time::sleep(PAUSE).await;
    }
    drop(kept);
    // The old text is a save too, and must be shown before the next one is measured.
    tokio::time::sleep(SETTLED).await;
    seconds.sort_by(f64::total_cmp);
    let line = format!(
        "| {} | {:.2} | {:.2} | {:.2} | {} |",
        save.name,
        seconds[RUNS / 2],
        seconds[0],
        seconds[RUNS - 1],
        save.goal
    );
    println!("bench: {line}");
    Ok(line)
}

/// A running `trunk serve`, which is ended when this is dropped.
struct Trunk {
    process: Child,
    base: String,
}

impl Trunk {
    /// Starts it on a free port; `None` where it is not installed.
    fn start(root: &Path) -> Option<Self> {
        let free = std::net::TcpListener::bind("127.0.0.1:0").ok()?;
        let port = free.local_addr().ok()?.port();
        drop(free);
        let process = Command::new("trunk")
            .args(["serve", "--port", &port.to_string()])
            // Trunk reads NO_COLOR as a truth value and stops at the "1" that other programs agree
            // on.
            .env_remove("NO_COLOR")
            .current_dir(root)
            .stdin(Stdio::null())
            .spawn()
            .ok()?;
        let base = format!("http://127.0.0.1:{port}/");
        Some(Self { process, base })
    }
}

impl Drop for Trunk {
    fn drop(&mut self) {
        // Already gone is as good.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
