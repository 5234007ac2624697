//! How the subdomains of a cut mechanism are integrated.

use oldham_multibody::SolverSettings;
use oldham_multibody::cut::{Partition, Role};
use oldham_multibody::{Method, Options};

use super::{MethodSettings, MethodWord};
use crate::check::Checker;
use crate::check::keys::all;
use crate::format::At;
use crate::format::multibody::{self, PieceMethod};

/// Methods as they are written.
pub(super) struct Methods<'s> {
    /// Of parts for which nothing else is said.
    pub parts: SolverSettings,
    pub coupling: SolverSettings,
    /// Of parts that are named.
    own: Vec<(&'s At<String>, SolverSettings)>,
}

impl Methods<'_> {
    pub fn all(&self) -> Vec<SolverSettings> {
        let own = self.own.iter().map(|&(_, solution)| solution);
        [self.parts, self.coupling].into_iter().chain(own).collect()
    }
}

impl Checker<'_> {
    /// The methods of the table, for a mechanism that is solved like this.
    pub(super) fn methods<'s>(
        &mut self,
        given: &'s multibody::Cut,
        parts: SolverSettings,
    ) -> Option<Methods<'s>> {
        let coupling = self.subdomain_solution(&given.coupling, parts);
        let own = all(given.methods.iter().map(|entry| {
            let solution = self.subdomain_solution(&entry.value.value, parts)?;
            Some((&entry.name, solution))
        }));
        Some(Methods {
            parts,
            coupling: coupling?,
            own: own?,
        })
    }

    /// How each subdomain of a partition is solved.
    pub(super) fn solutions(
        &mut self,
        methods: &Methods<'_>,
        names: &[String],
        partition: &Partition,
    ) -> Option<Vec<SolverSettings>> {
        let by_role = partition
            .subdomains
            .iter()
            .map(|subdomain| match subdomain.role {
                Role::Part => methods.parts,
                Role::Coupling => methods.coupling,
            });
        let mut solutions: Vec<SolverSettings> = by_role.collect();
        let mut all_known = true;
        for &(name, solution) in &methods.own {
            match self.part_with_method(name, names, partition) {
                Some(place) => solutions[place] = solution,
                None => all_known = false,
            }
        }
        all_known.then_some(solutions)
    }

    /// The part that is to be integrated in its own way.
    fn part_with_method(
        &mut self,
        wanted: &At<String>,
        names: &[String],
        partition: &Partition,
    ) -> Option<usize> {
        let subdomains = names.iter().zip(&partition.subdomains);
        let parts = subdomains.filter(|(_, subdomain)| subdomain.role == Role::Part);
        let parts: Vec<&str> = parts.map(|(name, _)| name.as_str()).collect();
        let found = names.iter().position(|name| *name == wanted.value);
        if found.is_some() && parts.contains(&wanted.value.as_str()) {
            return found;
        }
        let message = format!("there is no part `{}`", wanted.value);
        let help = match wanted.value == "coupling" {
            true => "how couplings are integrated says `coupling`".to_owned(),
            false => format!("the parts are `{}`", parts.join("`, `")),
        };
        self.report(&wanted.span, message)
            .label("unknown")
            .help(help)
            .suggest(&wanted.value, parts);
        None
    }

    /// How a subdomain is solved: as the mechanism where nothing else is said.
    fn subdomain_solution(
        &mut self,
        given: &PieceMethod,
        parts: SolverSettings,
    ) -> Option<SolverSettings> {
        let default = parts.options.method;
        let word = match (&given.integrator, default) {
            (Some(word), _) => word.value,
            (None, Method::Lms2 { .. }) => MethodWord::Lms2,
            (None, Method::GeneralisedAlpha { .. }) => MethodWord::GeneralisedAlpha,
            (None, Method::BackwardEuler) => MethodWord::BackwardEuler,
            (None, Method::Rk4 { .. }) => MethodWord::Rk4,
            (None, Method::Impulses) => MethodWord::Impulses,
        };
        let settings = MethodSettings {
            rho: &given.rho,
            inputs: &given.inputs_within_step,
            otherwise: default,
        };
        let method = self.method_of(word, settings);
        let micro_steps = self.count_or(&given.micro_steps, parts.micro_steps as u32);
        Some(SolverSettings {
            options: Options {
                method: method?,
                ..parts.options
            },
            micro_steps: micro_steps? as usize,
        })
    }
}
