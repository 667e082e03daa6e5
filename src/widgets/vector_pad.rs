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
    let pad = Pad {
        vectors,
        on_change,
        reach,
        plane: NodeRef::new(),
        held: RwSignal::new(None),
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
    // A name that would be written over that of another arrow is a line further down.
    let label = move || {
        let place = |n: usize| {
            let (x, y) = pad.tip(n);
            label_place(f64::from(x), -f64::from(y), reach)
        };
        let (x, y, anchor) = place(i);
        let covered = (0..i).map(place).filter(|other| {
            (other.0 - x).abs() < 0.3 * reach && (other.1 - y).abs() < LINE * reach
        });
        (x, y + LINE * reach * covered.count() as f64, anchor)
    };
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
            <text
                class="pad-name"
                aria-hidden="true"
                data-label=""
                x=move || label().0
                y=move || label().1
                text-anchor=move || label().2
            >
                {name}
            </text>
        </g>
    }
}

/// Where the name of an arrow is written: beside its tip, on the side that is further from the
/// horizontal axis, so it covers neither the arrow nor one in the same direction. Position and
/// anchor of the text.
fn label_place(x: f64, y: f64, reach: f64) -> (f64, f64, &'static str) {
    let length = x.hypot(y);
    let (right, down) = if length > 0.0 {
        (x / length, y / length)
    } else {
        (1.0, 0.0)
    };
    // The two directions across the arrow.
    let side = if right * down < 0.0 { -1.0 } else { 1.0 };
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
    use super::{hull, label_place};

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
            let (at_x, at_y, _) = label_place(x, y, 2.0);
            let from_line = (x * at_y - y * at_x) / f64::hypot(x, y).max(1e-9);
            assert!(from_line.abs() > 0.2 || x == 0.0, "{x}, {y}: {from_line}");
        }
        assert_eq!(label_place(0.6, -1.0, 2.0).2, "end");
        assert_eq!(label_place(1.2, -0.1, 2.0).2, "middle");
        assert_eq!(label_place(2.0, 0.0, 2.0).2, "end", "at the border");
    }
}
