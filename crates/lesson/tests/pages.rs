//! What a lesson becomes.

mod common;

use common::{FRONT, World, article, body};
use lesson::{Answer, Figure, Kind, Segment, check_links, compile};

#[test]
fn prose_formulas_and_tables() {
    let html = article(
        "A *word*, a \"quote\" and $x_1$.\n\n$$\ny\n$$\n\n| a | b |\n|---|---|\n| 1 | $z$ |\n",
    );
    assert!(
        html.contains("<em>word</em>, a \u{201c}quote\u{201d} and <span class=\"bound\"><math display=\"inline\">"),
        "{html}"
    );
    assert!(
        html.contains("<div class=\"math\"><math display=\"block\">"),
        "{html}"
    );
    assert!(
        html.contains("<div class=\"table-scroll\"><table>"),
        "{html}"
    );
    assert!(!html.contains('$'), "{html}");
    let html = article("$$\na\n=\n- b\n$$\n");
    assert_eq!(
        html.matches("<div class=\"math is-parted\">").count(),
        1,
        "{html}"
    );
    assert!(html.contains("</math><wbr><math "), "{html}");
}

#[test]
fn the_cells_of_a_table_of_many_columns_name_their_column() {
    let html = article("| a | *b* | c | d |\n|---|---:|---|---|\n| 1 | 2 | 3 | 4 |\n");
    assert!(
        html.contains("<div class=\"table-scroll is-wide\"><table>"),
        "{html}"
    );
    assert!(
        html.contains("<td data-head=\"a\">1</td>")
            && html.contains("<td data-head=\"b\" style=\"text-align: right\">2</td>"),
        "{html}"
    );
}

#[test]
fn headings_are_links_to_themselves() {
    let lesson = body("## Why $d_k$ scales\n\n### More {#deeper}\n").unwrap();
    let ids: Vec<(u8, &str)> = lesson
        .headings
        .iter()
        .map(|h| (h.level, h.id.as_str()))
        .collect();
    assert_eq!(ids, [(2, "why-d-k-scales"), (3, "deeper")]);
    assert!(lesson.headings[0].html.contains("<math"));
    assert!(
        lesson
            .article("/")
            .contains("<h3 id=\"deeper\"><a class=\"heading-link\" href=\"#deeper\">More</a></h3>")
    );
}

#[test]
fn a_cell_becomes_a_frame_without_numbers_of_its_own() {
    let text = format!(
        "{}[inputs]\nsentence = \"It's <b>\"\n+++\nbefore\n\n```cell table #t\ntitle = \"A & B\"\ncaption = \"See $x$.\"\nheight = 200\nx = 2\nsentence = \"$sentence\"\n```\nafter\n",
        FRONT.trim_end_matches("+++\n")
    );
    let lesson = compile("lessons/03-test.md", &text, &World).unwrap();
    assert_eq!(lesson.segments.len(), 3);
    let cell = lesson.cells().next().unwrap();
    assert_eq!(
        (
            cell.name.as_str(),
            cell.id.as_str(),
            cell.height_px,
            cell.level
        ),
        ("table", "t", 200, 2)
    );
    assert_eq!(cell.line, 10);
    let html = lesson.article("/");
    for expected in [
        "<section class=\"cell\" data-cell=\"table\" id=\"t\"",
        "data-props='{\"sentence\":\"$sentence\",\"title\":\"A &amp; B\",\"x\":2}'",
        "aria-labelledby=\"t-title\"",
        "<h2 class=\"cell-title\" id=\"t-title\">A &amp; B</h2>",
        "style=\"--reserved:200px\"><p class=\"cell-waiting\">",
        "<dl class=\"cell-given\"><dt>sentence</dt><dd>&quot;It&#39;s &lt;b&gt;&quot;</dd><dt>x</dt><dd>2</dd></dl>",
        "<div class=\"cell-caption\"><p>See <span class=\"bound\"><math",
    ] {
        assert!(html.contains(expected), "{expected}\n{html}");
    }
}

#[test]
fn a_guess_carries_its_answer_and_needs_no_script() {
    let text = "```guess sign\nquestion = \"Which sign has $x$?\"\ncell = \"table\"\nchoices = [\n { text = \"minus\", claim = \"weights[0,0] < 0\" },\n { text = \"plus\", claim = \"weights[0,0] > 0\" },\n]\nexplain = \"It is *positive*.\"\n```\n";
    let lesson = body(text).unwrap();
    let Segment::Guess(guess) = &lesson.segments[0] else {
        panic!("no guess: {:?}", lesson.segments[0]);
    };
    assert_eq!(guess.right, 1);
    assert_eq!(lesson.exercises().count(), 0);
    let html = lesson.article("./");
    for part in [
        "id=\"guess-sign\" aria-labelledby=\"guess-sign-title guess-sign-asked\"",
        "<input type=\"radio\" name=\"guess-sign\" id=\"guess-sign-0\"><label for=\"guess-sign-0\">",
        "<label for=\"guess-sign-1\" class=\"is-right\">",
        "<p>What comes out: <b>B</b>.</p>\n<p>It is <em>positive</em>.</p>",
    ] {
        assert!(html.contains(part), "{part} is not in {html}");
    }
}

#[test]
fn code_is_shown_in_two_languages_without_a_script() {
    let code = |text: &str| {
        let toml = format!(
            "cell = \"table\"\nfunction = \"engine::add\"\nprints = [\"weights[0]\", \"x\"]\npytorch = '''\nimport torch\n{text}\n'''"
        );
        body(&format!("```code add\n{toml}\n```\n")).unwrap()
    };
    let lesson = code("print(1)");
    let block = lesson.code().next().unwrap();
    let prints: Vec<String> = block.prints.iter().map(ToString::to_string).collect();
    assert_eq!(prints, ["weights[0]", "x"]);
    assert_eq!(block.pytorch, "import torch\nprint(1)");
    let html = lesson.article("./");
    for part in [
        "id=\"code-add\" aria-labelledby=\"code-add-title\"",
        "<input type=\"radio\" name=\"code-add\" id=\"code-add-rust\" class=\"is-rust\" checked>",
        "<label for=\"code-add-torch\">",
        "aria-label=\"add in Rust\"><code><b>fn</b> add()</code>",
        "add.rs, line 3.",
        "<dt>x</dt><dd>[3]</dd>",
        "aria-label=\"add in PyTorch\"><code><b>import</b> torch</code>",
        "PyTorch 2.15 printed this",
        "<samp>1 &lt; 2</samp>",
    ] {
        assert!(html.contains(part), "{part} is not in {html}");
    }
    assert!(!code("print(2)").article("./").contains("<samp>"));
}

#[test]
fn an_exercise_starts_from_the_cell_on_the_page() {
    let text = "```cell table #t\ntitle = \"T\"\nx = 2\nsentence = \"a\"\n```\n\n## Try\n\n```exercise first\nquestion = \"What is `=t.weights[0,0] .2`?\"\nkind = \"number\"\ncell = \"t\"\nanswer = \"weights[0,0]\"\ntolerance = 0.01\nhint = \"*Think.*\"\n[given]\nx = 5\n```\n";
    let lesson = body(text).unwrap();
    let exercise = lesson.exercises().next().unwrap();
    assert_eq!(
        (exercise.cell.as_str(), exercise.ordinal, exercise.level),
        ("table", 1, 3)
    );
    assert!(matches!(&exercise.answer, Answer::Number(e) if e.tensor == "weights"));
    assert_eq!(
        serde_json::Value::Object(exercise.props.clone()).to_string(),
        "{\"sentence\":\"a\",\"x\":5}"
    );
    assert_eq!(lesson.inline_values.len(), 1);
    let html = lesson.article("/");
    assert!(
        html.contains("<section class=\"exercise\" data-exercise=\"first\" data-of=\"table\" id=\"exercise-first\""),
        "{html}"
    );
    assert!(
        html.contains("\"hint\":\"&lt;p&gt;&lt;em&gt;Think.&lt;/em&gt;&lt;/p&gt;\\n\""),
        "{html}"
    );
    assert!(
        html.contains("data-inline=\"t.weights[0,0]\" data-format=\"fixed2\""),
        "{html}"
    );
    assert!(html.contains(">(computed below)</output>"), "{html}");
}

#[test]
fn a_goal_leads_to_its_cell_and_its_solution_is_not_on_the_page() {
    let text = "```cell table #t\ntitle = \"A < B\"\nx = 2\nsentence = \"a\"\n```\n\n```exercise reach\nquestion = \"Make it.\"\nkind = \"make\"\ncell = \"t\"\ngoal = [{ text = \"its $x$\", claim = \"weights[0,0] > 1\", format = \".2\" }, { text = \"b\", claim = \"weights[0,0] < 9\" }]\nhint = \"*Think.*\"\nexplain = \"E\"\n[solution]\nx = 31\n```\n";
    let lesson = body(text).unwrap();
    let exercise = lesson.exercises().next().unwrap();
    let Answer::Make(make) = &exercise.answer else {
        panic!("{exercise:?}")
    };
    assert_eq!(
        serde_json::Value::Object(make.solution.clone()).to_string(),
        "{\"sentence\":\"a\",\"x\":31}"
    );
    let kind = &exercise.to_json()["kind"]["make"];
    assert_eq!(kind["id"], "t");
    let (first, second) = (&kind["goal"][0], &kind["goal"][1]);
    assert!(first["text"].as_str().unwrap().starts_with("its <math"));
    assert_eq!(
        (&first["format"], &second["format"]),
        (&"fixed2".into(), &"fixed3".into())
    );
    assert_eq!(second["claim"], "weights[0,0] < 9");
    let html = lesson.article("/");
    for part in [
        "<p><a href=\"#t\">Go to the cell \u{201c}A &lt; B\u{201d}</a></p>",
        "<details class=\"hint\"><summary>Hint</summary><p><em>Think.</em></p>",
    ] {
        assert!(html.contains(part), "{part} is not in {html}");
    }
    assert!(!html.contains("31"), "{html}");
}

#[test]
fn choices_carry_their_claims() {
    let text = "```exercise e\nquestion = \"Q\"\nkind = \"choice\"\ncell = \"table\"\nchoices = [\n { text = \"it is $x$\", claim = \"weights[0,0] > 0\" },\n { text = \"b\", claim = \"weights[0,0] <= 0\" },\n]\n```\n";
    let lesson = body(text).unwrap();
    let Segment::Exercise(exercise) = &lesson.segments[0] else {
        panic!()
    };
    let json = exercise.to_json();
    let choices = &json["kind"]["choice"]["choices"];
    assert!(
        choices[0]["text"]
            .as_str()
            .unwrap()
            .starts_with("<b class=\"choice-letter\">A</b> it is <math")
    );
    assert_eq!(choices[1]["claim"], "weights[0,0] <= 0");
}

#[test]
fn notes_are_gathered_at_the_end() {
    let html =
        article("A[^b] and B[^a], again[^b].\n\n[^a]: Second.\n\n[^b]: First.\n\nLast words.\n");
    let (last, first) = (
        html.find("Last words").unwrap(),
        html.find("First.").unwrap(),
    );
    assert!(
        last < first && first < html.find("Second.").unwrap(),
        "{html}"
    );
    assert_eq!(html.matches("id=\"noteref-b\"").count(), 1);
    assert!(
        html.contains("<li id=\"note-b\"><p>First. <a class=\"note-back\" href=\"#noteref-b\""),
        "{html}"
    );
}

#[test]
fn asides_and_quotes() {
    let html = article(
        "> [!HISTORY] Where it began\n> In 2017.\n\n> [!NOTE]\n> One.\n>\n> Two.\n\n> A quote.\n",
    );
    assert!(html.contains("<div class=\"aside history\" role=\"note\"><p class=\"aside-title\">Where it began</p>\n<p>In 2017.</p>\n</div>"), "{html}");
    assert!(
        html.contains("<p class=\"aside-title\">Note</p>\n<p>One.</p>\n<p>Two.</p>\n</div>"),
        "{html}"
    );
    assert!(
        html.contains("<blockquote>\n<p>A quote.</p>\n</blockquote>"),
        "{html}"
    );
}

#[test]
fn addresses_lead_from_the_root() {
    let lesson =
        body("## Here\n\n[a](/lesson/scaling#why) [b](#here) [c](/) ![Cat](/pictures/cat.png)\n")
            .unwrap();
    let html = lesson.article("../../");
    for expected in [
        "href=\"../../lesson/scaling/#why\"",
        "href=\"#here\"",
        "href=\"../../\"",
        "src=\"../../pictures/cat.png\" alt=\"Cat\"",
    ] {
        assert!(html.contains(expected), "{expected}\n{html}");
    }
    assert_eq!(lesson.links.len(), 3);
}

#[test]
fn links_between_pages_are_checked() {
    let page = |file: &str, text: &str| {
        let front = if file.contains("home") {
            FRONT.replace("part = \"I: x\"\n", "")
        } else {
            FRONT.to_owned()
        };
        compile(file, &format!("{front}{text}"), &World).unwrap()
    };
    let pages = [
        page(
            "lessons/home.md",
            "[a](/lesson/one) [b](/lesson/one#here) [c](/lesson/one/)\n",
        ),
        page(
            "lessons/01-one.md",
            "## Here\n\n[home](/) [x](/lesson/two)\n\n[y](/lesson/one#there)\n\n[z](#nowhere) [w](/labs)\n\n[v](/lab) [u](/reference#systems) [t](/reference#nowhere)\n",
        ),
    ];
    assert_eq!(pages[0].kind, Kind::Home);
    let errors: Vec<String> = check_links(&pages)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(errors.len(), 5, "{errors:?}");
    assert!(errors[0].starts_with("lessons/01-one.md:8: the link `/lesson/two` leads to no page"));
    assert!(
        errors[1]
            .starts_with("lessons/01-one.md:10: the link `/lesson/one#there` leads to no place")
    );
    assert!(errors[2].starts_with("lessons/01-one.md:12: the link `#nowhere`"));
    assert!(errors[3].contains("`/labs`"));
    assert!(errors[4].contains("`/reference#nowhere`"), "{errors:?}");
}

#[test]
fn figures_and_quoted_values_stand_on_the_page_that_is_served() {
    let text = "Before `=t.weights[0,0] .2`.\n\n```cell table #t\ntitle = \"T\"\nx = 2\nsentence = \"a\"\n```\n";
    let mut lesson = body(text).unwrap();
    let quoted = lesson.inline_values[0].value.clone();
    lesson.quote(&quoted, "0.25");
    let figure = Figure {
        html: "<b>drawn</b>".to_owned(),
        fingerprint: "00ff".to_owned(),
    };
    lesson.give_figure("t", figure.clone());
    lesson.give_figure("not-here", figure);
    let html = lesson.article("/");
    for expected in [
        ">0.25</output>",
        "<fieldset class=\"served\" disabled data-fingerprint=\"00ff\"><div class=\"cell-view\"><b>drawn</b></div></fieldset>",
    ] {
        assert!(html.contains(expected), "{expected}\n{html}");
    }
    assert!(!html.contains("cell-given"), "{html}");
}

#[test]
fn a_lesson_is_pictured_by_a_cell_of_its_own() {
    let with = |picture: &str| {
        let front = FRONT.trim_end_matches("+++\n");
        let text = format!(
            "{front}picture = \"{picture}\"\n+++\n```cell table #t\ntitle = \"T\"\nx = 2\nsentence = \"a\"\n```\n"
        );
        compile("lessons/03-test.md", &text, &World)
    };
    assert_eq!(with("t").unwrap().picture.as_deref(), Some("t"));
    let errors = with("other").unwrap_err();
    assert!(errors[0].message.contains("other"), "{errors:?}");
}

#[test]
fn links_to_a_replaced_cell_have_a_place_to_lead_to() {
    let cell = |former: &str| {
        format!("```cell table #t\ntitle = \"T\"\n{former}x = 2\nsentence = \"a\"\n```\n")
    };
    let html = article(&cell("formerly = \"old-t\"\n"));
    assert!(
        html.contains(" data-formerly=\"old-t\"") && html.contains("<span id=\"old-t\"></span>"),
        "{html}"
    );
    assert!(body(&cell("formerly = \"Old T\"\n")).is_err());
}

#[test]
fn a_folded_cell_has_its_title_and_a_line_before_it() {
    let cell = |fold: &str| {
        format!("```cell table #t\ntitle = \"T & U\"\n{fold}x = 2\nsentence = \"a\"\n```\n")
    };
    let (open, closed) = (
        article(&cell("")),
        article(&cell("fold = \"What <it> shows.\"\n")),
    );
    let section = &open[open.find("<section").unwrap()..];
    assert!(!open.contains("<details"), "{open}");
    assert!(
        closed.contains(&format!(
            "<details class=\"cell-fold\"><summary><span class=\"cell-fold-title\">T &amp; U.</span> \
             What &lt;it&gt; shows.</summary>\n{}</details>",
            section.trim_end_matches('\n').to_owned() + "\n"
        )),
        "{closed}"
    );
    assert!(body(&cell("fold = \" \"\n")).is_err());
    assert!(body(&cell("fold = true\n")).is_err());
}

#[test]
fn what_has_moved_must_be_where_links_are_led() {
    let front = FRONT.trim_end_matches("+++\n");
    let page = |file: &str, text: &str| compile(file, &format!("{front}{text}"), &World).unwrap();
    let pages = |ids: &str| {
        [
            page(
                "lessons/01-one.md",
                &format!("[moved]\ntwo = [{ids}]\n+++\n## A\n"),
            ),
            page("lessons/02-two.md", "+++\n## There\n"),
        ]
    };
    let moved = pages("\"there\"");
    assert_eq!(moved[0].moved["there"], "two");
    assert!(check_links(&moved).is_empty());
    let errors = check_links(&pages("\"there\", \"gone\""));
    assert_eq!(errors.len(), 1, "{errors:?}");
    let error = errors[0].to_string();
    let expected = "lessons/01-one.md:5: the link `/lesson/two#gone` leads to no place";
    assert!(error.starts_with(expected), "{error}");
}
