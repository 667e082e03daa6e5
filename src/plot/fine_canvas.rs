//! A canvas on which plotters, which takes whole numbers, draws in parts of a device pixel.

use ::plot::FINE;
use cells::symbols::plain;
use leptos::web_sys::HtmlCanvasElement;
use plotters::prelude::DrawingBackend;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind,
};
use plotters_canvas::CanvasBackend;

/// The backend of a canvas whose context is scaled down by [`FINE`].
pub(crate) struct FineCanvas(CanvasBackend);

/// The crate does not export the name of its error.
type CanvasError = <CanvasBackend as DrawingBackend>::ErrorType;

type Drawn = Result<(), DrawingErrorKind<CanvasError>>;

impl FineCanvas {
    /// The backend of a canvas; `None` where the browser has no context for it.
    pub(crate) fn new(canvas: HtmlCanvasElement) -> Option<Self> {
        CanvasBackend::with_canvas_object(canvas).map(Self)
    }
}

// What is left out here plotters draws with these.
impl DrawingBackend for FineCanvas {
    type ErrorType = CanvasError;

    fn get_size(&self) -> (u32, u32) {
        let (width, height) = self.0.get_size();
        (width * FINE, height * FINE)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        self.0.ensure_prepared()
    }

    fn present(&mut self) -> Drawn {
        self.0.present()
    }

    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> Drawn {
        self.0.draw_pixel(point, colour)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        self.0.draw_rect(upper_left, bottom_right, style, fill)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.0.draw_path(path, style)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        self.0.draw_circle(centre, radius, style, fill)
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        position: BackendCoord,
    ) -> Drawn {
        // A canvas has no subscripts.
        self.0.draw_text(&plain(text), style, position)
    }
}
