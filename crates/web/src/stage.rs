//! A model that runs while others look on, and one of them drives.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use serde::{Deserialize, Serialize};

use crate::Seat;
use crate::film::row_bytes;

/// What somebody at a page wishes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "wish", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Wish {
    /// To be the driver.
    Drive,
    /// To be it no longer.
    Leave,
    /// The driver's: an input of the scene is to have this value.
    Set {
        /// Its place among the inputs.
        input: usize,
        /// The value.
        value: f64,
    },
    /// The driver's: the run is to wait.
    Pause,
    /// The driver's: it is to go on.
    GoOn,
    /// The driver's: it is to begin again.
    Reset,
    /// The driver's: it is to keep its present state, and go on.
    Save,
    /// The driver's: it is to go back to the state that was kept last.
    Restart,
    /// The driver's: it is to end here.
    End,
}

/// How a run is getting on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunStatus {
    /// Whether it runs.
    pub state: RunState,
    /// What there is to say: why it failed, where its results are.
    pub message: String,
    /// Simulated seconds per second of wall time.
    pub real_time_factor: f64,
    /// Median, 99th percentile and maximum of the time of a step, in microseconds.
    pub step_us: Option<[f64; 3]>,
    /// Steps that ended after their deadline.
    pub missed: Option<u64>,
    /// Whether it can go back.
    pub returns: bool,
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// It does.
    #[default]
    Running,
    /// It waits.
    Paused,
    /// It has come to its end.
    Finished,
    /// It failed.
    Failed,
}

/// What a driver does; called on the driver's thread.
type Steer = dyn Fn(Wish) + Send + Sync;

/// The meeting place of a run and those who look on. Copies share it.
#[derive(Clone)]
pub struct Stage(Arc<Inside>);

struct Inside {
    newest: Mutex<Newest>,
    status: Mutex<RunStatus>,
    /// What everybody is to know, besides how the run gets on.
    note: Mutex<String>,
    /// Counts what was told.
    told: AtomicU64,
    /// The viewer who drives; none is zero.
    driver: AtomicU64,
    viewers: AtomicU64,
    inputs: Vec<f64>,
    steer: Box<Steer>,
}

/// A row, and its number.
#[derive(Default)]
struct Newest {
    number: u64,
    time: f64,
    row: Vec<f32>,
}

impl Stage {
    /// A stage with inputs of these initial values. `steer` is called for the wishes of the driver,
    /// who drives one at a time; when that one leaves, the inputs are set to their initial values.
    pub fn new(inputs: Vec<f64>, steer: impl Fn(Wish) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inside {
            newest: Mutex::default(),
            status: Mutex::default(),
            note: Mutex::default(),
            told: AtomicU64::new(1),
            driver: AtomicU64::new(0),
            viewers: AtomicU64::new(0),
            inputs,
            steer: Box::new(steer),
        }))
    }

    /// Shows a row to all who look on. Never waits: where somebody is just reading, this row is
    /// dropped. Says whether it was taken.
    pub fn show(&self, time: f64, row: impl IntoIterator<Item = f32>) -> bool {
        let mut newest = match self.0.newest.try_lock() {
            Ok(newest) => newest,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        newest.number += 1;
        newest.time = time;
        newest.row.clear();
        newest.row.extend(row);
        true
    }

    /// Tells how the run is getting on.
    pub fn tell(&self, status: RunStatus) {
        *lock(&self.0.status) = status;
        self.changed();
    }

    /// Tells everybody something, until something else is told; nothing is an empty text.
    pub fn note(&self, text: &str) {
        text.clone_into(&mut lock(&self.0.note));
        self.changed();
    }

    /// How many look on.
    pub fn viewers(&self) -> u64 {
        self.0.viewers.load(Ordering::Relaxed)
    }

    /// Whether somebody drives.
    pub fn is_driven(&self) -> bool {
        self.0.driver.load(Ordering::Acquire) != 0
    }

    pub(crate) fn is_driven_by(&self, viewer: u64) -> bool {
        self.0.driver.load(Ordering::Acquire) == viewer
    }

    pub(crate) fn is_paused(&self) -> bool {
        lock(&self.0.status).state == RunState::Paused
    }

    fn changed(&self) {
        self.0.told.fetch_add(1, Ordering::Release);
    }

    /// A number that changes with what `status_for` would say.
    pub(crate) fn told(&self) -> u64 {
        self.0.told.load(Ordering::Acquire)
    }

    /// What a viewer is told of the run and of who drives, as JSON.
    pub(crate) fn status_for(&self, viewer: u64) -> String {
        #[derive(Serialize)]
        struct Told<'a> {
            driver: &'static str,
            viewers: u64,
            note: &'a str,
            run: &'a RunStatus,
        }
        let driver = match self.0.driver.load(Ordering::Acquire) {
            0 => "nobody",
            driver if driver == viewer => "you",
            Seat::ID => "wheel",
            _ => "other",
        };
        let told = Told {
            driver,
            viewers: self.viewers(),
            note: &lock(&self.0.note),
            run: &lock(&self.0.status),
        };
        serde_json::to_string(&told).expect("plain data can be written")
    }

    /// The newest row as bytes, if it is newer than the one of this number.
    pub(crate) fn newer_than(&self, seen: &mut u64) -> Option<Vec<u8>> {
        let newest = self.look(seen)?;
        Some(row_bytes(newest.time, &newest.row))
    }

    /// The same of one of its numbers alone.
    pub(crate) fn number_newer_than(&self, seen: &mut u64, at: usize) -> Option<f32> {
        self.look(seen)?.row.get(at).copied()
    }

    fn look(&self, seen: &mut u64) -> Option<MutexGuard<'_, Newest>> {
        let newest = lock(&self.0.newest);
        let is_new = newest.number > *seen;
        *seen = newest.number;
        is_new.then_some(newest)
    }

    pub(crate) fn enter(&self) {
        self.0.viewers.fetch_add(1, Ordering::Relaxed);
        self.changed();
    }

    pub(crate) fn leave(&self, viewer: u64) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
        self.release(viewer);
        self.changed();
    }

    /// Does what a viewer wishes, if that one may.
    pub(crate) fn obey(&self, viewer: u64, wish: Wish) {
        let drives = || self.is_driven_by(viewer);
        let driver = &self.0.driver;
        match wish {
            Wish::Drive => {
                let taken = driver.compare_exchange(0, viewer, Ordering::AcqRel, Ordering::Acquire);
                if taken.is_ok() {
                    (self.0.steer)(wish);
                }
                self.changed();
            }
            Wish::Leave => self.release(viewer),
            Wish::Set { input, value } => {
                if drives() && input < self.0.inputs.len() && value.is_finite() {
                    (self.0.steer)(wish);
                }
            }
            Wish::Pause | Wish::GoOn | Wish::Reset | Wish::Save | Wish::Restart | Wish::End => {
                if drives() && !self.is_over_for(wish) {
                    (self.0.steer)(wish);
                    self.waits(wish);
                }
            }
        }
    }

    /// Whether it would go back, but has ended for good.
    fn is_over_for(&self, wish: Wish) -> bool {
        let status = lock(&self.0.status);
        let is_over = matches!(status.state, RunState::Finished | RunState::Failed);
        is_over && !status.returns && matches!(wish, Wish::Reset | Wish::Restart)
    }

    /// A run that waits tells nothing: it is told for it.
    fn waits(&self, wish: Wish) {
        let mut status = lock(&self.0.status);
        status.state = match (wish, status.state) {
            (Wish::Pause, RunState::Running) => RunState::Paused,
            (Wish::GoOn, RunState::Paused) | (Wish::Reset | Wish::Restart, _) => RunState::Running,
            (_, state) => state,
        };
        drop(status);
        self.changed();
    }

    /// Whoever lets go of the inputs leaves them as they were at first, and nothing waits for them.
    fn release(&self, viewer: u64) {
        let driver = &self.0.driver;
        let freed = driver.compare_exchange(viewer, 0, Ordering::AcqRel, Ordering::Acquire);
        if freed.is_ok() {
            for (input, &value) in self.0.inputs.iter().enumerate() {
                (self.0.steer)(Wish::Set { input, value });
            }
            (self.0.steer)(Wish::GoOn);
            self.waits(Wish::GoOn);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that was ended for good stays ended, whatever a client asks for.
    #[test]
    fn nothing_goes_back_after_the_end() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ears = heard.clone();
        let stage = Stage::new(Vec::new(), move |wish| lock(&ears).push(wish));
        stage.obey(1, Wish::Drive);
        let over = |returns| RunStatus {
            state: RunState::Finished,
            returns,
            ..RunStatus::default()
        };
        stage.tell(over(false));
        stage.obey(1, Wish::Reset);
        assert!(stage.status_for(1).contains(r#""state":"finished""#));
        stage.tell(over(true));
        stage.obey(1, Wish::Reset);
        assert!(stage.status_for(1).contains(r#""state":"running""#));
        assert_eq!(*lock(&heard), [Wish::Drive, Wish::Reset]);
    }

    #[test]
    fn one_drives_and_lets_go_of_everything() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ears = heard.clone();
        let stage = Stage::new(vec![1.5], move |wish| lock(&ears).push(wish));
        let set = |value| Wish::Set { input: 0, value };
        stage.obey(1, set(7.0));
        stage.obey(1, Wish::Drive);
        stage.obey(2, Wish::Drive);
        stage.obey(2, set(8.0));
        stage.obey(1, set(9.0));
        stage.obey(
            1,
            Wish::Set {
                input: 3,
                value: 1.0,
            },
        );
        stage.obey(1, set(f64::NAN));
        assert!(stage.status_for(1).contains(r#""driver":"you""#));
        assert!(stage.status_for(2).contains(r#""driver":"other""#));
        stage.obey(2, Wish::Pause);
        assert!(stage.status_for(2).contains(r#""state":"running""#));
        stage.obey(1, Wish::Pause);
        assert!(stage.status_for(2).contains(r#""state":"paused""#));
        stage.obey(2, Wish::Reset);
        stage.obey(1, Wish::Restart);
        assert!(stage.status_for(2).contains(r#""state":"running""#));
        stage.leave(1);
        assert_eq!(
            *lock(&heard),
            [
                Wish::Drive,
                set(9.0),
                Wish::Pause,
                Wish::Restart,
                set(1.5),
                Wish::GoOn
            ]
        );
        assert!(stage.status_for(2).contains(r#""state":"running""#));
        assert!(!stage.is_driven());
    }

    #[test]
    fn one_may_drive_without_a_page() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ears = heard.clone();
        let stage = Stage::new(vec![0.5], move |wish| lock(&ears).push(wish));
        let set = |value| Wish::Set { input: 0, value };
        let mut seat = Seat::at(&stage);
        seat.wish(Wish::Drive);
        stage.obey(1, Wish::Drive);
        assert!(stage.status_for(1).contains(r#""driver":"wheel""#));
        seat.wish(set(2.0));
        assert_eq!(seat.newest(1), None);
        stage.show(0.0, [1.0, 2.0]);
        assert_eq!((seat.newest(1), seat.newest(1)), (Some(2.0), None));
        stage.note("It is <gone>.");
        assert!(stage.status_for(1).contains(r#""note":"It is <gone>.""#));
        drop(seat);
        assert!(!stage.is_driven());
        let expected = [Wish::Drive, set(2.0), set(0.5), Wish::GoOn];
        assert_eq!(*lock(&heard), expected);
    }

    #[test]
    fn the_newest_row_wins() {
        let stage = Stage::new(Vec::new(), |_| {});
        let mut seen = 0;
        assert_eq!(stage.newer_than(&mut seen), None);
        for i in 0..5_u8 {
            assert!(stage.show(f64::from(i), [f32::from(i)]));
        }
        assert_eq!(stage.newer_than(&mut seen), Some(row_bytes(4.0, &[4.0])));
        assert_eq!(stage.newer_than(&mut seen), None);
        let reading = lock(&stage.0.newest);
        assert!(!stage.show(5.0, [5.0]), "a run waits for nobody");
        drop(reading);
    }
}
