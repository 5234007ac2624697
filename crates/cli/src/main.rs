//! `oldham`: co-simulation of multibody systems from the command line.

mod args;
mod commands;
mod drawing;
mod failure;
mod fold;
mod interrupt;
mod load;
mod mechanisms;
mod output;
mod picture;
mod progress;
mod remedies;
mod table;
mod verdict;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    let json = arguments.command.json();
    match commands::execute(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report(json);
            failure.exit_code()
        }
    }
}
