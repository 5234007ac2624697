//! The subsystem that the engine drives.

use oldham_cosim::Inputs;
use oldham_cosim::{
    Accuracy, Counters, EffectiveInterface, Energy, EnergyBalance, InterfaceResponse, Linearisable,
    Linearisation, Reached, StepCorrection, StepError, Subsystem, Switches, TwoStep,
};
use oldham_cosim::{InputPort, OutputPort, Ports, Quantity};
use oldham_cosim::{State, Visitor};

use crate::assembly::assemble;
use crate::energy::{DrivenInputs, EnergyTerms, Power, Tally};
use crate::equations::Equations;
use crate::error::SpecError;
use crate::integrator::{Method, Step};
use crate::kinks::StepStart;
use crate::linear;
use crate::plant::Plant;
use crate::spec::{Integrator, Spec};
use crate::tangents::Tangents;
use crate::validate::{DENSE_LIMIT, validate};
use crate::wiring::{Origin, Wiring};

/// A lumped system, ready to be simulated.
///
/// Nothing is allocated after construction, except for the propagator of
/// [`Integrator::Exact`](crate::Integrator::Exact) when the step size changes.
#[derive(Clone, Debug)]
pub struct Lumped {
    pub(crate) plant: Plant,
    method: Method,
    micro_steps: usize,
    energy_terms: EnergyTerms,
    tally: Tally,
    given: DrivenInputs,
    /// Size of the last micro step.
    step_size: f64,
    pub(crate) counters: Counters,
    /// Whether steps end at kinks, and the start of such a step.
    locates_kinks: bool,
    pub(crate) start: StepStart,
}

/// Checks a description and assembles its equations; reports all problems at once.
fn equations_of(spec: &Spec) -> Result<Equations, Vec<SpecError>> {
    let problems = validate(spec);
    match problems.is_empty() {
        true => assemble(spec),
        false => Err(problems),
    }
}

impl Lumped {
    /// What keeps a description from being simulated, all of it at once.
    pub fn problems(spec: &Spec) -> Vec<SpecError> {
        equations_of(spec).err().unwrap_or_default()
    }

    /// Checks the description and assembles its equations; reports all problems at once.
    pub fn new(spec: Spec) -> Result<Self, Vec<SpecError>> {
        let equations = equations_of(&spec)?;
        let wiring = Wiring::new(&spec, &equations);
        let tangents = Tangents::new(&spec, wiring.targets.len());
        let mut plant = Plant::new(equations, wiring, tangents);
        for (index, node) in spec.nodes.iter().enumerate() {
            plant.motion.x[index] = node.position;
            plant.motion.v[index] = node.velocity;
        }
        let is_rk4 = matches!(spec.integrator, Integrator::Rk4 { .. });
        Ok(Self {
            locates_kinks: spec.locates_kinks && is_rk4 && plant.equations.has_kinks(),
            start: StepStart::new(plant.own()),
            method: Method::new(spec.integrator, &plant),
            plant,
            micro_steps: spec.micro_steps,
            energy_terms: EnergyTerms::new(&spec),
            tally: Tally::default(),
            given: DrivenInputs::default(),
            step_size: 0.0,
            counters: Counters::default(),
        })
    }

    /// Displacements of the own nodes.
    pub fn positions(&self) -> &[f64] {
        &self.plant.motion.x[..self.plant.own()]
    }

    /// Velocities of the own nodes.
    pub fn velocities(&self) -> &[f64] {
        &self.plant.motion.v[..self.plant.own()]
    }

    /// The micro step size. Differences of rounded times vary in their last digits; a step that
    /// differs from the last one by no more than that counts as the same, so that factorisations
    /// stay valid and multi-step formulas see equal steps.
    fn micro_step_size(&self, from: f64, to: f64) -> f64 {
        // Divisions would be the longest operations of a small system's step.
        let size = match self.micro_steps {
            1 => to - from,
            count => (to - from) / count as f64,
        };
        let rounding = 2.0 * f64::EPSILON * from.abs().max(to.abs());
        if (size - self.step_size).abs() <= rounding {
            self.step_size
        } else {
            size
        }
    }

    /// Held inputs that have jumped since the last step: its work is closed with what acted over it, and the integrator
    /// is told by how much the loads jump.
    #[inline(always)]
    fn meet_jump(&mut self, t: f64, inputs: &mut Inputs) -> Result<(), StepError> {
        match self.plant.undo_jump(t, inputs) {
            true => self.close_work(t),
            false => Ok(()),
        }
    }

    #[inline(never)]
    fn close_work(&mut self, t: f64) -> Result<(), StepError> {
        if self.energy_terms.has_power {
            let power = self.power(t)?;
            self.tally.close(power);
            self.given.follow(t, &self.plant)?;
        }
        self.method.expect_jump(self.plant.find_jump());
        Ok(())
    }

    /// One step of a plant that has received its inputs at the start.
    #[inline(always)]
    pub(crate) fn take(&mut self, step: Step, inputs: &mut Inputs) -> Result<(), StepError> {
        self.method
            .step(&mut self.plant, step, inputs, &mut self.counters)?;
        self.plant.moved();
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn count_work(&mut self, step: Step) -> Result<(), StepError> {
        match self.energy_terms.has_power {
            true => self.tally_work(step.from, step.size),
            false => Ok(()),
        }
    }

    /// Takes stock before a step; the inputs at its start are already received.
    fn tally_work(&mut self, t: f64, size: f64) -> Result<(), StepError> {
        let power = self.power(t)?;
        self.tally.add(power, size);
        self.given.follow(t, &self.plant)
    }

    fn power(&self, t: f64) -> Result<Power, StepError> {
        let (motion, equations) = (&self.plant.motion, &self.plant.equations);
        let mut power = self.energy_terms.power(t, motion, equations);
        if !self.given.is_empty() {
            power.supplied += self.given.power(t, &self.plant)?;
        }
        Ok(power)
    }

    #[inline(always)]
    fn prepare_outputs(&mut self, t: f64, inputs: &[f64]) -> Result<(), StepError> {
        self.plant.impose(inputs);
        self.method.start(&mut self.plant, t, &mut self.counters)?;
        if self.plant.wiring.needs_accelerations {
            self.plant.accelerate(t)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn output(&self, origin: Origin, t: f64) -> Result<f64, StepError> {
        let motion = &self.plant.motion;
        match origin {
            Origin::Displacement(slot) => Ok(motion.x[slot]),
            Origin::Velocity(slot) => Ok(motion.v[slot]),
            Origin::Acceleration(slot) => Ok(motion.a[slot]),
            Origin::ForceOnBoundary(boundary) => match self.method.force_on_boundary(boundary) {
                Some(force) => Ok(force),
                None => self.plant.equations.force_on_boundary(boundary, t, motion),
            },
            Origin::Tangent(entry) => Ok(self.method.tangent()[entry]),
        }
    }
}

impl Subsystem for Lumped {
    fn ports(&self) -> &Ports {
        &self.plant.wiring.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let size = self.micro_step_size(from, to);
        self.step_size = size;
        let mut reached = from;
        for index in 1..=self.micro_steps {
            let step = Step {
                from: reached,
                to: match index == self.micro_steps {
                    true => to,
                    false => from + (to - from) * (index as f64 / self.micro_steps as f64),
                },
                size,
            };
            if index == 1 {
                self.meet_jump(from, inputs)?;
            }
            match self.locates_kinks {
                true => self.step_over_kinks(step, inputs)?,
                false => {
                    self.plant.receive_at_start(step.from, inputs);
                    self.count_work(step)?;
                    self.take(step, inputs)?;
                }
            }
            reached = step.to;
        }
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.prepare_outputs(t, inputs)?;
        for (output, origin) in outputs.iter_mut().zip(&self.plant.wiring.origins) {
            *output = self.output(*origin, t)?;
        }
        Ok(())
    }

    fn some_outputs(
        &mut self,
        wanted: &[OutputPort],
        t: f64,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        self.prepare_outputs(t, inputs)?;
        for &port in wanted {
            for component in self.plant.wiring.ports.output_range(port) {
                outputs[component] = self.output(self.plant.wiring.origins[component], t)?;
            }
        }
        Ok(())
    }

    fn version(&self, output: OutputPort) -> Option<u64> {
        let is_tangent = matches!(
            self.ports().outputs()[output.0].quantity,
            Quantity::Tangent(_)
        );
        self.method.tangent_version().filter(|_| is_tangent)
    }

    fn switches(&mut self, t: f64, inputs: &[f64], found: &mut Switches) {
        if self.plant.equations.has_kinks() {
            self.plant.impose(inputs);
            found.side(self.plant.equations.sides(t, &self.plant.motion));
        }
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }

    fn restart(&mut self) {
        self.method.restart();
    }

    fn work(&self) -> f64 {
        (self.micro_steps * self.plant.own()) as f64
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }

    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        self.method
            .corrects()
            .then_some(self as &mut dyn StepCorrection)
    }

    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        Some(self)
    }

    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        Some(self)
    }

    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        Some(self)
    }
}

impl EnergyBalance for Lumped {
    fn supply(&mut self, given: &[InputPort]) -> Vec<InputPort> {
        let ports = given.iter().map(|&port| self.ports().input_range(port));
        let components: Vec<usize> = ports.flatten().collect();
        self.given = DrivenInputs::new(&components, &self.plant);
        self.energy_terms.has_power |= !self.given.is_empty();
        given.to_vec()
    }

    fn energy(&mut self, t: f64, inputs: &[f64]) -> Energy {
        self.plant.impose(inputs);
        let (motion, equations) = (&self.plant.motion, &self.plant.equations);
        let unknown = Power {
            dissipated: f64::NAN,
            supplied: f64::NAN,
        };
        let power = self.power(t).unwrap_or(unknown);
        let (dissipated, supplied) = self.tally.closed(power);
        Energy {
            dissipated,
            supplied: supplied + self.given.work(t, &self.plant),
            ..self.energy_terms.stored(motion, equations)
        }
    }
}

impl StepCorrection for Lumped {
    fn correct(&mut self, t: f64, inputs: &[f64]) -> Result<(), StepError> {
        self.plant.impose(inputs);
        self.method
            .correct(&mut self.plant, t, &mut self.counters)?;
        self.plant.moved();
        Ok(())
    }
}

impl Accuracy for Lumped {
    fn sharpen(&mut self) {
        self.method.sharpen();
    }
}

impl Linearisable for Lumped {
    /// Nothing for a system too large for dense matrices.
    fn linearise(&mut self, t: f64, inputs: &[f64]) -> Option<Linearisation> {
        if self.plant.own() > DENSE_LIMIT {
            return None;
        }
        self.plant.impose(inputs);
        Some(linear::linearise(&self.plant, t))
    }

    fn state_names(&mut self) -> Vec<String> {
        let own = &self.plant.equations.names[..self.plant.own()];
        let named = |rate: &'static str| own.iter().map(move |node| format!("{node}.{rate}"));
        named("x").chain(named("v")).collect()
    }
}

impl InterfaceResponse for Lumped {
    fn interface(&mut self, t: f64, inputs: &[f64], found: &mut EffectiveInterface) -> bool {
        self.plant.impose(inputs);
        linear::interface(&mut self.plant, t, found).unwrap_or(false)
    }

    fn momentum_formula(&self) -> Option<TwoStep> {
        self.method.momentum_formula(self.micro_steps)
    }
}

impl State for Lumped {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        let own = self.plant.own();
        visitor.vector(&mut self.plant.motion.x[..own]);
        visitor.vector(&mut self.plant.motion.v[..own]);
        self.plant.moved();
        self.method.visit(visitor);
        self.method.settle(&mut self.plant);
        for number in self.tally.numbers() {
            visitor.fixed(std::slice::from_mut(number));
        }
        self.given.visit(visitor);
        visitor.fixed(std::slice::from_mut(&mut self.step_size));
    }
}
