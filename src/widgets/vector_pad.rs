//! A plane with arrows whose tips can be dragged or walked with the arrow keys.

use cells::format::{Format, number};
use leptos::prelude::*;
use leptos::svg::Svg;
use leptos::web_sys;
use ndarray::Array2;

use super::Concept;
use super::events::{capture, share_within};

/// Step of an arrow key, as a share of the reach of the axes; ten times that with Shift.
const KEY_STEP: f32 = 0.02;

/// State that the parts of a pad share. Positions are in the vectors' own units.
#[derive(Clone, Copy)]
struct Pad {
    vectors: Signal<Array2<f32>>,
    on_change: Callback<Array2<f32>>,
    reach: f32,
    plane: NodeRef<Svg>,
    held: RwSignal<Option<usize>>,
    /// Where each name is written; after those of the vectors that of the mixture.
    names: Memo<Vec<NamePlace>>,
}

impl Pad {
    fn tip(self, i: usize) -> (f32, f32) {
        self.vectors.with(|v| {
            let at = |j| v.get((i, j)).copied().unwrap_or_default();
            (at(0), at(1))
        })
    }

    fn put(self, i: usize, (x, y): (f32, f32)) {
        let mut next = self.vectors.get_untracked();
        // Two decimals: what a reader can type again.
        let tidy = |value: f32| ((value.clamp(-self.reach, self.reach) * 100.0).round()) / 100.0;
        if let Some(slot) = next.get_mut((i, 0)) {
            *slot = tidy(x);
        }
        if let Some(slot) = next.get_mut((i, 1)) {
            *slot = tidy(y);
        }
        self.on_change.run(next);
    }

    /// The point of the plane under a pointer.
    fn under(self, event: &web_sys::MouseEvent) -> Option<(f32, f32)> {
        let plane = self.plane.get_untracked()?;
        let (x, y) = share_within(&plane, event)?;
        let span = 2.0 * VIEW * f64::from(self.reach);
        Some((((x - 0.5) * span) as f32, ((0.5 - y) * span) as f32))
    }
}

/// Height of a name, in units of the reach.
const LINE: f64 = 0.11;

/// Width of a letter of a name, in units of the reach.
const LETTER: f64 = 0.062;

/// The name of a mixture of points.
const MIXTURE: &str = "output";

/// Half the side of the drawing in units of the reach: room for tips at the border.
const VIEW: f64 = 1.12;

/// Arrows from the origin in a plane from `-reach` to `reach`.
#[component]
pub fn VectorPad(
    /// The vectors, one a row, `[N, 2]`.
    #[prop(into)]
    vectors: Signal<Array2<f32>>,
    /// Gets the vectors after each move.
    #[prop(into)]
    on_change: Callback<Array2<f32>>,
    /// Label of the plane.
    #[prop(into)]
    label: String,
    /// Name of each vector.
    #[prop(into)]
    names: Vec<String>,
    /// Accent colour of each vector.
    #[prop(into)]
    concepts: Vec<Concept>,
    /// Largest coordinate.
    #[prop(default = 1.0)]
    reach: f32,
    /// More vectors that only follow, dashed: `[M, 2]`.
    #[prop(optional, into)]
    ghosts: Option<Signal<Array2<f32>>>,
    /// Points instead of arrows, with the polygon that they span; what follows is a point in it, in
    /// this colour, joined to each of them.
    #[prop(optional)]
    spanned: Option<Concept>,
) -> impl IntoView {
    let letters: Vec<usize> = names.iter().map(|name| name.chars().count()).collect();
    let mixtures = move || match (spanned, ghosts) {
        (Some(_), Some(ghosts)) => ghosts.get(),
        _ => Array2::zeros((0, 2)),
    };
    let name_places = Memo::new(move |_| {
        let mixtures = mixtures();
        let tips = vectors.with(|vectors| {
            let all = vectors.rows().into_iter().chain(mixtures.rows());
            all.map(|row| {
                let at = |n: usize| f64::from(row.get(n).copied().unwrap_or_default());
                (at(0), -at(1))
            })
            .collect::<Vec<_>>()
        });
        let letters = letters.iter().copied().chain([MIXTURE.len()]);
        let letters: Vec<usize> = letters.take(tips.len()).collect();
        name_places(&tips, &letters, spanned.is_none(), f64::from(reach))
    });
    let pad = Pad {
        vectors,
        on_change,
        reach,
        plane: NodeRef::new(),
        held: RwSignal::new(None),
        names: name_places,
    };
    let half = VIEW * f64::from(reach);
    let view_box = format!("{} {} {} {}", -half, -half, 2.0 * half, 2.0 * half);
    let arrows = names
        .into_iter()
        .enumerate()
        .map(|(i, name)| arrow(pad, i, name, concepts.get(i).copied().unwrap_or_default()))
        .collect_view();
    let shadows = ghosts.map(|ghosts| {
        move || {
            let list = ghosts.get();
            let place = |row: ndarray::ArrayView1<'_, f32>| {
                let at = |n: usize| f64::from(row.get(n).copied().unwrap_or_default());
                (at(0), -at(1))
            };
            list.rows()
                .into_iter()
                .map(|row| match spanned {
                    Some(concept) => mixture(pad, place(row), concept).into_any(),
                    None => ghost(place(row), reach).into_any(),
                })
                .collect_view()
        }
    });
    let class = if spanned.is_some() {
        "vector-pad is-points"
    } else {
        "vector-pad"
    };
    view! {
        <figure class=class>
            <figcaption class="heat-title" data-label="">
                {label.clone()}
            </figcaption>
            <svg
                node_ref=pad.plane
                viewBox=view_box
                role="group"
                aria-label=label
                style=format!("--unit:{}", reach)
                on:pointermove=move |event| {
                    if let (Some(i), Some(tip)) = (pad.held.get_untracked(), pad.under(&event)) {
                        pad.put(i, tip);
                    }
                }
                on:pointerup=move |_| pad.held.set(None)
                on:pointercancel=move |_| pad.held.set(None)
            >
                {axes(reach)}
                {shadows}
                {arrows}
            </svg>
        </figure>
    }
}

/// Axes with ticks at the reach and its half.
fn axes(reach: f32) -> impl IntoView {
    let r = f64::from(reach);
    let end = r * VIEW;
    let ticks = [-1.0, -0.5, 0.5, 1.0]
        .into_iter()
        .map(|share| {
            let at = share * r;
            let text = number(at, Format::Typed);
            let small = 0.02 * r;
            view! {
                <line class="pad-tick" x1=at y1=-small x2=at y2=small />
                <line class="pad-tick" x1=-small y1=at x2=small y2=at />
                <text class="pad-number" data-label="" x=at y=0.09 * r text-anchor="middle">
                    {text.clone()}
                </text>
                <text class="pad-number" data-label="" x=-0.04 * r y=-at + 0.025 * r text-anchor="end">
                    {text}
                </text>
            }
        })
        .collect_view();
    view! {
        <g class="pad-axes" aria-hidden="true">
            <circle class="pad-ring" cx="0" cy="0" r=r />
            <line class="pad-axis" x1=-end y1="0" x2=end y2="0" />
            <line class="pad-axis" x1="0" y1=-end x2="0" y2=end />
            {ticks}
        </g>
    }
}

/// One arrow; its tip is the control.
fn arrow(pad: Pad, i: usize, name: String, concept: Concept) -> impl IntoView {
    let reach = f64::from(pad.reach);
    let x = move || f64::from(pad.tip(i).0);
    let y = move || -f64::from(pad.tip(i).1);
    let spoken = move || {
        let (x, y) = pad.tip(i);
        format!(
            "{}, {}",
            number(f64::from(x), Format::Fixed(2)),
            number(f64::from(y), Format::Fixed(2))
        )
    };
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let step = pad.reach
            * if event.shift_key() {
                10.0 * KEY_STEP
            } else {
                KEY_STEP
            };
        let (x, y) = pad.tip(i);
        let to = match event.key().as_str() {
            "ArrowLeft" => (x - step, y),
            "ArrowRight" => (x + step, y),
            "ArrowUp" => (x, y + step),
            "ArrowDown" => (x, y - step),
            _ => return,
        };
        event.prevent_default();
        pad.put(i, to);
    };
    view! {
        <g class=format!("pad-vector {}", concept.class())>
            <line class="pad-shaft" x1="0" y1="0" x2=x y2=y />
            <g
                class="pad-tip"
                role="slider"
                tabindex="0"
                aria-label=format!("{name}: horizontal and vertical coordinate")
                aria-valuemin=-pad.reach
                aria-valuemax=pad.reach
                aria-valuenow=move || pad.tip(i).0
                aria-valuetext=spoken
                on:keydown=on_key
                on:pointerdown=move |event| {
                    event.prevent_default();
                    pad.held.set(Some(i));
                    if let Some(plane) = pad.plane.get_untracked() {
                        capture(&plane, &event);
                    }
                }
            >
                <circle class="pad-reach" cx=x cy=y r=0.13 * reach />
                <circle class="pad-dot" cx=x cy=y r=0.045 * reach />
            </g>
            {name_text(pad, i, name)}
        </g>
    }
}

/// The name of a vector or of the mixture, at its place.
fn name_text(pad: Pad, i: usize, name: String) -> impl IntoView {
    let place = move || {
        let place = pad.names.with(|places| places.get(i).copied());
        place.unwrap_or((0.0, 0.0, "middle"))
    };
    view! {
        <text
            class="pad-name"
            aria-hidden="true"
            data-label=""
            x=move || place().0
            y=move || place().1
            text-anchor=move || place().2
        >
            {name}
        </text>
    }
}

/// Position and anchor of a name.
type NamePlace = (f64, f64, &'static str);

/// Where the names of vectors with these tips are written: beside the tip, where they cover no other
/// tip, no name before them and, as far as there is room, no shaft. `letters` counts the letters of
/// each name.
fn name_places(
    tips: &[(f64, f64)],
    letters: &[usize],
    has_shafts: bool,
    reach: f64,
) -> Vec<NamePlace> {
    let mut boxes: Vec<[f64; 4]> = Vec::new();
    let mut places = Vec::new();
    for (i, &(x, y)) in tips.iter().enumerate() {
        let width = LETTER * reach * letters.get(i).copied().unwrap_or_default() as f64;
        let [near, far] = [false, true].map(|far| label_place(x, y, far, reach));
        let lower = |place: NamePlace| (place.0, place.1 + LINE * reach, place.2);
        let higher = |place: NamePlace| (place.0, place.1 - LINE * reach, place.2);
        let candidates = [
            near,
            far,
            lower(near),
            higher(near),
            lower(far),
            higher(far),
        ];
        let cost = |place: &NamePlace| {
            let own = text_box(*place, width, reach);
            let covers = |(x, y): (f64, f64)| covers(own, (x, y), 0.05 * reach);
            let dots = tips.iter().filter(|&&tip| covers(tip)).count();
            let names = boxes.iter().filter(|&&other| overlap(own, other)).count();
            let along = (0..16).map(|n| f64::from(n) / 16.0);
            let crosses =
                |&(x, y): &(f64, f64)| along.clone().any(|part| covers((x * part, y * part)));
            let shafts = if has_shafts {
                tips.iter().filter(|tip| crosses(tip)).count()
            } else {
                0
            };
            let edge = VIEW * reach;
            let outside = own.iter().any(|end| end.abs() > edge);
            20 * usize::from(outside) + 8 * names + 6 * dots + shafts
        };
        // Of equal places the first.
        let best = candidates.into_iter().min_by_key(cost).unwrap_or(near);
        boxes.push(text_box(best, width, reach));
        places.push(best);
    }
    places
}

/// Left, upper, right and lower end of a name.
fn text_box((x, y, anchor): NamePlace, width: f64, reach: f64) -> [f64; 4] {
    let left = match anchor {
        "start" => x,
        "end" => x - width,
        _ => x - width / 2.0,
    };
    [left, y - 0.08 * reach, left + width, y + 0.02 * reach]
}

/// Whether a point is in a box or nearer to it than `by`.
fn covers([left, top, right, bottom]: [f64; 4], (x, y): (f64, f64), by: f64) -> bool {
    left - by < x && x < right + by && top - by < y && y < bottom + by
}

/// Whether two boxes have a point in common.
fn overlap(a: [f64; 4], b: [f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// A place beside the tip of an arrow: on the side that is further from the horizontal axis, so the
/// name covers neither the arrow nor one in the same direction, or on the other side.
fn label_place(x: f64, y: f64, other_side: bool, reach: f64) -> NamePlace {
    let length = x.hypot(y);
    let (right, down) = if length > 0.0 {
        (x / length, y / length)
    } else {
        (1.0, 0.0)
    };
    // The two directions across the arrow.
    let side = if (right * down < 0.0) != other_side {
        -1.0
    } else {
        1.0
    };
    let (across_x, across_y) = (-down * side, right * side);
    let anchor = match across_x {
        // Towards the border there is no room for half a name.
        _ if x > 0.75 * reach && across_x < 0.9 => "end",
        across if across > 0.4 => "start",
        across if across < -0.4 => "end",
        _ => "middle",
    };
    // The text is drawn above its line: one that is below the tip starts a line further down.
    let line = 0.04 * reach * (1.0 + across_y);
    let away = 0.13 * reach;
    let x = x.min(VIEW * reach - 0.02 * reach - away * across_x);
    (x + away * across_x, y + away * across_y + line, anchor)
}

/// A dashed arrow that only follows.
fn ghost((x, y): (f64, f64), reach: f32) -> impl IntoView {
    view! {
        <line class="pad-ghost" x1="0" y1="0" x2=x y2=y stroke-dasharray=format!("{0} {0}", 0.04 * reach) />
        <circle class="pad-ghost-dot" cx=x cy=y r=0.03 * f64::from(reach) />
    }
}

/// A mixture of all points: a point within the polygon that they span, joined to each of them.
fn mixture(pad: Pad, (x, y): (f64, f64), concept: Concept) -> impl IntoView {
    let reach = f64::from(pad.reach);
    let points = (0..pad.vectors.with(Array2::nrows)).map(|i| pad.tip(i));
    let corners = hull(points.map(|(x, y)| (f64::from(x), -f64::from(y))).collect());
    let outline = corners
        .iter()
        .map(|(x, y)| format!("{x},{y}"))
        .collect::<Vec<_>>()
        .join(" ");
    let lines = (0..pad.vectors.with(Array2::nrows))
        .map(|i| {
            let (to_x, to_y) = pad.tip(i);
            view! { <line class="pad-ghost" x1=x y1=y x2=to_x y2=-to_y /> }
        })
        .collect_view();
    view! {
        <g class=concept.class() aria-hidden="true">
            <polygon class="pad-span" points=outline />
            {lines}
            <circle class="pad-dot" cx=x cy=y r=0.06 * reach />
            {name_text(pad, pad.vectors.with(Array2::nrows), MIXTURE.to_owned())}
        </g>
    }
}

/// The corners of the smallest convex polygon around some points, in order.
fn hull(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    points.dedup();
    let side = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        let mut line: Vec<(f64, f64)> = Vec::new();
        for c in points {
            while let [.., a, b] = line[..] {
                let turn = (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
                if turn > 0.0 {
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

#[cfg(test)]
mod tests {
    use super::{covers, hull, label_place, name_places, overlap, text_box};

    #[test]
    fn a_hull_goes_around_all_points_and_leaves_out_the_inner_ones() {
        let corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)];
        let mut points = corners.to_vec();
        points.extend([(1.0, 1.0), (0.5, 1.5), (0.0, 0.0)]);
        assert_eq!(hull(points), corners);
        assert_eq!(
            hull(vec![(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]).len(),
            2,
            "on a line"
        );
        assert!(hull(Vec::new()).is_empty());
    }

    #[test]
    fn a_name_is_beside_the_line_of_its_arrow() {
        for (x, y) in [
            (1.2, -0.4),
            (0.6, -1.0),
            (-2.0, 0.5),
            (0.1, -2.0),
            (0.0, 0.0),
        ] {
            let (at_x, at_y, _) = label_place(x, y, false, 2.0);
            let from_line = (x * at_y - y * at_x) / f64::hypot(x, y).max(1e-9);
            assert!(from_line.abs() > 0.2 || x == 0.0, "{x}, {y}: {from_line}");
        }
        assert_eq!(label_place(0.6, -1.0, false, 2.0).2, "end");
        assert_eq!(label_place(1.2, -0.1, false, 2.0).2, "middle");
        assert_eq!(label_place(2.0, 0.0, false, 2.0).2, "end", "at the border");
    }

    #[test]
    fn a_name_covers_neither_another_tip_nor_another_name() {
        let letters = [1, 1];
        for a in 0..40 {
            for b in 0..40 {
                let tip = |n: i32, length: f64| {
                    let angle = f64::from(n) * std::f64::consts::TAU / 40.0;
                    (length * angle.cos(), length * angle.sin())
                };
                let tips = [tip(a, 0.9), tip(b, 1.1)];
                let places = name_places(&tips, &letters, true, 1.5);
                let boxes = [0, 1].map(|i| text_box(places[i], 0.09, 1.5));
                assert!(!overlap(boxes[0], boxes[1]), "{tips:?}: {places:?}");
                for tip in tips {
                    let covered = boxes.iter().any(|&own| covers(own, tip, 0.03));
                    assert!(!covered, "{tips:?}: {places:?}");
                }
            }
        }
    }
}
