//! Parts with a longer macro step of their own, which advance beside the others.
//!
//! Such a part sees its inputs at the start of its step and shows its outputs at the end; the others
//! go on meanwhile. So it may advance at any time before its outputs are released: on a companion
//! thread where there is one, or else just before the release. What arrives in between is kept and
//! handed over, in order, when the advance is done. The points at which it must be done follow from
//! the schedule alone, so the bits are the same for any number of threads.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

use crate::exchange_buffer::ExchangeBuffer;
use crate::fault::Fault;
use crate::incoming::{Delivery, IncomingConnections};
use crate::port::InputPort;
use crate::unit::Unit;

/// A slow unit, in the hands of the worker that delivers to it and publishes for it.
pub(crate) struct SlowUnit<'a> {
    pub id: usize,
    pub every: u64,
    place: Place<'a>,
    companion: Option<&'a Companion<'a>>,
    incoming: Arc<IncomingConnections>,
    /// Distance between the two halves of the exchange buffer.
    stride: usize,
    mail: Mail,
}

/// Where the unit is.
enum Place<'a> {
    /// At hand.
    Here(&'a mut Unit),
    /// At hand, and still to advance.
    Due(&'a mut Unit, Span),
    /// On the companion thread.
    Away,
    /// Lost with a fault.
    Gone,
}

#[derive(Clone, Copy)]
struct Span {
    from: f64,
    to: f64,
}

impl<'a> SlowUnit<'a> {
    pub fn new(id: usize, unit: &'a mut Unit, companion: Option<&'a Companion<'a>>) -> Self {
        Self {
            id,
            every: unit.every,
            incoming: Arc::clone(&unit.incoming),
            stride: unit.places.stride,
            mail: std::mem::take(&mut unit.mail),
            place: Place::Here(unit),
            companion,
        }
    }

    /// Macro step n begins at time t; where it is the first of its own step it is at hand.
    pub fn sample(&mut self, n: u64, t: f64, exchange: &ExchangeBuffer) {
        if let Place::Here(unit) = &mut self.place {
            unit.read_dials(n, t, exchange);
        }
    }

    /// Its next step begins.
    pub fn begin(&mut self, from: f64, to: f64) {
        let span = Span { from, to };
        self.place = match (
            std::mem::replace(&mut self.place, Place::Gone),
            self.companion,
        ) {
            (Place::Here(unit), Some(companion)) => {
                companion.ask(unit, span);
                Place::Away
            }
            (Place::Here(unit), None) => Place::Due(unit, span),
            (place, _) => place,
        };
    }

    /// The unit, when its advance is done and it has what arrived meanwhile, at time t. Nothing after a fault.
    pub fn complete(&mut self, t: f64) -> Result<Option<&mut Unit>, Fault> {
        let (unit, outcome) = match std::mem::replace(&mut self.place, Place::Gone) {
            Place::Here(unit) => (unit, Ok(())),
            Place::Due(unit, span) => {
                let outcome = advance(unit, span);
                (unit, outcome)
            }
            Place::Away => {
                let companion = self.companion.expect("it is away with its companion");
                companion.answer()
            }
            Place::Gone => return Ok(None),
        };
        outcome?;
        unit.guarded(t, |unit| {
            self.mail.deliver(unit);
            Ok(())
        })?;
        self.place = Place::Here(unit);
        match &mut self.place {
            Place::Here(unit) => Ok(Some(unit)),
            _ => Ok(None),
        }
    }

    /// Takes what was sent at time t, now or when it is at hand.
    pub fn pull(
        &mut self,
        t: f64,
        exchange: &ExchangeBuffer,
        buffer: usize,
        delivery: Delivery,
        steps_done: u64,
    ) -> Result<(), Fault> {
        match &mut self.place {
            Place::Here(unit) => unit.guarded(t, |unit| {
                unit.pull(t, exchange, buffer, delivery, steps_done);
                Ok(())
            })?,
            Place::Due(..) | Place::Away => {
                let shift = buffer * self.stride;
                let mut event = false;
                for connection in self.incoming.of(delivery) {
                    if connection.is_due(steps_done) {
                        self.mail
                            .values
                            .resize(self.mail.values.len() + connection.input.len(), 0.0);
                        let start = self.mail.values.len() - connection.input.len();
                        let values = &mut self.mail.values[start..];
                        exchange.read(connection.sent + shift, values);
                        connection.scale(values);
                        self.mail.letters.push(Letter::Value(
                            connection.port,
                            t,
                            connection.input.len(),
                        ));
                        event |= exchange.get(connection.event + shift) != 0.0;
                    }
                }
                if event {
                    self.mail.letters.push(Letter::Restart);
                }
            }
            Place::Gone => {}
        }
        Ok(())
    }
}

impl Drop for SlowUnit<'_> {
    /// The room for mail goes back with the unit.
    fn drop(&mut self) {
        if let Place::Here(unit) = &mut self.place {
            unit.mail = std::mem::take(&mut self.mail);
        }
    }
}

fn advance(unit: &mut Unit, Span { from, to }: Span) -> Result<(), Fault> {
    let started = Instant::now();
    let outcome = unit.guarded(from, |unit| unit.advance(from, to));
    unit.spent.add(started.elapsed(), unit.every);
    outcome
}

/// What arrived while a unit was advancing. It grows to what one of its steps brings, and stays so.
#[derive(Default)]
pub(crate) struct Mail {
    letters: Vec<Letter>,
    values: Vec<f64>,
}

enum Letter {
    /// A value of so many numbers, sent at this time.
    Value(InputPort, f64, usize),
    /// The senders of the last values had a discontinuity.
    Restart,
}

impl Mail {
    fn deliver(&mut self, unit: &mut Unit) {
        let mut start = 0;
        for letter in self.letters.drain(..) {
            match letter {
                Letter::Value(port, t, width) => {
                    unit.receive(port, t, &self.values[start..start + width]);
                    start += width;
                }
                Letter::Restart => unit.restart(),
            }
        }
        self.values.clear();
    }
}

/// A thread on which slow units advance, one at a time.
#[derive(Default)]
pub(crate) struct Companion<'a> {
    desk: Mutex<Desk<'a>>,
    changed: Condvar,
}

#[derive(Default)]
enum Desk<'a> {
    #[default]
    Empty,
    Asked(&'a mut Unit, Span),
    Working,
    Done(&'a mut Unit, Result<(), Fault>),
    Closed,
}

impl<'a> Companion<'a> {
    /// Does what is asked until it is told to leave.
    pub fn run(&self) {
        loop {
            let mut desk = self.wait_while(|desk| matches!(desk, Desk::Empty | Desk::Done(..)));
            match std::mem::replace(&mut *desk, Desk::Working) {
                Desk::Asked(unit, span) => {
                    drop(desk);
                    let outcome = advance(unit, span);
                    self.put(Desk::Done(unit, outcome));
                }
                _ => return,
            }
        }
    }

    /// Ends the thread when it is done.
    pub fn close(&self) {
        let mut desk = self.wait_while(|desk| matches!(desk, Desk::Working | Desk::Asked(..)));
        *desk = Desk::Closed;
        self.changed.notify_all();
    }

    fn ask(&self, unit: &'a mut Unit, span: Span) {
        self.put(Desk::Asked(unit, span));
    }

    fn answer(&self) -> (&'a mut Unit, Result<(), Fault>) {
        let mut desk = self.wait_while(|desk| matches!(desk, Desk::Working | Desk::Asked(..)));
        match std::mem::take(&mut *desk) {
            Desk::Done(unit, outcome) => (unit, outcome),
            _ => unreachable!("only what was asked is answered"),
        }
    }

    fn put(&self, next: Desk<'a>) {
        *self
            .desk
            .lock()
            .expect("no thread panics while it holds it") = next;
        self.changed.notify_all();
    }

    fn wait_while(&self, mut busy: impl FnMut(&Desk<'a>) -> bool) -> MutexGuard<'_, Desk<'a>> {
        let desk = self
            .desk
            .lock()
            .expect("no thread panics while it holds it");
        let waited = self.changed.wait_while(desk, |desk| busy(desk));
        waited.expect("no thread panics while it holds it")
    }
}
