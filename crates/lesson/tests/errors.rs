//! Every mistake that an author can make is found, with file and line.

mod common;

use common::{FRONT, World, body};
use lesson::compile;

/// Compiles a body that is wrong in one place, given as its line within the body.
fn wrong(text: &str, line: usize, message: &str) {
    let errors = body(text).err().unwrap_or_else(|| panic!("{text}"));
    let first = &errors[0];
    assert_eq!(first.file, "lessons/03-test.md");
    assert_eq!(
        first.line,
        FRONT.lines().count() + line,
        "{text}\n{errors:?}"
    );
    assert!(first.message.contains(message), "{text}\n{errors:?}");
    assert_eq!(errors.len(), 1, "{errors:?}");
}

/// Compiles a file that is wrong in one line.
fn wrong_file(name: &str, text: &str, line: usize, message: &str) {
    let errors = compile(name, text, &World)
        .err()
        .unwrap_or_else(|| panic!("{text}"));
    assert_eq!(
        (errors[0].file.as_str(), errors[0].line),
        (name, line),
        "{errors:?}"
    );
    assert!(errors[0].message.contains(message), "{errors:?}");
}

#[test]
fn front_matter() {
    let file = "lessons/03-test.md";
    wrong_file("lessons/3-test.md", FRONT, 1, "file name");
    wrong_file("lessons/test.md", FRONT, 1, "file name");
    wrong_file(file, "text", 1, "+++");
    wrong_file(file, "+++\ntitle = \"T\"\n", 1, "+++");
    wrong_file(
        file,
        "+++\ntitle = \"T\"\ndescription = \"D\"\npart = \"I\"\ntags = 3\n+++\n",
        5,
        "unknown key tags",
    );
    wrong_file(
        file,
        "+++\ntitle = \"T\"\ndescription = D\n+++\n",
        3,
        "not TOML",
    );
    wrong_file(file, "+++\ntitle = 3\n+++\n", 2, "title must be a text");
    let front = "+++\ntitle = \"T\"\ndescription = \"D\"\npart = \"I\"\n";
    for (symbols, message) in [
        ("[symbols]\nQ = \"question\"\n", "is no concept"),
        (
            "[symbols]\nQ = \"query\"\n",
            "no formula of the page holds the symbol Q",
        ),
        ("[symbols]\n\"Q + K\" = \"query\"\n", "is not one symbol"),
        ("[to_come]\n\"I\" = [\"More\"]\n", "unknown key to_come"),
        ("[moved]\nother = \"a\"\n", "must be a list of ids"),
        (
            "[moved]\none = [\"a\"]\ntwo = [\"a\"]\n",
            "a is listed twice, for one and two",
        ),
    ] {
        wrong_file(
            file,
            &format!("{front}{symbols}+++\ntext $K$\n"),
            5,
            message,
        );
    }
    let still_here = format!("{front}[moved]\ntwo = [\"a\"]\n+++\n## A\n");
    wrong_file(file, &still_here, 5, "`a` is still here");
    let home = "+++\ntitle = \"T\"\ndescription = \"D\"\n[to_come]\n\"I\" = \"More\"\n+++\n";
    wrong_file("lessons/home.md", home, 4, "must be a list of titles");
    wrong_file(
        file,
        "+++\ntitle = \"T\"\npart = \"I\"\n+++\n",
        2,
        "needs a description",
    );
    wrong_file(
        file,
        "+++\ntitle = \"T\"\ndescription = \"D\"\n+++\n",
        2,
        "needs a part",
    );
    wrong_file(
        file,
        "+++\ntitle = \"T\"\ndescription = \"D\"\npart = \"I\"\ninputs = 3\n+++\n",
        5,
        "must be a table",
    );
    let long = format!(
        "+++\ntitle = \"T\"\ndescription = \"{}\"\npart = \"I\"\n+++\n",
        "d".repeat(301)
    );
    wrong_file(file, &long, 3, "301 characters");
    wrong_file(
        "lessons/home.md",
        "+++\ntitle = \"T\"\ndescription = \"D\"\npart = \"I\"\n+++\n",
        4,
        "unknown key part",
    );
}

#[test]
fn headings() {
    wrong("# Title\n", 1, "level 1");
    wrong("## A\n\n#### B\n", 3, "level 4 cannot follow");
    wrong("## A\n\ntext\n\n## A\n", 5, "already used in line 6");
    wrong("## A {#main}\n", 1, "belongs to the page");
    wrong(
        "## $x$ [link](https://a.example)\n",
        1,
        "cannot hold another",
    );
    wrong("A\n---\n", 1, "makes the text above it a heading");
    wrong("- ## A\n", 1, "inside another block");
    wrong("## !\n", 1, "needs letters");
}

#[test]
fn formulas() {
    wrong("a $x$\nb $\\frac{a}$\n", 2, "does not compile");
    wrong("\n$$\n\\nonsense{x}\n$$\n", 2, "does not compile");
    wrong(
        "$$\\begin{bmatrix} a \\end{pmatrix}$$\n",
        1,
        "does not compile",
    );
}

#[test]
fn links_and_images() {
    wrong("a\n\n[x](scaling)\n", 3, "none of");
    wrong("a\n\n![](/pictures/cat.png)\n", 3, "needs a text");
    wrong(
        "a\n\n![A dog](/pictures/dog.png)\n",
        3,
        "no image public/pictures/dog.png",
    );
    wrong(
        "<figure>\n<img alt=\"A dog\" src=\"/pictures/dog.png\">\n</figure>\n",
        2,
        "no image",
    );
    wrong("a\n\n<script>alert(1)</script>\n", 3, "<script>");
    wrong("a[^1] b\n", 1, "no definition");
    wrong("a\n\n[^1]: note\n", 3, "nothing refers");
    wrong("> [!TIP] x\n> y\n", 1, "[!TIP]");
}

#[test]
fn cells() {
    let cell = |toml: &str| format!("text\n\n```cell table\n{toml}\n```\n");
    wrong("```cell\n```\n", 1, "cell NAME");
    wrong("```cell table id\ntitle = \"T\"\n```\n", 1, "cell NAME #id");
    wrong("```cell Table\ntitle = \"T\"\n```\n", 1, "cell NAME");
    wrong(
        "```cell chair\ntitle = \"T\"\n```\n",
        1,
        "there is no cell chair",
    );
    wrong(&cell("x = 3"), 3, "needs a title");
    wrong(&cell("title = \"T\"\nx = = 3"), 5, "not TOML");
    wrong(&cell("title = \"T\"\n\ny = 3"), 6, "no input y");
    wrong(&cell("title = \"T\"\nx = \"a\""), 5, "wrong type");
    wrong(&cell("title = \"T\"\nx = inf"), 5, "finite");
    wrong(&cell("title = \"T\"\nx = 2020-01-01"), 5, "dates");
    wrong(&cell("title = \"T\"\nheight = 9"), 5, "height");
    for fold in [" ", "the word *its*", "`code`", "$Q$"] {
        let text = cell(&format!("title = \"T\"\nfold = \"{fold}\""));
        wrong(&text, 5, "without Markdown");
    }
    wrong(
        &cell("title = \"T\"\nheight = \"tall\""),
        5,
        "must be a number",
    );
    wrong(
        &cell("title = \"T\"\nsentence = \"$sentence\""),
        5,
        "no shared input sentence",
    );
    wrong(
        &cell("title = \"T\"\ncaption = \"$\\frac{a}{b}$\""),
        5,
        "control character",
    );
    wrong(
        &cell("title = \"T\"\ncaption = \"\"\"\n$\\theta$\"\"\""),
        5,
        "control character",
    );
    assert!(body(&cell("title = \"T\"\ncaption = \"$\\\\frac{a}{b}$\"")).is_ok());
    wrong(
        &cell("title = \"T\"\ncaption = '''\na\n\n$\\frac{a}$\n'''"),
        8,
        "does not compile",
    );
    wrong(
        "- item\n\n  ```cell table\n  title = \"T\"\n  ```\n",
        3,
        "stands on its own",
    );
    let twice = "```cell table\ntitle = \"A\"\n```\n\n```cell table\ntitle = \"B\"\n```\n";
    assert!(
        body(twice)
            .expect_err(twice)
            .iter()
            .any(|e| e.message.contains("id `table` is already used"))
    );
    wrong(
        "```cell table\ntitle = \"A\"\n```\n\n```cell table #b\ntitle = \"A\"\n```\n",
        5,
        "title \u{201c}A\u{201d} already",
    );
}

#[test]
fn inline_values() {
    let cell = "```cell table\ntitle = \"T\"\n```\n\n";
    wrong(
        &format!("{cell}a `=table.weights[0` b\n"),
        5,
        "not a tensor element",
    );
    wrong(&format!("{cell}a `=table` b\n"), 5, "no tensor is named");
    wrong(
        &format!("{cell}a `=chair.weights[0,0]` b\n"),
        5,
        "no cell with the id `chair`",
    );
    wrong(
        &format!("{cell}a\nb `=table.weights[9,9] .2`\n"),
        6,
        "no such element",
    );
}

#[test]
fn tables() {
    let table = |head: &str| format!("| {head} |\n|---|---|\n| 1 | 2 |\n");
    assert!(body(&table("a | b")).is_ok());
    assert!(body(&table(" | ")).is_ok());
    wrong(&table(" | b"), 1, "no name");
    wrong(&format!("text\n\n{}", table("a | ")), 3, "no name");
}

#[test]
fn guesses() {
    let whole = "question = \"Q\"\ncell = \"table\"\nchoices = [\n { text = \"a\", claim = \"weights[0,0] > 0\" },\n { text = \"b\", claim = \"weights[0,0] < 0\" },\n]\nexplain = \"E\"";
    let guess = |toml: &str| format!("```guess g\n{toml}\n```\n");
    assert!(body(&guess(whole)).is_ok());
    wrong("```guess\n```\n", 1, "guess ID");
    let without = |part: &str| guess(&whole.replace(part, ""));
    wrong(&without("explain = \"E\""), 1, "needs explain");
    wrong(&without("question = \"Q\""), 1, "needs question");
    wrong(&without("> 0"), 1, "none of the choices holds");
    wrong(&guess(&format!("{whole}\nhint = \"H\"")), 9, "hint");
}

#[test]
fn code() {
    let whole = "cell = \"table\"\nfunction = \"engine::add\"\nprints = \"weights\"\npytorch = '''\nimport torch\nprint(1)\n'''";
    let code = |toml: &str| format!("```code c\n{toml}\n```\n");
    assert!(body(&code(whole)).is_ok());
    wrong("```code\n```\n", 1, "code ID");
    let with = |part: &str, other: &str| code(&whole.replace(part, other));
    wrong(&with("cell = \"table\"", ""), 1, "needs cell");
    wrong(&with("\"table\"", "\"chair\""), 2, "there is no cell chair");
    wrong(&with("function = \"engine::add\"", ""), 1, "needs function");
    wrong(&with("engine::add", "engine::sub"), 3, "does not call it");
    wrong(&with("prints = \"weights\"", ""), 1, "needs prints");
    wrong(&with("\"weights\"", "[]"), 1, "needs prints");
    wrong(&with("\"weights\"", "[3]"), 4, "in quotes");
    wrong(
        &with("\"weights\"", "\"weights[\""),
        4,
        "not a tensor element",
    );
    wrong(&with("print(1)", ""), 5, "prints its result");
    wrong(&with("import torch", "import numpy"), 5, "import torch");
    wrong(&with("print(1)", &"print(1)\n".repeat(14)), 5, "15 lines");
    wrong(&with("import torch\nprint(1)", ""), 1, "needs pytorch");
    wrong(&code(&format!("{whole}\nhint = \"H\"")), 9, "hint");
}

#[test]
fn exercises() {
    let number = "question = \"Q\"\nkind = \"number\"\ncell = \"table\"\nanswer = \"weights[0,0]\"\ntolerance = 0.1";
    let exercise = |toml: &str| format!("```exercise e\n{toml}\n```\n");
    assert!(body(&exercise(number)).is_ok());
    wrong("```exercise\n```\n", 1, "exercise ID");
    wrong(
        &exercise(&number.replace("question = \"Q\"", "")),
        1,
        "needs question",
    );
    wrong(
        &exercise(&number.replace("\"number\"", "\"essay\"")),
        3,
        "none of number, choice, matrix",
    );
    wrong(
        &exercise(&number.replace("\"table\"", "\"chair\"")),
        4,
        "there is no cell chair",
    );
    wrong(
        &exercise(&number.replace("weights[0,0]", "weights[0")),
        5,
        "not a tensor element",
    );
    wrong(
        &exercise(&number.replace("weights[0,0]", "missing")),
        5,
        "no such tensor",
    );
    wrong(&exercise(&number.replace("0.1", "-1")), 6, "below zero");
    wrong(
        &exercise(&number.replace("tolerance = 0.1", "")),
        1,
        "needs a tolerance",
    );
    wrong(
        &exercise(&format!("{number}\ncolour = 3")),
        7,
        "unknown key colour",
    );
    wrong(
        &exercise(&format!("{number}\nhint = \"$\\\\frac{{a}}$\"")),
        7,
        "does not compile",
    );
    wrong(
        &exercise(&format!("{number}\nexplain = \"`=table.weights[0,0]`\"")),
        7,
        "cannot be quoted here",
    );
    wrong(
        &exercise(&format!("{number}\n[given]\ny = 3")),
        7,
        "no input y",
    );
    wrong(
        &exercise(&format!("{number}\n[given]\nx = \"$x\"")),
        7,
        "no shared input x",
    );
    let choice = "question = \"Q\"\nkind = \"choice\"\ncell = \"table\"\nchoices = [\n";
    let one = "{ text = \"a\", claim = \"weights[0,0] > 0\" },\n";
    assert!(body(&exercise(&format!("{choice}{one}{one}]"))).is_ok());
    wrong(&exercise(&format!("{choice}{one}]")), 5, "two to six");
    wrong(
        &exercise(&format!("{choice}{one}{{ text = \"b\" }}]")),
        5,
        "text and claim",
    );
    wrong(
        &exercise(&format!("{choice}{one}{one}]\ntolerance = 1")),
        9,
        "has no tolerance",
    );
}

#[test]
fn goals() {
    let cell = "```cell table #t\ntitle = \"T\"\nx = 2\n```\n\n";
    let whole = "question = \"Q\"\nkind = \"make\"\ncell = \"t\"\ngoal = [{ text = \"a\", claim = \"weights[0,0] > 1\" }]\n[solution]\nx = 3";
    let make = |toml: &str| format!("{cell}```exercise e\n{toml}\n```\n");
    let with = |part: &str, other: &str| make(&whole.replace(part, other));
    assert!(body(&make(whole)).is_ok());
    // Not the name of a cell: the reader edits one that is there.
    wrong(&with("\"t\"", "\"table\""), 9, "has the id `table`");
    let below = format!("```exercise e\n{whole}\n```\n\n{cell}");
    wrong(&below, 4, "no cell above");
    wrong(&with("goal", "goals"), 6, "needs goal = [");
    wrong(
        &with("{ text = \"a\", claim = \"weights[0,0] > 1\" }", ""),
        10,
        "one to four",
    );
    wrong(&with("text = \"a\", ", ""), 10, "text and claim");
    wrong(&with("> 1\"", "> 1\", colour = 3"), 10, "nothing else");
    wrong(
        &with("> 1\"", "> 1\", format = \"long\""),
        10,
        "the format of a goal",
    );
    wrong(
        &with("weights[0,0] > 1", "1 < weights[0,0]"),
        10,
        "not a tensor element",
    );
    wrong(&with("weights[0,0]", "missing"), 10, "no such tensor");
    wrong(&with("[solution]\nx = 3", ""), 6, "needs [solution]");
    wrong(&with("x = 3", "y = 3"), 11, "no input y");
    wrong(&with("x = 3", "x = \"$x\""), 11, "no shared input x");
    wrong(&with("x = 3", "x = 2"), 11, "misses the goal");
    wrong(
        &with("[solution]", "tolerance = 1\n[solution]"),
        11,
        "unknown key tolerance",
    );
    wrong(
        &with("[solution]", "[given]\nx = 1\n[solution]"),
        11,
        "unknown key given",
    );
}

#[test]
fn all_mistakes_are_reported_in_order_of_lines() {
    let errors = body("$\\frac{a}$\n\n[x](y)\n\n```cell chair\ntitle = \"T\"\n```\n").unwrap_err();
    let lines: Vec<usize> = errors.iter().map(|e| e.line).collect();
    assert_eq!(lines, [6, 8, 10]);
    assert!(errors[0].to_string().starts_with("lessons/03-test.md:6: "));
}
