//! A scene with its rows, as bytes for the page and as a page of its own.

use crate::Scene;

/// First bytes of a film, then its version.
const MAGIC: &[u8; 4] = b"OLDF";
const VERSION: u32 = 1;

/// The page, complete with its style and its script.
pub const PAGE: &str = include_str!("../../../web/dist/index.html");

/// What stands in the page where a film may be put.
const SLOT: &str = "<script type=\"text/plain\" id=\"film\"></script>";

/// A scene with its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Film {
    /// What is drawn.
    pub scene: Scene,
    /// The time of each row, in s.
    pub times: Vec<f64>,
    /// Row after row, as many numbers each as the scene says.
    pub rows: Vec<f32>,
}

impl Film {
    /// As bytes: `OLDF`, the version, the length of the scene, rows and width, each a 32-bit whole
    /// number; the scene as JSON; the times as 64-bit and the rows as 32-bit floating-point numbers.
    /// All are little-endian, and nothing is aligned.
    pub fn to_bytes(&self) -> Vec<u8> {
        let scene = serde_json::to_vec(&self.scene).expect("plain data can be written");
        let mut bytes =
            Vec::with_capacity(20 + scene.len() + self.times.len() * 8 + self.rows.len() * 4);
        bytes.extend_from_slice(MAGIC);
        for number in [
            VERSION,
            size(scene.len()),
            size(self.times.len()),
            size(self.scene.width),
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&scene);
        bytes.extend(self.times.iter().flat_map(|time| time.to_le_bytes()));
        bytes.extend(self.rows.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    /// As a page that needs no server and asks nobody for anything.
    pub fn to_html(&self) -> String {
        // The alphabet of base 64 has no character that means anything in HTML.
        let film = base64(&self.to_bytes());
        let (before, after) = PAGE
            .split_once(SLOT)
            .expect("the page has a place for a film");
        let open = SLOT
            .strip_suffix("</script>")
            .expect("the place is an element");
        [before, open, &film, "</script>", after].concat()
    }
}

/// A row as the page receives it while a model runs: its time as a 64-bit, its numbers as 32-bit
/// floating-point numbers, little-endian.
pub fn row_bytes(time: f64, row: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + 4 * row.len());
    bytes.extend_from_slice(&time.to_le_bytes());
    bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn size(length: usize) -> u32 {
    u32::try_from(length).expect("a film has less than 4 GiB")
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() { letter.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;

    #[test]
    fn base_64_of_rfc_4648() {
        let known = [
            "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
        ];
        for (length, known) in known.into_iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..length]), known);
        }
    }

    #[test]
    fn a_film_says_how_long_its_pieces_are() {
        let scene = Scene {
            title: "A".into(),
            width: 2,
            ..Scene::default()
        };
        let film = Film {
            scene,
            times: vec![0.5],
            rows: vec![1.0, -2.0],
        };
        let bytes = film.to_bytes();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let length = word(8) as usize;
        assert_eq!(
            (&bytes[..4], word(4), word(12), word(16)),
            (&MAGIC[..], 1, 1, 2)
        );
        assert_eq!(bytes.len(), 20 + length + 8 + 2 * 4);
        assert_eq!(&bytes[20 + length..28 + length], 0.5_f64.to_le_bytes());
        assert_eq!(bytes[bytes.len() - 4..], (-2.0_f32).to_le_bytes());
    }

    #[test]
    fn names_cannot_leave_their_place_in_the_page() {
        let evil = "</script><script>alert(1)</script>";
        let scene = Scene {
            title: evil.into(),
            frames: vec![Frame {
                name: evil.into(),
                motion: crate::Moves::Not { base: [0.0; 3] },
            }],
            ..Scene::default()
        };
        let page = Film {
            scene,
            ..Film::default()
        }
        .to_html();
        assert!(!page.contains("alert(1)"));
        assert_eq!(
            page.matches("<script").count(),
            PAGE.matches("<script").count()
        );
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        // The browser itself refuses all addresses but those of the server, by this policy.
        assert!(PAGE.contains("Content-Security-Policy"));
        assert!(PAGE.contains("default-src 'none'"));
        assert!(!PAGE.contains("src=\"http") && !PAGE.contains("href=\"http"));
    }
}
