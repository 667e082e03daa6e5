//! The lab's page: opening, what stands, and what can be done with it.

use leptos::prelude::*;

use super::open::open_form;
use super::pictures::pictures_panel;
use super::sentences::sentences_panel;
use super::session::{Lab, Standing};
use super::text::text_panel;

/// The lab.
pub(super) fn lab() -> AnyView {
    let lab = Lab::new();
    on_cleanup(move || lab.end());
    let panel = Memo::new(move |_| lab.standing.get());
    view! {
        {open_form(lab)}
        <div class="bench-progress">
            <span role="status">{move || lab.status.get()}</span>
            {move || lab.opening.get().then(|| view! {
                <progress aria-label="How far it is" max="1" prop:value=move || lab.share.get().unwrap_or(0.0)></progress>
                <button type="button" class="button" on:click=move |_| lab.stop_opening()>"Stop"</button>
            })}
        </div>
        <div role="alert">{move || lab.error.get().map(|why| view! { <p class="cell-error">{why}</p> })}</div>
        {move || panel.get().map(|standing| stands(lab, &standing))}
    }
    .into_any()
}

fn stands(lab: Lab, standing: &Standing) -> AnyView {
    let loaded = &standing.loaded;
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let threads = match standing.threads {
        1 => "1 thread".to_owned(),
        count => format!("{count} threads"),
    };
    let facts = [
        ("Model", standing.name.clone()),
        ("Kind", loaded.kind.clone()),
        (
            "Format",
            loaded
                .format
                .clone()
                .unwrap_or_else(|| "drawn here".to_owned()),
        ),
        ("Weights", megabytes(loaded.weight_bytes)),
        ("Memory", megabytes(loaded.memory_bytes)),
        ("Engine", format!("{}, {threads}", standing.build.name())),
        ("Loaded in", format!("{:.1} s", loaded.load_ms / 1000.0)),
    ];
    let facts = facts.map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> });
    let untrained = standing.untrained.map(|seed| {
        view! { <p class="cell-note">{format!("untrained: random weights, seed {seed}")}</p> }
    });
    let panel = if loaded.writes {
        text_panel(lab, loaded)
    } else if loaded.reads {
        sentences_panel(lab, loaded)
    } else {
        pictures_panel(lab, loaded)
    };
    view! {
        <dl class="lab-facts">{facts.collect_view()}</dl>
        {untrained}
        <button type="button" class="button" on:click=move |_| lab.unload()>"Unload"</button>
        {panel}
    }
    .into_any()
}
