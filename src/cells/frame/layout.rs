//! The surroundings of a cell's view: tools, message, progress, time.

use cells::CellError;
use cells::format::Format;
use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::browser::full_screen;
use crate::cells::frame::context::CellCx;
use crate::cells::frame::sheet::{Sheet, SheetSignal};
use crate::widgets::Num;

/// The row of tools in the head of a cell.
pub(crate) fn tools(cx: CellCx, section: HtmlElement, sheet: SheetSignal) -> AnyView {
    let pristine = Memo::new(move |_| !cx.is_edited());
    let section = send_wrapper::SendWrapper::new(section);
    let title = cx.title.get_value();
    let named = move |what: &str| format!("{what}: {title}");
    let open = move |which: fn(CellCx) -> Sheet| move |_| sheet.set(Some(which(cx)));
    let fill_window = move |_| {
        let section = section.clone();
        leptos::task::spawn_local(async move { full_screen::toggle(&section).await });
    };
    view! {
        <button type="button" class="button quiet" aria-disabled=move || pristine.get().to_string() aria-label=named("Reset")
            on:click=move |_| cx.reset()>"Reset"</button>
        <button type="button" class="button quiet" aria-label=named("Share") on:click=open(Sheet::Share)>"Share"</button>
        <button type="button" class="button quiet" aria-label=named("Full screen") on:click=fill_window>"Full screen"</button>
        <button type="button" class="button quiet" aria-label=named("Export") on:click=open(Sheet::Export)>"Export"</button>
        <button type="button" class="button quiet" aria-label=named("Show the Rust") on:click=open(Sheet::Rust)><span class="where-wide">"Show the "</span>"Rust"</button>
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
    let share = Memo::new(move |_| cx.outcome.with(|o| o.busy));
    let busy = Memo::new(move |_| share.get().is_some());
    let computed = Memo::new(move |_| cx.outcome.with(|o| o.computation.is_some()));
    let elapsed = Signal::derive(move || {
        cx.outcome
            .with(|o| o.computation.as_ref().map(|_| o.elapsed_ms))
    });
    let stale = move || error.get().is_some();
    provide_context(cx.clear_drafts());
    view! {
        <div class="cell-message" aria-live="polite">
            {move || error.get().map(|text| view! {
                <p class="cell-error">{text} " The values below are from the last inputs that worked. " {retry}</p>
            })}
        </div>
        <div class="cell-view" class:is-stale=stale>{view(cx)}</div>
        <p class="cell-foot">
            {move || computed.get().then(|| view! {
                <span class="cell-time">
                    "Computed here in " <Num value=elapsed from="time:elapsed_ms" format=Format::Fixed(1) />
                    " ms by the " <span data-label="kernel">{engine::kernel::chosen()}</span> " kernels"
                </span>
            })}
            {move || busy.get().then(|| view! {
                <span class="cell-busy">
                    "Computing " <progress max="1" value=move || share.get().unwrap_or(1.0) aria-label="Share of the work done"></progress>
                </span>
            })}
        </p>
    }
    .into_any()
}
