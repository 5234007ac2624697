//! A coupled model as one linear system from its free inputs to its outputs.

use nalgebra::{Complex, DMatrix, DVector};
use oldham_cosim::{OutputPort, Quantity, Simulation, SubsystemId};

use crate::eigen::eigenvalues_of;
use crate::poles::{CoupledModel, Push, Readout, null_direction, scaled};
use crate::recurrence::AnalysisError;

/// An input or output of a linear system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearSignal {
    /// Such as `left.x1.v`.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// How often it is differentiated by time from the displacement of its port: a motion comes with
    /// its velocity and acceleration. The others are signals by themselves.
    pub derivative: usize,
}

impl LinearSignal {
    fn new(part: &str, port: &str, component: usize, quantity: &Quantity) -> Self {
        let along = quantity.component_name(component);
        let parts = [part, port, &along];
        let named = parts.iter().filter(|part| !part.is_empty());
        let is_line = matches!(quantity, Quantity::Translation | Quantity::Rotation);
        Self {
            name: named.copied().collect::<Vec<_>>().join("."),
            unit: quantity.component_unit(component).0.into_owned(),
            derivative: if is_line { component } else { 0 },
        }
    }
}

/// A linear system `x' = A x + B u`, `y = C x + D u`: all parts, joined as their connections say and
/// without any delay of the coupling. The inputs are those that no connection feeds. Where parts sample it goes from
/// sample to sample, as `x(k+1) = A x(k) + B u(k)`, `y(k) = C x(k) + D u(k)`: inputs are held, and states are those just
/// before the sample.
#[derive(Clone, Debug)]
pub struct StateSpace {
    /// States by states.
    pub a: DMatrix<f64>,
    /// States by inputs.
    pub b: DMatrix<f64>,
    /// Outputs by states.
    pub c: DMatrix<f64>,
    /// Outputs by inputs.
    pub d: DMatrix<f64>,
    /// Names of the states.
    pub states: Vec<String>,
    /// The inputs.
    pub inputs: Vec<LinearSignal>,
    /// The outputs.
    pub outputs: Vec<LinearSignal>,
    /// In the s-plane: of each complex pair the upper one, by frequency.
    pub poles: Vec<Complex<f64>>,
    /// The time from sample to sample in s; nothing in continuous time.
    pub sample: Option<f64>,
    /// The same poles in the z-plane; none in continuous time.
    pub multipliers: Vec<Complex<f64>>,
}

impl StateSpace {
    /// Linearises every part of a simulation at its present state, and joins them. Output ports that are
    /// not wanted, by their names, and matrices are left out.
    pub fn of(
        simulation: &mut Simulation,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, AnalysisError> {
        let joined = CoupledModel::joined(simulation)?;
        let names: Vec<String> = simulation.names().map(Into::into).collect();
        let connections = simulation.connections();
        let is_fed = |id: SubsystemId, component: usize| {
            connections.iter().any(|connection| {
                let fed = connection.input..connection.input + connection.width;
                connection.to == id && fed.contains(&component)
            })
        };
        let (mut pushes, mut inputs) = (Vec::new(), Vec::new());
        let (mut readouts, mut outputs) = (Vec::new(), Vec::new());
        let mut states = Vec::new();
        for (index, part) in names.iter().enumerate() {
            let id = SubsystemId(index);
            let ports = simulation.ports(id);
            let mut place = 0;
            for port in ports.inputs() {
                for component in 0..port.quantity.width() {
                    if !is_fed(id, place) {
                        pushes.push(Push::Input(id, place));
                        inputs.push(LinearSignal::new(
                            part,
                            &port.name,
                            component,
                            &port.quantity,
                        ));
                    }
                    place += 1;
                }
            }
            place = 0;
            for (index, port) in ports.outputs().iter().enumerate() {
                let is_recorded = ports.is_recorded(OutputPort(index));
                let is_listed = is_wanted(&port.name) && is_recorded;
                for component in (0..port.quantity.width()).filter(|_| is_listed) {
                    readouts.push(Readout::Output(id, place + component));
                    outputs.push(LinearSignal::new(
                        part,
                        &port.name,
                        component,
                        &port.quantity,
                    ));
                }
                place += port.quantity.width();
            }
            let known = simulation.state_names(id)?;
            let own = joined.states_of(id);
            states.extend((0..own).map(|state| {
                let name = known.get(state).cloned();
                let name = name.unwrap_or_else(|| numbered(state, own));
                if part.is_empty() {
                    name
                } else {
                    format!("{part}.{name}")
                }
            }));
        }
        let ([a, b, c, d], sample) = match joined.is_sampled() {
            false => {
                let closed = joined.closed(&pushes, &readouts);
                (closed.ok_or(AnalysisError::AlgebraicLoop)?, None)
            }
            true => {
                let discrete = joined.discrete(&pushes, &readouts)?;
                (discrete.matrices, Some(discrete.period))
            }
        };
        let (poles, multipliers) = match sample {
            None => (joined.find_monolithic_poles()?, Vec::new()),
            Some(period) => discrete_poles(&a, period)?,
        };
        Ok(Self {
            sample,
            multipliers,
            a,
            b,
            c,
            d,
            states,
            inputs,
            outputs,
            poles,
        })
    }

    /// The answer of an output to an input that swings with so many radians per second. The velocity and
    /// acceleration of a motion swing with it. From sample to sample it is the answer at the samples to an
    /// input that is held between them.
    pub fn response(&self, input: usize, output: usize, omega: f64) -> Option<Complex<f64>> {
        let s = Complex::new(0.0, omega);
        let at = self.sample.map_or(s, |period| (s * period).exp());
        let (n, complex) = (self.a.nrows(), Complex::<f64>::from);
        // What the input is together with its derivatives: they follow it in the same port.
        let mut column = DVector::zeros(n);
        let mut direct = Complex::from(0.0);
        for (place, power) in self.with_derivatives(input) {
            let factor = s.powi(power);
            column += self.b.column(place).map(complex) * factor;
            direct += self.d[(output, place)] * factor;
        }
        if n == 0 {
            return Some(direct);
        }
        let matrix = DMatrix::<Complex<f64>>::identity(n, n) * at - self.a.map(complex);
        let state = matrix.lu().solve(&column)?;
        let row = self.c.row(output).map(complex);
        let answer = (row * state)[(0, 0)] + direct;
        answer.norm().is_finite().then_some(answer)
    }

    /// An input and, if it is the displacement of a motion, its derivatives, with their orders.
    fn with_derivatives(&self, input: usize) -> Vec<(usize, i32)> {
        let Some(port) = self.inputs[input].name.strip_suffix(".x") else {
            return vec![(input, 0)];
        };
        let follows = |(place, signal): (usize, &LinearSignal)| {
            let (of, _) = signal.name.rsplit_once('.')?;
            let is_own = of == port && (signal.derivative > 0 || place == input);
            is_own.then_some((place, signal.derivative as i32))
        };
        self.inputs.iter().enumerate().filter_map(follows).collect()
    }

    /// The shape of the motion at a pole, by states; the largest component is one.
    pub fn shape(&self, pole: Complex<f64>) -> Option<Vec<Complex<f64>>> {
        let n = self.a.nrows();
        let at = self.sample.map_or(pole, |period| (pole * period).exp());
        let matrix = DMatrix::<Complex<f64>>::identity(n, n) * at - self.a.map(Complex::from);
        scaled(&null_direction(matrix)?)
    }
}

type Poles = Vec<Complex<f64>>;

/// The poles of a matrix from sample to sample, in the s-plane and in the z-plane; of each pair the upper one, by
/// frequency.
fn discrete_poles(a: &DMatrix<f64>, period: f64) -> Result<(Poles, Poles), AnalysisError> {
    if a.is_empty() || !a.iter().all(|value| value.is_finite()) {
        return Ok(Default::default());
    }
    let all = eigenvalues_of(a).ok_or(AnalysisError::NoEigenvalues)?;
    let upper = all.iter().copied().filter(|z| z.im >= 0.0);
    let mut both: Vec<_> = upper.map(|z| (z.ln() / period, z)).collect();
    both.sort_by(|(a, _), (b, _)| a.norm().total_cmp(&b.norm()));
    Ok(both.into_iter().unzip())
}

/// The name of a state that its part does not name: coordinates, then their rates.
fn numbered(state: usize, of: usize) -> String {
    match of.is_multiple_of(2) && state >= of / 2 {
        true => format!("dq{}", state - of / 2 + 1),
        false => format!("q{}", state + 1),
    }
}
