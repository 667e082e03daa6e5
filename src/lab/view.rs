//! The lab's page: the form that opens a model, its properties and its panel.

use leptos::prelude::*;
use worker::model::protocol::Storage;

use super::download_offer::question;
use super::lesson_cells::cells_panel;
use super::message::{message, problem};
use super::open::open_form;
use super::pictures::pictures_panel;
use super::sentences::sentences_panel;
use super::session::{Lab, OpenModel};
use super::text::{bounded, text_panel};
use crate::browser::storage::megabytes;

/// The lab.
pub(super) fn lab() -> AnyView {
    let lab = Lab::new();
    on_cleanup(move || lab.end());
    let panel = Memo::new(move |_| lab.model.get());
    let is_opening = move || lab.opening.get() && lab.offer.with(Option::is_none);
    let is_computing = move || is_opening() || lab.text.busy.get() || lab.answers.busy.get();
    view! {
        {open_form(lab)}
        <div class="bench-progress" data-computing=move || is_computing().then_some("")>
            <span role="status">{move || message(&lab.status.get())}</span>
            {move || is_opening().then(|| view! {
                <progress aria-label="Progress" max="1" prop:value=move || lab.share.get().unwrap_or(0.0)></progress>
                <button type="button" class="button" on:click=move |_| lab.stop_opening()>"Stop"</button>
            })}
        </div>
        {question(lab)}
        {problem(lab.error)}
        {move || panel.get().map(|model| open_model(lab, &model))}
    }
    .into_any()
}

fn open_model(lab: Lab, model: &OpenModel) -> AnyView {
    let loaded = &model.loaded;
    let threads = match model.threads {
        1 => "1 thread".to_owned(),
        count => format!("{count} threads"),
    };
    let facts = [
        ("Model", bounded(&model.name)),
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
        ("Engine", format!("{}, {threads}", model.build.name())),
        ("Loaded in", format!("{:.1} s", loaded.load_ms / 1000.0)),
    ];
    let facts = facts.map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> });
    let storage = loaded.storage.as_ref().map(|storage| {
        view! { <p class="hint lab-storage">{stored(storage, loaded.file_bytes)}</p> }
    });
    let repacked = (!loaded.repacked.is_empty()).then(|| {
        let words = format!(
            "Matrices in types that are slow here are kept in another one: {}.",
            loaded.repacked.join(", ")
        );
        view! { <p class="hint lab-repacked">{words}</p> }
    });
    let names = model
        .names
        .note()
        .map(|note| view! { <p class="hint lab-names">{note}</p> });
    let untrained = model.untrained.map(|seed| {
        view! { <p class="cell-note">{format!("untrained: random parameters, seed {seed}")}</p> }
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
        {storage}
        {repacked}
        {names}
        {untrained}
        <button type="button" class="button" on:click=move |_| lab.unload()>"Unload"</button>
        {panel}
        {cells_panel(lab, model)}
    }
    .into_any()
}

/// A sentence on the place of the file, and the part of it that was stored before.
fn stored(storage: &Storage, bytes: u64) -> String {
    match storage {
        Storage::Stored { before } if *before == bytes => {
            "It was kept on this device: nothing was fetched.".to_owned()
        }
        Storage::Stored { before: 0 } => {
            "It is kept on this device: next time it is not fetched again.".to_owned()
        }
        Storage::Stored { before } => {
            let (had, rest) = (megabytes(*before), megabytes(bytes.saturating_sub(*before)));
            format!("{had} were kept on this device, and {rest} were fetched.")
        }
        Storage::Refused(why) => format!(
            "It is in memory only, and will be fetched again next time: this browser does not keep it ({why})."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fetched_is_said() {
        let words = |before| stored(&Storage::Stored { before }, 4_000_000);
        assert!(words(4_000_000).contains("nothing was fetched"));
        assert!(words(0).contains("next time"));
        assert!(
            words(1_000_000).contains("1.0 MB were kept")
                && words(1_000_000).contains("3.0 MB were fetched")
        );
        let refused = stored(&Storage::Refused("full".to_owned()), 1);
        assert!(refused.contains("memory only") && refused.contains("full"));
    }
}
