//! The picture with each patch in the colour of its most likely class, and the probabilities after each
//! block for the chosen token: ten of them as a map; of an opened model, its most likely classes.

use std::sync::Arc;

use cells::format::Format;
use cells::input::Pixels;
use cells::lessons::vit::class_token_lens::{COLOURS, TOP};
use cells::{Computation, InputValue};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::decoder_only::logit_lens::lens_table;
use crate::cells::parts::blocks_box::blocks_box;
use crate::cells::parts::figures::values;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::opened_picture::OpenedPicture;
use crate::cells::parts::pad::folded_pad;
use crate::cells::parts::pictures::seen;
use crate::widgets::{Concept, Domain, HeatMap, PatchGrid, Selected};

/// The side of a patch of digit-vit.
const PATCH: usize = 4;

/// The colours of the classes with the most patches (Okabe and Ito 2008, for all kinds of colour vision).
const HUES: [[u8; 3]; COLOURS] = [
    [230, 159, 0],
    [86, 180, 233],
    [0, 158, 115],
    [204, 121, 167],
    [240, 228, 66],
    [0, 114, 178],
];

/// How much of its colour a patch has at probability 0, and how much more at probability 1.
const TINT: (f64, f64) = (0.1, 0.75);

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let none = Signal::stored(Vec::new());
    view! {
        <div class="cols-2 map-beside">
            <div class="stack tight">
                {token_box(cx, "Class token")}
                {class_map(cx, seen(cx, "image"), Signal::stored(PATCH))}
            </div>
            <div class="stack tight">
                {cx.slider("blocks", Format::Count)}
                <HeatMap grid=cx.grid_with("lens", none, "depths", "digits")
                    label="Probability of each digit (column) after each block (row), read off the chosen token"
                    domain=Domain::Fixed(0.0, 1.0) format=Format::Fixed(2) concept=Concept::Output numbers=true />
            </div>
        </div>
        <p class="verdict">
            "The model answers " <strong>{cx.num("answer", &[], Format::Count)}</strong>
            "; read off the class token, this is the most likely digit " {from(cx)} "." {said(cx)}
        </p>
        {folded_pad(cx)}
        {trained(&["digit-vit"])}
    }
    .into_any()
}

/// The view of the cell on a model that the reader has opened.
pub(crate) fn opened_view(cx: CellCx) -> AnyView {
    let Some(picture) = use_context::<OpenedPicture>() else {
        return ().into_any();
    };
    let prediction = cx.words("prediction");
    let answer = move || prediction.with(|words| words.first().cloned());
    let first = move || match picture.before.get() {
        0 => "Mean over the patches",
        _ => "What the classifier reads",
    };
    // Of a model in stages the last one is read, whose tokens hold several patches each.
    let (stage, joined) = (
        cx.value("stage", Vec::new()),
        cx.value("token.patches", Vec::new()),
    );
    let is_staged = Memo::new(move |_| stage.get().is_some());
    let patch = Signal::derive(move || {
        let joined = joined.get().unwrap_or(1.0).max(1.0);
        picture.patch.get() * joined as usize
    });
    let blocks = move || match is_staged.get() {
        true => blocks_box(cx, "Blocks of the last stage that have run: ", 0),
        false => blocks_box(cx, "Blocks that have run: ", 0),
    };
    let of_stage = move || {
        is_staged
            .get()
            .then(|| view! { " of stage " {cx.num("stage", &[], Format::Count)} })
    };
    view! {
        <div class="cols-2">
            <div class="stack tight">
                {move || token_box(cx, first())}
                {class_map(cx, picture.pixels, patch)}
            </div>
            <div class="stack tight">
                {blocks}
                {lens_table(cx, TOP, &[], "answer.probability")}
            </div>
        </div>
        <p class="verdict">
            "The model answers " <strong data-label="">{answer}</strong> "; of its "
            {cx.num("classes", &[], Format::Count)} " classes this is the most likely one " {from(cx)} {of_stage} "." {said(cx)}
        </p>
        {trained(&[])}
    }
    .into_any()
}

/// The token that is read: what the classifier reads, or a patch.
fn token_box(cx: CellCx, first: &'static str) -> AnyView {
    let token = cx.number("token");
    let is_first = move || token.get() == 0.0;
    let choose = move |_| cx.set("token", InputValue::Number(0.0));
    view! {
        <div class="row center">
            <button type="button" class="button" aria-pressed=move || is_first().to_string() on:click=choose>
                {first}
            </button>
            <span class="hint">
                {move || if is_first() {
                    view! { "is read. Click a patch to read it instead." }.into_any()
                } else {
                    view! { "Patch " {cx.num("token", &[], Format::Count)} ", outlined, is read." }.into_any()
                }}
            </span>
        </div>
    }
    .into_any()
}

/// What the chosen patch says after the chosen number of blocks.
fn said(cx: CellCx) -> AnyView {
    let token = cx.value("token", Vec::new());
    let blocks = cx.value("blocks", Vec::new());
    let is_patch = Memo::new(move |_| token.get().is_some_and(|token| token > 0.0));
    let depth = Signal::derive(move || vec![blocks.get().unwrap_or_default() as usize]);
    let names = cx.words("best.names");
    let name = move || names.with(|names| names.get(*depth.get().first()?).cloned());
    let text = move || {
        view! {
            " Patch " {cx.num("token", &[], Format::Count)} " after " {cx.num("blocks", &[], Format::Count)}
            " blocks: " <span data-label="">{name}</span> ", "
            {cx.num_at("best.probability", depth, Format::Percent(0))} "."
        }
    };
    view! { {move || is_patch.get().then(text)} }.into_any()
}

/// The depth from which on the answer is the most likely class, in words.
fn from(cx: CellCx) -> AnyView {
    let knows = cx.value("knows", Vec::new());
    let from = move || match knows.get() {
        Some(0.0) => view! { "at every depth" }.into_any(),
        _ => view! { "from block " {cx.num("knows", &[], Format::Count)} " on" }.into_any(),
    };
    view! { {from} }.into_any()
}

/// The picture, each patch in the colour of its most likely class, and what the colours mean. A click
/// chooses a patch.
fn class_map(cx: CellCx, picture: Signal<Option<Arc<Pixels>>>, patch: Signal<usize>) -> AnyView {
    let computed = cx.computed();
    let pixels = Memo::new(move |_| {
        let (picture, patch) = (picture.get()?, patch.get());
        computed.with(|c| Some(Arc::new(coloured(c.as_ref()?, &picture, patch)?)))
    });
    let token = cx.number("token");
    let chosen = Signal::derive(move || (token.get() as usize).checked_sub(1));
    let selected = Selected::new(chosen, move |patch: Option<usize>| {
        if let Some(patch) = patch {
            cx.set("token", InputValue::Number((patch + 1) as f64));
        }
    });
    view! {
        <PatchGrid pixels patch selected
            label="The picture, each patch in the colour of its most likely class" />
        {keys(cx)}
    }
    .into_any()
}

/// The classes with the most patches, each with its colour and the number of its patches.
fn keys(cx: CellCx) -> AnyView {
    let names = cx.words("groups");
    let others = cx.value("others", Vec::new());
    let has_others = Memo::new(move |_| others.get().is_some_and(|others| others > 0.0));
    let key = move |(n, name): (usize, String)| {
        let [r, g, b] = HUES[n % COLOURS];
        view! {
            <li>
                <span class="mask-swatch" aria-hidden="true" style=format!("background-color:rgb({r} {g} {b})")></span>
                <strong data-label="">{name}</strong> {cx.num("groups.count", &[n], Format::Count)}
            </li>
        }
    };
    let rest = move || {
        view! { <li>"no colour: other classes " {cx.num("others", &[], Format::Count)}</li> }
    };
    view! {
        <p class="hint">"Most likely class, and how many patches it has. The stronger the colour, the higher its probability."</p>
        <ul class="class-keys">
            {move || names.get().into_iter().enumerate().map(key).collect_view()}
            {move || has_others.get().then(rest)}
        </ul>
    }
    .into_any()
}

/// The picture with its patches in the colours of their classes.
fn coloured(c: &Computation, picture: &Pixels, patch: usize) -> Option<Pixels> {
    let (groups, shares) = (values(c, "patches.group"), values(c, "patches.probability"));
    let patch = patch.max(1);
    let columns = picture.width / patch;
    let mut rgb = picture.rgb.clone();
    for (at, pixel) in rgb.chunks_exact_mut(3).enumerate() {
        let (y, x) = (at / picture.width / patch, at % picture.width / patch);
        let place = y * columns + x;
        // A margin belongs to no patch, and a rare class has no colour.
        let Some(hue) = groups
            .get(place)
            .and_then(|&group| HUES.get(group as usize))
        else {
            continue;
        };
        if x >= columns {
            continue;
        }
        let tint = TINT.0 + TINT.1 * shares.get(place)?;
        for (value, hue) in pixel.iter_mut().zip(hue) {
            let (from, to) = (f64::from(*value), f64::from(*hue));
            *value = (from + (to - from) * tint).round() as u8;
        }
    }
    Some(Pixels {
        width: picture.width,
        height: picture.height,
        rgb,
    })
}
