//! Mode shapes of a mechanism: pages and animations.

use std::f64::consts::TAU;

use oldham_model::{Mechanism, Pose};
use oldham_multibody::{Mode, ModeKind, Modes, Quaternion, Vec3};
use oldham_results::number;

use crate::{Animation, Page, View, ViewName, marks};

/// Displacement and rotation of a node.
type Shift = (Vec3, Vec3);

/// Largest displacement of a drawn mode as a fraction of the mechanism's size.
const DRAWN: f64 = 0.15;

/// Its largest rotation in rad, where that would be more: what bends in many waves, or turns about
/// its own node.
const TURNED: f64 = 0.6;

/// Frames of a swing, and how long it takes in an animation, in s: as drawn, whatever the frequency.
const FRAMES: usize = 48;
const SWING: f64 = 2.0;

/// One page a mode; `poses` are those about which the modes were found.
pub fn mode_pages(
    mechanism: Mechanism<'_>,
    poses: &[Pose],
    modes: &Modes,
    name: ViewName,
) -> Vec<Page> {
    let page = |(index, mode): (usize, &Mode)| {
        let view = view(poses, mode, name);
        let sketch = mechanism.sketch();
        Page::new(title(mechanism, modes, index), view)
            .axes()
            .layer(marks(sketch, poses, &view), 0.25)
            .layer(marks(sketch, &swung(poses, mode, 0.0), &view), 1.0)
    };
    modes.modes.iter().enumerate().map(page).collect()
}

/// Pages beside and below each other, about as wide as high, whatever their number.
pub fn mode_grid(pages: &[Page]) -> String {
    let columns = (pages.len() as f64).sqrt().ceil() as usize;
    Page::grid(pages, columns.min(4))
}

/// One animation a mode: one swing to and fro; times are those of the mechanism.
pub fn mode_animations(
    mechanism: Mechanism<'_>,
    poses: &[Pose],
    modes: &Modes,
    name: ViewName,
) -> Vec<Animation> {
    let animation = |(index, mode): (usize, &Mode)| {
        let view = view(poses, mode, name);
        let phases = (0..=FRAMES).map(|frame| frame as f64 / FRAMES as f64);
        let frame = |phase: f64| {
            let swung = swung(poses, mode, TAU * (phase - 0.25));
            marks(mechanism.sketch(), &swung, &view)
        };
        let period = match mode.omega > 0.0 {
            true => TAU / mode.omega,
            false => 0.0,
        };
        Animation {
            view,
            title: title(mechanism, modes, index),
            frames: phases.clone().map(frame).collect(),
            times: phases.map(|phase| phase * period).collect(),
            duration: SWING,
        }
    };
    modes.modes.iter().enumerate().map(animation).collect()
}

fn title(mechanism: Mechanism<'_>, modes: &Modes, index: usize) -> String {
    let mode = &modes.modes[index];
    let what = match mode.kind {
        ModeKind::Growing => format!("unstable, {} 1/s", number(mode.growth)),
        ModeKind::Decaying => format!("decays, {} 1/s", number(-mode.growth)),
        ModeKind::Rigid => "rigid-body motion, 0 Hz".into(),
        ModeKind::Held => "stays where it is put, 0 Hz".into(),
        ModeKind::Oscillating => format!("{:.4} Hz", mode.frequency()),
    };
    format!("{}, mode {}: {what}", mechanism.name(), index + 1)
}

/// From where a mode shows best.
fn view(poses: &[Pose], mode: &Mode, name: ViewName) -> View {
    let swung = [0.0, 0.25, 0.5, 0.75].map(|part| swung(poses, mode, TAU * part));
    let all = poses.iter().chain(swung.iter().flatten());
    View::of(name, all.map(|pose| pose.position))
}

/// The nodes displaced along a mode at a phase, so far that it shows.
fn swung(poses: &[Pose], mode: &Mode, phase: f64) -> Vec<Pose> {
    let origin = poses.get(1).map(|pose| pose.position).unwrap_or_default();
    let size = poses.iter().map(|pose| (pose.position - origin).norm());
    let size = size.fold(0.0, f64::max);
    let turn = TURNED / (DRAWN * size).max(f64::MIN_POSITIVE);
    let reach = mode
        .shape
        .iter()
        .map(|(d, r)| d.norm().max(r.norm() / turn));
    let reach = reach.fold(f64::MIN_POSITIVE, f64::max);
    let factor = DRAWN * size / reach;
    let (ahead, across) = (factor * phase.cos(), -factor * phase.sin());
    let shapes = mode.shape.iter().zip(&mode.quadrature);
    let swing = |(pose, ((d, r), (e, q))): (&Pose, (&Shift, &Shift))| Pose {
        position: pose.position + *d * ahead + *e * across,
        orientation: Quaternion::exp(*r * ahead + *q * across).times(pose.orientation),
    };
    poses.iter().zip(shapes).map(swing).collect()
}
