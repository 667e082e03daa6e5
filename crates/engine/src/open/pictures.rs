//! The preparation of a picture for a model, and the names of the model's classes.
//!
//! ```text
//! short side to `resize`, square of `crop` pixels from the middle, (x − mean) / std of each channel     [3, H, W] -> [3, S, S]
//! ```

use ndarray::{Array1, Array3, ArrayView3, s};
use serde::Deserialize;
use serde_json::Value;

use crate::drawing;
use crate::error::{EngineError, Result};
use crate::picture::{Filter, resize_by};

/// The preparation of a picture for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// The short side after scaling, in pixels; 0 means that both sides become `crop`, for a
    /// picture of any shape.
    pub resize: usize,
    /// The side of the square that is kept, in pixels.
    pub crop: usize,
    /// The filter by which the picture is scaled.
    pub filter: Filter,
    /// Whether it is a drawing of one channel, which is centred ([`drawing`]) instead of scaled and
    /// cropped.
    pub drawing: bool,
    /// The numbers that are subtracted from red, green and blue.
    pub mean: [f32; 3],
    /// The numbers by which the differences are divided.
    pub std: [f32; 3],
}

impl Preparation {
    /// ViT's preparation: both sides scaled to `side`, 0.5 for mean and standard deviation.
    pub fn usual(side: usize) -> Self {
        Self {
            resize: 0,
            crop: side,
            filter: Filter::Bilinear,
            drawing: false,
            mean: [0.5; 3],
            std: [0.5; 3],
        }
    }

    /// The colours of a prepared picture, the inverse of the normalisation: red, green and blue of
    /// each pixel, row by row.
    pub fn colours(&self, prepared: ArrayView3<'_, f32>) -> Vec<u8> {
        // prepared [3, H, W], of a drawing [1, H, W] -> [H · W · 3]
        let (channels, height, width) = prepared.dim();
        let mut rgb = Vec::with_capacity(height * width * 3);
        for row in 0..height {
            for col in 0..width {
                let value = |c: usize| {
                    prepared[[c.min(channels - 1), row, col]] * self.std[c] + self.mean[c]
                };
                rgb.extend([0, 1, 2].map(|c| (value(c) * 255.0).round() as u8));
            }
        }
        rgb
    }

    /// The preparation in `preprocessor_config.json` or in timm's part of `config.json`, for a
    /// model of pictures with this side and number of channels. Values that are missing are ViT's:
    /// no cropping, 0.5 for mean and standard deviation.
    pub(super) fn from_json(
        file: &Value,
        side: usize,
        channels: usize,
    ) -> std::result::Result<Self, String> {
        let given = |names: &[&str]| {
            let mut values = names.iter().map(|name| &file[*name]);
            values.find(|value| !value.is_null())
        };
        let whole = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        let three = |names: &[&str]| match given(names) {
            None => Ok([0.5; 3]),
            Some(value) => <[f32; 3]>::deserialize(value)
                .map_err(|error| format!("{}: {value} ({error})", names[0])),
        };
        let crops = file["do_center_crop"].as_bool().unwrap_or(true);
        let cropped = given(&["crop", "crop_size"]).filter(|_| crops);
        let crop = cropped.and_then(|crop| whole(crop).or_else(|| whole(&crop["height"])));
        let short =
            given(&["resize_short_side"]).or_else(|| given(&["size"])?.get("shortest_edge"));
        let part = file["crop_pct"]
            .as_f64()
            .filter(|part| *part > 0.0 && *part <= 1.0);
        let crop = crop.unwrap_or(side);
        let found = Self {
            resize: short
                .and_then(whole)
                .or_else(|| Some((crop as f64 / part?).floor() as usize))
                .unwrap_or(0),
            crop,
            filter: match (file["interpolation"].as_str(), file["resample"].as_u64()) {
                (Some("bicubic"), _) | (None, Some(3)) => Filter::Bicubic,
                _ => Filter::Bilinear,
            },
            drawing: file["drawing"].as_bool().unwrap_or(false),
            mean: three(&["mean", "image_mean"])?,
            std: three(&["std", "image_std"])?,
        };
        let fits = (1..=4096).contains(&found.crop)
            && (found.resize == 0 || (found.crop..=8192).contains(&found.resize));
        let (expected, has_side) = match found.drawing {
            true => (1, found.crop == drawing::SIDE),
            false => (3, true),
        };
        if channels != expected || !has_side {
            return Err(format!("{channels} channels with {found:?}"));
        }
        if !fits || found.std.iter().any(|&std| std <= 0.0) {
            return Err(format!("{found:?}"));
        }
        Ok(found)
    }

    /// The picture, prepared for the model.
    ///
    /// # Errors
    /// When it has another number of channels than three, or no pixel, or a drawing has no ink.
    pub fn apply(&self, image: ArrayView3<'_, f32>) -> Result<Array3<f32>> {
        // image [3, H, W], from 0 to 1 -> [3, crop, crop], of a drawing [1, crop, crop]
        if self.drawing {
            let digit = drawing::centred(drawing::ink(image).view())?;
            return Ok(digit.mapv(|x| (x - self.mean[0]) / self.std[0]));
        }
        let (channels, height, width) = image.dim();
        if channels != 3 || height == 0 || width == 0 {
            let found = format!("{:?}", image.shape());
            return Err(EngineError::shape("prepare", "a picture [3, H, W]", found));
        }
        let (rows, cols) = match self.resize {
            0 => (self.crop, self.crop),
            short => {
                let long = |long: usize, side: usize| (short * long / side).max(short);
                if height <= width {
                    (short, long(width, height))
                } else {
                    (long(height, width), short)
                }
            }
        };
        let scaled = resize_by(image, rows, cols, self.filter)?;
        let (top, left) = ((rows - self.crop) / 2, (cols - self.crop) / 2);
        let mut out = scaled
            .slice(s![.., top..top + self.crop, left..left + self.crop])
            .to_owned();
        for (mut plane, (mean, std)) in out.outer_iter_mut().zip(self.mean.iter().zip(self.std)) {
            plane.mapv_inplace(|x| (x - mean) / std);
        }
        Ok(out)
    }
}

/// The names of classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels(Vec<String>);

impl Labels {
    /// The names under `id2label` in `config.json`.
    pub(super) fn from_config(config: &Value) -> Option<Self> {
        let names = config["id2label"].as_object()?;
        let name = |n: usize| names.get(&n.to_string())?.as_str().map(str::to_owned);
        (0..names.len()).map(name).collect::<Option<_>>().map(Self)
    }

    /// Reads a JSON list of texts, or one name a line.
    ///
    /// # Errors
    /// When a file that begins with `[` is not a list of texts.
    pub fn parse(file: &str) -> Result<Self> {
        let list = if file.trim_start().starts_with('[') {
            serde_json::from_str(file)
                .map_err(|error| EngineError::value("labels", "file", "a list of texts", error))?
        } else {
            file.lines().map(str::to_owned).collect()
        };
        Ok(Self(list))
    }

    /// The name of a class; `class 3` where it has none.
    pub fn name(&self, class: usize) -> String {
        let known = self.0.get(class).cloned();
        known.unwrap_or_else(|| format!("class {class}"))
    }
}

/// The most probable classes: softmax of logits, largest first.
pub fn top(logits: &Array1<f32>, count: usize) -> Vec<(usize, f32)> {
    // logits [V] -> at most `count` of (class, probability)
    let mut probabilities = logits.to_vec();
    crate::kernel::softmax(&mut probabilities);
    let mut all: Vec<(usize, f32)> = probabilities.into_iter().enumerate().collect();
    let order = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    // Of a large vocabulary only the few that are asked for are put in order.
    if count < all.len() {
        all.select_nth_unstable_by(count, order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_preparation_is_read_from_files() {
        let hugging_face = json!({
            "size": {"height": 224, "width": 224}, "image_mean": [0.4, 0.5, 0.6], "image_std": [0.1, 0.2, 0.3], "resample": 2,
        });
        let expected = Preparation {
            resize: 0,
            crop: 224,
            filter: Filter::Bilinear,
            drawing: false,
            mean: [0.4, 0.5, 0.6],
            std: [0.1, 0.2, 0.3],
        };
        assert_eq!(Preparation::from_json(&hugging_face, 224, 3), Ok(expected));
        let dinov2 = json!({"size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}, "resample": 3});
        let found = Preparation::from_json(&dinov2, 518, 3).unwrap();
        assert_eq!(
            (found.resize, found.crop, found.filter),
            (256, 224, Filter::Bicubic)
        );
        let timm = json!({"crop_pct": 0.9, "interpolation": "bicubic"});
        assert_eq!(Preparation::from_json(&timm, 224, 3).unwrap().resize, 248);
        for wrong in [
            json!({"mean": [0.5]}),
            json!({"std": [0, 1, 1]}),
            json!({"crop": 100_000}),
        ] {
            assert!(Preparation::from_json(&wrong, 224, 3).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_middle_is_kept_and_normalised() {
        let way = Preparation {
            resize: 4,
            crop: 2,
            filter: Filter::Bilinear,
            drawing: false,
            mean: [0.5; 3],
            std: [0.25, 0.5, 1.0],
        };
        let image = Array3::from_shape_fn((3, 4, 8), |(_, _, x)| x as f32 / 8.0);
        let found = way.apply(image.view()).unwrap();
        assert_eq!(found.dim(), (3, 2, 2));
        assert_eq!(found[[0, 0, 0]], (3.0 / 8.0 - 0.5) / 0.25);
        assert_eq!(found[[2, 1, 1]], 0.0);
        // Back to the columns 3 and 4 of 8.
        assert_eq!(way.colours(found.view())[..6], [96, 96, 96, 128, 128, 128]);
        assert!(way.apply(Array3::zeros((1, 4, 4)).view()).is_err());
        assert!(way.apply(Array3::zeros((3, 0, 4)).view()).is_err());
    }

    #[test]
    fn a_drawing_is_centred() {
        let drawing = json!({"drawing": true, "mean": [0, 0, 0], "std": [1, 1, 1]});
        let way = Preparation::from_json(&drawing, 28, 1).unwrap();
        let mut page = Array3::ones((3, 60, 40));
        page.slice_mut(s![.., 5..45, 10..12]).fill(0.0);
        let found = way.apply(page.view()).unwrap();
        assert_eq!((found.dim(), found.sum()), ((1, 28, 28), 20.0));
        let colours = way.colours(found.view());
        assert_eq!(
            colours.iter().filter(|&&value| value == 255).count(),
            3 * 20
        );
        assert!(way.apply(Array3::ones((3, 60, 40)).view()).is_err());
        for (side, channels) in [(28, 3), (32, 1)] {
            assert!(Preparation::from_json(&drawing, side, channels).is_err());
        }
        assert!(Preparation::from_json(&json!({}), 28, 1).is_err());
    }

    #[test]
    fn classes_have_names_and_an_order() {
        let labels = Labels::from_config(&json!({"id2label": {"0": "cat", "1": "dog"}})).unwrap();
        assert_eq!(
            (labels.name(1), labels.name(2)),
            ("dog".to_owned(), "class 2".to_owned())
        );
        assert_eq!(
            Labels::parse("[\"a\", \"b\"]").unwrap(),
            Labels::parse("a\nb").unwrap()
        );
        assert!(Labels::parse("[1, 2]").is_err());
        let best = top(&ndarray::array![0.0, 2.0, 1.0, 2.0], 3);
        assert_eq!(
            best.iter().map(|(class, _)| *class).collect::<Vec<_>>(),
            [1, 3, 2]
        );
    }
}
