//! The running site: one open page at a time, adopted as it was served and replaced when the reader goes on.

use std::cell::RefCell;

use leptos::mount::mount_to;
use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::browser::{address, clock, dom};
use crate::cells::frame::sheet::{self, SheetSignal};
use crate::lesson::adopt::{self, Mounted};
use crate::lesson::state::PageState;
use crate::route::{Fragment, Route};
use crate::shell::{contents, navigate, page_tools};
use crate::{bench, lab};

/// How the reader came to a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Arrival {
    /// The browser loaded it.
    First,
    /// By a link on another page of the site.
    Link,
    /// By the browser's back or forward button, to a page that was left this far down.
    History {
        /// Pixels from the top, where the entry has a note of them.
        left_at: Option<f64>,
    },
}

/// The page that is open. Its signals live as long as `owner` does.
struct OpenPage {
    owner: Owner,
    state: PageState,
    _mounted: Mounted,
}

#[derive(Default)]
struct App {
    /// Address of the site's folder, ending in a slash.
    root: String,
    /// Path of the open page, to tell a move within the page from one to another.
    path: String,
    page: Option<OpenPage>,
}

thread_local! {
    static APP: RefCell<App> = RefCell::new(App::default());
}

/// The address of a file of the site, given relative to the site's folder.
pub(crate) fn site_url(file: &str) -> String {
    APP.with_borrow(|app| format!("{}{file}", app.root))
}

/// The path of the site's folder.
pub(crate) fn root_path() -> String {
    let root = APP.with_borrow(|app| app.root.clone());
    address::resolve(&root, &address::href())
        .map(|u| u.pathname())
        .unwrap_or_else(|| "/".to_owned())
}

/// The path of the open page.
pub(crate) fn open_path() -> String {
    APP.with_borrow(|app| app.path.clone())
}

/// The inputs of the open page.
pub(crate) fn page_state() -> Option<PageState> {
    APP.with_borrow(|app| app.page.as_ref().map(|page| page.state))
}

/// Adopts the page that the browser has loaded and follows the reader from there.
pub(crate) fn start() {
    // Already initialised when a test page starts the site twice, which does no harm.
    let _ = any_spawner::Executor::init_wasm_bindgen();
    let given = dom::document()
        .and_then(|d| d.document_element())
        .map(|html| dom::data(&html, "root"))
        .unwrap_or_default();
    let root = address::resolve(
        if given.is_empty() { "./" } else { &given },
        &address::href(),
    );
    APP.with_borrow_mut(|app| app.root = root.map(|u| u.href()).unwrap_or_default());
    navigate::pin_links_outside_main();
    navigate::follow_links();
    page_tools::undo_by_keyboard(page_state);
    contents::follow();
    let Some(main) = dom::main() else { return };
    let wanted = Route::of_path(&address::path(), &root_path()).page_name();
    if wanted.as_deref() == Some(dom::data(&main, "page").as_str())
        || dom::data(&main, "page") == "404"
    {
        open(Arrival::First);
    } else {
        // A development server answers an unknown path with the home page.
        navigate::show_not_found();
    }
}

/// Brings the present `<main>` to life, once the cells that it holds are here. After a move to another page its heading
/// takes the focus.
pub(crate) fn open(arrival: Arrival) {
    close();
    let Some(main) = dom::main() else { return };
    APP.with_borrow_mut(|app| app.path = address::path());
    contents::mark();
    leptos::task::spawn_local(async move {
        let loaded = adopt::load(&main).await;
        let tool = match Route::of_path(&address::path(), &root_path()) {
            Route::Bench => bench::load().await.map(Some),
            Route::Lab => lab::load().await.map(Some),
            _ => Ok(None),
        };
        // The reader may have gone on meanwhile.
        if dom::main().as_ref() != Some(&main) {
            return;
        }
        match loaded.and(tool) {
            Ok(tool) => bring_to_life(&main, arrival, tool),
            Err(error) => dom::say_failed(&error.to_string()),
        }
    });
}

fn bring_to_life(main: &HtmlElement, arrival: Arrival, tool: Option<fn() -> AnyView>) {
    let fragment = Fragment::parse(&address::hash());
    let owner = Owner::new();
    let page = owner.with(|| {
        let state = PageState::new();
        let sheet: SheetSignal = RwSignal::new(None);
        let mut mounted = adopt::adopt(main, state, sheet, &fragment.state);
        mount_page_parts(main, state, sheet, &mut mounted);
        if let (Some(draw), Some(slot)) = (tool, dom::find(main, ".tool")) {
            slot.set_inner_html("");
            mounted.push(Box::new(mount_to(slot, draw)));
        }
        OpenPage {
            owner: owner.clone(),
            state,
            _mounted: mounted,
        }
    });
    APP.with_borrow_mut(|app| app.page = Some(page));
    if arrival != Arrival::First || !fragment.heading.is_empty() {
        go_to(main, &fragment.heading, arrival);
    }
}

/// Unmounts the open page.
pub(crate) fn close() {
    let page = APP.with_borrow_mut(|app| app.page.take());
    if let Some(OpenPage {
        owner, _mounted, ..
    }) = page
    {
        drop(_mounted);
        owner.cleanup();
    }
}

fn mount_page_parts(
    main: &HtmlElement,
    state: PageState,
    sheet: SheetSignal,
    mounted: &mut Mounted,
) {
    let can_verify = main.has_attribute("data-golden");
    let has_cells = main.query_selector("[data-cell]").ok().flatten().is_some();
    if let (Some(slot), true) = (dom::find(main, ".page-tools"), has_cells) {
        slot.set_inner_html("");
        mounted.push(Box::new(mount_to(slot, move || {
            page_tools::tools(state, sheet, can_verify)
        })));
    }
    if let Some(slot) = dom::find(main, ".page-notice") {
        mounted.push(Box::new(mount_to(slot, move || page_tools::notice(state))));
    }
    mounted.push(Box::new(mount_to(main.clone(), move || {
        sheet::sheets(sheet)
    })));
}

/// Scrolls to where the reader wants to be: back to where the page was left, to a heading, or to the top of a new page;
/// and moves the focus there after a move.
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
            (None, Some(target)) => target.scroll_into_view(),
            (None, None) => dom::scroll_at_once(0.0),
        }
        if let (true, Some(focused)) = (arrival != Arrival::First, target.or(title)) {
            dom::focus(&focused);
        }
        // The browser keeps what is in view in place while the cells above it grow, which leads away from the place.
        if let Some(y) = left_at {
            for wait_ms in [100, 200] {
                clock::wait_ms(wait_ms).await;
                dom::scroll_at_once(y);
            }
        }
    });
}
