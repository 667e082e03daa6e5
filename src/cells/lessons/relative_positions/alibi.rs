//! ALiBi's heads: their slopes to choose from, the bias and weights of one, and how far each sees.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, untrained, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, Domain, HeatMap, More, Palette};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let selected = cx.selected_place("selected");
    let prefix = Signal::stored(Vec::new());
    let content = cx.toggle("content");
    let note = move || content.get().then(|| untrained(cx));
    view! {
        <div class="controls">
            {cx.text_box("sentence")} {cx.slider("heads", Format::Count)}
        </div>
        {slopes(cx, computed)}
        <div class="cols-2">
            <HeatMap
                grid=cx.grid_with("bias", prefix, "tokens", "tokens")
                label="Bias of this head"
                palette=Palette::Diverging
                domain=Domain::Symmetric
                format=Format::Fixed(2)
                concept=Concept::Position
                selected
            />
            <HeatMap
                grid=cx.grid_with("weights", prefix, "tokens", "tokens")
                label="Weights of this head"
                domain=Domain::Fixed(0.0, 1.0)
                format=Format::Fixed(2)
                concept=Concept::Weight
                selected
            />
        </div>
        <More summary="How far each head sees">{horizon(cx, computed)}</More>
        <More summary="Random word scores">
            <div class="controls">{cx.toggle_box("content")} {cx.seed_box()}</div>
        </More>
        {note}
    }
    .into_any()
}

/// A button for each head, with its slope.
fn slopes(cx: CellCx, computed: Computed) -> AnyView {
    let count = Memo::new(move |_| {
        computed.with(|c| {
            c.as_ref()
                .and_then(|c| c.tensor("slopes"))
                .map_or(0, |t| t.values.len())
        })
    });
    let chosen = cx.value("head", Vec::new());
    let button = move |i: usize| {
        let pressed = move || {
            if chosen.get() == Some((i + 1) as f64) {
                "true"
            } else {
                "false"
            }
        };
        view! {
            <li>
                <button
                    type="button"
                    aria-pressed=pressed
                    on:click=move |_| cx.set("head", InputValue::Number((i + 1) as f64))
                >
                    <span data-label="">{format!("head {} ", i + 1)}</span>
                    {cx.num("slopes", &[i], Format::Fixed(5))}
                </button>
            </li>
        }
    };
    view! {
        <section class="panel c-position">
            <p class="panel-title">"The slope of each head"</p>
            <ul class="tokens">{move || (0..count.get()).map(button).collect_view()}</ul>
        </section>
    }
    .into_any()
}

/// Weight against distance for the chosen head, and for the steepest and the flattest.
fn horizon(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let decay = c.tensor("decay")?;
            let &[heads, reach] = decay.shape() else {
                return None;
            };
            let all = values(c, "decay");
            let line = |head: usize, name: &str, concept: Concept| Series {
                name: name.to_owned(),
                source: format!("decay[{head},{{}}]"),
                kind: Kind::Line,
                xs: (0..reach).map(|d| d as f64).collect(),
                ys: all[head * reach..(head + 1) * reach].to_vec(),
                concept,
            };
            let head = (c.at("head", &[])? as usize).clamp(1, heads) - 1;
            let slopes = values(c, "slopes");
            let by_slope = |a: &usize, b: &usize| slopes[*a].total_cmp(&slopes[*b]);
            // Compared with the others: a head beside itself would be one line with two names.
            let others = || (0..heads).filter(|&other| other != head);
            let steep = others().max_by(by_slope);
            let flat = others()
                .min_by(by_slope)
                .filter(|&flat| steep != Some(flat));
            Some(Chart {
                title: "How far a head sees when all scores are equal".to_owned(),
                x_label: "distance to the token, in positions".to_owned(),
                y_label: "weight".to_owned(),
                series: [
                    Some(line(head, "this head", Concept::Weight)),
                    steep.map(|steep| line(steep, "steepest other", Concept::Plain)),
                    flat.map(|flat| line(flat, "flattest other", Concept::Position)),
                ]
                .into_iter()
                .flatten()
                .collect(),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("horizon", chart);
    view! { <ChartView chart label="Weight against distance" height=240 /> }.into_any()
}
