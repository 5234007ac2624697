//! The measured road of the examples under the car of the International Roughness Index.

use std::fs;

use crate::common::{coupled, read, repository};

/// Sayers' coefficients for a profile every 0.25 m (World Bank Technical Paper 46, 1986): what 0.25 m of
/// constant slope do to the derivatives of body and wheel with respect to the distance.
const TRANSITION: [[f64; 4]; 4] = [
    [0.9966071, 0.01091514, -0.002083274, 0.0003190145],
    [-0.5563044, 0.9438768, -0.8324718, 0.05064701],
    [0.02153176, 0.002126763, 0.7508714, 0.008221888],
    [3.335013, 0.3376467, -39.12762, 0.4347564],
];
const SLOPE: [f64; 4] = [0.005476107, 1.388776, 0.2275968, 35.79262];
/// Samples in the first 11 m, whose mean slope body and wheel start with.
const APPROACH: usize = 44;
/// Macro steps between two samples: 0.25 m at 80 km/h take 11.25 ms.
const STEPS: usize = 45;

/// Heights in m, every 0.25 m.
fn road() -> Vec<f64> {
    let text = fs::read_to_string(repository().join("examples/road.csv")).expect("the road");
    let rows = text.lines().filter_map(|line| line.split_once(','));
    rows.filter_map(|(_, height)| height.parse::<f64>().ok())
        .map(|height| 1e-3 * height)
        .collect()
}

/// Of body over wheel after each sample, per metre, by Sayers' recursion.
fn tabulated(road: &[f64]) -> Vec<f64> {
    let approach = (road[APPROACH] - road[0]) / (0.25 * APPROACH as f64);
    let mut state = [approach, 0.0, approach, 0.0];
    let slopes = road.windows(2).map(|pair| (pair[1] - pair[0]) / 0.25);
    slopes
        .map(|slope| {
            let old = state;
            for ((new, row), input) in state.iter_mut().zip(TRANSITION).zip(SLOPE) {
                let moved: f64 = row.iter().zip(old).map(|(a, b)| a * b).sum();
                *new = moved + input * slope;
            }
            state[0] - state[2]
        })
        .collect()
}

#[test]
fn the_measured_road_has_the_roughness_that_the_published_coefficients_give() {
    let road = road();
    assert_eq!(road.len(), 481);
    let tabulated = tabulated(&road);
    let speed = 80.0 / 3.6;
    let start = speed * (road[APPROACH] - road[0]) / (0.25 * APPROACH as f64);
    let text = format!(
        r#"
[model]
name = "Golden car"
[simulation]
duration = "{steps} * 0.25e-3"
step = "0.25 ms"
[table.road]
file = "{folder}/examples/road.csv"
columns = ["distance", "height"]
units = ["m", "mm"]
[lumped.car]
integrator = "rk4"
masses.body = {{ mass = 1, velocity = {start} }}
masses.wheel = {{ mass = 0.15, velocity = {start} }}
springs.tyre = {{ between = ["road", "wheel"], stiffness = 653 }}
springs.suspension = {{ between = ["wheel", "body"], stiffness = 63.3, damping = 6 }}
inputs.road = {{ motion = "road" }}
outputs.body = {{ velocity = "body" }}
outputs.wheel = {{ velocity = "wheel" }}
[excitation]
"car.road" = {{ x = "road({speed} * t)" }}
"#,
        steps = STEPS * tabulated.len(),
        folder = repository().display(),
    );
    let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let run = coupled(&model);
    let [body, wheel] = ["car.body", "car.wheel"].map(|name| run.column(name));
    let relative = |row: usize| (body[row] - wheel[row]) / speed;
    let (mut roughness, mut worst) = (0.0, 0.0_f64);
    for (sample, expected) in tabulated.iter().enumerate() {
        let found = relative(STEPS * (sample + 1));
        roughness += found.abs() / tabulated.len() as f64;
        worst = worst.max((found - expected).abs());
    }
    let published = tabulated.iter().map(|x| x.abs()).sum::<f64>() / tabulated.len() as f64;
    assert!(
        (roughness / published - 1.0).abs() < 1e-5,
        "{roughness} {published}"
    );
    assert!(worst < 1e-5 * 3.0 * published, "{worst:e} of {published}");
}
