//! Serves the built site, with the headers that it asks of its host, and the news.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use futures_util::stream::{self, Stream};
use host_headers::HostHeaders;
use tokio::sync::broadcast::Receiver;

use tower_http::services::{ServeDir, ServeFile};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::builder::Order;
use crate::news::{Board, News};

/// Address of the script that every page runs ([`router`] serves it).
pub(crate) const CLIENT: &str = "/_dev/client.js";

/// Files below `public/` that a release does not ship.
const NOTES: [&str; 2] = [".md", ".py"];

/// The folders of the served files.
#[derive(Debug, Clone)]
pub struct Folders {
    /// Root of the project.
    pub project: PathBuf,
    /// The built files: pages, site, worker.
    pub out: PathBuf,
}

#[derive(Clone)]
struct Shared {
    board: Board,
    orders: Sender<Order>,
}

/// The server's answers: what is built, then what lies in `public/`, then the page for unknown
/// addresses with status 404. The headers are those that `public/_headers` lists now.
pub fn router(folders: &Folders, board: Board, orders: Sender<Order>) -> Router {
    let missing = ServeFile::new(folders.out.join("404.html"));
    let public = ServeDir::new(folders.project.join("public")).not_found_service(missing.clone());
    let built = ServeDir::new(&folders.out).fallback(public);
    let style = ServeDir::new(folders.project.join("style")).not_found_service(missing);
    let shared = Shared { board, orders };
    let headers = HostHeaders::read(&folders.project.join("public")).unwrap_or_else(|error| {
        eprintln!("{error}");
        HostHeaders::default()
    });
    // A file may change twice within the second that its date is exact to.
    let no_store = HeaderValue::from_static("no-store");
    Router::new()
        .route("/_dev/news", get(news))
        .route(CLIENT, get(client))
        .nest_service("/style", style)
        .fallback_service(built)
        .layer(middleware::from_fn_with_state(shared.clone(), gate))
        .layer(middleware::from_fn_with_state(
            Arc::new(headers),
            with_headers,
        ))
        .layer(SetResponseHeaderLayer::overriding(CACHE_CONTROL, no_store))
        .with_state(shared)
}

/// Adds the headers of the site to an answer.
async fn with_headers(
    State(headers): State<Arc<HostHeaders>>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path().to_owned();
    let mut response = next.run(request).await;
    for (name, value) in headers.of(&path) {
        // What cannot be a header is left out, as a host would.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// Looks at a request before the folders do: nothing is there before the first build, notes are not
/// shipped, and the pages of full-size models ask for files that are built for them.
async fn gate(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if NOTES.iter().any(|end| path.ends_with(end)) {
        return StatusCode::NOT_FOUND.into_response();
    }
    if is_page(request.uri()) && !shared.board.is_ready() {
        let page = not_ready(shared.board.failure().as_deref());
        return (StatusCode::SERVICE_UNAVAILABLE, Html(page)).into_response();
    }
    if ["/lab/", "/bench/"].contains(&path) {
        // An error means that the server is about to end.
        let _ = shared.orders.send(Order::Engines);
    }
    next.run(request).await
}

/// The page before the first build, with what stopped it, where something did.
fn not_ready(failure: Option<&str>) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let failure = failure.map(|text| {
        format!(
            "<p>It stopped here, and continues when that is mended:</p><pre>{}</pre>",
            escaped(text)
        )
    });
    include_str!("../assets/building.html")
        .replace("<!--failure-->", failure.as_deref().unwrap_or_default())
}

/// Returns whether the address is a page's and not a file's.
fn is_page(address: &Uri) -> bool {
    let path = address.path();
    let name = path.rsplit('/').next().unwrap_or_default();
    !path.starts_with("/_dev/") && (!name.contains('.') || name.ends_with(".html"))
}

/// The script of the pages, with the number of the build that they are of.
async fn client(State(shared): State<Shared>) -> impl IntoResponse {
    let kind = [(CONTENT_TYPE, "text/javascript")];
    let build = format!("let build = {};", shared.board.build());
    let script = include_str!("../assets/client.js").replacen("let build;", &build, 1);
    (kind, script)
}

/// The news as server-sent events, each a message of JSON.
async fn news(State(shared): State<Shared>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (mut first, receiver) = shared.board.join();
    first.reverse();
    let events = stream::unfold((first, receiver), |(mut first, mut receiver)| async move {
        let news = match first.pop() {
            Some(news) => news,
            None => next_of(&mut receiver).await?,
        };
        let event = Event::default().data(serde_json::to_string(&news).ok()?);
        Some((Ok(event), (first, receiver)))
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// The next message; `None` at the server's end, and for a page that missed some: it connects again
/// and sees which build is served.
async fn next_of(receiver: &mut Receiver<News>) -> Option<News> {
    receiver.recv().await.ok()
}
