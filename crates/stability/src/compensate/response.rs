//! How a coupled model answers when a compensator pushes it, at a complex frequency.

use nalgebra::{Complex, DMatrix};
use oldham_compensation::Compensated;
use oldham_cosim::{Chart, Simulation, SubsystemId};

use crate::compensate::rows::Architecture;
use crate::extrapolator::Extrapolator;
use crate::poles::{CoupledModel, Readout};
use crate::recurrence::{AnalysisError, Recurrence, probe_with};

pub(crate) type Matrix = DMatrix<Complex<f64>>;

/// Displacements and signals for a unit push of every row, at one frequency.
pub(crate) struct Response {
    /// Displacements at the corrected forces, by rows.
    pub displacements: Matrix,
    /// Readings of all candidates, by rows.
    pub readings: Matrix,
}

/// A model of a compensated co-simulation whose gains are zero.
pub(crate) trait Plant {
    /// Its answer to motions that grow with this pole; nothing where it has that pole itself.
    fn at(&self, pole: Complex<f64>) -> Option<Response>;
}

/// The co-simulation as it runs: z(n+1) = Λ z(n) + B p, readings C z(n) + D p.
pub(crate) struct Sampled {
    pub lambda: DMatrix<f64>,
    pub b: DMatrix<f64>,
    pub c: DMatrix<f64>,
    pub d: DMatrix<f64>,
    /// Displacements at the end of the step, by state and by push.
    moved: (DMatrix<f64>, DMatrix<f64>),
    duration: f64,
}

impl Sampled {
    /// Probes a simulation that was built with [`Architecture::listening`].
    pub fn of(simulation: &mut Simulation, rows: &Architecture) -> Result<Self, AnalysisError> {
        let (recurrence, seen) = probe_with(simulation, |simulation| observe(simulation, rows))?;
        let (b, of_push) = Self::push(simulation, rows, &recurrence)?;
        let (readings, moved) = (rows.unknowns(), rows.displacements.len());
        Ok(Self {
            lambda: recurrence.matrix().clone(),
            b,
            c: seen.rows(0, readings).into_owned(),
            d: of_push.rows(0, readings).into_owned(),
            moved: (
                seen.rows(readings, moved).into_owned(),
                of_push.rows(readings, moved).into_owned(),
            ),
            duration: recurrence.duration(),
        })
    }

    /// What a push of every row does to the next state and to what is observed.
    fn push(
        simulation: &mut Simulation,
        rows: &Architecture,
        recurrence: &Recurrence,
    ) -> Result<(DMatrix<f64>, DMatrix<f64>), AnalysisError> {
        let chart = recurrence.chart();
        let period = simulation.period();
        chart.base().restore(simulation);
        simulation.steps(period)?;
        let image = Chart::about(simulation);
        let observed = observe(simulation, rows).len();
        let mut ends = [vec![0.0; chart.dimension()], vec![0.0; chart.dimension()]];
        let mut b = DMatrix::zeros(chart.dimension(), rows.rows.len());
        let mut seen = DMatrix::zeros(observed, rows.rows.len());
        let size = recurrence.push_size();
        for (index, row) in rows.rows.iter().enumerate() {
            let place = rows.place_in_part(index);
            let mut views = [Vec::new(), Vec::new()];
            for ((end, view), sign) in ends.iter_mut().zip(&mut views).zip([1.0, -1.0]) {
                chart.base().restore(simulation);
                push(simulation, (row.part, place), sign * size);
                simulation.steps(period)?;
                image.read(simulation, end);
                *view = observe(simulation, rows);
            }
            push(simulation, (row.part, place), 0.0);
            for state in 0..chart.dimension() {
                b[(state, index)] = (ends[0][state] - ends[1][state]) / (2.0 * size);
            }
            for line in 0..observed {
                seen[(line, index)] = (views[0][line] - views[1][line]) / (2.0 * size);
            }
        }
        chart.base().restore(simulation);
        Ok((b, seen))
    }

    /// The recurrence with these gains: p = -K (C z + D p).
    pub fn closed(&self, rows: &Architecture, gains: &[f64]) -> Option<DMatrix<f64>> {
        let k = rows.matrix(gains);
        let size = rows.rows.len();
        let own = DMatrix::identity(size, size) + &k * &self.d;
        let feedback = own.lu().solve(&(k * &self.c))?;
        Some(&self.lambda - &self.b * feedback)
    }

    /// Where a pole of the s-plane lies for the recurrence.
    pub fn image(&self, pole: Complex<f64>) -> Complex<f64> {
        (pole * self.duration).exp()
    }

    /// The pole of the s-plane that an eigenvalue of the recurrence stands for.
    pub fn pole(&self, eigenvalue: Complex<f64>) -> Complex<f64> {
        eigenvalue.ln() / self.duration
    }
}

/// Pushes with a row of a part's compensator.
fn push(simulation: &mut Simulation, (part, row): (SubsystemId, usize), offset: f64) {
    let part = simulation.known_mut::<Compensated>(part);
    let part = part.expect("every row belongs to a compensator");
    part.push(row, offset);
}

/// Readings, then displacements at the corrected forces.
fn observe(simulation: &Simulation, rows: &Architecture) -> Vec<f64> {
    let mut seen = Vec::with_capacity(rows.unknowns() + rows.displacements.len());
    rows.readings(simulation, &mut seen);
    let displacement =
        |&(part, component): &(SubsystemId, usize)| simulation.outputs(part)[component];
    seen.extend(rows.displacements.iter().map(displacement));
    seen
}

impl Plant for Sampled {
    fn at(&self, pole: Complex<f64>) -> Option<Response> {
        let z = self.image(pole);
        let complex = |matrix: &DMatrix<f64>| matrix.map(Complex::from);
        let size = self.lambda.nrows();
        let resolvent = Matrix::identity(size, size) * z - complex(&self.lambda);
        let states = resolvent.lu().solve(&complex(&self.b))?;
        let moved = complex(&self.moved.0) * &states + complex(&self.moved.1);
        Some(Response {
            // They were looked at one step later.
            displacements: moved / z,
            readings: complex(&self.c) * states + complex(&self.d),
        })
    }
}

/// The continuous model: parts in the s-plane, every exchanged signal through its extrapolator.
pub(crate) struct Continuous<'a> {
    pub model: &'a CoupledModel,
    pub rows: &'a Architecture,
    pub extrapolator: Extrapolator,
}

impl Plant for Continuous<'_> {
    fn at(&self, pole: Complex<f64>) -> Option<Response> {
        let mut readouts = self.rows.readouts();
        let readings = readouts.len();
        let displacements = self.rows.displacements.iter();
        readouts.extend(displacements.map(|&(part, component)| Readout::Output(part, component)));
        let pushes = self.rows.pushes();
        let seen = self
            .model
            .answer(pole, self.extrapolator, &pushes, &readouts)?;
        let moved = readouts.len() - readings;
        Some(Response {
            displacements: seen.rows(readings, moved).into_owned(),
            readings: seen.rows(0, readings).into_owned(),
        })
    }
}
