//! The view of `class-heads`: what each head adds to the score of a class, and the heads that it needs most.

use cells::format::{Format, number};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::head_maps::name_of;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::folded_pad;
use crate::widgets::{Concept, Domain, HeatMap, Palette, Place, Selected};

/// Heads that are listed.
const LISTED: usize = 8;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        {sweep(cx)}
        {folded_pad(cx)}
        {trained(&["digit-vit"])}
    }
    .into_any()
}

/// The view of the cell on a model that the reader has opened.
pub(crate) fn opened_view(cx: CellCx) -> AnyView {
    view! { {sweep(cx)} {trained(&[])} }.into_any()
}

/// The class whose score is shown, among the most likely ones.
#[derive(Clone, Copy)]
struct Class {
    selected: Selected<[usize; 1]>,
    now: Memo<usize>,
}

/// What each head does to a class.
fn sweep(cx: CellCx) -> AnyView {
    let (selected, names) = (cx.selected_entry::<1>("class"), cx.words("classes"));
    let now = Memo::new(move |_| {
        let last = names.with(Vec::len).saturating_sub(1);
        selected.get().map_or(0, |[class]| class.min(last))
    });
    let class = Class { selected, now };
    let prefix = Signal::derive(move || vec![now.get()]);
    view! {
        <div class="controls">{class_box(cx, class)}</div>
        <div class="cols-2">
            <HeatMap grid=cx.grid_with("changes", prefix, "layer.names", "head.names")
                label="Change of the score (the logit) of this class when the head is off"
                palette=Palette::Diverging domain=Domain::Symmetric format=Format::Fixed(2) concept=Concept::Output />
            {ranking(cx, class)}
        </div>
        <p class="verdict">
            "With one head off the model gives another answer in " {cx.num("turned", &[], Format::Count)} " of "
            {cx.num("count", &[], Format::Count)} " cases."
        </p>
    }
    .into_any()
}

/// The choice of a class.
fn class_box(cx: CellCx, Class { selected, now }: Class) -> AnyView {
    let names = cx.words("classes");
    let options = move || {
        let names = names.get().into_iter().enumerate();
        let option = |(n, name): (usize, String)| {
            view! { <option value=n.to_string() selected=move || now.get() == n data-label="">{name}</option> }
        };
        names.map(option).collect_view()
    };
    let change = move |event| {
        let class = event_target_value(&event).parse().unwrap_or(0);
        selected.choose(Some([class]));
    };
    let index = Signal::derive(move || vec![now.get()]);
    view! {
        <label class="field"><span>"Class"</span>
            <select name="class" on:change=change>{options}</select>
        </label>
        <p class="hint">"With all heads on: " {cx.num_at("whole", index, Format::Percent(1))}</p>
    }
    .into_any()
}

/// The heads whose absence costs the class most.
fn ranking(cx: CellCx, Class { now, .. }: Class) -> AnyView {
    let computed = cx.computed();
    // The head at a rank, and how many heads a layer has.
    let place = move |rank: usize| -> Memo<Option<Place>> {
        Memo::new(move |_| {
            computed.with(|c| {
                let c = c.as_ref()?;
                let head = c.at("order", &[now.get(), rank])? as usize;
                let heads = c.words("head.names").len().max(1);
                Some((head / heads, head % heads))
            })
        })
    };
    let row = move |rank: usize| {
        let place = place(rank);
        let index = Signal::derive(move || {
            let (layer, head) = place.get().unwrap_or_default();
            vec![now.get(), layer, head]
        });
        let name = move || place.get().map(name_of);
        view! {
            <tr>
                <th scope="row" data-label="">{name}</th>
                <td>{cx.num_at("changes", index, Format::Fixed(2))}</td>
                <td>{cx.num_at("probabilities", index, Format::Percent(1))}</td>
            </tr>
        }
    };
    let count = cx.value("count", Vec::new());
    let count = Memo::new(move |_| count.get().map_or(0, |count| count as usize));
    let rows = move || (0..count.get().min(LISTED)).map(row).collect_view();
    let rest = move || {
        let count = count.get();
        let text = format!(
            "The first {LISTED} of {} heads.",
            number(count as f64, Format::Count)
        );
        (count > LISTED).then_some(text)
    };
    view! {
        <div class="stack tight">
            <table class="values">
                <thead>
                    <tr>
                        <th scope="col">"head that is off"</th>
                        <th scope="col">"change of the score"</th>
                        <th scope="col">"probability without it"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            <p class="hint" data-label="">{rest}</p>
        </div>
    }
    .into_any()
}
