//! The figure that a cell was served with, until the cell has computed it here.

use leptos::mount::mount_to;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use web_sys::HtmlElement;

use crate::browser::dom;
use crate::cells::frame::context::{CellCx, STEPS};

/// Has the body of a cell show its view while this class is not on it.
const SERVED: &str = "is-served";

/// Makes room in the body of a cell for its view. A figure that shows what the cell will show stays
/// until the cell has its own result, which is then compared with it, or until an input changes.
pub(crate) fn hand_over(cx: CellCx, body: &HtmlElement) {
    let figure = dom::find(body, ".served");
    body.set_inner_html("");
    let kept =
        figure.filter(|figure| untrack(|| !cx.is_edited()) && body.append_child(figure).is_ok());
    let Some(figure) = kept else {
        show_view(body);
        return;
    };
    let expected = dom::data(&figure, "fingerprint");
    let (body, figure) = (SendWrapper::new(body.clone()), SendWrapper::new(figure));
    Effect::new(move |done: Option<bool>| {
        if done == Some(true) {
            return true;
        }
        let computed = cx
            .outcome
            .with(|outcome| outcome.whole().map(|c| c.fingerprint()));
        let edited = cx.is_edited();
        // What the files that arrived give is shown where the others cannot be had.
        let is_all = cx.outcome.with(|o| o.is_part && o.error.is_some());
        if computed.is_none() && !edited && !is_all {
            return false;
        }
        figure.remove();
        show_view(&body);
        // A training that the cell has begun by itself may be a step further.
        let same_inputs = !edited && untrack(|| is_at_first_step(cx));
        if computed.is_some_and(|found| same_inputs && format!("{found:016x}") != expected) {
            say_that_it_differs(&body);
        }
        true
    });
}

fn show_view(body: &HtmlElement) {
    // The class of an element of one's own page can always be changed.
    let _ = body.class_list().remove_1(SERVED);
}

/// False where a cell that trains has gone on from where the lesson begins.
fn is_at_first_step(cx: CellCx) -> bool {
    cx.inputs().0.get(STEPS) == cx.initial_inputs().0.get(STEPS)
}

/// Tells the reader that the page was served with other numbers.
fn say_that_it_differs(body: &HtmlElement) {
    dom::set_data(body, "differs", "");
    mount_to(body.clone(), || {
        view! {
            <p class="cell-error">
                "This browser computed other numbers than those that the page came with, which is a fault of this site or of the browser. What you see now was computed here."
            </p>
        }
    })
    .forget();
}
