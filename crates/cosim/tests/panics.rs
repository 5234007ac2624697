//! A panic, in whatever method of whatever others implement, and however many threads run, is a fault: it
//! never hangs a run, and it never takes the program down.

mod support;
#[path = "support/telltale.rs"]
mod telltale;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use oldham_cosim::{
    Accuracy, BuildError, Builder, CheckpointError, Clock, Counters, Decorator, EffectiveInterface,
    Energy, EnergyBalance, Fault, ForeignState, Hold, ImplicitSettings, InputCorrection,
    InputLayer, InputPort, Inputs, InterfaceResponse, Linearisable, Linearisation, OutputPort,
    Pacing, Ports, Predictor, Reached, Recorder, Remote, Replay, Run, Schedule, SequenceModel,
    Simulation, Source, Stage, State, StepCorrection, StepError, Subsystem, SubsystemId, Switches,
    Tap, Ticket, TwoStep, Visitor,
};
use support::Oscillator;

/// When the engine calls a method.
#[derive(Clone, Copy)]
enum Call {
    /// In a run.
    Run,
    /// When a simulation is built.
    Build,
    /// When an analysis asks.
    Analysis(fn(&mut Simulation) -> Result<(), Fault>),
    /// Never: only parts around a part do, in methods of their own.
    Never,
}
use Call::{Analysis, Build, Never, Run as InRun};

/// Every method of the traits that others implement, and of the functions that they hand over. After a
/// comma: who is asked, where several are.
const METHODS: [(&str, Call); 61] = [
    ("Subsystem::ports", Build),
    ("Subsystem::advance", InRun),
    ("Subsystem::outputs", InRun),
    ("Subsystem::some_outputs", InRun),
    ("Subsystem::version", InRun),
    ("Subsystem::version, added", Build),
    ("Subsystem::restart", InRun),
    ("Subsystem::work", InRun),
    ("Subsystem::counters", InRun),
    ("Subsystem::pattern", Build),
    ("Subsystem::switches", Analysis(find_switches)),
    ("Subsystem::state", InRun),
    ("Subsystem::energy_balance", InRun),
    ("Subsystem::step_correction", InRun),
    ("Subsystem::input_correction", InRun),
    ("Subsystem::input_correction, added", Build),
    ("Subsystem::accuracy", Build),
    ("Subsystem::linearisable", Analysis(linearise)),
    ("Subsystem::interface_response", Never),
    ("Subsystem::remote", Build),
    ("Remote::begin", InRun),
    ("Subsystem::replay", Analysis(replay)),
    ("Replay::by_replay", Analysis(replay)),
    ("EnergyBalance::energy", InRun),
    ("EnergyBalance::supply", Build),
    ("StepCorrection::expect_correction", Build),
    ("StepCorrection::correct", InRun),
    ("InputCorrection::begin_step", InRun),
    ("InputCorrection::correct_inputs", InRun),
    ("Accuracy::require_accuracy", Build),
    ("Accuracy::sharpen", Analysis(Simulation::sharpen)),
    ("Linearisable::linearise", Analysis(linearise)),
    ("Linearisable::not_linear", Analysis(ask_why)),
    ("Linearisable::state_names", Analysis(name_states)),
    ("Linearisable::sequence_model", Analysis(model_sequence)),
    ("InterfaceResponse::interface", Never),
    ("InterfaceResponse::momentum_formula", Never),
    ("State::visit", InRun),
    ("State::visit, predictor", InRun),
    ("State::visit, source", InRun),
    ("State::is_chartable", Analysis(find_chart)),
    ("ForeignState::ticket", InRun),
    ("ForeignState::return_to", InRun),
    ("ForeignState::can_be_kept", Analysis(keep)),
    ("ForeignState::keep", Analysis(keep)),
    ("ForeignState::take", Analysis(keep)),
    ("Predictor::predict", InRun),
    ("Predictor::receive", InRun),
    ("Predictor::sent", InRun),
    ("Predictor::reset", InRun),
    ("Predictor::note", InRun),
    ("Source::value", InRun),
    ("Source::origin", InRun),
    ("Source::state", InRun),
    ("InputLayer::answer", InRun),
    ("InputLayer::follows_own_motion", InRun),
    ("Recorder::record", InRun),
    ("Recorder::record, first row", InRun),
    ("Recorder::record, tap", InRun),
    ("Clock::now", InRun),
    ("Clock::wait_until", InRun),
];

/// What is asked only of parts that take every step: for iterations, corrections and beginning together.
const NOT_SLOW: [&str; 7] = [
    "ForeignState::",
    "Remote::",
    "State::visit",
    "Subsystem::state",
    "Source::state",
    "StepCorrection::",
    "Subsystem::step_correction",
];

/// The methods of a trait that only the engine implements, of one that hands methods of this table through, and of the one by
/// which processes meet: what fails there ends all of them (`Ranks::abort`), since the others would wait for ever.
const OF_THE_ENGINE: [&str; 3] = ["Visitor::", "Decorator::", "Ranks::"];

const ROTTEN: SubsystemId = SubsystemId(3);

fn linearise(simulation: &mut Simulation) -> Result<(), Fault> {
    simulation.linearise(ROTTEN).map(drop)
}

fn ask_why(simulation: &mut Simulation) -> Result<(), Fault> {
    simulation.not_linear(ROTTEN).map(drop)
}

fn name_states(simulation: &mut Simulation) -> Result<(), Fault> {
    simulation.state_names(ROTTEN).map(drop)
}

fn model_sequence(simulation: &mut Simulation) -> Result<(), Fault> {
    simulation.sequence_model(ROTTEN).map(drop)
}

fn find_switches(simulation: &mut Simulation) -> Result<(), Fault> {
    simulation.switches().map(drop)
}

fn find_chart(simulation: &mut Simulation) -> Result<(), Fault> {
    simulation.part_without_chart().map(drop)
}

/// Looks for parts that must be made anew.
fn replay(simulation: &mut Simulation) -> Result<(), Fault> {
    simulation.allow_replays().map(|_| ())
}

/// To a checkpoint and back.
fn keep(simulation: &mut Simulation) -> Result<(), Fault> {
    let kept = simulation.checkpoint("model");
    let back = kept.and_then(|kept| simulation.restore(&kept, "model"));
    match back {
        Err(CheckpointError::Panic(fault)) => Err(fault),
        other => panic!("{other:?}"),
    }
}

/// What a decorator does not hand through unless it says so: what stands between a part and its inputs must stand there
/// when it begins, too.
const NOT_HANDED_THROUGH: [&str; 2] = ["Subsystem::remote", "Remote::begin"];

const RIPE: f64 = 0.0205;

/// Panics in one method, once a time has come.
#[derive(Clone, Copy)]
struct Rot {
    method: &'static str,
    now: f64,
    ripe: f64,
}

impl Rot {
    fn new(method: &'static str, call: Call) -> Self {
        let method = method.trim_end_matches(", added");
        let ripe = match call {
            Call::Build => f64::NEG_INFINITY,
            _ => RIPE,
        };
        Self {
            method,
            now: 0.0,
            ripe,
        }
    }

    fn look(&self, method: &str) {
        assert!(self.method != method || !self.is_ripe(), "out of luck");
    }

    fn is_ripe(&self) -> bool {
        self.now >= self.ripe
    }

    fn is(&self, methods: &[&str]) -> bool {
        methods.contains(&self.method)
    }

    /// What makes the engine ask for a name: a value that is not finite.
    fn spoil(&self, method: &str, values: &mut [f64]) {
        if self.method == method && self.is_ripe() {
            values.fill(f64::NAN);
        }
    }
}

/// An oscillator that panics in one of its methods.
struct Rotten {
    inner: Oscillator,
    rot: Rot,
}

impl State for Rotten {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.rot.look("State::visit");
        self.inner.visit(visitor);
        if self.rot.method.starts_with("ForeignState::") {
            visitor.foreign(self);
        }
    }
    fn is_chartable(&mut self) -> bool {
        self.rot.look("State::is_chartable");
        true
    }
}

impl ForeignState for Rotten {
    fn ticket(&mut self) -> Ticket {
        self.rot.look("ForeignState::ticket");
        Arc::new(())
    }
    fn return_to(&mut self, _: &Ticket) {
        self.rot.look("ForeignState::return_to");
    }
    fn can_be_kept(&self) -> bool {
        self.rot.look("ForeignState::can_be_kept");
        true
    }
    fn keep(&mut self, _: &mut Vec<u64>) {
        self.rot.look("ForeignState::keep");
    }
    fn take(&mut self, _: &[u64]) {
        self.rot.look("ForeignState::take");
    }
}

impl Subsystem for Rotten {
    fn ports(&self) -> &Ports {
        self.rot.look("Subsystem::ports");
        self.inner.ports()
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        self.rot.now = to;
        self.rot.look("Subsystem::advance");
        let is_layered = self.rot.method.starts_with("InputLayer::");
        if is_layered {
            inputs.lend(Box::new(RottenLayer(self.rot)));
            inputs.follow_own_motion();
        }
        let reached = self.inner.advance(from, to, inputs);
        inputs.take_back::<RottenLayer>();
        reached
    }
    fn outputs(&mut self, t: f64, u: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        self.rot.look("Subsystem::outputs");
        self.inner.outputs(t, u, y)
    }
    fn some_outputs(
        &mut self,
        _: &[OutputPort],
        t: f64,
        u: &[f64],
        y: &mut [f64],
    ) -> Result<(), StepError> {
        self.rot.look("Subsystem::some_outputs");
        self.inner.outputs(t, u, y)
    }
    fn version(&self, output: OutputPort) -> Option<u64> {
        self.rot.look("Subsystem::version");
        let is_asked = self.rot.is(&["Subsystem::version"]) && output == OutputPort(0);
        is_asked.then_some(self.rot.now.to_bits())
    }
    fn restart(&mut self) {
        self.rot.look("Subsystem::restart");
        self.inner.restart();
    }
    fn work(&self) -> f64 {
        self.rot.look("Subsystem::work");
        1.0
    }
    fn counters(&self) -> Counters {
        self.rot.look("Subsystem::counters");
        Counters::default()
    }
    fn pattern(&self) -> u64 {
        self.rot.look("Subsystem::pattern");
        1
    }
    fn switches(&mut self, _: f64, _: &[f64], _: &mut Switches) {
        self.rot.look("Subsystem::switches");
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        self.rot.look("Subsystem::state");
        if self.rot.is(&["Replay::by_replay"]) {
            return None;
        }
        Some(self)
    }
    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        self.rot.look("Subsystem::energy_balance");
        Some(self)
    }
    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        self.rot.look("Subsystem::step_correction");
        Some(self)
    }
    fn input_correction(&mut self) -> Option<&mut dyn InputCorrection> {
        self.rot.look("Subsystem::input_correction");
        let corrects = self.rot.is(&[
            "Subsystem::input_correction",
            "InputCorrection::begin_step",
            "InputCorrection::correct_inputs",
        ]);
        corrects.then_some(self as &mut dyn InputCorrection)
    }
    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        self.rot.look("Subsystem::accuracy");
        Some(self)
    }
    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        self.rot.look("Subsystem::linearisable");
        Some(self)
    }
    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        self.rot.look("Subsystem::interface_response");
        Some(self)
    }
    fn remote(&mut self) -> Option<&mut dyn Remote> {
        self.rot.look("Subsystem::remote");
        Some(self)
    }
    fn replay(&mut self) -> Option<&mut dyn Replay> {
        self.rot.look("Subsystem::replay");
        Some(self)
    }
}

impl Replay for Rotten {
    fn by_replay(&mut self) -> Result<(), String> {
        self.rot.look("Replay::by_replay");
        Ok(())
    }
}

impl Remote for Rotten {
    fn begin(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<(), StepError> {
        self.rot.now = to;
        self.rot.look("Remote::begin");
        Ok(())
    }
}

impl EnergyBalance for Rotten {
    fn energy(&mut self, t: f64, u: &[f64]) -> Energy {
        self.rot.look("EnergyBalance::energy");
        self.inner.energy(t, u)
    }
    fn supply(&mut self, _: &[InputPort]) -> Vec<InputPort> {
        self.rot.look("EnergyBalance::supply");
        Vec::new()
    }
}

impl StepCorrection for Rotten {
    fn expect_correction(&mut self) {
        self.rot.look("StepCorrection::expect_correction");
    }
    fn correct(&mut self, _: f64, _: &[f64]) -> Result<(), StepError> {
        self.rot.look("StepCorrection::correct");
        Ok(())
    }
}

impl InputCorrection for Rotten {
    fn begin_step(&mut self, _: f64, _: &mut Inputs) -> Result<(), StepError> {
        self.rot.look("InputCorrection::begin_step");
        Ok(())
    }
    fn correct_inputs(&mut self, _: f64, _: &mut [f64]) {
        self.rot.look("InputCorrection::correct_inputs");
    }
}

impl Accuracy for Rotten {
    fn require_accuracy(&mut self, _: f64) {
        self.rot.look("Accuracy::require_accuracy");
    }
    fn sharpen(&mut self) {
        self.rot.look("Accuracy::sharpen");
    }
}

impl Linearisable for Rotten {
    fn linearise(&mut self, _: f64, _: &[f64]) -> Option<Linearisation> {
        self.rot.look("Linearisable::linearise");
        None
    }
    fn not_linear(&mut self) -> Option<String> {
        self.rot.look("Linearisable::not_linear");
        None
    }
    fn state_names(&mut self) -> Vec<String> {
        self.rot.look("Linearisable::state_names");
        Vec::new()
    }
    fn sequence_model(&mut self, _: f64, _: f64, _: &[f64]) -> Option<SequenceModel> {
        self.rot.look("Linearisable::sequence_model");
        None
    }
}

impl InterfaceResponse for Rotten {
    fn interface(&mut self, _: f64, _: &[f64], _: &mut EffectiveInterface) -> bool {
        self.rot.look("InterfaceResponse::interface");
        false
    }
    fn momentum_formula(&self) -> Option<TwoStep> {
        self.rot.look("InterfaceResponse::momentum_formula");
        None
    }
}

struct RottenLayer(Rot);

impl InputLayer for RottenLayer {
    fn answer(&mut self, outer: &mut Inputs, t: f64, _: Option<&[f64]>, inputs: &mut [f64]) {
        self.0.look("InputLayer::answer");
        outer.at(t, inputs);
    }
    fn follows_own_motion(&self) -> bool {
        self.0.look("InputLayer::follows_own_motion");
        false
    }
}

struct RottenHold(Hold, Rot);

impl State for RottenHold {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.1.look("State::visit, predictor");
        self.0.visit(visitor);
    }
}

impl Predictor for RottenHold {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        self.1.now = t;
        self.1.look("Predictor::receive");
        self.0.receive(port, t, values);
    }
    fn sent(&mut self, _: f64, _: &[f64]) {
        self.1.look("Predictor::sent");
    }
    fn predict(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        self.1.now = t;
        self.1.look("Predictor::predict");
        self.0.predict(t, now, inputs);
    }
    fn reset(&mut self) {
        self.1.look("Predictor::reset");
        self.0.reset();
    }
    fn note(&self) -> Option<String> {
        self.1.look("Predictor::note");
        None
    }
}

struct RottenSource(Rot);

impl State for RottenSource {
    fn visit(&mut self, _: &mut dyn Visitor) {
        self.0.look("State::visit, source");
    }
}

impl Source for RottenSource {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        self.0.now = t;
        self.0.look("Source::value");
        out.fill(0.0);
        self.0.spoil("Source::origin", out);
    }
    fn origin(&self) -> Option<&str> {
        self.0.look("Source::origin");
        None
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        self.0.look("Source::state");
        Some(self)
    }
}

/// Panics with its first row, or when the time has come.
struct RottenRecorder(Rot, &'static str);

impl Recorder for RottenRecorder {
    fn record(&mut self, t: f64, _row: &[f64]) -> std::io::Result<()> {
        let is_recorder = self.1 == "Recorder::record";
        assert!(
            !is_recorder || self.0.method != "Recorder::record, first row",
            "out of luck"
        );
        self.0.now = t;
        self.0.look(self.1);
        Ok(())
    }
}

/// A clock that jumps to what it is asked to wait for, and panics after some looks.
struct RottenClock {
    time: AtomicU64,
    looks: AtomicU64,
    rot: Rot,
}

impl RottenClock {
    fn look(&self, method: &str) {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        assert!(self.rot.method != method || looks < 40, "out of luck");
    }
}

impl Clock for RottenClock {
    fn now(&self) -> Duration {
        self.look("Clock::now");
        Duration::from_nanos(self.time.load(Ordering::Relaxed))
    }
    fn wait_until(&self, time: Duration) {
        self.look("Clock::wait_until");
        let time = time.as_nanos() as u64;
        self.time.fetch_max(time, Ordering::Relaxed);
    }
}

/// Stands around another subsystem and says nothing itself.
struct Plain(Box<dyn Subsystem>);

impl Decorator for Plain {
    fn inner(&self) -> &dyn Subsystem {
        &*self.0
    }
    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.0
    }
}

/// Four parts in two pairs, of which the last one or the one before is rotten.
fn simulation(
    method: &'static str,
    call: Call,
    every: u32,
    is_decorated: bool,
) -> Result<Simulation, Vec<BuildError>> {
    let rot = Rot::new(method, call);
    let mut builder = Builder::new();
    let mut ids = Vec::new();
    // Some of the outputs are asked for where a force is given.
    let rotten = if rot.is(&["Subsystem::some_outputs"]) {
        2
    } else {
        3
    };
    for index in 0..4 {
        let owns_spring = index % 2 == 0;
        let part = Oscillator::new(1.0, 100.0, 1.0, owns_spring.then_some(70.0));
        let hold = Hold::new(1, part.ports());
        ids.push(if index == rotten {
            let mut part: Box<dyn Subsystem> = Box::new(Rotten { inner: part, rot });
            if is_decorated {
                part = Box::new(Plain(part));
            }
            builder.add("rotten", part, Box::new(RottenHold(hold, rot)))
        } else {
            builder.add(&format!("p{index}"), Box::new(part), Box::new(hold))
        });
    }
    builder.every(ids[rotten], every);
    let is_driven = method.starts_with("Source::")
        || rot.is(&["State::visit, source", "EnergyBalance::supply"]);
    for pair in ids.chunks(2) {
        builder.connect((pair[1], OutputPort(0)), (pair[0], InputPort(0)));
        if pair[1] != ids[3] || !is_driven {
            builder.connect((pair[0], OutputPort(1)), (pair[1], InputPort(0)));
        }
    }
    if is_driven {
        builder.drive(ids[3], InputPort(0), Box::new(RottenSource(rot)));
    }
    let mut schedule = Schedule::jacobi(1e-3, ids.clone()).with_output_update();
    // State is saved and restored within steps of implicit coupling, which requires accuracy.
    let is_implicit = method.starts_with("State::visit")
        || rot.is(&[
            "ForeignState::ticket",
            "ForeignState::return_to",
            "Subsystem::state",
            "Source::state",
            "Subsystem::accuracy",
            "Accuracy::require_accuracy",
        ]);
    if is_implicit {
        schedule.output_update = false;
        schedule = schedule.implicit(ImplicitSettings::default());
    }
    if method.starts_with("StepCorrection::") || rot.is(&["Subsystem::step_correction"]) {
        schedule.stages.push(Stage::Corrected(vec![ids[3]]));
    }
    schedule.events = vec![RIPE];
    builder.build(schedule)
}

/// Builds, runs or analyses with that many threads, and gives the fault that must come of it.
fn outcome(
    method: &'static str,
    call: Call,
    every: u32,
    threads: usize,
    is_decorated: bool,
) -> Result<(), Fault> {
    let built = simulation(method, call, every, is_decorated);
    let mut simulation = match (built, call) {
        (Ok(simulation), _) => simulation,
        (Err(mut errors), Call::Build) => match errors.pop() {
            Some(BuildError::Initial(fault)) => return Err(fault),
            other => panic!("{method}: {other:?}"),
        },
        (Err(errors), _) => panic!("{method}: {errors:?}"),
    };
    let rot = Rot::new(method, call);
    let mut recorder = RottenRecorder(rot, "Recorder::record");
    let mut onlooker = RottenRecorder(rot, "Recorder::record, tap");
    let mut run = Run::new(100, &mut recorder);
    run.tap = Some(Tap {
        every: 3,
        columns: None,
        recorder: &mut onlooker,
    });
    run.threads = threads;
    run.energy_bound = Some(100.0);
    if method.starts_with("Clock::") {
        let mut pacing = Pacing::new(1.0);
        pacing.clock = Arc::new(RottenClock {
            time: AtomicU64::new(0),
            looks: AtomicU64::new(0),
            rot,
        });
        run.pace = Some(pacing);
    }
    let ran = simulation.run(run).end.map(drop);
    match call {
        Call::Analysis(ask) => {
            ran?;
            ask(&mut simulation)
        }
        _ => ran,
    }
}

/// On a thread of its own, so that a run that hangs fails instead of hanging the test.
fn fault(
    method: &'static str,
    call: Call,
    every: u32,
    threads: usize,
    is_decorated: bool,
) -> Result<(), String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = send.send(outcome(method, call, every, threads, is_decorated));
    });
    let end = receive.recv_timeout(Duration::from_secs(60));
    let found = match end {
        Ok(Ok(())) => "is no fault".into(),
        Ok(Err(fault)) => fault.to_string(),
        Err(mpsc::RecvTimeoutError::Timeout) => "hangs".into(),
        Err(mpsc::RecvTimeoutError::Disconnected) => "takes the program down".into(),
    };
    let blamed = match method.split("::").next() {
        Some("Recorder" | "Clock") => "recording or reporting panicked at t = 0",
        _ => "`rotten` panicked at t = 0",
    };
    match found.starts_with(blamed) && found.contains("out of luck") {
        true => Ok(()),
        false => Err(format!(
            "{method} with {threads} threads, every {every}, decorated {is_decorated}: {found}"
        )),
    }
}

#[test]
fn a_panic_in_any_method_is_a_fault_with_any_number_of_threads() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut wrong = Vec::new();
    for (method, call) in METHODS {
        if matches!(call, Call::Never) {
            continue;
        }
        for threads in [1, 2, 4] {
            wrong.extend(fault(method, call, 1, threads, false).err());
            if matches!(call, InRun) && !NOT_SLOW.iter().any(|not| method.starts_with(not)) {
                wrong.extend(fault(method, call, 3, threads, false).err());
            }
        }
        // Around it stands what says nothing itself: it is the same.
        if !NOT_HANDED_THROUGH.contains(&method) {
            wrong.extend(fault(method, call, 1, 2, true).err());
        }
    }
    let _ = std::panic::take_hook();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The sources of the engine.
fn sources() -> Vec<String> {
    let mut folders = vec![std::path::PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src"
    ))];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => texts.push(std::fs::read_to_string(path).unwrap()),
            }
        }
    }
    texts
}

/// A method that is added later must be added to the table: it names all methods of all public traits.
#[test]
fn the_table_names_every_method() {
    let mut found = BTreeSet::new();
    for text in sources() {
        let mut within = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("pub trait ") {
                let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap();
                within = Some(rest[..end].to_owned());
            } else if line == "}" {
                within = None;
            } else if let (Some(of), Some(rest)) = (&within, line.strip_prefix("    fn ")) {
                let end = rest.find(['(', '<']).unwrap();
                found.insert(format!("{of}::{}", &rest[..end]));
            }
        }
    }
    found.retain(|method| !OF_THE_ENGINE.iter().any(|of| method.starts_with(of)));
    let named = METHODS.map(|(method, _)| method.split(',').next().unwrap().to_owned());
    assert_eq!(found, BTreeSet::from(named));
}

/// What says nothing itself hands every method through but one, also those that the engine never calls.
#[test]
fn a_decorator_that_says_nothing_is_the_inner_subsystem() {
    let make = || {
        let mut ports = Ports::new();
        ports.add_output("x", oldham_cosim::Quantity::Translation);
        let (inner, asked) = telltale::Telltale::new(ports);
        (Plain(Box::new(inner)), asked)
    };
    telltale::check_through(make, &NOT_HANDED_THROUGH);
    assert_eq!(Subsystem::pattern(&make().0), telltale::PATTERN);
}

#[test]
fn the_engine_never_calls_what_it_is_said_not_to_call() {
    let mut texts = sources();
    texts.retain(|text| !text.contains("pub trait Decorator"));
    for (method, call) in METHODS {
        let name = method.split("::").nth(1).unwrap();
        let called = texts.iter().any(|text| text.contains(&format!(".{name}(")));
        assert!(!matches!(call, Call::Never) || !called, "{method}");
    }
}
