//! A headless Chromium under a WebDriver session, with what the tests ask of a page.

use std::time::{Duration, Instant};

use browser_harness::{Chromium, ChromiumError, Logs, WAITED_FOR};
use fantoccini::Client;
use serde_json::{Value, json};

/// How long cells may take until their numbers stand, on a slow and busy machine.
const READY_WITHIN: Duration = Duration::from_secs(45);

/// A window's size in CSS pixels and a theme.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) dark: bool,
}

impl Look {
    pub(crate) const DESK_LIGHT: Self = Self {
        width: 1280,
        height: 900,
        dark: false,
    };
    pub(crate) const DESK_DARK: Self = Self {
        width: 1280,
        height: 900,
        dark: true,
    };
    pub(crate) const PHONE_LIGHT: Self = Self {
        width: 360,
        height: 740,
        dark: false,
    };
    pub(crate) const PHONE_DARK: Self = Self {
        width: 360,
        height: 740,
        dark: true,
    };
}

/// A browser window.
///
/// It ends when the test is over, also when it panicked.
pub(crate) struct Browser(Chromium);

/// What gives a browser a camera that shows a moving pattern, and allows it without asking.
const CAMERA: [&str; 2] = [
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
];

/// Runs a test in a browser of its own.
pub(crate) fn with_browser(test: impl AsyncFnOnce(&Browser)) {
    with_arguments(&[], test);
}

/// Runs a test in a browser of its own that has a camera.
pub(crate) fn with_camera(test: impl AsyncFnOnce(&Browser)) {
    with_arguments(&CAMERA, test);
}

/// Runs a test in a whole browser of its own: it has service workers and the layout that a reader's
/// browser has, as not every headless one does.
pub(crate) fn with_whole_browser(test: impl AsyncFnOnce(&Browser)) {
    run(Chromium::start_whole(Logs::All), test);
}

fn with_arguments(more: &[&str], test: impl AsyncFnOnce(&Browser)) {
    run(Chromium::start_with(Logs::All, more), test);
}

fn run(
    start: impl Future<Output = Result<Chromium, ChromiumError>>,
    test: impl AsyncFnOnce(&Browser),
) {
    // What a test computes natively is compared with what the tab computes.
    assert!(engine::kernel::use_same_bits());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let browser = start.await.expect("Chromium starts");
        test(&Browser(browser)).await;
    });
}

impl Browser {
    /// The WebDriver client, for clicks and keys.
    pub(crate) fn client(&self) -> &Client {
        self.0.client()
    }

    /// Sets the window's size and the theme that the system asks for.
    pub(crate) async fn look(&self, look: Look) {
        let Look {
            width,
            height,
            dark,
        } = look;
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size)
            .await;
        let scheme = if dark { "dark" } else { "light" };
        let motion = json!({ "name": "prefers-reduced-motion", "value": "reduce" });
        let media =
            json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }, motion] });
        self.devtools("Emulation.setEmulatedMedia", media).await;
    }

    /// Loads an address anew, even where only the part after `#` differs from the present one.
    pub(crate) async fn open(&self, url: &str) {
        self.client()
            .goto("about:blank")
            .await
            .expect("an empty page opens");
        self.client()
            .goto(url)
            .await
            .unwrap_or_else(|error| panic!("{url} does not open: {error}"));
    }

    /// Opens an address and waits until every cell has its numbers on screen.
    pub(crate) async fn open_ready(&self, url: &str) -> Result<(), String> {
        self.open(url).await;
        self.ready().await
    }

    /// Waits until every cell of the page has its numbers on screen, also those that are folded away.
    /// Cells that no reader would have reached yet begin because the page is told that it will be
    /// printed, and are laid out as in print.
    ///
    /// # Errors
    /// Names the cells that did not get there.
    pub(crate) async fn ready(&self) -> Result<(), String> {
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            let waiting = self.script(WAITED_FOR, &[]).await;
            let waiting = waiting.as_array().cloned().unwrap_or_default();
            if waiting.is_empty() {
                return Ok(());
            }
            let failed = waiting
                .iter()
                .any(|cell| cell.as_str().is_some_and(|text| text.ends_with(": error")));
            if failed || Instant::now() > deadline {
                return Err(format!("cells not ready: {waiting:?}"));
            }
            pause(100).await;
        }
    }

    /// Waits until a script returns true.
    pub(crate) async fn wait_for(&self, what: &str, condition: &str) {
        let deadline = Instant::now() + READY_WITHIN;
        while self.script(condition, &[]).await != json!(true) {
            assert!(Instant::now() < deadline, "still waiting for {what}");
            pause(50).await;
        }
    }

    /// The texts of all elements that fit.
    pub(crate) async fn texts(&self, selector: &str) -> Vec<String> {
        let script =
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent.trim())";
        let found = self.script(script, &[json!(selector)]).await;
        serde_json::from_value(found).expect("a list of texts")
    }

    /// Runs a script in the page and returns its value; `arguments` are its `arguments`.
    pub(crate) async fn script(&self, script: &str, arguments: &[Value]) -> Value {
        let result = self.client().execute(script, arguments.to_vec()).await;
        result.unwrap_or_else(|error| panic!("the script failed: {error}\n{script}"))
    }

    /// Runs a script that ends by calling its last argument with the result.
    pub(crate) async fn script_async(&self, script: &str, arguments: &[Value]) -> Value {
        let result = self
            .client()
            .execute_async(script, arguments.to_vec())
            .await;
        result.unwrap_or_else(|error| panic!("the script failed: {error}\n{script}"))
    }

    /// Sends a command of the DevTools protocol.
    pub(crate) async fn devtools(&self, method: &str, parameters: Value) -> Value {
        let result = self.0.devtools(method, parameters).await;
        result.unwrap_or_else(|error| panic!("{method} failed: {error}"))
    }

    /// What went wrong since the last call: warnings and errors in the console, requests to other
    /// origins.
    pub(crate) async fn complaints(&self, origin: &str) -> Vec<String> {
        let mut complaints = Vec::new();
        for entry in self.log("browser").await {
            let level = entry["level"].as_str().unwrap_or_default();
            let message = entry["message"].as_str().unwrap_or_default();
            // Whether a file is used "within a few seconds" depends on how busy the machine is.
            let is_late = message.contains("but not used within a few seconds");
            if (level == "WARNING" || level == "SEVERE") && !is_late {
                complaints.push(format!("console {level}: {message}"));
            }
        }
        for entry in self.log("performance").await {
            let message: Value =
                serde_json::from_str(entry["message"].as_str().unwrap_or_default())
                    .unwrap_or_default();
            let message = &message["message"];
            let url = message["params"]["request"]["url"]
                .as_str()
                .unwrap_or_default();
            let remote = ["http:", "https:", "ws:", "wss:"]
                .iter()
                .any(|scheme| url.starts_with(scheme));
            if message["method"] == "Network.requestWillBeSent"
                && remote
                && !url.starts_with(&format!("{origin}/"))
            {
                complaints.push(format!("a request to another host: {url}"));
            }
        }
        complaints
    }

    async fn log(&self, kind: &str) -> Vec<Value> {
        self.0.log(kind).await.expect("chromedriver keeps logs")
    }

    /// Saves a picture of the window for a person to look at.
    pub(crate) async fn picture(&self, name: &str) {
        let png = self.client().screenshot().await.expect("a screenshot");
        std::fs::write(super::site::pictures().join(format!("{name}.png")), png)
            .expect("the picture can be saved");
    }
}

/// Waits.
pub(crate) async fn pause(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}
