//! Kinds of things that model files may use besides those of the format.
//!
//! A program that uses this crate registers them with [`Extensions`] and reads models with
//! [`Model::read_with`](crate::Model::read_with). An entry is a name, a type for the table, and a
//! function. The type gives everything that the format's own tables have, by
//! [`JsonSchema`] and `Deserialize`: schema, reference page, checks of keys and values with the
//! nearest valid name, ranges. A number of the type may be an expression of parameters in the file.
//!
//! | What | In the file |
//! |---|---|
//! | element of a mechanism | `[multibody.arm.elements.NAME]` with `type = "KIND"` |
//! | joint | `[multibody.arm.joints.NAME]` with `type = "KIND"` |
//! | sensor | `[multibody.arm.sensors.NAME]` with `type = "KIND"` |
//! | subsystem | `[KIND.NAME]` |
//! | predictor | `predictor = "KIND"`, or `predictor = { kind = "KIND", ... }` |

mod schema;
mod settings;
mod site;
mod wrap;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use oldham_cosim::{OutputPort, Ports, Predictor, Subsystem};
use oldham_multibody::{Coordinate, CustomSensor, Element, Marker};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::format::At;
use crate::mechanism::Symbol;
use crate::problem::Problem;
use crate::source::Span;
use crate::words;
pub(crate) use settings::Settings;
pub use site::{Context, Site};
pub(crate) use site::{MechanismReports, Reports};
pub(crate) use wrap::wrap;

/// Kinds that model files may use besides those of the format.
///
/// ```
/// use oldham_model::{At, Extensions, Model, Overrides, Problem, Site};
/// use oldham_multibody::{Drive, Load, Marker};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// A constant force along the first axis.
/// #[derive(Deserialize, JsonSchema)]
/// struct Push {
///     /// The node on which it acts.
///     on: At<String>,
///     /// The force in N.
///     #[schemars(range(min = 0.0))]
///     force: f64,
/// }
///
/// let mut extensions = Extensions::new();
/// extensions.element("push", |push: Push, site: &mut Site<'_>| {
///     let node = site.node(&push.on)?;
///     let force = [push.force.into(), Drive::ZERO, Drive::ZERO];
///     Some(Load::fixed(Marker::on(node), force, [Drive::ZERO, Drive::ZERO, Drive::ZERO]))
/// });
/// let text = r#"
///     model.name = "A push"
///     parameters.f = 2.0
///     simulation = { duration = 1.0, step = 0.1 }
///     [multibody.m]
///     nodes.a = {}
///     bodies.a = { node = "a", mass = 1.0, inertia = [1, 1, 1] }
///     elements.p = { type = "push", on = "a", force = "2 * f" }
/// "#;
/// let none = Overrides::none();
/// assert!(Model::parse_with(text, "push.toml", &none, &extensions).is_ok());
/// let wrong = text.replace("force =", "forse =");
/// let problems = Model::parse_with(&wrong, "push.toml", &none, &extensions).unwrap_err();
/// assert!(problems.to_string().contains("did you mean `force`?"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    pub(crate) elements: Kinds<MakeElement>,
    pub(crate) joints: Kinds<MakeJoint>,
    pub(crate) sensors: Kinds<MakeSensor>,
    pub(crate) subsystems: Kinds<MakePart>,
    pub(crate) predictors: Kinds<MakePredictor>,
    /// Made when it is asked for.
    schema: OnceLock<Arc<Value>>,
}

/// The kinds of one sort, in the order of registration.
pub(crate) type Kinds<M> = Vec<Arc<Kind<M>>>;

/// One kind: a name, what its table may hold, and what is made of it.
pub(crate) struct Kind<M: ?Sized> {
    pub name: String,
    pub schema: Value,
    pub make: Box<M>,
}

impl<M: ?Sized> fmt::Debug for Kind<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

pub(crate) type MakeElement =
    dyn Fn(Settings<'_>, &mut Site<'_>) -> Option<Box<dyn Element>> + Send + Sync;
pub(crate) type MakeJoint =
    dyn Fn(Settings<'_>, &mut Site<'_>) -> Option<ForeignJoint> + Send + Sync;
pub(crate) type MakeSensor =
    dyn Fn(Settings<'_>, &mut Site<'_>) -> Option<Box<dyn CustomSensor>> + Send + Sync;
pub(crate) type MakePart =
    dyn Fn(Settings<'_>, &mut Context<'_>) -> Option<Arc<dyn ForeignPart>> + Send + Sync;
pub(crate) type MakePredictor =
    dyn Fn(Settings<'_>, &mut Context<'_>) -> Option<Arc<PredictorFactory>> + Send + Sync;

/// Makes a predictor for a part with these ports.
pub type PredictorFactory = dyn Fn(&Ports) -> Box<dyn Predictor> + Send + Sync;

/// A joint: the element, and what others need to know of it.
#[derive(Clone, Debug)]
pub struct ForeignJoint {
    /// Its equations.
    pub element: Box<dyn Element>,
    /// The markers that it connects, where it is drawn.
    pub ends: [Marker; 2],
    /// How it is drawn.
    pub symbol: Symbol,
    /// What transmissions and sensors may use, if it leaves a single coordinate free.
    pub coordinate: Option<Coordinate>,
}

impl ForeignJoint {
    /// A joint without a single coordinate that is drawn as a pin.
    pub fn new(element: impl Element, ends: [Marker; 2]) -> Self {
        Self {
            element: Box::new(element),
            ends,
            symbol: Symbol::Pin,
            coordinate: None,
        }
    }
}

/// A subsystem that is not made by this crate: a solver of another program, an object of another
/// language, a test double. A function that makes solvers is one.
pub trait ForeignPart: Send + Sync {
    /// A new solver at its initial state, which takes so many micro steps a macro step. Its ports
    /// are always the same. It may say why there is none.
    fn solver(&self, micro_steps: usize) -> Result<Box<dyn Subsystem>, String>;

    /// How it carries loads at rest, if it can tell: statics then hold what it pushes.
    fn load_bearing(&self) -> Option<&dyn LoadBearing> {
        None
    }

    /// What it is made of, for those who know its kind.
    fn description(&self) -> Option<&dyn Any> {
        None
    }
}

/// A part that carries mechanisms at rest.
pub trait LoadBearing {
    /// Whether it starts at rest, so that its loads must be found.
    fn starts_at_rest(&self) -> bool;

    /// What it wants to know of the load at an output that pushes; by default the loads of all of them where it starts
    /// at rest.
    fn wanted_load(&self, output: OutputPort) -> Option<WantedLoad> {
        let _ = output;
        self.starts_at_rest().then(WantedLoad::default)
    }

    /// How long the line may be along which an output pushes, if that is limited.
    fn stroke(&self, output: OutputPort) -> Option<Stroke> {
        let _ = output;
        None
    }

    /// Itself where it exerts these forces at outputs, and receives these inputs; or why there is no such rest.
    fn at_rest(&self, loads: &[(OutputPort, f64)], inputs: &[f64]) -> Result<AtRest, NoRest>;
}

/// A load that must be found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WantedLoad {
    /// Who asks for it, and where, if that is one key of the file. It then has to be connected to a mechanism.
    pub asked: Option<At<String>>,
}

/// How long a line may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    /// Whose stroke it is.
    pub name: String,
    /// The least and the largest length in m.
    pub lengths: [f64; 2],
    /// Where the file says it.
    pub place: Option<Span>,
}

/// Why a part finds no rest.
#[derive(Clone, Debug)]
pub enum NoRest {
    /// What moves, and why.
    Moves(String),
    /// What is wrong with what the file says.
    Problems(Vec<Problem>),
}

impl fmt::Display for NoRest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moves(why) => f.write_str(why),
            Self::Problems(problems) => {
                let messages: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
                f.write_str(&messages.join("; "))
            }
        }
    }
}

impl From<String> for NoRest {
    fn from(why: String) -> Self {
        Self::Moves(why)
    }
}

/// A part at rest.
pub struct AtRest {
    /// The part; it starts at rest as far as that was wanted.
    pub part: Arc<dyn ForeignPart>,
    /// Its values there.
    pub values: Vec<RestingValue>,
}

/// A value of a part at rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RestingValue {
    /// What it is called, such as `head.p`.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// Its value at rest.
    pub found: f64,
    /// With what it starts, if that is given.
    pub given: Option<f64>,
}

impl<F> ForeignPart for F
where
    F: Fn(usize) -> Result<Box<dyn Subsystem>, String> + Send + Sync,
{
    fn solver(&self, micro_steps: usize) -> Result<Box<dyn Subsystem>, String> {
        self(micro_steps)
    }
}

impl Extensions {
    /// Nothing but the format's own kinds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind of element: tables in `elements` of mechanisms with this `type`.
    ///
    /// # Panics
    /// If `name` is no name or taken, or if the table has a key `type` or `kind` of its own. That
    /// holds for the other functions, too.
    pub fn element<T, E>(
        &mut self,
        name: &str,
        make: impl Fn(T, &mut Site<'_>) -> Option<E> + Send + Sync + 'static,
    ) where
        T: JsonSchema + DeserializeOwned,
        E: Element,
    {
        let make: Box<MakeElement> = Box::new(move |settings, site| {
            let element = make(settings.read(site)?, site)?;
            Some(Box::new(element))
        });
        self.schema.take();
        add::<T, _>(&mut self.elements, name, &[], make);
    }

    /// Adds a kind of joint: tables in `joints` of mechanisms with this `type`.
    pub fn joint<T: JsonSchema + DeserializeOwned>(
        &mut self,
        name: &str,
        make: impl Fn(T, &mut Site<'_>) -> Option<ForeignJoint> + Send + Sync + 'static,
    ) {
        let make: Box<MakeJoint> = Box::new(move |settings, site| make(settings.read(site)?, site));
        self.schema.take();
        add::<T, _>(&mut self.joints, name, &schema::joint_words(), make);
    }

    /// Adds a kind of sensor: tables in `sensors` of mechanisms with this `type`.
    pub fn sensor<T, S>(
        &mut self,
        name: &str,
        make: impl Fn(T, &mut Site<'_>) -> Option<S> + Send + Sync + 'static,
    ) where
        T: JsonSchema + DeserializeOwned,
        S: CustomSensor + 'static,
    {
        let make: Box<MakeSensor> = Box::new(move |settings, site| {
            let sensor = make(settings.read(site)?, site)?;
            Some(Box::new(sensor))
        });
        self.schema.take();
        add::<T, _>(&mut self.sensors, name, &[], make);
    }

    /// Adds a kind of subsystem: sections `[name.NAME]`. They have `every`, `micro_steps`,
    /// `micro_step` and `predictor` like all subsystems.
    pub fn subsystem<T, P>(
        &mut self,
        name: &str,
        make: impl Fn(T, &mut Context<'_>) -> Option<P> + Send + Sync + 'static,
    ) where
        T: JsonSchema + DeserializeOwned,
        P: ForeignPart + 'static,
    {
        let make: Box<MakePart> = Box::new(move |settings, context| {
            let part = make(settings.read(context)?, context)?;
            Some(Arc::new(part))
        });
        self.schema.take();
        add::<T, _>(&mut self.subsystems, name, &schema::section_words(), make);
    }

    /// The same where the keys are known at run time only, such as those of a class in another language: `keys` is
    /// the JSON Schema of the table, without references. It says why the kind cannot be added.
    pub fn subsystem_of_keys<P: ForeignPart + 'static>(
        &mut self,
        name: &str,
        keys: Value,
        make: impl Fn(Value, &mut Context<'_>) -> Option<P> + Send + Sync + 'static,
    ) -> Result<(), String> {
        let make: Box<MakePart> = Box::new(move |settings, context| {
            let part = make(settings.read(context)?, context)?;
            Some(Arc::new(part))
        });
        self.schema.take();
        let taken = schema::section_words();
        try_add(&mut self.subsystems, name, &taken, keys, make)
    }

    /// The same for a predictor.
    pub fn predictor_of_keys<P>(
        &mut self,
        name: &str,
        keys: Value,
        make: impl Fn(Value, &mut Context<'_>) -> Option<P> + Send + Sync + 'static,
    ) -> Result<(), String>
    where
        P: Fn(&Ports) -> Box<dyn Predictor> + Send + Sync + 'static,
    {
        let make: Box<MakePredictor> = Box::new(move |settings, context| {
            let factory = make(settings.read(context)?, context)?;
            Some(Arc::new(factory))
        });
        self.schema.take();
        let taken = schema::predictor_words();
        try_add(&mut self.predictors, name, &taken, keys, make)
    }

    /// Adds a predictor: `predictor = "name"`, or a table with this `kind`.
    pub fn predictor<T, P>(
        &mut self,
        name: &str,
        make: impl Fn(T, &mut Context<'_>) -> Option<P> + Send + Sync + 'static,
    ) where
        T: JsonSchema + DeserializeOwned,
        P: Fn(&Ports) -> Box<dyn Predictor> + Send + Sync + 'static,
    {
        let make: Box<MakePredictor> = Box::new(move |settings, context| {
            let factory = make(settings.read(context)?, context)?;
            Some(Arc::new(factory))
        });
        self.schema.take();
        add::<T, _>(&mut self.predictors, name, &schema::predictor_words(), make);
    }

    /// Names of the kinds of subsystems.
    pub fn subsystem_kinds(&self) -> impl Iterator<Item = &str> {
        self.subsystems.iter().map(|kind| kind.name.as_str())
    }

    /// The JSON Schema of model files with these kinds.
    pub fn schema(&self) -> Value {
        crate::schema::published(self.shared_schema())
    }

    /// The reference page of the format with these kinds, in Markdown.
    pub fn reference_markdown(&self) -> String {
        crate::reference::markdown(&crate::schema::described(self.shared_schema()))
    }

    pub(crate) fn shared_schema(&self) -> &Value {
        if self.is_empty() {
            return crate::schema::shared();
        }
        self.schema.get_or_init(|| Arc::new(schema::extended(self)))
    }

    fn is_empty(&self) -> bool {
        self.elements.is_empty()
            && self.joints.is_empty()
            && self.sensors.is_empty()
            && self.subsystems.is_empty()
            && self.predictors.is_empty()
    }
}

/// The kind of this name.
pub(crate) fn find<'e, M: ?Sized>(kinds: &'e Kinds<M>, name: &str) -> Option<&'e Arc<Kind<M>>> {
    kinds.iter().find(|kind| kind.name == name)
}

fn add<T: JsonSchema, M: ?Sized>(kinds: &mut Kinds<M>, name: &str, taken: &[String], make: Box<M>) {
    let keys = schema::of_type::<T>();
    if let Err(why) = try_add(kinds, name, taken, keys, make) {
        panic!("{why}");
    }
}

fn try_add<M: ?Sized>(
    kinds: &mut Kinds<M>,
    name: &str,
    taken: &[String],
    keys: Value,
    make: Box<M>,
) -> Result<(), String> {
    if !words::is_name(name) {
        return Err(format!("`{name}` is not a name for a kind"));
    }
    if taken.iter().any(|word| word == name) || find(kinds, name).is_some() {
        return Err(format!("there is a kind `{name}` already"));
    }
    let schema = schema::of_table(name, keys)?;
    let name = name.to_owned();
    kinds.push(Arc::new(Kind { name, schema, make }));
    Ok(())
}
