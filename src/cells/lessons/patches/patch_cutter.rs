//! The view of `patch-cutter`: the picture under its grid, the chosen patch, its values, its place
//! in the sequence.

mod flight;

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::pictures::seen;
use crate::widgets::{Domain, HeatMap, More, Palette, PatchGrid, Selected, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let selected = choose_patch(cx);
    let side = cx.number("patch");
    view! {
        {cx.picture_box("picture")}
        <div class="controls">
            {cx.slider("size", Format::Count)} {cx.slider("patch", Format::Count)} {cx.toggle_box("grey")}
        </div>
        <div class="cols-2">
            <PatchGrid pixels=seen(cx, "picture") patch=Signal::derive(move || side.get() as usize)
                label="The picture, cut into patches" selected=selected counts_from=0 />
            <div class="stack">
                {counts(cx)}
                {place(cx)}
                {shuffle(cx)}
            </div>
        </div>
        <More summary="Pixel values by channel">{planes(cx)}</More>
        <More summary="The patch as the model receives it: one row of numbers">
            {flight::flight(cx)}
            <HeatMap grid=cx.grid("vector") label="The vector of the chosen patch" domain=Domain::Fixed(0.0, 1.0)
                numbers=false palette=Palette::Brightness format=Format::Fixed(2) />
        </More>
    }
    .into_any()
}

/// The patch that the input `chosen` names.
pub(crate) fn choose_patch(cx: CellCx) -> Selected<usize> {
    let chosen = cx.value("chosen", Vec::new());
    let chosen = Signal::derive(move || chosen.get().map(|patch| patch as usize));
    Selected::new(chosen, move |patch: Option<usize>| {
        if let Some(patch) = patch {
            cx.set("chosen", InputValue::Number(patch as f64));
        }
    })
}

fn counts(cx: CellCx) -> AnyView {
    let left_out = cx.value("left_out", Vec::new());
    view! {
        <dl class="readout pairs">
            <dt>{set("Tokens $N$")}</dt>
            <dd>{cx.num("across", &[], Format::Count)} " \u{d7} " {cx.num("across", &[], Format::Count)} " = "
                {cx.num("tokens", &[], Format::Count)}</dd>
            <dt>"Numbers in a patch"</dt>
            <dd>{cx.num("channels", &[], Format::Count)} {set(" $\u{b7} P \u{b7} P =$ ")} {cx.num("width", &[], Format::Count)}</dd>
        </dl>
        {move || left_out.get().filter(|&l| l > 0.0).map(|_| view! {
            <p class="aside note">"P does not divide the side: " {cx.num("left_out", &[], Format::Count)}
                " pixels at the right and at the bottom are left out."</p>
        })}
    }
    .into_any()
}

fn place(cx: CellCx) -> AnyView {
    view! {
        <section class="panel c-position">
            <p class="panel-title">"Position in the sequence"</p>
            <p class="sum">
                "row " {cx.num("row", &[], Format::Count)} " \u{d7} " {cx.num("across", &[], Format::Count)}
                " + column " {cx.num("column", &[], Format::Count)} " = position " {cx.num("chosen", &[], Format::Count)}
            </p>
            <p>"Rows, columns and positions are counted from zero, in reading order."</p>
        </section>
    }
    .into_any()
}

/// The same patches in another order, and where the chosen one was before.
fn shuffle(cx: CellCx) -> AnyView {
    let is_shuffled = cx.toggle("shuffle");
    view! {
        <section class="panel">
            {cx.toggle_box("shuffle")}
            {move || is_shuffled.get().then(|| view! {
                <p>"The matrix has the same rows in another order: the chosen patch was number "
                    {cx.num("from", &[], Format::Count)} "."</p>
            })}
        </section>
    }
    .into_any()
}

/// The chosen patch, one heat map a channel, in the order of the channels in the vector.
fn planes(cx: CellCx) -> AnyView {
    let grey = cx.toggle("grey");
    let plane = move |name: &'static str, label: &'static str| {
        view! {
            <HeatMap grid=cx.grid(name) label=label domain=Domain::Fixed(0.0, 1.0) palette=Palette::Brightness picture=true
                format=Format::Fixed(3) />
        }
    };
    view! {
        <section class="panel patch-planes">
            {move || if grey.get() {
                plane("grey", "Grey").into_any()
            } else {
                view! {
                    <div class="cols-3">
                        {plane("red", "Red")} {plane("green", "Green")} {plane("blue", "Blue")}
                    </div>
                }
                .into_any()
            }}
        </section>
    }
    .into_any()
}
