//! Guesses, whose choices the script that runs before the engine keeps.

use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::HtmlInputElement;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;

use super::page::{Page, settle};

/// What runs before the engine is loaded.
const BOOT: &str = include_str!("../../public/boot.mjs");

/// Runs it, from an address that holds it: the host of the tests serves no file of the site.
async fn boot() {
    let text = js_sys::encode_uri_component(BOOT);
    let address = format!("data:text/javascript,{}", String::from(text));
    let import = js_sys::Function::new_with_args(
        "address",
        "return import(address).then(boot => boot.default())",
    );
    let started = import.call1(&JsValue::NULL, &address.into()).unwrap();
    let started: js_sys::Promise = started.unchecked_into();
    JsFuture::from(started).await.unwrap();
}

/// A page of this name with one guess.
fn guess(page: &'static str) -> Page {
    Page::with(move || {
        view! {
            <main id="main" data-page=page>
                <section class="guess">
                    <input type="radio" name="guess-a" id="guess-a-0" />
                    <input type="radio" name="guess-a" id="guess-a-1" />
                </section>
            </main>
        }
    })
}

fn is_chosen(page: &Page) -> bool {
    let second: HtmlInputElement = page.find("#guess-a-1").unchecked_into();
    second.checked()
}

#[wasm_bindgen_test]
async fn a_choice_is_there_again_on_the_next_visit_of_its_page() {
    let storage = window().local_storage().unwrap().unwrap();
    storage.clear().unwrap();
    boot().await;

    let first = guess("lesson/one");
    settle().await;
    assert!(!is_chosen(&first));
    first.click("#guess-a-1").await;
    assert_eq!(storage.length().unwrap(), 1);
    drop(first);

    let other = guess("lesson/two");
    settle().await;
    assert!(!is_chosen(&other), "another page has a guess of its own");
    drop(other);

    let again = guess("lesson/one");
    settle().await;
    assert!(is_chosen(&again));
    drop(again);

    storage.clear().unwrap();
    let forgotten = guess("lesson/one");
    settle().await;
    assert!(!is_chosen(&forgotten), "nothing is stored");
}
