//! How much mass may be tied rigidly to an interface that the paper's scheme shares: zero-stability.
//!
//! What hangs on the interface by rigid joints answers to its predicted acceleration, a step late. With a share r of the
//! interface's own mass the error of the prediction comes back r times, whatever the step is.

use oldham_stability::{is_stable, radius};

use crate::item::{PaperError, model_with};

/// A hub with two bodies that are fixed to it, in two parts.
const HUB: &str = r#"
[model]
name = "Hub"
[parameters]
share = 0.5
[simulation]
duration = 0.3
step = 3e-4
[multibody.car]
rho = 0.6
[multibody.car.nodes]
hub = { position = [0, 0, 0] }
left = { position = [1, 0, 0] }
right = { position = [-1, 0, 0] }
[multibody.car.bodies]
hub = { node = "hub", mass = 1, inertia = [1, 1, 1] }
left = { node = "left", mass = "share/2", inertia = [1e-9, 1e-9, 1e-9] }
right = { node = "right", mass = "share/2", inertia = [1e-9, 1e-9, 1e-9] }
[multibody.car.joints]
left = { type = "fixed", between = ["hub", "left"] }
right = { type = "fixed", between = ["hub", "right"] }
[multibody.car.cut]
at = ["hub"]
scheme = "interface-mass"
predictor = "hermite"
"#;

/// The spectral radius with a share of the interface's mass tied to it.
pub(super) fn radius_with(share: f64, predictor: &str, rho: f64) -> Result<f64, PaperError> {
    let settings = vec![
        ("share", share.to_string()),
        ("multibody.car.rho", rho.to_string()),
        ("multibody.car.cut.predictor", format!("\"{predictor}\"")),
    ];
    Ok(radius(&mut model_with(HUB, &settings)?.simulation()?))
}

/// The largest share that is stable; zero if none is.
pub(super) fn bound(predictor: &str, rho: f64) -> Result<f64, PaperError> {
    let (mut low, mut high) = (1e-3, 2.0);
    if !is_stable(radius_with(low, predictor, rho)?) {
        return Ok(0.0);
    }
    while high / low > 1.0 + 1e-4 {
        let middle = f64::sqrt(low * high);
        match is_stable(radius_with(middle, predictor, rho)?) {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `papers/oracles/fontana_added_mass.py`: 1/19.83 with Hermite's prediction and 0.6; radii of 3.175 and 2.178 with shares of 0.549 and 0.3.
    #[test]
    fn the_bound_is_that_of_the_recurrence() {
        let found = bound("hermite", 0.6).unwrap();
        assert!((found * 19.83 - 1.0).abs() < 2e-3, "{found}");
        for (share, expected) in [(0.549, 3.175), (0.3, 2.178)] {
            let found = radius_with(share, "hermite", 0.6).unwrap();
            assert!((found - expected).abs() < 1e-3, "{share}: {found}");
        }
    }
}
