//! One word changes; which logits notice, with the causal mask and with a mistake in it.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::largest_of;
use crate::cells::parts::model_note::{model_box, model_note, pieces_note};
use crate::widgets::{Concept, Domain, HeatMap, More, Palette, Selected, TokenStrip, set};

/// Tensors of one side.
#[derive(Clone, Copy)]
struct Side {
    title: &'static str,
    difference: &'static str,
    bits: &'static str,
    moved: &'static str,
    earlier: &'static str,
}

const WITH: Side = Side {
    title: "With the causal mask",
    difference: "with.difference",
    bits: "with.bits",
    moved: "with.moved",
    earlier: "with.earlier",
};

const OTHER: Side = Side {
    title: "With the mistake",
    difference: "other.difference",
    bits: "other.bits",
    moved: "other.moved",
    earlier: "other.earlier",
};

/// What a mistake does to the mask.
fn explained(mistake: &str) -> &'static str {
    match mistake {
        "one-too-far" => "Mistake: a position also sees the next one",
        "transposed" => "Mistake: a position sees only itself and later ones",
        "after-softmax" => "Mistake: hidden weights are set to zero after the softmax",
        "before-scaling" => {
            "Mistake: \u{2212}100 for \u{2212}\u{221e}, before the division by $\u{221a}d_k$"
        }
        _ => "Mistake: no mask, all positions are seen",
    }
}

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let most = largest_of(cx, [WITH.difference, OTHER.difference]);
    let domain = Signal::derive(move || Domain::Fixed(-most.get(), most.get()));
    let mistake = cx.choice("mistake");
    let right = WITH.title.into_any();
    let wrong = view! { {move || set(explained(&mistake.get()))} }.into_any();
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.text_box("word")} {model_box(cx)}</div>
        {pieces_note(cx)}
        <div class="row">
            <div>
                <p class="panel-title">"Choose the word to change"</p>
                {chooser(cx)}
                {cut(cx)}
            </div>
            {cx.choice_box("mistake")}
        </div>
        <div class="cols-2 twins" style="--parts: 4">{side(cx, WITH, right, domain)} {side(cx, OTHER, wrong, domain)}</div>
        {model_note(cx)}
    }
    .into_any()
}

/// The sentence as buttons; the pressed one is the word that changes.
fn chooser(cx: CellCx) -> AnyView {
    let place = cx.value("place", Vec::new());
    let now = Memo::new(move |_| place.get().map(|p| p as usize - 1));
    let selected = Selected::new(now, move |chosen| {
        // A second press would choose no word at all; some word must change.
        if let Some(i) = chosen {
            cx.set("place", InputValue::Number((i + 1) as f64));
        }
    });
    view! {
        <TokenStrip tokens=cx.words("tokens") label="Word to change" source="tokens" selected />
    }
    .into_any()
}

/// A note for a new word that the model reads as several tokens, of which only one can replace the
/// old token.
fn cut(cx: CellCx) -> AnyView {
    let pieces = cx.value("pieces", Vec::new());
    let several = Memo::new(move |_| pieces.get().is_some_and(|n| n > 1.0));
    view! {
        {move || several.get().then(|| view! {
            <p class="hint">
                "The model reads the new word as " {cx.num("pieces", &[], Format::Count)}
                " tokens; the first of them replaces the old token."
            </p>
        })}
    }
    .into_any()
}

fn side(cx: CellCx, side: Side, title: AnyView, domain: Signal<Domain>) -> AnyView {
    let place = cx.value("place", Vec::new());
    let words = move || {
        let (old, new) = (cx.words("tokens").get(), cx.words("changed").get());
        old.into_iter().zip(new).enumerate().collect::<Vec<_>>()
    };
    let row = move |i: usize, old: String, new: String| {
        let earlier = move || place.get().is_some_and(|p| i + 1 < p as usize);
        let bits = cx.value(side.bits, vec![i]);
        let still = move || bits.get() == Some(0.0);
        let word = if old == new {
            old
        } else {
            format!("{old} \u{2192} {new}")
        };
        view! {
            <tr>
                <th scope="row" data-label="">{word}</th>
                <td>{cx.num(side.bits, &[i], Format::Count)}</td>
                <td>{cx.num(side.moved, &[i], Format::Power(1))}</td>
                <td class="verdict" class:good=move || earlier() && still() class:bad=move || earlier() && !still()>
                    {move || match (earlier(), still()) {
                        (true, true) => "same bits",
                        (true, false) => "leaked",
                        (false, true) => "same bits",
                        (false, false) => "changed",
                    }}
                </td>
            </tr>
        }
    };
    view! {
        <section class="panel stack">
            <p class="panel-title">{title}</p>
            <div class="scroll" tabindex="0" role="region" aria-label=format!("{}: logits that changed", side.title)>
                <table>
                    <caption class="vh">{side.title} ": how many logits changed at each position"</caption>
                    <thead>
                        <tr>
                            <th scope="col">"position"</th>
                            <th scope="col">"logits changed, of " {cx.num("logits", &[], Format::Count)}</th>
                            <th scope="col">"largest change"</th>
                            <th scope="col">"verdict"</th>
                        </tr>
                    </thead>
                    <tbody>{move || words().into_iter().map(|(i, (old, new))| row(i, old, new)).collect_view()}</tbody>
                </table>
            </div>
            {verdict(cx, side)}
            <More summary="The change of each logit">
            <HeatMap
                grid=cx.grid_with(side.difference, Signal::stored(Vec::new()), "tokens", "logit")
                label=format!("{}: change of the first logits", side.title)
                palette=Palette::Diverging
                domain
                format=Format::Fixed(3)
                concept=Concept::Output
                numbers=false
            />
            </More>
        </section>
    }
    .into_any()
}

fn verdict(cx: CellCx, side: Side) -> AnyView {
    let earlier = cx.value(side.earlier, Vec::new());
    let places = cx.value("before", Vec::new());
    let none = move || places.get() == Some(0.0);
    let leaks = move || earlier.get().is_some_and(|n| n > 0.0);
    view! {
        <p class="verdict" class:good=move || !none() && !leaks() class:bad=leaks>
            {move || {
                if none() {
                    "No position is before the first word. Earlier logits that changed: "
                } else if leaks() {
                    "The future leaks. Earlier logits that changed: "
                } else {
                    "Nothing leaks, not one bit. Earlier logits that changed: "
                }
            }} {cx.num(side.earlier, &[], Format::Count)}
        </p>
    }
    .into_any()
}
