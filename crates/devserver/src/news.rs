//! Messages to the open pages.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::broadcast::{self, Receiver, Sender};

/// A message to the open pages (`assets/client.js`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum News {
    /// The first message of a connection: which build is served.
    Hello {
        /// Its number.
        build: u64,
    },
    /// Something is being built.
    Building {
        /// The step, in words.
        text: String,
    },
    /// A build failed.
    Failed {
        /// The compiler's message.
        text: String,
    },
    /// Nothing is being built, and nothing is wrong.
    Idle,
    /// Pages are new.
    Reload {
        /// The number of the build.
        build: u64,
        /// Their addresses from the site's root (`lesson/scaling/`); `None` stands for all.
        pages: Option<Vec<String>>,
    },
    /// A style sheet is new.
    Style {
        /// The number of the build.
        build: u64,
        /// Its address from the site's root.
        file: String,
    },
    /// Progress of the quicker builds of the engine, for the lab and the bench.
    Engines {
        /// In words.
        text: String,
        /// A page that is loaded now runs them.
        ready: bool,
    },
}

/// Messages kept for a slow page. A page that misses some connects again and compares the number of
/// the build.
const KEPT: usize = 64;

/// Holds the news for every open page.
#[derive(Debug, Clone)]
pub struct Board {
    sender: Sender<News>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    build: u64,
    ready: bool,
    status: News,
    engines: Option<News>,
}

impl Default for Board {
    fn default() -> Self {
        // A page of an earlier run of the server must not take this run's first build for its own.
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let build = now.map_or(0, |since| since.as_secs());
        let state = State {
            build,
            ready: false,
            status: News::Idle,
            engines: None,
        };
        Self {
            sender: broadcast::channel(KEPT).0,
            state: Arc::new(Mutex::new(state)),
        }
    }
}

impl Board {
    /// Tells every open page. What says how things are is also told to pages that open later.
    pub fn tell(&self, news: News) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &news {
            News::Building { .. } | News::Failed { .. } | News::Idle => state.status = news.clone(),
            News::Engines { .. } => state.engines = Some(news.clone()),
            _ => {}
        }
        // An error means that no page is open.
        let _ = self.sender.send(news);
    }

    /// Notes that there is a site to serve.
    pub fn set_ready(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ready = true;
    }

    /// Returns whether there is a site to serve.
    pub fn is_ready(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ready
    }

    /// What stopped the last build, where something did.
    pub fn failure(&self) -> Option<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.status {
            News::Failed { text } => Some(text.clone()),
            _ => None,
        }
    }

    /// Tells the pages with these addresses to reload, or all of them: there is a new build.
    pub fn reload(&self, pages: Option<Vec<String>>) {
        let build = self.next();
        self.tell(News::Reload { build, pages });
    }

    /// Tells every page to replace a style sheet: there is a new build.
    pub fn restyle(&self, file: String) {
        let build = self.next();
        self.tell(News::Style { build, file });
    }

    /// The number of what is served, which every page carries in its script.
    pub fn build(&self) -> u64 {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.build
    }

    /// Counts a new build; its number.
    fn next(&self) -> u64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.build += 1;
        state.build
    }

    /// Forgets what was said about the quicker builds of the engine.
    pub fn forget_engines(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.engines = None;
    }

    /// Returns the first messages for a page that opens now, and a receiver of later ones.
    pub fn join(&self) -> (Vec<News>, Receiver<News>) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let hello = News::Hello { build: state.build };
        let mut first = vec![hello, state.status.clone()];
        first.extend(state.engines.clone());
        (first, self.sender.subscribe())
    }
}
