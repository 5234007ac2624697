//! Mechanisms of a model on their own: statics and modes.

use oldham_model::{About, Mechanism, Model, Pose, Rest, RestingPart};
use oldham_multibody::{Mode, ModeKind, Modes, SolveError, Vec3};
use serde::{Serialize, Serializer};

use crate::StudyError;

/// All mechanisms of a model; an error if there are none.
pub fn mechanisms(model: &Model) -> Result<Vec<Mechanism<'_>>, StudyError> {
    let found: Vec<_> = model.mechanisms().collect();
    if found.is_empty() {
        return Err(StudyError::NoMechanism {
            model: model.name().into(),
        });
    }
    Ok(found)
}

/// Whether the model is nothing but mechanisms without any exchange. That one of them falls or
/// swings up is then no matter of coupling.
pub fn is_without_coupling(model: &Model) -> bool {
    !model.is_coupled() && model.mechanisms().next().is_some()
}

/// Whether a port is there only to record a node, or the contacts on it.
pub fn shows_node(port: &str) -> bool {
    port.starts_with("nodes.") || port.starts_with("contacts.")
}

/// That contacts do not count in statics and modes, where a mechanism has any.
pub fn contact_note(mechanism: Mechanism<'_>) -> Option<String> {
    let sketch = mechanism.sketch();
    let touches = !sketch.contacts.is_empty() || !sketch.particles.is_empty();
    touches.then(|| {
        format!(
            "contacts are left out here: `{}` is looked at as if nothing touched; what contacts carry is shown by a run until it rests",
            mechanism.name()
        )
    })
}

/// What to know of the statics of mechanisms that receive something from others, if anything.
pub fn statics_notes(model: &Model) -> Vec<String> {
    let contacts = model.mechanisms().filter_map(contact_note);
    let unknown = model.unknown_at_rest();
    let mechanisms = model.mechanisms().filter_map(|mechanism| {
        let of_it = unknown.iter().filter(|(part, _)| *part == mechanism.name());
        let inputs: Vec<String> = of_it.map(|(_, input)| format!("`{input}`")).collect();
        (!inputs.is_empty()).then(|| {
            format!(
                "`{}` is balanced alone: what other subsystems send to {} counts as it is before the first exchange",
                mechanism.name(),
                inputs.join(", "),
            )
        })
    });
    contacts.chain(mechanisms).collect()
}

pub(crate) fn failed(mechanism: Mechanism<'_>, error: SolveError) -> StudyError {
    StudyError::Solve {
        part: mechanism.name().into(),
        error,
    }
}

/// A mechanism at rest under its loads.
#[derive(Clone, Debug)]
pub struct Equilibrium<'m> {
    /// Which one.
    pub mechanism: Mechanism<'m>,
    /// Poses of the nodes as given, the ground first.
    pub given: Vec<Pose>,
    /// Poses in equilibrium, loads that were found, and reactions of joints.
    pub rest: Rest,
}

/// What a joint of a mechanism in static equilibrium carries: on its second node, in its own axes as
/// they are fixed to its first.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Reaction<'a> {
    /// Its name.
    pub joint: &'a str,
    /// The force in N.
    pub force: [f64; 3],
    /// The moment in N.m, about the joint.
    pub moment: [f64; 3],
}

/// What an actuator carries.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StaticLoad<'a> {
    /// The actuator.
    pub actuator: &'a str,
    /// The force with which it pushes its points apart, or what it does to the coordinate of a joint.
    pub load: f64,
    /// Its unit.
    pub unit: &'a str,
    /// Whether it was found. Else others hold the same already, and the actuator pushes with what it starts with.
    pub found: bool,
}

/// A node of a mechanism in static equilibrium.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RestingNode<'a> {
    /// Its name.
    pub node: &'a str,
    /// Its position in m.
    pub position: [f64; 3],
    /// Its orientation, a quaternion.
    pub orientation: [f64; 4],
    /// Its distance in m from where it was given.
    pub moved: f64,
}

/// Static equilibrium of all mechanisms under the loads of a time, by default that of the start,
/// raised in so many steps.
///
/// ```
/// use oldham_study::{ModelFile, statics};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// let model = ModelFile::new(format!("{examples}/hanging-chain.toml")).read()?;
/// for rest in statics(&model, None, 4)? {
///     assert!(rest.nodes().all(|node| node.moved.is_finite()));
/// }
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub fn statics(
    model: &Model,
    time: Option<f64>,
    steps: usize,
) -> Result<Vec<Equilibrium<'_>>, StudyError> {
    let solve = |mechanism: Mechanism<'_>| mechanism.equilibrium(time, steps);
    let all = mechanisms(model)?.into_iter();
    all.map(|mechanism| {
        Ok(Equilibrium {
            mechanism,
            given: mechanism.given(),
            rest: solve(mechanism).map_err(|error| failed(mechanism, error))?,
        })
    })
    .collect()
}

/// An actuator of a circuit, its valve and its chambers at rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RestingActuator {
    /// Circuit and actuator, such as `oil.lift`.
    pub name: String,
    /// The force in N that it carries, positive when it pushes.
    pub force: f64,
    /// The neutral position of its spool.
    pub spool: f64,
    /// Absolute pressures of both chambers in Pa.
    pub pressures: [f64; 2],
}

/// The hydraulic actuators of circuits at the start, all circuits one after the other.
pub fn resting_actuators(model: &Model) -> Vec<RestingActuator> {
    let mut found = Vec::new();
    for (name, circuit) in oldham_hydraulics::circuits(model) {
        let rest = circuit.at_rest().expect("a checked circuit is sound");
        for (actuator, rest) in circuit.actuators.iter().zip(rest) {
            found.push(RestingActuator {
                name: format!("{name}.{}", actuator.name),
                force: rest.force,
                spool: rest.spool,
                pressures: rest.pressures,
            });
        }
    }
    found
}

/// What carries the mechanisms of a model that are at rest, such as hydraulic networks: their values there, or what moves.
pub fn resting_parts(
    model: &Model,
    time: Option<f64>,
    rests: &[Equilibrium<'_>],
) -> Vec<RestingPart> {
    let rests: Vec<&Rest> = rests.iter().map(|rest| &rest.rest).collect();
    model.resting_parts(time, &rests)
}

/// An error if one of them moves.
pub fn all_rest(parts: &[RestingPart]) -> Result<(), StudyError> {
    let moving = parts
        .iter()
        .find_map(|part| Some((part, part.values.as_ref().err()?)));
    match moving {
        Some((part, why)) => Err(StudyError::NotHeld {
            part: part.name.clone(),
            why: why.clone(),
        }),
        None => Ok(()),
    }
}

impl Equilibrium<'_> {
    /// All nodes but the ground.
    pub fn nodes(&self) -> impl Iterator<Item = RestingNode<'_>> {
        let names = self.mechanism.sketch().nodes.iter();
        let poses = self.rest.poses.iter().zip(&self.given);
        let nodes = names.zip(poses).skip(1);
        nodes.map(|(node, (pose, given))| RestingNode {
            node,
            position: pose.position.0,
            orientation: pose.orientation.0,
            moved: (pose.position - given.position).norm(),
        })
    }

    /// All joints.
    pub fn reactions(&self) -> impl Iterator<Item = Reaction<'_>> {
        self.rest.reactions.iter().map(|found| Reaction {
            joint: &found.joint,
            force: found.force.0,
            moment: found.moment.0,
        })
    }

    /// What actuators carry.
    pub fn loads(&self) -> impl Iterator<Item = StaticLoad<'_>> {
        let loads = self.rest.loads.iter();
        loads.map(|found| StaticLoad {
            actuator: &found.actuator,
            load: found.load,
            unit: &found.unit.0,
            found: found.is_found,
        })
    }
}

impl Serialize for Equilibrium<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Data<'a> {
            part: &'a str,
            nodes: Vec<RestingNode<'a>>,
            reactions: Vec<Reaction<'a>>,
            loads: Vec<StaticLoad<'a>>,
        }
        let data = Data {
            part: self.mechanism.name(),
            nodes: self.nodes().collect(),
            reactions: self.reactions().collect(),
            loads: self.loads().collect(),
        };
        data.serialize(serializer)
    }
}

/// The natural vibrations of a mechanism.
#[derive(Clone, Debug)]
pub struct Vibrations<'m> {
    /// Which one.
    pub mechanism: Mechanism<'m>,
    /// The poses about which it vibrates, the ground first.
    pub poses: Vec<Pose>,
    /// Its modes.
    pub found: Modes,
}

/// The lowest modes of all mechanisms, or those nearest to a frequency in hertz.
pub fn vibrations(
    model: &Model,
    about: About,
    count: usize,
    near: Option<f64>,
) -> Result<Vec<Vibrations<'_>>, StudyError> {
    let all = mechanisms(model)?.into_iter();
    all.map(|mechanism| {
        let found = mechanism.vibrations(about, count, near);
        let (poses, found) = found.map_err(|error| failed(mechanism, error))?;
        Ok(Vibrations {
            mechanism,
            poses,
            found,
        })
    })
    .collect()
}

/// A mode in numbers, without its shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ModeNumbers {
    /// What it does: `rigid-body`, `oscillating`, `decaying` or `growing`.
    pub kind: &'static str,
    /// Undamped frequency in hertz, if it oscillates.
    pub frequency: Option<f64>,
    /// Damped frequency in hertz.
    pub damped_frequency: Option<f64>,
    /// Growth rate in 1/s of a mode that grows.
    pub growth: Option<f64>,
    /// Growth rate in 1/s, negative where it decays.
    pub rate: f64,
    /// Damping ratio.
    pub damping: Option<f64>,
    /// Relative residual of the eigenvalue problem.
    pub error: f64,
}

impl From<&Mode> for ModeNumbers {
    fn from(mode: &Mode) -> Self {
        let kind = match mode.kind {
            ModeKind::Rigid => "rigid-body",
            ModeKind::Held => "held",
            ModeKind::Oscillating => "oscillating",
            ModeKind::Decaying => "decaying",
            ModeKind::Growing => "growing",
        };
        let is_still = matches!(mode.kind, ModeKind::Rigid | ModeKind::Held);
        let oscillates = mode.omega > 0.0 || is_still;
        Self {
            kind,
            frequency: oscillates.then(|| mode.frequency()),
            damped_frequency: oscillates.then(|| mode.damped_frequency()),
            growth: (mode.kind == ModeKind::Growing).then_some(mode.growth),
            rate: mode.growth,
            damping: (oscillates && !is_still).then(|| mode.damping()),
            error: mode.error,
        }
    }
}

/// A frame that turns, in which frequencies are counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TurningFrame {
    /// Its angular velocity in rad/s.
    pub spin: [f64; 3],
    /// Nodes that turn with it.
    pub nodes: usize,
}

/// The frames that turn among those in which modes were counted.
pub fn turning_frames(found: &Modes) -> Vec<TurningFrame> {
    let frames = found.frames.iter();
    let frames = frames.map(|(spin, nodes)| TurningFrame {
        spin: spin.0,
        nodes: *nodes,
    });
    frames.collect()
}

/// Displacement and rotation of a node in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Shift {
    displacement: [f64; 3],
    rotation: [f64; 3],
}

impl From<&(Vec3, Vec3)> for Shift {
    fn from((displacement, rotation): &(Vec3, Vec3)) -> Self {
        Self {
            displacement: displacement.0,
            rotation: rotation.0,
        }
    }
}

#[derive(Serialize)]
struct Shape {
    #[serde(flatten)]
    numbers: ModeNumbers,
    shape: Vec<Shift>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quadrature: Option<Vec<Shift>>,
}

impl Shape {
    fn of(mode: &Mode) -> Self {
        let list = |shape: &[(Vec3, Vec3)]| shape.iter().skip(1).map(Shift::from).collect();
        let in_phase = mode
            .quadrature
            .iter()
            .all(|(d, r)| d.norm() + r.norm() < 1e-9);
        Self {
            numbers: ModeNumbers::from(mode),
            shape: list(&mode.shape),
            quadrature: (!in_phase).then(|| list(&mode.quadrature)),
        }
    }
}

#[derive(Serialize)]
struct PlacedNode<'a> {
    node: &'a str,
    position: [f64; 3],
    orientation: [f64; 4],
}

#[derive(Serialize)]
struct VibrationsData<'a> {
    part: &'a str,
    nodes: Vec<PlacedNode<'a>>,
    steady: bool,
    frames: Vec<TurningFrame>,
    modes: Vec<Shape>,
}

impl Serialize for Vibrations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.mechanism.sketch().nodes.iter();
        let nodes = names.zip(&self.poses).skip(1);
        let nodes = nodes.map(|(node, pose)| PlacedNode {
            node,
            position: pose.position.0,
            orientation: pose.orientation.0,
        });
        let data = VibrationsData {
            part: self.mechanism.name(),
            nodes: nodes.collect(),
            steady: self.found.is_steady,
            frames: turning_frames(&self.found),
            modes: self.found.modes.iter().map(Shape::of).collect(),
        };
        data.serialize(serializer)
    }
}
