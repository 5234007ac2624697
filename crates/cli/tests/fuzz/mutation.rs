//! Changes to files, drawn from a seed.

/// A small generator (splitmix) that gives the same numbers everywhere.
pub struct Random(u64);

impl Random {
    /// The one of a case of a kind.
    pub fn of(kind: &str, case: u64) -> Self {
        let name = kind.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        Self(name ^ case.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Below a bound; nothing is below zero, and zero is drawn then.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Values that have broken readers before.
const NASTY: &[&str] = &[
    "0",
    "-0.0",
    "-1",
    "1",
    "2",
    "1e-300",
    "5e-324",
    "1e-12",
    "1e-6",
    "1e6",
    "1e9",
    "1e15",
    "1e300",
    "1.8e308",
    "-1e308",
    "nan",
    "inf",
    "-inf",
    "65535",
    "4294967296",
    "9223372036854775807",
    "99999999999999999999",
    "0x7fffffff",
    "true",
    "\"\"",
    "\"x\"",
    "\"1e400 m\"",
    "\"sqrt(-1)\"",
    "\"1/0\"",
    "\"t\"",
    "[]",
    "[0, 0, 0]",
    "[1e300, 0, 0]",
    "{}",
    "[[]]",
    "1979-05-27",
];

/// Characters that end, open or confuse.
const SIGNS: &[&str] = &[
    "\"", "'", "[", "]", "{", "}", "=", ",", "#", "\n", "\r", "\0", "\u{1b}", "\u{202e}",
    "\u{feff}", ".", "-", "e", "\"\"\"", "[[", "é", " ", "\t", ";", "/", "*", "$",
];

/// A text with one to four changes; lines may come from another one.
pub fn text(random: &mut Random, original: &str, other: &str) -> String {
    let mut text = original.to_owned();
    for _ in 0..=random.below(4) {
        text = changed(random, &text, other);
    }
    text
}

fn changed(random: &mut Random, text: &str, other: &str) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let line = random.below(lines.len());
    match random.below(12) {
        0 => {
            lines.remove(line);
        }
        1 => lines.insert(line, lines[line].clone()),
        2 => {
            let with = random.below(lines.len());
            lines.swap(line, with);
        }
        3 => {
            let others: Vec<&str> = other.split('\n').collect();
            lines.insert(line, (*random.one_of(&others)).to_owned());
        }
        4 => {
            let at = boundary(&lines[line], random);
            let sign: &&str = random.one_of(SIGNS);
            lines[line].insert_str(at, sign);
        }
        5 => {
            let at = boundary(&lines[line], random);
            lines[line].truncate(at);
        }
        6 => lines.truncate(line),
        7 => {
            let (a, b) = (
                boundary(&lines[line], random),
                boundary(&lines[line], random),
            );
            lines[line].replace_range(a.min(b)..a.max(b), "");
        }
        // Numbers are what readers believe: most changes go there.
        _ => {
            let spans = numbers(text);
            if spans.is_empty() {
                return text.to_owned();
            }
            let span = random.one_of(&spans).clone();
            let value = match random.below(3) {
                0 => format!("{}e{}", &text[span.clone()], random.below(41) as i64 - 20),
                1 => format!("-{}", &text[span.clone()]),
                _ => (*random.one_of(NASTY)).to_owned(),
            };
            return format!("{}{value}{}", &text[..span.start], &text[span.end..]);
        }
    }
    lines.join("\n")
}

fn boundary(line: &str, random: &mut Random) -> usize {
    let mut at = random.below(line.len() + 1);
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Where numbers stand in a text.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, byte) in text.bytes().chain([b' ']).enumerate() {
        let is_part = byte.is_ascii_digit() || (start.is_some() && byte == b'.');
        match (start, is_part) {
            (None, true) => start = Some(at),
            (Some(begin), false) => {
                found.push(begin..at);
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// Bytes with one to six changes.
pub fn bytes(random: &mut Random, original: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len());
        match random.below(7) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.below(256) as u8),
            2 if !bytes.is_empty() => {
                bytes.remove(at);
            }
            3 => {
                let end = bytes.len().min(at + 8);
                bytes[at.min(end)..end].fill(*random.one_of(&[0, 0x7f, 0x80, 0xff]));
            }
            4 => {
                let end = bytes.len().min(at + random.below(64));
                let again = bytes[at.min(end)..end].to_vec();
                bytes.splice(at.min(end)..at.min(end), again);
            }
            _ if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
    bytes
}

/// The checksum of checkpoints, so that a change goes past it.
pub fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    };
    !bytes.iter().fold(!0, step)
}
