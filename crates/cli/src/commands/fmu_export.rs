//! `oldham fmu export`: a model as an FMU.

use oldham_fmu_export::{
    ExportOptions, Manifest, Role, RuntimeError, Version, export, installed_with, read_runtime,
};
use serde_json::json;

use crate::args::Export;
use crate::failure::Failure;
use crate::table::number;
use crate::{load, picture, say};

pub fn execute(arguments: &Export) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    picture::protect(&arguments.out, &[&arguments.model.model])?;
    let library = runtime(arguments).map_err(Failure::NoRuntime)?;
    let options = ExportOptions {
        version: match arguments.fmi.as_str() {
            "2" => Version::Two,
            _ => Version::Three,
        },
        part: arguments.part.clone(),
        outputs: arguments.outputs.clone(),
        parameters: arguments.parameters.clone(),
        force: arguments.force,
    };
    let settings = arguments.model.changes.settings();
    let written = export(&model, &settings, &options, &library, &arguments.out)?;
    let names = |wanted: fn(&Role) -> bool| -> Vec<&str> {
        let variables = written.variables.iter();
        let wanted = variables.filter(|variable| wanted(&variable.role));
        wanted.map(|variable| variable.name.as_str()).collect()
    };
    let inputs = names(|role| matches!(role, Role::Input { .. }));
    let outputs = names(|role| *role == Role::Output);
    let parameters = names(|role| *role == Role::Parameter);
    if arguments.json {
        let told = json!({
            "command": "fmu export", "status": "finished", "model": written.name,
            "fmu": load::shown(&arguments.out), "fmi": arguments.fmi, "step": written.step,
            "inputs": inputs, "outputs": outputs, "parameters": parameters,
        });
        say!("{told:#}");
    } else {
        print(&written, &arguments.fmi);
        let counts = [inputs.len(), outputs.len(), parameters.len()];
        say!(
            "  {} inputs, {} outputs, {} parameters; `oldham fmu info` lists them",
            counts[0],
            counts[1],
            counts[2]
        );
        say!("FMU: {}", arguments.out.display());
    }
    Ok(())
}

fn print(written: &Manifest, version: &str) {
    say!(
        "{} as an FMU (FMI {version}.0, co-simulation)",
        written.name
    );
    say!(
        "  communication steps: {} s and multiples of it",
        number(written.step)
    );
}

/// The library that is named, or the one that was installed with this program.
fn runtime(arguments: &Export) -> Result<Vec<u8>, RuntimeError> {
    match &arguments.runtime {
        Some(path) => read_runtime(path),
        None => {
            let program = std::env::current_exe().unwrap_or_default();
            read_runtime(&installed_with(&program)?)
        }
    }
}
