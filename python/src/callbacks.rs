//! Python code that the engine calls: kinds of subsystems and predictors.
//!
//! Arrays that both sides see belong to Python, which keeps them until the engine drops the solver. So a call
//! carries numbers only, and whatever Python code keeps of an array stays memory of its own.
#![allow(unsafe_code)]

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::border::internal;

/// Functions of the package.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Callbacks {
    /// An object of a kind with settings in JSON: its number. It replies why there is none (zero).
    make: extern "C" fn(kind: u64, json: *const u8, length: usize, reply: *mut Reply) -> u64,
    /// A new state of an object: the number of the solver. It replies with a description of it in JSON, or why
    /// there is none (zero).
    start: extern "C" fn(object: u64, width: u64, reply: *mut Reply) -> u64,
    /// Calls a method of a solver. It replies why it failed, if it gives anything but zero, or new bytes of its state.
    call: extern "C" fn(
        solver: u64,
        method: i32,
        t: f64,
        dt: f64,
        bytes: *const u8,
        length: usize,
        reply: *mut Reply,
    ) -> i32,
    /// A solver or an object is needed no more.
    forget: extern "C" fn(number: u64),
}

/// What a callback replies besides a number.
#[derive(Default)]
pub struct Reply(Vec<u8>);

/// Takes what a callback replies.
///
/// # Safety
/// `reply` is what the callback was given, `bytes` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_reply(reply: *mut Reply, bytes: *const u8, length: usize) {
    // SAFETY: as the caller promises.
    if let Some(reply) = unsafe { reply.as_mut() } {
        reply.0.clear();
        if !bytes.is_null() {
            // SAFETY: as the caller promises.
            let given = unsafe { std::slice::from_raw_parts(bytes, length) };
            reply.0.extend_from_slice(given);
        }
    }
}

impl Reply {
    fn text(self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

/// Methods of solvers.
#[derive(Clone, Copy)]
pub enum Method {
    Advance = 0,
    Send = 1,
    Receive = 2,
    Predict = 3,
}

/// An object with settings; it is forgotten when nobody needs it.
pub struct Object {
    callbacks: Callbacks,
    number: u64,
}

impl Object {
    /// An object of a kind, or why there is none.
    pub fn new(callbacks: Callbacks, kind: u64, settings: &Value) -> Result<Arc<Self>, String> {
        let json = settings.to_string();
        let mut reply = Reply::default();
        match (callbacks.make)(kind, json.as_ptr(), json.len(), &mut reply) {
            0 => Err(reply.text()),
            number => Ok(Arc::new(Self { callbacks, number })),
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        (self.callbacks.forget)(self.number);
    }
}

/// A port as the package declares it.
#[derive(Deserialize)]
pub struct Declared {
    pub name: String,
    pub quantity: String,
    pub unit: String,
    pub width: usize,
}

/// What the package says of a new solver.
#[derive(Deserialize)]
pub struct Described {
    #[serde(default)]
    pub inputs: Vec<Declared>,
    #[serde(default)]
    pub outputs: Vec<Declared>,
    #[serde(default)]
    pub direct: Vec<[String; 2]>,
    #[serde(default)]
    pub conjugate: Vec<[String; 2]>,
    /// Addresses of arrays that belong to Python: received, state, given.
    arrays: [usize; 3],
    /// How many numbers they have.
    lengths: [usize; 3],
    /// The state at the start where it is bytes.
    bytes: Option<Vec<u8>>,
}

/// An object with a state of its own.
pub struct Solver {
    object: Arc<Object>,
    number: u64,
    arrays: [*mut f64; 3],
    lengths: [usize; 3],
    /// State that nobody looks into: its length, then the bytes.
    pub opaque: Option<Vec<u64>>,
}

// SAFETY: a solver is used by one thread at a time. Its arrays are memory of Python, which nobody moves or frees
// before `forget` is called, and Python code looks at them only while it is called.
unsafe impl Send for Solver {}

/// Which of the arrays.
#[derive(Clone, Copy)]
pub enum Array {
    Received = 0,
    State = 1,
    Given = 2,
}

impl Solver {
    /// A new solver with its description, or why there is none. `width` is the number of inputs, where the object
    /// does not know it.
    pub fn new(object: &Arc<Object>, width: usize) -> Result<(Self, Described), String> {
        let mut reply = Reply::default();
        let number = (object.callbacks.start)(object.number, width as u64, &mut reply);
        if number == 0 {
            return Err(reply.text());
        }
        let described: Described = serde_json::from_slice(&reply.0)
            .map_err(|error| internal(&error.to_string()).to_string())?;
        let solver = Self {
            object: object.clone(),
            number,
            arrays: described.arrays.map(|address| address as *mut f64),
            lengths: described.lengths,
            opaque: described.bytes.as_deref().map(packed),
        };
        Ok((solver, described))
    }

    /// An array that Python sees, too.
    pub fn array(&mut self, array: Array) -> &mut [f64] {
        let (first, length) = (self.arrays[array as usize], self.lengths[array as usize]);
        if length == 0 {
            return &mut [];
        }
        // SAFETY: Python keeps the array until `forget`, and no Python code runs for this solver while the engine
        // holds it: the lifetime is that of the borrow of the solver, and `call` borrows it, too.
        unsafe { std::slice::from_raw_parts_mut(first, length) }
    }

    /// Calls a method; it may fail.
    pub fn call(&mut self, method: Method, t: f64, dt: f64) -> Result<(), String> {
        let bytes = self.opaque.as_deref().map(unpacked).unwrap_or_default();
        let mut reply = Reply::default();
        let (first, length) = (bytes.as_ptr(), bytes.len());
        let call = self.object.callbacks.call;
        match call(self.number, method as i32, t, dt, first, length, &mut reply) {
            0 => {}
            // New bytes of the state.
            2 => self.opaque = Some(packed(&reply.0)),
            _ => return Err(reply.text()),
        }
        Ok(())
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        (self.object.callbacks.forget)(self.number);
    }
}

fn packed(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    let length = std::iter::once(bytes.len() as u64);
    length.chain(bytes.chunks(8).map(word)).collect()
}

fn unpacked(words: &[u64]) -> Vec<u8> {
    let Some((length, words)) = words.split_first() else {
        return Vec::new();
    };
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(usize::try_from(*length).unwrap_or(usize::MAX));
    bytes
}

impl oldham_cosim::State for Solver {
    fn visit(&mut self, visitor: &mut dyn oldham_cosim::Visitor) {
        match &mut self.opaque {
            Some(words) => visitor.memory(words),
            None => visitor.vector(self.array(Array::State)),
        }
    }
}
