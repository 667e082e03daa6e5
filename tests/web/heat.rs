//! Heat maps and linked matrices.

use super::page::{Page, focused_at, grid, settle};
use leptos::prelude::*;
use site::widgets::{Domain, HeatMap, LinkedProduct, Palette, Place};
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
async fn keys_walk_the_table_and_press_its_cells() {
    let values: Vec<f64> = (0..12).map(f64::from).collect();
    let map = grid("w", 3, 4, &values);
    let selected = RwSignal::new(None);
    let pressed = RwSignal::new(None::<Place>);
    let page = Page::with(move || {
        view! {
            <HeatMap
                grid=Signal::stored(Some(map))
                label="Weights"
                selected
                on_press=Callback::new(move |p| pressed.set(Some(p)))
            />
        }
    });
    settle().await;
    assert_eq!(
        page.count("td[tabindex='0']"),
        1,
        "one stop for the Tab key"
    );
    page.focus("td[tabindex='0']").await;
    page.press("ArrowRight").await;
    page.press("ArrowDown").await;
    assert_eq!(focused_at().as_deref(), Some("1,1"));
    assert_eq!(selected.get_untracked(), Some((1, 1)));
    assert_eq!(
        page.attribute("td[tabindex='0']", "data-at").as_deref(),
        Some("1,1")
    );
    page.press("End").await;
    assert_eq!(focused_at().as_deref(), Some("1,3"));
    assert!(
        page.text(".heat-readout")
            .contains("row 2, column 4: 7.000")
    );
    assert_eq!(
        page.attribute(".heat-readout .num", "data-from").as_deref(),
        Some("w[1,3]")
    );
    page.press("Enter").await;
    assert_eq!(pressed.get_untracked(), Some((1, 3)));
    page.click("[data-at='2,0']").await;
    assert_eq!(pressed.get_untracked(), Some((2, 0)));
    assert_eq!(page.text("caption"), "Weights");
    assert_eq!(page.count("th[scope=row]"), 3);
}

#[wasm_bindgen_test]
async fn a_new_matrix_of_the_same_shape_keeps_cursor_and_focus() {
    let map = RwSignal::new(Some(grid("w", 1, 3, &[0.0, 1.0, 2.0])));
    let page = Page::with(move || view! { <HeatMap grid=map label="Weights" /> });
    settle().await;
    page.focus("td[tabindex='0']").await;
    page.press("ArrowRight").await;
    map.set(Some(grid("w", 1, 3, &[5.0, f64::NEG_INFINITY, f64::NAN])));
    settle().await;
    assert_eq!(focused_at().as_deref(), Some("0,1"));
    assert_eq!(page.text("[data-at='0,1']"), "\u{2212}\u{221e}");
    assert!(
        page.find("[data-at='0,1']")
            .class_name()
            .contains("is-masked")
    );
    assert!(page.find("[data-at='0,2']").class_name().contains("is-nan"));
}

#[wasm_bindgen_test]
async fn other_names_stand_at_the_same_table_and_are_no_markup() {
    let map = grid("w", 1, 2, &[0.0, 1.0]);
    let named = |row: &str, cols: [&str; 2]| {
        let cols = cols.map(str::to_owned).to_vec();
        Some(map.clone().labelled(vec![row.to_owned()], cols))
    };
    let shown = RwSignal::new(named("<i>cat</i>", ["the", "<b>mat</b>"]));
    let page = Page::with(move || view! { <HeatMap grid=shown label="Weights" /> });
    settle().await;
    assert_eq!(page.text("th[scope=row]"), "<i>cat</i>");
    assert_eq!(page.count("i, b"), 0);
    page.focus("td[tabindex='0']").await;
    page.press("ArrowRight").await;
    shown.set(named("dog & co", ["the", "mats"]));
    settle().await;
    assert_eq!(focused_at().as_deref(), Some("0,1"), "the table stays");
    assert_eq!(page.text("th[scope=row]"), "dog & co");
    assert_eq!(page.text("thead th:nth-of-type(2)"), "mats");
    shown.set(Some(map));
    settle().await;
    assert_eq!(page.text("th[scope=row]"), "row 1");
    assert_eq!(
        page.count("th.is-bare > .vh"),
        3,
        "plain numbers are for the ear"
    );
}

#[wasm_bindgen_test]
async fn a_large_map_is_a_canvas_with_its_row_and_column_as_tables() {
    let values: Vec<f64> = (0..1600).map(f64::from).collect();
    let map = grid("big", 40, 40, &values);
    let selected = RwSignal::new(None);
    let page = Page::with(
        move || view! { <HeatMap grid=Signal::stored(Some(map)) label="Map" selected /> },
    );
    settle().await;
    page.focus(".heat-canvas").await;
    page.press("ArrowDown").await;
    page.press("ArrowRight").await;
    assert_eq!(selected.get_untracked(), Some((1, 1)));
    assert_eq!(page.text("p[aria-live]"), "row 2, column 2: 41.000");
    assert_eq!(page.count(".heat-lines table"), 2);
    assert_eq!(page.count(".heat-lines .num"), 80);
    assert_eq!(
        page.attribute(".heat-lines .num", "data-from").as_deref(),
        Some("big[1,0]")
    );
}

#[wasm_bindgen_test]
async fn a_product_writes_its_sum_out_and_walks_on() {
    let left = grid("x", 1, 2, &[2.0, 3.0]);
    let right = grid("w", 2, 2, &[1.0, 4.0, 5.0, 6.0]);
    let product = grid("q", 1, 2, &[17.0, 26.0]);
    let page = Page::with(move || {
        view! {
            <LinkedProduct
                left=Signal::stored(Some(left))
                right=Signal::stored(Some(right))
                product=Signal::stored(Some(product))
                left_label="X"
                right_label="W"
                product_label="Q"
            />
        }
    });
    settle().await;
    let origins = |page: &Page| -> Vec<String> {
        let nums = page.find(".sum").query_selector_all(".num").unwrap();
        (0..nums.length())
            .filter_map(|i| {
                use leptos::wasm_bindgen::JsCast;
                nums.item(i)?
                    .unchecked_into::<leptos::web_sys::Element>()
                    .get_attribute("data-from")
            })
            .collect()
    };
    assert_eq!(
        origins(&page),
        ["x[0,0]", "w[0,0]", "x[0,1]", "w[1,0]", "q[0,0]"]
    );
    assert_eq!(
        (
            page.count("tbody th.is-marked"),
            page.count("thead th.is-marked")
        ),
        (1, 1),
        "the row of the left and the column of the right factor, at their heads"
    );
    assert_eq!(page.count("td.is-marked"), 0);
    page.click(".stepper button:last-child").await;
    assert_eq!(
        origins(&page),
        ["x[0,0]", "w[0,1]", "x[0,1]", "w[1,1]", "q[0,1]"]
    );
    assert!(page.text(".sum").contains("= 26.00"));
}

#[wasm_bindgen_test]
async fn a_mask_hatches_what_may_not_be_seen_and_says_so() {
    let mask = RwSignal::new(Some(grid("mask", 2, 2, &[1.0, 0.0, 1.0, 1.0])));
    let page = Page::with(move || {
        view! { <HeatMap grid=mask label="Mask" palette=Palette::Mask /> }
    });
    settle().await;
    assert_eq!(page.count("td.is-masked"), 1);
    let is_masked = |place: &str| {
        let cell = page.find(&format!("[data-at='{place}']"));
        cell.class_name().contains("is-masked")
    };
    assert!(is_masked("0,1"));
    let coloured = page.count("td[style]:not([style='--share:0'])");
    assert_eq!(coloured, 0, "no colour says it");
    let legend = page.text(".legend");
    assert!(
        legend.contains("may look") && legend.contains("may not look"),
        "{legend}"
    );
    mask.set(Some(grid("mask", 2, 2, &[1.0, 1.0, 0.0, 1.0])));
    settle().await;
    assert!(is_masked("1,0") && !is_masked("0,1"));
}

#[wasm_bindgen_test]
async fn weights_of_hidden_pairs_are_hatched_while_there_are_any() {
    let weights = grid("weights", 2, 2, &[1.0, 0.0, 0.5, 0.5]);
    let hidden = RwSignal::new(vec![(0, 1)]);
    let page = Page::with(move || {
        view! { <HeatMap grid=Signal::stored(Some(weights)) label="Weights" hidden no_legend=true /> }
    });
    settle().await;
    assert_eq!(page.count("td.is-masked"), 1);
    assert_eq!(page.text(".legend").trim(), "may not look");
    hidden.set(Vec::new());
    settle().await;
    assert_eq!((page.count("td.is-masked"), page.count(".legend")), (0, 0));
}

#[wasm_bindgen_test]
async fn symbols_of_a_label_are_mathematics_that_is_read_in_words() {
    let map = grid("q", 1, 1, &[1.0]);
    let page = Page::with(move || {
        view! { <HeatMap grid=Signal::stored(Some(map)) label="Queries $W_Q$ < 2" /> }
    });
    settle().await;
    assert_eq!(page.text("figcaption"), "Queries WQ < 2");
    assert_eq!(page.text("figcaption sub"), "Q");
    assert_eq!(
        page.attribute("figcaption [role=math]", "aria-label")
            .as_deref(),
        Some("W sub Q")
    );
    assert_eq!(page.text("caption"), "Queries W sub Q < 2");
}

#[wasm_bindgen_test]
async fn names_with_symbols_are_set_as_mathematics() {
    let mut map = grid("w", 2, 2, &[0.0, 1.0, 2.0, 3.0]);
    map.row_labels = ["$W_Q$", "plain"].map(str::to_owned).to_vec();
    map.symbols = true;
    let selected = RwSignal::new(Some((0, 1)));
    let page = Page::with(
        move || view! { <HeatMap grid=Signal::stored(Some(map)) label="Weights" selected /> },
    );
    settle().await;
    assert_eq!(page.text("th[scope=row] sub"), "Q");
    assert_eq!(page.text(".heat-readout sub"), "Q");
    assert!(!page.text("th[scope=row]").contains('$'));
}

#[wasm_bindgen_test]
async fn the_scale_of_values_of_one_sign_has_one_side() {
    let shown = RwSignal::new(Some(grid("b", 1, 2, &[-2.5, 0.0])));
    let page = Page::with(move || {
        view! {
            <HeatMap
                grid=shown
                label="Bias"
                palette=Palette::Diverging
                domain=Signal::stored(Domain::Symmetric)
            />
        }
    });
    settle().await;
    assert!(page.find(".legend").class_name().contains("is-negative"));
    assert!(page.text(".legend").trim().ends_with('0'));
    shown.set(Some(grid("b", 1, 2, &[-2.5, 1.0])));
    settle().await;
    assert!(!page.find(".legend").class_name().contains("is-negative"));
}
