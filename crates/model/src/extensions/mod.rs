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
mod table;
mod wrap;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use oldham_cosim::{OutputPort, Ports, Predictor, Subsystem};
use oldham_multibody::{Coordinate, CustomSensor, Element, Marker, Sensor};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::check::Bench;
use crate::format::At;
use crate::kinds::{self, Reading, Reads};
use crate::mechanism::Symbol;
use crate::problem::Problem;
use crate::source::Span;
use crate::words;
pub(crate) use schema::{FAMILY, family};
pub(crate) use settings::Settings;
pub use site::{Context, Site};
pub(crate) use site::{MechanismReports, Reports};
pub(crate) use table::{Table, With};
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
#[derive(Clone, Debug)]
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
    /// Complete in itself; nothing for a kind of the format.
    pub schema: Value,
    pub own: Option<Own>,
    pub make: Box<M>,
}

/// What only kinds of the format have. Their tables are part of its schema, and are read even if something in them is
/// wrong or lacking: what is left is looked at all the same.
pub(crate) struct Own {
    /// The name before.
    pub formerly: Option<&'static str>,
    /// Its schema.
    pub describe: Box<dyn Fn(&mut SchemaGenerator) -> Schema + Send + Sync>,
    /// Whether its name is a key of its table, and not the `type`.
    pub is_key: bool,
}

impl<M: ?Sized> fmt::Debug for Kind<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

pub(crate) type MakeElement =
    dyn Fn(Settings<'_>, &mut Site<'_>) -> Option<Box<dyn Element>> + Send + Sync;
pub(crate) type MakeJoint =
    dyn Fn(Settings<'_>, &mut Bench<'_, '_, '_>) -> Option<ForeignJoint> + Send + Sync;
type MakeReading = dyn Fn(Settings<'_>, &mut Bench<'_, '_, '_>) -> Option<Reading> + Send + Sync;
pub(crate) type MakePart =
    dyn Fn(Settings<'_>, &mut Context<'_>) -> Option<Arc<dyn ForeignPart>> + Send + Sync;
pub(crate) type MakePredictor =
    dyn Fn(Settings<'_>, &mut Context<'_>) -> Option<Arc<PredictorFactory>> + Send + Sync;

/// Makes a predictor for a part with these ports.
pub type PredictorFactory = dyn Fn(&Ports) -> Box<dyn Predictor> + Send + Sync;

/// What makes sensors of a kind.
pub(crate) struct MakeSensor {
    /// What must be there before.
    pub reads: Reads,
    pub make: Box<MakeReading>,
}

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
    /// Another coordinate that it leaves free, of which sensors and ports may ask.
    pub second: Option<Coordinate>,
    /// Coordinates whose motion it prescribes.
    pub driven: Vec<Coordinate>,
    /// Elements that belong to it.
    pub companions: Vec<Companion>,
    /// Inertia against the motion along `coordinate` alone, in kg·m² or kg.
    pub reflected_inertia: f64,
}

/// An element that belongs to a joint, such as its end stops.
#[derive(Clone, Debug)]
pub struct Companion {
    /// What it is called, after the joint and a point.
    pub name: String,
    /// Its equations.
    pub element: Box<dyn Element>,
    /// Whether it prescribes the rate of the joint's `coordinate`: what drives the joint is then its reaction.
    pub drives: bool,
}

impl ForeignJoint {
    /// A joint without a single coordinate that is drawn as a pin.
    pub fn new(element: impl Element, ends: [Marker; 2]) -> Self {
        Self {
            element: Box::new(element),
            ends,
            symbol: Symbol::Pin,
            coordinate: None,
            second: None,
            driven: Vec::new(),
            companions: Vec::new(),
            reflected_inertia: 0.0,
        }
    }

    /// The same, drawn in another way.
    pub fn drawn(self, symbol: Symbol) -> Self {
        Self { symbol, ..self }
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
        Self::own().clone()
    }

    /// The format's own kinds, which are registered as all others.
    pub(crate) fn own() -> &'static Self {
        static OWN: LazyLock<Extensions> = LazyLock::new(|| {
            let mut own = Extensions {
                elements: Kinds::new(),
                joints: Kinds::new(),
                sensors: Kinds::new(),
                subsystems: Kinds::new(),
                predictors: Kinds::new(),
                schema: OnceLock::new(),
            };
            kinds::register(&mut own);
            own
        });
        &OWN
    }

    /// Adds a joint of the format.
    pub(crate) fn own_joint<T: Table>(
        &mut self,
        name: &str,
        formerly: Option<&'static str>,
        make: impl Fn(T, &mut Bench<'_, '_, '_>) -> Option<ForeignJoint> + Send + Sync + 'static,
    ) {
        let own = Own {
            formerly,
            describe: Box::new(|generator| T::describe(generator)),
            is_key: false,
        };
        let make: Box<MakeJoint> =
            Box::new(move |settings, bench| make(T::read(&settings, bench)?, bench));
        add_own(&mut self.joints, name, own, make);
    }

    /// Adds a sensor of the format: tables with this key, under which stands what is measured; `about` describes the
    /// key.
    pub(crate) fn own_sensor<O, T>(
        &mut self,
        (key, about): (&'static str, &'static str),
        reads: Reads,
        make: impl Fn(O, T, &mut Bench<'_, '_, '_>) -> Option<Reading> + Send + Sync + 'static,
    ) where
        O: JsonSchema + DeserializeOwned,
        T: Table,
    {
        let describe = move |generator: &mut SchemaGenerator| {
            let measured = generator.subschema_for::<O>();
            schema::with_key((key, about), measured, T::describe(generator))
        };
        let own = Own {
            formerly: None,
            describe: Box::new(describe),
            is_key: true,
        };
        let make: Box<MakeReading> = Box::new(move |settings, bench| {
            let of = settings.value(key, bench)?;
            make(of, T::read(&settings, bench)?, bench)
        });
        let make = Box::new(MakeSensor { reads, make });
        add_own(&mut self.sensors, key, own, make);
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
        let make: Box<MakeJoint> = Box::new(move |settings, bench| {
            let mut site = Site::new(&settings, bench);
            make(settings.read(&mut site)?, &mut site)
        });
        self.schema.take();
        let taken = former_names(&self.joints);
        add::<T, _>(&mut self.joints, name, &taken, make);
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
        let make: Box<MakeReading> = Box::new(move |settings, bench| {
            let mut site = Site::new(&settings, bench);
            let sensor = make(settings.read(&mut site)?, &mut site)?;
            Some(Reading::Fed(Sensor::Custom(Box::new(sensor))))
        });
        self.schema.take();
        let reads = Reads::Motions;
        let make = Box::new(MakeSensor { reads, make });
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

    /// The same as pages, the first page first.
    pub fn reference_pages(&self) -> Vec<crate::ReferencePage> {
        crate::reference_pages::pages(&self.reference_markdown())
    }

    pub(crate) fn shared_schema(&self) -> &Value {
        if self.is_empty() {
            return crate::schema::shared();
        }
        self.schema.get_or_init(|| Arc::new(schema::extended(self)))
    }

    /// Whether there is nothing but the format's own kinds.
    fn is_empty(&self) -> bool {
        self.elements.is_empty()
            && foreign(&self.joints).next().is_none()
            && foreign(&self.sensors).next().is_none()
            && self.subsystems.is_empty()
            && self.predictors.is_empty()
    }
}

impl Default for Extensions {
    fn default() -> Self {
        Self::new()
    }
}

/// Kinds that are not the format's own.
fn foreign<M: ?Sized>(kinds: &Kinds<M>) -> impl Iterator<Item = &Arc<Kind<M>>> {
    kinds.iter().filter(|kind| kind.own.is_none())
}

/// What kinds were called before.
fn former_names<M: ?Sized>(kinds: &Kinds<M>) -> Vec<String> {
    let own = kinds.iter().filter_map(|kind| kind.own.as_ref());
    own.filter_map(|own| own.formerly.map(str::to_owned))
        .collect()
}

fn add_own<M: ?Sized>(kinds: &mut Kinds<M>, name: &str, own: Own, make: Box<M>) {
    let kind = Kind {
        name: name.to_owned(),
        schema: Value::Null,
        own: Some(own),
        make,
    };
    kinds.push(Arc::new(kind));
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
    let own = None;
    kinds.push(Arc::new(Kind {
        name,
        schema,
        own,
        make,
    }));
    Ok(())
}
