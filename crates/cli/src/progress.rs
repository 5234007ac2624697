//! The progress bar of a run.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use oldham_cosim::Progress;

/// Shows how far a run has come, on standard error if that is a terminal.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar for so many steps; silent when `hidden`.
    pub fn new(steps: u64, hidden: bool) -> Self {
        if hidden {
            return Self(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}  {eta} left");
        let bar = ProgressBar::new(steps);
        bar.set_style(style.expect("the template is valid"));
        Self(bar)
    }

    /// A bar that counts items, such as variants.
    pub fn of_items(items: u64, hidden: bool) -> Self {
        let bar = Self::new(items, hidden);
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len}  {msg}");
        bar.0.set_style(style.expect("the template is valid"));
        bar
    }

    /// A bar over work whose parts take about so many seconds each: it fills as time passes, and tells what is left.
    pub fn of_seconds(seconds: f64, hidden: bool) -> Self {
        let bar = Self::new(seconds.ceil() as u64, hidden);
        let style =
            ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}  about {eta} left");
        bar.0.set_style(style.expect("the template is valid"));
        bar.0.enable_steady_tick(Duration::from_secs(1));
        bar
    }

    /// Moves the bar.
    pub fn show(&self, progress: Progress) {
        self.0.set_position(progress.steps);
        self.0.set_message(format!(
            "t = {:.3} s, {:.1} x real time",
            progress.time, progress.real_time_factor
        ));
    }

    /// Prints something while the bar is out of the way.
    pub fn aside(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    /// Starts the next item.
    pub fn item(&self, position: u64, name: &str) {
        self.0.set_position(position);
        self.0.set_message(crate::output::escaped(name));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Work that is done at once or shows itself: what takes longer than this does.
const SILENCE: Duration = Duration::from_secs(1);

/// Tells on standard error that something takes its time, and for how long already.
pub struct Waiting(Option<(Sender<String>, JoinHandle<()>)>);

impl Waiting {
    /// For this work, until it is dropped; silent when `hidden`.
    pub fn new(what: &str, hidden: bool) -> Self {
        if hidden {
            return Self(None);
        }
        let (sender, receiver) = channel();
        let mut what = what.to_owned();
        let show = move || {
            let begun = Instant::now();
            loop {
                match receiver.recv_timeout(SILENCE.saturating_sub(begun.elapsed())) {
                    Ok(now) => what = now,
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
            bar.set_style(style.expect("the template is valid"));
            bar.set_message(what);
            bar.enable_steady_tick(Duration::from_millis(200));
            // Ends when the sender is dropped.
            receiver.iter().for_each(|now| bar.set_message(now));
            bar.finish_and_clear();
        };
        // Without a thread for it, which a system may refuse, the work goes on in silence.
        let thread = std::thread::Builder::new().spawn(show);
        Self(thread.ok().map(|thread| (sender, thread)))
    }

    /// Now it is at this.
    pub fn at(&self, what: String) {
        if let Some((sender, _)) = &self.0 {
            // That nothing is shown any more is no reason to stop.
            let _ = sender.send(what);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // It draws at most once more; that it panicked is not worth a word.
            let _ = thread.join();
        }
    }
}
