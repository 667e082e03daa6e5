//! The view of `distil`: three students that learn side by side, and their teacher.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::cells::parts::kept_runs::{KeptRuns, Trained};
use crate::cells::parts::model_note::trained;
use crate::cells::parts::player::{UNTIL, beginning, seeds_player};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// Steps that the cell makes by itself.
const UNASKED: f64 = 25.0;

/// A student: what it learns from, its results, and its colour.
#[derive(Clone, Copy)]
struct Student {
    name: &'static str,
    right: &'static str,
    now: &'static str,
    loss: &'static str,
    concept: Concept,
}

const STUDENTS: [Student; 3] = [
    Student {
        name: "labels alone",
        right: "alone.right",
        now: "alone.right.now",
        loss: "alone.loss.now",
        concept: Concept::Score,
    },
    Student {
        name: "with answers",
        right: "hard.right",
        now: "hard.right.now",
        loss: "hard.loss.now",
        concept: Concept::Weight,
    },
    Student {
        name: "with probabilities",
        right: "soft.right",
        now: "soft.right.now",
        loss: "soft.loss.now",
        concept: Concept::Residual,
    },
];

/// The students whose finished runs are kept.
const TRAINED: [Trained; 3] = [kept(0), kept(1), kept(2)];

/// What is kept of a student.
const fn kept(n: usize) -> Trained {
    Trained {
        name: STUDENTS[n].name,
        result: STUDENTS[n].now,
        concept: STUDENTS[n].concept,
    }
}

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let kept = KeptRuns::new(cx, &TRAINED);
    view! {
        <div class="controls">{seeds_player(cx, UNASKED)}</div>
        <div class="cols-2">
            {chart(cx)}
            <div class="stack tight">{table(cx)} {teacher(cx)}</div>
        </div>
        {kept.tracks("Your runs over the logged runs")}
        <More summary="Your runs as a table, and the command of ours">{kept.table()}</More>
        <More summary="Seed">{cx.seed_box()}</More>
        {beginning(cx)}
        {trained(&["digit-cnn"])}
    }
    .into_any()
}

fn chart(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |student: Student| Series {
                name: student.name.to_owned(),
                source: student.right.to_owned(),
                kind: Kind::Line,
                xs: values(c, "looks"),
                ys: values(c, student.right),
                concept: student.concept,
            };
            Some(Chart {
                title: "Right answers of three students by step".to_owned(),
                x_label: "step, in this tab".to_owned(),
                y_label: "share right".to_owned(),
                series: STUDENTS.map(line).to_vec(),
                y_range: Some((0.0, 1.0)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("right", chart);
    view! {
        <ChartView chart label="Drawn test digits that each student reads right" height=190 format=Format::Percent(1) until=UNTIL />
    }
    .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let row = |student: Student| {
        let loss = cx.value(student.loss, Vec::new());
        let name = student.loss;
        let number = move || match loss.get() {
            None => "none yet".into_any(),
            Some(_) => cx.num(name, &[], Format::Fixed(3)),
        };
        view! {
            <tr>
                <th scope="row" data-label="">{student.name}</th>
                <td data-train=student.now>{cx.num(student.now, &[], Format::Percent(1))}</td>
                <td>{number}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The three students">
            <table>
                <caption>
                    "Step " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span> " of "
                    {cx.num("most", &[], Format::Count)} ", " {cx.num("learned", &[], Format::Count)} " training digits"
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"student"</th>
                        <th scope="col">"right of " {cx.num("test", &[], Format::Count)}</th>
                        <th scope="col">"its own loss"</th>
                    </tr>
                </thead>
                <tbody>{STUDENTS.map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn teacher(cx: CellCx) -> AnyView {
    view! {
        <p class="hint">
            "The teacher, digit-cnn, reads " {cx.num("teacher.learned", &[], Format::Percent(1))}
            " of the training digits and " {cx.num("teacher.test", &[], Format::Percent(1))}
            " of the test digits, and gives the labels a mean probability of "
            {cx.num("teacher.sure", &[], Format::Percent(1))} ". It learned from MNIST, not from these drawn digits."
        </p>
    }
    .into_any()
}
