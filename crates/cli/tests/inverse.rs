//! Inverse dynamics: the loads of a prescribed motion, put into a run forwards, give the motion again.

use std::f64::consts::PI;
use std::path::Path;
use std::process::Command;

fn run(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oldham"));
    let output = command.current_dir(folder).args(arguments).output();
    let output = output.expect("oldham starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

/// The largest error of the slider over the run with the torque held over steps of this size.
fn error(step: &str) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let [inverse, forward] =
        ["inverse", "forward"].map(|name| format!("{examples}/{name}-crank.toml"));
    let step = format!("simulation.step={step}");
    run(
        folder.path(),
        &["run", &inverse, "--set", &step, "--out", "loads.parquet"],
    );
    let replay = [
        "run",
        &forward,
        "--set",
        &step,
        "--replay",
        "loads.parquet",
        "--out",
        "f.parquet",
    ];
    run(folder.path(), &replay);
    let table = oldham_results::read(&folder.path().join("f.parquet")).unwrap();
    let slider = table
        .column("machine.slider.x")
        .expect("the slider is recorded");
    let (r, l) = (0.1_f64, 0.3_f64);
    let place = |t: f64| {
        let angle = PI * (1.0 - (PI * t).cos());
        r * angle.cos() + (l * l - (r * angle.sin()).powi(2)).sqrt()
    };
    let times = table.time().iter().zip(slider);
    times
        .map(|(t, x)| (x - place(*t)).abs())
        .fold(0.0, f64::max)
}

#[test]
fn the_loads_of_a_motion_make_the_motion() {
    let [coarse, fine] = ["1e-3", "5e-4"].map(error);
    // The way of the slider is 0.2 m. The torque is held over a step: of first order.
    assert!(fine < 1e-3, "{fine}");
    let ratio = coarse / fine;
    assert!((1.7..2.3).contains(&ratio), "{coarse} {fine}: {ratio}");
}
