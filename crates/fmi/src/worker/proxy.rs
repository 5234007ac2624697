//! The host's end of a worker: an instance of an FMU as if it were here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use oldham_shm::words_of;

use super::process::{Process, spins};
use super::protocol::{self as p, Request};
use crate::description::Version;
use crate::library::Call;
use crate::package::Package;
use crate::session::Setup;

/// How often a worker that does not answer is looked after.
const TICK: Duration = Duration::from_millis(20);
/// How long it may take once the run is to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// An instance in another process.
pub(crate) struct Proxy {
    /// Nothing when it is lost.
    process: Option<Process>,
    version: Version,
    widths: [usize; 2],
    /// Whether outputs depend on inputs at once.
    feeds_through: bool,
    timeout: Duration,
    /// An advance has begun and was not waited for: the time at its end.
    begun: Option<f64>,
    /// Outputs that are known, and the inputs that go with them.
    known: Option<Known>,
    room: Known,
    /// Why it is lost.
    cause: String,
    /// Its folder, which outlives it.
    _package: Arc<Package>,
}

#[derive(Default)]
struct Known {
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl Proxy {
    /// A new instance in a worker.
    pub fn new(
        setup: &Setup,
        package: &Arc<Package>,
        steps: usize,
        feeds_through: bool,
        timeout: f64,
    ) -> Result<Self, String> {
        let values = (setup.widths[0] * (steps + 1)).max(setup.widths[1]);
        let cells = p::VALUES + values.max(p::ROOM);
        let process = Process::take(&setup.origin.library, cells)?;
        let mut proxy = Self {
            process: Some(process),
            version: setup.origin.version,
            widths: setup.widths,
            feeds_through,
            timeout: Duration::try_from_secs_f64(timeout).unwrap_or(Duration::MAX),
            begun: None,
            known: None,
            room: Known::default(),
            cause: String::new(),
            _package: package.clone(),
        };
        proxy.renew(setup)?;
        Ok(proxy)
    }

    /// A fresh instance in the same worker; the one before ends first.
    pub fn renew(&mut self, setup: &Setup) -> Result<(), String> {
        self.known = None;
        let text = serde_json::to_vec(setup).map_err(|error| error.to_string())?;
        self.send_pieces(Request::Open, &text)
    }

    fn process(&mut self) -> Result<&mut Process, String> {
        match &mut self.process {
            Some(process) => Ok(process),
            None => Err(self.cause.clone()),
        }
    }

    /// Asks, with numbers and values.
    fn ask(&mut self, request: Request, numbers: &[u64], values: &[f64]) -> Result<(), String> {
        if self.begun.is_some() {
            // What was begun and is not wanted any more ends first.
            let _ = self.finish(&|| false);
        }
        let process = self.process()?;
        let cells = process.link.cells();
        p::set(cells, p::REQUEST, request as u64);
        p::set(cells, p::SPINS, u64::from(spins()));
        for (k, number) in numbers.iter().enumerate() {
            p::set(cells, p::FIRST + k, *number);
        }
        p::put_values(cells, p::VALUES, values);
        process.link.ring();
        Ok(())
    }

    /// Asks, and waits for the answer. The time goes into the message if there is none.
    fn call(
        &mut self,
        request: Request,
        t: Option<f64>,
        numbers: &[u64],
        values: &[f64],
    ) -> Result<(), String> {
        self.ask(request, numbers, values)?;
        self.wait(t, &|| false)
    }

    /// Waits for an answer.
    fn wait(&mut self, t: Option<f64>, is_cancelled: &dyn Fn() -> bool) -> Result<(), String> {
        let spins = spins();
        let process = self.process()?;
        if !process.link.wait(spins, TICK) {
            self.wait_long(t, is_cancelled)?;
        }
        let process = self.process()?;
        let cells = process.link.cells();
        match p::get(cells, p::STATUS) {
            p::DONE => Ok(()),
            _ => {
                let count = p::get(cells, p::FIRST) as usize;
                let bytes = p::take_bytes(cells, count);
                Err(String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }

    /// Waits on, and looks after the worker now and then: the watchdog.
    #[cold]
    fn wait_long(&mut self, t: Option<f64>, is_cancelled: &dyn Fn() -> bool) -> Result<(), String> {
        let started = Instant::now();
        let mut timeout = self.timeout;
        let version = self.version;
        let process = self.process()?;
        let at = t.map_or(String::new(), |t| format!(" at t = {t} s"));
        let lost = loop {
            if process.link.wait(0, TICK) {
                return Ok(());
            }
            let call = p::get(process.link.cells(), p::CALL);
            let call = || Call::words(call, version);
            if let Some(status) = process.child.ended() {
                let (how, call) = (words_of(status), call());
                let said = process.child.last_words();
                break format!("its process {how} {call}{at}{said}");
            }
            if is_cancelled() {
                timeout = timeout.min(started.elapsed() + PATIENCE);
            }
            if started.elapsed() >= timeout {
                let call = call();
                process.child.kill();
                let said = process.child.last_words();
                let seconds = timeout.as_secs_f64();
                break format!(
                    "it did not return within {seconds} s {call}{at}, and its process was ended{said}"
                );
            }
        };
        self.process = None;
        self.cause = lost.clone();
        Err(lost)
    }

    fn send_pieces(&mut self, request: Request, bytes: &[u8]) -> Result<(), String> {
        let mut start = 0;
        loop {
            let process = self.process()?;
            let cells = process.link.cells();
            let rest = &bytes[start..];
            let piece = &rest[..rest.len().min(p::room(cells))];
            p::put_bytes(cells, piece);
            let numbers = [start, piece.len(), bytes.len()].map(|number| number as u64);
            self.call(request, None, &numbers, &[])?;
            start += piece.len();
            if start == bytes.len() {
                return Ok(());
            }
        }
    }

    pub fn initialise(&mut self, t: f64) -> Result<(), String> {
        self.known = None;
        self.call(Request::Initialise, Some(t), &[t.to_bits()], &[])
    }

    pub fn start(&mut self, t: f64, inputs: &[f64]) -> Result<(), String> {
        self.known = None;
        self.call(Request::Start, Some(t), &[inputs.len() as u64], inputs)
    }

    pub fn outputs(
        &mut self,
        t: f64,
        inputs: Option<&[f64]>,
        outputs: &mut [f64],
    ) -> Result<bool, String> {
        if let Some(known) = &self.known
            && inputs.is_none_or(|inputs| same(inputs, &known.inputs))
        {
            outputs.copy_from_slice(&known.outputs);
            return Ok(false);
        }
        let given = inputs.unwrap_or_default();
        let numbers = [u64::from(inputs.is_some()), given.len() as u64];
        self.call(Request::Outputs, Some(t), &numbers, given)?;
        let process = self.process()?;
        p::take_values(process.link.cells(), p::VALUES, outputs);
        Ok(true)
    }

    pub fn begin(
        &mut self,
        from: f64,
        to: f64,
        steps: usize,
        inputs: &[f64],
    ) -> Result<(), String> {
        if let Some(known) = self.known.take() {
            self.room = known;
        }
        let width = self.widths[0];
        let writes = u64::from(self.feeds_through);
        let numbers = [
            from.to_bits(),
            to.to_bits(),
            steps as u64,
            writes,
            width as u64,
        ];
        self.ask(Request::Advance, &numbers, inputs)?;
        self.room.inputs.clear();
        self.room.inputs.extend_from_slice(&inputs[steps * width..]);
        self.begun = Some(from);
        Ok(())
    }

    pub fn finish(&mut self, is_cancelled: &dyn Fn() -> bool) -> Result<u64, String> {
        let Some(from) = self.begun.take() else {
            return Err("no step was begun".into());
        };
        self.wait(Some(from), is_cancelled)?;
        let mut known = std::mem::take(&mut self.room);
        known.outputs.resize(self.widths[1], 0.0);
        let process = self.process()?;
        let cells = process.link.cells();
        p::take_values(cells, p::VALUES, &mut known.outputs);
        let calls = p::get(cells, p::FIRST);
        self.known = Some(known);
        Ok(calls)
    }

    pub fn keep(&mut self, place: usize) -> Result<(), String> {
        self.call(Request::Keep, None, &[place as u64], &[])
    }

    pub fn return_to(&mut self, place: usize) -> Result<(), String> {
        self.known = None;
        self.call(Request::Return, None, &[place as u64], &[])
    }

    pub fn save(&mut self, bytes: &mut Vec<u8>) -> Result<(), String> {
        bytes.clear();
        loop {
            let start = bytes.len();
            self.call(Request::Save, None, &[start as u64], &[])?;
            let cells = self.process()?.link.cells();
            let all = p::get(cells, p::FIRST) as usize;
            let count = all.saturating_sub(start).min(p::room(cells));
            bytes.extend(p::take_bytes(cells, count));
            if bytes.len() >= all {
                return Ok(());
            }
        }
    }

    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.known = None;
        self.send_pieces(Request::Restore, bytes)
    }
}

/// Whether all numbers have the same bits.
fn same(one: &[f64], other: &[f64]) -> bool {
    let pairs = one.iter().zip(other);
    one.len() == other.len() && pairs.into_iter().all(|(a, b)| a.to_bits() == b.to_bits())
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.timeout = self.timeout.min(PATIENCE);
        if self.process.is_some() && self.call(Request::Close, None, &[], &[]).is_ok() {
            self.process.take().into_iter().for_each(Process::give_back);
        }
    }
}
