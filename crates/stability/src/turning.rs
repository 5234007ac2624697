//! Simulations whose state turns from step to step.
//!
//! In axes that stay behind, differences of one step of something that turns are no recurrence: its
//! coefficients turn too. So a state is looked at together with the turn that takes it on
//! ([`Turn`]), and changes are turned back after the step. That makes a recurrence if the step of
//! the turned model is the turned step, which is tried out by turning it far.

use nalgebra::DVector;
use oldham_cosim::{Chart, Layout, Simulation, Turn};

use crate::probing::{PROBE, probe_sizes};
use crate::random::Random;

/// Angles in radians by which a model is turned to see whether that changes anything, and one by which
/// it changes nothing but the rounding.
const FAR: [f64; 2] = [1.0, 2.5];
const NEAR: f64 = 1e-8;
/// One that gives a direction, in radians.
const LITTLE: f64 = 1e-3;
/// Seed of the direction in which it is displaced before.
const SEED: u64 = 11;
/// Turns of two steps in a row that differ by more than this factor are no rotation: of turns that no step resolves,
/// in radians, and of others.
const LASTING: [f64; 2] = [1.5, 30.0];
const WILD: f64 = 0.8;
/// Largest difference of steps of turned models, relative to the state, and in terms of rounding.
const SAME: f64 = 1e-5;
const ROUNDING: f64 = 100.0;
/// Turn in a step, in radians, up to which what turns and is not the same in every position counts as
/// it is now.
const SLOW: f64 = 5e-3;
/// Turn in a step, in radians, from which on round parts of a model count as spinning.
const SPINNING: f64 = 1e-4;
/// Growth and turn of modes that frozen coefficients may be off, in terms of the turn in a step.
const FROZEN: f64 = 2.0;
/// The same where a rotor is far from its steady rotation: it will be another one a few steps later.
const VIOLENT: f64 = 0.3;

/// What turns of a simulation, and how.
#[derive(Clone, Debug)]
pub(crate) struct Turning {
    /// The turn of one period.
    turn: Turn,
    /// What the state is made of.
    layout: Layout,
    /// Where the model differs from position to position: the angle by which something turns in a step.
    varying: Option<f64>,
}

impl Turning {
    /// Of a simulation about a base point, where it is left. Nothing where nothing turns, or where the model
    /// differs from position to position and turns slowly: then the present one says it all.
    pub fn about(simulation: &mut Simulation, base: &Chart, period: u64) -> Option<Self> {
        let layout = Layout::of(simulation);
        let found = Self::found(simulation, base, period, layout);
        base.base().restore(simulation);
        found
    }

    fn found(
        simulation: &mut Simulation,
        base: &Chart,
        period: u64,
        layout: Layout,
    ) -> Option<Self> {
        base.base().restore(simulation);
        simulation.steps(period).ok()?;
        let slow = SLOW * period as f64;
        let fastest_of = |turns: &[Turn]| turns.iter().map(Turn::angle).fold(0.0, f64::max);
        let led = Layout::of(simulation);
        let spinning = SPINNING * period as f64;
        let mut candidates = Turn::candidates(&layout, &led, spinning);
        let fastest = fastest_of(&candidates);
        if fastest > 0.0 {
            // A rotation goes on. What turns by far more or less a step later does not rotate: it grows, or comes to rest.
            simulation.steps(period).ok()?;
            let next = fastest_of(&Turn::candidates(&led, &Layout::of(simulation), spinning));
            let (least, most) = (next.min(fastest), next.max(fastest));
            let lasting = if most > WILD { LASTING[0] } else { LASTING[1] };
            if most > lasting * least {
                return None;
            }
        }
        let same = (0..candidates.len())
            .find(|&place| is_same(simulation, base, period, &candidates[place]));
        let is_slow = fastest <= slow;
        let place = match same {
            Some(place) => place,
            None if candidates.is_empty() || is_slow => return None,
            None => 0,
        };
        Some(Self {
            turn: candidates.swap_remove(place),
            layout,
            varying: same.is_none().then_some(fastest / period as f64),
        })
    }

    /// Turns changes of a state one period later back.
    pub fn back(&self, coordinates: &mut [f64]) {
        self.turn.carry(&self.layout, -1.0, coordinates);
    }

    /// Turns changes of a state on, as those of the state one period later.
    pub fn on(&self, coordinates: &mut [f64]) {
        self.turn.carry(&self.layout, 1.0, coordinates);
    }

    /// Whether the model differs from position to position, or is far from a steady rotation.
    pub fn is_varying(&self) -> bool {
        self.varying.is_some() || self.turn.is_mixed()
    }

    /// The turn, where the model is the same in every position and nothing turns otherwise.
    pub fn of_all(&self) -> Option<[f64; 3]> {
        match self.varying {
            None => self.turn.of_all(),
            Some(_) => None,
        }
    }

    /// Whether nothing but round parts spins: the model is the same in axes that stand still.
    pub fn is_of_spins(&self) -> bool {
        self.varying.is_none() && self.turn.is_of_spins()
    }

    /// How far an eigenvalue may be off because the model differs from position to position: what is fast
    /// against the turn hardly feels it.
    pub fn uncertainty(&self, rate: f64) -> f64 {
        if self.turn.is_mixed() {
            return VIOLENT;
        }
        let angle = self.varying.unwrap_or(0.0);
        FROZEN * angle * angle / rate.max(angle).max(f64::MIN_POSITIVE)
    }

    /// How far a state, turned, is from the one that it has led to, by the coordinates there. The simulation is left there.
    pub fn off(&self, simulation: &mut Simulation, base: &Chart, led: &Chart) -> Vec<f64> {
        let off = self.turn.mismatch(simulation, base, led, 1.0);
        led.base().restore(simulation);
        off
    }

    /// What spins turned further, as a change of the state: where nothing but round parts spins, a step leaves it as it is.
    pub fn of_spins(&self, simulation: &mut Simulation, base: &Chart) -> Option<DVector<f64>> {
        if !self.is_of_spins() {
            return None;
        }
        let times = LITTLE / self.turn.angle();
        let [up, down] = [times, -times].map(|times| {
            let mut end = DVector::zeros(base.dimension());
            base.base().restore(simulation);
            self.turn.apply(simulation, times);
            base.read(simulation, end.as_mut_slice());
            end
        });
        base.base().restore(simulation);
        Some((up - down) / (2.0 * LITTLE))
    }

    /// How far the next state is from this one, turned; relative to the state.
    pub fn unsteadiness(&self, simulation: &mut Simulation, base: &Chart, period: u64) -> f64 {
        base.base().restore(simulation);
        if simulation.steps(period).is_err() {
            return f64::INFINITY;
        }
        let led = Chart::about(simulation);
        let sizes = probe_sizes(simulation, &led);
        let off = self.turn.mismatch(simulation, base, &led, 1.0);
        let relative = off.iter().zip(&sizes).map(|(off, size)| off.abs() / size);
        relative.fold(0.0, f64::max) * PROBE
    }
}

/// Whether a step of the turned model is the turned step, wherever it is turned to, as far as changes of the state are
/// concerned: it is displaced, and compared with itself. A rotor that wobbles does so about another axis than that of
/// its inertia, which is not a matter of its changes.
fn is_same(simulation: &mut Simulation, base: &Chart, period: u64, turn: &Turn) -> bool {
    let sizes = probe_sizes(simulation, base);
    let signs = Random(SEED).signs(sizes.len());
    let aside: Vec<f64> = signs.iter().zip(&sizes).map(|(a, b)| a * b).collect();
    let still = vec![0.0; sizes.len()];
    let [Some(displaced), Some(undisplaced)] = [&aside, &still].map(|change| {
        base.apply(simulation, change);
        simulation.steps(period).ok()?;
        Some(Chart::about(simulation))
    }) else {
        return false;
    };
    let mut off = |angle: f64| {
        let times = angle / turn.angle();
        let mut mismatch = |change: &[f64], led: &Chart| {
            base.apply(simulation, change);
            turn.apply(simulation, times);
            simulation.steps(period).ok()?;
            let turned = Chart::about(simulation);
            Some(turn.mismatch(simulation, led, &turned, times))
        };
        let mut off = mismatch(&aside, &displaced)?;
        let own = mismatch(&still, &undisplaced)?;
        off.iter_mut().zip(&own).for_each(|(off, own)| *off -= own);
        Some(off)
    };
    let Some(noise) = off(NEAR) else {
        return false;
    };
    // That of a vector, whichever of its components.
    let noise_about = |i: usize| {
        let near = &noise[i.saturating_sub(2)..(i + 3).min(noise.len())];
        near.iter()
            .fold(0.0_f64, |most, noise| noise.abs().max(most))
    };
    FAR.into_iter().all(|angle| {
        let Some(off) = off(angle) else {
            return false;
        };
        let allowed = |i: usize| SAME / PROBE * sizes[i] + ROUNDING * noise_about(i);
        off.iter()
            .enumerate()
            .all(|(i, off)| off.abs() <= allowed(i))
    })
}
