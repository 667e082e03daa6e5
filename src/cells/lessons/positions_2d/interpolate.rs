//! The view of `interpolate`: a digit in another size, and what the model reads with each table.

use cells::format::Format;
use cells::lessons::positions_2d::interpolate::SIDE;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::labelled;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pictures::seen;
use crate::cells::parts::player::{Words, player_saying};
use crate::widgets::{Concept, Domain, HeatMap, More, PatchGrid};

/// Words of the buttons.
const WORDS: Words = Words {
    label: "Reading digits",
    start: "Read all",
    pause: "Stop",
    step: "Another digit",
    rewind: "Clear",
};

/// The ways to bring the table to the new grid: what is said of them, and the names of the last answer,
/// of the right answers and of their share.
const WAYS: [[&str; 4]; 3] = [
    [
        "cubic interpolation",
        "cubic.answer",
        "cubic.count",
        "cubic.share",
    ],
    [
        "nearest vector",
        "nearest.answer",
        "nearest.count",
        "nearest.share",
    ],
    [
        "reading order",
        "order.answer",
        "order.count",
        "order.share",
    ],
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let none = RwSignal::new(None::<usize>);
    view! {
        <div class="controls">{cx.slider("size", Format::Count)}</div>
        <div class="row center">
            {player_saying(cx, WORDS, 0.0)}
            <p>
                <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span> " of "
                {cx.num("digits", &[], Format::Count)} " digits read"
            </p>
        </div>
        <div class="cols-2">
            <div class="stack tight">
                <div class="rebuilt">
                    <PatchGrid
                        pixels=seen(cx, "picture")
                        patch=Signal::stored(SIDE)
                        label="The digit that was read last, cut into patches"
                        selected=none
                    />
                </div>
                <p>
                    {cx.num("across", &[], Format::Count)} " \u{d7} " {cx.num("across", &[], Format::Count)} " = "
                    {cx.num("patches", &[], Format::Count)} " patches; the table has "
                    {cx.num("trained", &[], Format::Count)} " vectors"
                </p>
            </div>
            <div class="stack">{table(cx)}</div>
        </div>
        <More summary="Probabilities of the last digit, and the trained row of each new row">
            {details(cx)}
        </More>
        {trained(&["digit-vit"])}
    }
    .into_any()
}

/// The last answer and the right answers so far, for each table.
fn table(cx: CellCx) -> AnyView {
    let rows = WAYS.map(|[words, answer, count, share]| {
        let known = cx.value(share, Vec::new());
        let number = move |name, format| {
            move || match known.get() {
                None => "none yet".into_any(),
                Some(_) => cx.num(name, &[], format),
            }
        };
        view! {
            <tr>
                <th scope="row">{words}</th>
                <td>{number(answer, Format::Count)}</td>
                <td data-train=count>{cx.num(count, &[], Format::Count)}</td>
                <td>{number(share, Format::Percent(1))}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Answers with each table of positions">
            <table>
                <caption>"The last digit is a " {cx.num("label", &[], Format::Count)}</caption>
                <thead>
                    <tr>
                        <th scope="col">"positions by"</th>
                        <th scope="col">"reads"</th>
                        <th scope="col">"right"</th>
                        <th scope="col">"share"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// Probabilities, and the rows of the trained grid that the new rows take.
fn details(cx: CellCx) -> AnyView {
    let way = |row: usize| WAYS[row.min(2)][0].to_owned();
    view! {
        <div class="stack">
            <HeatMap
                grid=labelled(cx.grid("probabilities"), way, |digit| digit.to_string())
                label="Probabilities of the ten digits"
                domain=Domain::Fixed(0.0, 1.0)
                format=Format::Fixed(2)
                concept=Concept::Output
                no_legend=true
                no_readout=true
            />
            <HeatMap
                grid=labelled(cx.grid("rows"), way, |row| row.to_string())
                label="Row of the trained grid for each new row"
                domain=Domain::Fixed(0.0, 6.0)
                format=Format::Fixed(2)
                concept=Concept::Position
                no_legend=true
                no_readout=true
            />
        </div>
    }
    .into_any()
}
