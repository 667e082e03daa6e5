//! The default results of the cells, which released pages are served with.
//!
//! The program `prerender` computes and draws them, with the code of the site; it is a program of
//! its own so that pages are made without compiling the site first.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use lesson::{Cell, Figure, Lesson, Segment};
use serde_json::{Map, Value, json};

use crate::content::Content;
use crate::error::BuildError;

/// Computes every cell on the inputs that its lesson gives it.
///
/// # Errors
/// When the program cannot be built, or a cell cannot be computed.
pub(crate) fn compute(project: &Path, content: &mut Content) -> Result<(), BuildError> {
    let failed =
        |why: String| BuildError::Other(format!("the figures of the pages cannot be made: {why}"));
    let wanted: Vec<Value> = content
        .pages_mut()
        .flat_map(|page| {
            let shared = page.shared.clone();
            cells(page).map(move |cell| wanted(cell, json!(shared)))
        })
        .collect();
    let answer = ask(project, &Value::Array(wanted)).map_err(|e| failed(e.to_string()))?;
    if !answer.status.success() {
        return Err(failed(answer.status.to_string()));
    }
    let figures: Vec<Value> =
        serde_json::from_slice(&answer.stdout).map_err(|e| failed(e.to_string()))?;
    let cells = content.pages_mut().flat_map(cells);
    for (cell, figure) in cells.zip(figures) {
        let text = |name: &str| figure[name].as_str().map(str::to_owned);
        cell.figure = text("html")
            .zip(text("fingerprint"))
            .map(|(html, fingerprint)| Figure { html, fingerprint });
    }
    Ok(())
}

fn cells(page: &mut Lesson) -> impl Iterator<Item = &mut Cell> {
    page.segments
        .iter_mut()
        .filter_map(|segment| match segment {
            Segment::Cell(cell) => Some(cell),
            _ => None,
        })
}

fn wanted(cell: &Cell, shared: Value) -> Value {
    let props: Map<String, Value> = cell.props.clone();
    json!({ "name": cell.name, "id": cell.id, "title": cell.title, "props": props, "shared": shared })
}

/// Runs the program, which is compiled first where it is not there yet.
fn ask(project: &Path, wanted: &Value) -> std::io::Result<std::process::Output> {
    let mut program = Command::new("cargo")
        .args(["run", "--quiet", "--package", "prerender", "--"])
        .arg(project.join("public/models"))
        .current_dir(project)
        // Flags and folders that the caller has set are for the site.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // It reads all of its input before it answers.
    if let Some(mut input) = program.stdin.take() {
        input.write_all(wanted.to_string().as_bytes())?;
    }
    program.wait_with_output()
}
