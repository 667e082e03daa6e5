//! Addresses of the site: the page that a path names, and the part after `#`.

/// A page of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/`
    Home,
    /// `/lesson/SLUG`
    Lesson(String),
    /// `/bench`
    Bench,
    /// `/lab`
    Lab,
    /// `/map`
    Map,
    /// `/models`
    Models,
    /// `/reference`
    Reference,
    /// `/about`
    About,
    /// Anything else.
    Unknown,
}

impl Route {
    /// The page that a path names; `root` is the path of the site's folder and ends in a slash.
    pub(crate) fn of_path(path: &str, root: &str) -> Self {
        let Some(inside) = path.strip_prefix(root) else {
            return if format!("{path}/") == root {
                Self::Home
            } else {
                Self::Unknown
            };
        };
        let inside = inside.strip_suffix("index.html").unwrap_or(inside);
        let mut parts = inside.split('/').filter(|p| !p.is_empty());
        match (parts.next(), parts.next(), parts.next()) {
            (None, None, None) => Self::Home,
            (Some("bench"), None, None) => Self::Bench,
            (Some("lab"), None, None) => Self::Lab,
            (Some("map"), None, None) => Self::Map,
            (Some("models"), None, None) => Self::Models,
            (Some("reference"), None, None) => Self::Reference,
            (Some("about"), None, None) => Self::About,
            (Some("lesson"), Some(slug), None) => Self::Lesson(slug.to_owned()),
            _ => Self::Unknown,
        }
    }

    /// The name that the served file of this page carries in `<main data-page>`.
    pub(crate) fn page_name(&self) -> Option<String> {
        match self {
            Self::Home => Some("home".to_owned()),
            Self::Lesson(slug) => Some(format!("lesson/{slug}")),
            Self::Bench => Some("bench".to_owned()),
            Self::Lab => Some("lab".to_owned()),
            Self::Map => Some("map".to_owned()),
            Self::Models => Some("models".to_owned()),
            Self::Reference => Some("reference".to_owned()),
            Self::About => Some("about".to_owned()),
            Self::Unknown => None,
        }
    }
}

/// The part of an address after `#`: `HEADING?s=STATE`, both optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fragment {
    /// Id of the heading or cell to scroll to.
    pub(crate) heading: String,
    /// Encoded state of the inputs.
    pub(crate) state: String,
}

impl Fragment {
    /// Reads the part of an address after `#`, with or without the `#` itself.
    pub(crate) fn parse(hash: &str) -> Self {
        let hash = hash.strip_prefix('#').unwrap_or(hash);
        let (heading, query) = hash.split_once('?').unwrap_or((hash, ""));
        let state = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("s="))
            .unwrap_or("");
        Self {
            heading: heading.to_owned(),
            state: state.to_owned(),
        }
    }

    /// The fragment as text with its `#`; empty where there is nothing to say.
    pub(crate) fn to_hash(&self) -> String {
        match (self.heading.is_empty(), self.state.is_empty()) {
            (true, true) => String::new(),
            (false, true) => format!("#{}", self.heading),
            _ => format!("#{}?s={}", self.heading, self.state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_pages_under_any_root() {
        for root in ["/", "/notes/tn/"] {
            let of =
                |path: &str| Route::of_path(&format!("{}{path}", root.trim_end_matches('/')), root);
            assert_eq!(of("/"), Route::Home);
            assert_eq!(of("/index.html"), Route::Home);
            for path in [
                "/lesson/scaling",
                "/lesson/scaling/",
                "/lesson/scaling/index.html",
            ] {
                assert_eq!(of(path), Route::Lesson("scaling".to_owned()));
            }
            for path in ["/bench", "/bench/", "/bench/index.html"] {
                assert_eq!(of(path), Route::Bench);
            }
            assert_eq!(of("/lab/"), Route::Lab);
            assert_eq!(of("/models/"), Route::Models);
            assert_eq!(of("/map"), Route::Map);
            assert_eq!(of("/reference/"), Route::Reference);
            assert_eq!(of("/about/"), Route::About);
            for path in [
                "/lesson",
                "/lesson/a/b",
                "/nothing",
                "/bench/a",
                "/lab/a",
                "/models/a.safetensors",
            ] {
                assert_eq!(of(path), Route::Unknown);
            }
        }
        assert_eq!(Route::of_path("/notes/tn", "/notes/tn/"), Route::Home);
        assert_eq!(Route::of_path("/elsewhere/", "/notes/tn/"), Route::Unknown);
    }

    #[test]
    fn fragments_round_trip() {
        for hash in ["", "#scores", "#scores?s=1.abc", "#?s=1.abc"] {
            assert_eq!(Fragment::parse(hash).to_hash(), hash);
        }
        assert_eq!(
            Fragment::parse("#a?x=1&s=2"),
            Fragment {
                heading: "a".into(),
                state: "2".into()
            }
        );
    }
}
