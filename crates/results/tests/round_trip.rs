//! What is written is what is read, whatever ends the run.

mod common;

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use common::{columns, create, folder, metadata, record, row};
use oldham_cosim::Recorder;
use oldham_cosim::Unit;
use oldham_results::writer::WriteError;
use oldham_results::{Changing, Column, Metadata, ResultWriter, Table, read, read_some};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

fn assert_rows(table: &Table, rows: usize) {
    assert_eq!(table.rows(), rows);
    for index in 0..rows {
        let (t, [x, v]) = row(index);
        assert_eq!(table.time()[index], t);
        assert_eq!(table.column("left.x1.x").unwrap()[index], x);
        assert_eq!(table.column("left.x1.v").unwrap()[index], v);
    }
}

fn assert_columns(table: &Table) {
    let names: Vec<_> = table.names().collect();
    assert_eq!(names, ["time", "left.x1.x", "left.x1.v"]);
    assert_eq!(table.columns()[0].unit, Unit::SECOND);
    assert_eq!(table.columns()[1..], columns());
    assert_eq!(table.column("nothing"), None);
}

#[test]
fn parquet_gives_back_every_bit_and_describes_itself() {
    let path = folder("parquet").join("new/run.parquet");
    let mut writer = create(&path);
    record(&mut writer, 0..10_000);
    let partial = writer.partial_path().to_owned();
    assert_eq!(writer.finish().unwrap(), path);
    assert!(!partial.exists());
    let table = read(&path).unwrap();
    assert_rows(&table, 10_000);
    assert_columns(&table);
    assert_eq!(*table.metadata(), metadata());
    assert!(table.complete());
}

/// Who wants one signal reads that one and the time: of a file of a thousand columns nothing else is decoded.
#[test]
fn one_column_is_read_alone() {
    let path = folder("alone").join("run.parquet");
    let column = |index: usize| Column {
        name: format!("p.x{index}"),
        unit: Unit::METRE,
    };
    let columns: Vec<_> = (0..1000).map(column).collect();
    let mut writer = ResultWriter::create(&path, &columns, &Metadata::default(), false).unwrap();
    let mut values = vec![0.0; 1000];
    for step in 0..50_u32 {
        values.fill_with(|| f64::from(step));
        writer.record(1e-3 * f64::from(step), &values).unwrap();
    }
    writer.finish().unwrap();
    let table = read_some(&path, &|name| name == "p.x567").unwrap();
    let names: Vec<_> = table.names().collect();
    assert_eq!(names, ["time", "p.x567"]);
    assert_eq!(table.column("p.x567").unwrap()[49], 49.0);
    assert_eq!(table.time().len(), 50);
}

#[test]
fn csv_gives_back_every_bit() {
    let path = folder("csv").join("run.csv");
    let mut writer = create(&path);
    record(&mut writer, 0..5_000);
    writer.record(9.0, &[f64::INFINITY, f64::NAN]).unwrap();
    writer.finish().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("time [s],left.x1.x [m],left.x1.v [m/s]\n0.0,0.0,"));
    let table = read(&path).unwrap();
    assert_columns(&table);
    assert_eq!(table.rows(), 5_001);
    assert_eq!(table.column("left.x1.v").unwrap()[7], row(7).1[1]);
    assert_eq!(table.column("left.x1.x").unwrap()[5_000], f64::INFINITY);
    assert!(table.column("left.x1.v").unwrap()[5_000].is_nan());
}

#[test]
fn a_result_without_rows_is_a_result() {
    let folder = folder("empty");
    for name in ["run.parquet", "run.csv"] {
        let path = create(&folder.join(name)).finish().unwrap();
        let table = read(&path).unwrap();
        assert_columns(&table);
        assert_eq!(table.rows(), 0);
    }
}

#[test]
fn wide_rows_come_back_too() {
    let path = folder("wide").join("run.parquet");
    let columns: Vec<_> = (0..3_000)
        .map(|index| Column {
            name: format!("c{index}"),
            unit: Unit::ONE,
        })
        .collect();
    let mut writer = ResultWriter::create(&path, &columns, &Metadata::default(), false).unwrap();
    for step in 0..200 {
        let row: Vec<_> = (0..3_000).map(|c| f64::from(c * step)).collect();
        writer.record(f64::from(step), &row).unwrap();
    }
    let table = read(&writer.finish().unwrap()).unwrap();
    assert_eq!(table.column("c2999").unwrap()[199], 2999.0 * 199.0);
}

/// The centres of 1200 particles: three columns each, one field of lists in the file.
#[test]
fn numbered_columns_are_a_list_in_the_file_and_columns_in_the_table() {
    const PARTICLES: usize = 1200;
    const ROWS: usize = 700;
    let folder = folder("lists");
    let mut columns: Vec<_> = (1..=3 * PARTICLES)
        .map(|index| Column {
            name: format!("can.particles.lead.{index}"),
            unit: Unit::METRE,
        })
        .collect();
    columns.push(Column {
        name: "can.lid".into(),
        unit: Unit::NEWTON,
    });
    let value = |row: usize, column: usize| (row * columns.len() + column) as f64 / 7.0;
    let mut written = Vec::new();
    for name in ["run.parquet", "run.csv"] {
        let path = folder.join(name);
        let mut writer = ResultWriter::create(&path, &columns, &metadata(), false).unwrap();
        for row in 0..ROWS {
            let values: Vec<f64> = (0..columns.len())
                .map(|column| value(row, column))
                .collect();
            writer.record(row as f64, &values).unwrap();
        }
        if name == "run.parquet" {
            let running = read(writer.partial_path()).unwrap();
            assert_eq!(running.columns()[1..], columns);
        }
        let table = read(&writer.finish().unwrap()).unwrap();
        assert_eq!(table.columns()[1..], columns);
        assert_eq!(table.rows(), ROWS);
        for column in 0..columns.len() {
            let found = table.at(column + 1);
            assert!((0..ROWS).all(|row| found[row] == value(row, column)));
        }
        written.push(path);
    }
    let file = fs::File::open(&written[0]).unwrap();
    let file = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let names: Vec<&str> = file.schema().fields().iter().map(|f| &**f.name()).collect();
    assert_eq!(names, ["time", "can.particles.lead", "can.lid"]);
    // More than one group, and more than one page in each.
    assert!(file.metadata().num_row_groups() > 1);
    let header = fs::read_to_string(&written[1]).unwrap();
    assert!(header.starts_with("time [s],can.particles.lead.1 [m],can.particles.lead.2 [m],"));
}

#[test]
fn a_killed_run_loses_less_than_a_second() {
    let path = folder("killed").join("run.parquet");
    let mut writer = create(&path);
    let seen = |writer: &ResultWriter| read(writer.partial_path()).unwrap();
    assert_eq!(seen(&writer).rows(), 0);
    record(&mut writer, 0..10);
    sleep(Duration::from_millis(800));
    record(&mut writer, 10..11);
    assert_rows(&seen(&writer), 11);
    record(&mut writer, 11..12);
    sleep(Duration::from_millis(800));
    writer.flush_if_due().unwrap();
    assert_rows(&seen(&writer), 12);
    assert!(!seen(&writer).complete());
}

/// Rows reach the disk whenever half a second has passed: the final file must not show that.
#[test]
fn a_file_does_not_depend_on_how_long_the_run_took() {
    let bytes = |name: &str, pauses: &[usize]| {
        let path = folder(name).join("run.parquet");
        let mut writer = create(&path);
        for index in 0..9_000 {
            if pauses.contains(&index) {
                sleep(Duration::from_millis(600));
            }
            record(&mut writer, index..index + 1);
        }
        fs::read(writer.finish().unwrap()).unwrap()
    };
    assert_eq!(bytes("quick", &[]), bytes("slow", &[700, 5_000]));
}

#[test]
fn a_dropped_writer_leaves_all_its_rows() {
    let path = folder("dropped").join("run.parquet");
    let mut writer = create(&path);
    record(&mut writer, 0..5_000);
    let partial = writer.partial_path().to_owned();
    drop(writer);
    assert!(!path.exists());
    let table = read(&partial).unwrap();
    assert_rows(&table, 5_000);
    assert_columns(&table);
    assert_eq!(*table.metadata(), metadata());
    assert!(!table.complete());
}

#[test]
fn a_torn_stream_gives_all_complete_batches() {
    let path = folder("torn").join("run.parquet");
    let mut writer = create(&path);
    record(&mut writer, 0..4_096 + 100);
    let partial = writer.partial_path().to_owned();
    drop(writer);
    let bytes = fs::read(&partial).unwrap();
    fs::write(&partial, &bytes[..bytes.len() - 50]).unwrap();
    let table = read(&partial).unwrap();
    assert_rows(&table, 4_096);
    assert!(!table.complete());
}

fn refusal(path: &Path, columns: &[Column]) -> WriteError {
    let created = ResultWriter::create(path, columns, &Metadata::default(), false);
    created.err().expect("must be refused")
}

#[test]
fn nothing_is_overwritten_unasked() {
    let path = folder("exists").join("run.csv");
    fs::write(&path, "precious").unwrap();
    let error = refusal(&path, &columns());
    assert!(matches!(error, WriteError::Exists { .. }));
    assert!(error.to_string().contains("--force"));
    let writer = ResultWriter::create(&path, &columns(), &metadata(), true).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    writer.finish().unwrap();
    assert!(fs::read_to_string(&path).unwrap().starts_with("time"));
}

#[test]
fn the_rows_of_an_interrupted_run_are_not_overwritten_unasked() {
    let path = folder("interrupted").join("run.parquet");
    let mut writer = create(&path);
    record(&mut writer, 0..10);
    let partial = writer.partial_path().to_owned();
    drop(writer);
    let error = refusal(&path, &columns());
    assert!(matches!(error, WriteError::PartialExists { .. }));
    assert_rows(&read(&partial).unwrap(), 10);
}

#[test]
fn what_cannot_be_written_is_said_at_once() {
    let folder = folder("refused");
    let unknown = refusal(&folder.join("run.xlsx"), &columns());
    assert!(unknown.to_string().contains("`.parquet` or `.csv`"));
    fs::create_dir(folder.join("run.csv")).unwrap();
    let directory = refusal(&folder.join("run.csv"), &columns());
    assert!(matches!(directory, WriteError::IsDirectory { .. }));
    fs::write(folder.join("file"), "").unwrap();
    let blocked = refusal(&folder.join("file/run.csv"), &columns());
    assert!(matches!(blocked, WriteError::CreateDirectory { .. }));
    let time = Column {
        name: "time".into(),
        unit: Unit::SECOND,
    };
    let twice = refusal(&folder.join("run.parquet"), &[time]);
    assert!(matches!(twice, WriteError::DuplicateColumn { .. }));
    let broken = Column {
        name: "a\nb".into(),
        unit: Unit::ONE,
    };
    let control = refusal(&folder.join("run.parquet"), &[broken]);
    assert!(matches!(control, WriteError::ControlCharacter { .. }));
}

#[test]
fn a_file_that_cannot_be_made_leaves_the_stream() {
    let folder = folder("blocked_at_end");
    for name in ["run.parquet", "run.csv"] {
        let path = folder.join(name);
        let mut writer = create(&path);
        record(&mut writer, 0..5_000);
        let partial = writer.partial_path().to_owned();
        fs::create_dir(&path).unwrap();
        let message = writer.finish().unwrap_err().to_string();
        assert!(message.contains(path.to_str().unwrap()), "{message}");
        assert!(message.contains(partial.to_str().unwrap()), "{message}");
        let table = read(&partial).unwrap();
        assert_rows(&table, 5_000);
        assert!(table.complete());
        let left: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
        let is_draft = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|e| e == "tmp");
        assert!(!left.iter().any(is_draft), "{left:?}");
    }
}

#[test]
fn a_second_run_does_not_write_into_the_stream_of_the_first() {
    let path = folder("two_runs").join("run.parquet");
    let mut first = create(&path);
    record(&mut first, 0..10);
    for overwrite in [false, true] {
        let second = ResultWriter::create(&path, &columns(), &metadata(), overwrite);
        let error = second.err().expect("the stream is in use");
        assert!(matches!(error, WriteError::InUse { .. }), "{error}");
    }
    record(&mut first, 10..5_000);
    first.finish().unwrap();
    assert_rows(&read(&path).unwrap(), 5_000);
}

#[test]
fn a_stream_that_somebody_truncated_is_no_complete_result() {
    let path = folder("truncated_stream").join("run.parquet");
    let mut writer = create(&path);
    record(&mut writer, 0..9_000);
    // Only after a while rows are in the stream.
    sleep(Duration::from_millis(600));
    writer.flush_if_due().unwrap();
    let partial = writer.partial_path().to_owned();
    let length = fs::metadata(&partial).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&partial).unwrap();
    file.set_len(length / 2).unwrap();
    record(&mut writer, 9_000..20_000);
    let error = writer.finish().unwrap_err();
    assert!(
        matches!(
            error,
            WriteError::Changed { .. } | WriteError::Finish { .. }
        ),
        "{error}"
    );
    assert!(!path.exists());
}

#[test]
fn an_empty_stream_holds_nothing_and_is_replaced() {
    let path = folder("empty_stream").join("run.parquet");
    fs::write(path.with_extension("parquet.partial"), "").unwrap();
    let mut writer = create(&path);
    record(&mut writer, 0..10);
    assert_rows(&read(&writer.finish().unwrap()).unwrap(), 10);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = folder("links");
    let victim = folder.join("victim");
    fs::write(&victim, "precious").unwrap();
    let path = folder.join("run.parquet");
    symlink(&victim, folder.join("run.parquet.partial")).unwrap();
    let refused = ResultWriter::create(&path, &columns(), &metadata(), true);
    assert!(matches!(refused.err(), Some(WriteError::NotAFile { .. })));
    fs::remove_file(folder.join("run.parquet.partial")).unwrap();
    symlink(&victim, &path).unwrap();
    symlink(&victim, folder.join("run.parquet.tmp")).unwrap();
    let mut writer = ResultWriter::create(&path, &columns(), &metadata(), true).unwrap();
    record(&mut writer, 0..10);
    assert_rows(&read(&writer.finish().unwrap()).unwrap(), 10);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

/// However many writers there are, one thread tells all of them when rows are due; and a file that nobody waits
/// for is the same.
#[cfg(target_os = "linux")]
#[test]
fn writers_share_a_thread() {
    let folder = folder("many");
    let mut writers: Vec<_> = (0..20)
        .map(|i| create(&folder.join(format!("run-{i}.parquet"))).lasting(i % 2 == 0))
        .collect();
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    let tickers = names.filter(|name| name.trim() == "result-ticker").count();
    assert_eq!(tickers, 1);
    for writer in &mut writers {
        record(writer, 0..50);
    }
    for writer in writers {
        assert_rows(&read(&writer.finish().unwrap()).unwrap(), 50);
    }
}

/// Each signal was searched among all, and all others of its port among all once more: for a million of them that would take
/// hours.
#[test]
fn the_signals_of_a_wide_result_are_found_without_a_search() {
    use std::fmt::Write;
    const COLUMNS: usize = 1_000_000;
    let path = folder("wide_csv").join("run.csv");
    let mut text = String::from("time [s]");
    for i in 0..COLUMNS {
        write!(text, ",p{}.{} [m]", i / 2, ["x", "y"][i % 2]).unwrap();
    }
    // The first component of each port changes, the other one by rounding.
    for row in ["\n0", "\n1"] {
        text += row;
        for i in 0..COLUMNS {
            let is_first = i % 2 == 0;
            text += match (row, is_first) {
                ("\n0", true) => ",0",
                ("\n1", true) => ",1",
                ("\n0", false) => ",0",
                _ => ",1e-15",
            };
        }
    }
    fs::write(&path, text).unwrap();
    let tables = [read(&path).unwrap()];
    let changing = Changing::new(&tables);
    let names = tables[0].names().filter(|name| changing.is(name));
    assert_eq!(names.count(), 1 + COLUMNS / 2);
    let last = format!("p{}.x", COLUMNS / 2 - 1);
    assert_eq!(tables[0].column(&last), Some(&[0.0, 1.0][..]));
    assert_eq!(tables[0].place("p0"), None);
}
