//! What is on a picture: the command `classify`.

use super::arguments::{Arguments, Failure, number, say, start_threads};
use super::files;
use engine::kernel::threads;
use engine::ndarray::Array3;
use engine::open::{Labels, OpenedModel, top};
use engine::parameters::MatrixForm;
use engine::picture::from_rgb8;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const HELP: &str = "\
Says what is in a picture, by a ViT or a Swin V2.

usage: notebook classify MODEL PICTURE... [OPTIONS]

A model of drawings, such as public/models/digit-vit.safetensors, says which digit is drawn.

MODEL is a .safetensors that says its sizes or has its config.json beside it, or a folder with one. PICTURE is a PNG or a JPEG. How it is scaled and cropped
is read from preprocessor_config.json or config.json.

  --labels FILE    names of the classes: a JSON list, or one a line
  --top N          so many classes (default 5)
  --type TYPE      keeps matrices in q8_0, q4_0, f32 or another type
  --as-stored      keeps matrices as the file has them, also where that is slow
  --threads N      (default: as many as the machine has cores)

Exit code 1 where a file cannot be used, 2 for wrong arguments.";

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let (mut labels, mut count) = (None, 5);
    let mut cores = None;
    let mut form = MatrixForm::default();
    let words = arguments.read(|name, value| {
        match name {
            "labels" => labels = Some(PathBuf::from(value()?)),
            "top" => count = number(name, &value()?)?,
            "type" => form = files::kind(&value()?)?.into(),
            "as-stored" => form = MatrixForm::Stored,
            "threads" => cores = Some(number(name, &value()?)?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let [model, pictures @ ..] = words.as_slice() else {
        return Err(Failure::Usage("MODEL is missing".to_owned()));
    };
    if pictures.is_empty() {
        return Err(Failure::Usage("PICTURE is missing".to_owned()));
    }
    start_threads(cores)?;
    let files = files::files(Path::new(model), None)?;
    let opened = files::model(&files, form)?;
    let (OpenedModel::Vit(_) | OpenedModel::Swin(_), Some(preparation)) =
        (&opened.model, &opened.preparation)
    else {
        return Err(files::wrong_kind(&files, &opened.model));
    };
    let labels = match labels {
        Some(path) => {
            let text = String::from_utf8(files::read(&path)?)
                .map_err(|error| Failure::file(&path, error))?;
            Some(Labels::parse(&text).map_err(|error| Failure::file(&path, error))?)
        }
        None => opened.labels,
    };
    for picture in pictures {
        let path = Path::new(picture);
        let image = preparation.apply(read(path)?.view())?;
        let start = Instant::now();
        let logits = match &opened.model {
            OpenedModel::Vit(model) => model.forward(image.view(), None)?,
            OpenedModel::Swin(model) => model.forward(image.view(), None)?,
            other => return Err(files::wrong_kind(&files, other)),
        };
        eprintln!(
            "{picture}: {:.0} ms, kernels {}, {} threads",
            start.elapsed().as_secs_f64() * 1e3,
            engine::kernel::chosen(),
            threads::count()
        );
        for (class, probability) in top(&logits, count) {
            let name = labels
                .as_ref()
                .map_or_else(|| format!("class {class}"), |labels| labels.name(class));
            say!("{probability:.4}  {name}");
        }
    }
    Ok(())
}

/// A picture file, `[3, H, W]` from 0 to 1; transparency is laid on white.
fn read(path: &Path) -> Result<Array3<f32>, Failure> {
    let bytes = files::read(path)?;
    let wrong = |error: &dyn std::fmt::Display| Failure::file(path, error);
    let (pixels, channels, width, height) = if bytes.starts_with(b"\x89PNG") {
        let mut decoder = png::Decoder::new(Cursor::new(&bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(|error| wrong(&error))?;
        let size = reader
            .output_buffer_size()
            .ok_or_else(|| wrong(&"is too large"))?;
        let mut pixels = vec![0; size];
        let info = reader
            .next_frame(&mut pixels)
            .map_err(|error| wrong(&error))?;
        pixels.truncate(info.buffer_size());
        (
            pixels,
            info.color_type.samples(),
            info.width as usize,
            info.height as usize,
        )
    } else if bytes.starts_with(&[0xff, 0xd8]) {
        let mut decoder = jpeg_decoder::Decoder::new(Cursor::new(&bytes));
        let pixels = decoder.decode().map_err(|error| wrong(&error))?;
        let info = decoder.info().ok_or_else(|| wrong(&"has no picture"))?;
        let channels = match info.pixel_format {
            jpeg_decoder::PixelFormat::L8 => 1,
            jpeg_decoder::PixelFormat::RGB24 => 3,
            other => return Err(wrong(&format!("pixels of the form {other:?} are not read"))),
        };
        (
            pixels,
            channels,
            usize::from(info.width),
            usize::from(info.height),
        )
    } else {
        return Err(wrong(&"expected a PNG or a JPEG"));
    };
    let rgb: Vec<u8> = pixels
        .chunks_exact(channels)
        .flat_map(|pixel| {
            let white = |value: u8, alpha: u8| {
                let alpha = u32::from(alpha);
                ((u32::from(value) * alpha + 255 * (255 - alpha) + 127) / 255) as u8
            };
            match *pixel {
                [grey] => [grey; 3],
                [grey, alpha] => [white(grey, alpha); 3],
                [red, green, blue, alpha] => [red, green, blue].map(|value| white(value, alpha)),
                [red, green, blue, ..] => [red, green, blue],
                [] => [0; 3],
            }
        })
        .collect();
    Ok(from_rgb8(&rgb, width, height)?)
}
