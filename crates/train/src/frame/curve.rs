//! The picture of a training: losses over steps, and the score beside them, as SVG.

use super::log::Line;
use super::subject::Recipe;
use crate::TrainError;
use plotters::prelude::*;

const SIZE: (u32, u32) = (720, 400);

/// Batches differ more than the model changes from step to step: the curve is the mean over so many
/// steps.
const WINDOW: usize = 50;

/// Draws the curve of a log.
pub(super) fn draw(name: &str, recipe: &Recipe, lines: &[Line]) -> Result<String, TrainError> {
    let mut svg = String::new();
    let wrong = |error: &dyn std::fmt::Display| TrainError::Picture(error.to_string());
    draw_on(&mut svg, name, recipe, lines).map_err(|error| wrong(&error))?;
    Ok(svg)
}

fn draw_on(
    svg: &mut String,
    name: &str,
    recipe: &Recipe,
    lines: &[Line],
) -> Result<(), Box<dyn std::error::Error>> {
    let (mut steps, mut held_out, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        match *line {
            Line::Step { step, loss, .. } => steps.push((step as f64, f64::from(loss))),
            Line::Evaluation {
                step,
                held_out_loss,
                score,
            } => {
                held_out.push((step as f64, held_out_loss));
                scores.push((step as f64, score));
            }
        }
    }
    let steps = smooth(&steps);
    let last = steps.last().map_or(1.0, |point| point.0).max(1.0);
    let losses = steps.iter().chain(&held_out).map(|point| point.1);
    let highest = losses.fold(0.0, f64::max).max(1e-6);
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(
            format!("{name}: loss and {}", recipe.score),
            ("sans-serif", 16),
        )
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .right_y_label_area_size(48)
        .build_cartesian_2d(0.0..last, 0.0..highest * 1.05)?
        .set_secondary_coord(0.0..last, range(&scores));
    chart
        .configure_mesh()
        .x_desc("steps")
        .y_desc("loss, nats")
        .light_line_style(TRANSPARENT)
        .draw()?;
    chart
        .configure_secondary_axes()
        .y_desc(recipe.score)
        .draw()?;
    let [blue, red, green] = [
        RGBColor(31, 119, 180),
        RGBColor(214, 39, 40),
        RGBColor(44, 130, 44),
    ];
    let curve = |points: Vec<(f64, f64)>, colour: RGBColor| {
        std::iter::once(PathElement::new(points, colour.stroke_width(2)))
    };
    let key = |colour: RGBColor| {
        move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2))
    };
    chart
        .draw_series(curve(steps, blue))?
        .label(format!("training, mean of {WINDOW} steps"))
        .legend(key(blue));
    chart
        .draw_series(curve(held_out, red))?
        .label("held out")
        .legend(key(red));
    chart
        .draw_secondary_series(curve(scores, green))?
        .label(recipe.score)
        .legend(key(green));
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .position(SeriesLabelPosition::MiddleRight)
        .draw()?;
    root.present()?;
    Ok(())
}

/// The least and largest score, a little apart where they are one.
fn range(scores: &[(f64, f64)]) -> std::ops::Range<f64> {
    let values = || scores.iter().map(|point| point.1);
    let (low, high) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(f64::NEG_INFINITY, f64::max),
    );
    match low < high {
        true => low..high,
        false if low.is_finite() => low - 0.5..low + 0.5,
        false => 0.0..1.0,
    }
}

/// The mean of each window of steps, at its end.
fn smooth(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mean = |window: &[(f64, f64)]| {
        let total: f64 = window.iter().map(|point| point.1).sum();
        let end = window.last().map_or(0.0, |point| point.0);
        (end, total / window.len() as f64)
    };
    points.chunks(WINDOW).map(mean).collect()
}
