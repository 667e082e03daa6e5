//! A host of files of another origin: it knows ranges, lets every site read or none, can break off,
//! pause or lie about a file's length, and remembers what it was asked.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What was asked for, and what was sent of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) path: String,
    /// The first byte that was asked for.
    pub(crate) from: usize,
    /// Bytes of the body that were sent.
    pub(crate) bytes: usize,
}

/// What happens to an answer after so many bytes of its body.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// It breaks off.
    Cut(usize),
    /// It pauses until the host is told to continue.
    Hold(usize),
}

/// Milliseconds that a connection stays open after an answer that is not whole: a browser forgets what
/// it has not handed on when a connection breaks.
const LINGER_MS: u64 = 1500;

#[derive(Default)]
struct Shared {
    files: Mutex<Vec<(&'static str, Vec<u8>)>>,
    sent: Mutex<Vec<Sent>>,
    /// What happens to the next answer.
    fault: Mutex<Option<Fault>>,
    /// An answer is paused.
    holds: AtomicBool,
    /// The length that is stated for a whole file, where it is another one.
    stated: Mutex<Option<usize>>,
    /// No other site may read the files.
    is_private: AtomicBool,
    /// No connection is answered, and one that is paused breaks.
    is_away: AtomicBool,
    stopping: AtomicBool,
}

/// A running host; it stops when dropped.
pub(crate) struct FileHost {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl FileHost {
    /// Serves files by their paths on a free port of 127.0.0.1. `/huge.gguf` is said to have five
    /// gigabytes, `/vast.gguf` fifty, and neither comes; `/shy.gguf` is as huge, and no question
    /// about it is answered before it is fetched. One about `/silent.gguf` is never answered.
    pub(crate) fn start(files: Vec<(&'static str, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the port's number");
        let shared = Arc::new(Shared {
            files: Mutex::new(files),
            ..Shared::default()
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if own.stopping.load(Ordering::SeqCst) {
                    break;
                }
                let own = Arc::clone(&own);
                // A reader that went away is of no concern to the others.
                std::thread::spawn(move || drop(own.serve(&stream)));
            }
        });
        Self {
            address,
            shared,
            thread: Some(thread),
        }
    }

    /// The address of a file.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Breaks the next answer off after so many bytes.
    pub(crate) fn cut_next(&self, bytes: usize) {
        *self.shared.fault.lock().expect("no reader panicked") = Some(Fault::Cut(bytes));
    }

    /// Pauses the next answer after so many bytes, until [`Self::let_go`].
    pub(crate) fn hold_next(&self, bytes: usize) {
        self.shared.holds.store(true, Ordering::SeqCst);
        *self.shared.fault.lock().expect("no reader panicked") = Some(Fault::Hold(bytes));
    }

    /// Continues the answer that is paused.
    pub(crate) fn let_go(&self) {
        self.shared.holds.store(false, Ordering::SeqCst);
    }

    /// States this length of every whole file, `None` for the true one.
    pub(crate) fn state_length(&self, bytes: Option<usize>) {
        *self.shared.stated.lock().expect("no reader panicked") = bytes;
    }

    /// Goes away, as when the network is cut, or comes back.
    pub(crate) fn go_away(&self, is_away: bool) {
        self.shared.is_away.store(is_away, Ordering::SeqCst);
    }

    /// Lets other sites read the files, or not.
    pub(crate) fn allow_others(&self, allows: bool) {
        self.shared.is_private.store(!allows, Ordering::SeqCst);
    }

    /// Replaces a file; its date stays.
    pub(crate) fn replace(&self, path: &str, bytes: Vec<u8>) {
        let mut files = self.shared.files.lock().expect("no reader panicked");
        let found = files.iter_mut().find(|(name, _)| *name == path);
        found.expect("the file is there").1 = bytes;
    }

    /// What was sent since the last call.
    pub(crate) fn take_sent(&self) -> Vec<Sent> {
        std::mem::take(&mut *self.shared.sent.lock().expect("no reader panicked"))
    }
}

impl Drop for FileHost {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the thread out of its wait for the next visitor.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the host did not panic");
        }
    }
}

impl Shared {
    fn serve(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let lines: Vec<String> = BufReader::new(stream)
            .lines()
            .map_while(Result::ok)
            .take_while(|line| !line.is_empty())
            .collect();
        if self.is_away.load(Ordering::SeqCst) {
            return Ok(());
        }
        let mut request = lines.first().map_or("", String::as_str).split(' ');
        let (method, path) = (
            request.next().unwrap_or_default(),
            request.next().unwrap_or_default(),
        );
        let every = match self.is_private.load(Ordering::SeqCst) {
            true => "Connection: close\r\n",
            false => {
                "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: range\r\nConnection: close\r\n"
            }
        };
        if method == "OPTIONS" {
            return write!(stream, "HTTP/1.1 204 No Content\r\n{every}\r\n");
        }
        let promised = match path {
            "/shy.gguf" if method == "HEAD" => {
                return write!(stream, "HTTP/1.1 405 Method Not Allowed\r\n{every}\r\n");
            }
            "/huge.gguf" | "/shy.gguf" => Some(5_000_000_000_u64),
            "/vast.gguf" => Some(50_000_000_000),
            _ => None,
        };
        if let Some(bytes) = promised {
            return write!(
                stream,
                "HTTP/1.1 200 OK\r\n{every}Content-Length: {bytes}\r\n\r\nGGUF"
            );
        }
        if path == "/silent.gguf" && method == "HEAD" {
            // Longer than a test waits.
            std::thread::sleep(Duration::from_secs(60));
            return Ok(());
        }
        let file = {
            let files = self.files.lock().expect("no reader panicked");
            let found = files.iter().find(|(name, _)| *name == path);
            found.map(|(_, bytes)| bytes.clone())
        };
        let Some(file) = file else {
            return write!(
                stream,
                "HTTP/1.1 404 Not Found\r\n{every}Content-Length: 0\r\n\r\n"
            );
        };
        let stated = *self.stated.lock().expect("no reader panicked");
        let stated = stated.unwrap_or(file.len());
        if method == "HEAD" {
            return write!(
                stream,
                "HTTP/1.1 200 OK\r\n{every}Content-Length: {stated}\r\n\r\n"
            );
        }
        let range = lines.iter().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            let from = value.strip_prefix("bytes=")?.strip_suffix('-')?;
            (name.eq_ignore_ascii_case("range")).then(|| from.parse::<usize>().ok())?
        });
        let from = range.unwrap_or(0).min(file.len());
        let rest = &file[from..];
        let status = if range.is_some() {
            "206 Partial Content"
        } else {
            "200 OK"
        };
        let head = format!(
            "HTTP/1.1 {status}\r\n{every}Last-Modified: Sat, 21 Nov 2026 00:00:00 GMT\r\nContent-Length: {}\r\n\r\n",
            if range.is_some() { rest.len() } else { stated }
        );
        stream.write_all(head.as_bytes())?;
        let fault = self.fault.lock().expect("no reader panicked").take();
        let (first, then) = match fault {
            None => (rest.len(), 0),
            Some(Fault::Cut(bytes)) => (bytes.min(rest.len()), 0),
            Some(Fault::Hold(bytes)) => {
                let first = bytes.min(rest.len());
                (first, rest.len() - first)
            }
        };
        self.sent.lock().expect("no reader panicked").push(Sent {
            path: path.to_owned(),
            from,
            bytes: first + then,
        });
        stream.write_all(&rest[..first])?;
        stream.flush()?;
        if matches!(fault, Some(Fault::Hold(_))) {
            while self.holds.load(Ordering::SeqCst) && !self.stopping.load(Ordering::SeqCst) {
                if self.is_away.load(Ordering::SeqCst) {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            stream.write_all(&rest[first..])?;
            stream.flush()?;
        }
        let is_short = matches!(fault, Some(Fault::Cut(_))) || stated > file.len();
        if is_short {
            std::thread::sleep(Duration::from_millis(LINGER_MS));
        }
        Ok(())
    }
}
