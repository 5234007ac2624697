//! A massless cable over pulleys.
//!
//! Between two pulleys, i and i + 1, the cable acts along one coordinate of the nodes, whose rate is
//! s_i = t · (c_(i+1)' - c_i') + ρ_(i+1) ω_(i+1) - ρ_i ω_i with directions t and centres c of the [`path`],
//! radii ρ and spins ω about the axes: by so much the rims move apart. Up to the last pulley the cable does not
//! stretch, so that it slips on pulley j with v_j = w - Σ_(i<j) s_i, where w is the rate of its free
//! length, given out at its first end. Its elasticity is that of the last stretch, whose tension is T. Over a
//! pulley the tension grows by e^(μ φ) in the direction in which the cable slips (Euler, Eytelwein),
//! with the wrap φ and the coefficient μ between ± its largest value of bristles that bend (LuGre).

mod path;

use super::account::Beyond;
use super::{
    At, Element, ElementEnergy, Half, InternalState, Jacobian, Law, NotLinear, References,
    Residual, STICKS, Weights, add_point_stiffness, by_poses, refer_nodes,
};
use crate::drive::Drive;
use crate::joint::{Bristles, LuGre};
use crate::kinks::mixed;
use crate::node::{Marker, NodeId};
use oldham_space::{Mat3, Vec3};
use path::Path;

/// Points that a cable may run through.
const MOST_POINTS: usize = 8;

/// What a cable runs over. Its axis is the third one of its marker; it turns with its node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pulley {
    /// Radius, negative where the cable runs clockwise about the axis; zero for a point.
    pub radius: f64,
    /// Friction between the cable and the pulley; none, if it runs freely.
    pub friction: Option<LuGre>,
}

/// A cable over pulleys between two ends, the first and the last of its markers. The elongation is that of the
/// whole length.
#[derive(Clone, Debug)]
pub struct Cable {
    nodes: Vec<NodeId>,
    /// Offsets and axes of the markers, in node axes.
    places: Vec<[Vec3; 2]>,
    pulleys: Vec<Pulley>,
    radii: [f64; MOST_POINTS],
    spring: Beyond,
}

/// Where the cable runs, and how it moves.
struct Course {
    count: usize,
    arms: [Vec3; MOST_POINTS],
    axes: [Vec3; MOST_POINTS],
    path: Path,
    /// Rates of the stretches, from rim to rim.
    rates: [f64; MOST_POINTS],
    /// Rate of the free length.
    winding: f64,
}

/// Tensions of a cable.
struct Tensions {
    /// Of the last stretch, and its derivatives by elongation and rate.
    law: (f64, f64, f64),
    /// Of each stretch, as a fraction of the last one.
    fractions: [f64; MOST_POINTS],
    /// At each pulley: the derivative of the logarithm of the ratio by the slip.
    slopes: [f64; MOST_POINTS],
}

impl Tensions {
    fn of(&self, stretch: usize) -> f64 {
        self.law.0 * self.fractions[stretch]
    }
}

impl Course {
    fn stretches(&self) -> usize {
        self.count - 1
    }

    /// Of the whole length.
    fn rate(&self) -> f64 {
        self.rates[..self.stretches()].iter().sum::<f64>() - self.winding
    }

    /// Slip on a pulley, from the first end to the last.
    fn slip(&self, point: usize) -> f64 {
        self.winding - self.rates[..point].iter().sum::<f64>()
    }

    /// How the coordinate of a stretch changes with the motion of one of its two ends.
    fn gradient(&self, stretch: usize, end: usize, radii: &[f64]) -> (Vec3, Vec3) {
        let point = stretch + end;
        let sign = if end == 0 { -1.0 } else { 1.0 };
        let t = self.path.directions[stretch];
        let turn = self.arms[point].cross(t) + self.axes[point] * radii[point];
        (t * sign, turn * sign)
    }
}

impl Cable {
    /// Through at least two markers, no two neighbours of which are ever at one place, with a law
    /// that does not remember. Pulleys are points without friction.
    ///
    /// # Panics
    /// If there are fewer than two markers or more than eight.
    pub fn new(markers: &[Marker], free_length: impl Into<Drive>, law: Law) -> Self {
        assert!((2..=MOST_POINTS).contains(&markers.len()), "2 to 8 points");
        debug_assert!(law.memory() == 0, "the law of a cable has no memory");
        let place = |marker: &Marker| [marker.offset, marker.orientation.matrix().column(2)];
        Self {
            nodes: markers.iter().map(|marker| marker.node).collect(),
            places: markers.iter().map(place).collect(),
            pulleys: vec![Pulley::default(); markers.len()],
            radii: [0.0; MOST_POINTS],
            spring: Beyond {
                law,
                free: free_length.into(),
                follows: true,
            },
        }
    }

    /// The same over pulleys, one for each marker between the ends.
    ///
    /// # Panics
    /// If their number is not that of the markers between the ends.
    pub fn over(mut self, pulleys: &[Pulley]) -> Self {
        let last = self.pulleys.len() - 1;
        self.pulleys[1..last].copy_from_slice(pulleys);
        for (radius, pulley) in self.radii.iter_mut().zip(&self.pulleys) {
            *radius = pulley.radius;
        }
        self
    }

    /// Points that a cable may run through, at most.
    pub const MOST_POINTS: usize = MOST_POINTS;

    /// The length of a cable over pulleys with these centres and axes.
    pub fn length_over(centres: &[Vec3], axes: &[Vec3], radii: &[f64]) -> f64 {
        Path::new(centres, axes, radii).length
    }

    fn has_friction(&self) -> bool {
        self.pulleys.iter().any(|pulley| pulley.friction.is_some())
    }

    fn course(&self, at: &At<'_>) -> Course {
        let count = self.nodes.len();
        let [mut arms, mut axes] = [[Vec3::ZERO; MOST_POINTS]; 2];
        let [mut centres, mut velocities] = [[Vec3::ZERO; MOST_POINTS]; 2];
        let mut rims = [0.0; MOST_POINTS];
        for (i, (&node, &[offset, axis])) in self.nodes.iter().zip(&self.places).enumerate() {
            let motion = at.motion(node);
            arms[i] = motion.rotation * offset;
            centres[i] = motion.position + arms[i];
            velocities[i] = motion.velocity + motion.angular_velocity.cross(arms[i]);
            if self.radii[i] != 0.0 {
                axes[i] = motion.rotation * axis;
                rims[i] = self.radii[i] * axes[i].dot(motion.angular_velocity);
            }
        }
        let path = Path::new(&centres[..count], &axes, &self.radii);
        let mut rates = [0.0; MOST_POINTS];
        for i in 0..count - 1 {
            let apart = velocities[i + 1] - velocities[i];
            rates[i] = path.directions[i].dot(apart) + rims[i + 1] - rims[i];
        }
        Course {
            count,
            arms,
            axes,
            path,
            rates,
            winding: self.spring.winding(at),
        }
    }

    fn elongation(&self, course: &Course, at: &At<'_>) -> f64 {
        course.path.length - self.spring.free.at(at)
    }

    /// The bristles on a pulley that has friction.
    fn bristles(&self, course: &Course, point: usize, at: &At<'_>) -> Option<Bristles> {
        let friction = self.pulleys[point].friction?;
        Some(friction.evaluate(course.slip(point), at.memory[point], at.elapsed))
    }

    fn tensions(&self, course: &Course, at: &At<'_>) -> Tensions {
        let mut tensions = Tensions {
            law: self
                .spring
                .law
                .evaluate(self.elongation(course, at), course.rate(), at),
            fractions: [1.0; MOST_POINTS],
            slopes: [0.0; MOST_POINTS],
        };
        for point in (1..course.stretches()).rev() {
            let wrap = course.path.wraps[point].max(0.0);
            let mut ratio = 1.0;
            if let Some(bristles) = self.bristles(course, point, at) {
                ratio = (-wrap * bristles.coefficient).exp();
                tensions.slopes[point] = wrap * bristles.slope;
            }
            tensions.fractions[point - 1] = tensions.fractions[point] * ratio;
        }
        tensions
    }

    /// The tension at the last end.
    pub(crate) fn tension(&self, at: &At<'_>) -> f64 {
        let course = self.course(at);
        self.tensions(&course, at).law.0
    }
}

impl Element for Cable {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        self.spring.free.refer(references);
        self.spring.law.refer(references);
    }

    /// Deflections of the bristles on the pulleys.
    fn memory(&self) -> usize {
        match self.has_friction() {
            true => self.nodes.len(),
            false => 0,
        }
    }

    fn depends_on_past(&self) -> bool {
        self.has_friction()
    }

    /// The deflections of the bristles again: they follow the slip, which the stretches before a pulley
    /// add up to, and hold the tensions of these back.
    fn internal_states(&self, at: &At<'_>) -> Result<Vec<InternalState>, NotLinear> {
        let course = self.course(at);
        let tensions = self.tensions(&course, at);
        let rough: Vec<usize> = (1..course.stretches())
            .filter(|&point| self.pulleys[point].friction.is_some())
            .collect();
        let mut states = Vec::new();
        for (i, &point) in rough.iter().enumerate() {
            let Some(friction) = self.pulleys[point].friction else {
                continue;
            };
            let rates = friction.rates(&[course.slip(point)], &[at.memory[point]]);
            let rates = rates.ok_or(STICKS)?;
            let [[by_slip]] = rates.by_velocity;
            let mut state = InternalState {
                name: format!("bristles{point}"),
                place: point,
                by_states: vec![0.0; rough.len()],
                by_velocities: vec![[0.0; 6]; self.nodes.len()],
                forces: vec![[0.0; 6]; self.nodes.len()],
                ..InternalState::default()
            };
            state.by_states[i] = rates.by_deflection;
            let wrap = course.path.wraps[point].max(0.0);
            for stretch in 0..point {
                let by_deflection = -wrap * rates.coefficient * tensions.of(stretch);
                for end in 0..2 {
                    let (x, r) = course.gradient(stretch, end, &self.radii);
                    for k in 0..6 {
                        let along = if k < 3 { x[k] } else { r[k - 3] };
                        state.by_velocities[stretch + end][k] -= by_slip * along;
                        state.forces[stretch + end][k] -= by_deflection * along;
                    }
                }
            }
            let [by_pose] = by_poses(at, &self.nodes, course.path.length, |at| {
                [by_slip * self.course(at).slip(point)]
            });
            state.by_poses = by_pose;
            states.push(state);
        }
        Ok(states)
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        if !self.has_friction() {
            return;
        }
        let course = self.course(at);
        for (point, memory) in memory.iter_mut().enumerate() {
            *memory = match self.bristles(&course, point, at) {
                Some(bristles) => bristles.deflection,
                None => 0.0,
            };
        }
    }

    /// Slack or taut.
    fn side(&self, at: &At<'_>) -> u64 {
        mixed(u64::from(self.tension(at) > 0.0), self.spring.free.side(at))
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let course = self.course(at);
        let tensions = self.tensions(&course, at);
        for stretch in 0..course.stretches() {
            let tension = tensions.of(stretch);
            for end in 0..2 {
                let (x, r) = course.gradient(stretch, end, &self.radii);
                out.load(stretch + end, -x * tension, -r * tension);
            }
        }
    }

    /// How wraps, and axes out of the plane of the cable, change with the poses is left out: it matters
    /// little, and only with friction or where the cable leaves its plane.
    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        use Half::{Angular, Linear};
        let course = self.course(at);
        let tensions = self.tensions(&course, at);
        let (tension, by_length, by_rate) = tensions.law;
        let k = weights.stiffness * by_length + weights.damping * by_rate;
        for row in 0..course.stretches() {
            for column in 0..course.stretches() {
                // What both have slipped past holds them back together.
                let passed = &tensions.slopes[row.max(column) + 1..course.count];
                let held = weights.damping * tension * passed.iter().sum::<f64>();
                let factor = tensions.fractions[row] * (k + held);
                for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let (x, r) = course.gradient(row, i, &self.radii);
                    let (y, q) = course.gradient(column, j, &self.radii);
                    let (i, j) = (row + i, column + j);
                    out.add((i, Linear), (j, Linear), x.outer(y) * factor);
                    out.add((i, Linear), (j, Angular), x.outer(q) * factor);
                    out.add((i, Angular), (j, Linear), r.outer(y) * factor);
                    out.add((i, Angular), (j, Angular), r.outer(q) * factor);
                }
            }
            let tension = tensions.of(row) * weights.stiffness;
            let t = course.path.directions[row];
            let across = (Mat3::IDENTITY - t.outer(t)) * (tension / course.path.lengths[row]);
            let arms = [row, row + 1].map(|point| course.arms[point]);
            add_point_stiffness(&mut out.pairs(row, row).jacobian(), across, arms);
            for end in 0..2 {
                let sign = if end == 0 { 1.0 } else { -1.0 };
                let point = row + end;
                let turned = (t * tension).skew() * course.arms[point].skew();
                let couple = course.axes[point].skew() * (tension * self.radii[point]);
                let moment = (couple - turned) * sign;
                out.add((point, Angular), (point, Angular), moment);
            }
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let course = self.course(at);
        let tensions = self.tensions(&course, at);
        let elongation = self.elongation(&course, at);
        let mut energy = self.spring.energy(elongation, course.rate(), at);
        // The free length is given out at the first end, against the tension there.
        energy.supplied += (tensions.law.0 - tensions.of(0)) * course.winding;
        for point in 1..course.stretches() {
            let gain = tensions.of(point) - tensions.of(point - 1);
            energy.dissipated += gain * course.slip(point);
        }
        energy
    }
}
