//! Pages that follow their sources: what a development server asks for after each change, made
//! without what did not change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::catalog::Cells;
use crate::chunks::Chunks;
use crate::code::CodeBook;
use crate::content::{Compiled, Content};
use crate::error::{BuildError, names, read};
use crate::frame::Frame;
use crate::offline;
use crate::root::Root;
use crate::workers::{self, Place};
use crate::write::{Job, Site, terms};

/// Folders whose files pages are checked against or show, besides the lessons.
const LOOKED_AT: [&str; 4] = [
    "public",
    "crates/cells/src",
    "crates/engine/src",
    "crates/explain/src",
];

/// A site in development, whose pages are made again as their sources change.
#[derive(Debug)]
pub struct Follower {
    job: Job,
    target: PathBuf,
    /// Address of a script that every page runs besides its own.
    script: Option<String>,
    compiled: Compiled,
    book: CodeBook,
    looked_at: Vec<(PathBuf, Option<SystemTime>)>,
}

impl Follower {
    /// For the project, into the folder `out`; `target` is the target folder that the site is
    /// compiled in.
    pub fn new(project: &Path, out: &Path, target: &Path, draft: bool) -> Self {
        Self {
            job: Job {
                project: project.to_owned(),
                out: out.to_owned(),
                public_url: "/".to_owned(),
                address: None,
                release: false,
                figures: false,
                linked: None,
                target: None,
                draft,
            },
            target: target.to_owned(),
            script: None,
            compiled: Compiled::default(),
            book: CodeBook::new(project),
            looked_at: Vec::new(),
        }
    }

    /// Has every page run this script besides its own.
    #[must_use]
    pub fn with_script(mut self, address: Option<String>) -> Self {
        self.script = address;
        self
    }

    /// Writes the pages that changed and returns their addresses from the site's root, without a
    /// slash before them.
    ///
    /// # Errors
    /// Every mistake in the lessons, or the first thing that cannot be read, found or written.
    pub fn pages(&mut self) -> Result<Vec<String>, BuildError> {
        self.forget_what_changed()?;
        let project = &self.job.project;
        let catalog = Cells {
            public: project.join("public"),
        };
        let content = Content::load_again(project, &catalog, self.job.draft, &mut self.compiled)?;
        let index = read(&project.join("index.html"))?;
        let frame = Frame::of_source(&index, self.script.as_deref())?;
        workers::copy_start_script(project, &self.job.out)?;
        let site = Site {
            job: &self.job,
            root: Root::from_public_url(&self.job.public_url),
            content: &content,
            frame: &frame,
            chunks: Chunks::default(),
            workers: workers::files_in(&self.job.out)?,
            previews: BTreeMap::new(),
            terms: terms(&self.job)?,
        };
        let written = site.write_all(&mut self.book)?;
        remove_old(&self.job.out.join("lesson"), &content)?;
        offline::switch_off(&self.job.out)?;
        Ok(written)
    }

    /// Takes the site and its worker over as the compiler left them; whether one of them is another
    /// than before.
    ///
    /// # Errors
    /// When one is not compiled, or cannot be bound or written.
    pub fn bind(&self) -> Result<bool, BuildError> {
        let (place, out) = (self.place(), &self.job.out);
        // Both take seconds, and nothing is shared.
        let (site, worker) = std::thread::scope(|scope| {
            let worker = scope.spawn(|| workers::bind_whole(&place, out));
            (workers::bind_site(&place, out), worker.join())
        });
        let worker = worker.unwrap_or_else(|_| {
            Err(BuildError::Other(
                "binding the worker ended with a panic".to_owned(),
            ))
        });
        Ok(site? | worker?)
    }

    /// Makes the files of the lab and of measuring for browsers that can do more than the plain one
    /// asks for. Takes minutes the first time.
    ///
    /// # Errors
    /// When one cannot be compiled, bound or written.
    pub fn engines(&self) -> Result<(), BuildError> {
        workers::quick_engines(&self.place(), &self.job.out)
    }

    /// Removes what [`Follower::engines`] made, which is older than its sources.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn forget_engines(&self) -> Result<(), BuildError> {
        workers::remove_quick_engines(&self.job.out)
    }

    fn place(&self) -> Place<'_> {
        Place {
            project: &self.job.project,
            target: &self.target,
            release: false,
        }
    }

    /// Drops what was compiled or looked up, when a file changed that it was checked against or
    /// shows.
    fn forget_what_changed(&mut self) -> Result<(), BuildError> {
        let mut now = Vec::new();
        for folder in LOOKED_AT {
            times(&self.job.project.join(folder), &mut now)?;
        }
        if now != self.looked_at {
            self.looked_at = now;
            self.compiled = Compiled::default();
            self.book = CodeBook::new(&self.job.project);
        }
        Ok(())
    }
}

/// Every file below a folder and when it was written.
fn times(folder: &Path, found: &mut Vec<(PathBuf, Option<SystemTime>)>) -> Result<(), BuildError> {
    for name in names(folder)? {
        let path = folder.join(name);
        if path.is_dir() {
            times(&path, found)?;
        } else {
            let written = path.metadata().and_then(|data| data.modified());
            found.push((path, written.ok()));
        }
    }
    Ok(())
}

/// Removes the pages of lessons that are gone or have another name now.
fn remove_old(folder: &Path, content: &Content) -> Result<(), BuildError> {
    if !folder.is_dir() {
        return Ok(());
    }
    for name in names(folder)? {
        if content.lessons.iter().all(|lesson| lesson.slug != name) {
            let path = folder.join(name);
            std::fs::remove_dir_all(&path).map_err(|source| BuildError::File { path, source })?;
        }
    }
    Ok(())
}
