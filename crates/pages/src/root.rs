//! How a page's addresses lead to the site's root.

/// The site's place on its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// Not known: addresses are relative, and the same files work at a root and in any folder.
    Relative,
    /// This path or address, ending in `/`.
    Absolute(String),
}

impl Root {
    /// From Trunk's public address; `.` and `./` and other relative ones are [`Root::Relative`].
    pub fn from_public_url(url: &str) -> Self {
        if url.starts_with('/') || url.contains("://") {
            let slash = if url.ends_with('/') { "" } else { "/" };
            return Self::Absolute(format!("{url}{slash}"));
        }
        Self::Relative
    }

    /// What leads to the root from a page `depth` folders below it.
    pub fn prefix(&self, depth: usize) -> String {
        match self {
            Self::Absolute(url) => url.clone(),
            Self::Relative if depth == 0 => "./".to_owned(),
            Self::Relative => "../".repeat(depth),
        }
    }
}
