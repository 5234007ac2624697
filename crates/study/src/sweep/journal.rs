//! What a sweep has done so far, in a file that outlives it.
//!
//! A line for each run that is over, added when its results are complete. A sweep that was killed leaves
//! at worst a torn last line, which does not count. Shards of a sweep have a journal each, in the same folder.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::shard::Shard;
use crate::Settings;

/// The file's name in the folder of a sweep.
const JOURNAL: &str = "sweep.jsonl";

/// How a run of a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SweepStatus {
    /// As it should.
    Finished,
    /// On the way.
    Failed,
    /// The model cannot be used with these values.
    Refused,
    /// Something outside of the model was in the way, such as a full disk. It is not kept: the next sweep in the
    /// same folder does it again.
    Disturbed,
}

impl SweepStatus {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Disturbed => "disturbed",
        }
    }
}

/// One run of a sweep that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRun {
    /// From one.
    pub run: usize,
    /// What was set.
    pub settings: Settings,
    /// How it ended.
    pub status: SweepStatus,
    /// Why it did not finish.
    #[serde(default)]
    pub message: Option<String>,
    /// The result file in the folder of the sweep.
    #[serde(default)]
    pub results: Option<String>,
    /// The time it came to, in s.
    #[serde(default)]
    pub time: Option<f64>,
    /// Energy at the end, in J.
    #[serde(default)]
    pub energy: Option<f64>,
    /// Spurious energy, in J.
    #[serde(default)]
    pub spurious: Option<f64>,
    /// The figures of merit, in the order of the sweep.
    #[serde(default)]
    pub merits: Vec<Option<f64>>,
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Another sweep is at work in the folder, or the same shard.
    #[error("another sweep is writing to {folder}", folder = folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds the runs of another sweep.
    #[error(
        "{folder} holds the runs of another sweep, of another model or with other values",
        folder = folder.display()
    )]
    OfAnother {
        /// The folder.
        folder: PathBuf,
    },
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Head {
    sweep: String,
    runs: usize,
}

/// Longest journal that is read.
const MOST_BYTES: u64 = 1 << 30;

/// The journal of a sweep or of a shard, open for what comes and locked for everybody else.
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    others: Mutex<Others>,
    /// What keeps a sweep of all runs out of the folder while its shards are at work.
    _shared: Option<File>,
}

impl Journal {
    /// Opens the journal of a sweep or of one of its shards, or starts it; gives the runs that are over, also those that
    /// others have done.
    pub fn open(
        folder: &Path,
        sweep: &str,
        runs: usize,
        shard: Option<Shard>,
        afresh: bool,
    ) -> Result<(Self, Vec<SweepRun>), JournalError> {
        let common = folder.join(JOURNAL);
        let path = shard.map_or(common.clone(), |shard| folder.join(shard.journal()));
        let failed = |error| JournalError::Io {
            path: path.clone(),
            error,
        };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let in_use = || JournalError::InUse {
            folder: folder.to_owned(),
        };
        let shared = match shard {
            Some(_) => Some(share(&common).map_err(failed)?.ok_or_else(in_use)?),
            None => None,
        };
        // Held until its successor is locked and stands in its place.
        let old = lock_at(&path, false).map_err(failed)?.ok_or_else(in_use)?;
        let head = Head {
            sweep: sweep.to_owned(),
            runs,
        };
        let mut others = Others {
            folder: folder.to_owned(),
            own: path.clone(),
            head: head.clone(),
            seen: BTreeMap::new(),
        };
        if afresh {
            others.remove().map_err(failed)?;
        }
        let mut done = others.news()?;
        let text = match afresh {
            true => String::new(),
            false => read(&path)?,
        };
        let own = head.lines_of(&text).ok_or_else(|| others.of_another())?;
        // Written anew, without what was torn: at any moment one of the two is there as a whole.
        let mut text = json_line(&head);
        own.iter().for_each(|run| text += &json_line(run));
        let draft = path.with_extension("jsonl.draft");
        let mut file = lock_at(&draft, true).map_err(failed)?.ok_or_else(in_use)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        std::fs::rename(&draft, &path).map_err(failed)?;
        drop(old);
        done.extend(own);
        let journal = Self {
            path,
            file: Mutex::new(file),
            others: Mutex::new(others),
            _shared: shared,
        };
        Ok((journal, done))
    }

    /// What other shards have done since this was asked last.
    pub fn news(&self) -> Result<Vec<SweepRun>, JournalError> {
        let others = self.others.lock();
        others
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .news()
    }

    /// Adds a run that is over.
    pub fn add(&self, run: &SweepRun) -> Result<(), JournalError> {
        let line = json_line(run);
        let mut file = self
            .file
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        file.write_all(line.as_bytes())
            .map_err(|error| JournalError::Io {
                path: self.path.clone(),
                error,
            })
    }
}

impl Head {
    /// The runs in the text of a journal; nothing if it is that of another sweep.
    fn lines_of(&self, text: &str) -> Option<Vec<SweepRun>> {
        let mut lines = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        match lines.next().map(serde_json::from_str::<Self>) {
            None => Some(Vec::new()),
            Some(Ok(head)) if head == *self => Some(
                lines
                    .filter_map(|line| serde_json::from_str(line).ok())
                    .filter(|run: &SweepRun| (1..=self.runs).contains(&run.run))
                    .collect(),
            ),
            Some(_) => None,
        }
    }
}

/// The other journals in a folder.
struct Others {
    folder: PathBuf,
    own: PathBuf,
    head: Head,
    /// How long each was when it was read, and how many runs it had.
    seen: BTreeMap<PathBuf, (u64, usize)>,
}

impl Others {
    fn paths(&self) -> io::Result<Vec<PathBuf>> {
        let is_journal = |name: &str| {
            name == JOURNAL || (name.starts_with("sweep-") && name.ends_with(".jsonl"))
        };
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if name.is_some_and(is_journal) && path != self.own {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// The runs that have come since this was asked last.
    fn news(&mut self) -> Result<Vec<SweepRun>, JournalError> {
        let paths = self.paths().map_err(|error| JournalError::Io {
            path: self.folder.clone(),
            error,
        })?;
        let mut news = Vec::new();
        for path in paths {
            let length = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
            let (seen, known) = self.seen.get(&path).copied().unwrap_or_default();
            if length == seen {
                continue;
            }
            let text = read(&path)?;
            let runs = self.head.lines_of(&text);
            let runs = runs.ok_or_else(|| self.of_another())?;
            // A journal that was written anew has the same runs in the same order, but for torn lines.
            let fresh = known.min(runs.len());
            self.seen.insert(path, (text.len() as u64, runs.len()));
            news.extend(runs.into_iter().skip(fresh));
        }
        Ok(news)
    }

    /// Shards that were at work before: what they did is done anew.
    fn remove(&self) -> io::Result<()> {
        self.paths()?.iter().try_for_each(std::fs::remove_file)
    }

    fn of_another(&self) -> JournalError {
        JournalError::OfAnother {
            folder: self.folder.clone(),
        }
    }
}

/// The text of a journal. What is not text is no line of ours: the run that it may have told of is done again.
fn read(path: &Path) -> Result<String, JournalError> {
    let bytes = oldham_files::read(path, MOST_BYTES).map_err(|error| JournalError::Io {
        path: path.to_owned(),
        error,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The file at a path, made if it is not there, locked together with others who share it; nothing if it is locked for
/// one alone.
fn share(path: &Path) -> io::Result<Option<File>> {
    let file = open(path)?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Ok(None),
        _ if !is_at(&file, path) => Ok(None),
        _ => Ok(Some(file)),
    }
}

fn open(path: &Path) -> io::Result<File> {
    // A pipe would block.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    OpenOptions::new().append(true).create(true).open(path)
}

/// The file at a path, made if it is not there, empty if wanted, and locked; nothing if another process has locked it. Where
/// the file system knows no locks there are none.
pub(super) fn lock_at(path: &Path, empty: bool) -> io::Result<Option<File>> {
    let file = open(path)?;
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !is_at(&file, path) {
        return Ok(None);
    }
    if empty {
        file.set_len(0)?;
    }
    Ok(Some(file))
}

/// Whether a file still stands at its path: another sweep may have put a new one there before this one was locked.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let key = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let here = file.metadata().map(key).ok();
    here.is_some() && here == std::fs::metadata(path).map(key).ok()
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

fn json_line(value: &impl Serialize) -> String {
    let line = serde_json::to_string(value);
    line.expect("numbers, texts and lists can be written") + "\n"
}
