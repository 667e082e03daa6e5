//! Charts on screen and as files.

use std::collections::BTreeSet;

use super::page::{Page, grid, settle};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{
    CanvasRenderingContext2d, DomParser, Element, HtmlCanvasElement, SupportedType,
};
use site::display::theme;
use site::plot::{Chart, ChartView, Kind, Series, chart_document};
use site::widgets::{Concept, Domain, Palette};
use wasm_bindgen_test::wasm_bindgen_test;

fn chart() -> Chart {
    let line = wave(200);
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

/// A curve of `count` points.
fn wave(count: u32) -> Series {
    let xs: Vec<f64> = (0..count).map(f64::from).collect();
    let ys = xs.iter().map(|x| (x / 20.0).sin()).collect();
    Series {
        name: "sine".into(),
        source: "wave".into(),
        xs,
        ys,
        ..Series::default()
    }
}

#[wasm_bindgen_test]
async fn a_chart_is_drawn_as_svg_with_its_data_beside_it() {
    let page = Page::with(
        || view! { <ChartView chart=Signal::stored(Some(chart())) label="Waves" height=200 /> },
    );
    settle().await;
    assert_eq!(page.count("canvas"), 0);
    assert_eq!(page.attribute(".plot", "height").as_deref(), Some("200"));
    assert!(
        page.count(".plot .s.c-plain") > 0,
        "the curve has its concept's class"
    );
    assert!(page.count(".plot .f.c-plain") > 0, "and so have the bars");
    let spoken = page.attribute(".chart-drawing", "aria-label").unwrap();
    assert!(
        spoken.starts_with("Waves: y by x from 0 to 199."),
        "{spoken}"
    );
    assert_eq!(
        page.count(".num"),
        0,
        "table and read-out wait until they are asked for"
    );
    page.click("summary").await;
    let shown = page.count("tbody tr");
    assert!((32..=64).contains(&shown), "{shown} rows");
    assert_eq!(
        page.attribute(".num", "data-from").as_deref(),
        Some("wave[0]")
    );
}

#[wasm_bindgen_test]
async fn a_chart_follows_its_data_and_becomes_a_canvas_beyond_two_thousand_points() {
    let count = RwSignal::new(2000);
    let chart = Signal::derive(move || {
        Some(Chart {
            y_label: "y".into(),
            series: vec![wave(count.get())],
            ..Chart::default()
        })
    });
    let page = Page::with(move || view! { <ChartView chart label="Waves" height=200 /> });
    settle().await;
    assert_eq!((page.count(".plot"), page.count("canvas")), (1, 0));
    count.set(2001);
    settle().await;
    assert_eq!((page.count(".plot"), page.count("canvas")), (0, 1));
    let canvas: HtmlCanvasElement = page.find("canvas").unchecked_into();
    let scale = window().device_pixel_ratio();
    assert_eq!(canvas.height(), (200.0 * scale).round() as u32);
    assert!(colours(&canvas) > 4, "a line and text");
    count.set(10);
    settle().await;
    assert_eq!((page.count(".plot"), page.count("canvas")), (1, 0));
}

#[wasm_bindgen_test]
async fn keys_move_the_read_out_and_escape_takes_it_away() {
    let chart = Chart {
        x_label: "step".into(),
        y_label: "loss".into(),
        series: vec![wave(5)],
        ..Chart::default()
    };
    let page = Page::with(
        move || view! { <ChartView chart=Signal::stored(Some(chart)) label="Waves" height=200 /> },
    );
    settle().await;
    let height = page.find(".chart").get_bounding_client_rect().height();
    assert_eq!(page.count(".chart-values"), 0);
    page.focus(".chart-reader").await;
    let from = || page.attribute(".chart-values .num", "data-from");
    assert_eq!(from().as_deref(), Some("wave[0]"));
    page.press("ArrowRight").await;
    assert_eq!(from().as_deref(), Some("wave[1]"));
    page.press("End").await;
    assert_eq!(from().as_deref(), Some("wave[4]"));
    page.press("ArrowLeft").await;
    assert_eq!(from().as_deref(), Some("wave[3]"));
    let told = page.attribute(".chart-reader", "aria-valuetext").unwrap();
    let value = page.text(".chart-values .num");
    assert_eq!(told, format!("step 3; sine: {value}"));
    assert_eq!(
        page.attribute(".chart-reader", "aria-valuenow").as_deref(),
        Some("3")
    );
    assert_eq!(
        page.find(".chart").get_bounding_client_rect().height(),
        height,
        "nothing else moves"
    );
    page.press("Home").await;
    assert_eq!(from().as_deref(), Some("wave[0]"));
    page.press("Escape").await;
    assert_eq!(page.count(".chart-values"), 0);
    page.press("ArrowRight").await;
    assert_eq!(page.count(".chart-values"), 1, "a key brings it back");
}

#[wasm_bindgen_test]
async fn another_theme_needs_no_other_drawing() {
    let page = Page::with(
        || view! { <ChartView chart=Signal::stored(Some(chart())) label="Waves" height=200 /> },
    );
    settle().await;
    let drawing = page.find(".plot");
    let root = document().document_element().unwrap();
    root.set_attribute("data-theme", "dark").unwrap();
    settle().await;
    assert!(drawing.is_same_node(Some(&page.find(".plot"))));
    assert!(
        !drawing.outer_html().contains('#'),
        "no colour is written in it"
    );
    root.remove_attribute("data-theme").unwrap();
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
    let drawing = chart_document(&chart(), &theme::current());
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
    let drawing = site::plot::heat_map_svg(
        &map,
        Palette::Sequential,
        Concept::Weight,
        Domain::Auto,
        &[],
    );
    let root = parsed(&drawing.svg);
    assert_eq!(root.tag_name(), "svg");
    assert!(drawing.svg.contains("\u{2212}\u{221e}"));

    // What is hidden is hatched, as on the page: lines instead of a colour.
    let map = grid("w", 2, 2, &[1.0, 0.5, 0.25, 0.0]);
    let drawn = |hidden: &[site::widgets::Place]| {
        site::plot::heat_map_svg(
            &map,
            Palette::Sequential,
            Concept::Weight,
            Domain::Auto,
            hidden,
        )
        .svg
    };
    let lines = |svg: &str| svg.matches("stroke-width").count();
    assert_eq!(lines(&drawn(&[])), 0);
    assert!(lines(&drawn(&[(0, 1)])) > 0);
}
