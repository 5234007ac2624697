//! The time that an exchange costs.

use std::time::Instant;

use oldham_cosim::{InputPort, Ports, Predictor, Quantity, Unit};

use crate::{Dmd, DmdError, Report, Settings};

/// Exchanges between two looks at the clock.
const EXCHANGES: u32 = 5_000;
const REPETITIONS: usize = 5;

/// What a timed predictor took, and what it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Best time for an exchange (update of the model, and one prediction), in microseconds.
    pub microseconds: f64,
    /// The predictor at the end.
    pub report: Report,
}

/// Times exchanges with this many received and sent signals.
pub fn time(
    received: usize,
    sent: usize,
    settings: impl Fn(&Ports) -> Settings,
) -> Result<Timing, DmdError> {
    let mut ports = Ports::new();
    for index in 0..received {
        ports.add_input(format!("in{index}"), Quantity::Scalar(Unit::ONE));
    }
    for index in 0..sent {
        ports.add_output(format!("out{index}"), Quantity::Scalar(Unit::ONE));
    }
    let mut dmd = Dmd::new(&ports, &settings(&ports))?;
    let (mut inputs, mut outputs) = (vec![0.0; received], vec![0.0; sent]);
    let mut best = f64::INFINITY;
    let mut t = 0.0;
    for repetition in 0..=REPETITIONS {
        let started = Instant::now();
        for _ in 0..EXCHANGES {
            t += 1.0;
            for (index, output) in outputs.iter_mut().enumerate() {
                *output = tone(t, received + index);
            }
            dmd.sent(t, &outputs);
            for index in 0..received {
                dmd.receive(InputPort(index), t, &[tone(t, index)]);
            }
            dmd.predict(t + 1.0, None, &mut inputs);
        }
        // The first round fills window and caches.
        if repetition > 0 {
            let spent = started.elapsed().as_secs_f64() / f64::from(EXCHANGES);
            best = best.min(spent * 1e6);
        }
    }
    Ok(Timing {
        microseconds: best,
        report: dmd.report(),
    })
}

/// Harmonic motions in pairs of sine and cosine, each pair with its own frequency: independent
/// signals that a linear model continues.
fn tone(t: f64, index: usize) -> f64 {
    let phase = t * (0.1 + 0.07 * (index / 2) as f64);
    if index.is_multiple_of(2) {
        phase.sin()
    } else {
        phase.cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is timed is the regular work: a full window of full rank, without resets.
    #[test]
    fn the_timed_predictor_does_all_its_work() {
        let timing = time(4, 2, |_| Settings::fixed(100)).unwrap();
        let report = timing.report;
        assert_eq!((report.pairs, report.rank), (100, 7), "{report:?}");
        assert_eq!((report.resets, report.fallbacks), (0, 0), "{report:?}");
        assert!(timing.microseconds > 0.0);
    }
}
