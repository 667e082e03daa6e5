//! A pad to draw on with a mouse, a finger, a pen or the keyboard.

use std::fmt::Write as _;

use cells::Drawing;
use cells::drawing::{MOST_POINTS, PEN, Point, SIDE, ready};
use leptos::prelude::*;
use leptos::svg::Svg;
use leptos::web_sys;

use super::events::{capture, share_within};

/// The way of the pen for one press of an arrow key, and with Shift.
const STEP: u16 = 24;
const SMALL_STEP: u16 = 12;

/// The bit of the button that draws: the left one of a mouse, the contact of a finger or of a pen.
const DRAWS: u16 = 1;

/// Where the pen of the keyboard is at first.
const START: Point = [SIDE / 2, SIDE / 4];

/// What the pointer or the keyboard does to the drawing.
#[derive(Clone, Copy)]
struct Pad {
    drawing: Signal<Drawing>,
    on_change: Callback<Drawing>,
    svg: NodeRef<Svg>,
    /// The pointer that draws.
    held: RwSignal<Option<i32>>,
    /// Where the pen of the keyboard is, and whether it is down.
    pen: RwSignal<(Point, bool)>,
}

impl Pad {
    /// The point of the pad under a pointer.
    fn under(self, event: &web_sys::PointerEvent) -> Option<Point> {
        let (x, y) = share_within(&*self.svg.get_untracked()?, event)?;
        let on_pad = |share: f64| {
            let side = f64::from(SIDE);
            (share * side).round().clamp(0.0, side - 1.0) as u16
        };
        Some([on_pad(x), on_pad(y)])
    }

    /// Draws on to a point, or begins a stroke there.
    fn draw(self, to: Point, begins: bool) {
        let mut drawing = self.drawing.get_untracked();
        if drawing.add(to, begins) {
            self.on_change.run(drawing);
        }
    }

    /// A pointer touches the pad. A second one, such as the palm beside a pen, draws nothing.
    fn hold(self, event: &web_sys::PointerEvent) {
        // The end of a stroke may get lost; then the same pointer touches the pad again.
        let another = |held| held != event.pointer_id();
        if self.held.get_untracked().is_some_and(another) || event.button() != 0 {
            return;
        }
        let (Some(to), Some(svg)) = (self.under(event), self.svg.get_untracked()) else {
            return;
        };
        self.held.set(Some(event.pointer_id()));
        self.pen.set((to, false));
        capture(&svg, event);
        self.draw(to, true);
    }

    /// The pointer that draws has moved.
    fn follow(self, event: &web_sys::PointerEvent) {
        if self.held.get_untracked() != Some(event.pointer_id()) {
            return;
        }
        // Of a mouse that still holds another button down, only a move tells that the first is up.
        if event.buttons() & DRAWS == 0 {
            self.held.set(None);
            return;
        }
        event.prevent_default();
        if let Some(to) = self.under(event) {
            self.draw(to, false);
        }
    }

    fn release(self, event: &web_sys::PointerEvent) {
        if self.held.get_untracked() == Some(event.pointer_id()) {
            self.held.set(None);
        }
    }

    /// Moves the pen of the keyboard, or puts it down or lifts it.
    fn key(self, event: &leptos::ev::KeyboardEvent) {
        // With these keys it is a command of the browser, such as the way back.
        if event.alt_key() || event.ctrl_key() || event.meta_key() {
            return;
        }
        let (at, is_down) = self.pen.get_untracked();
        if event.key() == " " {
            event.prevent_default();
            // A key that is held down repeats itself.
            if event.repeat() {
                return;
            }
            self.pen.set((at, !is_down));
            if !is_down {
                self.draw(at, true);
            }
            return;
        }
        let step = if event.shift_key() { SMALL_STEP } else { STEP };
        if let Some(to) = stepped(&event.key(), at, step) {
            event.prevent_default();
            self.pen.set((to, is_down));
            if is_down {
                self.draw(to, false);
            }
        }
    }

    /// Another drawing, with the pen lifted; a pointer that draws has to touch the pad again, or it
    /// would draw on from the end of a stroke that is not its own.
    fn replace(self, drawing: Drawing) {
        self.held.set(None);
        self.pen.update(|(_, is_down)| *is_down = false);
        self.on_change.run(drawing);
    }
}

/// The point that an arrow key leads to.
fn stepped(key: &str, [x, y]: Point, step: u16) -> Option<Point> {
    let more = |at: u16| (at + step).min(SIDE - 1);
    Some(match key {
        "ArrowLeft" => [x.saturating_sub(step), y],
        "ArrowRight" => [more(x), y],
        "ArrowUp" => [x, y.saturating_sub(step)],
        "ArrowDown" => [x, more(y)],
        _ => return None,
    })
}

/// The strokes as the outline of an SVG path; a dot is a line without length.
fn path(drawing: &Drawing) -> String {
    let mut path = String::new();
    for stroke in &drawing.0 {
        for (n, [x, y]) in stroke.iter().enumerate() {
            let command = if n == 0 { 'M' } else { 'L' };
            write!(path, "{command}{x} {y}").ok();
        }
        if stroke.len() == 1 {
            path.push_str("h0");
        }
    }
    path
}

/// A drawing by itself, small.
pub(crate) fn sketch(drawing: &Drawing) -> AnyView {
    let view_box = format!("0 0 {SIDE} {SIDE}");
    view! {
        <svg class="sketch" viewBox=view_box aria-hidden="true">
            <path d=path(drawing) stroke-width={2 * PEN} />
        </svg>
    }
    .into_any()
}

/// The pad with its strokes, buttons for ready digits, and those that take strokes away.
#[component]
pub fn DrawingPad(
    /// Label of the drawing.
    #[prop(into)]
    label: String,
    /// The drawing.
    #[prop(into)]
    drawing: Signal<Drawing>,
    /// Called with the drawing after each change.
    #[prop(into)]
    on_change: Callback<Drawing>,
) -> impl IntoView {
    let pad = Pad {
        drawing,
        on_change,
        svg: NodeRef::new(),
        held: RwSignal::new(None),
        pen: RwSignal::new((START, false)),
    };
    let is_focused = RwSignal::new(false);
    let view_box = format!("0 0 {SIDE} {SIDE}");
    let pen = move || {
        is_focused.get().then(|| {
            let ([x, y], is_down) = pad.pen.get();
            view! { <circle class="pad-pen" class:is-down=is_down cx=x cy=y r=PEN aria-hidden="true" /> }
        })
    };
    view! {
        <div class="pad">
            <div
                class="pad-sheet"
                role="group"
                tabindex="0"
                aria-label=format!(
                    "{label}: draw with the mouse, a finger or a pen; arrow keys move the pen, Space puts it down or lifts it",
                )
                on:keydown=move |event| pad.key(&event)
                on:focus=move |_| is_focused.set(true)
                on:blur=move |_| {
                    is_focused.set(false);
                    pad.pen.update(|(_, is_down)| *is_down = false);
                }
            >
                <svg
                    node_ref=pad.svg
                    viewBox=view_box
                    aria-hidden="true"
                    on:pointerdown=move |event| pad.hold(&event)
                    on:pointermove=move |event| pad.follow(&event)
                    on:pointerup=move |event| pad.release(&event)
                    on:pointercancel=move |event| pad.release(&event)
                    on:lostpointercapture=move |event| pad.release(&event)
                >
                    <path class="pad-ink" d=move || drawing.with(path) stroke-width={2 * PEN} />
                    {pen}
                </svg>
                <p class="vh" aria-live="polite" data-label="">
                    {move || is_focused.get().then(|| spoken(pad.pen.get(), drawing.with(|d| d.0.len())))}
                </p>
            </div>
            {buttons(pad)}
        </div>
    }
}

/// Where the pen is, for assistive technology.
fn spoken(([x, y], is_down): (Point, bool), strokes: usize) -> String {
    let percent = |at: u16| u32::from(at) * 100 / u32::from(SIDE - 1);
    let pen = if is_down { "down" } else { "up" };
    let (x, y) = (percent(x), percent(y));
    format!("Pen {pen}, {x} percent from the left, {y} percent from the top; strokes: {strokes}")
}

/// Ready digits, and the ways to take strokes away.
fn buttons(pad: Pad) -> impl IntoView {
    let digit = move |label: usize| {
        view! {
            <button
                type="button"
                class="button quiet"
                aria-label=format!("Draw me a {label}")
                data-label=""
                on:click=move |_| pad.replace(ready(label))
            >
                {label.to_string()}
            </button>
        }
    };
    let is_empty = Memo::new(move |_| pad.drawing.with(|drawing| drawing.0.is_empty()));
    let is_full = Memo::new(move |_| pad.drawing.with(|d| d.points() >= MOST_POINTS));
    let undo = move |_| {
        let mut drawing = pad.drawing.get_untracked();
        drawing.0.pop();
        pad.replace(drawing);
    };
    view! {
        <div class="pad-digits" role="group" aria-label="Draw me a digit">
            {(0..10).map(digit).collect_view()}
        </div>
        <div class="row">
            <button type="button" class="button quiet" disabled=move || is_empty.get() on:click=undo>
                "Undo stroke"
            </button>
            <button
                type="button"
                class="button quiet"
                disabled=move || is_empty.get()
                on:click=move |_| pad.replace(Drawing::default())
            >
                "Clear"
            </button>
        </div>
        {move || is_full.get().then(|| view! {
            <p class="hint">"The pad is full. Undo a stroke, or clear it."</p>
        })}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_are_paths_and_dots_are_seen() {
        let drawing = Drawing(vec![vec![[1, 2], [30, 4]], vec![[9, 9]]]);
        assert_eq!(path(&drawing), "M1 2L30 4M9 9h0");
        assert_eq!(path(&Drawing::default()), "");
    }

    #[test]
    fn arrow_keys_stay_on_the_pad() {
        assert_eq!(stepped("ArrowRight", [500, 0], 24), Some([511, 0]));
        assert_eq!(stepped("ArrowUp", [500, 10], 24), Some([500, 0]));
        assert_eq!(stepped("ArrowLeft", [100, 0], 24), Some([76, 0]));
        assert_eq!(stepped("Enter", [0, 0], 24), None);
        assert!(spoken(([511, 0], true), 2).starts_with("Pen down, 100 percent"));
    }
}
