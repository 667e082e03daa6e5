//! Three words in one, two or four heads: the columns of the matrices that belong to a head, and the
//! weights of every head.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{labelled, named_rows};
use crate::widgets::{Concept, Domain, HeatMap, MatrixEdit, More, Palette, Place, Selected, set};

/// The three words of the example.
pub(crate) const WORDS: [&str; 3] = ["The", "cat", "sat"];

/// Meanings of the four numbers of a word vector.
pub(crate) const FEATURES: [&str; 4] = ["article", "thing", "action", "alive"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let pair = cx.selected_entry::<3>("pair");
    let heads = number_of_heads(cx);
    // The columns of the selected pair's head, and the rows of its two words.
    let columns = Signal::derive(move || {
        let width = FEATURES.len() / heads.get().max(1);
        let head = pair.get().map(|[head, ..]| head);
        let head = head.filter(|head| *head < heads.get());
        let own = head.map(|head| head * width..(head + 1) * width);
        let rows = 0..FEATURES.len();
        let places =
            own.map(|own| rows.flat_map(move |row| own.clone().map(move |col| (row, col))));
        places.into_iter().flatten().collect::<Vec<Place>>()
    });
    let words = Signal::derive(move || {
        let rows = pair.get().map(|[_, query, key]| [query, key]);
        let rows = rows.into_iter().flatten();
        let places = rows.flat_map(|row| (0..FEATURES.len()).map(move |col| (row, col)));
        places.collect::<Vec<Place>>()
    });
    let edit = move |input: &'static str, concept, rows: &[&str], mark| {
        matrix(cx, input, concept, rows, mark)
    };
    view! {
        <div class="row center snug">
            {edit("x", Concept::Residual, &WORDS, words)} {cx.choice_box("heads")} {readout(cx)}
        </div>
        <div class="flow snug">
            {edit("w_q", Concept::Query, &FEATURES, columns)}
            {edit("w_k", Concept::Key, &FEATURES, columns)}
            {edit("w_v", Concept::Value, &FEATURES, columns)}
        </div>
        <div class="gallery snug">
            {move || (0..heads.get()).map(|head| card(cx, head, pair)).collect_view()}
        </div>
        <More summary="Queries, keys and values of each head">{projections(cx, heads)}</More>
        <More summary="Parameters of a wide layer">{parameters(cx)}</More>
    }
    .into_any()
}

/// H.
pub(crate) fn number_of_heads(cx: CellCx) -> Memo<usize> {
    let heads = cx.value("heads", Vec::new());
    Memo::new(move |_| heads.get().map_or(0, |heads| heads as usize))
}

/// An input as boxes to type into, with some of them lit.
fn matrix(
    cx: CellCx,
    input: &'static str,
    concept: Concept,
    rows: &[&str],
    mark: Signal<Vec<Place>>,
) -> AnyView {
    let own = |labels: &[&str]| labels.iter().map(|&l| l.to_owned()).collect::<Vec<_>>();
    // The columns of W_Q, W_K and W_V belong to heads, not to features.
    let cols = if input == "x" {
        own(&FEATURES)
    } else {
        Vec::new()
    };
    let label = cx.input_spec(input).map(|spec| spec.label);
    view! {
        <MatrixEdit
            matrix=cx.matrix(input)
            on_change=Callback::new(move |m| cx.set(input, InputValue::Matrix(m)))
            label=label.unwrap_or_default()
            source=format!("input:{input}")
            row_labels=own(rows)
            col_labels=cols
            concept
            mark
        />
    }
    .into_any()
}

fn readout(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            <div>
                <dt data-label="">{set("width of a head, $D = C / H$")}</dt>
                <dd>{cx.num("head.width", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt data-label="">{set("parameters with $W_O$, $4C\u{b2}$")}</dt>
                <dd>{cx.num("parameters", &[], Format::Count)}</dd>
            </div>
        </dl>
    }
    .into_any()
}

/// The weights and the output of a head.
fn card(cx: CellCx, head: usize, pair: Selected<[usize; 3]>) -> AnyView {
    let selected = pair.map(
        move |[at, row, col]| (at == head).then_some((row, col)),
        move |(row, col)| Some([head, row, col]),
    );
    let word = |n: usize| WORDS.get(n).copied().unwrap_or_default().to_owned();
    let prefix = Signal::stored(vec![head]);
    let weights = labelled(cx.grid_with("weights", prefix, "", ""), word, word);
    let output = cx.grid_with("output", prefix, "", "");
    let output = named_rows(output, word);
    view! {
        <div class="gallery">
            <HeatMap
                grid=weights
                label=format!("Weights of head {}", head + 1)
                domain=Domain::Fixed(0.0, 1.0)
                format=Format::Fixed(2)
                concept=Concept::Weight
                selected
                no_legend=true
                no_readout=true
            />
            <HeatMap
                grid=output
                label=format!("Output of head {}", head + 1)
                palette=Palette::Diverging
                domain=Domain::Symmetric
                format=Format::Fixed(2)
                concept=Concept::Output
                no_legend=true
                no_readout=true
            />
        </div>
    }
    .into_any()
}

fn projections(cx: CellCx, heads: Memo<usize>) -> AnyView {
    let word = |n: usize| WORDS.get(n).copied().unwrap_or_default().to_owned();
    let map = move |tensor: &'static str, name: &'static str, concept, head: usize| {
        let grid = cx.grid_with(tensor, Signal::stored(vec![head]), "", "");
        let grid = named_rows(grid, word);
        view! {
            <HeatMap
                grid
                label=format!("{name} of head {}", head + 1)
                palette=Palette::Diverging
                domain=Domain::Symmetric
                format=Format::Fixed(2)
                concept
                no_legend=true
                no_readout=true
            />
        }
    };
    let card = move |head: usize| {
        view! {
            <div class="stack tight">
                {map("q", "Queries", Concept::Query, head)}
                {map("k", "Keys", Concept::Key, head)}
                {map("v", "Values", Concept::Value, head)}
            </div>
        }
    };
    view! { <div class="gallery">{move || (0..heads.get()).map(card).collect_view()}</div> }
        .into_any()
}

/// The parameters of a layer of width 512, for several numbers of heads.
fn parameters(cx: CellCx) -> AnyView {
    let row = move |n: usize| {
        view! {
            <tr>
                <td>{cx.num("wide.heads", &[n], Format::Count)}</td>
                <td>{cx.num("wide.head.width", &[n], Format::Count)}</td>
                <td>{cx.num("wide.parameters", &[n], Format::Count)}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Parameters by heads">
            <table>
                <caption>
                    "A layer of width " {cx.num("wide", &[], Format::Count)} ", without biases"
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"heads"</th>
                        <th scope="col">"width of a head"</th>
                        <th scope="col">"parameters"</th>
                    </tr>
                </thead>
                <tbody>{(0..7).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
