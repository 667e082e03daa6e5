//! Heat maps as SVG text.

use ::plot::{
    Concept, Document, Failed, HPos, LETTER, Paint, Pen, Role, TEXT, Theme, VPos, document,
};
use cells::format::{Format, number};
use plotters::prelude::DrawingBackend;

use crate::display::{Domain, Grid, NUMBER_CELLS, Palette, Place, theme};

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
        let letter = LETTER * TEXT;
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

    /// Left end of a column.
    fn x(&self, column: usize) -> f64 {
        f64::from(self.left) + column as f64 * f64::from(self.cell.0)
    }

    /// Upper end of a row.
    fn y(&self, row: usize) -> f64 {
        f64::from(self.top) + row as f64 * f64::from(self.cell.1)
    }
}

/// The colours of one map.
struct Colours {
    palette: Palette,
    concept: Concept,
    ends: (f64, f64),
    theme: Theme,
}

impl Colours {
    fn of_share(&self, share: f64) -> [u8; 3] {
        self.palette.colour(share, self.concept, &self.theme)
    }
}

/// A heat map with labels, values where there are few, and its colour scale; the hidden pairs are
/// hatched, as on the page.
pub fn heat_map_svg(
    grid: &Grid,
    palette: Palette,
    concept: Concept,
    domain: Domain,
    hidden: &[Place],
) -> Document {
    let layout = Layout::new(grid);
    let colours = Colours {
        palette,
        concept,
        ends: domain.resolve(grid),
        theme: theme::current(),
    };
    document(layout.size(grid), &grid.source, &colours.theme, |pen| {
        // The backend writes to memory, which does not fail.
        paint(pen, grid, &colours, &layout, hidden).ok();
    })
}

fn paint<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    grid: &Grid,
    colours: &Colours,
    layout: &Layout,
    hidden: &[Place],
) -> Result<(), Failed<DB>> {
    for i in 0..grid.rows {
        for j in 0..grid.cols {
            let Some(value) = grid.at(i, j) else {
                continue;
            };
            let (x, y) = (layout.x(j), layout.y(i));
            let (w, h) = (layout.x(j + 1) - x, layout.y(i + 1) - y);
            let corners = [(x, y), (x + w, y + h)];
            let is_hidden = colours.palette.hides(value) || hidden.contains(&(i, j));
            let (fill, ink) = if is_hidden {
                (Paint::Role(Role::Sheet), Paint::Role(Role::Ink))
            } else if value.is_finite() {
                let fill = colours.of_share(colours.palette.share(value, colours.ends));
                (Paint::Fixed(fill), Paint::Fixed(ink_on(fill)))
            } else {
                (Paint::Role(Role::Rule), Paint::Role(Role::Ink))
            };
            pen.rectangle(corners, fill, 1.0)?;
            if is_hidden {
                hatch(pen, corners)?;
            }
            if layout.numbers {
                let words = number(value, Format::Fixed(3));
                let centre = (x + w / 2.0, y + h / 2.0);
                if is_hidden {
                    let half = (
                        words.chars().count() as f64 * LETTER * TEXT / 2.0 + 2.0,
                        8.0,
                    );
                    let ends = [
                        (centre.0 - half.0, centre.1 - half.1),
                        (centre.0 + half.0, centre.1 + half.1),
                    ];
                    pen.rectangle(ends, Role::Sheet, 1.0)?;
                }
                pen.text(&words, centre, (HPos::Center, VPos::Center), ink)?;
            }
        }
    }
    labels(pen, grid, layout)?;
    if colours.palette == Palette::Mask {
        return Ok(());
    }
    scale(pen, colours, layout.y(grid.rows) + 14.0)
}

/// Distance of two lines of the hatching along an edge, in CSS pixels.
const HATCH: f64 = 8.0;

/// Rising lines over a rectangle, which continue in the next one.
fn hatch<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    [(left, top), (right, bottom)]: [(f64, f64); 2],
) -> Result<(), Failed<DB>> {
    let mut sum = ((left + top) / HATCH).floor() * HATCH + HATCH;
    while sum < right + bottom {
        let (from, to) = (left.max(sum - bottom), right.min(sum - top));
        pen.line([(from, sum - from), (to, sum - to)], 1.25, Role::Soft)?;
        sum += HATCH;
    }
    Ok(())
}

/// Black or white, whichever stands out more on a colour: a contrast of at least 4.58 to 1.
fn ink_on(colour: [u8; 3]) -> [u8; 3] {
    // Relative luminance (WCAG 2.2).
    let [r, g, b] = colour.map(|byte| {
        let x = f64::from(byte) / 255.0;
        if x <= 0.040_45 {
            x / 12.92
        } else {
            ((x + 0.055) / 1.055).powf(2.4)
        }
    });
    let light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    // The colour that is as far from black as from white.
    if light > 0.179_1 { [0; 3] } else { [255; 3] }
}

fn labels<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    grid: &Grid,
    layout: &Layout,
) -> Result<(), Failed<DB>> {
    let middle = |a: f64, b: f64| (a + b) / 2.0;
    if layout.left > 8 {
        for (i, label) in grid.row_labels.iter().enumerate().take(grid.rows) {
            let at = (layout.x(0) - 6.0, middle(layout.y(i), layout.y(i + 1)));
            pen.text(label, at, (HPos::Right, VPos::Center), Role::Ink)?;
        }
    }
    if layout.top > 8 {
        for (j, label) in grid.col_labels.iter().enumerate().take(grid.cols) {
            let at = (middle(layout.x(j), layout.x(j + 1)), layout.y(0) - 6.0);
            pen.text(label, at, (HPos::Center, VPos::Bottom), Role::Ink)?;
        }
    }
    Ok(())
}

/// The bar of colours with the value at each end.
fn scale<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    colours: &Colours,
    y: f64,
) -> Result<(), Failed<DB>> {
    const STEPS: u32 = 60;
    let (left, width) = (70.0, 100.0);
    let (low, high) = colours.ends;
    for i in 0..STEPS {
        let at = |i: u32| left + width * f64::from(i) / f64::from(STEPS);
        let value = low + (high - low) * f64::from(i) / f64::from(STEPS - 1);
        let share = colours.palette.share(value, colours.ends);
        pen.rectangle(
            [(at(i), y), (at(i + 1), y + 12.0)],
            Paint::Fixed(colours.of_share(share)),
            1.0,
        )?;
    }
    let middle = y + 6.0;
    let words = |v: f64| number(v, Format::Fixed(3));
    pen.text(
        &words(low),
        (left - 6.0, middle),
        (HPos::Right, VPos::Center),
        Role::Ink,
    )?;
    let end = (left + width + 6.0, middle);
    pen.text(&words(high), end, (HPos::Left, VPos::Center), Role::Ink)
}
