//! Statics and modes of a mechanism on its own.

use oldham_cosim::{Linearisation, Subsystem};
use oldham_multibody::{Freedoms, Mode, Part, SolveError, Vec3};

use super::recipe::initial_inputs;
use super::{Partition, Pose, Recipe, Sketch};
use crate::model::{Content, Model};

/// Shift in hertz where a mechanism can move without any restoring force.
const SHIFT: f64 = 1.0;
/// Iterations of the eigenvalue problem per state.
const SWEEPS: usize = 100;

/// A multibody part of a model on its own: its inputs stay as they are before the first exchange.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism<'m> {
    name: &'m str,
    recipe: &'m Recipe,
    start: f64,
}

/// The configuration about which modes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// As the model starts.
    Start,
    /// Static equilibrium.
    Equilibrium,
}

/// A natural vibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Vibration {
    /// The square of the undamped angular frequency in rad²/s²; negative if the configuration is
    /// unstable.
    pub omega_squared: f64,
    /// Damping ratio, where it could be found.
    pub damping: Option<f64>,
    /// Displacement in m and rotation in rad of every node, the ground first, scaled to unit modal
    /// mass.
    pub shape: Vec<(Vec3, Vec3)>,
}

impl Vibration {
    /// Undamped frequency in hertz; not a number if the configuration is unstable.
    pub fn frequency(&self) -> f64 {
        self.omega_squared.sqrt() / std::f64::consts::TAU
    }
}

impl Model {
    /// Its multibody parts.
    pub fn mechanisms(&self) -> impl Iterator<Item = Mechanism<'_>> {
        self.plan.parts.iter().filter_map(|part| {
            let Content::Multibody(recipe) = &part.content else {
                return None;
            };
            Some(Mechanism {
                name: &part.name,
                recipe,
                start: self.plan.clock.start,
            })
        })
    }
}

impl<'m> Mechanism<'m> {
    /// The name of the part.
    pub fn name(&self) -> &'m str {
        self.name
    }

    /// What there is to draw.
    pub fn sketch(&self) -> &'m Sketch {
        &self.recipe.sketch
    }

    /// In how many ways it can move, in the given position.
    pub fn freedoms(&self) -> Freedoms {
        self.recipe.freedoms(self.start)
    }

    /// How it is cut, if it is.
    pub fn partition(&self) -> Option<Partition> {
        let cutting = self.recipe.cutting.as_ref()?;
        Some(Partition::of(self.recipe, cutting))
    }

    /// The poses of all nodes as they are given, the ground first.
    pub fn given(&self) -> Vec<Pose> {
        let nodes = self.recipe.nodes.iter();
        let given = nodes.map(|(_, motion)| Pose::from(motion));
        std::iter::once(Pose::ABSOLUTE).chain(given).collect()
    }

    /// The poses of all nodes at rest under the loads of a time, by default that of the start,
    /// which are raised in `steps` steps.
    pub fn equilibrium(&self, time: Option<f64>, steps: usize) -> Result<Vec<Pose>, SolveError> {
        let (mut part, inputs) = self.part();
        let time = time.unwrap_or(self.start);
        part.system_mut().equilibrium(time, steps, &inputs)?;
        Ok(self.poses(&part))
    }

    /// The lowest `count` vibrations, and the poses about which they are found. `near` is a
    /// frequency in hertz around which they are searched; by default from zero on.
    pub fn vibrations(
        &self,
        about: About,
        count: usize,
        near: Option<f64>,
    ) -> Result<(Vec<Pose>, Vec<Vibration>), SolveError> {
        let (mut part, inputs) = self.part();
        match about {
            About::Start => part.system_mut().start(self.start, &inputs)?,
            About::Equilibrium => part.system_mut().equilibrium(self.start, 4, &inputs)?,
        }
        let poses = self.poses(&part);
        if self.freedoms().degrees() == 0 {
            return Ok((poses, Vec::new()));
        }
        let mut search = |hertz: f64| {
            let shift = (std::f64::consts::TAU * hertz).powi(2);
            part.system_mut().modes(count, shift, &inputs)
        };
        let modes = match (search(near.unwrap_or(0.0)), near) {
            (Err(SolveError::Singular { .. }), None) => search(SHIFT)?,
            (found, _) => found?,
        };
        let poles = part.linearise(self.start, &inputs).map(|l| poles(&l));
        Ok((poses, with_damping(modes, poles.unwrap_or_default())))
    }

    fn part(&self) -> (Part, Vec<f64>) {
        let part = self.recipe.unsettled_part();
        let part = part.expect("a checked model has no mistakes in its data");
        let inputs = initial_inputs(&part);
        (part, inputs)
    }

    fn poses(&self, part: &Part) -> Vec<Pose> {
        let nodes = self.recipe.nodes.iter();
        let reached = nodes.map(|&(node, _)| Pose::from(part.system().motion(node)));
        std::iter::once(Pose::ABSOLUTE).chain(reached).collect()
    }
}

/// Magnitude and damping ratio of the eigenvalues of the linearised motion.
fn poles(linearisation: &Linearisation) -> Vec<(f64, f64)> {
    let n = linearisation.states;
    let a = nalgebra::DMatrix::from_row_slice(n, n, &linearisation.a);
    let Some(schur) = nalgebra::Schur::try_new(a, f64::EPSILON, SWEEPS * n) else {
        return Vec::new();
    };
    let eigenvalues = schur.complex_eigenvalues();
    let oscillating = eigenvalues.iter().filter(|pole| pole.im > 0.0);
    oscillating
        .map(|pole| (pole.norm(), -pole.re / pole.norm()))
        .collect()
}

/// Gives each mode the damping of the pole whose magnitude is nearest to its angular frequency.
fn with_damping(modes: Vec<Mode>, mut poles: Vec<(f64, f64)>) -> Vec<Vibration> {
    const NEAR: f64 = 0.05;
    let vibration = |mode: Mode| {
        let omega = mode.omega_squared.sqrt();
        let distance = |&(magnitude, _): &(f64, f64)| (magnitude - omega).abs();
        let by_distance =
            |a: &usize, b: &usize| distance(&poles[*a]).total_cmp(&distance(&poles[*b]));
        let nearest = (0..poles.len())
            .filter(|&i| distance(&poles[i]) <= NEAR * omega)
            .min_by(by_distance);
        Vibration {
            omega_squared: mode.omega_squared,
            damping: nearest.map(|i| poles.swap_remove(i).1),
            shape: mode.shape,
        }
    };
    modes.into_iter().map(vibration).collect()
}
