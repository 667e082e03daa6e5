//! The view of `centre-and-sharpen`: outputs, targets, and the two entropies.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::widgets::{Concept, Domain, HeatMap, Palette};

/// Rows of the matrices.
const ROWS: [&str; 4] = ["picture 1", "picture 2", "picture 3", "picture 4"];

/// Cases: name, whether the outputs are centred, and the temperature.
const CASES: [(&str, bool, f64); 3] = [
    ("Both", true, 0.04),
    ("No centring", false, 0.04),
    ("No sharpening", true, 10.0),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cases(cx)} {cx.toggle_box("centring")} {cx.log_slider("tau", Format::Fixed(2))}</div>
        <div class="controls">{cx.matrix_edit("outputs", Concept::Output, &ROWS, &[])}</div>
        <div class="cols-2">
            <HeatMap grid=cx.grid("centred") label="Outputs less the centre" format=Format::Fixed(2) concept=Concept::Output
                domain=Domain::Symmetric palette=Palette::Diverging no_legend=true no_readout=true />
            <HeatMap grid=cx.grid("probabilities") label="Targets, a row for each picture" format=Format::Fixed(2)
                concept=Concept::Weight domain=Domain::Fixed(0.0, 1.0) no_legend=true no_readout=true />
        </div>
        {table(cx)}
    }
    .into_any()
}

fn cases(cx: CellCx) -> AnyView {
    let (centring, tau) = (cx.toggle("centring"), cx.number("tau"));
    let button = |(name, centred, cold): (&'static str, bool, f64)| {
        let is_here = move || (centring.get() == centred && tau.get() == cold).to_string();
        let press = move |_| {
            cx.set_all(vec![
                ("centring", InputValue::Toggle(centred)),
                ("tau", InputValue::Number(cold)),
            ]);
        };
        view! {
            <button type="button" class="button" aria-pressed=is_here on:click=press>
                {name}
            </button>
        }
    };
    view! {
        <div class="row" role="group" aria-label="What is done to the outputs">
            {CASES.map(button).collect_view()}
        </div>
    }
    .into_any()
}

/// The two entropies.
fn table(cx: CellCx) -> AnyView {
    view! {
        <table>
            <thead>
                <tr>
                    <th scope="col">"entropy of the mean target"</th>
                    <th scope="col">"mean entropy of the targets"</th>
                    <th scope="col">"highest possible"</th>
                </tr>
            </thead>
            <tbody>
                <tr>
                    <td data-entropy="all"><strong>{cx.num("all.entropy", &[], Format::Fixed(3))}</strong></td>
                    <td data-entropy="each"><strong>{cx.num("each.entropy", &[], Format::Fixed(3))}</strong></td>
                    <td>{cx.num("most", &[], Format::Fixed(3))}</td>
                </tr>
            </tbody>
        </table>
    }
    .into_any()
}
