//! The block ```` ```exercise ID ````: a question that the engine grades.

use serde_json::{Map, Value};

use crate::catalog::resolved;
use crate::error::LessonError;
use crate::fence::{Surroundings, check_shared, is_name};
use crate::make::make;
use crate::reference::{ElementRef, ReferenceError};
use crate::source::{Source, Table};
use crate::types::{Answer, Choice, Exercise};

const KNOWN: &str = "question, kind, cell, answer, tolerance, choices, hint, explain, [given]";

/// Keys of an exercise of kind `make`.
const KNOWN_OF_MAKE: &str = "question, kind, cell, goal, hint, explain, [solution]";

/// Fewest and most answers to choose from.
const CHOICES: std::ops::RangeInclusive<usize> = 2..=6;

/// Reads an exercise. `source` is the TOML; `render` compiles Markdown that starts at a line, and
/// its last argument is true where it may contain inline values.
pub(crate) fn exercise(
    source: &Source<'_>,
    id: &str,
    ordinal: usize,
    around: &Surroundings<'_>,
    render: &mut dyn FnMut(&str, usize, bool) -> String,
) -> Result<Exercise, LessonError> {
    let id = id.trim();
    if !is_name(id) {
        return Err(source.error(
            around.line,
            format!("`exercise {id}` is not of the form `exercise ID`"),
        ));
    }
    let mut table = Table::parse(source)?;
    let question = required(source, &mut table, "question", around.line)?;
    let question = render(&question, table.text_line("question"), true);
    let kind = required(source, &mut table, "kind", around.line)?;
    let (cell, props, answer, tolerance) = if kind == "make" {
        let (cell, props, make) = make(source, &mut table, around, render)?;
        (cell, props, Answer::Make(make), 0.0)
    } else {
        let (cell, props) = computation(source, &mut table, around)?;
        let answer = answer(source, &mut table, &kind, around.line, render)?;
        let tolerance = tolerance(source, &mut table, &answer, around.line)?;
        (cell, props, answer, tolerance)
    };
    let mut optional = |key: &str| {
        let line = table.text_line(key);
        Ok::<_, LessonError>(
            table
                .take_text(source, key)?
                .map(|text| render(&text, line, false)),
        )
    };
    let (hint, explain) = (optional("hint")?, optional("explain")?);
    let known = match answer {
        Answer::Make(_) => KNOWN_OF_MAKE,
        _ => KNOWN,
    };
    table.nothing_left(source, known)?;
    let exercise = Exercise {
        id: id.to_owned(),
        ordinal,
        question,
        cell,
        props,
        answer,
        tolerance,
        hint,
        explain,
        level: around.level,
        line: around.line,
    };
    checked(source, &table, &exercise, around)?;
    Ok(exercise)
}

/// Lets the catalog compute the answer of an exercise, and returns which statement of a choice holds.
pub(crate) fn checked(
    source: &Source<'_>,
    table: &Table,
    exercise: &Exercise,
    around: &Surroundings<'_>,
) -> Result<Option<usize>, LessonError> {
    let checked = around.catalog.check_exercise(exercise);
    checked.map_err(|refusal| {
        let line = refusal
            .key
            .as_deref()
            .map_or(around.line, |key| table.line(key));
        source.error(line, refusal.message)
    })
}

pub(crate) fn required(
    source: &Source<'_>,
    table: &mut Table,
    key: &str,
    line: usize,
) -> Result<String, LessonError> {
    let text = table
        .take_text(source, key)?
        .filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| source.error(line, format!("this block needs {key}")))
}

/// The cell whose computation holds the answer, and its inputs: those of the cell on the page where
/// `cell` is the id of one above, else the cell's own defaults; `[given]` goes over them.
pub(crate) fn computation(
    source: &Source<'_>,
    table: &mut Table,
    around: &Surroundings<'_>,
) -> Result<(String, Map<String, Value>), LessonError> {
    let named = required(source, table, "cell", around.line)?;
    let given = table.take_table(source, "given")?;
    check_shared(source, |_| table.line("given"), &given, around.shared)?;
    let (name, mut props) = match around.cells.iter().find(|cell| cell.id == named) {
        Some(cell) => (cell.name.clone(), resolved(&cell.props, around.shared)),
        None => (named, Map::new()),
    };
    props.extend(resolved(&given, around.shared));
    around
        .catalog
        .check_cell(&name, &props, around.shared)
        .map_err(|refusal| {
            let at_fault = if refusal.key.is_some() {
                "given"
            } else {
                "cell"
            };
            source.error(table.line(at_fault), refusal.message)
        })?;
    Ok((name, props))
}

fn answer(
    source: &Source<'_>,
    table: &mut Table,
    kind: &str,
    line: usize,
    render: &mut dyn FnMut(&str, usize, bool) -> String,
) -> Result<Answer, LessonError> {
    match kind {
        "number" => element(source, table, line).map(Answer::Number),
        "matrix" => element(source, table, line).map(Answer::Matrix),
        "choice" => choices(source, table, line, render).map(Answer::Choice),
        _ => Err(source.error(
            table.line("kind"),
            format!("kind = \"{kind}\" is none of number, choice, matrix, make"),
        )),
    }
}

fn element(source: &Source<'_>, table: &mut Table, line: usize) -> Result<ElementRef, LessonError> {
    let text = required(source, table, "answer", line)?;
    text.parse()
        .map_err(|error: ReferenceError| source.error(table.line("answer"), error.to_string()))
}

pub(crate) fn choices(
    source: &Source<'_>,
    table: &mut Table,
    line: usize,
    render: &mut dyn FnMut(&str, usize, bool) -> String,
) -> Result<Vec<Choice>, LessonError> {
    let at = if table.values.contains_key("choices") {
        table.line("choices")
    } else {
        line
    };
    let wrong = |message: &str| source.error(at, message);
    let Some(Value::Array(list)) = table.values.remove("choices") else {
        return Err(wrong(
            "an exercise of kind choice needs choices = [{ text = \"…\", claim = \"…\" }, …]",
        ));
    };
    if !CHOICES.contains(&list.len()) {
        return Err(wrong("a choice has two to six answers"));
    }
    let mut read = |(letter, value): (char, &Value)| {
        let Some((statement, claim)) = statement(value) else {
            return Err(wrong("each choice needs text and claim, both in quotes"));
        };
        if value.as_object().is_some_and(|map| map.len() > 2) {
            return Err(wrong("a choice holds text and claim and nothing else"));
        }
        let statement = unwrap_paragraph(&render(statement, at, false));
        Ok(Choice {
            // The letter also names an answer that is nothing but a formula, which has no name for
            // a screen reader.
            html: format!("<b class=\"choice-letter\">{letter}</b> {statement}"),
            claim: claim.to_owned(),
        })
    };
    ('A'..).zip(&list).map(&mut read).collect()
}

/// The `text` and the `claim` of a choice or of a part of a goal.
pub(crate) fn statement(value: &Value) -> Option<(&str, &str)> {
    let text = |key: &str| {
        let text = value.get(key).and_then(Value::as_str);
        text.filter(|text| !text.trim().is_empty())
    };
    Some((text("text")?, text("claim")?))
}

/// A choice is beside a radio button, where a paragraph does not belong.
pub(crate) fn unwrap_paragraph(html: &str) -> String {
    let trimmed = html.trim();
    let inside = trimmed
        .strip_prefix("<p>")
        .and_then(|rest| rest.strip_suffix("</p>"));
    inside
        .filter(|inside| !inside.contains("<p>"))
        .unwrap_or(trimmed)
        .to_owned()
}

fn tolerance(
    source: &Source<'_>,
    table: &mut Table,
    answer: &Answer,
    line: usize,
) -> Result<f64, LessonError> {
    let given = table.take_number(source, "tolerance")?;
    match (answer, given) {
        (Answer::Choice(_), None) => Ok(0.0),
        (Answer::Choice(_), Some(_)) => Err(source.error(
            table.line("tolerance"),
            "an exercise of kind choice has no tolerance",
        )),
        (_, Some(tolerance)) if tolerance >= 0.0 => Ok(tolerance),
        (_, Some(_)) => Err(source.error(table.line("tolerance"), "a tolerance is not below zero")),
        (_, None) => Err(source.error(line, "the exercise needs a tolerance")),
    }
}
