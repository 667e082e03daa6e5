//! LaTeX to MathML.

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Event, Parser, ParserError, Storage, push_mathml};

/// Compiles one formula.
///
/// # Errors
/// What the formula's parser says, in one line.
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
    Ok(out)
}
