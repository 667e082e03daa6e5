//! The served file of a page: parsed, and put in place of the open one.

use wasm_bindgen::JsCast;
use web_sys::{Document, DomParser, HtmlAnchorElement, SupportedType};

use super::{address, dom};

/// Links outside `<main>` stay when the page changes, so they must not depend on the page's own
/// address.
pub(crate) fn pin_links_outside_main() {
    let Some(body) = dom::document().and_then(|d| d.body()) else {
        return;
    };
    for link in dom::find_all(&body, "a[href]") {
        if link.closest("main").ok().flatten().is_none()
            && let Some(anchor) = link.dyn_ref::<HtmlAnchorElement>()
            && !link
                .get_attribute("href")
                .unwrap_or_default()
                .starts_with('#')
        {
            anchor.set_href(&anchor.href());
        }
    }
    let Some(head) = dom::document().and_then(|d| d.head()) else {
        return;
    };
    // A browser asks for the icon again when the address changes.
    for link in dom::find_all(&head, "link:is([rel*=icon], [rel=manifest])[href]") {
        let href = link.get_attribute("href").unwrap_or_default();
        if let Some(whole) = address::resolve(&href, &address::href()) {
            let _ = link.set_attribute("href", &whole.href());
        }
    }
}

/// Parses the file of a page; `None` where it has no `<main>`.
pub(crate) fn parse(html: &str) -> Option<Document> {
    let parsed = DomParser::new()
        .ok()?
        .parse_from_string(&without_sheets(html), SupportedType::TextHtml)
        .ok()?;
    parsed.get_element_by_id("main").is_some().then_some(parsed)
}

/// The file of a page without its style sheets, which are not taken over. The policy of the open
/// page knows its own sheets only, and browsers hold those of a parsed document against it, too.
fn without_sheets(html: &str) -> String {
    let mut parts = html.split("<style");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept += part.split_once("</style>").map_or("", |(_, rest)| rest);
    }
    kept
}

/// Takes over `<main>`, title, description, canonical address and the marked entry of the course menu.
pub(crate) fn swap(next: &Document) {
    let Some(document) = dom::document() else {
        return;
    };
    if let (Some(old), Some(new)) = (dom::main(), next.get_element_by_id("main"))
        && let Ok(new) = document.import_node_with_deep(&new, true)
    {
        let _ = old.replace_with_with_node_1(&new);
    }
    document.set_title(&next.title());
    for (tag, name) in [
        ("meta[name=description]", "content"),
        ("link[rel=canonical]", "href"),
    ] {
        let of = |page: &Document| page.query_selector(tag).ok().flatten();
        if let (Some(old), Some(new)) = (of(&document), of(next)) {
            let _ = old.set_attribute(name, &new.get_attribute(name).unwrap_or_default());
        }
    }
    mark_current_link(&document);
}

fn mark_current_link(document: &Document) {
    let Some(body) = document.body() else { return };
    let here = address::path();
    let links = dom::find_all(&body, "header a[href]");
    for link in links {
        let same = link
            .dyn_ref::<HtmlAnchorElement>()
            .is_some_and(|a| a.pathname().trim_end_matches('/') == here.trim_end_matches('/'));
        if same {
            let _ = link.set_attribute("aria-current", "page");
        } else {
            let _ = link.remove_attribute("aria-current");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_sheets;

    #[test]
    fn only_style_sheets_are_left_out() {
        let html = "<style data-fonts>a{}</style>\n<meta><style>b{}</style><p style=\"c\">";
        assert_eq!(without_sheets(html), "\n<meta><p style=\"c\">");
        assert_eq!(without_sheets("<p>text</p>"), "<p>text</p>");
    }
}
