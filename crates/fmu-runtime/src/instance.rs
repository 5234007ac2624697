//! An instance of an FMU, without anything of the interface.

use std::path::Path;

use oldham_cosim::{Checkpoint, DIAL_ORDER, Dial, Simulation};
use oldham_fmu_export::{MANIFEST, Manifest, Role, TIME};
use oldham_model::{Model, Overrides, Template};

/// Communication steps differ from whole macro steps by at most this share of one, from rounding.
const WHOLE: f64 = 1e-6;

/// A model of an FMU and its simulation.
pub struct Instance {
    manifest: Manifest,
    template: Template,
    /// What every variable was set to, or starts with; outputs are read from the simulation.
    values: Vec<f64>,
    /// The derivatives of every variable, for the next communication step.
    slopes: Vec<[f64; DIAL_ORDER]>,
    running: Option<Running>,
    /// What was set since the simulation was made: it must be made anew before anybody reads it.
    is_stale: bool,
    /// The time at which the run begins, as the importer of it says.
    start: f64,
    is_initialised: bool,
}

/// A simulation, and where its signals are.
struct Running {
    simulation: Simulation,
    digest: String,
    /// For every variable: the column that it shows.
    columns: Vec<Option<usize>>,
    /// For every variable: the columns of its derivatives.
    derivatives: Vec<Vec<usize>>,
    dials: Vec<DialOf>,
}

/// An external input with the variables that are its numbers.
struct DialOf {
    dial: Dial,
    places: Vec<usize>,
    shown: Vec<f64>,
    slopes: Vec<f64>,
}

impl DialOf {
    /// Shows what its variables were set to at time t.
    fn turn(&mut self, t: f64, values: &[f64], slopes: &[[f64; DIAL_ORDER]]) {
        for (shown, place) in self.shown.iter_mut().zip(&self.places) {
            *shown = values[*place];
        }
        let own = self.places.iter().map(|place| &slopes[*place]);
        if own.flatten().all(|slope| *slope == 0.0) {
            self.dial.set(&self.shown);
            return;
        }
        let width = self.places.len();
        for (component, place) in self.places.iter().enumerate() {
            for (order, slope) in slopes[*place].iter().enumerate() {
                self.slopes[order * width + component] = *slope;
            }
        }
        self.dial.follow(t, &self.shown, &self.slopes);
    }
}

/// A saved state: everything that an importer may have changed is in it.
pub struct Saved {
    values: Vec<f64>,
    slopes: Vec<[f64; DIAL_ORDER]>,
    start: f64,
    is_initialised: bool,
    checkpoint: Checkpoint,
}

impl Instance {
    /// Reads the resources of an FMU; the token is that of its description.
    pub fn new(resources: &Path, token: &str) -> Result<Self, String> {
        let path = resources.join(MANIFEST);
        let text = std::fs::read(&path).map_err(|error| {
            format!(
                "{} cannot be read: {error}; the FMU must be unpacked with its resources",
                path.display()
            )
        })?;
        let manifest: Manifest = serde_json::from_slice(&text)
            .map_err(|error| format!("{} is damaged: {error}", path.display()))?;
        if manifest.token != token {
            return Err(format!(
                "the description has the token {token}, but the resources belong to {}",
                manifest.token
            ));
        }
        let overrides = Overrides(manifest.settings.clone());
        let file = resources.join(&manifest.model);
        let template = Template::read_with(&file, &overrides, oldham_kinds::native())
            .map_err(|problems| problems.to_string())?;
        let values = manifest.variables.iter().map(|one| one.start).collect();
        Ok(Self {
            slopes: vec![[0.0; DIAL_ORDER]; manifest.variables.len()],
            start: manifest.start,
            manifest,
            template,
            values,
            running: None,
            is_stale: true,
            is_initialised: false,
        })
    }

    /// Where the run begins. Loads are functions of the model's own time, which is why it cannot begin elsewhere.
    pub fn begin_at(&mut self, start: f64) -> Result<(), String> {
        let own = self.manifest.start;
        if (start - own).abs() > WHOLE * self.manifest.step {
            return Err(format!(
                "the run is to begin at t = {start} s, but the model begins at {own} s; begin there, or export it with \
                 another simulation.start"
            ));
        }
        self.start = start;
        Ok(())
    }

    /// Initialisation is over.
    pub fn initialise(&mut self) -> Result<(), String> {
        self.running()?;
        self.is_initialised = true;
        Ok(())
    }

    /// Sets a number: an input at any time, a parameter before the start.
    pub fn set(&mut self, reference: u32, value: f64) -> Result<(), String> {
        let Some(variable) = self.manifest.variable(reference) else {
            return Err(self.unknown(reference));
        };
        let place = reference as usize - 1;
        match variable.role {
            Role::Output => Err(format!(
                "`{}` is an output and cannot be set",
                variable.name
            )),
            _ if !value.is_finite() => Err(format!("`{}` cannot be {value}", variable.name)),
            Role::Parameter if self.is_initialised => Err(format!(
                "`{}` is a parameter and cannot be set after the start",
                variable.name
            )),
            Role::Parameter => {
                self.is_stale |= self.values[place] != value;
                self.values[place] = value;
                Ok(())
            }
            Role::Input { .. } => {
                self.values[place] = value;
                Ok(())
            }
        }
    }

    /// Sets a derivative of an input at the beginning of the next communication step, over which it counts.
    pub fn set_derivative(&mut self, reference: u32, order: i32, value: f64) -> Result<(), String> {
        let Some(variable) = self.manifest.variable(reference) else {
            return Err(self.unknown(reference));
        };
        let name = &variable.name;
        if !matches!(variable.role, Role::Input { .. }) {
            return Err(format!(
                "`{name}` is not an input and has no derivatives to set"
            ));
        }
        if !value.is_finite() {
            return Err(format!("a derivative of `{name}` cannot be {value}"));
        }
        let place = usize::try_from(order)
            .ok()
            .and_then(|order| order.checked_sub(1));
        let slopes = &mut self.slopes[reference as usize - 1];
        match place.and_then(|place| slopes.get_mut(place)) {
            Some(slope) => *slope = value,
            None => {
                return Err(format!(
                    "`{name}` takes derivatives of orders 1 to {DIAL_ORDER}, not {order}"
                ));
            }
        }
        Ok(())
    }

    /// The value of a variable at the time reached.
    pub fn get(&mut self, reference: u32) -> Result<f64, String> {
        if reference == TIME {
            return Ok(self.time());
        }
        if self.manifest.variable(reference).is_none() {
            return Err(self.unknown(reference));
        }
        let place = reference as usize - 1;
        if !matches!(self.manifest.variables[place].role, Role::Output) {
            return Ok(self.values[place]);
        }
        let running = self.running()?;
        let value = running.columns[place].and_then(|column| running.simulation.value(column));
        value.ok_or_else(|| format!("the output {reference} has no value"))
    }

    /// A derivative of an output at the time reached, where the motion has it.
    pub fn derivative(&mut self, reference: u32, order: i32) -> Result<f64, String> {
        let Some(variable) = self.manifest.variable(reference) else {
            return Err(self.unknown(reference));
        };
        let (place, name) = (reference as usize - 1, variable.name.clone());
        let order = usize::try_from(order).unwrap_or_default();
        let running = self.running()?;
        let column = order
            .checked_sub(1)
            .and_then(|order| running.derivatives[place].get(order));
        let value = column.and_then(|column| running.simulation.value(*column));
        value.ok_or_else(|| format!("`{name}` has no derivative of order {order}"))
    }

    /// The time reached.
    pub fn time(&self) -> f64 {
        let reached = self.running.as_ref().map(|one| one.simulation.time());
        reached.unwrap_or(self.start)
    }

    /// How many macro steps a communication step has: a whole number.
    pub fn macro_steps(&self, from: f64, length: f64) -> Result<u64, String> {
        if !self.is_initialised {
            return Err("a step before the initialisation has ended".into());
        }
        let (time, macro_step) = (self.time(), self.manifest.step);
        if (from - time).abs() > WHOLE * macro_step {
            return Err(format!(
                "a step from t = {from} s, but the FMU is at {time} s"
            ));
        }
        let steps = (length / macro_step).round();
        let is_whole = (length - steps * macro_step).abs() <= WHOLE * macro_step;
        if !is_whole || !(1.0..=1e15).contains(&steps) {
            return Err(format!(
                "a communication step of {length} s, but the macro step of the model is {macro_step} s: take whole \
                 multiples of it"
            ));
        }
        Ok(steps as u64)
    }

    /// Goes on by so many macro steps. Inputs are held, or follow their derivatives, which then are used up.
    pub fn advance(&mut self, steps: u64) -> Result<(), String> {
        self.running()?;
        let Some(running) = &mut self.running else {
            return Err("there is no simulation".into());
        };
        let time = running.simulation.time();
        for dial in &mut running.dials {
            dial.turn(time, &self.values, &self.slopes);
        }
        let done = running.simulation.steps(steps);
        self.slopes.fill([0.0; DIAL_ORDER]);
        done.map_err(|fault| fault.to_string())
    }

    /// Everything as it was when it was made.
    pub fn reset(&mut self) {
        let starts = self.manifest.variables.iter().map(|one| one.start);
        self.values = starts.collect();
        self.slopes.fill([0.0; DIAL_ORDER]);
        self.running = None;
        self.is_stale = true;
        self.is_initialised = false;
    }

    /// The complete state.
    pub fn save(&mut self) -> Result<Saved, String> {
        let running = self.running()?;
        let checkpoint = running.simulation.checkpoint(&running.digest);
        let checkpoint = checkpoint.map_err(|error| error.to_string())?;
        Ok(Saved {
            values: self.values.clone(),
            slopes: self.slopes.clone(),
            start: self.start,
            is_initialised: self.is_initialised,
            checkpoint,
        })
    }

    /// Goes back to a saved state.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), String> {
        if saved.values.len() != self.values.len() {
            return Err("the state is of another FMU".into());
        }
        // Parameters belong to the state: where they differ, the model is made with those.
        let places = self.manifest.variables.iter().enumerate();
        let differs = |(place, variable): (usize, &oldham_fmu_export::Variable)| {
            variable.role == Role::Parameter && self.values[place] != saved.values[place]
        };
        self.is_stale |= places.into_iter().any(differs);
        self.values.clone_from(&saved.values);
        self.slopes.clone_from(&saved.slopes);
        self.start = saved.start;
        let running = self.running()?;
        let restored = running
            .simulation
            .restore(&saved.checkpoint, &running.digest);
        restored.map_err(|error| error.to_string())?;
        self.is_initialised = saved.is_initialised;
        Ok(())
    }

    fn unknown(&self, reference: u32) -> String {
        format!("there is no variable with the reference {reference}")
    }

    /// The simulation with the parameters as they are set.
    fn running(&mut self) -> Result<&mut Running, String> {
        if self.is_stale {
            self.running = None;
        }
        let running = match self.running.take() {
            Some(running) => running,
            None => self.made()?,
        };
        self.is_stale = false;
        Ok(self.running.insert(running))
    }

    fn made(&self) -> Result<Running, String> {
        let set: Vec<(&str, f64)> = self
            .manifest
            .variables
            .iter()
            .zip(&self.values)
            .filter(|(variable, _)| variable.role == Role::Parameter)
            .map(|(variable, value)| (variable.name.as_str(), *value))
            .collect();
        let model: Model = self
            .template
            .with(&set)
            .map_err(|problems| problems.to_string())?;
        let model = match &self.manifest.part {
            Some(part) => model
                .alone(part, |input| Some(self.manifest.start_of(&input.name)))
                .map_err(|error| error.to_string())?,
            None => model,
        };
        let simulation = model
            .simulation()
            .map_err(|problems| problems.to_string())?;
        let column = |variable: &oldham_fmu_export::Variable| {
            let mut columns = simulation.columns().iter();
            match variable.role {
                Role::Output => columns.position(|column| column.name == variable.name),
                _ => None,
            }
        };
        let columns = self.manifest.variables.iter().map(column).collect();
        let derivatives = self.manifest.variables.iter().map(|variable| {
            let place = |name: &String| {
                let mut all = simulation.columns().iter();
                all.position(|column| column.name == *name)
            };
            variable.derivatives.iter().map_while(place).collect()
        });
        let derivatives = derivatives.collect();
        let mut dials: Vec<(String, DialOf)> = Vec::new();
        for (place, variable) in self.manifest.variables.iter().enumerate() {
            let Role::Input { dial: name, .. } = &variable.role else {
                continue;
            };
            if let Some((_, known)) = dials.iter_mut().find(|(other, _)| other == name) {
                known.places.push(place);
                known.shown.push(self.values[place]);
                known.slopes.resize(DIAL_ORDER * known.places.len(), 0.0);
                continue;
            }
            let dial = simulation.dial(name);
            let dial = dial.ok_or_else(|| format!("the model has no input `{name}`"))?;
            let (places, shown) = (vec![place], vec![self.values[place]]);
            let made = DialOf {
                dial,
                places,
                shown,
                slopes: vec![0.0; DIAL_ORDER],
            };
            dials.push((name.clone(), made));
        }
        let set: Vec<String> = set
            .iter()
            .map(|(name, value)| format!("{name}={:016x}", value.to_bits()))
            .collect();
        Ok(Running {
            simulation,
            digest: format!("{} {}", self.manifest.token, set.join(" ")),
            columns,
            derivatives,
            dials: dials.into_iter().map(|(_, dial)| dial).collect(),
        })
    }
}

impl Saved {
    /// As bytes: a header of numbers, then the checkpoint with the instruction level that its bits belong to.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((self.values.len() as u64).to_le_bytes());
        let numbers = self.values.iter().chain(self.slopes.as_flattened());
        bytes.extend(numbers.flat_map(|value| value.to_le_bytes()));
        bytes.extend(self.start.to_le_bytes());
        bytes.push(u8::from(self.is_initialised));
        bytes.extend(self.checkpoint.bytes());
        bytes
    }

    /// A state from its bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let short = || "the state is cut off".to_owned();
        let (count, rest) = bytes.split_first_chunk::<8>().ok_or_else(short)?;
        let count = usize::try_from(u64::from_le_bytes(*count)).map_err(|_| short())?;
        let length = count.checked_mul(8).ok_or_else(short)?;
        let (values, rest) = rest.split_at_checked(length).ok_or_else(short)?;
        let length = length.checked_mul(DIAL_ORDER).ok_or_else(short)?;
        let (slopes, rest) = rest.split_at_checked(length).ok_or_else(short)?;
        let (start, rest) = rest.split_first_chunk::<8>().ok_or_else(short)?;
        let (flag, rest) = rest.split_first().ok_or_else(short)?;
        let value = |chunk: &[u8]| f64::from_le_bytes(chunk.try_into().expect("eight bytes"));
        let checkpoint = Checkpoint::parse(rest)
            .map_err(|reason| format!("these bytes are not a whole state: {reason}"))?;
        Ok(Self {
            values: values.chunks_exact(8).map(value).collect(),
            slopes: slopes
                .chunks_exact(8 * DIAL_ORDER)
                .map(|own| std::array::from_fn(|order| value(&own[8 * order..8 * order + 8])))
                .collect(),
            start: f64::from_le_bytes(*start),
            is_initialised: *flag != 0,
            checkpoint,
        })
    }
}
