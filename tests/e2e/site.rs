//! What the built site holds.

use std::path::{Path, PathBuf};

use browser_harness::{Habits, Server};

/// The folder of the built site.
pub(crate) fn dist() -> PathBuf {
    let folder = match std::env::var_os("E2E_DIST") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("dist"),
    };
    assert!(
        folder.join("index.html").is_file(),
        "no site in {}: run `cargo xtask build`",
        folder.display()
    );
    folder
}

/// Serves the built site.
pub(crate) fn serve(habits: Habits) -> Server {
    Server::start(&dist(), habits).expect("a free port")
}

/// The pages that work with full-size models. They have no cells.
pub(crate) const TOOLS: [&str; 2] = ["bench/", "lab/"];

/// The cards of the shipped models: to be read, nothing in it computes.
pub(crate) const CARDS: &str = "models/";

/// The page with the drawing of the whole machine.
pub(crate) const MAP: &str = "map/";

/// The page with symbols, equations and glossary.
pub(crate) const REFERENCE: &str = "reference/";

/// The page on citing the site and on what it stores.
pub(crate) const ABOUT: &str = "about/";

/// The pages without cells that are no tools.
pub(crate) const WITHOUT_CELLS: [&str; 4] = [CARDS, MAP, REFERENCE, ABOUT];

/// The page of a lesson by a part of its address.
pub(crate) fn lesson(part: &str) -> String {
    let page = lessons().into_iter().find(|page| page.contains(part));
    page.expect("the site has this lesson")
}

/// Every page, those without cells too.
pub(crate) fn all_pages() -> Vec<String> {
    let others = TOOLS.into_iter().chain(WITHOUT_CELLS).map(str::to_owned);
    [pages(), others.collect()].concat()
}

/// Every page with cells, relative to the site's base: `` for the home page,
/// `lesson/self-attention/` for a lesson.
pub(crate) fn pages() -> Vec<String> {
    let dist = dist();
    let mut pages = Vec::new();
    collect(&dist, &dist, &mut pages);
    pages.retain(|page| !WITHOUT_CELLS.contains(&page.as_str()) && !TOOLS.contains(&page.as_str()));
    pages.sort();
    assert!(
        pages.len() > 1,
        "the site has a home page and lessons, not only {pages:?}"
    );
    pages
}

/// The lessons' pages, in no special order.
pub(crate) fn lessons() -> Vec<String> {
    pages()
        .into_iter()
        .filter(|page| page.starts_with("lesson/"))
        .collect()
}

fn collect(dist: &Path, folder: &Path, pages: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            collect(dist, &path, pages);
        } else if path.ends_with("index.html") {
            let relative = folder
                .strip_prefix(dist)
                .expect("it lies in the site")
                .display()
                .to_string();
            pages.push(if relative.is_empty() {
                relative
            } else {
                format!("{relative}/")
            });
        }
    }
}

/// Where tests leave pictures for a person to look at.
pub(crate) fn pictures() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&folder).expect("the folder for pictures can be made");
    folder
}

/// The lessons' pages in reading order: as the home page links to them.
pub(crate) fn lessons_in_order(server: &Server) -> Vec<String> {
    let (_, home) = server.get("").expect("an answer");
    let lessons = site_order(&home);
    assert_eq!(
        lessons.len(),
        self::lessons().len(),
        "the home page links to every lesson"
    );
    lessons
}

fn site_order(home: &str) -> Vec<String> {
    let mut order = Vec::new();
    for address in home
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
    {
        let Some((_, slug)) = address.split_once("lesson/") else {
            continue;
        };
        let page = format!("lesson/{}/", slug.trim_end_matches('/'));
        if !order.contains(&page) && lessons().contains(&page) {
            order.push(page);
        }
    }
    order
}
