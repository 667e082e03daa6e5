//! LaTeX to MathML.

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Event, Parser, ParserError, Storage, push_mathml};

/// Compiles one formula.
///
/// # Errors
/// Message of the formula's parser, in one line.
pub(crate) fn to_mathml(latex: &str, display: bool) -> Result<String, String> {
    let storage = Storage::new();
    // The renderer would print errors into the page; collecting first makes them fail the build.
    let events: Vec<Event<'_>> = Parser::new(latex, &storage)
        .collect::<Result<_, ParserError>>()
        .map_err(|error| {
            let text = error.to_string();
            let reason = text
                .lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("parsing error: ")
                .to_owned();
            format!("the formula `{}` does not compile: {reason}", latex.trim())
        })?;
    let display_mode = if display {
        DisplayMode::Block
    } else {
        DisplayMode::Inline
    };
    let config = RenderConfig {
        display_mode,
        ..RenderConfig::default()
    };
    let mut out = String::new();
    push_mathml(
        &mut out,
        events.into_iter().map(Ok::<_, ParserError>),
        config,
    )
    .map_err(|error| format!("the formula `{}` does not compile: {error}", latex.trim()))?;
    if out.contains("<merror") {
        return Err(format!(
            "the formula `{}` uses a command that is not known",
            latex.trim()
        ));
    }
    // pulldown-latex 0.8 gives a space the text `&nbsp;` and then escapes it like any other.
    let out = out
        .replace("&amp;nbsp;", "\u{a0}")
        .replace("&nbsp;", "\u{a0}");
    Ok(with_scripts_behind_spaces(out))
}

/// Compiles a displayed formula. Where it has gaps (`\qquad`, `\quad`) or relations (`=`,
/// `\approx`), it is several elements, between which a narrow page breaks the line: browsers break
/// no formula.
///
/// # Errors
/// As [`to_mathml`].
pub(crate) fn displayed(latex: &str) -> Result<String, String> {
    let parts = parts(latex);
    let [_, _, ..] = parts[..] else {
        return Ok(format!(
            "<div class=\"math\">{}</div>\n",
            to_mathml(latex, true)?
        ));
    };
    let mut out = "<div class=\"math is-parted\">".to_owned();
    for (between, part) in parts {
        out.push_str(between);
        out.push_str(&to_mathml(part, false)?.replacen(
            "<math ",
            "<math displaystyle=\"true\" ",
            1,
        ));
    }
    out.push_str("</div>\n");
    Ok(out)
}

/// A gap in a formula, and a place without width where a line may end.
const GAP: &str = "<span class=\"gap\"> </span>";
const BREAK: &str = "<wbr>";

/// The parts of a formula, each with what is before it.
fn parts(latex: &str) -> Vec<(&'static str, &str)> {
    // Before a bracket an `=` belongs to an index, and inside braces to what they hold.
    let (mut depth, mut start, mut at) = (0_usize, 0, 0);
    let (mut before, mut parts) = ("", Vec::new());
    let mut cut = |from: usize, to: usize, before: &'static str| {
        let part = latex[from..to].trim();
        if !part.is_empty() {
            parts.push((if parts.is_empty() { "" } else { before }, part));
        }
    };
    while at < latex.len() {
        let rest = &latex[at..];
        let length = token_length(rest);
        match &rest[..length] {
            "{" | "(" | "[" | "\\left" | "\\begin" => depth += 1,
            "}" | ")" | "]" | "\\right" | "\\end" => depth = depth.saturating_sub(1),
            "\\qquad" | "\\quad" if depth == 0 => {
                cut(start, at, before);
                (start, before) = (at + length, GAP);
            }
            "=" | "\\approx" if depth == 0 && !latex[start..at].trim().is_empty() => {
                cut(start, at, before);
                (start, before) = (at, BREAK);
            }
            _ => {}
        }
        at += length;
    }
    cut(start, latex.len(), before);
    parts
}

/// Bytes of the command or character that a text begins with; `\{` is a command.
fn token_length(text: &str) -> usize {
    let mut letters = text.chars();
    let first = letters.next().map_or(1, char::len_utf8);
    if !text.starts_with('\\') {
        return first;
    }
    let name: usize = letters
        .clone()
        .take_while(char::is_ascii_alphabetic)
        .map(char::len_utf8)
        .sum();
    if name > 0 {
        return first + name;
    }
    first + letters.next().map_or(0, char::len_utf8)
}

/// The space before the name of a function, such as the logarithm, outside the element that holds
/// the name and its scripts: pulldown-latex 0.8 writes it inside, where it counts as the base.
fn with_scripts_behind_spaces(mathml: String) -> String {
    const SPACE: &str = "<mspace width=\"0.1667em\" />";
    let scripts = ["msub", "msup", "msubsup", "munder", "mover", "munderover"];
    scripts.iter().fold(mathml, |mathml, script| {
        let inside = format!("<{script}>{SPACE}");
        mathml.replace(&inside, &format!("{SPACE}<{script}>"))
    })
}

/// The HTML with each formula in a line of text bound to the punctuation behind it: browsers may
/// break a line between the two.
pub(crate) fn with_punctuation(html: &str) -> String {
    const END: &str = "</math>";
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find("<math") {
        let end = rest[start..]
            .find(END)
            .map_or(rest.len(), |n| start + n + END.len());
        let marks = |c: char| {
            matches!(
                c,
                '.' | ',' | ';' | ':' | '?' | '!' | ')' | '\u{2019}' | '\u{201d}'
            )
        };
        let after = rest[end..]
            .find(|c| !marks(c))
            .map_or(rest.len(), |n| end + n);
        out.push_str(&rest[..start]);
        if after > end {
            out.push_str("<span class=\"bound\">");
            out.push_str(&rest[start..after]);
            out.push_str("</span>");
        } else {
            out.push_str(&rest[start..end]);
        }
        rest = &rest[after..];
    }
    out.push_str(rest);
    out
}

/// The text with each displayed formula on one line, as long as before. Markdown finds blocks
/// before formulas, so that a line of a formula with nothing but `=` on it would make a heading,
/// and one that starts with `- ` a list.
pub(crate) fn join_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_fence, mut in_formula) = (false, false);
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if !in_formula && line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        }
        // Quotes repeat their mark on each line, which is no part of the formula.
        let is_quoted = line.trim_start().starts_with('>');
        if !in_fence && !is_quoted && !line.matches("$$").count().is_multiple_of(2) {
            in_formula = !in_formula;
        }
        let next_is_text = lines.peek().is_some_and(|next| !next.trim().is_empty());
        in_formula &= next_is_text;
        let kept = if in_formula {
            line.trim_end_matches(['\r', '\n'])
        } else {
            line
        };
        out.push_str(kept);
        out.extend(std::iter::repeat_n(' ', line.len() - kept.len()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_spaces() {
        for latex in ["a\\ b", "a~b", "\\text{row by}\\ row", "\\text{ by row }"] {
            let mathml = to_mathml(latex, false).unwrap();
            assert!(
                mathml.contains('\u{a0}') && !mathml.contains("nbsp"),
                "{mathml}"
            );
        }
    }

    #[test]
    fn a_function_with_a_script_is_its_base() {
        let mathml = to_mathml("T \\log_2 V", false).unwrap();
        assert!(
            mathml.contains("<msub><mi>log</mi><mn>2</mn></msub>"),
            "{mathml}"
        );
        let mathml = to_mathml("T \\log_2^2 V", false).unwrap();
        assert!(mathml.contains("<msubsup><mi>log</mi>"), "{mathml}");
    }

    #[test]
    fn long_formulas_have_parts_between_which_a_line_may_end() {
        for (latex, expected) in [
            (
                "Q = X W_Q, \\qquad A_{i=1} = \\left(b = c\\right)",
                vec![
                    ("", "Q"),
                    (BREAK, "= X W_Q,"),
                    (GAP, "A_{i=1}"),
                    (BREAK, "= \\left(b = c\\right)"),
                ],
            ),
            (
                "\\{a\\} \\begin{pmatrix} a = b \\end{pmatrix}",
                vec![("", "\\{a\\} \\begin{pmatrix} a = b \\end{pmatrix}")],
            ),
            (
                "f(x = 1) \\approx 2",
                vec![("", "f(x = 1)"), (BREAK, "\\approx 2")],
            ),
            ("= 3", vec![("", "= 3")]),
        ] {
            assert_eq!(parts(latex), expected, "{latex}");
        }
        let html = displayed("a = b, \\quad c").unwrap();
        assert_eq!(
            html.matches("<math displaystyle=\"true\"").count(),
            3,
            "{html}"
        );
        assert!(displayed("a").unwrap().contains("<math display=\"block\">"));
        assert!(displayed("a = \\nonsense").is_err());
    }

    #[test]
    fn formulas_go_on_one_line_and_nothing_else_does() {
        for (text, expected) in [
            ("a\n$$\nx\n=\n- y\n$$\nb\n", "a\n$$ x = - y $$\nb\n"),
            ("$$x$$\nb\n$$y\r\nz$$\n", "$$x$$\nb\n$$y  z$$\n"),
            ("$$\nnever closed\n\nb\n", "$$ never closed\n\nb\n"),
            ("```\n$$\nx\n$$\n```\n", "```\n$$\nx\n$$\n```\n"),
            ("> $$\n> x\n> $$\n", "> $$\n> x\n> $$\n"),
        ] {
            assert_eq!(join_lines(text), expected);
        }
    }

    #[test]
    fn punctuation_stays_with_its_formula() {
        let bound = with_punctuation("<p><math>a</math>, b (<math>c</math>). <math>d</math> e</p>");
        assert_eq!(
            bound,
            "<p><span class=\"bound\"><math>a</math>,</span> b (<span class=\"bound\"><math>c</math>).</span> <math>d</math> e</p>"
        );
    }
}
