//! Convex functions of one number, as distances along a segment are.

/// Steps of the golden section; its interval shrinks to rounding.
const STEPS: usize = 60;

/// Where a convex function on [-1, 1] is least: the value to rounding, the place to its root.
pub fn golden(f: &impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (-1.0, 1.0);
    let (mut left, mut right) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..STEPS {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - RATIO * (high - low);
            at_left = f(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + RATIO * (high - low);
            at_right = f(right);
        }
    }
    let middle = 0.5 * (low + high);
    [-1.0, 1.0]
        .into_iter()
        .fold(middle, |best, t| if f(t) <= f(best) { t } else { best })
}

/// How far from its lowest point, towards `end`, a convex function stays below a level.
pub fn edge(f: &impl Fn(f64) -> f64, level: f64, lowest: f64, end: f64) -> f64 {
    if f(end) <= level {
        return end;
    }
    let (mut inside, mut outside) = (lowest, end);
    for _ in 0..STEPS {
        let middle = 0.5 * (inside + outside);
        if f(middle) <= level {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}
