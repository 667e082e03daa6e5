//! Heat maps as SVG text.

use cells::format::{Format, number};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::export::{Drawing, finish};
use super::frame::{Failed, TEXT, rgb, text};
use super::theme::Theme;
use crate::display::{Domain, Grid, Palette, ink_on};

/// Up to this many cells the values are printed in them.
const NUMBER_CELLS: usize = 144;
/// Widest map in CSS pixels.
const WIDEST: usize = 1024;

/// Sizes of one exported heat map in CSS pixels.
struct Layout {
    left: u32,
    top: u32,
    cell: (u32, u32),
    numbers: bool,
}

impl Layout {
    fn new(grid: &Grid) -> Self {
        let numbers = grid.rows * grid.cols <= NUMBER_CELLS;
        let widest = |labels: &[String]| {
            labels
                .iter()
                .map(|l| l.chars().count())
                .max()
                .unwrap_or(0)
                .min(24) as f64
        };
        let letter = 0.58 * TEXT;
        let head = (widest(&grid.col_labels) * letter) as u32 + 12;
        let side = (WIDEST / grid.cols.max(grid.rows).max(1)).clamp(1, 24) as u32;
        let cell = if numbers {
            (head.max(60), 30)
        } else {
            (side, side)
        };
        // Labels of narrow columns would run into each other; the rows say enough.
        let top = if grid.col_labels.is_empty() || cell.0 < head {
            8
        } else {
            28
        };
        let left = if cell.1 < 16 {
            8
        } else {
            (widest(&grid.row_labels) * letter) as u32 + 14
        };
        Self {
            left,
            top,
            cell,
            numbers,
        }
    }

    fn size(&self, grid: &Grid) -> (u32, u32) {
        let width = self.left + self.cell.0 * grid.cols as u32 + 12;
        (
            width.max(240),
            self.top + self.cell.1 * grid.rows as u32 + 48,
        )
    }
}

/// A heat map with labels, values where there are few, and its colour scale.
pub fn heat_map_svg(grid: &Grid, palette: Palette, domain: Domain) -> Drawing {
    let layout = Layout::new(grid);
    finish(
        layout.size(grid),
        &grid.source,
        Theme::current(),
        |root, theme| paint(root, theme, grid, palette, domain, &layout).is_ok(),
    )
}

fn paint<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    theme: &Theme,
    grid: &Grid,
    palette: Palette,
    domain: Domain,
    layout: &Layout,
) -> Result<(), Failed<DB>> {
    root.fill(&rgb(theme.sheet))?;
    let ends = domain.resolve(grid);
    let px = |css: u32| (f64::from(css) * theme.scale) as i32;
    let (w, h) = layout.cell;
    for i in 0..grid.rows as u32 {
        for j in 0..grid.cols as u32 {
            let Some(value) = grid.at(i as usize, j as usize) else {
                continue;
            };
            let (x, y) = (px(layout.left + j * w), px(layout.top + i * h));
            let centre = (x + px(w) / 2, y + px(h) / 2);
            let colour = if value.is_finite() {
                palette.of(value, ends)
            } else {
                theme.rule
            };
            root.draw(&Rectangle::new(
                [(x, y), (x + px(w), y + px(h))],
                rgb(colour).filled(),
            ))?;
            if layout.numbers {
                let ink = if ink_on(colour) == "#000" {
                    [0; 3]
                } else {
                    [255; 3]
                };
                let words = number(value, Format::Fixed(3));
                text(
                    root,
                    theme,
                    &words,
                    centre,
                    (HPos::Center, VPos::Center),
                    ink,
                )?;
            }
        }
    }
    labels(root, theme, grid, layout)?;
    scale(
        root,
        theme,
        palette,
        ends,
        px(layout.top + h * grid.rows as u32 + 14),
    )?;
    root.present()
}

fn labels<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    theme: &Theme,
    grid: &Grid,
    layout: &Layout,
) -> Result<(), Failed<DB>> {
    let px = |css: u32| (f64::from(css) * theme.scale) as i32;
    let (w, h) = layout.cell;
    if layout.left > 8 {
        for (i, label) in grid.row_labels.iter().enumerate().take(grid.rows) {
            let at = (
                px(layout.left - 6),
                px(layout.top + i as u32 * h) + px(h) / 2,
            );
            text(
                root,
                theme,
                label,
                at,
                (HPos::Right, VPos::Center),
                theme.ink,
            )?;
        }
    }
    if layout.top > 8 {
        for (j, label) in grid.col_labels.iter().enumerate().take(grid.cols) {
            let at = (
                px(layout.left + j as u32 * w) + px(w) / 2,
                px(layout.top - 6),
            );
            text(
                root,
                theme,
                label,
                at,
                (HPos::Center, VPos::Bottom),
                theme.ink,
            )?;
        }
    }
    Ok(())
}

/// The bar of colours with the value at each end.
fn scale<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    theme: &Theme,
    palette: Palette,
    (low, high): (f64, f64),
    y: i32,
) -> Result<(), Failed<DB>> {
    const STEPS: i32 = 60;
    let px = |css: i32| (f64::from(css) * theme.scale) as i32;
    let (left, width) = (px(70), px(100));
    for i in 0..STEPS {
        let at = |i: i32| left + width * i / STEPS;
        let colour = rgb(palette.colour(f64::from(i) / f64::from(STEPS - 1)));
        root.draw(&Rectangle::new(
            [(at(i), y), (at(i + 1), y + px(12))],
            colour.filled(),
        ))?;
    }
    let middle = y + px(6);
    let words = |v: f64| number(v, Format::Fixed(3));
    text(
        root,
        theme,
        &words(low),
        (left - px(6), middle),
        (HPos::Right, VPos::Center),
        theme.ink,
    )?;
    text(
        root,
        theme,
        &words(high),
        (left + width + px(6), middle),
        (HPos::Left, VPos::Center),
        theme.ink,
    )
}
