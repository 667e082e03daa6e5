//! The block ```` ```code ID ````: the function of the engine that a cell calls, and the same in
//! PyTorch. The served page holds both and switches between them; no script is needed.

use serde_json::Value;

use crate::error::LessonError;
use crate::exercise::{computation, required};
use crate::fence::{Surroundings, is_name};
use crate::reference::{ElementRef, ReferenceError};
use crate::source::{Source, Table};
use crate::types::{Code, Listing};

const KNOWN: &str = "cell, function, also, prints, pytorch, [given]";

/// Most lines of a text in PyTorch.
const MOST_LINES: usize = 14;

/// Reads a block of code. `source` is the TOML.
pub(crate) fn code(
    source: &Source<'_>,
    id: &str,
    around: &Surroundings<'_>,
) -> Result<Code, LessonError> {
    let id = id.trim();
    if !is_name(id) {
        let message = format!("`code {id}` is not of the form `code ID`");
        return Err(source.error(around.line, message));
    }
    let mut table = Table::parse(source)?;
    let (cell, props) = computation(source, &mut table, around)?;
    let function = required(source, &mut table, "function", around.line)?;
    let also = table.take_text(source, "also")?;
    let prints = prints(source, &mut table, around.line)?;
    let pytorch = pytorch(source, &mut table, around.line)?;
    table.nothing_left(source, KNOWN)?;
    let mut code = Code {
        id: id.to_owned(),
        cell,
        props,
        function,
        also,
        prints,
        pytorch,
        listing: Listing::default(),
        line: around.line,
    };
    code.listing = around.catalog.listing(&code).map_err(|refusal| {
        let key = refusal.key.as_deref();
        let line = key.map_or(around.line, |key| table.line(key));
        source.error(line, refusal.message)
    })?;
    Ok(code)
}

/// The tensors that the text in PyTorch prints: one, or a list.
fn prints(
    source: &Source<'_>,
    table: &mut Table,
    line: usize,
) -> Result<Vec<ElementRef>, LessonError> {
    let list = match table.values.remove("prints") {
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
        None => Vec::new(),
    };
    if list.is_empty() {
        return Err(source.error(line, "this block needs prints, a tensor or a list of them"));
    }
    let at = table.line("prints");
    let read = |value: &Value| {
        let text = value
            .as_str()
            .ok_or_else(|| source.error(at, "prints names tensors, in quotes"))?;
        text.parse()
            .map_err(|error: ReferenceError| source.error(at, error.to_string()))
    };
    list.iter().map(read).collect()
}

/// The text in PyTorch: a program of a few lines that prints something.
fn pytorch(source: &Source<'_>, table: &mut Table, line: usize) -> Result<String, LessonError> {
    let text = required(source, table, "pytorch", line)?;
    let text = text.trim_matches('\n').trim_end().to_owned();
    let wrong = |message: String| Err(source.error(table.line("pytorch"), message));
    let lines = text.lines().count();
    if lines > MOST_LINES {
        return wrong(format!("{lines} lines; at most {MOST_LINES} are read"));
    }
    if !text.starts_with("import torch") || !text.contains("print(") {
        return wrong("the text starts with `import torch` and prints its result".to_owned());
    }
    Ok(text)
}
