//! The view of `position-race`: a line for each position scheme, and the same as a table with the
//! spread over the seeds.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, command_of_runs, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// A scheme: its input, its name in the chart, its colour, and the tensors of the table: mean,
/// lowest and highest loss within each range of positions.
struct Scheme {
    input: &'static str,
    title: &'static str,
    concept: Concept,
    within: [&'static str; 3],
}

/// The schemes, in the order of the inputs.
const SCHEMES: [Scheme; 8] = [
    Scheme {
        input: "none",
        title: "no positions",
        concept: Concept::Plain,
        within: ["none.within", "none.within.low", "none.within.high"],
    },
    Scheme {
        input: "sines",
        title: "sines",
        concept: Concept::Position,
        within: ["sines.within", "sines.within.low", "sines.within.high"],
    },
    Scheme {
        input: "learned",
        title: "learned table",
        concept: Concept::Residual,
        within: [
            "learned.within",
            "learned.within.low",
            "learned.within.high",
        ],
    },
    Scheme {
        input: "bias",
        title: "learned bias",
        concept: Concept::Value,
        within: ["bias.within", "bias.within.low", "bias.within.high"],
    },
    Scheme {
        input: "alibi",
        title: "ALiBi",
        concept: Concept::Output,
        within: ["alibi.within", "alibi.within.low", "alibi.within.high"],
    },
    Scheme {
        input: "rotary",
        title: "rotary",
        concept: Concept::Query,
        within: ["rotary.within", "rotary.within.low", "rotary.within.high"],
    },
    Scheme {
        input: "interpolated",
        title: "rotary, interpolated",
        concept: Concept::Weight,
        within: [
            "interpolated.within",
            "interpolated.within.low",
            "interpolated.within.high",
        ],
    },
    Scheme {
        input: "appended",
        title: "sines, appended",
        concept: Concept::Score,
        within: [
            "appended.within",
            "appended.within.low",
            "appended.within.high",
        ],
    },
];

/// What the chart says while no scheme is chosen.
const UNTIL: &str = "Choose a scheme above.";

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let toggles = SCHEMES.iter().map(|scheme| cx.toggle_box(scheme.input));
    view! {
        <div class="controls">{toggles.collect_view()}</div>
        {chart(cx, cx.computed())}
        <p class="hint">
            "Logged runs, not trained in this tab: " {cx.num("seeds", &[], Format::Count)}
            " seeds for each scheme, " {cx.num("steps", &[], Format::Count)}
            " steps on texts of " {cx.num("trained", &[], Format::Count)} " tokens, "
            {cx.num("parameters", &[], Format::Count)} " parameters besides those for positions. Each point is a mean over the seeds, "
            {cx.num("windows", &[], Format::Count)} " held-out texts and "
            {cx.num("bucket", &[], Format::Count)} " neighbouring positions."
        </p>
        <More summary="Losses and their spread">{table(cx)} {command_of_runs(cx)}</More>
    }
    .into_any()
}

/// The loss at each position.
fn chart(cx: CellCx, computed: Computed) -> AnyView {
    let shown = SCHEMES.each_ref().map(|scheme| cx.toggle(scheme.input));
    let chart = Signal::derive(move || {
        let shown = shown.map(|shown| shown.get());
        computed.with(|c| {
            let c = c.as_ref()?;
            let positions = values(c, "position");
            let chosen = SCHEMES.iter().zip(shown).filter(|(_, shown)| *shown);
            let series = chosen.map(|(scheme, _)| {
                let ys = values(c, scheme.input);
                Series {
                    name: scheme.title.to_owned(),
                    source: scheme.input.to_owned(),
                    kind: Kind::Line,
                    xs: positions[..ys.len().min(positions.len())].to_vec(),
                    ys,
                    concept: scheme.concept,
                }
            });
            Some(Chart {
                title: "Loss by position".to_owned(),
                x_label: "position in the text".to_owned(),
                y_label: "loss, nats per token".to_owned(),
                series: series.collect(),
                marks: vec![(c.at("trained", &[])?, "trained length".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("loss", chart);
    view! {
        <ChartView chart label="Loss against position" height=270 format=Format::Fixed(3) until=UNTIL />
    }
    .into_any()
}

/// Means over three ranges of positions, each with its lowest and highest seed.
fn table(cx: CellCx) -> AnyView {
    const RANGES: [usize; 3] = [0, 1, 2];
    let heads = RANGES.map(|n| {
        view! {
            <th scope="col">
                {cx.num("within.from", &[n], Format::Count)} " to "
                {cx.num("within.to", &[n], Format::Count)}
            </th>
        }
    });
    let rows = SCHEMES.each_ref().map(|scheme| {
        let [mean, low, high] = scheme.within;
        let cells = RANGES.map(|n| {
            let known = cx.value(mean, vec![n]);
            let cell = move || match known.get() {
                None => view! { "no row" }.into_any(),
                Some(_) => view! {
                    {cx.num(mean, &[n], Format::Fixed(3))} " ("
                    {cx.num(low, &[n], Format::Fixed(3))} " to "
                    {cx.num(high, &[n], Format::Fixed(3))} ")"
                }
                .into_any(),
            };
            view! { <td>{cell}</td> }
        });
        view! {
            <tr>
                <th scope="row">{scheme.title}</th>
                {cells.collect_view()}
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Loss by range of positions">
            <table>
                <caption>"Nats per token at these positions: the mean over the seeds, with the lowest and the highest"</caption>
                <thead>
                    <tr>
                        <th scope="col">"scheme"</th>
                        {heads.collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
