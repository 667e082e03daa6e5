//! Two mixtures of experts that learn side by side: the load of each expert, and the expert of each
//! word.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::share_row;
use crate::cells::parts::figures::command_of_runs;
use crate::cells::parts::player::{beginning, player};
use crate::widgets::{Concept, Domain, HeatMap, More};

/// Steps that the cell makes by itself.
const UNASKED: f64 = 150.0;

/// Experts of a layer.
const EXPERTS: usize = 8;

/// A mixture: its title, the tensors of its run here, and of the logged runs.
struct Mixture {
    title: &'static str,
    load: &'static str,
    gates: &'static str,
    busiest: &'static str,
    idle: &'static str,
    loss: &'static str,
    logged: [&'static str; 3],
}

const MIXTURES: [Mixture; 2] = [
    Mixture {
        title: "Without the balance loss",
        load: "free.load",
        gates: "free.gates",
        busiest: "free.busiest",
        idle: "free.idle",
        loss: "free.loss.now",
        logged: ["log.free.busiest", "log.free.idle", "log.free.words"],
    },
    Mixture {
        title: "With the balance loss",
        load: "balanced.load",
        gates: "balanced.gates",
        busiest: "balanced.busiest",
        idle: "balanced.idle",
        loss: "balanced.loss.now",
        logged: [
            "log.balanced.busiest",
            "log.balanced.idle",
            "log.balanced.words",
        ],
    },
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {player(cx, UNASKED)}
            <p>
                "Steps: " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span>
            </p>
        </div>
        <div class="cols-2">{MIXTURES.each_ref().map(|mixture| side(cx, mixture)).collect_view()}</div>
        {parameters(cx)}
        <More summary="The expert of each word">
            <div class="cols-2">{MIXTURES.each_ref().map(|mixture| map(cx, mixture)).collect_view()}</div>
        </More>
        <More summary="Our logged runs">{logged(cx)}</More>
        <More summary="The text, and the seed">{cx.text_box("text")} {cx.seed_box()}</More>
        {beginning(cx)}
    }
    .into_any()
}

/// One of the two.
fn side(cx: CellCx, mixture: &Mixture) -> AnyView {
    let load = mixture.load;
    let names = cx.words("experts");
    let bar = move |n: usize| {
        let name = move || names.with(|names| names.get(n).cloned().unwrap_or_default());
        let number = cx.num(load, &[n], Format::Percent(0));
        share_row(cx, name, (load, vec![n]), number)
    };
    view! {
        <div class="stack">
            <p class="panel-title">{mixture.title}</p>
            <ul class="shares">{(0..EXPERTS).map(bar).collect_view()}</ul>
            <p class="verdict">
                "Busiest expert: " <span data-train=mixture.busiest>{cx.num(mixture.busiest, &[], Format::Percent(0))}</span>
                " of the words; experts without a word: "
                <span data-train=mixture.idle>{cx.num(mixture.idle, &[], Format::Count)}</span>
                "; loss " {cx.num(mixture.loss, &[], Format::Fixed(2))} "."
            </p>
        </div>
    }
    .into_any()
}

/// The expert of each of the first words, in one of the two.
fn map(cx: CellCx, mixture: &Mixture) -> AnyView {
    view! {
        <div class="stack">
            <p class="panel-title">{mixture.title}</p>
            <HeatMap
                grid=cx.grid_with(mixture.gates, Signal::stored(Vec::new()), "experts", "words")
                label="The expert of each of the first words"
                domain=Domain::Fixed(0.0, 1.0)
                concept=Concept::Weight
                format=Format::Fixed(2)
                picture=true
                no_legend=true
            />
        </div>
    }
    .into_any()
}

fn parameters(cx: CellCx) -> AnyView {
    view! {
        <p class="cell-note">
            {cx.num("number", &[], Format::Count)} " experts with "
            {cx.num("parameters.expert", &[], Format::Count)} " parameters each. With the router, the layer has "
            {cx.num("parameters.all", &[], Format::Count)} ", and a word uses "
            {cx.num("parameters.active", &[], Format::Count)} " of them. Equal loads would be "
            {cx.num("even", &[], Format::Percent(1))} ". The text has "
            {cx.num("count", &[], Format::Count)} " words and marks; the balance loss is weighted by "
            {cx.num("alpha", &[], Format::Fixed(2))} "."
        </p>
    }
    .into_any()
}

/// The same of the logged runs.
fn logged(cx: CellCx) -> AnyView {
    let rows = MIXTURES.each_ref().map(|mixture| {
        let [busiest, idle, words] = mixture.logged;
        view! {
            <tr>
                <th scope="row">{mixture.title}</th>
                <td>
                    {cx.num(busiest, &[0], Format::Percent(0))} " ("
                    {cx.num(busiest, &[1], Format::Percent(0))} " to "
                    {cx.num(busiest, &[2], Format::Percent(0))} ")"
                </td>
                <td>
                    {cx.num(idle, &[1], Format::Count)} " to " {cx.num(idle, &[2], Format::Count)}
                </td>
                <td>{cx.num(words, &[0], Format::Fixed(3))}</td>
            </tr>
        }
    });
    view! {
        <p>
            {cx.num("seeds", &[], Format::Count)} " seeds, " {cx.num("log.steps", &[], Format::Count)}
            " steps, the text of this page. In brackets are the lowest and the highest seed."
        </p>
        <div class="scroll" tabindex="0" role="region" aria-label="The logged runs of the experts">
            <table>
                <caption class="vh">"Load and loss of the logged runs"</caption>
                <thead>
                    <tr>
                        <th scope="col">"mixture"</th>
                        <th scope="col">"busiest expert"</th>
                        <th scope="col">"without a word"</th>
                        <th scope="col">"loss"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        {command_of_runs(cx)}
    }
    .into_any()
}
