//! Checks of the rules of the house that neither the compiler nor clippy holds: which module and
//! which crate may use which, where the browser is called, where the cells are.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cells::registry;

/// Who uses whom.
type Arrows = BTreeMap<String, BTreeSet<String>>;

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// All Rust files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
    files
}

/// The path of a file from the project's root, with forward slashes.
fn relative(file: &Path) -> String {
    let path = file.strip_prefix(project()).unwrap_or(file);
    path.to_string_lossy().replace('\\', "/")
}

/// The lines of a source before its tests, without comments, with their numbers.
fn code(source: &str) -> impl Iterator<Item = (usize, &str)> {
    source
        .lines()
        .enumerate()
        .take_while(|(_, line)| {
            !line.starts_with("#[cfg(test)]") && !line.starts_with("#[cfg(all(test")
        })
        .map(|(i, line)| (i + 1, line.split("//").next().unwrap_or_default()))
}

/// The names that follow `start` in a line: `crate::a::b` gives `a`, `crate::{a, b::c}` gives `a`
/// and `b`.
fn after<'a>(line: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(start).flat_map(move |(at, _)| {
        let before = line[..at].chars().next_back();
        let whole = !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | ':'));
        let rest = if whole { &line[at + start.len()..] } else { "" };
        let (list, depth) = match rest.strip_prefix('{') {
            Some(list) => (list, 1),
            None => (rest, 0),
        };
        top_names(list, depth)
    })
}

/// The first name of a path, or of each path in a list that is not closed yet.
fn top_names(text: &str, in_list: usize) -> Vec<&str> {
    let mut names = Vec::new();
    let mut depth = in_list;
    let mut rest = text;
    loop {
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        if end > 0 {
            names.push(&rest[..end]);
        }
        // On to the next name of the same list.
        let mut next = None;
        for (i, c) in rest[end..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                ',' if depth == 1 && in_list == 1 => next = Some(end + i + 1),
                _ => {}
            }
            if next.is_some() || depth == 0 {
                break;
            }
        }
        match next {
            Some(next) => rest = rest[next..].trim_start(),
            None => return names,
        }
    }
}

/// The list in ARCHITECTURE.md whose code block is marked with this word: `a: b c` says that `a`
/// uses `b` and `c`.
fn listed(mark: &str) -> Arrows {
    let text = read(&project().join("ARCHITECTURE.md"));
    let start = format!("```{mark}\n");
    let block = text
        .split_once(&start)
        .and_then(|(_, rest)| rest.split_once("```"))
        .unwrap_or_else(|| panic!("ARCHITECTURE.md has no block ```{mark}"))
        .0;
    let line = |line: &str| {
        let (name, uses) = line.split_once(':')?;
        let uses = uses.split_whitespace().map(str::to_owned).collect();
        Some((name.trim().to_owned(), uses))
    };
    block.lines().filter_map(line).collect()
}

/// The lines of a list of arrows that another lacks.
fn missing(from: &Arrows, in_other: &Arrows) -> Vec<String> {
    let none = BTreeSet::new();
    let arrows = from
        .iter()
        .flat_map(|(a, uses)| uses.iter().map(move |b| (a, b)));
    arrows
        .filter(|(a, b)| !in_other.get(*a).unwrap_or(&none).contains(*b))
        .map(|(a, b)| format!("{a} -> {b}"))
        .collect()
}

/// A way from a name back to itself.
fn cycle(arrows: &Arrows) -> Option<Vec<String>> {
    fn walk(arrows: &Arrows, way: &mut Vec<String>) -> bool {
        let here = way[way.len() - 1].clone();
        for next in arrows.get(&here).into_iter().flatten() {
            if *next == way[0] {
                return true;
            }
            if !way.contains(next) {
                way.push(next.clone());
                if walk(arrows, way) {
                    return true;
                }
                way.pop();
            }
        }
        false
    }
    arrows.keys().find_map(|name| {
        let mut way = vec![name.clone()];
        walk(arrows, &mut way).then_some(way)
    })
}

/// Compares what is with what ARCHITECTURE.md lists, and follows the arrows for a way back.
fn assert_as_listed(found: &Arrows, mark: &str) {
    let listed = listed(mark);
    let names = |arrows: &Arrows| arrows.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(found), names(&listed), "names in the block ```{mark}");
    let unlisted = missing(found, &listed);
    assert!(unlisted.is_empty(), "not in ARCHITECTURE.md: {unlisted:?}");
    let unused = missing(&listed, found);
    assert!(unused.is_empty(), "only in ARCHITECTURE.md: {unused:?}");
    assert_eq!(cycle(found), None, "arrows run in a circle");
}

/// The modules of the site.
fn modules() -> BTreeSet<String> {
    let names = names(&project().join("src"));
    let stem = |name: &String| name.trim_end_matches(".rs").to_owned();
    names
        .iter()
        .map(stem)
        .filter(|name| name != "lib" && name != "main")
        .collect()
}

#[test]
fn modules_of_the_site_use_each_other_as_listed() {
    let modules = modules();
    let mut found: Arrows = modules
        .iter()
        .map(|m| (m.clone(), BTreeSet::new()))
        .collect();
    for file in rust_files(&project().join("src")) {
        let path = relative(&file);
        let mut parts = path.trim_end_matches(".rs").split('/').skip(1);
        let (here, inner) = (parts.next().unwrap_or_default(), parts.next());
        // `super` is the root of the crate in `src/client.rs` and `src/plot/mod.rs`, not further
        // down.
        let is_top = inner.is_none_or(|inner| inner == "mod");
        let source = read(&file);
        let text: String = code(&source).map(|(_, line)| format!("{line} ")).collect();
        let tops = is_top.then(|| after(&text, "super::").collect::<Vec<_>>());
        for name in after(&text, "crate::").chain(tops.unwrap_or_default()) {
            if modules.contains(name) && name != here && modules.contains(here) {
                found.get_mut(here).unwrap().insert(name.to_owned());
            }
        }
    }
    assert_as_listed(&found, "modules");
}

#[test]
fn crates_use_each_other_as_listed() {
    let root = project();
    let mut manifests: Vec<(String, PathBuf)> = names(&root.join("crates"))
        .into_iter()
        .map(|name| (name.clone(), root.join("crates").join(name)))
        .filter(|(_, folder)| folder.join("Cargo.toml").is_file())
        .collect();
    manifests.push(("site".to_owned(), root.clone()));
    manifests.push(("xtask".to_owned(), root.join("xtask")));
    let own: BTreeSet<String> = manifests.iter().map(|(name, _)| name.clone()).collect();
    let mut found = Arrows::new();
    for (name, folder) in &manifests {
        let text = read(&folder.join("Cargo.toml"));
        let mut in_dependencies = false;
        let mut uses = BTreeSet::new();
        for line in text.lines() {
            if line.starts_with('[') {
                let section = line.trim_end().trim_end_matches(']');
                in_dependencies = section.ends_with("dependencies")
                    && !section.ends_with("dev-dependencies")
                    && !section.starts_with("[workspace");
            } else if in_dependencies {
                let end = line.find(|c: char| !(c.is_alphanumeric() || "_-".contains(c)));
                let used = &line[..end.unwrap_or(line.len())];
                if own.contains(used) {
                    uses.insert(used.to_owned());
                }
            }
        }
        found.insert(name.clone(), uses);
    }
    assert_as_listed(&found, "crates");
}

/// Names of what looks something up in the browser, listens to it or waits for it.
const CALLS_OF_THE_BROWSER: [&str; 8] = [
    "js_sys",
    "Closure",
    "JsFuture",
    "JsValue",
    "wasm_bindgen_futures",
    "gloo_net",
    "gloo_timers",
    "add_event_listener",
];

/// Values that Leptos or `src/browser` hands over: elements, events, files, drawing contexts.
fn is_handed_over(name: &str) -> bool {
    name == "self"
        || name.ends_with("Event")
        || name.ends_with("Element")
        || [
            "Node",
            "NodeList",
            "File",
            "FileList",
            "DataTransfer",
            "CanvasRenderingContext2d",
        ]
        .contains(&name)
}

#[test]
fn only_the_browser_folder_calls_the_browser() {
    let mut wrong = Vec::new();
    for file in rust_files(&project().join("src")) {
        let path = relative(&file);
        if path.starts_with("src/browser/") {
            continue;
        }
        let source = read(&file);
        for (number, line) in code(&source) {
            let call = CALLS_OF_THE_BROWSER
                .iter()
                .find(|call| line.contains(**call));
            let looked_up = ["window()", "document()"]
                .iter()
                .find(|call| line.contains(**call) && !line.contains(&format!("dom::{call}")));
            let others = line
                .match_indices("web_sys::")
                .flat_map(|(at, start)| after(&line[at..], start))
                .find(|name| !is_handed_over(name));
            if let Some(what) = call.or(looked_up).copied().or(others) {
                wrong.push(format!("{path}:{number}: {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "belongs into src/browser: {wrong:#?}");
}

/// Trunk's server reads no `_headers`, so its own settings list the same.
#[test]
fn trunk_serves_with_the_headers_of_the_site() {
    let headers = read(&project().join("public/_headers"));
    let all_files = headers.lines().skip_while(|line| *line != "/*").skip(1);
    let listed: Vec<String> = all_files
        .take_while(|line| line.starts_with(' '))
        .filter_map(|line| line.trim().split_once(": "))
        .map(|(name, value)| format!("{name} = \"{value}\""))
        .collect();
    assert!(listed.len() >= 6, "{listed:#?}");
    let trunk = read(&project().join("Trunk.toml"));
    let table = trunk.split("[serve.headers]\n").nth(1).unwrap();
    let served: Vec<&str> = table.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(served, listed);
}

#[test]
fn only_the_kernel_is_unsafe() {
    let mut wrong = Vec::new();
    for folder in product_folders() {
        if relative(&folder) == "crates/kernel/src" {
            continue;
        }
        for file in rust_files(&folder) {
            let source = read(&file);
            let starts = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"];
            let found = code(&source).filter(|(_, line)| starts.iter().any(|s| line.contains(s)));
            wrong.extend(found.map(|(number, _)| format!("{}:{number}", relative(&file))));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The page compares what the tab computes with what was computed when it was built, to the last bit.
/// The standard library takes these functions from the system natively and from another library in
/// the browser, with other last bits; `engine::math` has one of each.
#[test]
fn cells_call_no_function_that_differs_between_systems() {
    let functions = [
        "ln", "log2", "log10", "ln_1p", "exp", "exp2", "exp_m1", "sin", "cos", "tan", "tanh",
        "powf",
    ];
    let mut calls = Vec::new();
    let sources = ["crates/cells/src", "crates/explain/src"];
    let files = sources.map(|folder| rust_files(&project().join(folder)));
    for file in files.into_iter().flatten() {
        for (number, line) in code(&read(&file)) {
            let is_call = |name: &&&str| line.contains(&format!(".{name}("));
            calls.extend(
                functions
                    .iter()
                    .filter(is_call)
                    .map(|name| format!("{}:{number}: `.{name}()`", relative(&file))),
            );
        }
    }
    assert!(calls.is_empty(), "use `engine::math` for {calls:#?}");
}

/// Errors are values; a mistake of ours in a kernel is an `assert!`.
#[test]
fn product_code_does_not_give_up() {
    let mut wrong = Vec::new();
    for folder in product_folders() {
        for file in rust_files(&folder) {
            let source = read(&file);
            let calls = [
                ".unwrap()",
                ".expect(\"",
                "panic!(",
                "todo!(",
                "unimplemented!(",
                "unreachable!(",
            ];
            // A parser's own `expect` returns its error.
            let gives_up = |line: &str| {
                calls.iter().any(|call| line.contains(call)) && !line.contains("self.expect(")
            };
            let found = code(&source).filter(|(_, line)| gives_up(line));
            wrong.extend(found.map(|(number, _)| format!("{}:{number}", relative(&file))));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The source folders of what ships or makes what ships.
fn product_folders() -> Vec<PathBuf> {
    let crates = project().join("crates");
    let sources = names(&crates)
        .into_iter()
        .map(|name| crates.join(name).join("src"));
    let mut folders: Vec<PathBuf> = sources.filter(|folder| folder.is_dir()).collect();
    folders.push(project().join("src"));
    folders.push(project().join("xtask/src"));
    folders
}

/// Cells in the folders of lessons, in both halves, are those of the list, and nothing else is there
/// but a folder with a cell's own parts, which has the cell's name.
#[test]
fn folders_of_lessons_hold_their_cells_and_nothing_else() {
    let mut wanted: Vec<(String, Vec<String>)> = registry::GROUPS
        .iter()
        .map(|group| {
            let file = |name: &str| format!("{}.rs", name.replace('-', "_"));
            let mut files: Vec<String> = group.cells.iter().map(|spec| file(spec.name)).collect();
            files.sort();
            (group.name.to_owned(), files)
        })
        .collect();
    wanted.sort();
    for half in ["crates/cells/src/lessons", "src/cells/lessons"] {
        let folder = project().join(half);
        let lessons = names(&folder).into_iter().filter(|name| name != "mod.rs");
        let cells = |lesson: &str| {
            let mut names = names(&folder.join(lesson));
            let all = names.clone();
            names.retain(|name| {
                !folder.join(lesson).join(name).is_dir() || !all.contains(&format!("{name}.rs"))
            });
            names
        };
        let found: Vec<(String, Vec<String>)> = lessons
            .map(|lesson| (lesson.clone(), cells(&lesson)))
            .collect();
        assert_eq!(found, wanted, "{half}");
    }
}

/// A folder's `mod.rs` only declares, wherever this rule is kept: in the site and in the cells.
#[test]
fn mod_files_only_declare() {
    for folder in ["src", "crates/cells/src", "crates/lesson/src"] {
        for file in rust_files(&project().join(folder)) {
            if file.file_name().is_some_and(|name| name == "mod.rs") {
                let source = read(&file);
                let starts = [
                    "fn ",
                    "pub fn ",
                    "pub(crate) fn ",
                    "impl",
                    "struct ",
                    "pub struct ",
                ];
                let defined =
                    code(&source).find(|(_, line)| starts.iter().any(|s| line.starts_with(s)));
                assert_eq!(defined, None, "{}", relative(&file));
            }
        }
    }
}

#[test]
fn names_are_read_from_paths_and_lists() {
    let names = |text| after(text, "crate::").collect::<Vec<_>>();
    assert_eq!(names("use crate::a::b; crate::c::d()"), ["a", "c"]);
    assert_eq!(
        names("use crate::{a, b::{c, d}, e::f}; x, y"),
        ["a", "b", "e"]
    );
    assert_eq!(names("$crate::a my_crate::b"), Vec::<&str>::new());
}

#[test]
fn circles_are_found() {
    let arrows = |text: &str| -> Arrows {
        let pair = |pair: &str| {
            let (a, b) = pair.split_once('>').unwrap();
            (a.to_owned(), BTreeSet::from([b.to_owned()]))
        };
        text.split_whitespace().map(pair).collect()
    };
    assert!(cycle(&arrows("a>b b>c c>a")).is_some());
    assert!(cycle(&arrows("a>b b>c c>d")).is_none());
}
