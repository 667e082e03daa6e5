//! What a served page shows where the browser will draw a heat map on a canvas: the same colours, as
//! one small picture for each of them.

use super::heat_map::Heat;

/// A colour of the style sheet, and how much of it each cell gets, from 0 to 255.
#[cfg(any(test, not(target_arch = "wasm32")))]
type Layer = (&'static str, Vec<u8>);

/// The layers of a map, the lowest first. A hidden cell, and one without a finite value, gets nothing
/// of any.
#[cfg(any(test, not(target_arch = "wasm32")))]
fn layers(shares: &[Option<f64>]) -> Vec<Layer> {
    let level = |share: f64| (255.0 * share.clamp(0.0, 1.0)).round() as u8;
    let layer = |of: fn(f64) -> f64| -> Vec<u8> {
        let levels = shares.iter().map(|share| share.map_or(0, |s| level(of(s))));
        levels.collect()
    };
    let all = [
        ("--zero", layer(|_| 1.0)),
        ("--full", layer(|share| share)),
        ("--c-minus", layer(|share| -share)),
    ];
    let is_seen = |(_, levels): &Layer| levels.iter().any(|&level| level > 0);
    all.into_iter().filter(is_seen).collect()
}

/// The map as SVG that fills its box.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn markup(heat: Heat) -> String {
    use std::fmt::Write;

    use leptos::prelude::*;

    use super::ids::fresh;
    use crate::browser::canvas::grey_data_url;

    let ends = heat.ends.get();
    let hidden = heat.hidden.get();
    heat.grid.with(|grid| {
        let Some(grid) = grid else {
            return String::new();
        };
        let (rows, cols) = (grid.rows, grid.cols);
        let share = |(n, &value): (usize, &f64)| {
            let is_hidden = heat.palette.hides(value) || hidden.contains(&(n / cols, n % cols));
            (value.is_finite() && !is_hidden).then(|| heat.palette.share(value, ends))
        };
        let shares: Vec<Option<f64>> = grid.values.iter().enumerate().map(share).collect();
        let area = format!("width=\"{cols}\" height=\"{rows}\"");
        let mut svg = format!(
            "<svg viewBox=\"0 0 {cols} {rows}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
        );
        for (colour, levels) in layers(&shares) {
            let id = fresh("layer");
            // Writing to a text cannot fail.
            let _ = write!(
                svg,
                "<mask id=\"{id}\"><image {area} preserveAspectRatio=\"none\" href=\"{}\"/></mask>\
                 <rect {area} style=\"fill:var({colour})\" mask=\"url(#{id})\"/>",
                grey_data_url(&levels, cols, rows)
            );
        }
        svg + "</svg>"
    })
}

/// The browser draws on the canvas itself.
#[cfg(target_arch = "wasm32")]
pub(super) fn markup(_: Heat) -> String {
    String::new()
}

#[cfg(test)]
mod tests {
    use super::layers;

    #[test]
    fn each_colour_is_a_layer_and_hidden_cells_have_none() {
        let found = layers(&[Some(0.0), Some(1.0), None, Some(0.5)]);
        let expected = [
            ("--zero", vec![255, 255, 0, 255]),
            ("--full", vec![0, 255, 0, 128]),
        ];
        assert_eq!(found, expected);
        let signed = layers(&[Some(-1.0), Some(0.0)]);
        assert_eq!(
            signed,
            [("--zero", vec![255, 255]), ("--c-minus", vec![255, 0])]
        );
        assert_eq!(layers(&[None]), []);
    }
}
