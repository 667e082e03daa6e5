//! Editable matrices.

use super::page::{Page, focused_at, settle};
use leptos::prelude::*;
use ndarray::{Array2, arr2};
use site::widgets::MatrixEdit;
use wasm_bindgen_test::wasm_bindgen_test;

fn editor() -> (RwSignal<Array2<f32>>, Page) {
    let matrix = RwSignal::new(arr2(&[[1.0_f32, 0.5], [2.0, 3.0]]));
    let page = Page::with(move || {
        view! {
            <MatrixEdit
                matrix
                on_change=Callback::new(move |m| matrix.set(m))
                label="Queries"
                source="input:q"
            />
        }
    });
    (matrix, page)
}

#[wasm_bindgen_test]
async fn a_typed_number_is_taken_and_anything_else_is_kept_and_reported() {
    let (matrix, page) = editor();
    settle().await;
    let at = "[data-at='0,1']";
    assert_eq!(
        page.attribute(at, "aria-label").as_deref(),
        Some("Queries, row 1, column 2")
    );
    page.type_into(at, "\u{2212}1,25").await;
    assert_eq!(matrix.get_untracked()[(0, 1)], -1.25);
    page.focus("[data-at='1,1']").await;
    page.focus(at).await;
    page.type_into(at, "7").await;
    page.type_into(at, "7abc").await;
    assert_eq!(
        matrix.get_untracked()[(0, 1)],
        -1.25,
        "as before the typing"
    );
    page.type_into(at, "abc").await;
    assert_eq!(matrix.get_untracked()[(0, 1)], -1.25, "still in use");
    assert_eq!(page.value(at), "abc", "still there");
    assert_eq!(page.attribute(at, "aria-invalid").as_deref(), Some("true"));
    let said = page.text(".entry-problem");
    assert!(
        said.contains("row 1, column 2: abc is not a number; still using \u{2212}1.25"),
        "{said}"
    );
    assert_eq!(
        page.attribute(".entry-problem .num", "data-from")
            .as_deref(),
        Some("input:q[0,1]")
    );
    page.focus("[data-at='1,1']").await;
    assert_eq!(page.value(at), "abc", "leaving the box does not lose it");
    for wrong in ["NaN", "inf", "2e6", ""] {
        page.type_into(at, wrong).await;
        assert_eq!(page.value(at), wrong);
        assert_eq!(
            page.attribute(at, "aria-invalid").as_deref(),
            Some("true"),
            "{wrong}"
        );
    }
    page.type_into(at, "4").await;
    assert_eq!(matrix.get_untracked()[(0, 1)], 4.0);
    assert_eq!(page.text(".entry-problem"), "");
}

#[wasm_bindgen_test]
async fn half_a_number_is_not_completed_while_it_is_typed() {
    let (matrix, page) = editor();
    settle().await;
    page.type_into("[data-at='0,0']", "1.").await;
    assert_eq!(page.value("[data-at='0,0']"), "1.");
    page.type_into("[data-at='0,0']", "1.50").await;
    assert_eq!(page.value("[data-at='0,0']"), "1.50");
    assert_eq!(matrix.get_untracked()[(0, 0)], 1.5);
    page.focus("[data-at='1,0']").await;
    assert_eq!(
        page.value("[data-at='0,0']"),
        "1.5",
        "tidied once the reader goes on"
    );
}

#[wasm_bindgen_test]
async fn an_undo_takes_the_place_of_what_was_typed() {
    let (matrix, page) = editor();
    settle().await;
    page.type_into("[data-at='0,0']", "7").await;
    matrix.set(arr2(&[[1.0, 0.5], [2.0, 3.0]]));
    settle().await;
    assert_eq!(page.value("[data-at='0,0']"), "1");
}

#[wasm_bindgen_test]
async fn arrow_keys_walk_from_box_to_box() {
    let (_, page) = editor();
    settle().await;
    page.focus("[data-at='0,0']").await;
    page.press("ArrowDown").await;
    assert_eq!(focused_at().as_deref(), Some("1,0"));
    page.press("ArrowUp").await;
    assert_eq!(focused_at().as_deref(), Some("0,0"));
    page.press("ArrowUp").await;
    assert_eq!(focused_at().as_deref(), Some("0,0"), "the edge holds");
}
