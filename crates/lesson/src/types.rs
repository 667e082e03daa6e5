//! The parts of a compiled lesson.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::inline::{filled, inline_value};
use crate::reference::{ElementRef, InlineRef};

/// The page of the site that a source file makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `NN-slug.md`, the lesson of that number.
    Lesson(u32),
    /// `home.md`, the page at the root.
    Home,
    /// `404.md`, shown for an address that does not exist.
    NotFound,
    /// `MODELS.md`, the cards of the shipped models.
    Models,
}

/// A compiled source file.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// Kind of the page.
    pub kind: Kind,
    /// Path of the source, as the caller named it.
    pub file: String,
    /// The file name without its number: `self-attention`; `home`, `404` and `models` for the
    /// others.
    pub slug: String,
    /// Title, plain text.
    pub title: String,
    /// One or two sentences for search engines and the course map, plain text.
    pub description: String,
    /// The part of the course, plain text; empty for pages that are not lessons.
    pub part: String,
    /// Id of the cell whose figure stands for the lesson where lessons are listed.
    pub picture: Option<String>,
    /// Reading time of the prose, in minutes, at 200 words a minute.
    pub minutes: usize,
    /// Inputs that cells of this page share, by name.
    pub shared: BTreeMap<String, Value>,
    /// Titles of the lessons that are still to be written, by part of the course; the home page
    /// lists them.
    pub to_come: BTreeMap<String, Vec<String>>,
    /// Slugs of the lessons to which cells and headings of this one have moved, by their ids: links
    /// to them are led there.
    pub moved: BTreeMap<String, String>,
    /// The page, in order.
    pub segments: Vec<Segment>,
    /// Headings below the title, in order.
    pub headings: Vec<Heading>,
    /// Links to pages and places of this site.
    pub links: Vec<Link>,
    /// Values that prose quotes from cells.
    pub inline_values: Vec<InlineValue>,
    /// Every id on the page, for links that point to it.
    pub ids: Vec<String>,
}

/// A stretch of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Segment {
    /// Prose with formulas, as HTML; addresses inside the site start with [`crate::ROOT`].
    Html(String),
    /// A cell.
    Cell(Cell),
    /// A guess.
    Guess(Guess),
    /// An exercise.
    Exercise(Exercise),
    /// A function of the engine, and the same in PyTorch.
    Code(Code),
}

/// A cell's place on a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Name in the registry of cells.
    pub name: String,
    /// Id on the page.
    pub id: String,
    /// Id of a cell that this one has replaced: shared links to it lead here, with its edits.
    pub formerly: Option<String>,
    /// Heading, plain text.
    pub title: String,
    /// Line that stands for the cell, below its title, until the reader opens it, plain text; none
    /// where the cell is open from the start.
    pub fold: Option<String>,
    /// Text under the cell, as HTML.
    pub caption: Option<String>,
    /// Height reserved before the cell is mounted, in CSS pixels.
    pub height_px: u32,
    /// Level of the heading, 2 or 3, so that no level is skipped.
    pub level: u8,
    /// The cell's inputs, as the lesson gives them; `"$name"` binds to a shared input.
    pub props: Map<String, Value>,
    /// The inputs in words, label and value, for readers before the engine has loaded.
    pub given: Vec<(String, String)>,
    /// Its default result, which the page is served with; the compiler of lessons has none.
    pub figure: Option<Figure>,
    /// Line of the fence.
    pub line: usize,
}

/// The default result of a cell, computed when the page is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The view of the cell as markup.
    pub html: String,
    /// What the browser compares its own result with.
    pub fingerprint: String,
}

/// Form of the answer, and the right answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// One number.
    Number(ElementRef),
    /// A vector or matrix.
    Matrix(ElementRef),
    /// One of several texts.
    Choice(Vec<Choice>),
    /// Inputs of a cell of the page that reach a goal.
    Make(Make),
}

/// A goal that the reader reaches by editing a cell of the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Make {
    /// Id of the cell on the page.
    pub id: String,
    /// Heading of the cell, plain text.
    pub title: String,
    /// The claims that the cell's result must meet, all of them.
    pub goal: Vec<Goal>,
    /// All inputs of the cell in a case that meets them. The catalog checks it; no page holds it.
    pub solution: Map<String, Value>,
}

/// One claim of a goal.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// The claim in words, as HTML without a paragraph around it.
    pub html: String,
    /// Comparison of an element, on its left, with a number or another element.
    pub claim: String,
    /// Format in which the page shows the left side, as `data-format` holds it.
    pub format: String,
}

/// One answer among several.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The text, as HTML without a paragraph around it.
    pub html: String,
    /// Condition that makes it right: a comparison of elements and numbers, true for exactly one
    /// choice of an exercise. The catalog evaluates it.
    pub claim: String,
}

/// A question that the engine grades.
#[derive(Debug, Clone, PartialEq)]
pub struct Exercise {
    /// Id, unique on the page; the section's id is `exercise-` and this.
    pub id: String,
    /// Place among the exercises of the page, from 1.
    pub ordinal: usize,
    /// The question, as HTML.
    pub question: String,
    /// Name of the cell whose computation holds the answer.
    pub cell: String,
    /// Inputs of that computation, no shared names left.
    pub props: Map<String, Value>,
    /// The right answer.
    pub answer: Answer,
    /// Largest absolute difference that still counts as right.
    pub tolerance: f64,
    /// Help, as HTML.
    pub hint: Option<String>,
    /// Shown once answered, as HTML.
    pub explain: Option<String>,
    /// Level of the heading, 2 or 3.
    pub level: u8,
    /// Line of the fence.
    pub line: usize,
}

/// A question before the cell that answers it.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// Id, unique on the page; the section's id is `guess-` and this.
    pub id: String,
    /// The question, as HTML.
    pub question: String,
    /// Name of the cell that shows the answer.
    pub cell: String,
    /// The answers to choose from.
    pub choices: Vec<Choice>,
    /// Index of the one that the engine gets.
    pub right: usize,
    /// What comes out and why, as HTML, shown with the answer.
    pub explain: String,
    /// Line of the fence.
    pub line: usize,
}

/// The function of the engine that a cell calls, and the same in PyTorch.
#[derive(Debug, Clone, PartialEq)]
pub struct Code {
    /// Id, unique on the page; the section's id is `code-` and this.
    pub id: String,
    /// Name of the cell that calls the function.
    pub cell: String,
    /// Inputs of that computation, no shared names left.
    pub props: Map<String, Value>,
    /// Path of the function: `engine::nn::attention::attend`.
    pub function: String,
    /// Path of a function that it calls and that is shown below it.
    pub also: Option<String>,
    /// The tensors of the cell that the text in PyTorch prints, in this order.
    pub prints: Vec<ElementRef>,
    /// The text in PyTorch.
    pub pytorch: String,
    /// What the catalog found.
    pub listing: Listing,
    /// Line of the fence.
    pub line: usize,
}

/// What the page shows of a function and of its twin in PyTorch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Name of the function.
    pub name: String,
    /// Its source, as HTML.
    pub rust: String,
    /// File and line of the source.
    pub place: String,
    /// Arguments and results, each with its shape or value.
    pub shapes: Vec<(String, String)>,
    /// The text in PyTorch, as HTML.
    pub pytorch: String,
    /// What that text printed; `None` while nothing is stored.
    pub printed: Option<Printed>,
}

/// What a text in PyTorch printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// Version of PyTorch.
    pub torch: String,
    /// The printed lines.
    pub text: String,
}

/// A heading below the page's title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 2 to 4.
    pub level: u8,
    /// Id on the page.
    pub id: String,
    /// The heading as HTML, formulas included, without links.
    pub html: String,
    /// Line in the source.
    pub line: usize,
}

/// A link to a page or place of this site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// As written: `/lesson/scaling#why`, `#here`, `/`.
    pub target: String,
    /// Line in the source.
    pub line: usize,
}

/// A value that prose quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineValue {
    /// The quoted element.
    pub value: InlineRef,
    /// Line in the source.
    pub line: usize,
}

impl Lesson {
    /// Writes a value that was computed for the page into its prose.
    pub fn quote(&mut self, value: &InlineRef, text: &str) {
        let (waiting, filled) = (inline_value(value), filled(value, text));
        for segment in &mut self.segments {
            let html = match segment {
                Segment::Html(html) => html,
                Segment::Cell(Cell {
                    caption: Some(html),
                    ..
                }) => html,
                Segment::Exercise(exercise) => &mut exercise.question,
                Segment::Guess(guess) => {
                    guess.explain = guess.explain.replace(&waiting, &filled);
                    &mut guess.question
                }
                Segment::Cell(_) | Segment::Code(_) => continue,
            };
            *html = html.replace(&waiting, &filled);
        }
    }

    /// Gives the cell with an id its figure.
    pub fn give_figure(&mut self, id: &str, figure: Figure) {
        let mut cells = self.segments.iter_mut().filter_map(|s| match s {
            Segment::Cell(cell) => Some(cell),
            _ => None,
        });
        if let Some(cell) = cells.find(|cell| cell.id == id) {
            cell.figure = Some(figure);
        }
    }

    /// The cells of the page, in order.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.segments.iter().filter_map(|s| match s {
            Segment::Cell(cell) => Some(cell),
            _ => None,
        })
    }

    /// The blocks of code of the page, in order.
    pub fn code(&self) -> impl Iterator<Item = &Code> {
        self.segments.iter().filter_map(|s| match s {
            Segment::Code(code) => Some(code),
            _ => None,
        })
    }

    /// The exercises of the page, in order.
    pub fn exercises(&self) -> impl Iterator<Item = &Exercise> {
        self.segments.iter().filter_map(|s| match s {
            Segment::Exercise(exercise) => Some(exercise),
            _ => None,
        })
    }
}
