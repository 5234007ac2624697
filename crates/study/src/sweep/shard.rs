//! Sweeps that several processes share, on one machine or on many with one folder.
//!
//! Runs are dealt by their numbers. Each shard writes a journal of its own; a run is claimed by a locked file
//! before it is begun, so that shards that overlap do nothing twice, and the claim of a shard that died is free.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::journal::lock_at;

/// Every how-many-th run of a sweep, and from which one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// The runs of this shard, counted from one.
    pub fn has(self, run: usize) -> bool {
        run % self.of == self.number % self.of
    }

    /// The name of its journal in the folder of the sweep.
    pub fn journal(self) -> String {
        format!("sweep-{}-of-{}.jsonl", self.number, self.of)
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// A text that names no shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a shard is written as K/N with K from 1 to N, such as 3/16")]
pub struct NoShard;

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (number, of) = text.split_once('/').ok_or(NoShard)?;
        let number: usize = number.trim().parse().map_err(|_| NoShard)?;
        let of: usize = of.trim().parse().map_err(|_| NoShard)?;
        match (1..=of).contains(&number) {
            true => Ok(Self { number, of }),
            false => Err(NoShard),
        }
    }
}

/// A run that this process alone does, until this is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    path: PathBuf,
    _locked: File,
}

impl Claim {
    /// Claims what has this name in the folder; nothing if another process has claimed it.
    pub fn new(folder: &Path, name: &str) -> std::io::Result<Option<Self>> {
        let path = folder.join(name).with_extension("claim");
        let locked = lock_at(&path, false)?;
        Ok(locked.map(|_locked| Self { path, _locked }))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Still locked: who opens it from now on makes a new one.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_deal_every_run_once() {
        for of in 1..=7 {
            let shards: Vec<Shard> = (1..=of)
                .map(|number| format!("{number}/{of}").parse().unwrap())
                .collect();
            for run in 1..=50 {
                let owners = shards.iter().filter(|shard| shard.has(run)).count();
                assert_eq!(owners, 1, "run {run} of {of} shards");
            }
            assert!(shards[0].has(1));
        }
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        for text in ["0/4", "5/4", "4", "1/0", "a/b", "-1/4", "1/4/2", ""] {
            assert_eq!(text.parse::<Shard>(), Err(NoShard), "{text}");
        }
    }

    #[test]
    fn what_is_claimed_is_claimed_once() {
        let folder = tempfile::tempdir().unwrap();
        let claim = Claim::new(folder.path(), "run-1.parquet").unwrap();
        assert!(claim.is_some());
        let again = Claim::new(folder.path(), "run-1.parquet").unwrap();
        assert!(again.is_none());
        drop(claim);
        assert!(
            Claim::new(folder.path(), "run-1.parquet")
                .unwrap()
                .is_some()
        );
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "claims leave nothing");
    }
}
