//! Analyses that begin with a trimmed state.

use oldham_cosim::Simulation;
use oldham_model::{Mechanism, Model, Pose};
use oldham_multibody::{Motion, Quaternion, V3, Vec3};

use crate::mechanisms::{Vibrations, failed, mechanisms};
use crate::{StudyError, TrimmedFile};

/// What is recorded of a node.
const POSE: [&str; 7] = ["px", "py", "pz", "q0", "q1", "q2", "q3"];
/// Instants from which velocities are found, and their weights.
const INSTANTS: usize = 5;
const MIDDLE: usize = 2;
const WEIGHTS: [f64; INSTANTS] = [1.0 / 12.0, -8.0 / 12.0, 0.0, 8.0 / 12.0, -1.0 / 12.0];

/// The lowest modes of all mechanisms of the [applied](TrimmedFile::applied) model about a trimmed state, or those nearest to a frequency
/// in hertz. Cut mechanisms are taken whole. What other subsystems send counts as it is before the first exchange.
pub fn vibrations_from<'m>(
    trimmed: &TrimmedFile,
    model: &'m Model,
    count: usize,
    near: Option<f64>,
) -> Result<Vec<Vibrations<'m>>, StudyError> {
    let mut simulation = trimmed.simulation(model)?;
    let all = mechanisms(model)?;
    let places: Vec<_> = all.iter().map(|of| places(*of, &simulation)).collect();
    let mut poses: Vec<Vec<Vec<Pose>>> = vec![Vec::new(); all.len()];
    for _ in 0..INSTANTS {
        simulation.steps(1).map_err(StudyError::Run)?;
        for (poses, places) in poses.iter_mut().zip(&places) {
            poses.push(
                places
                    .iter()
                    .map(|place| pose(&simulation, place))
                    .collect(),
            );
        }
    }
    let step = simulation.schedule().step;
    let all = all.into_iter().zip(poses).map(|(mechanism, poses)| {
        let motions: Vec<Motion> = (0..poses[0].len())
            .map(|node| motion(std::array::from_fn(|instant| poses[instant][node]), step))
            .collect();
        let found = mechanism.vibrations_about(&motions, count, near);
        let (poses, found) = found.map_err(|error| failed(mechanism, error))?;
        Ok(Vibrations {
            mechanism,
            poses,
            found,
        })
    });
    all.collect()
}

/// Where the poses of the nodes stand among what is recorded.
fn places(mechanism: Mechanism<'_>, simulation: &Simulation) -> Vec<[usize; 7]> {
    let columns = simulation.columns();
    let place = |name: String| {
        let place = columns.iter().position(|column| column.name == name);
        place.expect("poses of all nodes can be recorded")
    };
    let nodes = mechanism.sketch().nodes.iter().skip(1);
    let of_node =
        |node| POSE.map(|part| place(format!("{}.nodes.{node}.{part}", mechanism.name())));
    nodes.map(of_node).collect()
}

fn pose(simulation: &Simulation, place: &[usize; 7]) -> Pose {
    let values = place.map(|column| simulation.value(column).unwrap_or(f64::NAN));
    let [x, y, z, q0, q1, q2, q3] = values;
    Pose {
        position: V3([x, y, z]),
        orientation: Quaternion([q0, q1, q2, q3]),
    }
}

/// The motion at the middle of five instants: velocities to the fourth order of the step.
fn motion(poses: [Pose; INSTANTS], step: f64) -> Motion {
    let here = poses[MIDDLE];
    let (mut velocity, mut turning) = (Vec3::ZERO, Vec3::ZERO);
    for (pose, weight) in poses.iter().zip(WEIGHTS) {
        let weight = weight / step;
        velocity += (pose.position - here.position) * weight;
        turning += pose.orientation.times(here.orientation.conjugate()).log() * weight;
    }
    Motion::at_rest(here.position, here.orientation).moving(velocity, turning)
}
