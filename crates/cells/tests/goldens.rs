//! Every reference file of the lessons, recomputed: what "Verify this page" does, as a test.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::path::PathBuf;

use cells::golden::{self, Golden};
use cells::model_cache::ModelCache;
use cells::{Inputs, jobs, registry};

fn files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/lessons");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_cell_agrees_with_pytorch() {
    let files = files();
    assert!(!files.is_empty());
    let mut failed = Vec::new();
    let cache = ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"));
    for file in files {
        let golden: Golden = serde_json::from_str(&std::fs::read_to_string(&file).unwrap())
            .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for key in ["script", "torch"] {
            assert!(
                golden.header.contains_key(key),
                "{}: the header lacks {key}",
                file.display()
            );
        }
        for cell in &golden.cells {
            let Some(spec) = registry::find(&cell.cell) else {
                failed.push(format!("{}: there is no cell {}", cell.id, cell.cell));
                continue;
            };
            let computed = cell.inputs(spec).and_then(|inputs| {
                jobs::compute(spec, &inputs, &cache).map_err(|e| format!("{}: {e}", cell.id))
            });
            match computed.and_then(|computed| golden::check(cell, &computed)) {
                Ok(checks) => {
                    for check in checks {
                        println!(
                            "{:>9.2e} of {:>7.0e}  {}.{}",
                            check.largest_error, check.tolerance, check.id, check.tensor
                        );
                        if !check.passed() {
                            failed.push(format!(
                                "{}.{}: {:e}",
                                check.id, check.tensor, check.largest_error
                            ));
                        }
                    }
                }
                Err(message) => failed.push(message),
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The comparison itself must be able to fail.
#[test]
fn a_wrong_value_is_found() {
    let text = r#"{"cell": "three-patches", "id": "x", "inputs": {}, "tensors": {
        "scores": {"shape": [3, 3], "values": [0.7071, 0.6364, 0.0707, 0, 0, 0, 0, 0, 0], "tolerance": 0.001},
        "weights": {"shape": [9], "values": [0, 0, 0, 0, 0, 0, 0, 0, 0], "tolerance": 0.001}}}"#;
    let spec = registry::find("three-patches").unwrap();
    let computed = spec.compute(&Inputs::defaults(&(spec.inputs)())).unwrap();
    let checks = golden::check(&serde_json::from_str(text).unwrap(), &computed).unwrap();
    assert!(checks.iter().all(|c| !c.passed()));
    let missing = text.replace("\"scores\"", "\"no-such-tensor\"");
    assert!(
        golden::check(&serde_json::from_str(&missing).unwrap(), &computed)
            .unwrap_err()
            .contains("no-such-tensor")
    );
}
