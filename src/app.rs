//! The running site: one open page at a time, adopted as it was served and replaced when the reader
//! follows a link.

use std::cell::RefCell;
use std::collections::BTreeMap;

use cells::state::State;
use leptos::mount::mount_to;
use leptos::prelude::*;
use serde_json::Value;
use web_sys::HtmlElement;

use crate::browser::{address, clock, dom, full_screen, page, reader, turns};
use crate::cells::frame::sheet::{self, SheetSignal};
use crate::lesson::adopt::{self, Mounted};
use crate::route::{Fragment, Route};
use crate::shell::navigate::{self, Arrival, Pages};
use crate::shell::{contents, page_tools, progress, search};
use crate::state::{self, PageState};
use crate::{about, bench, lab};

/// The page that is open. Its signals live as long as `owner` does.
struct OpenPage {
    owner: Owner,
    state: PageState,
    _mounted: Mounted,
}

thread_local! {
    static OPEN: RefCell<Option<OpenPage>> = const { RefCell::new(None) };
}

/// Actions of the app on pages, for navigation.
const PAGES: Pages = Pages {
    open,
    close,
    state: page_state,
    lead_on,
};

/// The inputs of the open page.
fn page_state() -> Option<PageState> {
    OPEN.with_borrow(|open| open.as_ref().map(|page| page.state))
}

/// Adopts the page that the browser has loaded and follows the reader from there.
pub(crate) fn start() {
    turns::init();
    reader::follow();
    address::find_root();
    page::pin_links_outside_main();
    navigate::follow_links(PAGES);
    page_tools::undo_by_keyboard(page_state);
    full_screen::leave_by_escape();
    contents::follow();
    progress::follow();
    search::follow(page_state);
    let Some(main) = dom::main() else { return };
    let wanted = Route::of_path(&address::path(), &address::root_path()).page_name();
    if wanted.as_deref() == Some(dom::data(&main, "page").as_str())
        || dom::data(&main, "page") == "404"
    {
        open(Arrival::First);
    } else {
        // A development server answers an unknown path with the home page.
        navigate::show_not_found(PAGES);
    }
}

/// Brings the present `<main>` to life, once the cells that it holds are here. After a move to
/// another page its heading takes the focus.
fn open(arrival: Arrival) {
    close();
    let Some(main) = dom::main() else { return };
    navigate::note_open_path();
    contents::mark();
    progress::open_page();
    leptos::task::spawn_local(async move {
        let elsewhere = moved(&main).await;
        // The reader may have gone on meanwhile, here and below.
        if dom::main().as_ref() != Some(&main) {
            return;
        }
        if let Some(url) = elsewhere {
            return address::load_instead(&url);
        }
        let loaded = adopt::load(&main).await;
        let tool = match Route::of_path(&address::path(), &address::root_path()) {
            Route::Bench => bench::load().await.map(Some),
            Route::Lab => lab::load().await.map(Some),
            Route::About => about::load().await.map(Some),
            _ => Ok(None),
        };
        let fragment = Fragment::parse(&address::hash());
        let edits = state::read(&fragment.state).await;
        // What was fetched last has just been compiled; the views come in tasks of their own.
        clock::give_way().await;
        if dom::main().as_ref() != Some(&main) {
            return;
        }
        match loaded.and(tool) {
            Ok(tool) => bring_to_life(&main, arrival, tool, &fragment.heading, edits),
            Err(error) => dom::say_failed(&error.to_string()),
        }
    });
}

/// Leads on from the present address where what it names has moved.
fn lead_on() {
    leptos::task::spawn_local(async {
        let Some(main) = dom::main() else { return };
        if let Some(url) = moved(&main).await {
            address::load_instead(&url);
        }
    });
}

/// The address to which the present one leads, where it names a cell or a heading that has moved to
/// another lesson, or names none and holds an edit of such a cell.
async fn moved(main: &HtmlElement) -> Option<String> {
    let moved: BTreeMap<String, Value> = serde_json::from_str(&dom::data(main, "moved")).ok()?;
    let fragment = Fragment::parse(&address::hash());
    let mut ids = vec![fragment.heading.clone()];
    if fragment.heading.is_empty()
        && let Ok(Some(edits)) = state::read(&fragment.state).await
    {
        let cells = edits.values.keys().filter_map(|key| key.split_once('.'));
        ids.extend(cells.map(|(cell, _)| cell.to_owned()));
    }
    let slug = ids.iter().find_map(|id| moved.get(id))?.as_str()?;
    let page = address::site_url(&format!("lesson/{slug}/"));
    Some(page + &fragment.to_hash())
}

fn bring_to_life(
    main: &HtmlElement,
    arrival: Arrival,
    tool: Option<fn() -> AnyView>,
    heading: &str,
    edits: Result<Option<State>, String>,
) {
    // From now on far cells wait to be laid out, and keep the sizes that they had until here.
    if let Some(html) = dom::document().and_then(|document| document.document_element()) {
        dom::set_data(&html, "live", "");
    }
    let owner = Owner::new();
    let page = owner.with(|| {
        let state = PageState::new();
        let sheet: SheetSignal = RwSignal::new(None);
        let mounted = adopt::adopt(main, state, sheet, edits, page_parts(main, state, sheet));
        if let (Some(draw), Some(slot)) = (tool, dom::find(main, ".tool")) {
            slot.set_inner_html("");
            mounted.keep(mount_to(slot, draw));
        }
        OpenPage {
            owner: owner.clone(),
            state,
            _mounted: mounted,
        }
    });
    OPEN.set(Some(page));
    if arrival != Arrival::First || !heading.is_empty() {
        go_to(main, heading, arrival);
    }
}

/// Unmounts the open page.
fn close() {
    if let Some(OpenPage {
        owner, _mounted, ..
    }) = OPEN.take()
    {
        drop(_mounted);
        owner.cleanup();
    }
}

/// The steps of mounting what a page has besides its cells: tools, a place for notices, and the sheets
/// that cells open.
fn page_parts(main: &HtmlElement, state: PageState, sheet: SheetSignal) -> Vec<adopt::Step> {
    let can_verify = main.has_attribute("data-golden");
    let has_cells = main.query_selector("[data-cell]").ok().flatten().is_some();
    let mut steps: Vec<adopt::Step> = Vec::new();
    if let (Some(slot), true) = (dom::find(main, ".page-tools"), has_cells) {
        steps.push(Box::new(move |mounted| {
            slot.set_inner_html("");
            mounted.keep(mount_to(slot, move || {
                page_tools::tools(state, sheet, can_verify)
            }));
        }));
    }
    if let Some(slot) = dom::find(main, ".page-notice") {
        steps.push(Box::new(move |mounted| {
            mounted.keep(mount_to(slot, move || page_tools::notice(state)));
        }));
    }
    let main = main.clone();
    steps.push(Box::new(move |mounted| {
        mounted.keep(mount_to(main, move || sheet::sheets(sheet)));
    }));
    steps
}

/// Scrolls to where the reader wants to be: back to where the page was left, to a heading, or to
/// the top of a new page; and moves the focus there after a move.
fn go_to(main: &HtmlElement, heading: &str, arrival: Arrival) {
    let target = if heading.is_empty() {
        None
    } else {
        dom::by_id(heading)
    };
    let title = dom::find(main, "h1");
    let left_at = match arrival {
        Arrival::History { left_at } => left_at,
        Arrival::First | Arrival::Link => None,
    };
    leptos::task::spawn_local(async move {
        // The cells above the target get their height first.
        clock::give_way().await;
        match (left_at, &target) {
            (Some(y), _) => dom::scroll_at_once(y),
            (None, Some(target)) => {
                dom::unfold(target);
                target.scroll_into_view();
            }
            (None, None) => dom::scroll_at_once(0.0),
        }
        if let (true, Some(focused)) = (arrival != Arrival::First, target.or(title)) {
            dom::focus_text(&focused);
        }
        // The browser keeps what is in view in place while the cells above it grow, which leads
        // away from the place. The last cells come after a second.
        if let Some(y) = left_at {
            let acts = reader::deliberate_acts();
            for wait_ms in [100, 200, 400, 800, 1_600] {
                clock::wait_ms(wait_ms).await;
                if reader::deliberate_acts() != acts {
                    return;
                }
                dom::scroll_at_once(y);
            }
        }
    });
}
