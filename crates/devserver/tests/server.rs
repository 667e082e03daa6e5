//! The server's answers to a browser.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use devserver::{Board, Folders, News, Order, router, watch};

/// A served project in a folder of its own.
struct Served {
    root: PathBuf,
    address: SocketAddr,
    board: Board,
    orders: Receiver<Order>,
    _runtime: tokio::runtime::Runtime,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("devserver-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path.canonicalize().unwrap()
}

fn serve(name: &str) -> Served {
    let root = folder(name);
    for (path, text) in [
        ("Cargo.toml", "secret"),
        ("style/base.css", "a {}"),
        ("public/_headers", include_str!("../../../public/_headers")),
        ("public/boot.mjs", "boot"),
        ("public/models/MODELS.md", "# notes"),
        ("out/index.html", "home"),
        ("out/404.html", "nothing here"),
        ("out/lab/index.html", "lab"),
        ("out/lesson/one/index.html", "one"),
    ] {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let folders = Folders {
        out: root.join("out"),
        project: root.clone(),
    };
    let (sender, orders) = mpsc::channel();
    let board = Board::default();
    let router = router(&folders, board.clone(), sender);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind(any))
        .unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move { axum::serve(listener, router).await });
    Served {
        root,
        address,
        board,
        orders,
        _runtime: runtime,
    }
}

impl Served {
    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        // As it is: a client would resolve the dots of a path itself.
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        stream
    }

    fn get(&self, path: &str) -> (u16, String) {
        let mut text = String::new();
        self.ask(path).read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        (status, text)
    }
}

#[test]
fn pages_come_with_the_headers_that_the_site_lists() {
    let served = serve("headers");
    served.board.set_ready();
    let (status, text) = served.get("/lesson/one/");
    assert_eq!(status, 200);
    assert!(text.ends_with("\r\none"), "{text}");
    for header in [
        "cross-origin-opener-policy: same-origin",
        "cross-origin-embedder-policy: require-corp",
        "content-security-policy: frame-ancestors 'none'; ",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "permissions-policy: camera=(self), ",
        "cache-control: no-store",
        "content-type: text/html",
    ] {
        assert!(text.contains(header), "{header}\n{text}");
    }
    // A worker has a policy of its own besides.
    let (_, text) = served.get("/worker_start-1.js?file=cells-1");
    assert!(text.contains("content-security-policy: default-src 'none'; script-src 'self' "));
    assert!(text.contains("content-security-policy: frame-ancestors "));
    // A module is run only as what it is.
    assert!(served.get("/boot.mjs").1.contains("/javascript"));
    assert!(served.get("/style/base.css").1.ends_with("a {}"));
    assert!(served.get("/_dev/client.js").1.contains("EventSource"));
    let (status, text) = served.get("/lesson/one");
    assert_eq!(status, 307, "{text}");
    assert!(text.contains("location: /lesson/one/"), "{text}");
}

#[test]
fn an_unknown_address_gets_the_page_for_it() {
    let served = serve("unknown");
    served.board.set_ready();
    for path in ["/no/such/page", "/style/none.css", "/lesson/two/"] {
        let (status, text) = served.get(path);
        assert_eq!(status, 404, "{path}");
        assert!(text.ends_with("nothing here"), "{text}");
    }
    assert_eq!(served.get("/models/MODELS.md").0, 404);
}

#[test]
fn nothing_outside_the_served_folders_is_read() {
    let served = serve("outside");
    served.board.set_ready();
    for path in [
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/..%2fCargo.toml",
        "/style/../Cargo.toml",
        "/style/%2e%2e/Cargo.toml",
        "/style/..%5cCargo.toml",
        "//etc/passwd",
    ] {
        let (status, text) = served.get(path);
        assert_ne!(status, 200, "{path}");
        assert!(
            !text.contains("secret") && !text.contains("root:"),
            "{path}"
        );
    }
}

#[test]
fn before_the_first_build_a_page_says_so() {
    let served = serve("early");
    let (status, text) = served.get("/lesson/one/");
    assert_eq!(status, 503);
    assert!(text.contains("being built") && text.contains("/_dev/client.js"));
    let text = "lessons/01-one.md:3: no <b> here".to_owned();
    served.board.tell(News::Failed { text });
    let (status, text) = served.get("/lesson/one/");
    assert_eq!(status, 503);
    assert!(text.contains("lessons/01-one.md:3: no &lt;b> here"));
}

#[test]
fn only_the_pages_of_full_size_models_ask_for_their_engine() {
    let served = serve("engines");
    served.board.set_ready();
    served.get("/lesson/one/");
    assert!(served.orders.try_recv().is_err());
    served.get("/lab/");
    assert!(matches!(served.orders.try_recv(), Ok(Order::Engines)));
}

/// Reads events until one holds the text.
fn wait_for(events: &mut impl BufRead, text: &str) {
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert_ne!(events.read_line(&mut line).unwrap(), 0, "no {text}");
    }
}

#[test]
fn an_open_page_hears_of_a_new_build() {
    let served = serve("events");
    let text = "compiling".to_owned();
    served.board.tell(News::Building { text });
    let mut events = BufReader::new(served.ask("/_dev/news"));
    wait_for(&mut events, "\"kind\":\"hello\"");
    wait_for(&mut events, "compiling");
    served.board.reload(Some(vec!["lesson/one/".to_owned()]));
    wait_for(&mut events, "\"pages\":[\"lesson/one/\"]");
}

#[test]
fn a_saved_file_is_noticed() {
    let served = serve("watch");
    std::fs::create_dir_all(served.root.join("lessons")).unwrap();
    let (sender, orders) = mpsc::channel();
    let _watching = watch(&served.root, sender).unwrap();
    let saved = served.root.join("lessons/01-one.md");
    std::fs::write(&saved, "text").unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    let mut seen = false;
    while !seen && Instant::now() < end {
        if let Ok(Order::Changed(paths)) = orders.recv_timeout(Duration::from_secs(1)) {
            seen = paths.contains(&saved);
        }
    }
    assert!(seen);
    // Reading it, as every build does, is no change.
    while orders.recv_timeout(Duration::from_millis(200)).is_ok() {}
    std::fs::read(&saved).unwrap();
    assert!(orders.recv_timeout(Duration::from_millis(500)).is_err());
}
