//! Each cell that reads logged runs shows the command that makes them again, and the trainer knows it.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cells::model_cache::ModelCache;
use cells::{Inputs, jobs, registry};

/// Files that are no logs, though their names end as those of logs.
const NO_LOGS: [&str; 1] = ["eval-en-it.tsv"];

/// Logs whose names do not end in `.tsv`.
const TABLES: [&str; 1] = ["position-tables.safetensors"];

/// The calls of a view that print the command of its logs.
const PRINTS: [&str; 2] = ["{command_of_runs(cx)}", "{kept.table()}"];

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The logs that each cell reads with some inputs, by the cell's name.
fn readers() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut all = BTreeMap::new();
    for entry in jobs::all() {
        let spec = registry::find(entry.name).unwrap();
        let files = (entry.files)(&Inputs::defaults(&(spec.inputs)()));
        let is_log = |file: &&str| {
            TABLES.contains(file) || (file.ends_with(".tsv") && !NO_LOGS.contains(file))
        };
        let logs: BTreeSet<&str> = files.into_iter().filter(is_log).collect();
        if !logs.is_empty() {
            all.insert(entry.name, logs);
        }
    }
    all
}

/// The text of a cell's view.
fn view_of(name: &str) -> String {
    let file = format!("{}.rs", name.replace('-', "_"));
    let lessons = std::fs::read_dir(project().join("src/cells/lessons")).unwrap();
    let mut paths = lessons.map(|lesson| lesson.unwrap().path().join(&file));
    let path = paths.find(|path| path.is_file()).unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn each_cell_with_logged_runs_shows_their_commands() {
    let help = project().join("crates/train/src/arguments.rs");
    let help = std::fs::read_to_string(help).unwrap();
    let cache = ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"));
    let readers = readers();
    assert!(readers.len() >= 15, "{:?}", readers.keys());
    for (name, logs) in readers {
        let spec = registry::find(name).unwrap();
        let inputs = Inputs::defaults(&(spec.inputs)());
        let computed = jobs::compute(spec, &inputs, &cache).unwrap();
        let words = ["command", "logged.command"].map(|words| computed.words(words));
        let commands: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
        // Each command makes the file of its name.
        let made: BTreeSet<&str> = (commands.iter())
            .map(|command| {
                let rest = command.strip_prefix("cargo xtask train ").unwrap();
                rest.split(' ').next().unwrap()
            })
            .collect();
        let read: BTreeSet<&str> = (logs.iter())
            .map(|log| log.split('.').next().unwrap())
            .collect();
        assert_eq!(made, read, "{name}");
        for model in made {
            assert!(help.contains(&format!("\n  {model} ")), "{name}: {model}");
        }
        let view = view_of(name);
        let prints = PRINTS.iter().filter(|call| view.contains(**call)).count();
        assert!(
            prints >= words.iter().filter(|words| !words.is_empty()).count(),
            "{name}"
        );
    }
}
