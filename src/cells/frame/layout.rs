//! The surroundings of a cell's view: tools, message, progress, time.

use cells::CellError;
use cells::format::{self, Format};
use leptos::html::Summary;
use leptos::prelude::*;
use web_sys::HtmlElement;
use worker::cell_protocol::{Fetched, Lacking};

use crate::browser::full_screen;
use crate::cells::frame::context::{Busy, CellCx};
use crate::cells::frame::sheet::{Sheet, SheetSignal};
use crate::widgets::Num;

/// The tools in the head of a cell: a menu, and beside it the button that undoes all edits while
/// there are any. `assets/head.js` of the crate `pages` moves in the menu and closes it.
pub(crate) fn tools(cx: CellCx, section: HtmlElement, sheet: SheetSignal) -> AnyView {
    let edited = Memo::new(move |_| cx.is_edited());
    let section = send_wrapper::SendWrapper::new(section);
    let title = cx.title.get_value();
    let named = move |what: &str| format!("{what}: {title}");
    let open = move |which: fn(CellCx) -> Sheet| move |_| sheet.set(Some(which(cx)));
    let section = StoredValue::new(section);
    let fill_window = move |_| {
        let section = section.get_value();
        leptos::task::spawn_local(async move { full_screen::toggle(&section).await });
    };
    let summary = NodeRef::<Summary>::new();
    let reset_name = named("Reset");
    let reset = move |_| {
        cx.reset();
        // The button goes, and the focus with it.
        if let Some(summary) = summary.get_untracked() {
            let _ = summary.focus();
        }
    };
    view! {
        {move || edited.get().then(|| view! {
            <button type="button" class="button quiet" aria-label=reset_name.clone() on:click=reset>"Reset"</button>
        })}
        <button type="button" class="button leave-full" aria-label=named("Leave full screen") on:click=fill_window>"Leave full screen"</button>
        <details class="menu cell-menu">
            <summary node_ref=summary aria-label=named("Cell menu")><span aria-hidden="true">"\u{b7}\u{b7}\u{b7}"</span></summary>
            <div>
                <button type="button" aria-label=named("Share") on:click=open(Sheet::Share)>"Share"</button>
                <button type="button" class="enter-full" aria-label=named("Full screen") on:click=fill_window>"Full screen"</button>
                <button type="button" aria-label=named("Export") on:click=open(Sheet::Export)>"Export"</button>
                <button type="button" aria-label=named("Show the Rust") on:click=open(Sheet::Rust)>"Show the Rust"</button>
            </div>
        </details>
    }
    .into_any()
}

/// The body of a cell: message, view, and the line with the time.
pub(crate) fn body(cx: CellCx, view: crate::cells::registry::View) -> AnyView {
    let error = Memo::new(move |_| {
        cx.outcome
            .with(|o| o.error.as_ref().map(ToString::to_string))
    });
    // The inputs are not at fault: the same ones may work.
    let may_work = Memo::new(move |_| {
        cx.outcome
            .with(|o| matches!(o.error, Some(CellError::Worker(_))))
    });
    let retry = move || {
        may_work.get().then(|| {
            view! { <button type="button" class="button" on:click=move |_| cx.retry()>"Retry"</button> }
        })
    };
    let progress = Memo::new(move |_| cx.outcome.with(|o| o.busy.clone()));
    let busy = Memo::new(move |_| progress.get().is_some());
    let stop = move || {
        cx.can_be_stopped().then(|| {
            view! { <button type="button" class="button" on:click=move |_| cx.stop()>"Stop"</button> }
        })
    };
    let computed = Memo::new(move |_| cx.outcome.with(|o| o.whole().is_some()));
    let elapsed = Signal::derive(move || cx.outcome.with(|o| o.whole().map(|_| o.elapsed_ms)));
    // What other files gave, where one could not be fetched.
    let is_part = Memo::new(move |_| {
        cx.outcome
            .with(|o| o.is_part && matches!(o.error, Some(CellError::Worker(_))))
    });
    let stale = move || error.get().is_some() && !is_part.get();
    let below = move || {
        if is_part.get() {
            " The values below are from the files that arrived. "
        } else {
            " The values below are from the last inputs that worked. "
        }
    };
    provide_context(cx.clear_drafts());
    provide_context(cx.hatched());
    view! {
        <div class="cell-message" aria-live="polite">
            {move || error.get().map(|text| view! {
                <p class="cell-error">{text} {below} {retry}</p>
            })}
        </div>
        <div class="cell-view" class:is-stale=stale>{view(cx)}</div>
        <p class="cell-foot">
            {move || computed.get().then(|| view! {
                <span class="cell-time">
                    "Computed here in " <Num value=elapsed from="time:elapsed_ms" format=Format::Fixed(1) />
                    " ms"
                </span>
            })}
            {move || busy.get().then(|| view! {
                <span class="cell-busy">
                    <span data-label="">{move || progress.get().map(waits_for)}</span>
                    " " <progress max="1" value=move || progress.get().and_then(share_done) aria-label="Progress"></progress>
                    {stop()}
                </span>
            })}
        </p>
    }
    .into_any()
}

/// The progress of a cell in words; kB are 1,000 bytes. Several files are called by their names, in
/// the order in which they come.
fn waits_for(busy: Busy) -> String {
    let Busy::Fetching(files) = busy else {
        return "Computing".to_owned();
    };
    match &files[..] {
        [one] => format!("Loading the model: {}", kilobytes(one.fetched)),
        files => {
            let each = files.iter().map(|one| {
                let name = one.file.split('.').next().unwrap_or_default();
                format!("{name}, {}", kilobytes(one.fetched))
            });
            format!("Loading {}", each.collect::<Vec<_>>().join("; "))
        }
    }
}

/// The part of a file that has arrived.
fn kilobytes(Fetched { bytes, total }: Fetched) -> String {
    let kilobytes = |bytes: u64| format::number(bytes.div_ceil(1000) as f64, Format::Count);
    match total {
        None => format!("{} kB", kilobytes(bytes)),
        Some(total) => format!("{} of {} kB", kilobytes(bytes), kilobytes(total)),
    }
}

/// The share that is done, of the files that are missing; `None` where nobody knows.
fn share_done(busy: Busy) -> Option<f64> {
    match busy {
        Busy::Working(share) => Some(f64::from(share)),
        Busy::Fetching(files) => {
            let here: u64 = files.iter().map(|one| one.fetched.bytes).sum();
            let totals = files.iter().map(|Lacking { fetched, .. }| fetched.total);
            let total: u64 = totals.sum::<Option<u64>>()?;
            (total > 0).then(|| here as f64 / total as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Busy, Fetched, Lacking, share_done, waits_for};

    fn fetching(files: &[(&str, u64, Option<u64>)]) -> Busy {
        let files = files.iter().map(|&(file, bytes, total)| Lacking {
            file: file.to_owned(),
            fetched: Fetched { bytes, total },
        });
        Busy::Fetching(files.collect())
    }

    #[test]
    fn progress_in_words() {
        let unknown = fetching(&[("a.safetensors", 1, None)]);
        assert_eq!(waits_for(unknown.clone()), "Loading the model: 1 kB");
        let half = fetching(&[("a.safetensors", 612_000, Some(1_224_000))]);
        assert_eq!(
            waits_for(half.clone()),
            "Loading the model: 612 of 1,224 kB"
        );
        assert_eq!((share_done(half), share_done(unknown)), (Some(0.5), None));
        assert_eq!(waits_for(Busy::Working(0.25)), "Computing");
    }

    #[test]
    fn several_files_are_called_by_their_names() {
        let two = fetching(&[
            ("one.safetensors", 500_000, Some(1_500_000)),
            ("two.safetensors", 0, Some(500_000)),
        ]);
        assert_eq!(
            waits_for(two.clone()),
            "Loading one, 500 of 1,500 kB; two, 0 of 500 kB"
        );
        assert_eq!(share_done(two), Some(0.25));
        assert_eq!(share_done(fetching(&[])), None);
    }
}
