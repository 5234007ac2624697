//! Columns by the Arrow C data interface: a stream with one batch, which shares the memory of the columns.
//!
//! The structures and who releases what are those of the specification: every structure is released by the
//! function in it, a consumer may move it elsewhere first, and children go with their parent.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::null_mut;

use crate::columns::Shared;

/// `ArrowSchema`: name and format of a column, or of all.
#[repr(C)]
pub struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    children_count: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private: *mut c_void,
}

/// `ArrowArray`: the values of a column, or of all.
#[repr(C)]
pub struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    buffer_count: i64,
    children_count: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private: *mut c_void,
}

/// `ArrowArrayStream`.
#[repr(C)]
pub struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    /// Ends it.
    pub release: Option<unsafe extern "C" fn(*mut Stream)>,
    private: *mut c_void,
}

// Their layout is that of the specification on machines with 64 bits.
const _: () = assert!(size_of::<Schema>() == 72 && size_of::<Array>() == 80);
const _: () = assert!(size_of::<Stream>() == 40);

const BAD_ARGUMENT: c_int = 22;

/// What a stream keeps.
struct Reading {
    columns: Shared,
    is_read: bool,
}

/// What a schema keeps.
struct SchemaParts {
    _texts: [CString; 2],
    _metadata: Vec<u8>,
    children: Vec<*mut Schema>,
}

/// What an array keeps: the columns stay as long as any array of them does.
struct ArrayParts {
    _columns: Shared,
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
}

/// A stream over all columns.
pub fn stream(columns: Shared) -> Stream {
    let reading = Reading {
        columns,
        is_read: false,
    };
    Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private: Box::into_raw(Box::new(reading)).cast(),
    }
}

/// # Safety
/// `stream` is one of ours that was not released.
unsafe fn reading<'a>(stream: *mut Stream) -> Option<&'a mut Reading> {
    // SAFETY: as the caller promises.
    unsafe { stream.as_ref()?.private.cast::<Reading>().as_mut() }
}

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: the specification demands a stream of ours and a place to write to.
    unsafe {
        let (Some(reading), false) = (reading(stream), out.is_null()) else {
            return BAD_ARGUMENT;
        };
        let columns = &reading.columns;
        let named = columns.names.iter().zip(&columns.units);
        let children = named.map(|(name, unit)| {
            let child = schema(c"g", name, unit_entry(unit), Vec::new());
            Box::into_raw(Box::new(child))
        });
        let children = children.collect();
        out.write(schema(c"+s", "", Vec::new(), children));
    }
    0
}

/// One pair of key and value, as the interface encodes metadata.
fn unit_entry(unit: &str) -> Vec<u8> {
    let mut bytes = 1_i32.to_ne_bytes().to_vec();
    for text in ["unit", unit] {
        let length = i32::try_from(text.len()).unwrap_or(0);
        bytes.extend(length.to_ne_bytes());
        bytes.extend(&text.as_bytes()[..length as usize]);
    }
    bytes
}

fn schema(
    format: &std::ffi::CStr,
    name: &str,
    metadata: Vec<u8>,
    mut children: Vec<*mut Schema>,
) -> Schema {
    let name = CString::new(name.replace('\0', "")).unwrap_or_default();
    let texts = [format.to_owned(), name];
    let [format, name] = [texts[0].as_ptr(), texts[1].as_ptr()];
    let told = match metadata.is_empty() {
        true => null_mut(),
        false => metadata.as_ptr().cast_mut(),
    };
    let (count, first) = (children.len() as i64, children.as_mut_ptr());
    let parts = SchemaParts {
        _texts: texts,
        _metadata: metadata,
        children,
    };
    Schema {
        format,
        name,
        metadata: told.cast(),
        flags: 0,
        children_count: count,
        children: first,
        dictionary: null_mut(),
        release: Some(release_schema),
        private: Box::into_raw(Box::new(parts)).cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the specification demands a schema of ours that was not released; a child that was moved away has
    // no release left.
    unsafe {
        let parts = Box::from_raw((*schema).private.cast::<SchemaParts>());
        for &child in &parts.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: the specification demands a stream of ours and a place to write to.
    unsafe {
        let (Some(reading), false) = (reading(stream), out.is_null()) else {
            return BAD_ARGUMENT;
        };
        if std::mem::replace(&mut reading.is_read, true) {
            // A released array is the end.
            out.write(std::mem::zeroed());
            return 0;
        }
        let columns = &reading.columns;
        let children = columns.values.iter().map(|values| {
            let buffers = vec![std::ptr::null(), values.as_ptr().cast()];
            Box::into_raw(Box::new(array(columns, buffers, Vec::new())))
        });
        let children = children.collect();
        out.write(array(columns, vec![std::ptr::null()], children));
    }
    0
}

fn array(
    columns: &Shared,
    mut buffers: Vec<*const c_void>,
    mut children: Vec<*mut Array>,
) -> Array {
    let (buffer_count, first_buffer) = (buffers.len() as i64, buffers.as_mut_ptr());
    let (count, first) = (children.len() as i64, children.as_mut_ptr());
    let parts = ArrayParts {
        _columns: columns.clone(),
        buffers,
        children,
    };
    debug_assert_eq!(parts.buffers.len() as i64, buffer_count);
    Array {
        length: columns.rows() as i64,
        null_count: 0,
        offset: 0,
        buffer_count,
        children_count: count,
        buffers: first_buffer,
        children: first,
        dictionary: null_mut(),
        release: Some(release_array),
        private: Box::into_raw(Box::new(parts)).cast(),
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: the specification demands an array of ours that was not released; a child that was moved away has
    // no release left.
    unsafe {
        let parts = Box::from_raw((*array).private.cast::<ArrayParts>());
        for &child in &parts.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*array).release = None;
    }
}

unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
    c"there is no such stream".as_ptr()
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: the specification demands a stream of ours that was not released.
    unsafe {
        drop(Box::from_raw((*stream).private.cast::<Reading>()));
        (*stream).release = None;
    }
}
