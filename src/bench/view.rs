//! The form, the progress and the table.

use std::rc::Rc;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use worker::bench::BenchSettings;
use worker::build::{Build, Purpose};
use worker::model::packing::Packing;
use worker::model::protocol::InnerStepNumbers;
use worker::model::shape::SHAPES;

use super::measure::{Measured, measure};
use super::table::{steps_table, table};
use crate::browser::address;
use crate::model_build::{builds, what_runs_here};
use crate::model_worker::ModelWorker;

/// The state of the page, and the worker while there is one.
#[derive(Clone, Copy)]
pub(super) struct Bench {
    pub(super) busy: RwSignal<bool>,
    pub(super) status: RwSignal<String>,
    pub(super) share: RwSignal<Option<f64>>,
    pub(super) error: RwSignal<Option<String>>,
    pub(super) rows: RwSignal<Vec<Measured>>,
    /// The build that runs, with the inner steps that it has told.
    pub(super) inner_steps: RwSignal<Option<(Build, InnerStepNumbers)>>,
    pub(super) worker: StoredValue<Option<Rc<ModelWorker>>, LocalStorage>,
}

impl Bench {
    fn new() -> Self {
        Self {
            busy: RwSignal::new(false),
            status: RwSignal::new(String::new()),
            share: RwSignal::new(None),
            error: RwSignal::new(None),
            rows: RwSignal::new(Vec::new()),
            inner_steps: RwSignal::new(None),
            worker: StoredValue::new_local(None),
        }
    }

    /// Shows what is being done, and the share that is done.
    pub(super) fn show(&self, words: String, share: Option<f64>) {
        if self.status.try_with_untracked(|shown| *shown != words) == Some(true) {
            self.status.set(words);
        }
        self.share.try_set(share);
    }

    fn stop(&self) {
        if let Some(Some(worker)) = self.worker.try_get_value() {
            worker.terminate();
        }
    }
}

/// The settings, as texts.
const SETTINGS: [&str; 7] = ["model", "type", "build", "threads", "prompt", "new", "runs"];

/// The bench; with a model in the address the measurement starts by itself.
pub(super) fn bench() -> AnyView {
    let bench = Bench::new();
    let query = move |key: &str| address::query(key);
    let usual = BenchSettings::default();
    let start_with = |key: &str| {
        let usual = match key {
            "model" => SHAPES[0].name.to_owned(),
            "type" => usual.packing.name().to_owned(),
            "prompt" => usual.prompt.to_string(),
            "new" => usual.new.to_string(),
            "runs" => usual.runs.to_string(),
            _ => String::new(),
        };
        RwSignal::new(query(key).unwrap_or(usual))
    };
    let settings = SETTINGS.map(start_with);
    let start = move || {
        // An empty field is left out of the address.
        let given: Vec<(&str, String)> = SETTINGS
            .into_iter()
            .zip(settings.map(|setting| setting.get_untracked()))
            .filter(|(_, value)| !value.trim().is_empty())
            .collect();
        address::set_query(&given);
        begin(bench);
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if !bench.busy.get_untracked() {
            start();
        }
    };
    on_cleanup(move || bench.stop());
    if query("model").is_some() {
        begin(bench);
    }
    view! {
        <p class="bench-here">{what_runs_here()}</p>
        <form class="bench-form" on:submit=submit>
            {fields(settings)}
            <div class="bench-buttons">
                <button type="submit" class="button primary" aria-disabled=move || bench.busy.get().to_string()>"Measure"</button>
                <button type="button" class="button" disabled=move || !bench.busy.get() on:click=move |_| bench.stop()>"Stop"</button>
            </div>
        </form>
        <div class="bench-progress" data-computing=move || bench.busy.get().then_some("")>
            <span role="status">{move || bench.status.get()}</span>
            {move || bench.busy.get().then(|| view! {
                <progress aria-label="Progress" max="1" prop:value=move || bench.share.get().unwrap_or(0.0)></progress>
            })}
        </div>
        <div role="alert">{move || bench.error.get().map(|why| view! { <p class="cell-error">{why}</p> })}</div>
        {table(bench.rows)}
        {steps_table(bench.inner_steps)}
    }
    .into_any()
}

/// Measures what the address says.
fn begin(bench: Bench) {
    leptos::task::spawn_local(measure(BenchSettings::parse(address::query), bench));
}

fn fields(settings: [RwSignal<String>; 7]) -> AnyView {
    let [model, packing, build, threads, prompt, new, runs] = settings;
    let packings = Packing::ALL.map(|packing| (packing.name(), packing.name()));
    let builds: Vec<_> = builds(Purpose::Measure)
        .into_iter()
        .map(|build: Build| (build.name(), build.name()))
        .collect();
    let builds = [vec![("", "the best here")], builds].concat();
    view! {
        {model_fields(model)}
        {choice("type", "Type of the matrices", packings.to_vec(), packing)}
        {choice("build", "Engine", builds, build)}
        {number("threads", "Threads", "as many as there are", threads)}
        {number("prompt", "Tokens of the prompt", "", prompt)}
        {number("new", "New tokens", "", new)}
        {number("runs", "Runs", "", runs)}
    }
    .into_any()
}

/// The value of the choice that is no shape.
const OTHER: &str = "other";

/// The choice among the shapes of known models, and a field for any other model.
fn model_fields(model: RwSignal<String>) -> AnyView {
    let is_shape = |name: &str| SHAPES.iter().any(|shape| shape.name == name);
    let is_other = RwSignal::new(!is_shape(&model.get_untracked()));
    let options = SHAPES.map(|shape| {
        let chosen = move || !is_other.get() && model.with(|model| model == shape.name);
        view! { <option value=shape.name selected=chosen>{shape.title}</option> }
    });
    let choose = move |name: String| {
        is_other.set(name == OTHER);
        match name.as_str() {
            // An address that was typed before is kept.
            OTHER if model.with_untracked(|model| !is_shape(model)) => {}
            OTHER => model.set(String::new()),
            _ => model.set(name),
        }
    };
    let address = move || {
        model.with(|model| {
            if is_shape(model) {
                String::new()
            } else {
                model.clone()
            }
        })
    };
    view! {
        <label class="field bench-model"><span>"Model"</span>
            <select name="shape" on:change=move |event| choose(event_target_value(&event))>
                {options.collect_view()}
                <option value=OTHER selected=move || is_other.get()>"another, by the address of its file"</option>
            </select>
        </label>
        <label class="field bench-model" hidden=move || !is_other.get()><span>"Address of the file"</span>
            <input type="text" inputmode="url" name="model" spellcheck="false" autocomplete="off" placeholder="https://…/model.gguf"
                prop:value=address on:input=move |event| model.set(event_target_value(&event)) />
        </label>
    }
    .into_any()
}

fn choice(
    name: &'static str,
    label: &'static str,
    options: Vec<(&'static str, &'static str)>,
    setting: RwSignal<String>,
) -> AnyView {
    let options = options.into_iter().map(|(value, words)| {
        view! { <option value=value selected=move || setting.get() == value>{words}</option> }
    });
    view! {
        <label class="field"><span>{label}</span>
            <select name=name on:change=move |event| setting.set(event_target_value(&event))>{options.collect_view()}</select>
        </label>
    }
    .into_any()
}

fn number(
    name: &'static str,
    label: &'static str,
    placeholder: &'static str,
    setting: RwSignal<String>,
) -> AnyView {
    view! {
        <label class="field"><span>{label}</span>
            <input type="text" inputmode="numeric" name=name placeholder=placeholder
                prop:value=move || setting.get() on:input=move |event| setting.set(event_target_value(&event)) />
        </label>
    }
    .into_any()
}
