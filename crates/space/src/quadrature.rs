//! The work of a law along its way from zero, with kinks found by halving.

/// Relative accuracy of the integral over a law with kinks.
const ACCURACY: f64 = 1e-13;
/// Intervals that are halved at most: enough for a hundred kinks. Beyond that the accuracy is left as it is.
const MOST_INTERVALS: usize = 4_000;

/// Positive nodes and weights of the 8-point Gauss–Legendre rule on (-1, 1).
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// The integral of a force over the way from zero to `x`. With s = x u² the integrand stays smooth for
/// forces that begin like a square root; unless the force is known to be smooth, the integral is refined
/// about kinks.
pub fn work_from_zero(x: f64, is_smooth: bool, force: impl Fn(f64) -> f64) -> f64 {
    let at = |u: f64| force(x * u * u) * 2.0 * x * u;
    let whole = gauss(0.0, 1.0, &at);
    if is_smooth || !whole.is_finite() {
        return whole;
    }
    // Where the force begins close to the end, the whole interval tells nothing of its size.
    let tolerance = ACCURACY * whole.abs().max(0.5 * at(1.0).abs());
    let mut left = MOST_INTERVALS;
    refined([0.0, 1.0], whole, tolerance, &mut left, &at)
}

/// The integral from a to b by eight points.
fn gauss(a: f64, b: f64, function: &impl Fn(f64) -> f64) -> f64 {
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    let pair = |&(node, weight): &(f64, f64)| {
        half * weight * (function(middle - half * node) + function(middle + half * node))
    };
    GAUSS.iter().map(pair).sum()
}

/// The same, halved where both halves tell something else, as long as halvings are left.
fn refined(
    [a, b]: [f64; 2],
    whole: f64,
    tolerance: f64,
    left: &mut usize,
    function: &impl Fn(f64) -> f64,
) -> f64 {
    let middle = 0.5 * (a + b);
    let halves = [[a, middle], [middle, b]];
    let sums = halves.map(|[a, b]| gauss(a, b, function));
    let difference = (sums[0] + sums[1] - whole).abs();
    // A force that begins after the last point of the rule is seen at the end of the interval only.
    let is_blind = sums[1] == 0.0 && function(b) != 0.0;
    let is_fine = !(difference > tolerance || is_blind);
    if *left == 0 || is_fine || middle <= a || middle >= b {
        return sums[0] + sums[1];
    }
    *left -= 1;
    let mut sum = 0.0;
    for (half, first) in halves.into_iter().zip(sums) {
        sum += refined(half, first, tolerance, left, function);
    }
    sum
}
