//! The library that goes into FMUs: where it lies, and whether it belongs to this version.

use std::io;
use std::path::{Path, PathBuf};

/// The name of its file.
pub const RUNTIME: &str = "liboldham_fmu.so";

/// What stands in the library, so that one of another version is not packed: it reads other resources.
pub const MARK: &str = concat!("oldham-fmu-runtime ", env!("CARGO_PKG_VERSION"), ";");

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// It is not where it may be.
    #[error("the library that goes into FMUs, {RUNTIME}, is not in {}", folders(.0))]
    Missing(Vec<PathBuf>),
    /// It cannot be read.
    #[error("{} cannot be read: {error}", .path.display())]
    Unreadable {
        /// The library.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// Another file, or the library of another version.
    #[error(
        "{} is not the library of this version that goes into FMUs ({})",
        .0.display(),
        env!("CARGO_PKG_VERSION")
    )]
    Other(PathBuf),
}

fn folders(all: &[PathBuf]) -> String {
    let shown: Vec<String> = all.iter().map(|one| one.display().to_string()).collect();
    shown.join(" or ")
}

/// The library that was installed with a program or library of Oldham: beside it, or in `lib` where it is in `bin`.
pub fn installed_with(program: &Path) -> Result<PathBuf, RuntimeError> {
    let beside = program.parent().unwrap_or(Path::new("")).to_owned();
    let mut folders = vec![beside.clone()];
    if let (Some(prefix), true) = (beside.parent(), beside.ends_with("bin")) {
        folders.push(prefix.join("lib"));
    }
    // A build for tests has it among the parts.
    let tests = [beside.join("deps")];
    let mut places = folders.iter().chain(&tests);
    let found = places.find_map(|folder| Some(folder.join(RUNTIME)).filter(|path| path.is_file()));
    drop(places);
    found.ok_or(RuntimeError::Missing(folders))
}

/// The bytes of a library, if it is one of this version.
pub fn read_runtime(path: &Path) -> Result<Vec<u8>, RuntimeError> {
    let bytes = std::fs::read(path).map_err(|error| RuntimeError::Unreadable {
        path: path.to_owned(),
        error,
    })?;
    let mark = MARK.as_bytes();
    let has_mark = bytes.windows(mark.len()).any(|window| window == mark);
    match has_mark {
        true => Ok(bytes),
        false => Err(RuntimeError::Other(path.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_beside_a_program_and_under_its_prefix() {
        let prefix = tempfile::tempdir().unwrap();
        let (bin, lib) = (prefix.path().join("bin"), prefix.path().join("lib"));
        std::fs::create_dir(&bin).unwrap();
        std::fs::create_dir(&lib).unwrap();
        let program = bin.join("oldham");
        let missing = installed_with(&program).unwrap_err().to_string();
        for folder in [&bin, &lib] {
            assert!(missing.contains(&folder.display().to_string()), "{missing}");
        }
        std::fs::write(lib.join(RUNTIME), format!("ELF {MARK}")).unwrap();
        assert_eq!(installed_with(&program).unwrap(), lib.join(RUNTIME));
        std::fs::write(bin.join(RUNTIME), "of another version").unwrap();
        assert_eq!(installed_with(&program).unwrap(), bin.join(RUNTIME));
        // A folder of another name has no `lib` beside it.
        let elsewhere = prefix.path().join("share/oldham");
        assert!(installed_with(&elsewhere).is_err());
    }

    #[test]
    fn a_library_of_another_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RUNTIME);
        assert!(matches!(
            read_runtime(&path),
            Err(RuntimeError::Unreadable { .. })
        ));
        std::fs::write(&path, format!("ELF {MARK} text")).unwrap();
        assert!(read_runtime(&path).is_ok());
        std::fs::write(&path, "ELF oldham-fmu-runtime 0.0.1; text").unwrap();
        assert!(matches!(read_runtime(&path), Err(RuntimeError::Other(_))));
    }
}
