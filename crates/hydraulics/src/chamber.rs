//! One chamber over one step: a stiff scalar equation.
//!
//! The unknown is σ, the logarithm of the fluid's relative density: σ' = (Q(p) - V')/V with p a
//! function of σ. Inflow falls as pressure rises, so the right-hand side falls with σ, and a stage
//! σ - γ h σ' = known has exactly one solution.

use oldham_cosim::StepError;

use crate::circuit::Supply;
use crate::fluid::Fluid;
use crate::sdirk::{GAMMA, STAGES};
use crate::valve::{Flow, SafetyValves, Valve};

/// Change of σ at which a stage is solved: a tenth of a millipascal.
const TOLERANCE: f64 = 1e-13;
/// Enough for bisection alone.
const MOST_ITERATIONS: usize = 100;

/// A chamber after a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stepped {
    pub log_density: f64,
    /// Energy that came through the valve.
    pub supplied: f64,
}

/// One step from σ, with what acts at each stage.
pub(crate) fn step(
    stages: [Surroundings<'_>; 2],
    from: f64,
    size: f64,
    iterations: &mut u64,
) -> Result<Stepped, StepError> {
    let mut known = from;
    let (mut log_density, mut supplied) = (from, 0.0);
    for (around, (_, weight)) in stages.iter().zip(STAGES) {
        let rate;
        (log_density, rate) = around.stage(known, GAMMA * size, log_density, iterations)?;
        known += weight * size * rate;
        supplied += weight * size * around.supplied(log_density);
    }
    Ok(Stepped {
        log_density,
        supplied,
    })
}

/// What acts on a chamber at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'c> {
    pub fluid: &'c Fluid,
    pub valve: &'c Valve,
    pub safety: &'c SafetyValves,
    pub supply: &'c Supply,
    /// How far the ways to pump and tank are open.
    pub open: [f64; 2],
    pub volume: f64,
    /// Rate of the volume.
    pub growth: f64,
}

impl Surroundings<'_> {
    /// σ' and its derivative by σ.
    pub fn rate(&self, log_density: f64) -> (f64, f64) {
        let p = self.fluid.pressure(log_density);
        let flow = self.flow(p);
        let rate = (flow.inflow - self.growth) / self.volume;
        let slope = flow.by_pressure * self.fluid.stiffness(log_density) / self.volume;
        (rate, slope)
    }

    /// Flow through all valves.
    fn flow(&self, p: f64) -> Flow {
        let main = self.valve.flow(self.open, p, self.supply, self.fluid);
        let safety = self.safety.flow(p, self.supply);
        Flow {
            inflow: main.inflow + safety.inflow,
            by_pressure: main.by_pressure + safety.by_pressure,
        }
    }

    /// Power that the flow through the valves brings.
    fn supplied(&self, log_density: f64) -> f64 {
        let p = self.fluid.pressure(log_density);
        self.flow(p).inflow * self.fluid.enthalpy(p)
    }

    /// Solves σ - `span` σ' = `known`; `guess` is where to begin. Gives σ and σ', and adds to the
    /// iterations.
    fn stage(
        &self,
        known: f64,
        span: f64,
        guess: f64,
        iterations: &mut u64,
    ) -> Result<(f64, f64), StepError> {
        let residual = |x: f64| {
            let (rate, slope) = self.rate(x);
            (x - span * rate - known, 1.0 - span * slope)
        };
        let mut x = guess;
        let (mut r, mut slope) = residual(x);
        if !r.is_finite() {
            return Err(self.not_a_number(r, known));
        }
        // The residual grows at least as fast as x.
        let (mut low, mut high) = (x - r.abs(), x + r.abs());
        for _ in 0..MOST_ITERATIONS {
            *iterations += 1;
            if r > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let newton = x - r / slope;
            // Strictly inside, or two kinks could send it to and fro between the ends.
            let next = if low < newton && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
            let change = (next - x).abs();
            x = next;
            (r, slope) = residual(x);
            if change <= TOLERANCE * x.abs().max(1.0) {
                break;
            }
        }
        Ok((x, self.rate(x).0))
    }

    #[cold]
    fn not_a_number(&self, value: f64, log_density: f64) -> StepError {
        StepError::NotFinite {
            law: "chamber".into(),
            value,
            at: format!(
                "openings {:?}, volume {} m³, its rate {} m³/s, logarithm of density {log_density}",
                self.open, self.volume, self.growth
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUPPLY: Supply = Supply {
        pump: 7.6e6,
        tank: 1e5,
    };

    fn fluid() -> Fluid {
        Fluid::new(850.0, 6.53e-10, -1.19e-18)
    }

    fn solve(around: &Surroundings<'_>, from: f64, span: f64) -> (f64, u64) {
        let mut iterations = 0;
        let (x, _) = around.stage(from, span, from, &mut iterations).unwrap();
        (x, iterations)
    }

    #[test]
    fn every_stage_is_solved_however_stiff_it_is() {
        let (fluid, valve) = (fluid(), Valve::new(5e-4, 0.67));
        let from = fluid.log_density(3e6);
        for growth in [-0.5, -1e-3, 0.0, 1e-3, 0.5] {
            for volume in [1e-9, 1e-6, 1e-3] {
                for open in [0.0, 0.45, 1.0] {
                    for span in [1e-6, 1e-4, 1.0] {
                        let around = Surroundings {
                            fluid: &fluid,
                            valve: &valve,
                            safety: &SafetyValves::default(),
                            supply: &SUPPLY,
                            open: [open, 1.0 - open],
                            volume,
                            growth,
                        };
                        let (x, iterations) = solve(&around, from, span);
                        let (rate, slope) = around.rate(x);
                        let residual = (x - span * rate - from) / (1.0 - span * slope);
                        assert!(
                            residual.abs() < 1e-11 * x.abs().max(1.0),
                            "{around:?} {span}: {residual}"
                        );
                        assert!(iterations < MOST_ITERATIONS as u64, "{around:?} {span}");
                        assert!(fluid.pressure(x) >= 0.0);
                    }
                }
            }
        }
    }

    #[test]
    fn a_number_that_is_none_is_told() {
        let (fluid, valve) = (fluid(), Valve::new(5e-4, 0.67));
        let around = Surroundings {
            fluid: &fluid,
            valve: &valve,
            safety: &SafetyValves::default(),
            supply: &SUPPLY,
            open: [0.5; 2],
            volume: 1e-3,
            growth: f64::NAN,
        };
        let error = around.stage(0.0, 1e-4, 0.0, &mut 0).unwrap_err();
        assert!(error.to_string().contains("chamber"), "{error}");
    }
}
