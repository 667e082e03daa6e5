//! The lesson on five tools as a reader uses its cells: arrows moved by keys, examples, sliders, a
//! network that learns, steps down a curve, and the nodes of a graph.

use fantoccini::Locator;
use fantoccini::key::Key;

use super::browser::{Browser, with_browser};
use super::reader::{click, open_lesson, press, wait_for_shown};
use super::site;
use super::training::{readout_of, wait_for_steps_of};
use browser_harness::Habits;

/// The number of a cell with this origin.
async fn shown(browser: &Browser, cell: &str, from: &str) -> String {
    let selector = format!("#{cell} [data-from='{from}']");
    let all = browser.texts(&selector).await;
    all.first()
        .cloned()
        .unwrap_or_else(|| panic!("no {from} in {cell}"))
}

/// Steps to the left take the tip of a = (2, 1) nearer to zero; the dot product with b = (1, 2) falls.
#[test]
fn an_arrow_is_moved_by_keys_and_the_dot_product_follows() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "basics").await;
        wait_for_shown(browser, "dot-product", "dot", "4.00").await;
        press(browser, "#dot-product .plane-tip", &[Key::Left; 3]).await;
        let changed = "return document.querySelector(\"#dot-product [data-from='dot']\").textContent.trim() !== '4.00'";
        browser.wait_for("another dot product", changed).await;
        let number = async |from: &str| -> f64 {
            let text = shown(browser, "dot-product", from)
                .await
                .replace('\u{2212}', "-");
            text.parse()
                .unwrap_or_else(|_| panic!("{text} is no number"))
        };
        let [dot, left, right] = [
            number("dot").await,
            number("terms[0]").await,
            number("terms[1]").await,
        ];
        assert!(
            dot < 4.0 && (left + right - dot).abs() < 0.02,
            "{dot} {left} {right}"
        );
    });
}

#[test]
fn a_matrix_and_a_temperature_are_changed() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "basics").await;
        wait_for_shown(browser, "matrix-vector", "output[1]", "2.00").await;
        // The last example, Flatten: both rows along one line.
        click(
            browser,
            Locator::Css("#matrix-vector [aria-label=Examples] button:last-child"),
        )
        .await;
        wait_for_shown(browser, "matrix-vector", "output[1]", "1.50").await;
        wait_for_shown(browser, "matrix-vector", "output[0]", "3.00").await;

        let first = shown(browser, "softmax-bars", "weights[0]").await;
        let sliders = "#softmax-bars .slider:nth-child(5) input[type=range]";
        press(browser, sliders, &[Key::Home]).await;
        wait_for_shown(browser, "softmax-bars", "weights[0]", "1.000").await;
        assert_ne!(first, "1.000");
    });
}

/// The network with the nonlinearity gets all four points right, the other one never does.
#[test]
fn only_one_of_two_networks_learns_xor() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "basics").await;
        click(browser, Locator::Css("#learn-xor [data-train=start]")).await;
        wait_for_steps_of(browser, "learn-xor", "> 300").await;
        click(browser, Locator::Css("#learn-xor [data-train=start]")).await;
        assert_eq!(readout_of(browser, "learn-xor", "with.right").await, "4");
        assert_ne!(readout_of(browser, "learn-xor", "without.right").await, "4");
    });
}

#[test]
fn steps_lead_down_a_curve_and_a_node_says_what_it_passes_back() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "basics").await;
        wait_for_shown(browser, "gradient-step", "here[0]", "0.500").await;
        let step = "#gradient-step [role=group] button:first-child";
        click(browser, Locator::Css(step)).await;
        wait_for_shown(browser, "gradient-step", "here[0]", "1.500").await;
        click(
            browser,
            Locator::Css("#gradient-step [role=group] button:last-child"),
        )
        .await;
        wait_for_shown(browser, "gradient-step", "here[0]", "0.500").await;

        // The fold is open since the page was laid out as for print.
        wait_for_shown(browser, "five-nodes", "gradients[3]", "\u{2212}10.00").await;
        click(
            browser,
            Locator::Css("#five-nodes .node-graph > button:nth-of-type(5)"),
        )
        .await;
        // L passes 2 (p - y) = -10 on to p.
        wait_for_shown(browser, "five-nodes", "passed[4,3]", "\u{2212}10.00").await;
        wait_for_shown(browser, "five-nodes", "passed[4,2]", "10.00").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}
