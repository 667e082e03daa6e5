//! A WebKitGTK browser under WebDriver, on a display of its own: it has no mode without a window.

use std::io::{self, BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::error::{CmdError, NewSessionError};
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;

use super::programs;

/// The folders in which distributions keep the browser that WebKitGTK brings for its tests.
const FOLDERS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib",
    "/usr/libexec",
];

/// Its versions: with GTK 3 and HTTP/2, with GTK 4, and the oldest.
const VERSIONS: &[&str] = &["webkit2gtk-4.1", "webkitgtk-6.0", "webkit2gtk-4.0"];

/// How long the driver may take until it answers.
const LISTENS_WITHIN: Duration = Duration::from_secs(20);

/// The programs that it takes.
#[derive(Clone, Debug)]
pub struct WebKitPrograms {
    driver: PathBuf,
    browser: PathBuf,
    display: PathBuf,
}

impl WebKitPrograms {
    /// Finds the programs: the driver and the browser that `WEBKIT_DRIVER` and `WEBKIT_BROWSER`
    /// name, else those of the distribution, and Xvfb.
    ///
    /// # Errors
    /// The name of a program that is not there.
    pub fn find() -> Result<Self, &'static str> {
        let driver = programs::named("WEBKIT_DRIVER")
            .or_else(|| programs::on_the_path("WebKitWebDriver"))
            .ok_or("WebKitWebDriver")?;
        let mut usual = FOLDERS.iter().flat_map(|folder| {
            let of_version = |version| Path::new(folder).join(version).join("MiniBrowser");
            VERSIONS.iter().map(of_version)
        });
        let browser = programs::named("WEBKIT_BROWSER")
            .or_else(|| usual.find(|program| program.is_file()))
            .ok_or("MiniBrowser of WebKitGTK")?;
        let display = programs::on_the_path("Xvfb").ok_or("Xvfb")?;
        Ok(Self {
            driver,
            browser,
            display,
        })
    }
}

/// A browser with its driver and its display; they end when it is dropped.
pub struct WebKit {
    client: Client,
    // In this order: a browser whose display has gone ends.
    _driver: Ended,
    _display: Ended,
}

/// A reason why the browser did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum WebKitError {
    /// A program could not be started.
    #[error("a program of WebKitGTK does not start: {0}")]
    Start(#[from] io::Error),
    /// The browser could not be started.
    #[error("WebKitGTK does not start: {0}")]
    Session(#[from] NewSessionError),
    /// A command failed.
    #[error("WebKitGTK refuses a command: {0}")]
    Command(#[from] CmdError),
}

impl WebKit {
    /// Starts a browser of its own, whose window has this size: nothing is left in it of another.
    ///
    /// # Errors
    /// When one of the programs does not start.
    pub async fn start(
        programs: &WebKitPrograms,
        (width, height): (u32, u32),
    ) -> Result<Self, WebKitError> {
        let (display, number) = start_display(&programs.display, (width, height))?;
        let (driver, url) = start_driver(&programs.driver, number)?;
        let options = json!({ "binary": programs.browser, "args": ["--automation"] });
        let mut capabilities = Capabilities::new();
        capabilities.insert("webkitgtk:browserOptions".to_owned(), options);
        let timeouts = json!({ "script": 180_000, "pageLoad": 120_000 });
        capabilities.insert("timeouts".to_owned(), timeouts);
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&url)
            .await?;
        client.set_window_rect(0, 0, width, height).await?;
        Ok(Self {
            client,
            _driver: driver,
            _display: display,
        })
    }

    /// The WebDriver client.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

/// A process that is ended when it is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a display without a screen, on a number that is free.
fn start_display(program: &Path, (width, height): (u32, u32)) -> io::Result<(Ended, u32)> {
    let mut process = Command::new(program)
        .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0"])
        .arg(format!("{width}x{height}x24"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let output = process.stdout.take();
    let process = Ended(process);
    let mut number = String::new();
    if let Some(output) = output {
        BufReader::new(output).read_line(&mut number)?;
    }
    let number = number.trim().parse();
    let number = number.map_err(|_| io::Error::other("Xvfb names no display"))?;
    Ok((process, number))
}

/// Starts the driver on a free port and waits until it listens.
fn start_driver(program: &Path, display: u32) -> io::Result<(Ended, String)> {
    // The driver does not say which port it took where it may choose.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let process = Command::new(program)
        .arg(format!("--port={port}"))
        .arg("--host=127.0.0.1")
        .env("DISPLAY", format!(":{display}"))
        .env("GDK_BACKEND", "x11")
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let process = Ended(process);
    let deadline = Instant::now() + LISTENS_WITHIN;
    while let Err(error) = TcpStream::connect(("127.0.0.1", port)) {
        if Instant::now() > deadline {
            return Err(error);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok((process, format!("http://127.0.0.1:{port}")))
}
