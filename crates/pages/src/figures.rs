//! The default results of the cells, which released pages are served with.
//!
//! The program `prerender` computes and draws them, with the code of the site; it is a program of
//! its own so that pages are made without compiling the site first.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use lesson::reference::InlineRef;
use lesson::{Cell, Figure, Lesson};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::content::Content;
use crate::error::BuildError;

/// Computes every cell on the inputs that its lesson gives it, and the values that prose quotes.
///
/// # Errors
/// When the program cannot be built, or a cell cannot be computed.
pub(crate) fn compute(project: &Path, content: &mut Content) -> Result<(), BuildError> {
    let failed =
        |why: String| BuildError::Other(format!("the figures of the pages cannot be made: {why}"));
    let wanted: Vec<Value> = content.pages().flat_map(wanted).collect();
    let answer = ask(project, &Value::Array(wanted)).map_err(|e| failed(e.to_string()))?;
    if !answer.status.success() {
        return Err(failed(answer.status.to_string()));
    }
    let answer: Vec<Answer> =
        serde_json::from_slice(&answer.stdout).map_err(|e| failed(e.to_string()))?;
    let mut answer = answer.into_iter();
    for page in content.pages_mut() {
        take(page, &mut answer);
    }
    Ok(())
}

/// What the program says about a cell.
#[derive(Deserialize)]
struct Answer {
    html: String,
    fingerprint: String,
    quoted: Vec<Option<String>>,
}

/// What the program is to compute for a page.
fn wanted(page: &Lesson) -> impl Iterator<Item = Value> {
    page.cells().map(|cell| {
        let quoted: Vec<[String; 2]> = quoted(page, cell)
            .iter()
            .map(|value| [value.element.to_string(), value.format.to_string()])
            .collect();
        json!({
            "name": cell.name, "id": cell.id, "title": cell.title,
            "props": cell.props, "shared": page.shared, "quoted": quoted,
        })
    })
}

/// The results of a cell that the page's prose quotes.
fn quoted(page: &Lesson, cell: &Cell) -> Vec<InlineRef> {
    let values = page.inline_values.iter().map(|quote| &quote.value);
    values
        .filter(|value| value.cell == cell.id)
        .cloned()
        .collect()
}

/// Gives the cells of a page their figures, and its prose the quoted values.
fn take(page: &mut Lesson, answers: &mut impl Iterator<Item = Answer>) {
    let cells: Vec<Cell> = page.cells().cloned().collect();
    for (place, (cell, answer)) in cells.iter().zip(answers).enumerate() {
        for (value, text) in quoted(page, cell).iter().zip(&answer.quoted) {
            if let Some(text) = text {
                page.quote(value, text);
            }
        }
        let html = without_handles(&answer.html);
        if place == 0 || waits(cell) || compressed(&html) <= LARGEST {
            let fingerprint = answer.fingerprint;
            page.give_figure(&cell.id, Figure { html, fingerprint });
        }
    }
}

/// Bytes of markup, compressed, up to which a cell has a figure that would show within a moment
/// without one.
const LARGEST: usize = 4000;

/// Whether a cell waits for the worker, and perhaps for a model or a training.
fn waits(cell: &Cell) -> bool {
    let spec = cells::registry::find(&cell.name);
    spec.is_some_and(|spec| matches!(spec.run, cells::Run::Sliced(_)))
}

fn compressed(html: &str) -> usize {
    miniz_oxide::deflate::compress_to_vec(html.as_bytes(), 6).len()
}

/// The markup without what only the code of the views looks at.
fn without_handles(html: &str) -> String {
    let mut out = html.replace(" tabindex=\"-1\"", "");
    let name = " data-at=\"";
    while let Some(start) = out.find(name) {
        let value = start + name.len();
        let Some(length) = out[value..].find('"') else {
            break;
        };
        out.replace_range(start..=value + length, "");
    }
    out
}

/// The variable with the path of the program, for a caller that has compiled it.
const PROGRAM: &str = "PRERENDER";

/// Runs the program, which is compiled first where the caller names none.
fn ask(project: &Path, wanted: &Value) -> std::io::Result<std::process::Output> {
    let mut command = match std::env::var_os(PROGRAM) {
        Some(program) => Command::new(program),
        None => {
            let mut cargo = Command::new("cargo");
            cargo.args(["run", "--quiet", "--package", "prerender", "--"]);
            cargo
        }
    };
    let mut program = command
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

#[cfg(test)]
mod tests {
    use super::without_handles;

    #[test]
    fn markup_loses_what_only_views_need() {
        let cell = "<td data-at=\"0,1\" tabindex=\"-1\" class=\"x\"><b tabindex=\"0\" data-from=\"w[0,1]\">1</b></td>";
        assert_eq!(
            without_handles(&cell.repeat(2)),
            "<td class=\"x\"><b tabindex=\"0\" data-from=\"w[0,1]\">1</b></td>".repeat(2)
        );
    }
}
