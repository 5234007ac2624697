//! An FMU that is unpacked: its description, its library, its folder.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::description::{Description, Version};
use crate::reader;

/// Bytes that an FMU may unpack to, and those of its description.
const LARGEST: u64 = 4 << 30;
const LARGEST_DESCRIPTION: u64 = 256 << 20;

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
    #[error("unpacks to {0} bytes; at most {LARGEST} are allowed")]
    TooLarge(u64),
    /// It has no library for this platform.
    #[error("has no library for this platform: `{missing}` is not in it; there are {there}")]
    OtherPlatform {
        /// What was looked for.
        missing: String,
        /// The platforms that it has.
        there: String,
    },
    /// It is not made for co-simulation.
    #[error("is made for model exchange, which is not supported; export it for co-simulation")]
    ModelExchange,
}

/// An FMU, unpacked into a folder that vanishes with it.
#[derive(Debug)]
pub struct Package {
    description: Description,
    folder: TempDir,
    library: PathBuf,
}

impl Package {
    /// Unpacks an FMU and reads its description.
    pub fn open(path: &Path) -> Result<Self, PackageError> {
        let mut archive = archive(path)?;
        let description = description(&mut archive)?;
        let size = archive.decompressed_size().unwrap_or(0);
        if size > u128::from(LARGEST) {
            return Err(PackageError::TooLarge(size as u64));
        }
        let Some(abilities) = &description.co_simulation else {
            return Err(PackageError::ModelExchange);
        };
        let platform = platform(description.version);
        let missing = format!("binaries/{platform}/{}.so", abilities.identifier);
        if archive.index_for_name(&missing).is_none() {
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
        let folder = TempDir::with_prefix("oldham-fmu-").map_err(PackageError::Unreadable)?;
        archive
            .extract(folder.path())
            .map_err(|error| PackageError::NotAnFmu(error.to_string()))?;
        Ok(Self {
            library: folder.path().join(missing),
            description,
            folder,
        })
    }

    /// The description alone, without unpacking anything else.
    pub fn describe(path: &Path) -> Result<Description, PackageError> {
        description(&mut archive(path)?)
    }

    /// What the FMU says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The file of the library.
    pub(crate) fn library(&self) -> &Path {
        &self.library
    }

    /// The folder with what the library reads.
    pub(crate) fn resources(&self) -> PathBuf {
        self.folder.path().join("resources")
    }
}

fn archive(path: &Path) -> Result<ZipArchive<File>, PackageError> {
    let file = File::open(path).map_err(PackageError::Unreadable)?;
    ZipArchive::new(file).map_err(|error| PackageError::NotAnFmu(error.to_string()))
}

fn description(archive: &mut ZipArchive<File>) -> Result<Description, PackageError> {
    let mut text = String::new();
    let entry = archive
        .by_name("modelDescription.xml")
        .map_err(|_| PackageError::NotAnFmu("it has no modelDescription.xml".into()))?;
    entry
        .take(LARGEST_DESCRIPTION)
        .read_to_string(&mut text)
        .map_err(PackageError::Unreadable)?;
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
