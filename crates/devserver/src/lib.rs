//! The development server: builds what a change asks for and no more, serves the result, and tells
//! the open pages.
//!
//! | saved | built | the page |
//! |---|---|---|
//! | `style/` | nothing | takes the style sheet anew |
//! | `lessons/`, `public/`, `index.html` | the pages that change | reloads if it is one of them |
//! | `src/` | the site, for the browser | reloads |
//! | a crate that computes | site and worker, then the program that makes the pages | reloads |
//!
//! The pages are made by the program `pages`, which is kept running: it knows the cells, so that it
//! is compiled again and replaced when they change, and this server need not be. The files of the
//! lab and of measuring for browsers that can do more than the plain ones ask for are built when
//! one of those pages is first asked for.

mod builder;
mod change;
mod error;
mod news;
mod pages;
mod run;
mod serve;
mod server;
mod watch;

pub use {
    builder::{Builder, Order},
    change::{Plan, Project, Seen},
    error::ServeError,
    news::{Board, News},
    serve::Serving,
    server::{Folders, router},
    watch::watch,
};
