//! Symbols in labels: `$W_Q$`, `$√d_k$`, `$Q·K^⊤$`, set as mathematics wherever a label is shown.
//!
//! Between two dollar signs single letters are variables, `_` lowers and `^` raises the next letter,
//! number or group in braces, and `√` covers it. A dollar sign before a space, or without a partner,
//! is a dollar sign, as is one whose partner would be before a digit.

/// Height of a part of a formula against its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// On the line.
    #[default]
    Line,
    /// A subscript.
    Below,
    /// A superscript.
    Above,
}

/// A part of a label that is set in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Its letters.
    pub text: &'a str,
    /// A variable, which is slanted.
    pub is_variable: bool,
    /// Height against the line.
    pub level: Level,
    /// True under the bar of a root, whose sign is the piece before.
    pub is_under_root: bool,
}

/// A stretch of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Run<'a> {
    Words(&'a str),
    Symbols(Vec<Piece<'a>>),
}

/// The label as words and formulas by turns.
fn runs(label: &str) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let (mut rest, mut from) = (label, 0);
    while let Some(open) = rest[from..].find('$').map(|at| at + from) {
        let inner = &rest[open + 1..];
        let close = inner.find('$').filter(|&close| {
            let (formula, after) = (&inner[..close], &inner[close + 1..]);
            close > 0
                && formula.trim() == formula
                && !after.starts_with(|c: char| c.is_ascii_digit())
        });
        let Some(close) = close else {
            from = open + 1;
            continue;
        };
        if open > 0 {
            runs.push(Run::Words(&rest[..open]));
        }
        runs.push(Run::Symbols(pieces_of(&inner[..close])));
        (rest, from) = (&inner[close + 1..], 0);
    }
    if !rest.is_empty() {
        runs.push(Run::Words(rest));
    }
    runs
}

/// The pieces of one formula.
fn pieces_of(formula: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = formula;
    let (mut level, mut is_under_root) = (Level::Line, false);
    while let Some(first) = rest.chars().next() {
        match first {
            '_' | '^' => {
                level = if first == '_' {
                    Level::Below
                } else {
                    Level::Above
                };
                rest = &rest[1..];
                continue;
            }
            _ => {}
        }
        let (atom, after) = atom(rest, level != Level::Line);
        pieces.push(Piece {
            text: atom,
            is_variable: atom.chars().count() == 1 && is_letter(first),
            level,
            is_under_root,
        });
        // A bar reaches over the indices of what it covers.
        is_under_root = first == '\u{221a}' || is_under_root && after.starts_with(['_', '^']);
        (rest, level) = (after, Level::Line);
    }
    pieces
}

/// True for the letters of labels, Latin and Greek ones; the standard library's table of all letters
/// would be the larger part of this.
fn is_letter(character: char) -> bool {
    character.is_ascii_alphabetic() || matches!(character, '\u{370}'..='\u{3ff}' | '\u{2113}')
}

/// The first letter, word, number, group or stretch of signs of a formula, and what is after it.
fn atom(formula: &str, is_index: bool) -> (&str, &str) {
    if let Some((group, after)) = formula
        .strip_prefix('{')
        .and_then(|inner| inner.split_once('}'))
    {
        return (group, after);
    }
    let is_digit = |c: char| c.is_ascii_digit();
    let is_sign =
        |c: char| !is_letter(c) && !is_digit(c) && !matches!(c, '_' | '^' | '{' | '\u{221a}');
    let same = |is: &dyn Fn(char) -> bool| formula.find(|c| !is(c)).unwrap_or(formula.len());
    let first = formula.chars().next().unwrap_or_default();
    let length = match first {
        _ if is_letter(first) => same(&is_letter),
        _ if is_digit(first) => same(&is_digit),
        // An index is one sign; the line may continue with others.
        _ if is_sign(first) && !is_index => same(&is_sign),
        _ => first.len_utf8(),
    };
    formula.split_at(length)
}

/// The parts of a label in the order in which they are read.
pub fn pieces(label: &str) -> Vec<Piece<'_>> {
    let words = |text| Piece {
        text,
        is_variable: false,
        level: Level::Line,
        is_under_root: false,
    };
    runs(label)
        .into_iter()
        .flat_map(|run| match run {
            Run::Words(text) => vec![words(text)],
            Run::Symbols(pieces) => pieces,
        })
        .collect()
}

/// The label on one line of letters, for files and wherever nothing can be raised: `W_Q`, `Kᵀ`.
pub fn plain(label: &str) -> String {
    letters(pieces(label))
}

/// The symbol that a formula defines, what is before its `=`, or the whole formula.
fn defined(formula: &[Piece<'_>]) -> String {
    let left = formula.iter().take_while(|piece| !piece.text.contains('='));
    letters(left.cloned()).trim().to_owned()
}

fn letters<'a>(pieces: impl IntoIterator<Item = Piece<'a>>) -> String {
    let mut text = String::new();
    for piece in pieces {
        match (piece.level, piece.text) {
            (Level::Above, "\u{22a4}") => text.push('\u{1d40}'),
            (Level::Above, "2") => text.push('\u{b2}'),
            (Level::Below, letters) => text.extend(["_", letters]),
            (Level::Above, letters) => text.extend(["^", letters]),
            (Level::Line, letters) => text.push_str(letters),
        }
    }
    text
}

/// The label as it is read aloud.
pub fn spoken(label: &str) -> String {
    runs(label)
        .iter()
        .map(|run| match run {
            Run::Words(text) => (*text).to_owned(),
            Run::Symbols(pieces) => spoken_formula(pieces),
        })
        .collect()
}

fn spoken_formula(pieces: &[Piece<'_>]) -> String {
    let mut words = Vec::new();
    for piece in pieces {
        match (piece.level, piece.text) {
            (Level::Above, "\u{22a4}") => words.push("transposed".to_owned()),
            (Level::Above, "2") => words.push("squared".to_owned()),
            (Level::Above, letters) => words.push(format!("to the power of {letters}")),
            (Level::Below, letters) => words.push(format!("sub {letters}")),
            (Level::Line, letters)
                if letters.chars().all(|c| is_letter(c) || c.is_ascii_digit()) =>
            {
                words.push(letters.to_owned());
            }
            (Level::Line, signs) => words.extend(signs.chars().filter_map(spoken_sign)),
        }
    }
    words.join(" ")
}

fn spoken_sign(sign: char) -> Option<String> {
    Some(match sign {
        '\u{b7}' | '\u{d7}' => "times".to_owned(),
        '/' => "over".to_owned(),
        '\u{221a}' => "the root of".to_owned(),
        '=' => "equals".to_owned(),
        '+' => "plus".to_owned(),
        '\u{2212}' | '-' => "minus".to_owned(),
        '(' | ')' => return None,
        sign if sign.is_whitespace() => return None,
        sign => sign.to_string(),
    })
}

/// The label as HTML; each formula has its spoken form as its name.
pub fn html(label: &str) -> String {
    let mut out = String::new();
    for run in runs(label) {
        match run {
            Run::Words(text) => push_escaped(&mut out, text),
            Run::Symbols(pieces) => {
                out.push_str("<span class=\"symbols\" role=\"math\" aria-label=\"");
                push_escaped(&mut out, &spoken_formula(&pieces));
                out.push_str("\" data-symbol=\"");
                push_escaped(&mut out, &defined(&pieces));
                out.push_str("\">");
                pieces.iter().for_each(|piece| push_html(&mut out, piece));
                out.push_str("</span>");
            }
        }
    }
    out
}

fn push_html(out: &mut String, piece: &Piece<'_>) {
    let mut around = Vec::new();
    if piece.is_under_root {
        around.push(("<span class=\"under-root\">", "</span>"));
    }
    match piece.level {
        Level::Line => {}
        Level::Below => around.push(("<sub>", "</sub>")),
        Level::Above => around.push(("<sup>", "</sup>")),
    }
    if piece.is_variable {
        around.push(("<i>", "</i>"));
    }
    around.iter().for_each(|(open, _)| out.push_str(open));
    push_escaped(out, piece.text);
    around
        .iter()
        .rev()
        .for_each(|(_, close)| out.push_str(close));
}

/// Appends text as markup shows it, in HTML and in SVG.
pub fn push_escaped(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_one_form_for_each_place() {
        for (label, as_plain, aloud) in [
            ("words only", "words only", "words only"),
            ("$W_Q$: queries", "W_Q: queries", "W sub Q: queries"),
            ("$\u{221a}d_k$", "\u{221a}d_k", "the root of d sub k"),
            (
                "Scores $Q \u{b7} K^\u{22a4} / \u{221a}d_k$",
                "Scores Q \u{b7} K\u{1d40} / \u{221a}d_k",
                "Scores Q times K transposed over the root of d sub k",
            ),
            (
                "$1/\u{221a}d_k$",
                "1/\u{221a}d_k",
                "1 over the root of d sub k",
            ),
            ("Scores $N^2$", "Scores N\u{b2}", "Scores N squared"),
            (
                "$e^{x/\u{3c4}}$",
                "e^x/\u{3c4}",
                "e to the power of x/\u{3c4}",
            ),
            ("$softmax(s_{ij})$", "softmax(s_ij)", "softmax s sub ij"),
        ] {
            assert_eq!(plain(label), as_plain, "{label}");
            assert_eq!(spoken(label), aloud, "{label}");
        }
    }

    #[test]
    fn indices_are_lowered_and_a_root_covers_its_index() {
        assert_eq!(
            html("the $\u{221a}d_k$ of $W_Q$"),
            "the <span class=\"symbols\" role=\"math\" aria-label=\"the root of d sub k\" data-symbol=\"\u{221a}d_k\">\u{221a}\
             <span class=\"under-root\"><i>d</i></span><span class=\"under-root\"><sub><i>k</i></sub></span></span> of \
             <span class=\"symbols\" role=\"math\" aria-label=\"W sub Q\" data-symbol=\"W_Q\"><i>W</i><sub><i>Q</i></sub></span>"
        );
        let after_root: Vec<bool> = pieces("$\u{221a}d_k+1$")
            .iter()
            .map(|piece| piece.is_under_root)
            .collect();
        assert_eq!(after_root, [false, true, true, false, false]);
    }

    #[test]
    fn a_price_is_no_formula_and_a_name_no_markup() {
        for price in [
            "it cost $5",
            "from $5 to $6",
            "$5,$6",
            "$",
            "$$",
            "$ x $",
            "a_b ^ {c}",
        ] {
            assert_eq!(plain(price), price);
            assert_eq!(html(price), price);
        }
        assert_eq!(
            html("a < $b$ & \"c\""),
            "a &lt; <span class=\"symbols\" role=\"math\" aria-label=\"b\" data-symbol=\"b\"><i>b</i></span> &amp; &quot;c&quot;"
        );
        assert_eq!(
            html("$\"<b>\"$"),
            "<span class=\"symbols\" role=\"math\" aria-label=\"&quot; &lt; b &gt; &quot;\" data-symbol=\"&quot;&lt;b&gt;&quot;\">&quot;&lt;<i>b</i>&gt;&quot;</span>"
        );
    }
}
