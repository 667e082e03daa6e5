//! A chromedriver process of our own on a free port.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often a start is tried.
const STARTS: usize = 3;

/// A running chromedriver; it and its browsers end when dropped.
pub struct Driver {
    process: Child,
    port: u16,
}

impl Driver {
    /// Starts `CHROMEDRIVER`, or the one on the path. On a busy machine chromedriver now and then
    /// ends at once without a reason; then it is started again.
    ///
    /// # Errors
    /// When there is no such program, or it ends `STARTS` times without naming its port.
    pub fn start() -> io::Result<Self> {
        let program = std::env::var_os("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        let mut started = Self::start_once(&program)?;
        for _ in 1..STARTS {
            if started.is_some() {
                break;
            }
            started = Self::start_once(&program)?;
        }
        started.ok_or_else(|| io::Error::other("chromedriver names no port"))
    }

    /// `None` when the program ends without naming its port.
    fn start_once(program: &OsStr) -> io::Result<Option<Self>> {
        let mut process = Command::new(program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = process.stdout.take();
        let output = output.ok_or_else(|| io::Error::other("chromedriver has no output"))?;
        let mut lines = BufReader::new(output).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        });
        let Some(port) = port else {
            // It may have ended by itself.
            let _ = process.kill();
            process.wait()?;
            return Ok(None);
        };
        // Read on, or chromedriver would stop at a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Some(Self { process, port }))
    }

    /// The address at which it listens.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks it to close its browsers and end: killed at once, it would leave them running.
    fn shut_down(&self) -> io::Result<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(
            stream,
            "GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
            self.port
        )?;
        stream.read_to_end(&mut Vec::new()).map(drop)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let asked = self.shut_down();
        let deadline = Instant::now() + Duration::from_secs(5);
        while asked.is_ok() && Instant::now() < deadline {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // Already gone is as good.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
