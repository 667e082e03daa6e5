//! Exercises: the reader answers, the engine computes, the page compares. In those of kind `make`
//! the reader edits a cell of the page, and the page compares its result with the goal.

use std::any::Any;

use cells::exercise::{Answer, Exercise, Goal, Grade, Judged, Kind};
use cells::format::{self, Format};
use cells::{CellSpec, Computation};
use leptos::mount::mount_to;
use leptos::prelude::*;
use web_sys::HtmlElement;

use super::adopt::ById;
use crate::browser::{dom, near};
use crate::cells::frame::context::CellCx;
use crate::cells::registry;
use crate::chunk::chunk;
use crate::client;
use crate::widgets::{Limits, Num, Wrong, parse_number};

/// Answer of the form to "Check".
#[derive(Debug, Clone)]
enum Verdict {
    Unreadable(String),
    Graded(Grade),
}

/// Mounts an exercise of a page with these cells.
type Mount = fn(&HtmlElement, &ById) -> Option<Box<dyn Any>>;

chunk! {
    /// Fetches what exercises are made of.
    exercises: pub(super) fn load() -> Mount = mount;
}

/// Says in an exercise that what it is made of did not arrive.
pub(super) fn refuse(section: &HtmlElement) {
    if let Some(body) = dom::find(section, ".exercise-body") {
        body.set_inner_html("");
        let message =
            "This exercise could not be fetched. Check the connection and reload the page.";
        mount_to(body, move || view! { <p class="cell-error">{message}</p> }).forget();
    }
}

/// Mounts the form of an exercise; `None` where the served page lacks what it needs, or its cell is
/// not loaded.
fn mount(section: &HtmlElement, by_id: &ById) -> Option<Box<dyn Any>> {
    let body = dom::find(section, ".exercise-body")?;
    let id = section.id();
    let exercise = serde_json::from_str::<Exercise>(&dom::data(section, "props"));
    body.set_inner_html("");
    let is_near = near::has_been_near(section);
    let known = exercise
        .ok()
        .and_then(|exercise| view_of(id, exercise, by_id, is_near));
    Some(match known {
        Some(view) => Box::new(mount_to(body, view)),
        None => Box::new(mount_to(body, || {
            view! { <p class="cell-error">"This exercise cannot be read. Reload the page."</p> }
        })),
    })
}

/// What an exercise shows; `None` where its cell is not loaded, or not on the page.
fn view_of(
    id: String,
    exercise: Exercise,
    by_id: &ById,
    is_near: Signal<bool>,
) -> Option<Box<dyn FnOnce() -> AnyView>> {
    if let Kind::Make { id, goal } = exercise.kind {
        let cx = *by_id.get(&id)?;
        return Some(Box::new(move || make(cx, goal, exercise.explain, is_near)));
    }
    let spec = registry::find(&exercise.cell)?.spec;
    Some(Box::new(move || form(&id, spec, exercise, is_near)))
}

/// The claims of a goal with what the cell gives now, and the explanation once all of them hold.
fn make(cx: CellCx, goal: Vec<Goal>, explain: Option<String>, is_near: Signal<bool>) -> AnyView {
    // A reader who comes here before the cell sees values too.
    Effect::new(move |_| {
        if is_near.get() {
            cx.begin();
        }
    });
    let claims = goal.into_iter().map(|goal| {
        let text = goal.text.clone();
        let from = cx.id.with_value(|id| format!("{id}.{}", goal.element()));
        let format = goal.format.parse().unwrap_or(Format::Fixed(3));
        let judged: Memo<Option<Judged>> = Memo::new(move |_| {
            cx.outcome.with(|outcome| match &outcome.error {
                None => goal.judge(outcome.computation.as_deref()?).ok(),
                Some(_) => None,
            })
        });
        (text, from, format, judged)
    });
    let claims: Vec<_> = claims.collect();
    let all: Vec<_> = claims.iter().map(|(.., judged)| *judged).collect();
    let is_pending = Memo::new(move |_| cx.outcome.with(|outcome| outcome.busy.is_some()));
    let is_done = Memo::new(move |was: Option<&bool>| {
        // A result that belongs to older inputs is no news: what was said stays until the next one.
        if is_pending.get() {
            return was.copied().unwrap_or_default();
        }
        cx.outcome
            .with(|outcome| outcome.error.is_none() && outcome.whole().is_some())
            && all
                .iter()
                .all(|judged| judged.get().is_some_and(|j| j.holds))
    });
    // Some inputs have no such number: nothing is reached, and nothing is still to come.
    let is_whole = Memo::new(move |_| cx.outcome.with(|outcome| outcome.whole().is_some()));
    let lines = claims.into_iter().map(|(text, from, format, judged)| {
        let value = Signal::derive(move || judged.get().map(|j| j.value));
        let said = move || match judged.get() {
            Some(_) if is_pending.get() => " (computing)",
            Some(Judged { holds: true, .. }) => " (reached)",
            Some(_) => " (not yet)",
            None if is_whole.get() && !is_pending.get() => " (no value with these inputs)",
            None => " (no value yet)",
        };
        view! { <li><span inner_html=text></span>": " <Num value=value from=from format=format /> {said}</li> }
    });
    let explain = StoredValue::new(explain);
    let verdict = move || {
        is_done.get().then(|| {
            view! {
                <p class="verdict good">"Done: the cell meets the goal."</p>
                {explain.get_value().map(|html| view! { <div class="explain" inner_html=html></div> })}
            }
        })
    };
    view! {
        <ul>{lines.collect_view()}</ul>
        <div class="verdict-line" role="status">{verdict}</div>
    }
    .into_any()
}

fn form(
    id: &str,
    spec: &'static CellSpec,
    mut exercise: Exercise,
    is_near: Signal<bool>,
) -> AnyView {
    let (hint, explain) = (exercise.hint.take(), exercise.explain.take());
    let exercise = StoredValue::new(exercise);
    let shape = RwSignal::new((1, 1));
    let entries = RwSignal::new(vec![String::new()]);
    let chosen = RwSignal::new(None::<usize>);
    let verdict = RwSignal::new(None::<Verdict>);
    if exercise.with_value(|e| matches!(e.kind, Kind::Matrix { .. })) {
        Effect::new(move |_| {
            if is_near.get() {
                let exercise = exercise.get_value();
                leptos::task::spawn_local(ask_for_entries(exercise, spec, entries, shape));
            }
        });
    }
    let check = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let answer =
            exercise.with_value(|e| answer(e, &entries.get_untracked(), chosen.get_untracked()));
        let answer = match answer {
            Ok(answer) => answer,
            Err(message) => return verdict.set(Some(Verdict::Unreadable(message))),
        };
        let exercise = exercise.get_value();
        leptos::task::spawn_local(async move {
            let graded = computed(&exercise, spec).await;
            let graded = graded.and_then(|computed| exercise.grade(&computed, &answer));
            // The reader may have gone on to another page meanwhile.
            verdict.try_set(Some(
                graded.map_or_else(Verdict::Unreadable, Verdict::Graded),
            ));
        });
    };
    let fields = match exercise.with_value(|e| e.kind.clone()) {
        Kind::Choice { choices } => {
            let texts = choices.into_iter().map(|c| c.text).collect();
            choice_fields(id, texts, chosen)
        }
        _ => {
            let fields = move || {
                let (rows, cols) = shape.get();
                number_fields(rows, cols, entries, verdict)
            };
            fields.into_any()
        }
    };
    let hint = hint.map(|hint| {
        view! {
            <details class="hint"><summary>"Hint"</summary><div inner_html=hint></div></details>
        }
    });
    let explain = StoredValue::new(explain);
    view! {
        <form class="exercise-form" on:submit=check novalidate>
            {fields}
            {hint}
            <button type="submit" class="button primary">"Check"</button>
            <div class="verdict-line" role="status">
                {move || verdict.get().map(|v| exercise.with_value(|e| verdict_view(e, v, explain.get_value())))}
            </div>
        </form>
    }
    .into_any()
}

/// Gives the reader as many boxes as the answer has entries.
async fn ask_for_entries(
    exercise: Exercise,
    spec: &'static CellSpec,
    entries: RwSignal<Vec<String>>,
    shape: RwSignal<(usize, usize)>,
) {
    let found = computed(&exercise, spec).await;
    if let Ok((rows, cols)) = found.and_then(|found| exercise.answer_shape(&found)) {
        entries.try_set(vec![String::new(); rows * cols]);
        shape.try_set((rows, cols));
    }
}

/// Result of an exercise's cell on the inputs that the question fixes.
async fn computed(exercise: &Exercise, spec: &'static CellSpec) -> Result<Computation, String> {
    let computed = client::computed(spec, exercise.inputs(spec)?).await;
    computed.map_err(|error| error.to_string())
}

/// Reads what the reader entered.
fn answer(
    exercise: &Exercise,
    entries: &[String],
    chosen: Option<usize>,
) -> Result<Answer, String> {
    if let Kind::Choice { .. } = exercise.kind {
        return chosen
            .map(Answer::Choice)
            .ok_or_else(|| "Choose one of the answers first.".to_owned());
    }
    let number = |text: &String| {
        parse_number(text, Limits::NONE).map_err(|wrong| match wrong {
            Wrong::Empty => "Enter a number in every field first.".to_owned(),
            _ => format!("\u{201c}{}\u{201d} is not a number.", text.trim()),
        })
    };
    let numbers = entries.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    match (&exercise.kind, numbers.as_slice()) {
        (Kind::Number { .. }, [x]) => Ok(Answer::Number(*x)),
        _ => Ok(Answer::Matrix(numbers)),
    }
}

fn choice_fields(id: &str, texts: Vec<String>, chosen: RwSignal<Option<usize>>) -> AnyView {
    let name = format!("{id}-choice");
    let options = texts.into_iter().enumerate().map(|(i, text)| {
        view! {
            <label class="choice">
                <input type="radio" name=name.clone() prop:checked=move || chosen.get() == Some(i)
                    on:change=move |_| chosen.set(Some(i)) />
                <span inner_html=text></span>
            </label>
        }
    });
    view! { <fieldset class="choices"><legend class="visually-hidden">"Answers"</legend>{options.collect_view()}</fieldset> }
        .into_any()
}

fn number_fields(
    rows: usize,
    cols: usize,
    entries: RwSignal<Vec<String>>,
    verdict: RwSignal<Option<Verdict>>,
) -> AnyView {
    let field = move |i: usize| {
        let label = if rows * cols == 1 {
            "Your answer".to_owned()
        } else {
            format!("Your answer, row {}, column {}", i / cols + 1, i % cols + 1)
        };
        let wrong = move || match verdict.get() {
            Some(Verdict::Graded(grade)) => grade.entries.get(i) == Some(&false),
            _ => false,
        };
        view! {
            <input type="text" inputmode="decimal" autocomplete="off" class="answer" aria-label=label
                aria-invalid=move || wrong().to_string()
                prop:value=move || entries.with(|e| e.get(i).cloned().unwrap_or_default())
                on:input:target=move |event| entries.update(|e| {
                    if let Some(slot) = e.get_mut(i) {
                        *slot = event.target().value();
                    }
                }) />
        }
    };
    let lines = (0..rows).map(|r| {
        view! { <div class="answer-row">{(0..cols).map(|c| field(r * cols + c)).collect_view()}</div> }
    });
    view! { <div class="answers">{lines.collect_view()}</div> }.into_any()
}

fn verdict_view(exercise: &Exercise, verdict: Verdict, explain: Option<String>) -> AnyView {
    let grade = match verdict {
        Verdict::Unreadable(message) => {
            return view! { <p class="verdict bad">{message}</p> }.into_any();
        }
        Verdict::Graded(grade) => grade,
    };
    if grade.correct {
        return view! {
            <p class="verdict good">"Right: the engine gets the same."</p>
            {explain.map(|html| view! { <div class="explain" inner_html=html></div> })}
        }
        .into_any();
    }
    let said = match &exercise.kind {
        Kind::Matrix { .. } => "Not yet: the marked entries differ from the engine\u{2019}s.",
        _ => "Not yet. Try again, or look at what the engine gets.",
    };
    let values: Vec<String> = match &exercise.kind {
        Kind::Choice { .. } => Vec::new(),
        _ => grade
            .expected
            .iter()
            .map(|&x| format::number(x, Format::Fixed(4)))
            .collect(),
    };
    let statement = match (&exercise.kind, grade.expected.as_slice()) {
        (Kind::Choice { choices }, [i]) => choices.get(*i as usize).map(|c| c.text.clone()),
        _ => None,
    };
    view! {
        <p class="verdict bad">{said}</p>
        <details class="solution">
            <summary>"What the engine gets"</summary>
            {statement.map(|html| view! { <p inner_html=html></p> })}
            {(!values.is_empty()).then(|| view! { <p class="num">{values.join("  ")}</p> })}
            {explain.map(|html| view! { <div class="explain" inner_html=html></div> })}
        </details>
    }
    .into_any()
}
