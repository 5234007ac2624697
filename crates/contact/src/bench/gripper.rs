//! A box that two jaws on guides hold by friction.

use oldham_space::Vec3;

use crate::coulomb::Coulomb;
use crate::error::ContactError;
use crate::scene::{Body, Motion, Options, Scene};
use crate::shape::{Pose, Shape};
use crate::touch::{BodyId, Surface};

use super::piles::{PILE_STEP, PILE_TOLERANCE, PileFigures};

/// Mass of the box in kg.
const BOX: f64 = 1.0;
/// Mass of a jaw in kg.
const JAW: f64 = 0.2;
/// What presses each jaw, in N.
const GRIP: f64 = 30.0;
/// A jaw touches the box with its whole face.
const JAW_HALF: Vec3 = Vec3::new(0.01, 0.03, 0.05);
const BOX_HALF: f64 = 0.04;

/// What a gripper found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gripped {
    /// Times and residuals.
    pub figures: PileFigures,
    /// The force that both jaws put on the box, upwards, in the last step.
    pub carried: f64,
    /// By how much the box has fallen, in metres.
    pub fallen: f64,
}

/// A box of 1 kg between two jaws of 0.2 kg that 30 N press together along their guides, for a number of steps. Guides are moved here, as a mechanism would do it.
pub fn gripper(steps: usize, clock: &dyn Fn() -> f64) -> Result<Gripped, ContactError> {
    let mut scene = Scene::new(Options::default(), Coulomb::new(PILE_TOLERANCE, 20_000));
    let rough = scene.add_surface(Surface::rough(0.6))?;
    let mut jaws = [BodyId(0); 2];
    for (jaw, side) in jaws.iter_mut().zip([-1.0, 1.0]) {
        let body = Body {
            motion: Motion::Held,
            ..Body::prescribed(Vec3::X * (side * (BOX_HALF + JAW_HALF[0])))
        };
        *jaw = scene.add_body(body, Shape::Box { half: JAW_HALF }, rough)?;
    }
    scene.exclude(jaws[0], jaws[1]);
    let moment = BOX * (2.0 * BOX_HALF).powi(2) / 6.0;
    let held = Body::free(BOX, Vec3::new(moment, moment, moment), Vec3::ZERO);
    let half = Vec3::new(BOX_HALF, BOX_HALF, BOX_HALF);
    let held = scene.add_body(held, Shape::Box { half }, rough)?;
    scene.start()?;
    let mut mobility = vec![0.0; 12 * 12];
    for jaw in 0..2 {
        mobility[6 * jaw * 12 + 6 * jaw] = 1.0 / JAW;
    }
    let mut figures = PileFigures::default();
    for step in 0..steps {
        let begin = clock();
        scene.begin(PILE_STEP)?;
        for (jaw, side) in jaws.into_iter().zip([-1.0, 1.0]) {
            let [velocity, spin] = scene.velocity(jaw);
            let pressed = Vec3::X * (-side * GRIP / JAW * PILE_STEP);
            scene.prescribe(jaw, velocity + pressed, spin);
        }
        let report = scene.finish(step as f64 * PILE_STEP, PILE_STEP, &mobility)?;
        for jaw in jaws {
            let [velocity, spin] = scene.velocity(jaw);
            let mut by = velocity * PILE_STEP;
            if report.is_separated {
                by += scene.shift(jaw)[0];
            }
            let pose = Pose {
                position: scene.pose(jaw).position + by,
                ..*scene.pose(jaw)
            };
            scene.place(jaw, pose, velocity, spin);
        }
        figures.add(&(report, clock() - begin));
    }
    figures.finish();
    let on_box = |jaw| scene.impulse_between(jaw, held)[2] / PILE_STEP;
    Ok(Gripped {
        figures,
        carried: jaws.into_iter().map(on_box).sum(),
        fallen: -scene.pose(held).position[2],
    })
}
