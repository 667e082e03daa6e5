//! The number of blocks of an opened model, as a slider that ends at the model's last.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;

/// The slider of the input `blocks` from `first` on, for a cell with the results `blocks` and `count`.
pub(crate) fn blocks_box(cx: CellCx, label: &'static str, first: usize) -> AnyView {
    let (now, count) = (
        cx.value("blocks", Vec::new()),
        cx.value("count", Vec::new()),
    );
    let shown = move || now.get().unwrap_or_default();
    let set = move |event| {
        if let Ok(blocks) = event_target_value(&event).parse::<f64>() {
            cx.set("blocks", InputValue::Number(blocks));
        }
    };
    view! {
        <label class="field">
            <span>{label} {cx.num("blocks", &[], Format::Count)} " of " {cx.num("count", &[], Format::Count)}</span>
            <input type="range" name="blocks" min=first.to_string() step="1" max=move || count.get().unwrap_or_default().to_string()
                prop:value=move || shown().to_string() on:input=set />
        </label>
    }
    .into_any()
}
