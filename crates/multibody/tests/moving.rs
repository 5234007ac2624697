//! Modes about motions, against published equations and closed forms: rolling, tops, and elements that
//! remember.

use faer::{Mat, c64};
use oldham_multibody::{
    Body, Frictional, Hysteresis, Joint, Law, LuGre, Mat3, Mode, ModeKind, Model, Motion, NodeId,
    Options, Quaternion, Rod, RollingWheel, System, Vec3,
};
use std::f64::consts::{PI, TAU};

const GRAVITY: f64 = 9.81;

fn modes(model: Model, count: usize) -> (Vec<Mode>, bool) {
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let found = system.modes(count, None, &[]).unwrap();
    (found.modes, found.is_steady)
}

/// All eigenvalues but zero, of pairs both.
fn eigenvalues(modes: &[Mode]) -> Vec<c64> {
    let mut all = Vec::new();
    for mode in modes {
        if matches!(mode.kind, ModeKind::Rigid | ModeKind::Held) {
            continue;
        }
        all.push(c64::new(mode.growth, mode.omega));
        if mode.omega != 0.0 {
            all.push(c64::new(mode.growth, -mode.omega));
        }
    }
    all
}

/// The distance of each expected eigenvalue from the nearest found, relative to the largest. (An eigenvalue next to
/// zero, where displacements that nothing resists are too, is not known to the same share of itself.)
fn assert_eigenvalues(found: &[c64], expected: &[c64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    let largest = expected.iter().map(|s| s.norm()).fold(1.0, f64::max);
    for s in expected {
        let distance = found
            .iter()
            .map(|f| (f - s).norm())
            .fold(f64::INFINITY, f64::min);
        assert!(
            distance < tolerance * largest,
            "{s} is missing by {distance:.1e} in {found:?}"
        );
    }
}

/// The linearised equations of the Whipple bicycle, M q'' + v C q' + (g K₀ + v² K₂) q = 0 for lean and steer, from
/// its parameters after Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007) 1955–1982, Appendix A.
struct Whipple {
    mass: [[f64; 2]; 2],
    damping: [[f64; 2]; 2],
    stiffness: [[f64; 2]; 2],
    by_square: [[f64; 2]; 2],
}

/// The benchmark's parameters: x forward, y to the right, z down.
struct Bicycle {
    wheelbase: f64,
    trail: f64,
    tilt: f64,
    /// Radius, mass, moments of inertia across and about the axle.
    rear: [f64; 4],
    front: [f64; 4],
    /// Place x, z, mass, and moments Ixx, Iyy, Izz, Ixz.
    frame: [f64; 7],
    fork: [f64; 7],
}

const BENCHMARK: Bicycle = Bicycle {
    wheelbase: 1.02,
    trail: 0.08,
    tilt: PI / 10.0,
    rear: [0.3, 2.0, 0.0603, 0.12],
    front: [0.35, 3.0, 0.1405, 0.28],
    frame: [0.3, -0.9, 85.0, 9.2, 11.0, 2.8, 2.4],
    fork: [0.9, -0.7, 4.0, 0.05892, 0.06, 0.00708, -0.00756],
};

impl Bicycle {
    fn equations(&self) -> Whipple {
        let (w, c) = (self.wheelbase, self.trail);
        let (sin, cos) = self.tilt.sin_cos();
        let [rr, mr, irxx, iryy] = self.rear;
        let [rf, mf, ifxx, ifyy] = self.front;
        let [xb, zb, mb, ibxx, _, ibzz, ibxz] = self.frame;
        let [xh, zh, mh, ihxx, _, ihzz, ihxz] = self.fork;
        let mt = mr + mb + mh + mf;
        let xt = (xb * mb + xh * mh + w * mf) / mt;
        let zt = (-rr * mr + zb * mb + zh * mh - rf * mf) / mt;
        let itxx =
            irxx + ibxx + ihxx + ifxx + mr * rr * rr + mb * zb * zb + mh * zh * zh + mf * rf * rf;
        let itxz = ibxz + ihxz - mb * xb * zb - mh * xh * zh + mf * w * rf;
        let itzz = irxx + ibzz + ihzz + ifxx + mb * xb * xb + mh * xh * xh + mf * w * w;
        let ma = mh + mf;
        let xa = (xh * mh + w * mf) / ma;
        let za = (zh * mh - rf * mf) / ma;
        let iaxx = ihxx + ifxx + mh * (zh - za).powi(2) + mf * (rf + za).powi(2);
        let iaxz = ihxz - mh * (xh - xa) * (zh - za) + mf * (w - xa) * (rf + za);
        let iazz = ihzz + ifxx + mh * (xh - xa).powi(2) + mf * (w - xa).powi(2);
        let ua = (xa - w - c) * cos - za * sin;
        let iall = ma * ua * ua + iaxx * sin * sin + 2.0 * iaxz * sin * cos + iazz * cos * cos;
        let ialx = -ma * ua * za + iaxx * sin + iaxz * cos;
        let ialz = ma * ua * xa + iaxz * sin + iazz * cos;
        let mu = c / w * cos;
        let (sr, sf) = (iryy / rr, ifyy / rf);
        let st = sr + sf;
        let sa = ma * ua + mu * mt * xt;
        let cross = ialx + mu * itxz;
        let turned = mu * st + sf * cos;
        Whipple {
            mass: [
                [itxx, cross],
                [cross, iall + 2.0 * mu * ialz + mu * mu * itzz],
            ],
            damping: [
                [0.0, turned + itxz / w * cos - mu * mt * zt],
                [-turned, ialz / w * cos + mu * (sa + itzz / w * cos)],
            ],
            stiffness: [[mt * zt, -sa], [-sa, -sa * sin]],
            by_square: [
                [0.0, (st - mt * zt) / w * cos],
                [0.0, (sa + sf * sin) / w * cos],
            ],
        }
    }

    /// The same machine as a mechanism: x forward, y to the left, z up.
    fn mechanism(&self, speed: f64) -> Model {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
        let forward = Vec3::X * speed;
        let mut node = |name: &str, place: Vec3, spin: f64, mass: f64, i: [f64; 4]| {
            let pose = Motion::at_rest(place, Quaternion::IDENTITY);
            let node = model.node(name, pose.moving(forward, Vec3::Y * spin));
            let [xx, yy, zz, xz] = i;
            let inertia = oldham_multibody::M3([[xx, 0.0, xz], [0.0, yy, 0.0], [xz, 0.0, zz]]);
            model.body(node, Body::centred(mass, inertia));
            node
        };
        let [xb, zb, mb, ibxx, ibyy, ibzz, ibxz] = self.frame;
        let [xh, zh, mh, ihxx, ihyy, ihzz, ihxz] = self.fork;
        let [rr, mr, irxx, iryy] = self.rear;
        let [rf, mf, ifxx, ifyy] = self.front;
        let hubs = [Vec3::new(0.0, 0.0, rr), Vec3::new(self.wheelbase, 0.0, rf)];
        let frame = node(
            "frame",
            Vec3::new(xb, 0.0, -zb),
            0.0,
            mb,
            [ibxx, ibyy, ibzz, -ibxz],
        );
        let fork = node(
            "fork",
            Vec3::new(xh, 0.0, -zh),
            0.0,
            mh,
            [ihxx, ihyy, ihzz, -ihxz],
        );
        let rear = node("rear", hubs[0], speed / rr, mr, [irxx, iryy, irxx, 0.0]);
        let front = node("front", hubs[1], speed / rf, mf, [ifxx, ifyy, ifxx, 0.0]);
        let revolute = |model: &mut Model, name: &str, nodes: [NodeId; 2], place, axis| {
            let [a, b] = nodes.map(|node| model.axis_marker(node, place, axis));
            model.element(name, Joint::revolute(a, b));
        };
        let (sin, cos) = self.tilt.sin_cos();
        let steered = Vec3::new(self.wheelbase + self.trail, 0.0, 0.0);
        let axis = Vec3::new(-sin, 0.0, cos);
        revolute(&mut model, "steer", [frame, fork], steered, axis);
        // The directions of this joint turn with the wheel.
        revolute(&mut model, "rear hub", [rear, frame], hubs[0], Vec3::Y);
        revolute(&mut model, "front hub", [fork, front], hubs[1], Vec3::Y);
        for (name, wheel, hub, radius) in [
            ("rear rolls", rear, hubs[0], rr),
            ("front rolls", front, hubs[1], rf),
        ] {
            let plane = model.axis_marker(NodeId::GROUND, Vec3::ZERO, Vec3::Z);
            let centre = model.axis_marker(wheel, hub, Vec3::Y);
            model.element(name, RollingWheel::new(plane, centre, radius));
        }
        model
    }
}

impl Whipple {
    fn eigenvalues(&self, speed: f64) -> Vec<c64> {
        let [m, c] = [&self.mass, &self.damping];
        let determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
        let inverse = [
            [m[1][1] / determinant, -m[0][1] / determinant],
            [-m[1][0] / determinant, m[0][0] / determinant],
        ];
        let mut matrix = Mat::<f64>::zeros(4, 4);
        for i in 0..2 {
            matrix[(i, 2 + i)] = 1.0;
            for j in 0..2 {
                for k in 0..2 {
                    let held =
                        GRAVITY * self.stiffness[k][j] + speed * speed * self.by_square[k][j];
                    matrix[(2 + i, j)] -= inverse[i][k] * held;
                    matrix[(2 + i, 2 + j)] -= inverse[i][k] * speed * c[k][j];
                }
            }
        }
        matrix.eigenvalues().unwrap()
    }
}

/// The published canonical matrices and eigenvalues are those of the formulas.
#[test]
fn the_oracle_is_the_published_bicycle() {
    let found = BENCHMARK.equations();
    let published = [
        (
            found.mass,
            [
                [80.81722, 2.319_413_322_087_09],
                [2.319_413_322_087_09, 0.297_841_881_996_86],
            ],
        ),
        (
            found.stiffness,
            [
                [-80.95, -2.599_516_852_498_72],
                [-2.599_516_852_498_72, -0.803_294_884_586_18],
            ],
        ),
        (
            found.by_square,
            [[0.0, 76.597_345_895_732_22], [0.0, 2.654_315_237_946_04]],
        ),
        (
            found.damping,
            [
                [0.0, 33.866_413_914_924_94],
                [-0.850_356_414_569_78, 1.685_403_973_975_60],
            ],
        ),
    ];
    for (found, published) in published {
        for (found, published) in found.iter().flatten().zip(published.iter().flatten()) {
            assert!((found - published).abs() < 2e-13, "{found} {published}");
        }
    }
    let at_five = [
        c64::new(-14.078_389_692_798_2, 0.0),
        c64::new(-0.322_866_429_004_09, 0.0),
        c64::new(-0.775_341_882_195_85, 4.464_867_713_788_23),
        c64::new(-0.775_341_882_195_85, -4.464_867_713_788_23),
    ];
    assert_eigenvalues(&found.eigenvalues(5.0), &at_five, 1e-11);
}

/// Straight running from standstill to 10 m/s. It said that the bicycle grows at 5.4 1/s at 5 m/s.
#[test]
fn a_bicycle_has_the_published_eigenvalues() {
    let oracle = BENCHMARK.equations();
    for speed in 0..=10 {
        let speed = f64::from(speed);
        let (found, is_steady) = modes(BENCHMARK.mechanism(speed), 20);
        assert!(is_steady, "{speed}");
        assert_eigenvalues(&eigenvalues(&found), &oracle.eigenvalues(speed), 1e-9);
    }
}

fn disc(speed: f64, lean: f64, inertia: [f64; 2]) -> Model {
    let (mass, radius) = (2.0, 0.3);
    let [across, about] = inertia;
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
    let turn = Quaternion::exp(Vec3::X * lean);
    let centre = Vec3::new(0.0, -lean.sin() * radius, lean.cos() * radius);
    let axle = turn.matrix() * Vec3::Y;
    let pose = Motion::at_rest(centre, turn).moving(Vec3::X * speed, axle * (speed / radius));
    let disc = model.node("disc", pose);
    model.body(
        disc,
        Body::centred(mass, Mat3::diagonal(across, about, across)),
    );
    let plane = model.axis_marker(NodeId::GROUND, Vec3::ZERO, Vec3::Z);
    let marker = model.axis_marker(disc, centre, axle);
    model.element("rolls", RollingWheel::new(plane, marker, radius));
    model
}

/// An upright disc that rolls leans with ω² = (Ω² I (I + m r²) / A - m g r) / (A + m r²), where I and A are its
/// moments of inertia about the axle and across it (Neimark, Fufaev 1972).
#[test]
fn a_rolling_disc_leans_as_it_should() {
    let (m, r) = (2.0, 0.3);
    for inertia in [[0.045, 0.09], [0.05, 0.07]] {
        for speed in [0.2, 1.0, 1.5, 4.0] {
            let [across, about] = inertia;
            let spin = speed / r;
            let square = (spin * spin * about * (about + m * r * r) / across - m * GRAVITY * r)
                / (across + m * r * r);
            let (found, is_steady) = modes(disc(speed, 0.0, inertia), 10);
            assert!(is_steady);
            let s = c64::new(-square, 0.0).sqrt();
            assert_eigenvalues(&eigenvalues(&found), &[s, -s], 1e-9);
        }
    }
}

/// A top that sleeps: with the tilt as a complex number A z'' - i C Ω z' - m g l z = 0.
#[test]
fn a_sleeping_top_is_stable_beyond_its_speed() {
    let (mass, length, across, about) = (0.5, 0.1, 0.004, 0.001);
    // About the point that it stands on.
    let a = across + mass * length * length;
    let least = 2.0 * (mass * GRAVITY * length * a).sqrt() / about;
    for factor in [0.3, 0.9, 1.1, 2.0] {
        let spin = factor * least;
        for turned in [false, true] {
            let mut model = Model::new();
            model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
            let pose = Motion::at_rest(Vec3::Z * length, Quaternion::exp(Vec3::Z * 0.3));
            let top = model.node("top", pose.moving(Vec3::ZERO, Vec3::Z * spin));
            model.body(
                top,
                Body::centred(mass, Mat3::diagonal(across, across, about)),
            );
            let [ground, tip] = [NodeId::GROUND, top].map(|node| model.marker(node, Vec3::ZERO));
            let joint = match turned {
                true => Joint::spherical(tip, ground),
                false => Joint::spherical(ground, tip),
            };
            model.element("tip", joint);
            let (found, is_steady) = modes(model, 10);
            assert!(is_steady);
            // Seen from above both turn the same way; as real motions they are pairs.
            let root = c64::new(
                4.0 * a * mass * GRAVITY * length - (about * spin).powi(2),
                0.0,
            )
            .sqrt();
            let s = [1.0, -1.0].map(|sign| (c64::new(0.0, about * spin) + root * sign) / (2.0 * a));
            let both = [s[0], s[1], s[0].conj(), s[1].conj()];
            assert_eigenvalues(&eigenvalues(&found), &both, 1e-9);
        }
    }
}

/// A mass on a rail along x, held by a spring of this law one metre away.
fn rail(law: Law, speed: f64) -> Model {
    let mut model = Model::new();
    let pose = Motion::at_rest(Vec3::ZERO, Quaternion::IDENTITY);
    let mass = model.node("mass", pose.moving(Vec3::X * speed, Vec3::ZERO));
    model.body(mass, Body::centred(1.0, Mat3::IDENTITY));
    let [a, b] = [NodeId::GROUND, mass].map(|node| model.axis_marker(node, Vec3::ZERO, Vec3::X));
    model.element("rail", Joint::prismatic(a, b));
    let [wall, end] = [(NodeId::GROUND, -Vec3::X), (mass, Vec3::ZERO)]
        .map(|(node, place)| model.marker(node, place));
    model.element("spring", Rod::new(wall, end, 1.0, law));
    model
}

/// Springs in series with dampers have states of their own: m s² + k + Σ kᵢ τᵢ s / (1 + τᵢ s) = 0. They were left
/// out: 3.183 Hz without damping.
#[test]
fn branches_that_relax_count() {
    let branches = [(200.0, 0.05), (100.0, 0.5)];
    for speed in [0.0, 0.01] {
        let law = Law::Viscoelastic {
            stiffness: 400.0,
            branches: branches.into(),
        };
        let (found, _) = modes(rail(law, speed), 10);
        let found = eigenvalues(&found);
        assert_eq!(found.len(), 4);
        for s in &found {
            let branch = |(k, t): (f64, f64)| s * (k * t) / (s * t + 1.0);
            let sum = s * s + 400.0 + branches.map(branch).iter().sum::<c64>();
            assert!(sum.norm() < 1e-9 * s.norm_sqr().max(400.0), "{s}: {sum}");
        }
        let upper = found.iter().find(|s| s.im > 0.0).unwrap();
        assert!((upper.im / TAU - 3.995).abs() < 1e-3 && (upper.re + 2.277).abs() < 1e-3);
    }
}

const FRICTION: LuGre = LuGre {
    coulomb: 0.2,
    stiction: 0.3,
    stribeck: 0.05,
    stiffness: 1e3,
    damping: 2.0,
    viscous: 0.5,
};

fn slider(speed: f64) -> Model {
    let mut model = rail(
        Law::Linear {
            stiffness: 400.0,
            damping: 0.0,
        },
        speed,
    );
    let rail = model.find_element("rail").unwrap();
    let nodes = [NodeId::GROUND, model.nodes_of(rail)[1]];
    let [a, b] = nodes.map(|node| model.axis_marker(node, Vec3::ZERO, Vec3::X));
    model.replace(rail, Frictional::prismatic(a, b, 8.0, FRICTION));
    model
}

/// Bristles that stick are springs and dampers, m s² + N (σ₁ + σ₂) s + k + N σ₀ = 0, and the mass stays where it
/// is put. They counted as dampers alone.
#[test]
fn bristles_that_stick_are_springs() {
    let (found, _) = modes(slider(0.0), 10);
    let kinds = found.iter().filter(|mode| mode.kind == ModeKind::Held);
    assert_eq!(kinds.count(), 1, "{found:?}");
    let damping = 8.0 * (FRICTION.damping + FRICTION.viscous);
    let held = c64::new(
        400.0 + 8.0 * FRICTION.stiffness - 0.25 * damping * damping,
        0.0,
    );
    let s = c64::new(-0.5 * damping, 0.0) + c64::new(0.0, 1.0) * held.sqrt();
    assert_eigenvalues(&eigenvalues(&found), &[s, s.conj()], 1e-9);
}

/// A hysteretic spring is a spring for small motions, whose rest may be shifted.
#[test]
fn hysteresis_at_rest_is_a_spring_with_a_set() {
    let law = Hysteresis {
        stiffness: 100.0,
        ratio: 0.2,
        yield_at: 0.02,
        exponent: 1.0,
        softness: 0.5,
    };
    let (found, _) = modes(rail(Law::Hysteresis(law), 0.0), 10);
    let held = found.iter().filter(|mode| mode.kind == ModeKind::Held);
    assert_eq!(held.count(), 1, "{found:?}");
    let s = c64::new(0.0, 10.0);
    assert_eigenvalues(&eigenvalues(&found), &[s, s.conj()], 1e-9);
}
