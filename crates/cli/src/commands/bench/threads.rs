//! What threads do when parts are slow, and when the machine is busy.

use std::hint::black_box;
use std::process::{Child, Command};
use std::time::Instant;

use oldham_cosim::{
    Builder, Discard, Hold, InputPort, Inputs, OutputPort, Ports, Quantity, Reached, Run, Schedule,
    Simulation, StepError, Subsystem, Unit,
};
use oldham_model::{Model, Overrides};
use oldham_papers::structures::Beam;

use super::Figure;
use crate::failure::Failure;

/// Steps of the fast part for one of the slow part.
const RATIO: u32 = 100;
/// Slow steps that are timed.
const PERIODS: u64 = 30;
const REPEATS: usize = 5;
/// Multiplications of a fast advance: about a tenth of a millisecond. A slow one takes as long as
/// all fast ones beside it.
const FAST: u64 = 60_000;

/// A part that only takes time.
struct Toil {
    ports: Ports,
    operations: u64,
    value: f64,
}

impl Toil {
    fn new(operations: u64) -> Self {
        let mut ports = Ports::new();
        ports.add_input("in", Quantity::Scalar(Unit::ONE));
        ports.add_output("out", Quantity::Scalar(Unit::ONE));
        Self {
            ports,
            operations,
            value: 0.0,
        }
    }
}

impl Subsystem for Toil {
    fn ports(&self) -> &Ports {
        &self.ports
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut other = [0.0];
        inputs.at(from, &mut other);
        let mut value = black_box(self.value);
        for _ in 0..self.operations {
            value = value * 0.999_999 + 1e-9;
        }
        self.value = black_box(value) + 1e-3 * other[0];
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, _: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs[0] = self.value;
        Ok(())
    }
    fn work(&self) -> f64 {
        self.operations as f64
    }
}

/// A slow part of about 10 ms beside a fast one: time over that of the dearer one alone.
pub(super) fn overlap() -> Vec<Figure> {
    let both = period(FAST, FAST * u64::from(RATIO), 2);
    let fast = period(FAST, 0, 1);
    let slow = period(0, FAST * u64::from(RATIO), 1);
    let dearer = fast.max(slow);
    let note = format!(
        "wall time of a slow step of {:.1} ms beside {RATIO} fast ones of {:.1} ms in all, two threads, over the larger",
        slow * 1e3,
        fast * 1e3
    );
    let alone = "the same on one thread";
    let sum = period(FAST, FAST * u64::from(RATIO), 1);
    vec![
        Figure::new("ratio", both / dearer, "1", &note).required(1.25),
        Figure::new("ratio-one-thread", sum / dearer, "1", alone),
    ]
}

/// Seconds of a slow step.
fn period(fast: u64, slow: u64, threads: usize) -> f64 {
    let measure = |_| {
        let mut simulation = toiling(fast, slow);
        let start = Instant::now();
        run(&mut simulation, threads, PERIODS * u64::from(RATIO));
        start.elapsed().as_secs_f64() / PERIODS as f64
    };
    (0..REPEATS).map(measure).fold(f64::INFINITY, f64::min)
}

fn toiling(fast: u64, slow: u64) -> Simulation {
    let mut builder = Builder::new();
    let mut add = |name, operations| {
        let part = Toil::new(operations);
        let hold = Box::new(Hold::new(0, part.ports()));
        builder.add(name, Box::new(part), hold)
    };
    let (fast, slow) = (add("fast", fast), add("slow", slow));
    builder.every(slow, RATIO);
    builder.connect((fast, OutputPort(0)), (slow, InputPort(0)));
    builder.connect((slow, OutputPort(0)), (fast, InputPort(0)));
    let built = builder.build(Schedule::jacobi(1e-4, [fast, slow]));
    built.expect("the benchmark's model is valid")
}

fn run(simulation: &mut Simulation, threads: usize, steps: u64) {
    let outcome = simulation.run(Run {
        threads,
        record_every: u64::MAX,
        ..Run::new(steps, &mut Discard)
    });
    assert!(outcome.end.is_ok(), "the benchmark's model runs");
}

/// Another process that computes without end, until it is dropped.
struct Neighbour(Child);

impl Neighbour {
    fn start() -> Result<Self, Failure> {
        let child = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn();
        child
            .map(Self)
            .map_err(|error| Failure::Internal(format!("no neighbour process: {error}")))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A cut beam on two threads and the whole one, while another process takes a core.
pub(super) fn busy() -> Result<Vec<Figure>, Failure> {
    let _neighbour = Neighbour::start()?;
    let mut figures = Vec::new();
    for (name, elements, steps) in [
        ("cut-over-whole", 24, 150_000),
        ("cut-over-whole-96", 96, 40_000),
    ] {
        let mut ratios = Vec::new();
        for _ in 0..3 {
            let whole = beam_seconds(elements, 1, steps)?;
            let cut = beam_seconds(elements, 2, steps)?;
            ratios.push(whole / cut);
        }
        ratios.sort_by(f64::total_cmp);
        let note = format!(
            "speed of the beam of {elements} elements cut in two over that in one piece, median of three, beside a process that takes one core"
        );
        figures.push(Figure::new(name, ratios[1], "1", &note).at_least(0.9));
    }
    Ok(figures)
}

fn beam_seconds(elements: usize, parts: usize, steps: u64) -> Result<f64, Failure> {
    let beam = Beam {
        elements,
        parts,
        damping: 0.0,
        step: 1e-4,
    };
    let overrides = match parts {
        1 => Overrides::none(),
        _ => Overrides(vec![(
            "multibody.beam.cut.scheme".into(),
            "interface-mass".into(),
        )]),
    };
    let model = Model::parse(&beam.model(), "the benchmark's beam", &overrides)?;
    let mut simulation = model.simulation()?;
    let start = Instant::now();
    run(&mut simulation, parts, steps);
    Ok(start.elapsed().as_secs_f64())
}
