//! Whole builds of a small project.

// Helpers of tests may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod common;

use common::Project;
use serde_json::Value;

const PAGES: [&str; 5] = [
    "index.html",
    "404.html",
    "models/index.html",
    "lesson/one/index.html",
    "lesson/two/index.html",
];

/// The names of all open tags must close in order; void elements do not open.
fn assert_balanced(html: &str) {
    const VOID: [&str; 6] = ["meta", "link", "img", "br", "hr", "input"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if rest.starts_with('!') {
            continue;
        }
        let end = rest.find('>').unwrap();
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let name = tag
            .trim_start_matches('/')
            .split([' ', '\n', '/'])
            .next()
            .unwrap();
        if let Some(closing) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closing), "{html}");
        } else if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
            if name == "script" || name == "style" {
                rest = &rest[rest.find(&format!("</{name}")).unwrap()..];
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn every_page_is_whole_without_scripts() {
    let project = Project::new();
    project.build("./", false, false).unwrap();
    for page in PAGES {
        let html = project.built(page);
        assert_balanced(&html);
        for leftover in [
            "@root/",
            "<!--page:",
            "data-trunk",
            "<link rel=\"stylesheet\"",
            "modulepreload\" href",
        ] {
            assert!(!html.contains(leftover), "{page} still holds {leftover}");
        }
        assert_eq!(html.matches("<h1>").count(), 1, "{page}");
        let description = if page.starts_with("models") {
            "The small "
        } else {
            "What "
        };
        let description = format!("name=\"description\" content=\"{description}");
        assert!(
            html.contains("<title>") && html.contains(&description),
            "{page}"
        );
    }
    let one = project.built("lesson/one/index.html");
    for expected in [
        "<title>One &amp; only · Transformer Notebook</title>",
        "data-root=\"../../\"",
        "data-page=\"lesson/one\" data-inputs='{\"word\":\"it&#39;s\"}' data-golden",
        "<p class=\"lesson-part\">Part I: x</p>",
        "url(\"../../fonts/x.woff2\")",
        "import init from '../../app-1.js'",
        "[[\"preload\",\"fonts/notebook-serif.woff2\",\"font\"],[\"preload\",\"fonts/notebook-sans.woff2\",\"font\"],\
         [\"modulepreload\",\"app-1.js\",\"\"],[\"preload\",\"app-1.wasm\",\"fetch\"]]",
        "<a href=\"../../lesson/one/\" aria-current=\"page\"><span class=\"course-number\">1</span> One &amp; only</a>",
        "<a rel=\"next\" class=\"turn-next\" href=\"../../lesson/two/\">",
        "<a href=\"../../lesson/two/#a\">next</a>",
        "<li><a href=\"#a\">A</a>\n<ol><li><a href=\"#b\">B</a></li></ol></li>\n<li><a href=\"#c\">C</a></li></ol>",
    ] {
        assert!(one.contains(expected), "{expected}\n{one}");
    }
    assert_eq!(one.matches("<noscript>").count(), 1);
    assert!(!one.contains("rel=\"prev\""));
    let home = project.built("index.html");
    assert!(home.contains("data-root=\"./\"") && home.contains("data-page=\"home\""));
    assert!(
        home.contains("<li value=\"2\"><a href=\"./lesson/two/\">Two</a><p>What Two is.</p></li>"),
        "{home}"
    );
    for gone in ["tokens.css", "boot.mjs", "pictures/SOURCE.md"] {
        assert!(!project.has(gone), "{gone}");
    }
}

#[test]
fn the_reference_has_a_page_and_its_mistakes_stop_the_build() {
    let project = Project::new();
    project.build("./", false, false).unwrap();
    let page = project.built("reference/index.html");
    assert!(page.contains("data-page=\"reference\""), "{page}");
    let row = "a number</td><td data-head=\"shape\">\u{2013}</td><td data-head=\"lessons\"><a href=\"../lesson/one/\">1</a></td>";
    assert!(page.contains(row), "{page}");
    project.put(
        "lessons/reference.toml",
        "[[term]]\nname = \"Key\"\nsays = \"A vector.\"\nlesson = \"two\"\n",
    );
    let error = project.build("./", false, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "lessons/reference.toml: Key: the lesson two has no Key in bold"
    );
    assert!(
        page.contains("<td data-head=\"here\"><a href=\"../lesson/one/\">lesson 1</a></td>"),
        "{page}"
    );
    project.put(
        "lessons/systems.toml",
        "[[system]]\nname = \"A\"\nyear = 2017\npaper = \"B\"\nnew = \"C.\"\nplace = \"one#none\"\n",
    );
    let error = project.build("./", false, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "lessons/systems.toml: A: no lesson holds one#none"
    );
}

/// The number of a file only sorts: readers see no gaps.
#[test]
fn lessons_are_numbered_in_their_order() {
    let project = Project::new();
    project.put(
        "lessons/07-three.md",
        "+++\ntitle = \"Three\"\ndescription = \"What Three is.\"\npart = \"III\"\n+++\n\nText.\n",
    );
    project.build("./", false, false).unwrap();
    let home = project.built("index.html");
    assert!(
        home.contains("<li value=\"3\"><a href=\"./lesson/three/\">Three</a>"),
        "{home}"
    );
    let three = project.built("lesson/three/index.html");
    assert!(three.contains("Lesson 3, about"), "{three}");
}

/// The site leads old links on by it.
#[test]
fn a_page_says_what_has_moved_to_another_lesson() {
    let project = Project::new();
    let two = |moved: &str| {
        format!(
            "+++\ntitle = \"Two\"\ndescription = \"D\"\npart = \"II\"\n[moved]\none = [{moved}]\n+++\n## A\n"
        )
    };
    project.put("lessons/02-two.md", &two("\"c\""));
    project.build("./", false, false).unwrap();
    let page = project.built("lesson/two/index.html");
    assert!(page.contains(" data-moved='{\"c\":\"one\"}'"), "{page}");
    assert!(
        !project
            .built("lesson/one/index.html")
            .contains("data-moved")
    );

    project.put("lessons/02-two.md", &two("\"gone\""));
    let error = project.build("./", false, false).unwrap_err().to_string();
    assert!(
        error.contains("lessons/02-two.md:5") && error.contains("gone"),
        "{error}"
    );
}

/// A reader comes to a card from a cell; the trainers' file is its only source.
#[test]
fn the_home_page_names_lessons_to_come_and_none_that_is_there() {
    let project = Project::new();
    let home = std::fs::read_to_string(project.root.join("lessons/home.md")).unwrap();
    let with = |titles: &str| home.replacen("+++\n```", &format!("[to_come]\n{titles}+++\n```"), 1);
    project.put(
        "lessons/home.md",
        &with("\"I: x\" = [\"A & B\"]\n\"V: z\" = [\"C\"]\n"),
    );
    project.build("./", false, false).unwrap();
    let html = project.built("index.html");
    let map = html.split("course-map").nth(1).unwrap();
    let (own, other) = map.split_once("Part II").unwrap();
    assert!(
        own.contains("after-1-of-3\"><p>To come</p><ul><li>A &amp; B</li></ul></li>"),
        "{own}"
    );
    assert!(
        other.contains("Part V: z</h3>\n<ol><li class=\"to-come after-0-of-2 after-0-of-3\">"),
        "{other}"
    );

    project.put("lessons/home.md", &with("\"II: y\" = [\"Two\"]\n"));
    let error = project.build("./", false, false).unwrap_err().to_string();
    assert!(
        error.contains("lessons/home.md:1") && error.contains("lessons/02-two.md"),
        "{error}"
    );
}

#[test]
fn the_cards_of_models_are_a_page() {
    let project = Project::new();
    project.build("./", false, false).unwrap();
    let html = project.built("models/index.html");
    for expected in [
        "<title>Models · Transformer Notebook</title>",
        "data-page=\"models\"",
        "<h2 id=\"tiny\">",
        "<tr><th scope=\"row\">bytes</th><td>12</td></tr>",
    ] {
        assert!(html.contains(expected), "{expected}\n{html}");
    }
    assert!(!html.contains("<thead>") && !html.contains("# Models"));
    let one = project.built("lesson/one/index.html");
    assert!(one.contains("<a href=\"../../models/#tiny\">card</a>"));
    project.put(
        "public/models/MODELS.md",
        "# Models\n\n## tiny\n\n### again\n\n#### x\n\n##### y\n\n[gone](/lesson/none)\n",
    );
    let error = project.build("./", false, false).unwrap_err().to_string();
    assert!(error.contains("MODELS.md"), "{error}");
}

#[test]
fn an_absolute_address_is_kept() {
    let project = Project::new();
    project.build("/sub/", false, false).unwrap();
    for page in PAGES {
        let html = project.built(page);
        assert!(
            html.contains("data-root=\"/sub/\"")
                && html.contains("import init from '/sub/app-1.js'"),
            "{page}"
        );
    }
    assert!(
        project
            .built("404.html")
            .contains("<a href=\"/sub/\">Home</a>")
    );
}

#[test]
fn the_page_for_unknown_addresses_finds_the_site_first() {
    let project = Project::new();
    project.build("./", false, false).unwrap();
    let html = project.built("404.html");
    assert!(
        html.contains("manifest.webmanifest\")") && !html.contains("type=\"module\""),
        "{html}"
    );
    assert!(
        html.contains("<link rel=\"icon\" href=\"data:,\" data-href=\"icon.svg\""),
        "{html}"
    );
}

#[test]
fn the_rust_of_a_cell_stands_beside_its_page() {
    let project = Project::new();
    project.build("./", false, false).unwrap();
    let code: Value = serde_json::from_str(&project.built("lesson/one/code.json")).unwrap();
    let shown = &code["three-patches"][0];
    assert_eq!(shown["path"], "engine::nn::attention::attend");
    assert_eq!(shown["file"], "crates/engine/src/nn/attention.rs");
    let code = shown["code"].as_array().unwrap();
    let text: String = code.iter().map(|p| p[1].as_str().unwrap()).collect();
    assert!(
        text.starts_with("pub fn attend(") && text.ends_with('}'),
        "{text}"
    );
    assert_eq!(code[0], serde_json::json!(["keyword", "pub fn "]));
    let about = shown["about"].as_array().unwrap();
    assert!(
        about
            .last()
            .unwrap()
            .as_str()
            .unwrap()
            .starts_with("Errors: When "),
        "{about:?}"
    );
    let source =
        std::fs::read_to_string(common::real().join("crates/engine/src/nn/attention.rs")).unwrap();
    let line = usize::try_from(shown["line"].as_u64().unwrap()).unwrap();
    assert_eq!(source.lines().nth(line - 1), text.lines().next());
    assert!(project.has("lesson/one/golden.json") && project.has("code.json"));
    assert!(!project.has("lesson/two/code.json") && !project.has("lesson/two/golden.json"));
}

#[test]
fn a_function_that_the_engine_lacks_fails_the_build() {
    let project = Project::new();
    project.put(
        "crates/cells/src/lessons/self_attention/three_patches.rs",
        "fn f() {\n\n    shown!(record, engine::nn::attention::attent, q);\n}\n",
    );
    let error = project.build("./", false, false).unwrap_err().to_string();
    assert!(error.starts_with("crates/cells/src/lessons/self_attention/three_patches.rs:3: shown!(…, engine::nn::attention::attent) is not in the sources"), "{error}");
}

#[test]
fn mistakes_in_lessons_fail_the_build_unless_it_is_a_draft() {
    let project = Project::new();
    project.put("lessons/02-two.md", "+++\ntitle = \"Two\"\ndescription = \"D\"\npart = \"II\"\n+++\n\n```cell no-such-cell\ntitle = \"T\"\n```\n");
    let error = project.build("./", false, false).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "lessons/02-two.md:7: there is no cell no-such-cell; the names are in crates/cells/src/registry.rs"
        ),
        "{error}"
    );
    project.put("lessons/02-two.md", "+++\ntitle = \"Two\"\ndescription = \"D\"\npart = \"II\"\n+++\n\n```cell atention-map\ntitle = \"T\"\n```\n");
    let misspelt = project.build("./", false, false).unwrap_err().to_string();
    assert!(
        misspelt.contains("there is no cell atention-map; is it attention-map?"),
        "{misspelt}"
    );
    project.put("lessons/02-two.md", "+++\ntitle = \"Two\"\ndescription = \"D\"\npart = \"II\"\n+++\n\n```cell no-such-cell\ntitle = \"T\"\n```\n");
    project.build("./", false, true).unwrap();
    assert!(project.has("lesson/one/index.html") && !project.has("lesson/two/index.html"));
}

#[test]
fn a_wrong_input_is_named_with_its_line() {
    let project = Project::new();
    let front = "+++\ntitle = \"Two\"\ndescription = \"D\"\npart = \"II\"\n+++\n";
    project.put("lessons/02-two.md", &format!("{front}## A\n\n```cell three-patches\ntitle = \"T\"\nq = [[1, 0], [0]]\n```\n\n```cell three-patches #b\ntitle = \"U\"\ncolour = \"red\"\n```\n"));
    let error = project.build("./", false, false).unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert!(
        lines[0].starts_with("lessons/02-two.md:10: q: expected"),
        "{error}"
    );
    assert!(
        lines[1].starts_with(
            "lessons/02-two.md:15: the cell three-patches has no input colour; it has q, k, v"
        ),
        "{error}"
    );
}

#[test]
fn exercises_are_solved_by_the_engine_at_build_time() {
    let project = Project::new();
    let front = "+++\ntitle = \"Two\"\ndescription = \"D\"\npart = \"II\"\n+++\n## A\n\n";
    let exercise = |claim: &str| {
        format!(
            "{front}```exercise e\nquestion = \"Q\"\nkind = \"choice\"\ncell = \"three-patches\"\nchoices = [\n{{ text = \"a\", claim = \"weights[0,0] > weights[0,2]\" }},\n{{ text = \"b\", claim = \"{claim}\" }},\n]\n```\n"
        )
    };
    project.put(
        "lessons/02-two.md",
        &exercise("weights[0,0] < weights[0,2]"),
    );
    project.build("./", false, false).unwrap();
    project.put("lessons/02-two.md", &exercise("weights[0,0] > 0"));
    let error = project.build("./", false, false).unwrap_err().to_string();
    assert!(
        error.starts_with("lessons/02-two.md:12: exactly one claim must hold, and 2 do"),
        "{error}"
    );
    project.put("lessons/02-two.md", &exercise("weights[0,9] > 0"));
    let error = project.build("./", false, false).unwrap_err().to_string();
    assert!(error.contains("weights[0,9]"), "{error}");
}

#[test]
fn goals_are_reached_by_the_engine_at_build_time() {
    let project = Project::new();
    let front = "+++\ntitle = \"Two\"\ndescription = \"D\"\npart = \"II\"\n+++\n## A\n\n";
    let cell = "```cell three-patches #p\ntitle = \"T\"\n```\n\n";
    let make = |claim: &str, q: &str| {
        let goal = format!("goal = [{{ text = \"a\", claim = \"{claim}\" }}]");
        let text = format!(
            "{front}{cell}```exercise e\nquestion = \"Q\"\nkind = \"make\"\ncell = \"p\"\n{goal}\n[solution]\nq = {q}\n```\n"
        );
        project.put("lessons/02-two.md", &text);
        project
            .build("./", false, false)
            .map_err(|error| error.to_string())
    };
    let far = "[[9, 0], [0.8, 0.2], [0, 1]]";
    make("weights[0,0] > 0.6", far).unwrap();
    for (claim, q, said) in [
        ("weights[0,0] > 0.1", far, ":16: the goal is already met"),
        (
            "weights[0,0] > 0.999",
            far,
            ":17: the solution does not meet `weights[0,0] > 0.999`",
        ),
        (
            "weights[0,9] > 0.6",
            far,
            ":16: \u{201c}weights[0,9]\u{201d}",
        ),
        ("weights[0,0] > 0.6", "[[9]]", ":17: "),
    ] {
        let error = make(claim, q).unwrap_err();
        assert!(error.contains(said), "{claim}: {error}");
    }
}

#[test]
fn release_builds_list_their_files_for_reading_offline() {
    let project = Project::new();
    project.build("./", true, false).unwrap();
    let first = project.built("sw.js");
    for listed in PAGES.iter().chain(&[
        "app-1.wasm",
        "lesson/one/code.json",
        "lesson/one/golden.json",
    ]) {
        assert!(first.contains(&format!("\"{listed}\":\"")), "{listed}");
    }
    assert!(!first.contains("\"sw.js\"") && !first.contains("@version"));
    let header = "[\"/*\",\"Cross-Origin-Embedder-Policy\",\"require-corp\"]";
    assert!(first.contains(header) && first.contains("[\"/worker_start-*\",\"Content-"));
    assert!(!first.contains("\"_headers\":") && !first.contains("/*headers*/"));
    assert!(
        project
            .built("index.html")
            .contains("<html lang=\"en\" data-offline data-root")
    );
    assert!(!project.built("404.html").contains("data-offline"));
    project.put("dist/app-1.wasm", "smaller");
    pages::relist(
        &project.root.join("dist"),
        &project.root.join("public/sw.js"),
    )
    .unwrap();
    let version = |script: &str| {
        script
            .lines()
            .find(|line| line.starts_with("const VERSION"))
            .map(str::to_owned)
    };
    assert_ne!(version(&first), version(&project.built("sw.js")));
    project.build("./", false, false).unwrap();
    assert!(
        project.built("sw.js").contains("unregister")
            && !project
                .built("index.html")
                .contains("data-offline data-root")
    );
}

#[test]
fn every_page_names_its_own_preview_image_where_the_site_knows_its_address() {
    let project = Project::new();
    project.build_at("https://host.example/book").unwrap();
    let pages = [
        ("index.html", "home"),
        ("lesson/one/index.html", "lesson/one"),
        ("lesson/two/index.html", "lesson/two"),
        ("models/index.html", "models"),
        ("map/index.html", "map"),
        ("lab/index.html", "lab"),
        ("bench/index.html", "bench"),
        ("reference/index.html", "reference"),
        ("about/index.html", "about"),
    ];
    for (page, name) in pages {
        let html = project.built(page);
        let image = format!("og:image\" content=\"https://host.example/book/previews/{name}.png\"");
        assert!(html.contains(&image), "{html}");
        let file = project.root.join(format!("dist/previews/{name}.png"));
        let png = std::fs::read(file).unwrap();
        assert_eq!(png[16..24], [0, 0, 4, 0xb0, 0, 0, 2, 0x76], "1200 x 630");
    }
    assert!(!project.built("404.html").contains("og:image"));
    assert!(
        !project.built("sw.js").contains("previews"),
        "no part of the offline copy"
    );

    let project = Project::new();
    project.build("./", false, false).unwrap();
    assert!(!project.has("previews") && !project.built("index.html").contains("og:image"));
}
