//! What a page says of itself in its head.

use lesson::html::escape;

use crate::address::SiteAddress;
use crate::frame::Parts;
use crate::preview::{self, Image};

/// Name of the site, after each page's own title.
pub(crate) const SITE: &str = "Transformer Notebook";

/// The title, the description and the address of a page, for search engines and for sites that show
/// links to it.
pub(crate) fn meta(parts: &Parts) -> String {
    let title = if parts.title == SITE {
        SITE.to_owned()
    } else {
        format!("{} · {SITE}", parts.title)
    };
    let (title, own, description) = (
        escape(&title),
        escape(&parts.title),
        escape(&parts.description),
    );
    format!(
        "<title>{title}</title>\n    <meta name=\"description\" content=\"{description}\">\n    \
         <meta property=\"og:title\" content=\"{own}\">\n    \
         <meta property=\"og:description\" content=\"{description}\">\n    \
         <meta property=\"og:type\" content=\"article\">{}",
        whole_links(parts)
    )
}

/// What only a site that knows its address can say: where the page is, and a picture for links to
/// it.
fn whole_links(parts: &Parts) -> String {
    let Some((site, page)) = &parts.address else {
        return String::new();
    };
    let page = escape(&site.of(page));
    let picture = parts
        .preview
        .as_ref()
        .map_or(String::new(), |image| preview_tags(site, image));
    format!(
        "\n    <link rel=\"canonical\" href=\"{page}\">\n    \
         <meta property=\"og:url\" content=\"{page}\">\n    \
         <meta property=\"og:site_name\" content=\"{SITE}\">{picture}"
    )
}

/// The picture of a page in the words of Open Graph.
fn preview_tags(site: &SiteAddress, image: &Image) -> String {
    let (file, alt) = (escape(&site.of(&image.file)), escape(&image.alt));
    let (width, height) = (preview::WIDTH, preview::HEIGHT);
    format!(
        "\n    <meta property=\"og:image\" content=\"{file}\">\n    \
         <meta property=\"og:image:type\" content=\"image/png\">\n    \
         <meta property=\"og:image:width\" content=\"{width}\">\n    \
         <meta property=\"og:image:height\" content=\"{height}\">\n    \
         <meta property=\"og:image:alt\" content=\"{alt}\">\n    \
         <meta name=\"twitter:card\" content=\"summary_large_image\">"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_its_whole_address_only_where_the_site_knows_it() {
        let mut parts = Parts {
            title: "Scaling".to_owned(),
            ..Parts::default()
        };
        let relative = meta(&parts);
        assert!(relative.contains("og:title") && !relative.contains("canonical"));
        assert!(!relative.contains("http"), "{relative}");
        let site = SiteAddress::parse("https://host.example/book", "./").unwrap();
        parts.address = Some((site, "lesson/scaling/".to_owned()));
        let whole = meta(&parts);
        let page = "https://host.example/book/lesson/scaling/";
        assert!(whole.contains(&format!("<link rel=\"canonical\" href=\"{page}\">")));
        assert!(whole.contains(&format!("og:url\" content=\"{page}\"")));
        assert!(!whole.contains("og:image"), "{whole}");
        parts.preview = Some(Image {
            file: "previews/lesson/scaling.png".to_owned(),
            alt: "A \"figure\"".to_owned(),
        });
        let whole = meta(&parts);
        for expected in [
            "og:image\" content=\"https://host.example/book/previews/lesson/scaling.png\"",
            "og:image:width\" content=\"1200\"",
            "og:image:height\" content=\"630\"",
            "og:image:alt\" content=\"A &quot;figure&quot;\"",
            "twitter:card\" content=\"summary_large_image\"",
        ] {
            assert!(whole.contains(expected), "{expected}\n{whole}");
        }
    }
}
