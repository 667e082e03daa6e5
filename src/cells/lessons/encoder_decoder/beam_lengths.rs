//! Four beam sizes on the site's own sentences: the length of the translations, growing while it
//! measures, and the sentences that a beam wins and loses.

use cells::format::Format;
use cells::lessons::encoder_decoder::beam_lengths::SIZES;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::player::{Words, player_saying};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// Words of the buttons.
const WORDS: Words = Words {
    label: "Measuring",
    start: "Measure",
    pause: "Stop",
    step: "One sentence",
    rewind: "Clear",
};

/// What the chart says before there is anything to draw.
const UNTIL: &str = "Press Measure: the model translates our test sentences here.";

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let done = cx.number("steps");
    view! {
        <div class="controls">{cx.slider("alpha", Format::Fixed(1))}</div>
        <div class="row center">
            {player_saying(cx, WORDS, f64::INFINITY)}
            <p>
                <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span> " of "
                {cx.num("sentences", &[], Format::Count)} " sentences measured "
                <progress max=move || cx.value("sentences", Vec::new()).get().unwrap_or(1.0) value=move || done.get() aria-label="Sentences measured"></progress>
            </p>
        </div>
        <div class="cols-2">{chart(cx)} {table(cx)}</div>
        <More summary="Sentences that the beam wins or loses">
            {list(cx, "Only the beam of four is right", ["won", "won.english", "won.greedy", "won.wider"])}
            {list(cx, "Only greedy decoding is right", ["lost", "lost.english", "lost.greedy", "lost.wider"])}
        </More>
        {trained(&["translator"])}
    }
    .into_any()
}

fn chart(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let ys = values(c, "words");
            let xs = if ys.is_empty() {
                Vec::new()
            } else {
                values(c, "sizes")
            };
            let series = Series {
                name: "mean length".to_owned(),
                source: "words".to_owned(),
                kind: Kind::Line,
                xs,
                ys,
                concept: Concept::Output,
            };
            Some(Chart {
                title: "Length of the translations".to_owned(),
                x_label: "beam size".to_owned(),
                y_label: "words".to_owned(),
                series: vec![series],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("lengths", chart);
    view! { <ChartView chart label="Mean length of the translations by beam size" height=230 format=Format::Fixed(2) until=UNTIL /> }
        .into_any()
}

/// The same with the scores.
fn table(cx: CellCx) -> AnyView {
    let steps = cx.value("steps", Vec::new());
    let has_any = Memo::new(move |_| steps.get() > Some(0.0));
    let rows = move || {
        let sizes = 0..SIZES.len();
        sizes
            .map(|n| {
                let scores = has_any.get().then(|| {
                    view! {
                        <td>{cx.num("words", &[n], Format::Fixed(2))}</td>
                        <td>{cx.num("bleu", &[n], Format::Fixed(1))}</td>
                        <td>{cx.num("exact", &[n], Format::Percent(1))}</td>
                    }
                });
                view! {
                    <tr>
                        <th scope="row">{cx.num("sizes", &[n], Format::Count)}</th>
                        {scores}
                    </tr>
                }
            })
            .collect_view()
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Scores by beam size">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"beam size"</th>
                        <th scope="col">"words"</th>
                        <th scope="col">"BLEU"</th>
                        <th scope="col">"exact"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// Sentences with both translations.
fn list(
    cx: CellCx,
    title: &'static str,
    [count, english, greedy, wider]: [&'static str; 4],
) -> AnyView {
    let texts = [english, greedy, wider].map(|name| cx.words(name));
    let rows = move || {
        let [english_texts, greedy_texts, wider_texts] = texts.map(|texts| texts.get());
        let all = english_texts
            .into_iter()
            .zip(greedy_texts)
            .zip(wider_texts)
            .enumerate();
        all.map(|(n, ((source, first), second))| {
            view! {
                <li>
                    <span data-from=format!("{english}[{n}]")>{source}</span> ": greedy "
                    <em lang="it" data-from=format!("{greedy}[{n}]")>{first}</em> ", beam "
                    <em lang="it" data-from=format!("{wider}[{n}]")>{second}</em>
                </li>
            }
        })
        .collect_view()
    };
    view! {
        <section class="panel">
            <p class="panel-title">{title} ": " {cx.num(count, &[], Format::Count)}</p>
            <ul>{rows}</ul>
        </section>
    }
    .into_any()
}
