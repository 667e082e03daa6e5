//! Numbers, sliders and boxes.

use super::page::{Page, settle};
use cells::format::Format;
use leptos::prelude::*;
use site::widgets::{ClearDrafts, Num, SeedBox, Slider, TextBox};
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
async fn a_number_bears_its_origin_and_a_missing_one_none() {
    let value = RwSignal::new(Some(0.4056));
    let page =
        Page::with(move || view! { <Num value from="weights[0,1]" format=Format::Fixed(3) /> });
    settle().await;
    assert_eq!(page.text(".num"), "0.406");
    assert_eq!(
        page.attribute(".num", "data-from").as_deref(),
        Some("weights[0,1]")
    );
    assert_eq!(
        page.attribute(".num", "data-format").as_deref(),
        Some("fixed3")
    );
    value.set(None);
    settle().await;
    assert_eq!(page.text(".num"), "\u{2013}");
    assert_eq!(page.attribute(".num", "data-from"), None);
}

#[wasm_bindgen_test]
async fn a_slider_and_its_box_keep_each_other_company() {
    let value = RwSignal::new(3.0);
    let page = Page::with(move || {
        view! {
            <Slider
                label="Width"
                value
                min=1.0
                max=10.0
                step=1.0
                on_change=Callback::new(move |x| value.set(x))
                source="input:d"
            />
        }
    });
    settle().await;
    page.type_into("input[type=range]", "7").await;
    assert_eq!(value.get_untracked(), 7.0);
    assert_eq!(page.value("input.number"), "7");
    page.type_into("input.number", "99").await;
    assert_eq!(value.get_untracked(), 7.0, "outside the limits: not taken");
    assert_eq!(page.value("input.number"), "99", "but kept");
    assert_eq!(
        page.attribute("input.number", "aria-invalid").as_deref(),
        Some("true")
    );
    assert!(
        page.text(".entry-problem")
            .contains("is outside 1 to 10; still using 7")
    );
    page.type_into("input.number", "2,5").await;
    assert!(
        page.text(".entry-problem")
            .contains("is not a whole number")
    );
    page.type_into("input[type=range]", "4").await;
    assert_eq!(
        page.value("input.number"),
        "4",
        "a value from elsewhere takes the place of what was typed"
    );
    assert_eq!(page.text(".entry-problem"), "");
}

#[wasm_bindgen_test]
async fn a_reset_clears_what_was_not_taken() {
    let resets = RwSignal::new(0_u64);
    let value = RwSignal::new(5.0);
    let page = Page::with(move || {
        provide_context(ClearDrafts(resets.into()));
        view! { <SeedBox value on_change=Callback::new(move |x| value.set(x)) /> }
    });
    settle().await;
    page.type_into("input.number", "five").await;
    assert_eq!(page.value("input.number"), "five");
    resets.set(1);
    settle().await;
    assert_eq!(page.value("input.number"), "5");
    page.click("button").await;
    assert_ne!(value.get_untracked(), 5.0, "another seed");
}

#[wasm_bindgen_test]
async fn refused_text_stays_in_its_box() {
    let message = RwSignal::new(None::<String>);
    let page = Page::with(move || {
        view! {
            <TextBox
                label="Sentence"
                value=Signal::stored("a b".to_owned())
                on_change=Callback::new(move |t: String| message.set((t.len() > 4).then(|| "too long".to_owned())))
                message
            />
        }
    });
    settle().await;
    page.type_into("input", "a b c d").await;
    assert_eq!(page.value("input"), "a b c d");
    assert_eq!(page.text(".entry-problem"), "too long");
    assert_eq!(
        page.attribute("input", "aria-invalid").as_deref(),
        Some("true")
    );
}
