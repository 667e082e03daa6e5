//! The browsers, all with the same few abilities: they open an address and run a script in its
//! page.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use browser_harness::{Chromium, Firefox, Logs, WAITED_FOR, WebKit, WebKitPrograms};
use fantoccini::Client;
use serde_json::{Value, json};

use super::formulas;

/// How long a page may take until its cells show their numbers, in a browser that draws without a
/// graphics card on a busy machine.
const READY_WITHIN: Duration = Duration::from_secs(180);

/// The size of the page, or of the window, in CSS pixels.
const SIZE: (u32, u32) = (1280, 900);

/// How often a page is opened again because the driver has no answer.
const REOPENED_AT_MOST: u32 = 2;

/// Keeps in the page, as `complaints`, what it says from now on. That an observer of sizes has to
/// wait for the next frame is no mistake, and in no console but is an event.
const LISTEN: &str = "globalThis.complaints = [];
    const note = (kind, what) => {
        if (!String(what).startsWith('ResizeObserver loop')) complaints.push(`${kind}: ${what}`);
    };
    addEventListener('error', event => note('error', event.message));
    addEventListener('unhandledrejection', event => note('rejection', event.reason));
    addEventListener('securitypolicyviolation', event => note('policy', event.blockedURI));
    for (const level of ['warn', 'error']) {
        const log = console[level];
        console[level] = (...all) => { note(level, all.join(' ')); log.apply(console, all) };
    }";

/// Why a script has no result, with the words of the page or of the driver.
#[derive(Debug)]
enum Unanswered {
    /// The script failed in the page.
    Page(String),
    /// The browser's driver did not run it to the end.
    Driver(String),
}

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Page(error) => write!(f, "the page says {error}"),
            Self::Driver(error) => write!(f, "the driver says {error}"),
        }
    }
}

/// A browser that is on this machine.
pub(crate) enum Found {
    /// With the driver that `CHROMEDRIVER` names, or the one on the path.
    Chromium,
    Firefox(PathBuf),
    WebKit(WebKitPrograms),
}

impl Found {
    /// Firefox, which the running test needs: where it is absent, the test is recorded as skipped.
    #[track_caller]
    pub(crate) fn firefox() -> Option<Self> {
        let program = Firefox::program();
        if program.is_none() {
            skip::because("Firefox is not on this machine");
        }
        program.map(Self::Firefox)
    }

    /// WebKitGTK in the same way.
    #[track_caller]
    pub(crate) fn webkit() -> Option<Self> {
        match WebKitPrograms::find() {
            Ok(programs) => Some(Self::WebKit(programs)),
            Err(absent) => {
                skip::because(format_args!("{absent} is not on this machine"));
                None
            }
        }
    }

    /// The name of its column in the README.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Chromium => "Chromium",
            Self::Firefox(_) => "Firefox ESR",
            Self::WebKit(_) => "WebKitGTK",
        }
    }

    /// Runs a test in a browser of its own.
    pub(crate) fn run(&self, test: impl AsyncFnOnce(&Browser)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async { test(&self.start().await).await });
    }

    async fn start(&self) -> Browser {
        match self {
            Self::Chromium => {
                let started = Chromium::start(Logs::None).await;
                Browser::Chromium(started.expect("Chromium starts"))
            }
            Self::Firefox(program) => {
                let started = Firefox::start(program, SIZE).expect("Firefox starts");
                Browser::Firefox(Box::new(RefCell::new(started)))
            }
            Self::WebKit(programs) => {
                let started = WebKit::start(programs, SIZE).await;
                Browser::WebKit(started.expect("WebKitGTK starts"))
            }
        }
    }
}

/// A browser window. It ends when the test is over, also when it panicked.
pub(crate) enum Browser {
    Chromium(Chromium),
    Firefox(Box<RefCell<Firefox>>),
    WebKit(WebKit),
}

impl Browser {
    /// Loads an address anew, even where only the part after `#` differs from the present one.
    pub(crate) async fn open(&self, url: &str) {
        self.go("about:blank").await;
        self.go(url).await;
        if !matches!(self, Self::Firefox(_)) {
            self.script(LISTEN).await;
        }
    }

    async fn go(&self, url: &str) {
        let opened = match self {
            Self::Chromium(browser) => go(browser.client(), url).await,
            Self::Firefox(browser) => {
                let opened = browser.borrow_mut().open(url);
                opened.map_err(|error| error.to_string())
            }
            Self::WebKit(browser) => go(browser.client(), url).await,
        };
        opened.unwrap_or_else(|error| panic!("{url} does not open: {error}"));
    }

    /// Opens an address and waits until every cell has its numbers on screen. Where the driver
    /// itself has no answer, as `WebKitGTK`'s at times while a page loads, the page is opened again:
    /// what the page says is never passed over.
    pub(crate) async fn open_ready(&self, url: &str) {
        self.open(url).await;
        let deadline = Instant::now() + READY_WITHIN;
        let mut reopened = 0;
        loop {
            let waited_for = match self.run(WAITED_FOR).await {
                Err(Unanswered::Driver(error)) if reopened < REOPENED_AT_MOST => {
                    reopened += 1;
                    println!("{url} is opened again, for the driver says {error}");
                    self.open(url).await;
                    continue;
                }
                result => result.unwrap_or_else(|error| panic!("{url}: {error}\n{WAITED_FOR}")),
            };
            let waited_for: Vec<String> =
                serde_json::from_value(waited_for).expect("a list of texts");
            if waited_for.is_empty() {
                return;
            }
            let failed = waited_for.iter().any(|cell| cell.ends_with(": error"));
            assert!(
                !failed && Instant::now() < deadline,
                "{url} is not ready: {waited_for:?}; {:?}",
                self.complaints().await
            );
            pause(200).await;
        }
    }

    /// Runs the body of an asynchronous function in the page and returns its result.
    pub(crate) async fn script(&self, body: &str) -> Value {
        let result = self.run(body).await;
        result.unwrap_or_else(|error| panic!("the script failed: {error}\n{body}"))
    }

    async fn run(&self, body: &str) -> Result<Value, Unanswered> {
        match self {
            Self::Chromium(browser) => execute(browser.client(), body).await,
            Self::Firefox(browser) => {
                let result = browser.borrow_mut().script(body);
                result.map_err(|error| Unanswered::Page(error.to_string()))
            }
            Self::WebKit(browser) => execute(browser.client(), body).await,
        }
    }

    /// The text that a script returns.
    pub(crate) async fn text(&self, body: &str) -> String {
        let result = self.script(body).await;
        result.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until a script returns true.
    pub(crate) async fn wait_for(&self, what: &str, condition: &str) {
        let deadline = Instant::now() + READY_WITHIN;
        while self.script(condition).await != json!(true) {
            assert!(Instant::now() < deadline, "still waiting for {what}");
            pause(100).await;
        }
    }

    /// Clicks an element, which a script's expression names, as soon as it is there.
    pub(crate) async fn click(&self, element: &str) {
        let click = format!("const found = {element}; found?.click(); return !!found");
        self.wait_for(element, &click).await;
    }

    /// Sets a field as if the reader had typed, or chosen, its value.
    pub(crate) async fn set(&self, field: &str, value: &str) {
        let set = format!(
            "const field = document.querySelector({});
             field.value = {};
             for (const kind of ['input', 'change']) {{
                 field.dispatchEvent(new Event(kind, {{ bubbles: true }}));
             }}",
            json!(field),
            json!(value)
        );
        self.script(&set).await;
    }

    /// Warnings and errors since the page was opened. Firefox tells all of its console; the other
    /// drivers have no log that is the same for both, so there it is what the page says after its
    /// event `load`, which is before any cell computes.
    pub(crate) async fn complaints(&self) -> Vec<String> {
        if let Self::Firefox(browser) = self {
            let complaints = browser.borrow_mut().complaints().expect("Firefox answers");
            return formulas::without_arriving(self, complaints).await;
        }
        let complaints = self.script("return globalThis.complaints").await;
        serde_json::from_value(complaints).expect("a list of texts")
    }
}

async fn go(client: &Client, url: &str) -> Result<(), String> {
    client.goto(url).await.map_err(|error| error.to_string())
}

/// Runs the body of an asynchronous function over WebDriver.
async fn execute(client: &Client, body: &str) -> Result<Value, Unanswered> {
    let script = format!(
        "const done = arguments[arguments.length - 1];
         (async () => {{ {body}\n }})()
            .then(value => ({{ value: value ?? null }}), error => ({{ error: String(error) }}))
            .then(done)"
    );
    let result = client.execute_async(&script, Vec::new()).await;
    // The text alone leaves out the kind of the error, and may be empty.
    let mut result = result.map_err(|error| Unanswered::Driver(format!("{error:?}")))?;
    match result["error"].as_str() {
        Some(error) => Err(Unanswered::Page(error.to_owned())),
        None => Ok(result["value"].take()),
    }
}

/// Waits.
pub(crate) async fn pause(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}
