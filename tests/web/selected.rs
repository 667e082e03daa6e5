//! Selections of widgets: pointing shows a cell for a moment, pressing keeps it.

use super::page::{Page, grid, settle};
use leptos::prelude::*;
use site::widgets::{HeatMap, Place, Selected};
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
async fn pointing_shows_a_cell_until_the_focus_leaves_and_pressing_keeps_it() {
    let chosen = RwSignal::new(Some::<Place>((0, 0)));
    let selected = Selected::new(chosen, move |place| chosen.set(place));
    let map = grid("w", 2, 2, &[0.0, 1.0, 2.0, 3.0]);
    let page = Page::with(move || {
        view! {
            <button class="elsewhere">"Elsewhere"</button>
            <HeatMap grid=Signal::stored(Some(map)) label="Weights" selected />
        }
    });
    settle().await;
    assert!(page.text(".heat-readout").contains("row 1, column 1"));
    page.focus("[data-at='1,1']").await;
    assert!(page.text(".heat-readout").contains("row 2, column 2"));
    assert_eq!(
        chosen.get_untracked(),
        Some((0, 0)),
        "pointing chooses nothing"
    );
    page.focus(".elsewhere").await;
    assert!(page.text(".heat-readout").contains("row 1, column 1"));
    page.click("[data-at='1,0']").await;
    assert_eq!(chosen.get_untracked(), Some((1, 0)));
    assert!(page.text(".heat-readout").contains("row 2, column 1"));
    // Undo and Reset change the choice from outside.
    chosen.set(None);
    settle().await;
    assert_eq!(page.count("td.is-selected"), 0);
}

#[wasm_bindgen_test]
fn a_selection_in_other_terms_points_and_chooses_in_its_own() {
    let chosen = RwSignal::new(Some(1_usize));
    let word = Selected::new(chosen, move |word| chosen.set(word));
    // The words stand in reverse order.
    let place = word.map(
        |word| 3_usize.checked_sub(word),
        |place| 3_usize.checked_sub(place),
    );
    assert_eq!(place.get_untracked(), Some(2));
    place.point(Some(0));
    assert_eq!(
        (word.get_untracked(), place.get_untracked()),
        (Some(3), Some(0))
    );
    place.point(None);
    assert_eq!(word.get_untracked(), Some(1));
    place.choose(Some(1));
    assert_eq!(chosen.get_untracked(), Some(2));
    place.choose(None);
    assert_eq!(chosen.get_untracked(), None);
}
