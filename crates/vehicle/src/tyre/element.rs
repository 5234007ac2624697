//! The tyre as an element of a mechanism: between a rim and a road.

use super::carcass::{Carcass, MEMORY};
use super::coefficients::MagicFormula;
use super::contact::{Contact, WheelMotion};
use super::magic_formula::Slip;
use crate::dual::{Dual, Real, Varied, carried, varied};
use crate::road::Road;
use crate::wrench::add_varied_wrench;
use oldham_model::Outline;
use oldham_multibody::element::{
    At, ElementEnergy, InternalState, Jacobian, NotLinear, Residual, Weights,
};
use oldham_multibody::{Element, NodeId, References};
use oldham_space::{V3, Vec3};
use std::sync::Arc;

/// Deflection over which vertical damping sets in when a wheel touches down, in m.
const DAMPED_FROM: f64 = 1e-3;
/// Deflection of the carcass by which forces are differenced, in m.
const BENT: f64 = 1e-5;
/// Speed below which rolling resistance and aligning moment fade, in m/s.
const SLOW: f64 = 0.1;

/// A tyre on the rim at a node, whose origin is the centre of the wheel.
#[derive(Clone, Debug)]
pub struct Tyre {
    nodes: [NodeId; 1],
    /// The axis of the wheel to the left, in node axes.
    axis: Vec3,
    formula: Arc<MagicFormula>,
    road: Arc<Road>,
    /// 1, or -1 where the tyre runs on the other side than that on which it was measured.
    side: f64,
}

/// How a wheel rolls at a state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WheelState {
    /// Longitudinal slip that the forces follow.
    pub longitudinal_slip: f64,
    /// Slip angle that the forces follow, in rad.
    pub slip_angle: f64,
    /// Camber in rad, positive when the top leans to the right.
    pub camber: f64,
    /// Forces forward, to the left and normal to the road in N, then moments about these axes at
    /// the contact point in N·m.
    pub forces: [f64; 6],
    /// The contact point in m.
    pub patch: [f64; 3],
}

/// What a tyre answers to the motion of its contact point.
struct Response<T> {
    /// Forces and moments along and about the axes of the contact.
    wrench: [T; 6],
    slips: [T; 2],
    carcass: Carcass<T>,
}

impl Tyre {
    /// A tyre; `axis` is the axis of the wheel in node axes, pointing to the left of the vehicle.
    pub fn new(rim: NodeId, axis: Vec3, formula: Arc<MagicFormula>, road: Arc<Road>) -> Self {
        Self {
            nodes: [rim],
            axis: axis.unit(),
            formula,
            road,
            side: 1.0,
        }
    }

    /// On this side of the vehicle: a tyre that was measured on the other one is mirrored.
    pub fn on_side(mut self, is_left: bool) -> Self {
        self.side = if is_left == self.formula.is_left {
            1.0
        } else {
            -1.0
        };
        self
    }

    /// What it looks like.
    pub fn outline(&self) -> Outline {
        Outline::Wheel {
            rim: self.nodes[0],
            axis: self.axis,
            radius: self.formula.radius,
        }
    }

    /// Its coefficients.
    pub fn formula(&self) -> &Arc<MagicFormula> {
        &self.formula
    }

    /// What it rolls on.
    pub fn road(&self) -> &Arc<Road> {
        &self.road
    }

    /// How the wheel rolls at a state; nothing of a wheel in the air.
    pub fn state(&self, at: &At<'_>) -> WheelState {
        let Some((contact, grip)) = self.contact(at) else {
            return WheelState::default();
        };
        let camber = contact.kinematics[5];
        let Some(response) = self.respond(contact.kinematics, grip, at) else {
            return WheelState::default();
        };
        WheelState {
            longitudinal_slip: response.slips[0],
            slip_angle: response.slips[1].atan(),
            camber,
            forces: response.wrench,
            patch: (at.motion(self.nodes[0]).position + contact.arm).0,
        }
    }

    fn contact(&self, at: &At<'_>) -> Option<(Contact<f64>, f64)> {
        let motion = at.motion(self.nodes[0]);
        let road = self.road.under(motion.position);
        let wheel = WheelMotion {
            centre: motion.position,
            axis: motion.rotation * self.axis,
            velocity: motion.velocity,
            angular_velocity: motion.angular_velocity,
        };
        Contact::new(&wheel, &road).map(|contact| (contact, road.grip))
    }

    /// None in the air.
    fn respond<T: Real>(&self, kinematics: [T; 6], grip: f64, at: &At<'_>) -> Option<Response<T>> {
        self.respond_after(kinematics, grip, at.elapsed, at.memory)
    }

    /// The same so much time after what is remembered.
    fn respond_after<T: Real>(
        &self,
        kinematics: [T; 6],
        grip: f64,
        elapsed: f64,
        memory: &[f64],
    ) -> Option<Response<T>> {
        let formula = &*self.formula;
        let [
            loaded_radius,
            radius_rate,
            forward,
            side_speed,
            spin,
            camber,
        ] = kinematics;
        let rim_speed = spin.times(formula.radius / formula.reference_speed);
        let vertical = &formula.vertical;
        let free_radius = (rim_speed * rim_speed)
            .times(vertical.growth)
            .plus(1.0)
            .times(formula.radius);
        let deflection = free_radius - loaded_radius;
        if deflection.value() <= 0.0 {
            return None;
        }
        let relative = deflection.times(1.0 / formula.radius);
        let [first, second] = vertical.stiffness;
        let elastic = relative
            * relative.times(second).plus(first)
            * rim_speed.abs().times(vertical.by_spin).plus(1.0);
        let onset = deflection.times(1.0 / DAMPED_FROM).at_most(1.0);
        let load = elastic - (radius_rate * onset).times(vertical.damping);
        if load.value() <= 0.0 {
            return None;
        }
        let [b, d, f] = vertical.effective_radius;
        let share = deflection.times(1.0 / vertical.nominal_deflection);
        let rolling_radius = free_radius
            - (share.times(b).atan().times(d) + share.times(f)).times(vertical.nominal_deflection);
        let slide = forward - spin * rolling_radius;
        let lengths = formula.relaxation_lengths(load, camber);
        let carcass = Carcass::after(elapsed, memory, forward, [slide, side_speed], lengths);
        let slips = carcass.slips(forward, formula.low_speed);
        let speed = (forward * forward + side_speed * side_speed)
            .plus(SLOW * SLOW)
            .sqrt();
        let mirrored = Slip {
            longitudinal: slips[0],
            angle: slips[1].atan().times(self.side),
            camber: camber.times(self.side),
            load,
            speed: forward,
            direction: forward / speed,
        };
        let forces = formula.forces(&mirrored, grip);
        let rolling = spin.times(formula.radius).smooth_sign(SLOW);
        let wrench = [
            forces.fx,
            forces.fy.times(self.side),
            load,
            forces.mx.times(self.side),
            forces.my * rolling,
            forces.mz.times(self.side),
        ];
        Some(Response {
            wrench,
            slips,
            carcass,
        })
    }

    /// Force and moment on the rim with their derivatives by its motion.
    fn varied_wrench(&self, at: &At<'_>) -> Option<[V3<Varied>; 2]> {
        let motion = at.motion(self.nodes[0]);
        let road = self.road.under(motion.position);
        let wheel = WheelMotion {
            centre: varied(motion.position, 0),
            axis: carried(motion.rotation * self.axis),
            velocity: varied(motion.velocity, 6),
            angular_velocity: varied(motion.angular_velocity, 9),
        };
        let contact = Contact::new(&wheel, &road)?;
        let own: [Dual<6>; 6] =
            std::array::from_fn(|i| Dual::variable(contact.kinematics[i].value, i));
        let response = self.respond(own, road.grip, at)?;
        let wrench = response
            .wrench
            .map(|component| component.through(&contact.kinematics));
        Some(contact.wrench(wrench))
    }
}

impl Element for Tyre {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        references.node(&mut self.nodes[0]);
    }

    fn memory(&self) -> usize {
        MEMORY
    }

    fn depends_on_past(&self) -> bool {
        true
    }

    /// The deflections of the carcass, while the wheel touches the road.
    fn internal_states(&self, at: &At<'_>) -> Result<Vec<InternalState>, NotLinear> {
        let motion = at.motion(self.nodes[0]);
        let road = self.road.under(motion.position);
        let wheel = WheelMotion {
            centre: varied(motion.position, 0),
            axis: carried(motion.rotation * self.axis),
            velocity: varied(motion.velocity, 6),
            angular_velocity: varied(motion.angular_velocity, 9),
        };
        let Some(contact) = Contact::new(&wheel, &road) else {
            return Ok(Vec::new());
        };
        let Some(response) = self.respond(contact.kinematics, road.grip, at) else {
            return Ok(Vec::new());
        };
        let carcass = &response.carcass;
        if carcass.stands() && at.memory[..2].iter().any(|u| *u != 0.0) {
            return Err(NotLinear(
                "stands with its carcass bent: it rolls out of that either way",
            ));
        }
        let names = ["carcass_along", "carcass_across"];
        let states = [0, 1].map(|i| {
            let (rate, decay) = carcass.rate(i);
            let mut by_states = vec![0.0; 2];
            by_states[i] = -decay;
            let mut forces = [0.0; 6];
            for (times, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
                let mut memory = [0.0; MEMORY];
                memory.copy_from_slice(at.memory);
                memory[i] += times * BENT;
                let wrench = self.contact(at).and_then(|(contact, grip)| {
                    let kinematics = contact.kinematics;
                    let response = self.respond_after(kinematics, grip, 0.0, &memory)?;
                    Some(contact.wrench(response.wrench))
                });
                for (k, [force, moment]) in wrench.iter().flat_map(|w| (0..3).map(move |k| (k, w)))
                {
                    forces[k] += weight * force[k] / (12.0 * BENT);
                    forces[3 + k] += weight * moment[k] / (12.0 * BENT);
                }
            }
            InternalState {
                name: names[i].into(),
                place: i,
                by_states,
                by_poses: vec![std::array::from_fn(|k| rate.slopes[k])],
                by_velocities: vec![std::array::from_fn(|k| rate.slopes[6 + k])],
                forces: vec![forces],
            }
        });
        Ok(states.into())
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        let response = self
            .contact(at)
            .and_then(|(contact, grip)| self.respond(contact.kinematics, grip, at));
        let remembered = response.map_or(Carcass::FREE, |response| response.carcass.remembered());
        memory.copy_from_slice(&remembered);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let Some((contact, grip)) = self.contact(at) else {
            return;
        };
        if let Some(response) = self.respond(contact.kinematics, grip, at) {
            let [force, moment] = contact.wrench(response.wrench);
            out.load(0, force, moment);
        }
    }

    /// The road enters by the plane that touches it beneath the wheel, not by its curvature.
    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        if let Some([force, moment]) = self.varied_wrench(at) {
            add_varied_wrench(out, 0, &force, &moment, weights);
        }
    }

    /// The vertical spring stores; everything else that the road takes counts as lost, the small
    /// energy of the carcass among it.
    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let Some((contact, grip)) = self.contact(at) else {
            return ElementEnergy::default();
        };
        let Some(response) = self.respond(contact.kinematics, grip, at) else {
            return ElementEnergy::default();
        };
        let motion = at.motion(self.nodes[0]);
        let [force, moment] = contact.wrench(response.wrench);
        let power = force.dot(motion.velocity) + moment.dot(motion.angular_velocity);
        let relative = 1.0 - contact.kinematics[0] / self.formula.radius;
        let [first, second] = self.formula.vertical.stiffness;
        let elastic = relative * (first + second * relative);
        let stored = relative * relative * (0.5 * first + second * relative / 3.0);
        ElementEnergy {
            stored: stored * self.formula.radius,
            dissipated: elastic * contact.kinematics[1] - power,
            supplied: 0.0,
        }
    }
}
