//! The framed protocol: a handshake with names and units, then requests and answers.
//!
//! A frame is its kind and the length of what follows in bytes, both as whole numbers of 32 bits, and that many bytes.
//! Numbers are doubles; all is little-endian. The page of the guide on processes lists the kinds.

use oldham_cosim::{Port, Ports};
use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::stream::{Contact, Stream};

/// The version of the protocol.
const VERSION: u64 = 1;
/// Bytes that a frame may have.
const LARGEST: usize = 64 << 20;

const HELLO: u32 = 1;
const START: u32 = 2;
const STEP: u32 = 3;
const OUTPUTS: u32 = 4;
const KEEP: u32 = 5;
const RETURN: u32 = 6;
const BYE: u32 = 7;
const VALUES: u32 = 16;
const DONE: u32 = 17;
const ERROR: u32 = 18;

/// A program that speaks in frames.
pub(crate) struct Framed {
    stream: Stream,
    keeps_states: bool,
    buffer: Vec<u8>,
    has_stepped: bool,
}

impl Framed {
    /// Meets a program and greets it.
    pub fn open(contact: &Contact, name: &str, ports: &Ports) -> Result<Self, String> {
        let mut framed = Self {
            stream: Stream::open(contact)?,
            keeps_states: false,
            buffer: Vec::new(),
            has_stepped: false,
        };
        let hello = json!({
            "oldham": VERSION,
            "name": name,
            "inputs": described(ports.inputs()),
            "outputs": described(ports.outputs()),
        });
        framed.ask(HELLO, |bytes| bytes.extend(hello.to_string().as_bytes()))?;
        let kind = framed.listen(&|| false)?;
        if kind != HELLO {
            return framed
                .stream
                .broke("its first frame is not a greeting; does it speak another protocol?");
        }
        let Ok(answer) = serde_json::from_slice::<Value>(&framed.buffer) else {
            return framed.stream.broke("its greeting is not JSON");
        };
        if answer["oldham"] != json!(VERSION) {
            let version = &answer["oldham"];
            return framed.stream.broke(&format!(
                "it speaks version {version} of the protocol; this is version {VERSION}"
            ));
        }
        for (what, ports) in [("inputs", ports.inputs()), ("outputs", ports.outputs())] {
            if let Some(theirs) = answer[what].as_array() {
                framed.compare(what, theirs, ports)?;
            }
        }
        framed.keeps_states = answer["states"] == json!(true);
        Ok(framed)
    }

    /// What the program expects must be what there is.
    fn compare(&mut self, what: &str, theirs: &[Value], ports: &[Port]) -> Result<(), String> {
        let theirs: Vec<&str> = theirs.iter().filter_map(Value::as_str).collect();
        let ours: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
        match theirs == ours {
            true => Ok(()),
            false => self.stream.broke(&format!(
                "it expects the {what} {}, and the model has {}",
                theirs.join(", "),
                ours.join(", ")
            )),
        }
    }

    /// Sends a frame.
    fn ask(&mut self, kind: u32, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), String> {
        let bytes = &mut self.buffer;
        bytes.clear();
        bytes.extend([0; 8]);
        write(bytes);
        let length = (bytes.len() - 8) as u32;
        bytes[..4].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&length.to_le_bytes());
        self.stream.send(bytes)
    }

    /// Waits for a frame: its kind; what it says is in the buffer.
    fn listen(&mut self, is_cancelled: &dyn Fn() -> bool) -> Result<u32, String> {
        let mut head = [0; 8];
        self.stream.receive(&mut head, is_cancelled)?;
        let word = |at: usize| {
            let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
            u32::from_le_bytes(bytes)
        };
        let (kind, length) = (word(0), word(4) as usize);
        if length > LARGEST || ![HELLO, VALUES, DONE, ERROR].contains(&kind) {
            return self.stream.broke(&format!(
                "a frame of kind {kind} with {length} bytes is none of the protocol"
            ));
        }
        self.buffer.resize(length, 0);
        self.stream.receive(&mut self.buffer, is_cancelled)?;
        if kind == ERROR {
            let text = String::from_utf8_lossy(&self.buffer).into_owned();
            return self.stream.broke(&format!("it reports: {text}"));
        }
        Ok(kind)
    }

    /// Waits for outputs.
    fn values(
        &mut self,
        outputs: &mut [f64],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let kind = self.listen(is_cancelled)?;
        let count = self.buffer.len() / 8;
        if kind != VALUES || !self.buffer.len().is_multiple_of(8) || count != outputs.len() {
            let wanted = outputs.len();
            let length = self.buffer.len();
            return self.stream.broke(&format!(
                "{wanted} outputs are expected of it; it sent a frame of kind {kind} with {length} bytes"
            ));
        }
        for (output, bytes) in outputs.iter_mut().zip(self.buffer.chunks_exact(8)) {
            *output = f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        Ok(())
    }

    fn done(&mut self) -> Result<(), String> {
        match self.listen(&|| false)? {
            DONE => Ok(()),
            kind => self
                .stream
                .broke(&format!("it answers with a frame of kind {kind}")),
        }
    }
}

fn described(ports: &[Port]) -> Value {
    let port = |port: &Port| {
        let quantity = &port.quantity;
        let components = (0..quantity.width()).map(|k| quantity.component_name(k).into_owned());
        let units = (0..quantity.width()).map(|k| quantity.component_unit(k).to_string());
        json!({
            "name": port.name,
            "components": components.collect::<Vec<_>>(),
            "units": units.collect::<Vec<_>>(),
        })
    };
    ports.iter().map(port).collect()
}

fn put(bytes: &mut Vec<u8>, values: &[f64]) {
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

impl Conversation for Framed {
    fn start(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        self.ask(START, |bytes| {
            put(bytes, &[t]);
            put(bytes, inputs);
        })?;
        self.values(outputs, &|| false)
    }

    fn begin(&mut self, from: f64, to: f64, inputs: [&[f64]; 2]) -> Result<(), String> {
        self.has_stepped = true;
        self.ask(STEP, |bytes| {
            put(bytes, &[from, to]);
            inputs.into_iter().for_each(|inputs| put(bytes, inputs));
        })
    }

    fn finish(
        &mut self,
        outputs: &mut [f64],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        self.values(outputs, is_cancelled)
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        self.ask(OUTPUTS, |bytes| {
            put(bytes, &[t]);
            put(bytes, inputs);
        })?;
        self.values(outputs, &|| false)
    }

    fn keeps_states(&self) -> bool {
        self.keeps_states
    }

    fn keep(&mut self, number: u64) -> Result<(), String> {
        self.ask(KEEP, |bytes| bytes.extend(number.to_le_bytes()))?;
        self.done()
    }

    fn return_to(&mut self, number: u64) -> Result<(), String> {
        self.ask(RETURN, |bytes| bytes.extend(number.to_le_bytes()))?;
        self.done()
    }

    fn may_be_used_again(&self) -> bool {
        !self.has_stepped
    }
}

impl Drop for Framed {
    fn drop(&mut self) {
        let _ = self.ask(BYE, |_| {});
    }
}
