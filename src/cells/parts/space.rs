//! Points in space as a plane shows them: an orthographic view that turns about the direction
//! (1, 1, 1), in which all three numbers are equal.
//!
//! At an angle of 0 degrees the view is along (1, 1, 1), so a plane at right angles to it is seen
//! from the front; at 90 degrees it is seen from its edge.

/// Parts of a drawn circle.
const PARTS: u32 = 72;

/// Points to the right in every view.
const RIGHT: [f64; 3] = [-1.0, 1.0, 0.0];

/// Points up in the view along (1, 1, 1).
const UP: [f64; 3] = [-1.0, -1.0, 2.0];

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The vector of length 1 in the same direction.
fn unit(v: [f64; 3]) -> [f64; 3] {
    let length = dot(v, v).sqrt();
    v.map(|x| x / length)
}

/// The two directions of the drawing, right and up, as unit vectors in space.
fn directions(tilt: f64) -> [[f64; 3]; 2] {
    let (sin, cos) = tilt.to_radians().sin_cos();
    let (up, all) = (unit(UP), unit([1.0; 3]));
    [unit(RIGHT), [0, 1, 2].map(|n| cos * up[n] + sin * all[n])]
}

/// Position of a point in the drawing: right and up.
pub(crate) fn seen(point: [f64; 3], tilt: f64) -> (f64, f64) {
    let [right, up] = directions(tilt);
    (dot(point, right), dot(point, up))
}

/// The point that is seen at `to` and as far from the reader as `from`.
pub(crate) fn unseen(from: [f64; 3], to: (f64, f64), tilt: f64) -> [f64; 3] {
    let [right, up] = directions(tilt);
    let now = seen(from, tilt);
    let (across, along) = (to.0 - now.0, to.1 - now.1);
    [0, 1, 2].map(|n| from[n] + across * right[n] + along * up[n])
}

/// The outline of a sphere around the origin, which is the same circle from everywhere.
pub(crate) fn outline(radius: f64) -> Vec<[(f64, f64); 2]> {
    closed(|angle| (radius * angle.cos(), radius * angle.sin()))
}

/// The circle of a sphere in the plane through the origin at right angles to (1, 1, 1).
pub(crate) fn circle(radius: f64, tilt: f64) -> Vec<[(f64, f64); 2]> {
    let (right, up) = (unit(RIGHT), unit(UP));
    closed(|angle| {
        let point = [0, 1, 2].map(|n| radius * (angle.cos() * right[n] + angle.sin() * up[n]));
        seen(point, tilt)
    })
}

/// The pieces of a closed curve.
fn closed(at: impl Fn(f64) -> (f64, f64)) -> Vec<[(f64, f64); 2]> {
    let point = |n: u32| at(std::f64::consts::TAU * f64::from(n) / f64::from(PARTS));
    (0..PARTS).map(|n| [point(n), point(n + 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Along (1, 1, 1) a shift of all three numbers is not seen; from the side it is a step up.
    #[test]
    fn a_shift_is_seen_only_from_the_side() {
        let (x, moved) = ([2.0, 1.0, -1.5], [3.0, 2.0, -0.5]);
        let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1) < 1e-12;
        assert!(near(seen(x, 0.0), seen(moved, 0.0)));
        let (from, to) = (seen(x, 90.0), seen(moved, 90.0));
        assert!((to.1 - from.1 - 3.0_f64.sqrt()).abs() < 1e-12 && (to.0 - from.0).abs() < 1e-12);
    }

    /// What is dragged to a place is seen there.
    #[test]
    fn a_dragged_point_is_seen_where_it_was_dragged_to() {
        for tilt in [0.0, 30.0, 65.0, 90.0] {
            let moved = unseen([2.0, 1.0, -1.5], (0.4, -1.2), tilt);
            let (right, up) = seen(moved, tilt);
            assert!((right - 0.4).abs() < 1e-12 && (up + 1.2).abs() < 1e-12);
        }
    }

    #[test]
    fn the_circle_is_whole_from_the_front_and_a_line_from_the_edge() {
        for [from, _] in circle(2.0, 0.0) {
            assert!((from.0.hypot(from.1) - 2.0).abs() < 1e-12);
        }
        for [from, _] in circle(2.0, 90.0) {
            assert!(from.1.abs() < 1e-12 && from.0.abs() <= 2.0 + 1e-12);
        }
        assert_eq!(outline(1.0).len(), PARTS as usize);
    }
}
