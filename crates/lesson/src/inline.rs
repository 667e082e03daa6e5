//! Small parts of a page: inline values, links, images, raw HTML, asides.

use crate::ROOT;
use crate::html::escape;
use crate::reference::InlineRef;

/// The text in place of a quoted value until the engine has loaded.
const INLINE_WAITING: &str = "(computed below)";

/// Tags that a lesson may not write itself: they would bring code or style past the build's checks.
const FORBIDDEN_TAGS: [&str; 6] = ["script", "style", "iframe", "object", "link", "base"];

/// The element that the site fills with a value.
pub(crate) fn inline_value(value: &InlineRef) -> String {
    filled(value, INLINE_WAITING)
}

/// The element with a text.
pub(crate) fn filled(value: &InlineRef, text: &str) -> String {
    format!(
        "<output class=\"inline-value\" aria-live=\"off\" data-inline=\"{cell}.{element}\" data-format=\"{format}\" \
         title=\"computed in the cell {cell}\">{text}</output>",
        text = escape(text),
        cell = escape(&value.cell),
        element = escape(&value.element.to_string()),
        format = value.format,
    )
}

/// Target of a link.
pub(crate) enum Target {
    /// Another site, by mail, or a shipped file: the address as it goes into the page.
    Plain(String),
    /// A page or place of this site, to be checked once all pages are known; the address for the
    /// page.
    Internal(String),
}

/// Sorts an address; `has_asset` knows the files that the site ships.
pub(crate) fn target(address: &str, has_asset: impl Fn(&str) -> bool) -> Result<Target, String> {
    if ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| address.starts_with(scheme))
    {
        return Ok(Target::Plain(address.to_owned()));
    }
    if address.starts_with('#') && address.len() > 1 {
        return Ok(Target::Internal(address.to_owned()));
    }
    let Some(path) = address.strip_prefix('/') else {
        return Err(format!(
            "the link `{address}` starts with none of `/`, `#`, `https://`"
        ));
    };
    if has_asset(path) {
        return Ok(Target::Plain(format!("{ROOT}{path}")));
    }
    let (path, fragment) = path
        .split_once('#')
        .map_or((path, None), |(p, f)| (p, Some(f)));
    let path = path.trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    let fragment = fragment.map(|f| format!("#{f}")).unwrap_or_default();
    Ok(Target::Internal(format!("{ROOT}{path}{slash}{fragment}")))
}

/// The address of an image that the site ships.
pub(crate) fn image(address: &str, has_asset: impl Fn(&str) -> bool) -> Result<String, String> {
    let path = address.trim_start_matches('/');
    if has_asset(path) {
        Ok(format!("{ROOT}{path}"))
    } else {
        Err(format!("there is no image public/{path}"))
    }
}

/// Checks raw HTML and points its addresses inside the site to the root. Gives the HTML and the
/// internal links in it, as written.
pub(crate) fn raw_html(
    html: &str,
    has_asset: impl Fn(&str) -> bool,
) -> Result<(String, Vec<String>), String> {
    let lower = html.to_ascii_lowercase();
    if let Some(tag) = FORBIDDEN_TAGS.iter().find(|tag| opens(&lower, tag)) {
        return Err(format!("a lesson may not hold <{tag}>"));
    }
    let mut out = String::with_capacity(html.len());
    let mut links = Vec::new();
    let mut rest = html;
    while let Some(at) = next_address(rest) {
        let (before, after) = rest.split_at(at.value);
        let Some(end) = after.find('"') else { break };
        let address = &after[..end];
        out.push_str(before);
        if at.is_image {
            out.push_str(&image(address, &has_asset)?);
        } else {
            match target(address, &has_asset)? {
                Target::Plain(plain) => out.push_str(&plain),
                Target::Internal(plain) => {
                    links.push(address.to_owned());
                    out.push_str(&plain);
                }
            }
        }
        rest = &after[end..];
    }
    out.push_str(rest);
    Ok((out, links))
}

/// True where lower-case HTML opens a tag of this name.
fn opens(html: &str, tag: &str) -> bool {
    html.match_indices('<').any(|(i, _)| {
        html[i + 1..]
            .strip_prefix(tag)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-'))
    })
}

struct Address {
    value: usize,
    is_image: bool,
}

/// The next `src="` or `href="`, and where its value starts.
fn next_address(html: &str) -> Option<Address> {
    let find = |name: &str, is_image| {
        html.find(name).map(|i| Address {
            value: i + name.len(),
            is_image,
        })
    };
    match (find(" src=\"", true), find(" href=\"", false)) {
        (Some(a), Some(b)) => Some(if a.value < b.value { a } else { b }),
        (a, b) => a.or(b),
    }
}

/// The kind and title of an aside, from the first line of a block quote: `> [!NOTE] Title`.
pub(crate) fn aside(first_line: &str) -> Option<Result<(&'static str, String), String>> {
    let marker = first_line
        .trim_start()
        .trim_start_matches('>')
        .trim_start()
        .strip_prefix("[!")?;
    let (kind, title) = marker.split_once(']')?;
    let (class, default_title) = match kind {
        "NOTE" => ("note", "Note"),
        "HISTORY" => ("history", "History"),
        "CAUTION" => ("caution", "Caution"),
        _ => {
            return Some(Err(format!(
                "[!{kind}] is not one of [!NOTE], [!HISTORY], [!CAUTION]"
            )));
        }
    };
    let title = title.trim();
    let title = if title.is_empty() {
        default_title
    } else {
        title
    };
    Some(Ok((class, title.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ships(path: &str) -> bool {
        path == "images/cat.png"
    }

    #[test]
    fn addresses_are_sorted() {
        let plain = |address| match target(address, ships) {
            Ok(Target::Plain(a)) => a,
            _ => panic!("{address}"),
        };
        let internal = |address| match target(address, ships) {
            Ok(Target::Internal(a)) => a,
            _ => panic!("{address}"),
        };
        assert_eq!(plain("https://a.example/x"), "https://a.example/x");
        assert_eq!(plain("/images/cat.png"), "@root/images/cat.png");
        assert_eq!(internal("#here"), "#here");
        assert_eq!(internal("/"), "@root/");
        assert_eq!(internal("/lesson/scaling#why"), "@root/lesson/scaling/#why");
        for wrong in ["", "#", "lesson/scaling", "javascript:alert(1)", "../x"] {
            assert!(target(wrong, ships).is_err(), "{wrong}");
        }
    }

    #[test]
    fn raw_html_is_checked_and_rooted() {
        let (html, links) = raw_html(
            "<figure><img alt=\"A cat\" src=\"/images/cat.png\"><a href=\"/lesson/x\">x</a>",
            ships,
        )
        .unwrap();
        assert_eq!(
            html,
            "<figure><img alt=\"A cat\" src=\"@root/images/cat.png\"><a href=\"@root/lesson/x/\">x</a>"
        );
        assert_eq!(links, ["/lesson/x"]);
        assert!(raw_html("<img src=\"/none.png\">", ships).is_err());
        assert!(raw_html("<SCRIPT>", ships).is_err());
        assert!(raw_html("<figure> < scripted", ships).is_ok());
        assert!(raw_html("<img src=\"", ships).is_ok());
    }

    #[test]
    fn asides_name_their_kind() {
        assert_eq!(
            aside("> [!HISTORY] Where it began"),
            Some(Ok(("history", "Where it began".to_owned())))
        );
        assert_eq!(aside("> [!NOTE]"), Some(Ok(("note", "Note".to_owned()))));
        assert!(matches!(aside("> [!TIP] x"), Some(Err(_))));
        assert_eq!(aside("> a quote"), None);
    }
}
