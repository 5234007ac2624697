//! A section `[process.NAME]` of model files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use oldham_cosim::{Conjugate, Ports, Quantity, Subsystem, Unit};
use oldham_model::{At, Context, Extensions, ForeignPart, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::conversation::Conversation;
use crate::framed::Framed;
use crate::part::{Kept, ProcessPart};
use crate::raw::{Channel, Raw, channels};
use crate::stream::{Address, Contact};

/// How long anything may take, in s, unless the model says otherwise.
const TIMEOUT: f64 = 10.0;

/// Adds programs to what model files may have.
pub fn register(extensions: &mut Extensions) {
    extensions.subsystem("process", make);
}

/// A program in any language as a subsystem, over a socket.
#[derive(Deserialize, JsonSchema)]
struct Settings {
    /// Where its socket is: `unix:FILE`, relative to the folder of the model, or `tcp:HOST:PORT`; or `shm`: shared memory
    /// with a program that Oldham starts. With a `command` it may be left out: each program that is started then has a
    /// socket of its own.
    address: Option<At<String>>,
    /// Who waits to be called: Oldham, unless this is false.
    listen: Option<bool>,
    /// A program that Oldham starts, with its arguments, in the folder of the model. It finds the address in the environment
    /// as `OLDHAM_SOCKET`.
    command: Option<At<Vec<String>>>,
    /// Frames with a handshake, or raw doubles.
    #[serde(default)]
    protocol: Protocol,
    /// What it receives, by name: `translation` (along a line), `rotation` (about an axis), `motion` (of a node), `wrench`,
    /// or a number in this unit, such as `N`.
    #[serde(default)]
    inputs: BTreeMap<String, At<String>>,
    /// What it sends.
    #[serde(default)]
    outputs: BTreeMap<String, At<String>>,
    /// Pairs of an input and an output that are the motion and the force of one point: the energy of their exchange is
    /// balanced.
    #[serde(default)]
    conjugate: Vec<At<[String; 2]>>,
    /// Whether its outputs depend on its inputs at once; not with raw doubles.
    #[serde(default)]
    feedthrough: bool,
    /// With raw doubles: the inputs that are sent, or parts of them such as `tip.position` and `tip.rotation_vector`, in their
    /// order; all inputs by default.
    #[serde(default)]
    send: Vec<At<String>>,
    /// How long it may take to answer, in s. 10 unless given.
    #[schemars(extend("exclusiveMinimum" = 0))]
    timeout: Option<f64>,
}

/// What it speaks.
#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Protocol {
    /// Frames with a handshake.
    #[default]
    Framed,
    /// Raw doubles, one block each way per exchange.
    Raw,
}

struct ProcessSource {
    contact: Contact,
    ports: Ports,
    /// What is sent as raw doubles, if it speaks so.
    raw: Option<Vec<Channel>>,
    kept: Kept,
}

impl ForeignPart for ProcessSource {
    fn solver(&self, micro_steps: usize) -> Result<Box<dyn Subsystem>, String> {
        if micro_steps > 1 {
            return Err("a process takes one step a macro step; leave `micro_steps` out".into());
        }
        let kept = self
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let conversation: Box<dyn Conversation> = match (kept, &self.raw) {
            (Some(kept), _) => kept,
            (None, Some(channels)) => Box::new(Raw::open(&self.contact, channels)?),
            (None, None) => Box::new(Framed::open(&self.contact, "oldham", &self.ports)?),
        };
        let part = ProcessPart::new(self.ports.clone(), conversation, self.kept.clone());
        Ok(Box::new(part))
    }
}

fn quantity(word: &str) -> Quantity {
    match word {
        "translation" => Quantity::Translation,
        "rotation" => Quantity::Rotation,
        "motion" => Quantity::Motion,
        "wrench" => Quantity::Wrench,
        unit => Quantity::Scalar(Unit(unit.to_owned().into())),
    }
}

fn address(text: &str, folder: &Path) -> Option<Address> {
    if text == "shm" {
        return Some(Address::Shared);
    }
    if let Some(path) = text.strip_prefix("unix:") {
        return (!path.is_empty()).then(|| Address::Unix(folder.join(path)));
    }
    let host = text.strip_prefix("tcp:")?;
    let (name, port) = host.rsplit_once(':')?;
    let is_right = !name.is_empty() && port.parse::<u16>().is_ok();
    is_right.then(|| Address::Tcp(host.to_owned()))
}

/// A folder as programs in other folders can name it.
fn whole(folder: PathBuf) -> PathBuf {
    let named = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => &folder,
    };
    std::path::absolute(named).unwrap_or(folder)
}

fn make(settings: Settings, context: &mut Context<'_>) -> Option<ProcessSource> {
    let mut problems = Vec::new();
    let folder = whole(context.beside(""));
    let mut place = None;
    match &settings.address {
        Some(given) => {
            place = address(&given.value, &folder);
            if place.is_none() {
                let message = format!("`{}` is not the address of a socket", given.value);
                problems.push(Problem::new(given.span.clone(), message).help(
                    "write `unix:FILE`, `tcp:HOST:PORT` such as `tcp:127.0.0.1:7770`, or `shm`",
                ));
            }
        }
        None if settings.command.is_none() || settings.listen == Some(false) => {
            let message = "a process needs `address`, unless Oldham starts it and listens";
            problems.push(Problem::new(context.place(), message));
        }
        None => {}
    }
    if let (Some(Address::Shared), Some(given)) = (&place, &settings.address) {
        let reason = match (&settings.command, settings.protocol, settings.listen) {
            (None, ..) => {
                Some("needs a `command`: only a program that Oldham starts can share its memory")
            }
            (_, Protocol::Raw, _) => Some("conflicts with raw doubles: it carries frames"),
            (_, _, Some(false)) => Some("conflicts with `listen = false`"),
            _ => None,
        };
        if let Some(reason) = reason {
            let message = format!("shared memory {reason}");
            problems.push(Problem::new(given.span.clone(), message));
        }
    }
    if let Some(command) = &settings.command
        && command.value.is_empty()
    {
        let message = "`command` needs a program";
        problems.push(Problem::new(command.span.clone(), message));
    }
    let mut ports = Ports::new();
    for (name, given) in &settings.inputs {
        ports.add_input(name.as_str(), quantity(&given.value));
    }
    for (name, given) in &settings.outputs {
        ports.add_output(name.as_str(), quantity(&given.value));
    }
    for pair in &settings.conjugate {
        let [input, output] = &pair.value;
        let (Some(received), Some(sent)) = (ports.input(input), ports.output(output)) else {
            let message = format!("there is no input `{input}` with an output `{output}`");
            problems.push(Problem::new(pair.span.clone(), message));
            continue;
        };
        let receives_motion = ports.inputs()[received.0].quantity.is_motion();
        let sends_motion = ports.outputs()[sent.0].quantity.is_motion();
        match (receives_motion, sends_motion) {
            (true, false) => ports.conjugate(Conjugate::GivesForce {
                motion: received,
                force: sent,
            }),
            (false, true) => ports.conjugate(Conjugate::GivesMotion {
                force: received,
                motion: sent,
            }),
            _ => {
                let message = format!("of `{input}` and `{output}` one must be a motion");
                problems.push(Problem::new(pair.span.clone(), message));
            }
        }
    }
    let is_raw = settings.protocol == Protocol::Raw;
    if settings.feedthrough && is_raw {
        let message = "`feedthrough` conflicts with raw doubles: there is one exchange a step";
        problems.push(Problem::new(context.place(), message));
    } else if settings.feedthrough {
        for output in 0..ports.output_width() {
            (0..ports.input_width()).for_each(|input| ports.feed_through(output, input));
        }
    }
    let names: Vec<String> = settings.send.iter().map(|s| s.value.clone()).collect();
    let chosen = channels(&names, &ports);
    if let Err((index, message)) = &chosen {
        problems.push(Problem::new(settings.send[*index].span.clone(), message));
    }
    if !problems.is_empty() {
        problems
            .into_iter()
            .for_each(|problem| context.report(problem));
        return None;
    }
    let seconds = settings.timeout.unwrap_or(TIMEOUT);
    Some(ProcessSource {
        contact: Contact {
            address: place,
            listens: settings.listen.unwrap_or(true),
            command: settings.command.map(|command| (command.value, folder)),
            timeout: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
        },
        ports,
        raw: match is_raw {
            true => chosen.ok(),
            false => None,
        },
        kept: Kept::default(),
    })
}
