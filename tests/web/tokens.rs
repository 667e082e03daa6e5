//! Tokens and vectors that can be moved.

use super::page::{Page, settle};
use leptos::prelude::*;
use ndarray::arr2;
use site::widgets::{Concept, Course, Joint, PatchGrid, TokenStrip, VectorPad};
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
async fn tokens_are_moved_with_the_keyboard() {
    let tokens = RwSignal::new(["the", "cat", "sat"].map(str::to_owned).to_vec());
    let selected = RwSignal::new(None);
    let page = Page::with(move || {
        let reorder = move |order: Vec<usize>| {
            tokens.update(|t| *t = order.iter().map(|&i| t[i].clone()).collect());
        };
        view! { <TokenStrip tokens label="Tokens" source="input:s" selected on_reorder=Callback::new(reorder) /> }
    });
    settle().await;
    assert_eq!(
        page.attribute("button", "data-from").as_deref(),
        Some("input:s[0]")
    );
    page.focus("[data-at='0,0']").await;
    page.press_with("ArrowRight", true).await;
    assert_eq!(tokens.get_untracked(), ["cat", "the", "sat"]);
    assert_eq!(
        selected.get_untracked(),
        Some(1),
        "the moved token stays selected"
    );
    assert_eq!(super::page::focused_at().as_deref(), Some("0,1"));
    page.click(".move-buttons button:nth-of-type(2)").await;
    assert_eq!(tokens.get_untracked(), ["cat", "sat", "the"]);
}

#[wasm_bindgen_test]
async fn an_arrow_is_moved_with_the_keyboard() {
    let vectors = RwSignal::new(arr2(&[[0.5_f32, 0.5]]));
    let page = Page::with(move || {
        view! {
            <VectorPad
                vectors
                on_change=Callback::new(move |v| vectors.set(v))
                label="Plane"
                names=vec!["q".to_owned()]
                concepts=vec![Concept::Query]
            />
        }
    });
    settle().await;
    page.focus_svg(".pad-tip").await;
    page.press("ArrowUp").await;
    page.press("ArrowLeft").await;
    assert_eq!(vectors.get_untracked(), arr2(&[[0.48_f32, 0.52]]));
    assert_eq!(
        page.attribute(".pad-tip", "aria-valuetext").as_deref(),
        Some("0.48, 0.52")
    );
}

#[wasm_bindgen_test]
async fn points_span_a_polygon_that_follows_them() {
    let points = RwSignal::new(arr2(&[[0.0_f32, 0.0], [1.0, 0.0], [0.0, 1.0]]));
    let within = Signal::derive(move || arr2(&[[0.25_f32, 0.25]]));
    let page = Page::with(move || {
        view! {
            <VectorPad
                vectors=points
                on_change=Callback::new(move |v| points.set(v))
                label="Plane"
                names=vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]
                concepts=vec![Concept::Value; 3]
                ghosts=within
                spanned=Concept::Output
            />
        }
    });
    settle().await;
    let corners = |page: &Page| page.attribute(".pad-span", "points").unwrap_or_default();
    assert_eq!(corners(&page).split(' ').count(), 3);
    assert_eq!(
        page.count(".pad-ghost"),
        3,
        "a line from the mixture to each point"
    );
    // The mixture has a name, beside its point: the names of the points come first in the markup.
    let named = |page: &Page| page.find(".c-output .pad-name").text_content();
    assert_eq!(named(&page).as_deref(), Some("output"));
    let before = corners(&page);
    page.focus_svg(".pad-tip").await;
    page.press("ArrowLeft").await;
    assert_ne!(corners(&page), before);
}

#[wasm_bindgen_test]
async fn a_line_between_matrices_is_for_the_eye() {
    let page = Page::with(move || {
        view! { <Joint course=Course::Across operation="$\u{b7} V$" concept=Concept::Output /> }
    });
    settle().await;
    assert_eq!(
        page.attribute(".joint", "aria-hidden").as_deref(),
        Some("true")
    );
    assert_eq!(page.text(".joint i"), "V");
    assert!(page.find(".joint").class_name().contains("is-across"));
}

#[wasm_bindgen_test]
async fn patches_are_walked_with_the_keyboard() {
    let picture = cells::picture::draw("harbour").map(std::sync::Arc::new);
    let selected = RwSignal::new(None);
    let page = Page::with(move || {
        view! { <PatchGrid pixels=Signal::stored(picture) patch=Signal::stored(56) label="Picture" selected /> }
    });
    settle().await;
    page.focus(".patch-grid").await;
    page.press("ArrowDown").await;
    page.press("ArrowRight").await;
    assert_eq!(selected.get_untracked(), Some(5));
    assert_eq!(page.text("[aria-live]"), "Patch 6: row 2, column 2");
    assert!(
        super::charts::colours(&page.find("canvas")) > 100,
        "the picture is drawn"
    );
}
