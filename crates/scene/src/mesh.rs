//! Triangles from STL and OBJ files, for pictures.

use std::collections::HashMap;
use std::path::Path;

use oldham_web::Shape;

/// Largest accepted file in bytes, and most triangles: the page gets all of them.
const MAX_BYTES: u64 = 128 << 20;
const MOST_TRIANGLES: usize = 300_000;

/// Reads a file; lengths are multiplied by a scale. What is wrong is said in words.
pub(crate) fn read_mesh(path: &Path, scale: f64) -> Result<Shape, String> {
    let bytes = oldham_files::read(path, MAX_BYTES).map_err(|error| error.to_string())?;
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    let mesh = match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("stl") => stl(&bytes)?,
        Some("obj") => obj(&bytes)?,
        _ => return Err("only .stl and .obj are read".into()),
    };
    mesh.finish(scale)
}

/// Points that are there once, and triangles between them.
#[derive(Default)]
struct Mesh {
    points: Vec<[f32; 3]>,
    known: HashMap<[u32; 3], u32>,
    triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// The number of a point: the one that is there already at the same place.
    fn point(&mut self, point: [f32; 3]) -> u32 {
        let points = &mut self.points;
        *self
            .known
            .entry(point.map(f32::to_bits))
            .or_insert_with(|| {
                points.push(point);
                (points.len() - 1) as u32
            })
    }

    fn triangle(&mut self, corners: [u32; 3]) -> Result<(), String> {
        let [a, b, c] = corners;
        // One without an area is not seen.
        if a != b && b != c && c != a {
            self.triangles.push(corners);
        }
        if self.triangles.len() > MOST_TRIANGLES {
            return Err(format!("it has more than {MOST_TRIANGLES} triangles"));
        }
        Ok(())
    }

    fn finish(mut self, scale: f64) -> Result<Shape, String> {
        if self.triangles.is_empty() {
            return Err("there is no triangle in it".into());
        }
        let scale = scale as f32;
        for point in &mut self.points {
            *point = point.map(|x| x * scale);
        }
        if !self.points.iter().flatten().all(|x| x.is_finite()) {
            return Err("a coordinate is NaN or infinite".into());
        }
        Ok(Shape::Mesh {
            points: self.points,
            triangles: self.triangles,
        })
    }
}

/// Binary if the length says so: text may begin with the same word.
fn stl(bytes: &[u8]) -> Result<Mesh, String> {
    let mut mesh = Mesh::default();
    let count = bytes.get(80..84).map(|count| {
        let count = count.try_into().expect("four bytes");
        u32::from_le_bytes(count) as usize
    });
    if let Some(count) = count
        && bytes.len() == 84 + 50 * count
    {
        for facet in bytes[84..].chunks_exact(50) {
            let number = |at: usize| {
                let number = facet[at..at + 4].try_into().expect("four bytes");
                f32::from_le_bytes(number)
            };
            // The normal comes first: it follows from the corners.
            let corner = |at: usize| [number(at), number(at + 4), number(at + 8)];
            let corners = [12, 24, 36].map(corner).map(|point| mesh.point(point));
            mesh.triangle(corners)?;
        }
        return Ok(mesh);
    }
    let text = std::str::from_utf8(bytes).ok();
    let text = text.filter(|text| text.trim_start().starts_with("solid"));
    let text =
        text.ok_or("it is neither binary STL of its length nor text that begins with `solid`")?;
    let mut corners = Vec::new();
    for (line, words) in text.lines().enumerate() {
        let mut words = words.split_whitespace();
        match words.next() {
            Some("vertex") => corners.push(mesh.point(three(words, line)?)),
            Some("endloop") => match corners[..] {
                [a, b, c] => {
                    mesh.triangle([a, b, c])?;
                    corners.clear();
                }
                _ => return Err(format!("line {}: a loop needs three corners", line + 1)),
            },
            _ => {}
        }
    }
    Ok(mesh)
}

/// Corners and faces; everything else is left aside.
fn obj(bytes: &[u8]) -> Result<Mesh, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text")?;
    let mut mesh = Mesh::default();
    let mut numbers = Vec::new();
    for (line, words) in text.lines().enumerate() {
        let mut words = words.split_whitespace();
        match words.next() {
            Some("v") => numbers.push(mesh.point(three(words, line)?)),
            Some("f") => {
                let corner = |word: &str| {
                    // Corner, texture and normal; from the first, or back from the last.
                    let number: i64 = word.split('/').next()?.parse().ok()?;
                    let place = match number {
                        0 => None,
                        1.. => usize::try_from(number - 1).ok(),
                        _ => numbers.len().checked_add_signed(number as isize),
                    };
                    numbers.get(place?).copied()
                };
                let corners: Option<Vec<u32>> = words.map(corner).collect();
                let corners = corners.filter(|corners| corners.len() >= 3);
                let corners = corners.ok_or_else(|| {
                    format!(
                        "line {}: a face needs three corners that are there",
                        line + 1
                    )
                })?;
                for pair in corners[1..].windows(2) {
                    mesh.triangle([corners[0], pair[0], pair[1]])?;
                }
            }
            _ => {}
        }
    }
    Ok(mesh)
}

fn three<'w>(words: impl Iterator<Item = &'w str>, line: usize) -> Result<[f32; 3], String> {
    let numbers: Vec<f32> = words.take(3).filter_map(|word| word.parse().ok()).collect();
    let three = numbers.try_into();
    three.map_err(|_| format!("line {}: three numbers are needed", line + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
                        vertex 0 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\n\
                        vertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";

    fn binary() -> Vec<u8> {
        let mut bytes = vec![b' '; 80];
        bytes[..5].copy_from_slice(b"solid");
        bytes.extend(2_u32.to_le_bytes());
        let corners: [[f32; 9]; 2] = [
            [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0],
        ];
        for corners in corners {
            bytes.extend([0; 12]);
            bytes.extend(corners.iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn a_square_is_the_same_in_all_formats() {
        let text = stl(TEXT.as_bytes()).unwrap();
        let square = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1/1/1 2 3\nf -3 -1 -2\n";
        for mesh in [stl(&binary()).unwrap(), obj(square.as_bytes()).unwrap()] {
            assert_eq!(mesh.triangles, text.triangles);
            assert_eq!(mesh.points, text.points);
        }
        assert_eq!((text.points.len(), text.triangles.len()), (4, 2));
        // A face with four corners is two triangles.
        let face = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
        assert_eq!(obj(face.as_bytes()).unwrap().triangles.len(), 2);
    }

    /// Cut short, or with any byte changed, it is read or refused, and nothing else happens.
    #[test]
    fn damaged_files_are_refused_in_words() {
        for whole in [TEXT.as_bytes().to_vec(), binary()] {
            for length in 0..whole.len() {
                let _ = stl(&whole[..length]);
                let mut changed = whole.clone();
                changed[length] ^= 0x55;
                let _ = stl(&changed).map(|mesh| mesh.finish(1.0));
            }
        }
        assert!(stl(&binary()[..180]).is_err());
        let wrong = [
            "f 1 2 3\n",
            "v 0 0\n",
            "v 0 0 0\nf 1 1\n",
            "v 0 0 0\nf -9 1 1\n",
            "f 0 0 0\n",
        ];
        for text in wrong {
            assert!(obj(text.as_bytes()).is_err(), "{text}");
        }
        assert!(
            obj(b"v 0 0 0\n").unwrap().finish(1.0).is_err(),
            "nothing to see"
        );
        let nan = "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
        assert!(obj(nan.as_bytes()).unwrap().finish(1.0).is_err());
    }
}
