//! The choice of the build of the worker, and of the number of threads, for this browser.

use worker::build::{Abilities, Build, Purpose};
use worker::model::file;

use crate::browser::{abilities, port};

/// The largest number of threads unless more are asked for.
pub(crate) const USUAL_THREADS: usize = 8;

/// The build to run for a purpose, and its number of threads, for weights of `bytes`, 0 where that
/// is not known. `None` leaves a choice to the browser.
///
/// # Errors
/// The reason why a build that was asked for does not run here.
pub(crate) fn choose(
    purpose: Purpose,
    asked: Option<Build>,
    threads: Option<usize>,
    bytes: u64,
) -> Result<(Build, usize), String> {
    let (there, browser) = (builds(purpose), abilities::of_engine());
    let threads = threads.unwrap_or_else(|| abilities::threads().min(USUAL_THREADS));
    let Some(build) = asked else {
        let build = Build::for_weights(&there, browser, threads, bytes);
        return Ok((build, if build.has_threads() { threads } else { 1 }));
    };
    let name = build.name();
    if !there.contains(&build) {
        return Err(format!("This site was built without the engine {name}."));
    }
    if !build.runs_on(browser) {
        let why = match browser.relaxed_simd {
            false => "it has no relaxed SIMD",
            true if build.is_wide() => NO_MEMORY64,
            true => why_no_shared_memory(),
        };
        return Err(format!(
            "This browser cannot run the engine {name} here: {why}."
        ));
    }
    Ok((build, if build.has_threads() { threads } else { 1 }))
}

/// Why the engine with 64-bit addresses does not run.
const NO_MEMORY64: &str = "it has no 64-bit memory";

/// The message that weights of this many bytes are too large, with the reason.
pub(crate) fn too_large(bytes: u64) -> String {
    refusal(bytes, &builds(Purpose::Lab), abilities::of_engine())
}

fn refusal(bytes: u64, there: &[Build], browser: Abilities) -> String {
    let wide = Build::Relaxed64;
    let is_there = there.contains(&wide);
    if bytes > wide.largest_weights() || (is_there && wide.runs_on(browser)) {
        return file::too_large(wide, bytes).to_string();
    }
    let why = match browser.memory64 {
        _ if !is_there => "this site was built without the engine for 64-bit memory".to_owned(),
        false => format!("this browser cannot have more: {NO_MEMORY64}"),
        true => "the engine for 64-bit memory needs relaxed SIMD, which this browser does not have"
            .to_owned(),
    };
    let narrow = file::too_large(Build::Simd128, bytes).to_string();
    format!("{}, and {why}.", narrow.trim_end_matches('.'))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_has_a_reason() {
        let words = |bytes, there: &[Build], [relaxed_simd, memory64]: [bool; 2]| {
            let browser = Abilities {
                relaxed_simd,
                shared_memory: true,
                memory64,
            };
            refusal(bytes, there, browser)
        };
        let (five, all) = (5_000_000_000, &Build::ALL[..]);
        let size = "5000000000 bytes is too large";
        for (there, able, why) in [
            (all, [true, false], "it has no 64-bit memory"),
            (all, [false, false], "it has no 64-bit memory"),
            (all, [false, true], "needs relaxed SIMD"),
            (&all[..3], [true, true], "built without the engine"),
        ] {
            let words = words(five, there, able);
            for part in [size, "4 GB of memory", why] {
                assert!(words.contains(part), "{part}: {words}");
            }
        }
        let words = words(50_000_000_000, all, [true, false]);
        assert!(
            words.contains("16 GB") && !words.contains("64-bit"),
            "{words}"
        );
    }
}
