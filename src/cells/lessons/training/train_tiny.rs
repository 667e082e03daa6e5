//! A Transformer that learns while one watches: its curves, one sequence that it never trains on,
//! and where its heads look.

use cells::Computation;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, values};
use crate::cells::parts::player::{UNTIL, beginning, player};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Choice, Concept, Domain, HeatMap, More};

/// The heads of both blocks, in the order of the tensor.
const HEADS: [&str; 8] = ["1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4"];

/// Steps that the cell makes by itself: enough for the diagonal to appear and for whole sequences to
/// be right.
const UNASKED: f64 = 500.0;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">{cx.choice_box("task")} {player(cx, UNASKED)}</div>
        {own_text(cx)}
        {readout(cx)}
        <div class="cols-2">
            {loss(cx, computed)}
            {heads(cx)}
        </div>
        <More summary="One held-out sequence, and the share that is correct">{right(cx, computed)} {example(cx)}</More>
        <More summary="Length, learning rate, warm-up and seed">
            <div class="controls">
                {cx.slider("length", Format::Count)} {cx.slider("rate", Format::Typed)}
                {cx.slider("warmup", Format::Count)} {cx.seed_box()}
            </div>
            {settings(cx)}
        </More>
        {beginning(cx)}
    }
    .into_any()
}

/// The box for the reader's text, where that text is learned.
fn own_text(cx: CellCx) -> AnyView {
    let task = cx.choice("task");
    let shown = Memo::new(move |_| task.with(|task| task == "your text"));
    let view = move || {
        shown.get().then(|| {
            view! {
                {cx.text_box("text")}
                <p class="hint">
                    "The source is a passage, and the answer is its continuation. The end of the text is held out. The model memorises
                    a text as short as this: watch the two losses part. Hardly any held-out passage is ever fully correct."
                </p>
            }
        })
    };
    view.into_any()
}

fn readout(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            {item(cx, "steps", "steps", Format::Count)}
            {item(cx, "loss of the last step", "loss.now", Format::Fixed(4))}
            {item(cx, "loss on held-out sequences", "held.now", Format::Fixed(4))}
            {item(cx, "held-out sequences fully correct", "right.now", Format::Percent(1))}
        </dl>
    }
    .into_any()
}

fn item(cx: CellCx, words: &'static str, name: &'static str, format: Format) -> AnyView {
    view! {
        <div>
            <dt>{words}</dt>
            <dd data-train=name>{cx.num(name, &[], format)}</dd>
        </div>
    }
    .into_any()
}

/// What follows from the settings, and how the scores are measured.
fn settings(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            {item(cx, "learning rate of the next step", "rate.next", Format::Fixed(6))}
            {item(cx, "parameters", "parameters", Format::Count)}
        </dl>
        <p class="hint">
            "The held-out losses and scores are measured on " {cx.num("held.count", &[], Format::Count)}
            " sequences that training never sees, every " {cx.num("looks.every", &[], Format::Count)} " steps."
        </p>
    }
    .into_any()
}

/// A curve of values that were measured at the steps of another tensor.
pub(crate) fn measured(
    c: &Computation,
    at: &str,
    tensor: &str,
    name: &str,
    concept: Concept,
) -> Series {
    Series {
        name: name.to_owned(),
        source: tensor.to_owned(),
        kind: Kind::Line,
        xs: values(c, at),
        ys: values(c, tensor),
        concept,
    }
}

/// The losses of all steps; step n's is at index n.
pub(crate) fn losses(c: &Computation, tensor: &str, name: &str, concept: Concept) -> Series {
    crate::cells::parts::figures::curve(c, tensor, name, concept, |n| (n + 1) as f64)
}

fn loss(cx: CellCx, computed: Computed) -> AnyView {
    let loss = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            Some(Chart {
                title: "Loss, nats per symbol".to_owned(),
                x_label: "step".to_owned(),
                y_label: "loss".to_owned(),
                series: vec![
                    losses(c, "loss", "in training", Concept::Score),
                    measured(c, "looks", "held", "held out", Concept::Weight),
                ],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("loss", loss);
    view! { <ChartView chart=loss label="Loss" height=230 until=UNTIL /> }.into_any()
}

fn right(cx: CellCx, computed: Computed) -> AnyView {
    let right = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            Some(Chart {
                title: "Held-out sequences fully correct".to_owned(),
                x_label: "step".to_owned(),
                y_label: "share".to_owned(),
                series: vec![measured(c, "looks", "right", "", Concept::Output)],
                y_range: Some((0.0, 1.0)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("right", right);
    view! {
        <ChartView chart=right label="Held-out sequences fully correct" height=200 format=Format::Percent(1) until=UNTIL />
    }
    .into_any()
}

/// One held-out sequence, what should become of it, and what the model says.
fn example(cx: CellCx) -> AnyView {
    let (answer, said) = (cx.words("answer"), cx.words("said"));
    let plain = move |name: &'static str| {
        move || {
            let words = cx.words(name).get();
            words
                .into_iter()
                .map(|word| view! { <td>{word}</td> })
                .collect_view()
        }
    };
    let marked = move || {
        let pairs = said.get().into_iter().zip(answer.get());
        pairs
            .map(|(said, answer)| {
                let right = said == answer;
                view! { <td class="verdict" class:good=right class:bad=!right>{said}</td> }
            })
            .collect_view()
    };
    view! {
        <section class="panel stack">
            <p class="panel-title">"One held-out sequence"</p>
            <div class="scroll" tabindex="0" role="region" aria-label="A held-out sequence, its answer and the model\u{2019}s">
                <table>
                    <tbody>
                        <tr><th scope="row">"source"</th>{plain("source")}</tr>
                        <tr><th scope="row">"answer"</th>{plain("answer")}</tr>
                        <tr><th scope="row">"the model says"</th>{marked}</tr>
                    </tbody>
                </table>
            </div>
            <p>
                {cx.num("example.right", &[], Format::Count)} " of " {cx.num("example.length", &[], Format::Count)}
                " symbols correct, each predicted from the correct prefix."
            </p>
        </section>
    }
    .into_any()
}

/// Attention of one head over the source while each symbol of the answer is predicted.
fn heads(cx: CellCx) -> AnyView {
    let head = cx.selected_entry::<1>("head");
    let place = move || match head.get() {
        Some([head]) if head < HEADS.len() => head,
        _ => 0,
    };
    let prefix = Signal::derive(move || vec![place()]);
    let choose = move |name: String| {
        let found = HEADS.iter().position(|head| *head == name);
        head.choose(found.map(|head| [head]));
    };
    view! {
        <section class="panel stack">
            <Choice
                label="Decoder head (block.head)"
                options=HEADS.map(str::to_owned).to_vec()
                value=Signal::derive(move || HEADS[place()].to_owned())
                on_change=Callback::new(choose)
            />
            <div class="small-map"><HeatMap
                grid=cx.grid_with("cross", prefix, "answer", "source")
                label="Where the head looks in the source for each symbol"
                domain=Signal::stored(Domain::Fixed(0.0, 1.0))
                format=Format::Fixed(3)
                concept=Concept::Weight
            /></div>
        </section>
    }
    .into_any()
}
