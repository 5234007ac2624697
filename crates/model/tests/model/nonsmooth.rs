//! Smooth and nonsmooth parts of one mechanism (Zhang et al. 2022, Sect. 4.1): the maps of stability that are drawn for lumped
//! parts hold for mechanisms, and what interface Jacobians add.

use oldham_cosim::{InMemory, Run};
use oldham_model::{Model, Overrides};
use oldham_stability::Spectrum;

use crate::common::{
    assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, example, read,
};

/// Two rigidly joined masses on a rail, cut between them; the second is moved by impulses.
#[derive(Clone, Copy)]
struct Pair<'a> {
    /// What says how they are coupled, in the table `cut`.
    coupled_by: &'a str,
    /// What holds the interface to the rest of the smooth side.
    bolt: &'a str,
    /// In other tables.
    schedule: &'a str,
    /// Of the second mass; the first one has 1 kg, half of it at the interface.
    second: f64,
    /// ω² of the first mass alone.
    square: f64,
    rho: f64,
    steps: usize,
}

const STEP: f64 = 1e-3;
const RIGID: &str =
    "[multibody.pair.joints.bolt]\ntype = \"fixed\"\nbetween = [\"rear\", \"first\"]";
/// N/m. A part with interface copies must give somewhere.
const STIFF: f64 = 2e5;
const BUSHING: &str = "[multibody.pair.bushings.bolt]\nbetween = [\"rear\", \"first\"]\nstiffness = [2e5, 2e5, 2e5]\nrotational_stiffness = [2e3, 2e3, 2e3]";

impl Default for Pair<'_> {
    fn default() -> Self {
        Self {
            coupled_by: "prescribe = \"index-1\"",
            bolt: RIGID,
            schedule: "",
            second: 1.0,
            square: 5000.0,
            rho: 0.56,
            steps: 200,
        }
    }
}

impl Pair<'_> {
    fn text(&self) -> String {
        let Self {
            coupled_by,
            bolt,
            schedule,
            second,
            square,
            rho,
            steps,
        } = self;
        let duration = *steps as f64 * STEP;
        format!(
            r#"
[model]
name = "Joined masses"

[simulation]
step = {STEP}
duration = {duration}

[multibody.pair]
rho = {rho}

[multibody.pair.nodes]
rear = {{ position = [-0.1, 0, 0], velocity = [0.1, 0, 0] }}
first = {{ position = [0, 0, 0], velocity = [0.1, 0, 0] }}
second = {{ position = [0.2, 0, 0], velocity = [0.1, 0, 0] }}

[multibody.pair.bodies]
rear = {{ node = "rear", mass = 0.5, shape = {{ box = [0.1, 0.1, 0.1] }} }}
first = {{ node = "first", mass = 0.5, shape = {{ box = [0.1, 0.1, 0.1] }} }}
second = {{ node = "second", mass = {second}, shape = {{ box = [0.1, 0.1, 0.1] }} }}

[multibody.pair.joints]
rail = {{ type = "prismatic", between = ["ground", "rear"], axis = [1, 0, 0] }}
weld = {{ type = "fixed", between = ["first", "second"] }}

{bolt}

[multibody.pair.springs.wall]
between = ["ground", "rear"]
points = [[-1, 0, 0], [-0.1, 0, 0]]
stiffness = {square}

[multibody.pair.cut]
at = ["first"]
parts = {{ smooth = "rear", nonsmooth = "second" }}
{coupled_by}
methods.nonsmooth.integrator = "impulses"

{schedule}
"#
        )
    }

    fn model(&self) -> Model {
        read(&self.text()).unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// Positions of the interface, as far as the run goes.
    fn positions(&self) -> Vec<f64> {
        let model = self.model();
        let mut simulation = model.simulation().unwrap();
        let mut columns = simulation.columns().iter();
        let place = columns.position(|c| c.name == "pair.nodes.first.px");
        let mut memory = InMemory::default();
        // An unstable run may fail in the end.
        let _ = simulation.run(Run {
            record_columns: Some(vec![place.unwrap()]),
            ..Run::new(model.steps(), &mut memory)
        });
        memory.column(0)
    }

    /// The lumped pair with these numbers.
    fn lumped(&self, law: &str) -> Model {
        let mut set = vec![
            ("parameters.m2".to_owned(), self.second.to_string()),
            ("parameters.square".to_owned(), self.square.to_string()),
            ("parameters.rho".to_owned(), self.rho.to_string()),
            (
                "lumped.nonsmooth.inputs.far.prescribe".to_owned(),
                law.to_owned(),
            ),
        ];
        if !self.schedule.is_empty() {
            set.push(("schedule.coupling".to_owned(), "implicit".to_owned()));
        }
        let duration = self.steps as f64 * STEP;
        set.push(("simulation.duration".to_owned(), duration.to_string()));
        let text = example("smooth-nonsmooth");
        Model::parse(&text, "pair.toml", &Overrides(set)).unwrap()
    }

    /// Its spectral radius.
    fn lumped_radius(&self, law: &str) -> f64 {
        let spectrum = Spectrum::of(&mut self.lumped(law).simulation().unwrap());
        spectrum.unwrap().radius()
    }
}

/// Growth over a run that is judged.
const GROWN: f64 = 1e14;

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// Three points of every map of Fig. 5 to 7: the mechanism grows by the spectral radius of the lumped pair, or it does not grow.
#[test]
fn maps_of_lumped_pairs_hold_for_mechanisms() {
    let index_1 = "\"index-1\"";
    let maps = [
        ("fig-5 original", "\"original\"", 1.0, ""),
        ("fig-5 index-3", "\"index-3\"", 1.0, ""),
        ("fig-5 index-2", "\"index-2\"", 1.0, ""),
        ("fig-5 index-1", index_1, 1.0, ""),
        (
            "fig-6 small weights",
            "{ alpha = 0.2, beta = 0.2, gamma = 1 }",
            1.0,
            "",
        ),
        (
            "fig-6 large weights",
            "{ alpha = 20, beta = 20, gamma = 1 }",
            1.0,
            "",
        ),
        (
            "fig-6 largest weights",
            "{ alpha = 200, beta = 200, gamma = 1 }",
            1.0,
            "",
        ),
        (
            "fig-6 implicit",
            "\"index-3\"",
            1.0,
            "[schedule]\ncoupling = \"implicit\"",
        ),
        ("fig-7 light, original", "\"original\"", 0.5, ""),
        ("fig-7 light, index-1", index_1, 0.5, ""),
        ("fig-7 heavy, original", "\"original\"", 2.0, ""),
        ("fig-7 heavy, index-1", index_1, 2.0, ""),
    ];
    let (mut stable, mut unstable) = (0, 0);
    for (map, law, second, schedule) in maps {
        for (per_step, rho) in [(0.1, 0.55), (0.6, 0.2), (1.6, 0.8)] {
            let coupled_by = format!("prescribe = {law}");
            let square = (per_step / STEP) * (per_step / STEP);
            let pair = Pair {
                coupled_by: &coupled_by,
                schedule,
                second,
                square,
                rho,
                ..Pair::default()
            };
            let radius = pair.lumped_radius(law);
            let label = format!("{map}, ω dt = {per_step}, ρ∞ = {rho}: radius {radius}");
            // Until what was as small as rounding is the largest.
            let steps = match radius > 1.0 + 1e-8 {
                true => (GROWN.ln() / radius.ln()) as usize,
                false => 300,
            };
            if steps > 3000 {
                continue;
            }
            let found = Pair { steps, ..pair }.positions();
            if radius <= 1.0 + 1e-8 {
                let (early, late) = found.split_at(found.len() / 2);
                assert_eq!(found.len(), steps + 1, "{label}");
                assert!(largest(late) <= 1.05 * largest(early), "{label}");
                stable += 1;
            } else {
                let (early, end) = (found.len() * 3 / 4, found.len());
                let window = (found.len() / 8).max(3);
                let growth =
                    largest(&found[end - window..]) / largest(&found[early - window..early]);
                let rate = growth.ln() / (end - early) as f64;
                let off = (rate - radius.ln()).abs();
                assert!(
                    off < 0.15 * radius.ln() + 0.003,
                    "{label}: grew by {}",
                    rate.exp()
                );
                unstable += 1;
            }
        }
    }
    assert!(
        stable >= 8 && unstable >= 8 && stable + unstable >= 30,
        "{stable} {unstable}"
    );
}

/// The motions of Fig. 8 and 9 are those of the mechanism, too: for all laws, at three frequencies.
#[test]
fn motions_of_lumped_pairs_are_those_of_mechanisms() {
    for law in ["index-1", "index-2", "index-3"] {
        let coupled_by = format!("prescribe = \"{law}\"");
        for square in [500.0, 5000.0, 20_000.0] {
            let pair = Pair {
                coupled_by: &coupled_by,
                square,
                ..Pair::default()
            };
            let expected = coupled(&pair.lumped(&format!("\"{law}\""))).column("smooth.x1.x");
            let off = difference(&pair.positions(), &expected) / largest(&expected);
            assert!(off < 5e-3, "{law}, ω² = {square}: {off}");
        }
    }
}

/// Modified inputs follow the exact motion; original ones grow until the run is stopped, as the spectral radius 1.1053 of the lumped pair
/// says. None of it is analysed as it is.
#[test]
fn joined_masses_in_space_follow_by_modified_inputs_and_not_by_original_ones() {
    for law in ["index-1", "index-2", "index-3", "original"] {
        let coupled_by = format!("prescribe = \"{law}\"");
        let pair = Pair {
            coupled_by: &coupled_by,
            ..Pair::default()
        };
        let expected = exact(&pair);
        let off = difference(&pair.positions(), &expected) / largest(&expected);
        match law {
            "original" => assert!(off > 50.0, "{off}"),
            _ => assert!(off < 0.2, "{law}: {off}"),
        }
        assert!(Spectrum::of(&mut pair.model().simulation().unwrap()).is_err());
    }
}

#[test]
fn a_law_needs_a_part_moved_by_impulses_behind_the_interface() {
    let text = Pair::default().text();
    let text = text.replace("methods.nonsmooth.integrator = \"impulses\"", "");
    let problems = read(&text).expect_err("a law without impulses").to_string();
    assert!(problems.contains("is not moved by impulses"), "{problems}");
    assert!(
        problems.contains("cut.methods.nonsmooth.integrator"),
        "{problems}"
    );
}

const TANGENT: &str = "scheme = \"interface-tangent\"";

/// With interface Jacobians the step is that of one system, whatever was predicted: at its end the inertia of the interface, the bushing before it
/// and the impulse of the mass behind it over the step are in balance, m a + k (x − x_rear) + m₂ (x − 2 x₋₁ + x₋₂)/h² = 0.
#[test]
fn interface_jacobians_join_a_nonsmooth_part_exactly() {
    for second in [0.1, 1.0, 20.0] {
        let pair = Pair {
            coupled_by: TANGENT,
            bolt: BUSHING,
            second,
            ..Pair::default()
        };
        let run = coupled(&pair.model());
        let [x, a, rear] = ["first.px", "first.ax", "rear.px"]
            .map(|column| run.column(&format!("pair.nodes.{column}")));
        let size = pair.square * largest(&x);
        for k in 2..x.len() {
            let change = (x[k] - 2.0 * x[k - 1] + x[k - 2]) / (STEP * STEP);
            let pulled = STIFF * (x[k] - rear[k] - 0.1);
            let left = 0.5 * a[k] + pulled + second * change;
            assert!(
                left.abs() < 1e-5 * size,
                "m2 = {second}, step {k}: {left} of {size}"
            );
        }
        let exact = exact(&pair);
        let off = difference(&x, &exact);
        assert!(off < 0.2 * largest(&exact), "m2 = {second}: {off}");
    }
}

/// Of both masses as one.
fn exact(pair: &Pair<'_>) -> Vec<f64> {
    let omega = (pair.square / (1.0 + pair.second)).sqrt();
    (0..=pair.steps)
        .map(|i| 0.1 / omega * (omega * STEP * i as f64).sin())
        .collect()
}

fn difference(one: &[f64], other: &[f64]) -> f64 {
    let each = one.iter().zip(other).map(|(a, b)| (a - b).abs());
    each.fold(0.0, f64::max)
}

/// A second mass of twenty times the first, which interface Jacobians bear: no law does.
#[test]
fn no_law_bears_a_heavy_nonsmooth_part() {
    let heavy = Pair {
        second: 20.0,
        ..Pair::default()
    };
    let expected = largest(&exact(&heavy));
    for law in ["index-1", "index-2", "index-3", "original"] {
        let coupled_by = format!("prescribe = \"{law}\"");
        let found = Pair {
            coupled_by: &coupled_by,
            ..heavy
        };
        assert!(largest(&found.positions()) > 10.0 * expected, "{law}");
    }
}

/// A bushing that the plain scheme tolerates.
const SOFT: &str = "[multibody.pair.bushings.bolt]\nbetween = [\"rear\", \"first\"]\nstiffness = [5e4, 5e4, 5e4]\nrotational_stiffness = [50, 50, 50]";

/// The plain interface-mass scheme tolerates a nonsmooth part as long as the interface outweighs it.
#[test]
fn the_interface_mass_scheme_takes_a_light_nonsmooth_part() {
    let plain = Pair {
        coupled_by: "scheme = \"interface-mass\"",
        bolt: SOFT,
        second: 0.01,
        square: 500.0,
        ..Pair::default()
    };
    let expected = exact(&plain);
    let off = difference(&plain.positions(), &expected);
    assert!(off < 0.02 * largest(&expected), "{off}");
    let heavy = Pair {
        second: 5.0,
        ..plain
    };
    assert!(largest(&heavy.positions()) > 10.0 * largest(&expected));
}

/// Steps that are taken again leave the same bits on any number of threads, and after a checkpoint.
#[test]
fn repeated_steps_keep_bits() {
    let model = Pair {
        coupled_by: TANGENT,
        bolt: BUSHING,
        ..Pair::default()
    }
    .model();
    assert_threads_keep_bits(&model);
    assert_checkpoint_keeps_bits(&model, &["pair.smooth", "pair.nonsmooth", "pair.coupling"]);
    // A step that is counted twice would make energy.
    let energy = coupled(&model).column("energy.total");
    assert!(largest(&energy) < 1.001 * energy[0], "{}", largest(&energy));
}

/// The whole mechanism by impulses: the interface itself would have to be.
#[test]
fn interface_jacobians_need_a_smooth_interface() {
    let text = Pair {
        coupled_by: TANGENT,
        ..Pair::default()
    }
    .text()
    .replace("rho = 0.56", "integrator = \"impulses\"");
    let problems = read(&text).expect_err("nothing smooth").to_string();
    assert!(
        problems.contains("where the interface itself is moved by `impulses`"),
        "{problems}"
    );
}
