//! Builds what changes ask for, one after another.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::Duration;

use crate::change::{Plan, Project, Seen};
use crate::error::ServeError;
use crate::news::{Board, News};
use crate::pages::{self, Pages};
use crate::run::cargo;
use crate::server::Folders;
use crate::watch::WATCHED;

/// A request to the builder.
#[derive(Debug)]
pub enum Order {
    /// These files or folders changed.
    Changed(Vec<PathBuf>),
    /// A page for full-size models is open.
    Engines,
    /// The quicker builds of the engine are done, or why not.
    EnginesDone(Result<(), String>),
}

/// State of the quicker builds of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engines {
    /// No page has asked for them since their sources changed.
    Unasked,
    /// They are being built.
    Building,
    /// They are being built of sources that have changed since.
    Outdated,
    /// They are there, or cannot be built until something changes.
    Settled,
}

/// Cargo's arguments for the site and its worker: in one call, so that the crates that both hold
/// are compiled once.
const SITE: [&str; 8] = [
    "build",
    "--package",
    "transformer-notebook",
    "--package",
    "worker",
    "--bins",
    "--target",
    "wasm32-unknown-unknown",
];

/// Cargo's arguments for the program that makes the pages.
const MAKER: [&str; 3] = ["build", "--package", "pages"];

/// Quiet time after which a save is complete: an editor writes, renames and sets the date.
const SETTLED: Duration = Duration::from_millis(40);

/// Builds what orders ask for.
pub struct Builder {
    project: Project,
    folders: Folders,
    target: PathBuf,
    board: Board,
    pages: Option<Pages>,
    seen: Seen,
    engines: Engines,
    orders: Sender<Order>,
    /// The failure of each stage, where its last build failed.
    failures: BTreeMap<Stage, String>,
}

/// A part that is built, and fails, independently of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// The site and its worker.
    Site,
    /// The program that makes the pages.
    Maker,
    /// The pages.
    Pages,
}

impl Builder {
    /// For a project, whose target folder is `target`; `orders` leads to [`Builder::work`]'s other
    /// end.
    pub fn new(
        project: Project,
        folders: Folders,
        target: PathBuf,
        board: Board,
        orders: Sender<Order>,
    ) -> Self {
        Self {
            project,
            folders,
            target,
            board,
            pages: None,
            seen: Seen::default(),
            engines: Engines::Unasked,
            orders,
            failures: BTreeMap::new(),
        }
    }

    /// Builds everything once, then what each order asks for, until no orders can come.
    pub fn work(&mut self, orders: &Receiver<Order>) {
        let root = &self.folders.project;
        let watched: Vec<PathBuf> = WATCHED.iter().map(|name| root.join(name)).collect();
        self.seen.remember(&watched);
        self.first();
        while let Ok(order) = orders.recv() {
            let mut changed = Vec::new();
            self.take(order, &mut changed);
            // What was saved during a build, and the rest of this save, is built together.
            while let Ok(order) = orders.recv_timeout(SETTLED) {
                self.take(order, &mut changed);
            }
            let changed = self.seen.changed(changed);
            let plan = self.project.plan(&changed);
            if plan != Plan::default() {
                self.again(&plan);
            }
        }
    }

    fn take(&mut self, order: Order, changed: &mut Vec<PathBuf>) {
        match order {
            Order::Changed(paths) => changed.extend(paths),
            Order::Engines if self.engines == Engines::Unasked => self.build_engines(),
            Order::Engines => {}
            Order::EnginesDone(result) => self.take_engines(result),
        }
    }

    fn say(&self, text: &str) {
        println!("{text}");
        let text = text.to_owned();
        self.board.tell(News::Building { text });
    }

    /// Builds a stage and keeps how it ended; whether it succeeded.
    fn stage<T>(
        &mut self,
        stage: Stage,
        build: impl FnOnce(&mut Self) -> Result<T, ServeError>,
    ) -> Option<T> {
        match build(self) {
            Ok(made) => {
                if self.failures.remove(&stage).is_some() && self.failures.is_empty() {
                    println!("no mistakes are left");
                }
                Some(made)
            }
            Err(error) => {
                let text = error.to_string();
                eprintln!("{text}");
                self.failures.insert(stage, text);
                None
            }
        }
    }

    /// Says how things are when nothing is being built.
    fn rest(&self) {
        let failures: Vec<&str> = self.failures.values().map(String::as_str).collect();
        self.board.tell(if failures.is_empty() {
            News::Idle
        } else {
            let text = failures.join("\n");
            News::Failed { text }
        });
    }

    /// Builds everything, saying which step of how many it is; `cargo xtask serve` has taken the
    /// first two.
    fn first(&mut self) {
        self.say("[3/5] compiling the program that makes the pages");
        let maker = self.stage(Stage::Maker, Self::compile_maker);
        self.say("[4/5] compiling the site and its worker for the browser");
        let compiled = self.stage(Stage::Site, |this| cargo(&this.folders.project, &SITE));
        if maker.is_some() && compiled.is_some() {
            self.say("[5/5] joining them with JavaScript and writing the pages");
            let bound = self.stage(Stage::Site, |this| {
                // Those of an earlier run may be older than their sources.
                this.ask("forget-engines")?;
                this.ask("bind")
            });
            let pages = self.stage(Stage::Pages, |this| this.ask("pages"));
            if bound.is_some() && pages.is_some() {
                self.board.set_ready();
                self.board.reload(None);
                println!("the site is ready; each save is built from here on");
            }
        }
        self.rest();
    }

    /// Builds what changed.
    fn again(&mut self, plan: &Plan) {
        if !self.board.is_ready() {
            self.first();
            return;
        }
        for file in &plan.styles {
            self.board.restyle(file.clone());
        }
        if plan.engines {
            self.stage(Stage::Pages, Self::outdate_engines);
        }
        // Pages are quick: nobody waits for a compiler to read a sentence.
        if plan.pages && !plan.maker {
            self.make_pages(plan.files);
        }
        if plan.site {
            self.say("[1/2] compiling the site and its worker");
            let bound = self.stage(Stage::Site, |this| {
                cargo(&this.folders.project, &SITE)?;
                this.say("[2/2] joining them with JavaScript");
                this.ask("bind")
            });
            if bound.is_some_and(|answer| answer.new) {
                // They name the worker's files, which have a hash in their names.
                self.stage(Stage::Pages, |this| this.ask("pages"));
                self.board.reload(None);
            }
        }
        if plan.maker {
            self.say("[1/1] compiling the program that makes the pages");
            if self.stage(Stage::Maker, Self::compile_maker).is_some() {
                self.make_pages(plan.files);
            }
        }
        self.rest();
    }

    /// Makes the pages that changed, and has them reload: all of them, where a file changed that
    /// they fetch.
    fn make_pages(&mut self, files: bool) {
        let Some(answer) = self.stage(Stage::Pages, |this| this.ask("pages")) else {
            return;
        };
        if files {
            self.board.reload(None);
        } else if !answer.changed.is_empty() {
            self.board.reload(Some(answer.changed));
        }
    }

    fn compile_maker(&mut self) -> Result<(), ServeError> {
        cargo(&self.folders.project, &MAKER)?;
        self.start_pages()
    }

    fn start_pages(&mut self) -> Result<(), ServeError> {
        // The old one ends before the new one writes.
        self.pages = None;
        let program = pages::program(&self.target);
        self.pages = Some(Pages::start(&program, &self.folders.out)?);
        Ok(())
    }

    fn ask(&mut self, order: &str) -> Result<pages::Answer, ServeError> {
        match &mut self.pages {
            Some(pages) => pages.ask(order),
            None => Err(ServeError::Build(
                "the program that makes the pages is not there".to_owned(),
            )),
        }
    }

    /// Builds the files of the lab and of measuring for browsers that can do more, behind
    /// everything else.
    fn build_engines(&mut self) {
        if !self.board.is_ready() {
            return;
        }
        self.engines = Engines::Building;
        self.board.tell(News::Engines {
            text: "The engine's builds with relaxed SIMD and with threads are being compiled, which takes some minutes the first \
                   time. Until then this page runs the build with plain SIMD."
                .to_owned(),
            ready: false,
        });
        let program = pages::program(&self.target);
        // A build that somebody waits for goes first.
        let mut command = Command::new("nice");
        if cfg!(unix) {
            command.args(["-n", "15"]).arg(&program);
        } else {
            command = Command::new(&program);
        }
        command
            .args(["--engines", "--out"])
            .arg(&self.folders.out)
            .stdin(Stdio::null());
        let orders = self.orders.clone();
        thread::spawn(move || {
            let result = match command.status() {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(format!("compiling them failed ({status})")),
                Err(error) => Err(error.to_string()),
            };
            // An error means that the server is about to end.
            let _ = orders.send(Order::EnginesDone(result));
        });
    }

    /// Takes the quicker builds into the pages, unless they are out of date already.
    fn take_engines(&mut self, result: Result<(), String>) {
        if self.engines == Engines::Outdated {
            self.engines = Engines::Unasked;
            if let Err(error) = self.outdate_engines() {
                eprintln!("{error}");
            }
            return;
        }
        self.engines = Engines::Settled;
        let told = match result {
            Ok(()) => self.ask("pages").map(|_| ()),
            Err(why) => Err(ServeError::Build(why)),
        };
        self.board.tell(match told {
            Ok(()) => News::Engines {
                text: "The engine's builds with relaxed SIMD and with threads are ready."
                    .to_owned(),
                ready: true,
            },
            Err(error) => News::Engines {
                text: format!(
                    "There is only the build with plain SIMD: {error}. The terminal says more."
                ),
                ready: false,
            },
        });
    }

    /// Takes the quicker builds away from the pages: their sources changed.
    fn outdate_engines(&mut self) -> Result<(), ServeError> {
        self.board.forget_engines();
        if self.engines == Engines::Building {
            self.engines = Engines::Outdated;
            return Ok(());
        }
        self.engines = Engines::Unasked;
        self.ask("forget-engines")?;
        self.ask("pages").map(|_| ())
    }
}
