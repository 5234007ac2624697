//! `oldham completions`: scripts for shells.

use clap::CommandFactory;
use serde_json::json;

use crate::args::{Arguments, Completions};
use crate::failure::Failure;
use crate::say;

pub fn execute(arguments: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut grammar = Arguments::command();
    clap_complete::generate(arguments.shell, &mut grammar, "oldham", &mut script);
    let script = String::from_utf8_lossy(&script);
    if arguments.json {
        let shell = arguments.shell.to_string();
        say!("{:#}", json!({"shell": shell, "script": script}));
    } else {
        crate::output::write(format_args!("{script}"));
    }
    Ok(())
}
