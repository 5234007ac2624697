//! Four points carry what many would: the deepest, and those that span the largest area.

use oldham_space::Vec3;

use super::Point;

/// Reduces the points from `start` on to at most four, ordered by feature.
pub fn reduce(points: &mut Vec<Point>, start: usize) {
    let candidates = &mut points[start..];
    if candidates.len() > 4 {
        let normal = candidates[0].normal;
        bring(candidates, 0, |p| -p.gap);
        let first = candidates[0].position;
        bring(candidates, 1, |p| squared(p.position - first));
        let second = candidates[1].position;
        let area = move |p: &Point| normal.dot((second - first).cross(p.position - first));
        bring(candidates, 2, |p| area(p).abs());
        let side = area(&candidates[2]);
        // The fourth lies across the line of the first two, or widens the triangle most.
        let third = candidates[2].position;
        bring(candidates, 3, move |p| {
            let across = -area(p) * 1.0_f64.copysign(side);
            let beside = (third - second).cross(p.position - second).norm();
            across.max(0.0) + 1e-9 * beside
        });
        points.truncate(start + 4);
    }
    points[start..].sort_by_key(|p| p.feature);
}

/// Points of a face nearer than this to where two edges meet are the same, relative to the solids.
const SAME: f64 = 1e-2;

/// Where two edges meet, at `start`, the points of the best face follow: a solid that is struck at a corner turns within the step, and what comes
/// down next is not far. Drops those that say the same.
pub fn beside_edges(points: &mut Vec<Point>, start: usize, size: f64) {
    let met = points[start];
    let mut kept = start + 1;
    for i in start + 1..points.len() {
        let mut point = points[i];
        // Edges part the solids more than the face does: nothing asks for more room than they do.
        point.gap = point.gap.max(met.gap);
        if squared(point.position - met.position) > (SAME * size).powi(2) {
            points[kept] = point;
            kept += 1;
        }
    }
    points.truncate(kept);
}

/// Brings the point with the largest merit to `place`; the first one of equals.
fn bring(points: &mut [Point], place: usize, merit: impl Fn(&Point) -> f64) {
    let mut best = place;
    for i in place + 1..points.len() {
        if merit(&points[i]) > merit(&points[best]) {
            best = i;
        }
    }
    points.swap(place, best);
}

fn squared(v: Vec3) -> f64 {
    v.dot(v)
}
