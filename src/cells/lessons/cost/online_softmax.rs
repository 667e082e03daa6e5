//! Scores read one by one: the numbers that are kept, the output as a point that moves among the
//! values, and the memory of both ways.

use cells::format::Format;
use cells::lessons::cost::online_softmax::COUNT;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{input_num, input_tip, reach_of, step_button, tip};
use crate::widgets::{Concept, Mark, More, Plane, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="row center">
            {step_button(cx, &["read"], -1.0, "One back")} {step_button(cx, &["read"], 1.0, "Read one more")}
            {cx.slider("read", Format::Count)}
        </div>
        <div class="cols-2">
            <div class="stack">{table(cx)} {compared(cx)} {held(cx)}</div>
            {plane(cx)}
        </div>
        <More summary="Another length, other scores and values">
            {cx.log_slider("tokens", Format::Count)}
            <p class="hint" data-label="">{set("The last way of the small table needs $d_k + 2$ numbers, however long the text is.")}</p>
            {cx.matrix_edit("scores", Concept::Score, &[], &[])}
            {cx.matrix_edit("values", Concept::Value, &[], &[])}
            <p class="cell-note">
                "A row of " {cx.num("long.tokens", &[], Format::Count)} " random scores with values of dimension "
                {cx.num("long.d", &[], Format::Count)} ": the two ways differ by at most "
                {cx.num("long.difference", &[], Format::Power(1))} ", and "
                {cx.num("long.rescaled", &[], Format::Count)} " scores were larger than all before them."
            </p>
        </More>
    }
    .into_any()
}

/// A row for each score that has been read.
fn table(cx: CellCx) -> AnyView {
    let read = cx.number("read");
    let row = |n: usize| {
        let is_read = Memo::new(move |_| (n as f64) < read.get());
        let cell = move |name: &'static str| {
            view! { <td>{move || is_read.get().then(|| cx.num(name, &[n], Format::Fixed(3)))}</td> }
        };
        let output = move |column: usize| {
            view! { <td class="c-output">{move || is_read.get().then(|| cx.num("outputs", &[n, column], Format::Fixed(3)))}</td> }
        };
        view! {
            <tr aria-current=move || (n as f64 + 1.0 == read.get()).then_some("step")>
                <th scope="row" class="c-score">{input_num(cx, "scores", (0, n))}</th>
                {cell("maximum")}
                {cell("factor")}
                {cell("term")}
                {cell("sum")}
                {output(0)}
                {output(1)}
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="What is kept after each score">
            <table>
                <caption class="vh">"For each score the largest so far, the factor of what was kept, the new term, the sum, and the output so far"</caption>
                <thead>
                    <tr>
                        <th scope="col">"score"</th>
                        <th scope="col">"largest"</th>
                        <th scope="col">"factor"</th>
                        <th scope="col">"new term"</th>
                        <th scope="col">"sum"</th>
                        <th scope="col" colspan="2">"output so far"</th>
                    </tr>
                </thead>
                <tbody>{(0..COUNT).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The whole row at once.
fn compared(cx: CellCx) -> AnyView {
    view! {
        <p>
            "The whole row at once gives " {cx.num("dense", &[0], Format::Fixed(3))} " and "
            {cx.num("dense", &[1], Format::Fixed(3))} ". After the last score both ways differ by "
            {cx.num("difference", &[], Format::Power(1))} "."
        </p>
    }
    .into_any()
}

/// The values as points, and the way of the output.
fn plane(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let read = cx.number("read");
    let mut marks: Vec<Mark> = (0..COUNT)
        .map(|n| {
            let (tip, write) = input_tip(cx, "values", move || n, [0, 1]);
            Mark::point(&format!("value {}", n + 1), Concept::Value, tip).draggable(write)
        })
        .collect();
    let dense = tip(computed, "dense", vec![0], vec![1]);
    marks.push(Mark::point("whole row", Concept::Weight, dense));
    let at = move |n: usize| {
        computed.with(|c| {
            let c = c.as_ref()?;
            Some((c.at("outputs", &[n, 0])?, c.at("outputs", &[n, 1])?))
        })
    };
    let now = Signal::derive(move || at((read.get() as usize).max(1) - 1));
    marks.push(Mark::arrow("output", Concept::Output, now));
    let walked = Signal::derive(move || {
        let steps = (read.get() as usize).min(COUNT);
        (1..steps)
            .filter_map(|n| Some([at(n - 1)?, at(n)?]))
            .collect::<Vec<_>>()
    });
    let corners: Vec<usize> = (0..COUNT).collect();
    view! {
        <Plane
            label="The output walks among the values"
            marks
            reach=reach_of(cx, ["values"])
            hull_of=corners
            nets=vec![(Concept::Output, walked)]
        />
    }
    .into_any()
}

/// The numbers that a head holds.
fn held(cx: CellCx) -> AnyView {
    let row = |name: &'static str, tensor: &'static str| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{cx.num(tensor, &[], Format::Count)}</td>
            </tr>
        }
    };
    view! {
        <table>
            <caption>
                "Numbers that a head of dimension " {cx.num("long.d", &[], Format::Count)} " holds at once for "
                {cx.num("tokens", &[], Format::Count)} " tokens"
            </caption>
            <tbody>
                {row("all scores as a matrix", "held.matrix")}
                {row("one query, its whole row", "held.row")}
                {row("one query, one score at a time", "held.online")}
            </tbody>
        </table>
    }
    .into_any()
}
