//! An FMU that is unpacked: its description, its library, its folder.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::{NamedTempFile, TempDir};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::description::{Causality, Description, Interface, Version};
use crate::library::Origin;
use crate::reader;
use crate::worker::forget;

/// Bytes that an FMU may unpack to, those of its description, and how many files it may have.
const LARGEST: u64 = 4 << 30;
const LARGEST_DESCRIPTION: u64 = 64 << 20;
const MOST_FILES: u64 = 100_000;
/// How much more than packed it may be, from so many bytes on: nothing but a bomb is.
const TIGHTEST: u64 = 200;
const UNSUSPICIOUS: u64 = 64 << 20;
/// Folders of FMUs in the folder for temporary files begin so; the number of the process follows.
const FOLDER: &str = "oldham-fmu-";

/// Why an FMU cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// It is not an archive of the kind that FMUs are.
    #[error("is not an FMU: {0}")]
    NotAnFmu(String),
    /// It unpacks to more than is allowed.
    #[error("has {packed} bytes and unpacks to more than {most}, which is not allowed")]
    TooLarge {
        /// Its bytes.
        packed: u64,
        /// What they may unpack to.
        most: u64,
    },
    /// It has more files than is allowed.
    #[error("has {0} files; at most {MOST_FILES} are allowed")]
    TooMany(u64),
    /// A file in it would not stay in the folder that it is unpacked into.
    #[error("is not unpacked: its file `{name}` {reason}")]
    Unsafe {
        /// The file.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// It has no library for this platform.
    #[error("has no library for this platform: `{missing}` is not in it; there are {there}")]
    OtherPlatform {
        /// What was looked for.
        missing: String,
        /// The platforms that it has.
        there: String,
    },
    /// It is made for neither of them.
    #[error("is made neither for co-simulation nor for model exchange")]
    NoInterface,
}

/// An FMU, unpacked into a folder that vanishes with it.
#[derive(Debug)]
pub struct Package {
    description: Description,
    folder: TempDir,
    /// For co-simulation and for model exchange.
    libraries: [Option<PathBuf>; 2],
}

/// What a file is: the same as long as nobody writes to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Identity([u64; 5]);

impl Identity {
    fn of(path: &Path) -> std::io::Result<Self> {
        let file = std::fs::metadata(path)?;
        Ok(Self([
            file.dev(),
            file.ino(),
            file.size(),
            file.mtime() as u64,
            file.mtime_nsec() as u64,
        ]))
    }
}

/// Packages by the file that they are in, and their place in it.
type Unpacked = HashMap<(Identity, String), Weak<Package>>;

/// FMUs that are unpacked already.
static UNPACKED: Mutex<Option<Unpacked>> = Mutex::new(None);

/// A path of a file in an archive: that of the archive and that of the file in it, as in `system.ssp#resources/part.fmu`.
/// Nothing for other paths.
pub fn inside(path: &str) -> Option<(&str, &str)> {
    let ends = [".ssp#", ".fmu#"].map(|end| path.find(end).map(|at| at + end.len() - 1));
    let end = ends.into_iter().flatten().min()?;
    Some((&path[..end], &path[end + 1..]))
}

/// The archive and the file in it, if the path is that of a file in an archive.
fn located(path: &Path) -> Option<(PathBuf, String)> {
    let (archive, file) = inside(path.to_str()?)?;
    Some((archive.into(), file.to_owned()))
}

/// A file in an archive, which may lie in another one.
fn taken_out(path: &Path, file: &str) -> Result<NamedTempFile, PackageError> {
    let mut archive = archive(path)?;
    let packed = std::fs::metadata(path).map_or(0, |file| file.len());
    let most = LARGEST.min(UNSUSPICIOUS.max(packed.saturating_mul(TIGHTEST)));
    let (file, further) = match inside(file) {
        Some((file, further)) => (file, Some(further)),
        None => (file, None),
    };
    let mut entry = archive
        .by_name(file)
        .map_err(|_| PackageError::Unreadable(std::io::ErrorKind::NotFound.into()))?;
    let mut target = NamedTempFile::with_prefix(FOLDER).map_err(PackageError::Unreadable)?;
    let written = std::io::copy(&mut (&mut entry).take(most + 1), &mut target)
        .map_err(|error| PackageError::NotAnFmu(error.to_string()))?;
    if written > most {
        return Err(PackageError::TooLarge { packed, most });
    }
    match further {
        Some(further) => taken_out(target.path(), further),
        None => Ok(target),
    }
}

/// The text of a file, which may lie in an archive (see [`inside`]); it may have so many bytes.
pub fn read_text(path: &Path, most: u64) -> Result<String, String> {
    let told = |error: PackageError| match error {
        PackageError::NotAnFmu(reason) => format!("cannot be read: {reason}"),
        other => other.to_string(),
    };
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let taken;
    let path = match located(path) {
        Some((archive, file)) => {
            taken = taken_out(&archive, &file).map_err(told)?;
            taken.path()
        }
        None => path,
    };
    let mut text = String::new();
    let file = File::open(path).map_err(unreadable)?;
    let read = file
        .take(most + 1)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    match read as u64 > most {
        true => Err(format!("has more than {most} bytes")),
        false => Ok(text),
    }
}

impl Package {
    /// An FMU: unpacked, or shared with those that have unpacked the same file. It may lie [in an archive](inside).
    pub fn open(path: &Path) -> Result<Arc<Self>, PackageError> {
        let (file, inner) = match located(path) {
            Some((file, inner)) => (file, inner),
            None => (path.to_owned(), String::new()),
        };
        let identity = Identity::of(&file).map_err(PackageError::Unreadable)?;
        let identity = (identity, inner);
        let mut unpacked = UNPACKED.lock().unwrap_or_else(PoisonError::into_inner);
        let unpacked = unpacked.get_or_insert_with(|| {
            remove_left_over();
            HashMap::new()
        });
        if let Some(package) = unpacked.get(&identity).and_then(Weak::upgrade) {
            return Ok(package);
        }
        unpacked.retain(|_, package| package.strong_count() > 0);
        let inner = &identity.1;
        let package = Arc::new(match inner.is_empty() {
            true => Self::unpack(path)?,
            false => Self::unpack(taken_out(&file, inner)?.path())?,
        });
        unpacked.insert(identity, Arc::downgrade(&package));
        Ok(package)
    }

    fn unpack(path: &Path) -> Result<Self, PackageError> {
        let mut archive = archive(path)?;
        let mut description = description(&mut archive)?;
        let co_simulation = description.co_simulation.as_ref();
        let model_exchange = description.model_exchange.as_ref();
        let identifiers = [
            co_simulation.map(|abilities| abilities.identifier.as_str()),
            model_exchange.map(|abilities| abilities.identifier.as_str()),
        ];
        let platform = platform(description.version);
        let library = |name: &str| format!("binaries/{platform}/{name}.so");
        let libraries = identifiers.map(|name| name.map(library));
        if libraries.iter().flatten().next().is_none() {
            return Err(PackageError::NoInterface);
        }
        if let Some(missing) = libraries
            .iter()
            .flatten()
            .find(|name| archive.index_for_name(name).is_none())
            .cloned()
        {
            let mut there: Vec<String> = archive
                .file_names()
                .filter_map(Result::ok)
                .filter_map(|name| {
                    Some(
                        name.strip_prefix("binaries/")?
                            .split('/')
                            .next()?
                            .to_owned(),
                    )
                })
                .filter(|name| !name.is_empty())
                .map(|name| format!("`{name}`"))
                .collect();
            there.sort();
            there.dedup();
            let there = match there.is_empty() {
                true => "none".into(),
                false => there.join(", "),
            };
            return Err(PackageError::OtherPlatform { missing, there });
        }
        let folder = TempDir::with_prefix(format!("{FOLDER}{}-", std::process::id()))
            .map_err(PackageError::Unreadable)?;
        let packed = std::fs::metadata(path).map_or(0, |file| file.len());
        extract(&mut archive, folder.path(), packed)?;
        read_terminals(folder.path(), &mut description);
        Ok(Self {
            libraries: libraries.map(|name| name.map(|name| folder.path().join(name))),
            description,
            folder,
        })
    }

    /// The description alone, without unpacking anything else.
    pub fn describe(path: &Path) -> Result<Description, PackageError> {
        match located(path) {
            Some((file, inner)) => description(&mut archive(taken_out(&file, &inner)?.path())?),
            None => description(&mut archive(path)?),
        }
    }

    /// What the FMU says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// What it takes to make an instance of one of its interfaces, which it must have.
    pub(crate) fn origin(&self, interface: Interface) -> Origin {
        let description = &self.description;
        let co_simulation = description.co_simulation.as_ref();
        let (library, abilities) = match interface {
            Interface::CoSimulation => (0, co_simulation.map(|can| can.state)),
            Interface::ModelExchange => {
                let model_exchange = description.model_exchange.as_ref();
                (1, model_exchange.map(|can| can.state))
            }
        };
        let [has_state, has_bytes] = abilities.unwrap_or_default();
        Origin {
            version: description.version,
            interface,
            library: self.libraries[library].clone().unwrap_or_default(),
            resources: self.folder.path().join("resources"),
            name: description.name.clone(),
            token: description.token.clone(),
            has_state,
            has_bytes: has_state && has_bytes,
            has_events: interface == Interface::CoSimulation
                && co_simulation.is_some_and(|can| can.has_event_mode),
            returns_early: co_simulation.is_some_and(|can| can.returns_early),
            takes_rates: interface == Interface::CoSimulation
                && co_simulation.is_some_and(|can| can.interpolates_inputs),
            has_structure: description
                .of(Causality::StructuralParameter)
                .next()
                .is_some(),
        }
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        self.libraries
            .iter()
            .flatten()
            .for_each(|library| forget(library));
    }
}

/// Folders of processes that were killed.
fn remove_left_over() {
    let folder = std::env::temp_dir();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| {
            let (process, _) = name.strip_prefix(FOLDER)?.split_once('-')?;
            process.parse::<u32>().ok()
        });
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Writes all files of an archive, after having looked at all of their names.
fn extract(archive: &mut ZipArchive<File>, folder: &Path, packed: u64) -> Result<(), PackageError> {
    let broken = |error: zip::result::ZipError| PackageError::NotAnFmu(error.to_string());
    let mut names = HashSet::new();
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).map_err(broken)?;
        let name = file.name().map_err(broken)?.into_owned();
        let wrong = |reason| PackageError::Unsafe {
            name: name.clone(),
            reason,
        };
        let path = safe_path(&name).map_err(wrong)?;
        if file.is_symlink() {
            return Err(wrong("is a link"));
        }
        let is_folder = file.is_dir();
        if !names.insert(path.clone()) && !is_folder {
            return Err(wrong("is in it twice"));
        }
        files.push((folder.join(path), is_folder));
    }
    let most = LARGEST.min(UNSUSPICIOUS.max(packed.saturating_mul(TIGHTEST)));
    let mut written = 0;
    for (index, (path, is_folder)) in files.into_iter().enumerate() {
        let failed = PackageError::Unreadable;
        if is_folder {
            std::fs::create_dir_all(&path).map_err(failed)?;
            continue;
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        let mut file = archive.by_index(index).map_err(broken)?;
        let mut target = File::create_new(&path).map_err(failed)?;
        // What an archive says of its sizes may be wrong: what comes out counts.
        let left = most - written;
        written += std::io::copy(&mut (&mut file).take(left + 1), &mut target)
            .map_err(|error| PackageError::NotAnFmu(error.to_string()))?;
        if written > most {
            return Err(PackageError::TooLarge { packed, most });
        }
    }
    Ok(())
}

/// The path of a file below the folder that it is unpacked into; or why it would be elsewhere.
fn safe_path(name: &str) -> Result<PathBuf, &'static str> {
    if name.contains('\\') {
        return Err("has a backslash in its name");
    }
    if name.contains('\0') {
        return Err("has a zero byte in its name");
    }
    let bytes = name.as_bytes();
    if bytes.len() > 1 && bytes[1] == b':' && bytes[0].is_ascii_alphabetic() {
        return Err("has a drive letter in its name");
    }
    let mut path = PathBuf::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => return Err("would lie outside of the folder of the FMU"),
            Component::RootDir | Component::Prefix(_) => return Err("has an absolute path"),
        }
    }
    match path.as_os_str().is_empty() {
        true => Err("has no name"),
        false => Ok(path),
    }
}

/// Terminals of FMI 3: variables that belong together.
fn read_terminals(folder: &Path, description: &mut Description) {
    if description.version != Version::Three {
        return;
    }
    let path = folder.join("terminalsAndIcons/terminalsAndIcons.xml");
    let is_small = |file: &std::fs::Metadata| file.len() <= LARGEST_DESCRIPTION;
    if !std::fs::metadata(&path).is_ok_and(|file| is_small(&file)) {
        return;
    }
    if let Ok(text) = std::fs::read_to_string(&path) {
        match crate::terminals::read(&text, description) {
            Ok((bundles, notes)) => {
                description.terminals = bundles;
                description.notes.extend(notes);
            }
            Err(error) => description.notes.push(format!("terminals: {error}")),
        }
    }
}

fn archive(path: &Path) -> Result<ZipArchive<File>, PackageError> {
    let mut file = File::open(path).map_err(PackageError::Unreadable)?;
    let count = entries(&mut file).map_err(PackageError::Unreadable)?;
    if count > MOST_FILES {
        return Err(PackageError::TooMany(count));
    }
    let archive =
        ZipArchive::new(file).map_err(|error| PackageError::NotAnFmu(error.to_string()))?;
    match archive.len() as u64 {
        // A name that is there twice is counted once there.
        found if found < count => Err(PackageError::Unsafe {
            name: "?".into(),
            reason: "is in it twice",
        }),
        _ => Ok(archive),
    }
}

/// How many entries an archive says it has, before anything else of it is read; none where it does not say.
fn entries(file: &mut File) -> std::io::Result<u64> {
    /// The end of an archive with the longest remark, and what may stand before it.
    const TAIL: u64 = 22 + 65_535 + 20 + 56;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    file.rewind()?;
    let last = |mark: &[u8]| {
        let mut places = (0..tail.len().saturating_sub(mark.len() - 1)).rev();
        places.find(|&at| tail[at..].starts_with(mark))
    };
    let number = |at: usize, bytes: usize| {
        let digits = tail.get(at..at + bytes)?.iter().rev();
        Some(digits.fold(0, |number, digit| (number << 8) | u64::from(*digit)))
    };
    let plain = last(b"PK\x05\x06").and_then(|at| number(at + 10, 2));
    let large = last(b"PK\x06\x06").and_then(|at| number(at + 32, 8));
    Ok(match (plain, large) {
        (Some(0xffff), Some(large)) => large,
        (Some(plain), _) => plain,
        (None, _) => 0,
    })
}

fn description(archive: &mut ZipArchive<File>) -> Result<Description, PackageError> {
    let mut text = String::new();
    let entry = archive
        .by_name("modelDescription.xml")
        .map_err(|_| PackageError::NotAnFmu("it has no modelDescription.xml".into()))?;
    let read = entry
        .take(LARGEST_DESCRIPTION + 1)
        .read_to_string(&mut text)
        .map_err(|error| PackageError::NotAnFmu(format!("its modelDescription.xml: {error}")))?;
    if read as u64 > LARGEST_DESCRIPTION {
        return Err(PackageError::NotAnFmu(format!(
            "its modelDescription.xml has more than {LARGEST_DESCRIPTION} bytes"
        )));
    }
    reader::read(&text).map_err(PackageError::NotAnFmu)
}

/// Packs a description and a library of this platform, by its name without ending, as an FMU.
pub fn pack(path: &Path, text: &str, identifier: &str, library: &[u8]) -> Result<(), String> {
    let platform = platform(reader::read(text)?.version);
    let file = File::create(path).map_err(|error| error.to_string())?;
    let mut archive = ZipWriter::new(file);
    let library_path = format!("binaries/{platform}/{identifier}.so");
    for (name, bytes) in [
        ("modelDescription.xml", text.as_bytes()),
        (library_path.as_str(), library),
    ] {
        let begun = archive.start_file(name, SimpleFileOptions::default());
        begun.map_err(|error| error.to_string())?;
        archive
            .write_all(bytes)
            .map_err(|error| error.to_string())?;
    }
    archive.finish().map_err(|error| error.to_string())?;
    Ok(())
}

/// The folder of libraries for this platform.
fn platform(version: Version) -> &'static str {
    match version {
        Version::Two => "linux64",
        Version::Three => "x86_64-linux",
    }
}
