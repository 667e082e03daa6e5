//! A plane with arrows and points, some of which can be dragged or walked with the arrow keys.

use cells::format::{Format, number};
use leptos::prelude::*;
use leptos::svg::Svg;
use leptos::web_sys;

use super::Concept;
use super::events::{capture, share_within};
use super::ids::fresh;
use super::plane_geometry::{
    GRIP, NamePlace, Named, Point, VIEW, drawn, hull, is_inside, name_places, nearest, segments,
    step, ticks, tidy, under,
};

/// How far a point may be outside a polygon and count as inside: half of the last printed digit.
const INSIDE: f64 = 0.005;

/// Where the tip of an arrow is, or a point: right, and up; none while it is not known.
pub type Tip = Signal<Option<(f64, f64)>>;

/// The two ends of each line of a net.
pub type Net = Signal<Vec<[(f64, f64); 2]>>;

/// An arrow or a point of a plane.
#[derive(Debug, Clone)]
pub struct Mark {
    name: String,
    concept: Concept,
    tip: Tip,
    is_point: bool,
    is_faint: bool,
    on_move: Option<Callback<Point>>,
}

impl Mark {
    /// An arrow from the origin to a tip: right, and up.
    pub fn arrow(name: &str, concept: Concept, tip: Tip) -> Self {
        Self {
            name: name.to_owned(),
            concept,
            tip,
            is_point: false,
            is_faint: false,
            on_move: None,
        }
    }

    /// A point without a shaft.
    pub fn point(name: &str, concept: Concept, tip: Tip) -> Self {
        Self {
            is_point: true,
            ..Self::arrow(name, concept, tip)
        }
    }

    /// The same, to be dragged: the callback gets each position that the reader gives it.
    pub fn draggable(self, on_move: Callback<Point>) -> Self {
        Self {
            on_move: Some(on_move),
            ..self
        }
    }

    /// The same, drawn dashed and without its name: where something was before, or would be.
    pub fn faint(self) -> Self {
        Self {
            is_faint: true,
            ..self
        }
    }

    /// Position in the drawing, in units of the reach.
    fn place(&self, reach: f64) -> Option<(f64, f64)> {
        Some(drawn(self.tip.get()?, reach))
    }
}

/// State that the parts of a plane share.
#[derive(Clone, Copy)]
struct Shared {
    marks: StoredValue<Vec<Mark>>,
    reach: Signal<f64>,
    drawing: NodeRef<Svg>,
    held: RwSignal<Option<usize>>,
    /// Where the name of each mark is written.
    names: Memo<Vec<NamePlace>>,
}

impl Shared {
    /// The coordinates under a pointer.
    fn under(self, event: &web_sys::MouseEvent) -> Option<Point> {
        let shares = share_within(&*self.drawing.get_untracked()?, event)?;
        Some(under(shares, self.reach.get_untracked()))
    }

    /// Takes hold of the draggable tip that is nearest to the pointer.
    fn hold(self, event: &web_sys::PointerEvent) {
        let tips: Vec<Option<Point>> = self.marks.with_value(|marks| {
            let tip = |mark: &Mark| mark.tip.get_untracked().filter(|_| mark.on_move.is_some());
            marks.iter().map(tip).collect()
        });
        let found = self
            .under(event)
            .and_then(|at| nearest(&tips, at, self.reach.get_untracked()));
        let (Some(found), Some(drawing)) = (found, self.drawing.get_untracked()) else {
            return;
        };
        event.prevent_default();
        self.held.set(Some(found));
        capture(&drawing, event);
    }

    /// Moves the tip that the pointer holds.
    fn drag(self, event: &web_sys::PointerEvent) {
        let (Some(held), Some(to)) = (self.held.get_untracked(), self.under(event)) else {
            return;
        };
        let reach = self.reach.get_untracked();
        let on_move = self.marks.with_value(|marks| marks.get(held)?.on_move);
        if let Some(on_move) = on_move {
            on_move.run(tidy(to, reach));
        }
    }

    /// The colour of a mark.
    fn concept(self, i: usize) -> Option<Concept> {
        let concept = |marks: &Vec<Mark>| marks.get(i).map(|mark| mark.concept);
        self.marks.with_value(concept)
    }

    /// The marks of these numbers, as far as they have a position.
    fn tips(self, of: &[usize]) -> Vec<Point> {
        self.marks.with_value(|marks| {
            let tip = |&i: &usize| marks.get(i)?.tip.get();
            of.iter().filter_map(tip).collect()
        })
    }
}

/// Arrows from the origin, points, a polygon around some of them and lines between them. Values are
/// announced by the tips that can be moved, and a sentence describes the whole.
#[component]
pub fn Plane(
    /// Label of the plane.
    #[prop(into)]
    label: String,
    /// The arrows and points; those that can be dragged are drawn over the others.
    marks: Vec<Mark>,
    /// Largest coordinate.
    #[prop(into, default = Signal::stored(1.0))]
    reach: Signal<f64>,
    /// Marks whose convex hull is filled.
    #[prop(optional)]
    hull_of: Vec<usize>,
    /// Pairs of marks that a line connects, in the colour of the first.
    #[prop(optional)]
    lines: Vec<(usize, usize)>,
    /// Lines under the marks, such as a grid that a matrix has moved, each net in the colour of a
    /// concept.
    #[prop(optional)]
    nets: Vec<(Concept, Net)>,
    /// What there is to see, where the coordinates of the marks do not say it: then the plane is a
    /// view of something else, and has no axes and no grid.
    #[prop(optional, into)]
    view_of: Option<Signal<String>>,
    /// Without caption, names, numbers and grid: for a small picture beside its numbers.
    #[prop(optional)]
    is_small: bool,
) -> impl IntoView {
    let can_move = marks.iter().any(|mark| mark.on_move.is_some());
    let marks = StoredValue::new(marks);
    let names = Memo::new(move |_| marks.with_value(|marks| written_names(marks, reach.get())));
    let plane = Shared {
        marks,
        reach,
        drawing: NodeRef::new(),
        held: RwSignal::new(None),
        names,
    };
    let half = move |sign: f64| sign * VIEW;
    let view_box = format!("{} {} {} {}", half(-1.0), half(-1.0), half(2.0), half(2.0));
    let sentence_id = fresh("plane");
    let hull_tips = hull_of.clone();
    let sentence = move || match view_of {
        Some(words) => words.get(),
        None => marks.with_value(|marks| sentence(marks, &hull_tips)),
    };
    let (fixed, movable): (Vec<usize>, Vec<usize>) = marks.with_value(|marks| {
        (0..marks.len()).partition(|&i| marks.get(i).is_none_or(|mark| mark.on_move.is_none()))
    });
    let draw = |order: Vec<usize>| {
        let all = order.into_iter().map(|i| mark(plane, i, is_small));
        all.collect_view()
    };
    let drawn = (draw(fixed), draw(movable));
    view! {
        <figure class="plane" class:is-small=is_small>
            {(!is_small).then(|| view! {
                <figcaption class="heat-title" data-label="">{label.clone()}</figcaption>
            })}
            <svg
                node_ref=plane.drawing
                viewBox=view_box
                role=if can_move { "group" } else { "img" }
                aria-label=label
                aria-describedby=sentence_id.clone()
                on:pointermove=move |event| plane.drag(&event)
                on:pointerup=move |_| plane.held.set(None)
                on:pointercancel=move |_| plane.held.set(None)
            >
                {view_of.is_none().then(|| axes(reach, is_small))}
                {nets.into_iter().map(|(concept, lines)| {
                    let class = format!("plane-net {}", concept.class());
                    let path = move || lines.with(|lines| segments(lines, reach.get()));
                    view! { <path class=class aria-hidden="true" d=path /> }
                }).collect_view()}
                {(!hull_of.is_empty()).then(|| polygon(plane, hull_of))}
                {lines.into_iter().map(|ends| connection(plane, ends)).collect_view()}
                {drawn}
            </svg>
            <p class="vh" id=sentence_id data-label="">{sentence}</p>
        </figure>
    }
}

/// Where the names of all marks are written; a mark without position has its name at the origin.
fn written_names(marks: &[Mark], reach: f64) -> Vec<NamePlace> {
    let named = |mark: &Mark| Named {
        tip: mark.place(reach).unwrap_or_default(),
        letters: if mark.is_faint {
            0
        } else {
            mark.name.chars().count()
        },
        has_shaft: !mark.is_point,
    };
    name_places(&marks.iter().map(named).collect::<Vec<_>>())
}

/// What there is to see, in words: each mark with its position, and which points are within the
/// polygon of others.
fn sentence(marks: &[Mark], hull_of: &[usize]) -> String {
    let at = |i: &usize| marks.get(*i)?.tip.get();
    let corners = hull(hull_of.iter().filter_map(at).collect());
    let spans = hull_of.len() > 2;
    let words = marks.iter().enumerate().filter_map(|(i, mark)| {
        let tip = mark.tip.get()?;
        let kind = if mark.is_point { "point" } else { "arrow to" };
        let place = match spans && mark.is_point && !hull_of.contains(&i) {
            true if is_inside(&corners, tip, INSIDE) => ", inside the polygon of the others",
            true => ", outside the polygon of the others",
            false => "",
        };
        Some(format!(
            "{}: {kind} {}{place}.",
            mark.name,
            coordinates(tip)
        ))
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Two coordinates as text.
fn coordinates((x, y): Point) -> String {
    let text = |value| number(value, Format::Fixed(2));
    format!("{}, {}", text(x), text(y))
}

/// The circle at the reach, the axes, and a grid with its numbers.
fn axes(reach: Signal<f64>, is_small: bool) -> impl IntoView {
    let grid = move || {
        let reach = reach.get();
        let all = ticks(reach).into_iter().map(|at| grid_lines(at, reach));
        all.collect_view()
    };
    view! {
        <g aria-hidden="true">
            {(!is_small).then_some(grid)}
            <circle class="plane-ring" r="1" />
            <path class="plane-axis" d=format!("M-{VIEW} 0H{VIEW}M0-{VIEW}V{VIEW}") />
        </g>
    }
}

/// The two grid lines at a coordinate, with its number at both axes.
fn grid_lines(at: f64, reach: f64) -> impl IntoView {
    let text = number(at, Format::Typed);
    let share = at / reach;
    view! {
        <path class="plane-grid" d=format!("M-{VIEW} {share}H{VIEW}M{share}-{VIEW}V{VIEW}") />
        <text class="plane-number" data-label="" x=share y="0.09" text-anchor="middle">
            {text.clone()}
        </text>
        <text class="plane-number" data-label="" x="-0.04" y=0.025 - share text-anchor="end">
            {text}
        </text>
    }
}

/// The hull of some marks, filled faintly in the colour of the first.
fn polygon(plane: Shared, of: Vec<usize>) -> impl IntoView {
    let first = of.first().copied().unwrap_or_default();
    let concept = plane.concept(first);
    let outline = move || {
        let reach = plane.reach.get();
        let corners = hull(plane.tips(&of)).into_iter();
        let corner = |at: Point| {
            let (x, y) = drawn(at, reach);
            format!("{x},{y}")
        };
        corners.map(corner).collect::<Vec<_>>().join(" ")
    };
    let class = format!("plane-hull {}", concept.unwrap_or_default().class());
    view! { <polygon class=class aria-hidden="true" points=outline /> }
}

/// A line from one mark to another.
fn connection(plane: Shared, (from, to): (usize, usize)) -> impl IntoView {
    let concept = plane.concept(from);
    let path = move || {
        let reach = plane.reach.get();
        let [from, to] = plane.tips(&[from, to])[..] else {
            return String::new();
        };
        let ((x, y), (to_x, to_y)) = (drawn(from, reach), drawn(to, reach));
        format!("M{x} {y}L{to_x} {to_y}")
    };
    let class = format!("plane-line {}", concept.unwrap_or_default().class());
    view! { <path class=class aria-hidden="true" d=path /> }
}

/// One arrow or point with its name; nothing while it has no position.
fn mark(plane: Shared, i: usize, is_small: bool) -> impl IntoView {
    let own = plane.marks.with_value(|marks| marks.get(i).cloned())?;
    let tip = own.tip;
    let place = move || drawn(tip.get().unwrap_or_default(), plane.reach.get());
    let shaft = (!own.is_point).then(|| {
        view! { <line class="plane-shaft" x2=move || place().0 y2=move || place().1 /> }
    });
    let dot = view! { <circle class="plane-dot" cx=move || place().0 cy=move || place().1 /> };
    let head = match own.on_move {
        Some(on_move) => handle(plane, &own, on_move, dot.into_any()).into_any(),
        None => dot.into_any(),
    };
    let name = (!is_small && !own.is_faint).then(|| name_text(plane, i, own.name));
    Some(view! {
        <g
            class=format!("plane-mark {}", own.concept.class())
            class:is-point=own.is_point
            class:is-faint=own.is_faint
            visibility=move || tip.get().is_none().then_some("hidden")
        >
            {shaft}
            {head}
            {name}
        </g>
    })
}

/// The tip as a control.
fn handle(plane: Shared, own: &Mark, on_move: Callback<Point>, dot: AnyView) -> impl IntoView {
    let tip = own.tip;
    let at = move || tip.get().unwrap_or_default();
    let place = move || drawn(at(), plane.reach.get());
    let most = move || plane.reach.get().max(at().0.abs());
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let (from, reach) = (tip.get_untracked(), plane.reach.get_untracked());
        let to = from.and_then(|from| step(from, &event.key(), event.shift_key(), reach));
        if let Some(to) = to {
            event.prevent_default();
            on_move.run(to);
        }
    };
    view! {
        <g
            class="plane-tip"
            role="slider"
            tabindex="0"
            aria-label=format!("{}: horizontal and vertical coordinate", own.name)
            aria-valuemin=move || -most()
            aria-valuemax=most
            aria-valuenow=move || at().0
            aria-valuetext=move || coordinates(at())
            on:keydown=on_key
            on:pointerdown=move |event| plane.hold(&event)
        >
            <circle class="plane-grip" cx=move || place().0 cy=move || place().1 r=GRIP />
            {dot}
        </g>
    }
}

/// The name of a mark, at its place.
fn name_text(plane: Shared, i: usize, name: String) -> impl IntoView {
    let place = move || {
        let place = plane.names.with(|places| places.get(i).copied());
        place.unwrap_or((0.0, 0.0, "middle"))
    };
    view! {
        <text
            class="plane-name"
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

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, x: f64, y: f64) -> Mark {
        Mark::point(name, Concept::Value, Signal::stored(Some((x, y))))
    }

    #[test]
    fn the_sentence_says_where_each_mark_is() {
        let owner = Owner::new();
        owner.with(|| {
            let arrow = Mark::arrow("query", Concept::Query, Signal::stored(Some((1.0, -0.5))));
            let absent = Mark::arrow("ghost", Concept::Query, Signal::stored(None));
            let said = sentence(&[arrow, absent], &[]);
            assert_eq!(said, "query: arrow to 1.00, \u{2212}0.50.");
            let corners = [
                point("a", 0.0, 0.0),
                point("b", 1.0, 0.0),
                point("c", 0.0, 1.0),
            ];
            let with = |x, y| {
                let marks = [&corners[..], &[point("output", x, y)]].concat();
                sentence(&marks, &[0, 1, 2])
            };
            assert!(with(0.25, 0.25).ends_with("0.25, 0.25, inside the polygon of the others."));
            assert!(with(0.75, 0.75).ends_with("outside the polygon of the others."));
            assert!(with(0.0, 0.0).starts_with("a: point 0, 0. b:"));
        });
    }
}
