//! The view of `path-length`: two words to click, and the way from one to the other drawn through
//! four kinds of network.

use cells::format::Format;
use cells::{Computation, InputValue};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, curve, values};
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, More};

/// A way of joining positions.
#[derive(Clone, Copy)]
struct Way {
    /// Name for the reader.
    title: &'static str,
    /// Meaning of one of its steps.
    unit: &'static str,
    /// Tensors: the steps, the positions passed, the steps between the ends, the same against the
    /// length.
    names: [&'static str; 4],
    concept: Concept,
    /// True where every step is drawn on a line of its own: a layer.
    layers: bool,
}

const WAYS: [Way; 4] = [
    Way {
        title: "Recurrence: one word after the other",
        unit: "steps",
        names: [
            "steps.recurrent",
            "path.recurrent",
            "most.recurrent",
            "curve.recurrent",
        ],
        concept: Concept::Score,
        layers: false,
    },
    Way {
        title: "Convolution: each layer combines k adjacent words",
        unit: "layers",
        names: [
            "steps.contiguous",
            "path.contiguous",
            "most.contiguous",
            "curve.contiguous",
        ],
        concept: Concept::Value,
        layers: true,
    },
    Way {
        title: "Dilated convolution: the gaps grow k-fold",
        unit: "layers",
        names: [
            "steps.dilated",
            "path.dilated",
            "most.dilated",
            "curve.dilated",
        ],
        concept: Concept::Position,
        layers: true,
    },
    Way {
        title: "Self-attention: every word sees every word",
        unit: "layer",
        names: [
            "steps.attention",
            "path.attention",
            "most.attention",
            "curve.attention",
        ],
        concept: Concept::Weight,
        layers: true,
    },
];

/// Distance between two words, and between two layers, in the picture.
const GRID: (f64, f64) = (20.0, 20.0);

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.slider("kernel", Format::Count)}</div>
        {words(cx)}
        <p>
            "From " {ends(cx, "from")} " to " {ends(cx, "to")} " is a distance of "
            {cx.num("distance", &[], Format::Count)} " positions; the sentence has "
            {cx.num("count", &[], Format::Count)} " tokens."
        </p>
        <div class="cols-2">{WAYS.map(|way| panel(cx, computed, way)).collect_view()}</div>
        <More summary="Steps against the length of the sentence">{chart(cx, computed)}</More>
    }
    .into_any()
}

/// The words: one press chooses where the way begins, the next where it ends.
fn words(cx: CellCx) -> AnyView {
    let tokens = cx.words("tokens");
    let (from, to) = (cx.value("from", Vec::new()), cx.value("to", Vec::new()));
    let begins = RwSignal::new(true);
    let items = move || {
        let tokens = tokens.get().into_iter().enumerate();
        tokens
            .map(|(n, token)| {
                let place = (n + 1) as f64;
                let is_end = move || from.get() == Some(place) || to.get() == Some(place);
                let press = move |_| {
                    let name = if begins.get_untracked() { "from" } else { "to" };
                    begins.update(|begins| *begins = !*begins);
                    cx.set(name, InputValue::Number(place));
                };
                view! {
                    <li>
                        <button type="button" data-path=n.to_string() data-from=format!("tokens[{n}]")
                            aria-pressed=move || is_end().to_string() on:click=press>{token}</button>
                    </li>
                }
            })
            .collect_view()
    };
    let next = move || {
        if begins.get() {
            "Click the starting word."
        } else {
            "Now click the word to reach."
        }
    };
    view! {
        <div role="group" aria-label="Words to go from and to">
            <ul class="tokens">{items}</ul>
            <p class="hint" aria-live="polite">{next}</p>
        </div>
    }
    .into_any()
}

/// The word at one end of the way.
fn ends(cx: CellCx, name: &'static str) -> AnyView {
    let (tokens, place) = (cx.words("tokens"), cx.value(name, Vec::new()));
    let at = move || (place.get().unwrap_or(1.0) as usize).saturating_sub(1);
    let word = move || tokens.with(|t| t.get(at()).cloned()).unwrap_or_default();
    view! { <strong data-path=name data-from=move || format!("tokens[{}]", at())>{word}</strong> }
        .into_any()
}

fn panel(cx: CellCx, computed: Computed, way: Way) -> AnyView {
    let picture = move || computed.with(|c| c.as_ref().map(|c| drawn(c, way)));
    let [steps, _, most, _] = way.names;
    let class = format!("panel {}", way.concept.class());
    view! {
        <section class=class>
            <p class="panel-title">{way.title}</p>
            <p>
                <strong data-path=steps>{cx.num(steps, &[], Format::Count)}</strong> " " {way.unit}
                " here, " {cx.num(most, &[], Format::Count)} " between the ends of the sentence"
            </p>
            {picture}
        </section>
    }
    .into_any()
}

/// The positions as dots, once for each layer, what each step could reach as thin lines, and the
/// way as a thick one.
fn drawn(computation: &Computation, way: Way) -> AnyView {
    let count = computation.at("count", &[]).unwrap_or(0.0) as usize;
    let path: Vec<usize> = values(computation, way.names[1])
        .into_iter()
        .map(|place| place as usize - 1)
        .collect();
    let rows = if way.layers { path.len().max(2) } else { 1 };
    // The first layer is at the bottom.
    let point = |row: usize, place: usize| {
        let row = if way.layers { rows - 1 - row } else { 0 };
        let (x, y) = (GRID.0 * (place as f64 + 0.5), GRID.1 * (row as f64 + 0.5));
        (x, y)
    };
    let mut dots = String::new();
    for row in 0..rows {
        for place in 0..count {
            let (x, y) = point(row, place);
            dots += &format!("M{x} {y}h0");
        }
    }
    let mut line = String::new();
    for (row, &place) in path.iter().enumerate() {
        let (x, y) = point(row, place);
        line += &format!("{}{x} {y}", if row == 0 { "M" } else { "L" });
    }
    let (width, height) = (GRID.0 * count as f64, GRID.1 * rows as f64);
    let words = computation.words("tokens");
    let said: Vec<&str> = path
        .iter()
        .filter_map(|&place| words.get(place).map(String::as_str))
        .collect();
    let label = format!("The path: {}", said.join(", "));
    let view_box = format!("0 0 {width} {height}");
    // At most as large as drawn: short sentences do not fill the page with dots.
    let style = format!(
        "display:block;width:{}px;max-width:100%;height:auto;overflow:visible",
        width
    );
    view! {
        <svg viewBox=view_box role="img" aria-label=label style=style>
            <g fill="none" stroke-linecap="round" stroke-linejoin="round">
                <path d=reach(computation, way, &path, count, point) style="stroke:var(--rule-strong)" stroke-width="1" />
                <path d=dots style="stroke:var(--ink-faint)" stroke-width="6" />
                <path d=line style="stroke:var(--c)" stroke-width="3.5" />
            </g>
            {path
                .iter()
                .enumerate()
                .map(|(row, &place)| {
                    let (x, y) = point(row, place);
                    view! { <circle cx=x cy=y r="5" style="fill:var(--c)" /> }
                })
                .collect_view()}
        </svg>
    }
    .into_any()
}

/// Thin lines from each position on the way to all that its layer reaches from there, in the
/// direction of the way.
fn reach(
    computation: &Computation,
    way: Way,
    path: &[usize],
    count: usize,
    point: impl Fn(usize, usize) -> (f64, f64),
) -> String {
    let kernel = computation.at("kernel", &[]).unwrap_or(2.0) as usize;
    let back = path.first() > path.last();
    let mut lines = String::new();
    for (layer, &at) in path.iter().take(path.len().saturating_sub(1)).enumerate() {
        let ends: Vec<usize> = match way.names[0] {
            "steps.attention" => (0..count).collect(),
            "steps.recurrent" => Vec::new(),
            name => {
                let dilated = name == "steps.dilated";
                let gap = if dilated { kernel.pow(layer as u32) } else { 1 };
                (0..kernel)
                    .filter_map(|n| match back {
                        true => at.checked_sub(n * gap),
                        false => Some(at + n * gap),
                    })
                    .filter(|&end| end < count)
                    .collect()
            }
        };
        for end in ends {
            let ((x, y), (to_x, to_y)) = (point(layer, at), point(layer + 1, end));
            lines += &format!("M{x} {y}L{to_x} {to_y}");
        }
    }
    lines
}

/// Steps between the ends of a sentence against its length.
fn chart(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let first = values(c, "curve.length").first().copied().unwrap_or(0.0);
            let names = ["recurrence", "convolution", "dilated", "attention"];
            let line = |(way, name): (&Way, &str)| {
                curve(c, way.names[3], name, way.concept, |n| first + n as f64)
            };
            Some(Chart {
                title: "Steps between the first word and the last".to_owned(),
                x_label: "words in the sentence".to_owned(),
                y_label: "steps or layers".to_owned(),
                series: WAYS.iter().zip(names).map(line).collect(),
                y_log: true,
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("steps", chart);
    view! { <ChartView chart label="Steps between the first word and the last" height=240 format=Format::Count /> }
        .into_any()
}
