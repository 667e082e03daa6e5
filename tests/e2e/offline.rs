//! After one visit to the home page the whole site can be read without a network, and what it
//! computes with once the models have been used.

use browser_harness::Habits;
use serde_json::json;

use super::browser::{Look, with_whole_browser};
use super::site;

#[test]
fn every_lesson_opens_after_the_server_has_gone() {
    // Every page in a sub-folder, and some at the root, where only the first part of addresses differs.
    for (habits, each) in [(Habits::SUB_FOLDER, 1), (Habits::ROOT, 9)] {
        let mut server = site::serve(habits);
        with_whole_browser(async |browser| {
            browser.look(Look::DESK_LIGHT).await;
            browser
                .open_ready(&server.url(""))
                .await
                .expect("the first visit works");
            browser
                .script_async(
                    "const done = arguments[arguments.length - 1];
                     navigator.serviceWorker.ready.then(() => done(true))",
                    &[],
                )
                .await;
            browser
                .wait_for(
                    "the service worker to take over",
                    "return !!navigator.serviceWorker.controller",
                )
                .await;
            let complaints = browser.complaints(&server.origin()).await;
            assert!(complaints.is_empty(), "{complaints:?}");
            // A model is kept when a cell first computes with it.
            for page in site::pages().into_iter().step_by(each) {
                let opened = browser.open_ready(&server.url(&page)).await;
                opened.unwrap_or_else(|error| panic!("{page}: {error}"));
            }
            server.stop();
            for (n, page) in site::all_pages().into_iter().step_by(each).enumerate() {
                let url = server.url(&page);
                let opened = browser.open_ready(&url).await;
                opened.unwrap_or_else(|error| panic!("{url} offline: {error}"));
                let complaints = browser.complaints(&server.origin()).await;
                assert!(complaints.is_empty(), "{url} offline: {complaints:?}");
                if n % 9 > 0 {
                    continue;
                }
                // The same file answers the address without the closing slash.
                let bare = server.url(page.trim_end_matches('/'));
                browser.open(&bare).await;
                let is_same = format!(
                    "return document.documentElement.dataset.live !== undefined
                        && location.pathname.replace(/\\/$/, '') === new URL({}).pathname.replace(/\\/$/, '')
                        && document.querySelectorAll('h1').length === 1",
                    json!(bare)
                );
                browser.wait_for(&bare, &is_same).await;
                let complaints = browser.complaints(&server.origin()).await;
                assert!(complaints.is_empty(), "{url} offline: {complaints:?}");
            }
        });
    }
}

/// The copy takes nothing of the line while the reader waits for a cell, which is when a page holds
/// the lock.
#[test]
fn the_copy_waits_for_what_the_reader_waits_for() {
    let server = site::serve(Habits::SUB_FOLDER);
    with_whole_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        // A page of the site would begin its copy by itself, perhaps before the lock is held.
        browser.open(&server.url("sw.js")).await;
        browser
            .script(
                "const scope = new URL(\".\", location).href;
                 navigator.locks.request(`notebook ${scope} reader`, () => new Promise((go) => {
                   globalThis.go = go;
                 }));
                 navigator.serviceWorker.register(`${scope}sw.js`, { scope });",
                &[],
            )
            .await;
        let files = "const done = arguments[arguments.length - 1];
                     (async () => {
                       const names = await caches.keys();
                       const kept = await Promise.all(names.map(async (name) =>
                         (await (await caches.open(name)).keys()).length));
                       done(kept.reduce((sum, files) => sum + files, 0));
                     })()";
        browser
            .wait_for(
                "the copy to wait for the lock",
                "globalThis.asked ??= setInterval(async () => {
                   const { pending } = await navigator.locks.query();
                   globalThis.waits = pending.length === 2;
                 }, 50);
                 return globalThis.waits === true",
            )
            .await;
        assert_eq!(browser.script_async(files, &[]).await, 0);
        browser.script("globalThis.go()", &[]).await;
        browser
            .wait_for(
                "the copy to be made",
                "globalThis.made ??= navigator.serviceWorker.ready.then(() => globalThis.isMade = true);
                 return globalThis.isMade === true",
            )
            .await;
        let kept = browser.script_async(files, &[]).await;
        assert!(kept.as_u64().is_some_and(|files| files > 40), "{kept}");
    });
}

/// Figures of a first visit are those of a later one: what is kept for reading offline comes when the
/// measurement has ended.
#[test]
fn the_copy_waits_for_a_model_that_is_measured() {
    let server = site::serve(Habits::ROOT);
    with_whole_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser.open(&server.url("bench/?model=gpt2&runs=5")).await;
        browser
            .wait_for(
                "the end of the measurement",
                "globalThis.asked ??= setInterval(async () => {
                   const copy = await navigator.serviceWorker.getRegistration();
                   if (window.benchResult === undefined) globalThis.isEarly ||= copy !== undefined;
                   else globalThis.isCopied ||= copy !== undefined;
                 }, 100);
                 return window.benchResult !== undefined",
            )
            .await;
        let is_early = browser.script("return globalThis.isEarly", &[]).await;
        assert_eq!(is_early, false, "the copy began before");
        browser
            .wait_for("the copy to begin", "return globalThis.isCopied === true")
            .await;
    });
}
