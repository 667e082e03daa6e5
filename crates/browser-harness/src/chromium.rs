//! A headless Chromium under a WebDriver session.

use std::io;

use fantoccini::error::{CmdError, NewSessionError};
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::{ParseError, Url};

use super::driver::Driver;

/// Chromium's settings: it draws without a window, and it sends nothing anywhere by itself. The
/// runner of browser tests takes the same from the files `webdriver.json`.
pub const ARGUMENTS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--force-color-profile=srgb",
    // A request to any other host fails at once, and so shows in the console.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/// Which logs the driver keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logs {
    /// None: logging takes time, which measurements would include.
    None,
    /// The console and every request.
    All,
}

/// A browser with its driver; both end when it is dropped.
pub struct Chromium {
    client: Client,
    _driver: Driver,
}

/// A reason why the browser did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum ChromiumError {
    /// chromedriver could not be started.
    #[error("chromedriver does not start ({0}); `cargo xtask test` installs it")]
    Driver(#[from] io::Error),
    /// Chromium could not be started.
    #[error("Chromium does not start: {0}")]
    Session(#[from] NewSessionError),
    /// A command failed.
    #[error("Chromium refuses a command: {0}")]
    Command(#[from] CmdError),
}

impl Chromium {
    /// Starts a browser of its own: nothing is left in it of another.
    ///
    /// # Errors
    /// When chromedriver or Chromium does not start.
    pub async fn start(logs: Logs) -> Result<Self, ChromiumError> {
        Self::start_with(logs, &[]).await
    }

    /// As [`Self::start`], with more arguments than [`ARGUMENTS`].
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_with(logs: Logs, more: &[&str]) -> Result<Self, ChromiumError> {
        Self::start_program(std::env::var("CHROME").ok(), logs, more).await
    }

    /// As [`Self::start`], the browser that `CHROME_WHOLE` names: `CHROME` may be one without windows,
    /// whose service workers never get ready.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_whole(logs: Logs) -> Result<Self, ChromiumError> {
        let whole = std::env::var("CHROME_WHOLE");
        let program = whole.or_else(|_| std::env::var("CHROME")).ok();
        Self::start_program(program, logs, &[]).await
    }

    async fn start_program(
        program: Option<String>,
        logs: Logs,
        more: &[&str],
    ) -> Result<Self, ChromiumError> {
        let driver = Driver::start()?;
        let arguments = [ARGUMENTS, more].concat();
        let mut options = json!({ "args": arguments });
        if let Some(program) = program {
            options["binary"] = json!(program);
        }
        let mut capabilities = Capabilities::new();
        capabilities.insert("goog:chromeOptions".to_owned(), options);
        if logs == Logs::All {
            let kept = json!({ "browser": "ALL", "performance": "ALL" });
            capabilities.insert("goog:loggingPrefs".to_owned(), kept);
        }
        let timeouts = json!({ "script": 180_000, "pageLoad": 60_000 });
        capabilities.insert("timeouts".to_owned(), timeouts);
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&driver.url())
            .await?;
        Ok(Self {
            client,
            _driver: driver,
        })
    }

    /// The WebDriver client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a command of the DevTools protocol and returns its result.
    ///
    /// # Errors
    /// When Chromium refuses it.
    pub async fn devtools(&self, method: &str, parameters: Value) -> Result<Value, ChromiumError> {
        let body = json!({ "cmd": method, "params": parameters });
        let path = "goog/cdp/execute";
        Ok(self.client.issue_cmd(Post { path, body }).await?)
    }

    /// The entries of a log since the last call: `browser` is the console, `performance` holds every
    /// request. Only with [`Logs::All`].
    ///
    /// # Errors
    /// When chromedriver keeps no such log.
    pub async fn log(&self, kind: &str) -> Result<Vec<Value>, ChromiumError> {
        let body = json!({ "type": kind });
        let path = "se/log";
        let entries = self.client.issue_cmd(Post { path, body }).await?;
        Ok(entries.as_array().cloned().unwrap_or_default())
    }
}

/// A WebDriver command of Chromium's own, posted to the session.
#[derive(Debug)]
struct Post {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Post {
    fn endpoint(&self, base_url: &Url, session_id: Option<&str>) -> Result<Url, ParseError> {
        base_url.join(&format!(
            "session/{}/{}",
            session_id.unwrap_or_default(),
            self.path
        ))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}
