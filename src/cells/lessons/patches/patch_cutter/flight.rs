//! The pixels of the chosen patch fly from their squares into the row of numbers that the model
//! receives, one channel after the other.

use cells::format::Format;
use leptos::html::Canvas;
use leptos::prelude::*;
use leptos::web_sys::CanvasRenderingContext2d;

use crate::browser::abilities::may_play;
use crate::browser::canvas::{fit, size_of};
use crate::browser::clock::now_ms;
use crate::cells::frame::context::CellCx;
use crate::widgets::Grid;

/// How long all pixels are on their way, in milliseconds.
const FLIGHT_MS: f64 = 2_000.0;

/// The share of this time after which the last pixel leaves its square.
const LAST_LEAVES: f64 = 0.6;

/// Share of the height that the squares may take, and that of the row below them.
const SQUARES: f64 = 0.7;
const ROW: f64 = 0.18;

/// The squares, a row below them, and the button that sends the pixels from one to the other.
pub(crate) fn flight(cx: CellCx) -> AnyView {
    let canvas = NodeRef::<Canvas>::new();
    let size = size_of(canvas);
    let (vector, channels) = (cx.grid("vector"), cx.value("channels", Vec::new()));
    let is_row = RwSignal::new(false);
    let share = RwSignal::new(0.0);
    Effect::new(move |_| {
        size.track();
        let share = share.get();
        let Some((context, width, height)) = canvas.get().and_then(|canvas| fit(&canvas)) else {
            return;
        };
        context.clear_rect(0.0, 0.0, width, height);
        if let (Some(vector), Some(channels)) = (vector.get(), channels.get()) {
            paint(&context, (width, height), &vector, channels as usize, share);
        }
    });
    let is_flying = StoredValue::new(false);
    let send = move |_| {
        is_row.update(|is_row| *is_row = !*is_row);
        if !may_play() {
            share.set(f64::from(u8::from(is_row.get_untracked())));
        } else if !is_flying.get_value() {
            is_flying.set_value(true);
            fly(share, is_row, is_flying, now_ms());
        }
    };
    view! {
        <section class="panel patch-flight">
            <div class="row">
                <button type="button" class="button" data-flight="" on:click=send>
                    {move || if is_row.get() { "Back to the squares" } else { "Write the pixels in one row" }}
                </button>
                <span aria-live="polite">
                    {move || if is_row.get() {
                        view! { "One row of " {cx.num("width", &[], Format::Count)} " numbers" }.into_any()
                    } else {
                        view! { "One square for each channel: " {cx.num("channels", &[], Format::Count)} }.into_any()
                    }}
                </span>
            </div>
            <canvas node_ref=canvas aria-hidden="true" data-share=move || share.get().to_string()></canvas>
        </section>
    }
    .into_any()
}

/// Moves the pixels in each frame, towards where they were sent last, until they are there or the
/// view is gone.
fn fly(share: RwSignal<f64>, is_row: RwSignal<bool>, is_flying: StoredValue<bool>, last: f64) {
    request_animation_frame(move || {
        let (Some(is_row_now), Some(at)) = (is_row.try_get_untracked(), share.try_get_untracked())
        else {
            return;
        };
        let now = now_ms();
        let step = (now - last) / FLIGHT_MS;
        let next = if is_row_now { at + step } else { at - step }.clamp(0.0, 1.0);
        share.set(next);
        if next == f64::from(u8::from(is_row_now)) {
            is_flying.set_value(false);
        } else {
            fly(share, is_row, is_flying, now);
        }
    });
}

/// Draws every pixel where it is at this share of the flight: 0 in its square, 1 in the row.
fn paint(
    context: &CanvasRenderingContext2d,
    size: (f64, f64),
    vector: &Grid,
    channels: usize,
    share: f64,
) {
    let count = vector.values.len();
    for (n, &value) in vector.values.iter().enumerate() {
        let Some([x, y, width, height]) = place(n, (count, channels), size, share) else {
            return;
        };
        let level = 255.0 * value.clamp(0.0, 1.0);
        let own = n / (count / channels.max(1)).max(1);
        let [r, g, b] = [0, 1, 2].map(|channel| {
            // The squares of colours have their hue, so that the parts of the row are told apart.
            let is_dimmed = channels == 3 && channel != own;
            (if is_dimmed { level / 3.0 } else { level }) as u8
        });
        context.set_fill_style_str(&format!("rgb({r} {g} {b})"));
        // Edges on whole pixels of the screen, or the background would shine through between two.
        let (left, top) = (x.floor(), y.floor());
        context.fill_rect(
            left,
            top,
            (x + width).ceil() - left,
            (y + height).ceil() - top,
        );
    }
}

/// Left, top, width and height of the n-th of `count` pixels in `channels` squares; `None` where the
/// pixels make no squares.
fn place(
    n: usize,
    (count, channels): (usize, usize),
    (width, height): (f64, f64),
    share: f64,
) -> Option<[f64; 4]> {
    let of_channel = count.checked_div(channels).filter(|&pixels| pixels > 0)?;
    let side = of_channel.isqrt();
    let gap = 0.02 * width;
    let square = ((width + gap) / channels as f64 - gap).min(SQUARES * height);
    let pixel = square / side as f64;
    let within = n % of_channel;
    let from = [
        (n / of_channel) as f64 * (square + gap) + (within % side) as f64 * pixel,
        (within / side) as f64 * pixel,
        pixel,
        pixel,
    ];
    let bar = width / count as f64;
    let to = [
        n as f64 * bar,
        (1.0 - ROW) * height,
        // Narrower bars than a pixel of the screen would let the background through.
        bar.max(1.0),
        ROW * height,
    ];
    let leaves = LAST_LEAVES * n as f64 / count as f64;
    let flown = ((share - leaves) / (1.0 - LAST_LEAVES)).clamp(0.0, 1.0);
    let eased = flown * flown * (3.0 - 2.0 * flown);
    Some(std::array::from_fn(|k| from[k] + eased * (to[k] - from[k])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the start pixel y, x of a channel is y squares down and x across; at the end the n-th number
    /// of the vector is the n-th bar.
    #[test]
    fn pixels_leave_their_squares_and_end_in_the_order_of_the_vector() {
        let (kind, size) = ((48, 3), (600.0, 200.0));
        let at = |n: usize, share: f64| place(n, kind, size, share).unwrap();
        let [x, y, width, height] = at(16 + 4 * 2 + 3, 0.0);
        let [origin, top, ..] = at(16, 0.0);
        assert_eq!((width, height), (35.0, 35.0));
        assert_eq!((x - origin, y - top), (3.0 * 35.0, 2.0 * 35.0));
        for n in 0..48 {
            let [x, y, width, _] = at(n, 1.0);
            assert!((x - 12.5 * n as f64).abs() < 1e-9 && (width - 12.5).abs() < 1e-9);
            assert!((y - 164.0).abs() < 1e-9);
        }
    }

    #[test]
    fn nothing_is_drawn_outside_the_canvas() {
        for (count, channels) in [(4, 1), (768, 3), (12_288, 3)] {
            for share in [0.0, 0.3, 0.7, 1.0] {
                for n in 0..count {
                    let [x, y, width, height] =
                        place(n, (count, channels), (320.0, 160.0), share).unwrap();
                    assert!(x >= 0.0 && y >= 0.0 && x + width < 321.1 && y + height < 160.1);
                }
            }
        }
        assert_eq!(place(0, (0, 3), (320.0, 160.0), 0.0), None);
    }
}
