//! The camera of the device: asked for, shown, and switched off again.

use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, DomException, File, FilePropertyBag, HtmlCanvasElement, HtmlVideoElement, MediaDevices,
    MediaStream, MediaStreamConstraints, MediaStreamTrack,
};

use super::{canvas, dom};

/// The name of a picture that the camera took.
const NAME: &str = "camera.png";

/// A camera that is on. It is switched off when this is dropped.
pub(crate) struct Camera(MediaStream);

impl Drop for Camera {
    fn drop(&mut self) {
        for track in self.0.get_tracks().iter() {
            if let Ok(track) = track.dyn_into::<MediaStreamTrack>() {
                track.stop();
            }
        }
    }
}

impl Camera {
    /// Asks for a camera; the browser asks the reader.
    ///
    /// # Errors
    /// A sentence for the reader.
    pub(crate) async fn ask() -> Result<Self, String> {
        let devices = devices().ok_or(
            "This browser gives this page no camera: it does so on secure pages (https) only. Choose a file instead.",
        )?;
        let constraints = MediaStreamConstraints::new();
        constraints.set_video(&true.into());
        let asked = devices.get_user_media_with_constraints(&constraints);
        let stream = match asked {
            Ok(asked) => JsFuture::from(asked).await,
            Err(error) => Err(error),
        };
        let stream = stream.map_err(|error| refusal(&error).to_owned())?;
        stream
            .dyn_into()
            .map(Self)
            .map_err(|_| refusal(&JsValue::NULL).to_owned())
    }

    /// Shows what it sees.
    pub(crate) async fn show(&self, video: &HtmlVideoElement) {
        video.set_src_object(Some(&self.0));
        if let Ok(playing) = video.play() {
            let _ = JsFuture::from(playing).await;
        }
    }
}

/// The picture that a video shows, as a file; `None` before it shows one.
pub(crate) async fn picture(video: &HtmlVideoElement) -> Option<File> {
    let (width, height) = (video.video_width(), video.video_height());
    if width == 0 || height == 0 {
        return None;
    }
    let frame: HtmlCanvasElement = dom::document()?
        .create_element("canvas")
        .ok()?
        .dyn_into()
        .ok()?;
    frame.set_width(width);
    frame.set_height(height);
    let context = canvas::context(&frame)?;
    context
        .draw_image_with_html_video_element(video, 0.0, 0.0)
        .ok()?;
    let blob = js_sys::Promise::new(&mut |done, _| {
        let give = Closure::once_into_js(move |blob: JsValue| {
            let _ = done.call1(&JsValue::NULL, &blob);
        });
        let _ = frame.to_blob(give.unchecked_ref());
    });
    let blob: Blob = JsFuture::from(blob).await.ok()?.dyn_into().ok()?;
    let options = FilePropertyBag::new();
    options.set_type("image/png");
    File::new_with_blob_sequence_and_options(&js_sys::Array::of1(&blob), NAME, &options).ok()
}

/// The cameras and microphones; a page that is not secure has none.
fn devices() -> Option<MediaDevices> {
    let navigator = dom::window()?.navigator();
    let found = js_sys::Reflect::get(&navigator, &"mediaDevices".into()).ok()?;
    found.dyn_into().ok()
}

/// Why the camera is not on.
fn refusal(error: &JsValue) -> &'static str {
    let name = error.dyn_ref::<DomException>().map(DomException::name);
    match name.as_deref() {
        Some("NotAllowedError" | "SecurityError") => {
            "The camera was not allowed. Allow it for this page in the browser\u{2019}s settings, or choose a file instead."
        }
        Some("NotFoundError" | "OverconstrainedError") => {
            "No camera was found on this device. Choose a file instead."
        }
        Some("NotReadableError" | "AbortError") => {
            "The camera does not start: another program may be using it. Choose a file instead."
        }
        _ => "The camera does not start. Choose a file instead.",
    }
}
