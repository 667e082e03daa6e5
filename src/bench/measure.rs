//! One measurement from the query to the report: chooses the worker's build, loads the model in it
//! and runs it.

use std::rc::Rc;

use leptos::prelude::*;
use worker::bench::{BenchSettings, Figures, Report};
use worker::build::Purpose;
use worker::model::protocol::{ModelEvent, ModelInfo, ModelRequest, Origin};
use worker::model::shape::Shape;

use super::view::Bench;
use crate::browser::{address, result};
use crate::model_build::choose;
use crate::model_worker::{ModelWorker, WorkerEvent};

/// Seed of the random weights: that of the reference files.
const SEED: u64 = 0;

/// A report with what the table shows besides.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub(super) report: Report,
    pub(super) sentences_per_s: Option<f64>,
}

/// Measures what is asked; `window.benchResult` is undefined until the end.
pub(super) async fn measure(asked: Result<BenchSettings, String>, bench: Bench) {
    result::publish("benchResult", None);
    result::publish("benchRuns", None);
    bench.error.set(None);
    bench.busy.set(true);
    let outcome = match asked {
        Ok(asked) => run(asked, bench).await,
        Err(why) => Err(why),
    };
    bench.worker.try_set_value(None);
    // The page may have been left meanwhile.
    if bench.busy.try_set(false).is_some() {
        return;
    }
    let json = match outcome {
        Ok((measured, runs)) => {
            result::publish("benchRuns", serde_json::to_string(&runs).ok().as_deref());
            let json = serde_json::to_string(&measured.report);
            bench.status.set("Done.".to_owned());
            bench.rows.update(|rows| rows.push(measured));
            json
        }
        Err(why) => {
            bench.status.set(String::new());
            bench.error.set(Some(why.clone()));
            serde_json::to_string(&serde_json::json!({ "error": why }))
        }
    };
    result::publish("benchResult", json.ok().as_deref());
}

async fn run(asked: BenchSettings, bench: Bench) -> Result<(Measured, Vec<Figures>), String> {
    let origin = origin(&asked.model)?;
    let (build, threads) = choose(Purpose::Measure, asked.build, asked.threads, 0)?;
    bench
        .status
        .set(format!("Starting the engine {}.", build.name()));
    let worker = Rc::new(ModelWorker::start(Purpose::Measure, build, threads)?);
    bench.worker.set_value(Some(Rc::clone(&worker)));
    let WorkerEvent::Ready {
        build,
        threads,
        inner_steps,
    } = next_event(&worker).await?
    else {
        return Err("The engine does not say that it is ready.".to_owned());
    };
    bench.inner_steps.try_set(Some((build, inner_steps)));
    let load = worker.send(ModelRequest::Load {
        origin,
        packing: Some(asked.packing),
    });
    let loaded = loaded(&worker, load, bench).await?;
    let mut runs = Vec::new();
    while runs.len() < asked.runs {
        let run = worker.send(ModelRequest::Measure {
            prompt: asked.prompt,
            new: asked.new,
        });
        runs.push(one_run(&worker, run, bench, (runs.len(), asked.runs)).await?);
    }
    let report = Report::new(&asked, build, threads, &loaded, &runs);
    let sentences_per_s = Figures::medians(&runs).sentences_per_s;
    Ok((
        Measured {
            report,
            sentences_per_s,
        },
        runs,
    ))
}

/// A shape's name, or the address of a file of this host.
fn origin(model: &str) -> Result<Origin, String> {
    if model.is_empty() {
        return Err("Choose a model first.".to_owned());
    }
    let is_name = !model.contains(['/', '.', ':']);
    if is_name {
        Shape::from_name(model).map_err(|error| error.to_string())?;
        return Ok(Origin::Shape {
            name: model.to_owned(),
            seed: SEED,
        });
    }
    let here = address::href();
    let url =
        address::resolve(model, &here).ok_or_else(|| format!("{model} is not a valid address."))?;
    let own = address::resolve(&here, &here).map(|here| here.origin());
    if Some(url.origin()) != own {
        return Err(format!(
            "{model} is on another host. Only files of this site's own host are read."
        ));
    }
    Ok(Origin::Url(url.href()))
}

/// The next event of the worker, unless it ended or failed.
async fn next_event(worker: &ModelWorker) -> Result<WorkerEvent, String> {
    match worker.next_event().await {
        WorkerEvent::Terminated => Err("Stopped.".to_owned()),
        WorkerEvent::Failed(why) => Err(format!(
            "The engine stopped ({}). The model probably does not fit into memory: try a smaller one, or q4_0.",
            why.trim_end_matches('.')
        )),
        event => Ok(event),
    }
}

/// The next answer to a request, unless that is its failure.
async fn next_answer(worker: &ModelWorker, request: u64) -> Result<ModelEvent, String> {
    loop {
        match next_event(worker).await? {
            WorkerEvent::Model(id, event) if id == request => {
                return match event {
                    ModelEvent::Stopped => Err("Stopped.".to_owned()),
                    ModelEvent::Failed(why) | ModelEvent::TooLarge { why, .. } => Err(why),
                    event => Ok(event),
                };
            }
            _ => {}
        }
    }
}

async fn loaded(worker: &ModelWorker, request: u64, bench: Bench) -> Result<ModelInfo, String> {
    loop {
        let (words, share) = match next_answer(worker, request).await? {
            ModelEvent::Loaded(loaded) => return Ok(loaded),
            ModelEvent::Fetching { done, total, .. } => {
                let share = total.map(|total| done as f64 / total.max(1) as f64);
                (
                    format!("Fetching the model: {:.0} MB.", done as f64 / 1e6),
                    share,
                )
            }
            ModelEvent::Loading(share) => {
                ("Building the model.".to_owned(), Some(f64::from(share)))
            }
            _ => continue,
        };
        bench.show(words, share);
    }
}

async fn one_run(
    worker: &ModelWorker,
    request: u64,
    bench: Bench,
    (number, runs): (usize, usize),
) -> Result<Figures, String> {
    let words = format!("Run {} of {runs}.", number + 1);
    bench.show(words.clone(), Some(number as f64 / runs as f64));
    loop {
        match next_answer(worker, request).await? {
            ModelEvent::Measured(figures) => return Ok(figures),
            ModelEvent::Measuring(share) => {
                let share = (number as f64 + f64::from(share)) / runs as f64;
                bench.show(words.clone(), Some(share));
            }
            _ => {}
        }
    }
}
