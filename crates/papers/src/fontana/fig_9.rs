//! Stability over the interface masses: the literature's scheme, the paper's, and the tangent.

use oldham_results::plot::Figure;
use oldham_stability::{is_stable, radius};

use super::masses::{over_masses, smallest_mass};
use super::{LITERATURE, LITERATURE_EXPLICIT, PROPOSED, VELOCITY_TOO, proposed, with_jacobian};
use crate::item::{PaperError, Report, model, model_with};
use crate::map_study::{Scheme, stable};

pub(super) fn compute(report: &mut Report) -> Result<(), PaperError> {
    let study = over_masses();
    let schemes = [
        Scheme::new("literature", LITERATURE, &[]),
        Scheme::new("literature, semi-implicit Euler", LITERATURE_EXPLICIT, &[]),
        proposed(),
        with_jacobian(),
    ];
    let mut maps = Vec::new();
    for scheme in &schemes {
        let radii = study.radii(scheme);
        let mut at_baseline = model_with(scheme.text, &scheme.settings)?.simulation()?;
        let note = "h = 1 ms, rho = 0.6, Table 1; the print gives no number";
        let name = format!("{}: spectral radius", scheme.name);
        report.row(name, None, radius(&mut at_baseline), "1", note);
        let name = format!("{}: stable points", scheme.name);
        let note = "of 625 points; the print is a picture";
        report.row(name, None, stable(&radii), "1", note);
        maps.push(radii);
    }
    velocity_too(report)?;
    extrapolation(report);
    let share = |name: &str| report.value(&format!("{name}: stable points"));
    let holds =
        share("proposed") > share("literature").max(share("literature, semi-implicit Euler"));
    let note = format!(
        "{} of 625 points against {} and {}",
        share("proposed"),
        share("literature"),
        share("literature, semi-implicit Euler")
    );
    report.statement(
        "the proposed scheme is stable for many more interface masses than the literature's",
        holds,
        note,
    );
    let mut monolithic = model(PROPOSED, &[])?.monolithic(None)?;
    let note = "the monolithic system with the same integrator";
    let radius = radius(&mut monolithic);
    report.row("monolithic: spectral radius", None, radius, "1", note);
    let monolithics = study.monolithic_radii(&proposed());
    let differences = maps[3].iter().zip(&monolithics).map(|(a, b)| (a - b).abs());
    report.row(
        "interface Jacobian: largest difference of radii from monolithic",
        None,
        differences.fold(0.0, f64::max),
        "1",
        "over all 625 points; not in the paper",
    );
    let title = "Stability over the interface masses (shaded: unstable)";
    let literature = study
        .panel(Some(&maps[0]))
        .with_series(study.border("border, literature", &schemes[0], &maps[0]))
        .with_series(study.border(
            "border, literature with semi-implicit Euler",
            &schemes[1],
            &maps[1],
        ));
    let proposed = study
        .panel(Some(&maps[2]))
        .with_series(study.border("border, proposed", &schemes[2], &maps[2]))
        .with_series(study.border("interface Jacobian", &schemes[3], &maps[3]));
    report.picture(
        &Figure::new(title)
            .with_panel(literature)
            .with_panel(proposed),
    )
}

/// The same map where position and velocity of the interface are prescribed, instead of the position alone.
fn velocity_too(report: &mut Report) -> Result<(), PaperError> {
    let scheme = Scheme::new("position and velocity", PROPOSED, &VELOCITY_TOO);
    let mut at_baseline = model_with(scheme.text, &scheme.settings)?.simulation()?;
    let name = "position and velocity exchanged: spectral radius";
    let note = "of the coupling subsystem's own history; the paper reports no number";
    report.row(name, None, radius(&mut at_baseline), "1", note);
    let both = stable(&over_masses().radii(&scheme));
    let note = "of 625 points; the paper reports no number";
    let name = "position and velocity exchanged: stable points";
    report.row(name, None, both, "1", note);
    let border = |more: &[(&'static str, &str)]| {
        smallest_mass([1e-3, 1.0], |masses| {
            let mut set = Scheme::new("", PROPOSED, more).settings;
            set.extend(masses.iter().cloned());
            let radius = radius(&mut model_with(PROPOSED, &set)?.simulation()?);
            Ok(is_stable(radius))
        })
    };
    let [alone, border] = [border(&[])?, border(&VELOCITY_TOO)?];
    let name = "position and velocity exchanged: smallest interface mass";
    let note = format!("m2 + m3; with the position alone {alone:.5} kg");
    report.row(name, None, border, "kg", &note);
    let position = report.value("proposed: stable points");
    let note = format!(
        "{position} stable points of 625 with the position, {both} with both; the smallest interface mass is {alone:.4} kg and {border:.4} kg, errors are in fig-13"
    );
    let holds = (both / position - 1.0).abs() < 0.02;
    report.statement(
        "exchanging the velocity, too, changes hardly anything",
        holds,
        note,
    );
    Ok(())
}

/// The same map with other orders of extrapolation of what the subsystems are sent.
fn extrapolation(report: &mut Report) {
    let study = over_masses();
    let mut counts = Vec::new();
    for (name, word) in [
        ("constant", "constant-rate"),
        ("linear", "linear-rate"),
        ("Hermite", "hermite"),
    ] {
        let settings = [
            ("lumped.left.predictor", word),
            ("lumped.right.predictor", word),
        ];
        let scheme = Scheme::new(name, PROPOSED, &settings);
        let count = stable(&study.radii(&scheme));
        let note = "of 625 points; the rate is extrapolated";
        report.row(
            format!("{name} extrapolation: stable points"),
            None,
            count,
            "1",
            note,
        );
        counts.push(count);
    }
    let holds = counts.windows(2).all(|pair| pair[1] < pair[0]);
    let trend = if holds { "falling" } else { "not monotonic" };
    let note = format!(
        "{} points with a constant, {} with a line, {} with Hermite's cubic: {trend}",
        counts[0], counts[1], counts[2]
    );
    report.statement("extrapolation of higher order is less stable", holds, note);
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    const H: f64 = 1e-3;
    const K: f64 = 1e3;
    const C: f64 = 10.0;
    const M1: f64 = 2.0;
    const M4: f64 = 1.0;
    const RHO: f64 = 0.6;

    /// A polynomial in the delay w = 1/z, the constant first.
    #[derive(Clone, Debug)]
    struct Polynomial(Vec<f64>);

    impl Polynomial {
        fn times(&self, other: &Self) -> Self {
            let mut product = vec![0.0; self.0.len() + other.0.len() - 1];
            for (i, a) in self.0.iter().enumerate() {
                for (j, b) in other.0.iter().enumerate() {
                    product[i + j] += a * b;
                }
            }
            Self(product)
        }

        fn plus(&self, other: &Self, factor: f64) -> Self {
            let at = |p: &Self, i: usize| p.0.get(i).copied().unwrap_or(0.0);
            let length = self.0.len().max(other.0.len());
            Self(
                (0..length)
                    .map(|i| at(self, i) + factor * at(other, i))
                    .collect(),
            )
        }

        /// The largest eigenvalue z: the inverse of the smallest zero.
        fn radius(&self) -> f64 {
            // The zeros of the reversed polynomial are the eigenvalues themselves.
            let n = self.0.len() - 1;
            let companion = DMatrix::from_fn(n, n, |i, j| match i {
                0 => -self.0[j + 1] / self.0[0],
                _ => f64::from(u8::from(i == j + 1)),
            });
            let values = companion.complex_eigenvalues();
            values.iter().map(|value| value.norm()).fold(0.0, f64::max)
        }
    }

    /// The literature's scheme by hand. Under the two-step method a rate is s = N(w) / D(w) times its
    /// value. Each side answers a motion of its interface x with the force
    /// (m s² + e - e² / (m' s² + 2 e)) x, with e = c s + k and its inner mass m'. The right one sees
    /// x₃ = P(w) x₂: by the cubic through two values and rates, whose slope one step ahead is
    /// 8 v + 5 v' - 12 (x - x') / h, integrated by the same method.
    fn by_hand(m2: f64, m3: f64) -> f64 {
        let square = (1.0_f64 - RHO).powi(2);
        let beta = (3.0 * square + 4.0 * (2.0 * RHO - 1.0)) / (4.0 - square);
        let delta = square / (2.0 * (4.0 - square));
        let [a1, a2] = [1.0 - beta, beta];
        let [b0, b1, b2] = [
            delta + 0.5,
            beta / 2.0 + 0.5 - 2.0 * delta,
            beta / 2.0 + delta,
        ];
        let n = Polynomial(vec![1.0, -a1, -a2]);
        let d = Polynomial([b0, b1, b2].map(|b| H * b).to_vec());
        let zero = Polynomial(vec![0.0]);
        let nn = n.times(&n);
        // All of it times D².
        let e = zero.plus(&n.times(&d), C).plus(&d.times(&d), K);
        let side = |m: f64, inner: f64| {
            let inner = zero.plus(&nn, inner).plus(&e, 2.0);
            let outer = zero.plus(&nn, m).plus(&e, 1.0);
            (outer.times(&inner).plus(&e.times(&e), -1.0), inner)
        };
        let (left, inner_left) = side(m2, M1);
        let (right, inner_right) = side(m3, M4);
        let values = Polynomial(vec![0.0, a1 - 12.0 * b0, a2 + 12.0 * b0]);
        let rates = Polynomial(vec![0.0, H * (8.0 * b0 + b1), H * (5.0 * b0 + b2)]);
        let predicted = values.times(&d).plus(&rates.times(&n), 1.0);
        let own = left.times(&inner_right).times(&d);
        let other = right.times(&inner_left).times(&predicted);
        own.plus(&other, 1.0).radius()
    }

    #[test]
    fn the_literatures_scheme_is_as_stable_as_its_characteristic_polynomial_says() {
        let study = over_masses();
        let radii = study.radii(&Scheme::new("literature", LITERATURE, &[]));
        let mut growing = 0;
        for (place, radius) in radii.iter().enumerate() {
            let m2 = study.x.values[place % study.x.values.len()];
            let m3 = study.y.values[place / study.x.values.len()];
            let exact = by_hand(m2, m3);
            // What decays slowly is a multiple zero near 1 of the polynomial, which rounding splits.
            assert_eq!(is_stable(*radius), exact < 1.0 + 1e-6, "{m2} {m3}: {exact}");
            if exact > 1.0 + 1e-6 {
                growing += 1;
                assert!((radius / exact - 1.0).abs() < 1e-7, "{radius} {exact}");
            }
        }
        assert_eq!(growing, 402);
    }
}
