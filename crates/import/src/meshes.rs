//! Where the meshes of a file are, and what is in them.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use oldham_mesh::Mesh;
use roxmltree::Node;

use crate::Options;
use crate::error::ImportError;
use crate::report::Report;

/// Bytes of all meshes together that are read.
const MOST_BYTES: u64 = 1 << 30;
/// A part of a machine that is longer than this, in m, is likely given in millimetres.
const LONG: f64 = 20.0;

/// All meshes of a file.
#[derive(Debug)]
pub(crate) struct Meshes {
    /// Where the file is.
    folder: PathBuf,
    /// Nothing is read outside of this.
    root: PathBuf,
    /// Where the model will be.
    target: PathBuf,
    known: HashMap<PathBuf, Option<usize>>,
    files: Vec<File>,
    read: u64,
}

#[derive(Debug)]
struct File {
    /// As the model file writes it.
    written: String,
    mesh: Mesh,
}

impl Meshes {
    pub fn beside(path: &Path, options: &Options) -> Result<Self, ImportError> {
        let absolute = |path: &Path| {
            let path = match path.as_os_str().is_empty() {
                true => Path::new("."),
                false => path,
            };
            let path = std::path::absolute(path);
            path.map(|path| plain(&path))
                .map_err(|error| ImportError::new(error.to_string()))
        };
        let folder = absolute(path.parent().unwrap_or(Path::new("")))?;
        let root = match &options.root {
            Some(root) => absolute(root)?,
            None => folder.parent().unwrap_or(&folder).to_owned(),
        };
        Ok(Self {
            target: absolute(&options.target)?,
            folder,
            root,
            known: HashMap::new(),
            files: Vec::new(),
            read: 0,
        })
    }

    /// How many are used.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    pub fn mesh(&self, number: usize) -> &Mesh {
        &self.files[number].mesh
    }

    /// The path from the model file.
    pub fn written(&self, number: usize) -> &str {
        &self.files[number].written
    }

    /// A mesh by its address. Nothing, and a note, where it cannot be read; an error where it is outside of the machine's
    /// folder.
    pub fn find(
        &mut self,
        node: Node<'_, '_>,
        address: &str,
        within: &Path,
        report: &mut Report,
    ) -> Result<Option<usize>, ImportError> {
        let path = self.locate(node, address, within)?;
        if let Some(&known) = self.known.get(&path) {
            return Ok(known);
        }
        let found = match self.load(&path) {
            Ok(mesh) => {
                self.files.push(File {
                    written: relative(&self.target, &path),
                    mesh,
                });
                Some(self.files.len() - 1)
            }
            Err(reason) => {
                report.left_out(node, format!("the mesh `{}`: {reason}", short(address)));
                None
            }
        };
        self.known.insert(path, found);
        Ok(found)
    }

    /// A remark on a mesh that is as long as if its unit were the millimetre.
    pub fn judge(&self, node: Node<'_, '_>, number: usize, scale: [f64; 3], report: &mut Report) {
        let factor = scale
            .iter()
            .fold(0.0_f64, |most, factor| most.max(factor.abs()));
        let extent = self.mesh(number).extent() * factor;
        if extent > LONG {
            let text = format!(
                "the mesh `{}` is {extent:.0} m long: if its unit is the millimetre, give the scale 0.001",
                self.written(number)
            );
            report.remark(node, text);
        }
    }

    fn load(&mut self, path: &Path) -> Result<Mesh, String> {
        let size = std::fs::metadata(path).map(|file| file.len());
        let size = size.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no file {}", path.display()),
            _ => error.to_string(),
        })?;
        self.read = self.read.saturating_add(size);
        if self.read > MOST_BYTES {
            return Err("all meshes together are larger than 1 GiB".into());
        }
        Mesh::read(path).map_err(|error| error.to_string())
    }

    fn locate(
        &self,
        node: Node<'_, '_>,
        address: &str,
        within: &Path,
    ) -> Result<PathBuf, ImportError> {
        let (root, path) = if let Some((_, rest)) = ["package://", "model://"]
            .iter()
            .find_map(|scheme| address.strip_prefix(scheme).map(|rest| (scheme, rest)))
        {
            let (package, rest) = rest.split_once('/').unwrap_or((rest, ""));
            match self.package(package) {
                Some(folder) => (folder.clone(), folder.join(rest)),
                // Likely its files are beside the URDF all the same: it is reported as missing there.
                None => (self.root.clone(), self.root.join(rest)),
            }
        } else {
            let path = address.strip_prefix("file://").unwrap_or(address);
            (self.root.clone(), self.folder.join(within).join(path))
        };
        let path = plain(&path);
        if path.starts_with(&root) {
            return Ok(path);
        }
        let message = format!(
            "`{}` leads out of the folder {}: files there are not read. Name a folder that contains both by --root",
            short(address),
            root.display()
        );
        Err(ImportError::at(node, message))
    }

    /// The folder of a ROS package: one above the file that is called so, or one beside those.
    fn package(&self, name: &str) -> Option<PathBuf> {
        if name.is_empty() || name.contains("..") {
            return None;
        }
        self.folder.ancestors().find_map(|folder| {
            if folder.file_name().is_some_and(|last| last == name) {
                return Some(folder.to_owned());
            }
            let beside = folder.join(name);
            beside.is_dir().then_some(beside)
        })
    }
}

/// A path without `.` and `..`, as they are written.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// The way from a folder to a file, with `/`.
fn relative(from: &Path, to: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| "..".to_owned());
    let down = to[common..]
        .iter()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// As much of an address as a message shows.
fn short(address: &str) -> String {
    address.chars().take(120).collect()
}
