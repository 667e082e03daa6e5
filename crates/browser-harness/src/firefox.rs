//! A headless Firefox under WebDriver BiDi, which it speaks without a driver.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bidi::{Bidi, BidiError};
use super::programs;

/// Settings of the profile beside those that Firefox itself makes while it is driven: it shows no
/// page of its own, asks no host for anything, and takes no proxy of this machine.
const SETTINGS: &[(&str, &str)] = &[
    ("app.normandy.enabled", "false"),
    ("app.update.enabled", "false"),
    ("browser.aboutwelcome.enabled", "false"),
    ("browser.shell.checkDefaultBrowser", "false"),
    ("browser.startup.page", "0"),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("network.captive-portal-service.enabled", "false"),
    ("network.connectivity-service.enabled", "false"),
    ("network.proxy.type", "0"),
    ("nimbus.rollouts.enabled", "false"),
];

/// How long a browser that was asked to close may take.
const CLOSED_WITHIN: Duration = Duration::from_secs(10);

/// A browser with a profile of its own; both end when it is dropped.
pub struct Firefox {
    session: Bidi,
    /// The id of its only tab.
    tab: String,
    /// The ids of the pages that were left.
    left: Vec<String>,
    process: Process,
}

/// A reason why the browser did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum FirefoxError {
    /// It could not be started.
    #[error("Firefox does not start: {0}")]
    Start(#[from] io::Error),
    /// It ended without naming the address at which it can be driven.
    #[error("Firefox names no address for WebDriver BiDi")]
    NoAddress,
    /// A command failed.
    #[error("Firefox: {0}")]
    Command(#[from] BidiError),
    /// A script threw an exception.
    #[error("the script failed: {0}")]
    Script(String),
    /// A script returned what is no JSON.
    #[error("the script returned no JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The process and the folder of its profile.
struct Process {
    child: Child,
    profile: PathBuf,
}

impl Firefox {
    /// The program: the one that `FIREFOX` names, else Firefox as it is called on Debian or
    /// elsewhere. `None` where there is none.
    pub fn program() -> Option<PathBuf> {
        programs::named("FIREFOX").or_else(|| {
            let names = ["firefox-esr", "firefox"];
            names.into_iter().find_map(programs::on_the_path)
        })
    }

    /// Starts a browser with an empty profile, whose page has this size.
    ///
    /// # Errors
    /// When it does not start, or speaks no WebDriver BiDi.
    pub fn start(program: &Path, (width, height): (u32, u32)) -> Result<Self, FirefoxError> {
        let (process, port) = Process::start(program)?;
        let mut session = Bidi::connect(port)?;
        let log = json!({ "events": ["log.entryAdded"] });
        session.command("session.subscribe", log)?;
        let tabs = session.command("browsingContext.getTree", json!({}))?;
        let tab = tabs["contexts"][0]["context"].as_str();
        let tab = tab.unwrap_or_default().to_owned();
        let viewport = json!({
            "context": tab,
            "viewport": { "width": width, "height": height },
        });
        session.command("browsingContext.setViewport", viewport)?;
        Ok(Self {
            session,
            tab,
            left: Vec::new(),
            process,
        })
    }

    /// Opens an address and waits for the page's event `load`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&mut self, url: &str) -> Result<(), FirefoxError> {
        let left = self.call("() => null")?["realm"].take();
        self.left.extend(left.as_str().map(str::to_owned));
        let page = json!({ "context": self.tab, "url": url, "wait": "complete" });
        self.session.command("browsingContext.navigate", page)?;
        Ok(())
    }

    /// Runs the body of an asynchronous function in the page and returns its result.
    ///
    /// # Errors
    /// When it throws, or returns what JSON cannot hold.
    pub fn script(&mut self, body: &str) -> Result<Value, FirefoxError> {
        let function =
            format!("async () => JSON.stringify(await (async () => {{ {body}\n }})()) ?? 'null'");
        let answer = self.call(&function)?;
        match answer["result"]["value"].as_str() {
            Some(text) => Ok(serde_json::from_str(text)?),
            None => Err(FirefoxError::Script(
                answer["exceptionDetails"]["text"].to_string(),
            )),
        }
    }

    /// Calls a function in the page and waits for what it promises.
    fn call(&mut self, function: &str) -> Result<Value, BidiError> {
        let call = json!({
            "functionDeclaration": function,
            "awaitPromise": true,
            "target": { "context": self.tab },
        });
        self.session.command("script.callFunction", call)
    }

    /// Warnings and errors in the console since the last call, with the file that each came from;
    /// not those of a page that was left, whose requests have failed thereby.
    ///
    /// # Errors
    /// When the browser has gone.
    pub fn complaints(&mut self) -> Result<Vec<String>, FirefoxError> {
        // What was logged before this command has come when it is answered.
        self.session.command("session.status", json!({}))?;
        let events = self.session.take_events();
        let complaint = |event: Value| {
            let entry = &event["params"];
            let level = entry["level"].as_str()?;
            let from = &entry["stackTrace"]["callFrames"][0]["url"];
            let realm = entry["source"]["realm"].as_str()?;
            let is_bad = matches!(level, "warn" | "error");
            let is_left = self.left.iter().any(|left| left == realm);
            (is_bad && !is_left).then(|| format!("console {level}: {} ({from})", entry["text"]))
        };
        Ok(events.into_iter().filter_map(complaint).collect())
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        // A browser that has gone already is as good.
        let asked = self.session.command("browser.close", json!({}));
        if asked.is_ok() {
            self.process.wait(CLOSED_WITHIN);
        }
    }
}

impl Process {
    /// Starts the program and reads the port on which it can be driven.
    fn start(program: &Path) -> Result<(Self, u16), FirefoxError> {
        static PROFILES: AtomicUsize = AtomicUsize::new(0);
        let number = PROFILES.fetch_add(1, Ordering::Relaxed);
        let name = format!("notebook-firefox-{}-{number}", std::process::id());
        let profile = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&profile)?;
        let settings: String = SETTINGS
            .iter()
            .map(|(name, value)| format!("user_pref(\"{name}\", {value});\n"))
            .collect();
        std::fs::write(profile.join("user.js"), settings)?;
        let mut child = Command::new(program)
            .args(["--headless", "--no-remote", "--remote-debugging-port", "0"])
            .arg("--profile")
            .arg(&profile)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let output = child.stderr.take();
        let process = Self { child, profile };
        let mut lines = BufReader::new(output.ok_or(FirefoxError::NoAddress)?).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, address) = line.split_once("WebDriver BiDi listening on ws://")?;
            address.rsplit(':').next()?.trim().parse().ok()
        });
        let port = port.ok_or(FirefoxError::NoAddress)?;
        // Read on, or Firefox would stop at a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Ok((process, port))
    }

    /// Waits until it has ended by itself.
    fn wait(&mut self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself, and it may still hold files of the profile.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
