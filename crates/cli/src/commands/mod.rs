//! One file a command.

mod advise;
mod animate;
pub mod bench;
mod campbell;
mod check;
mod compare;
mod compensate;
mod completions;
mod convert;
mod drive;
mod fmu;
mod fmu_export;
mod handling;
mod linearise;
mod lumped_modes;
mod man;
mod modes;
mod new;
mod on_ranks;
mod papers;
mod partition;
mod plot;
mod poles;
mod run;
mod stability;
mod statics;
mod sweep;
mod trim;
mod view;
mod wheel;

use crate::args::Command;
use crate::failure::Failure;

/// Does what was asked.
pub fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::execute(&arguments),
        Command::Check(arguments) => check::execute(&arguments),
        Command::Advise(arguments) => advise::execute(&arguments),
        Command::Compare(arguments) => compare::execute(&arguments),
        Command::Compensate(arguments) => compensate::execute(&arguments),
        Command::Plot(arguments) => plot::execute(&arguments),
        Command::Linearise(arguments) => linearise::execute(&arguments),
        Command::Statics(arguments) => statics::execute(&arguments),
        Command::Modes(arguments) => modes::execute(&arguments),
        Command::Trim(arguments) => trim::execute(&arguments),
        Command::Animate(arguments) => animate::execute(&arguments),
        Command::View(arguments) => view::execute(&arguments),
        Command::Drive(arguments) => drive::execute(&arguments),
        Command::Fmu(arguments) => fmu::execute(&arguments),
        Command::Worker(arguments) => {
            oldham_fmi::serve(arguments.host).map_err(Failure::NotAWorker)
        }
        Command::Wheel(arguments) => wheel::execute(&arguments),
        Command::Handling(arguments) => handling::execute(&arguments),
        Command::Bench(arguments) => bench::execute(&arguments),
        Command::Stability(arguments) => stability::execute(&arguments),
        Command::Poles(arguments) => poles::execute(&arguments),
        Command::Partition(arguments) => partition::execute(&arguments),
        Command::Papers(arguments) => papers::execute(&arguments),
        Command::New(arguments) => new::execute(&arguments),
        Command::Convert(arguments) => convert::execute(&arguments),
        Command::Completions(arguments) => completions::execute(&arguments),
        Command::Man(arguments) => man::execute(&arguments),
    }
}
