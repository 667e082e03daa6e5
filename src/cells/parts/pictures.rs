//! Pictures among the results of a cell.

use std::sync::Arc;

use cells::Computation;
use cells::input::Pixels;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;

/// A picture of the result, as bytes for the canvas.
pub(crate) fn seen(cx: CellCx, tensor: &'static str) -> Signal<Option<Arc<Pixels>>> {
    let computed = cx.computed();
    Memo::new(move |_| computed.with(|c| pixels(c.as_ref()?, tensor).map(Arc::new))).into()
}

fn pixels(computation: &Computation, tensor: &str) -> Option<Pixels> {
    let picture = &computation.tensor(tensor)?.values;
    let &[channels, height, width] = picture.shape() else {
        return None;
    };
    let byte =
        |c: usize, y: usize, x: usize| (picture[[c.min(channels - 1), y, x]] * 255.0).round() as u8;
    let place = |at: usize| (at / width, at % width);
    let rgb = (0..height * width).flat_map(|at| {
        let (y, x) = place(at);
        [byte(0, y, x), byte(1, y, x), byte(2, y, x)]
    });
    Some(Pixels {
        width,
        height,
        rgb: rgb.collect(),
    })
}
