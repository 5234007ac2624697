//! Modes against closed forms, dense eigenproblems built here, and runs.

use faer::Mat;
use oldham_multibody::{
    BeamMesh, Body, Bushing, Drive, ElementId, Joint, LineInertia, Load, Lumping, Marker, Mat3,
    Measured, Method, Mode, ModeKind, Model, Motion, NodeId, Options, Quaternion, Section, Sensor,
    System, Vec3, straight_beam,
};
use std::f64::consts::{PI, TAU};

/// A steel bar of 20 mm by 10 mm, 1 m long, along x.
fn bar(model: &mut Model, elements: usize) -> Vec<NodeId> {
    let (young, shear, density) = (2.1e11, 8.0e10, 7800.0);
    let (width, height) = (0.02_f64, 0.01_f64);
    let area = width * height;
    let [strong, weak] = [height * width.powi(3) / 12.0, width * height.powi(3) / 12.0];
    let mesh = BeamMesh {
        from: Vec3::ZERO,
        to: Vec3::X,
        up: Vec3::Y,
        elements,
        section: Section::diagonal([
            young * area,
            shear * area * 5.0 / 6.0,
            shear * area * 5.0 / 6.0,
            shear * (strong + weak) * 0.5,
            young * weak,
            young * strong,
        ]),
        inertia: LineInertia {
            mass: density * area,
            rotary: [density * (strong + weak), density * weak, density * strong],
        },
        lumping: Lumping::Segments,
    };
    straight_beam(model, "bar", &mesh)
}

fn clamp(model: &mut Model, node: NodeId) {
    let ends = [NodeId::GROUND, node].map(|n| model.marker(n, Vec3::ZERO));
    model.element("clamp", Joint::clamp(ends[0], ends[1]));
}

fn cantilever(elements: usize) -> (Model, Vec<NodeId>) {
    let mut model = Model::new();
    let nodes = bar(&mut model, elements);
    clamp(&mut model, nodes[0]);
    (model, nodes)
}

fn started(model: Model) -> System {
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    system
}

fn modes(model: Model, count: usize) -> Vec<Mode> {
    started(model).modes(count, None, &[]).unwrap().modes
}

/// Displaced or turned in one of six components.
fn displaced(motion: &Motion, component: usize, by: f64) -> Motion {
    let mut change = [Vec3::ZERO; 2];
    change[component / 3][component % 3] = by;
    let orientation = Quaternion::exp(change[1]).times(motion.orientation);
    Motion::at_rest(motion.position + change[0], orientation)
}

/// Angular frequencies of the cantilever from matrices that are found without any Jacobian:
/// stiffness by differences of the elements' forces, mass by kinetic energies.
fn dense_frequencies(elements: usize) -> Vec<f64> {
    let parts = 2 * elements;
    let of = |element: usize| [2 * element, 2 * element + 1, 2 * element + 2];
    let ids = || {
        let mut model = Model::new();
        let nodes = bar(&mut model, elements);
        (model, nodes)
    };
    let whole = ids().0;
    let id = |i: usize| -> ElementId { whole.find_element(&format!("bar.element {i}")).unwrap() };
    let elements_of_bar: Vec<ElementId> = (0..elements).map(id).collect();
    let n = 6 * parts;
    let forces = |column: usize, by: f64| {
        let (mut model, nodes) = ids();
        let node = nodes[1 + column / 6];
        let moved = displaced(model.initial(node), column % 6, by);
        model.place(node, moved);
        let system = System::new(model, Options::default()).unwrap();
        let mut sum = vec![0.0; 6 * (parts + 1)];
        for (element, &id) in elements_of_bar.iter().enumerate() {
            for (place, node) in of(element).into_iter().enumerate() {
                let (force, moment) = system.wrench(id, place, &[]);
                for k in 0..3 {
                    sum[6 * node + k] += force[k];
                    sum[6 * node + 3 + k] += moment[k];
                }
            }
        }
        sum.split_off(6)
    };
    let kinetic = |moves: &[usize]| {
        let (mut model, nodes) = ids();
        for &column in moves {
            let node = nodes[1 + column / 6];
            let initial = *model.initial(node);
            let mut speed = [initial.velocity, initial.angular_velocity];
            speed[column % 6 / 3][column % 3] += 1.0;
            model.place(node, initial.moving(speed[0], speed[1]));
        }
        let system = System::new(model, Options::default()).unwrap();
        system.energy(&[]).kinetic
    };
    let h = 1e-4;
    let mut stiffness = Mat::<f64>::zeros(n, n);
    let mut mass = Mat::<f64>::zeros(n, n);
    for j in 0..n {
        let [a, b, c, d] = [1.0, -1.0, 2.0, -2.0].map(|k| forces(j, k * h));
        for i in 0..n {
            stiffness[(i, j)] = -(8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * h);
        }
        // Lumped: nodes do not share mass.
        for i in j - j % 6..=j {
            let value = match i == j {
                true => 2.0 * kinetic(&[j]),
                false => kinetic(&[i, j]) - kinetic(&[i]) - kinetic(&[j]),
            };
            mass[(i, j)] = value;
            mass[(j, i)] = value;
        }
    }
    use faer::linalg::solvers::Solve;
    let flexibility = stiffness.partial_piv_lu().solve(&mass);
    let values = flexibility.eigenvalues().unwrap();
    let mut omegas: Vec<f64> = values.iter().map(|v| (1.0 / v.re).sqrt()).collect();
    omegas.sort_by(f64::total_cmp);
    omegas
}

/// Frequencies of three-node beams were wrong and depended on how many were asked for.
#[test]
fn three_node_cantilevers_have_the_modes_of_the_dense_eigenproblem() {
    for elements in [2, 3, 5, 8] {
        let expected = dense_frequencies(elements);
        for count in [1, 6, 10] {
            let found = modes(cantilever(elements).0, count);
            assert_eq!(found.len(), count.min(12 * elements));
            for (mode, expected) in found.iter().zip(&expected) {
                assert_eq!(mode.kind, ModeKind::Oscillating);
                assert_eq!(mode.growth, 0.0, "undamped");
                let off = (mode.omega / expected - 1.0).abs();
                assert!(off < 1e-6, "{elements} elements: {} {expected}", mode.omega);
            }
        }
    }
}

#[test]
fn the_number_of_modes_asked_for_changes_none_of_them() {
    for elements in [1, 2, 4] {
        let all = modes(cantilever(elements).0, 20);
        assert_eq!(all.len(), (12 * elements).min(20));
        for count in 1..20 {
            for (a, b) in modes(cantilever(elements).0, count).iter().zip(&all) {
                assert!((a.omega / b.omega - 1.0).abs() < 1e-9);
            }
        }
    }
}

/// The undamped method maps ω to tan(θ/2) = ω h / 2 for the angle θ of a step, which a run shows:
/// x(k+1) + x(k-1) = 2 cos θ x(k).
fn recurrence(x: &[f64], h: f64) -> f64 {
    let middle = |k: usize| (x[k + 1] + x[k - 1], x[k]);
    let (above, below) = (1..x.len() - 1)
        .map(middle)
        .fold((0.0, 0.0), |sum, (s, m)| (sum.0 + s * m, sum.1 + m * m));
    let theta = (0.5 * above / below).acos();
    2.0 / h * (0.5 * theta).tan()
}

#[test]
fn a_run_along_a_mode_has_its_frequency() {
    for elements in [2, 3, 8] {
        let (mut model, nodes) = cantilever(elements);
        let mode = modes(cantilever(elements).0, 1).remove(0);
        let scale = 1e-5 / mode.shape.iter().map(|(d, _)| d.norm()).fold(0.0, f64::max);
        for &node in &nodes {
            let (d, r) = mode.shape[node.index()];
            let moving = model.initial(node).moving(d * scale, r * scale);
            model.place(node, moving);
        }
        let options = Options {
            method: Method::Lms2 { rho: 1.0 },
            tolerance: 1e-12,
            ..Options::default()
        };
        let mut system = System::new(model, options).unwrap();
        system.start(0.0, &[]).unwrap();
        let (h, tip) = (1e-3, nodes[2 * elements]);
        let mut x = vec![0.0];
        for _ in 0..400 {
            system.step(h, &[]).unwrap();
            x.push(system.motion(tip).position[2]);
        }
        let found = recurrence(&x, h);
        assert!(
            (found / mode.omega - 1.0).abs() < 1e-6,
            "{found} {}",
            mode.omega
        );
    }
}

#[test]
fn only_the_modes_near_a_frequency_are_found() {
    let all = modes(cantilever(6).0, 20);
    let near = 100.0;
    let mut expected: Vec<f64> = all.iter().map(Mode::frequency).collect();
    expected.sort_by(|a, b| (a - near).abs().total_cmp(&(b - near).abs()));
    let mut system = started(cantilever(6).0);
    let found = system.modes(2, Some(near), &[]).unwrap().modes;
    let mut expected = expected[..2].to_vec();
    expected.sort_by(f64::total_cmp);
    for (mode, expected) in found.iter().zip(expected) {
        assert!(
            (mode.frequency() / expected - 1.0).abs() < 1e-9,
            "{}",
            mode.frequency()
        );
    }
}

/// Free in space: six motions that nothing resists, none of which grows; then bending with
/// ω = 22.37329 √(EI/m) / l².
#[test]
fn rigid_body_motions_are_told_as_such() {
    let free = |elements| {
        let mut model = Model::new();
        bar(&mut model, elements);
        modes(model, 7)
    };
    let (coarse, fine) = (free(8), free(16));
    for found in [&coarse, &fine] {
        for (i, mode) in found.iter().enumerate() {
            let expected = if i < 6 {
                ModeKind::Rigid
            } else {
                ModeKind::Oscillating
            };
            assert_eq!(mode.kind, expected, "{i}: {} {}", mode.growth, mode.omega);
            assert_eq!(mode.growth, 0.0);
        }
        assert!(found[..6].iter().all(|mode| mode.omega == 0.0));
    }
    let exact = 22.373_285 * (2.1e11 * 0.01_f64.powi(2) / 12.0 / 7800.0_f64).sqrt();
    let extrapolated = (4.0 * fine[6].omega - coarse[6].omega) / 3.0;
    assert!(
        (extrapolated / exact - 1.0).abs() < 1e-3,
        "{extrapolated} {exact}"
    );
}

/// Euler–Bernoulli: (1.875104, 4.694091, 7.854757)² √(EI/m) / l², each twice for a round section.
/// A model of this size is solved by the sparse way, which must not miss equal frequencies.
#[test]
fn a_fine_round_cantilever_has_all_its_double_modes() {
    let mut model = Model::new();
    let mesh = BeamMesh {
        from: Vec3::ZERO,
        to: Vec3::X,
        up: Vec3::Y,
        elements: 60,
        section: Section::diagonal([1e8, 1e8, 1e8, 1.0, 1.0, 1.0]),
        inertia: LineInertia {
            mass: 1.0,
            rotary: [2e-7, 1e-7, 1e-7],
        },
        lumping: Lumping::Segments,
    };
    let nodes = straight_beam(&mut model, "beam", &mesh);
    clamp(&mut model, nodes[0]);
    let found = modes(model, 6);
    let [a, b, c] = [1.875_104_f64, 4.694_091, 7.854_757].map(|x| x * x);
    for (mode, exact) in found.iter().zip([a, a, b, b, c, c]) {
        let off = (mode.omega / exact - 1.0).abs();
        assert!(off < 2e-3, "{} {exact}", mode.omega);
        assert_eq!(mode.growth, 0.0);
    }
}

/// Timoshenko, pinned at both ends: with λ = n π / l,
/// ω⁴ ρI m / GA - ω² (m + ρI λ² + m EI/GA λ²) + EI λ⁴ = 0.
#[test]
fn a_thick_beam_has_the_frequencies_of_timoshenko() {
    let (ei, ga, m, rotary) = (1.0, 60.0, 1.0, 4e-3);
    let frequencies = |elements: usize| {
        let mut model = Model::new();
        let mesh = BeamMesh {
            from: Vec3::ZERO,
            to: Vec3::X,
            up: Vec3::Y,
            elements,
            section: Section::diagonal([1e4, ga, ga, 1e3, ei, ei]),
            inertia: LineInertia {
                mass: m,
                rotary: [2.0 * rotary, rotary, rotary],
            },
            lumping: Lumping::Segments,
        };
        let nodes = straight_beam(&mut model, "beam", &mesh);
        for (name, node, x) in [("left", nodes[0], 0.0), ("right", nodes[2 * elements], 1.0)] {
            let ends = [NodeId::GROUND, node].map(|n| model.axis_marker(n, Vec3::X * x, Vec3::Y));
            model.element(name, Joint::revolute(ends[0], ends[1]));
        }
        let quarter = nodes[elements / 2].index();
        let in_plane = |mode: &&Mode| {
            let (d, _) = mode.shape[quarter];
            d[2].abs() > d[1].abs() && d[2].abs() > d[0].abs()
        };
        let found = modes(model, 12);
        let omegas: Vec<f64> = found
            .iter()
            .filter(in_plane)
            .map(|mode| mode.omega)
            .collect();
        [omegas[0], omegas[1], omegas[2]]
    };
    let (coarse, fine) = (frequencies(16), frequencies(32));
    for n in 1..=3 {
        let l2 = (n as f64 * PI).powi(2);
        let (a, b, c) = (
            rotary * m / ga,
            m + rotary * l2 + m * ei / ga * l2,
            ei * l2 * l2,
        );
        let exact = ((b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)).sqrt();
        let found = (4.0 * fine[n - 1] - coarse[n - 1]) / 3.0;
        assert!((found / exact - 1.0).abs() < 1e-3, "{n}: {found} {exact}");
    }
}

/// A blade along x on a hub that turns freely about z.
fn rotor(elements: usize, spin: f64) -> (Model, Vec<NodeId>) {
    let mut model = Model::new();
    let hub = Motion::at(Vec3::ZERO).moving(Vec3::ZERO, Vec3::Z * spin);
    let hub = model.node("hub", hub);
    model.body(hub, Body::centred(2.0, Mat3::diagonal(1.0, 1.0, 1.0)));
    let ends = [NodeId::GROUND, hub].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    model.element("bearing", Joint::revolute(ends[0], ends[1]));
    let mesh = BeamMesh {
        from: Vec3::ZERO,
        to: Vec3::X,
        up: Vec3::Y,
        elements,
        // A little damping keeps the run from ringing along the blade.
        section: Section::diagonal([1e7, 1e7, 1e7, 30.0, 40.0, 400.0]).damped(1e-5),
        inertia: LineInertia {
            mass: 0.5,
            rotary: [1e-6, 1e-6, 1e-6],
        },
        lumping: Lumping::Segments,
    };
    let nodes = straight_beam(&mut model, "blade", &mesh);
    for &node in &nodes {
        let place = model.initial(node).position;
        let velocity = (Vec3::Z * spin).cross(place);
        let moving = model.initial(node).moving(velocity, Vec3::Z * spin);
        model.place(node, moving);
    }
    let ends = [hub, nodes[0]].map(|n| model.marker(n, Vec3::ZERO));
    model.element("root", Joint::clamp(ends[0], ends[1]));
    (model, nodes)
}

/// First flapping frequency of a uniform blade by Ritz' method with powers of x: bending and the
/// tension m Ω² (l² - x²) / 2. EI = 40, m = 0.5, l = 1.
fn flapping(spin: f64) -> f64 {
    let terms = 8;
    let power = |p: f64| 1.0 / (p + 1.0);
    let mut stiffness = Mat::<f64>::zeros(terms, terms);
    let mut mass = Mat::<f64>::zeros(terms, terms);
    for i in 0..terms {
        for j in 0..terms {
            let (a, b) = (i as f64 + 2.0, j as f64 + 2.0);
            let bending = 40.0 * a * (a - 1.0) * b * (b - 1.0) * power(a + b - 4.0);
            let tension = 0.25 * spin * spin * a * b * (power(a + b - 2.0) - power(a + b));
            stiffness[(i, j)] = bending + tension;
            mass[(i, j)] = 0.5 * power(a + b);
        }
    }
    use faer::linalg::solvers::Solve;
    let values = stiffness
        .partial_piv_lu()
        .solve(&mass)
        .eigenvalues()
        .unwrap();
    let largest = values.iter().map(|v| v.re).fold(0.0, f64::max);
    (1.0 / largest).sqrt()
}

/// Southwell's coefficient of Ritz' frequencies is that of the literature, so the oracle is right:
/// Wright, Smith, Thresher, Wang, J. Appl. Mech. 49 (1982) 197–202: ω l² √(m/EI) = 3.6816 at
/// Ω l² √(m/EI) = 1, 11.2023 at 10.
#[test]
fn the_oracle_for_flapping_is_that_of_the_literature() {
    let unit = (40.0_f64 / 0.5).sqrt();
    for (spin, expected) in [(0.0, 3.5160), (1.0, 3.6816), (10.0, 11.2023)] {
        let found = flapping(spin * unit) / unit;
        assert!((found - expected).abs() < 2e-4, "{found} {expected}");
    }
}

/// Four blades on a hub that turns freely about z, or in a bearing that drags and is driven against
/// its drag.
fn four_blades(spin: f64, drag: f64) -> Model {
    let mut model = Model::new();
    model.gravity(Vec3::Z * -9.81);
    let turning = |place: Vec3| Motion::at(place).moving(spin_at(spin, place), Vec3::Z * spin);
    let hub = model.node("hub", turning(Vec3::ZERO));
    model.body(hub, Body::centred(2.0, Mat3::diagonal(0.01, 0.01, 0.02)));
    let ends = [NodeId::GROUND, hub].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    model.element("bearing", Joint::revolute(ends[0], ends[1]));
    for (i, along) in [Vec3::X, Vec3::Y, -Vec3::X, -Vec3::Y]
        .into_iter()
        .enumerate()
    {
        let mesh = BeamMesh {
            from: Vec3::ZERO,
            to: along,
            up: Vec3::Z.cross(along),
            elements: 4,
            section: Section::diagonal([1e6, 3e5, 3e5, 30.0, 40.0, 400.0]).damped(1e-3),
            inertia: LineInertia {
                mass: 0.5,
                rotary: [2e-3, 1e-3, 1e-3],
            },
            lumping: Lumping::Segments,
        };
        let nodes = straight_beam(&mut model, &format!("blade {i}"), &mesh);
        for &node in &nodes {
            let initial = *model.initial(node);
            let velocity = spin_at(spin, initial.position);
            model.place(node, initial.moving(velocity, Vec3::Z * spin));
        }
        let ends = [hub, nodes[0]].map(|n| model.marker(n, Vec3::ZERO));
        model.element(format!("root {i}"), Joint::clamp(ends[0], ends[1]));
    }
    if drag > 0.0 {
        let mut damper = Bushing::new(Marker::on(NodeId::GROUND), Marker::on(hub));
        damper.rotational_damping = Mat3::diagonal(0.0, 0.0, drag);
        model.element("drag", damper);
        let [none, drive] = [0.0, drag * spin].map(Drive::Constant);
        let force = [0; 3].map(|_| none.clone());
        let load = Load::fixed(Marker::on(hub), force, [none.clone(), none, drive]);
        model.element("motor", load);
    }
    model
}

fn spin_at(spin: f64, place: Vec3) -> Vec3 {
    (Vec3::Z * spin).cross(place)
}

/// A blade whose dampers were at rest to the last digit lost what a turn of its pose does to them: the
/// free rotation was told as a decay at 0.18 1/s.
#[test]
fn a_free_rotation_is_a_rigid_body_motion_at_any_spin() {
    for spin in (0..12).map(|i| 20.0 + 2.0 * f64::from(i)) {
        let found = started(four_blades(spin, 0.0)).modes(2, None, &[]).unwrap();
        assert!(found.is_steady);
        let kinds: Vec<ModeKind> = found.modes.iter().map(|mode| mode.kind).collect();
        let expected = [ModeKind::Rigid, ModeKind::Oscillating];
        assert_eq!(
            kinds, expected,
            "at {spin} rad/s: {:?}",
            found.modes[1].growth
        );
    }
}

/// A true decay of the same rotation is told: the drag over the moment of inertia.
#[test]
fn a_rotation_in_a_bearing_that_drags_decays() {
    for (spin, rate) in [(0.0, 0.01), (32.0, 0.2), (40.0, 0.3)] {
        // Blades of 0.5 kg/m about their ends, and the hub.
        let inertia = 0.02 + 4.0 * (0.5 / 3.0 + 1e-3);
        let found = started(four_blades(spin, rate * inertia)).modes(2, None, &[]);
        let modes = found.unwrap().modes;
        let decaying = modes.iter().find(|mode| mode.kind == ModeKind::Decaying);
        let growth = decaying.expect("it is told").growth;
        assert!(
            (growth / -rate - 1.0).abs() < 5e-3,
            "{growth} at {spin} rad/s"
        );
    }
}

/// Spin did not count: the flapping frequency was the same at 0, 20 and 100 rad/s.
#[test]
fn a_turning_blade_flaps_faster() {
    for spin in [0.0, 20.0, 100.0] {
        let found = |elements: usize| {
            let (model, nodes) = rotor(elements, spin);
            let tip = nodes[2 * elements].index();
            let found = started(model).modes(6, None, &[]).unwrap();
            assert!(found.is_steady);
            assert_eq!(found.frames.len(), usize::from(spin > 0.0));
            assert!(
                found
                    .modes
                    .iter()
                    .all(|mode| mode.kind != ModeKind::Growing)
            );
            let flaps = |mode: &&Mode| {
                let (d, _) = mode.shape[tip];
                mode.omega > 0.0 && d[2].abs() > d[1].abs()
            };
            found.modes.iter().find(flaps).unwrap().omega
        };
        let (coarse, fine) = (found(8), found(16));
        let extrapolated = (4.0 * fine - coarse) / 3.0;
        let exact = flapping(spin);
        assert!(
            (extrapolated / exact - 1.0).abs() < 2e-3,
            "{spin}: {extrapolated} {exact}"
        );
        // The same in a run: the tip moves out of the plane of rotation.
        let (mut model, nodes) = rotor(8, spin);
        for &node in &nodes[1..] {
            let initial = *model.initial(node);
            let x = initial.position[0];
            let (lift, tilt) = (1e-4 * x * x, -2e-4 * x);
            let velocity = initial.velocity + Vec3::Z * lift;
            let turn = initial.angular_velocity + Vec3::Y * tilt;
            model.place(node, initial.moving(velocity, turn));
        }
        let options = Options::default();
        let mut system = System::new(model, options).unwrap();
        system.start(0.0, &[]).unwrap();
        let (h, steps) = (5e-4, 2000);
        let tip = nodes[16];
        let x: Vec<f64> = (0..steps)
            .map(|_| {
                system.step(h, &[]).unwrap();
                system.motion(tip).position[2]
            })
            .collect();
        let peak = peak_of_spectrum(&x, h);
        assert!(
            (peak / coarse - 1.0).abs() < 5e-3,
            "{spin}: {peak} {coarse}"
        );
    }
}

/// Angular frequency of the highest peak of the Fourier transform of a signal, with a window.
fn peak_of_spectrum(x: &[f64], h: f64) -> f64 {
    let n = x.len() as f64;
    let window = |k: usize| 0.5 - 0.5 * (TAU * (k as f64 + 0.5) / n).cos();
    let power = |omega: f64| {
        let (mut c, mut s) = (0.0, 0.0);
        for (k, x) in x.iter().enumerate() {
            let angle = omega * k as f64 * h;
            c += window(k) * x * angle.cos();
            s += window(k) * x * angle.sin();
        }
        c * c + s * s
    };
    let step = 0.02 * TAU / (n * h);
    let all = (50..2500).map(|i| (i as f64 * step, power(i as f64 * step)));
    all.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0
}

/// A disc in a housing that springs hold: ω = (I_p Ω ± √(I_p² Ω² + 4 I_t k)) / 2 I_t for tilting,
/// √(k/m) for the motion of its centre. The housing has no mass.
#[test]
fn a_spinning_disc_splits_its_tilting_as_gyroscopes_do() {
    let (m, polar, across) = (3.0, 0.4, 0.25);
    let (k, tilt) = (1200.0, 90.0);
    for spin in [0.0, 10.0, 60.0] {
        let mut model = Model::new();
        let housing = model.node("housing", Motion::at(Vec3::ZERO));
        let disc = Motion::at(Vec3::ZERO).moving(Vec3::ZERO, Vec3::X * spin);
        let disc = model.node("disc", disc);
        model.body(
            disc,
            Body::centred(m, Mat3::diagonal(polar, across, across)),
        );
        let mut spring = Bushing::new(Marker::on(NodeId::GROUND), Marker::on(housing));
        spring.stiffness = Mat3::diagonal(5e3, k, k);
        spring.rotational_stiffness = Mat3::diagonal(1e3, tilt, tilt);
        model.element("spring", spring);
        let ends = [housing, disc].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::X));
        model.element("bearing", Joint::revolute(ends[0], ends[1]));
        let found = started(model).modes(6, None, &[]).unwrap();
        assert!(found.is_steady && found.frames.is_empty());
        let root = ((polar * spin).powi(2) + 4.0 * across * tilt).sqrt();
        let [slow, fast] = [-1.0, 1.0].map(|sign| (sign * polar * spin + root) / (2.0 * across));
        let centre = (k / m).sqrt();
        let mut expected = vec![0.0, slow, fast, centre, centre, (5e3 / m).sqrt()];
        expected.sort_by(f64::total_cmp);
        for (mode, expected) in found.modes.iter().zip(expected) {
            let off = (mode.omega - expected).abs() / expected.max(1.0);
            assert!(off < 1e-9, "{spin}: {} {expected}", mode.omega);
            assert_eq!(mode.growth, 0.0);
        }
    }
}

/// A force that feeds back place and speed: m x'' = -k x - c x'. Feedback did not count.
#[test]
fn feedback_by_sensors_counts() {
    let (m, k, c) = (2.0, 50.0, 3.0);
    for sign in [1.0, -1.0] {
        let mut model = Model::new();
        let cart = model.node("cart", Motion::at(Vec3::ZERO));
        model.body(cart, Body::centred(m, Mat3::diagonal(1.0, 1.0, 1.0)));
        let ends = [NodeId::GROUND, cart].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::X));
        model.element("rail", Joint::prismatic(ends[0], ends[1]));
        let sensors = vec![
            Sensor::Position(cart.into(), Vec3::X),
            Sensor::Velocity(cart.into(), Vec3::X),
        ];
        let control = Measured::new(sensors, move |r| -k * r[1] - sign * c * r[2]);
        let zero = || Drive::Constant(0.0);
        let force = [Drive::Measured(control), zero(), zero()];
        let load = Load::fixed(Marker::on(cart), force, [zero(), zero(), zero()]);
        model.element("control", load);
        let found = modes(model, 3);
        assert_eq!(found.len(), 1);
        let mode = &found[0];
        let growth = -sign * c / (2.0 * m);
        let kind = match sign > 0.0 {
            true => ModeKind::Oscillating,
            false => ModeKind::Growing,
        };
        assert_eq!(mode.kind, kind);
        assert!((mode.growth / growth - 1.0).abs() < 1e-8, "{}", mode.growth);
        let omega = (k / m - growth * growth).sqrt();
        assert!((mode.omega / omega - 1.0).abs() < 1e-8, "{}", mode.omega);
    }
}

/// A pendulum held out sideways is in no equilibrium; upright it falls at √(g/l).
#[test]
fn states_out_of_equilibrium_are_told_and_falling_is_growth() {
    let pendulum = |place: Vec3| {
        let mut model = Model::new();
        model.gravity(Vec3::Z * -9.81);
        let bob = model.node("bob", Motion::at(place));
        model.body(bob, Body::centred(1.0, Mat3::ZERO));
        let ends = [NodeId::GROUND, bob].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Y));
        model.element("pivot", Joint::revolute(ends[0], ends[1]));
        started(model).modes(1, None, &[]).unwrap()
    };
    assert!(!pendulum(Vec3::X).is_steady);
    let upright = pendulum(Vec3::Z);
    assert!(upright.is_steady);
    assert_eq!(upright.modes[0].kind, ModeKind::Growing);
    assert!((upright.modes[0].growth / 9.81_f64.sqrt() - 1.0).abs() < 1e-9);
    let hanging = pendulum(-Vec3::Z);
    assert_eq!(hanging.modes[0].kind, ModeKind::Oscillating);
    assert!((hanging.modes[0].omega / 9.81_f64.sqrt() - 1.0).abs() < 1e-9);
}
