//! The choice of the build of the worker, and of the number of threads, for this browser.

use worker::build::{Build, Purpose};

use crate::browser::{abilities, port};

/// The largest number of threads unless more are asked for.
pub(crate) const USUAL_THREADS: usize = 8;

/// The build to run for a purpose, and its number of threads. `None` leaves a choice to the
/// browser.
///
/// # Errors
/// The reason why a build that was asked for does not run here.
pub(crate) fn choose(
    purpose: Purpose,
    asked: Option<Build>,
    threads: Option<usize>,
) -> Result<(Build, usize), String> {
    let (there, browser) = (builds(purpose), abilities::of_engine());
    let threads = threads.unwrap_or_else(|| abilities::threads().min(USUAL_THREADS));
    let Some(build) = asked else {
        let build = Build::best(&there, browser, threads);
        return Ok((build, if build.has_threads() { threads } else { 1 }));
    };
    let name = build.name();
    if !there.contains(&build) {
        return Err(format!("This site was built without the engine {name}."));
    }
    if !build.runs_on(browser) {
        let why = match browser.relaxed_simd {
            false => "it has no relaxed SIMD",
            true => why_no_shared_memory(),
        };
        return Err(format!(
            "This browser cannot run the engine {name} here: {why}."
        ));
    }
    Ok((build, if build.has_threads() { threads } else { 1 }))
}

/// The builds for a purpose that this site has, the quickest first.
pub(crate) fn builds(purpose: Purpose) -> Vec<Build> {
    port::worker_files().builds(purpose)
}

/// A sentence for the reader: the build that this browser runs, and why not a quicker one.
pub(crate) fn what_runs_here() -> String {
    let (there, browser) = (builds(Purpose::Measure), abilities::of_engine());
    let build = Build::best(&there, browser, 2).name();
    let threads = match (
        browser.shared_memory,
        there.contains(&Build::RelaxedThreads),
    ) {
        (false, _) => format!("one thread, because {}", why_no_shared_memory()),
        (true, false) => "one thread, because this site was built without threads".to_owned(),
        (true, true) if !browser.relaxed_simd => "one thread".to_owned(),
        (true, true) => "as many threads as you ask for".to_owned(),
    };
    let simd = if browser.relaxed_simd {
        "supports"
    } else {
        "does not support"
    };
    format!("This browser {simd} relaxed SIMD. The engine here is {build}, with {threads}.")
}

/// Why the threads of this page cannot share memory.
fn why_no_shared_memory() -> &'static str {
    if abilities::is_isolated() {
        "this browser shares no memory between threads"
    } else {
        "this page is not isolated from other origins"
    }
}
