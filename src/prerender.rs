//! The default results of cells as markup, for the pages as they are served.
//!
//! Natively the views of the cells become markup instead of elements. So a page shows the same
//! figure before the engine has loaded, on paper and without scripts; in the tab the view takes its
//! place as soon as it has computed the same.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use ::cells::format::number;
use ::cells::model_cache::ModelCache;
use ::cells::{InputValue, jobs, picture};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cells::registry;
use crate::lesson::declared::Named;
use crate::state::PageState;

/// A cell whose default result is wanted.
#[derive(Debug, Clone, Deserialize)]
pub struct Wanted {
    #[serde(flatten)]
    cell: Named,
    /// The shared inputs of its page.
    shared: BTreeMap<String, Value>,
    /// The results that the page's prose quotes: tensor element and format of each.
    quoted: Vec<(String, String)>,
}

impl Wanted {
    /// Name of the cell.
    pub fn name(&self) -> &str {
        &self.cell.name
    }
}

/// The default result of a cell.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// Its view as markup.
    pub html: String,
    /// [`Computation::fingerprint`](::cells::Computation::fingerprint) of what it shows, as
    /// hexadecimal digits.
    pub fingerprint: String,
    /// The quoted results as texts; `None` for what the cell has not computed.
    pub quoted: Vec<Option<String>>,
}

/// Computes a cell on the inputs that its lesson gives it, with the models in the cache, and draws
/// it.
///
/// # Errors
/// A text that says what is wrong with the cell's inputs, or what its computation met.
pub fn figure(wanted: &Wanted, models: &ModelCache) -> Result<Figure, String> {
    let owner = Owner::new();
    owner.with(|| {
        now(registry::load(std::slice::from_ref(&wanted.cell.name)))
            .ok_or("the code of the cell is not there at once")?
            .map_err(|e| e.to_string())?;
        let page = PageState::new();
        let (cx, view) = wanted.cell.clone().declare(page, &wanted.shared)?;
        for (name, value) in picture::with_drawn_samples(cx.all_inputs()).0 {
            if let InputValue::Picture(picture) = value {
                cx.fill_picture(&name, picture);
            }
        }
        let computation =
            jobs::compute(cx.spec, &cx.inputs(), models).map_err(|e| e.to_string())?;
        let quoted = wanted.quoted.iter().map(|(reference, format)| {
            let value = computation.resolve(reference)?;
            Some(number(value, format.parse().ok()?))
        });
        let quoted = quoted.collect();
        let fingerprint = format!("{:016x}", computation.fingerprint());
        cx.outcome
            .update(|outcome| outcome.computation = Some(Arc::new(computation)));
        provide_context(cx.clear_drafts());
        let html = view(cx).to_html();
        Ok(Figure {
            html,
            fingerprint,
            quoted,
        })
    })
}

/// The value of a future that waits for nothing, as those of chunks do where all is one file; none
/// if it waits after all.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
