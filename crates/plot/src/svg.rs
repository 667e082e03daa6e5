//! A backend of plotters that writes SVG: coordinates in eighths of a CSS pixel, colours as
//! classes.

use std::convert::Infallible;

use cells::symbols::{self, Level, push_escaped};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use crate::theme::{class_of, hex};

/// Whole numbers of plotters per CSS pixel: a straight line stays straight to an eighth of a pixel.
pub const FINE: u32 = 8;

/// A share of a capital's height from the baseline to its middle, in font sizes.
const MIDDLE: f64 = 0.35;

/// Writes shapes and text as the content of an `<svg>` whose user unit is a CSS pixel.
///
/// Class `s` marks strokes, `f` fills and `t` text; a second class says the colour (see
/// [`Role`](crate::Role)). Consecutive shapes that look the same become one `<path>`.
pub struct SvgBackend<'a> {
    out: &'a mut String,
    size: (u32, u32),
    /// Attributes of the shapes that are not written yet.
    look: String,
    /// Their outline.
    outline: String,
}

impl<'a> SvgBackend<'a> {
    /// A backend for `size` CSS pixels that appends to `out`.
    pub fn new(out: &'a mut String, size: (u32, u32)) -> Self {
        Self {
            out,
            size,
            look: String::new(),
            outline: String::new(),
        }
    }

    /// Writes the shapes that are still kept back.
    fn flush(&mut self) {
        if !self.outline.is_empty() {
            for part in ["<path ", &self.look, " d=\"", &self.outline, "\"/>"] {
                self.out.push_str(part);
            }
            self.outline.clear();
        }
    }

    /// The outline to append a shape of this look to; `None` where it cannot be seen.
    fn outline(&mut self, colour: BackendColor, stroke: Option<u32>) -> Option<&mut String> {
        if colour.alpha <= 0.0 {
            return None;
        }
        let look = look(colour, stroke);
        if look != self.look {
            self.flush();
            self.look = look;
        }
        Some(&mut self.outline)
    }
}

impl Drop for SvgBackend<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Attributes of a filled shape, or of one with a stroke of this width in fine pixels.
fn look(colour: BackendColor, stroke: Option<u32>) -> String {
    let (r, g, b) = colour.rgb;
    let paint = if stroke.is_some() { "stroke" } else { "fill" };
    let mut look = match (class_of([r, g, b]), stroke) {
        (Some(class), Some(_)) => format!("class=\"s {class}\""),
        (Some(class), None) => format!("class=\"f {class}\""),
        (None, Some(_)) => format!("fill=\"none\" stroke=\"{}\"", hex([r, g, b])),
        (None, None) => format!("fill=\"{}\"", hex([r, g, b])),
    };
    if let Some(width) = stroke {
        look.push_str(" stroke-width=\"");
        push_length(&mut look, width as i32);
        look.push_str("\" stroke-linejoin=\"round\"");
    }
    if colour.alpha < 1.0 {
        let percent = (colour.alpha * 100.0).round() as i32;
        look += &format!(" {paint}-opacity=\"{percent}%\"");
    }
    look
}

/// A length of whole eighths, as a decimal number of CSS pixels.
fn push_length(out: &mut String, eighths: i32) {
    const FRACTIONS: [&str; FINE as usize] =
        ["", ".125", ".25", ".375", ".5", ".625", ".75", ".875"];
    if eighths < 0 {
        out.push('-');
    }
    let size = eighths.unsigned_abs();
    out.push_str(&(size / FINE).to_string());
    out.push_str(FRACTIONS[(size % FINE) as usize]);
}

fn push_point(out: &mut String, command: char, (x, y): BackendCoord) {
    out.push(command);
    push_length(out, x);
    out.push(' ');
    push_length(out, y);
}

/// Points joined by lines; the letter before a further point is left out, as SVG allows.
fn push_path(out: &mut String, points: impl IntoIterator<Item = BackendCoord>) {
    let mut command = 'M';
    for point in points {
        push_point(out, command, point);
        command = ' ';
    }
}

/// The result of a drawing that cannot fail: it writes to memory.
type Written = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for SvgBackend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.size.0 * FINE, self.size.1 * FINE)
    }

    fn ensure_prepared(&mut self) -> Written {
        Ok(())
    }

    fn present(&mut self) -> Written {
        self.flush();
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> Written {
        self.draw_rect((x, y), (x + 1, y + 1), &colour, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Written {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Written {
        let stroke = (!fill).then(|| style.stroke_width());
        if let Some(out) = self.outline(style.color(), stroke) {
            push_point(out, 'M', (left, top));
            for (command, length) in [('H', right), ('V', bottom), ('H', left)] {
                out.push(command);
                push_length(out, length);
            }
            out.push('z');
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Written {
        if let Some(out) = self.outline(style.color(), Some(style.stroke_width())) {
            push_path(out, path);
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Written {
        let stroke = (!fill).then(|| style.stroke_width());
        if let Some(out) = self.outline(style.color(), stroke) {
            let r = radius as i32;
            push_point(out, 'M', (x - r, y));
            // Two half circles, there and back.
            for across in [2 * r, -2 * r] {
                push_point(out, 'a', (r, r));
                out.push_str(" 0 1 0 ");
                push_length(out, across);
                out.push_str(" 0");
            }
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Written {
        if let Some(out) = self.outline(style.color(), None) {
            push_path(out, path);
            out.push('z');
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Written {
        let colour = style.color();
        if colour.alpha <= 0.0 {
            return Ok(());
        }
        self.flush();
        let (r, g, b) = colour.rgb;
        let out = &mut *self.out;
        *out += &match class_of([r, g, b]) {
            Some(class) => format!("<text class=\"t {class}\""),
            None => format!("<text fill=\"{}\"", hex([r, g, b])),
        };
        let degrees = match style.transform() {
            FontTransform::None => 0,
            FontTransform::Rotate90 => 90,
            FontTransform::Rotate180 => 180,
            FontTransform::Rotate270 => 270,
        };
        if degrees != 0 {
            *out += &format!(" transform=\"rotate({degrees} ");
            push_length(out, x);
            out.push(' ');
            push_length(out, y);
            out.push_str(")\"");
        }
        // Not every program that shows SVG knows `dominant-baseline`.
        let size = style.size().round();
        let below = match style.anchor().v_pos {
            VPos::Top => 2.0 * MIDDLE,
            VPos::Center => MIDDLE,
            VPos::Bottom => 0.0,
        };
        out.push_str(" x=\"");
        push_length(out, x);
        out.push_str("\" y=\"");
        push_length(out, y + (size * below).round() as i32);
        out.push_str("\" font-size=\"");
        push_length(out, size as i32);
        out.push_str(match style.anchor().h_pos {
            HPos::Left => "\">",
            HPos::Center => "\" text-anchor=\"middle\">",
            HPos::Right => "\" text-anchor=\"end\">",
        });
        push_label(out, text, size);
        out.push_str("</text>");
        Ok(())
    }
}

/// Share of the size of a text that its subscripts and superscripts have.
const INDEX: f64 = 0.75;

/// Writes a label with its symbols as mathematics: `size` is that of the text, in eighths of a CSS
/// pixel.
fn push_label(out: &mut String, label: &str, size: f64) {
    if !label.contains('$') {
        return push_escaped(out, label);
    }
    let mut height = 0;
    for piece in symbols::pieces(label) {
        let level = match piece.level {
            Level::Line => 0,
            Level::Below => (0.22 * size).round() as i32,
            Level::Above => (-0.36 * size).round() as i32,
        };
        out.push_str("<tspan");
        if level != height {
            out.push_str(" dy=\"");
            push_length(out, level - height);
            out.push('"');
            height = level;
        }
        if level != 0 {
            out.push_str(" font-size=\"");
            push_length(out, (INDEX * size).round() as i32);
            out.push('"');
        }
        if piece.is_variable {
            out.push_str(" font-style=\"italic\"");
        }
        if piece.is_under_root {
            out.push_str(" text-decoration=\"overline\"");
        }
        out.push('>');
        push_escaped(out, piece.text);
        out.push_str("</tspan>");
    }
}

/// Runs a drawing over `size` CSS pixels and appends what it draws to `out`.
pub(crate) fn write(
    out: &mut String,
    size: (u32, u32),
    paint: impl FnOnce(&DrawingArea<SvgBackend<'_>, Shift>),
) {
    paint(&SvgBackend::new(out, size).into_drawing_area());
}

#[cfg(test)]
mod tests {
    use plotters::prelude::*;
    use plotters::style::text_anchor::Pos;

    use super::*;
    use crate::{Concept, Role, Theme};

    fn colour(role: Role) -> RGBColor {
        let [r, g, b] = Theme::of_codes().mark(role);
        RGBColor(r, g, b)
    }

    #[test]
    fn lengths_are_decimal_numbers_of_eighths() {
        let written = |eighths| {
            let mut out = String::new();
            push_length(&mut out, eighths);
            out
        };
        assert_eq!(
            [0, 8, 9, 100, -3].map(written),
            ["0", "1", "1.125", "12.5", "-0.375"]
        );
    }

    #[test]
    fn shapes_that_look_the_same_share_a_path() {
        let mut out = String::new();
        write(&mut out, (10, 10), |root| {
            let style = Color::stroke_width(&colour(Role::Of(Concept::Key)), 16);
            for y in [1, 2] {
                root.draw(&PathElement::new([(0, y), (12, y)], style))
                    .unwrap();
            }
            root.draw(&Rectangle::new(
                [(8, 8), (16, 20)],
                colour(Role::Ink).mix(0.5).filled(),
            ))
            .unwrap();
        });
        assert_eq!(
            out,
            "<path class=\"s c-key\" stroke-width=\"2\" stroke-linejoin=\"round\" d=\"M0 0.125 1.5 0.125M0 0.25 1.5 0.25\"/>\
             <path class=\"f p-ink\" fill-opacity=\"50%\" d=\"M1 1H2V2.5H1z\"/>"
        );
    }

    #[test]
    fn symbols_are_lowered_raised_and_slanted() {
        let mut out = String::new();
        push_label(&mut out, "width $d_k$ < 2", 80.0);
        assert_eq!(
            out,
            "<tspan>width </tspan><tspan font-style=\"italic\">d</tspan>\
             <tspan dy=\"2.25\" font-size=\"7.5\" font-style=\"italic\">k</tspan>\
             <tspan dy=\"-2.25\"> &lt; 2</tspan>"
        );
    }

    #[test]
    fn colours_that_are_no_roles_are_written_as_they_are() {
        let mut out = String::new();
        write(&mut out, (10, 10), |root| {
            root.draw(&Circle::new((16, 16), 8, RGBColor(255, 0, 16).filled()))
                .unwrap();
        });
        assert_eq!(
            out,
            "<path fill=\"#ff0010\" d=\"M1 2a1 1 0 1 0 2 0a1 1 0 1 0 -2 0\"/>"
        );
    }

    #[test]
    fn text_is_escaped_and_placed_by_its_baseline() {
        let mut out = String::new();
        write(&mut out, (100, 100), |root| {
            let style = ("sans-serif", 80.0)
                .into_font()
                .color(&colour(Role::Soft))
                .pos(Pos::new(HPos::Right, VPos::Center));
            root.draw(&Text::new("a < b & \"c\"", (80, 80), style))
                .unwrap();
        });
        assert_eq!(
            out,
            "<text class=\"t p-soft\" x=\"10\" y=\"13.5\" font-size=\"10\" text-anchor=\"end\">\
             a &lt; b &amp; &quot;c&quot;</text>"
        );
    }
}
