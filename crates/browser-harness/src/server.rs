//! A static file server with the habits of the hosts that the site may meet: under a sub-folder or
//! not, redirecting a folder's address to the one with a slash or not, sending the headers that the
//! site asks for or not.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use host_headers::HostHeaders;
use miniz_oxide::deflate::compress_to_vec_zlib;

use super::line::{Line, SharedLine};

/// Level of compression, 1 to 10: what hosts compress with while they answer.
const COMPRESSION: u8 = 6;

/// The behaviour of a host.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// The folder under which the site lies: `/` or `/sub/folder/`.
    pub base: &'static str,
    /// Whether `/lesson/x` is redirected to `/lesson/x/`; otherwise it answers with the folder's
    /// `index.html` as is.
    pub redirects_folders: bool,
    /// Whether it sends the headers that the site lists in `_headers`; where the site has no such
    /// file, those that isolate the page (COOP and COEP).
    pub sends_headers: bool,
    /// The line to the browser, over which answers come compressed; otherwise as fast as they can,
    /// and as they are.
    pub line: Option<Line>,
}

impl Habits {
    /// At the root of a host, as most hosts do it.
    pub const ROOT: Self = Self {
        base: "/",
        redirects_folders: true,
        sends_headers: true,
        line: None,
    };
    /// The same over a slow line.
    pub const SLOW: Self = Self {
        line: Some(Line::SLOW_4G),
        ..Self::ROOT
    };
    /// At the root, with compressed answers.
    pub const COMPRESSED: Self = Self {
        line: Some(Line::UNLIMITED),
        ..Self::ROOT
    };
    /// In a sub-folder of a host that does not redirect.
    pub const SUB_FOLDER: Self = Self {
        base: "/sub/folder/",
        redirects_folders: false,
        sends_headers: false,
        line: None,
    };
}

/// A running server; it stops when dropped.
pub struct Server {
    address: SocketAddr,
    habits: Habits,
    stopping: Arc<AtomicBool>,
    log: Arc<Mutex<Log>>,
    thread: Option<JoinHandle<()>>,
}

/// What a server remembers.
#[derive(Default)]
struct Log {
    asked: Vec<String>,
    misses: Vec<String>,
    answered: Answered,
}

/// The number of answers, and of their bytes as they were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// Number of answers.
    pub requests: usize,
    /// Bytes of their heads and bodies.
    pub bytes: usize,
}

struct Answer {
    status: &'static str,
    kind: &'static str,
    location: Option<String>,
    body: Vec<u8>,
}

impl Server {
    /// Serves `folder` on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is no free port, or the list of the site's headers cannot be read.
    pub fn start(folder: &Path, habits: Habits) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let log = Arc::new(Mutex::new(Log::default()));
        let headers = habits
            .sends_headers
            .then(|| HostHeaders::read(folder).map_err(io::Error::other));
        let host = Arc::new(Host {
            folder: folder.to_owned(),
            habits,
            headers: headers.transpose()?,
            line: habits.line.map(SharedLine::new),
            log: Arc::clone(&log),
        });
        let stop = Arc::clone(&stopping);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let host = Arc::clone(&host);
                // A reader that went away is of no concern to the others.
                std::thread::spawn(move || drop(host.serve(&stream)));
            }
        });
        Ok(Self {
            address,
            habits,
            stopping,
            log,
            thread: Some(thread),
        })
    }

    /// The full address of a page, given relative to the site's base.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{}{path}", self.address, self.habits.base)
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked for since the last call: paths with their queries, in the order of the answers.
    pub fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.log).asked)
    }

    /// The paths asked for and not found since the last call.
    pub fn take_misses(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.log).misses)
    }

    /// What was answered so far.
    pub fn answered(&self) -> Answered {
        lock(&self.log).answered
    }

    /// Stops answering: the port is closed when this returns.
    pub fn stop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes the thread out of its wait for the next visitor.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            // One that panicked has stopped as well.
            let _ = thread.join();
        }
    }

    /// Status line and body of the answer to a plain request.
    ///
    /// # Errors
    /// When the server does not answer with text.
    pub fn get(&self, path: &str) -> io::Result<(String, String)> {
        let (head, body) = self.answer_to(path)?;
        let status = head.lines().next().unwrap_or_default();
        Ok((status.to_owned(), body))
    }

    /// Status line with the headers, and body, of the answer to a plain request.
    ///
    /// # Errors
    /// When the server does not answer with text.
    pub fn answer_to(&self, path: &str) -> io::Result<(String, String)> {
        let mut stream = TcpStream::connect(self.address)?;
        let path = format!("{}{path}", self.habits.base);
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n",
            self.address
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let (head, body) = text
            .split_once("\r\n\r\n")
            .ok_or_else(|| io::Error::other("an answer without a body"))?;
        Ok((head.to_owned(), body.to_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop();
        }
    }
}

fn lock(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What answers requests.
struct Host {
    folder: PathBuf,
    habits: Habits,
    /// The site's own headers, where this host sends them.
    headers: Option<HostHeaders>,
    line: Option<SharedLine>,
    log: Arc<Mutex<Log>>,
}

impl Host {
    /// Answers the one request of a connection.
    fn serve(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut lines = BufReader::new(stream).lines();
        // A browser opens connections before it needs them, and closes some unused: that asks for
        // nothing.
        let Some(request) = lines.next().transpose()? else {
            return Ok(());
        };
        while lines
            .next()
            .transpose()?
            .is_some_and(|line| !line.is_empty())
        {}
        let target = request.split(' ').nth(1).unwrap_or("/");
        let mut answer = answer(&self.folder, self.habits, target);
        let mut head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nConnection: close\r\n",
            answer.status, answer.kind
        );
        if self.line.is_some() {
            answer.body = compress_to_vec_zlib(&answer.body, COMPRESSION);
            head += "Content-Encoding: deflate\r\nCache-Control: max-age=600\r\n";
        }
        head += &format!("Content-Length: {}\r\n", answer.body.len());
        if let Some(headers) = &self.headers {
            for (name, value) in headers.of(&self.path_in_site(target)) {
                head += &format!("{name}: {value}\r\n");
            }
        }
        if let Some(location) = answer.location {
            head += &format!("Location: {location}\r\n");
        }
        head += "\r\n";
        let whole = [head.as_bytes(), &answer.body].concat();
        {
            let mut log = lock(&self.log);
            log.answered.requests += 1;
            log.answered.bytes += whole.len();
            log.asked.push(target.to_owned());
            if answer.status.starts_with("404") {
                log.misses.push(target.to_owned());
            }
        }
        match &self.line {
            Some(line) => line.send(stream, &whole),
            None => stream.write_all(&whole),
        }
    }

    /// The path of a file from the site's root, with a slash before it.
    fn path_in_site(&self, target: &str) -> String {
        let path = target.split(['?', '#']).next().unwrap_or(target);
        let inside = path.strip_prefix(self.habits.base).unwrap_or(path);
        format!("/{}", inside.trim_start_matches('/'))
    }
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

#[cfg(test)]
mod tests {
    use super::{Habits, Server};

    #[test]
    fn files_and_folders_are_served_and_nothing_above_them() {
        let folder = std::env::temp_dir().join(format!("served-{}", std::process::id()));
        let inner = folder.join("site/inner");
        std::fs::create_dir_all(&inner).expect("a folder for passing files");
        std::fs::write(folder.join("secret.txt"), "secret").expect("a file");
        std::fs::write(inner.join("index.html"), "inner page").expect("a file");
        let site = folder.join("site");
        let get = |server: &Server, path: &str| server.get(path).expect("an answer");

        let server = Server::start(&site, Habits::ROOT).expect("a free port");
        let (status, body) = get(&server, "inner/");
        assert!(
            status.contains("200 OK") && body == "inner page",
            "{status}"
        );
        assert!(get(&server, "inner").0.contains("301"));
        assert!(get(&server, "../secret.txt").0.contains("404"));
        assert!(get(&server, "none.css").0.contains("404"));
        assert_eq!(server.take_misses(), ["/../secret.txt", "/none.css"]);
        assert_eq!(server.take_asked().len(), 4);
        assert!(server.take_asked().is_empty());

        let answered = server.answered();
        assert!(
            answered.requests == 4 && answered.bytes > 400,
            "{answered:?}"
        );

        let server = Server::start(&site, Habits::SUB_FOLDER).expect("a free port");
        assert_eq!(get(&server, "inner").1, "inner page");
        assert!(server.url("inner/").ends_with("/sub/folder/inner/"));
        std::fs::remove_dir_all(folder).expect("it is there");
    }

    #[test]
    fn a_host_sends_the_headers_of_the_site_or_none() {
        let folder = std::env::temp_dir().join(format!("headers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for passing files");
        std::fs::write(folder.join("start-1.js"), "script").expect("a file");
        let head = |server: &Server, path: &str| server.answer_to(path).expect("an answer").0;
        let embedder = "\r\nCross-Origin-Embedder-Policy: require-corp";

        let server = Server::start(&folder, Habits::ROOT).expect("a free port");
        assert!(head(&server, "start-1.js").contains(embedder));
        drop(server);

        let list = "/*\n  A: one\n/start-*\n  A: two\n";
        std::fs::write(folder.join("_headers"), list).expect("a file");
        let server = Server::start(&folder, Habits::ROOT).expect("a free port");
        let script = head(&server, "start-1.js?file=cells");
        assert!(script.contains("\r\nA: one\r\nA: two"), "{script}");
        // Also what is not there.
        let missing = head(&server, "missing/");
        assert!(missing.contains("404") && missing.contains("\r\nA: one"));
        assert!(!missing.contains("A: two") && !missing.contains(embedder));
        drop(server);

        let server = Server::start(&folder, Habits::SUB_FOLDER).expect("a free port");
        assert!(!head(&server, "start-1.js").contains("A: one"));
        std::fs::write(folder.join("_headers"), "nothing").expect("a file");
        assert!(Server::start(&folder, Habits::ROOT).is_err());
        std::fs::remove_dir_all(folder).expect("it is there");
    }
}
