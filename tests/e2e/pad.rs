//! The drawing pad with a mouse, a finger, a pen and the keyboard: what is drawn is read, strokes are
//! taken back, and a finger on the pad does not move the page.

use fantoccini::actions::{
    ActionSequence, InputSource, MOUSE_BUTTON_LEFT, MouseActions, PenActions, PointerAction,
    TouchActions,
};
use fantoccini::key::Key;
use fantoccini::{Locator, actions::Actions};
use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser};
use super::reader::{click, press};
use super::site;
use browser_harness::Habits;

/// A point of the pad, as shares of its side, from the left and from the top.
type Point = (f64, f64);

/// From top to bottom: read as a 1.
const STEM: [Point; 2] = [(0.55, 0.2), (0.48, 0.8)];

/// The bar of a 7 whose stem is [`STEM`].
const BAR: [Point; 2] = [(0.2, 0.2), (0.55, 0.2)];

/// Number of moves of a pointer along a stroke.
const MOVES: usize = 12;

/// What draws.
#[derive(Clone, Copy, Debug)]
enum Tool {
    Mouse,
    Finger,
    Pen,
}

/// What the cell reads, and the number of strokes on its pad.
const STATE: &str = "(() => {
    const cell = document.querySelector('#draw-a-digit');
    const answer = cell.querySelector('.verdict [data-from=\"answer\"]')?.textContent ?? '';
    const strokes = (cell.querySelector('.pad-ink')?.getAttribute('d') ?? '').split('M').length - 1;
    return cell.querySelector('.verdict').textContent.startsWith('The pad is empty') ? 'empty' : `${answer} of ${strokes}`;
})()";

async fn shows(browser: &Browser, state: &str, after: &str) {
    let script = format!("return {STATE} === '{state}'");
    browser
        .wait_for(&format!("{state:?} after {after}"), &script)
        .await;
}

async fn button(browser: &Browser, name: &str) {
    let place = format!("//section[@id='draw-a-digit']//button[normalize-space()='{name}']");
    click(browser, Locator::XPath(&place)).await;
}

/// Where the pad is in the window: left, top and side in pixels.
async fn pad(browser: &Browser) -> [f64; 3] {
    let script = "const pad = document.querySelector('#draw-a-digit .pad-sheet > svg');
        pad.scrollIntoView({ block: 'center', behavior: 'instant' });
        const box = pad.getBoundingClientRect();
        return [box.x, box.y, box.width]";
    let found = browser.script(script, &[]).await;
    [0, 1, 2].map(|n| found[n].as_f64().expect("a number"))
}

async fn scrolled(browser: &Browser) -> Value {
    browser.script("return window.scrollY", &[]).await
}

/// A move to a point of the pad.
fn to([left, top, side]: [f64; 3], (x, y): Point) -> PointerAction {
    PointerAction::MoveTo {
        duration: None,
        x: (left + x * side).round(),
        y: (top + y * side).round(),
    }
}

/// The moves from the first point to the second, without the first.
fn along(pad: [f64; 3], [from, end]: [Point; 2]) -> Vec<PointerAction> {
    let between = |n: usize| {
        let share = n as f64 / MOVES as f64;
        let at = |a: f64, b: f64| a + (b - a) * share;
        to(pad, (at(from.0, end.0), at(from.1, end.1)))
    };
    (1..=MOVES).map(between).collect()
}

const DOWN: PointerAction = PointerAction::Down {
    button: MOUSE_BUTTON_LEFT,
};
const UP: PointerAction = PointerAction::Up {
    button: MOUSE_BUTTON_LEFT,
};

fn sequence(tool: Tool, name: &str, actions: Vec<PointerAction>) -> ActionSequence {
    fn all<S: InputSource<Action = PointerAction>>(
        source: S,
        actions: Vec<PointerAction>,
    ) -> ActionSequence {
        actions.into_iter().fold(source, S::then).into()
    }
    let name = name.to_owned();
    match tool {
        Tool::Mouse => all(MouseActions::new(name), actions),
        Tool::Finger => all(TouchActions::new(name), actions),
        Tool::Pen => all(PenActions::new(name), actions),
    }
}

async fn perform(browser: &Browser, actions: impl Into<Actions>) {
    let done = browser.client().perform_actions(actions).await;
    done.expect("the pointer can be moved");
}

/// Draws a stroke.
async fn draw(browser: &Browser, tool: Tool, stroke: [Point; 2]) {
    let pad = pad(browser).await;
    let mut actions = vec![to(pad, stroke[0]), DOWN];
    actions.extend(along(pad, stroke));
    actions.push(UP);
    let one = sequence(tool, &format!("one {tool:?}"), actions);
    perform(browser, one).await;
}

async fn open(browser: &Browser, url: &str) {
    browser.look(Look::PHONE_LIGHT).await;
    browser.open_ready(url).await.expect("the lesson works");
    let note = "window.tools = [];
        document.querySelector('#draw-a-digit .pad-sheet > svg')
            .addEventListener('pointerdown', event => window.tools.push(event.pointerType))";
    browser.script(note, &[]).await;
    button(browser, "Clear").await;
    shows(browser, "empty", "Clear").await;
}

#[test]
fn a_mouse_a_finger_a_pen_and_the_keyboard_draw() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server.url("lesson/vit/")).await;
        for tool in [Tool::Mouse, Tool::Finger, Tool::Pen] {
            let name = format!("a stroke of the {tool:?}");
            pad(browser).await;
            let before = scrolled(browser).await;
            draw(browser, tool, STEM).await;
            shows(browser, "1 of 1", &name).await;
            draw(browser, tool, BAR).await;
            shows(browser, "7 of 2", &name).await;
            assert_eq!(scrolled(browser).await, before, "{name} moves the page");
            button(browser, "Undo stroke").await;
            shows(browser, "1 of 1", "Undo stroke").await;
            button(browser, "Clear").await;
            shows(browser, "empty", "Clear").await;
        }
        let tools = browser.script("return window.tools", &[]).await;
        let twice = ["mouse", "mouse", "touch", "touch", "pen", "pen"];
        assert_eq!(tools, json!(twice));

        // Beside the pad the same stroke of a finger moves the page: from the bottom of the window up.
        let prose = "const prose = [...document.querySelectorAll('main p')].find(p => p.clientHeight > 60 && !p.closest('[data-cell]'));
            prose.scrollIntoView({ block: 'center', behavior: 'instant' });
            const box = prose.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]";
        let prose = browser.script(prose, &[]).await;
        let [x, y] = [0, 1].map(|n| prose[n].as_f64().expect("a number"));
        let before = scrolled(browser).await;
        let mut actions = along([x, y, 1.0], [(0.0, 0.0), (0.0, -150.0)]);
        actions.insert(0, DOWN);
        actions.insert(0, to([x, y, 1.0], (0.0, 0.0)));
        actions.push(UP);
        perform(browser, sequence(Tool::Finger, "a swipe", actions)).await;
        let moved = format!("return window.scrollY > {before} + 50");
        browser.wait_for("the page to be scrolled", &moved).await;

        let keys = [Key::Down; 11];
        let keys = [&[Key::Space], &keys[..], &[Key::Space]].concat();
        press(browser, "#draw-a-digit .pad-sheet", &keys).await;
        shows(browser, "1 of 1", "the keys").await;
        // Held down, Space puts the pen down once and does not lift it again by its repetitions.
        let hold = "const sheet = document.querySelector('#draw-a-digit .pad-sheet');
            const key = repeat => sheet.dispatchEvent(new KeyboardEvent('keydown', { key: ' ', repeat, bubbles: true, cancelable: true }));
            return [key(false), key(true)]";
        let held = browser.script(hold, &[]).await;
        assert_eq!(
            held,
            json!([false, false]),
            "the page does not scroll either"
        );
        browser
            .wait_for(
                "the pen to stay down",
                "return document.querySelector('#draw-a-digit .pad-sheet .vh').textContent.startsWith('Pen down')",
            )
            .await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// A second finger draws nothing and does not end the stroke of the first; a stroke that is taken back
/// while it is drawn stays away.
#[test]
fn one_pointer_draws_at_a_time() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server.url("lesson/vit/")).await;
        let place = pad(browser).await;
        let moves = along(place, STEM);
        let mut first = vec![to(place, STEM[0]), DOWN];
        // The palm comes when the stroke has begun, stays and goes before its end.
        let wait = || PointerAction::Pause {
            duration: std::time::Duration::ZERO,
        };
        let palm = [(0.85, 0.7), (0.9, 0.9)];
        let mut second = vec![to(place, palm[0]), wait(), wait(), DOWN];
        second.extend(along(place, palm).into_iter().take(MOVES - 4));
        second.push(UP);
        first.extend(moves);
        first.push(UP);
        while second.len() < first.len() {
            second.push(wait());
        }
        let fingers = vec![
            sequence(Tool::Finger, "a finger", first),
            sequence(Tool::Finger, "a palm", second),
        ];
        perform(browser, fingers).await;
        shows(browser, "1 of 1", "a stroke with the palm on the pad").await;

        // In the middle of the bar another hand presses Undo.
        let undo = "const pad = document.querySelector('#draw-a-digit .pad-sheet > svg');
            const undo = [...document.querySelectorAll('#draw-a-digit button')].find(b => b.textContent.trim() === 'Undo stroke');
            let moves = 0;
            pad.addEventListener('pointermove', event => {
                if (event.buttons !== 1) return;
                moves += 1;
                window.strokes ??= document.querySelector('#draw-a-digit .pad-ink').getAttribute('d').split('M').length - 1;
                if (moves === 6) undo.click();
            })";
        browser.script(undo, &[]).await;
        draw(browser, Tool::Mouse, BAR).await;
        shows(browser, "1 of 1", "a stroke that was taken back").await;
        let strokes = browser.script("return window.strokes", &[]).await;
        assert_eq!(strokes, json!(2), "the bar had begun");
        // The next press draws again.
        draw(browser, Tool::Mouse, BAR).await;
        shows(browser, "7 of 2", "the bar").await;
    });
}
