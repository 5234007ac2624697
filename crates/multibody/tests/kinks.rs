//! Steps that end where a force changes: orders of convergence at kinks and jumps.

use oldham_multibody::{
    Body, Coordinate, CoordinateForce, Drive, Joint, Law, Load, Marker, Mat3, Measured, Method,
    Model, Motion, NodeId, Options, Rod, Sensor, System, TimeFunction, Vec3,
};
use std::f64::consts::PI;

const METHODS: [Method; 2] = [
    Method::Lms2 { rho: 0.6 },
    Method::GeneralisedAlpha { rho: 0.6 },
];

fn sign(d: f64) -> f64 {
    if d < 0.0 { -1.0 } else { 1.0 }
}

/// A spring with a constant pull besides, whichever pulls back.
fn sign_law() -> Law {
    let side = |d: f64, _: f64, _: f64| u64::from(d < 0.0);
    let tension = |d: f64| d + sign(d);
    let derivatives = move |d: f64, _: f64, _: f64| [tension(d), 1.0, 0.0];
    Law::differentiable(move |d, _, _| tension(d), derivatives, side)
}

/// A body of 1 kg and 1 kg m².
fn body(model: &mut Model, motion: Motion) -> NodeId {
    let node = model.node("body", motion);
    model.body(node, Body::centred(1.0, Mat3::IDENTITY));
    node
}

/// A run to `end` in equal steps, sharp enough that what is left of an iteration does not count.
#[derive(Clone, Copy)]
struct Run {
    method: Method,
    locates_kinks: bool,
    end: f64,
    steps: usize,
}

impl Run {
    fn of(self, model: Model) -> System {
        let options = Options {
            method: self.method,
            tolerance: 1e-10,
            locates_kinks: self.locates_kinks,
            ..Options::default()
        };
        let mut system = System::new(model, options).unwrap();
        system.start(0.0, &[]).unwrap();
        for _ in 0..self.steps {
            system.step(self.end / self.steps as f64, &[]).unwrap();
        }
        system
    }
}

/// The mean over neighbouring numbers of steps: where in a step a kink falls differs from one to the next.
fn measured_order(error: impl Fn(usize) -> f64, steps: usize) -> (f64, f64) {
    let mean = |steps: usize| (0..6).map(|i| error(steps + 11 * i)).sum::<f64>() / 6.0;
    let [coarse, fine] = [mean(steps), mean(4 * steps)];
    ((coarse / fine).log2() / 2.0, fine)
}

/// x" = -x - sgn(x), whose motion is made of arcs (a + 1) cos t - 1: along a line, and about an axis.
#[test]
fn a_force_that_jumps_keeps_the_order() {
    let amplitude = 0.3_f64;
    let quarter = (1.0 / (amplitude + 1.0)).acos();
    let end = 8.8 * quarter;
    let expected = (amplitude + 1.0) * (0.8 * quarter).cos() - 1.0;
    let on_a_line = || {
        let mut model = Model::new();
        let node = body(&mut model, Motion::at(Vec3::new(amplitude, 0.0, 0.0)));
        let far = Marker::on(NodeId::GROUND).offset(Vec3::new(-10.0, 0.0, 0.0));
        model.element("law", Rod::new(far, node.into(), 10.0, sign_law()));
        (model, node)
    };
    let about_an_axis = || {
        let mut model = Model::new();
        let node = body(&mut model, Motion::at(Vec3::ZERO));
        let ends = [NodeId::GROUND, node].map(|node| Marker::on(node).axis(Vec3::Z));
        model.element("joint", Joint::revolute(ends[0], ends[1]));
        let law = CoordinateForce::new(Coordinate::Angle, ends, sign_law(), amplitude);
        model.element("law", law);
        (model, node)
    };
    let place = |motion: &Motion| motion.position[0];
    let angle = |motion: &Motion| {
        let axis = motion.rotation.column(0);
        amplitude - axis[1].atan2(axis[0])
    };
    type Case<'a> = (&'a dyn Fn() -> (Model, NodeId), &'a dyn Fn(&Motion) -> f64);
    let cases: [Case<'_>; 2] = [(&on_a_line, &place), (&about_an_axis, &angle)];
    for (model, value) in cases {
        for method in METHODS {
            let error = |locates_kinks: bool| {
                move |steps: usize| {
                    let run = Run {
                        method,
                        locates_kinks,
                        end,
                        steps,
                    };
                    let (model, node) = model();
                    let system = run.of(model);
                    let events = system.counters().events;
                    assert_eq!(
                        events,
                        if locates_kinks { 4 } else { 0 },
                        "{method:?} {steps}"
                    );
                    (value(system.motion(node)) - expected).abs()
                }
            };
            let (order, fine) = measured_order(error(true), 200);
            assert!(order > 1.8 && fine < 1e-4, "{method:?}: {order} {fine:e}");
            let (order, crossed) = measured_order(error(false), 200);
            assert!(
                order < 1.5 && crossed > 3.0 * fine,
                "{method:?}: {order} {crossed:e}"
            );
        }
    }
}

/// A mass falls onto a stiff stop and bounces without loss: free flight and a piece of a sine, whose times are known.
#[test]
fn a_mass_bounces_on_a_stop() {
    const G: f64 = 9.81;
    let (height, stiffness) = (0.2, 4e4_f64);
    let w = stiffness.sqrt();
    let fall = (2.0_f64 * height / G).sqrt();
    let (speed, sag) = (G * fall, G / (w * w));
    let period = 2.0 * fall + 2.0 / w * (PI - (speed / w / sag).atan());
    let flown = 0.25 * period;
    let expected = height - 0.5 * G * flown * flown;
    let model = || {
        let mut model = Model::new();
        model.gravity(Vec3::new(-G, 0.0, 0.0));
        let node = body(&mut model, Motion::at(Vec3::new(height, 0.0, 0.0)));
        let far = Marker::on(NodeId::GROUND).offset(Vec3::new(-10.0, 0.0, 0.0));
        let stops = Law::Stops {
            lower: 0.0,
            upper: f64::INFINITY,
            stiffness,
            damping: 0.0,
        };
        model.element("stop", Rod::new(far, node.into(), 10.0, stops));
        (model, node)
    };
    let error = |locates_kinks: bool| {
        move |steps: usize| {
            let run = Run {
                method: METHODS[0],
                locates_kinks,
                end: 3.25 * period,
                steps,
            };
            let (model, node) = model();
            let system = run.of(model);
            let events = if locates_kinks { 6 } else { 0 };
            assert_eq!(system.counters().events, events, "three times down and up");
            (system.motion(node).position[0] - expected).abs()
        }
    };
    let (order, fine) = measured_order(error(true), 1000);
    let (_, crossed) = measured_order(error(false), 1000);
    assert!(
        order > 1.8 && fine < crossed,
        "{order} {fine:e} {crossed:e}"
    );
}

/// A load that begins with a jump within a step, given in time or by what a sensor reads: v = F (t - t₀).
#[test]
fn a_load_that_begins_within_a_step() {
    const BEGINS: f64 = 0.333_77;
    struct Jump;
    impl TimeFunction for Jump {
        fn at(&self, t: f64) -> [f64; 3] {
            [if t < BEGINS { 0.0 } else { 5.0 }, 0.0, 0.0]
        }
        fn side(&self, t: f64) -> u64 {
            u64::from(t >= BEGINS)
        }
    }
    let run = Run {
        method: METHODS[0],
        locates_kinks: true,
        end: 1.0,
        steps: 10,
    };
    let in_time = |_: NodeId| Drive::differentiable(Jump);
    // It moves along y with a velocity of one.
    let by_reading = |node: NodeId| {
        let sensor = Sensor::Position(Marker::on(node), Vec3::Y);
        let force = |r: &[f64]| if r[1] < BEGINS { 0.0 } else { 5.0 };
        Drive::Measured(Measured::new(vec![sensor], force).with_side(|r| u64::from(r[1] >= BEGINS)))
    };
    let drives: [&dyn Fn(NodeId) -> Drive; 2] = [&in_time, &by_reading];
    for drive in drives {
        let mut model = Model::new();
        let node = body(
            &mut model,
            Motion::at(Vec3::ZERO).moving(Vec3::Y, Vec3::ZERO),
        );
        let force = [drive(node), Drive::ZERO, Drive::ZERO];
        let none = [Drive::ZERO, Drive::ZERO, Drive::ZERO];
        model.element("load", Load::fixed(Marker::on(node), force, none));
        let system = run.of(model);
        assert_eq!(system.counters().events, 1);
        let (found, expected) = (system.motion(node).velocity[0], 5.0 * (1.0 - BEGINS));
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}
