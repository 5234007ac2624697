//! A run that several processes share: whether they can, and whether they mean the same run.

use oldham_cosim::{CpuLevel, Ranks, gather_texts};
use oldham_model::Model;

/// Kinds of subsystems that are done outside of this program.
const OUTSIDE: [(&str, &str); 2] = [("fmu", "an FMU"), ("process", "a program of its own")];

/// Why ranks of MPI cannot share a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RanksError {
    /// A part that can exist only once.
    #[error(
        "`{part}` is {what}, which every rank of MPI would start once more; run this model on one machine, without mpirun"
    )]
    Foreign {
        /// The part.
        part: String,
        /// What it is.
        what: &'static str,
    },
    /// Steps at the pace of a clock, of which every machine has its own.
    #[error("--real-time conflicts with several ranks of MPI: leave it out, or run without mpirun")]
    Paced,
    /// Many runs, which are for themselves.
    #[error(
        "--vary conflicts with several ranks of MPI, each of which would do every run: give each rank its --shard, or run without mpirun (OLDHAM_MPI=none keeps MPI out)"
    )]
    Sweep,
    /// A rank could not begin.
    #[error("rank {rank} of MPI cannot begin: {cause}")]
    Failed {
        /// Which.
        rank: usize,
        /// Why.
        cause: String,
    },
    /// A rank is not like the first one.
    #[error("rank {rank} of MPI has {theirs}, rank 0 has {ours}: {help}")]
    NotAlike {
        /// Which.
        rank: usize,
        /// What it has.
        theirs: String,
        /// What the first one has.
        ours: String,
        /// What to do.
        help: &'static str,
    },
}

/// What a rank tells the others before anything is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Card {
    /// It is ready to do this.
    Ready(Intent),
    /// It is not, and why.
    Failed(String),
}

/// What must be the same on all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Version of the program.
    pub program: String,
    /// The instruction level, which fixes the bits.
    pub cpu: String,
    /// A digest of the model, its files and settings.
    pub model: String,
    /// A digest of the state that the run begins with.
    pub state: String,
}

impl Intent {
    /// Of this process, which begins with nothing yet.
    pub fn here() -> Self {
        Self {
            program: env!("CARGO_PKG_VERSION").into(),
            cpu: format!("{:?}", CpuLevel::detect()),
            model: String::new(),
            state: String::new(),
        }
    }
}

impl Card {
    fn text(&self) -> String {
        match self {
            Self::Ready(intent) => {
                let Intent {
                    program,
                    cpu,
                    model,
                    state,
                } = intent;
                format!("ready\n{program}\n{cpu}\n{model}\n{state}")
            }
            Self::Failed(cause) => format!("failed\n{cause}"),
        }
    }

    fn of(text: &str) -> Self {
        if let Some(cause) = text.strip_prefix("failed\n") {
            return Self::Failed(cause.into());
        }
        let mut lines = text.lines().skip(1).map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        Self::Ready(Intent {
            program: next(),
            cpu: next(),
            model: next(),
            state: next(),
        })
    }
}

/// The ranks show each other their cards; all of them get the same answer.
pub fn meet_ranks(ranks: &dyn Ranks, own: &Card) -> Result<(), RanksError> {
    let cards = gather_texts(ranks, &own.text());
    let cards: Vec<Card> = cards.iter().map(|text| Card::of(text)).collect();
    alike(&cards)
}

/// Whether these ranks can begin together.
fn alike(cards: &[Card]) -> Result<(), RanksError> {
    let mut first: Option<&Intent> = None;
    for (rank, card) in cards.iter().enumerate() {
        if let Card::Failed(cause) = card {
            let cause = cause.clone();
            return Err(RanksError::Failed { rank, cause });
        }
    }
    for (rank, card) in cards.iter().enumerate() {
        let Card::Ready(theirs) = card else { continue };
        let Some(ours) = first else {
            first = Some(theirs);
            continue;
        };
        let pairs = [
            (
                "version",
                &theirs.program,
                &ours.program,
                "start the same program everywhere",
            ),
            (
                "instruction level",
                &theirs.cpu,
                &ours.cpu,
                "results would depend on which machine has which part; use machines of one kind",
            ),
            (
                "model",
                &theirs.model,
                &ours.model,
                "give all ranks the same model file, with what it reads, and the same settings",
            ),
            (
                "state to begin with",
                &theirs.state,
                &ours.state,
                "give all ranks the same checkpoint",
            ),
        ];
        let other = pairs
            .into_iter()
            .find(|(_, theirs, ours, _)| theirs != ours);
        if let Some((what, theirs, ours, help)) = other {
            let told = |value: &str| match what {
                "model" | "state to begin with" => format!("the {what} with digest {value}"),
                _ => format!("{what} {value}"),
            };
            return Err(RanksError::NotAlike {
                rank,
                theirs: told(theirs),
                ours: told(ours),
                help,
            });
        }
    }
    Ok(())
}

/// Refuses a model with parts that can exist only once.
pub(crate) fn refuse_outside(model: &Model) -> Result<(), RanksError> {
    let mut parts = model.foreign_subsystems();
    let found = parts.find_map(|(name, kind)| {
        let (_, what) = OUTSIDE.iter().find(|(known, _)| *known == kind)?;
        Some((name.to_owned(), *what))
    });
    match found {
        Some((part, what)) => Err(RanksError::Foreign { part, what }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(change: impl Fn(&mut Intent)) -> Card {
        let mut intent = Intent {
            model: "a1".into(),
            state: "b2".into(),
            ..Intent::here()
        };
        change(&mut intent);
        Card::of(&Card::Ready(intent).text())
    }

    #[test]
    fn ranks_that_are_alike_begin() {
        assert_eq!(alike(&[ready(|_| {}), ready(|_| {})]), Ok(()));
    }

    #[test]
    fn the_first_rank_that_differs_is_named() {
        let refused = |card: Card| {
            let cards = [ready(|_| {}), ready(|_| {}), card];
            alike(&cards).unwrap_err().to_string()
        };
        let cpu = refused(ready(|intent| intent.cpu = "Other".into()));
        assert!(
            cpu.starts_with("rank 2 of MPI has instruction level Other, rank 0 has"),
            "{cpu}"
        );
        let model = refused(ready(|intent| intent.model = "c3".into()));
        assert!(
            model.contains("the model with digest c3, rank 0 has the model with digest a1"),
            "{model}"
        );
        let state = refused(ready(|intent| intent.state = "d".into()));
        assert!(state.contains("same checkpoint"), "{state}");
        let version = refused(ready(|intent| intent.program = "0.0.1".into()));
        assert!(version.contains("version 0.0.1"), "{version}");
        let failed = refused(Card::of(&Card::Failed("no such file".into()).text()));
        assert_eq!(failed, "rank 2 of MPI cannot begin: no such file");
    }
}
