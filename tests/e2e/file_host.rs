//! A host of files of another origin: it knows ranges, lets every site read, can break off, and
//! remembers what it was asked.

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

struct Shared {
    files: Mutex<Vec<(&'static str, Vec<u8>)>>,
    sent: Mutex<Vec<Sent>>,
    /// After so many bytes of a body the next answer breaks off.
    cut: Mutex<Option<usize>>,
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
    /// gigabytes and never comes, and a question about `/silent.gguf` is never answered.
    pub(crate) fn start(files: Vec<(&'static str, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the port's number");
        let shared = Arc::new(Shared {
            files: Mutex::new(files),
            sent: Mutex::default(),
            cut: Mutex::default(),
            stopping: AtomicBool::new(false),
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
        *self.shared.cut.lock().expect("no reader panicked") = Some(bytes);
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
        let mut request = lines.first().map_or("", String::as_str).split(' ');
        let (method, path) = (
            request.next().unwrap_or_default(),
            request.next().unwrap_or_default(),
        );
        let every = "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: range\r\nConnection: close\r\n";
        if method == "OPTIONS" {
            return write!(stream, "HTTP/1.1 204 No Content\r\n{every}\r\n");
        }
        if path == "/huge.gguf" {
            return write!(
                stream,
                "HTTP/1.1 200 OK\r\n{every}Content-Length: 5000000000\r\n\r\nGGUF"
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
        if method == "HEAD" {
            return write!(
                stream,
                "HTTP/1.1 200 OK\r\n{every}Content-Length: {}\r\n\r\n",
                file.len()
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
            rest.len()
        );
        stream.write_all(head.as_bytes())?;
        let cut = self.cut.lock().expect("no reader panicked").take();
        let bytes = cut.unwrap_or(rest.len()).min(rest.len());
        self.sent.lock().expect("no reader panicked").push(Sent {
            path: path.to_owned(),
            from,
            bytes,
        });
        stream.write_all(&rest[..bytes])?;
        stream.flush()?;
        if cut.is_some() {
            // A browser forgets what it has not handed on when a connection breaks.
            std::thread::sleep(Duration::from_millis(1500));
        }
        Ok(())
    }
}
