//! Brings a served page to life: one view in each cell, exercise and inline value. Everything else
//! in the document stays untouched.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use ::cells::state::State;
use leptos::mount::mount_to;
use leptos::prelude::*;
use serde_json::Value;
use web_sys::HtmlElement;

use super::declared::Named;
use super::{exercise, inline, served};
use crate::browser::{abilities, clock, dom, near, reader, turns};
use crate::cells::frame::context::CellCx;
use crate::cells::frame::sheet::SheetSignal;
use crate::cells::frame::{layout, reserve, run};
use crate::cells::registry;
use crate::chunk::NotLoaded;
use crate::state::PageState;

/// Finds the cells of a page.
const CELLS: &str = "section[data-cell]";

/// Finds the exercises of a page.
const EXERCISES: &str = "section[data-exercise]";

/// Finds the folds around cells.
const FOLDS: &str = ".cell-fold";

/// Handles of the mounted views of a page, more while they are being mounted; dropping all copies
/// unmounts the views.
#[derive(Clone, Default)]
pub(crate) struct Mounted(Rc<RefCell<Vec<Box<dyn Any>>>>);

impl Mounted {
    /// Keeps a view as long as the page is open.
    pub(crate) fn keep(&self, view: impl Any) {
        self.0.borrow_mut().push(Box::new(view));
    }
}

/// Fetches the cells that the page below `main` shows or asks about, where they are not here yet.
///
/// # Errors
/// When a part cannot be fetched; the next call tries again.
pub(crate) async fn load(main: &HtmlElement) -> Result<(), NotLoaded> {
    let named = |selector: &str, data: &str| -> Vec<String> {
        let sections = dom::find_all(main, selector);
        sections
            .iter()
            .map(|section| dom::data(section, data))
            .collect()
    };
    registry::load(&[named(CELLS, "cell"), named(EXERCISES, "of")].concat()).await
}

/// Makes everything below `main` known, restores the edits of the address, and begins to mount the
/// page's own parts, each a step of `first`, and then the views: those in the window, and once the
/// reader has begun to use the page the other cells in their order, and then the other exercises,
/// whose code is fetched when one comes into view or the cells in the window have their numbers.
/// Between two of them, and between the tools and the body of a cell, the browser gets a turn, so
/// the page answers meanwhile.
pub(crate) fn adopt(
    main: &HtmlElement,
    page: PageState,
    sheet: SheetSignal,
    edits: Result<Option<State>, String>,
    first: Vec<Step>,
) -> Mounted {
    let shared: BTreeMap<String, Value> =
        serde_json::from_str(&dom::data(main, "inputs")).unwrap_or_default();
    let cells: Vec<_> = dom::find_all(main, CELLS)
        .into_iter()
        .map(|section| (declare(&section, page, &shared), section))
        .collect();
    let moved: BTreeMap<String, String> = cells
        .iter()
        .map(|(_, section)| (dom::data(section, "formerly"), section.id()))
        .filter(|(former, _)| !former.is_empty())
        .collect();
    page.restore(edits, &moved);
    let mut parts: Vec<Part> = Vec::new();
    let mut by_id = ById::new();
    for (cell, section) in cells {
        match cell {
            Ok((cx, view)) => {
                by_id.insert(cx.id.get_value(), cx);
                parts.push((section, Some((cx, view))));
            }
            Err(message) => refuse(&section, &message),
        }
    }
    inline::fill(main, &by_id);
    let exercises = dom::find_all(main, EXERCISES);
    parts.extend(exercises.into_iter().map(|section| (section, None)));
    open_in_print(main);
    let mounted = Mounted::default();
    leptos::task::spawn_local(mount_all(
        first,
        parts,
        by_id,
        sheet,
        Owner::current(),
        Rc::downgrade(&mounted.0),
    ));
    mounted
}

/// Opens the folded cells when the page is printed, which shows all of it at once.
fn open_in_print(main: &HtmlElement) {
    let (folds, printed) = (dom::find_all(main, FOLDS), near::printed());
    Effect::new(move |_| {
        if printed.get() {
            for fold in &folds {
                let _ = fold.set_attribute("open", "");
            }
        }
    });
}

/// The cells of a page by their ids.
pub(super) type ById = BTreeMap<String, CellCx>;

/// A section of a page that comes to life: that of a cell, or without one that of an exercise.
type Part = (HtmlElement, Option<(CellCx, registry::View)>);

/// A step of mounting a part, after which the browser gets a turn.
pub(crate) type Step = Box<dyn FnOnce(&Mounted)>;

/// Mounts the parts of a page, and lets the cells that the reader has not come near compute in the
/// end, except those that are folded away.
async fn mount_all(
    first: Vec<Step>,
    parts: Vec<Part>,
    by_id: ById,
    sheet: SheetSignal,
    owner: Option<Owner>,
    page: Weak<RefCell<Vec<Box<dyn Any>>>>,
) {
    let cells = mount_in_steps(first, parts, by_id, sheet, owner, &page).await;
    // What nobody reads is not fetched for who saves data.
    if let (Some(cells), false) = (cells, abilities::saves_data()) {
        run::begin_when_idle(cells, || page.strong_count() > 0).await;
    }
}

/// Mounts the parts of a page, each in tasks of its own: those in the window, and the others once
/// the reader has begun to use the page. Gives the cells that are not folded away, or none where the
/// page has been left meanwhile.
async fn mount_in_steps(
    first: Vec<Step>,
    parts: Vec<Part>,
    by_id: ById,
    sheet: SheetSignal,
    owner: Option<Owner>,
    page: &Weak<RefCell<Vec<Box<dyn Any>>>>,
) -> Option<Vec<CellCx>> {
    let take = async |steps: Vec<Step>| {
        for step in steps {
            clock::give_way().await;
            let (mounted, owner) = (page.upgrade().map(Mounted)?, &owner);
            // The handles go with the step: kept any longer, a page that is left meanwhile would lose
            // its signals and keep its views.
            let step = move || match owner {
                Some(owner) => owner.with(|| step(&mounted)),
                None => step(&mounted),
            };
            turns::in_turns(step).await;
        }
        Some(())
    };
    let mut cells = Vec::new();
    let exercises = parts.iter().filter(|(_, cell)| cell.is_none());
    let exercises: Vec<HtmlElement> = exercises.map(|(section, _)| section.clone()).collect();
    let mut mount = async |(section, cell): Part| {
        let steps: Vec<Step> = match cell {
            Some((cx, view)) => {
                if !is_folded(&section) {
                    cells.push(cx);
                }
                cell_steps(cx, view, &section, sheet)
            }
            None => {
                run::wait_for_numbers(&cells, || {
                    page.strong_count() == 0
                        || exercises.iter().any(|section| dom::is_in_view(section))
                })
                .await;
                let form = exercise::load().await.ok();
                let by_id = by_id.clone();
                vec![Box::new(move |mounted| match form {
                    Some(mount) => {
                        if let Some(form) = mount(&section, &by_id) {
                            mounted.keep(form);
                        }
                    }
                    None => exercise::refuse(&section),
                })]
            }
        };
        take(steps).await
    };
    take(first).await?;
    let (seen, mut others): (Vec<Part>, Vec<Part>) = parts
        .into_iter()
        .partition(|(section, _)| dom::is_in_view(section));
    for part in seen {
        mount(part).await?;
    }
    reader::until_active().await;
    others.sort_by_cached_key(|(section, cell)| (!dom::is_in_view(section), cell.is_none()));
    for part in others {
        mount(part).await?;
    }
    Some(cells)
}

/// Whether a cell is in a fold that nobody has opened.
fn is_folded(section: &HtmlElement) -> bool {
    matches!(section.closest("details:not([open])"), Ok(Some(_)))
}

/// Reads a section's props and makes its inputs known to the page.
fn declare(
    section: &HtmlElement,
    page: PageState,
    shared: &BTreeMap<String, Value>,
) -> Result<(CellCx, registry::View), String> {
    let name = dom::data(section, "cell");
    let title = dom::find(section, ".cell-title").and_then(|title| title.text_content());
    let named = Named {
        id: section.id(),
        title: title.unwrap_or_else(|| name.clone()),
        props: serde_json::from_str(&dom::data(section, "props"))
            .map_err(|e| format!("The props of this cell cannot be read: {e}"))?,
        name,
    };
    named.declare(page, shared)
}

/// The steps of mounting a cell: its tools, and then its view, with which it begins to compute. So a
/// cell that shows numbers has its tools.
fn cell_steps(
    cx: CellCx,
    view: registry::View,
    section: &HtmlElement,
    sheet: SheetSignal,
) -> Vec<Step> {
    let (Some(tools), Some(body)) = (
        dom::find(section, ".cell-tools"),
        dom::find(section, ".cell-body"),
    ) else {
        return Vec::new();
    };
    let (computed, framed) = (section.clone(), section.clone());
    vec![
        Box::new(move |mounted| {
            mounted.keep(mount_to(tools, move || layout::tools(cx, framed, sheet)));
        }),
        Box::new(move |mounted| {
            served::hand_over(cx, &body);
            run::keep_computed(cx, computed.into());
            reserve::release_when_drawn(cx, &body);
            mounted.keep(mount_to(body, move || layout::body(cx, view)));
        }),
    ]
}

/// Says in the cell that it cannot run.
fn refuse(section: &HtmlElement, message: &str) {
    dom::set_data(section, "state", "error");
    if let Some(body) = dom::find(section, ".cell-body") {
        let message = message.to_owned();
        mount_to(body, move || view! { <p class="cell-error">{message}</p> }).forget();
    }
}
