//! A vector of three numbers in space, its mean subtracted, and where layer norm and RMS norm put
//! it.

use cells::InputValue;
use cells::format::{Format, number};
use leptos::prelude::*;
use ndarray::Array2;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::cells::parts::space::{circle, outline, seen, unseen};
use crate::widgets::{Concept, Mark, More, Num, Plane, Tip, set};

/// Farthest coordinate of the drawing, where x is not farther.
const REACH: f64 = 2.2;

/// Length of the axes.
const AXIS: f64 = 2.3;

/// The rows of the table: name, tensor, its length, and colour.
const ROWS: [(&str, &str, Option<&str>, &str); 3] = [
    ("$x$ minus its mean", "centred", None, "c-score"),
    ("layer norm", "layer", Some("length.layer"), "c-output"),
    ("RMSNorm", "rms", Some("length.rms"), "c-key"),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="cols-2">
            {drawing(cx)}
            <div class="stack">{table(cx)} {again(cx)} {cx.slider("tilt", Format::Count)}</div>
        </div>
        <More summary="The vector as numbers, the factor, the shift and \u{3b5}">
            {cx.matrix_edit("x", Concept::Residual, &[], &[])}
            <div class="controls">
                {cx.slider("times", Format::Fixed(1))} {cx.slider("plus", Format::Fixed(1))}
                {cx.slider("power", Format::Count)}
            </div>
        </More>
    }
    .into_any()
}

/// The three numbers of a tensor.
fn three(cx: CellCx, name: &'static str) -> Signal<Option<[f64; 3]>> {
    let computed = cx.computed();
    Signal::derive(move || {
        let all = computed.with(|c| c.as_ref().map(|c| values(c, name)))?;
        all.try_into().ok()
    })
}

/// The input as a point in space.
fn input(cx: CellCx) -> Signal<Option<[f64; 3]>> {
    let matrix = cx.matrix("x");
    Signal::derive(move || {
        let all: Vec<f64> = matrix.with(|m| m.iter().map(|&x| f64::from(x)).collect());
        all.try_into().ok()
    })
}

/// Space from the side, or along the direction in which all three numbers are equal.
fn drawing(cx: CellCx) -> AnyView {
    let tilt = cx.number("tilt");
    let at = move |point: Signal<Option<[f64; 3]>>| -> Tip {
        Signal::derive(move || Some(seen(point.get()?, tilt.get())))
    };
    let fixed =
        move |point: [f64; 3]| -> Tip { Signal::derive(move || Some(seen(point, tilt.get()))) };
    let x = input(cx);
    let write = Callback::new(move |to: (f64, f64)| {
        let Some(from) = x.get_untracked() else {
            return;
        };
        let moved = unseen(from, to, tilt.get_untracked());
        let row =
            Array2::from_shape_fn((1, 3), |(_, n)| ((moved[n] * 100.0).round() / 100.0) as f32);
        if row != cx.matrix("x").get_untracked() {
            cx.set("x", InputValue::Matrix(row));
        }
    });
    let ends = [0, 1, 2].map(|axis| {
        let mut end = [0.0; 3];
        end[axis] = AXIS;
        end
    });
    let names = ["first", "second", "third"];
    let mut marks: Vec<Mark> = (names.into_iter().zip(ends))
        .map(|(name, end)| Mark::point(name, Concept::Plain, fixed(end)))
        .collect();
    let (centred, layer) = (three(cx, "centred"), three(cx, "layer"));
    marks.push(Mark::arrow("x \u{2212} mean", Concept::Score, at(centred)).faint());
    marks.push(Mark::point("RMS", Concept::Key, at(three(cx, "rms"))));
    marks.push(Mark::arrow("LN", Concept::Output, at(layer)));
    marks.push(Mark::arrow("x", Concept::Residual, at(x)).draggable(write));
    let radius = cx.value("radius", Vec::new());
    let axes = Signal::derive(move || {
        let tilt = tilt.get();
        ends.map(|end| [(0.0, 0.0), seen(end, tilt)]).to_vec()
    });
    let sphere = Signal::derive(move || outline(radius.get().unwrap_or_default()));
    let ring = Signal::derive(move || circle(radius.get().unwrap_or_default(), tilt.get()));
    // What is dragged stays within it, so the drawing does not breathe.
    let reach: Signal<f64> = Memo::new(move |_| {
        let (right, up) = seen(x.get().unwrap_or_default(), tilt.get());
        let farthest = right.abs().max(up.abs());
        if farthest > REACH + 1e-6 {
            farthest.ceil()
        } else {
            REACH
        }
    })
    .into();
    let words = Signal::derive(move || {
        let said = |name: &str, point: Option<[f64; 3]>| {
            let point = point.unwrap_or_default();
            let [a, b, c] = point.map(|x| number(x, Format::Fixed(2)));
            format!("{name}: {a}, {b}, {c}. ")
        };
        said("x", x.get())
            + &said("x minus its mean", centred.get())
            + &said("layer norm", layer.get())
    });
    view! {
        <Plane
            label="Drag x: the circle of layer norm, the sphere of RMSNorm"
            marks
            lines=vec![(6, 3)]
            reach=reach
            nets=vec![(Concept::Plain, axes), (Concept::Key, sphere), (Concept::Output, ring)]
            view_of=words
        />
    }
    .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let head = ["first", "second", "third", "length"];
    let own = [0, 1, 2].map(|n| {
        let matrix = cx.matrix("x");
        let value = Signal::derive(move || matrix.with(|m| m.get((0, n)).map(|&x| f64::from(x))));
        view! { <td><Num value from=format!("input:x[0,{n}]") format=Format::Typed /></td> }
    });
    let rows = ROWS.map(|(name, tensor, length, class)| {
        let numbers =
            [0, 1, 2].map(|n| view! { <td>{cx.num(tensor, &[n], Format::Fixed(3))}</td> });
        view! {
            <tr class=class>
                <th scope="row">{set(name)}</th>
                {numbers.collect_view()}
                <td>{length.map(|length| cx.num(length, &[], Format::Fixed(3)))}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The vector and its norms">
            <table>
                <caption class="vh">"The three numbers of the vector and of both norms, with their lengths"</caption>
                <thead>
                    <tr>
                        <th scope="col">"vector"</th>
                        {head.map(|name| view! { <th scope="col">{name}</th> }).collect_view()}
                    </tr>
                </thead>
                <tbody>
                    <tr class="c-residual">
                        <th scope="row">{set("$x$")}</th>
                        {own.collect_view()}
                        <td>{cx.num("length", &[], Format::Fixed(3))}</td>
                    </tr>
                    {rows.collect_view()}
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The same vector, multiplied and shifted.
fn again(cx: CellCx) -> AnyView {
    let typed = |name: &'static str| {
        let value = cx.number(name);
        let value = Signal::derive(move || Some(value.get()));
        view! { <Num value from=format!("input:{name}") format=Format::Typed /> }
    };
    view! {
        <p>
            "Layer norm of " {typed("times")} " \u{d7} " {set("$x$")} " + " {typed("plus")} ": "
            {cx.num("again", &[0], Format::Fixed(3))} ", " {cx.num("again", &[1], Format::Fixed(3))} ", "
            {cx.num("again", &[2], Format::Fixed(3))} ". Largest difference from layer norm of " {set("$x$")} ": "
            {cx.num("again.difference", &[], Format::Power(1))} ", with " {set("$\u{3b5}$")} " = "
            {cx.num("epsilon", &[], Format::Power(0))} "."
        </p>
    }
    .into_any()
}
