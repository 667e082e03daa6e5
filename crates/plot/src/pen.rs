//! Marks and text on a drawing area of plotters, in CSS pixels and in the colours of a theme.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::theme::{Role, Theme};

/// Size of all text.
pub const TEXT: f64 = 12.5;
/// Width of a letter as a share of the font size: enough for the widest common faces.
pub const LETTER: f64 = 0.6;

/// A failed drawing; the backend says why.
pub type Failed<DB> = DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>;

/// A colour of a drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Paint {
    /// The theme's colour of a role.
    Role(Role),
    /// This colour in every theme.
    Fixed([u8; 3]),
}

impl From<Role> for Paint {
    fn from(role: Role) -> Self {
        Self::Role(role)
    }
}

/// Draws in CSS pixels on an area of plotters, which is finer.
pub struct Pen<'a, DB: DrawingBackend> {
    root: &'a DrawingArea<DB, Shift>,
    theme: &'a Theme,
    /// Pixels of the area per CSS pixel.
    scale: f64,
}

impl<'a, DB: DrawingBackend> Pen<'a, DB> {
    /// A pen for an area with `scale` pixels per CSS pixel.
    pub fn new(root: &'a DrawingArea<DB, Shift>, theme: &'a Theme, scale: f64) -> Self {
        Self { root, theme, scale }
    }

    fn fine(&self, length: f64) -> i32 {
        (length * self.scale).round() as i32
    }

    fn at(&self, (x, y): (f64, f64)) -> (i32, i32) {
        (self.fine(x), self.fine(y))
    }

    fn mark(&self, paint: Paint) -> RGBColor {
        rgb(match paint {
            Paint::Role(role) => self.theme.mark(role),
            Paint::Fixed(colour) => colour,
        })
    }

    /// Fills the whole area.
    ///
    /// # Errors
    /// An error of the backend, here and in the other functions.
    pub fn fill(&self, role: Role) -> Result<(), Failed<DB>> {
        self.root.fill(&self.mark(role.into()))
    }

    /// Lines from point to point, `width` thick.
    ///
    /// # Errors
    /// An error of the backend.
    pub fn line(
        &self,
        points: impl IntoIterator<Item = (f64, f64)>,
        width: f64,
        role: Role,
    ) -> Result<(), Failed<DB>> {
        let points: Vec<_> = points.into_iter().map(|point| self.at(point)).collect();
        let style = self
            .mark(role.into())
            .stroke_width(self.fine(width).max(1) as u32);
        self.root.draw(&PathElement::new(points, style))
    }

    /// A filled rectangle between two corners.
    ///
    /// # Errors
    /// An error of the backend.
    pub fn rectangle(
        &self,
        corners: [(f64, f64); 2],
        paint: impl Into<Paint>,
        opacity: f64,
    ) -> Result<(), Failed<DB>> {
        let style = self.mark(paint.into()).mix(opacity).filled();
        let corners = corners.map(|corner| self.at(corner));
        self.root.draw(&Rectangle::new(corners, style))
    }

    /// A filled circle.
    ///
    /// # Errors
    /// An error of the backend.
    pub fn dot(&self, centre: (f64, f64), radius: f64, role: Role) -> Result<(), Failed<DB>> {
        let style = self.mark(role.into()).filled();
        self.root
            .draw(&Circle::new(self.at(centre), self.fine(radius), style))
    }

    /// One line of text, anchored at a point.
    ///
    /// # Errors
    /// An error of the backend.
    pub fn text(
        &self,
        words: &str,
        at: (f64, f64),
        (h, v): (HPos, VPos),
        paint: impl Into<Paint>,
    ) -> Result<(), Failed<DB>> {
        let colour = rgb(match paint.into() {
            Paint::Role(role) => self.theme.text(role),
            Paint::Fixed(colour) => colour,
        });
        let style: TextStyle<'_> = (self.theme.font.as_str(), TEXT * self.scale)
            .into_font()
            .color(&colour)
            .pos(Pos::new(h, v));
        self.root.draw(&Text::new(words, self.at(at), style))
    }
}

fn rgb([r, g, b]: [u8; 3]) -> RGBColor {
    RGBColor(r, g, b)
}

/// About the width of a line of text, whose symbols may be between dollar signs.
pub(crate) fn text_width(words: &str) -> f64 {
    cells::symbols::plain(words).chars().count() as f64 * TEXT * LETTER
}
