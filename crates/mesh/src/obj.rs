//! OBJ: corners and faces; everything else is left aside.

use crate::{Builder, MeshError, three};

pub(crate) fn read(bytes: &[u8], mesh: &mut Builder) -> Result<(), MeshError> {
    // Names of materials may be in any encoding.
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\0') {
        return Err(MeshError::new("it is not text"));
    }
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
                    MeshError::at(line, "a face needs three corners that are there")
                })?;
                for pair in corners[1..].windows(2) {
                    mesh.triangle([corners[0], pair[0], pair[1]])?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}
