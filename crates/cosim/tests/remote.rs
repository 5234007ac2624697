//! Parts whose work is done elsewhere begin together; states that lie elsewhere are returned to, or kept.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use oldham_cosim::{
    Builder, CheckpointError, Discard, ForeignState, Hold, ImplicitSettings, InputPort, Inputs,
    OutputPort, Ports, Quantity, Reached, Remote, Run, Schedule, Simulation, Snapshot, State,
    StepError, Subsystem, Ticket, Unit, Visitor,
};

/// What parts do, in the order in which they do it.
type Diary = Arc<Mutex<Vec<(&'static str, char)>>>;

/// A number that follows another one; its state is somewhere else.
struct Away {
    name: char,
    ports: Ports,
    x: Arc<Mutex<f64>>,
    diary: Diary,
    is_remote: bool,
    can_be_kept: bool,
    begun: Option<f64>,
    /// Tickets that are held by anybody.
    held: Arc<AtomicUsize>,
}

struct Held(f64, Arc<AtomicUsize>);

impl Drop for Held {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Subsystem for Away {
    fn ports(&self) -> &Ports {
        &self.ports
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        if self.begun.is_none() {
            self.begin(from, to, inputs)?;
        }
        self.diary.lock().unwrap().push(("waits", self.name));
        *self.x.lock().unwrap() = self.begun.take().expect("it has begun");
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, _: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs[0] = *self.x.lock().unwrap();
        Ok(())
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
    fn remote(&mut self) -> Option<&mut dyn Remote> {
        match self.is_remote {
            true => Some(self),
            false => None,
        }
    }
}

impl Remote for Away {
    fn begin(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<(), StepError> {
        self.diary.lock().unwrap().push(("begins", self.name));
        let mut given = [0.0];
        inputs.at(from, &mut given);
        let x = *self.x.lock().unwrap();
        self.begun = Some(x + (to - from) * (given[0] - x) * 0.3);
        if x.is_nan() {
            return Err(StepError::Foreign("it is none".into()));
        }
        Ok(())
    }
}

impl State for Away {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.foreign(self);
    }
}

impl ForeignState for Away {
    fn ticket(&mut self) -> Ticket {
        self.held.fetch_add(1, Ordering::Relaxed);
        Arc::new(Held(*self.x.lock().unwrap(), self.held.clone()))
    }
    fn return_to(&mut self, ticket: &Ticket) {
        *self.x.lock().unwrap() = ticket.downcast_ref::<Held>().expect("its own").0;
    }
    fn can_be_kept(&self) -> bool {
        self.can_be_kept
    }
    fn keep(&mut self, words: &mut Vec<u64>) {
        words.push(self.x.lock().unwrap().to_bits());
    }
    fn take(&mut self, words: &[u64]) {
        *self.x.lock().unwrap() = f64::from_bits(words[0]);
    }
}

struct Ring {
    simulation: Simulation,
    diary: Diary,
    held: Arc<AtomicUsize>,
    values: Vec<Arc<Mutex<f64>>>,
}

/// Three parts in a ring.
fn ring(is_remote: bool, can_be_kept: bool, implicit: bool) -> Ring {
    let (diary, held) = (Diary::default(), Arc::<AtomicUsize>::default());
    let mut builder = Builder::new();
    let mut values = Vec::new();
    let mut ids = Vec::new();
    for (k, name) in ['a', 'b', 'c'].into_iter().enumerate() {
        let mut ports = Ports::new();
        ports.add_input("in", Quantity::Scalar(Unit::ONE));
        ports.add_output("out", Quantity::Scalar(Unit::ONE));
        let x = Arc::new(Mutex::new(k as f64 - 0.7));
        values.push(x.clone());
        let hold = Box::new(Hold::new(0, &ports));
        let part = Away {
            name,
            ports,
            x,
            diary: diary.clone(),
            is_remote,
            can_be_kept,
            begun: None,
            held: held.clone(),
        };
        ids.push(builder.add(&name.to_string(), Box::new(part), hold));
    }
    for k in 0..3 {
        builder.connect((ids[k], OutputPort(0)), (ids[(k + 1) % 3], InputPort(0)));
    }
    let mut schedule = Schedule::jacobi(0.1, ids);
    if implicit {
        schedule = schedule.implicit(ImplicitSettings::default());
    }
    Ring {
        simulation: builder.build(schedule).unwrap(),
        diary,
        held,
        values,
    }
}

fn bits(ring: &Ring) -> Vec<u64> {
    let values = ring.values.iter();
    values.map(|x| x.lock().unwrap().to_bits()).collect()
}

fn run(ring: &mut Ring, steps: u64, threads: usize) {
    let outcome = ring.simulation.run(Run {
        threads,
        ..Run::new(steps, &mut Discard)
    });
    assert!(outcome.end.is_ok(), "{:?}", outcome.end);
}

#[test]
fn those_of_a_thread_begin_together_and_end_in_their_order() {
    let mut ring = ring(true, true, false);
    ring.simulation.steps(1).unwrap();
    let diary: String = ring
        .diary
        .lock()
        .unwrap()
        .iter()
        .map(|(_, name)| *name)
        .collect();
    assert_eq!(diary, "abcabc");
    let done: Vec<&str> = ring
        .diary
        .lock()
        .unwrap()
        .iter()
        .map(|(what, _)| *what)
        .collect();
    assert_eq!(
        done,
        ["begins", "begins", "begins", "waits", "waits", "waits"]
    );
}

#[test]
fn bits_do_not_depend_on_where_the_work_is_done() {
    for implicit in [false, true] {
        let mut expected = None;
        for is_remote in [false, true] {
            for threads in [1, 2, 3] {
                let mut ring = ring(is_remote, true, implicit);
                run(&mut ring, 50, threads);
                let found = bits(&ring);
                assert_eq!(*expected.get_or_insert_with(|| found.clone()), found);
            }
        }
    }
}

#[test]
fn what_fails_as_it_begins_is_told_in_its_step() {
    let mut ring = ring(true, true, false);
    ring.simulation.steps(3).unwrap();
    *ring.values[1].lock().unwrap() = f64::NAN;
    let fault = ring.simulation.steps(1).unwrap_err().to_string();
    assert!(
        fault.contains("`b`") && fault.contains("it is none"),
        "{fault}"
    );
}

#[test]
fn tickets_are_returned_to_and_given_up() {
    let mut ring = ring(true, false, false);
    ring.simulation.steps(5).unwrap();
    let at_five = bits(&ring);
    let mut saved = Snapshot::default();
    saved.save(&mut ring.simulation);
    let copy = saved.clone();
    assert_eq!(ring.held.load(Ordering::Relaxed), 3);
    ring.simulation.steps(5).unwrap();
    let at_ten = bits(&ring);
    assert_ne!(at_five, at_ten);
    copy.restore(&mut ring.simulation);
    assert_eq!(bits(&ring), at_five);
    ring.simulation.steps(5).unwrap();
    assert_eq!(bits(&ring), at_ten);
    drop((saved, copy));
    assert_eq!(ring.held.load(Ordering::Relaxed), 0);
    let refused = ring.simulation.checkpoint("").unwrap_err();
    assert!(matches!(refused, CheckpointError::NoBytes(part) if part == "a"));
}

#[test]
fn what_is_kept_is_continued_by_another_program() {
    let mut ring_one = ring(true, true, false);
    ring_one.simulation.steps(5).unwrap();
    let kept = ring_one.simulation.checkpoint("").unwrap();
    let folder = std::env::temp_dir().join(format!("oldham-remote-{}", std::process::id()));
    kept.write(&folder).unwrap();
    let kept = oldham_cosim::Checkpoint::read(&folder).unwrap();
    std::fs::remove_file(&folder).unwrap();
    ring_one.simulation.steps(5).unwrap();
    let mut other = ring(false, true, false);
    other.simulation.restore(&kept, "").unwrap();
    other.simulation.steps(5).unwrap();
    assert_eq!(bits(&ring_one), bits(&other));
}
