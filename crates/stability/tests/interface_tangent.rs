//! Parts that say how their interface forces change, against the monolithic system.

mod support;

use oldham_cosim::{InMemory, Run, Simulation};
use oldham_lumped::{Integrator, NodeRef};
use oldham_prediction::RateExtrapolation;
use oldham_stability::{map, radius};
use support::{Chain, LMS2, TangentUse, law, mass, mass_matrix, node, part, side, spring, value};

/// Three parts; the one in the middle has two interfaces.
fn three_parts(integrator: Integrator) -> Chain {
    let (own, a, b) = (NodeRef::node(0), NodeRef::boundary(0), NodeRef::boundary(1));
    let elements = vec![
        mass(own, 2.0),
        spring([a, own]),
        spring([own, b]),
        spring([a, b]),
    ];
    let middle = part(node("own", -0.02, 0.3), &["a", "b"], integrator, elements);
    Chain {
        parts: vec![
            ("left", side(2.0, "a", integrator)),
            ("middle", middle),
            ("right", side(1.0, "b", integrator)),
        ],
        joints: vec![(node("a", 0.01, -0.2), 1e-3), (node("b", 0.0, 0.4), 2e-3)],
        integrator,
        ..Chain::of_table_1(1.0).with_tangent()
    }
}

/// Largest difference of a column over some steps, relative to its largest value.
fn difference(chain: &Chain, steps: usize, part: &str, component: &str) -> f64 {
    let (mut cut, mut monolithic) = (chain.cut(), chain.monolithic());
    let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
    for _ in 0..steps {
        cut.step().unwrap();
        monolithic.step().unwrap();
        let exact = value(&monolithic, part, component);
        worst = worst.max((value(&cut, part, component) - exact).abs());
        largest = largest.max(exact.abs());
    }
    worst / largest
}

#[test]
fn the_spectral_radius_is_that_of_the_monolithic_step_over_the_whole_map_of_interface_masses() {
    let axis = |baseline: f64| -> Vec<f64> {
        let place = |i: i32| baseline * 10_f64.powf(-3.0 + f64::from(i) / 4.0);
        (0..25).map(place).collect()
    };
    let (m2, m3) = (axis(2.0), axis(1.0));
    let radii = |build: fn(&Chain) -> Simulation| {
        let at = |m2: f64, m3: f64| Some(build(&Chain::of_table_1(m2 + m3).with_tangent()));
        map(&m2, &m3, 2, at, |_| {})
    };
    let (cut, monolithic) = (radii(Chain::cut), radii(Chain::monolithic));
    assert_eq!(cut.len(), 625);
    for (cut, monolithic) in cut.iter().zip(&monolithic) {
        assert!(
            (cut - monolithic).abs() < 1e-9,
            "{cut:.12} {monolithic:.12}"
        );
    }
}

#[test]
fn the_cut_step_is_the_monolithic_step_also_across_a_part_with_two_interfaces() {
    for integrator in [LMS2, Integrator::BackwardEuler] {
        let chain = three_parts(integrator);
        for (part, component) in [
            ("left", "own.x"),
            ("middle", "own.x"),
            ("joints", "a_out.v"),
        ] {
            let difference = difference(&chain, 500, part, component);
            assert!(difference < 1e-10, "{integrator:?} {part}: {difference}");
        }
    }
}

/// The accelerations at the start depend on each other through the mass matrix of the part.
#[test]
fn inertia_shared_by_a_node_and_its_interface_is_consistent_from_the_first_step() {
    let (own, x) = (NodeRef::node(0), NodeRef::boundary(0));
    let elements = vec![
        mass_matrix([own, x], [2.0, 1.0, 1.0, 2.0]),
        spring([NodeRef::Ground, own]),
        spring([own, x]),
    ];
    let mut chain = Chain::of_table_1(1e-3).with_tangent();
    chain.parts[0].1 = part(node("own", 0.03, 0.1), &["x"], LMS2, elements);
    for component in ["own.x", "own.v"] {
        let difference = difference(&chain, 300, "left", component);
        assert!(difference < 1e-11, "{component}: {difference}");
    }
}

/// Stiffening springs: linear in the prediction error, which shrinks with its square.
fn nonlinear(step: f64, tangent: TangentUse) -> Chain {
    let (own, x) = (NodeRef::node(0), NodeRef::boundary(0));
    let stiff = "1000*d + 2e6*d^3 + 10*v + 500*v*d^2";
    let elements = vec![
        mass(own, 2.0),
        spring([NodeRef::Ground, own]),
        law([own, x], stiff),
    ];
    let mut chain = Chain::of_table_1(3.0);
    chain.parts[0].1 = part(node("own", 0.05, 0.0), &["x"], LMS2, elements);
    chain.tangent = tangent;
    chain.step = step;
    chain
}

#[test]
fn a_nonlinear_chain_is_a_newton_correction_away_from_the_monolithic_model() {
    let difference = |step: f64, tangent| {
        let steps = (0.4 / step).round() as usize;
        difference(&nonlinear(step, tangent), steps, "left", "own.x")
    };
    let plain = difference(1e-3, TangentUse::None);
    let coarse = difference(1e-3, TangentUse::All);
    let fine = difference(5e-4, TangentUse::All);
    assert!(coarse < 5e-3 * plain, "{plain} {coarse}");
    // The square of a prediction error of third order, summed over the steps, at least.
    assert!(coarse / fine > 2_f64.powi(4), "{coarse} {fine}");
}

#[test]
fn a_part_without_a_tangent_keeps_the_plain_scheme_beside_one_that_has_it() {
    let mixed = |mass: f64| {
        let mut chain = Chain::of_table_1(mass);
        chain.tangent = TangentUse::First;
        radius(&mut chain.cut())
    };
    // The plain side alone asks for about half the interface mass.
    assert!(mixed(0.018) < 1.0);
    assert!(radius(&mut Chain::of_table_1(0.018).cut()) > 1.0);
}

#[test]
fn a_bad_prediction_changes_nothing_in_a_linear_chain() {
    let mut chain = three_parts(LMS2);
    chain.extrapolation = RateExtrapolation::Constant;
    assert!(difference(&chain, 300, "middle", "own.x") < 1e-10);
}

#[test]
fn the_exchange_creates_no_energy() {
    let mut chain = three_parts(LMS2);
    chain.hold = 1;
    let mut cut = chain.cut();
    let before = cut.energy().unwrap().stored();
    cut.steps(200).unwrap();
    for created in cut.created() {
        assert!(created.abs() < 1e-12 * before, "{created} of {before}");
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let rows = |threads: usize| {
        let mut simulation = three_parts(LMS2).cut();
        let mut memory = InMemory::default();
        let mut run = Run::new(300, &mut memory);
        run.threads = threads;
        simulation.run(run);
        let bits = |row: &Vec<f64>| row.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        memory.rows.iter().map(bits).collect::<Vec<_>>()
    };
    let one = rows(1);
    assert_eq!(one.len(), 301);
    assert_eq!(one, rows(2));
    assert_eq!(one, rows(3));
}
