//! FMUs that are no FMUs: what lies outside of its folder, is a bomb, has entities or flipped bits.

mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use oldham_fmi::Package;
use support::plain;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const DESCRIPTION: &str = r#"<fmiModelDescription fmiVersion="2.0" modelName="m" guid="{m}">
<CoSimulation modelIdentifier="m"/><ModelVariables/><ModelStructure/></fmiModelDescription>"#;

/// An archive with a description, a library and what is written besides.
fn archive(
    folder: &Path,
    text: &str,
    write: impl FnOnce(&mut ZipWriter<std::fs::File>),
) -> PathBuf {
    let path = folder.join("m.fmu");
    let mut archive = ZipWriter::new(std::fs::File::create(&path).unwrap());
    let options = SimpleFileOptions::default();
    for (name, text) in [
        ("modelDescription.xml", text),
        ("binaries/linux64/m.so", ""),
    ] {
        archive.start_file(name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    write(&mut archive);
    archive.finish().unwrap();
    path
}

/// Told to a process of this very program: the file that it opens, and nothing else.
const OPENED: &str = "OLDHAM_TEST_OPENED";
/// What a file that is refused may cost: CPU time, and memory at most.
const MOST_SECONDS: f64 = 1.0;
const MOST_BYTES: f64 = 200e6;

/// In a process of its own: why the file is refused, and what that took.
#[test]
fn opener() {
    let Ok(path) = std::env::var(OPENED) else {
        return;
    };
    let error = Package::open(Path::new(&path)).unwrap_err().to_string();
    let text = |file: &str| std::fs::read_to_string(file).unwrap();
    // User and system time in hundredths of seconds are fields 14 and 15; the second ends with a bracket.
    let stat = text("/proc/self/stat");
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    let ticks: f64 = fields
        .skip(11)
        .take(2)
        .map(|f| f.parse::<f64>().unwrap())
        .sum();
    let status = text("/proc/self/status");
    let mut lines = status.lines();
    let peak = lines.find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: f64 = peak.trim_end_matches("kB").trim().parse().unwrap();
    println!(
        "\nTOOK {} {}\nERROR {error}\nEND",
        ticks / 100.0,
        peak * 1024.0
    );
}

fn refused(path: &Path) -> String {
    let opened = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "opener", "--nocapture", "--test-threads=1"])
        .env(OPENED, path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&opened.stdout);
    let between = |from: &str, to: &str| {
        let rest = said.split_once(from).unwrap_or_else(|| panic!("{said}")).1;
        rest.split_once(to).unwrap().0.to_owned()
    };
    let error = between("\nERROR ", "\nEND");
    let took = between("\nTOOK ", "\n");
    let took: Vec<f64> = took.split(' ').map(|n| n.parse().unwrap()).collect();
    assert!(took[0] < MOST_SECONDS, "{} s: {error}", took[0]);
    assert!(took[1] < MOST_BYTES, "{} bytes: {error}", took[1]);
    error
}

#[test]
fn files_stay_in_their_folder() {
    for (name, reason) in [
        ("../evil", "outside"),
        ("resources/../../evil", "outside"),
        ("/tmp/evil", "absolute path"),
        ("C:/evil", "drive letter"),
        ("resources\\evil", "backslash"),
    ] {
        let folder = TempDir::new().unwrap();
        let path = archive(folder.path(), DESCRIPTION, |archive| {
            archive
                .start_file(name, SimpleFileOptions::default())
                .unwrap();
            archive.write_all(b"evil").unwrap();
        });
        let error = refused(&path);
        assert!(error.contains(reason), "{name}: {error}");
        assert!(!folder.path().join("evil").exists());
    }
    assert!(!Path::new("/tmp/evil").exists());
    let folder = TempDir::new().unwrap();
    let path = archive(folder.path(), DESCRIPTION, |archive| {
        let options = SimpleFileOptions::default();
        archive
            .add_symlink("resources/link", "/etc/passwd", options)
            .unwrap();
    });
    let error = refused(&path);
    assert!(error.contains("is a link"), "{error}");
}

#[test]
fn a_name_is_there_once() {
    let folder = TempDir::new().unwrap();
    let path = archive(folder.path(), DESCRIPTION, |archive| {
        for name in ["resources/one", "resources/two"] {
            archive
                .start_file(name, SimpleFileOptions::default())
                .unwrap();
        }
    });
    let mut bytes = std::fs::read(&path).unwrap();
    let name = b"resources/two";
    let places: Vec<usize> = (0..bytes.len() - name.len())
        .filter(|&at| bytes[at..].starts_with(name))
        .collect();
    assert_eq!(places.len(), 2);
    for at in places {
        bytes[at..at + name.len()].copy_from_slice(b"resources/one");
    }
    std::fs::write(&path, bytes).unwrap();
    let error = refused(&path);
    assert!(error.contains("twice"), "{error}");
}

#[test]
fn bombs_are_stopped() {
    let folder = TempDir::new().unwrap();
    let path = archive(folder.path(), DESCRIPTION, |archive| {
        archive
            .start_file("resources/zeros", SimpleFileOptions::default())
            .unwrap();
        let zeros = vec![0; 1 << 20];
        (0..80).for_each(|_| archive.write_all(&zeros).unwrap());
    });
    assert!(std::fs::metadata(&path).unwrap().len() < 200_000);
    let error = refused(&path);
    assert!(error.contains("unpacks to more than"), "{error}");
    let folder = TempDir::new().unwrap();
    let path = archive(folder.path(), DESCRIPTION, |archive| {
        for k in 0..120_000 {
            archive
                .start_file(format!("{k}"), SimpleFileOptions::default())
                .unwrap();
        }
    });
    let error = refused(&path);
    assert!(error.contains("120002 files"), "{error}");
}

/// A million entries: only a directory, all of whose entries are the same file.
#[test]
fn a_million_entries_are_refused_unread() {
    const COUNT: u64 = 1_000_000;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("m.fmu");
    let name = b"modelDescription.xml";
    let mut bytes = Vec::new();
    let header = |bytes: &mut Vec<u8>, mark: &[u8], before: usize, behind: usize| {
        bytes.extend_from_slice(mark);
        // Versions, flags, method, time, digest and sizes: all zero, but the length of the name.
        bytes.resize(bytes.len() + before, 0);
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.resize(bytes.len() + behind, 0);
        bytes.extend_from_slice(name);
    };
    header(&mut bytes, b"PK\x03\x04", 22, 2);
    let start = bytes.len() as u64;
    (0..COUNT).for_each(|_| header(&mut bytes, b"PK\x01\x02", 24, 16));
    let end = bytes.len() as u64;
    // The end of a large archive: its size, versions and disks, counts, length and place of the directory.
    bytes.extend_from_slice(b"PK\x06\x06");
    bytes.extend_from_slice(&44_u64.to_le_bytes());
    bytes.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [COUNT, COUNT, end - start, start] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    // Where that is, and the end of an archive, which points to it.
    bytes.extend_from_slice(b"PK\x06\x07\0\0\0\0");
    bytes.extend_from_slice(&end.to_le_bytes());
    bytes.extend_from_slice(b"\x01\0\0\0PK\x05\x06\0\0\0\0");
    bytes.extend_from_slice(&[0xff; 12]);
    bytes.extend_from_slice(&[0, 0]);
    std::fs::write(&path, bytes).unwrap();
    let error = refused(&path);
    assert!(error.contains("1000000 files"), "{error}");
}

#[test]
fn descriptions_are_bounded() {
    let entities = DESCRIPTION.replace(
        "<fmiModelDescription",
        "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><fmiModelDescription",
    );
    let outside = DESCRIPTION.replace(
        "<fmiModelDescription",
        "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><fmiModelDescription",
    );
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let wide = DESCRIPTION.replace("<ModelVariables/>", &"<a/>".repeat(3_000_000));
    let cases = [
        (entities, "not XML"),
        (outside, "not XML"),
        (deep, ""),
        (wide, "not XML"),
        (DESCRIPTION[..100].to_owned(), "not XML"),
        (DESCRIPTION.replace("2.0", "4.0"), "FMI 4.0"),
        (DESCRIPTION.replace("guid", "uid"), "lacks `guid`"),
    ];
    for (text, reason) in cases {
        let folder = TempDir::new().unwrap();
        let path = archive(folder.path(), &text, |_| {});
        let error = refused(&path);
        assert!(error.contains(reason), "{error}");
    }
}

/// Bits that are flipped, and files that are cut off: refused or read, never a panic, never long.
#[test]
fn damaged_files_do_no_harm() {
    let cases: u64 = std::env::var("OLDHAM_FUZZ").map_or(300, |n| n.parse().unwrap());
    let folder = TempDir::new().unwrap();
    let whole = std::fs::read(plain(folder.path(), "mass2")).unwrap();
    let path = folder.path().join("damaged.fmu");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let mut refused = 0;
    for case in 0..cases {
        let mut bytes = whole.clone();
        match case % 3 {
            0 => bytes.truncate(next(bytes.len())),
            _ => {
                for _ in 0..=next(8) {
                    let at = next(bytes.len());
                    bytes[at] ^= 1 << next(8);
                }
            }
        }
        std::fs::write(&path, bytes).unwrap();
        let started = Instant::now();
        refused += u64::from(Package::describe(&path).is_err());
        assert!(started.elapsed() < Duration::from_secs(10));
    }
    assert!(refused > cases / 3, "{refused}");
}
