//! The view of `race-measure`: scores of three translators by the length of the sentence, growing
//! while it measures.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::bottleneck::seq2seq_race::{CARDS, RUNNERS};
use crate::cells::parts::figures::{Computed, values};
use crate::cells::parts::model_note::trained;
use crate::cells::parts::player::{Words, player_saying};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// The models' colours.
const CONCEPTS: [Concept; 3] = [Concept::Score, Concept::Weight, Concept::Output];

/// Words of the buttons.
const WORDS: Words = Words {
    label: "Measuring",
    start: "Measure",
    pause: "Stop",
    step: "One sentence",
    rewind: "Clear",
};

/// What the charts say before there is anything to draw.
const UNTIL: &str = "Press Measure: the models translate our test sentences here.";

/// Tensors of each model: BLEU and exact matches by length, and over all.
const SCORES: [[&str; 4]; 3] = [
    [
        "fixed.bleu",
        "fixed.exact",
        "fixed.bleu.all",
        "fixed.exact.all",
    ],
    [
        "attention.bleu",
        "attention.exact",
        "attention.bleu.all",
        "attention.exact.all",
    ],
    [
        "transformer.bleu",
        "transformer.exact",
        "transformer.bleu.all",
        "transformer.exact.all",
    ],
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let done = cx.number("steps");
    view! {
        <div class="row center">
            {player_saying(cx, WORDS, f64::INFINITY)}
            <p>
                <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span> " of "
                {cx.num("sentences", &[], Format::Count)} " sentences measured "
                <progress max=move || cx.value("sentences", Vec::new()).get().unwrap_or(1.0) value=move || done.get() aria-label="Sentences measured"></progress>
            </p>
        </div>
        {charts(cx, cx.computed())}
        {leads(cx)}
        <More summary="Last sentence measured, and the scores as a table">{last(cx)} {table(cx)}</More>
        {trained(&CARDS)}
    }
    .into_any()
}

/// The sentence that was measured last, once there is one.
fn last(cx: CellCx) -> AnyView {
    let english = cx.words("english");
    let panel = move || {
        english
            .with(|e| e.first().cloned())
            .map(|e| last_panel(cx, e))
    };
    view! { {panel} }.into_any()
}

fn last_panel(cx: CellCx, english: String) -> AnyView {
    let italian = cx.words("italian");
    let known = move || {
        let versions = italian.get().into_iter().enumerate();
        versions
            .map(|(n, version)| {
                view! { {if n == 0 { "" } else { ", or " }} <em lang="it" data-from=format!("italian[{n}]")>{version}</em> }
            })
            .collect_view()
    };
    let rows = RUNNERS.map(|(name, label)| {
        let text: &'static str = match name {
            "fixed" => "fixed.last",
            "attention" => "attention.last",
            _ => "transformer.last",
        };
        let said = cx.words(text);
        view! {
            <tr>
                <th scope="row">{label}</th>
                <td class="is-text" lang="it" data-from=format!("{text}[0]")>
                    {move || said.with(|s| s.first().cloned()).unwrap_or_default()}
                </td>
            </tr>
        }
    });
    view! {
        <section class="panel stack">
            <p class="panel-title">"Measured last: " <span data-from="english[0]">{english}</span></p>
            <p>"accepted: " {known}</p>
            <div class="scroll" tabindex="0" role="region" aria-label="Translation by each model">
                <table><tbody>{rows.collect_view()}</tbody></table>
            </div>
        </section>
    }
    .into_any()
}

fn charts(cx: CellCx, computed: Computed) -> AnyView {
    let chart = move |place: usize, title: &'static str, y_label: &'static str, top: f64| {
        Signal::derive(move || {
            computed.with(|c| {
                let c = c.as_ref()?;
                let (middles, counts) = (values(c, "bucket.middle"), values(c, "bucket.count"));
                let measured = middles
                    .into_iter()
                    .zip(counts)
                    .filter(|(_, count)| *count > 0.0);
                let xs: Vec<f64> = measured.map(|(middle, _)| middle).collect();
                let series = (0..3).map(|n| Series {
                    name: RUNNERS[n].1.to_owned(),
                    source: SCORES[n][place].to_owned(),
                    kind: Kind::Line,
                    xs: xs.clone(),
                    ys: values(c, SCORES[n][place]),
                    concept: CONCEPTS[n],
                });
                Some(Chart {
                    title: title.to_owned(),
                    x_label: "words in the English sentence".to_owned(),
                    y_label: y_label.to_owned(),
                    series: series.collect(),
                    y_range: Some((0.0, top)),
                    ..Chart::default()
                })
            })
        })
    };
    let bleu = chart(0, "BLEU", "BLEU", 100.0);
    let exact = chart(1, "Exact match with a human translation", "share", 1.0);
    cx.offer_chart("bleu", bleu);
    cx.offer_chart("exact", exact);
    view! {
        <div class="cols-2">
            <ChartView chart=bleu beside=vec![exact] label="BLEU against the length of the sentence" height=250 format=Format::Fixed(1) until=UNTIL />
            <ChartView chart=exact beside=vec![bleu] label="Exact matches against the length of the sentence" height=250 format=Format::Percent(1) until=UNTIL />
        </div>
    }
    .into_any()
}

/// The same numbers, with the number of sentences of each.
fn table(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let buckets = Memo::new(move |_| {
        computed.with(|c| {
            c.as_ref()
                .map_or_else(Vec::new, |c| values(c, "bucket.count"))
        })
    });
    let cell = move |name: &'static str, place: usize, format: Format| {
        view! { <td>{cx.num(name, &[place], format)}</td> }
    };
    // Lengths of which nothing was measured yet have no scores.
    let rows = move || {
        let measured = buckets
            .get()
            .into_iter()
            .enumerate()
            .filter(|(_, count)| *count > 0.0);
        measured
            .enumerate()
            .map(|(place, (bucket, _))| {
                view! {
                    <tr>
                        <th scope="row">
                            {cx.num("bucket.from", &[bucket], Format::Count)} " to "
                            {cx.num("bucket.to", &[bucket], Format::Count)}
                        </th>
                        <td>{cx.num("bucket.count", &[bucket], Format::Count)}</td>
                        {SCORES.map(|names| cell(names[0], place, Format::Fixed(1))).collect_view()}
                        {SCORES.map(|names| cell(names[1], place, Format::Percent(0))).collect_view()}
                    </tr>
                }
            })
            .collect_view()
    };
    let all = move || {
        let any = buckets.get().iter().any(|&count| count > 0.0);
        any.then(|| {
            view! {
                <tr>
                    <th scope="row">"all"</th>
                    <td>{cx.num("steps", &[], Format::Count)}</td>
                    {SCORES.map(|names| view! { <td data-race=names[2]>{cx.num(names[2], &[], Format::Fixed(1))}</td> }).collect_view()}
                    {SCORES.map(|names| view! { <td>{cx.num(names[3], &[], Format::Percent(0))}</td> }).collect_view()}
                </tr>
            }
        })
    };
    let short = ["one vector", "attention", "Transformer"];
    let heads = move || {
        short
            .map(|name| view! { <th scope="col">{name}</th> })
            .collect_view()
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Scores by length">
            <table>
                <thead>
                    <tr>
                        <th scope="col" rowspan="2">"words"</th>
                        <th scope="col" rowspan="2">"sentences"</th>
                        <th scope="colgroup" colspan="3">"BLEU"</th>
                        <th scope="colgroup" colspan="3">"exact"</th>
                    </tr>
                    <tr>{heads()} {heads()}</tr>
                </thead>
                <tbody>{rows} {all}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// Lead of attention on long sentences, with its interval.
fn leads(cx: CellCx) -> AnyView {
    let long = cx.value("long.count", Vec::new());
    let lead = move |label: &'static str, names: [&'static str; 3]| {
        view! {
            <li>
                {label} ": " {cx.num(names[0], &[], Format::Fixed(1))} " BLEU points ahead of the fixed vector ("
                <span data-label="">"95 % bootstrap interval: "</span>
                {cx.num(names[1], &[], Format::Fixed(1))} " to " {cx.num(names[2], &[], Format::Fixed(1))} ")"
            </li>
        }
    };
    let list = move || {
        (long.get() > Some(0.0)).then(|| {
            view! {
                <section class="panel stack tight">
                    <p class="panel-title">
                        "On the " {cx.num("long.count", &[], Format::Count)} " measured sentences of "
                        {cx.num("long.from", &[], Format::Count)} " words or more"
                    </p>
                    <ul>
                        {lead("GRU with attention", ["attention.lead", "attention.lead.low", "attention.lead.high"])}
                        {lead("Transformer", ["transformer.lead", "transformer.lead.low", "transformer.lead.high"])}
                    </ul>
                </section>
            }
        })
    };
    view! { {list} }.into_any()
}
