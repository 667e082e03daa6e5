//! Digits that somebody draws, read by the model that the lessons ship.

use super::{folder, output, run, text};
use std::path::Path;

/// Writes a picture of strokes from point to point, dark on light, as somebody would draw them.
fn draw(path: &Path, points: &[[f32; 2]]) {
    let (width, height, pen) = (180u32, 140u32, 6.0);
    let distance = |x: f32, y: f32| {
        let to_stroke = |ends: &[[f32; 2]]| {
            let ([ax, ay], [bx, by]) = (ends[0], ends[1]);
            let (dx, dy) = (bx - ax, by - ay);
            let along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy);
            let along = along.clamp(0.0, 1.0);
            (x - ax - along * dx).hypot(y - ay - along * dy)
        };
        points.windows(2).map(to_stroke).fold(f32::MAX, f32::min)
    };
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x as f32, y as f32)));
    let pixels: Vec<u8> = places
        .map(|(x, y)| (255.0 * (distance(x, y) - pen + 0.5).clamp(0.0, 1.0)) as u8)
        .collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn drawn_digits_are_read() {
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../public/models/digit-vit.safetensors"
    );
    let folder = folder("digits");
    let circle = |n: u8| {
        let (sin, cos) = (f32::from(n) / 20.0 * std::f32::consts::TAU).sin_cos();
        [100.0 + 25.0 * cos, 70.0 + 38.0 * sin]
    };
    let digits = [
        ("0", (0..=20).map(circle).collect()),
        ("1", vec![[60.0, 20.0], [52.0, 110.0]]),
        ("7", vec![[20.0, 30.0], [70.0, 28.0], [40.0, 105.0]]),
    ];
    for (name, points) in digits {
        let path = folder.join(format!("{name}.png"));
        draw(&path, &points);
        let found = output("classify", &[model, text(&path), "--top", "1"]);
        let (probability, label) = found.trim().split_once("  ").unwrap();
        assert_eq!(label, name, "{found}");
        assert!(probability.parse::<f32>().unwrap() > 0.5, "{found}");
    }
    let blank = folder.join("blank.png");
    draw(&blank, &[[-90.0, -90.0], [-91.0, -91.0]]);
    let (code, _, messages) = run("classify", &[model, text(&blank)]);
    assert!(
        code == 1 && messages.contains("ink must be some"),
        "{messages}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}
