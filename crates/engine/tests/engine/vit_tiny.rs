//! ViT-Tiny/16, trained on ImageNet, against stored logits of six pictures (a float64 forward in
//! numpy).

use engine::model::vit::{Config, Vit};
use engine::ndarray::Array3;
use engine::picture::from_rgb8;
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

use crate::support::safetensors;

/// The tolerance that the project promises for these logits.
const LOGITS_TOLERANCE: f32 = 2e-4;

/// A picture with values from −1 to 1.
fn picture(path: &Path) -> Array3<f32> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    bytes.truncate(info.buffer_size());
    let image = from_rgb8(&bytes, info.width as usize, info.height as usize).unwrap();
    (image - 0.5) / 0.5
}

#[test]
fn logits_are_the_stored_ones() {
    let Some(folder) = skip::shared("data/vit-tiny-patch16-224") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("config.json")).unwrap();
    let numbers: Value = serde_json::from_str(&text).unwrap();
    let mut config = Config::from_keys(&|key| numbers[key].as_f64()).unwrap();
    config.norm_eps = numbers["layer_norm_eps"].as_f64().unwrap() as f32;
    let mut source = safetensors::parameters(&folder.join("model.safetensors"));
    let model = Vit::load(config, &mut source).unwrap();

    let expected = safetensors::tensors(&folder.join("reference/logits.safetensors"));
    assert_eq!(expected.len(), 6);
    for (name, expected) in expected {
        let image = picture(&folder.join(format!("reference/{name}-224.png")));
        let start = Instant::now();
        let found = model.forward(image.view(), None).unwrap();
        let elapsed = start.elapsed();
        assert_eq!(found.shape(), expected.shape());
        let differences = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        let worst = differences.fold(0.0f32, |a, b| if a.is_nan() || a > b { a } else { b });
        println!("{name}: {elapsed:?}, largest difference {worst:e}");
        assert!(worst < LOGITS_TOLERANCE, "{name}: {worst}");
    }
}
