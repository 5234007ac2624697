//! What all functions have at the border to C.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What a call gives: an object, a text in JSON, and whether the text tells why there is nothing.
#[repr(C)]
pub struct Answer {
    /// Zero if all is well.
    pub status: i32,
    /// JSON, without a zero at its end.
    pub text: *mut u8,
    /// Its length.
    pub length: usize,
    /// The object, or null; it is freed by the function for its kind.
    pub object: *mut c_void,
}

impl Answer {
    fn of(status: i32, told: &Value, object: *mut c_void) -> *mut Self {
        let text = serde_json::to_vec(told).unwrap_or_else(|_| b"null".to_vec());
        let text = Box::leak(text.into_boxed_slice());
        Box::into_raw(Box::new(Self {
            status,
            length: text.len(),
            text: text.as_mut_ptr(),
            object,
        }))
    }
}

/// What a call does: an object, if there is one, and what is told.
pub type Done<T> = Result<(Option<Box<T>>, Value), Value>;

/// Does the work of a call; a panic is a defect that is told, and never leaves.
pub fn answer<T>(work: impl FnOnce() -> Done<T>) -> *mut Answer {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok((object, told))) => {
            let object = object.map_or(std::ptr::null_mut(), Box::into_raw);
            Answer::of(0, &told, object.cast())
        }
        Ok(Err(told)) => Answer::of(1, &told, std::ptr::null_mut()),
        Err(panic) => Answer::of(1, &internal(&message(panic.as_ref())), std::ptr::null_mut()),
    }
}

/// A failure of a kind that the package knows, in words.
pub fn failed(kind: &str, text: impl Into<String>) -> Value {
    let text: String = text.into();
    json!({"kind": kind, "text": text})
}

/// A defect of Oldham.
pub fn internal(message: &str) -> Value {
    failed(
        "internal",
        format!("an internal error: {message}; this is a defect of Oldham, please report it"),
    )
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}

/// The arguments of a call, which come as JSON.
///
/// # Safety
/// `text` points to so many bytes.
pub unsafe fn request<T: DeserializeOwned>(text: *const u8, length: usize) -> Result<T, Value> {
    if text.is_null() {
        return Err(internal("a call without arguments"));
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(text, length) };
    serde_json::from_slice(bytes).map_err(|error| internal(&format!("arguments: {error}")))
}

/// An object of ours.
///
/// # Safety
/// `object` is null or came from an [`Answer`] with an object of this type, and was not freed.
pub unsafe fn object<'a, T>(object: *const T) -> Result<&'a T, Value> {
    // SAFETY: as the caller promises.
    unsafe { object.as_ref() }.ok_or_else(|| internal("a call without its object"))
}

/// Frees an object of ours.
///
/// # Safety
/// As [`object`]; nobody uses it any more.
pub unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: as the caller promises.
        let object = unsafe { Box::from_raw(object) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(object)));
    }
}

/// The version of the program.
#[unsafe(no_mangle)]
pub extern "C" fn oldham_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Frees an answer, but not its object.
///
/// # Safety
/// `answer` came from a function of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_answer_free(answer: *mut Answer) {
    if answer.is_null() {
        return;
    }
    // SAFETY: both were made in `Answer::of`.
    unsafe {
        let answer = Box::from_raw(answer);
        let text = std::ptr::slice_from_raw_parts_mut(answer.text, answer.length);
        drop(Box::from_raw(text));
    }
}
