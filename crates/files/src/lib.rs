//! Files that are read whole: regular ones, up to a limit.
//!
//! A pipe would block for ever and a device never ends, so that both are refused before they are opened. No length
//! that a file claims to have is believed: at most one byte more than the limit is read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file, also through links.
pub fn open(path: &Path) -> io::Result<File> {
    let there = fs::metadata(path)?;
    if there.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    if !there.is_file() {
        let message = "it is a pipe, a socket or a device; give a regular file";
        return Err(io::Error::other(message));
    }
    File::open(path)
}

/// The bytes of a regular file of at most so many.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let bytes = read_beyond(path, most)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!(
            "it is longer than {}, the limit for such files",
            size(most)
        ))),
        false => Ok(bytes),
    }
}

/// The bytes of a regular file, at most one more than the limit: a caller with a message of its own sees by that
/// that the file is too long.
pub fn read_beyond(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file of at most so many bytes.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// A number of bytes in the largest unit that divides it.
fn size(bytes: u64) -> String {
    match bytes {
        0 => "0 bytes".into(),
        _ if bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_limit_is_read_and_a_longer_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, "four").unwrap();
        assert_eq!(read_text(&path, 4).unwrap(), "four");
        let error = read(&path, 3).unwrap_err().to_string();
        assert!(error.contains("longer than 3 bytes"), "{error}");
        assert_eq!(read_beyond(&path, 3).unwrap().len(), 4);
        fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path, 4).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_folders_are_refused() {
        let error = read(Path::new("/dev/zero"), 10).unwrap_err().to_string();
        assert!(error.contains("regular file"), "{error}");
        assert!(read(Path::new("/"), 10).is_err());
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(read(&link, 10).is_err());
    }
}
