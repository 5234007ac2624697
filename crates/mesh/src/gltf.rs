//! glTF 2.0: the triangles of the default scene, with the places of its nodes.
//!
//! Buffers are those within the file: the binary chunk of `.glb`, and `data:` addresses of `.gltf`.

use oldham_space::{Mat3, Quaternion, Vec3};
use serde_json::Value;

use crate::placed::Placed;
use crate::{Builder, MeshError};

/// Nodes in one another, and nodes that are met.
const MOST_NODES: usize = 10_000;
const DEEPEST: usize = 64;

type Read<T> = Result<T, MeshError>;

pub(crate) fn read(bytes: &[u8], mesh: &mut Builder) -> Read<()> {
    let (text, chunk) = match bytes.starts_with(b"glTF") {
        true => chunks(bytes)?,
        false => (bytes, None),
    };
    let root: Value = serde_json::from_slice(text)
        .map_err(|error| MeshError::new(format!("its description is not JSON: {error}")))?;
    let buffers = buffers(&root, chunk)?;
    let file = File { root, buffers };
    let scene = index(&file.root["scene"]).unwrap_or(0);
    let roots = match file.root["scenes"].get(scene) {
        Some(scene) => indices(&scene["nodes"]),
        None => (0..list(&file.root["nodes"]).len()).collect(),
    };
    let mut met = 0;
    let mut waiting: Vec<(usize, Placed, usize)> = roots
        .iter()
        .map(|&node| (node, Placed::WHERE_IT_IS, 0))
        .collect();
    waiting.reverse();
    while let Some((node, parent, depth)) = waiting.pop() {
        met += 1;
        if met > MOST_NODES || depth > DEEPEST {
            return Err(MeshError::new("its nodes hang in one another without end"));
        }
        let node = &file.root["nodes"][node];
        let here = parent.then(&placed(node));
        if let Some(number) = index(&node["mesh"]) {
            file.mesh(number, &here, mesh)?;
        }
        waiting.extend(
            indices(&node["children"])
                .into_iter()
                .map(|child| (child, here, depth + 1)),
        );
    }
    Ok(())
}

/// The two chunks of a binary file.
fn chunks(bytes: &[u8]) -> Read<(&[u8], Option<&[u8]>)> {
    let cut = || MeshError::new("it ends too early");
    let chunk = |at: usize| -> Option<(&[u8], usize)> {
        let length = bytes.get(at..at + 4)?.try_into().ok()?;
        let length = u32::from_le_bytes(length) as usize;
        let end = (at + 8).checked_add(length)?;
        Some((bytes.get(at + 8..end)?, end))
    };
    let (text, end) = chunk(12).ok_or_else(cut)?;
    Ok((text, chunk(end).map(|(data, _)| data)))
}

fn buffers(root: &Value, chunk: Option<&[u8]>) -> Read<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    for (place, buffer) in list(&root["buffers"]).iter().enumerate() {
        let address = buffer["uri"].as_str();
        all.push(match address {
            None if place == 0 => chunk.unwrap_or_default().to_vec(),
            Some(address) => match address.split_once(";base64,") {
                Some((start, data)) if start.starts_with("data:") => base64(data)?,
                _ => {
                    return Err(MeshError::new(
                        "its data is in another file; save it as one .glb",
                    ));
                }
            },
            None => return Err(MeshError::new("a buffer has no data")),
        });
    }
    Ok(all)
}

fn base64(text: &str) -> Read<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ => return Err(MeshError::new("its data is not base64")),
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Ok(bytes)
}

/// Where a node is.
fn placed(node: &Value) -> Placed {
    if let Some(m) = numbers::<16>(&node["matrix"]) {
        let column = |at: usize| Vec3::new(m[at], m[at + 1], m[at + 2]);
        return Placed {
            axes: Mat3::from_columns(column(0), column(4), column(8)),
            origin: column(12),
        };
    }
    let [x, y, z] = numbers(&node["translation"]).unwrap_or_default();
    let turned = match numbers::<4>(&node["rotation"]) {
        Some([qx, qy, qz, qw]) => {
            let norm = (qx * qx + qy * qy + qz * qz + qw * qw).sqrt();
            match norm > 0.0 {
                true => rotation([qw, qx, qy, qz].map(|q| q / norm)),
                false => Mat3::IDENTITY,
            }
        }
        None => Mat3::IDENTITY,
    };
    let [sx, sy, sz] = numbers(&node["scale"]).unwrap_or([1.0; 3]);
    Placed {
        axes: turned * Mat3::diagonal(sx, sy, sz),
        origin: Vec3::new(x, y, z),
    }
}

fn rotation([w, x, y, z]: [f64; 4]) -> Mat3 {
    Quaternion([w, x, y, z]).matrix()
}

/// A description with its data.
struct File {
    root: Value,
    buffers: Vec<Vec<u8>>,
}

impl File {
    fn mesh(&self, number: usize, placed: &Placed, mesh: &mut Builder) -> Read<()> {
        for primitive in list(&self.root["meshes"][number]["primitives"]) {
            // Points and lines are not seen here.
            if index(&primitive["mode"]).unwrap_or(4) != 4 {
                continue;
            }
            let Some(accessor) = index(&primitive["attributes"]["POSITION"]) else {
                continue;
            };
            let places = self.positions(accessor)?;
            let places: Vec<u32> = places
                .into_iter()
                .map(|at| mesh.point(placed.point(at)))
                .collect();
            let order: Vec<usize> = match index(&primitive["indices"]) {
                Some(accessor) => self.order(accessor)?,
                None => (0..places.len()).collect(),
            };
            for corners in order.chunks_exact(3) {
                let corner = |i: usize| places.get(corners[i]).copied();
                let (Some(a), Some(mut b), Some(mut c)) = (corner(0), corner(1), corner(2)) else {
                    return Err(MeshError::new("a triangle has a corner that is not there"));
                };
                if placed.is_mirrored() {
                    (b, c) = (c, b);
                }
                mesh.triangle([a, b, c])?;
            }
        }
        Ok(())
    }

    fn positions(&self, accessor: usize) -> Read<Vec<Vec3>> {
        let rows = self.rows(accessor, 5126, "VEC3", 12)?;
        Ok(rows
            .map(|row| {
                let number = |at: usize| {
                    let number = row[at..at + 4].try_into().expect("four bytes");
                    f64::from(f32::from_le_bytes(number))
                };
                Vec3::new(number(0), number(4), number(8))
            })
            .collect())
    }

    fn order(&self, accessor: usize) -> Read<Vec<usize>> {
        let kind = index(&self.root["accessors"][accessor]["componentType"]);
        let (kind, size) = match kind {
            Some(5121) => (5121, 1),
            Some(5123) => (5123, 2),
            _ => (5125, 4),
        };
        let rows = self.rows(accessor, kind, "SCALAR", size)?;
        let number = |row: &[u8]| {
            row.iter()
                .rev()
                .fold(0, |sum, &byte| sum << 8 | usize::from(byte))
        };
        Ok(rows.map(number).collect())
    }

    /// The rows of an accessor, if it is of this kind.
    fn rows(
        &self,
        accessor: usize,
        component: usize,
        form: &str,
        size: usize,
    ) -> Read<impl Iterator<Item = &[u8]>> {
        let wrong = |what: &str| MeshError::new(format!("accessor {accessor} {what}"));
        let accessor = &self.root["accessors"][accessor];
        if index(&accessor["componentType"]) != Some(component)
            || accessor["type"].as_str() != Some(form)
            || accessor.get("sparse").is_some()
        {
            return Err(wrong("is of a kind that is not read"));
        }
        let count = index(&accessor["count"]).unwrap_or(0);
        let view = index(&accessor["bufferView"]).ok_or_else(|| wrong("has no data"))?;
        let view = &self.root["bufferViews"][view];
        let buffer = index(&view["buffer"]).and_then(|buffer| self.buffers.get(buffer));
        let buffer = buffer.ok_or_else(|| wrong("has no buffer"))?;
        let start = index(&view["byteOffset"])
            .unwrap_or(0)
            .checked_add(index(&accessor["byteOffset"]).unwrap_or(0));
        let stride = index(&view["byteStride"]).unwrap_or(size).max(size);
        let data = start.and_then(|start| buffer.get(start..));
        let data = data.ok_or_else(|| wrong("begins beyond its buffer"))?;
        let needed = match count {
            0 => Some(0),
            _ => stride
                .checked_mul(count - 1)
                .and_then(|all| all.checked_add(size)),
        };
        if needed.is_none_or(|needed| needed > data.len()) {
            return Err(wrong("ends beyond its buffer"));
        }
        Ok((0..count).map(move |row| &data[row * stride..row * stride + size]))
    }
}

fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn indices(value: &Value) -> Vec<usize> {
    list(value).iter().filter_map(index).collect()
}

fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let all: Option<Vec<f64>> = list(value).iter().map(Value::as_f64).collect();
    all?.try_into().ok()
}
