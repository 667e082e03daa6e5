//! The heads of a model, ranked by what is lost without them, and the weights of the chosen one.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::head_maps::{HeadMaps, name_of};
use crate::cells::parts::model_note::trained;
use crate::cells::parts::said::{is_yours, said_box};

/// Most heads that are listed: all of tiny-gpt.
const LISTED: usize = 16;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let maps = HeadMaps::new(cx);
    let causal = Signal::stored(true);
    view! {
        <div class="controls">{said_box(cx)}</div>
        <div class="cols-2 map-after">
            {ranking(cx, maps)}
            <div class="stack">{maps.picker()} {maps.large(causal, true)} {about(cx, maps)}</div>
        </div>
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

/// The heads from the one that costs most down.
fn ranking(cx: CellCx, maps: HeadMaps) -> AnyView {
    let largest = cx.value("ranked", vec![0]);
    let row = move |n: usize| {
        let (number, effect) = (cx.value("order", vec![n]), cx.value("ranked", vec![n]));
        let heads = cx.value("heads", Vec::new());
        let place = Memo::new(move |_| {
            let (number, heads) = (number.get()? as usize, heads.get()? as usize);
            Some((number / heads.max(1), number % heads.max(1)))
        });
        let name = move || place.get().map(name_of).unwrap_or_default();
        let share =
            move || effect.get().unwrap_or(0.0).max(0.0) / largest.get().unwrap_or(1.0).max(1e-6);
        let style = move || format!("--share: {:.4}", share());
        let press = move |_| {
            if let Some(place) = place.get_untracked() {
                maps.choose(place);
            }
        };
        let pressed = move || (place.get() == Some(maps.here.get())).to_string();
        view! {
            <li class="share" style=style>
                <button type="button" class="share-word head-name" aria-pressed=pressed on:click=press>
                    <span data-label="">{name}</span>
                </button>
                <span class="share-bar"></span>
                {cx.num("ranked", &[n], Format::Fixed(2))}
            </li>
        }
    };
    let yours = is_yours(cx);
    let of = move || {
        if yours.get() {
            "of the whole text"
        } else {
            "of the second time"
        }
    };
    let rows = move || {
        let count = maps.count().min(LISTED);
        let count = if count == 0 { LISTED } else { count };
        (0..count).map(row).collect_view()
    };
    let rest = move || {
        let count = maps.count();
        (count > LISTED).then(|| format!("The first {LISTED} of {count} heads. "))
    };
    view! {
        <div class="stack tight">
            <p class="panel-title">"Added to the mean loss " {of} " when this head is off"</p>
            <ul class="shares">{rows}</ul>
            <p class="hint"><span data-label="">{rest}</span> "With all heads on: " {cx.num("whole", &[], Format::Fixed(3))}</p>
        </div>
    }
    .into_any()
}

/// What the chosen head looks at.
fn about(cx: CellCx, maps: HeadMaps) -> AnyView {
    let index = Signal::derive(move || {
        let (layer, head) = maps.here.get();
        vec![layer, head]
    });
    view! {
        <dl class="readout">
            <div class="c-weight">
                <dt>"mean weight of the token before"</dt>
                <dd>{cx.num_at("previous", index, Format::Fixed(2))}</dd>
            </div>
            <div class="c-weight">
                <dt>"of what came after the same token"</dt>
                <dd>{cx.num_at("induction", index, Format::Fixed(2))}</dd>
            </div>
        </dl>
    }
    .into_any()
}
