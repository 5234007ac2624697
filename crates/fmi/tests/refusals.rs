//! FMUs that cannot be used as a model wants to: refused when the file is read, each at its line, all at once.

mod support;

use std::io::Write;
use std::path::Path;

use support::{fmu, pack, plain, read};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const SINGLE: &str = "canBeInstantiatedOnlyOncePerProcess=\"true\" canGet";

/// The FMU of the mass with other files: names and contents.
fn archive(folder: &Path, name: &str, files: &[(&str, &[u8])]) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let text = std::fs::read(sources.join("mass2.xml")).unwrap();
    let file = std::fs::File::create(folder.join(name)).unwrap();
    let mut archive = ZipWriter::new(file);
    for (name, bytes) in [("modelDescription.xml", &text[..])].iter().chain(files) {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
}

/// Another of these FMUs under another name.
fn renamed(folder: &Path, name: &str, change: impl Fn(String) -> String) {
    let made = fmu(folder, "mass2", &[], change);
    std::fs::rename(made, folder.join(name)).unwrap();
}

/// The line of a piece of text, from one on.
fn line_of(text: &str, piece: &str) -> usize {
    let place = text.find(piece).unwrap();
    1 + text[..place].matches('\n').count()
}

#[test]
fn all_is_told_at_once_and_each_where_it_is() {
    let folder = TempDir::new().unwrap();
    archive(
        folder.path(),
        "windows.fmu",
        &[("binaries/win64/mass.dll", b"MZ")],
    );
    renamed(folder.path(), "single.fmu", |text| {
        text.replace("canGet", SINGLE)
    });
    renamed(folder.path(), "fixed.fmu", |text| {
        text.replace(
            "canHandleVariableCommunicationStepSize=\"true\"",
            "fixedInternalStepSize=\"0.003\"",
        )
    });
    plain(folder.path(), "mass2");
    let text = r#"
model.name = "Wrong in many ways"
simulation = { duration = 1, step = 0.01 }
[fmu.missing]
file = "nowhere.fmu"
[fmu.foreign]
file = "windows.fmu"
[fmu.misspelt]
file = "mass2.fmu"
parameters = { dampin = 0.5 }
[fmu.halting]
file = "mass2.fmu"
ports.hub = { x = "position", force = "force" }
[fmu.odd]
file = "fixed.fmu"
[fmu.first]
file = "single.fmu"
process = "shared"
[fmu.second]
file = "./single.fmu"
process = "shared"
"#;
    let problems = read(folder.path(), text).unwrap_err();
    for (place, message) in [
        ("\"nowhere.fmu\"", "`nowhere.fmu` cannot be read"),
        ("\"windows.fmu\"", "no library for this platform"),
        ("0.5", "did you mean `damping`?"),
        ("ports.hub", "velocity"),
        ("\"fixed.fmu\"", "0.003"),
        ("\"./single.fmu\"", "allows one instance in a process"),
    ] {
        let at = format!("model.toml:{}:", line_of(text, place));
        assert!(problems.contains(&at), "{at} is not in {problems}");
        assert!(problems.contains(message), "{message} is not in {problems}");
    }
    assert!(problems.contains("there are `win64`"), "{problems}");
    let first = format!("model.toml:{}:", line_of(text, "\"single.fmu\""));
    assert!(!problems.contains(&first), "{problems}");
}

/// What a library does not find is told at the section, in its own words.
#[test]
fn a_missing_resource_is_told_in_the_words_of_the_fmu() {
    let folder = TempDir::new().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let text = std::fs::read_to_string(sources.join("mass2.xml")).unwrap();
    pack(
        folder.path(),
        "needy",
        &sources.join("needy2.c"),
        &[],
        &text,
    );
    let model = "model.name = \"Needy\"\nsimulation = { duration = 1, step = 0.01 }\n\
                 [fmu.body]\nfile = \"FILE\"\nparameters.force = 1\n";
    let error = read(folder.path(), &model.replace("FILE", "needy.fmu")).unwrap_err();
    for part in ["model.toml:3:", "cannot open table.txt of the resources"] {
        assert!(error.contains(part), "no {part} in {error}");
    }
    let library = std::fs::read(folder.path().join("needy.so")).unwrap();
    archive(
        folder.path(),
        "whole.fmu",
        &[
            ("binaries/linux64/mass.so", &library),
            ("resources/table.txt", b"1 2 3"),
        ],
    );
    read(folder.path(), &model.replace("FILE", "whole.fmu")).unwrap();
}

/// An FMU without a state is refused where states are needed, by name.
#[test]
fn who_cannot_go_back_is_not_coupled_tightly() {
    let folder = TempDir::new().unwrap();
    fmu(folder.path(), "mass2", &["-DNO_STATE"], |text| {
        text.replace(
            "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"",
            "",
        )
    });
    let text = r#"
model.name = "Two FMUs"
simulation = { duration = 1, step = 0.01 }
fmu.one = { file = "mass2.fmu", parameters = { stiffness = 40 } }
fmu.two = { file = "mass2.fmu", parameters = { stiffness = 90 } }
[[connection]]
from = "one.velocity"
to = "two.force"
gain = 1.5
[[connection]]
from = "two.velocity"
to = "one.force"
gain = -0.7
"#;
    let model = read(folder.path(), text).unwrap();
    let error = model.simulation().unwrap().checkpoint("model").unwrap_err();
    assert!(error.to_string().contains("`one`"), "{error}");
    let tight = format!("{text}[schedule]\ncoupling = \"implicit\"\n");
    let error = match read(folder.path(), &tight) {
        Err(error) => error,
        Ok(model) => model.simulation().err().unwrap().to_string(),
    };
    assert!(error.contains("`one`"), "{error}");
}
