//! The functions of both standards, called as an importer would, on models that are exported here.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use oldham_fmu::three::*;
use oldham_fmu::two::*;
use oldham_fmu_export::{ExportOptions, Manifest, Version, export};
use oldham_model::{Model, Overrides};

/// A free mass of 2 kg that is pushed from outside, and its position by hand.
const CART: &str = r#"
    model.name = "Cart <1 & 2>"
    parameters.m = 2.0
    simulation = { duration = 1.0, step = 0.01 }
    [lumped.cart]
    integrator = "exact"
    masses.x = { mass = "m" }
    inputs.push = { force = "x" }
    outputs.x = { motion = "x" }
    [excitation]
    "cart.push" = { external = "push", initial = 1.0 }
"#;

/// An FMU that was unpacked, but for its library: that is this program.
struct Unpacked {
    folder: tempfile::TempDir,
    manifest: Manifest,
}

impl Unpacked {
    fn of(model: &Path, settings: &[(String, String)]) -> Self {
        let read = Model::read_with(model, &Overrides(settings.to_vec()), oldham_kinds::native());
        let read = read.unwrap_or_else(|problems| panic!("{problems}"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.fmu");
        let options = ExportOptions {
            version: Version::Three,
            part: None,
            outputs: Vec::new(),
            parameters: Vec::new(),
            force: false,
        };
        let manifest = export(&read, settings, &options, b"library", &path).unwrap();
        let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
        archive.extract(folder.path()).unwrap();
        Self { folder, manifest }
    }

    fn cart() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cart.toml");
        std::fs::write(&path, CART).unwrap();
        Self::of(&path, &[])
    }

    fn resources(&self) -> PathBuf {
        self.folder.path().join("resources")
    }

    fn reference(&self, name: &str) -> u32 {
        let mut all = self.manifest.numbered();
        all.find(|(_, variable)| variable.name == name).unwrap().0
    }

    fn instance(&self) -> *mut c_void {
        let token = CString::new(self.manifest.token.as_str()).unwrap();
        let resources = CString::new(self.resources().to_str().unwrap()).unwrap();
        // SAFETY: the texts live until the call returns.
        unsafe {
            fmi3InstantiateCoSimulation(
                c"it".as_ptr(),
                token.as_ptr(),
                resources.as_ptr(),
                false,
                false,
                false,
                false,
                null(),
                0,
                null_mut(),
                Some(told),
                None,
            )
        }
    }
}

thread_local! {
    static TOLD: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

unsafe extern "C" fn told(_: *mut c_void, _: c_int, _: *const c_char, message: *const c_char) {
    // SAFETY: messages end with a zero.
    let text = unsafe { std::ffi::CStr::from_ptr(message) };
    TOLD.with(|told| *told.borrow_mut() = text.to_string_lossy().into_owned());
}

fn last_message() -> String {
    TOLD.with(|told| told.take())
}

unsafe fn get(instance: *mut c_void, reference: u32) -> f64 {
    let mut value = f64::NAN;
    // SAFETY: one reference, one value.
    let status = unsafe { fmi3GetFloat64(instance, &reference, 1, &mut value, 1) };
    assert_eq!(status, 0, "{}", last_message());
    value
}

unsafe fn set(instance: *mut c_void, reference: u32, value: f64) -> c_int {
    // SAFETY: one reference, one value.
    unsafe { fmi3SetFloat64(instance, &reference, 1, &value, 1) }
}

unsafe fn begin(instance: *mut c_void) {
    // SAFETY: an instance of ours.
    unsafe {
        assert_eq!(
            fmi3EnterInitializationMode(instance, false, 0.0, 0.0, false, 0.0),
            0
        );
        assert_eq!(
            fmi3ExitInitializationMode(instance),
            0,
            "{}",
            last_message()
        );
    }
}

unsafe fn step(instance: *mut c_void, from: f64, length: f64) -> c_int {
    let (mut flags, mut reached) = ([true; 3], f64::NAN);
    let [event, terminate, early] = &mut flags;
    // SAFETY: an instance of ours, and places for all that is told.
    let status = unsafe {
        fmi3DoStep(
            instance,
            from,
            length,
            true,
            event,
            terminate,
            early,
            &mut reached,
        )
    };
    assert_eq!(flags, [false; 3]);
    status
}

#[test]
fn inputs_are_held_and_parameters_are_set_before_the_start() {
    let fmu = Unpacked::cart();
    let (push, x, v, m) = (
        fmu.reference("push"),
        fmu.reference("cart.x.x"),
        fmu.reference("cart.x.v"),
        fmu.reference("m"),
    );
    // SAFETY: one instance, used by this thread and freed at the end.
    unsafe {
        let instance = fmu.instance();
        assert_eq!(set(instance, m, 4.0), 0);
        begin(instance);
        assert_eq!(get(instance, push), 1.0);
        assert_eq!(step(instance, 0.0, 0.05), 0);
        // a = 1 / 4
        assert!((get(instance, v) - 0.0125).abs() < 1e-15);
        assert_eq!(set(instance, push, -2.0), 0);
        assert_eq!(step(instance, 0.05, 0.01), 0);
        assert!((get(instance, v) - 0.0075).abs() < 1e-15);
        assert!((get(instance, x) - (0.0003125 + 0.0001)).abs() < 1e-15);
        assert!((get(instance, 0) - 0.06).abs() < 1e-15);
        for (status, message) in [
            (set(instance, m, 1.0), "cannot be set after the start"),
            (set(instance, x, 1.0), "is an output"),
            (set(instance, push, f64::NAN), "cannot be NaN"),
            (
                set(instance, 999, 1.0),
                "no variable with the reference 999",
            ),
            (step(instance, 0.06, 0.015), "take whole multiples"),
            (step(instance, 0.06, 0.0), "take whole multiples"),
            (step(instance, 0.0, 0.01), "the FMU is at 0.06 s"),
        ] {
            assert_eq!(status, 3, "{message}");
        }
        assert_eq!(step(instance, 0.06, 0.015), 3);
        assert!(last_message().contains("take whole multiples"));
        assert_eq!(fmi3Reset(instance), 0);
        begin(instance);
        assert_eq!((get(instance, v), get(instance, push)), (0.0, 1.0));
        assert_eq!(step(instance, 0.0, 0.05), 0);
        assert!((get(instance, v) - 0.025).abs() < 1e-15);
        assert_eq!(fmi3Terminate(instance), 0);
        fmi3FreeInstance(instance);
    }
}

/// A mass under a force that is held: its velocity and acceleration are derivatives of its displacement.
#[test]
fn outputs_have_the_derivatives_of_their_motion() {
    let fmu = Unpacked::cart();
    let of = |name: &str| fmu.reference(name);
    let (x, v, a, push) = (of("cart.x.x"), of("cart.x.v"), of("cart.x.a"), of("push"));
    let description = fmu.folder.path().join("modelDescription.xml");
    let description = std::fs::read_to_string(description).unwrap();
    assert!(description.contains("maxOutputDerivativeOrder=\"2\""));
    // SAFETY: one instance, used by this thread and freed at the end; as many values as references.
    unsafe {
        let instance = fmu.instance();
        begin(instance);
        assert_eq!(step(instance, 0.0, 0.05), 0);
        let (references, orders, mut values) = ([x, x, v], [1, 2, 1], [f64::NAN; 3]);
        let asked = |references: &[u32], orders: &[i32], values: &mut [f64]| {
            let count = references.len();
            fmi3GetOutputDerivatives(
                instance,
                references.as_ptr(),
                count,
                orders.as_ptr(),
                values.as_mut_ptr(),
                values.len(),
            )
        };
        assert_eq!(
            asked(&references, &orders, &mut values),
            0,
            "{}",
            last_message()
        );
        // One newton on two kilograms.
        assert!((values[0] - 0.025).abs() < 1e-15);
        assert_eq!(
            values,
            [get(instance, v), get(instance, a), get(instance, a)]
        );
        assert!((values[1] - 0.5).abs() < 1e-15);
        for (reference, order) in [(x, 3), (x, 0), (x, -1), (a, 1), (push, 1), (999, 1)] {
            assert_eq!(asked(&[reference], &[order], &mut values[..1]), 3);
            let told = last_message();
            assert!(
                told.contains("no derivative") || told.contains("no variable"),
                "{told}"
            );
        }
        assert_eq!(asked(&[x], &[1], &mut values), 3);
        fmi3FreeInstance(instance);
    }
}

#[test]
fn states_are_handles_and_bytes() {
    let fmu = Unpacked::cart();
    let v = fmu.reference("cart.x.v");
    // SAFETY: two instances and their states, each freed once.
    unsafe {
        let (one, other) = (fmu.instance(), fmu.instance());
        begin(one);
        begin(other);
        assert_eq!(step(one, 0.0, 0.05), 0);
        let mut state = null_mut();
        assert_eq!(fmi3GetFMUState(one, &mut state), 0, "{}", last_message());
        let mut size = 0;
        assert_eq!(fmi3SerializedFMUStateSize(one, state, &mut size), 0);
        let mut bytes = vec![0_u8; size];
        assert_eq!(
            fmi3SerializeFMUState(one, state, bytes.as_mut_ptr(), size),
            0
        );
        let before = get(one, v);
        assert_eq!(step(one, 0.05, 0.2), 0);
        let after = get(one, v);
        assert_eq!(fmi3SetFMUState(one, state), 0);
        assert_eq!(get(one, v).to_bits(), before.to_bits());
        assert_eq!(step(one, 0.05, 0.2), 0);
        assert_eq!(get(one, v).to_bits(), after.to_bits());
        // In another instance, by its bytes.
        let mut moved = null_mut();
        assert_eq!(
            fmi3DeserializeFMUState(other, bytes.as_ptr(), size, &mut moved),
            0
        );
        assert_eq!(fmi3SetFMUState(other, moved), 0);
        assert_eq!(get(other, v).to_bits(), before.to_bits());
        assert_eq!(step(other, 0.05, 0.2), 0);
        assert_eq!(get(other, v).to_bits(), after.to_bits());
        bytes[size / 2] ^= 4;
        let mut damaged = null_mut();
        for length in [0, 7, 30, size] {
            let status = fmi3DeserializeFMUState(other, bytes.as_ptr(), length, &mut damaged);
            assert_eq!((status, damaged.is_null()), (3, true));
        }
        assert_eq!(fmi3SetFMUState(other, null_mut()), 3);
        assert_eq!(fmi3FreeFMUState(other, &mut moved), 0);
        assert!(moved.is_null());
        assert_eq!(fmi3FreeFMUState(one, &mut state), 0);
        fmi3FreeInstance(one);
        fmi3FreeInstance(other);
    }
}

#[test]
fn what_is_no_fmu_is_told() {
    let fmu = Unpacked::cart();
    // SAFETY: null is what these calls must bear.
    unsafe {
        assert_eq!(
            fmi3DoStep(
                null_mut(),
                0.0,
                0.1,
                true,
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut()
            ),
            3
        );
        fmi3FreeInstance(null_mut());
        assert!(fmi2Instantiate(null(), 1, null(), null(), null(), 0, 0).is_null());
    }
    std::fs::remove_file(fmu.resources().join("oldham.json")).unwrap();
    assert!(fmu.instance().is_null());
    assert!(
        last_message().contains("cannot be read"),
        "{}",
        last_message()
    );
    std::fs::write(fmu.resources().join("oldham.json"), "{}").unwrap();
    assert!(fmu.instance().is_null());
    assert!(last_message().contains("damaged"));
}

/// A model with included files above its folder, step by step as the engine runs it.
#[test]
fn an_example_has_the_bits_of_a_native_run() {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"));
    for name in ["two-mass-damped", "four-corners", "hydraulic-lift"] {
        let path = examples.join(format!("{name}.toml"));
        let fmu = Unpacked::of(&path, &[]);
        let none = Overrides::none();
        let model = Model::read_with(&path, &none, oldham_kinds::native()).unwrap();
        let mut native = model.simulation().unwrap();
        // SAFETY: one instance, used by this thread and freed at the end.
        unsafe {
            let instance = fmu.instance();
            assert!(!instance.is_null(), "{}", last_message());
            begin(instance);
            for n in 0..20_u32 {
                for (reference, variable) in fmu.manifest.numbered() {
                    let mut columns = native.columns().iter();
                    let place = columns.position(|column| column.name == variable.name);
                    if let (Some(place), oldham_fmu_export::Role::Output) = (place, &variable.role)
                    {
                        let expected = native.value(place).unwrap();
                        let found = get(instance, reference);
                        assert_eq!(
                            found.to_bits(),
                            expected.to_bits(),
                            "{name} {}",
                            variable.name
                        );
                    }
                }
                native.step().unwrap();
                let step_length = model.step();
                assert_eq!(step(instance, f64::from(n) * step_length, step_length), 0);
            }
            fmi3FreeInstance(instance);
        }
    }
}
