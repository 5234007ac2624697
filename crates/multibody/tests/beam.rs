//! Beams against closed forms and published values.

use oldham_multibody::bench::hanging_beam;
use oldham_multibody::{
    Beam2, BeamMesh, Drive, Joint, LineInertia, Load, Lumping, Marker, Model, Motion, NodeId,
    Options, Section, System, Vec3, straight_beam,
};
use std::f64::consts::TAU;

/// A clamped beam of length one and bending stiffness one, nearly free of stretch and shear,
/// loaded at its tip by a force and a moment in the absolute frame.
fn cantilever(elements: usize, force: Vec3, moment: Vec3) -> (Model, NodeId) {
    lumped_cantilever(elements, force, moment, Lumping::Segments)
}

fn lumped_cantilever(
    elements: usize,
    force: Vec3,
    moment: Vec3,
    lumping: Lumping,
) -> (Model, NodeId) {
    let mut model = Model::new();
    let stiff = 1e7;
    let mesh = BeamMesh {
        from: Vec3::ZERO,
        to: Vec3::X,
        up: Vec3::Y,
        elements,
        section: Section::diagonal([stiff, stiff, stiff, 1.0, 1.0, 1.0]),
        inertia: LineInertia {
            mass: 1.0,
            rotary: [1e-6, 1e-6, 1e-6],
        },
        lumping,
    };
    let nodes = straight_beam(&mut model, "beam", &mesh);
    let [a, b] = [NodeId::GROUND, nodes[0]].map(|n| model.marker(n, Vec3::ZERO));
    model.element("clamp", Joint::clamp(a, b));
    let tip = nodes[2 * elements];
    let load = Load::fixed(
        Marker::on(tip),
        force.0.map(Drive::Constant),
        moment.0.map(Drive::Constant),
    );
    model.element("load", load);
    (model, tip)
}

fn at_rest(model: Model, steps: usize) -> System {
    let mut system = System::new(model, Options::default()).unwrap();
    system.equilibrium(0.0, steps, &[]).unwrap();
    system
}

/// The end moment 2π EI/L bends a cantilever to a full circle.
#[test]
fn a_cantilever_rolls_up_to_a_circle() {
    let distance = |elements: usize| {
        let (model, tip) = cantilever(elements, Vec3::ZERO, Vec3::Z * TAU);
        let system = at_rest(model, 10);
        let motion = system.motion(tip);
        // A full turn: the tip has its first orientation again.
        assert!((motion.rotation.0[0][0] - 1.0).abs() < 1e-3);
        motion.position.norm()
    };
    let (coarse, fine) = (distance(8), distance(16));
    assert!(fine < 2e-4, "{fine:e}");
    assert!(coarse / fine > 10.0, "fourth order: {}", coarse / fine);
}

/// Mattiasson, Int. J. Numer. Methods Eng. 17 (1981) 145–153, Table I, from elliptic integrals:
/// P L²/EI, then the tip's horizontal and vertical displacement over L.
#[test]
fn a_cantilever_bends_as_the_elliptic_integrals_say() {
    for (load, u, w) in [
        (1.0, 0.05643, 0.30172),
        (5.0, 0.38763, 0.71379),
        (10.0, 0.55500, 0.81061),
    ] {
        let (model, tip) = cantilever(10, Vec3::Y * load, Vec3::ZERO);
        let system = at_rest(model, 10);
        let place = system.motion(tip).position;
        assert!((1.0 - place[0] - u).abs() < 1e-4, "{place:?}");
        assert!((place[1] - w).abs() < 1e-4, "{place:?}");
    }
}

/// The same with two-node elements, which are of second order.
#[test]
fn two_node_elements_converge_to_the_same() {
    let tip = |elements: usize| {
        let mut model = Model::new();
        let stiff = 1e7;
        let section = Section::diagonal([stiff, stiff, stiff, 1.0, 1.0, 1.0]);
        let nodes: Vec<NodeId> = (0..=elements)
            .map(|i| {
                let place = Vec3::X * (i as f64 / elements as f64);
                model.node(format!("node {i}"), Motion::at(place))
            })
            .collect();
        for pair in nodes.windows(2) {
            let beam = Beam2::new(&model, [pair[0], pair[1]], section, Vec3::Y);
            model.element("beam", beam);
        }
        let [a, b] = [NodeId::GROUND, nodes[0]].map(|n| model.marker(n, Vec3::ZERO));
        model.element("clamp", Joint::clamp(a, b));
        let force = [0.0, 5.0, 0.0].map(Drive::Constant);
        let zero = [0.0; 3].map(Drive::Constant);
        model.element(
            "load",
            Load::fixed(Marker::on(nodes[elements]), force, zero),
        );
        at_rest(model, 10).motion(nodes[elements]).position
    };
    let (coarse, fine) = (tip(20), tip(40));
    let extrapolated = (fine * 4.0 - coarse) * (1.0 / 3.0);
    assert!(
        (1.0 - extrapolated[0] - 0.38763).abs() < 1e-4,
        "{extrapolated:?}"
    );
    assert!((extrapolated[1] - 0.71379).abs() < 1e-4, "{extrapolated:?}");
}

/// Euler–Bernoulli cantilever: ω L² √(m/EI) = 3.516015, 22.03449, each twice.
#[test]
fn cantilever_frequencies_are_those_of_euler_and_bernoulli() {
    let frequencies = |elements| {
        let (model, _) = cantilever(elements, Vec3::ZERO, Vec3::ZERO);
        let modes = at_rest(model, 1).modes(4, None, &[]).unwrap().modes;
        [0, 2].map(|i| modes[i].omega)
    };
    let (coarse, fine) = (frequencies(10), frequencies(20));
    for (i, exact) in [3.516015, 22.03449].into_iter().enumerate() {
        // The error of the lumped mass is of second order.
        let extrapolated = (4.0 * fine[i] - coarse[i]) / 3.0;
        assert!(
            (extrapolated / exact - 1.0).abs() < 1e-4,
            "{extrapolated} {exact}"
        );
    }
}

/// How the first frequency converges, with w the first mode, ∫ w² = 1, and h the distance of nodes.
/// Rigid segments lack the bending within them, h²/12 ∫ w w'' of the mass; points have h²/12 (w²)' at
/// the tip too much, as the trapezoidal rule has. The moment has a corner at the middle node, which
/// carries the load q h; interpolated between the evaluation points, its mean over the element is
/// wrong by (1/√12 - 1/4) q h², which makes the beam softer by (1/√12 - 1/4) h² ∫ w w''. The values
/// are w(1) = 2, w'(1) = 2.7530 and ∫ w'² = 4.6478, hence ∫ w w'' = 0.8583.
#[test]
fn the_error_of_lumped_mass_is_that_of_theory() {
    // Rotary inertia and shear make the beam slower than that of Euler and Bernoulli.
    let exact = 3.516_015_268_5 * (1.0 - 0.5 * (1e-6 + 1e-7) * 4.6478);
    let softer = 0.8583 * (1.0 / 12_f64.sqrt() - 0.25);
    for (lumping, more_mass) in [
        (Lumping::Segments, -0.8583 / 12.0),
        (Lumping::Points, 2.0 * 2.0 * 2.7530 / 12.0),
    ] {
        let expected = -0.5 * (more_mass + softer);
        let off = |elements: usize| {
            let (model, _) = lumped_cantilever(elements, Vec3::ZERO, Vec3::ZERO, lumping);
            let modes = at_rest(model, 1).modes(2, None, &[]).unwrap().modes;
            let h = 0.5 / elements as f64;
            (modes[0].omega / exact - 1.0) / (h * h)
        };
        let extrapolated = (4.0 * off(16) - off(8)) / 3.0;
        assert!(
            (extrapolated / expected - 1.0).abs() < 0.02,
            "{lumping:?}: {extrapolated} {expected}"
        );
    }
}

/// Sag and in-plane periods of the beam of Fontana 2026, Sect. 5.1, from an independent
/// computation of the continuum; the error of the lumped weight and mass is of second order.
#[test]
fn the_hanging_beam_sags_and_swings_as_the_continuum() {
    let figures = |elements: usize| {
        let (model, nodes) = hanging_beam(elements, 0.0);
        let mut system = at_rest(model, 4);
        let sag = system.motion(nodes[elements]).position[2];
        let modes = system.modes(6, None, &[]).unwrap().modes;
        let vertical = |m: &&oldham_multibody::Mode| {
            let shape = &m.shape[1 + elements / 2].0;
            shape[2].abs() > shape[1].abs()
        };
        let periods: Vec<f64> = modes.iter().filter(vertical).map(|m| m.period()).collect();
        [sag, periods[0], periods[1], periods[2]]
    };
    let (coarse, fine) = (figures(24), figures(48));
    let exact = [-0.914636, 1.01463, 0.85757, 0.55107];
    for i in 0..4 {
        let extrapolated = (4.0 * fine[i] - coarse[i]) / 3.0;
        assert!(
            (extrapolated - exact[i]).abs() < 1e-5,
            "{extrapolated} {}",
            exact[i]
        );
    }
}

/// Mid-span displacement of the same beam at 0.1, 0.5 and 1 s, from straight, with 12 elements and
/// h = 1e-4 s, as MBDyn gives it.
#[test]
fn the_hanging_beam_moves_as_in_mbdyn() {
    let cases = [
        (0.05, [-0.049073, -1.264983, -0.561366]),
        (0.0, [-0.049004, -1.297675, -0.252751]),
    ];
    for (damping, expected) in cases {
        let (model, nodes) = hanging_beam(12, damping);
        let mut system = System::new(model, Options::default()).unwrap();
        system.start(0.0, &[]).unwrap();
        for (steps, expected) in [1000, 4000, 5000].into_iter().zip(expected) {
            for _ in 0..steps {
                system.step(1e-4, &[]).unwrap();
            }
            let z = system.motion(nodes[12]).position[2];
            assert!((z - expected).abs() < 1e-6, "{z} at {}", system.time());
        }
        let counters = system.counters();
        assert!(
            counters.iterations < counters.micro_steps * 5 / 4,
            "{counters:?}"
        );
        assert!(
            counters.factorisations < counters.micro_steps / 60,
            "{counters:?}"
        );
    }
}

/// Spin-up of a beam about its end: Simo and Vu-Quoc, J. Appl. Mech. 53 (1986) 855–863, Sect. 3.2.
/// At its final speed of 6 rad/s the tip is stretched by ω² ρA L³ / (3 EA) = 5.14e-4.
#[test]
fn a_spun_up_beam_ends_stretched() {
    let mut model = Model::new();
    let mesh = BeamMesh {
        from: Vec3::ZERO,
        to: Vec3::X * 10.0,
        up: Vec3::Y,
        elements: 10,
        section: Section::diagonal([2.8e7, 1e7, 1e7, 1.4e4, 1.4e4, 1.4e4]),
        inertia: LineInertia {
            mass: 1.2,
            rotary: [1.2e-3, 6e-4, 6e-4],
        },
        lumping: Lumping::Segments,
    };
    let nodes = straight_beam(&mut model, "arm", &mesh);
    let turn = Drive::function(|t: f64| {
        use std::f64::consts::PI;
        if t < 15.0 {
            let k = 7.5 / PI;
            0.4 * (0.5 * t * t + k * k * ((t / k).cos() - 1.0))
        } else {
            6.0 * t - 45.0
        }
    });
    let [a, b] = [NodeId::GROUND, nodes[0]].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    model.element("motor", Joint::driven_revolute(a, b, turn));
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let mut deepest = 0.0_f64;
    for _ in 0..4000 {
        system.step(5e-3, &[]).unwrap();
        let hub = system.motion(nodes[0]);
        let tip = hub
            .rotation
            .transpose_mul(system.motion(nodes[20]).position);
        deepest = deepest.min(tip[1]);
    }
    let hub = system.motion(nodes[0]);
    let tip = hub
        .rotation
        .transpose_mul(system.motion(nodes[20]).position);
    let stretch = 6.0_f64.powi(2) * 1.2 * 1e3 / (3.0 * 2.8e7);
    assert!(((tip[0] - 10.0) / stretch - 1.0).abs() < 0.02, "{tip:?}");
    // The reference's figure shows a lag of about 0.58 at most.
    assert!((deepest + 0.58).abs() < 0.03, "{deepest}");
}

/// Without damping, what the method dissipates is all that is lost.
#[test]
fn energy_is_balanced() {
    for damping in [0.0, 1e-3] {
        let (model, _) = hanging_beam(6, damping);
        let options = Options {
            account_energy: true,
            ..Options::default()
        };
        let mut system = System::new(model, options).unwrap();
        system.start(0.0, &[]).unwrap();
        let before = system.energy(&[]).stored();
        for _ in 0..4000 {
            system.step(1e-4, &[]).unwrap();
        }
        let energy = system.energy(&[]);
        let lost = before - energy.stored() - energy.dissipated + energy.supplied;
        assert!(lost.abs() < 3e-3 * energy.kinetic, "{lost} of {energy:?}");
        assert_eq!(energy.dissipated > 0.0, damping > 0.0);
    }
}

/// A rope that has hardly any bending stiffness falls from the horizontal and whips: the middle node
/// of its last element turns by half a turn against the ends, which no element can follow. That is
/// what the run says when it ends, however short the step.
#[test]
fn a_rope_of_few_elements_folds_and_says_so() {
    for (elements, step) in [(2, 5e-4), (4, 5e-4), (2, 1e-4)] {
        let mut model = Model::new();
        model.gravity(Vec3::Y * -9.81);
        let stiffness = 1e-5;
        let mesh = BeamMesh {
            from: Vec3::ZERO,
            to: Vec3::X,
            up: Vec3::Y,
            elements,
            section: Section::diagonal([1e4, 4e3, 4e3, stiffness, stiffness, stiffness]),
            inertia: LineInertia {
                mass: 0.1,
                rotary: [2e-6, 1e-6, 1e-6],
            },
            lumping: Lumping::Segments,
        };
        let nodes = straight_beam(&mut model, "rope", &mesh);
        let [a, b] = [NodeId::GROUND, nodes[0]].map(|n| model.marker(n, Vec3::ZERO));
        model.element("hook", Joint::revolute(a, b));
        let mut system = System::new(model, Options::default()).unwrap();
        let mut end = Ok(());
        let mut time = 0.0;
        while end.is_ok() && time < 0.6 {
            time += step;
            end = system.step(step, &[]);
        }
        let message = end.expect_err("it folds").to_string();
        assert!(message.contains("folds"), "{elements}, {step}: {message}");
        assert!(message.contains("more elements"), "{message}");
        assert!((0.3..0.5).contains(&time), "{elements}, {step}: {time}");
    }
}
