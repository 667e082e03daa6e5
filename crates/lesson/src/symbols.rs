//! Symbols of a page that have a concept, such as the query *Q*: in every formula they carry the
//! class of its colour, and their name in `data-symbol`.

use serde_json::{Map, Value};

use crate::html::escape;
use crate::math;
use crate::types::{Answer, Segment};

/// The concepts, in the order of the style sheet's classes `c-query` and so on.
pub const CONCEPTS: &[&str] = &[
    "query", "key", "value", "position", "residual", "output", "score", "weight",
];

/// A symbol as the front matter names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// As the front matter writes it, LaTeX.
    pub(crate) latex: String,
    concept: &'static str,
    /// What it becomes in a formula; for a symbol with an index also the start of what it becomes
    /// with a power, such as a transpose.
    mathml: Vec<String>,
}

impl Symbol {
    /// The symbol as the labels of cells name it: `W_Q`, or the letter that a command stands for.
    fn name(&self) -> String {
        match self.latex.strip_prefix('\\') {
            None => self.latex.clone(),
            Some(_) => self.mathml[0]
                .split(['<', '>'])
                .filter(|part| !part.contains("mi"))
                .collect(),
        }
    }
}

/// The symbols of the front matter's table, longer ones first: `W_Q` is found before its `Q`.
///
/// # Errors
/// A message about a concept that does not exist, or about LaTeX that is not one symbol.
pub(crate) fn parse(table: Map<String, Value>) -> Result<Vec<Symbol>, String> {
    let mut all = Vec::with_capacity(table.len());
    for (latex, concept) in table {
        let known = CONCEPTS
            .iter()
            .find(|known| concept.as_str() == Some(known));
        let Some(&concept) = known else {
            let known = CONCEPTS.join(", ");
            return Err(format!(
                "{latex}: {concept} is no concept; known are {known}"
            ));
        };
        let formula = math::to_mathml(&latex, false)?;
        let mathml = inside(&formula).to_owned();
        let is_letter = mathml.starts_with("<mi") && mathml.matches("</").count() == 1;
        let is_indexed = mathml.starts_with("<msub>")
            && mathml.find("</msub>") == Some(mathml.len() - "</msub>".len());
        if !is_letter && !is_indexed {
            return Err(format!("`{latex}` is not one symbol"));
        }
        let powered = is_indexed.then(|| {
            let inner = mathml.trim_start_matches("<msub>");
            format!("<msubsup>{}", inner.trim_end_matches("</msub>"))
        });
        all.push(Symbol {
            latex,
            concept,
            mathml: std::iter::once(mathml).chain(powered).collect(),
        });
    }
    all.sort_by_key(|symbol| std::cmp::Reverse(symbol.mathml.concat().len()));
    Ok(all)
}

/// The content of a formula's element.
fn inside(formula: &str) -> &str {
    let start = formula.find('>').map_or(0, |at| at + 1);
    let end = formula.rfind("</math>").unwrap_or(formula.len());
    formula.get(start..end).unwrap_or_default().trim()
}

/// Marks the symbols in all formulas of a page.
///
/// # Errors
/// The first symbol that no formula holds, as the front matter writes it.
pub(crate) fn mark(symbols: &[Symbol], segments: &mut [Segment]) -> Result<(), String> {
    let mut seen = vec![false; symbols.len()];
    let mut one = |html: &mut String| *html = marked(symbols, html, &mut seen);
    for segment in segments {
        match segment {
            Segment::Html(html) => one(html),
            Segment::Cell(cell) => cell.caption.iter_mut().for_each(&mut one),
            Segment::Guess(guess) => {
                one(&mut guess.question);
                one(&mut guess.explain);
            }
            Segment::Exercise(exercise) => {
                one(&mut exercise.question);
                exercise.hint.iter_mut().for_each(&mut one);
                exercise.explain.iter_mut().for_each(&mut one);
                if let Answer::Make(make) = &mut exercise.answer {
                    make.goal.iter_mut().for_each(|goal| one(&mut goal.html));
                }
            }
            Segment::Code(_) => {}
        }
    }
    match seen.iter().position(|seen| !seen) {
        None => Ok(()),
        Some(unseen) => Err(symbols[unseen].latex.clone()),
    }
}

fn marked(symbols: &[Symbol], html: &str, seen: &mut [bool]) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find("<math") {
        let end = rest[start..]
            .find("</math>")
            .map_or(rest.len(), |n| start + n);
        out.push_str(&rest[..start]);
        formula(symbols, &rest[start..end], seen, &mut out);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Appends one formula with its symbols marked.
fn formula(symbols: &[Symbol], mut rest: &str, seen: &mut [bool], out: &mut String) {
    while let Some(tag) = rest.find('<') {
        out.push_str(&rest[..tag]);
        rest = &rest[tag..];
        let found = symbols.iter().enumerate().find_map(|(i, symbol)| {
            let is_here = |mathml: &&String| rest.starts_with(mathml.as_str());
            Some((i, symbol, symbol.mathml.iter().find(is_here)?))
        });
        if let Some((i, symbol, mathml)) = found {
            let name = mathml.find(['>', ' ']).unwrap_or(mathml.len());
            out.push_str(&mathml[..name]);
            out.push_str(&format!(
                " class=\"symbol c-{}\" data-symbol=\"{}\"",
                symbol.concept,
                escape(&symbol.name())
            ));
            out.push_str(&mathml[name..]);
            seen[i] = true;
            rest = &rest[mathml.len()..];
        } else {
            let next = rest.find('>').map_or(rest.len(), |n| n + 1);
            out.push_str(&rest[..next]);
            rest = &rest[next..];
        }
    }
    out.push_str(rest);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn symbols(table: Value) -> Result<Vec<Symbol>, String> {
        parse(table.as_object().unwrap().clone())
    }

    fn page(latex: &str) -> Vec<Segment> {
        let formula = math::to_mathml(latex, true).unwrap();
        vec![Segment::Html(format!("<p>Q: <mi>Q</mi> {formula}</p>"))]
    }

    fn html(page: &[Segment]) -> &str {
        match &page[0] {
            Segment::Html(html) => html,
            _ => panic!("not prose"),
        }
    }

    #[test]
    fn a_symbol_of_a_formula_gets_its_colour_and_name() {
        let known = symbols(json!({ "Q": "query", "W_Q": "query" })).unwrap();
        let mut page = page("Q = X W_Q");
        mark(&known, &mut page).unwrap();
        let html = html(&page);
        let symbol = "<mi class=\"symbol c-query\" data-symbol=\"Q\">Q</mi>";
        assert_eq!(html.matches(symbol).count(), 1, "{html}");
        assert_eq!(html.matches("data-symbol=\"W_Q\"").count(), 1, "{html}");
        assert!(html.starts_with("<p>Q: <mi>Q</mi> <math"), "{html}");
    }

    #[test]
    fn a_command_is_named_by_its_letter() {
        let known = symbols(json!({ "\\alpha": "weight" })).unwrap();
        let mut page = page("\\alpha");
        mark(&known, &mut page).unwrap();
        assert!(
            html(&page).contains("data-symbol=\"\u{3b1}\""),
            "{}",
            html(&page)
        );
    }

    #[test]
    fn the_part_of_a_longer_symbol_keeps_its_own_colour() {
        let known = symbols(json!({ "q": "query" })).unwrap();
        let mut page = page("q_t^\\top");
        mark(&known, &mut page).unwrap();
        assert!(html(&page).contains(">q</mi>"), "{}", html(&page));
        assert_eq!(html(&page).matches("data-symbol").count(), 1);
    }

    #[test]
    fn a_symbol_with_an_index_may_be_transposed() {
        let known = symbols(json!({ "W_K": "key" })).unwrap();
        let mut page = page("W_K W_K^\\top");
        mark(&known, &mut page).unwrap();
        assert_eq!(html(&page).matches("data-symbol=\"W_K\"").count(), 2);
    }

    #[test]
    fn mistakes_are_told() {
        let wrong = symbols(json!({ "Q": "question" })).unwrap_err();
        assert!(wrong.contains("no concept; known are query"), "{wrong}");
        let wrong = symbols(json!({ "Q + K": "query" })).unwrap_err();
        assert_eq!(wrong, "`Q + K` is not one symbol");
        let known = symbols(json!({ "Z": "query" })).unwrap();
        assert_eq!(mark(&known, &mut page("Q")), Err("Z".to_owned()));
    }
}
