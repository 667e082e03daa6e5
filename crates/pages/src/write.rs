//! Writes the pages and what stands beside them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lesson::{Kind, Lesson};
use search::Entry;
use worker::build::{CELLS, WorkerFiles};

use crate::about;
use crate::address::SiteAddress;
use crate::catalog::Cells;
use crate::chunks::{self, Chunks};
use crate::code::CodeBook;
use crate::content::Content;
use crate::course::course_menu;
use crate::error::{BuildError, names, read, write_new};
use crate::figures;
use crate::frame::{Frame, Parts};
use crate::glossary_links;
use crate::machine;
use crate::offline;
use crate::page::{TOOLS, home_main, lesson_main, models_main, not_found_main, tool_main};
use crate::preview::{self, Image};
use crate::reference::{self, Reference, Term};
use crate::root::Root;
use crate::search_index;
use crate::workers;

/// Files that Trunk copies with `public/` though they have another place in the site.
const NOT_SHIPPED: [&str; 2] = ["boot.mjs", "worker_start.js"];

/// What to build, and where.
#[derive(Debug, Clone)]
pub struct Job {
    /// Root of the project.
    pub project: PathBuf,
    /// Folder with Trunk's output, which the pages go into.
    pub out: PathBuf,
    /// The public address that Trunk built for.
    pub public_url: String,
    /// The whole address at which the site will be published, where it is known.
    pub address: Option<SiteAddress>,
    /// Whether the site keeps itself for offline reading.
    pub release: bool,
    /// Whether cells are served with their default results, which takes a native build of the site.
    pub figures: bool,
    /// The site's wasm as the linker left it, to be cut into chunks; `None` leaves it whole.
    pub linked: Option<PathBuf>,
    /// The site's target folder, beside whose content the further files of the worker are built;
    /// `None` leaves them out.
    pub target: Option<PathBuf>,
    /// Whether mistakes in lessons are only printed, so that an author sees the rest.
    pub draft: bool,
}

/// Builds the pages.
///
/// # Errors
/// Every mistake in the lessons, or the first thing that cannot be read, found or written.
pub fn build(job: &Job) -> Result<(), BuildError> {
    let catalog = Cells {
        public: job.project.join("public"),
    };
    let mut content = Content::load(&job.project, &catalog, job.draft)?;
    if job.figures {
        figures::compute(&job.project, &mut content)?;
    }
    let frame = Frame::read(&job.out, &job.public_url)?;
    let chunks = match &job.linked {
        Some(linked) => chunks::cut_site(linked, &job.out)?,
        None => Chunks::default(),
    };
    let workers = match &job.target {
        Some(target) => workers::build(
            &workers::Place {
                project: &job.project,
                target,
                release: job.release,
            },
            &job.out,
        )?,
        None => WorkerFiles::default(),
    };
    // Only a site that knows its address can name them.
    let previews = match &job.address {
        Some(_) => preview::write_all(&content, &job.out)?,
        None => {
            if !job.draft {
                preview::check(&content)?;
            }
            BTreeMap::new()
        }
    };
    let site = Site {
        job,
        previews,
        terms: terms(job)?,
        workers,
        root: Root::from_public_url(&job.public_url),
        content: &content,
        frame: &frame,
        chunks,
    };
    site.write_all(&mut CodeBook::new(&job.project))?;
    for file in frame.inlined.iter().map(String::as_str).chain(NOT_SHIPPED) {
        remove(&job.out.join(file))?;
    }
    remove_notes(&job.out)?;
    if job.release {
        offline::relist(&job.out, &job.project.join("public/sw.js"))
    } else {
        offline::switch_off(&job.out)
    }
}

/// The terms of the glossary; none in a draft whose file cannot be read.
pub(crate) fn terms(job: &Job) -> Result<Vec<Term>, BuildError> {
    match reference::terms(&job.project) {
        // The page of the glossary prints the same mistake.
        Err(_) if job.draft => Ok(Vec::new()),
        terms => terms,
    }
}

/// Takes a file out of the site, if it is there.
fn remove(path: &Path) -> Result<(), BuildError> {
    if !path.is_file() {
        return Ok(());
    }
    std::fs::remove_file(path).map_err(|source| BuildError::File {
        path: path.to_owned(),
        source,
    })
}

/// Takes out the notes and scripts that stand beside pictures and models in `public/` and say where
/// those come from.
fn remove_notes(folder: &Path) -> Result<(), BuildError> {
    for name in names(folder)? {
        let path = folder.join(&name);
        if path.is_dir() {
            remove_notes(&path)?;
        } else if [".md", ".py"].iter().any(|kind| name.ends_with(kind)) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// The address of a compiled page from the site's root; none for the page of missing ones.
pub(crate) fn address_of(page: &Lesson) -> Option<String> {
    match page.kind {
        Kind::Home => Some(String::new()),
        Kind::NotFound => None,
        Kind::Models => Some(format!("{}/", page.slug)),
        Kind::Lesson(_) => Some(format!("lesson/{}/", page.slug)),
    }
}

/// The entries of the search: all pages and their sections. The glossary is in `reference`.
pub(crate) fn search_entries(content: &Content, reference: Option<&Lesson>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for page in [&content.home].into_iter().chain(&content.lessons) {
        let address = address_of(page).unwrap_or_default();
        entries.extend(search_index::of_page(&address, page));
    }
    if let Some(page) = reference {
        entries.extend(search_index::of_page("reference/", page));
    }
    let map = machine::map_main(&content.lessons);
    let map = (machine::NAME, machine::TITLE, machine::DESCRIPTION, map);
    let about = (
        about::NAME,
        about::TITLE,
        about::DESCRIPTION,
        about::text(None),
    );
    let tools = TOOLS.iter().map(|tool| {
        (
            tool.name,
            tool.title,
            tool.description,
            tool.text.to_owned(),
        )
    });
    for (name, title, description, html) in [map, about].into_iter().chain(tools) {
        let address = format!("{name}/");
        entries.extend(search_index::of_html(&address, title, description, &html));
    }
    entries.extend(search_index::of_page("models/", &content.models));
    entries
}

/// Everything that pages are made of.
pub(crate) struct Site<'a> {
    pub(crate) job: &'a Job,
    pub(crate) root: Root,
    pub(crate) content: &'a Content,
    pub(crate) frame: &'a Frame,
    pub(crate) chunks: Chunks,
    pub(crate) workers: WorkerFiles,
    /// The terms of the glossary; none while the file of a draft cannot be read.
    pub(crate) terms: Vec<Term>,
    /// The preview images that are there, by the address of their page.
    pub(crate) previews: BTreeMap<String, Image>,
}

impl Site<'_> {
    /// Writes every page whose files are not as they would be; their addresses, from the site's
    /// root.
    pub(crate) fn write_all(&self, book: &mut CodeBook) -> Result<Vec<String>, BuildError> {
        let mut written = Vec::new();
        for tool in &TOOLS {
            let said = (tool.title, tool.description);
            if self.write_plain(tool.name, said, tool_main(tool))? {
                written.push(format!("{}/", tool.name));
            }
        }
        let map = machine::map_main(&self.content.lessons);
        if self.write_plain(machine::NAME, (machine::TITLE, machine::DESCRIPTION), map)? {
            written.push(format!("{}/", machine::NAME));
        }
        let about = about::main(self.job.address.as_ref());
        if self.write_plain(about::NAME, (about::TITLE, about::DESCRIPTION), about)? {
            written.push(format!("{}/", about::NAME));
        }
        let reference = self.reference()?;
        if let Some(reference) = &reference {
            let main = reference::reference_main(reference, &self.content.lessons);
            let said = (reference::TITLE, reference::DESCRIPTION);
            if self.write_plain("reference", said, main)? {
                written.push("reference/".to_owned());
            }
        }
        self.write_lists(reference.as_ref().map(|reference| &reference.page))?;
        for page in self.content.pages() {
            written.extend(self.write(page, book)?);
        }
        Ok(written)
    }

    /// Writes a page; its address where a file of it is new.
    fn write(&self, page: &Lesson, book: &mut CodeBook) -> Result<Option<String>, BuildError> {
        let (folder, file) = match address_of(page) {
            Some(folder) => (folder, "index.html"),
            None => (String::new(), "404.html"),
        };
        let depth = folder.matches('/').count();
        let golden = self.golden(page)?;
        let parts = self.parts(page, golden.is_some());
        let out = |name: &str| self.job.out.join(format!("{folder}{name}"));
        let html = self.frame.fill(&parts, &self.root, depth)?;
        let mut is_new = write_new(&out(file), &html)?;
        if let Some(golden) = golden {
            is_new |= write_new(&out("golden.json"), &golden)?;
        }
        if page.cells().next().is_some() {
            is_new |= write_new(&out("code.json"), &book.of_page(page)?.to_string())?;
        }
        let address = if file == "404.html" {
            file.to_owned()
        } else {
            folder
        };
        Ok(is_new.then_some(address))
    }

    fn parts(&self, page: &Lesson, has_golden: bool) -> Parts {
        let lessons = &self.content.lessons;
        let is_missing = page.kind == Kind::NotFound;
        let main = match page.kind {
            Kind::Home => home_main(page, lessons, has_golden),
            Kind::NotFound => not_found_main(page, lessons),
            Kind::Models => models_main(page, &self.content.moved_digits),
            Kind::Lesson(_) => {
                let at = lessons
                    .iter()
                    .position(|other| other.slug == page.slug)
                    .unwrap_or(0);
                let page = glossary_links::linked(page, &self.terms, lessons);
                lesson_main(&page, at, lessons, has_golden)
            }
        };
        let asked = page.exercises().map(|exercise| exercise.cell.as_str());
        let cells = page.cells().map(|cell| cell.name.as_str()).chain(asked);
        // A missing page may be at any depth.
        let is_lost = is_missing && self.root == Root::Relative;
        Parts {
            title: page.title.clone(),
            description: page.description.clone(),
            main,
            menu: course_menu(lessons, &page.slug),
            is_lost,
            offline: self.job.release && !is_missing,
            first_worker: self.first_worker(page),
            preload: self.chunks.preload(cells, None),
            workers: self.workers.to_string(),
            address: self.address(page),
            preview: address_of(page).and_then(|place| self.previews.get(&place).cloned()),
        }
    }

    /// The whole address of a page, where the site knows its own.
    fn address(&self, page: &Lesson) -> Option<(SiteAddress, String)> {
        let place = address_of(page)?;
        Some((self.job.address.clone()?, place))
    }

    /// The address that starts the worker of the first cell with the code and the first file that
    /// this cell needs on the inputs of its lesson.
    fn first_worker(&self, page: &Lesson) -> Option<String> {
        let cell = page.cells().next()?;
        let needs = Cells::needs(&cell.name, &cell.props, &page.shared)?;
        let start = self.workers.address(CELLS, needs.kind.options())?;
        let weights = needs.files.first().map_or("", |file| *file);
        Some(format!("{start}&cell={}&weights={weights}", cell.name))
    }

    /// The page with symbols, equations, systems and glossary, compiled. A draft prints the mistakes and has
    /// none, so the page stays as it was.
    fn reference(&self) -> Result<Option<Reference>, BuildError> {
        let catalog = Cells {
            public: self.job.project.join("public"),
        };
        match reference::compiled(&self.job.project, self.content, &catalog) {
            Err(error) if self.job.draft => {
                eprintln!("{error}");
                Ok(None)
            }
            page => page.map(Some),
        }
    }

    /// Writes the index of the search, and for search engines the list of pages.
    fn write_lists(&self, reference: Option<&Lesson>) -> Result<(), BuildError> {
        let entries = search_entries(self.content, reference);
        write_new(&self.job.out.join(search::FILE), &search::write(&entries))?;
        if let Some(address) = &self.job.address {
            let pages = entries.iter().map(|entry| entry.address.clone());
            let pages: Vec<String> = pages.filter(|page| !page.starts_with('#')).collect();
            write_new(&self.job.out.join("sitemap.xml"), &address.sitemap(&pages))?;
            write_new(&self.job.out.join("robots.txt"), &address.robots())?;
        }
        Ok(())
    }

    /// Writes a page of the site's own, which is no lesson and has no cells, into the folder `name`;
    /// whether it is new.
    fn write_plain(
        &self,
        name: &str,
        (title, description): (&str, &str),
        main: String,
    ) -> Result<bool, BuildError> {
        let parts = Parts {
            title: title.to_owned(),
            description: description.to_owned(),
            main,
            menu: course_menu(&self.content.lessons, ""),
            // What a reader deletes there must not come back at once.
            offline: self.job.release && name != about::NAME,
            workers: self.workers.to_string(),
            preload: self.chunks.preload(std::iter::empty(), Some(name)),
            address: self
                .job
                .address
                .clone()
                .map(|site| (site, format!("{name}/"))),
            preview: self.previews.get(&format!("{name}/")).cloned(),
            ..Parts::default()
        };
        let html = self.frame.fill(&parts, &self.root, 1)?;
        write_new(&self.job.out.join(name).join("index.html"), &html)
    }

    /// The reference tensors of a page, where there are any.
    fn golden(&self, page: &Lesson) -> Result<Option<String>, BuildError> {
        let path = self
            .job
            .project
            .join(format!("tests/golden/lessons/{}.json", page.slug));
        if path.is_file() {
            read(&path).map(Some)
        } else {
            Ok(None)
        }
    }
}
