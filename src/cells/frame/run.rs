//! Keeps a cell's outcome up to date: computes when an input changes, in the worker where it takes
//! long, and drops work that a newer edit has made stale. A cell that computes in a worker, and may
//! need the weights of a model, begins when it comes near the window; those that nobody has come
//! near begin one by one when nothing else computes.

use std::sync::Arc;

use cells::{CellError, InputKind, InputValue, Inputs, Picture, Run, WorkerKind};
use leptos::prelude::*;
use web_sys::Element;
use worker::cell_protocol::CellReply;

use crate::browser::{clock, dom, near, picture};
use crate::cells::frame::context::{Busy, CellCx, STEPS};

/// Computes now and whenever an input of the cell changes; writes the state to `data-state`.
pub(crate) fn keep_computed(cx: CellCx, section: Element) {
    let newest = StoredValue::new(0_u64);
    let section = send_wrapper::SendWrapper::new(section);
    let shown = section.clone();
    match cx.spec.run {
        Run::Now(_) => cx.begin(),
        Run::Sliced(_) => {
            let near = near::has_been_near(&section);
            Effect::new(move |_| {
                if near.get() {
                    cx.begin();
                }
            });
            if cx.input_spec(STEPS).is_some() {
                let visible = near::in_window(&section);
                Effect::new(move |_| cx.in_window.set(visible.get()));
            }
        }
    }
    Effect::new(move |_| {
        if !cx.has_begun() {
            return;
        }
        cx.track_retries();
        let inputs = cx.inputs();
        let turn = newest.try_update_value(|n| {
            *n += 1;
            *n
        });
        let Some(turn) = turn else { return };
        if fetch_pictures(cx, &inputs) {
            return;
        }
        start(cx, inputs, turn, newest);
    });
    // Who leaves the page leaves the work.
    on_cleanup(move || cx.replace_job(0));
    Effect::new(move |_| {
        let state = cx.outcome.with(|o| match (&o.error, &o.busy, o.whole()) {
            (Some(_), _, _) => "error",
            (None, None, Some(_)) => "ready",
            (None, Some(_), Some(_)) if cx.plays_unasked.get() => "ready",
            _ if !cx.has_begun() => "waiting",
            _ => "busy",
        });
        dom::set_data(&shown, "state", state);
    });
}

fn start(cx: CellCx, inputs: Inputs, turn: u64, newest: StoredValue<u64>) {
    if let Err(error) = cx.spec.check(&inputs) {
        finish(cx, Err(error), 0.0);
        return;
    }
    let begun = clock::now_ms();
    match cx.spec.run {
        Run::Now(compute) => {
            let result = compute(&inputs);
            finish(cx, result.map(Arc::new), clock::now_ms() - begun);
        }
        Run::Sliced(kind) => in_worker(cx, kind, inputs, turn, newest),
    }
}

/// Hands work to the worker, or to what computes the cell in its place.
fn in_worker(cx: CellCx, kind: WorkerKind, inputs: Inputs, turn: u64, newest: StoredValue<u64>) {
    cx.outcome.update(|o| {
        o.busy = Some(Busy::Working(0.0));
        o.error = None;
    });
    let stale = move || newest.try_get_value() != Some(turn);
    let listener = Box::new(move |reply: CellReply| {
        if stale() {
            return;
        }
        match reply {
            CellReply::Fetching(files) => {
                cx.outcome.update(|o| o.busy = Some(Busy::Fetching(files)));
            }
            CellReply::Partial(part) => cx.outcome.update(|o| {
                o.computation = Some(Arc::new(part));
                o.is_part = true;
            }),
            CellReply::Working(share) => {
                cx.outcome.update(|o| o.busy = Some(Busy::Working(share)));
            }
            CellReply::Finished { result, elapsed_ms } => {
                finish(cx, result.map(Arc::new), elapsed_ms);
            }
        }
    });
    cx.replace_job(cx.ask(kind, inputs, listener));
}

fn finish(cx: CellCx, result: Result<Arc<cells::Computation>, CellError>, elapsed_ms: f64) {
    cx.outcome.update(|o| {
        o.busy = None;
        match result {
            Ok(computation) => {
                o.computation = Some(computation);
                o.is_part = false;
                o.error = None;
                o.elapsed_ms = elapsed_ms;
            }
            Err(error) => o.error = Some(error),
        }
    });
}

/// Time between two looks at whether the page has nothing to compute, in milliseconds.
const IDLE_MS: u32 = 500;
/// Time between two looks at whether a cell still computes, in milliseconds.
const LOOK_MS: u32 = 100;

/// Waits until those of the cells that have begun to compute are done, or `is_pressing` says that
/// what waits cannot wait any longer.
pub(crate) async fn wait_for_numbers(cells: &[CellCx], is_pressing: impl Fn() -> bool) {
    while !is_pressing() {
        // A cell in the window begins once an observer has told that it is there.
        clock::wait_ms(LOOK_MS).await;
        if is_pressing() || !cells.iter().any(|cell| cell.is_busy()) {
            return;
        }
    }
}

/// Lets the cells that nobody has come near begin, one after the other, while nothing else
/// computes; `is_open` says whether the page still is.
pub(crate) async fn begin_when_idle(cells: Vec<CellCx>, is_open: impl Fn() -> bool) {
    for &cx in &cells {
        loop {
            clock::wait_ms(IDLE_MS).await;
            if !is_open() {
                return;
            }
            if untrack(|| cx.has_begun()) {
                break;
            }
            if !cells.iter().any(|cell| cell.is_busy()) {
                cx.begin();
            }
        }
    }
}

/// Draws or fetches the samples among the inputs that have no pixels yet; whether there were any.
/// Their arrival changes the input and so computes again.
fn fetch_pictures(cx: CellCx, inputs: &Inputs) -> bool {
    let mut waiting = false;
    for (name, value) in &inputs.0 {
        let InputValue::Picture(Picture {
            name: sample,
            pixels: None,
        }) = value
        else {
            continue;
        };
        debug_assert!(matches!(
            cx.input_spec(name).map(|s| s.kind),
            Some(InputKind::Picture(_))
        ));
        waiting = true;
        let (name, sample) = (name.clone(), sample.clone());
        leptos::task::spawn_local(async move {
            let pixels = picture::sample(&sample).await;
            match pixels {
                Ok(pixels) => cx.fill_picture(
                    &name,
                    Picture {
                        name: sample,
                        pixels: Some(Arc::new(pixels)),
                    },
                ),
                Err(message) => finish(cx, Err(CellError::input(&name, "Picture", message)), 0.0),
            }
        });
    }
    waiting
}
