//! Tokens and vectors that can be moved.

use super::page::{Page, settle};
use leptos::prelude::*;
use site::widgets::{Concept, Course, Joint, Mark, PatchGrid, Plane, TokenStrip};
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

/// A point at a position that a signal keeps, which dragging changes.
fn movable(name: &str, at: RwSignal<(f64, f64)>) -> Mark {
    let tip = Signal::derive(move || Some(at.get()));
    Mark::point(name, Concept::Value, tip).draggable(Callback::new(move |to| at.set(to)))
}

#[wasm_bindgen_test]
async fn a_tip_is_moved_with_the_keyboard() {
    let at = RwSignal::new((0.5, 0.5));
    let page = Page::with(move || view! { <Plane label="Plane" marks=vec![movable("q", at)] /> });
    settle().await;
    page.focus_svg(".plane-tip").await;
    page.press("ArrowUp").await;
    page.press("ArrowLeft").await;
    assert_eq!(at.get_untracked(), (0.48, 0.52));
    assert_eq!(
        page.attribute(".plane-tip", "aria-valuetext").as_deref(),
        Some("0.48, 0.52")
    );
    assert_eq!(page.text(".plane .vh"), "q: point 0.48, 0.52.");
}

#[wasm_bindgen_test]
async fn points_span_a_polygon_that_follows_them() {
    let corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)].map(RwSignal::new);
    let within = Signal::stored(Some((0.25, 0.25)));
    let page = Page::with(move || {
        let names = ["a", "b", "c"].into_iter().zip(corners);
        let mut marks: Vec<Mark> = names.map(|(name, at)| movable(name, at)).collect();
        marks.push(Mark::point("output", Concept::Output, within));
        view! { <Plane label="Plane" marks hull_of=vec![0, 1, 2] lines=vec![(3, 0), (3, 1), (3, 2)] /> }
    });
    settle().await;
    assert_eq!(page.count(".plane-hull.c-value"), 1, "in their colour");
    let outline = |page: &Page| page.attribute(".plane-hull", "points").unwrap_or_default();
    assert_eq!(outline(&page).split(' ').count(), 3);
    assert_eq!(
        page.count(".plane-line.c-output"),
        3,
        "a line from the mixture to each point"
    );
    let named = |page: &Page| page.find(".c-output .plane-name").text_content();
    assert_eq!(named(&page).as_deref(), Some("output"));
    assert!(page.text(".plane .vh").contains("inside the polygon"));
    let before = outline(&page);
    page.focus_svg(".plane-tip").await;
    page.press("ArrowLeft").await;
    assert_ne!(outline(&page), before);
}

/// A picture beside its numbers has no tips to move, no names and no caption, and is said in words.
#[wasm_bindgen_test]
async fn a_small_plane_is_a_picture() {
    let page = Page::with(move || {
        let hand = Mark::arrow("hand", Concept::Position, Signal::stored(Some((0.0, 1.0))));
        view! { <Plane label="Clock" marks=vec![hand] is_small=true /> }
    });
    settle().await;
    assert_eq!(page.attribute("svg", "role").as_deref(), Some("img"));
    assert_eq!(page.count(".plane-tip, .plane-name, figcaption"), 0);
    assert_eq!(page.text(".plane .vh"), "hand: arrow to 0, 1.00.");
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
