//! What a browser gives the site, as the site's own pages say it.

use browser_harness::Habits;
use serde_json::json;

use super::browser::Found;
use super::readme::{Ability, assert_in_readme};
use super::site;

#[test]
fn chromium_gives_what_the_readme_says() {
    ask(&Found::Chromium);
}

#[test]
fn firefox_gives_what_the_readme_says() {
    if let Some(firefox) = Found::firefox() {
        ask(&firefox);
    }
}

#[test]
fn webkitgtk_gives_what_the_readme_says() {
    if let Some(webkit) = Found::webkit() {
        ask(&webkit);
    }
}

fn ask(found: &Found) {
    let server = site::serve(Habits::ROOT);
    found.run(async |browser| {
        browser.open_ready(&server.url("bench/")).await;
        let said = browser
            .text("return document.querySelector('.bench-here').textContent")
            .await;
        println!("{}: {said}", found.name());
        let relaxed = said.contains("supports relaxed SIMD");
        assert_in_readme(found, Ability::RelaxedSimd, relaxed);
        let threads = browser
            .script("return crossOriginIsolated && 'SharedArrayBuffer' in globalThis")
            .await;
        assert_in_readme(found, Ability::Threads, threads == json!(true));
        let camera = browser
            .script("return typeof navigator.mediaDevices?.getUserMedia === 'function'")
            .await;
        assert_in_readme(found, Ability::Camera, camera == json!(true));
        let complaints = browser.complaints().await;
        assert!(complaints.is_empty(), "{complaints:#?}");
    });
}
