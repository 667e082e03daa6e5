//! Keeps a cell's outcome up to date: computes when an input changes, in slices where it takes long, and
//! drops work that a newer edit has made stale.

use std::sync::Arc;

use cells::{CellError, InputKind, InputValue, Inputs, Job, Picture, Progress, Run};
use leptos::prelude::*;
use web_sys::Element;

use super::context::CellCx;
use crate::browser::{clock, dom, picture};
use crate::client::{self, News};

/// Longest time that a slice of a long computation may hold the page.
const SLICE_MS: f64 = 8.0;

/// Computes now and whenever an input of the cell changes; says how it stands in `data-state`.
pub(crate) fn keep_computed(cx: CellCx, section: Element) {
    let newest = StoredValue::new(0_u64);
    let section = send_wrapper::SendWrapper::new(section);
    let shown = section.clone();
    Effect::new(move |_| {
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
    Effect::new(move |_| {
        let state = cx
            .outcome
            .with(|o| match (&o.error, o.busy, &o.computation) {
                (Some(_), _, _) => "error",
                (None, None, Some(_)) => "ready",
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
        Run::Sliced(_) => in_worker(cx, inputs, turn, newest),
    }
}

/// Hands long work to the worker, or does it here in slices where there is none.
fn in_worker(cx: CellCx, inputs: Inputs, turn: u64, newest: StoredValue<u64>) {
    cx.outcome.update(|o| {
        o.busy = Some(0.0);
        o.error = None;
    });
    let stale = move || newest.try_get_value() != Some(turn);
    let local = inputs.clone();
    let job = client::compute(cx.spec.name, inputs, move |news| {
        if stale() {
            return;
        }
        match news {
            News::Working(share) => cx.outcome.update(|o| o.busy = Some(share)),
            News::Finished(result, elapsed_ms) => finish(cx, result.map(Arc::new), elapsed_ms),
            News::NoWorker => {
                let Run::Sliced(begin) = cx.spec.run else {
                    return;
                };
                match begin(&local) {
                    Ok(job) => leptos::task::spawn_local(in_slices(cx, job, turn, newest)),
                    Err(error) => finish(cx, Err(error), 0.0),
                }
            }
        }
    });
    cx.replace_job(job);
}

async fn in_slices(cx: CellCx, mut job: Box<dyn Job>, turn: u64, newest: StoredValue<u64>) {
    let mut worked_ms = 0.0;
    loop {
        clock::give_way().await;
        // A newer edit, or the page was left.
        if newest.try_get_value() != Some(turn) {
            return;
        }
        let begun = clock::now_ms();
        let mut share = 0.0;
        while clock::now_ms() - begun < SLICE_MS {
            match job.advance() {
                Ok(Progress::Working(done)) => share = done,
                Ok(Progress::Done(result)) => {
                    finish(
                        cx,
                        Ok(Arc::from(result)),
                        worked_ms + clock::now_ms() - begun,
                    );
                    return;
                }
                Err(error) => {
                    finish(cx, Err(error), 0.0);
                    return;
                }
            }
        }
        worked_ms += clock::now_ms() - begun;
        cx.outcome.update(|o| o.busy = Some(share));
    }
}

fn finish(cx: CellCx, result: Result<Arc<cells::Computation>, CellError>, elapsed_ms: f64) {
    cx.outcome.update(|o| {
        o.busy = None;
        match result {
            Ok(computation) => {
                o.computation = Some(computation);
                o.error = None;
                o.elapsed_ms = elapsed_ms;
            }
            Err(error) => o.error = Some(error),
        }
    });
}

/// Draws or fetches the samples among the inputs that have no pixels yet; whether there were any. Their
/// arrival changes the input and so computes again.
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
