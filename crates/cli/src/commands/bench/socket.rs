//! A program in C that receives and sends 64 doubles in every step: over a socket and over shared memory.
//!
//! Its source and the headers that it includes come with the program and are compiled where it is measured.

use std::fmt::Write;
use std::path::Path;

use oldham_study::ModelFile;

use super::fmu::compile;
use super::{Figure, best, wall_per_step};
use crate::failure::Failure;

const HEADERS: [(&str, &str); 2] = [
    (
        "oldham_peer.h",
        include_str!("../../../../../clients/oldham_peer.h"),
    ),
    (
        "oldham_shared.h",
        include_str!("../../../../../clients/oldham_shared.h"),
    ),
];
const SOURCE: &str = r#"
#include HEADER
void part_start(double t, const double *in, double *out) { memcpy(out, in, 64 * sizeof *out); }
void part_step(double t, double end, const double *before, const double *after, double *out) {
    memcpy(out, after, 64 * sizeof *out);
}
int main(void) { return oldham_serve(64); }
"#;

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let failed = |reason: String| Failure::Benchmark {
        name: "socket",
        reason,
    };
    let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let folder = folder.path();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text)
            .map_err(|error| failed(format!("`{name}`: {error}")))
    };
    for (name, text) in HEADERS {
        write(name, text)?;
    }
    write("echo.c", SOURCE)?;
    let mut found = Vec::new();
    for (header, address) in [
        ("oldham_peer.h", ""),
        ("oldham_shared.h", "address = \"shm\""),
    ] {
        let program = header.trim_end_matches(".h");
        let define = format!("-DHEADER=\"{header}\"");
        compile(folder, "echo.c", program, &["-I.", &define]).map_err(failed)?;
        found.push(per_step(folder, program, address)?);
    }
    let what = "wall time per macro step with 64 doubles each way";
    Ok(vec![
        Figure::new(
            "unix-64",
            found[0],
            "us",
            &format!("{what}, over a Unix socket"),
        )
        .required(12.0),
        Figure::new(
            "shm-64",
            found[1],
            "us",
            &format!("{what}, over shared memory"),
        )
        .required(2.0),
    ])
}

/// A mass whose force goes to all 64 inputs of a program.
fn per_step(folder: &Path, program: &str, address: &str) -> Result<f64, Failure> {
    let mut text = format!(
        "model.name = \"Echo\"\nsimulation = {{ duration = 1, step = 1e-3 }}\n[lumped.one]\nintegrator = \"rk4\"\n\
         masses.x = {{ mass = 1, velocity = 0.1 }}\nsprings.s = {{ between = [\"ground\", \"x\"], stiffness = 10 }}\n\
         outputs.v = {{ velocity = \"x\" }}\n[process.echo]\ncommand = [\"./{program}\"]\n{address}\n"
    );
    let mut wires = String::new();
    for k in 0..64 {
        let _ = writeln!(text, "inputs.i{k:02} = \"m/s\"\noutputs.o{k:02} = \"m/s\"");
        let _ = writeln!(
            wires,
            "[[connection]]\nfrom = \"one.v\"\nto = \"echo.i{k:02}\""
        );
    }
    let path = folder.join("model.toml");
    std::fs::write(&path, text + &wires).map_err(|error| Failure::Benchmark {
        name: "socket",
        reason: error.to_string(),
    })?;
    let model = ModelFile::new(path).read()?;
    best(|| Ok(wall_per_step(&mut model.simulation()?, 1)))
}
