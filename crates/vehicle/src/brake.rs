//! Disc brakes: LuGre friction between a rim and its upright, under a clamping force that is given
//! in time.

use crate::axle::Axle;
use oldham_multibody::element::{
    At, ElementEnergy, InternalState, Jacobian, NotLinear, Residual, STICKS, Weights,
};
use oldham_multibody::{Bristles, Drive, Element, LuGre, NodeId, References};
use oldham_space::Vec3;

/// A disc brake.
#[derive(Clone, Debug)]
pub struct DiscBrake {
    axle: Axle,
    /// Where the pads rub, in m from the axis.
    radius: f64,
    /// Force on each of the two pads in N.
    clamping: Drive,
    friction: LuGre,
}

/// Both faces of the disc.
const FACES: f64 = 2.0;

impl DiscBrake {
    /// A brake on the `rim`, held by the `upright`; `axis` is that of the wheel in axes of the
    /// upright.
    pub fn new(
        [upright, rim]: [NodeId; 2],
        axis: Vec3,
        radius: f64,
        clamping: Drive,
        friction: LuGre,
    ) -> Self {
        Self {
            axle: Axle::new(upright, rim, axis),
            radius,
            clamping,
            friction,
        }
    }

    /// The friction at the pads, and the torque for a coefficient of one.
    fn rub(&self, at: &At<'_>) -> (Bristles, f64) {
        let speed = self.axle.rate(at) * self.radius;
        let bristles = self.friction.evaluate(speed, at.memory[0], at.elapsed);
        let force = FACES * self.clamping.at(at).max(0.0) * at.load_factor;
        (bristles, force * self.radius)
    }
}

impl Element for DiscBrake {
    fn nodes(&self) -> &[NodeId] {
        &self.axle.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        self.axle.refer(references);
        self.clamping.refer(references);
    }

    /// The deflection of the bristles.
    fn memory(&self) -> usize {
        1
    }

    fn depends_on_past(&self) -> bool {
        true
    }

    fn internal_states(&self, at: &At<'_>) -> Result<Vec<InternalState>, NotLinear> {
        let speed = self.axle.rate(at) * self.radius;
        let rates = self
            .friction
            .rates(&[speed], &[at.memory[0]])
            .ok_or(STICKS)?;
        let [[by_speed]] = rates.by_velocity;
        let torque = self.rub(at).1;
        let axis = self.axle.axis(at);
        let [carrier, rotor] = self.axle.nodes.map(|node| at.motion(node).angular_velocity);
        // The axis turns with the carrier.
        let turned = axis.cross(rotor - carrier) * (self.radius * by_speed);
        let along = axis * (self.radius * by_speed);
        let about = |v: Vec3| [0.0, 0.0, 0.0, v[0], v[1], v[2]];
        let held = axis * (torque * rates.coefficient);
        Ok(vec![InternalState {
            name: "bristles".into(),
            place: 0,
            by_states: vec![rates.by_deflection],
            by_poses: vec![about(turned), [0.0; 6]],
            by_velocities: vec![about(-along), about(along)],
            forces: vec![about(held), about(-held)],
        }])
    }

    /// At the start the disc is taken to have turned as it does for a second: bristles at rest would
    /// hold a turning disc with all their damping.
    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        memory[0] = if at.elapsed == 0.0 {
            let speed = self.axle.rate(at) * self.radius;
            self.friction.evaluate(speed, 0.0, 1.0).deflection
        } else {
            self.rub(at).0.deflection
        };
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let (bristles, torque) = self.rub(at);
        self.axle.residual(at, -torque * bristles.coefficient, out);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let (bristles, torque) = self.rub(at);
        let by_rate = -torque * self.radius * bristles.slope;
        let torque = -torque * bristles.coefficient;
        self.axle.jacobian(at, torque, by_rate, weights, out);
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let (bristles, torque) = self.rub(at);
        ElementEnergy {
            dissipated: torque * bristles.coefficient * self.axle.rate(at),
            ..ElementEnergy::default()
        }
    }
}
