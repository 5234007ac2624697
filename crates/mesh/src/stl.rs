//! STL, as text and binary.

use crate::{Builder, MeshError, three};

/// Binary if the length says so: text may begin with the same word.
pub(crate) fn read(bytes: &[u8], mesh: &mut Builder) -> Result<(), MeshError> {
    let count = bytes.get(80..84).map(|count| {
        let count = count.try_into().expect("four bytes");
        u32::from_le_bytes(count) as usize
    });
    if let Some(count) = count
        && bytes.len() == 84 + 50 * count
    {
        return binary(&bytes[84..], mesh);
    }
    let text = std::str::from_utf8(bytes).ok();
    let text = text.filter(|text| text.trim_start().starts_with("solid"));
    let text = text.ok_or_else(|| {
        MeshError::new("it is neither binary STL of its length nor text that begins with `solid`")
    })?;
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
                _ => return Err(MeshError::at(line, "a loop needs three corners")),
            },
            _ => {}
        }
    }
    Ok(())
}

fn binary(facets: &[u8], mesh: &mut Builder) -> Result<(), MeshError> {
    for facet in facets.chunks_exact(50) {
        let number = |at: usize| {
            let number = facet[at..at + 4].try_into().expect("four bytes");
            f32::from_le_bytes(number)
        };
        // The normal comes first: it follows from the corners.
        let corner = |at: usize| [number(at), number(at + 4), number(at + 8)];
        let corners = [12, 24, 36].map(corner).map(|point| mesh.point(point));
        mesh.triangle(corners)?;
    }
    Ok(())
}
