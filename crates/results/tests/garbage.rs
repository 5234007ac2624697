//! Damaged files end in an error or a table, never in a panic or in all the memory.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{create, folder, record};
use oldham_results::read;
use oldham_results::reader::ReadProblem;

const TRIALS: usize = 2_000;

/// Marsaglia's xorshift: the same damage at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// A valid file of each kind, short, so that much of the damage hits its structure.
fn valid_files(folder: &Path) -> Vec<PathBuf> {
    let finished = ["run.parquet", "run.csv"].map(|name| {
        let mut writer = create(&folder.join(name));
        record(&mut writer, 0..50);
        writer.finish().unwrap()
    });
    let mut writer = create(&folder.join("killed.parquet"));
    record(&mut writer, 0..50);
    let mut files = finished.to_vec();
    files.push(writer.partial_path().to_owned());
    files
}

/// Half the trials flip a few bits; the others cut the file off, or overwrite a stretch of it.
fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match random.below(4) {
        0 => bytes.truncate(random.below(bytes.len())),
        1 => {
            let start = random.below(bytes.len());
            let end = (start + 1 + random.below(16)).min(bytes.len());
            let byte = [0x00, 0x7f, 0x80, 0xff][random.below(4)];
            bytes[start..end].fill(byte);
        }
        _ => {
            for _ in 0..=random.below(4) {
                let place = random.below(bytes.len());
                bytes[place] ^= 1 << random.below(8);
            }
        }
    }
    bytes
}

/// Most address space this process ever held, in bytes: what a runaway allocation shows in, even
/// if it is never touched.
#[cfg(target_os = "linux")]
fn peak_memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmPeak:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().nth(1));
    kibibytes.unwrap().parse::<usize>().unwrap() << 10
}

#[cfg(not(target_os = "linux"))]
fn peak_memory() -> usize {
    0
}

#[test]
fn random_damage_never_panics_nor_takes_all_memory() {
    let folder = folder("damage");
    for file in valid_files(&folder) {
        let good = fs::read(&file).unwrap();
        assert!(read(&file).is_ok());
        let before = peak_memory();
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for _ in 0..TRIALS {
            fs::write(&file, damage(&good, &mut random)).unwrap();
            if let Err(error) = read(&file) {
                assert!(!error.to_string().is_empty());
            }
        }
        let grown = peak_memory() - before;
        assert!(grown < 256 << 20, "{}: {grown} bytes", file.display());
    }
}

fn problem_of(name: &str, contents: impl AsRef<[u8]>) -> ReadProblem {
    let path = folder(&format!("problem_{name}")).join(name);
    fs::write(&path, contents).unwrap();
    read(&path).unwrap_err().problem
}

#[test]
fn empty_files_are_no_results() {
    let parquet = problem_of("empty.parquet", "");
    assert!(matches!(parquet, ReadProblem::Parquet(_)));
    assert!(matches!(problem_of("empty.csv", ""), ReadProblem::NoTime));
    assert!(matches!(problem_of("e.partial", ""), ReadProblem::NoHeader));
    let text = problem_of("text.txt", "time");
    assert!(matches!(text, ReadProblem::UnknownFormat));
}

#[test]
fn a_missing_file_is_named() {
    let error = read(Path::new("nowhere/run.parquet")).unwrap_err();
    assert!(error.to_string().starts_with("nowhere/run.parquet: "));
}

#[test]
fn csv_mistakes_have_a_line_number() {
    let ragged = problem_of("ragged.csv", "time [s],x [m]\n0,1\n\n1\n");
    assert_eq!(
        ragged.to_string(),
        "line 4: 1 cells, where the header has 2"
    );
    let word = problem_of("word.csv", "time [s],x [m]\n0,1\n1,two\n");
    assert_eq!(
        word.to_string(),
        "line 3, column `x`: `two` is not a number"
    );
    let binary = problem_of("binary.csv", b"time,x\n0,\xff\n");
    assert!(matches!(binary, ReadProblem::NotText { line: 2 }));
    let twice = problem_of("twice.csv", "time,x,x\n");
    assert!(matches!(twice, ReadProblem::DuplicateColumn { .. }));
}

#[test]
fn csv_of_other_programs_is_read() {
    let path = folder("foreign").join("foreign.csv");
    fs::write(&path, "\u{feff}x [m], time\r\n1,0\r\n,0.5\r\n3e2,1\r\n").unwrap();
    let table = read(&path).unwrap();
    assert_eq!(table.time(), [0.0, 0.5, 1.0]);
    let x = table.column("x").unwrap();
    assert_eq!((x[0], x[2]), (1.0, 300.0));
    assert!(x[1].is_nan());
}

/// Every bit of every page counts: a flipped one is found by the page's checksum.
#[test]
fn a_flipped_bit_in_a_number_is_found() {
    let path = folder("flipped").join("run.parquet");
    let mut writer = create(&path);
    record(&mut writer, 0..5_000);
    writer.finish().unwrap();
    let good = fs::read(&path).unwrap();
    // The last number of the first page: all pages stand before the footer.
    for place in [1_000, good.len() / 3, good.len() / 2] {
        let mut bytes = good.clone();
        bytes[place] ^= 1;
        fs::write(&path, bytes).unwrap();
        let error = read(&path).expect_err("a damaged page").to_string();
        assert!(error.contains("CRC") || error.contains("crc"), "{error}");
    }
}

/// Pages that repeat one value make a small file of any number of rows.
#[test]
fn a_small_file_of_very_many_rows_is_refused() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    use std::sync::Arc;
    let path = folder("bomb").join("bomb.parquet");
    let zeros = || -> ArrayRef { Arc::new(Float64Array::from(vec![0.0; 1 << 20])) };
    let batch = RecordBatch::try_from_iter([("time", zeros()), ("x", zeros())]).unwrap();
    let file = fs::File::create(&path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    for _ in 0..19 {
        writer.write(&batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    let before = peak_memory();
    let problem = read(&path).unwrap_err().problem;
    assert!(matches!(problem, ReadProblem::TooLarge { .. }), "{problem}");
    assert!(peak_memory() - before < 64 << 20);
}

#[test]
fn times_that_are_no_numbers_are_refused() {
    let nan = problem_of("nan.csv", "time,x\n0,1\nnan,1\n");
    assert!(matches!(nan, ReadProblem::NoFiniteTime { row: 2, .. }));
}
