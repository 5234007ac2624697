//! The parts of one model on several processes.
//!
//! Every rank has all parts and advances its own. At each meeting its first thread exchanges what
//! the rank's threads have written: afterwards all ranks have the same exchange buffer, so that
//! whatever follows from it alone (the iteration of implicit steps, the watch over the energy, the
//! rows) is done by all of them alike and needs no message. When a run ends, the ranks hand each
//! other the states of their parts: what is asked of a simulation then is answered by any of them.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::barrier::Barrier;
use crate::exchange_buffer::ExchangeBuffer;
use crate::fault::Fault;
use crate::load_balancing::owners_of_ranks;
use crate::meeting::{Brought, Meeting};
use crate::simulation::Simulation;
use crate::state::Snapshot;
use crate::stats::Spent;
use crate::subsystem::Counters;
use crate::unit::Unit;
use crate::worker::Signals;

/// Words of a message before its cells: the barrier epoch before which the first fault happened,
/// the last step to do, whether the run was cancelled, what the message brings, and for how many
/// nanoseconds the rank was at work since the last meeting.
const HEAD: usize = 5;

/// How many words each rank gives, and where they begin in what all get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Portions {
    /// Of each rank.
    pub counts: Vec<i32>,
    /// Of each rank.
    pub starts: Vec<i32>,
}

impl Portions {
    /// Portions of so many words, one after the other.
    ///
    /// # Panics
    /// If they are more than 2^31 words together.
    pub fn new(counts: impl IntoIterator<Item = usize>) -> Self {
        let small = |words: usize| i32::try_from(words).expect("fewer than 2^31 words");
        let (mut portions, mut total) = (Self::default(), 0);
        for count in counts {
            portions.counts.push(small(count));
            portions.starts.push(small(total));
            total += count;
        }
        small(total);
        portions
    }

    /// Words of all ranks together.
    pub fn total(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }

    /// Where the words of a rank stand.
    pub fn range(&self, rank: usize) -> Range<usize> {
        let start = self.starts[rank] as usize;
        start..start + self.counts[rank] as usize
    }
}

/// Processes that advance the parts of one model together.
///
/// Its calls are collective: all ranks make the same ones in the same order, each from the thread
/// that called [`Simulation::run`].
pub trait Ranks: Send + Sync {
    /// Which of them this one is, from zero.
    fn rank(&self) -> usize;
    /// How many there are.
    fn size(&self) -> usize;
    /// Each rank gives its portion of words and gets those of all.
    fn all_gather(&self, given: &[u64], portions: &Portions, all: &mut [u64]);
    /// Ends all ranks at once: this one cannot go on, and the others would wait for it.
    fn abort(&self, cause: &str) -> !;
}

/// Each rank gives some words, however many; gives those of all.
pub fn gather_words(ranks: &dyn Ranks, given: &[u64]) -> Vec<Vec<u64>> {
    let size = ranks.size();
    let mut counts = vec![0; size];
    let one_each = Portions::new(vec![1; size]);
    ranks.all_gather(&[given.len() as u64], &one_each, &mut counts);
    let portions = Portions::new(counts.into_iter().map(|count| count as usize));
    let mut all = vec![0; portions.total()];
    ranks.all_gather(given, &portions, &mut all);
    (0..size)
        .map(|rank| all[portions.range(rank)].to_vec())
        .collect()
}

/// The same with texts.
pub fn gather_texts(ranks: &dyn Ranks, given: &str) -> Vec<String> {
    let words = gather_words(ranks, &words_of_text(given));
    words.iter().map(|words| text_of_words(words)).collect()
}

/// A text as words: its length in bytes, then its bytes.
fn words_of_text(text: &str) -> Vec<u64> {
    let chunks = text.as_bytes().chunks(8).map(|chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(bytes)
    });
    std::iter::once(text.len() as u64).chain(chunks).collect()
}

fn text_of_words(words: &[u64]) -> String {
    let Some((&length, words)) = words.split_first() else {
        return String::new();
    };
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(length as usize);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Why a simulation cannot be shared among ranks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SharingError {
    /// What the ranks hand each other is missing.
    #[error(
        "`{0}` cannot save its state, so this model cannot run on several ranks of MPI; run it on one machine"
    )]
    NoState(String),
    /// It is done by another process, which would be there once per rank.
    #[error(
        "`{0}` is advanced by another process, and a part outside of Oldham can exist only once, so this model cannot run on several ranks of MPI; run it on one machine"
    )]
    Foreign(String),
    /// A part failed when it was asked.
    #[error(transparent)]
    Fault(Fault),
}

/// What a rank did, as far as it was timed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankSummary {
    /// Which rank.
    pub rank: usize,
    /// Its parts.
    pub parts: Vec<String>,
    /// Microseconds per step between meetings: its parts, and for the first rank recording.
    pub work_us: f64,
    /// Microseconds per step for which it waited for ranks with more to do.
    pub waiting_us: f64,
    /// Microseconds per step for the exchange itself.
    pub exchange_us: f64,
    /// Meetings with other ranks.
    pub meetings: u64,
}

/// The ranks of a simulation, and who has which unit.
pub(crate) struct Company {
    ranks: Arc<dyn Ranks>,
    owners: Vec<usize>,
    portions: Portions,
    /// Cells of the exchange buffer that each rank writes.
    cells: Vec<Cells>,
    /// Distance between the two halves of outputs, and how many of them a message has.
    stride: usize,
    halves: usize,
    desk: Mutex<Desk>,
    pub summaries: Vec<RankSummary>,
}

/// The cells of the units of one rank.
#[derive(Default)]
struct Cells {
    outputs: Vec<Range<usize>>,
    iterates: Vec<Range<usize>>,
    reports: Vec<Range<usize>>,
}

impl Cells {
    fn of<'u>(units: impl Iterator<Item = &'u Unit>) -> Self {
        let mut cells = Self::default();
        for unit in units {
            let width = unit.ports.output_width() + 1 + unit.seldom.count();
            cells.outputs.push(from(unit.places.outputs, width));
            cells
                .reports
                .push(from(unit.places.report, unit.report_width()));
            let incoming = unit.incoming.all().iter();
            let iterates = incoming.map(|incoming| from(incoming.iterate, incoming.input.len()));
            cells.iterates.extend(iterates);
        }
        cells
    }

    fn most(&self, halves: usize) -> usize {
        let count = |ranges: &[Range<usize>]| ranges.iter().map(Range::len).sum::<usize>();
        let outputs = halves * count(&self.outputs);
        outputs.max(count(&self.iterates)).max(count(&self.reports))
    }
}

fn from(start: usize, width: usize) -> Range<usize> {
    start..start + width
}

/// Room for messages, and where the time went.
struct Desk {
    given: Vec<u64>,
    all: Vec<u64>,
    left: Instant,
    work: Duration,
    waiting: Duration,
    exchange: Duration,
    meetings: u64,
    /// Whether all ranks know how the run ended.
    agreed: bool,
}

impl Company {
    fn new(ranks: Arc<dyn Ranks>, simulation: &Simulation) -> Self {
        let (units, plan) = (&simulation.units, &simulation.plan);
        let owners = owners_of_ranks(units, plan, ranks.size());
        let of_rank = |rank: usize| units.iter().zip(&owners).filter(move |(_, o)| **o == rank);
        let all = 0..ranks.size();
        let cells: Vec<Cells> = all
            .map(|rank| Cells::of(of_rank(rank).map(|(unit, _)| unit)))
            .collect();
        // Where a meeting may be left out, the next one brings what two phases have sent.
        let halves = if plan.steps_join { 2 } else { 1 };
        let portions = Portions::new(cells.iter().map(|cells| HEAD + cells.most(halves)));
        let desk = Desk {
            given: vec![0; portions.counts[ranks.rank()] as usize],
            all: vec![0; portions.total()],
            left: Instant::now(),
            work: Duration::ZERO,
            waiting: Duration::ZERO,
            exchange: Duration::ZERO,
            meetings: 0,
            agreed: false,
        };
        Self {
            stride: plan.stride,
            desk: Mutex::new(desk),
            ranks,
            owners,
            portions,
            cells,
            halves,
            summaries: Vec::new(),
        }
    }

    /// Whether a unit is advanced by this rank.
    pub fn is_here(&self, unit: usize) -> bool {
        self.owners[unit] == self.ranks.rank()
    }

    /// How many units are.
    pub fn count_here(&self) -> usize {
        let rank = self.ranks.rank();
        self.owners.iter().filter(|&&owner| owner == rank).count()
    }

    fn desk(&self) -> std::sync::MutexGuard<'_, Desk> {
        self.desk
            .lock()
            .expect("no thread panics while it holds it")
    }

    /// A run begins: how it ends is not known yet.
    pub fn begin(&self) {
        self.desk().agreed = false;
    }

    /// The ranks tell each other whether something failed: the first fault, of the earliest epoch and the
    /// first unit, is what all of them end with.
    pub fn agree(&self, fault: Option<(u64, usize, Fault)>) -> Result<(), Fault> {
        let given = match &fault {
            Some((epoch, unit, fault)) => {
                let mut words = vec![1, *epoch, *unit as u64];
                words.push(u64::from(fault.is_of_a_part()));
                words.extend(words_of_text(&fault.to_string()));
                words
            }
            None => vec![0],
        };
        let all = gather_words(self.ranks.as_ref(), &given);
        let failed = (0..).zip(&all).filter(|(_, words)| words[0] == 1);
        let first = failed.min_by_key(|(rank, words)| (words[1], words[2], *rank));
        let Some((rank, words)) = first else {
            return Ok(());
        };
        self.desk().agreed = true;
        match fault {
            Some((_, _, fault)) if rank == self.ranks.rank() => Err(fault),
            _ => Err(Fault::OnRank {
                rank,
                message: text_of_words(&words[4..]),
                of_a_part: words[3] == 1,
            }),
        }
    }

    /// Ends the job if this rank has failed and the others do not know it: they wait for it.
    pub fn must_be_agreed<T>(&self, end: Result<T, Fault>) -> Result<T, Fault> {
        if let Err(fault) = &end
            && !self.desk().agreed
        {
            self.ranks.abort(&fault.to_string());
        }
        end
    }

    /// Exchanges what is new, and the signals.
    fn exchange(&self, exchange: &ExchangeBuffer, brought: Brought, signals: &Signals) {
        let mut desk = self.desk();
        let desk = &mut *desk;
        let (given, all) = (&mut desk.given, &mut desk.all);
        let arrived = Instant::now();
        let worked = arrived - desk.left;
        let rank = self.ranks.rank();
        given[0] = signals.fault_epoch.load(Relaxed);
        given[1] = signals.last_step.load(Relaxed);
        given[2] = u64::from(signals.is_cancelled.load(Relaxed));
        given[3] = code(brought);
        given[4] = worked.as_nanos() as u64;
        let mut cells = self.places(rank, brought);
        for word in &mut given[HEAD..] {
            match cells.next() {
                Some(place) => *word = exchange.word(place),
                None => break,
            }
        }
        self.ranks.all_gather(given, &self.portions, all);
        let mut longest = worked.as_nanos() as u64;
        let heads = (0..self.ranks.size()).map(|rank| &all[self.portions.range(rank)][..HEAD]);
        let mut in_step = true;
        for head in heads {
            signals.fault_epoch.fetch_min(head[0], Relaxed);
            signals.last_step.fetch_min(head[1], Relaxed);
            signals.is_cancelled.fetch_or(head[2] != 0, Relaxed);
            in_step &= head[3] == code(brought);
            longest = longest.max(head[4]);
        }
        // After a fault some come from elsewhere, and what they bring is not read.
        if signals.fault_epoch.load(Relaxed) == u64::MAX {
            if !in_step {
                let cause = "the ranks are not at the same point of the run: are all of them the same program?";
                self.ranks.abort(cause);
            }
            let others = (0..self.ranks.size()).filter(|&other| other != rank);
            for other in others {
                let words = &all[self.portions.range(other)][HEAD..];
                for (place, &word) in self.places(other, brought).zip(words) {
                    exchange.write_word(place, word);
                }
            }
        }
        let now = Instant::now();
        let waiting = Duration::from_nanos(longest) - worked.min(Duration::from_nanos(longest));
        let there = now - arrived;
        desk.work += worked;
        desk.waiting += waiting.min(there);
        desk.exchange += there.saturating_sub(waiting);
        desk.meetings += 1;
        desk.left = now;
    }

    /// The places of what a rank brings, in order.
    fn places(&self, rank: usize, brought: Brought) -> impl Iterator<Item = usize> + use<'_> {
        let cells = &self.cells[rank];
        let (ranges, first, halves) = match brought {
            Brought::Nothing => (&[][..], 0, 0),
            Brought::Outputs(_) if self.halves == 2 => (&cells.outputs[..], 0, 2),
            Brought::Outputs(half) => (&cells.outputs[..], half, 1),
            Brought::Iterates => (&cells.iterates[..], 0, 1),
            Brought::Reports => (&cells.reports[..], 0, 1),
        };
        let stride = self.stride;
        let shifts = (first..first + halves).map(move |half| half * stride);
        shifts.flat_map(move |shift| {
            let ranges = ranges.iter();
            ranges.flat_map(move |range| range.start + shift..range.end + shift)
        })
    }
}

fn code(brought: Brought) -> u64 {
    match brought {
        Brought::Nothing => 0,
        Brought::Outputs(half) => 1 + half as u64,
        Brought::Iterates => 3,
        Brought::Reports => 4,
    }
}

/// The threads of a rank meet, the first of them exchanges with the other ranks, and they meet again.
pub(crate) struct RankMeeting<'a> {
    barrier: Barrier,
    company: &'a Company,
    exchange: &'a ExchangeBuffer,
}

impl<'a> RankMeeting<'a> {
    /// For so many threads on this rank.
    pub fn new(threads: usize, company: &'a Company, exchange: &'a ExchangeBuffer) -> Self {
        company.desk().left = Instant::now();
        Self {
            barrier: Barrier::new(threads),
            company,
            exchange,
        }
    }
}

impl Meeting for RankMeeting<'_> {
    fn wait(&self, thread: usize, brought: Brought, signals: &Signals) {
        self.barrier.wait(thread);
        if thread == 0 {
            self.company.exchange(self.exchange, brought, signals);
        }
        self.barrier.wait(thread);
    }

    fn is_needed(&self) -> bool {
        true
    }

    fn slept(&self) -> Duration {
        self.barrier.slept()
    }
}

impl Simulation {
    /// From now on this process and others run the simulation together, each with its own parts.
    /// All of them have built it alike, and call the same methods in the same order.
    pub fn share(&mut self, ranks: Arc<dyn Ranks>) -> Result<(), SharingError> {
        let part = self.part_without_state().map_err(SharingError::Fault)?;
        let part = match part {
            Some(part) => Some(part),
            None => self.part_without_bytes().map_err(SharingError::Fault)?,
        };
        if let Some(part) = part {
            return Err(SharingError::NoState(part));
        }
        if let Some(unit) = self.units.iter().find(|unit| unit.is_remote) {
            return Err(SharingError::Foreign(unit.name.clone()));
        }
        self.ask_parts().map_err(SharingError::Fault)?;
        let company = Company::new(ranks, self);
        for (id, unit) in self.units.iter_mut().enumerate() {
            unit.is_elsewhere = !company.is_here(id);
        }
        self.company = Some(company);
        Ok(())
    }

    /// Where ranks share the simulation, they tell each other of what failed outside of a run: the first rank on
    /// which something did, and what. All of them call it, with what failed here.
    pub fn failed_on_a_rank(&self, failure: Option<String>) -> Option<(usize, String)> {
        let company = self.company.as_ref()?;
        let told = failure.map_or(String::new(), |cause| format!("failed: {cause}"));
        let told = gather_texts(company.ranks.as_ref(), &told);
        let mut failed = told.iter().enumerate();
        failed.find_map(|(rank, told)| Some((rank, told.strip_prefix("failed: ")?.to_owned())))
    }

    /// The ranks hand each other the states of their parts, and what they have done.
    pub(crate) fn gather(&mut self) -> Result<(), Fault> {
        let Some(company) = &self.company else {
            return Ok(());
        };
        let t = self.time();
        let mut given = Vec::new();
        let mut failed = None;
        for (id, unit) in self.units.iter_mut().enumerate() {
            if !company.is_here(id) {
                continue;
            }
            let words = unit.guarded(t, |unit| Ok(words_of(unit)));
            match words {
                Ok(words) => {
                    given.push(words.len() as u64);
                    given.extend(words);
                }
                Err(fault) => {
                    given.push(0);
                    failed.get_or_insert((0, id, fault));
                }
            }
        }
        {
            let desk = company.desk();
            let times = [desk.work, desk.waiting, desk.exchange];
            given.extend(times.map(|time| time.as_nanos() as u64));
            given.push(desk.meetings);
        }
        let all = gather_words(company.ranks.as_ref(), &given);
        let steps = self.steps_done.max(1) as f64;
        let mut summaries = Vec::new();
        for (rank, words) in all.iter().enumerate() {
            let mut words = words.iter().copied();
            let mut parts = Vec::new();
            for (id, unit) in self.units.iter_mut().enumerate() {
                if company.owners[id] != rank {
                    continue;
                }
                parts.push(unit.name.clone());
                let length = words.next().unwrap_or(0) as usize;
                let of_unit: Vec<u64> = words.by_ref().take(length).collect();
                if unit.is_elsewhere && length > 0 {
                    let taken = unit.guarded(t, |unit| {
                        take(unit, &of_unit);
                        Ok(())
                    });
                    if let Err(fault) = taken {
                        failed.get_or_insert((0, id, fault));
                    }
                }
            }
            let mut per_step = || words.next().unwrap_or(0) as f64 * 1e-3 / steps;
            let [work_us, waiting_us, exchange_us] = [per_step(), per_step(), per_step()];
            summaries.push(RankSummary {
                rank,
                parts,
                work_us,
                waiting_us,
                exchange_us,
                meetings: words.next().unwrap_or(0),
            });
        }
        let agreed = company.agree(failed);
        if let Some(company) = &mut self.company {
            company.summaries = summaries;
        }
        agreed
    }
}

/// What others need to know of a unit to answer for it: its state, what it shows, and what it has done.
fn words_of(unit: &mut Unit) -> Vec<u64> {
    let mut words = Vec::new();
    let mut state = Snapshot::default();
    state.keep(unit);
    words.push(state.words().len() as u64);
    words.extend_from_slice(state.words());
    words.extend(unit.shown().iter().map(|value| value.to_bits()));
    words.push(unit.received);
    words.push(unit.told.work.to_bits());
    words.extend(unit.told.counters.words());
    words.extend(unit.spent.words());
    let note = unit.told.note.as_ref();
    words.push(u64::from(note.is_some()));
    words.extend(words_of_text(note.map_or("", String::as_str)));
    words
}

fn take(unit: &mut Unit, words: &[u64]) {
    let (&length, words) = words.split_first().expect("the length of a state");
    let (state, words) = words.split_at(length as usize);
    Snapshot::from_words(state.to_vec()).restore(unit);
    let (shown, words) = words.split_at(unit.shown().len());
    unit.show_instead(shown);
    let mut words = words.iter().copied();
    let mut next = || words.next().expect("a unit has as many words on all ranks");
    unit.received = next();
    unit.told.work = f64::from_bits(next());
    unit.told.counters = Counters::of_words(&mut next);
    unit.spent = Spent::of_words(&mut next);
    let has_note = next() == 1;
    let rest: Vec<u64> = words.collect();
    unit.told.note = has_note.then(|| text_of_words(&rest));
}
