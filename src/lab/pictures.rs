//! The panel of a model that reads pictures: the classes, and the attention weights of a patch.

use std::sync::Arc;

use cells::format::{Format, number};
use cells::input::{Picture, Pixels};
use leptos::prelude::*;
use web_sys::File;
use worker::model::protocol::{self, AttentionPosition, ModelInfo, ModelRequest};

use super::answers::SeenPicture;
use super::inside::{share, shares_of, which};
use super::message::problem;
use super::session::Lab;
use super::text::bounded;
use crate::browser::picture;
use crate::widgets::{Concept, Domain, Grid, Palette, PatchGrid, PictureBox, legend};

/// Longest side in pixels of a picture that is sent to the model; no model reads more.
const LONGEST_SIDE: u32 = 1024;

/// The panel of a model that reads pictures.
pub(super) fn pictures_panel(lab: Lab, loaded: &ModelInfo) -> AnyView {
    let (layers, heads) = (loaded.layers, loaded.heads);
    let answers = lab.answers;
    let classes = move || answers.seen.with(|seen| seen.as_ref().map(classes));
    view! {
        <div class="lab-text">
            {picture_box(lab)}
            <div class="bench-progress"><span role="status">{move || status(lab)}</span></div>
            {problem(answers.error)}
            <div class="lab-inside">
                {inside(lab, layers, heads)}
                {classes}
            </div>
        </div>
    }
    .into_any()
}

fn status(lab: Lab) -> String {
    if lab.answers.busy.get() {
        return "Running the model.".to_owned();
    }
    lab.answers.seen.with(|seen| {
        let ms = seen.as_ref().map(|seen| seen.elapsed_ms);
        ms.map_or_else(String::new, |ms| format!("Computed in {ms:.0} ms."))
    })
}

fn picture_box(lab: Lab) -> AnyView {
    let message = RwSignal::new(None::<String>);
    let note = RwSignal::new(None::<String>);
    let chosen = RwSignal::new(String::new());
    // What is still being decoded when another picture is chosen is of no interest any more.
    let newest = StoredValue::new(0_u32);
    let next = move || {
        message.set(None);
        newest.update_value(|count| *count += 1);
        newest.get_value()
    };
    let see = move |own: u32, name: String, found: Result<picture::Read, String>| {
        if newest.try_get_value() != Some(own) {
            return;
        }
        match found {
            Ok(read) => {
                chosen.set(name);
                note.set(read.note);
                look(lab, read.pixels);
            }
            // The picture before stays.
            Err(why) => message.set(Some(why)),
        }
    };
    let on_sample = move |name: String| {
        let own = next();
        leptos::task::spawn_local(async move {
            let found = picture::sample(&name).await;
            let read = found.map(|pixels| picture::Read { pixels, note: None });
            see(own, name, read);
        });
    };
    let on_file = move |file: File| {
        let own = next();
        leptos::task::spawn_local(async move {
            let found = picture::from_file(&file, LONGEST_SIDE).await;
            see(own, Picture::YOURS.to_owned(), found);
        });
    };
    let samples: Vec<String> = cells::picture::SAMPLES
        .iter()
        .map(|&name| name.to_owned())
        .collect();
    view! {
        <PictureBox label="What is on" samples=samples chosen=chosen on_sample=Callback::new(on_sample)
            on_file=UnsyncCallback::new(on_file) message=message note=note />
    }
    .into_any()
}

fn look(lab: Lab, pixels: Pixels) {
    lab.answers.error.set(None);
    lab.answers.busy.set(true);
    lab.send(ModelRequest::See(protocol::Picture {
        width: pixels.width,
        height: pixels.height,
        rgb: pixels.rgb,
    }));
}

fn classes(seen: &SeenPicture) -> AnyView {
    if seen.classes.is_empty() {
        let words = "This model has no classes: it makes one vector for each patch.";
        return view! { <p class="cell-note">{words}</p> }.into_any();
    }
    let rows = seen.classes.iter().map(|(class, candidate)| {
        let from = format!("probabilities[{class}]");
        view! { {share(bounded(&candidate.text), candidate.probability, from)} }
    });
    view! {
        <div class="panel lab-classes">
            <p class="share-title">"Its most likely classes"</p>
            <ul class="shares">{rows.collect_view()}</ul>
        </div>
    }
    .into_any()
}

/// The picture with its patches, and the attention weights of the chosen one.
fn inside(lab: Lab, layers: usize, heads: usize) -> AnyView {
    let answers = lab.answers;
    let selected = RwSignal::new(None::<usize>);
    let (layer, head) = (
        RwSignal::new(layers.saturating_sub(1)),
        RwSignal::new(0_usize),
    );
    // No patch is the class token, where there is one.
    let token = Memo::new(move |_| {
        let before = answers
            .seen
            .with(|seen| seen.as_ref().map(|seen| seen.before))?;
        match selected.get() {
            Some(patch) => Some(before + patch),
            None => (before > 0).then_some(0),
        }
    });
    Effect::new(move |_| {
        answers.seen.track();
        let place = |token| AttentionPosition {
            token,
            layer: layer.get(),
            head: head.get(),
        };
        if let Some(place) = token.get().map(place).filter(|_| layers > 0) {
            lab.send(ModelRequest::Attend(place));
        }
    });
    let overlay = Memo::new(move |_| {
        let (place, weights) = answers.attention.get()?;
        answers
            .seen
            .with(|seen| over(seen.as_ref()?, place, &weights))
    });
    let pixels = answers.pixels();
    let patch = Signal::derive(move || {
        answers
            .seen
            .with(|seen| seen.as_ref().map_or(1, |seen| seen.patch))
    });
    let any = Memo::new(move |_| answers.seen.with(Option::is_some));
    let picture = move || {
        view! {
            <div class="panel lab-sight">
                <PatchGrid pixels=pixels patch=patch label="The picture as the model reads it" selected=selected overlay=overlay />
                {match layers {
                    0 => view! { <p class="hint">"This model attends within windows. A cell below shows which tokens a patch reaches through them."</p> }.into_any(),
                    _ => attention(lab, (layer, layers), (head, heads), selected, overlay.into()),
                }}
            </div>
        }
    };
    view! { {move || any.get().then(picture)} }.into_any()
}

/// The weights over the patches, as a grid; `None` while they are those of another picture.
fn over(seen: &SeenPicture, place: AttentionPosition, weights: &[f32]) -> Option<Grid> {
    let (rows, cols) = (
        seen.pixels.height / seen.patch,
        seen.pixels.width / seen.patch,
    );
    let values: Arc<[f64]> = weights
        .get(seen.before..)?
        .iter()
        .map(|&x| f64::from(x))
        .collect();
    (values.len() == rows * cols).then(|| Grid {
        source: "attention.weights".to_owned(),
        prefix: vec![place.layer, place.head, place.token],
        rows,
        cols,
        values,
        row_labels: Vec::new(),
        col_labels: Vec::new(),
        vector: false,
        symbols: false,
    })
}

fn attention(
    lab: Lab,
    layer: (RwSignal<usize>, usize),
    head: (RwSignal<usize>, usize),
    selected: RwSignal<Option<usize>>,
    overlay: Signal<Option<Grid>>,
) -> AnyView {
    let answers = lab.answers;
    let class_token = move || {
        answers
            .seen
            .with(|seen| seen.as_ref().is_some_and(|seen| seen.before > 0))
    };
    let whole = view! {
        <button type="button" class="button" aria-pressed=move || selected.get().is_none().to_string()
            on:click=move |_| selected.set(None)>"Class token"</button>
    };
    let list = move || {
        let (place, weights) = answers.attention.get()?;
        answers
            .seen
            .with(|seen| Some(largest(seen.as_ref()?, place, &weights)))
    };
    view! {
        <div class=Concept::Weight.class()>
            {legend(overlay, Palette::Sequential, Signal::stored(Domain::Auto), Format::Percent(1))}
        </div>
        <p class="share-title">"How much the class token, or the patch that you choose, attends to each patch"</p>
        <div class="lab-row">
            {class_token().then_some(whole)}
            {which("layer", "Layer", layer.0, layer.1)}
            {which("head", "Head", head.0, head.1)}
        </div>
        {problem(answers.attention_error)}
        {list}
    }
    .into_any()
}

/// The largest weights, in words.
fn largest(seen: &SeenPicture, place: AttentionPosition, weights: &[f32]) -> AnyView {
    let cols = (seen.pixels.width / seen.patch).max(1);
    let before = seen.before;
    let word = move |token: usize| match token.checked_sub(before) {
        None => "class token".to_owned(),
        Some(patch) => format!("row {}, column {}", patch / cols + 1, patch % cols + 1),
    };
    let (rows, more) = shares_of(place, weights, 6, word);
    let more = more.map(|(count, sum)| {
        let sum = number(f64::from(sum), Format::Percent(1));
        view! { <p class="hint">{format!("The other {count} together: {sum}.")}</p> }
    });
    view! { <ul class="shares">{rows}</ul> {more} }.into_any()
}
