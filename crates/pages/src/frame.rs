//! The frame of every page: `index.html` as Trunk left it.

use std::path::Path;

use lesson::ROOT;
use lesson::html::escape;
use serde_json::{Value, json};

use crate::address::SiteAddress;
use crate::error::{BuildError, read};
use crate::meta::meta;
use crate::policy;
use crate::preview::Image;
use crate::root::Root;

/// Runs first on every page.
const HEAD_SCRIPT: &str = include_str!("../assets/head.js");

/// Finds the site's root from a page at any depth.
const FIND_ROOT: &str = include_str!("../assets/find-root.js");

/// Starts the site in a page that Trunk has not made.
const START: &str = include_str!("../assets/start.js");

/// Where the head script's list of early requests stands.
const PRELOAD_MARK: &str = "/*preload*/[]";

/// The fonts of text and labels, which every page needs at once.
const FONTS: [&str; 2] = ["fonts/notebook-serif.woff2", "fonts/notebook-sans.woff2"];

/// What one page puts into the frame.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// Title, plain text.
    pub title: String,
    /// Description, plain text.
    pub description: String,
    /// The `<main>` element.
    pub main: String,
    /// The list of lessons for the menu.
    pub menu: String,
    /// Whether the page does not know where it stands in the site: it then finds out first, and
    /// starts nothing.
    pub is_lost: bool,
    /// Whether the page asks for an offline copy.
    pub offline: bool,
    /// The names of the worker's files with their hashes.
    pub workers: String,
    /// The address that starts the worker of the page's first cell, where a worker computes it.
    pub first_worker: Option<String>,
    /// What this page requests early, besides what every page does: rel, file from the root, kind.
    pub preload: Vec<(&'static str, String, &'static str)>,
    /// The address of the site and that of the page from there, where the site knows its own.
    pub address: Option<(SiteAddress, String)>,
    /// The picture that is shown with links to the page.
    pub(crate) preview: Option<Image>,
}

/// Trunk's output, ready to be filled.
#[derive(Debug, Clone)]
pub struct Frame {
    html: String,
    preload: Vec<Value>,
    engine: String,
    /// Style sheets whose content went into the pages.
    pub inlined: Vec<String>,
}

impl Frame {
    /// Reads `index.html` in `folder`, which Trunk built for `public_url`.
    ///
    /// # Errors
    /// A style sheet that is not there, a mark that is missing.
    pub fn read(folder: &Path, public_url: &str) -> Result<Self, BuildError> {
        let mut html = short_fonts(&without_comments(&read(&folder.join("index.html"))?));
        let mut inlined = Vec::new();
        while let Some(tag) = next_tag(&html, "<link rel=\"stylesheet\"") {
            let file = file_of(&tag.text, public_url)?;
            let css = short(&rooted_urls(&read(&folder.join(&file))?));
            let media = attribute(&tag.text, "media")
                .map(|m| format!(" media=\"{m}\""))
                .unwrap_or_default();
            html.replace_range(
                tag.start..tag.end,
                &format!("<style{media}>\n{}</style>", css.trim_start()),
            );
            inlined.push(file);
        }
        let mut html = policy::join_sheets(&html);
        let mut preload = Vec::new();
        for rel in ["modulepreload", "preload"] {
            while let Some(tag) = next_tag(&html, &format!("<link rel=\"{rel}\"")) {
                let kind = attribute(&tag.text, "as").unwrap_or_default();
                preload.push(json!([rel, file_of(&tag.text, public_url)?, kind]));
                html.replace_range(tag.start..tag.end, "");
            }
        }
        let engine = take_engine(&mut html, public_url)?;
        let frame = Self {
            html,
            preload,
            engine,
            inlined,
        };
        frame.check()?;
        Ok(frame)
    }

    /// Makes the frame of a site that is developed, from the project's own `index.html`: style
    /// sheets stay files of their own, which the page can take anew, and `script` runs besides,
    /// where it is named.
    ///
    /// # Errors
    /// A mark or a tag that is missing.
    pub fn of_source(index: &str, script: Option<&str>) -> Result<Self, BuildError> {
        let mut html = without_comments(index);
        while let Some(tag) = next_tag(&html, "<link data-trunk ") {
            let attribute = |name: &str| attribute(&tag.text, name);
            let instead = match (attribute("rel").as_deref(), attribute("href")) {
                (Some("css"), Some(file)) => {
                    let media = attribute("media").unwrap_or_else(|| "all".to_owned());
                    format!("<link href=\"{ROOT}{file}\" media=\"{media}\" rel=\"stylesheet\">")
                }
                _ => String::new(),
            };
            html.replace_range(tag.start..tag.end, &instead);
        }
        let more = script
            .map(|address| format!("<script type=\"module\" src=\"{address}\"></script>\n"))
            .unwrap_or_default();
        let frame = Self {
            html,
            preload: Vec::new(),
            engine: format!(
                "<script type=\"module\">{}</script>\n{more}",
                START.replace("@site", crate::workers::SITE)
            ),
            inlined: Vec::new(),
        };
        frame.check()?;
        Ok(frame)
    }

    fn check(&self) -> Result<(), BuildError> {
        for mark in ["policy", "head-script", "meta", "course-menu", "main"] {
            let text = format!("<!--page:{mark}-->");
            if self.html.matches(&text).count() != 1 {
                return Err(BuildError::Other(format!(
                    "index.html must hold {text} exactly once"
                )));
            }
        }
        Ok(())
    }

    /// The HTML of a page `depth` folders below the root.
    ///
    /// # Errors
    /// When the page has an attribute that would run a script.
    pub fn fill(&self, parts: &Parts, root: &Root, depth: usize) -> Result<String, BuildError> {
        let script = if parts.is_lost {
            format!("{FIND_ROOT}{HEAD_SCRIPT}").replace(PRELOAD_MARK, "[]")
        } else {
            let fonts = FONTS.iter().map(|file| json!(["preload", file, "font"]));
            let own = parts.preload.iter().map(|request| json!(request));
            let all = fonts
                .chain(self.preload.iter().cloned())
                .chain(own)
                .collect();
            HEAD_SCRIPT.replace(PRELOAD_MARK, &Value::Array(all).to_string())
        };
        let script = format!("<script>\n{}</script>", short_script(&script));
        let mark = |name: &str| format!("<!--page:{name}-->");
        let mut html = self
            .html
            .replace(&mark("head-script"), &script)
            .replace(&mark("meta"), &meta(parts))
            .replace(&mark("course-menu"), &parts.menu)
            .replace(&mark("main"), &parts.main);
        if parts.is_lost {
            for rel in ["icon", "apple-touch-icon", "manifest"] {
                let known = format!("<link rel=\"{rel}\" href=\"{ROOT}");
                // Without an address of an icon, browsers ask the root of the host for one; a
                // manifest at an address of data would be refused by the page's policy.
                let none_yet = match rel {
                    "manifest" => "",
                    _ => " href=\"data:,\"",
                };
                let lost = format!("<link rel=\"{rel}\"{none_yet} data-href=\"");
                html = html.replace(&known, &lost);
            }
            // Fonts are fetched when the root is found.
            html = html.replace("<style data-fonts>", "<style data-fonts media=\"not all\">");
        } else if let Some(end) = html.rfind("</body>") {
            html.insert_str(end, &self.engine);
        }
        if !parts.workers.is_empty() {
            let workers = format!("data-workers=\"{}\" data-root=", parts.workers);
            html = html.replacen("data-root=", &workers, 1);
        }
        if let Some(first) = &parts.first_worker {
            let first = format!("data-first=\"{}\" data-root=", escape(first));
            html = html.replacen("data-root=", &first, 1);
        }
        if parts.offline {
            html = html.replacen("data-root=", "data-offline data-root=", 1);
        }
        // The policy has the hashes of these very bytes, so nothing is changed after it.
        policy::put_into(&html.replace(ROOT, &root.prefix(depth)), &parts.title)
    }
}

/// Takes the module script that starts the engine out of the frame: not every page has it.
fn take_engine(html: &mut String, public_url: &str) -> Result<String, BuildError> {
    let start = html.find("<script type=\"module\"");
    let end = start.and_then(|s| {
        html[s..]
            .find("</script>")
            .map(|e| s + e + "</script>".len())
    });
    let (Some(start), Some(end)) = (start, end) else {
        return Err(BuildError::Other(
            "index.html starts no engine: Trunk left no module script in it".to_owned(),
        ));
    };
    let script = html[start..end].replace(&format!("'{public_url}"), &format!("'{ROOT}"));
    html.replace_range(start..end, "");
    Ok(format!("{}\n", short_script(&script)))
}

/// Leaves the frame's own comments out of the pages; a mark has no space after its `<!--`.
fn without_comments(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, after)) = rest.split_once("<!-- ") {
        out.push_str(before);
        rest = after
            .split_once("-->")
            .map_or("", |(_, rest)| rest.trim_start());
    }
    out.push_str(rest);
    out
}

struct FoundTag {
    start: usize,
    end: usize,
    text: String,
}

fn next_tag(html: &str, opening: &str) -> Option<FoundTag> {
    let start = html.find(opening)?;
    let end = start + html[start..].find('>')? + 1;
    Some(FoundTag {
        start,
        end,
        text: html[start..end].to_owned(),
    })
}

/// The value of an attribute of a tag.
pub(crate) fn attribute(tag: &str, name: &str) -> Option<String> {
    let opening = format!(" {name}=\"");
    let start = tag.find(&opening)? + opening.len();
    let end = start + tag[start..].find('"')?;
    Some(tag[start..end].to_owned())
}

/// The file, relative to the site's root, that a tag's address stands for.
fn file_of(tag: &str, public_url: &str) -> Result<String, BuildError> {
    attribute(tag, "href")
        .and_then(|href| href.strip_prefix(public_url).map(str::to_owned))
        .ok_or_else(|| BuildError::Other(format!("{tag} does not lead into {public_url}")))
}

/// Points the files that a style sheet names to the site's root, beside which it was written.
fn rooted_urls(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some(at) = rest.find("url(") {
        let (before, after) = rest.split_at(at + "url(".len());
        out.push_str(before);
        let quotes = after.len() - after.trim_start_matches(['"', '\'']).len();
        let (quote, address) = after.split_at(quotes);
        out.push_str(quote);
        let is_own = !["data:", "#", "http:", "https:", ROOT]
            .iter()
            .any(|other| address.starts_with(other));
        if is_own {
            out.push_str(ROOT);
        }
        rest = if is_own {
            address.trim_start_matches(['.', '/'])
        } else {
            address
        };
    }
    out.push_str(rest);
    out
}

/// The frame with its fonts' style sheet made [`short`].
fn short_fonts(html: &str) -> String {
    let fonts = next_tag(html, "<style data-fonts>");
    let end = html.find("</style>");
    match (fonts, end) {
        (Some(FoundTag { end: start, .. }), Some(end)) if start < end => {
            let (before, rest) = html.split_at(start);
            let (css, after) = rest.split_at(end - start);
            format!("{before}{}{after}", short(css))
        }
        _ => html.to_owned(),
    }
}

/// A style sheet without comments, indentation, line ends and the spaces that no browser needs,
/// which every page would carry. No text of a style sheet of ours has one of [`CUTS`] or `/*` in it.
fn short(css: &str) -> String {
    let mut kept = String::with_capacity(css.len());
    let mut rest = css;
    while let Some(start) = rest.find("/*") {
        kept.push_str(&rest[..start]);
        rest = rest[start..]
            .split_once("*/")
            .map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    let mut out = String::with_capacity(kept.len());
    for line in kept.lines().map(str::trim).filter(|line| !line.is_empty()) {
        // A selector or a value that goes on in the next line.
        if !out.is_empty() && !out.ends_with(['{', '}', ';', ',']) {
            out.push(' ');
        }
        out.push_str(line);
    }
    let cut = |out: String, (long, short): &(&str, &str)| out.replace(long, short);
    CUTS.iter().fold(out, cut)
}

/// Signs of a style sheet with a space or a semicolon that no browser needs, and without it.
const CUTS: [(&str, &str); 7] = [
    (" {", "{"),
    ("{ ", "{"),
    ("; ", ";"),
    (" }", "}"),
    (";}", "}"),
    (", ", ","),
    (": ", ":"),
];

/// A script without indentation and without the lines that hold only a comment. No text of a script
/// of ours goes over more than one line.
fn short_script(script: &str) -> String {
    let lines = script.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .fold(String::with_capacity(script.len()), |out, line| {
            out + line + "\n"
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_sheets_lose_what_no_browser_reads() {
        let css = "/* a\n b */\n\na {\n  color: red; /* c */\n}\n/* open";
        assert_eq!(short(css), "a{color:red}");
        let css = "a,\n  b\n  c {\n  margin: 1px\n    2px;\n}\n\n@media print {\n  d > e { color: rgb(1, 2, 3); }\n}";
        let expected = "a,b c{margin:1px 2px}@media print{d > e{color:rgb(1,2,3)}}";
        assert_eq!(short(css), expected);
    }

    #[test]
    fn no_text_in_our_style_sheets_is_shortened() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../style");
        for entry in std::fs::read_dir(folder).unwrap() {
            let css = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let without_comments = css.split("/*").map(|part| part.rsplit("*/").next());
            for part in without_comments.flatten() {
                for text in part.split('"').skip(1).step_by(2) {
                    let is_cut = CUTS.iter().any(|(long, _)| text.contains(long));
                    assert!(!is_cut && !text.contains("/*"), "{text}");
                }
            }
        }
    }

    #[test]
    fn the_fonts_of_a_frame_are_short_and_nothing_else_changes() {
        let html = "<p>a {</p>\n<style data-fonts>\n  @font-face {\n    src: x;\n  }\n</style>\n<p>b {</p>";
        let expected = "<p>a {</p>\n<style data-fonts>@font-face{src:x}</style>\n<p>b {</p>";
        assert_eq!(short_fonts(html), expected);
        assert_eq!(short_fonts("<p>none</p>"), "<p>none</p>");
    }

    #[test]
    fn scripts_lose_their_comments_and_keep_their_lines() {
        let script = "<script>\n  // Why.\n  const a = \"//\"; // here\n\n  b();\n</script>";
        let expected = "<script>\nconst a = \"//\"; // here\nb();\n</script>\n";
        assert_eq!(short_script(script), expected);
    }

    #[test]
    fn style_sheets_point_to_the_root() {
        let css = "a{src:url(\"../fonts/x.woff2\")}b{background:url(data:x)}c{fill:url(#g)}d{src:url(/i.png)}";
        let expected = "a{src:url(\"@root/fonts/x.woff2\")}b{background:url(data:x)}c{fill:url(#g)}d{src:url(@root/i.png)}";
        assert_eq!(rooted_urls(css), expected);
    }

    #[test]
    fn attributes_are_read_by_their_whole_name() {
        let tag = "<link rel=\"preload\" href=\"/x.wasm\" as=\"fetch\">";
        assert_eq!(attribute(tag, "as").as_deref(), Some("fetch"));
        assert_eq!(attribute(tag, "ref"), None);
        assert_eq!(file_of(tag, "/").unwrap(), "x.wasm");
        assert!(file_of(tag, "/sub/").is_err());
    }
}
