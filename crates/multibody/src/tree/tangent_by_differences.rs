//! The derivatives of a tree against differences of what its freedoms lack.

use super::Tree;
use super::trial::Trial;
use crate::assembly::EvaluationPoint;
use crate::body::Body;
use crate::drive::Drive;
use crate::element::{
    At, Bushing, Element, Half, Jacobian, Load, References, Residual, Rod, Weights,
};
use crate::integrator::Method;
use crate::joint::{Coordinate, Joint};
use crate::model::Model;
use crate::node::{Marker, Motion, NodeId};
use crate::system::{Options, System};
use crate::{Law, Servo};
use oldham_space::{Mat3, Quaternion, Vec3};

const STEP: f64 = 1e-6;
/// Of the largest derivative of the same kind.
const TOLERANCE: f64 = 2e-8;

/// Numbers between -1 and 1 that look random.
struct Numbers(f64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 += 1.0;
        (self.0 * 12.9898).sin()
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

/// Resists the velocities of two nodes and how they move against each other.
///
/// Springs with dampers leave out how the direction of the damper's force changes; this one has exact derivatives.
#[derive(Clone, Debug)]
struct Drag([NodeId; 2]);

impl Element for Drag {
    fn nodes(&self) -> &[NodeId] {
        &self.0
    }

    fn refer(&mut self, references: &mut dyn References) {
        for node in &mut self.0 {
            references.node(node);
        }
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let [a, b] = self.0.map(|node| at.motion(node));
        let between = b.velocity - a.velocity;
        out.load(0, between * 5.0, a.angular_velocity * -2.0);
        out.load(1, between * -5.0, b.angular_velocity * -3.0);
    }

    fn jacobian(&self, _: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let by_rate = Mat3::IDENTITY * weights.damping;
        for (row, column, value) in [(0, 0, 5.0), (0, 1, -5.0), (1, 0, -5.0), (1, 1, 5.0)] {
            out.add((row, Half::Linear), (column, Half::Linear), by_rate * value);
        }
        for (node, value) in [(0, 2.0), (1, 3.0)] {
            out.add(
                (node, Half::Angular),
                (node, Half::Angular),
                by_rate * value,
            );
        }
    }
}

/// All joints in both directions, in three branches, with elements along and between them.
fn machine(seed: u32) -> Model {
    let mut numbers = Numbers(100.0 * f64::from(seed));
    let mut model = Model::new();
    model.gravity(Vec3::new(1.0, -2.0, -9.0));
    let mut nodes = vec![NodeId::GROUND];
    for index in 0..22 {
        let parent = nodes[index - index % 3 * (index / 3).min(2)];
        let base = match parent.0 {
            0 => Vec3::ZERO,
            _ => model.nodes[parent.0].initial.position,
        };
        let place = base + numbers.vector() * 0.4;
        let turn = Quaternion::exp(numbers.vector());
        let motion = Motion::at_rest(place, turn).moving(numbers.vector(), numbers.vector() * 2.0);
        let node = model.node(format!("n{index}"), motion);
        let arms = Mat3::diagonal(0.03, 0.05, 0.04);
        let body = Body::centred(1.0 + 0.3 * numbers.next(), arms);
        model.body(node, body.with_centre(numbers.vector() * 0.1));
        nodes.push(node);
        let (at, axes) = (place + numbers.vector() * 0.2, numbers.vector());
        let mut ends = [parent, node].map(|n| model.oriented_marker(n, at, Quaternion::exp(axes)));
        if index / 11 == seed as usize % 2 {
            ends.reverse();
        }
        let [a, b] = ends;
        let wave = Drive::Sine {
            mean: 0.1,
            amplitude: 0.3,
            omega: 4.0,
            phase: 0.0,
        };
        let joint = match (index + seed as usize) % 11 {
            0 => Joint::revolute(a, b),
            1 => Joint::prismatic(a, b),
            2 => Joint::cylindrical(a, b),
            3 => Joint::universal(a, b),
            4 => Joint::spherical(a, b),
            5 => Joint::planar(a, b),
            6 => Joint::in_line(a, b),
            7 => Joint::in_plane(a, b),
            8 => Joint::driven_cylindrical(a, b, Some(wave), None),
            9 => Joint::driven_revolute(a, b, wave),
            _ => continue,
        };
        let is_hinge = (index + seed as usize).is_multiple_of(11);
        model.element(format!("j{index}"), joint);
        if is_hinge {
            let servo = Servo::new(Coordinate::Angle, ends, [20.0, 2.0]);
            model.element(format!("servo {index}"), servo.at_position(0.2));
            model.reflected_inertia(&format!("rotor {index}"), Coordinate::Angle, ends, 0.3);
        }
    }
    let mut on = |index: usize| Marker::on(nodes[index]).offset(numbers.vector() * 0.2);
    let [a, b, c, d, e, f] = [7, 12, 22, 0, 9, 20].map(&mut on);
    let mut bushing = Bushing::new(a, b);
    bushing.stiffness = Mat3::diagonal(20.0, 30.0, 10.0);
    model.element("bushing", bushing);
    let law = Law::Linear {
        stiffness: 50.0,
        damping: 0.0,
    };
    model.element("rod", Rod::new(c, d, 0.3, law));
    model.element("drag", Drag([nodes[22], nodes[15]]));
    let constant = |value: f64| Drive::Constant(value);
    let parts = [3.0, -2.0, 5.0].map(constant);
    let moment = [0.4, 0.5, -0.3].map(constant);
    model.element("load", Load::fixed(e, parts.clone(), moment.clone()));
    model.element("follower", Load::follower(f, parts, moment));
    model
}

struct Probe {
    system: System,
    tree: Tree,
    trial: Trial,
    rates: Vec<f64>,
}

impl Probe {
    fn new(model: Model) -> Self {
        let options = Options {
            method: Method::Lms2 { rho: 0.6 },
            coordinates: super::Coordinates::Joint,
            ..Options::default()
        };
        let mut system = System::new(model, options).expect("a tree");
        system.start(0.3, &[]).expect("a consistent start");
        let mut tree = *system.tree.take().expect("joint coordinates");
        let mut trial = *tree.trial.take().expect("an implicit method");
        trial.look_back(&mut tree, &system.state.now, None);
        system.give_tree(&mut tree, 0.3, 1e-3, &[]);
        let freedoms = tree.layout.freedoms;
        for id in 0..freedoms {
            tree.given[id] = trial.now.seconds[id] + (7.0 * id as f64).sin();
        }
        let rates = tree.rates[..freedoms].to_vec();
        Self {
            system,
            tree,
            trial,
            rates,
        }
    }

    /// What the freedoms lack where one of them is elsewhere, or faster, or gains speed faster.
    fn lacks(&mut self, freedom: usize, change: [f64; 3]) -> Vec<f64> {
        let tree = &mut self.tree;
        let freedoms = self.rates.len();
        tree.values[..freedoms].fill(0.0);
        tree.rates[..freedoms].copy_from_slice(&self.rates);
        tree.values[freedom] = change[0];
        tree.rates[freedom] += change[1];
        tree.given[freedom] += change[2];
        tree.lead_followers();
        tree.lead_accelerations();
        tree.place(&mut self.system.motions);
        self.go_out();
        let tree = &mut self.tree;
        tree.sum_loads();
        tree.given[freedom] -= change[2];
        tree.found.iter().map(|found| -found).collect()
    }

    fn go_out(&mut self) -> Vec<f64> {
        let system = &self.system;
        let mut wrenches = vec![0.0; system.work.residual.len()];
        let at = point(system);
        super::implicit::push(&system.assembly, &at, self.tree.acting(), &mut wrenches);
        let (inertia, gravity) = (&system.assembly.inertia, system.assembly.gravity);
        let nodes = 6 * system.assembly.nodes();
        self.tree
            .go_out(&system.motions, inertia, gravity, &wrenches[..nodes]);
        wrenches
    }
}

fn point(system: &System) -> EvaluationPoint<'_> {
    let (motions, memory) = (&system.motions, &system.state.memory);
    EvaluationPoint::new(0.3, motions, &system.multipliers, &[], memory)
}

#[test]
fn the_tangent_is_that_of_differences() {
    for seed in 0..11 {
        let mut probe = Probe::new(machine(seed));
        let freedoms = probe.rates.len();
        let largest = |all: &[Vec<f64>]| {
            let each = all.iter().flatten();
            each.fold(0.0, |most: f64, value| most.max(value.abs()))
        };
        let expected = [0, 1, 2].map(|which: usize| -> Vec<Vec<f64>> {
            let column = |freedom: usize| {
                let change = |step: f64| {
                    let mut change = [0.0; 3];
                    change[which] = step;
                    change
                };
                let plus = probe.lacks(freedom, change(STEP));
                let minus = probe.lacks(freedom, change(-STEP));
                let pairs = plus.iter().zip(&minus);
                pairs.map(|(a, b)| (a - b) / (2.0 * STEP)).collect()
            };
            (0..freedoms).map(column).collect()
        });
        probe.lacks(0, [0.0; 3]);
        let wrenches = probe.go_out();
        let nodes = 6 * probe.system.assembly.nodes();
        let system = &probe.system;
        let at = point(system);
        let tangent = &mut probe.trial.tangent;
        tangent.find(&mut probe.tree, &system.assembly, &at, &wrenches[..nodes]);
        for (which, expected) in expected.iter().enumerate() {
            let scale = largest(expected);
            assert!(scale > 1e-3, "seed {seed}: nothing to compare");
            for (column, values) in expected.iter().enumerate() {
                for (row, value) in values.iter().enumerate() {
                    let found = tangent.derivatives(row, column)[which];
                    assert!(
                        (found - value).abs() < TOLERANCE * scale,
                        "seed {seed}, derivative {which}, row {row}, column {column}: {found} instead of {value}, largest {scale}"
                    );
                }
            }
        }
    }
}
