//! Attention and a recurrence, measured in this tab for texts of several lengths, with the exponents
//! of their growth.

use cells::Inputs;
use cells::format::Format;
use cells::lessons::cost::measure_attention::{LAYERS, LENGTHS, SPEC, asked, law, repeats};
use cells::spec::WorkerKind;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::client;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More, Num};

/// Milliseconds that one measurement should take: many times what a browser's clock can tell apart.
const WANTED_MS: f64 = 30.0;

/// Measurements of each length, of which the shortest counts: whatever else the machine does only
/// adds to a time.
const ROUNDS: usize = 3;

/// What the chart says before anything is measured.
const UNTIL: &str =
    "Press Measure: both layers compute in your browser, for texts of five lengths.";

/// The layers: name, colour, and origins of the times and of their exponent.
const NAMES: [(&str, Concept, [&str; 3]); 2] = [
    (
        "attention",
        Concept::Weight,
        [
            "time:attention",
            "time:attention.exponent",
            "time:attention.error",
        ],
    ),
    (
        "recurrence",
        Concept::Score,
        [
            "time:recurrence",
            "time:recurrence.exponent",
            "time:recurrence.error",
        ],
    ),
];

/// Milliseconds of each layer for the first of the lengths.
type Times = [Vec<f64>; 2];

/// The state of a measurement.
#[derive(Clone, Copy)]
struct Measured {
    /// Number of the measurement, of which only the last one may go on.
    run: RwSignal<u64>,
    times: RwSignal<Times>,
    is_running: RwSignal<bool>,
    failure: RwSignal<Option<String>>,
}

impl Measured {
    /// Forgets all times, and ends the measurement under way.
    fn clear(self, is_running: bool) {
        self.run.update(|run| *run += 1);
        self.times.set(Times::default());
        self.failure.set(None);
        self.is_running.set(is_running);
    }
}

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let measured = Measured {
        run: RwSignal::new(0),
        times: RwSignal::new(Times::default()),
        is_running: RwSignal::new(false),
        failure: RwSignal::new(None),
    };
    let width = cx.number("width");
    // Times of another dimension are not these.
    Effect::new(move |before: Option<f64>| {
        let now = width.get();
        if before.is_some_and(|before| before != now) {
            measured.clear(false);
        }
        now
    });
    view! {
        <div class="row center">
            {button(cx, measured)}
            {cx.slider("width", Format::Count)}
        </div>
        <div aria-live="polite">
            {move || measured.failure.get().map(|text| view! { <p class="cell-error">{text}</p> })}
        </div>
        {chart(cx, measured)}
        {table(cx, measured)}
        <More summary="One measurement by itself">
            {cx.choice_box("layer")}
            <div class="controls">{cx.slider("tokens", Format::Count)} {cx.slider("repeats", Format::Count)}</div>
            <p>
                "Once: " {cx.num("multiplications", &[], Format::Count)}
                " multiplications. The last vector begins with " {cx.num("output", &[0], Format::Fixed(3))} ", "
                {cx.num("output", &[1], Format::Fixed(3))} ", " {cx.num("output", &[2], Format::Fixed(3))}
                ". The time is at the foot of the cell; it includes drawing the random inputs."
            </p>
        </More>
    }
    .into_any()
}

fn button(cx: CellCx, measured: Measured) -> AnyView {
    let press = move |_| {
        if !measured.is_running.get_untracked() {
            measured.clear(true);
            let inputs = untrack(|| cx.inputs());
            leptos::task::spawn_local(measure(measured, inputs));
        }
    };
    view! {
        <button
            type="button"
            class="button"
            data-measure="start"
            aria-disabled=move || measured.is_running.get().then_some("true")
            on:click=press
        >
            {move || if measured.is_running.get() { "Measuring" } else { "Measure" }}
        </button>
    }
    .into_any()
}

/// Measures both layers, the short texts first, and shows each time as it comes.
async fn measure(measured: Measured, inputs: Inputs) {
    let run = measured.run.get_untracked();
    let width = inputs.count("width").unwrap_or(1);
    for tokens in LENGTHS {
        for layer in 0..LAYERS.len() {
            let found = shortest(&inputs, layer, tokens, width).await;
            // The reader may have left the page, or chosen another dimension.
            if measured.run.try_get_untracked() != Some(run) {
                return;
            }
            match found {
                Ok(ms) => measured.times.update(|times| times[layer].push(ms)),
                Err(error) => {
                    measured.failure.set(Some(error.to_string()));
                    measured.is_running.set(false);
                    return;
                }
            }
        }
    }
    measured.is_running.set(false);
}

/// Milliseconds of one layer for one length: the shortest of a few measurements.
async fn shortest(
    inputs: &Inputs,
    layer: usize,
    tokens: usize,
    width: usize,
) -> Result<f64, cells::CellError> {
    let time = async |often: usize| {
        let inputs = asked(inputs.clone(), layer, tokens, often);
        let (_, ms) = client::timed(WorkerKind::Models, SPEC.name, inputs).await?;
        Ok::<f64, cells::CellError>(ms / often as f64)
    };
    let often = repeats(time(1).await?, WANTED_MS, layer, tokens, width);
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        least = least.min(time(often).await?);
    }
    Ok(least)
}

fn chart(cx: CellCx, measured: Measured) -> AnyView {
    let chart = Signal::derive(move || {
        let lengths = LENGTHS.map(|length| length as f64);
        let series = measured.times.with(|times| {
            let each = NAMES.iter().zip(times);
            each.map(|((name, concept, [source, ..]), times)| Series {
                name: (*name).to_owned(),
                source: (*source).to_owned(),
                kind: Kind::Line,
                xs: lengths[..times.len().min(lengths.len())].to_vec(),
                ys: times.clone(),
                concept: *concept,
            })
            .collect::<Vec<_>>()
        });
        Some(Chart {
            title: "Measured in this tab".to_owned(),
            x_label: "tokens $T$".to_owned(),
            y_label: "milliseconds".to_owned(),
            series,
            x_log: true,
            y_log: true,
            ..Chart::default()
        })
    });
    cx.offer_chart("times", chart);
    view! { <ChartView chart label="Milliseconds against tokens" height=230 format=Format::Power(2) until=UNTIL /> }
        .into_any()
}

/// Counted and measured side by side.
fn table(cx: CellCx, measured: Measured) -> AnyView {
    let row = |layer: usize| {
        let (name, concept, [times, exponent, error]) = NAMES[layer];
        let counted: [&'static str; 2] = match layer {
            0 => ["attention.four", "attention.exponent"],
            _ => ["recurrence.four", "recurrence.exponent"],
        };
        let all = move || measured.times.with(|t| t[layer].clone());
        let law = Memo::new(move |_| law(&all()).map(|law| (law.exponent, law.standard_error)));
        // From 256 to 1,024 tokens.
        let four = Signal::derive(move || {
            let times = all();
            Some(times.get(4)? / times.get(2)?)
        });
        let each = Signal::derive(move || {
            let last = *all().last()?;
            (all().len() == LENGTHS.len()).then_some(last)
        });
        let found = Signal::derive(move || law.get().map(|law| law.0));
        let off = Signal::derive(move || law.get().map(|law| law.1));
        view! {
            <tr class=concept.class()>
                <th scope="row">{name}</th>
                <td>{cx.num(counted[0], &[], Format::Count)}</td>
                <td data-measured="four"><Num value=four from=format!("{times}.four") format=Format::Fixed(1) /></td>
                <td>{cx.num(counted[1], &[], Format::Fixed(2))}</td>
                <td data-measured="exponent">
                    <Num value=found from=exponent.to_owned() format=Format::Fixed(2) /> " \u{b1} "
                    <Num value=off from=error.to_owned() format=Format::Fixed(2) />
                </td>
                <td><Num value=each from=format!("{times}[4]") format=Format::Power(2) /></td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Counted and measured growth">
            <table>
                <caption class="vh">"How the work of both layers grows: counted, and measured here"</caption>
                <thead>
                    <tr>
                        <th scope="col" rowspan="2">"layer"</th>
                        <th scope="colgroup" colspan="2" data-label="">"times for 4 times the tokens"</th>
                        <th scope="colgroup" colspan="2">"exponent"</th>
                        <th scope="col" rowspan="2" data-label="">"ms at 1,024 tokens"</th>
                    </tr>
                    <tr>
                        <th scope="col">"counted"</th>
                        <th scope="col">"measured"</th>
                        <th scope="col">"counted"</th>
                        <th scope="col">"measured"</th>
                    </tr>
                </thead>
                <tbody>{(0..LAYERS.len()).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
