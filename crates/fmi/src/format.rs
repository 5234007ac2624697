//! A section `[fmu.NAME]` of model files.

use std::collections::BTreeMap;
use std::sync::Arc;

use oldham_cosim::Subsystem;
use oldham_model::{At, Context, Extensions, ForeignPart, Formula, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::bundle::{Bundle, Role};
use crate::description::{Causality, Description, Interface, Kind, Variable};
use crate::package::{Package, inside};
use crate::part::{FmuPart, Options, Setting, Where, fits, refuse_clocks, structured};
use crate::plan::Plan;
use crate::session::check_fixed;
use crate::worker::are_known;

/// How long a call of an FMU may take, in s, unless the model says otherwise.
const TIMEOUT: f64 = 60.0;

/// Adds FMUs to what model files may have.
pub fn register(extensions: &mut Extensions) {
    extensions.subsystem("fmu", make);
}

/// An FMU (FMI 2.0 or 3.0, co-simulation or model exchange) as a subsystem. Its inputs and outputs are ports with the names of its
/// variables, in SI: numbers are converted at its border. It is native code, and runs in a process of its own.
#[derive(Deserialize, JsonSchema)]
struct Settings {
    /// The file, relative to the folder of the model.
    file: At<String>,
    /// Parameters and start values by the names of variables: numbers in SI, true or false, names of enumerations,
    /// texts. An input that is given here keeps its value and is not a port.
    #[serde(default)]
    parameters: BTreeMap<String, At<Given>>,
    /// Variables that belong together, by a name: a motion along a line, about an axis or of a node is the port
    /// `NAME.motion`, the force that goes with it `NAME.force`, `NAME.moment` or `NAME.wrench`.
    #[serde(default)]
    ports: BTreeMap<String, At<Members>>,
    /// Whether terminals of FMI 3 whose kind is known become ports by themselves. They do unless this is false.
    terminals: Option<bool>,
    /// Which of its interfaces is used: co-simulation where it has both, unless the other one is given.
    interface: Option<Interfaces>,
    /// How it sees its inputs within a step.
    inputs_within_step: Option<WithinStep>,
    /// The relative tolerance of its solver, if it has one; of ours, where it is integrated by us: 1e-8 unless given.
    #[schemars(extend("exclusiveMinimum" = 0))]
    tolerance: Option<f64>,
    /// Where it runs: in a process of its own, or in that of Oldham, which is faster but dies with it.
    #[serde(default)]
    process: Process,
    /// How long a call of it may take in s; then its process is ended. 60 unless given.
    #[schemars(extend("exclusiveMinimum" = 0))]
    timeout: Option<f64>,
}

/// Interfaces of an FMU.
#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Interfaces {
    /// It steps itself.
    CoSimulation,
    /// Oldham integrates it.
    ModelExchange,
}

/// Inputs within a step.
#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum WithinStep {
    /// They keep the value at its beginning.
    Held,
    /// They go on as they are predicted for its end, where the FMU can do that.
    Interpolated,
}

/// Where an FMU runs.
#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Process {
    /// In a process of its own.
    #[default]
    Own,
    /// In the process of Oldham.
    Shared,
}

/// Variables of one port, by what they are. A minus sign in front of a name changes the sign.
#[derive(Deserialize, JsonSchema)]
struct Members {
    /// Displacement along a line, or angle about an axis.
    x: Option<At<Names>>,
    /// Its velocity.
    v: Option<At<Names>>,
    /// Its acceleration; found from differences where the FMU sends a motion without it.
    a: Option<At<Names>>,
    /// Position of a node, three numbers.
    position: Option<At<Names>>,
    /// Its orientation: a unit quaternion, scalar first, or a rotation vector.
    orientation: Option<At<Names>>,
    /// Its velocity.
    velocity: Option<At<Names>>,
    /// Its angular velocity.
    angular_velocity: Option<At<Names>>,
    /// Its acceleration.
    acceleration: Option<At<Names>>,
    /// Its angular acceleration.
    angular_acceleration: Option<At<Names>>,
    /// The force: what the FMU exerts on the owner of the motion, or what it receives; three numbers at a node.
    force: Option<At<Names>>,
    /// The same, a moment.
    moment: Option<At<Names>>,
}

/// Names of variables: one, which may be an array, or several.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Names {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Members {
    fn all(&self) -> [(Role, &Option<At<Names>>); 11] {
        [
            (Role::X, &self.x),
            (Role::V, &self.v),
            (Role::A, &self.a),
            (Role::Position, &self.position),
            (Role::Orientation, &self.orientation),
            (Role::Velocity, &self.velocity),
            (Role::AngularVelocity, &self.angular_velocity),
            (Role::Acceleration, &self.acceleration),
            (Role::AngularAcceleration, &self.angular_acceleration),
            (Role::Force, &self.force),
            (Role::Moment, &self.moment),
        ]
    }

    fn bundle(&self, name: &str) -> Bundle {
        let member = |(role, names): (Role, &Option<At<Names>>)| {
            let names = match &names.as_ref()?.value {
                Names::One(name) => vec![name.clone()],
                Names::Several(names) => names.clone(),
            };
            Some((role, names))
        };
        Bundle {
            name: name.to_owned(),
            members: self.all().into_iter().filter_map(member).collect(),
        }
    }
}

/// A value.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Given {
    /// True or false.
    Flag(bool),
    /// A number, an expression of parameters, or a text.
    Value(Formula),
    /// The numbers of an array.
    Several(Vec<Formula>),
}

struct FmuSource {
    package: Arc<Package>,
    options: Options,
}

impl ForeignPart for FmuSource {
    fn solver(&self, micro_steps: usize) -> Result<Box<dyn Subsystem>, String> {
        let part = FmuPart::new(&self.package, &self.options, micro_steps)?;
        Ok(Box::new(part))
    }
}

fn make(settings: Settings, context: &mut Context<'_>) -> Option<FmuSource> {
    let path = context.beside(&settings.file.value);
    let file_on_disk =
        inside(&settings.file.value).map_or(&settings.file.value[..], |(file, _)| file);
    let package = match Package::open(&path) {
        Ok(package) => package,
        Err(error) => {
            let message = format!("the FMU `{}` {error}", settings.file.value);
            context.report(Problem::new(settings.file.span.clone(), message));
            return None;
        }
    };
    if let Err(error) = context.data_file(file_on_disk) {
        let message = format!("the FMU `{}` cannot be read: {error}", settings.file.value);
        context.report(Problem::new(settings.file.span.clone(), message));
        return None;
    }
    let mut options = Options {
        tolerance: settings.tolerance,
        interface: settings.interface.map(|interface| match interface {
            Interfaces::CoSimulation => Interface::CoSimulation,
            Interfaces::ModelExchange => Interface::ModelExchange,
        }),
        interpolates: settings.inputs_within_step != Some(WithinStep::Held),
        ..Options::default()
    };
    let interface = options.interface_of(package.description());
    let interface = interface
        .and_then(|interface| refuse_clocks(package.description(), interface).map(|()| interface));
    let interface = match interface {
        Ok(interface) => interface,
        Err(error) => {
            let message = format!("the FMU `{}` cannot be used: {error}", settings.file.value);
            context.report(Problem::new(settings.file.span.clone(), message));
            return None;
        }
    };
    check_step(&settings, package.description(), interface, context);
    // Lengths of arrays follow from structural parameters, which are given among the others.
    let mut structure = Vec::new();
    for variable in package.description().of(Causality::StructuralParameter) {
        if let Some(given) = settings.parameters.get(&variable.name)
            && let Some(setting @ Setting::Number(_)) = setting(variable, given, context)
        {
            structure.push((variable.name.clone(), setting));
        }
    }
    let description = &structured(package.description(), &structure);
    let mut values = Vec::new();
    let mut is_right = true;
    for (name, given) in &settings.parameters {
        let Some(variable) = description.variable(name) else {
            let message = format!("the FMU has no variable `{name}`");
            let names = description.variables.iter().map(|v| v.name.as_str());
            let mut problem = Problem::new(given.span.clone(), message);
            if let Some(nearest) = oldham_model::nearest(name, names) {
                problem = problem.help(format!("did you mean `{nearest}`?"));
            }
            context.report(problem);
            is_right = false;
            continue;
        };
        let setting = setting(variable, given, context);
        let Some(setting) = setting else {
            is_right = false;
            continue;
        };
        if let Err(error) = fits(variable, &setting) {
            context.report(Problem::new(
                given.span.clone(),
                format!("`{name}`: {error}"),
            ));
            is_right = false;
            continue;
        }
        values.push((name.clone(), setting));
    }
    let bundles = bundles(&settings, description, &values);
    let plan = Plan::of(description, &values, &bundles);
    let plan = plan.map_err(|(index, error)| {
        let given = settings.ports.get(&bundles[index].name);
        let span = given.map(|members| {
            let mut roles = members.value.all().into_iter();
            let at = roles.find(|(role, _)| Some(*role) == error.role);
            let names = at.and_then(|(_, names)| names.as_ref());
            names.map_or_else(|| members.span.clone(), |names| names.span.clone())
        });
        let span = span.unwrap_or_else(|| settings.file.span.clone());
        let message = format!("port `{}`: {}", bundles[index].name, error.message);
        let mut problem = Problem::new(span, message);
        if let Some(help) = error.help {
            problem = problem.help(help);
        }
        problem
    });
    let plan = match plan {
        Ok(plan) => plan,
        Err(problem) => {
            context.report(problem);
            return None;
        }
    };
    let file = &settings.file.value;
    for note in &plan.notes {
        context.note(format!("FMU `{file}`: {note}"));
    }
    if !is_allowed_there(&settings, &package, interface, context) {
        return None;
    }
    let place = match (settings.process, are_known()) {
        (Process::Own, true) => Where::Away {
            timeout: settings.timeout.unwrap_or(TIMEOUT),
        },
        (Process::Own, false) => Where::Here,
        (Process::Shared, _) => {
            context.note(format!(
                "FMU `{file}` runs in the process of Oldham: if it crashes, all of the run is lost"
            ));
            Where::Here
        }
    };
    options.settings = values;
    options.bundles = bundles;
    options.place = place;
    is_right.then_some(FmuSource { package, options })
}

/// Whether an FMU of which a process may have one instance is not in the process of Oldham already.
fn is_allowed_there(
    settings: &Settings,
    package: &Arc<Package>,
    interface: Interface,
    context: &mut Context<'_>,
) -> bool {
    let description = package.description();
    let [steps, rates] = [
        description.co_simulation.as_ref().map(|can| can.is_single),
        description.model_exchange.as_ref().map(|can| can.is_single),
    ];
    let is_single = match interface {
        Interface::CoSimulation => steps,
        Interface::ModelExchange => rates,
    };
    let is_here = settings.process == Process::Shared || !are_known();
    // A package that is opened is the same for all who use the file.
    let claim = format!("an instance of {:p}", Arc::as_ptr(package));
    if is_single != Some(true) || !is_here || context.claim(&claim) {
        return true;
    }
    let message = format!(
        "the FMU `{}` allows one instance in a process, and the model has one in that of Oldham already",
        settings.file.value
    );
    let problem = Problem::new(settings.file.span.clone(), message);
    context.report(match settings.process {
        Process::Shared => {
            problem.help("leave `process = \"shared\"` out: each then has a process of its own")
        }
        Process::Own => problem,
    });
    false
}

/// Whether the only step that an FMU can do divides that of the schedule.
fn check_step(
    settings: &Settings,
    description: &Description,
    interface: Interface,
    context: &mut Context<'_>,
) {
    let can = description.co_simulation.as_ref();
    let can = can.filter(|_| interface == Interface::CoSimulation);
    let (Some(fixed), Some(step)) = (can.and_then(|can| can.fixed_step), context.step()) else {
        return;
    };
    if let Err(error) = check_fixed(fixed, step) {
        let message = format!("the FMU `{}`: {error}", settings.file.value);
        context.report(Problem::new(settings.file.span.clone(), message));
    }
}

/// What the model bundles, and terminals whose variables it leaves alone.
fn bundles(
    settings: &Settings,
    description: &Description,
    values: &[(String, Setting)],
) -> Vec<Bundle> {
    let given = settings.ports.iter();
    let mut bundles: Vec<Bundle> = given
        .map(|(name, members)| members.value.bundle(name))
        .collect();
    let terminals = match settings.terminals {
        Some(false) => &[],
        _ => &description.terminals[..],
    };
    for terminal in terminals {
        let names = |bundle: &Bundle| -> Vec<String> {
            let all = bundle.members.iter().flat_map(|(_, names)| names);
            all.map(|name| name.trim_start_matches('-').to_owned())
                .collect()
        };
        let own = names(terminal);
        let is_taken = |other: &Bundle| {
            other.name == terminal.name || names(other).iter().any(|name| own.contains(name))
        };
        let is_set = values.iter().any(|(name, _)| own.contains(name));
        if !is_set && !bundles.iter().any(is_taken) {
            bundles.push(terminal.clone());
        }
    }
    bundles
}

/// What is given, as the variable takes it: a text is an expression where a number is wanted.
fn setting(variable: &Variable, given: &At<Given>, context: &mut Context<'_>) -> Option<Setting> {
    match &given.value {
        Given::Flag(flag) => Some(Setting::Flag(*flag)),
        Given::Value(Formula::Text(text))
            if matches!(
                variable.kind,
                Kind::String | Kind::Enumeration(_) | Kind::Boolean
            ) =>
        {
            Some(Setting::Text(text.clone()))
        }
        Given::Several(formulas) => {
            let at = |formula: &Formula| At {
                value: formula.clone(),
                span: given.span.clone(),
            };
            let numbers = formulas.iter().map(|formula| context.number(&at(formula)));
            let numbers: Vec<Option<f64>> = numbers.collect();
            let numbers: Option<Vec<f64>> = numbers.into_iter().collect();
            numbers.map(Setting::Numbers)
        }
        Given::Value(formula) => {
            let number = context.number(&At {
                value: formula.clone(),
                span: given.span.clone(),
            })?;
            Some(Setting::Number(number))
        }
    }
}
