//! The worker: a process that holds one instance of an FMU and does what it is asked.

use std::sync::Arc;
use std::time::Duration;

use oldham_shm::{End, Link, Memory, end_with_parent};

use super::protocol::{self as p, Request};
use crate::library::Watcher;
use crate::session::{Session, Setup};

/// How long it sleeps at most before it looks again.
const NAP: Duration = Duration::from_secs(10);

/// Does what the process with this number asks through the memory that it gave as standard input, until it is ended with it.
pub fn serve(parent: u32) -> Result<(), String> {
    if !end_with_parent(parent) {
        return Err("it is started by `oldham` itself, for FMUs".into());
    }
    let memory = Memory::of(std::io::stdin()).map_err(|error| error.to_string())?;
    let mut worker = Worker {
        link: Link::new(Arc::new(memory), End::Worker),
        session: None,
        bytes: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    loop {
        let spins = p::get(worker.link.cells(), p::SPINS) as u32;
        while !worker.link.wait(spins, NAP) {}
        let answered = worker.answer();
        if let Some(session) = &worker.session {
            session.rest();
        }
        let cells = worker.link.cells();
        match answered {
            Ok(()) => p::set(cells, p::STATUS, p::DONE),
            Err(reason) => {
                let mut end = reason.len().min(p::room(cells));
                while !reason.is_char_boundary(end) {
                    end -= 1;
                }
                p::put_bytes(cells, &reason.as_bytes()[..end]);
                p::set(cells, p::FIRST, end as u64);
                p::set(cells, p::STATUS, p::FAILED);
            }
        }
        worker.link.ring();
    }
}

struct Worker {
    link: Link,
    session: Option<Session>,
    /// A setup or a state, as far as it has come.
    bytes: Vec<u8>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl Worker {
    fn answer(&mut self) -> Result<(), String> {
        let cells = self.link.cells();
        let number = |k: usize| p::get(cells, p::FIRST + k);
        let real = |k: usize| f64::from_bits(number(k));
        let request = Request::of(p::get(cells, p::REQUEST)).ok_or("an unknown request")?;
        match request {
            Request::Open => {
                self.session = None;
                if !piece(&self.link, &mut self.bytes) {
                    return Ok(());
                }
                let setup: Setup =
                    serde_json::from_slice(&self.bytes).map_err(|error| error.to_string())?;
                self.inputs.clear();
                self.outputs = vec![0.0; setup.widths[1]];
                let watcher = Watcher::at(self.link.memory().clone(), p::CALL);
                self.session = Some(Session::new(&setup, watcher)?);
                return Ok(());
            }
            Request::Close => {
                self.session = None;
                return Ok(());
            }
            _ => {}
        }
        let session = self.session.as_mut().ok_or("there is no instance")?;
        match request {
            Request::Initialise => session.initialise(real(0)),
            Request::Start => {
                self.inputs.resize(number(0) as usize, 0.0);
                p::take_values(cells, p::VALUES, &mut self.inputs);
                session.start(&self.inputs)
            }
            Request::Outputs => {
                let (has_inputs, width) = (number(0) != 0, number(1) as usize);
                self.inputs.resize(width, 0.0);
                p::take_values(cells, p::VALUES, &mut self.inputs);
                session.outputs(has_inputs.then_some(&self.inputs[..]), &mut self.outputs)?;
                p::put_values(cells, p::VALUES, &self.outputs);
                Ok(())
            }
            Request::Advance => {
                let (from, to, steps) = (real(0), real(1), number(2) as usize);
                let (writes, width) = (number(3) != 0, number(4) as usize);
                self.inputs.resize((steps + 1) * width, 0.0);
                p::take_values(cells, p::VALUES, &mut self.inputs);
                let calls = session.advance(from, to, steps, &self.inputs)?;
                let end = &self.inputs[steps * width..];
                session.outputs(writes.then_some(end), &mut self.outputs)?;
                p::put_values(cells, p::VALUES, &self.outputs);
                p::set(cells, p::FIRST, calls);
                Ok(())
            }
            Request::Keep => session.keep(number(0) as usize),
            Request::Return => session.return_to(number(0) as usize),
            Request::Save => {
                let start = number(0) as usize;
                if start == 0 {
                    self.bytes.clear();
                    session.save(&mut self.bytes)?;
                }
                let rest = self.bytes.get(start..).unwrap_or_default();
                let rest = &rest[..rest.len().min(p::room(cells))];
                p::put_bytes(cells, rest);
                p::set(cells, p::FIRST, self.bytes.len() as u64);
                Ok(())
            }
            Request::Restore => match piece(&self.link, &mut self.bytes) {
                true => session.restore(&self.bytes),
                false => Ok(()),
            },
            Request::Open | Request::Close => Ok(()),
        }
    }
}

/// Takes a piece of something; whether it is whole.
fn piece(link: &Link, bytes: &mut Vec<u8>) -> bool {
    let cells = link.cells();
    let [start, length, all] = [0, 1, 2].map(|k| p::get(cells, p::FIRST + k) as usize);
    bytes.truncate(start);
    bytes.extend(p::take_bytes(cells, length));
    bytes.len() >= all
}
