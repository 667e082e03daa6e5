//! Numbers, sliders and boxes.

use super::page::{Page, settle};
use cells::decimal;
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
    page.type_into("textarea", "a b c d").await;
    assert_eq!(page.value("textarea"), "a b c d");
    assert_eq!(page.text(".entry-problem"), "too long");
    assert_eq!(
        page.attribute(".grows", "data-text").as_deref(),
        Some("a b c d")
    );
    assert_eq!(
        page.attribute("textarea", "aria-invalid").as_deref(),
        Some("true")
    );
}

#[wasm_bindgen_test]
fn the_browser_reads_numbers_as_the_standard_library_does() {
    let texts = [
        "0",
        "-0",
        "1",
        "+1.5",
        ".5",
        "5.",
        "-.25e-3",
        "1e308",
        "1e309",
        "-1e400",
        "1e-324",
        "4.9406564584124654e-324",
        "2.2250738585072011e-308",
        "0.1",
        "0.30000000000000004",
        "9007199254740993",
        "123456789012345678901234567890",
        "1.7976931348623157e308",
        // Halfway between two numbers, and just beside it.
        "9007199254740993.0000000000000000000000001",
        "1.00000000000000011102230246251565404",
        "1.00000000000000011102230246251565403",
        "",
        "-",
        ".",
        "1e",
        "e5",
        "inf",
        "Infinity",
        "NaN",
        "0x10",
        "1,5",
        " 1",
        "1 ",
        "1_000",
        "1.2.3",
        "1e5.5",
    ];
    for text in texts {
        let native = text
            .parse::<f64>()
            .ok()
            .filter(|_| text.contains(|c: char| c.is_ascii_digit()));
        let read = decimal::parse(text);
        assert_eq!(read.map(f64::to_bits), native.map(f64::to_bits), "{text:?}");
    }
    // Numbers with every exponent, as they print.
    for exponent in 0..2046_u64 {
        let bits = (exponent << 52) | (exponent.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 12);
        let number = f64::from_bits(bits);
        assert_eq!(decimal::parse(&number.to_string()), Some(number));
        assert_eq!(decimal::parse(&format!("{number:e}")), Some(number));
    }
}

#[wasm_bindgen_test]
async fn a_box_for_one_line_grows_with_its_text_and_takes_no_second_line() {
    let text = RwSignal::new("short".to_owned());
    let page = Page::with(move || {
        view! {
            <div style="width: 12rem">
                <TextBox label="Sentence" value=text on_change=Callback::new(move |t| text.set(t)) />
            </div>
        }
    });
    settle().await;
    // The style sheet shows this copy behind the box, so the box is as high as its text.
    assert_eq!(
        page.attribute(".grows", "data-text").as_deref(),
        Some("short")
    );
    page.type_into("textarea", "a longer\nsentence").await;
    assert_eq!(text.get_untracked(), "a longer sentence");
    assert_eq!(
        page.attribute(".grows", "data-text").as_deref(),
        Some("a longer sentence")
    );
}
