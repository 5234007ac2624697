//! A mechanism alone, under the forces of a coupled run: what it holds, and what a step and an interface model of it cost.

use oldham_cosim::{
    Conjugate, Discard, EffectiveInterface, Fault, Hold, InputPort, Inputs, InterfaceResponse, Run,
    Subsystem,
};
use oldham_model::Model;
use oldham_multibody::MechanismPart;
use oldham_results::plot::{Figure, Panel, Series};
use oldham_study::StudyError;

use super::machine::{Machine, Trial};
use crate::item::{PaperError, Report};
use crate::track::Track;

/// How often what is timed is repeated; the best counts, since other load only adds time.
const REPEATS: usize = 5;

/// Forces of both cylinders in a coupled run with interface models.
struct Replay {
    model: Model,
    forces: Track,
}

impl Replay {
    fn of(machine: Machine, step: f64) -> Result<Self, PaperError> {
        let model = Trial::coarse(machine, step, "interface-model").model()?;
        let rows = (machine.duration() / step).round() as usize;
        let forces = ["oil.boom.force", "oil.stick.force"];
        let forces = Track::of(&mut model.simulation()?, &forces, rows);
        Ok(Self { model, forces })
    }

    /// Goes through it step by step. `look` is called before each step with the time, and the inputs there.
    fn run(&self, mut look: impl FnMut(&mut MechanismPart, f64, &[f64])) -> Result<(), PaperError> {
        let mechanism = self.model.mechanisms().next();
        let mechanism = mechanism.expect("each machine has one mechanism");
        let mut part = mechanism.solver().map_err(|error| StudyError::Solve {
            part: mechanism.name().into(),
            error,
        })?;
        let ports = part.ports().clone();
        let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
        let mut values = vec![0.0; ports.input_width()];
        for (n, &t) in self.forces.times.iter().enumerate().skip(1) {
            let from = self.forces.times[n - 1];
            for (port, force) in self.forces.signals.iter().enumerate() {
                inputs.receive(InputPort(port), from, &force[n - 1..n]);
            }
            inputs.at(from, &mut values);
            look(&mut part, from, &values);
            let stepped = part.advance(from, t, &mut inputs);
            stepped.map_err(|cause| Fault::Step {
                subsystem: mechanism.name().into(),
                t: from,
                cause,
            })?;
        }
        Ok(())
    }
}

/// Most joints and contacts that hold at a time.
pub(super) fn most_active_rows(machine: Machine, step: f64) -> Result<usize, PaperError> {
    let mut most = 0;
    Replay::of(machine, step)?.run(|part, _, _| most = most.max(part.system().active_rows()))?;
    Ok(most)
}

/// CPU times in s of the mechanism, on average over the steps in contact.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Of a step alone.
    pub step: f64,
    /// What finding the interface model adds to it.
    pub model: f64,
    /// Most joints and contacts that held at a time.
    pub active_rows: usize,
}

/// What steps of a machine's mechanism cost between two times, by a clock that gives seconds.
pub fn costs(
    machine: Machine,
    step: f64,
    between: [f64; 2],
    clock: &dyn Fn() -> f64,
) -> Result<Costs, PaperError> {
    let replay = Replay::of(machine, step)?;
    let (mut best, mut active_rows) = ([f64::INFINITY; 2], 0);
    for _ in 0..REPEATS {
        for (asks, best) in [false, true].into_iter().zip(&mut best) {
            let (mut start, mut count, mut spent) = (None, 0, 0.0);
            let mut found = None;
            replay.run(|part, t, values| {
                active_rows = active_rows.max(part.system().active_rows());
                if t >= between[1] {
                    if let Some(start) = start.take() {
                        spent = clock() - start;
                    }
                    return;
                }
                if t >= between[0] {
                    start.get_or_insert_with(clock);
                    count += 1;
                }
                if asks {
                    let found = found.get_or_insert_with(|| at_thrusts(part));
                    assert!(part.interface(t, values, found), "it can be told");
                }
            })?;
            *best = f64::min(*best, spent / f64::from(count));
        }
    }
    let [alone, both] = best;
    Ok(Costs {
        step: alone,
        model: both - alone,
        active_rows,
    })
}

/// All thrusts that a mechanism receives.
fn at_thrusts(part: &MechanismPart) -> EffectiveInterface {
    let ports = part.ports();
    let forces = ports.conjugates().iter().filter_map(|pair| match *pair {
        Conjugate::GivesMotion { force, .. } => Some(ports.input_range(force).start),
        _ => None,
    });
    EffectiveInterface::at(forces.collect())
}

/// The machines of Fig. 14, and when they are in contact.
pub const IN_CONTACT: [(Machine, [f64; 2]); 2] = [
    (Machine::BlockAsPrinted, [4.0, 7.0]),
    (Machine::Crane, [5.0, 7.0]),
];

pub(super) fn fig_14(report: &mut Report) -> Result<(), PaperError> {
    let start = std::time::Instant::now();
    let clock = move || start.elapsed().as_secs_f64();
    let mut figure = Figure::new("Time of a macro step");
    let names = ["mechanism", "hydraulics", "interface model"];
    for (machine, between) in IN_CONTACT {
        let label = machine.label();
        let mut panel = Panel::new("macro step / ms", format!("time / us, {label}"));
        let mut curves = [const { Vec::new() }; 3];
        for ms in [1.0, 10.0] {
            let step = 1e-3 * ms;
            let costs = costs(machine, step, between, &clock)?;
            let times = [costs.step, hydraulics(machine, step)?, costs.model];
            for ((name, time), curve) in names.iter().zip(times).zip(&mut curves) {
                let note = "wall time on this machine, in contact; the print is a picture";
                report.row(
                    format!("{label}, {ms} ms, {name}"),
                    None,
                    1e6 * time,
                    "us",
                    note,
                );
                curve.push(1e6 * time);
            }
            let share = costs.model / costs.step;
            let note = "the paper: comparable to the mechanism";
            report.row(
                format!("{label}, {ms} ms, model over step"),
                1.0,
                share,
                "1",
                note,
            );
        }
        for (name, curve) in names.iter().zip(curves) {
            panel = panel.with_series(Series::new(*name, vec![1.0, 10.0], curve));
        }
        figure = figure.with_panel(panel);
    }
    report.picture(&figure)
}

/// Mean time that the oil works in a macro step, with the integration of the model.
fn hydraulics(machine: Machine, step: f64) -> Result<f64, PaperError> {
    let mut simulation = Trial::coarse(machine, step, "interface-model")
        .model()?
        .simulation()?;
    let steps = (machine.duration() / step).round() as u64;
    let outcome = simulation.run(Run {
        record_every: u64::MAX,
        ..Run::new(steps, &mut Discard)
    });
    outcome.end?;
    let mut parts = outcome.summary.parts.iter();
    let oil = parts.find(|part| part.name == "oil");
    let time = oil.and_then(|part| part.work_us).unwrap_or(f64::NAN);
    Ok(1e-6 * time)
}
