//! Angles of rotary planes along a text longer than the trained one, three ways.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, curve};
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, More};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">
            {cx.slider("trained", Format::Count)} {cx.slider("length", Format::Count)}
            {cx.slider("width", Format::Count)} {cx.slider("plane", Format::Count)}
        </div>
        {angles(cx, computed)}
        <More summary="Every plane at the last position">{readouts(cx)} {table(cx, computed)}</More>
    }
    .into_any()
}

/// The angle of the chosen plane along the text.
fn angles(cx: CellCx, computed: Computed) -> AnyView {
    let trained = cx.number("trained");
    let chart = Signal::derive(move || {
        let end = trained.get();
        computed.with(|c| {
            let c = c.as_ref()?;
            let line =
                |name: &str, title: &str, concept| curve(c, name, title, concept, |p| p as f64);
            let series = vec![
                line("plain", "unchanged", Concept::Score),
                line("interpolated", "interpolated", Concept::Position),
                line("rebased", "larger base", Concept::Output),
                line("limit", "largest trained angle", Concept::Plain),
            ];
            let last = series[0].xs.last().copied().unwrap_or_default();
            Some(Chart {
                title: format!("Angle of plane {} along the text", c.at("plane", &[])?),
                x_label: "position".to_owned(),
                y_label: "angle, radians".to_owned(),
                series,
                marks: (end <= last)
                    .then(|| (end, "trained length".to_owned()))
                    .into_iter()
                    .collect(),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("angles", chart);
    view! { <ChartView chart label="Angle against position" height=280 format=Format::Fixed(3) /> }
        .into_any()
}

fn readouts(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            <div>
                <dt>"last position of the text"</dt>
                <dd>{cx.num("last", &[], Format::Count)}</dd>
            </div>
            <div class="c-position">
                <dt>"the same position, interpolated"</dt>
                <dd>{cx.num("squeezed_last", &[], Format::Fixed(2))}</dd>
            </div>
            <div>
                <dt>"base"</dt>
                <dd>{cx.num("base", &[], Format::Count)}</dd>
            </div>
            <div class="c-output">
                <dt>"larger base"</dt>
                <dd>{cx.num("new_base", &[], Format::Count)}</dd>
            </div>
        </dl>
    }
    .into_any()
}

/// For each plane the end of what training has seen, and the last angle of the text three ways.
fn table(cx: CellCx, computed: Computed) -> AnyView {
    let planes = Memo::new(move |_| {
        computed.with(|c| {
            c.as_ref()
                .and_then(|c| c.tensor("limits"))
                .map_or(0, |t| t.values.len())
        })
    });
    let chosen = cx.value("plane", Vec::new());
    let row = move |i: usize| {
        let limit = cx.value("limits", vec![i]);
        let angle = move |name: &'static str| {
            let value = cx.value(name, vec![i]);
            // A plane that has been round in training has seen every direction.
            let beyond = move || value.get().zip(limit.get()).is_some_and(|(a, l)| a >= l);
            let round = move || limit.get().is_some_and(|l| l >= std::f64::consts::TAU);
            let new = move || beyond() && !round();
            view! {
                <td class="verdict" class:bad=new class:good=move || !new()>
                    {cx.num(name, &[i], Format::Fixed(3))}
                    {move || match (new(), beyond()) {
                        (true, _) => " new",
                        (false, true) => " seen on an earlier turn",
                        (false, false) => " seen",
                    }}
                </td>
            }
        };
        view! {
            <tr>
                <th scope="row">
                    <button
                        type="button"
                        class="button quiet"
                        aria-pressed=move || if chosen.get() == Some(i as f64) { "true" } else { "false" }
                        on:click=move |_| cx.set("plane", InputValue::Number(i as f64))
                    >
                        <span data-label="">{format!("plane {i}")}</span>
                    </button>
                </th>
                <td>{cx.num("wavelengths", &[i], Format::Fixed(1))}</td>
                <td>{cx.num("limits", &[i], Format::Fixed(3))}</td>
                {angle("plain.last")}
                {angle("interpolated.last")}
                {angle("rebased.last")}
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Last angle of each plane">
            <table class="line-table">
                <caption class="vh">"The angle of the last position in each plane, and whether training has seen it"</caption>
                <thead>
                    <tr>
                        <th scope="col">"plane"</th>
                        <th scope="col">"positions per turn"</th>
                        <th scope="col">"trained below"</th>
                        <th scope="col">"unchanged"</th>
                        <th scope="col">"interpolated"</th>
                        <th scope="col">"larger base"</th>
                    </tr>
                </thead>
                <tbody>{move || (0..planes.get()).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
