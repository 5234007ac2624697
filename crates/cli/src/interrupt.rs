//! Ctrl-C: the first ends the run in order, the second at once.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Watches for Ctrl-C from now on; the flag is set when it comes.
pub fn watch() -> &'static AtomicBool {
    let installed = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nfinishing the step and the results; press Ctrl-C again to leave at once");
    });
    // A second watch in one process keeps the first handler, which sets the same flag.
    drop(installed);
    &REQUESTED
}
