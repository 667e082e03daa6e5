//! A number of a result as the sum that it is: its terms with the running sum, and what is done
//! after the sum. The result has `terms` `[K, M]`, with the words `terms.columns` and `terms.rows`,
//! and `steps`, with the words `steps.names`.

use cells::format::Format;
use leptos::html::Div;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::display::num::number_span;
use crate::widgets::{Place, focus_place, moved, place_of, place_text, set};

/// Terms that are listed at once: a browser lays out a thousand numbers in one long task.
const PAGE: usize = 32;

/// Digits after the point.
const DIGITS: Format = Format::Fixed(4);

/// The numbers that lead to where they were computed themselves.
#[derive(Clone, Copy)]
pub(crate) struct Origins {
    /// Whether the number at a row and column does. Is tracked.
    pub(crate) is_known: Callback<Place, bool>,
    /// Goes there.
    pub(crate) open: Callback<Place>,
}

impl Origins {
    /// A number that is a button where it leads anywhere. It is no stop for the Tab key where
    /// `is_stop` is false.
    fn button(self, place: Place, number: AnyView, is_stop: Signal<bool>) -> AnyView {
        view! {
            <button
                type="button"
                class="term-origin"
                title="Open this number"
                data-at=place_text(place)
                tabindex=move || if is_stop.get() { "0" } else { "-1" }
                on:click=move |_| self.open.run(place)
            >
                {number}
            </button>
        }
        .into_any()
    }
}

/// The terms as a table that scrolls, in pages where there are many; nothing where there are none.
pub(crate) fn terms(cx: CellCx, origins: Origins) -> AnyView {
    let computed = cx.computed();
    let shape = Memo::new(move |_| {
        let shape = computed.with(|c| c.as_ref()?.tensor("terms")?.rows_cols());
        shape.unwrap_or((0, 0))
    });
    let page = RwSignal::new(0_usize);
    let pages = Memo::new(move |_| shape.get().0.div_ceil(PAGE).max(1));
    let many = Memo::new(move |_| pages.get() > 1);
    let first = Memo::new(move |_| page.get().min(pages.get() - 1) * PAGE);
    let (columns, names) = (cx.words("terms.columns"), cx.words("terms.rows"));
    let heads = move || {
        let columns = columns.get().into_iter();
        columns
            .map(|name| view! { <th scope="col">{set(&name)}</th> })
            .collect_view()
    };
    let list = NodeRef::<Div>::new();
    // The number that the Tab key leads to: where the focus was last, or the first one in view.
    let cursor = RwSignal::new(None::<Place>);
    let stop = Memo::new(move |_| {
        let (count, cols) = shape.get();
        let within =
            |&(k, m): &Place| (first.get()..count.min(first.get() + PAGE)).contains(&k) && m < cols;
        cursor.get().filter(within).unwrap_or((first.get(), 0))
    });
    let walk = move |event: leptos::ev::KeyboardEvent| {
        let (Some(at), Some(list)) = (place_of(&event), list.get_untracked()) else {
            return;
        };
        let (count, cols) = shape.get_untracked();
        if let Some(next) = moved(&event.key(), event.ctrl_key(), at, count, cols)
            && focus_place(&list, next)
        {
            event.prevent_default();
        }
    };
    let row = move |k: usize, cols: usize, names: &[String]| {
        let name = names.get(k).cloned();
        let name = name.unwrap_or_else(|| (k + 1).to_string());
        let number = move |m: usize| {
            let value = move || computed.with(|c| c.as_ref()?.at("terms", &[k, m]));
            let number = number_span(value, move || format!("terms[{k},{m}]"), DIGITS).into_any();
            let number = if untrack(|| origins.is_known.run((k, m))) {
                let is_stop = Signal::derive(move || stop.get() == (k, m));
                origins.button((k, m), number, is_stop)
            } else {
                number
            };
            view! { <td>{number}</td> }
        };
        view! {
            <tr>
                <th scope="row" data-label="">{name}</th>
                {(0..cols).map(number).collect_view()}
            </tr>
        }
    };
    let rows = move || {
        let ((count, cols), first) = (shape.get(), first.get());
        let names = names.get();
        // Which numbers lead on may change with the columns alone.
        columns.track();
        (first..(first + PAGE).min(count))
            .map(|k| row(k, cols, &names))
            .collect_view()
    };
    let table = move || {
        view! {
            <div
                class="scroll term-list"
                tabindex="0"
                role="region"
                aria-label="Terms of the sum"
                node_ref=list
                on:keydown=walk
                on:focusin=move |event| {
                    if let Some(place) = place_of(&event) {
                        cursor.set(Some(place));
                    }
                }
            >
                <table class="line-table">
                    <thead>
                        <tr>
                            <td></td>
                            {heads}
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <Show when=move || many.get()>{turn(page, pages, shape)}</Show>
        }
    };
    let any = Memo::new(move |_| shape.get().0 > 0);
    view! { <Show when=move || any.get()>{table()}</Show> }.into_any()
}

/// Buttons that turn the pages of the terms.
fn turn(page: RwSignal<usize>, pages: Memo<usize>, shape: Memo<(usize, usize)>) -> AnyView {
    let now = Memo::new(move |_| page.get().min(pages.get() - 1));
    let to = Callback::new(move |steps: isize| {
        let to = now.get().checked_add_signed(steps);
        to.filter(|&to| to < pages.get())
    });
    let which = Signal::derive(move || {
        let (count, first) = (shape.get().0, now.get() * PAGE);
        format!("{} to {} of {count}", first + 1, (first + PAGE).min(count))
    });
    let words = ["\u{2190} Terms before", "Terms after \u{2192}"];
    let go = Callback::new(move |to| page.set(to));
    pager("Terms in view", words, which, to, go)
}

/// Buttons to the page before and the page after, and between them which one is in view. `to` is
/// the page that is so many steps away, where there is one; it is tracked.
pub(crate) fn pager(
    label: &'static str,
    words: [&'static str; 2],
    which: Signal<String>,
    to: Callback<isize, Option<usize>>,
    go: Callback<usize>,
) -> AnyView {
    let button = move |words: &'static str, steps: isize| {
        view! {
            <button
                type="button"
                class="button quiet"
                aria-disabled=move || to.run(steps).is_none().then_some("true")
                on:click=move |_| {
                    if let Some(to) = untrack(|| to.run(steps)) {
                        go.run(to);
                    }
                }
            >
                {words}
            </button>
        }
    };
    view! {
        <div class="stepper term-pages" role="group" aria-label=label>
            {button(words[0], -1)}
            <span class="stepper-place" aria-live="polite" data-label="">{which}</span>
            {button(words[1], 1)}
        </div>
    }
    .into_any()
}

/// What is done after the sum, on one line; the last number is the result. Step n is in row n of
/// the `origins`, column 0.
pub(crate) fn steps(cx: CellCx, origins: Origins) -> AnyView {
    let names = cx.words("steps.names");
    let line = move || {
        let names = names.get();
        let last = names.len().saturating_sub(1);
        let step = |(n, name): (usize, String)| {
            // Rows of a table are counted.
            let format = if name.starts_with("row of") {
                Format::Count
            } else {
                DIGITS
            };
            let number = cx.num("steps", &[n], format);
            let number = if n == last {
                view! { <strong>{number}</strong> }.into_any()
            } else if untrack(|| origins.is_known.run((n, 0))) {
                origins.button((n, 0), number, Signal::stored(true))
            } else {
                number
            };
            view! { <span class="term">{set(&name)} " " {number}</span> }
        };
        names.into_iter().enumerate().map(step).collect_view()
    };
    view! { <p class="sum">{line}</p> }.into_any()
}
