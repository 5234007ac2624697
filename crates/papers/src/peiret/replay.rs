//! A mechanism alone, under the forces of a coupled run: what it holds, and what a step and an interface model of it cost.

use oldham_cosim::{
    Conjugate, EffectiveInterface, Fault, Hold, InputPort, Inputs, InterfaceResponse, Subsystem,
};
use oldham_model::Model;
use oldham_multibody::MechanismPart;
use oldham_multibody::contact::PressedContact;
use oldham_real_time::thread_cpu_seconds;
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

/// Joints and contacts that hold at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveRows {
    pub joints: usize,
    pub contacts: Vec<PressedContact>,
}

impl ActiveRows {
    pub fn count(&self) -> usize {
        let contacts = self.contacts.iter().map(|contact| contact.rows);
        self.joints + contacts.sum::<usize>()
    }

    /// Points and rows of some contacts.
    fn of(&self, counts: impl Fn(&PressedContact) -> bool) -> (usize, usize) {
        let contacts = self.contacts.iter().filter(|contact| counts(contact));
        contacts.fold((0, 0), |(points, rows), contact| {
            (points + 1, rows + contact.rows)
        })
    }

    /// Of the block, row by row.
    pub fn told(&self) -> String {
        let is_upright = |contact: &PressedContact| contact.normal[1].abs() > 0.5;
        let (floor, on_floor) = self.of(|c| c.is_on_ground && is_upright(c));
        let (wall, on_wall) = self.of(|c| c.is_on_ground && !is_upright(c));
        let (tip, on_tip) = self.of(|c| !c.is_on_ground);
        format!(
            "joints {}, {floor} points on the floor {on_floor}, {wall} on the wall {on_wall}, {tip} at the tip {on_tip}",
            self.joints
        )
    }
}

/// Most joints and contacts that hold at a time.
pub(super) fn most_active_rows(machine: Machine, step: f64) -> Result<ActiveRows, PaperError> {
    let mut most = ActiveRows::default();
    Replay::of(machine, step)?.run(|part, _, _| {
        let system = part.system();
        if system.active_rows() > most.count() {
            let contacts = system.pressed_contacts();
            let rows = contacts.iter().map(|contact| contact.rows).sum::<usize>();
            most = ActiveRows {
                joints: system.active_rows() - rows,
                contacts,
            };
        }
    })?;
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
    /// Operations of a factorisation, and of a solution with the factors.
    pub operations: (u64, u64),
}

/// What steps of a machine's mechanism cost between two times, by a clock that gives seconds.
pub fn costs(
    machine: Machine,
    step: f64,
    between: [f64; 2],
    clock: &dyn Fn() -> f64,
) -> Result<Costs, PaperError> {
    let replay = Replay::of(machine, step)?;
    let (mut best, mut active_rows, mut operations) = ([f64::INFINITY; 2], 0, (0, 0));
    for _ in 0..REPEATS {
        for (asks, best) in [false, true].into_iter().zip(&mut best) {
            let (mut start, mut count, mut spent) = (None, 0, 0.0);
            let mut found = None;
            replay.run(|part, t, values| {
                active_rows = active_rows.max(part.system().active_rows());
                if t >= between[1] {
                    operations = part.system().linear_operations();
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
        operations,
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
    let mut figure = Figure::new("Time of a macro step");
    let names = ["mechanism", "hydraulics", "interface model"];
    let mut shares = Vec::new();
    for (machine, between) in IN_CONTACT {
        let label = machine.label();
        let mut panel = Panel::new("macro step / ms", format!("time / us, {label}"));
        let mut curves = [const { Vec::new() }; 3];
        for ms in [1.0, 10.0] {
            let step = 1e-3 * ms;
            let costs = costs(machine, step, between, &thread_cpu_seconds)?;
            let oil = macro_step(machine, step, between)? - costs.step - costs.model;
            let times = [costs.step, oil, costs.model];
            for ((name, time), curve) in names.iter().zip(times).zip(&mut curves) {
                let note = match *name {
                    "hydraulics" => {
                        "CPU time of a macro step without the other two: oil, integration of the model, exchange"
                    }
                    _ => "CPU time on this machine, in contact; the print is a picture",
                };
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
            report.row(
                format!("{label}, {ms} ms, model over step"),
                None,
                share,
                "1",
                "CPU times on this machine",
            );
            shares.push(share);
        }
        for (name, curve) in names.iter().zip(curves) {
            panel = panel.with_series(Series::new(*name, vec![1.0, 10.0], curve));
        }
        figure = figure.with_panel(panel);
    }
    let most = shares.into_iter().fold(0.0, f64::max);
    let note = format!("ours costs at most {most:.2} of a step of the mechanism");
    report.statement(
        "finding the interface model costs about as much as a step of the mechanism",
        most < 1.5,
        note,
    );
    report.picture(&figure)
}

/// Mean CPU time of a macro step of everything together between two times, on one thread.
fn macro_step(machine: Machine, step: f64, between: [f64; 2]) -> Result<f64, PaperError> {
    let trial = Trial::coarse(machine, step, "interface-model");
    let model = trial.model()?;
    let [before, until] = between.map(|t| (t / step).round() as u64);
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let mut simulation = model.simulation()?;
        simulation.steps(before)?;
        let start = thread_cpu_seconds();
        simulation.steps(until - before)?;
        let spent = thread_cpu_seconds() - start;
        best = best.min(spent / (until - before) as f64);
    }
    Ok(best)
}
