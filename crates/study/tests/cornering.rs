//! A car straight ahead and in steady turns against a nonlinear balance of forces on its two tracks, which is computed here.

use nalgebra::{DMatrix, DVector, Matrix3, Rotation3, Vector3};
use oldham_study::{ModelFile, TrimOptions, trim};

type V = Vector3<f64>;

const SPEED: f64 = 22.0;
const CHASSIS: f64 = 1150.0;
const INERTIA: [f64; 3] = [420.0, 1500.0, 1700.0];
const UNSPRUNG: f64 = 40.0;
const RIM_INERTIA: f64 = 0.9;
const CENTRE: f64 = 0.52;
const RADIUS: f64 = 0.31;
const STIFFNESS: f64 = 2e5;
const NOMINAL: f64 = 4000.0;
const DRAG: f64 = 0.45;
/// Wheels: place, spring, and whether they are steered or driven.
const WHEELS: [([f64; 2], f64, bool); 4] = [
    ([1.1, 0.75], 26e3, true),
    ([1.1, -0.75], 26e3, true),
    ([-1.5, 0.72], 30e3, false),
    ([-1.5, -0.72], 30e3, false),
];

/// The car as a model.
fn car(steer: f64) -> String {
    let mut text = format!(
        r#"
[model]
name = "Car on two tracks"
[parameters]
drive = 100
[simulation]
duration = 1
step = 2e-3
[multibody.car]
gravity = [0, 0, -9.81]
[multibody.car.nodes]
chassis = {{ position = [0, 0, {CENTRE}], velocity = [{SPEED}, 0, 0] }}
[multibody.car.bodies]
chassis = {{ node = "chassis", mass = {CHASSIS}, inertia = {INERTIA:?} }}
[multibody.car.sensors]
vx = {{ type = "body-velocity", on = "chassis", axis = [1, 0, 0] }}
vy = {{ type = "body-velocity", on = "chassis", axis = [0, 1, 0] }}
wz = {{ angular_velocity = "chassis", axis = [0, 0, 1] }}
height = {{ displacement = "chassis", axis = [0, 0, 1] }}
[multibody.car.loads]
drag = {{ on = "chassis", follower = true, force = ["-{DRAG} * vx^2", 0, 0] }}
[trim]
hold = {{ "car.sensors.vx" = {SPEED} }}
free = ["drive"]
settling_time = 4
"#
    );
    for (wheel, ([x, y], stiffness, steered)) in WHEELS.into_iter().enumerate() {
        let angle = if steered { steer } else { 0.0 };
        let (s, c) = angle.sin_cos();
        let spin = SPEED / RADIUS;
        let like = match wheel {
            0 => {
                "coefficients = { FITTYP = 61, LONGVL = 16, UNLOADED_RADIUS = 0.31, FNOMIN = 4000, VERTICAL_STIFFNESS = 2e5, \
                  VERTICAL_DAMPING = 500, BREFF = 8, DREFF = 0.25, FREFF = 0.1, LONGITUDINAL_STIFFNESS = 4e5, LATERAL_STIFFNESS = 2e5, \
                  PCX1 = 1.6, PDX1 = 1.1, PKX1 = 22, PCY1 = 1.35, PDY1 = 1.05, PDY2 = -0.1, PKY1 = -18, PKY2 = 1.8, \
                  RBX1 = 10, RCX1 = 1, RBY1 = 9, RCY1 = 1 }"
            }
            _ => "like = \"tyre0\"",
        };
        let motor = match steered {
            true => String::new(),
            false => format!(
                "motor{wheel} = {{ type = \"hub-motor\", between = [\"upright{wheel}\", \"rim{wheel}\"], torque = \"drive\", \
                 max_torque = 3000, max_power = 1e6, max_speed = 500 }}"
            ),
        };
        text += &format!(
            r#"
[multibody.car.nodes.upright{wheel}]
position = [{x}, {y}, {RADIUS}]
velocity = [{SPEED}, 0, 0]
[multibody.car.nodes.rim{wheel}]
position = [{x}, {y}, {RADIUS}]
velocity = [{SPEED}, 0, 0]
angular_velocity = [{}, {}, 0]
[multibody.car.bodies.upright{wheel}]
node = "upright{wheel}"
mass = {}
inertia = [1, 1, 1]
[multibody.car.bodies.rim{wheel}]
node = "rim{wheel}"
mass = 15
inertia = [{RIM_INERTIA}, {RIM_INERTIA}, {RIM_INERTIA}]
[multibody.car.joints.strut{wheel}]
type = "prismatic"
between = ["chassis", "upright{wheel}"]
axis = [0, 0, 1]
[multibody.car.joints.axle{wheel}]
type = "revolute"
between = ["upright{wheel}", "rim{wheel}"]
axis = [{}, {c}, 0]
[multibody.car.springs.spring{wheel}]
between = ["chassis", "upright{wheel}"]
points = [[{x}, {y}, 0.71], [{x}, {y}, {RADIUS}]]
stiffness = {stiffness}
damping = 2500
length = 0.52
[multibody.car.sensors.strut{wheel}]
coordinate = "strut{wheel}"
[multibody.car.elements]
tyre{wheel} = {{ type = "tyre", rim = "rim{wheel}", axis = [{}, {c}, 0], {like} }}
{motor}
"#,
            -s * spin,
            c * spin,
            UNSPRUNG - 15.0,
            -s,
            -s,
        );
    }
    // A table may stand once.
    let (mut elements, mut rest) = (String::from("[multibody.car.elements]\n"), String::new());
    let mut in_elements = false;
    for line in text.lines() {
        if line.starts_with('[') {
            in_elements = line == "[multibody.car.elements]";
            if in_elements {
                continue;
            }
        }
        let target = if in_elements {
            &mut elements
        } else {
            &mut rest
        };
        *target += line;
        target.push('\n');
    }
    rest + &elements
}

/// Force of the road on a wheel in axes of the vehicle, and where it acts from the centre of the wheel.
fn tyre(place: V, axis: V, velocity: V, spin: f64, turning: V) -> [V; 2] {
    let up = V::z();
    let (sine, cosine) = (axis.z, (1.0 - axis.z * axis.z).sqrt());
    let loaded = place.z / cosine;
    let arm = (axis * sine - up) / cosine * loaded;
    let forward = axis.cross(&up) / cosine;
    let left = up.cross(&forward);
    let deflection = RADIUS - loaded;
    let load = STIFFNESS * deflection;
    let nominal = NOMINAL / STIFFNESS;
    let effective = RADIUS
        - nominal * (0.25 * (8.0 * deflection / nominal).atan() + 0.1 * deflection / nominal);
    let contact = velocity + turning.cross(&arm);
    let speed = contact.dot(&forward);
    let slip = (spin * effective - speed) / speed;
    let angle = (contact.dot(&left) / speed).atan();
    let excess = load / NOMINAL - 1.0;
    // Pacejka 2012, Eq. 4.E9 to 4.E67, as far as the coefficients are not zero.
    let [peak_x, peak_y] = [1.1 * load, (1.05 - 0.1 * excess) * load];
    let stiffness_x = 22.0 * load;
    let stiffness_y = -18.0 * NOMINAL * (2.0 * (load / (1.8 * NOMINAL)).atan()).sin();
    let magic = |peak: f64, shape: f64, stiffness: f64, slip: f64| {
        peak * (shape * (stiffness / (shape * peak) * slip).atan()).sin()
    };
    let along = magic(peak_x, 1.6, stiffness_x, slip) * (10.0 * angle).atan().cos();
    let across = magic(peak_y, 1.35, stiffness_y, angle) * (9.0 * slip).atan().cos();
    [forward * along + left * across + up * load, arm]
}

/// What is not balanced. Unknown are height, roll, pitch, the four struts, the four spins, two velocities, the turn and the torque.
fn unbalanced(x: &DVector<f64>, steer: f64) -> DVector<f64> {
    let [height, roll, pitch] = [x[0], x[1], x[2]];
    let [u, w, turn, torque] = [x[11], x[12], x[13], x[14]];
    let rotation = Rotation3::from_axis_angle(&V::y_axis(), pitch)
        * Rotation3::from_axis_angle(&V::x_axis(), roll);
    let (up, gravity) = (V::z(), V::z() * -9.81);
    let turning = up * turn;
    let centre = up * height;
    let velocity = |place: V| V::new(u, w, 0.0) + turning.cross(&(place - centre));
    let acceleration = |place: V| turning.cross(&velocity(place));
    let inertia = rotation.matrix()
        * Matrix3::from_diagonal(&V::from(INERTIA))
        * rotation.matrix().transpose();
    let along = (rotation * V::x()).dot(&V::new(u, w, 0.0));
    let mut force =
        (gravity - acceleration(centre)) * CHASSIS - rotation * V::x() * DRAG * along * along;
    let mut moment = -turning.cross(&(inertia * turning));
    let mut left = DVector::zeros(15);
    for (wheel, ([px, py], stiffness, steered)) in WHEELS.into_iter().enumerate() {
        let [strut, spin] = [x[3 + wheel], x[7 + wheel]];
        let angle: f64 = if steered { steer } else { 0.0 };
        let axis = rotation * V::new(-angle.sin(), angle.cos(), 0.0);
        let place = centre + rotation * V::new(px, py, RADIUS - CENTRE + strut);
        let total = turning + axis * spin;
        let about = total.dot(&axis);
        let [road, arm] = tyre(place, axis, velocity(place), about, total - axis * about);
        let own = (gravity - acceleration(place)) * UNSPRUNG;
        let pull = stiffness * (0.4 - strut - 0.52);
        let driven = if steered { 0.0 } else { torque };
        left[wheel] = (road + own).dot(&(rotation * up)) + pull;
        left[4 + wheel] = axis.dot(&arm.cross(&road)) + driven;
        force += road + own;
        moment += (place - centre + arm).cross(&road) + (place - centre).cross(&own)
            - turning.cross(&(axis * spin * RIM_INERTIA));
    }
    left.rows_mut(8, 3).copy_from(&force);
    left.rows_mut(11, 3).copy_from(&moment);
    left[14] = along - SPEED;
    left
}

/// Newton's method from straight ahead.
fn balanced(steer: f64) -> DVector<f64> {
    let mut x = DVector::zeros(15);
    // Pressed in by its weight.
    x[0] = CENTRE - 0.016;
    x.rows_mut(7, 4).fill(SPEED / RADIUS);
    x[11] = SPEED;
    for part in 1..=8 {
        let steer = steer * f64::from(part) / 8.0;
        for _ in 0..12 {
            let left = unbalanced(&x, steer);
            let mut matrix = DMatrix::zeros(15, 15);
            for column in 0..15 {
                let size = 1e-6 * x[column].abs().max(1.0);
                let [mut high, mut low] = [x.clone(), x.clone()];
                high[column] += size;
                low[column] -= size;
                let slope = (unbalanced(&high, steer) - unbalanced(&low, steer)) / (2.0 * size);
                matrix.set_column(column, &slope);
            }
            x -= matrix.lu().solve(&left).expect("a car can be balanced");
        }
    }
    assert!(unbalanced(&x, steer).amax() < 1e-6, "{x}");
    x
}

/// In a turn of 0.7 g, where the inner wheels carry a third of the outer ones.
#[test]
fn a_car_goes_as_the_balance_of_its_two_tracks_says() {
    let (steer, lateral) = (0.04, 0.7);
    let exact = balanced(steer);
    assert!(
        (exact[13] * SPEED / 9.81 - lateral).abs() < 0.1,
        "{} m/s2",
        exact[13] * SPEED
    );
    let file = ModelFile::of_text("test", car(steer));
    let model = file.read().unwrap_or_else(|problems| panic!("{problems}"));
    let found = trim(&file, &model, &TrimOptions::default(), |_| {});
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    let trim = &found.trim;
    assert!(trim.residual < 1e-9, "{trim:?}");
    assert_eq!(trim.verdict, "stable", "{trim:?}");
    let near = |name: &str, value: f64, exact: f64, size: f64| {
        let off = (value - exact).abs();
        assert!(
            off < 2e-4 * exact.abs().max(size),
            "{name} at {steer}: {value} {exact}"
        );
    };
    near("turn", trim.turning[2], exact[13], 1e-3);
    near("torque", trim.found[0].value, exact[14], 10.0);
    let mut simulation = found.applied(&file).read().unwrap().simulation().unwrap();
    found.restore(&mut simulation).unwrap();
    simulation.steps(1).unwrap();
    let value = |name: &str| {
        let place = simulation
            .columns()
            .iter()
            .position(|column| column.name == name);
        simulation
            .value(place.unwrap_or_else(|| panic!("no `{name}`")))
            .unwrap()
    };
    near("height", value("car.sensors.height"), exact[0], 0.1);
    let rotation = Rotation3::from_axis_angle(&V::y_axis(), exact[2])
        * Rotation3::from_axis_angle(&V::x_axis(), exact[1]);
    let side = (rotation * V::y()).dot(&V::new(exact[11], exact[12], 0.0));
    near("side", value("car.sensors.vy"), side, 0.05);
    for wheel in 0..4 {
        near(
            "strut",
            value(&format!("car.sensors.strut{wheel}")),
            exact[3 + wheel],
            0.01,
        );
    }
}
