//! The drawing of a page's figure, fitted into a rectangle of a preview image.

use std::fmt::Write as _;

use super::card::Rectangle;
use super::colours::{CONCEPTS, colour, mix, token};
use crate::frame::attribute;

/// How much wider the lines of a chart are than on the page.
const WIDER: f32 = 2.0;

/// The same for the lines between words, which show weights by their widths.
const WIDER_WEIGHTS: f32 = 1.3;

/// A drawing in the form in which it is painted.
#[derive(Debug)]
pub(super) enum Drawing {
    /// Elements of SVG.
    Svg(String),
    /// A photograph under a grid.
    Photograph(Photograph),
}

/// A photograph and the white lines that cut it into patches.
#[derive(Debug, PartialEq)]
pub(super) struct Photograph {
    /// The picture as a data address.
    pub(super) href: String,
    /// Where it lies.
    pub(super) at: Rectangle,
    /// Side of a patch as a share of the picture's; none without a grid.
    pub(super) patch: Option<f32>,
}

/// The style of the classes that the figures' drawings have (`style/plot.css`, `style/widgets.css`).
///
/// # Errors
/// A colour that the style sheet lacks.
pub(super) fn style() -> Result<String, String> {
    let (rule, strong) = (colour("rule")?, colour("rule-strong")?);
    let mut css = format!(
        ".is-behind{{opacity:{behind}}}.s{{fill:none}}.p-ink.s{{stroke:{ink}}}.p-soft.s{{stroke:{soft}}}.p-rule.s{{stroke:{rule}}}\
         .plane-ring,.plane-axis{{fill:none;stroke:{strong};stroke-width:0.014}}\
         .plane-shaft{{fill:none;stroke-width:0.045;stroke-linecap:round}}",
        ink = colour("ink")?,
        soft = colour("ink-soft")?,
        behind = token("behind")?,
    );
    for concept in CONCEPTS {
        let own = colour(&format!("c-{concept}"))?;
        // Writing to a String cannot fail.
        let _ = write!(
            css,
            ".c-{concept}.s{{stroke:{own}}}.c-{concept}.f{{fill:{own}}}.c-{concept} .plane-shaft{{stroke:{own}}}.c-{concept} .plane-dot{{fill:{own}}}"
        );
    }
    Ok(format!("<style>{css}</style>"))
}

/// A drawing as `thumbnail` cuts it out of a figure, fitted into a rectangle.
///
/// # Errors
/// A drawing of no known kind.
pub(super) fn fitted(html: &str, room: Rectangle) -> Result<Drawing, String> {
    if html.starts_with("<table") {
        return squares(html, room).map(Drawing::Svg);
    }
    if html.starts_with("<canvas") {
        return photograph(html, room).map(Drawing::Photograph);
    }
    let tag = html.split('>').next().unwrap_or_default();
    let numbers = attribute(tag, "viewBox").unwrap_or_default();
    let numbers: Vec<f32> = numbers.split(' ').filter_map(|n| n.parse().ok()).collect();
    let [x, y, width, height] = numbers[..] else {
        return Err("a drawing without a viewBox".to_owned());
    };
    let view = Rectangle {
        x,
        y,
        width,
        height,
    };
    let class = attribute(tag, "class").unwrap_or_default();
    let inside = html
        .split_once('>')
        .and_then(|(_, rest)| rest.rsplit_once("</svg>"))
        .map_or("", |(inside, _)| inside);
    let own = class.split(' ').find_map(|name| name.strip_prefix("c-"));
    let inside = inside
        .replace("<!>", "")
        .replace(
            "var(--c)",
            colour(&format!("c-{}", own.unwrap_or("plain")))?,
        )
        .replace("class=\"plane-dot\"", "class=\"plane-dot\" r=\"0.07\"");
    let is_stretched = class.contains("plot") || tag.contains("preserveAspectRatio=\"none\"");
    Ok(Drawing::Svg(if is_stretched {
        let wider = if class.contains("plot") {
            WIDER
        } else {
            WIDER_WEIGHTS
        };
        stretched(&inside, wider, view, room)
    } else {
        format!(
            "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"{x} {y} {width} {height}\" class=\"{class}\">{inside}</svg>",
            room.x, room.y, room.width, room.height
        )
    }))
}

/// The paths of a drawing, each stretched to fill the rectangle, with lines of an even width that are
/// `wider` than on the page.
fn stretched(inside: &str, wider: f32, view: Rectangle, room: Rectangle) -> String {
    let mut out = format!(
        "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">",
        room.x, room.y, room.width, room.height
    );
    for path in inside.split("<path ").skip(1) {
        let path = format!(" {}", path.split('>').next().unwrap_or_default());
        let attributes = [
            "class",
            "fill",
            "stroke",
            "stroke-opacity",
            "stroke-linejoin",
        ];
        out.push_str("<path");
        for name in attributes {
            if let Some(value) = attribute(&path, name) {
                let _ = write!(out, " {name}=\"{value}\"");
            }
        }
        if let Some(width) = attribute(&path, "stroke-width").and_then(|w| w.parse::<f32>().ok()) {
            let _ = write!(out, " stroke-width=\"{}\"", width * wider);
        }
        let d = attribute(&path, "d").unwrap_or_default();
        let _ = write!(out, " d=\"{}\"/>", stretched_path(&d, view, room));
    }
    out.push_str("</svg>");
    out
}

/// Path data with every absolute coordinate moved from `view` to a rectangle of the size of `room`
/// at the origin; relative arcs, which are dots, keep their form and grow.
fn stretched_path(d: &str, view: Rectangle, room: Rectangle) -> String {
    let across = |x: f32| (x - view.x) / view.width * room.width;
    let down = |y: f32| (y - view.y) / view.height * room.height;
    let mut out = String::with_capacity(d.len());
    let (mut command, mut at) = ('M', 0);
    let mut rest = d;
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_alphabetic() {
            (command, at) = (first, 0);
            out.push(first);
            rest = &rest[1..];
            continue;
        }
        let start = rest.trim_start_matches([' ', ',']);
        // A sign begins the next number.
        let end = start
            .char_indices()
            .find(|&(i, c)| !(c.is_ascii_digit() || c == '.' || (i == 0 && c == '-')))
            .map_or(start.len(), |(i, _)| i);
        let (number, after) = start.split_at(end);
        rest = if end == 0 { "" } else { after };
        let Ok(value) = number.parse::<f32>() else {
            continue;
        };
        if command == 'a' && (2..5).contains(&(at % 7)) {
            // The rotation and two flags, which are written without a point.
            let _ = write!(out, " {number}");
            at += 1;
            continue;
        }
        let moved = match (command, at % 2) {
            ('M', 0) => dot_radius(rest).map_or_else(
                || across(value),
                // A dot starts at its left edge.
                |radius| across(value + radius) - radius * WIDER,
            ),
            ('H', _) => across(value),
            ('V', _) => down(value),
            // Radii and the way to the end.
            ('a', _) => value * WIDER,
            (command, 0) if command.is_ascii_uppercase() => across(value),
            (command, _) if command.is_ascii_uppercase() => down(value),
            _ => value,
        };
        let _ = write!(out, " {moved:.2}");
        at += 1;
    }
    out
}

/// The radius of the dot that path data draws from a point, of which the data has the second
/// coordinate first; `None` where they draw something else.
fn dot_radius(d: &str) -> Option<f32> {
    let arc = d.trim_start_matches(|c: char| " -.,".contains(c) || c.is_ascii_digit());
    let radius = arc.strip_prefix('a')?.split([' ', ',']).next()?;
    radius.parse().ok()
}

/// Room between the squares of a table, in pixels.
const BETWEEN: f32 = 4.0;

/// The squares of a heat map.
fn squares(table: &str, room: Rectangle) -> Result<String, String> {
    let concept = table
        .split_once("c-")
        .and_then(|(_, rest)| rest.split(['"', ' ']).next());
    let full = colour(&format!("c-{}", concept.unwrap_or("plain")))?;
    let (zero, rule) = (colour("sheet")?, colour("rule-strong")?);
    let rows: Vec<Vec<&str>> = table
        .split("<tr>")
        .skip(1)
        .map(|row| row.split("<td").skip(1).collect())
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    if columns == 0 {
        return Err("a table without squares".to_owned());
    }
    let side = (room.width / columns as f32).min(room.height / rows.len() as f32);
    let left = room.x + (room.width - side * columns as f32) / 2.0;
    let top = room.y + (room.height - side * rows.len() as f32) / 2.0;
    let mut out = format!(
        "<defs><pattern id=\"hidden\" width=\"10\" height=\"10\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <path d=\"M0 5H10\" stroke=\"{rule}\" stroke-width=\"2.5\"/></pattern></defs>"
    );
    for (i, row) in rows.iter().enumerate() {
        for (j, cell) in row.iter().enumerate() {
            let fill = if cell.contains("is-masked") {
                "url(#hidden)".to_owned()
            } else {
                mix(zero, full, share(cell))
            };
            let _ = write!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{w:.1}\" height=\"{w:.1}\" rx=\"4\" fill=\"{fill}\" stroke=\"{rule}\" stroke-opacity=\"0.35\"/>",
                left + j as f32 * side + BETWEEN / 2.0,
                top + i as f32 * side + BETWEEN / 2.0,
                w = side - BETWEEN,
            );
        }
    }
    Ok(out)
}

/// The share of the full colour that a square has; no square of a thumbnail is below zero.
fn share(cell: &str) -> f32 {
    cell.split_once("--share:")
        .and_then(|(_, rest)| rest.split(['"', ';']).next())
        .and_then(|number| number.trim().parse().ok())
        .unwrap_or(0.0f32)
        .clamp(0.0, 1.0)
}

/// The picture behind a canvas as the page is served, in a square.
fn photograph(canvas: &str, room: Rectangle) -> Result<Photograph, String> {
    let href = canvas
        .split_once("url(")
        .and_then(|(_, rest)| rest.split(')').next())
        .filter(|href| href.starts_with("data:image/png;base64,"))
        .ok_or("a canvas without a picture")?;
    let patch = canvas
        .split_once("#0000 1px ")
        .and_then(|(_, rest)| rest.split('%').next())
        .and_then(|number| number.parse::<f32>().ok())
        .map(|percent| percent / 100.0);
    let side = room.width.min(room.height);
    Ok(Photograph {
        href: href.to_owned(),
        at: Rectangle {
            x: room.x + (room.width - side) / 2.0,
            y: room.y + (room.height - side) / 2.0,
            width: side,
            height: side,
        },
        patch,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Rectangle = Rectangle {
        x: 100.0,
        y: 50.0,
        width: 200.0,
        height: 100.0,
    };

    #[test]
    fn paths_fill_the_rectangle_and_dots_stay_round() {
        let view = Rectangle {
            x: 10.0,
            y: 0.0,
            width: 20.0,
            height: 10.0,
        };
        let moved = |d: &str| stretched_path(d, view, ROOM);
        assert_eq!(moved("M10 0 30 10"), "M 0.00 0.00 200.00 100.00");
        assert_eq!(
            moved("M10-5C.5 0,30 5"),
            "M 0.00 -50.00C -95.00 0.00 200.00 50.00"
        );
        assert_eq!(
            moved("M20 5a3.5 3.5 0 1 0 7 0"),
            "M 128.00 50.00a 7.00 7.00 0 1 0 14.00 0.00",
            "its centre was at 23.5 of 10 to 30"
        );
        assert_eq!(moved("H30V10"), "H 200.00V 100.00");
    }

    #[test]
    fn each_kind_of_drawing_is_fitted() {
        let svg = |html: &str| match fitted(html, ROOM).unwrap() {
            Drawing::Svg(svg) => svg,
            Drawing::Photograph(found) => panic!("{found:?}"),
        };
        let arcs = svg(
            "<svg viewBox=\"0 0 1 1\" preserveAspectRatio=\"none\" class=\"c-weight\"><g><path d=\"M0 0 1 1\" stroke=\"var(--c)\" stroke-width=\"2\"></path></g></svg>",
        );
        assert!(
            arcs.contains(
                "stroke=\"#70086a\" stroke-width=\"2.6\" d=\"M 0.00 0.00 200.00 100.00\""
            ),
            "{arcs}"
        );
        let plane =
            svg("<svg viewBox=\"-1 -1 2 2\"><!><circle class=\"plane-dot\"></circle></svg>");
        assert!(
            plane.contains("viewBox=\"-1 -1 2 2\"")
                && plane.contains("r=\"0.07\"")
                && !plane.contains("<!>"),
            "{plane}"
        );
        let squares = svg(
            "<table class=\"ramp c-key\"><tr><td class=\"heat-cell\" style=\"--share:1\"></td><td class=\"heat-cell is-masked\"></td></tr></table>",
        );
        assert!(
            squares.contains("fill=\"#c07300\"") && squares.contains("fill=\"url(#hidden)\""),
            "{squares}"
        );
        let canvas = "<canvas style=\"background:repeating-linear-gradient(to right,#ffffffbf 0 1px,#0000 1px 25%),url(data:image/png;base64,AA==)\"></canvas>";
        let Drawing::Photograph(photograph) = fitted(canvas, ROOM).unwrap() else {
            panic!("a canvas holds a photograph")
        };
        assert_eq!(photograph.patch, Some(0.25));
        assert_eq!((photograph.at.x, photograph.at.width), (150.0, 100.0));
        assert!(fitted("<canvas></canvas>", ROOM).is_err());
        assert!(fitted("<svg></svg>", ROOM).is_err());
    }
}
