//! From subsystems, connections and a schedule to a simulation that can run.

mod absent;
mod checks;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::abilities::StepCorrection;
use crate::balance::Interface;
use crate::dial::{Dial, ExternalInput};
use crate::exchange_buffer::Layout;
use crate::fault::{BuildError, Fault};
use crate::incoming::{IncomingConnection, IncomingConnections};
use crate::initial::INITIAL_PASSES;
use crate::inputs::Source;
use crate::port::{InputPort, OutputPort, Ports, Unit as PortUnit, component_of};
use crate::predictor::Predictor;
use crate::recorder::Column;
use crate::scale::Scale;
use crate::schedule::{Coupling, Duty, Phase, Schedule, SubsystemId, Timeline};
use crate::simulation::Simulation;
use crate::step_plan::{IteratedConnection, StepPlan};
use crate::subsystem::Subsystem;
use crate::unit::{ENERGY_CELLS, Unit, panic_message};
use absent::absent;

/// Exchanges after an event, at least.
const EVENT_PASSES: usize = 8;
/// In implicit coupling the parts solve their equations to this fraction of its tolerance.
const SHARPER_PARTS: f64 = 1e-2;

/// Collects the parts of a simulation.
///
/// ```
/// use oldham_cosim::{Builder, Hold, Ports, Quantity, Schedule};
/// # use oldham_cosim::{Inputs, Reached, StepError, Subsystem, Unit};
/// # struct Clock(Ports);
/// # impl Subsystem for Clock {
/// #     fn ports(&self) -> &Ports { &self.0 }
/// #     fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> { Ok(Reached::end(to)) }
/// #     fn outputs(&mut self, t: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> { y[0] = t; Ok(()) }
/// # }
/// # fn clock() -> Clock { let mut ports = Ports::new(); ports.add_output("t", Quantity::Scalar(Unit::SECOND)); Clock(ports) }
/// let mut builder = Builder::new();
/// let part = clock();
/// let hold = Hold::new(0, part.ports());
/// let id = builder.add("clock", Box::new(part), Box::new(hold));
/// let mut simulation = builder.build(Schedule::jacobi(0.5, [id])).unwrap();
/// simulation.step().unwrap();
/// assert_eq!(simulation.outputs(id), &[0.5]);
/// ```
#[derive(Default)]
pub struct Builder {
    pub(crate) units: Vec<Unit>,
    pub(crate) connections: Vec<PortConnection>,
    pub(crate) driven: Vec<(SubsystemId, InputPort)>,
    /// Those of them that are set from outside, in the order of each unit's external inputs.
    pub(crate) dialled: Vec<(SubsystemId, InputPort)>,
    /// Connected inputs whose work is supplied from outside.
    pub(crate) supplied: Vec<(SubsystemId, InputPort)>,
    /// Names in the results of outputs that are not called after their subsystem; without one they
    /// are not recorded.
    labels: HashMap<(SubsystemId, OutputPort), Option<String>>,
    /// Subsystems whose ports have whole names.
    named_in_full: Vec<SubsystemId>,
    /// Subsystems that panicked when they were added, and what they said. With any, nothing is built.
    panicked: Vec<(SubsystemId, String)>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PortConnection {
    pub from: (SubsystemId, OutputPort),
    pub to: (SubsystemId, InputPort),
    pub scale: Option<Scale>,
}

impl Builder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a subsystem with the predictor for its inputs. It is asked for its ports once; where it panics, it has none, and
    /// [`build`](Self::build) tells the fault.
    pub fn add(
        &mut self,
        name: &str,
        subsystem: Box<dyn Subsystem>,
        predictor: Box<dyn Predictor>,
    ) -> SubsystemId {
        let asked = AssertUnwindSafe(|| Unit::new(name, subsystem, predictor));
        let unit = catch_unwind(asked).unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            self.panicked.push((SubsystemId(self.units.len()), message));
            absent(name)
        });
        self.units.push(unit);
        SubsystemId(self.units.len() - 1)
    }

    /// Gives a subsystem its own macro step, `k` steps of the engine long. It advances over all of
    /// them at the first one, and what it sends is seen after the last one.
    pub fn every(&mut self, id: SubsystemId, k: u32) {
        self.units[id.0].every = u64::from(k);
    }

    /// Drives an input that no connection feeds.
    pub fn drive(&mut self, id: SubsystemId, port: InputPort, source: Box<dyn Source>) {
        if !self.panicked.is_empty() {
            return;
        }
        let unit = &mut self.units[id.0];
        unit.inputs.drive(&unit.ports, port, source);
        self.driven.push((id, port));
    }

    /// Lets an input that no connection feeds be set from outside while the simulation runs; it is
    /// recorded under this name.
    pub fn dial(&mut self, id: SubsystemId, port: InputPort, name: &str, initial: &[f64]) -> Dial {
        let dial = Dial::new(initial);
        if !self.panicked.is_empty() {
            return dial;
        }
        let unit = &mut self.units[id.0];
        let width = unit.ports.input_range(port).len();
        assert_eq!(initial.len(), width, "initial value of an external input");
        let input = ExternalInput::new(name, dial.clone(), width);
        unit.inputs.follow_dial(&unit.ports, port, input);
        self.driven.push((id, port));
        self.dialled.push((id, port));
        dial
    }

    /// Connects an output to an input.
    pub fn connect(&mut self, from: (SubsystemId, OutputPort), to: (SubsystemId, InputPort)) {
        self.connect_scaled(from, to, Scale::NONE);
    }

    /// Connects an output to an input that receives it with a gain and an offset. Scalars may have
    /// different units: the gain converts them.
    pub fn connect_scaled(
        &mut self,
        from: (SubsystemId, OutputPort),
        to: (SubsystemId, InputPort),
        scale: Scale,
    ) {
        let scale = Some(scale).filter(|scale| *scale != Scale::NONE);
        self.connections.push(PortConnection { from, to, scale });
    }

    /// What this input receives comes from something without energy of its own, such as a
    /// controller: its work counts as supplied from outside.
    pub fn supply(&mut self, id: SubsystemId, port: InputPort) {
        self.supplied.push((id, port));
    }

    /// Calls an output otherwise in the results than `subsystem.port`, or leaves it out of them.
    pub fn record_as(&mut self, output: (SubsystemId, OutputPort), name: Option<&str>) {
        self.labels.insert(output, name.map(Into::into));
    }

    /// The ports of a subsystem have whole names: that of the subsystem is not put before them.
    pub fn ports_are_named_in_full(&mut self, id: SubsystemId) {
        self.named_in_full.push(id);
    }

    /// The ports of a subsystem.
    pub fn ports(&self, id: SubsystemId) -> &Ports {
        &self.units[id.0].ports
    }

    /// Checks everything, lays out the exchange buffer and does the exchange at the initial time.
    pub fn build(mut self, schedule: Schedule) -> Result<Simulation, Vec<BuildError>> {
        let mut errors = self.panics(schedule.start);
        if !errors.is_empty() {
            return Err(errors);
        }
        self.check_names(&mut errors);
        self.check_connections(&mut errors);
        self.check_schedule(&schedule, &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let unresolved = |cycle| vec![BuildError::AlgebraicLoop(cycle)];
        let (updates, output_update_passes) = self.output_updates(&schedule).map_err(unresolved)?;
        let initial = |fault| vec![BuildError::Initial(fault)];
        self.prepare_parts(&schedule).map_err(initial)?;
        let interfaces = self.find_interfaces();
        let without_energy_balance = self.without_energy_balance(&interfaces);
        self.track_work_of_drives(schedule.start).map_err(initial)?;
        let mut layout = Layout::default();
        let timeline = Timeline::unroll(&schedule.stages);
        let sends = timeline.phases.iter().map(|phase| {
            let advances = |id| phase.members.contains(&SubsystemId(id));
            (0..self.units.len()).map(advances).collect()
        });
        let sends: Vec<Vec<bool>> = sends.collect();
        let (stride, iterated) = self.lay_out(&mut layout, &sends, &updates);
        let energies = self.energy_places(schedule.start).map_err(initial)?;
        let works = interfaces
            .iter()
            .map(|i| i.sides.map(|s| self.work_place(s)));
        let works = works.collect();
        let (columns, output_places) = self.columns(&interfaces, energies.is_some());
        let plan = StepPlan {
            recomputes_work: self.work_recomputed(&timeline),
            steps_join: output_update_passes == 0 && self.steps_join(&timeline),
            sends,
            every: self.units.iter().map(|unit| unit.every).collect(),
            has_slow: self.units.iter().any(|unit| unit.every > 1),
            updates,
            event_passes: self.event_passes(&schedule),
            schedule,
            timeline,
            output_update_passes,
            stride,
            iterated,
            without_energy_balance,
            interfaces,
            works,
            energies,
            columns,
            output_places,
        };
        Simulation::start(self.units, plan, layout.exchange()).map_err(initial)
    }

    /// Tells the parts what the schedule expects of them, and asks them how it repeats.
    fn prepare_parts(&mut self, schedule: &Schedule) -> Result<(), Fault> {
        for id in schedule.corrected() {
            self.units[id.0].asked(schedule.start, |part| {
                part.step_correction()
                    .map(StepCorrection::expect_correction)
            })?;
        }
        for unit in &mut self.units {
            unit.pattern = unit.asked(schedule.start, |part| part.pattern())?;
            if let Coupling::Implicit(implicit) = &schedule.coupling {
                // What a part leaves unsolved looks to the iteration like a change of its outputs.
                let relative = SHARPER_PARTS * implicit.relative;
                unit.asked(schedule.start, |part| {
                    part.accuracy().map(|part| part.require_accuracy(relative))
                })?;
            }
        }
        Ok(())
    }

    /// Exchanges after an event: one more than the longest chain of direct feedthrough, and for
    /// loops as many as at the initial time.
    fn event_passes(&self, schedule: &Schedule) -> usize {
        if schedule.events.is_empty() {
            return 0;
        }
        let depth = self.feedthrough_depth();
        depth.map_or(INITIAL_PASSES, |depth| EVENT_PASSES.max(depth + 1))
    }

    /// Whether those who advance first in a step can begin it without what the last phase of the
    /// step before sends. What that phase sends is then taken after the first barrier of the new
    /// step, so that its senders must not send in the phase after that, into the same buffer.
    fn steps_join(&self, timeline: &Timeline) -> bool {
        let [first, second, .., last] = &timeline.phases[..] else {
            return false;
        };
        let waits = |c: &PortConnection| {
            last.members.contains(&c.from.0) && first.members.contains(&c.to.0)
        };
        let sends_again = |id: &SubsystemId| second.members.contains(id);
        // What the phase before the last has sent is taken while others begin the next step: its senders
        // must not send in that step's first phase, into the same buffer.
        let before = &timeline.phases[timeline.phases.len() - 2];
        let overwrites = |id: &SubsystemId| first.members.contains(id);
        self.units.iter().all(|unit| unit.every == 1)
            && !self.connections.iter().any(waits)
            && !last.members.iter().any(sends_again)
            && !before.members.iter().any(overwrites)
    }

    /// Who has used what is corrected in each phase, by having advanced after the sender.
    fn work_recomputed(&self, timeline: &Timeline) -> Vec<Vec<bool>> {
        let advances = |id: SubsystemId| {
            let mut phases = timeline.phases.iter();
            phases.position(|phase| phase.duty == Duty::Advance && phase.members.contains(&id))
        };
        let uses = |phase: &Phase, id: SubsystemId| {
            let corrects = |c: &&PortConnection| c.to.0 == id && phase.members.contains(&c.from.0);
            let mut corrected = self.connections.iter().filter(corrects);
            phase.duty == Duty::Correct
                && !phase.members.contains(&id)
                && corrected.any(|c| advances(c.from.0) < advances(id))
        };
        let everybody = || (0..self.units.len()).map(SubsystemId);
        let phases = timeline.phases.iter();
        phases
            .map(|phase| everybody().map(|id| uses(phase, id)).collect())
            .collect()
    }

    /// The name of an output, as `subsystem.port`.
    pub fn output_name(&self, (id, port): (SubsystemId, OutputPort)) -> String {
        let port = self.ports(id).outputs().get(port.0);
        self.qualified(id, port.map_or("", |port| &port.name))
    }

    /// What an output is called in the results, if it is recorded.
    fn column_name(&self, output: (SubsystemId, OutputPort)) -> Option<String> {
        if !self.ports(output.0).is_recorded(output.1) {
            return None;
        }
        match self.labels.get(&output) {
            Some(label) => label.clone(),
            None => Some(self.output_name(output)),
        }
    }

    fn input_name(&self, (id, port): (SubsystemId, InputPort)) -> String {
        self.qualified(id, &self.ports(id).inputs()[port.0].name)
    }

    fn qualified(&self, id: SubsystemId, port: &str) -> String {
        match &*self.units[id.0].name {
            "" => port.into(),
            _ if self.named_in_full.contains(&id) => port.into(),
            subsystem => format!("{subsystem}.{port}"),
        }
    }

    /// Gives every unit and connection its places in the exchange buffer.
    fn lay_out(
        &mut self,
        layout: &mut Layout,
        sends: &[Vec<bool>],
        updates: &[bool],
    ) -> (usize, Vec<IteratedConnection>) {
        for unit in &mut self.units {
            let width = unit.ports.output_width();
            let versions = unit.seldom.count();
            unit.places.outputs = layout.claim(width + 1 + versions).start;
            layout.separate();
        }
        // The second buffer repeats the first.
        let stride = layout.claim(0).start;
        layout.claim(stride);
        for unit in &mut self.units {
            unit.told_balance = vec![0.0; unit.interface_works.len() + ENERGY_CELLS];
            unit.places.stride = stride;
            unit.places.report = layout.claim(unit.report_width()).start;
            layout.separate();
        }
        let mut iterated = Vec::new();
        let mut incoming: Vec<Vec<IncomingConnection>> =
            self.units.iter().map(|_| Vec::new()).collect();
        for &PortConnection { from, to, scale } in &self.connections {
            let outputs = self.units[from.0.0].places.outputs;
            let ports = &self.units[from.0.0].ports;
            let quantity = &ports.outputs()[from.1.0].quantity;
            let width = quantity.width();
            let sent = outputs + ports.output_range(ports.sent_for(from.1)).start;
            let event = outputs + ports.output_width();
            let iterate = layout.claim(width).start;
            let is_held = ports.is_held(from.1);
            let seldom = self.units[from.0.0].seldom.place(from.1);
            let seldom = seldom.map(|place| event + 1 + place);
            iterated.push(IteratedConnection {
                name: self.output_name(from),
                sender: from.0,
                sent,
                iterate,
                width,
                components: (0..width).map(|c| quantity.component_name(c)).collect(),
                units: (0..width).map(|c| quantity.component_unit(c)).collect(),
            });
            let receiver = &mut self.units[to.0.0];
            let version = seldom.map(|place| (place, receiver.known.add()));
            let input = receiver.ports.input_range(to.1);
            if is_held {
                receiver.inputs.hold(&receiver.ports, to.1);
            }
            incoming[to.0.0].push(IncomingConnection {
                sender: from.0,
                every: self.units[from.0.0].every,
                port: to.1,
                input,
                sent,
                iterate,
                event,
                version,
                scale,
            });
        }
        for (place, incoming) in incoming.into_iter().enumerate() {
            let incoming = IncomingConnections::new(incoming, sends, updates);
            self.units[place].incoming = Arc::new(incoming);
        }
        (stride, iterated)
    }

    fn work_place(&self, (unit, work_index): (usize, usize)) -> usize {
        let unit = &self.units[unit];
        unit.places.report + unit.visible_outputs().len() + work_index
    }

    /// Where the parts tell their energies, if all of them do.
    fn energy_places(&mut self, t: f64) -> Result<Option<Vec<usize>>, Fault> {
        let mut places = Some(Vec::new());
        for unit in &mut self.units {
            let energy = unit.guarded(t, |unit| Ok(unit.energy(t)))?;
            let place =
                unit.places.report + unit.visible_outputs().len() + unit.interface_works.len();
            places = places.filter(|_| energy.is_some());
            places.iter_mut().for_each(|places| places.push(place));
        }
        Ok(places)
    }

    fn columns(&self, interfaces: &[Interface], energy: bool) -> (Vec<Column>, Vec<usize>) {
        let (mut columns, mut places) = (Vec::new(), Vec::new());
        for (index, unit) in self.units.iter().enumerate() {
            let ports = &unit.ports;
            for (port, output) in ports.outputs().iter().enumerate() {
                let port = OutputPort(port);
                let Some(name) = self.column_name((SubsystemId(index), port)) else {
                    continue;
                };
                for (component, offset) in ports.output_range(port).enumerate() {
                    let inner = output.quantity.component_name(component);
                    columns.push(Column {
                        name: component_of(&name, &inner),
                        unit: output.quantity.component_unit(component),
                    });
                    places.push(unit.places.report + offset);
                }
            }
        }
        for (index, unit) in self.units.iter().enumerate() {
            let own = self.dialled.iter().filter(|(id, _)| id.0 == index);
            let mut place = unit.places.report + unit.report_width();
            let external: Vec<_> = unit.inputs.external().collect();
            place -= external
                .iter()
                .map(|input| input.held().len())
                .sum::<usize>();
            for ((_, port), input) in own.zip(external) {
                let quantity = &unit.ports.inputs()[port.0].quantity;
                for component in 0..quantity.width() {
                    columns.push(Column {
                        name: component_of(&input.name, &quantity.component_name(component)),
                        unit: quantity.component_unit(component),
                    });
                    places.push(place);
                    place += 1;
                }
            }
        }
        let joule = |name: String| Column {
            name,
            unit: PortUnit::JOULE,
        };
        columns.extend(
            interfaces
                .iter()
                .map(|i| joule(format!("exchange.{}", i.name))),
        );
        if energy {
            columns.extend(ENERGY_COLUMNS.map(|name| joule(name.into())));
        }
        (columns, places)
    }
}

/// Recorded energies of the whole model, where every part knows its own.
pub(crate) const ENERGY_COLUMNS: [&str; 4] = [
    "energy.total",
    "energy.dissipated",
    "energy.supplied",
    "energy.imbalance",
];
