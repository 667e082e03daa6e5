//! Numbers in prose that a cell of the page computes: `<output data-inline="CELL-ID.TENSOR[I,J]">`.
//!
//! Prose speaks of the lesson's own inputs, so its numbers are computed from those and do not
//! change while the reader edits the cell.

use std::collections::BTreeMap;
use std::sync::Arc;

use cells::Computation;
use cells::format::{self, Format};
use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::browser::dom;
use crate::cells::frame::context::CellCx;
use crate::client;

/// A number that prose quotes.
struct Quote {
    place: HtmlElement,
    reference: String,
    format: Format,
}

/// The quotes of one cell. The browser has one thread, which the signals cannot know.
type Quotes = Arc<send_wrapper::SendWrapper<Vec<Quote>>>;

/// Fills every inline value below `main`.
pub(crate) fn fill(main: &HtmlElement, cells: &BTreeMap<String, CellCx>) {
    let mut by_cell: BTreeMap<String, Vec<Quote>> = BTreeMap::new();
    for place in dom::find_all(main, "[data-inline]") {
        let source = dom::data(&place, "inline");
        let Some((id, reference)) = source.split_once('.') else {
            continue;
        };
        dom::set_data(&place, "from", &source);
        let format = dom::data(&place, "format")
            .parse()
            .unwrap_or(Format::Fixed(3));
        let reference = reference.to_owned();
        by_cell.entry(id.to_owned()).or_default().push(Quote {
            place,
            reference,
            format,
        });
    }
    for (id, quotes) in by_cell {
        if let Some(cx) = cells.get(&id) {
            keep(*cx, Arc::new(send_wrapper::SendWrapper::new(quotes)));
        }
    }
}

/// Takes the cell's first result, where that belongs to the lesson's own inputs; otherwise computes
/// those apart.
fn keep(cx: CellCx, quotes: Quotes) {
    Effect::new(move |taken: Option<bool>| {
        if taken == Some(true) {
            return true;
        }
        let Some(first) = cx.outcome.with(|o| o.whole().cloned()) else {
            return false;
        };
        if untrack(|| cx.is_edited()) {
            compute_apart(cx, quotes.clone());
        } else {
            write(&quotes, &first);
        }
        true
    });
}

fn compute_apart(cx: CellCx, quotes: Quotes) {
    let inputs = cells::picture::with_drawn_samples(cx.initial_inputs());
    leptos::task::spawn_local(async move {
        if let Ok(computed) = client::computed(cx.spec, inputs).await {
            write(&quotes, &computed);
        }
    });
}

fn write(quotes: &Quotes, computed: &Computation) {
    for quote in quotes.iter() {
        if let Some(value) = computed.resolve(&quote.reference) {
            let text = format::number(value, quote.format);
            quote.place.set_text_content(Some(&text));
        }
    }
}
