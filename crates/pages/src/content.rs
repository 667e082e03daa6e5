//! All pages of the site, compiled.

use std::collections::BTreeMap;
use std::path::Path;

use lesson::{Catalog, Kind, Lesson, LessonError, check_links, compile};

use crate::error::{BuildError, names, read};
use crate::{model_cards, moved_digits};

/// The cards of the shipped models, which their trainers write.
const MODELS: &str = "public/models/MODELS.md";

/// Pages that were compiled before, by file, with the text that they were compiled from. To be
/// dropped when a cell or a shipped file changes.
#[derive(Debug, Clone, Default)]
pub struct Compiled(BTreeMap<String, (String, Result<Lesson, Vec<LessonError>>)>);

impl Compiled {
    /// Compiles a page, unless its text is the same as before.
    fn page(
        &mut self,
        file: &str,
        text: String,
        catalog: &dyn Catalog,
    ) -> Result<Lesson, Vec<LessonError>> {
        if let Some((old, page)) = self.0.get(file)
            && *old == text
        {
            return page.clone();
        }
        let page = compile(file, &text, catalog);
        self.0.insert(file.to_owned(), (text, page.clone()));
        page
    }
}

/// The site's content.
#[derive(Debug, Clone)]
pub struct Content {
    /// The page at the root.
    pub home: Lesson,
    /// The page for addresses that do not exist.
    pub not_found: Lesson,
    /// The cards of the shipped models.
    pub models: Lesson,
    /// The chart among these cards.
    pub(crate) moved_digits: String,
    /// The lessons, in order of their numbers.
    pub lessons: Vec<Lesson>,
}

impl Content {
    /// Compiles every `*.md` in the folder `lessons` of the project. A draft prints the mistakes,
    /// leaves out the lessons that do not compile, and keeps links that lead nowhere yet.
    ///
    /// # Errors
    /// Every mistake in every lesson; a page that is missing; a number or slug used twice.
    pub fn load(project: &Path, catalog: &dyn Catalog, draft: bool) -> Result<Self, BuildError> {
        Self::load_again(project, catalog, draft, &mut Compiled::default())
    }

    /// Does the same as [`Content::load`] and compiles only the pages whose text is another one
    /// than the last time.
    ///
    /// # Errors
    /// As [`Content::load`].
    pub fn load_again(
        project: &Path,
        catalog: &dyn Catalog,
        draft: bool,
        compiled: &mut Compiled,
    ) -> Result<Self, BuildError> {
        let mut errors = Vec::new();
        let mut pages = Vec::new();
        for name in names(&project.join("lessons"))?
            .iter()
            .filter(|name| name.ends_with(".md"))
        {
            let file = format!("lessons/{name}");
            match compiled.page(&file, read(&project.join(&file))?, catalog) {
                Ok(page) => pages.push(page),
                Err(found) => errors.extend(found),
            }
        }
        let cards = read(&project.join(MODELS))?;
        match compiled.page(MODELS, model_cards::page(&cards), catalog) {
            Ok(page) => pages.push(page),
            Err(found) => errors.extend(found),
        }
        // Links are checked among pages that compile: a page that does not would seem to be
        // missing.
        if errors.is_empty() {
            errors.extend(doubles(&pages));
            errors.extend(written(&pages));
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
                .ok_or_else(|| BuildError::Other(format!("{file} is missing or does not compile")))
        };
        let home = take(Kind::Home, "lessons/home.md")?;
        let not_found = take(Kind::NotFound, "lessons/404.md")?;
        let models = take(Kind::Models, MODELS)?;
        Ok(Self {
            home,
            not_found,
            models,
            moved_digits: moved_digits::figure(&cards),
            lessons: pages,
        })
    }

    /// Every page, to be completed.
    pub(crate) fn pages_mut(&mut self) -> impl Iterator<Item = &mut Lesson> {
        [&mut self.home, &mut self.not_found, &mut self.models]
            .into_iter()
            .chain(&mut self.lessons)
    }

    /// Every page.
    pub fn pages(&self) -> impl Iterator<Item = &Lesson> {
        [&self.home, &self.not_found, &self.models]
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

/// Lessons that the home page still lists among those to come.
fn written(pages: &[Lesson]) -> Vec<LessonError> {
    let mut errors = Vec::new();
    for home in pages {
        for title in home.to_come.values().flatten() {
            if let Some(page) = pages.iter().find(|page| page.title == *title) {
                errors.push(LessonError {
                    file: home.file.clone(),
                    line: 1,
                    message: format!("to_come: \u{201c}{title}\u{201d} is there: {}", page.file),
                });
            }
        }
    }
    errors
}

/// The content of this project for the crate's tests, loaded once: the values that its sentences quote
/// take the engine half a minute.
#[cfg(test)]
pub(crate) mod real {
    use super::Content;
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;

    use crate::catalog::Cells;

    /// The project's root.
    pub(crate) fn project() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// The cells, and the files beside them.
    pub(crate) fn catalog() -> Cells {
        Cells {
            public: project().join("public"),
        }
    }

    /// All pages.
    pub(crate) fn content() -> &'static Content {
        static CONTENT: OnceLock<Content> = OnceLock::new();
        CONTENT.get_or_init(|| {
            Content::load(&project(), &catalog(), false).unwrap_or_else(|e| panic!("{e}"))
        })
    }
}
