//! The chart of the page `/models/`: how well the models that read digits do it when the digits are
//! moved away from where they stood in training.

use std::fmt::Write as _;

use cells::format::Format;
use lesson::html::escape;
use plot::{Chart, Concept, Series, describe, svg};

use crate::model_cards::{row, with_separators};

/// Where the page's Markdown wants the chart: an HTML comment on a line of its own.
pub(crate) const MARK: &str = "<!-- moved-digits -->";

/// The parts of a row's name around the distance by which test digits were moved.
const MOVED: (&str, &str) = (", each moved ", " pixels in 4 directions, %");

/// Width and height of the chart in CSS pixels, with its class: for wide windows, and for phones.
const SIZES: [(&str, (u32, u32)); 2] = [("for-wide", (640, 320)), ("for-narrow", (328, 280))];

/// Colours of the curves, in the order of the cards.
const COLOURS: [Concept; 6] = [
    Concept::Query,
    Concept::Output,
    Concept::Key,
    Concept::Position,
    Concept::Value,
    Concept::Score,
];

/// What a model scored on moved digits.
struct Scores<'a> {
    model: &'a str,
    /// What was moved: `500 test digits`.
    digits: &'a str,
    /// Pixels and the share that was read correctly, in per cent, as the card has them.
    at: Vec<(&'a str, &'a str)>,
}

/// The distance that a row's name names, after the text before it.
fn distance(name: &str) -> Option<(&str, &str)> {
    let (before, rest) = name.split_once(MOVED.0)?;
    Some((before, rest.strip_suffix(MOVED.1)?))
}

/// Whether a row of a card belongs to the chart.
pub(crate) fn is_one(name: &str) -> bool {
    distance(name).is_some()
}

/// The scores of all models that were tested so.
fn scores(cards: &str) -> Vec<Scores<'_>> {
    let cards = cards.split("\n## ").skip(1);
    let one = |card| {
        let (model, rest) = str::split_once(card, '\n')?;
        let mut scores = Scores {
            model: model.trim(),
            digits: "",
            at: Vec::new(),
        };
        for (name, score) in rest.lines().filter_map(row) {
            if let Some((before, pixels)) = distance(name) {
                scores.digits = before.trim_start_matches("right of ");
                scores.at.push((pixels, score));
            }
        }
        (!scores.at.is_empty()).then_some(scores)
    };
    cards.filter_map(one).collect()
}

/// The section of the page that the chart stands in, in Markdown; nothing without such models.
pub(crate) fn section(cards: &str) -> String {
    let all = scores(cards);
    let Some(first) = all.first() else {
        return String::new();
    };
    let digits = with_separators(first.digits);
    format!(
        "\n## When digits are moved\n\n{MARK}\n\nIn training, the digits stand in the middle of their pictures. Here {digits} are moved by some \
         pixels: each to the left, to the right, up and down.\n"
    )
}

/// The chart, and its numbers as a table.
pub(crate) fn figure(cards: &str) -> String {
    let all = scores(cards);
    if all.is_empty() {
        return String::new();
    }
    let chart = chart(&all);
    let label = escape(&describe(&chart, &chart.title, Format::Fixed(2)));
    let mut out =
        format!("<figure class=\"moved-digits\">\n<div role=\"img\" aria-label=\"{label}\">\n");
    for (class, size) in SIZES {
        // Writing to a text cannot fail, here and below.
        let _ = writeln!(out, "<div class=\"{class}\">{}</div>", svg(&chart, size));
    }
    let _ = writeln!(
        out,
        "</div>\n<details class=\"chart-data\"><summary>The numbers as a table</summary>\n{}</details>\n</figure>",
        table(&all)
    );
    out
}

fn chart(all: &[Scores<'_>]) -> Chart {
    // What is no number has no point.
    let number = |text: &str| text.parse().unwrap_or(f64::NAN);
    let series = |(scores, concept): (&Scores<'_>, _)| Series {
        name: scores.model.to_owned(),
        xs: scores.at.iter().map(|(pixels, _)| number(pixels)).collect(),
        ys: scores.at.iter().map(|(_, score)| number(score)).collect(),
        concept,
        ..Series::default()
    };
    Chart {
        title: "Moved digits that are read correctly".to_owned(),
        x_label: "moved by, pixels".to_owned(),
        y_label: "correct, %".to_owned(),
        series: all.iter().zip(COLOURS).map(series).collect(),
        ..Chart::default()
    }
}

fn table(all: &[Scores<'_>]) -> String {
    let mut out =
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">moved by, pixels</th>"
            .to_owned();
    for scores in all {
        let _ = write!(out, "<th scope=\"col\">{}, %</th>", escape(scores.model));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    let distances = all.first().map(|scores| &scores.at[..]).unwrap_or_default();
    for (pixels, _) in distances {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(pixels));
        for scores in all {
            let score = scores.at.iter().find(|(at, _)| at == pixels);
            let score = score.map(|(_, score)| *score).unwrap_or_default();
            let _ = write!(out, "<td>{}</td>", escape(score));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARDS: &str = "# Models\n\n## one\n\nReads.\n\n| | |\n|---|---|\n| bytes | 7 |\n\
        | right of 1500 test digits, each moved 0 pixels in 4 directions, % | 99.40 |\n\
        | right of 1500 test digits, each moved 1 pixels in 4 directions, % | 80.15 |\n\
        \n## two\n\nWrites.\n\n| | |\n|---|---|\n| bytes | 7 |\n";

    #[test]
    fn models_that_read_moved_digits_are_drawn_and_told() {
        let all = scores(CARDS);
        assert_eq!(all.len(), 1);
        assert_eq!(
            (all[0].model, all[0].digits, &all[0].at[..]),
            (
                "one",
                "1500 test digits",
                &[("0", "99.40"), ("1", "80.15")][..]
            )
        );
        assert!(section(CARDS).contains("1,500 test digits"));
        let figure = figure(CARDS);
        for present in [
            "one: first 99.40, last 80.15.",
            "class=\"f c-query",
            "<th scope=\"col\">one, %</th>",
            "<tr><th scope=\"row\">1</th><td>80.15</td></tr>",
        ] {
            assert!(figure.contains(present), "{present} is not in {figure}");
        }
    }

    #[test]
    fn without_such_models_there_is_no_chart() {
        let cards = "# Models\n\n## two\n\nWrites.\n\n| | |\n|---|---|\n| bytes | 7 |\n";
        assert_eq!(figure(cards), "");
        assert_eq!(section(cards), "");
    }
}
