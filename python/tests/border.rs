//! Calls at the border that no Python makes: wrong pointers, wrong arguments, damaged states.
#![allow(unsafe_code)]

use std::ptr::null;

use oldham_python::*;
use serde_json::Value;

/// Status and text of an answer, which is freed; the object with it.
fn taken(answer: *mut Answer) -> (i32, Value, *mut std::ffi::c_void) {
    // SAFETY: the answer was just given.
    unsafe {
        let Answer {
            status,
            text,
            length,
            object,
        } = *answer;
        let told = serde_json::from_slice(std::slice::from_raw_parts(text, length)).unwrap();
        oldham_answer_free(answer);
        (status, told, object)
    }
}

fn model(text: &str) -> (i32, Value, *mut std::ffi::c_void) {
    let wanted = serde_json::json!({
        "path": "model.toml", "text": text, "settings": [], "kinds": [],
    });
    let wanted = wanted.to_string();
    // SAFETY: the text lives until the call returns.
    taken(unsafe { oldham_model_new(wanted.as_ptr(), wanted.len(), null()) })
}

const OSCILLATOR: &str = r#"
    model.name = "Oscillator"
    simulation = { duration = 1.0, step = 0.01 }
    [lumped.one]
    integrator = "exact"
    masses.x = { mass = 1.0, velocity = 1.0 }
    outputs.x = { motion = "x" }
"#;

#[test]
fn missing_objects_and_arguments_are_told() {
    // SAFETY: null is what these calls must bear.
    unsafe {
        assert_eq!(taken(oldham_model_new(null(), 0, null())).0, 1);
        assert_eq!(taken(oldham_model_columns(null())).0, 1);
        assert_eq!(taken(oldham_stepper_save(null())).0, 1);
        assert_eq!(taken(oldham_state_parse(null(), 0)).1["kind"], "state");
        assert_eq!(
            oldham_stepper_step(null(), null(), 1, std::ptr::null_mut()),
            1
        );
        assert!(oldham_columns_stream(null()).is_null());
        oldham_answer_free(std::ptr::null_mut());
        oldham_model_free(std::ptr::null_mut());
        let odd = b"{\"path\": 1}";
        let (status, told, _) = taken(oldham_model_new(odd.as_ptr(), odd.len(), null()));
        assert_eq!((status, &told["kind"]), (1, &Value::from("internal")));
    }
}

#[test]
fn problems_have_places() {
    let (status, told, object) = model("[simulation]\nstep = -1");
    assert_eq!((status, object.is_null()), (1, true));
    assert_eq!(told["kind"], "model");
    assert!(told["problems"].as_array().unwrap().len() >= 2);
}

#[test]
fn a_stepper_goes_on_and_back() {
    let (_, told, object) = model(OSCILLATOR);
    assert_eq!(told["steps"], 100);
    let wanted = br#"{"inputs": [], "outputs": ["one.x.x"]}"#;
    // SAFETY: every object came with an answer and is freed once.
    unsafe {
        let stepper = oldham_stepper_new(object.cast(), wanted.as_ptr(), wanted.len());
        let stepper = taken(stepper).2.cast();
        oldham_model_free(object.cast());
        let mut x = [0.0];
        let saved = taken(oldham_stepper_save(stepper)).2;
        assert_eq!(oldham_stepper_step(stepper, null(), 10, x.as_mut_ptr()), 0);
        // A free mass of velocity one.
        assert!((x[0] - 0.1).abs() < 1e-12, "{x:?}");
        assert_eq!(taken(oldham_stepper_restore(stepper, saved.cast())).0, 0);
        assert_eq!(taken(oldham_stepper_clock(stepper)).1["time"], 0.0);
        oldham_state_free(saved.cast());
        oldham_stepper_free(stepper);
    }
}
