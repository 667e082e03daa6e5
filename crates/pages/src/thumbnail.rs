//! Small pictures of lessons: a drawing out of the figure that a cell of the lesson is served with.

use lesson::Lesson;

use crate::frame::attribute;

/// What is taken out of a figure, in this order: where it begins and ends.
const DRAWINGS: [(&str, &str); 3] = [
    ("<svg ", "</svg>"),
    ("<canvas ", "</canvas>"),
    ("<tbody>", "</tbody>"),
];

/// The picture of a lesson; `None` where its pages are made without figures.
pub(crate) fn of(lesson: &Lesson) -> Option<String> {
    let cell = match &lesson.picture {
        Some(id) => lesson.cells().find(|cell| cell.id == *id)?,
        None => lesson.cells().next()?,
    };
    let drawing = drawing(&cell.figure.as_ref()?.html)?;
    Some(format!(
        "<div class=\"thumbnail\" aria-hidden=\"true\">{drawing}</div>"
    ))
}

/// The drawing in a figure.
fn drawing(figure: &str) -> Option<String> {
    let found = DRAWINGS
        .iter()
        .find_map(|(begin, end)| cut(figure, begin, end))?;
    if found.starts_with("<tbody>") {
        let squares = without_text(found);
        return Some(format!("<table class=\"ramp c-weight\">{squares}</table>"));
    }
    Some(found.to_owned())
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
    fn a_drawing_comes_before_a_table() {
        let figure = "<tbody><tr></tr></tbody><svg viewBox=\"0 0 1 1\"><g></g></svg>";
        assert_eq!(
            drawing(figure).unwrap(),
            "<svg viewBox=\"0 0 1 1\"><g></g></svg>"
        );
        assert_eq!(drawing("<p>No drawing</p>"), None);
    }
}
