//! What several tests need: a folder of their own, and a small result to write.

use std::fs;
use std::path::{Path, PathBuf};

use oldham_cosim::Recorder;
use oldham_cosim::Unit;
use oldham_results::{Column, Metadata, ResultWriter};

/// An empty folder for one test.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn columns() -> Vec<Column> {
    let column = |name: &str, unit| Column {
        name: name.into(),
        unit,
    };
    vec![
        column("left.x1.x", Unit::METRE),
        column("left.x1.v", Unit::METRE_PER_SECOND),
    ]
}

pub fn metadata() -> Metadata {
    Metadata {
        title: "Two masses".into(),
        model: "[subsystem.left]\nmass = 1.0\n".into(),
        entries: vec![
            ("engine".into(), "0.1.0".into()),
            ("step".into(), "1e-3".into()),
        ],
    }
}

/// Numbers that only an exact encoding brings back.
pub fn row(index: usize) -> (f64, [f64; 2]) {
    let t = index as f64 * 1e-3;
    let tiny = f64::MIN_POSITIVE / (index as f64 + 3.0);
    (t, [(t * 7.0).sin() * 1e17, tiny])
}

pub fn record(writer: &mut ResultWriter, rows: std::ops::Range<usize>) {
    for index in rows {
        let (t, values) = row(index);
        writer.record(t, &values).unwrap();
    }
}

pub fn create(path: &Path) -> ResultWriter {
    ResultWriter::create(path, &columns(), &metadata(), false).unwrap()
}
