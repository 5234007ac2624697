//! `oldham`: co-simulation of multibody systems from the command line.

mod args;
mod commands;
mod excerpt;
mod failure;
mod fold;
mod interrupt;
mod live;
mod load;
mod output;
mod picture;
mod progress;
mod table;
mod verdict;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use serde_json::json;

use failure::Failure;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_decoders_quiet();
    interrupt::outlive_file_limits();
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return answer_without_command(&error),
    };
    if !matches!(arguments.command, args::Command::Worker(_)) {
        interrupt::begin();
        // The file of this program, even if another one has taken its name since.
        oldham_fmi::workers_are("/proc/self/exe", &["worker"]);
    }
    let json = arguments.command.json();
    let options = arguments.command.key_options();
    let executed = catch_unwind(AssertUnwindSafe(|| commands::execute(arguments.command)));
    let executed = executed.unwrap_or_else(|panic| Err(Failure::Internal(message_of(&*panic))));
    match executed {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report(json, &options);
            failure.exit_code()
        }
    }
}

/// Decoders of damaged files panic and are caught: the error that follows says what is wrong.
fn keep_decoders_quiet() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !oldham_results::reader::is_decoding() {
            tell(panic);
        }
    }));
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("something went wrong").to_owned()
}

/// What other programs call our commands.
const ELSEWHERE: [(&str, &str); 12] = [
    ("simulate", "run"),
    ("solve", "run"),
    ("sweep", "run MODEL --vary KEY=VALUES"),
    ("validate", "check"),
    ("verify", "check"),
    ("eigen", "modes"),
    ("frequencies", "modes"),
    ("bode", "linearise MODEL --bode"),
    ("draw", "plot"),
    ("movie", "animate"),
    ("static", "statics"),
    ("benchmark", "bench"),
];

/// A command that is called otherwise here: as typed, and as it is.
fn meant(answer: &clap::Error) -> Option<(String, &'static str)> {
    if answer.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let typed = answer.get(clap::error::ContextKind::InvalidSubcommand)?;
    let typed = typed.to_string();
    let (_, command) = ELSEWHERE.iter().find(|(word, _)| *word == typed)?;
    Some((typed, command))
}

/// Wrong arguments, help or version: for people as clap writes it, for machines as JSON.
fn answer_without_command(answer: &clap::Error) -> ExitCode {
    let wrong = answer.use_stderr();
    let code = ExitCode::from(if wrong { 2 } else { 0 });
    let mut words = std::env::args_os().take_while(|word| word != "--");
    let text = match meant(answer) {
        Some((typed, command)) => format!(
            "error: there is no command `{typed}`; you may want `oldham {command}`\n\nFor all commands, try 'oldham --help'.\n"
        ),
        None => answer.render().to_string(),
    };
    if words.any(|word| word == "--json") {
        if wrong {
            let error = text.trim().trim_start_matches("error: ");
            say!("{:#}", json!({"status": "bad input", "error": error}));
            return code;
        }
        if answer.kind() == ErrorKind::DisplayVersion {
            say!("{:#}", json!({"oldham": env!("CARGO_PKG_VERSION")}));
            return code;
        }
    }
    // As clap writes it, in colours where they are wanted, unless something odd was typed.
    if output::escaped(&text) == text && meant(answer).is_none() {
        let _ = answer.print();
    } else {
        output::write_error(format_args!("{text}"));
    }
    code
}
