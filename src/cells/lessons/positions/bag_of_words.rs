//! The same words in two orders through one layer, without positions on the left and with them on
//! the right.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::cells::parts::model_note::{is_random, model_box, model_note, only_if, pieces_note};
use crate::widgets::{Concept, Domain, HeatMap, More, Palette, TokenStrip};

/// Differences below this are rounding.
const ROUNDING: f64 = 1e-5;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let selected = RwSignal::new(None);
    let reorder = Callback::new(move |moves: Vec<usize>| {
        // The order in use, which is the stored one or the one that the computation fell back to.
        let now: Vec<usize> = cx
            .computed()
            .with_untracked(|c| {
                c.as_ref()
                    .and_then(|c| c.tensor("order"))
                    .map(|t| t.values.iter().map(|&i| i as usize).collect())
            })
            .unwrap_or_default();
        let next: Option<Vec<usize>> = moves.iter().map(|&place| now.get(place).copied()).collect();
        if let Some(next) = next {
            cx.set("order", InputValue::Order(next));
        }
    });
    view! {
        <div class="controls">
            {cx.text_box("sentence")} {model_box(cx)}
            {only_if(is_random(cx), move || cx.toggle_box("causal"))}
        </div>
        {pieces_note(cx)}
        <section class="panel">
            <p class="panel-title">"Second sentence: drag the same words into any order"</p>
            <TokenStrip tokens=cx.words("shuffled") label="Second sentence" source="shuffled" selected on_reorder=reorder />
        </section>
        <div class="cols-2">
            {side(cx, "Without positions", Names {
                first: "without.first", second: "without.second", difference: "without.difference", largest: "without.largest", selected: "without",
            })}
            {side(cx, "With positions", Names {
                first: "with.first", second: "with.second", difference: "with.difference", largest: "with.largest", selected: "with",
            })}
        </div>
        <p class="hint">
            "The maps show the first numbers of each output; differences are over all " {cx.num("width", &[], Format::Count)} "."
        </p>
        {model_note(cx)}
    }
    .into_any()
}

/// Tensors of one side.
#[derive(Clone, Copy)]
struct Names {
    first: &'static str,
    second: &'static str,
    difference: &'static str,
    largest: &'static str,
    /// The input that holds the selected entry.
    selected: &'static str,
}

/// One side: outputs in both orders, the difference of each token, the verdict.
fn side(cx: CellCx, title: &'static str, names: Names) -> AnyView {
    let selected = cx.selected_place(names.selected);
    let prefix = Signal::stored(Vec::new());
    let computed = cx.computed();
    // One scale for both maps, so that equal numbers have equal colours.
    let domain = Signal::derive(move || {
        let reach = computed.with(|c| {
            let all = c
                .as_ref()
                .map(|c| [values(c, names.first), values(c, names.second)].concat());
            all.unwrap_or_default()
                .into_iter()
                .map(f64::abs)
                .fold(0.0, f64::max)
        });
        Domain::Fixed(-reach, reach)
    });
    let map = move |name: &'static str, label: &'static str, last: bool| {
        view! {
            <HeatMap
                grid=cx.grid_with(name, prefix, "tokens", "")
                label
                palette=Palette::Diverging
                domain
                format=Format::Fixed(3)
                concept=Concept::Output
                numbers=false
                selected
                no_legend=!last
            />
        }
    };
    let tokens = cx.words("tokens");
    let rows = move || {
        tokens
            .get()
            .into_iter()
            .enumerate()
            .map(|(i, token)| {
                view! {
                    <tr>
                        <th scope="row" data-label="">{token}</th>
                        <td>{cx.num(names.difference, &[i], Format::Fixed(4))}</td>
                    </tr>
                }
            })
            .collect_view()
    };
    let largest = cx.value(names.largest, Vec::new());
    let same = move || largest.get().is_some_and(|d| d < ROUNDING);
    view! {
        <section class="panel stack">
            <p class="panel-title">{title}</p>
            <table class="line-table">
                <caption class="vh">{title} ": largest difference of each token"</caption>
                <thead>
                    <tr>
                        <th scope="col">"token"</th>
                        <th scope="col">"largest difference"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            <p class="verdict">
                {move || {
                    if same() {
                        "Every token gets the same output in both orders. Largest difference: "
                    } else {
                        "The outputs depend on the order. Largest difference: "
                    }
                }} {cx.num(names.largest, &[], Format::Fixed(4))}
            </p>
            <More summary="The outputs in both orders">
                {map(names.first, "Outputs in the first sentence", false)}
                {map(names.second, "Outputs of the same tokens in the second sentence", true)}
            </More>
        </section>
    }
    .into_any()
}
