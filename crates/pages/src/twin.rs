//! A function of the engine within a lesson, and its twin in PyTorch: both sources as markup, the
//! shapes of the values, and what PyTorch printed beside what the engine computes.

use std::path::Path;

use cells::{Call, Computation, Described};
use lesson::html::escape;
use lesson::{Code, Listing, Printed, Refusal};
use ndarray::Axis;
use serde::Deserialize;

use crate::code::{CodeBook, Excerpt};
use crate::error::{BuildError, read};
use crate::highlight::{self, Kind};

/// What `make_printed.py` writes: the texts in PyTorch of all lessons, with what they printed.
const STORED: &str = "tests/golden/pytorch/printed.json";

/// Words of Python that are set bold.
const PYTHON: &[&str] = &["def", "else", "for", "if", "import", "in", "return"];

/// The listing of a block of code whose cell has computed.
pub(crate) fn listing(
    project: &Path,
    code: &Code,
    computed: &Computation,
) -> Result<Listing, Refusal> {
    let call = called(code, computed)?;
    let excerpts = excerpts(project, code)?;
    let first = &excerpts[0];
    let printed = printed(project, &code.pytorch).map_err(|e| Refusal::new(e.to_string()))?;
    if let Some(printed) = &printed {
        let expected = expected(code, computed)?;
        if let Some(message) = disagreement(&printed.text, &expected) {
            return Err(Refusal::of("pytorch", message));
        }
    }
    let rust: Vec<String> = excerpts.iter().map(|e| rust(&e.text)).collect();
    let name = code.function.rsplit("::").next().unwrap_or_default();
    Ok(Listing {
        name: name.to_owned(),
        rust: rust.join("\n\n"),
        place: format!("{}, line {}", first.file, first.line + documentation(first)),
        shapes: shapes(call, &first.text),
        pytorch: python(&code.pytorch),
        printed,
    })
}

/// The call of the function that the cell recorded.
fn called<'a>(code: &Code, computed: &'a Computation) -> Result<&'a Call, Refusal> {
    let mut calls = computed.calls.iter();
    calls
        .find(|call| call.path == code.function)
        .ok_or_else(|| {
            let mut known: Vec<&str> = computed.calls.iter().map(|call| &*call.path).collect();
            known.sort_unstable();
            known.dedup();
            let (cell, function, known) = (&code.cell, &code.function, known.join(", "));
            let message = format!("the cell {cell} does not call {function}; it calls {known}");
            Refusal::of("function", message)
        })
}

/// The source of the function, and of the one that is shown with it.
fn excerpts(project: &Path, code: &Code) -> Result<Vec<Excerpt>, Refusal> {
    let book = CodeBook::new(project);
    let find = |key: &str, path: &str| {
        let found = book
            .item(path)
            .map_err(|e| Refusal::of(key, e.to_string()))?;
        found
            .map_err(|missing| Refusal::of(key, format!("{path} is not in the sources: {missing}")))
    };
    let mut all = vec![find("function", &code.function)?];
    if let Some(also) = &code.also {
        let name = also.rsplit("::").next().unwrap_or_default();
        if !all[0].text.contains(&format!("{name}(")) {
            let message = format!("{} does not call {name}", code.function);
            return Err(Refusal::of("also", message));
        }
        all.push(find("also", also)?);
    }
    Ok(all)
}

/// Lines of documentation before an item.
fn documentation(excerpt: &Excerpt) -> usize {
    highlight::listing(&excerpt.text).lines_before
}

/// The numbers of the tensors that the text in PyTorch prints.
fn expected(code: &Code, computed: &Computation) -> Result<Vec<f64>, Refusal> {
    let mut all = Vec::new();
    for element in &code.prints {
        let wrong = || {
            let message = format!("the cell {} computes no {element}", code.cell);
            Refusal::of("prints", message)
        };
        let tensor = computed.tensor(&element.tensor).ok_or_else(wrong)?;
        let mut part = tensor.values.view();
        for &at in &element.index {
            if part.shape().first().is_none_or(|&length| at >= length) {
                return Err(wrong());
            }
            part = part.index_axis_move(Axis(0), at);
        }
        all.extend(part.iter());
    }
    Ok(all)
}

/// The file of stored texts.
#[derive(Deserialize)]
struct Stored {
    header: Header,
    texts: Vec<Text>,
}

#[derive(Deserialize)]
struct Header {
    torch: String,
}

/// A text in PyTorch, and what it printed.
#[derive(Deserialize)]
struct Text {
    pytorch: String,
    printed: String,
}

/// What this very text printed; `None` where it is not among the stored ones.
fn printed(project: &Path, pytorch: &str) -> Result<Option<Printed>, BuildError> {
    let path = project.join(STORED);
    if !path.is_file() {
        return Ok(None);
    }
    let stored: Stored = serde_json::from_str(&read(&path)?)
        .map_err(|error| BuildError::Other(format!("{STORED}: {error}")))?;
    // A build for a graphics card adds its own mark to the version.
    let torch = stored.header.torch.split('+').next().unwrap_or_default();
    let text = stored.texts.iter().find(|text| text.pytorch == pytorch);
    Ok(text.map(|text| Printed {
        torch: torch.to_owned(),
        text: text.printed.trim_end().to_owned(),
    }))
}

/// What is wrong where printed numbers are not the `expected` ones: another count, or a difference
/// beyond the printed digits. A number without digits after the point is exact.
pub fn disagreement(printed: &str, expected: &[f64]) -> Option<String> {
    let found = numbers(printed);
    if found.is_empty() || found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Some(format!(
            "PyTorch printed {found} numbers, and the engine computes {expected}"
        ));
    }
    let differs = |&(&(found, half), &expected): &(&(f64, f64), &f64)| {
        let allowed = half + ROUNDING * expected.abs();
        // Equal infinities have no difference; NaN agrees with nothing.
        let agrees = found == expected || (found - expected).abs() <= allowed;
        !agrees
    };
    let (&(found, _), expected) = found.iter().zip(expected).find(differs)?;
    Some(format!(
        "PyTorch printed {found}, and the engine computes {expected}"
    ))
}

/// The relative difference that 32 bits may make in a few operations.
const ROUNDING: f64 = 1e-6;

/// The numbers in a printed text, each with half a unit of its last digit after the point.
fn numbers(printed: &str) -> Vec<(f64, f64)> {
    let is_between = |c: char| c.is_whitespace() || ",[]()=".contains(c);
    let number = |word: &str| {
        let value: f64 = word.parse().ok()?;
        let (digits, power) = word.split_once('e').unwrap_or((word, "0"));
        let after = digits.split_once('.').map_or(0, |(_, after)| after.len()) as i32;
        let power: i32 = power.parse().ok()?;
        let half = if after == 0 {
            0.0
        } else {
            0.5 * 10_f64.powi(power - after)
        };
        Some((value, half))
    };
    printed.split(is_between).filter_map(number).collect()
}

/// Arguments under the names of the function's own, and results, each with its shape or value.
fn shapes(call: &Call, source: &str) -> Vec<(String, String)> {
    let names = parameters(source);
    // An argument with several fields, such as `self`, comes first and keeps their names.
    let fields = call.inputs.len().saturating_sub(names.len());
    let named = |(n, input): (usize, &Described)| {
        let own = if fields == 0 { names.get(n) } else { None };
        let later = n.checked_sub(fields).filter(|&n| fields > 0 && n > 0);
        let own = own.or_else(|| names.get(later?)).map(String::as_str);
        let name = own.unwrap_or_else(|| input.name.trim_start_matches('&'));
        (name.to_owned(), in_words(input))
    };
    let results = call.outputs.iter();
    let results = results.map(|result| (format!("\u{2192} {}", result.name), in_words(result)));
    let inputs = call.inputs.iter().enumerate().map(named);
    inputs.chain(results).collect()
}

/// The names of a function's parameters.
fn parameters(source: &str) -> Vec<String> {
    let Ok(function) = syn::parse_str::<syn::ImplItemFn>(source) else {
        return Vec::new();
    };
    let name = |input: &syn::FnArg| match input {
        syn::FnArg::Receiver(_) => "self".to_owned(),
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(name) => name.ident.to_string(),
            _ => "_".to_owned(),
        },
    };
    function.sig.inputs.iter().map(name).collect()
}

/// A value's shape, a number itself, or its description.
fn in_words(value: &Described) -> String {
    if let Some(text) = &value.text {
        return text.clone();
    }
    match (&value.shape[..], &value.values[..]) {
        ([], [number]) => digits(*number),
        (shape, _) => {
            let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("[{}]", lengths.join(" \u{d7} "))
        }
    }
}

/// A whole number, or four digits of another.
fn digits(number: f64) -> String {
    if number.fract() == 0.0 {
        return number.to_string();
    }
    let rounded: Result<f64, _> = format!("{number:.3e}").parse();
    rounded.unwrap_or(number).to_string()
}

/// Rust without its documentation: keywords bold, comments italic.
fn rust(text: &str) -> String {
    let pieces = highlight::listing(text).code;
    let piece = |(kind, text): &(Kind, String)| match kind {
        Kind::Keyword => tagged("b", text),
        Kind::Comment => tagged("i", text),
        _ => escape(text),
    };
    pieces.iter().map(piece).collect()
}

/// Python in the same way.
fn python(text: &str) -> String {
    let line = |line: &str| {
        let (code, comment) = line.split_at(line.find('#').unwrap_or(line.len()));
        let words = code.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_');
        let mut out: String = words.map(python_word).collect();
        if !comment.is_empty() {
            out += &tagged("i", comment);
        }
        out
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A word of Python with the character that ends it.
fn python_word(word: &str) -> String {
    let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    if PYTHON.contains(&bare) {
        format!("<b>{bare}</b>{}", escape(&word[bare.len()..]))
    } else {
        escape(word)
    }
}

/// A text within an element; the space at its end stays outside.
fn tagged(element: &str, text: &str) -> String {
    let bare = text.trim_end();
    let rest = &text[bare.len()..];
    format!("<{element}>{}</{element}>{rest}", escape(bare))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_numbers_agree_to_their_last_digit() {
        let printed = "tensor([[ 0.4061, 1.],\n        [-inf, 2.5000e-05]], dtype=torch.float64)";
        let expected = [0.406_06, 1.0, f64::NEG_INFINITY, 2.500_04e-5];
        assert_eq!(disagreement(printed, &expected), None);
        assert_eq!(disagreement("196 768", &[196.0, 768.0]), None);
        for (printed, expected) in [
            ("0.4061", 0.4063),
            ("196", 196.4),
            ("1.", 1.2),
            ("-inf", -1e9),
            ("nan", f64::NAN),
        ] {
            let found = disagreement(printed, &[expected]);
            assert!(found.is_some_and(|m| m.contains("and the engine computes")));
        }
        for printed in ["", "torch.Size", "1 2"] {
            let found = disagreement(printed, &[1.0]);
            assert!(found.is_some_and(|m| m.ends_with("numbers, and the engine computes 1")));
        }
    }

    #[test]
    fn sources_have_bold_keywords_and_italic_comments() {
        let source = "/// One.\npub fn one(x: &[f32]) -> f32 {\n    // First.\n    x[0]\n}";
        let expected =
            "<b>pub fn</b> one(x: &amp;[f32]) -&gt; f32 {\n    <i>// First.</i>\n    x[0]\n}";
        assert_eq!(rust(source), expected);
        assert_eq!(
            python("import torch\nfor n in x:  # < 3\n    print(n)"),
            "<b>import</b> torch\n<b>for</b> n <b>in</b> x:  <i># &lt; 3</i>\n    print(n)"
        );
    }

    #[test]
    fn single_numbers_are_short() {
        let written = [16_384.0, 0.707_106_77, 0.000_020_000_001].map(digits);
        assert_eq!(written, ["16384", "0.7071", "0.00002"]);
    }

    #[test]
    fn values_have_the_names_of_parameters() {
        let described = |name: &str, shape: &[usize], text: Option<&str>| Described {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values: vec![0.125],
            text: text.map(str::to_owned),
        };
        let call = |inputs: Vec<Described>| Call {
            path: "engine::f".into(),
            inputs,
            outputs: vec![described("result", &[3], None)],
        };
        let pairs = |call: &Call, source: &str| {
            let shapes = shapes(call, source).into_iter();
            shapes
                .map(|(name, value)| format!("{name} {value}"))
                .collect::<Vec<_>>()
        };
        let plain = call(vec![
            described("a.view()", &[3, 2], None),
            described("b", &[], None),
            described("&None", &[], Some("no mask")),
        ]);
        assert_eq!(
            pairs(&plain, "pub fn f(x: A, scale: f32, mask: &M) -> B { x }"),
            [
                "x [3 \u{d7} 2]",
                "scale 0.125",
                "mask no mask",
                "\u{2192} result [3]"
            ]
        );
        let fields = call(vec![
            described("query", &[2, 2], None),
            described("key", &[2, 2], None),
            described("h.view()", &[4, 2], None),
        ]);
        assert_eq!(
            pairs(&fields, "pub fn f(&self, keys: A) -> B { keys }"),
            [
                "query [2 \u{d7} 2]",
                "key [2 \u{d7} 2]",
                "keys [4 \u{d7} 2]",
                "\u{2192} result [3]"
            ]
        );
    }
}
