//! Triangles from files, and what follows from them.
//!
//! STL (text and binary), OBJ, glTF (`.gltf`, `.glb`) and COLLADA (`.dae`) are read as far as triangles go: textures, colours and
//! animations are left aside. What is read is bounded before it is believed.

mod collada;
mod gltf;
mod hull;
mod obj;
mod placed;
mod solid;
mod stl;

use std::collections::HashMap;
use std::path::Path;

pub use hull::{MOST_POINTS, extreme_points};
pub use solid::{Enclosed, enclosed, enclosed_at_scale};

/// Largest accepted file in bytes.
pub const MAX_BYTES: u64 = 64 << 20;
/// Most triangles of a mesh: a page gets all of them.
pub const MOST_TRIANGLES: usize = 300_000;

/// Why a file gives no triangles.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct MeshError(String);

impl MeshError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// At a line of a text, counted from zero.
    pub(crate) fn at(line: usize, reason: &str) -> Self {
        Self(format!("line {}: {reason}", line + 1))
    }
}

/// Points that are there once, and triangles between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners.
    pub points: Vec<[f32; 3]>,
    /// Places among the points, anticlockwise as seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Reads a file by its ending.
    pub fn read(path: &Path) -> Result<Self, MeshError> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let ending = ending.unwrap_or_default().to_ascii_lowercase();
        if !matches!(ending.as_str(), "stl" | "obj" | "gltf" | "glb" | "dae") {
            return Err(MeshError::new(
                "only .stl, .obj, .gltf, .glb and .dae are read; convert it to one of these",
            ));
        }
        let bytes = oldham_files::read(path, MAX_BYTES);
        let bytes = bytes.map_err(|error| MeshError::new(error.to_string()))?;
        Self::parse(&ending, &bytes)
    }

    /// Reads the content of a file of this ending. What a `.gltf` file has in other files is not read.
    pub fn parse(ending: &str, bytes: &[u8]) -> Result<Self, MeshError> {
        let mut builder = Builder::default();
        match ending {
            "stl" => stl::read(bytes, &mut builder)?,
            "obj" => obj::read(bytes, &mut builder)?,
            "dae" => collada::read(bytes, &mut builder)?,
            _ => gltf::read(bytes, &mut builder)?,
        }
        builder.finish()
    }

    /// Every point multiplied by a factor along each axis. Where they mirror the mesh, its triangles are turned over.
    pub fn scaled(mut self, factors: [f64; 3]) -> Self {
        for point in &mut self.points {
            for (x, factor) in point.iter_mut().zip(factors) {
                *x = (f64::from(*x) * factor) as f32;
            }
        }
        if factors.iter().product::<f64>() < 0.0 {
            self.triangles
                .iter_mut()
                .for_each(|corners| corners.swap(1, 2));
        }
        self
    }

    /// Whether all coordinates are numbers.
    pub fn is_finite(&self) -> bool {
        self.points.iter().flatten().all(|x| x.is_finite())
    }

    /// The largest extent along an axis.
    pub fn extent(&self) -> f64 {
        let along = |axis: usize| {
            let values = self.points.iter().map(|point| f64::from(point[axis]));
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
            high - low
        };
        (0..3).map(along).fold(0.0, f64::max)
    }
}

/// A mesh in the making.
#[derive(Default)]
pub(crate) struct Builder {
    mesh: Mesh,
    known: HashMap<[u32; 3], u32>,
}

impl Builder {
    /// The number of a point: the one that is there already at the same place.
    pub fn point(&mut self, point: [f32; 3]) -> u32 {
        let points = &mut self.mesh.points;
        *self
            .known
            .entry(point.map(f32::to_bits))
            .or_insert_with(|| {
                points.push(point);
                (points.len() - 1) as u32
            })
    }

    pub fn triangle(&mut self, corners: [u32; 3]) -> Result<(), MeshError> {
        let [a, b, c] = corners;
        // One without an area is not seen.
        if a != b && b != c && c != a {
            self.mesh.triangles.push(corners);
        }
        if self.mesh.triangles.len() > MOST_TRIANGLES {
            let reason = format!("it has more than {MOST_TRIANGLES} triangles");
            return Err(MeshError::new(reason));
        }
        Ok(())
    }

    fn finish(self) -> Result<Mesh, MeshError> {
        if self.mesh.triangles.is_empty() {
            return Err(MeshError::new("there is no triangle in it"));
        }
        if !self.mesh.is_finite() {
            return Err(MeshError::new("a coordinate is NaN or infinite"));
        }
        Ok(self.mesh)
    }
}

/// Three numbers of a line.
pub(crate) fn three<'w>(
    words: impl Iterator<Item = &'w str>,
    line: usize,
) -> Result<[f32; 3], MeshError> {
    let numbers: Vec<f32> = words.take(3).filter_map(|word| word.parse().ok()).collect();
    let three = numbers.try_into();
    three.map_err(|_| MeshError::at(line, "three numbers are needed"))
}
