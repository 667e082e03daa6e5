//! A static file server with the habits of the hosts that the site may meet: under a sub-folder or not, redirecting a
//! folder's address to the one with a slash or not, isolating the page from other origins or not.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How a host behaves.
#[derive(Clone, Copy)]
pub(crate) struct Habits {
    /// The folder under which the site lies: `/` or `/sub/folder/`.
    pub(crate) base: &'static str,
    /// Whether `/lesson/x` is redirected to `/lesson/x/`; otherwise it answers with the folder's `index.html` as is.
    pub(crate) redirects_folders: bool,
    /// Whether it sends the headers that isolate the page (COOP and COEP).
    pub(crate) isolates: bool,
}

impl Habits {
    /// At the root of a host, as most hosts do it.
    pub(crate) const ROOT: Self = Self {
        base: "/",
        redirects_folders: true,
        isolates: true,
    };
    /// In a sub-folder of a host that does not redirect.
    pub(crate) const SUB_FOLDER: Self = Self {
        base: "/sub/folder/",
        redirects_folders: false,
        isolates: false,
    };
}

/// A running server; it stops when dropped.
pub(crate) struct Server {
    address: SocketAddr,
    habits: Habits,
    stopping: Arc<AtomicBool>,
    misses: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

struct Answer {
    status: &'static str,
    kind: &'static str,
    location: Option<String>,
    body: Vec<u8>,
}

impl Server {
    /// Serves `folder` on a free port of 127.0.0.1.
    pub(crate) fn start(folder: &Path, habits: Habits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the port's number");
        let stopping = Arc::new(AtomicBool::new(false));
        let misses = Arc::new(Mutex::new(Vec::new()));
        let (stop, missed, folder) = (
            Arc::clone(&stopping),
            Arc::clone(&misses),
            folder.to_owned(),
        );
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let (folder, missed) = (folder.clone(), Arc::clone(&missed));
                // A reader that went away is of no concern to the others.
                std::thread::spawn(move || drop(serve(&stream, &folder, habits, &missed)));
            }
        });
        Self {
            address,
            habits,
            stopping,
            misses,
            thread: Some(thread),
        }
    }

    /// The full address of a page, given relative to the site's base.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{}{path}", self.address, self.habits.base)
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The paths asked for and not found since the last call.
    pub(crate) fn take_misses(&self) -> Vec<String> {
        std::mem::take(&mut *self.misses.lock().expect("no reader panicked"))
    }

    /// Stops answering: the port is closed when this returns.
    pub(crate) fn stop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes the thread out of its wait for the next visitor.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server did not panic");
        }
    }

    /// What the server answers to a plain request: status line and body.
    pub(crate) fn get(&self, path: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.address).expect("the server is there");
        let path = format!("{}{path}", self.habits.base);
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n",
            self.address
        )
        .expect("it listens");
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stream, &mut text).expect("it answers with text");
        let (head, body) = text.split_once("\r\n\r\n").expect("head and body");
        (
            head.lines().next().unwrap_or_default().to_owned(),
            body.to_owned(),
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop();
        }
    }
}

fn serve(
    stream: &TcpStream,
    folder: &Path,
    habits: Habits,
    missed: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut lines = BufReader::new(stream).lines();
    // A browser opens connections before it needs them, and closes some unused: that asks for nothing.
    let Some(request) = lines.next().transpose()? else {
        return Ok(());
    };
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let target = request.split(' ').nth(1).unwrap_or("/");
    let answer = answer(folder, habits, target);
    if answer.status.starts_with("404")
        && let Ok(mut missed) = missed.lock()
    {
        missed.push(target.to_owned());
    }
    let mut head = format!(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
        answer.status,
        answer.kind,
        answer.body.len()
    );
    if habits.isolates {
        head += "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n";
    }
    if let Some(location) = answer.location {
        head += &format!("Location: {location}\r\n");
    }
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    stream.write_all(&answer.body)
}

fn answer(folder: &Path, habits: Habits, target: &str) -> Answer {
    let path = target.split(['?', '#']).next().unwrap_or(target);
    let inside = path
        .strip_prefix(habits.base)
        .filter(|path| !path.split('/').any(|part| part == ".."));
    let Some(inside) = inside else {
        return not_found(folder);
    };
    let file = folder.join(inside);
    if !file.is_dir() {
        return found(&file).unwrap_or_else(|| not_found(folder));
    }
    if habits.redirects_folders && !path.ends_with('/') {
        let location = Some(format!("{path}/"));
        return Answer {
            status: "301 Moved Permanently",
            kind: "text/plain",
            location,
            body: Vec::new(),
        };
    }
    found(&file.join("index.html")).unwrap_or_else(|| not_found(folder))
}

fn found(file: &Path) -> Option<Answer> {
    let body = std::fs::read(file).ok()?;
    Some(Answer {
        status: "200 OK",
        kind: kind_of(file),
        location: None,
        body,
    })
}

fn not_found(folder: &Path) -> Answer {
    let page: PathBuf = folder.join("404.html");
    let body = std::fs::read(page).unwrap_or_default();
    Answer {
        status: "404 Not Found",
        kind: "text/html; charset=utf-8",
        location: None,
        body,
    }
}

fn kind_of(file: &Path) -> &'static str {
    match file.extension().and_then(|kind| kind.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("woff2") => "font/woff2",
        Some("txt" | "md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
