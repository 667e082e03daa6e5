//! A chromedriver process of our own on a free port.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running chromedriver; it and its browsers end when dropped.
pub(crate) struct Driver {
    process: Child,
    port: u16,
}

impl Driver {
    /// Starts `CHROMEDRIVER`, or the one on the path.
    pub(crate) fn start() -> Self {
        let program = std::env::var_os("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        let mut process = Command::new(program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts; `cargo xtask test` installs it");
        let mut output =
            BufReader::new(process.stdout.take().expect("its output is piped")).lines();
        let port = output
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                line.split_once("successfully on port ")?
                    .1
                    .trim_end_matches('.')
                    .parse()
                    .ok()
            })
            .expect("chromedriver says its port");
        // Read on, or chromedriver would stop at a full pipe.
        std::thread::spawn(move || output.for_each(drop));
        Self { process, port }
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks it to close its browsers and end: killed at once, it would leave them running.
    fn shut_down(&self) -> std::io::Result<()> {
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
