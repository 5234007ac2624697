//! The equations of a stage of the integrator: x − span · x' = known, solved island by island. Several unknowns are found by
//! Newton's method all at once; a single one is kept between bounds, so that it is always found.

use oldham_cosim::StepError;
use oldham_space::solve_dense;

use crate::equations::{Island, Stage};
use crate::network::Balance;
use crate::part::{NetworkPart, Scratch};

const MOST_ITERATIONS: usize = 60;
/// Enough for bisection alone.
const MOST_BISECTIONS: usize = 100;
/// Valves that open and close in turn are brought to rest by half steps from this iteration on.
const PATIENCE: usize = 12;
/// Change at which the compression is solved for: a tenth of a millipascal; and of other unknowns, relative and in m³ or m³/s.
const TOLERANCE: f64 = 1e-13;
const RELATIVE: f64 = 1e-11;
const ABSOLUTE: f64 = 1e-15;

impl NetworkPart {
    /// Change at which an unknown counts as found.
    fn allowed(&self, unknown: usize) -> f64 {
        let x = self.x[unknown].abs();
        match self.equations.network.volumes.get(unknown) {
            Some(volume) if volume.value.balance == Balance::Volume => TOLERANCE * x.max(1.0),
            Some(_) => TOLERANCE,
            None => RELATIVE * x + ABSOLUTE,
        }
    }

    /// Rates and derivatives of an island where it is.
    pub(crate) fn evaluate(&mut self, island: &Island, span: f64) {
        let n = island.unknowns.len();
        let Scratch {
            known,
            rates,
            matrix,
            ..
        } = &mut self.scratch;
        let stage = Stage { known, span };
        let matrix = &mut matrix[..n * n];
        self.equations
            .evaluate(island, &self.x, stage, rates, matrix);
    }

    /// Solves x − span · x' = known for all unknowns.
    pub(crate) fn stage(&mut self, span: f64) -> Result<(), StepError> {
        let islands = std::mem::take(&mut self.equations.islands);
        let mut solved = Ok(());
        for island in &islands {
            solved = match island.unknowns[..] {
                [unknown] => self.solve_one(island, unknown, span),
                _ => self.solve_island(island, span),
            };
            if solved.is_err() {
                break;
            }
        }
        self.equations.islands = islands;
        self.equations.evaluate_loose();
        solved
    }

    /// The same for an island with a single unknown: what flows in falls as the pressure rises, so that its residual grows
    /// with it, and there is one solution.
    fn solve_one(&mut self, island: &Island, unknown: usize, span: f64) -> Result<(), StepError> {
        let known = self.scratch.known[unknown];
        let residual = |part: &mut Self| {
            part.evaluate(island, span);
            let rate = part.scratch.rates[unknown];
            let slope = 1.0 - span * part.scratch.matrix[0];
            (part.x[unknown] - span * rate - known, slope)
        };
        let (mut r, mut slope) = residual(self);
        if !r.is_finite() {
            return Err(self.not_finite(unknown, r));
        }
        // The residual grows at least half as fast as the unknown: density counts for less than the pressure.
        let x = self.x[unknown];
        let (mut low, mut high) = (x - 2.0 * r.abs(), x + 2.0 * r.abs());
        for _ in 0..MOST_BISECTIONS {
            self.counters.iterations += 1;
            let x = self.x[unknown];
            if r > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let newton = x - r / slope;
            let allowed = self.allowed(unknown);
            // Strictly inside, or two kinks could send it to and fro between the ends; but not where only rounding is left.
            let is_inside = low < newton && newton < high;
            let next = match is_inside || (newton - x).abs() <= allowed {
                true => newton,
                false => 0.5 * (low + high),
            };
            self.x[unknown] = next;
            let is_found = (next - x).abs() <= allowed;
            (r, slope) = residual(self);
            if is_found {
                break;
            }
        }
        Ok(())
    }

    /// The same for an island with several unknowns.
    fn solve_island(&mut self, island: &Island, span: f64) -> Result<(), StepError> {
        let n = island.unknowns.len();
        let mut worst = (0.0_f64, 0);
        for iteration in 0..MOST_ITERATIONS {
            self.evaluate(island, span);
            let Scratch {
                known,
                rates,
                right,
                matrix,
                ..
            } = &mut self.scratch;
            let (matrix, right) = (&mut matrix[..n * n], &mut right[..n]);
            for (i, &unknown) in island.unknowns.iter().enumerate() {
                right[i] = known[unknown] + span * rates[unknown] - self.x[unknown];
                for entry in &mut matrix[i * n..(i + 1) * n] {
                    *entry *= -span;
                }
                matrix[i * n + i] += 1.0;
            }
            self.counters.iterations += 1;
            self.counters.factorisations += 1;
            if !solve_dense(matrix, right) {
                return Err(self.singular(island.unknowns[0]));
            }
            let share = if iteration < PATIENCE { 1.0 } else { 0.5 };
            worst = (0.0, island.unknowns[0]);
            for (i, &unknown) in island.unknowns.iter().enumerate() {
                let change = self.scratch.right[i];
                self.x[unknown] += share * change;
                let size = change.abs() / self.allowed(unknown);
                if size > worst.0 || size.is_nan() {
                    worst = (size, unknown);
                }
            }
            if worst.0 <= 1.0 {
                self.evaluate(island, span);
                return Ok(());
            }
            if !worst.0.is_finite() {
                break;
            }
        }
        Err(StepError::NotConverged {
            iterations: MOST_ITERATIONS,
            residual: worst.0,
            worst: self.name_of(worst.1),
        })
    }

    #[cold]
    fn singular(&self, unknown: usize) -> StepError {
        StepError::Singular {
            unknown: self.name_of(unknown),
        }
    }

    #[cold]
    fn not_finite(&self, unknown: usize, value: f64) -> StepError {
        StepError::NotFinite {
            law: self.name_of(unknown),
            value,
            at: format!("inputs {:?}", self.scratch.inputs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cylinder::Cylinder;
    use crate::element::{Chambers, Element, Orifice};
    use crate::fluid::Fluid;
    use crate::network::{Named, Network, Place, Volume};

    /// Of a piston that displaces and takes no room.
    const TINY: f64 = 1e-15;

    /// A chamber between a pump, a tank and a piston that moves so fast that it grows at this rate.
    fn chamber(volume: f64, open: f64, growth: f64, span: f64) -> NetworkPart {
        let [v, pump, tank] = [Place::Volume(0), Place::Tank(0), Place::Tank(1)];
        let edge = |ends, open: f64| {
            Element::Orifice(Orifice {
                is_one_way: true,
                ..Orifice::new(ends, open * 5e-4, 0.67)
            })
        };
        let piston = Element::Chambers(Chambers {
            ends: [tank, v],
            cylinder: Cylinder::new([TINY; 2], 1.0, 1.0),
        });
        let elements = [edge([pump, v], open), edge([v, tank], 1.0 - open), piston];
        let volume = Volume {
            volume,
            pressure: 3e6,
            balance: Balance::Volume,
        };
        let mut part = NetworkPart::new(&Network::new(
            Fluid::new(850.0, 6.53e-10, -1.19e-18),
            vec![Named::new("v", volume)],
            vec![Named::new("pump", 7.6e6), Named::new("tank", 1e5)],
            elements.map(|it| Named::new("e", it)).to_vec(),
        ));
        part.equations.see(&[1.0, growth / TINY], &[]);
        part.scratch.known.copy_from_slice(&part.x);
        part.stage(span).unwrap();
        part
    }

    #[test]
    fn every_stage_of_a_chamber_is_solved_however_stiff_it_is() {
        for growth in [-0.5, -1e-3, 0.0, 1e-3, 0.5] {
            for volume in [1e-9, 1e-6, 1e-3] {
                for open in [0.0, 0.45, 1.0] {
                    for span in [1e-6, 1e-4, 1.0] {
                        let part = chamber(volume, open, growth, span);
                        let (x, Scratch { rates, matrix, .. }) = (part.x[0], &part.scratch);
                        let known = part.scratch.known[0];
                        let slope = 1.0 - span * matrix[0];
                        let residual = (x - span * rates[0] - known) / slope;
                        let what = format!("{growth} {volume} {open} {span}: {residual}");
                        assert!(residual.abs() < 1e-11 * x.abs().max(1.0), "{what}");
                        let iterations = part.counters.iterations;
                        assert!(iterations < MOST_BISECTIONS as u64, "{what}");
                        assert!(part.pressure(0) >= 0.0);
                    }
                }
            }
        }
    }
}
