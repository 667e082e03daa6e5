//! The systems of the field, from `lessons/systems.toml`: a table that leads from each to the cell
//! that runs its idea, and a time line of the families of models.

use std::fmt::Write as _;
use std::path::Path;

use lesson::html::escape;
use lesson::{Lesson, ROOT};
use serde::Deserialize;

use crate::error::{BuildError, read};

/// Source of the systems.
const FILE: &str = "lessons/systems.toml";

/// The years that the time line shows.
const YEARS: std::ops::RangeInclusive<u16> = 2014..=2021;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    #[serde(default)]
    system: Vec<System>,
}

/// A model or a part of models, and the paper that introduced it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct System {
    name: String,
    /// Name on the time line, where the whole one is too long.
    short: Option<String>,
    /// Year of the first public version of the paper.
    year: u16,
    /// Column of the time line; a part of models has none.
    family: Option<Family>,
    /// Name of the system that it grew out of, whose line leads to it.
    from: Option<String>,
    /// Authors and title, as Markdown.
    paper: String,
    /// What was new, in one sentence.
    new: String,
    /// Slug of a lesson, and after `#` the id of its cell that shows the system.
    place: Option<String>,
}

/// What a model is made of, and what it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Family {
    Both,
    Decoder,
    Encoder,
    Pictures,
}

/// The columns of the time line, from the left, with their titles on two lines.
const FAMILIES: [(Family, [&str; 2]); 4] = [
    (Family::Both, ["encoder", "and decoder"]),
    (Family::Decoder, ["decoder", "only"]),
    (Family::Encoder, ["encoder", "only"]),
    (Family::Pictures, ["models that", "read pictures"]),
];

/// Width of the drawing, of the years at its left, of a column and of a box in it.
const WIDTH: u32 = 360;
const LEFT: u32 = 32;
const COLUMN: u32 = 82;
const BOX: u32 = 70;

/// Distance of a line beside a column from its boxes.
const BESIDE: u32 = 4;

/// Height of a box, distance of two boxes of a year, space between two years, and of the titles.
const HEIGHT: u32 = 24;
const PITCH: u32 = 28;
const BETWEEN: u32 = 12;
const TITLES: u32 = 34;

/// The systems, in the order of their years.
///
/// # Errors
/// A file that cannot be read or understood, and every system that is named twice, grew out of
/// none of them or leads to no place of a lesson.
pub(crate) fn systems(project: &Path, lessons: &[Lesson]) -> Result<Vec<System>, BuildError> {
    let source = read(&project.join(FILE))?;
    let wrong = |message: String| BuildError::Other(format!("{FILE}: {message}"));
    let source: Source = toml::from_str(&source).map_err(|error| wrong(error.to_string()))?;
    let mut systems = source.system;
    systems.sort_by_key(|system| system.year);
    let mistakes = mistakes(&systems, lessons);
    if mistakes.is_empty() {
        Ok(systems)
    } else {
        Err(wrong(mistakes.join("\n")))
    }
}

fn mistakes(systems: &[System], lessons: &[Lesson]) -> Vec<String> {
    let mut mistakes = Vec::new();
    for (at, system) in systems.iter().enumerate() {
        let name = &system.name;
        if systems[..at].iter().any(|before| before.name == *name) {
            mistakes.push(format!("{name}: it stands here twice"));
        }
        if let Some(from) = &system.from
            && !drawn(&systems[..at]).any(|before| before.name == *from)
        {
            mistakes.push(format!("{name}: no model before it is {from}"));
        }
        if let Some(place) = &system.place
            && lesson_of(place, lessons).is_none()
        {
            mistakes.push(format!("{name}: no lesson holds {place}"));
        }
    }
    mistakes
}

/// Number of the lesson, from 1, that holds a place.
fn lesson_of(place: &str, lessons: &[Lesson]) -> Option<usize> {
    let (slug, id) = place.split_once('#').unwrap_or((place, ""));
    let at = lessons.iter().position(|lesson| lesson.slug == slug)?;
    let is_there = id.is_empty() || lessons[at].ids.iter().any(|known| known == id);
    is_there.then_some(at + 1)
}

/// The systems that the time line shows.
fn drawn(systems: &[System]) -> impl Iterator<Item = &System> {
    let in_range = |system: &&System| YEARS.contains(&system.year) && system.family.is_some();
    systems.iter().filter(in_range)
}

/// The table of all systems in Markdown.
pub(crate) fn table(systems: &[System], lessons: &[Lesson]) -> String {
    let mut out =
        "| year | system | what was new | paper | here |\n|---|---|---|---|---|\n".to_owned();
    for system in systems {
        let place = system.place.as_ref();
        let here = place.and_then(|place| Some((lesson_of(place, lessons)?, place)));
        let here = here.map_or("\u{2013}".to_owned(), |(number, place)| {
            let what = if place.contains('#') {
                "cell in lesson"
            } else {
                "lesson"
            };
            format!("[{what} {number}](/lesson/{place})")
        });
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {here} |",
            system.year, system.name, system.new, system.paper
        );
    }
    out
}

/// The time line: one box for each model, the years from the top to the bottom, and a line from the
/// model that it grew out of.
pub(crate) fn time_line(systems: &[System]) -> String {
    let (places, years, height) = places(systems);
    let mut svg = format!(
        "<figure class=\"machine whole\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"group\" aria-label=\"Models from {} to {}\">",
        YEARS.start(),
        YEARS.end()
    );
    for (at, (_, lines)) in (0..).zip(FAMILIES) {
        let x = LEFT + at * COLUMN + COLUMN / 2;
        for (line, y) in lines.into_iter().zip([12, 26]) {
            let _ = write!(
                svg,
                "<text class=\"title\" x=\"{x}\" y=\"{y}\">{line}</text>"
            );
        }
    }
    for (year, y) in years {
        let _ = write!(
            svg,
            "<path class=\"flow\" d=\"M0 {y}H{WIDTH}\"/><text class=\"name\" x=\"0\" y=\"{}\">{year}</text>",
            y + 20
        );
    }
    for line in descents(&places) {
        let _ = write!(svg, "<path class=\"descent\" d=\"{line}\"/>");
    }
    for place in &places {
        let system = place.system;
        let name = escape(system.short.as_ref().unwrap_or(&system.name));
        let shape = format!(
            "<rect width=\"{BOX}\" height=\"{HEIGHT}\" rx=\"3\"/><text x=\"{}\" y=\"16\">{name}</text>",
            BOX / 2
        );
        let at = format!("transform=\"translate({} {})\"", place.x, place.y);
        let _ = match &system.place {
            Some(to) => {
                let (slug, id) = to.split_once('#').unwrap_or((to, ""));
                let hash = if id.is_empty() { "" } else { "#" };
                write!(
                    svg,
                    "<a href=\"{ROOT}lesson/{slug}/{hash}{id}\" {at}>{shape}</a>"
                )
            }
            None => write!(svg, "<g class=\"to-come\" {at}>{shape}</g>"),
        };
    }
    let _ = writeln!(
        svg,
        "</svg><figcaption>Models from {} to {}; a line leads from a model to one that grew out of it. \
         A box leads to the cell in which its idea runs; a dashed one has no cell here. A model stands \
         in the year of the first public version of its paper.</figcaption></figure>",
        YEARS.start(),
        YEARS.end()
    );
    svg
}

/// The lines from each model to those that grew out of it. In one column a line would run behind the
/// boxes in between, so it runs beside them, for one model on the left and for the next on the right.
fn descents(places: &[Place<'_>]) -> Vec<String> {
    // Columns and names of the models whose lines run beside.
    let mut beside: Vec<(u32, &str)> = Vec::new();
    let mut lines = Vec::new();
    for place in places {
        let Some(name) = &place.system.from else {
            continue;
        };
        let Some(from) = places.iter().find(|other| other.system.name == *name) else {
            continue;
        };
        let (start, end) = (from.y + HEIGHT, place.y);
        let is_between = |other: &Place| other.x == from.x && (from.y + 1..end).contains(&other.y);
        if from.x == place.x && places.iter().any(is_between) {
            let column = || beside.iter().filter(|(x, _)| *x == from.x);
            let side = column().position(|(_, other)| other == name);
            let side = side.unwrap_or_else(|| column().count());
            if !beside.contains(&(from.x, name)) {
                beside.push((from.x, name));
            }
            let (edge, line) = if side % 2 == 0 {
                (from.x, from.x - BESIDE)
            } else {
                (from.x + BOX, from.x + BOX + BESIDE)
            };
            let middle = HEIGHT / 2;
            lines.push(format!(
                "M{edge} {}H{line}V{}H{edge}",
                from.y + middle,
                end + middle
            ));
        } else {
            let (x, to_x) = (from.x + BOX / 2, place.x + BOX / 2);
            let bend = end.saturating_sub(start) / 2;
            lines.push(format!(
                "M{x} {start}C{x} {},{to_x} {},{to_x} {end}",
                start + bend,
                end - bend
            ));
        }
    }
    lines
}

/// A box of the time line, with its left upper corner.
struct Place<'a> {
    system: &'a System,
    x: u32,
    y: u32,
}

/// The boxes, the upper edge of each year, and the height of the whole.
fn places(systems: &[System]) -> (Vec<Place<'_>>, Vec<(u16, u32)>, u32) {
    let (mut places, mut years, mut top) = (Vec::new(), Vec::new(), TITLES);
    for year in YEARS {
        years.push((year, top));
        let mut rows = [0; FAMILIES.len()];
        for system in drawn(systems).filter(|system| system.year == year) {
            let column = FAMILIES
                .iter()
                .position(|(family, _)| Some(*family) == system.family);
            for (x, (at, row)) in (0..).zip(rows.iter_mut().enumerate()) {
                if Some(at) == column {
                    let x = LEFT + x * COLUMN + (COLUMN - BOX) / 2;
                    places.push(Place {
                        system,
                        x,
                        y: top + BETWEEN / 2 + *row * PITCH,
                    });
                    *row += 1;
                }
            }
        }
        let most = rows.into_iter().max().unwrap_or(0).max(1);
        top += BETWEEN + most * PITCH - (PITCH - HEIGHT);
    }
    (places, years, top)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(name: &str, year: u16, family: Option<Family>) -> System {
        System {
            name: name.to_owned(),
            short: None,
            year,
            family,
            from: None,
            paper: "*Title*".to_owned(),
            new: "New.".to_owned(),
            place: None,
        }
    }

    #[test]
    fn boxes_of_a_year_do_not_overlap_and_follow_the_years() {
        let both = Some(Family::Both);
        let systems = [
            system("A", 2014, both),
            system("B", 2014, both),
            system("C", 2014, Some(Family::Pictures)),
            system("D", 2016, both),
            system("part", 2016, None),
            system("E", 2022, both),
        ];
        let (places, years, height) = places(&systems);
        let names: Vec<&str> = places
            .iter()
            .map(|place| place.system.name.as_str())
            .collect();
        assert_eq!(names, ["A", "B", "C", "D"], "no parts, and no later year");
        assert_eq!(years.len(), YEARS.count());
        assert!(places[1].y >= places[0].y + HEIGHT && places[2].y == places[0].y);
        let year = |wanted: u16| years.iter().find(|(year, _)| *year == wanted).unwrap().1;
        assert!(places[1].y + HEIGHT < year(2015) && places[3].y > year(2016));
        assert!(years.last().unwrap().1 + HEIGHT < height);
        assert!(places.iter().all(|place| place.x + BOX < WIDTH));
    }

    #[test]
    fn a_name_twice_and_an_unknown_origin_or_place_are_mistakes() {
        let both = Some(Family::Both);
        let mut late = system("B", 2015, both);
        late.from = Some("C".to_owned());
        late.place = Some("nowhere#cell".to_owned());
        let systems = [system("A", 2014, both), system("A", 2014, both), late];
        assert_eq!(
            mistakes(&systems, &[]),
            [
                "A: it stands here twice",
                "B: no model before it is C",
                "B: no lesson holds nowhere#cell"
            ]
        );
    }

    #[test]
    fn a_line_leads_from_a_model_to_its_successor() {
        let both = Some(Family::Both);
        let mut next = system("B & C", 2015, both);
        next.from = Some("A".to_owned());
        next.place = Some("tokens#tokenize".to_owned());
        let svg = time_line(&[system("A", 2014, both), next]);
        assert_eq!(svg.matches("class=\"descent\"").count(), 1, "{svg}");
        assert!(
            svg.contains("B &amp; C") && svg.contains("lesson/tokens/#tokenize\""),
            "{svg}"
        );
        assert_eq!(svg.matches("to-come").count(), 1, "A has no cell");
    }

    /// A line to the next box is straight; one that passes a box runs beside it, on another side for
    /// another model.
    #[test]
    fn no_line_runs_behind_a_box_of_its_column() {
        let both = Some(Family::Both);
        let child = |name: &str, year, from: &str| {
            let mut system = system(name, year, both);
            system.from = Some(from.to_owned());
            system
        };
        let systems = [
            system("A", 2014, both),
            child("B", 2014, "A"),
            child("C", 2015, "A"),
            child("D", 2016, "B"),
        ];
        let (places, _, _) = places(&systems);
        let lines = descents(&places);
        let x = places[0].x;
        assert_eq!(lines.len(), 3);
        assert!(lines[0].contains('C'), "{lines:?}");
        assert!(lines[1].contains(&format!("H{}V", x - BESIDE)), "{lines:?}");
        assert!(
            lines[2].contains(&format!("H{}V", x + BOX + BESIDE)),
            "{lines:?}"
        );
    }

    #[test]
    fn names_fit_their_boxes() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let source: Source = toml::from_str(&read(&project.join(FILE)).unwrap()).unwrap();
        let drawn: Vec<&System> = drawn(&source.system).collect();
        assert!(drawn.len() > 20, "{}", drawn.len());
        for system in drawn {
            let name = system.short.as_ref().unwrap_or(&system.name);
            assert!(name.chars().count() <= 11, "{name}");
        }
    }
}
