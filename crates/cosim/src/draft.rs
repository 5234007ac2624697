//! Files that appear whole or not at all.
//!
//! A draft is written under a name of its own beside its target and then renamed. The name is new
//! by construction, so that nothing that lies there (a link, a pipe, somebody's file) is ever
//! opened, and the rename replaces a link instead of what it points to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Names that are tried before somebody else's files are to blame.
const TRIES: u32 = 100;

/// A file that is not there yet under its own name.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    published: bool,
}

impl Draft {
    /// Opens a new file beside `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        refuse_odd_target(path)?;
        let mut taken = None;
        for number in 0..TRIES {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{}-{number}.tmp", std::process::id()));
            let temporary = PathBuf::from(name);
            let opened = OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&temporary);
            match opened {
                Ok(file) => {
                    return Ok(Self {
                        path: path.to_owned(),
                        temporary,
                        file,
                        published: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(taken.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
    }

    /// Where the contents go.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name. What must survive a power cut is synchronised before.
    pub fn publish(mut self) -> io::Result<()> {
        refuse_odd_target(&self.path)?;
        fs::rename(&self.temporary, &self.path)?;
        self.published = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published {
            // Gives the space back; the error that led here is the one to tell.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a whole file, or none.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::of(path)?;
    draft.file().write_all(bytes)?;
    draft.publish()
}

/// A pipe or a device is no place for a file; a link is replaced, a missing file made.
fn refuse_odd_target(path: &Path) -> io::Result<()> {
    let Ok(there) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let kind = there.file_type();
    if kind.is_file() || kind.is_symlink() {
        return Ok(());
    }
    let what = if kind.is_dir() {
        (
            io::ErrorKind::IsADirectory,
            "there is a folder of this name",
        )
    } else {
        (
            io::ErrorKind::InvalidInput,
            "there is a pipe or a device of this name, not a file",
        )
    };
    Err(io::Error::new(what.0, what.1))
}
