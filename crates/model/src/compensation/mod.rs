//! From compensators in a model file to feedback that runs.

pub(crate) mod gains;
mod trial;

use oldham_compensation::Compensation;
use oldham_cosim::{Coupling, Simulation, SubsystemId};
use oldham_lumped::Integrator;
use oldham_stability::compensate::{
    Architecture, BuildFailure, CouplingLaw, Design, DesignError, Domain, Site, SiteError, Target,
    assign, confirm,
};
use oldham_stability::{CoupledModel, Extrapolator};

use crate::compensation::gains::{Gains, GainsError};
use crate::implicit;
use crate::model::{CompensatorSpec, Model, Prediction, Way};
use crate::problem::{Findings, Problem, Problems};

/// Why a model has no compensation.
#[derive(Debug, thiserror::Error)]
pub enum CompensationError {
    /// The model cannot be built even without it.
    #[error(transparent)]
    Model(Box<Problems>),
    /// An interface cannot be compensated.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// There is no interface to compensate.
    #[error(
        "the model has no interface at which a force goes one way and a motion comes back: there is nothing to compensate"
    )]
    NoSite,
    /// Iteration leaves nothing to compensate.
    #[error(
        "implicit (tight) coupling iterates the delay away that a compensator would undo: there is nothing to compensate"
    )]
    Implicit,
    /// An interface behind a cut.
    #[error(
        "`{part}` is cut into parts, and interfaces of it or of a subsystem after it cannot be compensated; leave out its `cut`, or put `{part}` last in the file"
    )]
    Cut {
        /// The mechanism.
        part: String,
    },
    /// Correction stages leave nothing to compensate.
    #[error(
        "the schedule corrects every step for the latest inputs, so that there is no delay that a compensator could undo"
    )]
    Corrected,
    /// It spoils the motion.
    #[error(
        "the co-simulation is stable with it, but its motion is worse: over a trial the interface is off by {:.3e} of its motion with compensation and by {:.3e} without; use another method or a smaller macro step", .errors[1], .errors[0]
    )]
    Worse {
        /// Relative error of the motion without and with compensation.
        errors: [f64; 2],
    },
    /// No gains were found.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// Given gains do not fit.
    #[error(transparent)]
    Gains(#[from] GainsError),
    /// A signal that is not there.
    #[error("`{name}` is no signal of this interface; there are: {}", .known.join(", "))]
    NoSuchSignal {
        /// As written.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
}

impl From<Problems> for CompensationError {
    fn from(problems: Problems) -> Self {
        Self::Model(Box::new(problems))
    }
}

/// A way to compensate all interfaces of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approach {
    /// Eigenstructure assignment on the recurrence of what runs.
    Sampled,
    /// Eigenstructure assignment on a continuous model of the exchange.
    Continuous,
    /// The receiver of the force evaluates the coupling law.
    Structural,
}

/// A compensation that was designed and confirmed.
pub enum Offer {
    /// By assignment.
    Assigned {
        /// What is fed back.
        rows: Box<Architecture>,
        /// The gains and what they do.
        design: Box<Design>,
        /// Relative error of the motion at the interfaces without and with compensation, over a
        /// trial beside the monolithic model, if there is one.
        errors: Option<[f64; 2]>,
    },
    /// By structure.
    Structural {
        /// The law at each interface.
        laws: Vec<CouplingLaw>,
        /// Spectral radius without and with compensation.
        radius: [f64; 2],
        /// Relative error of the motion at the interfaces without and with compensation, over a
        /// trial beside the monolithic model, if there is one.
        errors: Option<[f64; 2]>,
    },
}

impl Model {
    /// Names of the compensators.
    pub fn compensators(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spec.compensators.iter().map(|c| c.name.as_str())
    }

    /// Designs a compensation of all interfaces: of those that have a compensator in the file, or
    /// of all where there is none. The names are those of the compensators, or of the forces.
    pub fn compensate(
        &self,
        approach: Approach,
    ) -> Result<(Vec<String>, Offer), CompensationError> {
        if let Coupling::Implicit(_) = self.spec.schedule.coupling {
            return Err(CompensationError::Implicit);
        }
        let plain = self.uncompensated(Vec::new())?;
        if plain.corrects_steps() {
            return Err(CompensationError::Corrected);
        }
        let listed = &self.spec.compensators;
        let (names, sites) = if listed.is_empty() {
            let sites: Vec<Site> = Site::all(&plain).into_iter().collect::<Result<_, _>>()?;
            for site in &sites {
                self.check_uncut(site.force_side.max(site.motion_side))?;
            }
            let name = |site: &Site| {
                let part = &self.spec.parts[site.force_side.0].name;
                let force = &plain.ports(site.force_side).outputs()[site.force.0].name;
                format!("{part}-{force}")
            };
            (sites.iter().map(name).collect(), sites)
        } else {
            let sites = listed.iter().map(|c| self.site(c, &plain));
            let sites = sites.collect::<Result<Vec<_>, _>>()?;
            (listed.iter().map(|c| c.name.clone()).collect(), sites)
        };
        if sites.is_empty() {
            return Err(CompensationError::NoSite);
        }
        let offer = match approach {
            Approach::Structural => self.structural(&sites)?,
            Approach::Sampled | Approach::Continuous => {
                let listed: Vec<_> = listed.iter().collect();
                let task = Task {
                    continuous: approach == Approach::Continuous,
                    ..Task::new(&sites, &listed)
                };
                let (rows, design) = self.assigned(&task, &|| Ok(Vec::new()))?;
                let errors = self.judged(&sites, rows.compensations(&design.gains))?;
                Offer::Assigned {
                    rows: Box::new(rows),
                    design: Box::new(design),
                    errors,
                }
            }
        };
        Ok((names, offer))
    }

    fn structural(&self, sites: &[Site]) -> Result<Offer, CompensationError> {
        let build = |laws| self.attempt(laws);
        let laws = sites.iter().map(|site| CouplingLaw::of(&build, site));
        let laws = laws.collect::<Result<Vec<_>, _>>()?;
        let steps: Vec<_> = sites.iter().map(|site| self.micro_steps_of(site)).collect();
        let radius = confirm(&build, &laws, &steps)?;
        let plain = self.uncompensated(Vec::new())?;
        let used = laws.iter().zip(&steps);
        let used = used.flat_map(|(law, steps)| law.compensations(&plain, *steps));
        let errors = self.judged(sites, used.collect())?;
        Ok(Offer::Structural {
            laws,
            radius,
            errors,
        })
    }

    /// The errors of a trial, unless the motion is worse with these compensations than without.
    fn judged(
        &self,
        sites: &[Site],
        laws: Vec<(SubsystemId, Compensation)>,
    ) -> Result<Option<[f64; 2]>, CompensationError> {
        match self.trial(sites, laws) {
            Some(errors) if errors[1] > errors[0] || !errors[1].is_finite() => {
                Err(CompensationError::Worse { errors })
            }
            errors => Ok(errors),
        }
    }

    /// The compensations that the file asks for.
    pub(crate) fn compensations(&self) -> Result<Vec<(SubsystemId, Compensation)>, Problems> {
        let active = self.spec.compensators.iter().filter(|c| c.way != Way::Off);
        let Some(first) = active.clone().next() else {
            return Ok(Vec::new());
        };
        let at = |error: &CompensationError, span| {
            let message = match error {
                CompensationError::Model(problems) => return (**problems).clone(),
                other => other.to_string(),
            };
            let problem = Problem::new(span, message).label("this compensator");
            Findings::from(problem).into_problems(&self.source)
        };
        let plain = self.uncompensated(Vec::new())?;
        let mut fixed = Vec::new();
        for compensator in active.clone().filter(|c| c.way != Way::Assignment) {
            let laws = self.fixed(compensator, &plain);
            fixed.push(laws.map_err(|error| at(&error, compensator.span.clone()))?);
        }
        let assigned: Vec<_> = active.filter(|c| c.way == Way::Assignment).collect();
        let ready = |fixed: Vec<Fixed>| -> Vec<_> {
            let laws = fixed.into_iter().flat_map(|f| f.laws(self, &plain));
            laws.collect()
        };
        if assigned.is_empty() {
            return Ok(Compensation::joined(ready(fixed)));
        }
        let span = || {
            assigned
                .first()
                .map_or(first.span.clone(), |c| c.span.clone())
        };
        let designed = self.design(&assigned, &plain, &fixed);
        let mut laws = designed.map_err(|error| at(&error, span()))?;
        laws.extend(ready(fixed));
        Ok(Compensation::joined(laws))
    }

    /// What needs no design.
    fn fixed(
        &self,
        compensator: &CompensatorSpec,
        plain: &Simulation,
    ) -> Result<Fixed, CompensationError> {
        let site = self.site(compensator, plain)?;
        if let Way::Given(gains) = &compensator.way {
            let rows = Architecture::new(plain, &[site])?;
            let gains = gains.for_rows(&rows)?;
            return Ok(Fixed::Gains(rows, gains));
        }
        let law = CouplingLaw::of(&|laws| self.attempt(laws), &site)?;
        Ok(Fixed::Law(Box::new(law), site))
    }

    /// Designs all assigned compensators together, beside the fixed ones.
    fn design(
        &self,
        assigned: &[&CompensatorSpec],
        plain: &Simulation,
        fixed: &[Fixed],
    ) -> Result<Vec<(SubsystemId, Compensation)>, CompensationError> {
        let sites = assigned.iter().map(|c| self.site(c, plain));
        let sites = sites.collect::<Result<Vec<_>, _>>()?;
        let task = Task::new(&sites, assigned);
        let beside = || {
            let laws = fixed.iter().flat_map(|f| f.laws(self, plain));
            Ok(laws.collect())
        };
        let (rows, design) = self.assigned(&task, &beside)?;
        Ok(rows.compensations(&design.gains))
    }

    fn assigned(
        &self,
        task: &Task<'_>,
        beside: &dyn Fn() -> Result<Vec<(SubsystemId, Compensation)>, BuildFailure>,
    ) -> Result<(Architecture, Design), CompensationError> {
        let mut plain = self.uncompensated(Vec::new())?;
        let rows = Architecture::new(&plain, task.sites)?;
        let chosen = match &task.signals {
            None => vec![true; rows.unknowns()],
            Some(signals) => {
                let known = rows.signals();
                for name in signals {
                    let components = rows.candidates().map(|(_, c)| &c.name);
                    if !known.contains(name) && !components.into_iter().any(|c| c == name) {
                        let name = name.clone();
                        return Err(CompensationError::NoSuchSignal { name, known });
                    }
                }
                rows.choose(signals)
            }
        };
        let model = CoupledModel::of(&mut plain);
        let mut targets = match &model {
            Ok(model) if !task.as_integrated => Target::exact(model, &rows),
            _ => {
                let names: Vec<_> = rows.displacement_names(&plain);
                Target::of_monolithic(&mut self.monolithic(None)?, &names)
                    .map_err(DesignError::from)?
            }
        };
        targets.truncate(task.modes.unwrap_or(usize::MAX));
        let build = |laws: Vec<(SubsystemId, Compensation)>| {
            let mut all = laws;
            all.extend(beside()?);
            self.attempt(Compensation::joined(all))
        };
        let design = if task.continuous {
            let model = model.map_err(DesignError::from)?;
            let hold = Extrapolator::hold(self.hold_order(), self.step());
            let domain = Domain::Continuous(&model, hold);
            assign(&build, &rows, &chosen, &targets, &domain)?
        } else {
            assign(&build, &rows, &chosen, &targets, &Domain::Sampled)?
        };
        Ok((rows, design))
    }

    /// The interface of a compensator.
    fn site(
        &self,
        compensator: &CompensatorSpec,
        plain: &Simulation,
    ) -> Result<Site, CompensationError> {
        let (force_side, port) = compensator.force;
        let force_side = SubsystemId(force_side);
        self.check_uncut(force_side)?;
        let site = Site::of(plain, (force_side, port), compensator.correct)?;
        self.check_uncut(site.motion_side)?;
        Ok(site)
    }

    /// Up to the first cut the engine's subsystems are those of the model.
    fn check_uncut(&self, last: SubsystemId) -> Result<(), CompensationError> {
        let mut parts = self.spec.parts.iter().take(last.0 + 1);
        match parts.find(|part| part.cutting().is_some()) {
            None => Ok(()),
            Some(part) => Err(CompensationError::Cut {
                part: part.name.clone(),
            }),
        }
    }

    fn attempt(&self, laws: Vec<(SubsystemId, Compensation)>) -> Result<Simulation, BuildFailure> {
        let built = self.uncompensated(laws);
        built.map_err(|problems| BuildFailure(problems.to_string()))
    }

    /// The order of the hold that the continuous model assumes.
    fn hold_order(&self) -> usize {
        let orders = self.spec.parts.iter().map(|part| match part.prediction {
            Prediction::Hold(order) => order,
            Prediction::Integrated(..)
            | Prediction::Learned(_)
            | Prediction::Plain(_)
            | Prediction::InterfaceModel(_)
            | Prediction::Foreign(_) => 0,
        });
        orders.min().unwrap_or(0)
    }

    /// The micro steps of force side and motion side where they integrate by semi-implicit Euler.
    fn micro_steps_of(&self, site: &Site) -> [f64; 2] {
        [site.force_side, site.motion_side].map(|id| {
            let part = &self.spec.parts[id.0];
            match part.lumped() {
                Some(spec) if spec.integrator == Integrator::SemiImplicitEuler => {
                    let rate = implicit::rate(&self.spec.schedule.stages, id);
                    let own = self.step() * f64::from(part.every) / rate;
                    own / spec.micro_steps as f64
                }
                _ => 0.0,
            }
        })
    }
}

/// An assignment to be done.
struct Task<'a> {
    sites: &'a [Site],
    /// What may be fed back; everything, if nothing is said.
    signals: Option<Vec<String>>,
    continuous: bool,
    as_integrated: bool,
    /// Only so many of the slowest modes.
    modes: Option<usize>,
}

impl<'a> Task<'a> {
    /// What compensators in the file ask for.
    fn new(sites: &'a [Site], asked: &[&CompensatorSpec]) -> Self {
        let signals = asked.iter().filter_map(|c| c.signals.as_deref());
        let signals: Vec<_> = signals.flatten().map(|(name, _)| name.clone()).collect();
        Self {
            sites,
            signals: (!signals.is_empty()).then_some(signals),
            continuous: asked.iter().any(|c| c.continuous),
            as_integrated: asked.iter().any(|c| c.as_integrated),
            modes: asked.iter().filter_map(|c| c.modes).min(),
        }
    }
}

/// A compensation that needs no design.
enum Fixed {
    Gains(Architecture, Vec<f64>),
    Law(Box<CouplingLaw>, Site),
}

impl Fixed {
    fn laws(&self, model: &Model, plain: &Simulation) -> Vec<(SubsystemId, Compensation)> {
        match self {
            Self::Gains(rows, gains) => rows.compensations(gains),
            Self::Law(law, site) => law.compensations(plain, model.micro_steps_of(site)),
        }
    }
}

impl Gains {
    /// The gains of every interface of a design, by the names of the compensators.
    pub fn of_design(
        names: &[String],
        rows: &Architecture,
        design: &Design,
    ) -> Vec<(String, Self)> {
        let named = names.iter().cloned().enumerate();
        named
            .map(|(site, name)| (name, Self::of(rows, &design.gains, site)))
            .collect()
    }
}
