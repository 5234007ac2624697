//! The command as it is installed: where it finds the library for FMUs, its manual pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oldham_fmu_export::{MARK, RUNTIME};
use serde_json::Value;
use tempfile::TempDir;

/// A prefix with the command in `bin`.
struct Installed {
    prefix: TempDir,
    command: PathBuf,
}

impl Installed {
    fn new() -> Self {
        let built = Path::new(env!("CARGO_BIN_EXE_oldham"));
        // Beside the build: there the command can be linked, which spares a copy.
        let prefix = TempDir::new_in(built.parent().unwrap()).unwrap();
        let bin = prefix.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let command = bin.join("oldham");
        fs::hard_link(built, &command).unwrap();
        Self { prefix, command }
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(&self.command);
        command.current_dir(self.prefix.path()).args(words);
        command.output().unwrap()
    }

    fn export(&self, more: &[&str]) -> Output {
        let model = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../examples/two-mass-force-displacement.toml");
        let model = model.to_str().unwrap();
        self.run(&[&["fmu", "export", model, "-o", "pair.fmu", "--force"], more].concat())
    }

    /// The library inside the FMU.
    fn packed(&self) -> Vec<u8> {
        let file = fs::File::open(self.prefix.path().join("pair.fmu")).unwrap();
        let mut archive = zip::ZipArchive::new(file).unwrap();
        let mut entry = archive
            .by_name("binaries/x86_64-linux/oldham_fmu.so")
            .unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
        bytes
    }
}

/// The archive has the library in `lib`; a build has both in one folder, and that goes first.
#[test]
fn the_library_for_fmus_is_found_where_it_was_installed() {
    let installed = Installed::new();
    let prefix = installed.prefix.path();
    fs::create_dir(prefix.join("lib")).unwrap();
    for place in ["lib", "bin"] {
        let library = format!("ELF {MARK} in {place}");
        fs::write(prefix.join(place).join(RUNTIME), &library).unwrap();
        let output = installed.export(&[]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(installed.packed(), library.as_bytes());
    }
}

/// As `cargo install` leaves it: the command alone.
#[test]
fn where_the_library_is_missing_the_command_says_how_to_build_it() {
    let installed = Installed::new();
    let output = installed.export(&[]);
    let told = String::from_utf8_lossy(&output.stderr);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(2), "{told}");
    for words in [
        "is not in",
        "cargo build --release --package oldham-fmu-runtime",
        "--runtime",
    ] {
        assert!(told.contains(words), "{told}");
    }
    // It helps to do that.
    let built = installed.prefix.path().join(RUNTIME);
    fs::write(&built, format!("ELF {MARK}")).unwrap();
    let output = installed.export(&["--runtime", RUNTIME]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // A library of another version reads other resources.
    fs::write(&built, "ELF oldham-fmu-runtime 0.0.1;").unwrap();
    let output = installed.export(&["--runtime", RUNTIME, "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told = answer["error"].as_str().unwrap();
    assert!(told.contains("not the library of this version"), "{told}");
}

#[test]
fn every_command_has_a_manual_page() {
    let installed = Installed::new();
    let output = installed.run(&["man", "--out", "man1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let pages = answer["pages"].as_array().unwrap();
    let help = installed.run(&["--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.split("Commands:").nth(1).unwrap();
    let commands = commands.split("Options:").next().unwrap();
    let names = commands.lines().filter_map(|line| {
        let line = line.strip_prefix("  ")?;
        line.split_whitespace()
            .next()
            .filter(|_| !line.starts_with(' '))
    });
    let mut count = 0;
    for name in names.filter(|name| *name != "help") {
        let page = format!("oldham-{name}.1");
        assert!(pages.iter().any(|one| *one == page.as_str()), "{page}");
        let text = fs::read_to_string(installed.prefix.path().join("man1").join(&page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
        count += 1;
    }
    assert!(count > 15, "{count} commands");
    let page = installed.run(&["man"]);
    assert!(String::from_utf8_lossy(&page.stdout).contains(".TH oldham 1"));
}
