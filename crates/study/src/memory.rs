//! A run whose results stay in memory.

use oldham_cosim::{Cancel, Column, End, Outcome, Progress, Recorder, Run};
use oldham_model::Model;

use crate::StudyError;

/// Recorded columns over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Times in s.
    pub times: Vec<f64>,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Their SI units.
    pub units: Vec<String>,
    /// Their values, a column each.
    pub columns: Vec<Vec<f64>>,
}

impl Recorded {
    /// Nothing yet of these columns, with room for so many rows.
    fn of(columns: &[Column], rows: usize) -> Self {
        // What cannot be reserved grows on the way.
        let rows = rows.min(MOST_RESERVED / (columns.len() + 1));
        Self {
            times: Vec::with_capacity(rows),
            names: columns.iter().map(|column| column.name.clone()).collect(),
            units: columns
                .iter()
                .map(|column| column.unit.to_string())
                .collect(),
            columns: columns.iter().map(|_| Vec::with_capacity(rows)).collect(),
        }
    }

    /// The values of a column.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let place = self.names.iter().position(|other| other == name)?;
        self.columns.get(place).map(Vec::as_slice)
    }
}

impl Recorder for Recorded {
    fn record(&mut self, t: f64, row: &[f64]) -> std::io::Result<()> {
        self.times.push(t);
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(*value);
        }
        Ok(())
    }
}

/// Numbers for which room is made before a run.
const MOST_RESERVED: usize = 1 << 24;

/// How a model is run in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryOptions {
    /// A row every so many macro steps.
    pub every: u64,
    /// Threads; by default as the model says.
    pub threads: Option<usize>,
    /// Solve the monolithic model instead of the coupled one.
    pub monolithic: bool,
}

/// Runs a model and keeps what it records, however it ends.
pub fn run_in_memory(
    model: &Model,
    options: &MemoryOptions,
    cancel: Option<&Cancel>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Recorded, Outcome), StudyError> {
    let mut simulation = match options.monolithic {
        true => model.monolithic(None)?,
        false => model.simulation()?,
    };
    let chosen = model.recorded(simulation.columns())?;
    let columns: Vec<Column> = chosen
        .iter()
        .map(|&place| simulation.columns()[place].clone())
        .collect();
    let every = options.every.max(1);
    let rows = usize::try_from(model.steps() / every).unwrap_or(usize::MAX);
    let mut recorded = Recorded::of(&columns, rows.saturating_add(2));
    let mut show = |here: Progress| progress(here);
    let mut outcome = simulation.run(Run {
        threads: options.threads.unwrap_or(model.threads()),
        record_every: every,
        record_columns: Some(chosen),
        cancel: cancel.cloned(),
        energy_bound: model.energy_bound(),
        progress: Some(&mut show),
        ..Run::new(model.steps(), &mut recorded)
    });
    if !options.monolithic {
        outcome.summary.notes.extend_from_slice(model.notes());
    }
    Ok((recorded, outcome))
}

/// Solves a model and keeps what it records, a row every so many macro steps.
///
/// ```
/// use oldham_study::{ModelFile, solve_in_memory};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// let file = ModelFile::new(format!("{examples}/two-mass-tight.toml"));
/// let recorded = solve_in_memory(&file.read()?, 10, None, &mut |_| {})?;
/// let energy = recorded.column("energy.total").expect("recorded");
/// assert_eq!(energy.len(), recorded.times.len());
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub fn solve_in_memory(
    model: &Model,
    every: u64,
    cancel: Option<&Cancel>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Recorded, StudyError> {
    let options = MemoryOptions {
        every,
        threads: None,
        monolithic: false,
    };
    let (recorded, outcome) = run_in_memory(model, &options, cancel, progress)?;
    match outcome.end {
        Ok(End::Finished) => Ok(recorded),
        Ok(End::Cancelled) => Err(StudyError::Cancelled),
        Err(fault) => Err(StudyError::Run(fault)),
    }
}
