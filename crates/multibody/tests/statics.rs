//! Static equilibrium where weight or tension alone gives stiffness.

use oldham_multibody::{
    BeamMesh, Body, CoordinateForce, Direction, Drive, Joint, Law, LineInertia, Load, Lumping,
    Marker, Mat3, Model, Motion, NodeId, Options, Quaternion, Rod, Section, SolveError, System,
    Vec3, straight_beam,
};

const G: f64 = 9.81;

fn weighed() -> Model {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -G));
    model
}

fn settled(model: Model) -> System {
    let mut system = System::new(model, Options::default()).unwrap();
    system
        .equilibrium(0.0, 4, &[])
        .unwrap_or_else(|error| panic!("{error}"));
    system
}

fn hinge(model: &mut Model, name: &str, a: NodeId, b: NodeId, place: Vec3) {
    let [p, q] = [a, b].map(|n| model.axis_marker(n, place, Vec3::Y));
    model.element(name, Joint::revolute(p, q));
}

fn bar(model: &mut Model, name: String, centre: Vec3, mass: f64) -> NodeId {
    let node = model.node(name, Motion::at(centre));
    model.body(node, Body::centred(mass, Mat3::diagonal(0.01, 0.02, 0.02)));
    node
}

/// From the horizontal, and from above.
#[test]
fn a_pendulum_hangs_down() {
    for angle in [0.0_f64, 0.3, -1.2, 1.5] {
        let mut model = weighed();
        let centre = Vec3::new(angle.cos(), 0.0, angle.sin());
        let bob = bar(&mut model, "bob".into(), centre, 2.0);
        hinge(&mut model, "pivot", NodeId::GROUND, bob, Vec3::ZERO);
        let mut system = settled(model);
        let error = (system.motion(bob).position + Vec3::Z).norm();
        assert!(error < 1e-9, "{error:e} from {angle}");
        system.start(0.0, &[]).unwrap();
        (0..100).for_each(|_| system.step(1e-2, &[]).unwrap());
        assert!((system.motion(bob).position + Vec3::Z).norm() < 1e-9);
    }
}

/// A side force F inclines a pendulum of weight W by atan(F / W).
#[test]
fn a_pushed_pendulum_takes_the_angle_of_the_resultant() {
    let mut model = weighed();
    let bob = bar(&mut model, "bob".into(), Vec3::X, 2.0);
    hinge(&mut model, "pivot", NodeId::GROUND, bob, Vec3::ZERO);
    let push = [Drive::Constant(-7.0), Drive::ZERO, Drive::ZERO];
    let none = [Drive::ZERO, Drive::ZERO, Drive::ZERO];
    model.element("push", Load::fixed(Marker::on(bob), push, none));
    let place = settled(model).motion(bob).position;
    assert!((place[0] / place[2] - 7.0 / (2.0 * G)).abs() < 1e-10);
}

/// n equal links of length l and weight w between supports of the same height: for the angle of
/// link i tan θ_i = w (n + 1 - 2 i)/(2 H), and Σ l cos θ_i is the span. Here the chain starts
/// as a zigzag.
#[test]
fn a_chain_between_two_walls_hangs_in_its_polygon() {
    let (n, length, span) = (8, 0.25_f64, 1.6_f64);
    let tension = {
        let reach = |h: f64| -> f64 {
            let link = |i: usize| {
                let slope = (n as f64 + 1.0 - 2.0 * i as f64) / (2.0 * h);
                length / (1.0 + slope * slope).sqrt()
            };
            (1..=n).map(link).sum()
        };
        let (mut low, mut high) = (1e-6, 1e3);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if reach(middle) < span {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let mut model = weighed();
    let (mut last, mut place) = (NodeId::GROUND, Vec3::ZERO);
    let mut nodes = Vec::new();
    let tilt = (span / (n as f64 * length)).acos();
    for i in 0..n {
        let turned = Quaternion::exp(Vec3::Y * if i % 2 == 0 { tilt } else { -tilt });
        let half = turned.matrix() * (Vec3::X * (0.5 * length));
        let motion = Motion::at_rest(place + half, turned);
        let link = model.node(format!("link {i}"), motion);
        model.body(link, Body::centred(1.0, Mat3::diagonal(0.01, 0.02, 0.02)));
        hinge(&mut model, &format!("hinge {i}"), last, link, place);
        nodes.push(link);
        last = link;
        place += half * 2.0;
    }
    let [wall, end] = [NodeId::GROUND, last].map(|n| model.axis_marker(n, place, Vec3::Y));
    model.element("wall", Joint::in_line(wall, end));
    let system = settled(model);
    for (i, &node) in nodes.iter().enumerate() {
        let axis = system.motion(node).rotation.column(0);
        let slope = -axis[2] / axis[0];
        let expected = (n as f64 - 1.0 - 2.0 * i as f64) / (2.0 * tension);
        assert!(
            (slope - expected).abs() < 1e-6 * tension.recip(),
            "{i}: {slope} {expected}"
        );
    }
}

/// A string of springs without any stress, straight: nothing holds it across its line at first.
/// Each mass hangs between its neighbours: two springs of length l₀ and stiffness k, and a weight w
/// in the middle, sag by z with 2 k (1 - l₀/√(l₀² + z²)) z = w.
#[test]
fn a_slack_string_sags_under_a_weight() {
    let (k, mass) = (1e4, 0.5);
    let mut model = weighed();
    let middle = bar(&mut model, "weight".into(), Vec3::ZERO, mass);
    // The weight may neither turn nor leave the plane.
    use oldham_multibody::Direction::{Free, Locked};
    let [a, b] = [NodeId::GROUND, middle].map(|n| model.marker(n, Vec3::ZERO));
    let turn = [Locked, Locked, Locked];
    model.element("guide", Joint::total(a, b, [Free, Locked, Free], turn));
    for (name, x) in [("left", -1.0), ("right", 1.0)] {
        let wall = Marker::on(NodeId::GROUND).offset(Vec3::X * x);
        let law = Law::Linear {
            stiffness: k,
            damping: 0.0,
        };
        model.element(name, Rod::new(wall, Marker::on(middle), 1.0, law));
    }
    let z = -settled(model).motion(middle).position[2];
    let balance = 2.0 * k * (1.0 - 1.0 / (1.0 + z * z).sqrt()) * z;
    assert!((balance / (mass * G) - 1.0).abs() < 1e-9, "{z}");
}

/// A flexible pendulum, from the horizontal: it ends straight down, stretched by its own weight by
/// m g L / (2 EA) at its end.
#[test]
fn a_flexible_pendulum_hangs_down_stretched() {
    let (length, line, axial) = (2.0, 3.0, 1e5);
    let mut model = weighed();
    let mesh = BeamMesh {
        from: Vec3::ZERO,
        to: Vec3::X * length,
        up: Vec3::Y,
        elements: 4,
        section: Section::diagonal([axial, 4e4, 4e4, 50.0, 80.0, 80.0]),
        inertia: LineInertia {
            mass: line,
            rotary: [1e-3, 5e-4, 5e-4],
        },
        lumping: Lumping::Segments,
    };
    let nodes = straight_beam(&mut model, "rope", &mesh);
    hinge(&mut model, "pivot", NodeId::GROUND, nodes[0], Vec3::ZERO);
    let system = settled(model);
    let end = system.motion(nodes[8]).position;
    let stretched = length + line * G * length * length / (2.0 * axial);
    assert!((end[2] + stretched).abs() < 1e-6, "{end:?} {stretched}");
    assert!(end[0].abs() < 1e-8, "{end:?}");
}

/// Fifty links from the horizontal, to show that the number of steps stays bounded.
#[test]
fn a_long_chain_hangs_down() {
    let mut model = weighed();
    let mut last = NodeId::GROUND;
    for i in 0..50 {
        let place = Vec3::X * (0.1 * i as f64);
        let link = bar(&mut model, format!("link {i}"), place + Vec3::X * 0.05, 0.3);
        hinge(&mut model, &format!("hinge {i}"), last, link, place);
        last = link;
    }
    let end = settled(model).motion(last).position;
    assert!((end + Vec3::Z * 4.95).norm() < 1e-8, "{end:?}");
}

/// A cable falls from the horizontal: it hardly resists bending or twist, so that nearly all of its
/// stiffness is the tension at the end. It was refused, for want of something that holds it.
#[test]
fn a_cable_that_hardly_bends_hangs_down() {
    let (line, axial, elements) = (0.1, 1e4, 50);
    for bending in [1e-2, 1e-3, 1e-4, 1e-5] {
        let mut model = weighed();
        let mesh = BeamMesh {
            from: Vec3::ZERO,
            to: Vec3::X,
            up: Vec3::Y,
            elements,
            section: Section::diagonal([axial, 4e3, 4e3, bending, bending, bending]),
            inertia: LineInertia {
                mass: line,
                rotary: [2e-6, 1e-6, 1e-6],
            },
            lumping: Lumping::Segments,
        };
        let nodes = straight_beam(&mut model, "rope", &mesh);
        hinge(&mut model, "hook", NodeId::GROUND, nodes[0], Vec3::ZERO);
        let end = settled(model).motion(nodes[2 * elements]).position;
        let stretched = 1.0 + line * G / (2.0 * axial);
        assert!(
            (end + Vec3::Z * stretched).norm() < 1e-8,
            "{bending}: {end:?}"
        );
    }
}

fn refused(model: Model) -> String {
    let mut system = System::new(model, Options::default()).unwrap();
    let error = system.equilibrium(0.0, 4, &[]).unwrap_err();
    let SolveError::Unheld { unknown, .. } = error else {
        panic!("{error}");
    };
    unknown
}

/// A pendulum beside it does find its place.
#[test]
fn a_rotor_about_a_vertical_axis_is_refused_and_named() {
    let mut model = weighed();
    let rotor = bar(&mut model, "rotor".into(), Vec3::X, 2.0);
    let [a, b] = [NodeId::GROUND, rotor].map(|n| model.marker(n, Vec3::ZERO));
    model.element("axle", Joint::revolute(a, b));
    let bob = bar(&mut model, "bob".into(), Vec3::X, 2.0);
    hinge(&mut model, "pivot", NodeId::GROUND, bob, Vec3::ZERO);
    assert_eq!(refused(model), "rotor");
}

#[test]
fn a_falling_body_is_refused_and_named() {
    let mut model = weighed();
    bar(&mut model, "stone".into(), Vec3::X, 2.0);
    assert_eq!(refused(model), "stone");
}

/// A link on two ball joints turns about its own line.
#[test]
fn a_link_free_to_spin_about_its_line_is_refused_and_named() {
    let mut model = weighed();
    let bob = bar(&mut model, "bob".into(), Vec3::X, 2.0);
    let [a, b] = [NodeId::GROUND, bob].map(|n| model.marker(n, Vec3::ZERO));
    model.element("ball", Joint::spherical(a, b));
    assert_eq!(refused(model), "bob");
}

/// Complete elliptic integrals of both kinds, by the arithmetic-geometric mean.
fn elliptic(k: f64) -> [f64; 2] {
    let (mut a, mut b, mut c) = (1.0_f64, (1.0 - k * k).sqrt(), k);
    let (mut sum, mut power) = (0.5 * c * c, 0.5);
    while c.abs() > 1e-16 {
        (a, b, c) = (0.5 * (a + b), (a * b).sqrt(), 0.5 * (a - b));
        power *= 2.0;
        sum += power * c * c;
    }
    let first = std::f64::consts::FRAC_PI_2 / a;
    [first, first * (1.0 - sum)]
}

/// Clamped columns of 1 m beyond their Euler loads, pushed aside by 1 mN and not at all: the straight one, 0.33 mm aside,
/// was said to rest, then named as unstable. The bent one is Euler's elastica: √(P/EI) l = K(k), and its tip is at
/// x = (2 E/K - 1) l, y = 2 k / √(P/EI).
#[test]
fn a_slender_column_beyond_its_euler_load_is_bent() {
    let bending = 2.0;
    for (ratio, aside, stiffer) in [
        (1.5_f64, 1e-3, 2.0),
        (1.5, 0.0, 4.0),
        (1.5, -1e-3, 4.0),
        (1.1, 1e-4, 4.0),
        (1.1, 1e-3, 2.0),
        (2.5, 1e-3, 4.0),
    ] {
        let load = ratio * std::f64::consts::PI.powi(2) / 4.0 * bending;
        let mut model = Model::new();
        let mesh = BeamMesh {
            from: Vec3::ZERO,
            to: Vec3::X,
            up: Vec3::Z,
            elements: 8,
            // Stiffer the other way: exactly pushed and round, it would be bent to any side.
            section: Section::diagonal([1e6, 1e6, 1e6, 2.0, bending, stiffer]),
            inertia: LineInertia {
                mass: 0.1,
                rotary: [1e-5; 3],
            },
            lumping: Lumping::Segments,
        };
        let nodes = straight_beam(&mut model, "column", &mesh);
        let tip = *nodes.last().unwrap();
        let [p, q] = [NodeId::GROUND, nodes[0]].map(|n| model.marker(n, Vec3::ZERO));
        model.element("clamp", Joint::clamp(p, q));
        let push = [-load, aside, 0.0].map(Drive::Constant);
        let none = [0.0; 3].map(Drive::Constant);
        model.element("push", Load::fixed(Marker::on(tip), push, none));
        let system = settled(model);
        let root = (load / bending).sqrt();
        // K grows with k.
        let (mut low, mut high) = (0.0, 1.0 - 1e-12);
        for _ in 0..60 {
            let k = 0.5 * (low + high);
            match elliptic(k)[0] < root {
                true => low = k,
                false => high = k,
            }
        }
        let [first, second] = elliptic(low);
        let (x, y) = (2.0 * second / first - 1.0, 2.0 * low / root);
        let found = system.motion(tip).position;
        let sideways = found[1].hypot(found[2]);
        println!("{ratio} {aside}: {found:?} instead of {x} {y}");
        assert!((found[0] - x).abs() < 2e-3, "{ratio}: {found:?} {x}");
        assert!((sideways - y).abs() < 2e-3, "{ratio}: {found:?} {y}");
        assert!(aside == 0.0 || found[1] * aside > 0.0, "{found:?}");
    }
}

/// Exactly upright, or on a spring that is too weak to hold it: φ of k φ = m g l sin φ.
#[test]
fn an_inverted_pendulum_on_a_weak_spring_leans() {
    for ratio in [0.5, 0.9] {
        let mut model = weighed();
        let bob = bar(&mut model, "bob".into(), Vec3::Z, 2.0);
        let ends = [NodeId::GROUND, bob].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Y));
        model.element("pivot", Joint::revolute(ends[0], ends[1]));
        let stiffness = ratio * 2.0 * G;
        let spring = CoordinateForce::torsion_spring(ends[0], ends[1], stiffness, 0.0, 0.0);
        model.element("spring", spring);
        let system = settled(model);
        let [x, _, z] = system.motion(bob).position.0;
        let angle = x.atan2(z);
        assert!(angle.abs() > 0.5, "{angle}");
        let balance = ratio * angle - angle.sin();
        assert!(balance.abs() < 1e-9, "{balance:e} at {angle}");
    }
}

/// One that the spring holds stays.
#[test]
fn an_inverted_pendulum_on_a_strong_spring_stays() {
    let mut model = weighed();
    let bob = bar(&mut model, "bob".into(), Vec3::Z, 2.0);
    let ends = [NodeId::GROUND, bob].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Y));
    model.element("pivot", Joint::revolute(ends[0], ends[1]));
    let spring = CoordinateForce::torsion_spring(ends[0], ends[1], 2.1 * G, 0.0, 0.0);
    model.element("spring", spring);
    let system = settled(model);
    assert!((system.motion(bob).position - Vec3::Z).norm() < 1e-9);
}

/// A body on seven springs: Newton's iteration ended in a saddle with a potential of 1658 J; a minimisation from many
/// starts finds 205 J.
#[test]
fn a_body_on_springs_does_not_rest_on_a_saddle() {
    let springs = [
        (
            [
                -1.9207312941077053,
                0.19760739558801177,
                -0.8424969971045155,
            ],
            [
                -0.0013829676921506273,
                0.08951145536943517,
                -0.025971794580753604,
            ],
            784.4653280503824,
            1.8585981151783948,
        ),
        (
            [1.3074867160970953, -0.9531216855525844, 1.7718374409519324],
            [
                -0.7728910828421407,
                0.5549847233104581,
                -0.23403988964630063,
            ],
            616.3207334840869,
            1.8985019545125736,
        ),
        (
            [-0.8414372316904188, 1.4692866126267523, 1.843691851337205],
            [
                -0.11457940555831303,
                0.34034828589477434,
                0.2335881709652099,
            ],
            741.0647032874282,
            1.454890567417132,
        ),
        (
            [
                -1.0045058376255582,
                -1.0107111193660532,
                -0.8800096187190354,
            ],
            [-0.03774059598145818, 0.696740119788824, 0.31152256688517055],
            1696.879090893767,
            1.1560765504369084,
        ),
        (
            [-0.8322333224902514, 0.8196277583336005, -0.7529512391077255],
            [
                -0.18123658736772874,
                0.19853394868428476,
                -0.10325834759269276,
            ],
            647.5867839081714,
            0.8053662413813232,
        ),
        (
            [-1.0670992343094472, -0.9613794144215491, 1.189563394881441],
            [-0.728542460177916, 0.41256960401830856, 0.355734376119756],
            1085.8569638116762,
            1.3533735696893203,
        ),
        (
            [0.8035148782385368, -1.4197489620066026, 0.6951152442566602],
            [-0.7402520527201312, 0.7732592653800022, 0.06577207458076273],
            938.1887169553278,
            1.630395937372662,
        ),
    ];
    let mut model = weighed();
    let centre = Vec3::new(
        -0.3934028282289799,
        0.4424338101753329,
        -0.04224321015220478,
    );
    let body = model.node("body", Motion::at(centre));
    model.body(
        body,
        Body::centred(1.8109021976488515, Mat3::IDENTITY * 0.1),
    );
    for (i, (wall, place, stiffness, length)) in springs.into_iter().enumerate() {
        let [wx, wy, wz] = wall;
        let [px, py, pz] = place;
        let a = model.marker(NodeId::GROUND, Vec3::new(wx, wy, wz));
        let b = model.marker(body, Vec3::new(px, py, pz));
        let law = Law::Linear {
            stiffness,
            damping: 0.0,
        };
        model.element(format!("spring {i}"), Rod::new(a, b, length, law));
    }
    let mut system = settled(model);
    let potential = system.energy(&[]).stored();
    assert!(potential < 206.0, "{potential}");
    // It stays there.
    system.start(0.0, &[]).unwrap();
    let place = system.motion(body).position;
    (0..500).for_each(|_| system.step(1e-2, &[]).unwrap());
    assert!((system.motion(body).position - place).norm() < 1e-6);
}

/// A trolley on a rail, a load on a rope: both move along the rail together. The load was named alone.
#[test]
fn all_that_moves_freely_is_named() {
    let mut model = weighed();
    let trolley = bar(&mut model, "trolley".into(), Vec3::Z * 12.0, 1000.0);
    let load = bar(&mut model, "load".into(), Vec3::Z * 4.0, 5000.0);
    let rail = [NodeId::GROUND, trolley].map(|n| model.axis_marker(n, Vec3::Z * 12.0, Vec3::X));
    model.element("rail", Joint::prismatic(rail[0], rail[1]));
    let rope = Law::Linear {
        stiffness: 5e6,
        damping: 2e4,
    };
    let ends = [Marker::on(trolley), Marker::on(load)];
    model.element("rope", Rod::new(ends[0], ends[1], 7.99, rope));
    let free = || Direction::Free;
    let locked = || Direction::Locked;
    let upright = Joint::total(
        model.marker(NodeId::GROUND, Vec3::Z * 4.0),
        Marker::on(load),
        [free(), locked(), free()],
        [locked(), locked(), locked()],
    );
    model.element("upright", upright);
    let mut system = System::new(model, Options::default()).unwrap();
    let said = system.equilibrium(0.0, 4, &[]).unwrap_err().to_string();
    assert!(said.contains("nothing holds `trolley`, `load`"), "{said}");
}
