//! Four stacks that learn side by side: their losses, the answers of the two deep ones in the plane,
//! and the same of logged runs.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, command_of_runs, curve, probability_map};
use crate::cells::parts::player::{UNTIL, beginning, player};
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, More};

/// Steps that the cell makes by itself.
const UNASKED: f64 = 300.0;

/// The stacks: name, number of layers, loss, present loss, right points, the same of the logged
/// runs, and colour.
struct Stack {
    name: &'static str,
    layers: &'static str,
    loss: &'static str,
    now: &'static str,
    right: &'static str,
    logged: &'static str,
    logged_right: &'static str,
    concept: Concept,
}

const STACKS: [Stack; 4] = [
    Stack {
        name: "plain, shallow",
        layers: "layers.shallow",
        loss: "plain.shallow.loss",
        now: "plain.shallow.loss.now",
        right: "plain.shallow.right",
        logged: "log.plain.shallow.last",
        logged_right: "log.plain.shallow.right",
        concept: Concept::Residual,
    },
    Stack {
        name: "plain, deep",
        layers: "layers.deep",
        loss: "plain.deep.loss",
        now: "plain.deep.loss.now",
        right: "plain.deep.right",
        logged: "log.plain.deep.last",
        logged_right: "log.plain.deep.right",
        concept: Concept::Score,
    },
    Stack {
        name: "residual, shallow",
        layers: "layers.shallow",
        loss: "residual.shallow.loss",
        now: "residual.shallow.loss.now",
        right: "residual.shallow.right",
        logged: "log.residual.shallow.last",
        logged_right: "log.residual.shallow.right",
        concept: Concept::Output,
    },
    Stack {
        name: "residual, deep",
        layers: "layers.deep",
        loss: "residual.deep.loss",
        now: "residual.deep.loss.now",
        right: "residual.deep.right",
        logged: "log.residual.deep.last",
        logged_right: "log.residual.deep.right",
        concept: Concept::Weight,
    },
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">
            {player(cx, UNASKED)}
            <p>
                "Steps: " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span>
            </p>
            <p>
                "Layers: " {cx.num("layers.shallow", &[], Format::Count)} " (shallow), "
                {cx.num("layers.deep", &[], Format::Count)} " (deep)"
            </p>
        </div>
        <div class="cols-3">
            {probability_map(cx, "plain.deep.map", "The deep plain stack", Vec::new())}
            {probability_map(cx, "residual.deep.map", "The deep residual stack", Vec::new())}
            <div class="stack">{losses(cx, computed)} {table(cx)}</div>
        </div>
        <More summary="Our logged runs, the layers of the deep stacks, and the seed">
            <div class="controls">{cx.slider("deep", Format::Count)} {cx.seed_box()}</div>
            {logged(cx)}
        </More>
        {beginning(cx)}
    }
    .into_any()
}

fn losses(cx: CellCx, computed: Computed) -> AnyView {
    let loss = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line =
                |stack: &Stack| curve(c, stack.loss, stack.name, stack.concept, |n| (n + 1) as f64);
            Some(Chart {
                title: "Training loss".to_owned(),
                x_label: "step".to_owned(),
                y_label: "loss, nats".to_owned(),
                series: STACKS.iter().map(line).collect(),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("loss", loss);
    view! { <ChartView chart=loss label="Training loss of all four stacks" height=180 until=UNTIL /> }
        .into_any()
}

/// Where each stack is now.
fn table(cx: CellCx) -> AnyView {
    let rows = STACKS.each_ref().map(|stack| {
        view! {
            <tr>
                <th scope="row">{stack.name}</th>
                <td>{cx.num(stack.now, &[], Format::Fixed(3))}</td>
                <td data-train=stack.right>{cx.num(stack.right, &[], Format::Count)}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The four stacks">
            <table>
                <caption class="vh">"Training loss and right points of each stack"</caption>
                <thead>
                    <tr>
                        <th scope="col">"stack"</th>
                        <th scope="col">"loss"</th>
                        <th scope="col">"right of " {cx.num("points", &[], Format::Count)}</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The same of the logged runs, over several seeds.
fn logged(cx: CellCx) -> AnyView {
    let rows = STACKS.each_ref().map(|stack| {
        let layers = match stack.layers {
            "layers.deep" => "log.deep",
            _ => "log.shallow",
        };
        view! {
            <tr>
                <th scope="row">{stack.name}</th>
                <td>{cx.num(layers, &[], Format::Count)}</td>
                <td>
                    {cx.num(stack.logged, &[0], Format::Fixed(3))} " ("
                    {cx.num(stack.logged, &[1], Format::Fixed(3))} " to "
                    {cx.num(stack.logged, &[2], Format::Fixed(3))} ")"
                </td>
                <td>
                    {cx.num(stack.logged_right, &[1], Format::Count)} " to "
                    {cx.num(stack.logged_right, &[2], Format::Count)}
                </td>
            </tr>
        }
    });
    view! {
        <p>
            {cx.num("seeds", &[], Format::Count)} " seeds for each stack, "
            {cx.num("log.steps", &[], Format::Count)}
            " steps. The loss is the mean over the last steps; in brackets are the lowest and the highest seed."
        </p>
        <div class="scroll" tabindex="0" role="region" aria-label="The logged runs">
            <table>
                <caption class="vh">"Layers, training loss and right points of the logged runs"</caption>
                <thead>
                    <tr>
                        <th scope="col">"stack"</th>
                        <th scope="col">"layers"</th>
                        <th scope="col">"training loss"</th>
                        <th scope="col">"right points"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        {command_of_runs(cx)}
    }
    .into_any()
}
