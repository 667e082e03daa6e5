//! Numbers in prose that a cell of the page computes: `<output data-inline="CELL-ID.TENSOR[I,J]">`.

use std::collections::BTreeMap;

use cells::format::{self, Format};
use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::browser::dom;
use crate::cells::context::CellCx;

/// Keeps every inline value below `main` up to date with its cell.
pub(crate) fn fill(main: &HtmlElement, cells: &BTreeMap<String, CellCx>) {
    for element in dom::find_all(main, "[data-inline]") {
        let source = dom::data(&element, "inline");
        let Some((id, reference)) = source.split_once('.') else {
            continue;
        };
        let Some(cx) = cells.get(id).copied() else {
            continue;
        };
        let reference = reference.to_owned();
        let format = dom::data(&element, "format")
            .parse()
            .unwrap_or(Format::Fixed(3));
        let element = send_wrapper::SendWrapper::new(element);
        dom::set_data(&element, "from", &source);
        Effect::new(move |_| {
            let value = cx.computed().with(|c| c.as_ref()?.resolve(&reference));
            if let Some(value) = value {
                element.set_text_content(Some(&format::number(value, format)));
            }
        });
    }
}
