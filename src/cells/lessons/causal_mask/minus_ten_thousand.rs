//! One row of scores under two masks: minus infinity, and a number in its place.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;
use ndarray::Array2;

use crate::cells::frame::context::CellCx;
use crate::widgets::{Concept, More, Num, mask_legend};

/// Differences below this are rounding.
const ROUNDING: f64 = 1e-6;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {cx.matrix_edit("scores", Concept::Score, &["score"], &[])} {cx.slider("penalty", Format::Count)}
        </div>
        {keys(cx)}
        <div class="cols-2 same-columns">
            {side(
                cx,
                view! { "Hidden by minus infinity" }.into_any(),
                "Row hidden by minus infinity",
                ["infinite.masked", "infinite.weights", "infinite.naive"],
                ["infinite.sum", "infinite.leak"],
            )}
            {side(
                cx,
                view! { "Hidden by adding " {penalty(cx)} }.into_any(),
                "Row hidden by a number",
                ["finite.masked", "finite.weights", "finite.naive"],
                ["finite.sum", "finite.leak"],
            )}
        </div>
        {verdicts(cx)}
        <More summary="The scale, and the order of mask and scale">
            <div class="controls">{cx.slider("d_k", Format::Count)} {cx.toggle_box("first")}</div>
        </More>
    }
    .into_any()
}

fn penalty(cx: CellCx) -> AnyView {
    let value = cx.number("penalty");
    let value = Signal::derive(move || Some(value.get()));
    view! { <Num value from="input:penalty" format=Format::Count /> }.into_any()
}

/// The present mask, as long as the row of scores.
fn visible(cx: CellCx) -> Array2<f32> {
    let seen = cx.computed().with_untracked(|c| {
        let tensor = c.as_ref()?.tensor("seen")?;
        let row = tensor.values.iter().map(|&x| x as f32).collect();
        Array2::from_shape_vec((1, tensor.values.len()), row).ok()
    });
    seen.unwrap_or_else(|| cx.matrix("visible").get_untracked())
}

/// A button for each key, and two for all of them.
fn keys(cx: CellCx) -> AnyView {
    let names = cx.words("key");
    let press = move |j: usize| {
        let mut mask = visible(cx);
        if let Some(entry) = mask.get_mut((0, j)) {
            *entry = 1.0 - *entry;
        }
        cx.set("visible", InputValue::Matrix(mask));
    };
    let all = move |to: f32| {
        cx.set("visible", InputValue::Matrix(visible(cx).mapv(|_| to)));
    };
    let button = move |j: usize, name: String| {
        let seen = cx.value("seen", vec![0, j]);
        view! {
            <li>
                <button
                    type="button"
                    class="token"
                    aria-pressed=move || if seen.get() == Some(1.0) { "true" } else { "false" }
                    on:click=move |_| press(j)
                >
                    <span data-label="">{name}</span>
                </button>
            </li>
        }
    };
    view! {
        <section class="panel">
            <p class="panel-title">"Visible keys: click to hide or show"</p>
            <div class="row">
                <ul class="tokens mask-keys">
                    {move || names.get().into_iter().enumerate().map(|(j, name)| button(j, name)).collect_view()}
                </ul>
                <button type="button" class="button" on:click=move |_| all(0.0)>"Hide all"</button>
                <button type="button" class="button" on:click=move |_| all(1.0)>"Show all"</button>
                {mask_legend(true)}
            </div>
        </section>
    }
    .into_any()
}

/// The row under one mask.
fn side(
    cx: CellCx,
    title: AnyView,
    label: &'static str,
    [masked, weights, naive]: [&'static str; 3],
    [sum, leak]: [&'static str; 2],
) -> AnyView {
    let names = cx.words("key");
    let row = move |j: usize, name: String| {
        let seen = cx.value("seen", vec![0, j]);
        view! {
            <tr>
                <th scope="row" class:is-masked=move || seen.get() == Some(0.0)>
                    <span>
                        <span data-label="">{name}</span> {move || (seen.get() == Some(0.0)).then_some(", hidden")}
                    </span>
                </th>
                <td>{cx.num(masked, &[0, j], Format::Fixed(3))}</td>
                <td>{cx.num(weights, &[0, j], Format::Fixed(4))}</td>
                <td>{cx.num(naive, &[j], Format::Fixed(4))}</td>
            </tr>
        }
    };
    view! {
        <section class="panel">
            <p class="panel-title">{title}</p>
            <div class="scroll" tabindex="0" role="region" aria-label=label>
                <table>
                    <caption class="vh">{label}</caption>
                    <thead>
                        <tr>
                            <th scope="col">"key"</th>
                            <th scope="col">"score"</th>
                            <th scope="col">"weight"</th>
                            <th scope="col">"unshifted"</th>
                        </tr>
                    </thead>
                    <tbody>
                        {move || names.get().into_iter().enumerate().map(|(j, name)| row(j, name)).collect_view()}
                    </tbody>
                </table>
            </div>
            <dl class="readout">
                <div class="c-weight">
                    <dt>"sum of the weights"</dt>
                    <dd>{cx.num(sum, &[], Format::Fixed(4))}</dd>
                </div>
                <div>
                    <dt>"weight of hidden keys"</dt>
                    <dd>{cx.num(leak, &[], Format::Power(2))}</dd>
                </div>
            </dl>
        </section>
    }
    .into_any()
}

/// The difference between the two, in words.
fn verdicts(cx: CellCx) -> AnyView {
    let difference = cx.value("difference", Vec::new());
    let count = cx.value("visible", Vec::new());
    let apart = move || difference.get().is_some_and(|d| d > ROUNDING);
    let empty = move || count.get() == Some(0.0);
    let words = move || match (empty(), apart()) {
        (true, _) => {
            "Every key is hidden. With minus infinity the row is empty; with the finite number it attends as if there were no mask. Largest difference: "
        }
        (false, true) => {
            "The number is not negative enough for these scores: hidden keys still get some weight. Largest difference: "
        }
        (false, false) => "Both masks give the same row. Largest difference: ",
    };
    view! {
        <p class="verdict" class:good=move || !apart() class:bad=apart>
            {words} {cx.num("difference", &[], Format::Power(1))}
        </p>
        {move || {
            empty()
                .then(|| {
                    view! {
                        <p class="verdict">
                            "Difference between the row with the finite number and the row without a mask: "
                            {cx.num("from_plain", &[], Format::Power(1))}
                        </p>
                    }
                })
        }}
    }
    .into_any()
}
