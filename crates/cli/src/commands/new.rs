//! `oldham new`: a folder to start a model in.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::args::New;
use crate::failure::Failure;
use crate::load;
use crate::say;

/// Examples of one file, with their texts.
macro_rules! examples {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../examples/", $name, ".toml")))),*]
    };
}

const EXAMPLES: [(&str, &str); 19] = examples![
    "bicycle",
    "cam",
    "crane",
    "cut-beam",
    "double-pendulum",
    "excavator",
    "four-bar",
    "gantry-crane",
    "gripper",
    "hydraulic-lift",
    "loader",
    "lorry",
    "robot-arm",
    "robot-servo",
    "slider-crank",
    "stacked-boxes",
    "two-mass-force-displacement",
    "washing-machine",
    "wind-turbine",
];

const SCHEMA: &str = "oldham.schema.json";

pub fn execute(arguments: &New) -> Result<(), Failure> {
    let found = EXAMPLES.iter().find(|(name, _)| *name == arguments.like);
    let Some((example, text)) = found else {
        let names = EXAMPLES.map(|(name, _)| name);
        return Err(Failure::Unknown {
            what: "example to start from",
            name: arguments.like.clone(),
            hint: format!("there are {}", names.join(", ")),
        });
    };
    let folder = &arguments.folder;
    let name = folder.file_name().and_then(|name| name.to_str());
    let Some(name) = name else {
        return Err(Failure::File {
            path: folder.clone(),
            reason: "its last part must be a name".into(),
        });
    };
    if folder.exists() {
        return Err(Failure::Taken {
            path: folder.clone(),
        });
    }
    let model = format!("{name}.toml");
    let schema = format!("{:#}\n", oldham_study::shipped_kinds().schema());
    let files = [
        (model.as_str(), begun(text, example, &model)),
        (SCHEMA, schema),
        ("README.md", readme(name, example, &model)),
    ];
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    for (name, content) in &files {
        let path = folder.join(name);
        fs::write(&path, content).map_err(|error| failed(&path, &error))?;
    }
    if arguments.json {
        let answer = json!({
            "command": "new",
            "status": "finished",
            "folder": load::shown(folder),
            "files": files.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            "like": example,
        });
        say!("{answer:#}");
        return Ok(());
    }
    say!("{}: a copy of the example {example}", folder.display());
    say!("  {model}, {SCHEMA} for editors, README.md");
    say!("try: oldham run {}", folder.join(&model).display());
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::File {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

/// The model, which tells editors its schema, and names itself where the example does.
fn begun(text: &str, example: &str, model: &str) -> String {
    let text = text.replace(&format!("examples/{example}.toml"), model);
    format!("#:schema ./{SCHEMA}\n{text}")
}

fn readme(name: &str, example: &str, model: &str) -> String {
    format!(
        "# {name}\n\n\
         A model for Oldham, begun from the example `{example}`.\n\n\
         ```sh\n\
         oldham check {model}      # what is in it; is its coupling stable?\n\
         oldham run {model}        # solve it\n\
         oldham view {model}       # look on in the browser\n\
         ```\n\n\
         `{SCHEMA}` describes all keys: editors that know `#:schema` (Even Better TOML in VS Code, Taplo) complete and check while you \
         type. After an update of Oldham: `oldham check --schema > {SCHEMA}`.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_model_by_itself() {
        for (name, text) in EXAMPLES {
            let text = begun(text, name, "model.toml");
            let file = oldham_study::ModelFile::of_text("model.toml", text);
            assert!(file.read().is_ok(), "{name}");
        }
    }
}
