//! A headless Chromium under a WebDriver session.

use std::io;

use fantoccini::error::{CmdError, NewSessionError};
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;

use super::driver::Driver;

/// Chromium's settings: it draws without a window, and it sends nothing anywhere by itself. The
/// runner of browser tests takes the same from the files `webdriver.json`.
const ARGUMENTS: &[&str] = &[
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
        let driver = Driver::start()?;
        let mut options = json!({ "args": ARGUMENTS });
        if let Ok(program) = std::env::var("CHROME") {
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
}
