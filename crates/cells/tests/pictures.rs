//! The pictures that reference values were computed from are the pictures of the site.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use std::io::BufReader;
use std::path::PathBuf;

use cells::input::Pixels;

fn decode(file: &str) -> Pixels {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    let reader = BufReader::new(
        std::fs::File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())),
    );
    let mut reader = png::Decoder::new(reader).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    assert_eq!(
        (info.color_type, info.bit_depth),
        (png::ColorType::Rgb, png::BitDepth::Eight),
        "{file}"
    );
    rgb.truncate(info.buffer_size());
    Pixels {
        width: info.width as usize,
        height: info.height as usize,
        rgb,
    }
}

/// `REFRESH_PICTURES=1 cargo test -p cells --test pictures` writes the file anew after a change of
/// the drawing; the scripts of tests/golden/lessons must then run again.
#[test]
fn the_drawn_picture_is_the_one_that_pytorch_saw() {
    let file = "tests/golden/lessons/harbour.png";
    let drawn = cells::picture::draw("harbour").unwrap();
    if std::env::var_os("REFRESH_PICTURES").is_some() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(file);
        let mut encoder = png::Encoder::new(
            std::fs::File::create(path).unwrap(),
            drawn.width as u32,
            drawn.height as u32,
        );
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        encoder
            .write_header()
            .unwrap()
            .write_image_data(&drawn.rgb)
            .unwrap();
    }
    assert!(
        decode(file) == drawn,
        "{file} differs from what picture.rs draws"
    );
}

#[test]
fn every_photograph_is_there_in_the_size_that_the_lessons_use() {
    for name in cells::picture::SAMPLES {
        if let Some(file) = cells::picture::file(name) {
            let pixels = decode(&format!("public/pictures/{file}"));
            assert_eq!((pixels.width, pixels.height), (224, 224), "{name}");
        }
    }
}
