//! All pages of the site, compiled.

use std::path::Path;

use lesson::{Catalog, Kind, Lesson, LessonError, check_links, compile};

use crate::error::{BuildError, names, read};

/// The site's content.
#[derive(Debug, Clone)]
pub struct Content {
    /// The page at the root.
    pub home: Lesson,
    /// The page for addresses that do not exist.
    pub not_found: Lesson,
    /// The lessons, in order of their numbers.
    pub lessons: Vec<Lesson>,
}

impl Content {
    /// Compiles every `*.md` in the folder `lessons` of the project. A draft prints the mistakes, leaves out
    /// the lessons that do not compile, and keeps links that lead nowhere yet.
    ///
    /// # Errors
    /// Every mistake in every lesson; a page that is missing; a number or slug used twice.
    pub fn load(project: &Path, catalog: &dyn Catalog, draft: bool) -> Result<Self, BuildError> {
        let mut errors = Vec::new();
        let mut pages = Vec::new();
        for name in names(&project.join("lessons"))?
            .iter()
            .filter(|name| name.ends_with(".md"))
        {
            let file = format!("lessons/{name}");
            match compile(&file, &read(&project.join(&file))?, catalog) {
                Ok(page) => pages.push(page),
                Err(found) => errors.extend(found),
            }
        }
        // Links are checked among pages that compile: a page that does not would seem to be missing.
        if errors.is_empty() {
            errors.extend(doubles(&pages));
            errors.extend(check_links(&pages));
        }
        if !errors.is_empty() {
            let errors = BuildError::Lessons(errors);
            if !draft {
                return Err(errors);
            }
            eprintln!("{errors}");
        }
        let mut take = |kind, file: &str| {
            let place = pages.iter().position(|page| page.kind == kind);
            place
                .map(|i| pages.remove(i))
                .ok_or_else(|| BuildError::Other(format!("lessons/{file} is missing")))
        };
        let home = take(Kind::Home, "home.md")?;
        let not_found = take(Kind::NotFound, "404.md")?;
        Ok(Self {
            home,
            not_found,
            lessons: pages,
        })
    }

    /// Every page.
    pub fn pages(&self) -> impl Iterator<Item = &Lesson> {
        [&self.home, &self.not_found]
            .into_iter()
            .chain(&self.lessons)
    }
}

/// Lessons that share a number or a slug. Files come sorted, so equal numbers are neighbours.
fn doubles(pages: &[Lesson]) -> Vec<LessonError> {
    let mut errors = Vec::new();
    for (i, page) in pages.iter().enumerate() {
        let first = pages[..i].iter().find(|other| {
            let same_number = matches!(page.kind, Kind::Lesson(_)) && other.kind == page.kind;
            same_number || other.slug == page.slug
        });
        if let Some(first) = first {
            let message = format!(
                "number and slug are the lesson's own, and {} shares one of them",
                first.file
            );
            errors.push(LessonError {
                file: page.file.clone(),
                line: 1,
                message,
            });
        }
    }
    errors
}
