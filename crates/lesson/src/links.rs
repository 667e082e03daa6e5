//! Links inside the site, checked once all pages are known.

use std::collections::HashMap;

use crate::error::LessonError;
use crate::types::{Kind, Lesson};

/// Pages that are made from no file of `lessons/`, with the places on them to which a lesson may lead.
pub const BUILT_PAGES: [(&str, &[&str]); 3] =
    [("/lab", &[]), ("/map", &[]), ("/reference", &["systems"])];

/// Checks every link from a page to a page or place of the site.
pub fn check_links<'a>(pages: impl IntoIterator<Item = &'a Lesson> + Clone) -> Vec<LessonError> {
    let by_path: HashMap<String, &Lesson> = pages
        .clone()
        .into_iter()
        .filter_map(|page| Some((path_of(page)?, page)))
        .collect();
    let mut errors = Vec::new();
    for page in pages {
        for link in &page.links {
            if let Err(message) = check(&link.target, page, &by_path) {
                errors.push(LessonError {
                    file: page.file.clone(),
                    line: link.line,
                    message,
                });
            }
        }
    }
    errors
}

fn path_of(page: &Lesson) -> Option<String> {
    match page.kind {
        Kind::Home => Some("/".to_owned()),
        Kind::Lesson(_) => Some(format!("/lesson/{}", page.slug)),
        Kind::Models => Some("/models".to_owned()),
        Kind::NotFound => None,
    }
}

fn check(target: &str, from: &Lesson, by_path: &HashMap<String, &Lesson>) -> Result<(), String> {
    let (path, fragment) = target
        .split_once('#')
        .map_or((target, None), |(p, f)| (p, Some(f)));
    let no_place = |file: &str, id: &str| {
        Err(format!(
            "the link `{target}` leads to no place: {file} has no id `{id}`"
        ))
    };
    let path = path.trim_end_matches('/');
    if let Some((page, ids)) = BUILT_PAGES.iter().find(|(page, _)| *page == path) {
        return match fragment {
            Some(id) if !ids.contains(&id) => no_place(page, id),
            _ => Ok(()),
        };
    }
    let page = if target.starts_with('#') {
        from
    } else {
        let path = if path.is_empty() { "/" } else { path };
        by_path
            .get(path)
            .copied()
            .ok_or_else(|| format!("the link `{target}` leads to no page of this site"))?
    };
    match fragment {
        Some(id) if !page.ids.iter().any(|known| known == id) => no_place(&page.file, id),
        _ => Ok(()),
    }
}
