//! An exercise of kind `make`: the reader edits a cell of the page until its result meets a goal.

use serde_json::{Map, Value};

use crate::catalog::resolved;
use crate::error::LessonError;
use crate::exercise::{required, statement, unwrap_paragraph};
use crate::fence::{Surroundings, check_shared};
use crate::reference::{DEFAULT_DIGITS, ElementRef, ReferenceError, number_format};
use crate::source::{Source, Table};
use crate::types::{Cell, Goal, Make};

/// Fewest and most claims of a goal.
const GOALS: std::ops::RangeInclusive<usize> = 1..=4;

/// Reads what an exercise of kind `make` asks for: the cell, its inputs as the lesson gives them,
/// and the goal.
pub(crate) fn make(
    source: &Source<'_>,
    table: &mut Table,
    around: &Surroundings<'_>,
    render: &mut dyn FnMut(&str, usize, bool) -> String,
) -> Result<(String, Map<String, Value>, Make), LessonError> {
    let cell = live_cell(source, table, around)?;
    let props = resolved(&cell.props, around.shared);
    let goal = goal(source, table, around.line, render)?;
    let solution = solution(source, table, around, cell, &props)?;
    let make = Make {
        id: cell.id.clone(),
        title: cell.title.clone(),
        goal,
        solution,
    };
    Ok((cell.name.clone(), props, make))
}

/// The cell that the reader edits, which is above on the page.
fn live_cell<'a>(
    source: &Source<'_>,
    table: &mut Table,
    around: &Surroundings<'a>,
) -> Result<&'a Cell, LessonError> {
    let id = required(source, table, "cell", around.line)?;
    let found = around.cells.iter().find(|cell| cell.id == id);
    found.ok_or_else(|| {
        let message = format!("no cell above on this page has the id `{id}`");
        source.error(table.line("cell"), message)
    })
}

/// The claims that the result must meet.
fn goal(
    source: &Source<'_>,
    table: &mut Table,
    line: usize,
    render: &mut dyn FnMut(&str, usize, bool) -> String,
) -> Result<Vec<Goal>, LessonError> {
    let at = if table.values.contains_key("goal") {
        table.line("goal")
    } else {
        line
    };
    let wrong = |message: &str| source.error(at, message);
    let Some(Value::Array(list)) = table.values.remove("goal") else {
        return Err(wrong(
            "an exercise of kind make needs goal = [{ text = \"…\", claim = \"…\" }, …]",
        ));
    };
    if !GOALS.contains(&list.len()) {
        return Err(wrong("a goal has one to four claims"));
    }
    let mut read = |value: &Value| {
        let (text, claim) = statement(value)
            .ok_or_else(|| wrong("each claim of a goal needs text and claim, both in quotes"))?;
        let format = match value.get("format") {
            None => Some(format!("fixed{DEFAULT_DIGITS}")),
            Some(format) => format.as_str().and_then(number_format),
        };
        let known = 2 + usize::from(value.get("format").is_some());
        if value.as_object().is_some_and(|map| map.len() > known) {
            return Err(wrong("a goal holds text, claim, format and nothing else"));
        }
        let left = claim.split(['<', '>', '=']).next().unwrap_or(claim);
        left.parse::<ElementRef>()
            .map_err(|error: ReferenceError| wrong(&error.to_string()))?;
        Ok(Goal {
            html: unwrap_paragraph(&render(text, at, false)),
            claim: claim.to_owned(),
            format: format.ok_or_else(|| {
                wrong("the format of a goal is `.0` to `.9`, `count`, `power1` or `percent1`")
            })?,
        })
    };
    list.iter().map(&mut read).collect()
}

/// Inputs of the cell for which the goal holds, over those that the lesson gives.
fn solution(
    source: &Source<'_>,
    table: &mut Table,
    around: &Surroundings<'_>,
    cell: &Cell,
    props: &Map<String, Value>,
) -> Result<Map<String, Value>, LessonError> {
    if !table.values.contains_key("solution") {
        let message = "an exercise of kind make needs [solution], inputs that reach the goal";
        return Err(source.error(around.line, message));
    }
    let own = table.take_table(source, "solution")?;
    check_shared(source, |_| table.line("solution"), &own, around.shared)?;
    let mut solution = props.clone();
    solution.extend(resolved(&own, around.shared));
    let checked = around
        .catalog
        .check_cell(&cell.name, &solution, around.shared);
    checked.map_err(|refusal| source.error(table.line("solution"), refusal.message))?;
    Ok(solution)
}
