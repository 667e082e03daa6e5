//! The address at which a site will be published, and the files that need it: links to a page that
//! are read outside the site have to be whole.

use std::fmt::Write as _;

use crate::error::BuildError;

/// Name of the variable that holds the address.
pub const VARIABLE: &str = "SITE_ADDRESS";

/// The whole address of the site's root, ending in a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteAddress(String);

impl SiteAddress {
    /// Reads an address such as `https://host/book/`; the last slash may be missing. Where the site
    /// is built for a folder, the path `public_url`, the address has to end in it.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the address.
    pub fn parse(text: &str, public_url: &str) -> Result<Self, BuildError> {
        let wrong = |why: &str| Err(BuildError::Other(format!("{VARIABLE}: {text} {why}")));
        let rest = text
            .strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"));
        let Some(rest) = rest else {
            return wrong("does not start with https:// or http://");
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if !is_host(host) {
            return wrong("has no host, or one with a character that no host has");
        }
        let in_path = |c: char| c.is_ascii_alphanumeric() || "/-._~%".contains(c);
        if !path.chars().all(in_path) || path.starts_with('/') || path.contains("//") {
            return wrong("has a path with something else than letters, digits and /-._~%");
        }
        let slash = if text.ends_with('/') { "" } else { "/" };
        let whole = format!("{text}{slash}");
        let folder = public_url.trim_matches('/');
        let path = path.trim_end_matches('/');
        if public_url.starts_with('/') && folder != path {
            return wrong(&format!(
                "is not in the folder {public_url} that the site is built for"
            ));
        }
        Ok(Self(whole))
    }

    /// The address of a file or a page, given from the site's root.
    pub fn of(&self, file: &str) -> String {
        format!("{}{file}", self.0)
    }

    /// The list of pages for search engines.
    pub(crate) fn sitemap(&self, pages: &[String]) -> String {
        let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                       <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
            .to_owned();
        for page in pages {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "<url><loc>{}</loc></url>", self.of(page));
        }
        out.push_str("</urlset>\n");
        out
    }

    /// The file that tells search engines where that list is.
    pub(crate) fn robots(&self) -> String {
        format!(
            "User-agent: *\nAllow: /\n\nSitemap: {}\n",
            self.of("sitemap.xml")
        )
    }
}

/// Whether a text is the name of a host, with or without a port.
fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').unwrap_or((text, "0"));
    let in_name = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let is_name = !name.is_empty() && name.chars().all(in_name) && !name.starts_with(['-', '.']);
    is_name && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gets_its_last_slash() {
        for (text, whole) in [
            ("https://host.example", "https://host.example/"),
            ("https://host.example/", "https://host.example/"),
            (
                "http://127.0.0.1:8000/a-b/c",
                "http://127.0.0.1:8000/a-b/c/",
            ),
        ] {
            let address = SiteAddress::parse(text, "./").unwrap();
            assert_eq!(address.of(""), whole);
            assert_eq!(address.of("lab/"), format!("{whole}lab/"));
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "host.example",
            "/book/",
            "ftp://host.example/",
            "https://",
            "https:///book/",
            "https://a b/",
            "https://host.example/?a",
            "https://host.example/#a",
            "https://host.example/\"x",
            "https://host.example//",
            "https://host.example:no/",
            "https://user@host.example/",
        ] {
            let error = SiteAddress::parse(text, "./").unwrap_err().to_string();
            assert!(error.starts_with("SITE_ADDRESS: "), "{text}: {error}");
        }
    }

    #[test]
    fn the_folder_of_the_address_is_the_one_that_the_site_is_built_for() {
        let parse = |folder: &str| SiteAddress::parse("https://host.example/book", folder);
        assert!(parse("./").is_ok() && parse("/book/").is_ok());
        let error = parse("/").unwrap_err().to_string();
        assert!(error.contains("is not in the folder /"), "{error}");
        assert!(parse("/books/").is_err());
    }

    #[test]
    fn search_engines_get_every_page() {
        let address = SiteAddress::parse("https://host.example/book", "./").unwrap();
        let sitemap = address.sitemap(&[String::new(), "lesson/scaling/".to_owned()]);
        assert_eq!(sitemap.matches("<url>").count(), 2);
        assert!(sitemap.contains("<loc>https://host.example/book/</loc>"));
        assert!(sitemap.contains("<loc>https://host.example/book/lesson/scaling/</loc>"));
        let robots = address.robots();
        assert!(robots.ends_with("\nSitemap: https://host.example/book/sitemap.xml\n"));
    }
}
