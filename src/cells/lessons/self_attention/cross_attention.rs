//! One sentence asks, another answers: a rectangle of weights, and the shapes that meet in it.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::frame::selection::of_rows;
use crate::cells::parts::figures::untrained;
use crate::widgets::{
    Concept, Course, Domain, HeatMap, Joint, More, Palette, Place, TokenStrip, set,
};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let (asking, answering) = (cx.words("asking"), cx.words("answering"));
    let word = cx.selected_token("selected", asking, cx.text("asking"));
    let row = Memo::new(move |_| word.get().filter(|&w| w < asking.with(Vec::len)));
    let mark = Signal::derive(move || match row.get() {
        Some(i) => (0..answering.with(Vec::len))
            .map(|j| (i, j))
            .collect::<Vec<Place>>(),
        None => Vec::new(),
    });
    let prefix = Signal::stored(Vec::new());
    view! {
        <div class="controls">{cx.text_box("asking")} {cx.text_box("answering")}</div>
        <section class="panel stack tight">
            <p class="panel-title">"Choose the word that asks"</p>
            <TokenStrip tokens=asking label="Words that ask" source="input:asking" selected=word />
        </section>
        {move || row.get().map(|row| bars(cx, row, answering.get()))}
        <div class="flow is-two">
            <div class="chain">
            <HeatMap
                grid=cx.grid_with("weights", prefix, "asking", "answering")
                label="Weights: a row for each word that asks"
                domain=Domain::Fixed(0.0, 1.0)
                format=Format::Fixed(2)
                concept=Concept::Weight
                selected=of_rows(word)
                mark
            />
            <Joint course=Course::Across operation="$\u{b7} V$" concept=Concept::Output />
            </div>
            <HeatMap
                grid=cx.grid_with("output", prefix, "asking", "")
                label="Output: a row for each word that asks"
                palette=Palette::Diverging
                domain=Domain::Symmetric
                format=Format::Fixed(2)
                concept=Concept::Output
                no_legend=true
            />
        </div>
        <More summary="The shapes of the matrices, and other random parameters">
            {shapes(cx)} {cx.seed_box()}
        </More>
        {untrained(cx)}
    }
    .into_any()
}

/// Attention weights of one word over the words of the other sentence.
fn bars(cx: CellCx, row: usize, answering: Vec<String>) -> AnyView {
    let items = answering
        .into_iter()
        .enumerate()
        .map(|(column, token)| {
            let weight = cx.value("weights", vec![row, column]);
            let width = move || format!("--share: {:.4}", weight.get().unwrap_or(0.0));
            view! {
                <li class="share" style=width>
                    <span class="share-word" data-from=format!("input:answering[{column}]")>
                        {token}
                    </span>
                    <span class="share-bar"></span>
                    {cx.num("weights", &[row, column], Format::Percent(1))}
                </li>
            }
        })
        .collect_view();
    view! {
        <div class="panel">
            <ul class="shares">{items}</ul>
        </div>
    }
    .into_any()
}

/// The matrices in the order in which they meet, with their shapes.
fn shapes(cx: CellCx) -> AnyView {
    let names = [
        ("x_q.shape", "$X_q$: words that ask", Concept::Residual),
        (
            "x_kv.shape",
            "$X_{kv}$: words that answer",
            Concept::Residual,
        ),
        ("w_q.shape", "$W_Q$", Concept::Query),
        ("w_k.shape", "$W_K$", Concept::Key),
        ("w_v.shape", "$W_V$", Concept::Value),
        ("q.shape", "$Q$", Concept::Query),
        ("k.shape", "$K$", Concept::Key),
        ("v.shape", "$V$", Concept::Value),
        ("weights.shape", "weights $A$", Concept::Weight),
        ("output.shape", "output $Y$", Concept::Output),
    ];
    let items = names
        .into_iter()
        .map(|(name, label, concept)| {
            view! {
                <div class=concept.class()>
                    <dt>{set(label)}</dt>
                    <dd>
                        {cx.num(name, &[0], Format::Count)} " \u{d7} " {cx.num(name, &[1], Format::Count)}
                    </dd>
                </div>
            }
        })
        .collect_view();
    view! { <dl class="readout">{items}</dl> }.into_any()
}
