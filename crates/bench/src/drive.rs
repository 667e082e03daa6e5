//! A browser, driven by scripts in its page.

use std::time::{Duration, Instant};

use browser_harness::{Chromium, ChromiumError};
use serde_json::{Value, json};

use crate::BenchError;

/// The most time that a page or a model may take.
const PATIENCE: Duration = Duration::from_secs(180);

/// Time between two looks at the page.
const LOOK: Duration = Duration::from_millis(100);

/// A script: true while the lab has an open model.
pub(crate) const OPEN: &str = "return document.querySelector('.lab-facts') !== null";

/// A script: presses the button that says `arguments[0]`; false where there is none that can be
/// pressed.
const PRESS: &str = "
    const button = [...document.querySelectorAll('.lab button')].find(one => one.textContent === arguments[0]);
    if (!button || button.disabled) return false;
    button.click();
    return true";

/// Runs a script in the page.
///
/// # Errors
/// When the browser cannot be driven, or the script throws.
pub(crate) async fn script(
    chromium: &Chromium,
    script: &str,
    arguments: &[Value],
) -> Result<Value, BenchError> {
    let result = chromium.client().execute(script, arguments.to_vec()).await;
    Ok(result.map_err(ChromiumError::from)?)
}

/// Waits until a script returns true.
///
/// # Errors
/// When it does not for a long time, or as [`script`].
pub(crate) async fn wait(
    chromium: &Chromium,
    what: &str,
    condition: &str,
    arguments: &[Value],
) -> Result<(), BenchError> {
    let begun = Instant::now();
    while script(chromium, condition, arguments).await? != json!(true) {
        if begun.elapsed() > PATIENCE {
            return Err(BenchError::NoResult(what.to_owned()));
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// Presses a button of the lab as soon as there is one with these words.
///
/// # Errors
/// As [`wait`].
pub(crate) async fn press(chromium: &Chromium, button: &str) -> Result<(), BenchError> {
    wait(chromium, button, PRESS, &[json!(button)]).await
}
