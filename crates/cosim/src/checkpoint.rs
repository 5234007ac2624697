//! Checkpoints: the complete state on disk, continued bit for bit.
//!
//! Format: the magic word, the length of a JSON header and the header, then the state as
//! little-endian 64-bit words, then a CRC-32 of everything before.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::abilities::Energy;
use crate::cpu::CpuLevel;
use crate::draft::Draft;
use crate::fault::Fault;
use crate::simulation::Simulation;
use crate::state::{Snapshot, layout, word_count};
use crate::summary::Tally;
use crate::unit::Unit;

/// The version of the program: what the words of a state mean may change with it.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");
const MAGIC: &[u8; 8] = b"OLDHAM01";
/// No header of ours is longer; a longer one is a damaged file.
/// Longest file that is read.
const MOST_BYTES: u64 = 8 << 30;
const MAX_HEADER: usize = 1 << 24;

/// Why a checkpoint could not be made, read or used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A part keeps its state to itself.
    #[error("`{0}` cannot save its state, so this model cannot be checkpointed")]
    NoState(String),
    /// A part can go back to a state, but not write it.
    #[error(
        "`{0}` can go back to a state but not write it, so this model can be coupled implicitly and analysed, but not checkpointed"
    )]
    NoBytes(String),
    /// The file cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: std::io::Error,
    },
    /// The file is no checkpoint, or damaged.
    #[error("{path} is not a whole checkpoint: {reason}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A part panicked while its state was saved or restored.
    #[error("the state could not be saved or restored: {0}")]
    Panic(Fault),
    /// Another rank of MPI could not save or write it.
    #[error("on rank {rank} of MPI: {cause}")]
    OnRank {
        /// Which.
        rank: usize,
        /// Why.
        cause: String,
    },
    /// The checkpoint is of another model.
    #[error("the checkpoint is of another model: {difference}")]
    OtherModel {
        /// What differs.
        difference: String,
    },
    /// The checkpoint was made by another version of the program: its words may mean something else.
    #[error(
        "the checkpoint was made by {made}, this is version {PROGRAM}: what its words mean may differ; start the run anew, or resume it with the program that made it"
    )]
    OtherProgram {
        /// The version that made it.
        made: String,
    },
    /// The checkpoint was made with other instructions: the bits would differ.
    #[error("the checkpoint was made at CPU level {made:?}, this machine runs {here:?}")]
    OtherCpu {
        /// Level when it was made.
        made: CpuLevel,
        /// Level now.
        here: CpuLevel,
    },
}

/// What the state belongs to; compared before it is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    /// The program that made it.
    #[serde(default)]
    program: Option<String>,
    /// A digest of how its state is laid out.
    #[serde(default)]
    layout: Option<u64>,
    subsystems: Vec<String>,
    /// Bits of start and step: a decimal form might round.
    start: u64,
    step: u64,
    /// Words that the state always has.
    words: usize,
    /// Words of the state as it was saved, memories of variable length included.
    #[serde(default)]
    length: Option<usize>,
    cpu: CpuLevel,
    /// A digest of the model, given by the caller.
    model: String,
    /// Energy of each part at the initial time, as bits, for the energy bound and the summary.
    initial_energy: Option<Vec<[u64; 4]>>,
    /// The most that was supplied and that potentials gave up so far, as bits.
    peaks: [u64; 2],
    /// What every part showed, as bits: outputs are sent anew only by the next step.
    #[serde(default)]
    shown: Vec<Vec<u64>>,
    /// A note of the program that wrote it.
    #[serde(default)]
    note: Option<String>,
}

/// A saved simulation.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    header: Header,
    state: Snapshot,
}

impl Simulation {
    fn header(&mut self, model: &str) -> Header {
        let (words, laid_out) = (word_count(self), layout(self));
        let energies = self.tally.initial_energy.as_ref();
        let bits = |energy: &Energy| energy.terms().map(f64::to_bits);
        Header {
            program: Some(PROGRAM.into()),
            layout: Some(laid_out),
            subsystems: self.names().map(Into::into).collect(),
            start: self.schedule().start.to_bits(),
            step: self.schedule().step.to_bits(),
            words,
            length: None,
            cpu: CpuLevel::detect(),
            model: model.into(),
            initial_energy: energies.map(|energies| energies.iter().map(bits).collect()),
            peaks: self.tally.peaks.map(f64::to_bits),
            shown: Vec::new(),
            note: None,
        }
    }

    fn check_that_it_can_be_kept(&mut self) -> Result<(), CheckpointError> {
        if let Some(part) = self.part_without_state().map_err(CheckpointError::Panic)? {
            return Err(CheckpointError::NoState(part));
        }
        match self.part_without_bytes().map_err(CheckpointError::Panic)? {
            Some(part) => Err(CheckpointError::NoBytes(part)),
            None => Ok(()),
        }
    }

    /// Saves the complete state. `model` is any digest of the model's text.
    pub fn checkpoint(&mut self, model: &str) -> Result<Checkpoint, CheckpointError> {
        self.check_that_it_can_be_kept()?;
        let attempt = self.guarded(|simulation| {
            let mut header = simulation.header(model);
            let mut state = Snapshot::default();
            state.keep(simulation);
            header.length = Some(state.words().len());
            let shown = simulation.units.iter().map(Unit::shown);
            let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect();
            header.shown = shown.map(bits).collect();
            Checkpoint { header, state }
        });
        attempt.map_err(CheckpointError::Panic)
    }

    /// Continues from a checkpoint of the same model.
    pub fn restore(&mut self, checkpoint: &Checkpoint, model: &str) -> Result<(), CheckpointError> {
        self.check_that_it_can_be_kept()?;
        let here = self.guarded(|simulation| simulation.header(model));
        let (here, there) = (here.map_err(CheckpointError::Panic)?, &checkpoint.header);
        if here.program != there.program {
            let made = there.program.as_deref();
            let made = made.map_or("an earlier version".into(), |made| {
                format!("version {made}")
            });
            return Err(CheckpointError::OtherProgram { made });
        }
        if here.cpu != there.cpu {
            return Err(CheckpointError::OtherCpu {
                made: there.cpu,
                here: here.cpu,
            });
        }
        if let Some(difference) = here.difference(there) {
            return Err(CheckpointError::OtherModel { difference });
        }
        let restored = self.guarded(|simulation| checkpoint.state.restore(simulation));
        restored.map_err(CheckpointError::Panic)?;
        let external = self.units.iter().flat_map(|unit| unit.inputs.external());
        external.for_each(|input| input.turn_dial());
        let energy = |bits: &[u64; 4]| Energy::of_terms(bits.map(f64::from_bits));
        let initial = there.initial_energy.as_ref();
        // What was done before belongs to another run.
        self.tally = Tally {
            initial_energy: initial.map(|bits| bits.iter().map(energy).collect()),
            peaks: there.peaks.map(f64::from_bits),
            notes: std::mem::take(&mut self.tally.notes),
            ..Tally::default()
        };
        for (unit, shown) in self.units.iter_mut().zip(&there.shown) {
            unit.show_instead(shown);
        }
        if self.steps_done == 0 {
            let shown = self.guarded(|simulation| simulation.show_start());
            shown.map_err(CheckpointError::Panic)?;
        }
        Ok(())
    }

    /// The row of the start is recorded before anybody evaluates outputs.
    fn show_start(&mut self) {
        let t = self.time();
        for unit in self.units.iter_mut().filter(|unit| unit.every == 1) {
            // Where it fails, the first step will, and tells why.
            if unit.evaluate(t).is_ok() {
                unit.release();
            }
        }
    }
}

impl Header {
    fn difference(&self, other: &Self) -> Option<String> {
        if self.subsystems != other.subsystems {
            return Some(format!(
                "it has the subsystems {}, not {}",
                other.subsystems.join(", "),
                self.subsystems.join(", ")
            ));
        }
        if (self.start, self.step) != (other.start, other.step) {
            let step = f64::from_bits(other.step);
            return Some(format!(
                "its macro step is {step} s, not {} s",
                f64::from_bits(self.step)
            ));
        }
        if self.words != other.words {
            return Some(format!(
                "its state has {} words, not {}",
                other.words, self.words
            ));
        }
        if self.model != other.model {
            return Some("the model file or its overrides changed".into());
        }
        let same = self.layout == other.layout;
        (!same).then(|| {
            "its state is laid out otherwise, as by another build of the program; start the run anew, or resume it with the build that made it".into()
        })
    }
}

impl Checkpoint {
    /// The same with a note.
    pub fn with_note(mut self, note: String) -> Self {
        self.header.note = Some(note);
        self
    }

    /// A note of the program that wrote it.
    pub fn note(&self) -> Option<&str> {
        self.header.note.as_deref()
    }

    /// The state.
    pub fn state(&self) -> &Snapshot {
        &self.state
    }

    /// The digest of the model that it was made with.
    pub fn model(&self) -> &str {
        &self.header.model
    }

    /// Writes the file under a temporary name, then renames it: a crash leaves the old one whole.
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let failed = |source| CheckpointError::Io {
            path: path.into(),
            source,
        };
        let mut draft = Draft::of(path).map_err(failed)?;
        draft.file().write_all(&self.bytes()).map_err(failed)?;
        draft.file().sync_all().map_err(failed)?;
        draft.publish().map_err(failed)
    }

    /// The content of a file, for those who keep it elsewhere.
    pub fn bytes(&self) -> Vec<u8> {
        let header = serde_json::to_vec(&self.header).expect("a header is plain data");
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&header);
        let words = self.state.words().iter();
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a file and checks that it is whole.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bytes = oldham_files::read(path, MOST_BYTES).map_err(|source| CheckpointError::Io {
            path: path.into(),
            source,
        })?;
        Self::parse(&bytes).map_err(|reason| CheckpointError::Damaged {
            path: path.into(),
            reason,
        })
    }

    /// Reads the content of a file, or says what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let (content, checksum) = bytes.split_last_chunk::<4>().ok_or("it is too short")?;
        let rest = content
            .strip_prefix(MAGIC.as_slice())
            .ok_or("it does not start like one")?;
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return Err("its checksum is wrong");
        }
        let (length, rest) = rest.split_first_chunk::<8>().ok_or("it is too short")?;
        let length = u64::from_le_bytes(*length) as usize;
        if length > MAX_HEADER || length > rest.len() {
            return Err("its header is cut off");
        }
        let (header, words) = rest.split_at(length);
        let header: Header =
            serde_json::from_slice(header).map_err(|_| "its header cannot be read")?;
        if header.length.unwrap_or(header.words).checked_mul(8) != Some(words.len()) {
            return Err("its state is cut off");
        }
        let word = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
        let words = words.chunks_exact(8).map(word).collect();
        Ok(Self {
            header,
            state: Snapshot::from_words(words),
        })
    }
}
