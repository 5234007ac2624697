//! Natural motions of the system linearised at its present state of motion.
//!
//! The eigenvalues s of (s² M + s D + K) x = 0 with everything that acts: gyroscopic and
//! centrifugal terms of nodes that move, follower loads, damping, constraints, feedback by sensors.
//! Each comes with a bound of its rounding error, so that a motion that nothing resists, or that
//! nothing damps, is told from one that grows.

mod motion;
mod pencil;
mod reduction;
mod spectrum;

use crate::error::SolveError;
use crate::linearised::rows::DenseRows;
use crate::linearised::states::Unlinear;
use crate::system::System;
use faer::c64;
use motion::{Equations, Frames};
use oldham_space::Vec3;
use pencil::{Pencil, dot, norm};
use spectrum::EigenPair;
use std::f64::consts::TAU;

/// Where modes are searched from zero on: the shift in rad/s, and how far below the highest
/// frequency it is at least, for models whose time is slow.
const FROM_ZERO: f64 = TAU;
const BELOW_FASTEST: f64 = 1e-3;
/// A shift never hits an eigenvalue: it lies this fraction of itself beside the imaginary axis.
const BESIDE: f64 = 0.01;
/// Error bounds are exceeded by this factor before a growth is told.
const SURE: f64 = 3.0;
/// Below this relative growth or decay per radian nothing is told, whatever the bound.
const NOTICED: f64 = 1e-11;
/// A double eigenvalue at zero comes out as a pair at the square root of the rounding error: what
/// is below this fraction of the shift is zero.
const ZERO: f64 = 1e-6;
/// Share of the states of elements in a motion at 0 Hz from which on these hold it.
const HELD: f64 = 1e-6;
/// Modes found beyond those wanted, so that none is missed among them.
const MORE: usize = 3;
/// Unknowns of a model that is large.
const MANY: usize = 200;
/// Displacement to the steady motion, relative to the size, up to which a state counts as steady.
const NEARLY_STEADY: f64 = 1e-6;

/// What a mode does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeKind {
    /// Nothing resists it: 0 Hz.
    Rigid,
    /// It stays where it is put, as friction or hysteresis holds it against what would bring it back:
    /// 0 Hz too.
    Held,
    /// It oscillates, and decays or stays.
    Oscillating,
    /// It comes to rest without oscillating.
    Decaying,
    /// It grows, oscillating or not, by more than the error of its growth.
    Growing,
}

/// A natural motion: exp(s t) times its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// What it does.
    pub kind: ModeKind,
    /// Growth rate in 1/s, the real part of s: negative where it decays, zero where it does neither
    /// within its error.
    pub growth: f64,
    /// Angular frequency in rad/s, the imaginary part of s.
    pub omega: f64,
    /// Bound of the error of s by rounding, in 1/s.
    pub error: f64,
    /// Displacement and rotation of every node, the ground first, scaled to unit modal mass.
    pub shape: Vec<(Vec3, Vec3)>,
    /// The same a quarter of a period earlier: zero for motions in phase.
    pub quadrature: Vec<(Vec3, Vec3)>,
}

impl Mode {
    /// |s|², the square of the undamped angular frequency; negative for one that grows without
    /// oscillating.
    pub fn omega_squared(&self) -> f64 {
        let square = self.growth * self.growth + self.omega * self.omega;
        match self.kind {
            ModeKind::Growing if self.omega == 0.0 => -square,
            _ => square,
        }
    }

    /// Natural frequency in hertz, |s| / 2π: that of the oscillation without its damping.
    pub fn frequency(&self) -> f64 {
        self.growth.hypot(self.omega) / TAU
    }

    /// Frequency in hertz with which it oscillates.
    pub fn damped_frequency(&self) -> f64 {
        self.omega / TAU
    }

    /// Period of the natural frequency.
    pub fn period(&self) -> f64 {
        1.0 / self.frequency()
    }

    /// Damping ratio; negative for one that grows.
    pub fn damping(&self) -> f64 {
        match self.growth.hypot(self.omega) {
            0.0 => 0.0,
            size => -self.growth / size,
        }
    }
}

/// Modes, and the motion about which they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Modes {
    /// The modes: the lowest frequencies first.
    pub modes: Vec<Mode>,
    /// Spins of turning frames in which frequencies are counted, in rad/s, each with the number of
    /// its nodes.
    pub frames: Vec<(Vec3, usize)>,
    /// Largest angular velocity of a node, in rad/s.
    pub fastest: f64,
    /// Whether the state is an equilibrium, or a steady motion.
    pub is_steady: bool,
    /// Whether something turns that is not round, and not in a steady rotation: what centrifugal forces would do
    /// to it in one is missing.
    pub turns_unsteadily: bool,
    /// Degrees of freedom: unknown motions less independent constraints; nothing for large models.
    pub degrees_of_freedom: Option<usize>,
}

impl System {
    /// The `count` modes with the lowest frequencies, or with those nearest to `near` in hertz,
    /// about the present state of motion. Where nodes turn, it is first moved to the steady motion
    /// nearby, if there is one. Motions that come to rest without oscillating are listed besides
    /// the others.
    pub fn modes(
        &mut self,
        count: usize,
        near: Option<f64>,
        inputs: &[f64],
    ) -> Result<Modes, SolveError> {
        self.return_to_records();
        let started = self.state.known > 0;
        let mut frames = self.frames(inputs);
        let turns = frames.iter().any(|&frame| frame != Vec3::ZERO);
        let kept = (self.motions.clone(), self.multipliers.clone());
        if turns {
            self.seek_steady(inputs, &frames);
        }
        let distance = self.distance_from_steady(inputs, &frames);
        let is_steady = distance <= NEARLY_STEADY && self.stays_steady(inputs, &frames);
        let accelerations = if is_steady || !started {
            for (record, motion) in self.state.now.iter_mut().zip(&self.motions) {
                record.motion = *motion;
            }
            self.state.multipliers.copy_from_slice(&self.multipliers);
            self.steady_accelerations(&frames)
        } else {
            // The motion frozen as it is, in the absolute frame.
            (self.motions, self.multipliers) = kept;
            frames.fill(Vec3::ZERO);
            self.present_accelerations()
        };
        let equations = self.equations(inputs, &frames, &accelerations);
        let equations = equations
            .map_err(|Unlinear { element, reason }| SolveError::NotLinear { element, reason })?;
        let is_constant = is_steady || !started;
        let along = (!is_constant).then(|| self.rows_along(inputs, &accelerations));
        let (modes, degrees_of_freedom) = self.modes_of(equations, along, count, near)?;
        let spin = |motion: &crate::node::Motion| motion.angular_velocity.norm();
        Ok(Modes {
            modes,
            frames: counted(&frames),
            fastest: self.motions.iter().map(spin).fold(0.0, f64::max),
            is_steady,
            turns_unsteadily: turns && !is_constant,
            degrees_of_freedom,
        })
    }

    /// The constraints are given along the motion where it does not stay as it is.
    fn modes_of(
        &self,
        equations: Equations,
        along: Option<DenseRows>,
        count: usize,
        near: Option<f64>,
    ) -> Result<(Vec<Mode>, Option<usize>), SolveError> {
        let near = near.filter(|near| *near > 0.0).map(|near| TAU * near);
        let nodes = self.assembly.nodes();
        let is_plain =
            along.is_none() && equations.states.count() == 0 && !equations.rows.has_velocities();
        let of_first_order = match !is_plain && reduction::is_small(equations.matrices.unknowns) {
            true => {
                let rows = along.unwrap_or_else(|| equations.rows.dense(6 * nodes));
                reduction::first_order(&equations.matrices, &rows, &equations.states)
            }
            false => None,
        };
        let pencil = &match is_plain {
            true => Pencil::new(equations.matrices),
            false => Pencil::of(equations),
        };
        let reduced = match is_plain {
            true => reduction::reduce(pencil, nodes),
            false => of_first_order,
        };
        let degrees_of_freedom = reduced.as_ref().map(|reduced| reduced.degrees_of_freedom);
        if reduced
            .as_ref()
            .is_some_and(|reduced| reduced.pencil.size == 0)
        {
            return Ok((Vec::new(), degrees_of_freedom));
        }
        let work = reduced.as_ref().map_or(pencil, |reduced| &reduced.pencil);
        let from_zero = match BELOW_FASTEST * work.fastest() {
            scale if scale > 0.0 && work.size > MANY => scale.min(FROM_ZERO),
            _ => FROM_ZERO,
        };
        let shift = match near {
            Some(omega) => c64::new(BESIDE * omega, omega),
            None => c64::new(from_zero, 0.0),
        };
        let enough = |poles: &[c64]| {
            // An oscillation counts once, whether its conjugate is there or not; what nothing
            // resists is there twice, as a displacement and as a velocity.
            let (zero, others): (Vec<c64>, Vec<c64>) =
                poles.iter().partition(|s| s.norm() < 1e-3 * from_zero);
            let upper = others.iter().filter(|s| s.im > 1e-6 * s.norm());
            upper.count() + zero.len() / 2 >= count + MORE
        };
        let pairs = spectrum::nearest(work, shift, &enough);
        let pairs = pairs.ok_or(SolveError::NoModes)?;
        // Each costs a factorisation, which is nothing for small models.
        let most = if work.size > MANY {
            3 * count + 24
        } else {
            usize::MAX
        };
        let refined = pairs.iter().filter_map(|pair| refine(work, shift, pair));
        let refined = refined.take(most);
        let mut modes: Vec<Mode> = Vec::new();
        let states = match &reduced {
            Some(reduced) => reduced.states.clone(),
            None => 6 * nodes..pencil.moving,
        };
        for mut found in thinned(refined.collect()) {
            let held = norm(&found.x[states.clone()]);
            if found.kind == ModeKind::Rigid && held > HELD * norm(&found.x) {
                found.kind = ModeKind::Held;
            }
            let x = match &reduced {
                Some(reduced) => reduced.expand(&found.x),
                None => found.x.clone(),
            };
            modes.push(self.mode(&found, pencil, x));
        }
        Ok((chosen(modes, count, near), degrees_of_freedom))
    }

    fn mode(&self, found: &Refined, pencil: &Pencil, mut x: Vec<c64>) -> Mode {
        x.truncate(6 * self.assembly.nodes());
        let mut all = x.clone();
        all.resize(pencil.size, c64::new(0.0, 0.0));
        // In phase as far as possible: the sum of squares is real, and the largest positive.
        let square: c64 = x.iter().map(|v| v * v).sum();
        let phase = c64::from_polar(1.0, -0.5 * square.arg());
        let modal_mass = dot(&all, &pencil.mass_times(&all)).re.abs().sqrt();
        let scale = match modal_mass {
            mass if mass > 0.0 => mass,
            _ if norm(&x) > 0.0 => norm(&x),
            _ => 1.0,
        };
        let largest = x.iter().fold(c64::new(0.0, 0.0), |largest, v| {
            let v = v * phase;
            if v.re.abs() > largest.re.abs() * (1.0 + 1e-6) {
                v
            } else {
                largest
            }
        });
        let phase = phase * largest.re.signum() / scale;
        let node = |part: &dyn Fn(c64) -> f64| {
            let vector = |d: &[c64]| Vec3::new(part(d[0]), part(d[1]), part(d[2]));
            let nodes = x
                .chunks_exact(6)
                .map(|d| (vector(&d[..3]), vector(&d[3..])));
            let ground = std::iter::once((Vec3::ZERO, Vec3::ZERO));
            ground.chain(nodes).collect()
        };
        let Refined { s, error, kind, .. } = *found;
        let (growth, omega) = match kind {
            ModeKind::Rigid | ModeKind::Held => (0.0, 0.0),
            _ => (s.re, s.im),
        };
        Mode {
            kind,
            growth,
            omega,
            error,
            shape: node(&|v| (v * phase).re),
            quadrature: node(&|v| (v * phase).im),
        }
    }
}

/// An eigenvalue with its vector, the bound of its error, and what follows from it.
struct Refined {
    s: c64,
    x: Vec<c64>,
    error: f64,
    kind: ModeKind,
}

/// The Rayleigh quotient with the left vector, whose error is of second order in those of the
/// vectors; and the bound of its rounding error. Nothing for the conjugate of another.
fn refine(pencil: &Pencil, shift: c64, pair: &EigenPair) -> Option<Refined> {
    let size = pair.s.norm();
    let is_conjugate = pair.s.im < -1e-7 * size;
    if is_conjugate && size > 1e-2 * shift.norm() {
        return None;
    }
    let x = &pair.x;
    let beside = 1e-6 * (size + 1e-3 * shift.norm());
    let factors = pencil.factor(pair.s + c64::new(beside, beside))?;
    let mut y = x.clone();
    for _ in 0..3 {
        factors.solve_adjoint(&mut y);
        let length = norm(&y);
        if !length.is_finite() || length == 0.0 {
            return None;
        }
        y.iter_mut().for_each(|v| *v /= length);
    }
    let mut s = pair.s;
    let slope = dot(&y, &pencil.slope(s, x));
    let step = dot(&y, &pencil.residual(s, x)) / slope;
    // A double eigenvalue at zero has no slope: it stays as it is.
    if step.norm() < 1e-3 * size {
        s -= step;
    }
    let rounding = pencil.rounding(s, &y, x);
    let mass = dot(&y, &pencil.mass_times(x)).norm();
    let by_slope = rounding / slope.norm();
    // Equations of first order have no mass.
    let by_mass = match mass > 0.0 {
        true => (rounding / mass).sqrt(),
        false => by_slope,
    };
    let error = by_slope.min(by_mass);
    let zero = SURE * error.max(by_mass);
    let kind = if s.norm() <= zero.max(ZERO * shift.norm().min(FROM_ZERO)) {
        ModeKind::Rigid
    } else {
        let unsure = (SURE * error).max(NOTICED * s.norm());
        if s.im.abs() <= unsure {
            s.im = 0.0;
        }
        if s.re.abs() <= unsure {
            s.re = 0.0;
        }
        match s {
            _ if s.re > 0.0 => ModeKind::Growing,
            _ if s.im > 0.0 => ModeKind::Oscillating,
            _ => ModeKind::Decaying,
        }
    };
    Some(Refined {
        s,
        x: x.clone(),
        error,
        kind,
    })
}

/// Each motion at 0 Hz is there twice, as a displacement and as a velocity, with nearly the same
/// shape: one is enough. What is neither conjugate nor real beyond doubt may be there twice too.
fn thinned(found: Vec<Refined>) -> Vec<Refined> {
    let mut kept: Vec<Refined> = Vec::new();
    let mut space: Vec<Vec<c64>> = Vec::new();
    for one in found {
        if one.s.im < 0.0 && one.kind != ModeKind::Rigid {
            continue;
        }
        if one.kind == ModeKind::Rigid {
            let length = norm(&one.x);
            let mut rest: Vec<c64> = one.x.iter().map(|v| v / length).collect();
            for base in &space {
                let along = dot(base, &rest);
                rest.iter_mut().zip(base).for_each(|(r, b)| *r -= along * b);
            }
            let left = norm(&rest);
            if left < 1e-3 {
                continue;
            }
            space.push(rest.iter().map(|v| v / left).collect());
        }
        kept.push(one);
    }
    kept
}

/// The modes asked for, in ascending order.
fn chosen(modes: Vec<Mode>, count: usize, near: Option<f64>) -> Vec<Mode> {
    let size = |mode: &Mode| mode.growth.hypot(mode.omega);
    let distance = |mode: &Mode| match near {
        Some(omega) => (mode.omega - omega).hypot(mode.growth),
        None if matches!(mode.kind, ModeKind::Rigid | ModeKind::Held) => 0.0,
        None => size(mode),
    };
    let (mut decaying, mut others): (Vec<Mode>, Vec<Mode>) = modes
        .into_iter()
        .partition(|mode| mode.kind == ModeKind::Decaying);
    others.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    others.truncate(count);
    decaying.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    decaying.truncate(count);
    // Where there are fewer than asked for, none is beyond the last.
    if let Some(last) = others.last().filter(|_| others.len() == count) {
        let farthest = distance(last);
        decaying.retain(|mode| distance(mode) <= farthest);
    }
    others.append(&mut decaying);
    others.sort_by(|a, b| size(a).total_cmp(&size(b)));
    others
}

/// The spins of all frames that turn, and how many nodes each has.
fn counted(frames: &Frames) -> Vec<(Vec3, usize)> {
    let mut all: Vec<(Vec3, usize)> = Vec::new();
    for &frame in frames.iter().filter(|&&frame| frame != Vec3::ZERO) {
        let alike = |(spin, _): &&mut (Vec3, usize)| (*spin - frame).norm() <= 1e-6 * frame.norm();
        match all.iter_mut().find(alike) {
            Some((_, nodes)) => *nodes += 1,
            None => all.push((frame, 1)),
        }
    }
    all
}
