//! A racing car: its wheels spin on a frame that does not.

use oldham_model::{Model, Overrides};
use oldham_stability::{Spectrum, Verdict};

#[test]
fn looked_at_car() {
    let mut kinds = oldham_vehicle::extensions();
    oldham_hydraulic_network::register(&mut kinds);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/formula-student.toml");
    let model =
        Model::read_with(&path, &Overrides::none(), &kinds).unwrap_or_else(|p| panic!("{p}"));
    for is_whole in [false, true] {
        let started = std::time::Instant::now();
        let mut simulation = match is_whole {
            true => model.monolithic(None).unwrap(),
            false => model.simulation().unwrap(),
        };
        let spectrum = Spectrum::of(&mut simulation).unwrap();
        let verdict = Verdict::of(&spectrum, &mut simulation).unwrap();
        println!(
            "whole {is_whole}: {:?} {:?} {} own {:?} doubt {:?} {:.1?}",
            spectrum.way(),
            verdict.decision(),
            verdict.radius,
            verdict.own,
            verdict.doubt(),
            started.elapsed()
        );
        for mode in spectrum.own_modes().iter().chain(spectrum.modes()).take(8) {
            let pole = spectrum.pole(mode);
            println!(
                "    {:.5} {:.5} error {:.1e}",
                pole.re,
                pole.im,
                mode.error / spectrum.duration()
            );
        }
    }
}
