//! Native checks of the content: lessons against cells, references against pages, and the README's
//! list of lessons against `lessons/`.
//!
//! After a lesson was added or retitled, `UPDATE_README=1 cargo test --test lessons the_list` writes the
//! list again.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use cells::golden::Golden;
use cells::model_cache::ModelCache;
use cells::{CellSpec, Inputs, jobs, registry};
use lesson::reference::ElementRef;
use lesson::{Answer, Cell, Code, Kind, Lesson, Segment};
use pages::{Cells, CodeBook, Content};

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The content of the site, loaded once for all tests: the values that its sentences quote take the
/// engine half a minute.
fn content() -> &'static Content {
    static CONTENT: OnceLock<Content> = OnceLock::new();
    CONTENT.get_or_init(|| {
        let catalog = Cells {
            public: project().join("public"),
        };
        Content::load(&project(), &catalog, false).unwrap_or_else(|e| panic!("{e}"))
    })
}

fn spec_of(cell: &Cell) -> &'static CellSpec {
    registry::find(&cell.name).unwrap_or_else(|| panic!("no cell {}", cell.name))
}

fn inputs_of(page: &Lesson, cell: &Cell) -> Inputs {
    spec_of(cell)
        .inputs_from(&cell.props, &page.shared)
        .unwrap_or_else(|e| panic!("{}: {e}", cell.id))
}

/// Compiling checks cells, props, formulas, links, exercises and inline values; a mistake names
/// file and line.
#[test]
fn every_lesson_compiles() {
    assert!(!content().lessons.is_empty());
}

/// The folders of cells are the lessons, and each lesson has its cells in the order of the
/// registry.
#[test]
fn every_cell_is_on_the_page_of_its_lesson() {
    let content = content();
    let slugs: Vec<String> = registry::GROUPS
        .iter()
        .map(|group| group.name.replace('_', "-"))
        .collect();
    let lessons: Vec<&String> = content.lessons.iter().map(|l| &l.slug).collect();
    assert_eq!(slugs.iter().collect::<Vec<_>>(), lessons);
    for (group, page) in registry::GROUPS.iter().zip(&content.lessons) {
        let cells: Vec<&str> = group.cells.iter().map(|spec| spec.name).collect();
        let mut present: Vec<&str> = Vec::new();
        for cell in page.cells() {
            let name = cell.name.as_str();
            if cells.contains(&name) && !present.contains(&name) {
                present.push(name);
            }
        }
        assert_eq!(present, cells, "{}", page.slug);
        let exercises = page.exercises().count();
        assert!(
            (2..=5).contains(&exercises),
            "{} has {exercises} exercises; two to five are asked for",
            page.file
        );
    }
}

/// The reader does something with a cell of each lesson, and learns why it worked. That the goal is
/// not met before, and can be, is checked where lessons are compiled.
#[test]
fn every_lesson_has_one_goal_to_reach_in_a_cell() {
    for page in &content().lessons {
        let is_goal = |answer: &Answer| matches!(answer, Answer::Make(_));
        let goals: Vec<_> = page.exercises().filter(|e| is_goal(&e.answer)).collect();
        assert_eq!(goals.len(), 1, "{}", page.file);
        let goal = goals[0];
        assert!(goal.hint.is_some() && goal.explain.is_some(), "{}", goal.id);
    }
}

#[test]
fn no_two_cells_have_the_same_name() {
    let names: BTreeSet<&str> = registry::all().map(|spec| spec.name).collect();
    assert_eq!(names.len(), registry::all().count());
}

/// Words of prose that a lesson may have. Code blocks, which are its cells and exercises, do not
/// count.
const WORDS: std::ops::RangeInclusive<usize> = 800..=2_300;

/// The Markdown of a lesson.
fn source(page: &Lesson) -> String {
    std::fs::read_to_string(project().join(&page.file)).unwrap()
}

/// Markdown reads a line after `> ` as a part of the box even without the mark; a reader of the file
/// does not.
#[test]
fn every_line_of_a_box_has_its_mark() {
    for page in &content().lessons {
        let source = source(page);
        for (line, next) in source.lines().zip(source.lines().skip(1)) {
            let ends = next.is_empty() || next.starts_with('>') || !line.starts_with('>');
            assert!(ends, "{}: {next}", page.slug);
        }
    }
}

/// A number with a full stop that a line break has brought to the start of a line begins a list, in
/// the middle of a sentence.
#[test]
fn no_list_begins_inside_a_sentence() {
    for page in &content().lessons {
        let source = source(page);
        for (line, next) in source.lines().zip(source.lines().skip(1)) {
            let is_text = line.trim_start().starts_with(char::is_alphabetic);
            let begins = ["1. ", "1) ", "- ", "* ", "+ "]
                .iter()
                .any(|mark| next.trim_start().starts_with(mark));
            let is_item = line.starts_with(' ') && !next.starts_with(' ');
            assert!(!is_text || !begins || is_item, "{}: {next}", page.file);
        }
    }
}

#[test]
fn lessons_are_as_long_as_promised() {
    for page in &content().lessons {
        let text = source(page);
        let prose = text.splitn(3, "+++").nth(2).unwrap();
        let mut fenced = false;
        let words: usize = prose
            .lines()
            .filter(|line| {
                let fence = line.starts_with("```");
                fenced ^= fence;
                !fence && !fenced
            })
            .map(|line| line.split_whitespace().count())
            .sum();
        assert!(
            WORDS.contains(&words),
            "{}: {words} words of prose; {} to {} are asked for",
            page.file,
            WORDS.start(),
            WORDS.end()
        );
    }
}

/// Most cells of a lesson that are open from the start.
const OPEN: usize = 5;

#[test]
fn no_lesson_opens_with_more_cells_than_a_reader_follows() {
    for page in &content().lessons {
        let open = page.cells().filter(|cell| cell.fold.is_none()).count();
        assert!(open <= OPEN, "{}: {open} open cells; fold one", page.file);
        let first = page.cells().next().unwrap();
        assert!(first.fold.is_none(), "{}: the first is folded", page.file);
    }
}

/// The reader commits to an answer before the cell that shows it.
#[test]
fn every_lesson_asks_for_a_guess_before_the_cell_that_answers() {
    for page in &content().lessons {
        let guess = |segment: &Segment| match segment {
            Segment::Guess(guess) => Some(guess.cell.clone()),
            _ => None,
        };
        let mut segments = page.segments.iter();
        let asked = segments.find_map(guess);
        let asked = asked.unwrap_or_else(|| panic!("{}: no guess", page.file));
        let answers = |segment: &Segment| match segment {
            Segment::Cell(cell) => cell.name == asked,
            _ => false,
        };
        assert!(
            segments.any(answers),
            "{}: {asked} is not below the guess",
            page.file
        );
    }
}

/// Each lesson shows a function that a cell above has called, and the same in PyTorch, whose printed
/// numbers are those of the cell.
#[test]
fn every_lesson_shows_a_function_and_the_same_in_pytorch() {
    let cache = ModelCache::of_folder(project().join("public/models"));
    for page in &content().lessons {
        let blocks: Vec<&Code> = page.code().collect();
        let [code] = blocks[..] else {
            panic!("{}: {} blocks of code", page.file, blocks.len());
        };
        let is_this = |segment: &Segment| matches!(segment, Segment::Code(_));
        let mut above = page.segments.iter().take_while(|s| !is_this(s));
        let calls = |segment: &Segment| matches!(segment, Segment::Cell(c) if c.name == code.cell);
        assert!(
            above.any(calls),
            "{}: {} is not above",
            page.file,
            code.cell
        );
        let printed = code.listing.printed.as_ref().unwrap_or_else(|| {
            let script = "tests/golden/pytorch/make_printed.py";
            panic!(
                "{}: what {} prints is not stored; run {script}",
                page.file, code.id
            )
        });
        let spec = registry::find(&code.cell).unwrap();
        let inputs = spec.inputs_from(&code.props, &BTreeMap::new()).unwrap();
        let inputs = cells::picture::with_drawn_samples(inputs);
        let computed = jobs::compute(spec, &inputs, &cache).unwrap();
        let numbers = |element: &ElementRef| match computed.at(&element.tensor, &element.index) {
            Some(number) => vec![number],
            None => computed
                .tensor(&element.tensor)
                .unwrap()
                .values
                .iter()
                .copied()
                .collect(),
        };
        let expected: Vec<f64> = code.prints.iter().flat_map(numbers).collect();
        assert_eq!(
            pages::disagreement(&printed.text, &expected),
            None,
            "{}",
            page.file
        );
        // Every number counts: a change of any of them is found.
        for n in 0..expected.len() {
            let mut other = expected.clone();
            other[n] = if other[n].is_finite() {
                other[n] * 1.1 + 1e-3
            } else {
                0.0
            };
            let found = pages::disagreement(&printed.text, &other);
            assert!(found.is_some(), "{}: number {n}", page.file);
        }
    }
}

/// A reader who knows the field under other words finds them, and a reader who goes on to papers.
#[test]
fn every_lesson_gives_the_other_names_of_its_things() {
    for page in &content().lessons {
        let (file, text) = (&page.file, source(page));
        let (_, end) = text
            .split_once("\n## In short\n")
            .unwrap_or_else(|| panic!("{file}: no section \u{201c}In short\u{201d}"));
        let names = end
            .split("\n\n")
            .find(|part| part.starts_with("**Also called.** "));
        let names = names.unwrap_or_else(|| panic!("{file}: no paragraph **Also called.**"));
        assert!(
            names.matches('*').count() >= 8,
            "{file}: two names at least: {names}"
        );
    }
}

/// Verifying a page means verifying what it shows: each reference belongs to a cell of the page,
/// and one reference of each such cell stands on the inputs that the page gives it. Others may
/// stand on inputs that a reader would choose.
#[test]
fn references_stand_on_the_inputs_of_their_page() {
    let mut off = Vec::new();
    for page in content().pages() {
        let file = project().join(format!("tests/golden/lessons/{}.json", page.slug));
        let Ok(text) = std::fs::read_to_string(&file) else {
            assert!(
                ["404", "home", "models"].contains(&page.slug.as_str()),
                "{}: no reference values; a script beside it has to write {}",
                page.file,
                file.display()
            );
            continue;
        };
        let golden: Golden = serde_json::from_str(&text).unwrap();
        let cells: BTreeMap<&str, &Cell> = page.cells().map(|c| (c.id.as_str(), c)).collect();
        let mut standing = BTreeMap::new();
        for reference in &golden.cells {
            let cell = cells
                .get(reference.id.as_str())
                .unwrap_or_else(|| panic!("{}: no {}", page.slug, reference.id));
            assert_eq!(cell.name, reference.cell);
            let given = spec_of(cell)
                .inputs_from(&reference.inputs, &BTreeMap::new())
                .unwrap();
            *standing.entry(&reference.id).or_insert(false) |= given == inputs_of(page, cell);
        }
        let missed = standing.into_iter().filter(|(_, stands)| !stands);
        off.extend(missed.map(|(id, _)| format!("{}: {id}", page.slug)));
    }
    assert!(
        off.is_empty(),
        "no reference on the page's own inputs: {off:#?}"
    );
}

/// A link to each cell as the site made it on 21 November 2026, each with one edit of a reader. What
/// a reader once shared goes on opening: its cell is on the page, or on the one where the page says
/// that it has moved, has the input, and accepts the value. Whoever moves or removes a cell leads its links on, and changes this test.
#[test]
fn links_that_readers_have_shared_still_open() {
    let content = content();
    let links = include_str!("old_links.txt").lines();
    let mut cells_linked = BTreeSet::new();
    for link in links {
        let (path, rest) = link.split_once('#').unwrap();
        let (id, state) = rest.split_once("?s=").unwrap();
        let slug = path.trim_start_matches("lesson/").trim_end_matches('/');
        let lesson = |slug: &str| content.lessons.iter().find(|l| l.slug == slug).unwrap();
        let page = match slug {
            "" => &content.home,
            slug => lesson(slug),
        };
        let page = page.moved.get(id).map_or(page, |slug| lesson(slug));
        let is_linked = |cell: &&Cell| cell.id == id || cell.formerly.as_deref() == Some(id);
        let cell = page.cells().find(is_linked);
        let cell = cell.unwrap_or_else(|| panic!("{link}: the page has no such cell"));
        let state = cells::state::decode(state).unwrap();
        for (key, value) in state.values {
            let input = key.strip_prefix(&format!("{id}.")).unwrap();
            let specs = (spec_of(cell).inputs)();
            let spec = specs.iter().find(|spec| spec.name == input);
            let spec = spec.unwrap_or_else(|| panic!("{link}: no input {key}"));
            let restored = spec.parse(&value).unwrap_or_else(|e| panic!("{link}: {e}"));
            assert_ne!(inputs_of(page, cell).0.get(input), Some(&restored), "{key}");
        }
        cells_linked.insert((slug.to_owned(), id.to_owned()));
    }
    assert_eq!(cells_linked.len(), 39, "all cells of that day");
}

/// "Show the Rust" finds the source of every engine function that ran, and at least one ran.
#[test]
fn the_source_of_every_call_is_found() {
    let mut book = CodeBook::new(&project());
    let cache = ModelCache::of_folder(project().join("public/models"));
    let mut faults = Vec::new();
    for page in content().pages() {
        for cell in page.cells() {
            let inputs = inputs_of(page, cell);
            if inputs.0.values().any(|v| matches!(v, cells::InputValue::Picture(p) if cells::picture::file(&p.name).is_some())) {
                // A photograph is decoded by the browser; the end-to-end tests cover these.
                println!("skipped: {} starts from a photograph", cell.id);
                continue;
            }
            let inputs = cells::picture::with_drawn_samples(inputs);
            let computed = jobs::compute(spec_of(cell), &inputs, &cache)
                .unwrap_or_else(|e| panic!("{}: {e}", cell.id));
            if computed.calls.is_empty() {
                faults.push(format!("{} calls nothing in the open", cell.id));
            }
            let excerpts = book.excerpts(&cell.name).unwrap_or_else(|e| panic!("{e}"));
            for path in computed.calls.iter().map(|call| &call.path) {
                let Some(excerpt) = excerpts.iter().find(|e| e.path == *path) else {
                    faults.push(format!("{}: no source of {path}", cell.id));
                    continue;
                };
                let source = std::fs::read_to_string(project().join(&excerpt.file)).unwrap();
                let first = excerpt.text.lines().next().unwrap();
                let found = source.lines().nth(excerpt.line - 1).map(str::trim);
                assert_eq!(found, Some(first.trim()), "{path}");
            }
        }
    }
    faults.dedup();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The marks around the list of lessons in the README.
const BEGIN: &str = "<!-- lessons: written by tests/lessons.rs -->\n";
const END: &str = "<!-- end of lessons -->\n";

/// The most characters in a line of prose, as `.editorconfig` says.
const WIDTH: usize = 100;

/// Breaks an item of a list into lines.
fn wrapped(item: &str) -> String {
    let mut lines = vec![String::new()];
    for word in item.split(' ') {
        let line = lines.last().unwrap();
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(" ".to_owned());
        }
        let line = lines.last_mut().unwrap();
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join("\n")
}

/// A Markdown list with an item for each lesson, under the name of its part.
fn list(lessons: &[Lesson]) -> String {
    let mut out = String::new();
    for part in lessons.chunk_by(|a, b| a.part == b.part) {
        writeln!(out, "\n**Part {}**\n", part[0].part).unwrap();
        for lesson in part {
            let Kind::Lesson(number) = lesson.kind else {
                continue;
            };
            let (title, description) = (&lesson.title, &lesson.description);
            let item = format!("- {number:02} *{title}*: {description}");
            writeln!(out, "{}", wrapped(&item)).unwrap();
        }
    }
    out.push('\n');
    out
}

#[test]
fn the_list_of_lessons_is_the_folder() {
    let path = project().join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (now, after) = rest.split_once(END).unwrap();
    let wanted = list(&content().lessons);
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).unwrap();
        return;
    }
    assert!(
        now == wanted,
        "README.md lists other lessons than lessons/: run `UPDATE_README=1 cargo test --test lessons the_list`"
    );
}

/// Right answers to MNIST's test digits that lessons quote as typed: those of the models' cards.
/// How many shuffled ones are right is counted in `crates/train/tests/train/positions_2d.rs`.
#[test]
fn quoted_right_answers_are_those_of_the_cards() {
    let cards = std::fs::read_to_string(project().join("public/models/MODELS.md")).unwrap();
    let right = |model: &str| {
        let mut sections = cards.split("\n## ");
        let card = sections.find_map(|card| card.strip_prefix(&format!("{model}\n")));
        let mut rows = card.unwrap().lines();
        let row = rows.find_map(|row| row.strip_prefix("| right of 10000 test digits, % | "));
        row.unwrap().trim_end_matches(" |").to_owned()
    };
    let [vit, mean, bag] = ["digit-vit", "digit-vit-gap", "digit-vit-nopos"].map(right);
    for (slug, quoted) in [
        ("vit", format!("test digits, digit-vit reads {vit} % right")),
        (
            "vit",
            format!("(/models#digit-vit-gap) {mean} % (both from"),
        ),
        ("positions-2d", format!("| with positions | {vit} % |")),
        ("positions-2d", format!("| without positions | {bag} % |")),
        (
            "inductive-bias",
            format!("reads {vit} % of the test digits"),
        ),
        ("scale", format!("It reads {vit} % of 10,000 test digits")),
    ] {
        let page = content().lessons.iter().find(|page| page.slug == slug);
        let words = source(page.unwrap());
        let words: Vec<&str> = words.split_whitespace().collect();
        assert!(words.join(" ").contains(&quoted), "{slug}: {quoted}");
    }
}
