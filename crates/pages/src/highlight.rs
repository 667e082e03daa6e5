//! Rust source as a reader sees it: its documentation as prose, its code in coloured pieces.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use serde::Serialize;

/// Words of the language; an identifier among them is a keyword.
const KEYWORDS: &[&str] = &[
    "as", "const", "dyn", "else", "enum", "false", "fn", "for", "if", "impl", "in", "let", "loop",
    "match", "mod", "move", "mut", "pub", "ref", "return", "self", "Self", "static", "struct",
    "trait", "true", "type", "unsafe", "use", "where", "while",
];

/// What a piece of source is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Names, operators and space.
    Plain,
    /// A word of the language.
    Keyword,
    /// A type or an enum's variant, by its capital letter.
    Type,
    /// A function or macro that is called or defined.
    Function,
    /// A number, text or character.
    Literal,
    /// A comment.
    Comment,
}

/// An item: what its documentation says, and its code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Listing {
    /// Paragraphs of the documentation, with code between backticks.
    pub(crate) about: Vec<String>,
    /// Lines of documentation before the code.
    #[serde(skip)]
    pub(crate) lines_before: usize,
    /// The code; the texts one after another are the source to the letter.
    pub(crate) code: Vec<(Kind, String)>,
}

/// Separates an item's documentation from its code and tells the code's pieces apart.
pub(crate) fn listing(item: &str) -> Listing {
    let is_doc = |line: &&str| line.starts_with("///");
    let about: Vec<&str> = item.lines().take_while(is_doc).collect();
    let start: usize = about.iter().map(|line| line.len() + 1).sum();
    let code = item.get(start..).unwrap_or_default();
    Listing {
        about: paragraphs(&about),
        lines_before: about.len(),
        code: pieces(code),
    }
}

/// The paragraphs of documentation. A heading opens the paragraph that follows it.
fn paragraphs(lines: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    let mut now = String::new();
    for line in lines {
        let line = line.trim_start_matches('/').trim();
        if line.is_empty() {
            // A heading waits for its paragraph.
            if !now.is_empty() && !now.ends_with(": ") {
                all.push(std::mem::take(&mut now));
            }
        } else if let Some(heading) = line.strip_prefix("# ") {
            now = format!("{heading}: ");
        } else {
            if !now.is_empty() && !now.ends_with(' ') {
                now.push(' ');
            }
            now.push_str(line);
        }
    }
    all.extend((!now.is_empty()).then_some(now));
    // Links of rustdoc lead nowhere here.
    all.iter()
        .map(|text| text.replace("[`", "`").replace("`]", "`"))
        .collect()
}

/// The pieces of Rust code; one plain piece where it cannot be read as tokens.
fn pieces(code: &str) -> Vec<(Kind, String)> {
    let mut out = Pieces {
        code,
        at: 0,
        all: Vec::new(),
    };
    if let Ok(tokens) = code.parse() {
        out.tokens(tokens);
    }
    out.gap(code.len());
    out.all
}

/// Pieces so far, and the place in the code up to which they reach.
struct Pieces<'a> {
    code: &'a str,
    at: usize,
    all: Vec<(Kind, String)>,
}

impl Pieces<'_> {
    fn tokens(&mut self, tokens: TokenStream) {
        let mut rest = tokens.into_iter().peekable();
        while let Some(token) = rest.next() {
            let range = token.span().byte_range();
            match token {
                TokenTree::Group(group) => {
                    let open = group.span_open().byte_range();
                    self.gap(open.start);
                    self.token(Kind::Plain, open.end);
                    self.tokens(group.stream());
                    let end = group.span_close().byte_range();
                    self.gap(end.start);
                    self.token(Kind::Plain, end.end);
                }
                TokenTree::Ident(name) => {
                    let kind = of_name(&name.to_string(), rest.peek());
                    self.gap(range.start);
                    self.token(kind, range.end);
                }
                TokenTree::Literal(_) => {
                    self.gap(range.start);
                    self.token(Kind::Literal, range.end);
                }
                TokenTree::Punct(_) => {
                    self.gap(range.start);
                    self.token(Kind::Plain, range.end);
                }
            }
        }
    }

    /// Appends the space and the comments before the next token.
    fn gap(&mut self, end: usize) {
        while self.at < end {
            let gap = &self.code[self.at..end];
            match gap.find("//") {
                Some(0) => {
                    let comment = gap.find('\n').unwrap_or(gap.len());
                    self.push(Kind::Comment, self.at + comment);
                }
                Some(before) => self.push(Kind::Plain, self.at + before),
                None => self.push(Kind::Plain, end),
            }
        }
    }

    /// Appends a token. The tokens that a documentation comment stands for have the place of the
    /// comment.
    fn token(&mut self, kind: Kind, end: usize) {
        if self.at < end {
            let is_comment = self.code[self.at..end].starts_with("//");
            self.push(if is_comment { Kind::Comment } else { kind }, end);
        }
    }

    fn push(&mut self, kind: Kind, end: usize) {
        let text = &self.code[self.at..end];
        match self.all.last_mut() {
            Some((last, before)) if *last == kind || text.trim().is_empty() => {
                before.push_str(text);
            }
            _ => self.all.push((kind, text.to_owned())),
        }
        self.at = end;
    }
}

/// The kind of an identifier, by its letters and what follows it.
fn of_name(name: &str, next: Option<&TokenTree>) -> Kind {
    if KEYWORDS.contains(&name) {
        return Kind::Keyword;
    }
    if name.starts_with(char::is_uppercase) {
        return Kind::Type;
    }
    match next {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            Kind::Function
        }
        Some(TokenTree::Punct(mark)) if mark.as_char() == '!' => Kind::Function,
        _ => Kind::Plain,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const ITEM: &str = "/// Adds one, see [`two`].\n///\n/// # Errors\n/// Never.\n\
        pub fn one(x: Vec<u8>) -> u8 {\n    // plus \"one\"\n    let s = \"//\"; // no\n    two(x) + 1\n}";

    #[test]
    fn documentation_becomes_paragraphs() {
        let shown = listing(ITEM);
        assert_eq!(shown.about, ["Adds one, see `two`.", "Errors: Never."]);
        assert_eq!(shown.lines_before, 4);
    }

    #[test]
    fn the_pieces_are_the_code_to_the_letter() {
        let shown = listing(ITEM);
        let whole: String = shown.code.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(whole, ITEM.split_once("Never.\n").unwrap().1);
    }

    #[test]
    fn each_piece_has_its_kind() {
        let shown = listing(ITEM);
        for (kind, text) in [
            (Kind::Keyword, "pub fn"),
            (Kind::Function, "one"),
            (Kind::Type, "Vec"),
            (Kind::Comment, "// plus \"one\""),
            (Kind::Literal, "\"//\""),
            (Kind::Comment, "// no"),
            (Kind::Function, "two"),
            (Kind::Literal, "1"),
        ] {
            assert!(
                shown
                    .code
                    .iter()
                    .any(|(k, t)| *k == kind && t.trim() == text),
                "{kind:?} {text}: {:?}",
                shown.code
            );
        }
    }

    #[test]
    fn documentation_inside_an_item_is_a_comment() {
        let shown = listing("struct A {\n    /// Width.\n    d: usize,\n}");
        assert!(
            shown
                .code
                .iter()
                .any(|(kind, text)| *kind == Kind::Comment && text.trim() == "/// Width."),
            "{:?}",
            shown.code
        );
    }

    #[test]
    fn what_is_no_rust_is_one_plain_piece() {
        let shown = listing("fn (((");
        assert_eq!(shown.code, [(Kind::Plain, "fn (((".to_owned())]);
    }
}
