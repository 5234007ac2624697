//! What the papers say in words about figures that have no numbers, and whether the values of an item bear it out.

use crate::item::Report;

/// A statement about an item, and what its values say.
pub(crate) struct Claim {
    /// Such as `fontana/fig-10`.
    pub item: &'static str,
    /// In our words.
    pub text: &'static str,
    /// Whether it holds, and how that shows.
    pub judge: fn(&Report) -> (bool, String),
}

/// The statement of one item on its values.
const fn claim(
    item: &'static str,
    text: &'static str,
    judge: fn(&Report) -> (bool, String),
) -> Claim {
    Claim { item, text, judge }
}

pub(crate) const CLAIMS: &[Claim] = &[
    claim(
        "fontana/fig-10",
        "stiffness hardly moves the border of stability, damping does: the more, the less is stable",
        |report| {
            let of = |what: &str, factor: &str| {
                report.value(&format!("{what} x {factor}: stable points"))
            };
            let stiffness = ["0.1", "1", "10"].map(|factor| of("stiffness", factor));
            let damping = ["0.1", "1", "10"].map(|factor| of("damping", factor));
            let near = stiffness
                .iter()
                .all(|count| (count - stiffness[1]).abs() < 10.0);
            let falls = damping[0] > damping[1] && damping[1] > damping[2];
            (
                near && falls,
                format!(
                    "points of 625: {stiffness:?} for a tenth, once and ten times the stiffness, {damping:?} for the damping"
                ),
            )
        },
    ),
    claim(
        "fontana/fig-11",
        "implicit coupling is stable for smaller interface masses than explicit",
        |report| {
            let explicit = report.value("explicit: smallest interface mass");
            let implicit = report.value("implicit, plain iteration: smallest interface mass");
            (
                implicit < explicit,
                format!("{implicit:.4} kg against {explicit:.4} kg"),
            )
        },
    ),
    claim(
        "fontana/fig-12",
        "the scheme is stable for most steps and spectral radii",
        |report| {
            let count = report.value("proposed: stable points");
            (count > 312.0, format!("{count} of 625 points"))
        },
    ),
    claim(
        "fontana/fig-13",
        "interpolating the force keeps the accuracy, holding it loses orders of magnitude",
        |report| {
            let of = |name: &str| report.value(&format!("{name}: error / monolithic"));
            let (kept, held) = (of("RK4, force interpolated"), of("RK4, force held"));
            let note = format!(
                "errors of {kept:.2} and {held:.0} times the monolithic one at 1 ms. The print shows about four orders between them: held, the ratio grows as one over the step, which the print does not give"
            );
            (kept < 2.0 && held > 50.0, note)
        },
    ),
    claim(
        "fontana/fig-15",
        "the beam in two and three parts follows the monolithic one",
        |report| {
            let of = |parts: &str| {
                report.value(&format!("{parts} parts, interface-mass, D = 0 s: largest difference from the monolithic solution"))
            };
            let most = of("2").max(of("3"));
            let note = format!(
                "undamped within {most:.1e} m of 1.5 m. Read as 0.05 s times the stiffness, the printed damping is unstable by the paper's scheme, and runs by the interface Jacobian: what the factor means is not printed"
            );
            (most < 1e-6, note)
        },
    ),
    claim(
        "fontana/fig-16",
        "the shell in two parts follows the monolithic one",
        |report| {
            let difference = report.value("4 x 2, interface-mass, h = 0.1 ms: largest difference from the monolithic solution");
            (
                difference < 1e-5,
                format!(
                    "within {difference:.1e} m of 0.06 m; the density is not printed, ours is 1000 kg/m³"
                ),
            )
        },
    ),
    claim(
        "tamellin/fig-3",
        "co-simulation moves the second pole pair to the right half plane",
        |report| {
            let name = "undamped, Ts = 1 ms: largest distance from the monolithic poles, without compensation";
            let moved = report.value(name);
            (
                moved > 0.0,
                format!("by {moved:.3} 1/s; the printed 0.52 was not reproduced (table-1)"),
            )
        },
    ),
    claim(
        "tamellin/fig-4",
        "all latent roots are in the left half plane",
        |report| {
            let rightmost = report.value("real part of the rightmost latent root");
            (
                rightmost < 0.0,
                format!("the rightmost has {rightmost:.0} 1/s"),
            )
        },
    ),
    claim(
        "tamellin/fig-5",
        "as the macro step grows, the second pole pair becomes unstable",
        |report| {
            let [first, second] =
                ["pole 1, real part", "pole 2, real part"].map(|name| report.value(name));
            (
                first < 0.0 && second > 0.0,
                format!("{first:.3} and {second:.3} 1/s at 5 ms"),
            )
        },
    ),
    claim(
        "tamellin/fig-7",
        "compensation puts the poles back",
        |report| {
            let name = "undamped, Ts = 1 ms: largest distance from the monolithic poles, with compensation";
            let left = report.value(name);
            (
                left < 1e-6,
                format!("to within {left:.0e} rad/s with the smallest gains on D(s)"),
            )
        },
    ),
    claim(
        "tamellin/fig-8",
        "all latent roots with compensation are in the left half plane",
        |report| {
            let rightmost =
                report.value("real part of the rightmost latent root with compensation");
            (
                rightmost < 0.0,
                format!("the rightmost has {rightmost:.0} 1/s, with the smallest gains on D(s)"),
            )
        },
    ),
    claim(
        "tamellin/fig-9",
        "compensation puts the poles back, at 1 ms and at 4 ms",
        |report| {
            let of = |ms: &str| {
                report.value(&format!("damped, Ts = {ms} ms: largest distance from the monolithic poles, with compensation"))
            };
            let most = of("1").max(of("4"));
            (
                most < 1e-6,
                format!("to within {most:.0e} rad/s with the smallest gains on D(s)"),
            )
        },
    ),
    claim(
        "tamellin/fig-20",
        "compensation puts the poles of the four masses back",
        |report| {
            let left = report.value("four masses, Ts = 3 ms: largest distance from the monolithic poles, with compensation");
            (
                left < 1e-3,
                format!("to within {left:.0e} rad/s with the smallest gains on D(s)"),
            )
        },
    ),
    claim(
        "tamellin/fig-11",
        "without compensation the motion diverges, with the paper's gains it follows the reference",
        follows,
    ),
    claim(
        "tamellin/fig-14",
        "without compensation the motion is off, with the paper's gains it follows the reference",
        follows,
    ),
    claim(
        "tamellin/fig-16",
        "without compensation the motion diverges, with the paper's gains it follows the reference",
        follows,
    ),
    claim(
        "tamellin/fig-22",
        "without compensation the motion diverges, with the paper's gains it follows the reference",
        follows,
    ),
    claim(
        "zhang/fig-5",
        "index-1 inputs have the largest region of stability, original inputs none",
        |report| {
            let of = |law: &str| report.value(&format!("{law}: stable points"));
            let [original, third, second, first] =
                ["original", "index-3", "index-2", "index-1"].map(of);
            (
                original == 0.0 && first > third.max(second),
                format!("parts of the map: {original:.3}, {third:.3}, {second:.3}, {first:.3}"),
            )
        },
    ),
    claim(
        "zhang/fig-6",
        "implicit coupling is stable everywhere, and weights decide how much of the map is",
        |report| {
            let of = |label: &str| report.value(&format!("{label}: stable points"));
            let (implicit, heavy) = (of("implicit"), of("weights 200, 200, 1"));
            (
                implicit == 1.0 && heavy < 0.5,
                format!("{implicit:.3} implicit, {heavy:.3} with weights of 200"),
            )
        },
    ),
    claim(
        "zhang/fig-7",
        "a heavier nonsmooth side is less stable",
        |report| {
            let of =
                |label: &str| report.value(&format!("m2 / m1 = {label}, index-1: stable points"));
            let (light, heavy) = (of("0.5"), of("2"));
            (
                heavy < light,
                format!("{light:.3} of the map at half the mass, {heavy:.3} at twice"),
            )
        },
    ),
    claim(
        "zhang/fig-8",
        "original inputs diverge, modified ones do not",
        |report| {
            let of = |law: &str| report.value(&format!("{law}: largest position"));
            let modified = ["index-3", "index-2", "index-1"]
                .map(of)
                .into_iter()
                .fold(0.0, f64::max);
            (
                of("original") > 1.0 && modified < 0.01,
                format!("{:.0e} m against {modified:.4} m", of("original")),
            )
        },
    ),
    claim(
        "zhang/fig-9",
        "modified inputs are accurate of first order, like implicit coupling",
        |report| {
            let of = |law: &str| report.value(&format!("{law}: order of x"));
            let orders = ["index-3", "index-2", "index-1", "implicit"].map(of);
            (
                orders.iter().all(|order| (order - 1.0).abs() < 0.1),
                format!("orders {orders:.2?}"),
            )
        },
    ),
    claim(
        "zhang/fig-11",
        "the cut double pendulum follows the monolithic one with all modified inputs",
        |report| {
            let of = |law: &str| report.value(&format!("{law}: error of θ1 at 5 s")).abs();
            let most = ["index-1", "index-2", "index-3"]
                .map(of)
                .into_iter()
                .fold(0.0, f64::max);
            (
                most < 0.02,
                format!("within {most:.4} rad at 5 s; geometry and gravity are not printed"),
            )
        },
    ),
    claim(
        "zhang/fig-15",
        "particles hold the resonance, and the simplified model almost overlaps",
        |report| {
            let of =
                |name: &str| report.value(&format!("{name}: amplitude of the last ten cycles"));
            let (bare, rig, simple) = (of("no particles"), of("coupled"), of("simplified"));
            let close = (rig / simple - 1.0).abs() < 0.15;
            (
                rig < 0.3 * bare && close,
                format!(
                    "{:.2} and {:.2} mm against {:.1} mm without particles; the work in a cycle differs more, since the simplified model leaves out that the beam itself is shaken",
                    1e3 * rig,
                    1e3 * simple,
                    1e3 * bare
                ),
            )
        },
    ),
    claim(
        "zhang/fig-16",
        "particles cause a small rotation out of the plane and a torsional moment",
        |report| {
            let (angle, moment) = (
                report.value("largest rotation about x"),
                report.value("largest torsional moment"),
            );
            (
                angle > 0.0 && moment > 0.0,
                format!("{angle:.1e} rad and {moment:.1e} N.m"),
            )
        },
    ),
    claim(
        "zhang/fig-18",
        "explicit coupling is very close to implicit",
        |report| {
            let of =
                |name: &str| report.value(&format!("{name}: amplitude of the last ten cycles"));
            let (explicit, implicit) = (of("explicit"), of("implicit"));
            (
                (explicit / implicit - 1.0).abs() < 0.15,
                format!(
                    "amplitudes of {:.2} and {:.2} mm; histories of particles part after the first impacts",
                    1e3 * explicit,
                    1e3 * implicit
                ),
            )
        },
    ),
    claim(
        "zhang/fig-19",
        "on a thin beam, too, the coupled and the simplified model agree, and particles damp",
        |report| {
            let of =
                |name: &str| report.value(&format!("{name}: amplitude of the last three cycles"));
            let (bare, rig, simple) = (of("no particles"), of("coupled"), of("simplified"));
            (
                rig < 0.5 * bare && (rig / simple - 1.0).abs() < 0.15,
                format!(
                    "{:.2} and {:.2} mm against {:.2} mm without particles",
                    1e3 * rig,
                    1e3 * simple,
                    1e3 * bare
                ),
            )
        },
    ),
    claim(
        "pikulinski/fig-2",
        "a hold adds energy, the monolithic solution keeps it",
        |report| {
            let (held, alone) = (
                report.value("energy at the end, hold"),
                report.value("energy at the end, monolithic"),
            );
            (
                held > 1.5 * alone,
                format!("{held:.0} J against {alone:.0} J after 10 s"),
            )
        },
    ),
    claim(
        "pikulinski/fig-8",
        "the learned energy overlaps the monolithic one, a hold diverges",
        |report| {
            let of = |name: &str| report.value(&format!("energy at 2 s, {name}"));
            let (alone, held, learned) = (of("monolithic"), of("hold"), of("paper's, window 100"));
            (
                (learned / alone - 1.0).abs() < 0.05 && held > 2.0 * alone,
                format!("{learned:.0} J, {alone:.0} J and {held:.0} J at 2 s"),
            )
        },
    ),
    claim(
        "pikulinski/fig-11",
        "with the square-root spring learning follows, a hold does not",
        |report| {
            let of = |name: &str| report.value(&format!("largest error of x1, {name}"));
            let (held, learned) = (of("hold"), of("paper's, window 100"));
            (
                learned < 0.3 * held,
                format!("largest errors of {learned:.1} m and {held:.1} m"),
            )
        },
    ),
    claim(
        "pikulinski/fig-15",
        "learning keeps the energy of the pendula, a hold does not",
        |report| {
            let of = |name: &str| report.value(&format!("largest energy error in 5 s, {name}"));
            let (held, learned) = (of("hold"), of("paper's, window 100"));
            (
                learned < 0.01 * held,
                format!("{learned:.1e} J and {held:.2} J"),
            )
        },
    ),
    claim(
        "pikulinski/fig-19",
        "a learned motion can be interpolated within a macro step, a held one jumps",
        |report| {
            let of = |name: &str| report.value(&format!("largest jump, {name}"));
            let (held, learned) = (of("hold"), of("paper's, window 10"));
            (
                learned < 0.2 * held,
                format!("largest jumps of {learned:.1e} m and {held:.1e} m"),
            )
        },
    ),
];

/// Errors of displacement without compensation and with the paper's gains.
fn follows(report: &Report) -> (bool, String) {
    let of = |way: &str| {
        let mut rows = report.rows.iter();
        let row = rows.find(|row| row.name.ends_with(&format!("{way}, displacement")));
        row.map_or(f64::NAN, |row| row.computed.number())
    };
    let printed = of("with the printed gains");
    let (theirs, which) = match printed.is_nan() {
        true => (
            of("with D(s) gains"),
            "with the smallest gains on D(s), since the paper's are not printed for this system",
        ),
        false => (printed, "with the printed gains"),
    };
    let plain = of("without compensation");
    let note = format!(
        "errors of {plain:.3} without and {theirs:.4} of the range {which}, over 10 s; ours, in z: {:.1e}",
        of("with our gains, in z")
    );
    (theirs < 0.5 * plain, note)
}
