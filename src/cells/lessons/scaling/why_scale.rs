//! Ten thousand scores as histograms, with and without the root, and what softmax makes of one row
//! of them.

use cells::format::Format;
use cells::{Computation, InputValue};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, SCALE, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, Domain, Grid, HeatMap, More, Num, Palette, set};

/// Limits of d_k, for the buttons that halve and double it.
const WIDTHS: (f64, f64) = (1.0, 1024.0);

/// The rows of scores and weights.
const ROWS: [&str; 2] = ["$q\u{b7}k$", "$q\u{b7}k / \u{221a}d_k$"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">
            {cx.slider("d_k", Format::Count)}
            <div class="row">
                {times(cx, 0.5, "Half as wide")} {times(cx, 2.0, "Twice as wide")}
            </div>
        </div>
        {spread(cx, computed)}
        <More summary="What softmax makes of one row">{row(cx)}</More>
        <More summary="Entropy and Jacobian at every width">{curves(cx, computed)}</More>
        <More summary="Means, axis range and seed">
            <div class="controls">{cx.slider("reach", Format::Count)} {cx.seed_box()}</div>
            {details(cx)}
        </More>
        {note(cx)}
    }
    .into_any()
}

/// Says that nothing here was learned.
fn note(cx: CellCx) -> AnyView {
    let seed = cx.number("seed");
    let value = Signal::derive(move || Some(seed.get()));
    view! {
        <p class="cell-note">
            "untrained: random queries and keys, seed " <Num value from="input:seed" format=Format::Count />
        </p>
    }
    .into_any()
}

/// A button that multiplies d_k.
fn times(cx: CellCx, factor: f64, words: &'static str) -> AnyView {
    let d_k = cx.number("d_k");
    let target = Memo::new(move |_| {
        let to = (d_k.get() * factor).round();
        (WIDTHS.0 <= to && to <= WIDTHS.1).then_some(to)
    });
    view! {
        <button
            type="button"
            class="button"
            aria-disabled=move || target.get().is_none().then_some("true")
            on:click=move |_| {
                if let Some(to) = target.get_untracked() {
                    cx.set("d_k", InputValue::Number(to));
                }
            }
        >
            {words}
        </button>
    }
    .into_any()
}

/// Both histograms on the same axis, with their variances.
fn spread(cx: CellCx, computed: Computed) -> AnyView {
    let figure = move |name: &'static str, title: &'static str, concept: Concept| {
        let chart: Signal<Option<Chart>> = Signal::derive(move || {
            computed.with(|c| {
                let c = c.as_ref()?;
                Some(Chart {
                    title: title.to_owned(),
                    x_label: "score".to_owned(),
                    y_label: "draws".to_owned(),
                    series: vec![Series {
                        name: String::new(),
                        source: name.to_owned(),
                        kind: Kind::Bars,
                        xs: values(c, "centres"),
                        ys: values(c, name),
                        concept,
                    }],
                    ..Chart::default()
                })
            })
        });
        cx.offer_chart(name, chart);
        chart
    };
    let raw = "Scores $q\u{b7}k$";
    let scaled = "Scaled scores $q\u{b7}k / \u{221a}d_k$, on the same axis";
    let before = figure("histogram.raw", raw, Concept::Score);
    let after = figure("histogram.scaled", scaled, Concept::Weight);
    let d_k = cx.number("d_k");
    let d_k = Signal::derive(move || Some(d_k.get()));
    view! {
        <div class="cols-2">
            <section class="stack">
                <ChartView chart=before beside=vec![after] label=raw height=160 format=Format::Count />
                <dl class="readout">
                    {item(cx, "variance of $q\u{b7}k$", "variance.raw", Format::Fixed(2), "c-score")}
                </dl>
            </section>
            <section class="stack">
                <ChartView chart=after beside=vec![before] label=scaled height=160 format=Format::Count />
                <dl class="readout">
                    {item(cx, "variance of $q\u{b7}k / \u{221a}d_k$", "variance.scaled", Format::Fixed(3), "c-weight")}
                    {item(cx, SCALE, "scale", Format::Fixed(4), "")}
                </dl>
            </section>
        </div>
        <p class="hint">
            "Dividing the scores by " {set("$\u{221a}d_k$")} " divides their variance by " {set("$d_k$")} ": "
            {cx.num("variance.raw", &[], Format::Fixed(2))} " / " <Num value=d_k from="input:d_k" format=Format::Count /> " = "
            {cx.num("ratio", &[], Format::Fixed(3))} ", the variance of the scaled scores."
        </p>
    }
    .into_any()
}

/// What says little until the scores are looked at closely.
fn details(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            {item(cx, "mean of $q\u{b7}k$", "mean.raw", Format::Fixed(3), "c-score")}
            {item(cx, "mean of $q\u{b7}k / \u{221a}d_k$", "mean.scaled", Format::Fixed(3), "c-weight")}
            {item(cx, "draws", "draws", Format::Count, "")}
            {item(cx, "draws beyond the axis", "outside.raw", Format::Count, "")}
        </dl>
    }
    .into_any()
}

fn item(
    cx: CellCx,
    words: &'static str,
    name: &'static str,
    format: Format,
    class: &'static str,
) -> AnyView {
    view! {
        <div class=class>
            <dt data-label="">{set(words)}</dt>
            <dd>{cx.num(name, &[], format)}</dd>
        </div>
    }
    .into_any()
}

/// Scores and weights of one query, without the root above and with it below.
fn row(cx: CellCx) -> AnyView {
    let selected = cx.selected_place("selected");
    let grid = move |name: &'static str| -> Signal<Option<Grid>> {
        let grid = cx.grid_with(name, Signal::stored(Vec::new()), "row", "key");
        Memo::new(move |_| {
            let mut grid = grid.get()?;
            grid.row_labels = ROWS.map(str::to_owned).to_vec();
            grid.symbols = true;
            Some(grid)
        })
        .into()
    };
    view! {
        <section class="panel stack">
            <p class="panel-title">"One query against the first keys: what softmax makes of its scores"</p>
            <div class="controls">{cx.slider("keys", Format::Count)}</div>
            <HeatMap
                grid=grid("scores")
                label="Scores of the first query"
                palette=Palette::Diverging
                domain=Signal::stored(Domain::Symmetric)
                format=Format::Fixed(2)
                concept=Concept::Score
                selected
                no_legend=true
                no_readout=true
            />
            <HeatMap
                grid=grid("weights")
                label="Softmax of each row"
                domain=Signal::stored(Domain::Fixed(0.0, 1.0))
                format=Format::Fixed(3)
                concept=Concept::Weight
                selected
            />
            <div class="scroll" tabindex="0" role="region" aria-label="Entropy and Jacobian of the row">
                <table>
                    <caption class="vh">"Entropy of the row and norm of the Jacobian of softmax, without and with scaling"</caption>
                    <thead>
                        <tr>
                            <th scope="col">"scores"</th>
                            <th scope="col">"entropy, nats"</th>
                            <th scope="col">"norm of the Jacobian"</th>
                        </tr>
                    </thead>
                    <tbody>
                        <tr>
                            <th scope="row">{set(ROWS[0])}</th>
                            <td>{cx.num("entropy.raw", &[], Format::Fixed(4))}</td>
                            <td>{cx.num("norm.raw", &[], Format::Power(1))}</td>
                        </tr>
                        <tr>
                            <th scope="row">{set(ROWS[1])}</th>
                            <td>{cx.num("entropy.scaled", &[], Format::Fixed(4))}</td>
                            <td>{cx.num("norm.scaled", &[], Format::Power(1))}</td>
                        </tr>
                        <tr>
                            <th scope="row">"equal shares"</th>
                            <td>{cx.num("entropy.uniform", &[], Format::Fixed(4))}</td>
                            <td>"\u{2013}"</td>
                        </tr>
                    </tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

/// One quantity against d_k, without and with the root.
fn pair(c: &Computation, what: &str) -> Vec<Series> {
    let series = |suffix: &str, name: &str, concept| {
        let source = format!("curve.{what}.{suffix}");
        Series {
            name: name.to_owned(),
            kind: Kind::Line,
            xs: values(c, "curve.d_k"),
            ys: values(c, &source),
            source,
            concept,
        }
    };
    vec![
        series("raw", "unscaled", Concept::Score),
        series("scaled", "scaled", Concept::Weight),
    ]
}

/// Entropy and norm of the Jacobian for every width.
fn curves(cx: CellCx, computed: Computed) -> AnyView {
    let d_k = cx.number("d_k");
    let figure = move |what: &'static str, title: &'static str, unit: &'static str| {
        let chart = Signal::derive(move || {
            let here = d_k.get();
            computed.with(|c| {
                Some(Chart {
                    title: title.to_owned(),
                    x_label: "$d_k$".to_owned(),
                    y_label: unit.to_owned(),
                    series: pair(c.as_ref()?, what),
                    x_log: true,
                    marks: vec![(here, "here".to_owned())],
                    ..Chart::default()
                })
            })
        });
        let chart: Signal<Option<Chart>> = chart;
        cx.offer_chart(what, chart);
        chart
    };
    let even = "Entropy of a row, mean over many queries";
    let steep = "Norm of softmax\u{2019}s Jacobian, mean over many queries";
    let (entropy, norm) = (
        figure("entropy", even, "nats"),
        figure("norm", steep, "norm"),
    );
    view! {
        <div class="cols-2">
            <ChartView chart=entropy beside=vec![norm] label=even height=230 format=Format::Fixed(4) />
            <ChartView chart=norm beside=vec![entropy] label=steep height=230 format=Format::Fixed(4) />
        </div>
    }
    .into_any()
}
