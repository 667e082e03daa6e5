//! The block ```` ```guess ID ````: a question before the cell that answers it. The served page holds
//! the answer, and shows it when the reader has chosen; no script is needed.

use crate::error::LessonError;
use crate::exercise::{checked, choices, computation, required};
use crate::fence::{Surroundings, is_name};
use crate::source::{Source, Table};
use crate::types::{Answer, Exercise, Guess};

const KNOWN: &str = "question, cell, choices, explain, [given]";

/// Reads a guess. `source` is the TOML; `render` compiles Markdown that starts at a line, and its
/// last argument is true where it may contain inline values.
pub(crate) fn guess(
    source: &Source<'_>,
    id: &str,
    around: &Surroundings<'_>,
    render: &mut dyn FnMut(&str, usize, bool) -> String,
) -> Result<Guess, LessonError> {
    let id = id.trim();
    if !is_name(id) {
        let message = format!("`guess {id}` is not of the form `guess ID`");
        return Err(source.error(around.line, message));
    }
    let mut table = Table::parse(source)?;
    let question = required(source, &mut table, "question", around.line)?;
    let question = render(&question, table.text_line("question"), true);
    let (cell, props) = computation(source, &mut table, around)?;
    let choices = choices(source, &mut table, around.line, render)?;
    let explain = required(source, &mut table, "explain", around.line)?;
    let explain = render(&explain, table.text_line("explain"), true);
    table.nothing_left(source, KNOWN)?;
    let exercise = Exercise {
        id: id.to_owned(),
        ordinal: 0,
        question,
        cell,
        props,
        answer: Answer::Choice(choices),
        tolerance: 0.0,
        hint: None,
        explain: None,
        level: around.level,
        line: around.line,
    };
    let right = checked(source, &table, &exercise, around)?;
    let Answer::Choice(choices) = exercise.answer else {
        return Err(source.error(around.line, "a guess is a choice"));
    };
    let right = right.filter(|&right| right < choices.len());
    let right = right.ok_or_else(|| source.error(around.line, "none of the choices holds"))?;
    Ok(Guess {
        id: exercise.id,
        question: exercise.question,
        cell: exercise.cell,
        choices,
        right,
        explain,
        line: around.line,
    })
}
