//! Poles of a coupled linear system in the s-plane, monolithic and as the exchange changes them.
//!
//! Every part is x' = A x + B u, y = C x + D u; a connection gives u = E(s) y with the transfer
//! function of its extrapolator. Eliminating u leaves N(s) x = 0, whose roots are the poles: exact
//! roots of a transcendental equation, found by Newton's method on det N.

use nalgebra::{Complex, DMatrix, DVector};
use oldham_cosim::{Simulation, SubsystemId};

use crate::eigen::eigenvalues_of;
use crate::extrapolator::Extrapolator;
use crate::recurrence::AnalysisError;

type Matrix = DMatrix<Complex<f64>>;

/// Of parts that do not say why.
const NO_REASON: &str =
    "gives none of itself, as code of others does not, or a part that shows an interface model";

const MAX_ITERATIONS: usize = 60;
/// Steps in which the macro step grows from nothing while a pole is followed.
const STAGES: usize = 25;

/// The direction that a matrix takes to nothing, or to as little as it can.
pub(crate) fn null_direction(matrix: Matrix) -> Option<DVector<Complex<f64>>> {
    let last = matrix.nrows().checked_sub(1)?;
    if !matrix.iter().all(|value| value.norm().is_finite()) {
        return None;
    }
    Some(matrix.svd(false, true).v_t?.row(last).adjoint())
}

/// A shape whose largest component is one; nothing if all are zero.
pub(crate) fn scaled(shape: &DVector<Complex<f64>>) -> Option<Vec<Complex<f64>>> {
    let largest = shape
        .iter()
        .copied()
        .max_by(|a, b| a.norm().total_cmp(&b.norm()))?;
    (largest.norm() > 0.0).then(|| shape.iter().map(|value| value / largest).collect())
}

/// The joined linearisations of all parts and how they are connected.
pub struct CoupledModel {
    pub(crate) a: DMatrix<f64>,
    pub(crate) b: DMatrix<f64>,
    pub(crate) c: DMatrix<f64>,
    pub(crate) d: DMatrix<f64>,
    /// Inputs by outputs: one where an output feeds an input.
    pub(crate) wiring: DMatrix<f64>,
    /// Where the inputs and outputs of each part start.
    pub(crate) starts: Vec<(usize, usize)>,
    /// States of each part.
    pub(crate) states: Vec<usize>,
    /// Of each part the time between its samples, if it samples.
    pub(crate) samples: Vec<Option<f64>>,
    feedback: Option<PushFeedback>,
    /// Of the monolithic system.
    poles: Vec<Complex<f64>>,
}

/// Something that is added from outside, by part and component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Push {
    /// To an input.
    Input(SubsystemId, usize),
    /// To an output as it is sent.
    Sent(SubsystemId, usize),
}

/// Something that is read, by part and component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readout {
    /// An output.
    Output(SubsystemId, usize),
    /// An input, as it is received.
    Input(SubsystemId, usize),
}

/// Pushes that are gains times readouts.
struct PushFeedback {
    pushes: Vec<Push>,
    readouts: Vec<Readout>,
    /// Pushes by readouts.
    gains: Matrix,
}

/// The joined equations at one frequency: with the state x and pushes p, the inputs are
/// `by_state x + by_push p`, and alone x = b times them.
struct JoinedEquations {
    alone: Matrix,
    b: Matrix,
    by_state: Matrix,
    by_push: Matrix,
}

impl CoupledModel {
    /// Linearises every part of a simulation at its present state. None of them may sample.
    pub fn of(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        let mut model = Self::joined(simulation)?;
        if let Some(part) = model.samples.iter().position(Option::is_some) {
            let name = simulation.names().nth(part).unwrap_or_default();
            return Err(AnalysisError::Sampled(name.into()));
        }
        model.poles = model.find_monolithic_poles()?;
        Ok(model)
    }

    /// The same, with parts that sample, and without poles.
    pub(crate) fn joined(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        let names: Vec<String> = simulation.names().map(Into::into).collect();
        let mut parts = Vec::new();
        for (index, name) in names.into_iter().enumerate() {
            let id = SubsystemId(index);
            let linear = simulation.linearise(id)?;
            let Some(linear) = linear else {
                let reason = simulation.not_linear(id)?;
                let reason = reason.unwrap_or_else(|| NO_REASON.into());
                return Err(AnalysisError::NoLinearisation { part: name, reason });
            };
            let ports = simulation.ports(id);
            parts.push((linear, ports.input_width(), ports.output_width()));
        }
        let mut starts = vec![(0, 0, 0)];
        for (linear, inputs, outputs) in &parts {
            let &(states, before, sent) = starts.last().expect("never empty");
            starts.push((states + linear.states, before + inputs, sent + outputs));
        }
        let &(states, inputs, outputs) = starts.last().expect("never empty");
        let mut model = Self {
            a: DMatrix::zeros(states, states),
            b: DMatrix::zeros(states, inputs),
            c: DMatrix::zeros(outputs, states),
            d: DMatrix::zeros(outputs, inputs),
            wiring: DMatrix::zeros(inputs, outputs),
            starts: starts
                .iter()
                .map(|&(_, input, output)| (input, output))
                .collect(),
            states: parts.iter().map(|(linear, _, _)| linear.states).collect(),
            samples: parts.iter().map(|(linear, _, _)| linear.sample).collect(),
            feedback: None,
            poles: Vec::new(),
        };
        for ((linear, wide, tall), &(x, u, y)) in parts.iter().zip(&starts) {
            let n = linear.states;
            place(&mut model.a, (x, x), (n, n), &linear.a);
            place(&mut model.b, (x, u), (n, *wide), &linear.b);
            place(&mut model.c, (y, x), (*tall, n), &linear.c);
            place(&mut model.d, (y, u), (*tall, *wide), &linear.d);
        }
        for connection in simulation.connections() {
            for component in 0..connection.width {
                let input = starts[connection.to.0].1 + connection.input + component;
                let output = starts[connection.from.0].2 + connection.output + component;
                model.wiring[(input, output)] = connection.gain;
            }
        }
        Ok(model)
    }

    /// The same model with pushes that are gains (pushes by readouts) times what is looked at.
    pub(crate) fn with_feedback(
        self,
        pushes: Vec<Push>,
        readouts: Vec<Readout>,
        gains: &DMatrix<f64>,
    ) -> Self {
        let gains = gains.map(Complex::from);
        Self {
            feedback: Some(PushFeedback {
                pushes,
                readouts,
                gains,
            }),
            ..self
        }
    }

    fn equations(
        &self,
        s: Complex<f64>,
        extrapolation: Complex<f64>,
        pushes: &[Push],
    ) -> Option<JoinedEquations> {
        let [a, b, c, d] = [&self.a, &self.b, &self.c, &self.d].map(|m| m.map(Complex::from));
        let (states, inputs) = (a.nrows(), self.wiring.nrows());
        let alone = Matrix::identity(states, states) * s - a;
        let wiring = self.wiring.map(|w| extrapolation * w);
        let mut given = Matrix::zeros(inputs, pushes.len());
        for (column, push) in pushes.iter().enumerate() {
            match *push {
                Push::Input(part, component) => {
                    given[(self.starts[part.0].0 + component, column)] += Complex::from(1.0);
                }
                Push::Sent(part, component) => {
                    let sent = wiring
                        .column(self.starts[part.0].1 + component)
                        .into_owned();
                    given.set_column(column, &sent);
                }
            }
        }
        if inputs == 0 {
            let by_state = Matrix::zeros(0, states);
            return Some(JoinedEquations {
                alone,
                b,
                by_state,
                by_push: given,
            });
        }
        let loops = (Matrix::identity(inputs, inputs) - &wiring * d).lu();
        Some(JoinedEquations {
            alone,
            b,
            by_state: loops.solve(&(wiring * c))?,
            by_push: loops.solve(&given)?,
        })
    }

    /// What is looked at, by state and by push.
    fn read_out(&self, equations: &JoinedEquations, readouts: &[Readout]) -> (Matrix, Matrix) {
        let [c, d] = [&self.c, &self.d].map(|m| m.map(Complex::from));
        let states = self.a.nrows();
        let mut by_state = Matrix::zeros(readouts.len(), states);
        let mut by_push = Matrix::zeros(readouts.len(), equations.by_push.ncols());
        for (line, readout) in readouts.iter().enumerate() {
            let (state, push) = match *readout {
                Readout::Input(part, component) => {
                    let input = self.starts[part.0].0 + component;
                    (
                        equations.by_state.row(input).into_owned(),
                        equations.by_push.row(input).into_owned(),
                    )
                }
                Readout::Output(part, component) => {
                    let output = self.starts[part.0].1 + component;
                    (
                        c.row(output) + d.row(output) * &equations.by_state,
                        d.row(output) * &equations.by_push,
                    )
                }
            };
            by_state.set_row(line, &state);
            by_push.set_row(line, &push);
        }
        (by_state, by_push)
    }

    /// How many states a part has.
    pub(crate) fn states_of(&self, part: SubsystemId) -> usize {
        self.states[part.0]
    }

    /// The matrices A, B, C and D from pushes to readouts, connections closed without delay; nothing if
    /// outputs determine each other in a loop that has no solution.
    pub(crate) fn closed(
        &self,
        pushes: &[Push],
        readouts: &[Readout],
    ) -> Option<[DMatrix<f64>; 4]> {
        let equations = self.equations(Complex::from(0.0), Complex::from(1.0), pushes)?;
        let (c, d) = self.read_out(&equations, readouts);
        let a = &equations.b * &equations.by_state - &equations.alone;
        let b = &equations.b * &equations.by_push;
        let real = |matrix: Matrix| matrix.map(|value| value.re);
        Some([a, b, c, d].map(real))
    }

    /// What is looked at for a unit of every push (readouts by pushes), without feedback.
    pub(crate) fn answer(
        &self,
        s: Complex<f64>,
        extrapolator: Extrapolator,
        pushes: &[Push],
        readouts: &[Readout],
    ) -> Option<Matrix> {
        let equations = self.equations(s, extrapolator.at(s), pushes)?;
        let matrix = &equations.alone - &equations.b * &equations.by_state;
        let states = matrix.lu().solve(&(&equations.b * &equations.by_push))?;
        let (by_state, by_push) = self.read_out(&equations, readouts);
        Some(by_state * states + by_push)
    }

    /// The shape of a monolithic mode, where it is looked at; the largest component is one.
    pub(crate) fn shape(
        &self,
        pole: Complex<f64>,
        readouts: &[Readout],
    ) -> Option<Vec<Complex<f64>>> {
        let equations = self.equations(pole, Complex::from(1.0), &[])?;
        let matrix = &equations.alone - &equations.b * &equations.by_state;
        let shape = self.read_out(&equations, readouts).0 * null_direction(matrix)?;
        scaled(&shape)
    }

    /// The shape of the mode that belongs to a pole, over outputs of parts that no input reaches at once, such as
    /// displacements: with an extrapolator that of the co-simulation, feedback included, without one that of the
    /// monolithic system. The largest component is one.
    pub fn mode(
        &self,
        pole: Complex<f64>,
        extrapolator: Option<Extrapolator>,
        outputs: &[(SubsystemId, usize)],
    ) -> Option<Vec<Complex<f64>>> {
        let matrix = match extrapolator {
            Some(extrapolator) => self.dynamic(pole, extrapolator.at(pole))?,
            None => {
                let equations = self.equations(pole, Complex::from(1.0), &[])?;
                equations.alone - equations.b * equations.by_state
            }
        };
        let state = null_direction(matrix)?;
        let component = |&(part, component): &(SubsystemId, usize)| {
            let row = self.c.row(self.starts[part.0].1 + component);
            let pairs = row.iter().zip(state.iter());
            pairs.map(|(c, x)| x * *c).sum::<Complex<f64>>()
        };
        scaled(&DVector::from_iterator(
            outputs.len(),
            outputs.iter().map(component),
        ))
    }

    /// The matrix whose determinant vanishes at a pole.
    fn dynamic(&self, s: Complex<f64>, extrapolation: Complex<f64>) -> Option<Matrix> {
        let Some(feedback) = &self.feedback else {
            let equations = self.equations(s, extrapolation, &[])?;
            return Some(equations.alone - equations.b * equations.by_state);
        };
        let equations = self.equations(s, extrapolation, &feedback.pushes)?;
        let (by_state, by_push) = self.read_out(&equations, &feedback.readouts);
        let size = feedback.pushes.len();
        let own = Matrix::identity(size, size) - &feedback.gains * by_push;
        let pushes = own.lu().solve(&(&feedback.gains * by_state))?;
        let inputs = equations.by_state + equations.by_push * pushes;
        Some(equations.alone - equations.b * inputs)
    }

    /// Poles of the monolithic system, by frequency; of each pair the upper one.
    pub fn monolithic(&self) -> Vec<Complex<f64>> {
        self.poles.clone()
    }

    pub(crate) fn find_monolithic_poles(&self) -> Result<Vec<Complex<f64>>, AnalysisError> {
        let Some(equations) = self.equations(Complex::from(0.0), Complex::from(1.0), &[]) else {
            return Ok(Vec::new());
        };
        let matrix = equations.alone - equations.b * equations.by_state;
        let real = matrix.map(|value| -value.re);
        // The iteration would not end on NaN, nor begin on nothing.
        if real.is_empty() || !real.iter().all(|value| value.is_finite()) {
            return Ok(Vec::new());
        }
        let values = eigenvalues_of(&real).ok_or(AnalysisError::NoEigenvalues)?;
        let mut poles: Vec<_> = values
            .iter()
            .copied()
            .filter(|pole| pole.im >= 0.0)
            .collect();
        poles.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
        Ok(poles)
    }

    /// The pole of the co-simulation that a pole of the monolithic system becomes: it is followed
    /// while the macro step grows from nothing to its value. A compensator belongs to one macro
    /// step: with one, the nearest pole is looked for at that step.
    pub fn primary(&self, start: Complex<f64>, extrapolator: Extrapolator) -> Option<Complex<f64>> {
        if self.feedback.is_some() {
            return self.root(start, extrapolator);
        }
        let mut pole = start;
        for stage in 1..=STAGES {
            let share = stage as f64 / STAGES as f64;
            let partial = Extrapolator {
                period: share * extrapolator.period,
                latency: share * extrapolator.latency,
                ..extrapolator
            };
            pole = self.root(pole, partial)?;
        }
        Some(pole)
    }

    /// A pole on its way while the macro step grows to its value in equal stages, from where there
    /// is none; as far as it can be followed.
    pub fn path(
        &self,
        start: Complex<f64>,
        extrapolator: Extrapolator,
        stages: usize,
    ) -> Vec<Complex<f64>> {
        let mut path = vec![start];
        for stage in 1..=stages {
            let share = stage as f64 / stages as f64;
            let partial = Extrapolator {
                period: share * extrapolator.period,
                latency: share * extrapolator.latency,
                ..extrapolator
            };
            let from = match self.feedback {
                Some(_) => start,
                None => path[stage - 1],
            };
            match self.root(from, partial) {
                Some(pole) => path.push(pole),
                None => break,
            }
        }
        path
    }

    /// Roots that the exchange adds, found from a grid of starting points up to the given multiple
    /// of the exchange rate; the rightmost first.
    pub fn latent(&self, extrapolator: Extrapolator, rates: usize) -> Vec<Complex<f64>> {
        let primaries: Vec<_> = self
            .monolithic()
            .into_iter()
            .filter_map(|pole| self.primary(pole, extrapolator))
            .collect();
        let rate = 1.0 / extrapolator.period;
        let mut found: Vec<Complex<f64>> = Vec::new();
        for row in 0..=4 * rates {
            for column in 0..24 {
                let re = rate * (1.0 - 0.7 * f64::from(column));
                let im = rate * std::f64::consts::FRAC_PI_2 * row as f64;
                let Some(root) = self.root(Complex::new(re, im), extrapolator) else {
                    continue;
                };
                let root = Complex::new(root.re, root.im.abs());
                let same =
                    |other: &Complex<f64>| (root - other).norm() < 1e-6 * (rate + root.norm());
                let inside = root.im <= rate * std::f64::consts::TAU * rates as f64;
                if inside && !found.iter().any(same) && !primaries.iter().any(same) {
                    found.push(root);
                }
            }
        }
        found.sort_by(|a, b| b.re.total_cmp(&a.re));
        found
    }

    /// Newton's method on the determinant: its logarithmic derivative is the trace of N^-1 N'.
    fn root(&self, start: Complex<f64>, extrapolator: Extrapolator) -> Option<Complex<f64>> {
        let mut s = start;
        let mut before = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            let here = self.dynamic(s, extrapolator.at(s))?;
            let small = 1e-6 * (s.norm() + 1e-3);
            let ahead = self.dynamic(s + small, extrapolator.at(s + small))?;
            let behind = self.dynamic(s - small, extrapolator.at(s - small))?;
            let slope = (ahead - behind) / Complex::from(2.0 * small);
            // A singular matrix is what is looked for.
            let Some(quotient) = here.lu().solve(&slope) else {
                return Some(s);
            };
            let step = Complex::from(1.0) / quotient.trace();
            if !step.re.is_finite() || !step.im.is_finite() {
                return None;
            }
            // Where rounding keeps the steps from shrinking further, they have done so far enough.
            let stagnates = before <= 1e-8 * s.norm() && step.norm() >= before;
            if stagnates {
                return Some(s);
            }
            before = step.norm();
            s -= step;
            if step.norm() <= 1e-13 * s.norm() {
                return Some(s);
            }
        }
        None
    }
}

fn place(into: &mut DMatrix<f64>, at: (usize, usize), size: (usize, usize), values: &[f64]) {
    let block = DMatrix::from_row_slice(size.0, size.1, values);
    into.view_mut(at, size).copy_from(&block);
}
