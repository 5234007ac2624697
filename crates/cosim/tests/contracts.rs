//! What foreign parts, drivers and onlookers need of the engine.

mod support;

use std::time::{Duration, Instant};

use oldham_cosim::{
    Builder, Cancel, Chart, Discard, Hold, InMemory, InputPort, Inputs, OutputPort, Pacing, Ports,
    Quantity, Reached, Run, Schedule, Simulation, Snapshot, State, StepError, Subsystem, Tap, Unit,
    Visitor, word_count,
};
use support::{jacobi_pair, left, pair, right};

/// A part with one mass, pushed by an input that nobody feeds, and a memory that grows.
struct Pushed {
    ports: Ports,
    x: f64,
    v: f64,
    memory: Vec<u64>,
    is_chartable: bool,
}

impl Pushed {
    fn new() -> Self {
        let mut ports = Ports::new();
        ports.add_input("force", Quantity::Scalar(Unit::NEWTON));
        ports.add_output("motion", Quantity::Translation);
        Self {
            ports,
            x: 0.0,
            v: 0.0,
            memory: Vec::new(),
            is_chartable: true,
        }
    }
}

impl State for Pushed {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(std::slice::from_mut(&mut self.x));
        visitor.memory(&mut self.memory);
        visitor.vector(std::slice::from_mut(&mut self.v));
    }
    fn is_chartable(&mut self) -> bool {
        self.is_chartable
    }
}

impl Subsystem for Pushed {
    fn ports(&self) -> &Ports {
        &self.ports
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut force = [0.0];
        inputs.at(from, &mut force);
        let h = to - from;
        self.v += h * force[0];
        self.x += h * self.v;
        // Longer and shorter, as the contacts of a pile of grains.
        match self.memory.len() {
            0..5 => self.memory.push(self.x.to_bits()),
            _ => self.memory.truncate(1),
        }
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _t: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        let remembered: f64 = self.memory.iter().map(|&word| f64::from_bits(word)).sum();
        y.copy_from_slice(&[self.x, self.v, remembered]);
        Ok(())
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

fn pushed() -> Simulation {
    let mut builder = Builder::new();
    let part = Pushed::new();
    let hold = Box::new(Hold::new(0, part.ports()));
    let id = builder.add("cart", Box::new(part), hold);
    builder.dial(id, InputPort(0), "driver.push", &[0.5]);
    builder.build(Schedule::jacobi(0.1, [id])).unwrap()
}

/// Sets the dial as a driver does, while rows are recorded.
struct Driver(oldham_cosim::Dial, InMemory);

impl oldham_cosim::Recorder for Driver {
    fn record(&mut self, t: f64, row: &[f64]) -> std::io::Result<()> {
        self.0.set(&[(7.0 * t).sin()]);
        self.1.record(t, row)
    }
}

fn driven(simulation: &mut Simulation, steps: u64) -> InMemory {
    let dial = simulation.dial("driver.push").unwrap();
    let mut driver = Driver(dial, InMemory::default());
    simulation.run(Run::new(steps, &mut driver)).end.unwrap();
    driver.1
}

fn column(simulation: &Simulation, name: &str) -> usize {
    let mut columns = simulation.columns().iter();
    columns.position(|column| column.name == name).unwrap()
}

#[test]
fn an_external_input_is_recorded_and_replayed_bit_for_bit() {
    let mut first = pushed();
    assert_eq!(first.external_inputs(), [("driver.push", 1)]);
    let rows = driven(&mut first, 40);
    let place = column(&first, "driver.push");
    let inputs = rows.column(place);
    // A row shows what held over the step that ends with it: what was set at its start.
    assert_eq!(inputs[0], 0.5);
    assert_eq!(inputs[3], (7.0_f64 * rows.times[2]).sin());
    let mut second = pushed();
    assert!(second.replay("driver.push", &inputs[1..]));
    assert!(!second.replay("nobody", &[]));
    let again = driven(&mut second, 40);
    assert_eq!(again.rows, rows.rows);
}

/// Sees its input at the beginning, in the middle and at the end of each step, and whether it has jumped.
struct Onlooker(Ports, [f64; 4]);

impl Onlooker {
    fn new() -> Self {
        let mut ports = Ports::new();
        ports.add_input("seen", Quantity::Scalar(Unit::NEWTON));
        ports.add_output("seen", Quantity::Array(Unit::NEWTON, 4));
        Self(ports, [0.0; 4])
    }
}

impl State for Onlooker {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.1);
    }
}

impl Subsystem for Onlooker {
    fn ports(&self) -> &Ports {
        &self.0
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        self.1[3] = f64::from(u8::from(inputs.have_jumped()));
        for (place, t) in [from, 0.5 * (from + to), to].into_iter().enumerate() {
            inputs.at(t, &mut self.1[place..=place]);
        }
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _t: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y.copy_from_slice(&self.1);
        Ok(())
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

fn watched() -> Simulation {
    let mut builder = Builder::new();
    let part = Onlooker::new();
    let hold = Box::new(Hold::new(0, part.ports()));
    let id = builder.add("eye", Box::new(part), hold);
    builder.dial(id, InputPort(0), "light", &[0.5]);
    builder.build(Schedule::jacobi(0.5, [id])).unwrap()
}

/// Steps of half a second, so that all numbers are exact.
#[test]
fn a_dial_shows_a_polynomial_within_and_across_steps() {
    let mut simulation = watched();
    let dial = simulation.dial("light").unwrap();
    let seen = |simulation: &mut Simulation, steps| {
        simulation.steps(steps).unwrap();
        simulation.outputs(oldham_cosim::SubsystemId(0)).to_vec()
    };
    assert_eq!(seen(&mut simulation, 1), [0.5, 0.5, 0.5, 0.0]);
    // 1 + 2 s + 3 s2 + 4 s3, where s begins with the step that begins now: a jump, once.
    let curve = |s: f64| 1.0 + s * (2.0 + s * (3.0 + s * 4.0));
    dial.follow(0.5, &[1.0], &[2.0, 6.0, 24.0]);
    let expected = |s: f64, jump: f64| [curve(s), curve(s + 0.25), curve(s + 0.5), jump];
    assert_eq!(seen(&mut simulation, 1), expected(0.0, 1.0));
    let saved = simulation.checkpoint("m").unwrap();
    let mut other = watched();
    other.restore(&saved, "m").unwrap();
    // What was shown is there before the next step.
    assert_eq!(other.value(column(&other, "eye.seen.3")), Some(curve(0.5)));
    for one in [&mut simulation, &mut other] {
        assert_eq!(seen(one, 1), expected(0.5, 0.0));
        assert_eq!(seen(one, 1), expected(1.0, 0.0));
    }
    // Another polynomial that goes on where this one ends is no jump; a value that is held is one.
    dial.follow(2.0, &[curve(1.5)], &[8.0]);
    let line = curve(1.5);
    assert_eq!(
        seen(&mut simulation, 1),
        [line, line + 2.0, line + 4.0, 0.0]
    );
    dial.set(&[line]);
    assert_eq!(seen(&mut simulation, 1), [line, line, line, 1.0]);
}

#[test]
fn a_checkpoint_keeps_the_external_input_and_memories_of_any_length() {
    let mut first = pushed();
    driven(&mut first, 13);
    let saved = first.checkpoint("m").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    saved.write(&path).unwrap();
    let saved = oldham_cosim::Checkpoint::read(&path).unwrap();
    let reference = driven(&mut first, 10);
    let mut second = pushed();
    driven(&mut second, 2);
    second.restore(&saved, "m").unwrap();
    assert_eq!(second.outputs(oldham_cosim::SubsystemId(0)).len(), 3);
    // The dial shows what it showed when the state was saved.
    assert_eq!(driven(&mut second, 10).rows, reference.rows);
}

#[test]
fn memories_are_saved_and_are_no_coordinates() {
    let mut part = Pushed::new();
    let count = word_count(&mut part);
    part.memory = vec![1, 2, 3];
    (part.x, part.v) = (4.0, 5.0);
    assert_eq!(word_count(&mut part), count);
    let chart = Chart::about(&mut part);
    assert_eq!(chart.dimension(), 2);
    let mut saved = Snapshot::default();
    saved.save(&mut part);
    part.memory.clear();
    (part.x, part.v) = (4.5, 7.0);
    let mut change = [0.0; 2];
    chart.read(&mut part, &mut change);
    assert_eq!(change, [0.5, 2.0]);
    saved.restore(&mut part);
    assert_eq!(
        (part.x, part.v, &part.memory[..]),
        (4.0, 5.0, &[1, 2, 3][..])
    );
    chart.apply(&mut part, &[1.0, 1.0]);
    assert_eq!((part.x, part.v, part.memory.len()), (5.0, 6.0, 3));
}

#[test]
fn a_part_without_coordinates_is_named() {
    let mut builder = Builder::new();
    let mut part = Pushed::new();
    part.is_chartable = false;
    let hold = Box::new(Hold::new(0, part.ports()));
    let id = builder.add("foreign", Box::new(part), hold);
    let mut simulation = builder.build(Schedule::jacobi(0.1, [id])).unwrap();
    assert_eq!(simulation.part_without_state().unwrap(), None);
    assert_eq!(
        simulation.part_without_chart().unwrap(),
        Some("foreign".into())
    );
}

/// An oscillator as a foreign program would be: its state is words, or what an iteration starts from.
struct Opaque {
    ports: Ports,
    words: Vec<u64>,
    is_guess: bool,
}

impl State for Opaque {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        match self.is_guess {
            true => visitor.first_guess(&mut self.words),
            false => visitor.memory(&mut self.words),
        }
    }
}

impl Subsystem for Opaque {
    fn ports(&self) -> &Ports {
        &self.ports
    }
    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        self.words[0] += 1;
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y[0] = self.words[0] as f64;
        Ok(())
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

/// Without a word of the part, state without coordinates might grow; what a solver starts from does not.
#[test]
fn state_without_coordinates_has_no_chart_unless_nothing_in_it_can_grow() {
    for is_guess in [false, true] {
        let mut ports = Ports::new();
        ports.add_output("y", Quantity::Scalar(Unit::ONE));
        let hold = Box::new(Hold::new(0, &ports));
        let part = Opaque {
            ports,
            words: vec![1, 2],
            is_guess,
        };
        let mut builder = Builder::new();
        let id = builder.add("foreign", Box::new(part), hold);
        let mut simulation = builder.build(Schedule::jacobi(0.1, [id])).unwrap();
        let expected = (!is_guess).then(|| "foreign".to_owned());
        assert_eq!(simulation.part_without_chart().unwrap(), expected);
        // It is saved and restored all the same.
        simulation.steps(3).unwrap();
        let saved = simulation.checkpoint("model").unwrap();
        simulation.steps(2).unwrap();
        simulation.restore(&saved, "model").unwrap();
        assert_eq!(simulation.known::<Opaque>(id).unwrap().words, [4, 2]);
    }
}

/// Counts up, says whether the count is even, and sends an array.
struct Counter(Ports, f64);

impl Counter {
    fn new() -> Self {
        let mut ports = Ports::new();
        ports.add_output("count", Quantity::Whole);
        ports.add_output("even", Quantity::Flag);
        ports.add_output("powers", Quantity::Array(Unit::METRE, 3));
        ports.add_output(
            "matrix",
            Quantity::Matrix {
                rows: 1,
                columns: 2,
            },
        );
        Self(ports, 0.0)
    }
}

impl Subsystem for Counter {
    fn ports(&self) -> &Ports {
        &self.0
    }
    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        self.1 += 1.0;
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        let n = self.1;
        y.copy_from_slice(&[n, f64::from(n % 2.0 == 0.0), n, n * n, n * n * n, n, -n]);
        Ok(())
    }
}

/// Writes down what it sees in the middle of a step.
struct Listener(Ports, Vec<f64>);

impl Subsystem for Listener {
    fn ports(&self) -> &Ports {
        &self.0
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        inputs.at(0.5 * (from + to), &mut self.1[..7]);
        self.1[7] = inputs.sampled_at(InputPort(0));
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, _: &[f64], y: &mut [f64]) -> Result<(), StepError> {
        y.copy_from_slice(&self.1);
        Ok(())
    }
}

#[test]
fn whole_numbers_flags_and_matrices_are_held_and_arrays_extrapolated() {
    let mut builder = Builder::new();
    let counter = Counter::new();
    let quantities: Vec<Quantity> = counter
        .0
        .outputs()
        .iter()
        .map(|p| p.quantity.clone())
        .collect();
    let mut ports = Ports::new();
    for (place, quantity) in quantities.into_iter().enumerate() {
        ports.add_input(format!("in{place}"), quantity);
    }
    ports.add_output("seen", Quantity::Array(Unit::ONE, 8));
    let listener = Listener(ports, vec![0.0; 8]);
    let hold = Box::new(Hold::new(1, counter.ports()));
    let a = builder.add("counter", Box::new(counter), hold);
    let hold = Box::new(Hold::new(1, listener.ports()));
    let b = builder.add("listener", Box::new(listener), hold);
    for port in 0..4 {
        builder.connect((a, OutputPort(port)), (b, InputPort(port)));
    }
    let mut simulation = builder.build(Schedule::jacobi(1.0, [a, b])).unwrap();
    simulation.steps(4).unwrap();
    // In the fourth step: samples at 2 and 3, seen at 3.5.
    let seen = simulation.outputs(b);
    assert_eq!(seen[..2], [3.0, 0.0]);
    assert_eq!(seen[2..5], [3.5, 9.0 + 2.5, 27.0 + 9.5]);
    assert_eq!(seen[5..7], [3.0, -3.0]);
    assert_eq!(seen[7], 3.0);
    let names: Vec<String> = simulation
        .columns()
        .iter()
        .map(|c| c.name.clone())
        .collect();
    assert_eq!(
        names[..5],
        [
            "counter.count",
            "counter.even",
            "counter.powers.1",
            "counter.powers.2",
            "counter.powers.3"
        ]
    );
    assert!(
        !names.iter().any(|name| name.contains("matrix")),
        "{names:?}"
    );
}

/// Waits for somebody who never answers, unless the run is cancelled.
struct Waiting(Ports, Cancel);

impl Subsystem for Waiting {
    fn ports(&self) -> &Ports {
        &self.0
    }
    fn advance(&mut self, _: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        self.1.request();
        let started = Instant::now();
        while !inputs.is_cancelled() {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "nobody cancels"
            );
            std::thread::yield_now();
        }
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, _: &[f64], _: &mut [f64]) -> Result<(), StepError> {
        Ok(())
    }
}

#[test]
fn a_part_that_waits_sees_that_the_run_is_cancelled() {
    let cancel = Cancel::default();
    let mut builder = Builder::new();
    let part = Waiting(Ports::new(), cancel.clone());
    let hold = Box::new(Hold::new(0, part.ports()));
    let id = builder.add("waiting", Box::new(part), hold);
    let mut simulation = builder.build(Schedule::jacobi(1.0, [id])).unwrap();
    let mut nothing = Discard;
    let run = Run {
        cancel: Some(cancel),
        ..Run::new(1000, &mut nothing)
    };
    assert_eq!(simulation.run(run).end, Ok(oldham_cosim::End::Cancelled));
}

#[test]
fn an_onlooker_gets_rows_at_an_interval_of_its_own() {
    let mut simulation = jacobi_pair(1e-3, 0, 1);
    let (mut recorded, mut shown) = (InMemory::default(), InMemory::default());
    let energy = column(&simulation, "energy.total");
    let run = Run {
        threads: 2,
        record_every: 5,
        record_columns: Some(vec![0]),
        tap: Some(Tap {
            every: 3,
            columns: Some(vec![1, energy]),
            recorder: &mut shown,
        }),
        ..Run::new(20, &mut recorded)
    };
    simulation.run(run).end.unwrap();
    assert_eq!(recorded.rows.len(), 5);
    assert_eq!(recorded.rows[0].len(), 1);
    let steps: Vec<f64> = shown.times.iter().map(|t| (t * 1e3).round()).collect();
    assert_eq!(steps, [3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 20.0]);
    let mut whole = InMemory::default();
    jacobi_pair(1e-3, 0, 1)
        .run(Run::new(20, &mut whole))
        .end
        .unwrap();
    for (row, step) in shown.rows.iter().zip([3, 6, 9, 12, 15, 18, 20]) {
        assert_eq!(*row, [whole.rows[step][1], whole.rows[step][energy]]);
    }
}

#[test]
fn a_paced_run_is_not_ahead_of_the_clock_and_has_the_same_bits() {
    let run = |pace: Option<f64>, threads| {
        let p = pair(left(), right(), 0);
        let mut simulation = p
            .builder
            .build(Schedule::jacobi(1e-3, [p.left, p.right]))
            .unwrap();
        let mut rows = InMemory::default();
        let started = Instant::now();
        let run = Run {
            pace: pace.map(Pacing::new),
            threads,
            ..Run::new(101, &mut rows)
        };
        let summary = simulation.run(run).summary;
        (rows.rows, started.elapsed(), summary)
    };
    let (free, _, summary) = run(None, 1);
    assert!(summary.lateness.is_none());
    for threads in [1, 2] {
        // The last of 101 steps begins 100 steps after the first, at twice the speed of the clock.
        let (paced, spent, summary) = run(Some(2.0), threads);
        assert_eq!(paced, free);
        assert!(spent >= Duration::from_millis(50), "{spent:?}");
        assert!(summary.lateness.is_some());
    }
}
