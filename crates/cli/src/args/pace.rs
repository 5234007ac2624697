//! Arguments of runs that keep the pace of the clock.

use clap::{Args, ValueEnum};
use oldham_cosim::OnMiss;
use oldham_real_time::Wishes;
use oldham_study::RealTime;

use super::values::positive;

/// How a run keeps the pace of the clock.
#[derive(Args)]
pub struct PaceArgs {
    /// Keep the pace of the clock: so many simulated seconds per second. Steps that end too late are
    /// counted [default: 1 with viewers, or where one of the next options is given]
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true, value_parser = positive)]
    real_time: Option<f64>,
    /// What happens when a step ends after its deadline [default: slip; with viewers,
    /// catch-up]
    #[arg(long, value_name = "WHAT")]
    on_miss: Option<Miss>,
    /// Seconds that a step may take by the clock [default: until the next one is due]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    budget: Option<f64>,
    /// Ask for the scheduling class SCHED_FIFO with this priority, 1 to 99; told when not permitted
    #[arg(long, value_name = "PRIORITY", num_args = 0..=1, default_missing_value = "20",
          value_parser = clap::value_parser!(u8).range(1..=99))]
    fifo: Option<u8>,
    /// Ask for all memory to be kept in main memory; told when not permitted
    #[arg(long)]
    lock_memory: bool,
    /// Cores for the threads, such as 2,3; told when there is none
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    cores: Vec<usize>,
}

/// What happens when a step ends after its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Miss {
    /// All further steps are due so much later
    Slip,
    /// Steps keep their times: the next ones follow at once
    CatchUp,
    /// The run catches up, and leaves out the rows of late steps meanwhile
    DropOutput,
    /// The run ends, with exit code 1
    Stop,
}

impl PaceArgs {
    /// How the pace is kept, if one is.
    pub fn given(&self) -> Option<RealTime> {
        let is_given = self.real_time.is_some()
            || self.on_miss.is_some()
            || self.budget.is_some()
            || !self.wishes().is_nothing();
        is_given.then(|| self.with(Miss::Slip))
    }

    /// The same for a run with viewers: as time passes, if nothing else is said.
    pub fn or_real(&self) -> RealTime {
        self.with(Miss::CatchUp)
    }

    fn with(&self, usual: Miss) -> RealTime {
        RealTime {
            factor: self.real_time.unwrap_or(1.0),
            budget: self.budget,
            on_miss: match self.on_miss.unwrap_or(usual) {
                Miss::Slip => OnMiss::Slip,
                Miss::CatchUp => OnMiss::CatchUp,
                Miss::DropOutput => OnMiss::DropOutput,
                Miss::Stop => OnMiss::Stop,
            },
            wishes: self.wishes(),
        }
    }

    fn wishes(&self) -> Wishes {
        Wishes {
            fifo: self.fifo,
            locked_memory: self.lock_memory,
            cores: self.cores.clone(),
        }
    }
}
