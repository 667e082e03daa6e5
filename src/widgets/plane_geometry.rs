//! The geometry of a plane with arrows and points: hulls, steps, ticks, and where names are written.
//!
//! Coordinates point right and up, as on paper. The drawing is in units of the reach, the farthest
//! coordinate: its y points down, and its edge is at [`VIEW`].

/// A point: to the right, and up.
pub(crate) type Point = (f64, f64);

/// Half the side of the drawing in units of the reach: room for tips at the border.
pub(crate) const VIEW: f64 = 1.12;

/// Radius around a tip, in units of the reach, within which a pointer takes hold of it.
pub(crate) const GRIP: f64 = 0.15;

/// Step of an arrow key in units of the reach; with Shift ten times that.
const KEY_STEP: f64 = 0.02;

/// Height of a name in units of the reach.
const LINE: f64 = 0.11;

/// Width of a letter of a name in units of the reach.
const LETTER: f64 = 0.062;

/// Within the limits of a plane and with two decimals, which is what a reader can type again.
pub(crate) fn tidy((x, y): Point, reach: f64) -> Point {
    let one = |value: f64| (value.clamp(-reach, reach) * 100.0).round() / 100.0;
    (one(x), one(y))
}

/// Where a key takes a tip; none for a key that moves nothing.
pub(crate) fn step((x, y): Point, key: &str, is_large: bool, reach: f64) -> Option<Point> {
    let by = reach * KEY_STEP * if is_large { 10.0 } else { 1.0 };
    // The other coordinate stays as it was typed, and one beyond the reach comes back by steps.
    let moved = |from: f64, by: f64| tidy((from + by, 0.0), reach.max(from.abs())).0;
    match key {
        "ArrowLeft" => Some((moved(x, -by), y)),
        "ArrowRight" => Some((moved(x, by), y)),
        "ArrowUp" => Some((x, moved(y, by))),
        "ArrowDown" => Some((x, moved(y, -by))),
        _ => None,
    }
}

/// Position in the drawing of a point: right and down, in units of the reach.
pub(crate) fn drawn((x, y): Point, reach: f64) -> (f64, f64) {
    (x / reach, -y / reach)
}

/// Lines between pairs of points, as the path that draws them. Thousandths of the reach are finer
/// than a screen.
pub(crate) fn segments(lines: &[[Point; 2]], reach: f64) -> String {
    let text = |at: Point| {
        let (x, y) = drawn(at, reach);
        format!("{x:.3} {y:.3}")
    };
    let line = |[from, to]: &[Point; 2]| format!("M{}L{}", text(*from), text(*to));
    lines.iter().map(line).collect()
}

/// The coordinates of a position in the drawing, given as shares of its width and height.
pub(crate) fn under((right, down): (f64, f64), reach: f64) -> Point {
    let span = 2.0 * VIEW * reach;
    ((right - 0.5) * span, (0.5 - down) * span)
}

/// The tip that a pointer at `at` takes hold of: the nearest within reach of a finger, of equally
/// near ones the last, which is drawn on top.
pub(crate) fn nearest(tips: &[Option<Point>], (x, y): Point, reach: f64) -> Option<usize> {
    let distance = |tip: &Point| (tip.0 - x).hypot(tip.1 - y);
    let near = tips.iter().enumerate().rev().filter_map(|(i, tip)| {
        let distance = distance(tip.as_ref()?);
        (distance <= GRIP * reach).then_some((i, distance))
    });
    near.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
}

/// Round coordinates along an axis, two to four on each side of zero, without zero.
pub(crate) fn ticks(reach: f64) -> Vec<f64> {
    let most = reach / 2.0;
    if most <= 0.0 || !most.is_finite() {
        return Vec::new();
    }
    let mut power = 1.0;
    while power > most {
        power /= 10.0;
    }
    while 10.0 * power <= most {
        power *= 10.0;
    }
    let sizes = [5.0, 2.0, 1.0].map(|size| size * power);
    // Rounding must not lose the largest step that fits.
    let fits = |size: &f64| *size <= most * (1.0 + 1e-9);
    let size = sizes.into_iter().find(fits).unwrap_or(power);
    let count = (reach / size * (1.0 + 1e-9)).floor() as i32;
    let all = (-count..=count).filter(|&n| n != 0);
    all.map(|n| f64::from(n) * size).collect()
}

/// The corners of the smallest convex polygon around some points, in order.
pub(crate) fn hull(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    points.dedup();
    if points.len() < 2 {
        return points;
    }
    let side = |points: &mut dyn Iterator<Item = Point>| {
        let mut line: Vec<Point> = Vec::new();
        for c in points {
            while let [.., a, b] = line[..] {
                if turn(a, b, c) > 0.0 {
                    break;
                }
                line.pop();
            }
            line.push(c);
        }
        line.pop();
        line
    };
    let mut corners = side(&mut points.iter().copied());
    corners.extend(side(&mut points.iter().rev().copied()));
    corners
}

/// Whether a point is in the polygon of these corners, given in the order of [`hull`], or at most
/// `by` outside it.
pub(crate) fn is_inside(corners: &[Point], at: Point, by: f64) -> bool {
    let distance = |a: Point, b: Point| (b.0 - a.0).hypot(b.1 - a.1);
    match *corners {
        [] => false,
        [only] => distance(only, at) <= by,
        // Between both ends, which no detour is needed for.
        [a, b] => distance(a, at) + distance(at, b) <= distance(a, b) + by,
        _ => (0..corners.len()).all(|i| {
            let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
            turn(a, b, at) >= -by * distance(a, b)
        }),
    }
}

/// Twice the area of a triangle, positive where its corners turn left.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

/// Position of a name in the drawing, and the end of the text that is there.
pub(crate) type NamePlace = (f64, f64, &'static str);

/// A tip whose name is to be written, in units of the reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named {
    /// Position in the drawing: right, and down.
    pub(crate) tip: (f64, f64),
    /// Letters of the name.
    pub(crate) letters: usize,
    /// Whether a shaft leads to it from the origin.
    pub(crate) has_shaft: bool,
}

/// Where the names of tips are written: beside the tip, where they cover no other tip, no name
/// before them and, as far as there is room, no shaft.
pub(crate) fn name_places(marks: &[Named]) -> Vec<NamePlace> {
    let mut boxes: Vec<[f64; 4]> = Vec::new();
    let mut places = Vec::new();
    for mark in marks {
        let width = LETTER * mark.letters as f64;
        let [near, far] = [false, true].map(|far| label_place(mark.tip, far));
        let lower = |place: NamePlace| (place.0, place.1 + LINE, place.2);
        let higher = |place: NamePlace| (place.0, place.1 - LINE, place.2);
        let candidates = [
            near,
            far,
            lower(near),
            higher(near),
            lower(far),
            higher(far),
        ];
        let cost = |place: &NamePlace| {
            let own = text_box(*place, width);
            let covers = |point: (f64, f64)| covers(own, point, 0.05);
            let dots = marks.iter().filter(|mark| covers(mark.tip)).count();
            let names = boxes.iter().filter(|&&other| overlap(own, other)).count();
            let along = (0..16).map(|n| f64::from(n) / 16.0);
            let crosses = |mark: &&Named| {
                let (x, y) = mark.tip;
                mark.has_shaft && along.clone().any(|part| covers((x * part, y * part)))
            };
            let shafts = marks.iter().filter(crosses).count();
            let outside = own.iter().any(|end| end.abs() > VIEW);
            20 * usize::from(outside) + 8 * names + 6 * dots + shafts
        };
        // Of equal places the first.
        let best = candidates.into_iter().min_by_key(cost).unwrap_or(near);
        boxes.push(text_box(best, width));
        places.push(best);
    }
    places
}

/// Left, upper, right and lower end of a name.
fn text_box((x, y, anchor): NamePlace, width: f64) -> [f64; 4] {
    let left = match anchor {
        "start" => x,
        "end" => x - width,
        _ => x - width / 2.0,
    };
    [left, y - 0.08, left + width, y + 0.02]
}

/// Whether a point is in a box or nearer to it than `by`.
fn covers([left, top, right, bottom]: [f64; 4], (x, y): (f64, f64), by: f64) -> bool {
    left - by < x && x < right + by && top - by < y && y < bottom + by
}

/// Whether two boxes have a point in common.
fn overlap(a: [f64; 4], b: [f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// A place beside a tip: on the side that is further from the horizontal axis, so the name covers
/// neither the arrow nor one in the same direction, or on the other side.
fn label_place((x, y): (f64, f64), is_other_side: bool) -> NamePlace {
    let length = x.hypot(y);
    let (right, down) = if length > 0.0 {
        (x / length, y / length)
    } else {
        (1.0, 0.0)
    };
    // The two directions across the arrow.
    let side = if (right * down < 0.0) != is_other_side {
        -1.0
    } else {
        1.0
    };
    let (across_x, across_y) = (-down * side, right * side);
    let anchor = match across_x {
        // Towards the border there is no room for half a name.
        _ if x > 0.75 && across_x < 0.9 => "end",
        across if across > 0.4 => "start",
        across if across < -0.4 => "end",
        _ => "middle",
    };
    // The text is drawn above its line: one that is below the tip starts a line further down.
    let line = 0.04 * (1.0 + across_y);
    let away = 0.13;
    let x = x.min(VIEW - 0.02 - away * across_x);
    (x + away * across_x, y + away * across_y + line, anchor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hull_goes_around_all_points_and_leaves_out_the_inner_ones() {
        let corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)];
        let mut points = corners.to_vec();
        points.extend([(1.0, 1.0), (0.5, 1.5), (0.0, 0.0)]);
        assert_eq!(hull(points), corners);
        let line = vec![(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)];
        assert_eq!(hull(line).len(), 2, "on a line");
        assert_eq!(hull(vec![(1.0, 2.0); 3]), [(1.0, 2.0)], "one point");
        assert!(hull(Vec::new()).is_empty());
    }

    #[test]
    fn a_point_is_inside_a_triangle_or_outside_it() {
        let triangle = hull(vec![(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]);
        for (at, inside) in [
            ((0.3, 0.3), true),
            ((0.5, 0.5), true),
            ((0.52, 0.5), false),
            ((-0.01, 0.5), false),
            ((0.5, -0.01), false),
        ] {
            assert_eq!(is_inside(&triangle, at, 1e-6), inside, "{at:?}");
        }
        assert!(is_inside(&triangle, (0.505, 0.5), 0.01), "near enough");
        let line = hull(vec![(0.0, 0.0), (1.0, 1.0)]);
        assert!(is_inside(&line, (0.5, 0.5), 1e-6));
        assert!(!is_inside(&line, (0.5, 0.6), 1e-6), "beside the line");
        assert!(!is_inside(&line, (1.1, 1.1), 1e-6), "beyond its end");
        assert!(is_inside(&[(1.0, 0.0)], (1.0, 0.0), 1e-6));
        assert!(!is_inside(&[], (0.0, 0.0), 1e-6));
    }

    #[test]
    fn segments_are_drawn_in_units_of_the_reach() {
        let lines = [[(0.0, 0.0), (2.0, 1.0)], [(-1.0, 4.0), (0.5, -2.0)]];
        let path = segments(&lines, 2.0);
        assert_eq!(path, "M0.000 -0.000L1.000 -0.500M-0.500 -2.000L0.250 1.000");
        assert_eq!(segments(&[], 1.0), "");
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(1.0), [-1.0, -0.5, 0.5, 1.0]);
        assert_eq!(ticks(2.0), [-2.0, -1.0, 1.0, 2.0]);
        assert_eq!(ticks(1.5), [-1.5, -1.0, -0.5, 0.5, 1.0, 1.5]);
        for n in 1..400 {
            let reach = f64::from(n) / 7.0;
            let count = ticks(reach).len();
            assert!((4..=8).contains(&count), "{reach}: {count}");
        }
        assert!(ticks(0.0).is_empty());
    }

    #[test]
    fn keys_move_a_tip_and_stop_at_the_border() {
        assert_eq!(step((0.5, 0.5), "ArrowUp", false, 1.0), Some((0.5, 0.52)));
        assert_eq!(step((0.5, 0.5), "ArrowLeft", true, 1.0), Some((0.3, 0.5)));
        assert_eq!(step((1.95, 0.0), "ArrowRight", true, 2.0), Some((2.0, 0.0)));
        assert_eq!(
            step((0.0, 0.0), "ArrowDown", false, 1.5),
            Some((0.0, -0.03))
        );
        assert_eq!(step((0.0, 0.0), "Tab", false, 1.0), None);
    }

    #[test]
    fn a_pointer_takes_hold_of_the_nearest_tip() {
        let tips = [Some((1.0, 0.0)), None, Some((0.9, 0.1)), Some((1.0, 0.0))];
        assert_eq!(nearest(&tips, (1.0, -0.02), 1.0), Some(3), "the upper one");
        assert_eq!(nearest(&tips, (0.9, 0.12), 1.0), Some(2));
        assert_eq!(nearest(&tips, (0.0, 0.0), 1.0), None);
        assert_eq!(nearest(&tips, (0.8, 0.3), 2.0), Some(2), "a larger plane");
    }

    #[test]
    fn the_middle_of_the_drawing_is_the_origin() {
        assert_eq!(under((0.5, 0.5), 2.0), (0.0, 0.0));
        let (x, y) = under((1.0, 0.0), 2.0);
        assert!((x - 2.0 * VIEW).abs() < 1e-12 && (y - 2.0 * VIEW).abs() < 1e-12);
        assert_eq!(tidy((3.0, -0.126), 2.0), (2.0, -0.13));
        // What is drawn at a place is found under it.
        let (right, down) = drawn((0.5, -1.5), 2.0);
        let share = |at: f64| (at + VIEW) / (2.0 * VIEW);
        let (x, y) = under((share(right), share(down)), 2.0);
        assert!((x - 0.5).abs() < 1e-12 && (y + 1.5).abs() < 1e-12);
    }

    #[test]
    fn a_key_moves_one_coordinate_and_loses_nothing() {
        assert_eq!(
            step((0.123, 0.5), "ArrowUp", false, 1.0),
            Some((0.123, 0.52))
        );
        assert_eq!(
            step((0.5, 0.123), "ArrowLeft", true, 1.0),
            Some((0.3, 0.123))
        );
        assert_eq!(step((1.0, 0.0), "ArrowRight", false, 1.0), Some((1.0, 0.0)));
        assert_eq!(step((3.0, 0.1), "ArrowUp", false, 1.0), Some((3.0, 0.12)));
        assert_eq!(step((3.0, 0.1), "ArrowLeft", false, 1.0), Some((2.98, 0.1)));
        assert_eq!(step((0.0, 0.0), "Enter", false, 1.0), None);
    }

    #[test]
    fn a_name_is_beside_the_line_of_its_arrow() {
        for (x, y) in [
            (0.6, -0.2),
            (0.3, -0.5),
            (-1.0, 0.25),
            (0.05, -1.0),
            (0.0, 0.0),
        ] {
            let (at_x, at_y, _) = label_place((x, y), false);
            let from_line = (x * at_y - y * at_x) / f64::hypot(x, y).max(1e-9);
            assert!(from_line.abs() > 0.1 || x == 0.0, "{x}, {y}: {from_line}");
        }
        assert_eq!(label_place((0.3, -0.5), false).2, "end");
        assert_eq!(label_place((0.6, -0.05), false).2, "middle");
        assert_eq!(label_place((1.0, 0.0), false).2, "end", "at the border");
    }

    #[test]
    fn a_name_covers_neither_another_tip_nor_another_name() {
        for a in 0..40 {
            for b in 0..40 {
                let mark = |n: i32, length: f64| {
                    let angle = f64::from(n) * std::f64::consts::TAU / 40.0;
                    Named {
                        tip: (length * angle.cos(), length * angle.sin()),
                        letters: 1,
                        has_shaft: true,
                    }
                };
                let marks = [mark(a, 0.6), mark(b, 0.73)];
                let places = name_places(&marks);
                let boxes = [0, 1].map(|i| text_box(places[i], 0.06));
                assert!(!overlap(boxes[0], boxes[1]), "{marks:?}: {places:?}");
                for mark in marks {
                    let covered = boxes.iter().any(|&own| covers(own, mark.tip, 0.02));
                    assert!(!covered, "{marks:?}: {places:?}");
                }
            }
        }
    }
}
