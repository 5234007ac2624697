//! The section `[simulation]`: time.

use super::Checker;
use super::keys::all;
use crate::format::{At, Simulation};
use crate::model::Clock;

/// How far the duration may be from a whole number of steps, relative to itself.
const WHOLE: f64 = 1e-9;

/// How finely the initial time must be resolved, in steps.
const RESOLVED: f64 = 1e-3;

/// More steps than this are no simulation, and are not counted exactly by a float.
const MAX_STEPS: f64 = 1e15;

/// More steps than this are possible, but unlikely to be meant.
const MANY_STEPS: f64 = 1e10;

impl Checker<'_> {
    pub(super) fn clock(&mut self, section: Option<&At<Simulation>>) -> Option<Clock> {
        let section = &section?.value;
        let (step_at, duration_at) = (section.step.as_ref(), section.duration.as_ref());
        let step = self.required(&section.step);
        let duration = self.required(&section.duration);
        let start = self.number_or(&section.start, 0.0);
        let window = start
            .zip(duration)
            .map(|(start, duration)| [start, start + duration]);
        let events = self.events(section, window);
        let (start, step, duration) = (start?, step?, duration?);
        if step > duration {
            let message =
                format!("the step of {step} s is longer than the duration of {duration} s");
            self.report(&step_at?.span, message).label("too long");
            return None;
        }
        if f64::EPSILON * start.abs() > RESOLVED * step {
            let message = format!("at {start:e} s the clock cannot tell steps of {step} s apart");
            let at = section.start.as_ref()?.span.clone();
            self.report(&at, message)
                .label("too late")
                .help("start nearer to zero, or take larger steps");
            return None;
        }
        let steps = (duration / step).round();
        if steps > MAX_STEPS {
            let message =
                format!("{duration} s in steps of {step} s are more than {MAX_STEPS:e} steps");
            self.report(&step_at?.span, message).label("too short");
            return None;
        }
        if (steps * step - duration).abs() > WHOLE * duration {
            let below = (duration / step).floor() * step;
            let message = format!("{duration} s are no whole number of steps of {step} s");
            self.report(&duration_at?.span, message)
                .label("not a multiple of the step")
                .help(format!(
                    "the nearest durations are {below} and {}",
                    below + step
                ));
            return None;
        }
        if steps > MANY_STEPS {
            self.notes.push(format!(
                "{steps:e} macro steps take days, even of a small model: is the step of {step} s meant?"
            ));
        }
        Some(Clock {
            start,
            step,
            steps: steps as u64,
            duration,
            events: events?,
        })
    }

    fn events(&mut self, section: &Simulation, window: Option<[f64; 2]>) -> Option<Vec<f64>> {
        let [start, end] = window.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let requirement = format!("must lie between the start, {start} s, and the end, {end} s");
        let within = |time: f64| (start..=end).contains(&time);
        let times = section.events.iter();
        all(times.map(|event| self.number_where(event, within, &requirement)))
    }
}
