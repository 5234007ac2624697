//! What a coupling costs: counts that are the same everywhere, times what was measured of this machine.

use oldham_cosim::{Coupling, Simulation, Stage, Summary};
use serde::Serialize;

/// What is done in each macro step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// How often every part advances.
    pub advances: f64,
    /// How often is exchanged.
    pub exchanges: f64,
    /// Macro steps in those of the model as it is.
    pub steps: f64,
    /// The time, in terms of the model as it is.
    pub relative: f64,
}

/// What an advance of all parts takes, and an exchange, in one unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// All parts, once.
    pub advance: f64,
    /// One exchange.
    pub exchange: f64,
}

/// What takes less than this many microseconds is not told apart: it is not what a run takes its time for.
const LEAST: f64 = 1.0;

/// Iterations of a macro step, on average.
fn iterations(simulation: &Simulation, summary: &Summary) -> f64 {
    let is_implicit = matches!(simulation.schedule().coupling, Coupling::Implicit(_));
    match is_implicit {
        true => (summary.iterations as f64 / summary.steps.max(1) as f64).max(1.0),
        false => 1.0,
    }
}

fn exchanges_in_a_pass(simulation: &Simulation) -> f64 {
    fn of_stages(stages: &[Stage]) -> f64 {
        let of_stage = |stage: &Stage| match stage {
            Stage::Together(_) | Stage::Corrected(_) => 1.0,
            Stage::Nested { ratio, stages } => f64::from(*ratio) * of_stages(stages),
        };
        stages.iter().map(of_stage).sum()
    }
    let schedule = simulation.schedule();
    of_stages(&schedule.stages) + f64::from(u8::from(schedule.output_update))
}

impl Cost {
    /// That of explicit coupling of parts that advance together.
    pub(super) fn unit() -> Self {
        Self {
            advances: 1.0,
            exchanges: 1.0,
            steps: 1.0,
            relative: 1.0,
        }
    }

    /// Of a simulation that has run; without its time.
    pub(super) fn counted(simulation: &Simulation, summary: &Summary) -> Self {
        let iterations = iterations(simulation, summary);
        Self {
            advances: iterations,
            exchanges: iterations * exchanges_in_a_pass(simulation),
            steps: 1.0,
            relative: f64::NAN,
        }
    }

    /// The same at these prices beside the model as it is.
    pub(super) fn at(self, prices: Prices, present: Self) -> Self {
        let time = |cost: &Self| {
            cost.steps * (cost.advances * prices.advance + cost.exchanges * prices.exchange)
        };
        Self {
            relative: time(&self) / time(&present),
            ..self
        }
    }
}

impl Prices {
    /// As the parts took them, rounded so that the next measurement gives the same.
    pub(super) fn measured(simulation: &Simulation, summary: &Summary, cost: Cost) -> Self {
        let work: f64 = summary.parts.iter().filter_map(|part| part.work_us).sum();
        let of_exchange = summary.split_us.map_or(LEAST, |[_, _, exchange]| exchange);
        let passes = exchanges_in_a_pass(simulation) * cost.advances;
        Self {
            advance: rounded(work / cost.advances),
            exchange: rounded(of_exchange / passes),
        }
    }
}

/// The nearest power of four.
fn rounded(time: f64) -> f64 {
    let power = time.max(LEAST).log(4.0).round();
    4_f64.powf(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_cost_advances_and_exchanges() {
        let prices = Prices {
            advance: 8.0,
            exchange: 2.0,
        };
        let cost = |advances, exchanges| Cost {
            advances,
            exchanges,
            steps: 1.0,
            relative: f64::NAN,
        };
        let present = cost(1.0, 1.0);
        assert_eq!(cost(3.0, 3.0).at(prices, present).relative, 3.0);
        assert_eq!(cost(1.0, 2.0).at(prices, present).relative, 1.2);
        assert_eq!([0.1, 1.2, 7.0, 9.0].map(rounded), [1.0, 1.0, 4.0, 16.0]);
    }
}
