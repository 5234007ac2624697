//! Processes that this one starts: what they said last, and how they ended.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader, Read, Result};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Lines that are kept, and those that are shown.
const LINES: usize = 20;
const SHOWN: usize = 3;
/// Bytes after which a line is another one.
const LONGEST: u64 = 4096;
/// How long last words are waited for.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// A process that was started, and ends with this value.
pub struct Started {
    child: Child,
    said: Arc<Mutex<VecDeque<String>>>,
    listener: Option<JoinHandle<()>>,
}

impl Started {
    /// Starts a process. What it writes is listened to; Ctrl-C in a terminal is not for it.
    pub fn new(mut command: Command) -> Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        command
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        let child = spawn(command)?;
        let said = Arc::<Mutex<VecDeque<String>>>::default();
        let listener = {
            let said = said.clone();
            std::thread::spawn(move || listen(reader, &said))
        };
        Ok(Self {
            child,
            said,
            listener: Some(listener),
        })
    }

    /// How it has ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Ends it.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// What it said last, as the end of a sentence.
    pub fn last_words(&mut self) -> String {
        if let Some(listener) = self.listener.take() {
            // What it started itself may hold the pipe open: that is not waited for.
            let until = Instant::now() + LAST_WORDS;
            while !listener.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let last = said.iter().skip(said.len().saturating_sub(SHOWN));
        let last: Vec<&str> = last.map(String::as_str).collect();
        match last.is_empty() {
            true => String::new(),
            false => format!("; it said last: {}", last.join(" / ")),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill();
    }
}

fn listen(reader: PipeReader, said: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    let mut next = |line: &mut Vec<u8>| reader.by_ref().take(LONGEST).read_until(b'\n', line);
    while matches!(next(&mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        line.clear();
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() == LINES {
            said.pop_front();
        }
        if !text.is_empty() {
            said.push_back(text);
        }
    }
}

/// Starts processes from a thread that lasts: those that [end with their parent](crate::end_with_parent) end with the
/// thread that started them.
fn spawn(command: Command) -> Result<Child> {
    type Job = (Command, Sender<Result<Child>>);
    static STARTER: OnceLock<Mutex<Sender<Job>>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (sender, jobs) = channel::<Job>();
        std::thread::spawn(move || {
            for (mut command, answer) in jobs {
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(sender)
    });
    let (sender, answer) = channel();
    let gone = || std::io::Error::other("the thread that starts processes has ended");
    let sent = starter
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .send((command, sender));
    sent.map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

/// How a process ended, in words.
pub fn words_of(status: ExitStatus) -> String {
    const SIGNALS: [(i32, &str); 8] = [
        (4, "illegal instruction"),
        (6, "abort"),
        (7, "bus error"),
        (8, "arithmetic exception"),
        (9, "killed"),
        (11, "segmentation fault"),
        (15, "terminated"),
        (24, "its limit of CPU time"),
    ];
    match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let known = SIGNALS.iter().find(|(number, _)| *number == signal);
            let word = known.map_or(String::new(), |(_, word)| format!(" ({word})"));
            format!("was ended by signal {signal}{word}")
        }
        (None, Some(code)) => format!("ended by itself with exit status {code}"),
        _ => "ended".into(),
    }
}
