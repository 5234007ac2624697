//! Signals that end a run: the first in order, the second at once. Ctrl-C, a request to terminate
//! and a terminal that hangs up are treated alike.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Once};

use oldham_cosim::Cancel;

use crate::tell;

static REQUESTED: LazyLock<Cancel> = LazyLock::new(Cancel::default);
/// Whether a run listens and finishes in order when the end is requested.
static HEARD: AtomicBool = AtomicBool::new(false);
static ANALYSING: AtomicBool = AtomicBool::new(false);
/// Whether that is a search.
static SEARCHING: AtomicBool = AtomicBool::new(false);
static IDLE: AtomicBool = AtomicBool::new(false);

/// From now on there is nothing to finish when a signal comes, and nothing is said.
pub fn idle() {
    IDLE.store(true, Ordering::Relaxed);
}

/// While this lives there is nothing to keep when a signal comes: that is said, and the program ends.
pub struct Analysis(());

impl Analysis {
    /// Begins.
    pub fn new() -> Self {
        begin();
        ANALYSING.store(true, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Analysis {
    fn drop(&mut self) {
        ANALYSING.store(false, Ordering::Relaxed);
    }
}

/// Watches for signals from now on. Before the first call of [`watch`] there is nothing to finish when one comes: the program
/// says so and ends.
pub fn begin() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(start);
}

/// The end of runs is requested when a signal comes.
pub fn watch() -> &'static Cancel {
    begin();
    HEARD.store(true, Ordering::Relaxed);
    &REQUESTED
}

/// The same for a search that keeps what it has reached.
pub fn watch_search() -> &'static Cancel {
    SEARCHING.store(true, Ordering::Relaxed);
    watch()
}

fn requested() {
    if ANALYSING.load(Ordering::Relaxed) {
        tell!("\ninterrupted: the analysis is not finished, so there is no verdict");
        std::process::exit(130);
    }
    if !HEARD.load(Ordering::Relaxed) {
        tell!("\ninterrupted: the work is not finished; files that were written stay");
        std::process::exit(130);
    }
    if REQUESTED.is_requested() {
        std::process::exit(130);
    }
    REQUESTED.request();
    if IDLE.load(Ordering::Relaxed) {
        return;
    }
    let what = match SEARCHING.load(Ordering::Relaxed) {
        true => "keeping what was reached",
        false => "finishing the step and the results",
    };
    tell!("\n{what}; press Ctrl-C again to leave at once");
}

/// A file that reaches the limit of the system on its size is an error of the write that reached it, not the end of the
/// program.
#[cfg(unix)]
pub fn outlive_file_limits() {
    use std::sync::Arc;
    let reached = Arc::new(AtomicBool::new(false));
    // Where the handler is refused, the signal ends the program as it always did.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, reached);
}

#[cfg(not(unix))]
pub fn outlive_file_limits() {}

/// Without a thread for it, which a system may refuse, signals end the program as they always do.
#[cfg(unix)]
fn start() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut wanted = vec![SIGINT, SIGTERM];
    if !is_hangup_ignored() {
        wanted.push(SIGHUP);
    }
    let (ready, started) = std::sync::mpsc::channel();
    let watching = std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            let signals = signal_hook::iterator::Signals::new(wanted);
            let _ = ready.send(());
            if let Ok(mut signals) = signals {
                signals.forever().for_each(|_| requested());
            }
        });
    if watching.is_ok() {
        let _ = started.recv();
    }
}

/// Whether the program was started so that it outlives its terminal, as by `nohup`.
#[cfg(unix)]
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
fn start() {
    // A second handler in one process is refused; there is only this one.
    let _ = ctrlc::set_handler(requested);
}
