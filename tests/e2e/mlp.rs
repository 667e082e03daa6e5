//! The lesson on the MLP as a reader uses its cells: two matrices multiplied out, a model of another
//! size, a neuron that fires more, four runs side by side, and two routers.

use fantoccini::Locator;
use fantoccini::key::Key;

use super::browser::with_browser;
use super::reader::{click, open_lesson, press, wait_until};
use super::site;
use super::training::{readout_of, wait_for_steps_of};
use browser_harness::Habits;

/// Without the ReLU, −x gives minus what x gives, and the product of both matrices appears.
#[test]
fn two_matrices_are_multiplied_out() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "mlp").await;
        let cell = "two-matrices";
        wait_until(browser, cell, "output[0]", "text === '0.872'").await;
        wait_until(browser, cell, "mirror[0]", "text === '\u{2212}0.530'").await;
        let toggle = |n: usize| format!("#two-matrices .controls > :nth-child({n}) input");
        click(browser, Locator::Css(&toggle(1))).await;
        wait_until(browser, cell, "output[0]", "text === '1.402'").await;
        wait_until(browser, cell, "mirror[0]", "text === '\u{2212}1.402'").await;
        click(browser, Locator::Css(&toggle(2))).await;
        wait_until(browser, cell, "product[0,0]", "text === '1.49'").await;
    });
}

/// The sizes of another model: its total, and two thirds in the MLP at every width.
#[test]
fn another_model_is_counted() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "mlp").await;
        let cell = "block-budget";
        let digits = "text.replace(/\\D/g, '')";
        wait_until(browser, cell, "total", &format!("{digits} === '124439808'")).await;
        let other = "#block-budget .choice label:nth-of-type(2) input";
        click(browser, Locator::Css(other)).await;
        wait_until(browser, cell, "total", &format!("{digits} === '1088256'")).await;
        wait_until(browser, cell, "block.share", "parseFloat(text) === 66.7").await;
    });
}

/// A neuron that fires more raises the probability of the tokens that it promotes.
#[test]
fn a_neuron_fires_more() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "mlp").await;
        let cell = "neuron";
        wait_until(browser, cell, "after.promoted", "parseFloat(text) > 0").await;
        let before = readout_of(browser, cell, "promoted").await;
        let slider = "#neuron .controls + .cols-2 + .controls .slider input[type=range]";
        press(browser, slider, &[Key::End]).await;
        let rises = format!("parseFloat(text) > parseFloat('{before}')");
        wait_until(browser, cell, "after.promoted", &rises).await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// The four runs learn, SwiGLU first; of the two routers only the balanced one uses all experts.
#[test]
fn runs_learn_side_by_side() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "mlp").await;
        let start = "#activations [data-train=start]";
        click(browser, Locator::Css(start)).await;
        wait_for_steps_of(browser, "activations", "> 260").await;
        click(browser, Locator::Css(start)).await;
        let right = async |name: &str| -> f64 {
            let text = readout_of(browser, "activations", name).await;
            text.trim_end_matches(['%', ' ', '\u{a0}', '\u{202f}'])
                .parse()
                .unwrap_or_default()
        };
        assert!(right("swiglu.right.now").await > right("silu.right.now").await);

        let start = "#experts [data-train=start]";
        click(browser, Locator::Css(start)).await;
        wait_for_steps_of(browser, "experts", "> 200").await;
        click(browser, Locator::Css(start)).await;
        wait_until(browser, "experts", "balanced.idle", "text === '0'").await;
        wait_until(browser, "experts", "free.idle", "parseFloat(text) >= 3").await;
    });
}
