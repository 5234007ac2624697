//! Which rigid motions leave a model as it is: tried out, not declared.
//!
//! A model that is displaced or turned far must do the displaced or turned step.

use nalgebra::DVector;
use oldham_cosim::{Chart, Layout, Simulation};

use super::frame::{Frame, Poses, RigidMotion, Turning};
use super::map::{Kind, Kinds};
use crate::probing::{PROBE, probe_sizes};

/// How far a model is displaced, in metres, and turned, in radians.
const FAR: f64 = 0.7;
/// What displacing it by next to nothing does is rounding.
const NEAR: f64 = 1e-9;
/// Largest difference of steps, relative to the state, of places and velocities and of accelerations and forces; and in terms of rounding.
const SAME: f64 = 1e-7;
const SAME_FORCE: f64 = 1e-4;
const ROUNDING: f64 = 100.0;

const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

fn along(axis: [f64; 3], size: f64) -> [f64; 3] {
    axis.map(|component| component * size)
}

/// Tries rigid motions of the present state of a simulation, where it is left.
pub(crate) fn frame_of(simulation: &mut Simulation, period: u64) -> Frame {
    let base = Chart::about(simulation);
    let frame = tried_out(simulation, &base, period).unwrap_or_default();
    base.base().restore(simulation);
    frame
}

fn tried_out(simulation: &mut Simulation, base: &Chart, period: u64) -> Option<Frame> {
    let before = Poses::of(simulation);
    simulation.steps(period).ok()?;
    let after = Poses::of(simulation);
    let led = Chart::about(simulation);
    simulation.steps(period).ok()?;
    let third = Poses::of(simulation);
    let mut trial = Trial {
        simulation,
        base,
        led,
        period,
    };
    let mut frame = Frame::carried(&before, &after);
    let place = frame.place(&before)?;
    frame.shifts =
        AXES.map(|axis| trial.is_same(|size| RigidMotion::displacement(along(axis, size))));
    // An axis goes through the origin or through the body that is carried along.
    for centre in [[0.0; 3], place] {
        let free =
            AXES.map(|axis| trial.is_same(|size| RigidMotion::rotation(along(axis, size), centre)));
        let turning = match free {
            [true, true, true] => Turning::Free,
            [true, false, false] => Turning::About(AXES[0]),
            [false, true, false] => Turning::About(AXES[1]),
            [false, false, true] => Turning::About(AXES[2]),
            _ => Turning::None,
        };
        if turning != Turning::None {
            (frame.turning, frame.centre) = (turning, centre);
            break;
        }
    }
    let spinning = frame.clone().spinning(&before, &after, &third);
    let spins = spinning.has_spins() && trial.is_same(|size| spinning.spun(size));
    Some(if spins { spinning } else { frame })
}

struct Trial<'a> {
    simulation: &'a mut Simulation,
    base: &'a Chart,
    led: Chart,
    period: u64,
}

impl Trial<'_> {
    /// Whether a step of the moved model is the moved step.
    fn is_same(&mut self, motion: impl Fn(f64) -> RigidMotion) -> bool {
        let Some(noise) = self.off(&motion(NEAR)) else {
            return false;
        };
        let Some(off) = self.off(&motion(FAR)) else {
            return false;
        };
        let sizes = probe_sizes(self.simulation, self.base);
        // That of a vector, whichever of its components.
        let noise_about = |i: usize| {
            let near = noise.rows_range(i.saturating_sub(2)..(i + 3).min(noise.len()));
            near.amax()
        };
        // Accelerations and forces have their rounding divided by the step.
        let kinds = Kinds::of(self.simulation);
        let same = |i: usize| match kinds[i] == Kind::Consequence {
            true => SAME_FORCE,
            false => SAME,
        };
        (0..sizes.len())
            .all(|i| off[i].abs() <= same(i) / PROBE * sizes[i] + ROUNDING * noise_about(i))
    }

    fn off(&mut self, motion: &RigidMotion) -> Option<DVector<f64>> {
        self.base.base().restore(self.simulation);
        motion.apply(self.simulation);
        self.simulation.steps(self.period).ok()?;
        let layout = Layout::of(self.simulation);
        motion.inverse().apply(self.simulation);
        let mut off = DVector::zeros(self.base.dimension());
        self.led.read(self.simulation, off.as_mut_slice());
        for (off, needed) in off.iter_mut().zip(layout.needed()) {
            if !needed {
                *off = 0.0;
            }
        }
        self.base.base().restore(self.simulation);
        Some(off)
    }
}
