//! The drawing of the whole machine: encoder, decoder and Vision Transformer, each part a link to
//! its lesson. Every lesson shows it with its own part marked; the page `/map/` describes each part.

use std::fmt::Write as _;

use lesson::html::escape;
use lesson::{Lesson, ROOT};

/// A part of the machine.
struct Part {
    /// Short name, unique.
    id: &'static str,
    /// Its name on the map's list.
    name: &'static str,
    /// Slug of the lesson about it, which may be still to come.
    slug: &'static str,
    /// The cell of that lesson that shows its numbers.
    cell: Option<&'static str>,
    /// What it does, in one sentence.
    says: &'static str,
}

const fn part(
    id: &'static str,
    name: &'static str,
    slug: &'static str,
    cell: Option<&'static str>,
    says: &'static str,
) -> Part {
    Part {
        id,
        name,
        slug,
        cell,
        says,
    }
}

/// Every part, in the order in which data meets them.
#[rustfmt::skip]
const PARTS: &[Part] = &[
    part("tools", "Basic operations", "basics", Some("dot-product"), "Dot product, matrix, softmax, nonlinearity and gradient: every other part is made of these."),
    part("tokens", "Tokens", "tokens", Some("tokenize"), "Cuts a text into pieces of a fixed vocabulary and gives each a vector."),
    part("patches", "Patches", "patches", Some("patch-embedding"), "Cuts a picture into squares and turns each into a vector."),
    part("positions", "Positions", "positions", Some("sinusoid-map"), "Adds to every vector where it is in the sequence."),
    part("grid", "Positions in a picture", "positions-2d", Some("position-similarity"), "Adds to every patch a learned vector for its position in the grid."),
    part("attention", "Self-attention", "self-attention", Some("attention-map"), "Lets every position take information from the others."),
    part("qkv", "Queries, keys, values", "self-attention", Some("qkv-by-hand"), "Three matrix products: what a position looks for, what it offers, what it passes on."),
    part("offset", "Relative positions", "relative-positions", Some("rotary"), "Tells the scores how far apart two tokens are: turns queries and keys, or adds a bias."),
    part("scores", "Scores", "self-attention", Some("qkv-by-hand"), "The dot product of every query with every key."),
    part("scale", "Scale", "scaling", Some("why-scale"), "Divides the scores by the root of their dimension, so the softmax can still learn."),
    part("mask", "Mask", "causal-mask", Some("mask-editor"), "Hides the positions that a position may not see."),
    part("softmax", "Softmax", "scaling", Some("softmax-temperature"), "Turns the scores of a position into weights that add up to one."),
    part("values", "Weighted sum", "self-attention", Some("qkv-by-hand"), "Adds up the values, each times its weight."),
    part("heads", "Heads", "multi-head", Some("heads-split"), "Runs several attentions side by side and joins their outputs."),
    part("cost", "Cost of attention", "cost", Some("count-the-work"), "Every position is compared with every other one: the work grows with the square of the text."),
    part("jobs", "Jobs of heads", "heads", Some("pattern-atlas"), "What single heads have learned to look at, and what is lost without them."),
    part("norm", "Residual and norm", "residual-and-norm", Some("residual-stream"), "Adds what a step computed to its input, and keeps the numbers in range."),
    part("mlp", "MLP", "mlp", Some("two-matrices"), "Two matrix products and a nonlinearity, for every position alone."),
    part("encoder", "Encoder", "encoder-only", Some("masked-word"), "Reads a whole text at once; BERT is an encoder by itself."),
    part("memory", "The encoder's output", "bottleneck", Some("information-budget"), "Hands one vector a word to the decoder. Before attention, a single vector had to hold the whole sentence."),
    part("pair", "Encoder and decoder", "encoder-decoder", Some("live-figure"), "Reads a source once and writes a target token by token: the Transformer of 2017, whole."),
    part("cross", "Cross-attention", "alignment", Some("alignment-lines"), "Lets the decoder look at every word of the source."),
    part("decoder", "Decoder", "decoder-only", Some("write-on"), "Writes one token after the other; GPT is a decoder by itself."),
    part("output", "Linear and softmax", "decoder-only", Some("sampling"), "Gives every token of the vocabulary a probability to come next."),
    part("vision", "Vision Transformer", "vit", Some("whole-vit"), "An encoder that reads patches in place of tokens."),
    part("windows", "Windows", "windows", Some("swin-reach"), "Lets patches of a large picture attend only to near ones, in windows that shift from block to block."),
    part("bias", "Inductive bias", "inductive-bias", Some("move-the-digit"), "What a network knows of pictures before it has seen one: which pixels belong together, and that a shifted picture shows the same things."),
    part("data", "Data and size", "scale", Some("data-curve"), "How many pictures a network has to learn from, and how many parameters it learns with."),
    part("unlabelled", "Learning without labels", "without-labels", Some("dino"), "Makes the targets of training from the pictures themselves: the next pixel, or what another crop shows."),
    part("head", "Class head", "vit", Some("class-token-lens"), "Reads the answer off the vector of the class token."),
    part("loss", "Training", "training", Some("train-tiny"), "Measures how wrong the output is, and moves every parameter a little to make it less wrong."),
];

/// A box of the drawing: the part that it is, its text, its left edge and its row from the bottom.
type Block = (&'static str, &'static str, u32, u32);

/// Left edges of the columns.
const COLUMNS: [u32; 3] = [8, 128, 248];

/// Width of a box in a column, and height of every box: a target for a finger.
const WIDTH: u32 = 104;
const HEIGHT: u32 = 24;

/// Distance between two rows.
const PITCH: u32 = 31;

/// Lower edge of the lowest row.
const FLOOR: u32 = 340;

/// Width and height of the drawing.
const SIZE: (u32, u32) = (360, 446);

#[rustfmt::skip]
const BLOCKS: &[Block] = &[
    ("tokens", "tokens", 8, 0), ("positions", "positions", 8, 1),
    ("attention", "self-attention", 8, 2), ("norm", "add and norm", 8, 3),
    ("mlp", "MLP", 8, 4), ("norm", "add and norm", 8, 5), ("memory", "encoder\u{2019}s output", 8, 6),
    ("pair", "encoder + decoder", 8, 8),
    ("tokens", "tokens", 128, 0), ("positions", "positions", 128, 1),
    ("mask", "masked attention", 128, 2), ("norm", "add and norm", 128, 3),
    ("cross", "cross-attention", 128, 4), ("norm", "add and norm", 128, 5),
    ("mlp", "MLP", 128, 6), ("norm", "add and norm", 128, 7), ("output", "linear, softmax", 128, 8),
    ("patches", "patches", 248, 0), ("grid", "positions", 248, 1),
    ("norm", "norm", 248, 2),
    ("norm", "add and norm", 248, 4), ("mlp", "MLP, then add", 248, 5), ("head", "class head", 248, 6),
    ("data", "data and size", 248, 7), ("bias", "inductive bias", 248, 8),
];

/// The steps inside every attention, from left to right: part, text and width.
const STEPS: [(&str, &str, u32); 8] = [
    ("qkv", "Q, K, V", 44),
    ("offset", "offset", 40),
    ("scores", "Q\u{b7}K\u{1d40}", 40),
    ("scale", "\u{f7}\u{221a}d", 32),
    ("mask", "mask", 36),
    ("softmax", "softmax", 51),
    ("values", "\u{b7}\u{2009}V", 28),
    ("heads", "heads", 38),
];

/// Distance between two steps.
const GAP: u32 = 5;

/// The drawing as a figure of a lesson, whose parts are marked; `None` for a lesson about no part.
pub(crate) fn figure(lesson: &Lesson, lessons: &[Lesson]) -> Option<String> {
    let here: Vec<String> = own_parts(&lesson.slug)
        .map(|part| part.name.to_lowercase())
        .collect();
    let (last, before) = here.split_last()?;
    let here = match before {
        [] => last.clone(),
        before => format!("{} and {last}", before.join(", ")),
    };
    Some(format!(
        "<figure class=\"machine\">{}<figcaption><b>You are here:</b> {here}. \
         <a href=\"{ROOT}map/\">What each part does</a></figcaption></figure>\n",
        drawing(lessons, Some(lesson))
    ))
}

/// The page `/map/`.
pub(crate) fn map_main(lessons: &[Lesson]) -> String {
    let mut list = String::new();
    for part in PARTS {
        let (id, name, says) = (part.id, part.name, part.says);
        let lesson = lessons.iter().position(|lesson| lesson.slug == part.slug);
        let leads = match lesson {
            None => "Its lesson is still to come.".to_owned(),
            Some(at) => {
                let title = escape(&lessons[at].title);
                let slug = part.slug;
                let live = part.cell.map(|cell| {
                    format!(" \u{b7} <a href=\"{ROOT}lesson/{slug}/#{cell}\">Its numbers, live</a>")
                });
                format!(
                    "<a href=\"{ROOT}lesson/{slug}/\">Lesson {}: {title}</a>{}",
                    at + 1,
                    live.unwrap_or_default()
                )
            }
        };
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            list,
            "<div><h3 id=\"{id}\">{name}</h3>\n<p>{says} {leads}</p></div>"
        );
    }
    format!(
        "<main id=\"main\" data-page=\"map\" data-inputs='{{}}' tabindex=\"-1\">\n<article class=\"lesson\">\n\
         <header class=\"lesson-head\">\n<h1>{TITLE}</h1>\n<p class=\"lesson-lead\">{DESCRIPTION}</p>\n</header>\n\
         <div class=\"lesson-body\">\n<figure class=\"machine whole\">{}<figcaption>Data flows from the bottom \
         to the top. The two columns on the left are the Transformer of 2017, which translates; the third reads pictures. \
         The parts on a shaded ground are repeated, in the Transformer of 2017 six times. The row at the bottom is what \
         happens inside every attention; the boxes above it lead to what attention costs, to what single heads have learned, and to the operations that all parts are made of. A dashed part has no lesson yet. \
         <a href=\"{ROOT}reference/\">Symbols, equations and terms</a> have a page of their own.</figcaption></figure>\n\
         <h2>The parts</h2>\n<div class=\"wide parts\">\n{list}</div></div>\n</article>\n</main>",
        drawing(lessons, None)
    )
}

/// Name of the folder of the page with the whole drawing.
pub(crate) const NAME: &str = "map";

/// Title of the page `/map/`.
pub(crate) const TITLE: &str = "The whole machine";

/// Description of the page `/map/`.
pub(crate) const DESCRIPTION: &str = "The Transformer and the Vision Transformer in one drawing. Every part leads to the lesson that takes it apart.";

fn own_parts(slug: &str) -> impl Iterator<Item = &'static Part> {
    PARTS.iter().filter(move |part| part.slug == slug)
}

/// The drawing, in which the parts of the lesson `here` are marked.
fn drawing(lessons: &[Lesson], here: Option<&Lesson>) -> String {
    let mut pen = Pen {
        lessons,
        here: here.map(|lesson| lesson.slug.as_str()),
        drawn: Vec::new(),
        svg: String::new(),
    };
    let label = match here {
        Some(_) => "The machine, with the parts of this lesson marked",
        None => TITLE,
    };
    let _ = write!(
        pen.svg,
        "<svg viewBox=\"0 0 {} {}\" role=\"group\" aria-label=\"{label}\">",
        SIZE.0, SIZE.1
    );
    pen.frames();
    pen.flow();
    for &(id, text, x, row) in BLOCKS {
        pen.block(id, text, (x, top(row)), WIDTH);
    }
    pen.block("attention", "attention", (COLUMNS[2], top(3)), 54);
    pen.block("windows", "windows", (COLUMNS[2] + 56, top(3)), 48);
    pen.block(
        "unlabelled",
        "without labels",
        (COLUMNS[0], top(9) - 8),
        WIDTH,
    );
    pen.block("loss", "training: the loss", (128, top(9) - 8), 224);
    pen.svg.push_str("<g class=\"title\">");
    for (column, (id, text)) in COLUMNS.into_iter().zip([
        ("encoder", "Encoder"),
        ("decoder", "Decoder"),
        ("vision", "Vision Transformer"),
    ]) {
        pen.block(id, text, (column, FLOOR + 4), WIDTH);
    }
    pen.svg.push_str("</g>");
    // In the free row above the steps.
    let y = SIZE.1 - 2 * HEIGHT - 13;
    pen.block("cost", "its cost", (COLUMNS[1] + 4, y), 46);
    pen.block("jobs", "head jobs", (COLUMNS[1] + 54, y), 62);
    pen.block("tools", "basic operations", (COLUMNS[2], y), WIDTH);
    let _ = write!(
        pen.svg,
        "<text class=\"name\" x=\"8\" y=\"{}\">Inside every attention</text>",
        SIZE.1 - 39
    );
    let mut x = COLUMNS[0];
    for (id, text, width) in STEPS {
        pen.block(id, text, (x, SIZE.1 - HEIGHT - 5), width);
        x += width + GAP;
    }
    pen.svg.push_str("</svg>");
    pen.svg
}

/// Upper edge of the boxes of a row.
fn top(row: u32) -> u32 {
    FLOOR - row * PITCH - HEIGHT
}

struct Pen<'a> {
    lessons: &'a [Lesson],
    /// Slug of the lesson whose parts are marked.
    here: Option<&'a str>,
    /// The parts that are there already: the others of a part are no stops of the keyboard.
    drawn: Vec<&'static str>,
    svg: String,
}

impl Pen<'_> {
    /// The frames of the blocks that are repeated.
    fn frames(&mut self) {
        for (x, (low, high)) in COLUMNS.into_iter().zip([(2, 5), (2, 7), (2, 5)]) {
            let (y, bottom) = (top(high) - 4, top(low) + HEIGHT + 4);
            let _ = write!(
                self.svg,
                "<rect class=\"repeated\" x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{}\"/>",
                x - 5,
                WIDTH + 10,
                bottom - y
            );
        }
    }

    /// The lines along which data flows; the boxes cover what is behind them.
    fn flow(&mut self) {
        let (start, end) = (top(0), top(9));
        let [encoder, decoder, vision] = COLUMNS.map(|x| x + WIDTH / 2);
        let (memory, cross) = (top(6) + HEIGHT / 2, top(4) + HEIGHT / 2);
        let steps = SIZE.1 - HEIGHT / 2 - 5;
        let _ = write!(
            self.svg,
            "<path class=\"flow\" d=\"M{encoder} {start}V{memory}H120V{cross}H128M{decoder} {start}V{end}M{vision} {start}V{end}\
             M8 {steps}H352\"/>"
        );
    }

    /// A box with its text: marked, a link, or grey where its lesson is still to come.
    fn block(&mut self, id: &'static str, text: &str, (x, y): (u32, u32), width: u32) {
        let Some(part) = PARTS.iter().find(|part| part.id == id) else {
            return;
        };
        let is_here = self.here == Some(part.slug);
        let has_lesson = self.lessons.iter().any(|lesson| lesson.slug == part.slug);
        let shape = format!(
            "<rect width=\"{width}\" height=\"{HEIGHT}\" rx=\"3\"/><text x=\"{}\" y=\"16\">{text}</text>",
            width / 2
        );
        let at = format!("transform=\"translate({x} {y})\"");
        let repeated = if self.drawn.contains(&id) {
            " tabindex=\"-1\" aria-hidden=\"true\""
        } else {
            ""
        };
        let _ = match (is_here, has_lesson) {
            (true, _) => write!(self.svg, "<g class=\"here\" {at}>{shape}</g>"),
            (false, true) => write!(
                self.svg,
                "<a href=\"{ROOT}lesson/{}/\"{repeated} {at}>{shape}</a>",
                part.slug
            ),
            (false, false) => write!(self.svg, "<g class=\"to-come\" {at}>{shape}</g>"),
        };
        self.drawn.push(id);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn lesson(slug: &str) -> Lesson {
        let text = "+++\ntitle = \"T & U\"\ndescription = \"D\"\npart = \"II\"\n+++\n\nText.\n\n## Heading\n";
        let public = std::path::PathBuf::new();
        let catalog = crate::Cells { public };
        lesson::compile(&format!("lessons/01-{slug}.md"), text, &catalog).unwrap()
    }

    #[test]
    fn every_box_is_a_part_and_every_part_is_drawn() {
        let ids: BTreeSet<&str> = PARTS.iter().map(|part| part.id).collect();
        assert_eq!(ids.len(), PARTS.len(), "names are unique");
        let svg = drawing(&[], None);
        assert_eq!(
            svg.matches("rx=").count(),
            BLOCKS.len() + 7 + COLUMNS.len() + STEPS.len()
        );
        let steps = STEPS.iter().map(|(id, ..)| *id);
        let boxes = BLOCKS.iter().map(|(id, ..)| *id).chain(steps);
        let boxes = boxes.chain([
            "loss",
            "tools",
            "cost",
            "jobs",
            "windows",
            "unlabelled",
            "encoder",
            "decoder",
            "vision",
        ]);
        assert_eq!(boxes.collect::<BTreeSet<_>>(), ids);
    }

    #[test]
    fn the_steps_fill_the_width_of_the_drawing() {
        let widths: u32 = STEPS.iter().map(|(.., width)| width).sum();
        let gaps = GAP * (STEPS.len() as u32 - 1);
        assert_eq!(widths + gaps, SIZE.0 - 2 * COLUMNS[0]);
    }

    #[test]
    fn own_parts_are_marked_others_are_links_and_those_to_come_are_neither() {
        let lessons = [lesson("scaling"), lesson("positions")];
        let svg = drawing(&lessons, Some(&lessons[0]));
        assert_eq!(svg.matches("class=\"here\" ").count(), 2, "{svg}");
        let link = format!("<a href=\"{ROOT}lesson/positions/\"");
        assert_eq!(svg.matches(&link).count(), 2);
        assert_eq!(
            svg.matches(&format!("{link} tabindex=\"-1\"")).count(),
            1,
            "the keyboard stops once"
        );
        assert!(!svg.contains("lesson/mlp") && svg.contains("class=\"to-come\""));
        let figure = figure(&lessons[0], &lessons).unwrap();
        assert!(
            figure.contains("<b>You are here:</b> scale and softmax."),
            "{figure}"
        );
        assert!(super::figure(&lesson("nowhere"), &lessons).is_none());
    }

    #[test]
    fn every_lesson_has_its_part_and_every_live_cell_is_there() {
        let lessons = &crate::content::real::content().lessons;
        for (at, lesson) in lessons.iter().enumerate() {
            let page = crate::page::lesson_main(lesson, at, lessons, false);
            let before = page
                .split_once("<figure class=\"machine\"")
                .map(|(before, _)| before);
            let before = before.unwrap_or_else(|| panic!("{} has no drawing", lesson.slug));
            assert!(
                before.contains("data-cell="),
                "the first cell comes before it"
            );
            assert_eq!(
                before.matches("<section").count(),
                before.matches("</section>").count(),
                "{}: it is in no cell",
                lesson.slug
            );
            for part in own_parts(&lesson.slug) {
                let cell = part.cell.unwrap_or("none");
                assert!(
                    lesson.cells().any(|known| known.id == cell),
                    "{} has no cell {cell}",
                    lesson.slug
                );
            }
        }
    }

    #[test]
    fn the_map_leads_to_lessons_and_live_numbers() {
        let map = map_main(&[lesson("scaling")]);
        assert_eq!(map.matches("<h3 ").count(), PARTS.len());
        let leads = format!(
            "<a href=\"{ROOT}lesson/scaling/\">Lesson 1: T &amp; U</a> \u{b7} <a href=\"{ROOT}lesson/scaling/#why-scale\">"
        );
        assert!(map.contains(&leads), "{map}");
        assert_eq!(
            map.matches("Its lesson is still to come.").count(),
            PARTS.len() - 2
        );
    }
}
