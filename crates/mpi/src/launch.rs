//! What a launcher of MPI leaves in the environment of the processes that it starts.

use std::ffi::OsString;
use std::path::PathBuf;

/// Names the MPI library by hand; `none` keeps MPI out.
pub const BY_HAND: &str = "OLDHAM_MPI";

/// What has started this process, as far as it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun` of Open MPI.
    OpenMpi,
    /// `mpiexec` of MPICH and its relatives, or `srun --mpi=pmi2`.
    Pmi,
    /// Another one that speaks PMIx, such as `srun --mpi=pmix`.
    Pmix,
}

/// How this process was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// By what, if by a launcher.
    pub launcher: Option<Launcher>,
    /// How many processes it says it has started.
    pub size: Option<usize>,
    /// A library that was named by hand.
    pub library: Option<PathBuf>,
}

/// Who says how many processes there are, in words of their own.
const SIZES: [(&str, Launcher); 4] = [
    ("OMPI_COMM_WORLD_SIZE", Launcher::OpenMpi),
    ("MV2_COMM_WORLD_SIZE", Launcher::Pmi),
    ("MPI_LOCALNRANKS", Launcher::Pmi),
    ("PMI_SIZE", Launcher::Pmi),
];

impl Launch {
    /// How this process was started.
    pub fn of_this_process() -> Self {
        Self::of(|name| std::env::var_os(name))
    }

    /// The same from other variables.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let by_hand = variable(BY_HAND).filter(|value| !value.is_empty());
        if by_hand.as_ref().is_some_and(|value| value == "none") {
            return Self::default();
        }
        let number =
            |name: &str| -> Option<usize> { variable(name)?.to_str()?.trim().parse().ok() };
        // Hydra says how many are on this node in one variable, and how many there are in another.
        let counted = |(name, launcher): &(&str, Launcher)| {
            variable(name)?;
            Some((
                *launcher,
                number(name).filter(|_| *name != "MPI_LOCALNRANKS"),
            ))
        };
        let found: Vec<_> = SIZES.iter().filter_map(counted).collect();
        let size = found.iter().find_map(|(_, size)| *size);
        let of_pmix = || variable("PMIX_RANK").map(|_| Launcher::Pmix);
        let launcher = found.first().map(|(launcher, _)| *launcher);
        let of_slurm = || number("SLURM_STEP_NUM_TASKS").or(number("SLURM_NTASKS"));
        match launcher.or_else(of_pmix) {
            Some(launcher) => Self {
                launcher: Some(launcher),
                size: size.or_else(of_slurm),
                library: by_hand.map(PathBuf::from),
            },
            None => Self {
                library: by_hand.map(PathBuf::from),
                ..Self::default()
            },
        }
    }

    /// Whether there are other processes, or may be.
    pub fn is_parallel(&self) -> bool {
        match self.size {
            Some(size) => size > 1,
            None => self.launcher.is_some() || self.library.is_some(),
        }
    }

    /// What people call the launcher.
    pub fn name(&self) -> String {
        let name = match self.launcher {
            Some(Launcher::OpenMpi) => "mpirun of Open MPI",
            Some(Launcher::Pmi) => "a launcher of MPI (PMI)",
            Some(Launcher::Pmix) => "a launcher of MPI (PMIx)",
            None => "no launcher",
        };
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(variables: &[(&str, &str)]) -> Launch {
        Launch::of(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        let plain = launch(&[("HOME", "/")]);
        assert!(!plain.is_parallel() && plain.launcher.is_none());
        let open = launch(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "1")]);
        assert_eq!(
            (open.launcher, open.size),
            (Some(Launcher::OpenMpi), Some(4))
        );
        let hydra = launch(&[
            ("MPI_LOCALNRANKS", "2"),
            ("PMI_SIZE", "3"),
            ("PMI_RANK", "0"),
        ]);
        assert_eq!((hydra.launcher, hydra.size), (Some(Launcher::Pmi), Some(3)));
        let slurm = launch(&[("PMIX_RANK", "0"), ("SLURM_NTASKS", "16")]);
        assert_eq!(
            (slurm.launcher, slurm.size),
            (Some(Launcher::Pmix), Some(16))
        );
        // One process needs no other; a launcher that does not say how many there are may have started several.
        assert!(!launch(&[("PMI_SIZE", "1")]).is_parallel());
        assert!(launch(&[("PMIX_RANK", "0")]).is_parallel());
    }

    #[test]
    fn mpi_can_be_kept_out_and_asked_for() {
        let out = launch(&[("PMI_SIZE", "4"), (BY_HAND, "none")]);
        assert!(!out.is_parallel());
        let asked = launch(&[(BY_HAND, "/opt/libmpi.so.12")]);
        assert!(asked.is_parallel() && asked.launcher.is_none());
        assert_eq!(asked.library, Some("/opt/libmpi.so.12".into()));
        assert!(!launch(&[(BY_HAND, "")]).is_parallel());
    }
}
