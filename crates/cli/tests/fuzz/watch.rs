//! Watches a case while it runs: how long it takes, what the process holds in memory, whether it panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// What a process may hold with a reader at work, in bytes.
const MOST_MEMORY: u64 = 1 << 30;

/// What runs now, and since when.
static RUNNING: Mutex<Vec<(String, Instant)>> = Mutex::new(Vec::new());

/// How long a case may take: longer in the default count, since other tests run beside it.
fn most_time() -> Duration {
    Duration::from_secs(if super::is_asked_for() { 20 } else { 120 })
}

/// The memory that this process holds now, where the system tells it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map_or(0, |count| count << 10)
}

/// Looks every few milliseconds. A case that does not end cannot be ended from outside, so the process is.
fn start() {
    static STARTED: OnceLock<()> = OnceLock::new();
    STARTED.get_or_init(|| {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_millis(20));
                let running = RUNNING
                    .lock()
                    .unwrap_or_else(|error| error.into_inner())
                    .clone();
                let slow = running
                    .iter()
                    .find(|(_, since)| since.elapsed() > most_time());
                if let Some((case, _)) = slow {
                    end(&format!("{case} takes longer than {:?}", most_time()));
                }
                if memory() > MOST_MEMORY {
                    let cases: Vec<_> = running.iter().map(|(case, _)| case).collect();
                    end(&format!(
                        "more than {MOST_MEMORY} bytes are held while {cases:?} run"
                    ));
                }
            }
        });
    });
}

/// Says why past the harness, which would keep it to itself, and ends.
fn end(reason: &str) -> ! {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "\n{reason}");
    std::process::exit(1);
}

/// Runs a case. A panic of it is its failure, and so is a reason that it gives itself.
pub fn watched(case: &str, run: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    start();
    let lock = || RUNNING.lock().unwrap_or_else(|error| error.into_inner());
    lock().push((case.to_owned(), Instant::now()));
    let outcome = catch_unwind(AssertUnwindSafe(run));
    lock().retain(|(other, _)| other != case);
    match outcome {
        Ok(outcome) => outcome.map_err(|reason| format!("{case}: {reason}")),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(format!("{case}: panic: {}", text.unwrap_or_default()))
        }
    }
}
