//! The page's HTML: prose, and the frames that cells and exercises are mounted into.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::ROOT;
use crate::html::{definitions, escape, escape_single_quoted};
use crate::types::{Answer, Cell, Code, Exercise, Figure, Guess, Lesson, Make, Segment};

/// The text in a cell until the engine has loaded.
const CELL_WAITING: &str = "This cell computes here, in your browser, once the engine has loaded.";

/// The text in a cell with a figure until the engine has loaded.
const CELL_COMPUTED: &str =
    "Computed when this page was made. Once the engine has loaded, you can change it here.";

/// The text in an exercise until the engine has loaded.
const EXERCISE_WAITING: &str =
    "You can answer here once the engine has loaded; it grades by computing.";

/// The same in an exercise whose goal the reader reaches in a cell.
const MAKE_WAITING: &str =
    "Once the engine has loaded, this box shows whether the cell meets the goal.";

impl Lesson {
    /// The page's content below its title. `root` leads to the site's root and ends in `/`.
    pub fn article(&self, root: &str) -> String {
        let mut out = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Html(html) => out.push_str(html),
                Segment::Cell(cell) => out.push_str(&cell_frame(cell)),
                Segment::Exercise(exercise) => out.push_str(&exercise_frame(exercise)),
                Segment::Guess(guess) => out.push_str(&guess_frame(guess)),
                Segment::Code(code) => out.push_str(&code_frame(code)),
            }
        }
        out.replace(ROOT, root)
    }
}

fn cell_frame(cell: &Cell) -> String {
    let Cell {
        name,
        id,
        level,
        height_px,
        ..
    } = cell;
    let title = escape(&cell.title);
    let mut props = Map::from_iter([("title".to_owned(), Value::from(cell.title.as_str()))]);
    props.extend(cell.props.clone());
    let props = escape_single_quoted(&Value::Object(props).to_string());
    let (class, content) = match &cell.figure {
        Some(Figure { html, fingerprint }) => (
            " is-served",
            format!(
                "<fieldset class=\"served\" disabled data-fingerprint=\"{fingerprint}\"><div class=\"cell-view\">{html}</div></fieldset>\
             <p class=\"cell-waiting\">{CELL_COMPUTED}</p>"
            ),
        ),
        None => {
            let given = definitions("cell-given", &cell.given);
            (
                "",
                format!("<p class=\"cell-waiting\">{CELL_WAITING}</p>{given}"),
            )
        }
    };
    let (former, anchor) = match &cell.formerly {
        Some(former) => (
            format!(" data-formerly=\"{former}\""),
            format!("<span id=\"{former}\"></span>"),
        ),
        None => Default::default(),
    };
    let mut out = format!(
        "<section class=\"cell\" data-cell=\"{name}\" id=\"{id}\"{former} data-props='{props}' aria-labelledby=\"{id}-title\">{anchor}\n\
         <header class=\"cell-head\"><h{level} class=\"cell-title\" id=\"{id}-title\">{title}</h{level}>\
         <div class=\"cell-tools\"></div></header>\n\
         <div class=\"cell-body{class}\" style=\"--reserved:{height_px}px\">{content}</div>\n"
    );
    if let Some(caption) = &cell.caption {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(out, "<div class=\"cell-caption\">{caption}</div>");
    }
    out.push_str("</section>\n");
    match &cell.fold {
        Some(line) => folded(&title, line, &out),
        None => out,
    }
}

/// A cell that is folded away: its title and a line that say what it shows, until the reader opens
/// it. Its title is in both places; the style sheet shows one of them.
fn folded(title: &str, line: &str, section: &str) -> String {
    let line = escape(line);
    let stop = if title.ends_with(char::is_alphanumeric) {
        "."
    } else {
        ""
    };
    format!(
        "<details class=\"cell-fold\"><summary><span class=\"cell-fold-title\">{title}{stop}</span> {line}</summary>\n\
         {section}</details>\n"
    )
}

fn exercise_frame(exercise: &Exercise) -> String {
    let Exercise {
        id,
        cell,
        ordinal,
        level,
        question,
        ..
    } = exercise;
    let props = escape_single_quoted(&exercise_json(exercise).to_string());
    let (made, waiting) = match &exercise.answer {
        Answer::Make(make) => (make_frame(make, exercise.hint.as_deref()), MAKE_WAITING),
        _ => (String::new(), EXERCISE_WAITING),
    };
    format!(
        "<section class=\"exercise\" data-exercise=\"{id}\" data-of=\"{cell}\" id=\"exercise-{id}\" data-props='{props}' aria-labelledby=\"exercise-{id}-title\">\n\
         <h{level} class=\"exercise-title\" id=\"exercise-{id}-title\">Exercise {ordinal}</h{level}>\n\
         <div class=\"exercise-question\">{question}</div>\n{made}\
         <div class=\"exercise-body\"><p class=\"cell-waiting\">{waiting}</p></div>\n</section>\n"
    )
}

/// The link to the cell that a goal is about, and the hint: both work without a script.
fn make_frame(make: &Make, hint: Option<&str>) -> String {
    let (id, title) = (&make.id, escape(&make.title));
    let link = format!("<p><a href=\"#{id}\">Go to the cell \u{201c}{title}\u{201d}</a></p>\n");
    let hint = hint
        .map(|hint| format!("<details class=\"hint\"><summary>Hint</summary>{hint}</details>\n"));
    link + &hint.unwrap_or_default()
}

/// A guess. The style sheet shows the answer once one of the buttons before it is pressed.
fn guess_frame(guess: &Guess) -> String {
    let (id, question) = (&guess.id, &guess.question);
    let mut out = format!(
        "<section class=\"exercise guess\" id=\"guess-{id}\" aria-labelledby=\"guess-{id}-title guess-{id}-asked\">\n\
         <p class=\"exercise-title\" id=\"guess-{id}-title\">Guess first</p>\n<div id=\"guess-{id}-asked\">{question}</div>\n\
         <fieldset><legend class=\"vh\">Your guess</legend>\n"
    );
    for (n, choice) in guess.choices.iter().enumerate() {
        let is_right = if n == guess.right {
            " class=\"is-right\""
        } else {
            ""
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<input type=\"radio\" name=\"guess-{id}\" id=\"guess-{id}-{n}\">\
             <label for=\"guess-{id}-{n}\"{is_right}>{}</label>",
            choice.html
        );
    }
    let letter = ('A'..).nth(guess.right).unwrap_or('A');
    let explain = &guess.explain;
    out + &format!(
        "<div role=\"status\"><div><p>What comes out: <b>{letter}</b>.</p>\n{explain}</div></div>\n\
         </fieldset>\n</section>\n"
    )
}

/// A function and its twin in PyTorch. The style sheet shows one of the two on screen, and both on
/// paper.
fn code_frame(code: &Code) -> String {
    let id = format!("code-{}", code.id);
    let (listing, name) = (&code.listing, escape(&code.listing.name));
    let choice = |kind: &str, label: &str, checked: &str| {
        format!(
            "<input type=\"radio\" name=\"{id}\" id=\"{id}-{kind}\" class=\"is-{kind}\"{checked}>\
             <label for=\"{id}-{kind}\">{label}</label>"
        )
    };
    let source = |language: &str, html: &str| {
        format!(
            "<pre class=\"code\" tabindex=\"0\" role=\"region\" aria-label=\"{name} in {language}\"><code>{html}</code></pre>\n"
        )
    };
    let printed = listing.printed.as_ref().map(|printed| {
        let (torch, text) = (escape(&printed.torch), escape(&printed.text));
        format!(
            "<p>PyTorch {torch} printed this. With the inputs of this page, the cell\u{2019}s numbers agree to the last printed digit:</p>\n<pre><samp>{text}</samp></pre>\n"
        )
    });
    format!(
        "<section class=\"exercise code-block\" id=\"{id}\" aria-labelledby=\"{id}-title\">\n\
         <p class=\"exercise-title\" id=\"{id}-title\">In code</p>\n\
         <fieldset><legend class=\"vh\">Language</legend>{rust_choice}{torch_choice}\n\
         <div class=\"rust\">{rust}<p>{place}. Its arguments and results for the inputs of this page:</p>{shapes}</div>\n\
         <div class=\"torch\">{torch}{printed}</div></fieldset>\n</section>\n",
        rust_choice = choice("rust", "Rust", " checked"),
        torch_choice = choice("torch", "PyTorch", ""),
        rust = source("Rust", &listing.rust),
        place = escape(&listing.place),
        shapes = definitions("cell-given", &listing.shapes),
        torch = source("PyTorch", &listing.pytorch),
        printed = printed.unwrap_or_default(),
    )
}

/// An exercise as the site reads it.
pub(crate) fn exercise_json(exercise: &Exercise) -> Value {
    let tolerance = exercise.tolerance;
    let kind = match &exercise.answer {
        Answer::Number(element) => {
            json!({ "number": { "answer": element.to_string(), "tolerance": tolerance } })
        }
        Answer::Matrix(element) => {
            json!({ "matrix": { "answer": element.to_string(), "tolerance": tolerance } })
        }
        Answer::Choice(choices) => {
            let list: Vec<Value> = choices
                .iter()
                .map(|c| json!({ "text": c.html, "claim": c.claim }))
                .collect();
            json!({ "choice": { "choices": list } })
        }
        Answer::Make(make) => return make_json(exercise, make),
    };
    json!({
        "cell": exercise.cell,
        "given": exercise.props,
        "kind": kind,
        "hint": exercise.hint,
        "explain": exercise.explain,
    })
}

/// A goal as the site reads it. The inputs are those of the cell, and the page holds the hint.
fn make_json(exercise: &Exercise, make: &Make) -> Value {
    let goal = make
        .goal
        .iter()
        .map(|goal| json!({ "text": goal.html, "claim": goal.claim, "format": goal.format }));
    let goal: Vec<Value> = goal.collect();
    json!({
        "cell": exercise.cell,
        "kind": { "make": { "id": make.id, "goal": goal } },
        "explain": exercise.explain,
    })
}

impl Exercise {
    /// The exercise as the page carries it: cell, given inputs, kind and answer.
    pub fn to_json(&self) -> Value {
        exercise_json(self)
    }
}
