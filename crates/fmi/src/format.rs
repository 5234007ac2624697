//! A section `[fmu.NAME]` of model files.

use std::collections::BTreeMap;
use std::sync::Arc;

use oldham_cosim::Subsystem;
use oldham_model::{At, Context, Extensions, ForeignPart, Formula, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::description::{Kind, Variable};
use crate::package::Package;
use crate::part::{FmuPart, Plan, Setting, fits};

/// Adds FMUs to what model files may have.
pub fn register(extensions: &mut Extensions) {
    extensions.subsystem("fmu", make);
}

/// An FMU (FMI 2.0 or 3.0, co-simulation) as a subsystem. Its inputs and outputs are ports with the names of its
/// variables, in SI: numbers are converted at its border. It is native code, and runs in the process of Oldham.
#[derive(Deserialize, JsonSchema)]
struct Settings {
    /// The file, relative to the folder of the model.
    file: At<String>,
    /// Parameters and start values by the names of variables: numbers in SI, true or false, names of enumerations,
    /// texts. An input that is given here keeps its value and is not a port.
    #[serde(default)]
    parameters: BTreeMap<String, At<Given>>,
    /// The relative tolerance of its solver, if it has one.
    #[schemars(extend("exclusiveMinimum" = 0))]
    tolerance: Option<f64>,
}

/// A value.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Given {
    /// True or false.
    Flag(bool),
    /// A number, an expression of parameters, or a text.
    Value(Formula),
}

struct FmuSource {
    package: Arc<Package>,
    settings: Vec<(String, Setting)>,
    tolerance: Option<f64>,
}

impl ForeignPart for FmuSource {
    fn solver(&self, micro_steps: usize) -> Result<Box<dyn Subsystem>, String> {
        let part = FmuPart::new(&self.package, &self.settings, self.tolerance, micro_steps)?;
        Ok(Box::new(part))
    }
}

fn make(settings: Settings, context: &mut Context<'_>) -> Option<FmuSource> {
    let path = context.beside(&settings.file.value);
    let package = match Package::open(&path) {
        Ok(package) => Arc::new(package),
        Err(error) => {
            let message = format!("the FMU `{}` {error}", settings.file.value);
            context.report(Problem::new(settings.file.span.clone(), message));
            return None;
        }
    };
    if let Err(error) = context.data_file(&settings.file.value) {
        let message = format!("the FMU `{}` cannot be read: {error}", settings.file.value);
        context.report(Problem::new(settings.file.span.clone(), message));
        return None;
    }
    let description = package.description();
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
    for left_out in Plan::of(description, &values).left_out {
        context.note(format!("FMU `{}`: {left_out}", settings.file.value));
    }
    is_right.then_some(FmuSource {
        package,
        settings: values,
        tolerance: settings.tolerance,
    })
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
        Given::Value(formula) => {
            let number = context.number(&At {
                value: formula.clone(),
                span: given.span.clone(),
            })?;
            Some(Setting::Number(number))
        }
    }
}
