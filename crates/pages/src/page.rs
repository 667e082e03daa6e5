//! The `<main>` of each kind of page.

use std::fmt::Write as _;

use lesson::html::{escape, escape_single_quoted};
use lesson::{Heading, Lesson, ROOT};

use crate::course::{PART, course_map};
use crate::{machine, moved_digits};

/// Where a page's Markdown wants the course map: an HTML comment on a line of its own.
const MAP_MARK: &str = "<!-- course-map -->";

pub(crate) const NO_SCRIPT: &str = "<noscript><p class=\"noscript\">Scripts are switched off in this browser, or blocked. The text and \
     the formulas are all here, and most figures with the values that the lesson begins with. To change one, or to answer an exercise, \
     this browser would have to compute, which needs scripts and WebAssembly.</p></noscript>\n";

/// The page of a lesson, which is at this index among all.
pub(crate) fn lesson_main(
    lesson: &Lesson,
    at: usize,
    lessons: &[Lesson],
    has_golden: bool,
) -> String {
    let number = at + 1;
    let before = at.checked_sub(1).and_then(|before| lessons.get(before));
    let after = lessons.get(number);
    let Lesson { slug, minutes, .. } = lesson;
    let (part, title, description) = (
        escape(&lesson.part),
        escape(&lesson.title),
        escape(&lesson.description),
    );
    let toc = toc(&lesson.headings);
    let class = if toc.is_empty() {
        "lesson"
    } else {
        "lesson with-toc"
    };
    let unit = if *minutes == 1 { "minute" } else { "minutes" };
    format!(
        "<main id=\"main\" data-page=\"lesson/{slug}\"{data} tabindex=\"-1\">\n<article class=\"{class}\">\n\
         <header class=\"lesson-head\">\n<p class=\"lesson-part\">{PART} {part}</p>\n<h1>{title}</h1>\n\
         <p class=\"lesson-lead\">{description}</p>\n\
         <p class=\"lesson-meta\">Lesson {number}, about {minutes} {unit} to read</p>\n\
         <div class=\"page-tools\"></div>\n{NO_SCRIPT}</header>\n<div class=\"page-notice\"></div>\n{toc}\
         <div class=\"lesson-body\">\n{body}</div>\n{page_turn}</article>\n</main>",
        data = page_data(lesson, has_golden),
        body = with_machine(lesson, lessons),
        page_turn = page_turn(before, after),
    )
}

/// The lesson's text with the drawing of the machine before its first section, after the first cell.
fn with_machine(lesson: &Lesson, lessons: &[Lesson]) -> String {
    let mut body = lesson.article(ROOT);
    // The title of a cell may be a heading of this level too.
    let section = lesson.headings.iter().find(|heading| heading.level == 2);
    let place = section.and_then(|section| body.find(&format!("<h2 id=\"{}\"", section.id)));
    if let (Some(figure), Some(place)) = (machine::figure(lesson, lessons), place) {
        body.insert_str(place, &figure);
    }
    body
}

/// The home page.
pub(crate) fn home_main(home: &Lesson, lessons: &[Lesson], has_golden: bool) -> String {
    let map = format!(
        "<p class=\"to-map\"><a href=\"{ROOT}map/\">All parts of a Transformer in one drawing</a>, each with its lesson; <a href=\"{ROOT}reference/\">all symbols, equations and terms</a>.</p>\n{}",
        course_map(lessons, &home.to_come, map_level(home), true)
    );
    let body = home.article(ROOT);
    let body = if body.contains(MAP_MARK) {
        body.replace(MAP_MARK, &map)
    } else {
        body + &map
    };
    let (title, description) = (escape(&home.title), escape(&home.description));
    let ways = ways(lessons);
    format!(
        "<main id=\"main\" data-page=\"home\"{data} tabindex=\"-1\">\n<article class=\"home\">\n\
         <header class=\"home-head\">\n<h1>{title}</h1>\n<p class=\"lesson-lead\">{description}</p>\n{ways}\
         <div class=\"page-tools\"></div>\n{NO_SCRIPT}</header>\n<div class=\"page-notice\"></div>\n\
         <div class=\"lesson-body\">\n{body}</div>\n</article>\n</main>",
        data = page_data(home, has_golden),
    )
}

/// Slug and cell where a reader takes a picture apart.
const PICTURE: (&str, &str) = ("patches", "patch-cutter");

/// The three ways into the site.
fn ways(lessons: &[Lesson]) -> String {
    let mut out = "<nav class=\"ways\" aria-label=\"Ways in\">\n".to_owned();
    if let Some(Lesson { slug, minutes, .. }) = lessons.first() {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            out,
            "<a class=\"button primary\" href=\"{ROOT}lesson/{slug}/\">Start with lesson 1 <span class=\"way-note\">{minutes} minutes</span></a>"
        );
    }
    let (slug, cell) = PICTURE;
    if lessons.iter().any(|lesson| lesson.slug == slug) {
        let _ = writeln!(
            out,
            "<a class=\"button\" href=\"{ROOT}lesson/{slug}/#{cell}\">Cut up a picture</a>"
        );
    }
    let _ = writeln!(
        out,
        "<a class=\"button\" href=\"{ROOT}lab/\">Open a model</a>\n</nav>"
    );
    out
}

/// A page of the site's own that is no lesson: the site fills in its form.
pub(crate) struct Tool {
    /// Its folder, and the class of the place that is filled in.
    pub(crate) name: &'static str,
    /// Its title.
    pub(crate) title: &'static str,
    /// Title of its form.
    form: &'static str,
    /// What it is for.
    pub(crate) description: &'static str,
    /// Content below the form.
    pub(crate) text: &'static str,
}

/// The pages that work with full-size models.
pub(crate) const TOOLS: [Tool; 2] = [
    Tool {
        name: "lab",
        title: "Lab",
        form: "Open a model",
        description: "Open a full-size model from your disk or from an address: have it write, compare sentences or say what is on a \
                      picture, and see what each token or patch attends to. It runs in this browser; nothing is sent anywhere.",
        text: LAB_TEXT,
    },
    Tool {
        name: "bench",
        title: "Bench",
        form: "Measure a model",
        description: "How fast full-size models run in this browser, on the processor of this device: reading a prompt, writing token \
                      by token, classifying a picture, encoding a sentence.",
        text: BENCH_TEXT,
    },
];

/// The page of a tool.
pub(crate) fn tool_main(tool: &Tool) -> String {
    let (name, title, form, description, text) = (
        tool.name,
        escape(tool.title),
        escape(tool.form),
        escape(tool.description),
        tool.text,
    );
    format!(
        "<main id=\"main\" data-page=\"{name}\" data-inputs='{{}}' tabindex=\"-1\">\n<article class=\"lesson\">\n\
         <header class=\"lesson-head\">\n<h1>{title}</h1>\n<p class=\"lesson-lead\">{description}</p>\n{NO_SCRIPT}</header>\n\
         <div class=\"lesson-body\">\n\
         <section class=\"cell\" aria-labelledby=\"{name}-form\"><header class=\"cell-head\">\
         <h2 class=\"cell-title\" id=\"{name}-form\">{form}</h2></header><div class=\"cell-body\"><div class=\"cell-view tool {name}\">\
         <p class=\"cell-waiting\">The form appears once the engine has loaded.</p></div></div></section>\n{text}</div>\n\
         </article>\n</main>"
    )
}

/// What the lab takes, below its form.
const LAB_TEXT: &str = "<h2 id=\"what-it-opens\">What it opens</h2>\n\
     <p>A <code>.gguf</code> file holds all that a model needs. A <code>.safetensors</code> file needs its <code>config.json</code>, and \
     its vocabulary (<code>tokenizer.json</code>, <code>vocab.txt</code> or a SentencePiece <code>.model</code>) where it reads text: \
     choose them all at once. A <code>.bin</code> file of llama2.c needs its vocabulary. From an address, what lies beside the weights is \
     fetched too; the host has to allow other sites to read it. A shape is a real model&#39;s sizes with random weights, drawn here.</p>\n\
     <p>GPT-2, Llama and their relatives write. BERT compares sentences, and fills gaps where its file has the head for that. ViT and \
     Swin V2 say what is on a picture; DINOv2 makes features of it. The model runs in a worker of its own, and unloading it ends that \
     worker, which gives back all of its memory. WebAssembly has 4 GB \
     for everything, so weights of more than about 3.7 GB need a browser with 64-bit memory, which gives it up to 16 GB, and run \
     on one thread. A file that the browser can&#39;t keep on this device is held beside its model, which halves what fits.</p>\n\
     <p>Before anything is fetched from an address, the lab says how large it is, how much memory it will take and how fast this device \
     would go through it, and asks. What comes is kept on this device, where only this site can read it, until you delete it from the list of \
     kept files or clear the browser&#39;s data for this site. A download that breaks off goes on where it was, if the host knows ranges. \
     Where the browser refuses to keep a file, it comes into memory only, and the lab says so.</p>\n\
     <p>A candidate&#39;s probability is the model&#39;s own, before temperature, top-k, top-p and the repetition penalty have their \
     say. Attention is computed for the token that you choose, by running the text up to it through the model once more. Of a picture, it is the share of its attention that a patch, or the class \
     token, gives to each patch.</p>\n\
     <p>The cells below an open model are those of the lessons, computed by the same code with your model in place of the \
     site&#39;s small ones. They need the model&#39;s vocabulary. None computes before you open it, and what you change in them is \
     in no link.</p>\n";

/// What the bench measures, below its form.
const BENCH_TEXT: &str = "<h2 id=\"what-is-measured\">What is measured</h2>\n\
     <p>A shape is a real model&#39;s sizes with random weights, which are drawn here: nothing is downloaded, and the speed is that of \
     the trained model. The address of a <code>.safetensors</code> file, with its <code>config.json</code> beside it, or of a \
     <code>.gguf</code> file on this site&#39;s host is taken too.</p>\n\
     <p><em>Prompt</em> is the rate at which the tokens of a prompt are read, up to the scores after the last one. <em>New</em> is the \
     rate at which tokens are then written, one by one, always the most likely. A picture and a sentence are run through the model \
     once. Each figure is the median of the runs; the first of them also waits for the browser to compile. <em>Memory</em> is \
     everything that the engine took from the browser, the weights included.</p>\n";

/// What the site needs to know of a page: its shared inputs, whether reference tensors stand
/// beside it, and what has moved to other lessons.
fn page_data(page: &Lesson, has_golden: bool) -> String {
    let json = |map: serde_json::Result<String>| escape_single_quoted(&map.unwrap_or_default());
    let inputs = json(serde_json::to_string(&page.shared));
    let golden = if has_golden { " data-golden" } else { "" };
    let moved = match page.moved.is_empty() {
        true => String::new(),
        false => format!(" data-moved='{}'", json(serde_json::to_string(&page.moved))),
    };
    format!(" data-inputs='{inputs}'{golden}{moved}")
}

/// The page for an address that does not exist.
pub(crate) fn not_found_main(page: &Lesson, lessons: &[Lesson]) -> String {
    let map = course_map(lessons, &page.to_come, map_level(page), false);
    let body = page.article(ROOT);
    let body = if body.contains(MAP_MARK) {
        body.replace(MAP_MARK, &map)
    } else {
        body
    };
    let title = escape(&page.title);
    format!(
        "<main id=\"main\" data-page=\"404\" tabindex=\"-1\">\n<article class=\"lesson not-found\">\n\
         <header class=\"lesson-head\">\n<h1>{title}</h1>\n</header>\n<div class=\"lesson-body\">\n{body}</div>\n</article>\n</main>"
    )
}

/// The cards of the shipped models: prose, tables and the chart `moved_digits`, nothing that computes.
pub(crate) fn models_main(page: &Lesson, moved_digits: &str) -> String {
    let (title, description) = (escape(&page.title), escape(&page.description));
    format!(
        "<main id=\"main\" data-page=\"{slug}\" data-inputs='{{}}' tabindex=\"-1\">\n<article class=\"lesson with-toc model-cards\">\n\
         <header class=\"lesson-head\">\n<h1>{title}</h1>\n<p class=\"lesson-lead\">{description}</p>\n</header>\n{toc}\
         <div class=\"lesson-body\">\n{body}</div>\n</article>\n</main>",
        slug = page.slug,
        toc = toc(&page.headings),
        body = named_rows(&page.article(ROOT)).replace(moved_digits::MARK, moved_digits),
    )
}

/// What Markdown makes of a table whose columns have no names: it knows no table without a head.
const NAMELESS_HEAD: &str = "<thead><tr><th></th><th></th></tr></thead>";

/// Tables of two columns without names: the first cell of a row is the row's name.
fn named_rows(html: &str) -> String {
    let row = |line: &str| {
        if line.contains("<tr><td>") {
            line.replacen("<td>", "<th scope=\"row\">", 1)
                .replacen("</td>", "</th>", 1)
        } else {
            line.to_owned()
        }
    };
    let body = html.replace(NAMELESS_HEAD, "");
    body.split_inclusive('\n').map(row).collect()
}

/// "On this page": headings of level 2, those of level 3 below them.
pub(crate) fn toc(headings: &[Heading]) -> String {
    let listed: Vec<&Heading> = headings
        .iter()
        .filter(|heading| heading.level <= 3)
        .collect();
    if listed.len() < 2 {
        return String::new();
    }
    // Folded on narrow windows; style/lesson.css keeps it open beside the text where there is room.
    let mut out = "<nav class=\"toc\" aria-label=\"On this page\"><details><summary>On this page</summary>\n<ol>"
        .to_owned();
    let mut level = 2;
    for (i, heading) in listed.iter().enumerate() {
        // The compiler lets no level be skipped, so levels change by one here.
        match (i, level, heading.level) {
            (0, ..) => {}
            (_, 2, 3) => out.push_str("\n<ol>"),
            (_, 3, 2) => out.push_str("</li></ol></li>\n"),
            _ => out.push_str("</li>\n"),
        }
        level = heading.level;
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "<li><a href=\"#{}\">{}</a>",
            escape(&heading.id),
            heading.html
        );
    }
    out.push_str(if level == 3 {
        "</li></ol></li></ol>\n</details></nav>\n"
    } else {
        "</li></ol>\n</details></nav>\n"
    });
    out
}

/// The links to the neighbours.
fn page_turn(before: Option<&Lesson>, after: Option<&Lesson>) -> String {
    if before.is_none() && after.is_none() {
        return String::new();
    }
    let link = |lesson: &Lesson, rel: &str, word: &str| {
        let title = escape(&lesson.title);
        format!(
            "<a rel=\"{rel}\" class=\"turn-{rel}\" href=\"{ROOT}lesson/{}/\"><span class=\"turn-word\">{word}</span>{title}</a>\n",
            lesson.slug
        )
    };
    let before = before
        .map(|lesson| link(lesson, "prev", "Previous"))
        .unwrap_or_default();
    let after = after
        .map(|lesson| link(lesson, "next", "Next"))
        .unwrap_or_default();
    format!(
        "<nav class=\"page-turn\" aria-label=\"Neighbouring lessons\">\n{before}{after}</nav>\n"
    )
}

/// The level of the map's headings: below the first heading of the page, if it has one.
fn map_level(page: &Lesson) -> u8 {
    if page.headings.is_empty() { 2 } else { 3 }
}
