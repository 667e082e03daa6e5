//! Small pictures of lessons: a drawing out of the figure that a cell of the lesson is served with.

use lesson::Lesson;

use crate::frame::attribute;

/// What is taken out of a figure, where it begins and ends: the first drawing, else the first table.
const DRAWINGS: [(&str, &str); 2] = [("<svg ", "</svg>"), ("<canvas ", "</canvas>")];
const TABLE: (&str, &str) = ("<tbody>", "</tbody>");

/// The picture of a lesson; `None` where its pages are made without figures.
pub(crate) fn of(lesson: &Lesson) -> Option<String> {
    let drawing = out_of_reach(&drawing_of(lesson)?);
    let drawing = if drawing.contains("plane-ring") {
        // Its lines have the widths of a small plane.
        format!("<div class=\"plane is-small\">{drawing}</div>")
    } else {
        drawing
    };
    Some(format!(
        "<div class=\"thumbnail\" aria-hidden=\"true\">{drawing}</div>"
    ))
}

/// A drawing that nobody reaches by keyboard: in its cell, the tips of arrows can be moved with it.
fn out_of_reach(drawing: &str) -> String {
    drawing.replace(" tabindex=\"0\"", "")
}

/// The drawing of the cell that stands for a page, as SVG or HTML; `None` where pages are made
/// without figures.
pub(crate) fn drawing_of(page: &Lesson) -> Option<String> {
    let cell = match &page.picture {
        Some(id) => page.cells().find(|cell| cell.id == *id)?,
        None => page.cells().next()?,
    };
    drawing(&cell.figure.as_ref()?.html)
}

/// The drawing in a figure.
fn drawing(figure: &str) -> Option<String> {
    let drawings = DRAWINGS.iter().filter_map(|(begin, end)| {
        let start = figure.find(begin)?;
        Some((start, cut(figure, begin, end)?))
    });
    let found = match drawings.min() {
        Some((_, drawing)) => drawing,
        None => cut(figure, TABLE.0, TABLE.1)?,
    };
    if found.starts_with("<tbody>") {
        let squares = without_text(found);
        return Some(format!("<table class=\"ramp c-weight\">{squares}</table>"));
    }
    Some(
        attribute(found, "data-inside")
            .map_or_else(|| found.to_owned(), |inside| without_words(found, &inside)),
    )
}

/// Room around the plotting rectangle of a chart for the width of its lines and dots.
const AROUND: f64 = 4.0;

/// The plotting rectangle of a chart without what its words belong to: the numbers and names of the
/// axes, the marks, the legend, and the lines that lead from curves to their names.
fn without_words(chart: &str, inside: &str) -> String {
    let numbers: Vec<f64> = inside
        .split(' ')
        .filter_map(|number| number.parse().ok())
        .collect();
    let [left, top, across, down] = numbers[..] else {
        return chart.to_owned();
    };
    let mut out = format!(
        "<svg class=\"plot\" viewBox=\"{} {} {} {}\">",
        left - AROUND,
        top - AROUND,
        across + 2.0 * AROUND,
        down + 2.0 * AROUND
    );
    for path in chart.split("<path ").skip(1) {
        let path = path.split("/>").next().unwrap_or_default();
        let has = |text: &str| path.contains(text);
        if !has("class=\"s p-ink\"") && !has("stroke-width=\"0.75\"") {
            out.push_str(&format!("<path {}/>", coarse(path)));
        }
    }
    out.push_str("</svg>");
    out
}

/// The attributes of a path with its places rounded to half a pixel of the chart: a thumbnail is
/// smaller than its chart.
fn coarse(path: &str) -> String {
    let Some(places) = attribute(path, "d") else {
        return path.to_owned();
    };
    let half = |number: &str| match number.parse::<f64>() {
        Ok(place) => ((place * 2.0).round() / 2.0).to_string(),
        Err(_) => number.to_owned(),
    };
    // Lines of places, each perhaps with an arc that begins at its last one.
    let line = |line: &str| {
        let arc = line.find('a').unwrap_or(line.len());
        let (places, arc) = line.split_at(arc);
        let places: Vec<String> = places.split(' ').map(half).collect();
        places.join(" ") + arc
    };
    let lines: Vec<String> = places.split('M').map(line).collect();
    path.replace(&places, &lines.join("M"))
}

/// The first part of a text that begins and ends in this way.
fn cut<'a>(html: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let start = html.find(begin)?;
    let length = html[start..].find(end)? + end.len();
    html.get(start..start + length)
}

/// The squares of a table: no headings, no numbers, nothing to reach by keyboard.
fn without_text(rows: &str) -> String {
    let square = |cell: &str| {
        let tag = cell.split('>').next().unwrap_or_default();
        let kept = ["class", "style"].into_iter().filter_map(|name| {
            let value = attribute(tag, name)?;
            Some(format!(" {name}=\"{value}\""))
        });
        format!("<td{}></td>", kept.collect::<String>())
    };
    let row = |row: &str| {
        let squares: String = row.split("<td").skip(1).map(square).collect();
        format!("<tr>{squares}</tr>")
    };
    rows.split("<tr>").skip(1).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_squares() {
        let figure = "<p>1</p><table><thead><tr><td></td></tr></thead><tbody><tr><th>the</th>\
            <td data-at=\"0,0\" tabindex=\"-1\" class=\"heat-cell\" style=\"--x: 1\"><span data-from=\"w[0,0]\">0.25</span></td></tr></tbody></table>";
        assert_eq!(
            drawing(figure).unwrap(),
            "<table class=\"ramp c-weight\"><tr><td class=\"heat-cell\" style=\"--x: 1\"></td></tr></table>"
        );
    }

    #[test]
    fn places_of_a_thumbnail_are_rounded_to_half_a_pixel() {
        let path = "class=\"s\" d=\"M33 238.5 42.625 238.2M-1.9 4a3.3 3.3 0 1 0 6.6 0\"";
        let expected = "class=\"s\" d=\"M33 238.5 42.5 238M-2 4a3.3 3.3 0 1 0 6.6 0\"";
        assert_eq!(coarse(path), expected);
        assert_eq!(coarse("class=\"s\""), "class=\"s\"");
    }

    #[test]
    fn a_thumbnail_is_out_of_reach_of_the_keyboard() {
        assert_eq!(
            out_of_reach("<svg><g role=\"slider\" tabindex=\"0\"></g></svg>"),
            "<svg><g role=\"slider\"></g></svg>"
        );
    }

    #[test]
    fn a_chart_loses_what_its_words_belong_to() {
        let curve = "<path class=\"s c-key\" stroke-width=\"2\" d=\"M0 0 9 9\"/>";
        let figure = format!(
            "<svg class=\"plot\" viewBox=\"0 0 480 180\" data-inside=\"55 15 372 123.5\">\
             <text class=\"t p-soft\">0</text>{curve}\
             <path class=\"s p-ink\" stroke-width=\"1\" d=\"M5 0 5 9\"/><text class=\"t p-ink\">now</text>\
             <path class=\"s c-key\" stroke-width=\"0.75\" d=\"M9 9 20 20\"/></svg>"
        );
        assert_eq!(
            drawing(&figure).unwrap(),
            format!("<svg class=\"plot\" viewBox=\"51 11 380 131.5\">{curve}</svg>")
        );
    }

    #[test]
    fn a_drawing_comes_before_a_table() {
        let figure = "<tbody><tr></tr></tbody><svg viewBox=\"0 0 1 1\"><g></g></svg>";
        assert_eq!(
            drawing(figure).unwrap(),
            "<svg viewBox=\"0 0 1 1\"><g></g></svg>"
        );
        assert_eq!(drawing("<p>No drawing</p>"), None);
        let figure = "<canvas style=\"color:red\"></canvas><svg viewBox=\"0 0 1 1\"></svg>";
        assert_eq!(
            drawing(figure).unwrap(),
            "<canvas style=\"color:red\"></canvas>",
            "the first drawing is what the cell shows"
        );
    }
}
