//! Charts on screen and as files.

use std::collections::BTreeSet;

use super::page::{Page, grid, settle};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{
    CanvasRenderingContext2d, DomParser, Element, HtmlCanvasElement, SupportedType,
};
use site::plot::{Chart, ChartView, Kind, Series, Theme};
use site::widgets::{Domain, Palette};
use wasm_bindgen_test::wasm_bindgen_test;

fn chart() -> Chart {
    let xs: Vec<f64> = (0..200).map(f64::from).collect();
    let ys: Vec<f64> = xs.iter().map(|x| (x / 20.0).sin()).collect();
    let line = Series {
        name: "sine".into(),
        source: "wave".into(),
        xs,
        ys,
        ..Series::default()
    };
    let bars = Series {
        name: "bars".into(),
        kind: Kind::Bars,
        ..line.clone()
    };
    Chart {
        title: "A < B".into(),
        x_label: "x".into(),
        y_label: "y".into(),
        series: vec![line, bars],
        ..Chart::default()
    }
}

/// How many different colours a canvas shows.
pub(crate) fn colours(canvas: &Element) -> usize {
    let canvas: &HtmlCanvasElement = canvas.unchecked_ref();
    let ctx: CanvasRenderingContext2d = canvas.get_context("2d").unwrap().unwrap().unchecked_into();
    let (w, h) = (f64::from(canvas.width()), f64::from(canvas.height()));
    let data = ctx.get_image_data(0.0, 0.0, w, h).unwrap().data();
    data.chunks_exact(4)
        .map(<[u8]>::to_vec)
        .collect::<BTreeSet<_>>()
        .len()
}

#[wasm_bindgen_test]
async fn a_chart_is_drawn_at_device_pixels_with_its_data_beside_it() {
    let page = Page::with(
        || view! { <ChartView chart=Signal::stored(Some(chart())) label="Waves" height=200 /> },
    );
    settle().await;
    let canvas: HtmlCanvasElement = page.find("canvas").unchecked_into();
    let scale = window().device_pixel_ratio();
    assert_eq!(canvas.height(), (200.0 * scale).round() as u32);
    assert!(colours(&canvas) > 4, "lines, bars and text");
    assert_eq!(
        page.count(".num"),
        0,
        "the table waits until it is asked for"
    );
    page.click("summary").await;
    let shown = page.count("tbody tr");
    assert!((32..=64).contains(&shown), "{shown} rows");
    assert_eq!(
        page.attribute(".num", "data-from").as_deref(),
        Some("wave[0]")
    );
}

/// The root element of an SVG text; the parser's error stands in its place where it is none.
fn parsed(svg: &str) -> Element {
    let document = DomParser::new()
        .unwrap()
        .parse_from_string(svg, SupportedType::ImageSvgXml)
        .unwrap();
    document.document_element().unwrap()
}

#[wasm_bindgen_test]
fn exported_figures_are_documents() {
    let drawing = site::plot::svg(&chart(), Theme::current());
    let root = parsed(&drawing.svg);
    assert_eq!(root.tag_name(), "svg");
    assert_eq!(root.get_attribute("width"), Some(drawing.width.to_string()));
    assert_eq!(
        root.query_selector("title")
            .unwrap()
            .unwrap()
            .text_content()
            .as_deref(),
        Some("A < B")
    );
    let map = grid("w", 2, 2, &[0.0, 1.0, f64::NEG_INFINITY, f64::NAN]);
    let drawing = site::plot::heat_map_svg(&map, Palette::Sequential, Domain::Auto);
    let root = parsed(&drawing.svg);
    assert_eq!(root.tag_name(), "svg");
    assert!(drawing.svg.contains("\u{2212}\u{221e}"));
}
