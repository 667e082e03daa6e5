//! The one component that prints numbers.

use cells::format::{Format, number};
use leptos::prelude::*;

/// The text in place of a number that is not known (yet).
pub(crate) const NOTHING: &str = "\u{2013}";

/// A number with its origin: `<span class="num" data-from="weights[0,1]"
/// data-format="fixed3">0.406</span>`.
#[component]
pub fn Num(
    /// The number; a dash is shown while there is none.
    #[prop(into)]
    value: Signal<Option<f64>>,
    /// Tensor element or input that it is, as `cells::computation::reference` writes it.
    #[prop(into)]
    from: Signal<String>,
    /// Format of the number.
    #[prop(default = Format::Fixed(3))]
    format: Format,
) -> impl IntoView {
    number_span(move || value.get(), move || from.get(), format)
}

/// The element of [`Num`], for widgets that draw hundreds of numbers and need no signal for each.
pub(crate) fn number_span(
    value: impl Fn() -> Option<f64> + Copy + Send + Sync + 'static,
    from: impl Fn() -> String + Send + Sync + 'static,
    format: Format,
) -> impl IntoView {
    view! {
        <span
            class="num"
            data-from=move || value().map(|_| from())
            data-format=format.to_string()
        >
            {move || value().map_or_else(|| NOTHING.to_owned(), |v| number(v, format))}
        </span>
    }
}
