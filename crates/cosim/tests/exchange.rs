//! What the exchange does to a pair of oscillators: schemes, rates, energy.

mod support;

use oldham_cosim::{
    Acceleration, Discard, ImplicitSettings, InMemory, OnLimit, Run, Schedule, Stage,
};
use support::{exact, jacobi_pair, left, pair, right};

const END: f64 = 0.5;

fn error_at_end(mut simulation: oldham_cosim::Simulation, step: f64) -> f64 {
    let steps = (END / step).round() as u64;
    simulation.run(Run::new(steps, &mut Discard)).end.unwrap();
    let (a, b) = (
        simulation.find("left").unwrap(),
        simulation.find("right").unwrap(),
    );
    let [x1, x2] = exact(END);
    (simulation.outputs(a)[0] - x1).hypot(simulation.outputs(b)[0] - x2)
}

/// Observed order between two macro steps, parts solved finely inside.
fn observed_order(build: impl Fn(f64) -> oldham_cosim::Simulation) -> f64 {
    let (coarse, fine) = (1e-3, 2.5e-4);
    let ratio = error_at_end(build(coarse), coarse) / error_at_end(build(fine), fine);
    ratio.log(coarse / fine)
}

#[test]
fn a_hold_of_order_p_couples_with_order_p_plus_one() {
    for order in 0..=2 {
        let observed = observed_order(|step| jacobi_pair(step, order, 40));
        // The second-order hold reaches the parts' own accuracy; it must be no worse than 2.
        let expected = (order + 1) as f64;
        assert!(
            observed > expected.min(2.0) - 0.1,
            "order {order}: {observed}"
        );
        if order == 0 {
            assert!(observed < 1.2, "a plain hold is first order: {observed}");
        }
    }
}

#[test]
fn implicit_coupling_with_interpolated_inputs_is_second_order() {
    let observed = observed_order(|step| {
        let p = pair(left().micro_steps(40), right().micro_steps(40), 1);
        let schedule =
            Schedule::jacobi(step, [p.left, p.right]).implicit(ImplicitSettings::default());
        p.builder.build(schedule).unwrap()
    });
    assert!((observed - 2.0).abs() < 0.1, "{observed}");
}

/// The integral contains the jump of the very last exchange, in the recorded rows and at the end.
#[test]
fn the_balance_accounts_for_every_joule_when_the_parts_are_solved_finely() {
    for (order, sequential) in [(0, false), (1, false), (2, false), (0, true), (1, true)] {
        let p = pair(left().micro_steps(200), right().micro_steps(200), order);
        let schedule = match sequential {
            true => Schedule::gauss_seidel(1e-3, [p.right, p.left]),
            false => Schedule::jacobi(1e-3, [p.left, p.right]),
        };
        let mut simulation = p.builder.build(schedule).unwrap();
        let before = simulation.energy().unwrap().stored();
        let mut recorded = InMemory::default();
        let summary = simulation.run(Run::new(1000, &mut recorded)).summary;
        let column = |name: &str| {
            let mut columns = simulation.columns().iter();
            recorded.column(columns.position(|c| c.name == name).unwrap())
        };
        let created = column("exchange.left.force<->right.motion");
        let imbalance = column("energy.imbalance");
        // A held motion stands still within a step, and its jumps are exact for a linear spring; of
        // one that moves, the trapezoidal rule sees the ends only.
        let allowed = [2e-6, 2e-4, 2e-4][order] * before;
        for (row, (created, gained)) in created.iter().zip(&imbalance).enumerate() {
            assert!(
                (gained - created).abs() < allowed,
                "order {order}, {sequential}, row {row}: gained {gained} J, accounted {created} J"
            );
        }
        assert!(summary.created[0].uncertainty.unwrap() < allowed);
        assert_eq!(summary.created[0].created, *created.last().unwrap());
        if order == 0 && !sequential {
            let gained = imbalance.last().unwrap();
            assert!(*gained > 100.0, "a plain hold gains energy: {gained}");
        }
    }
}

/// With one micro step the integrators' error in work is as large as the effect, and against it.
/// The work integral says how much of it they undo; what is left is no more than the model has
/// gained.
#[test]
fn a_coarse_energy_balance_tells_its_uncertainty() {
    let p = pair(left(), right(), 0);
    let schedule = Schedule::jacobi(1e-2, [p.left, p.right]).with_output_update();
    let mut simulation = p.builder.build(schedule).unwrap();
    let summary = simulation.run(Run::new(200, &mut Discard)).summary;
    let work_index = &summary.created[0];
    let (gained, undone) = (summary.imbalance.unwrap(), work_index.uncertainty.unwrap());
    assert!(work_index.created > gained && undone > 0.0);
    let least = work_index.created - undone;
    assert!(least >= 0.0 && least <= gained.max(0.0) + 1e-9 * work_index.created);
}

#[test]
fn gauss_seidel_delivers_within_the_step() {
    let p = pair(left(), right(), 0);
    let schedule = Schedule::gauss_seidel(1e-3, [p.right, p.left]);
    let mut sequential = p.builder.build(schedule).unwrap();
    sequential.step().unwrap();
    // Left has received what right sent at the end of this very step.
    let right_id = sequential.find("right").unwrap();
    let left_id = sequential.find("left").unwrap();
    let x2 = sequential.outputs(right_id)[0];
    let left_out = sequential.outputs(left_id).to_vec();
    assert!((left_out[3] - support::KC * (left_out[0] - x2)).abs() < 1e-12);
}

#[test]
fn a_nested_stage_exchanges_at_its_own_rate() {
    let p = pair(left(), right(), 0);
    let nested = Stage::Nested {
        ratio: 4,
        stages: vec![Stage::Together(vec![p.left, p.right])],
    };
    let mut nested = p
        .builder
        .build(Schedule::with_stages(4e-3, vec![nested]))
        .unwrap();
    let mut flat = jacobi_pair(1e-3, 0, 1);
    nested.run(Run::new(25, &mut Discard)).end.unwrap();
    flat.run(Run::new(100, &mut Discard)).end.unwrap();
    for name in ["left", "right"] {
        let (a, b) = (nested.find(name).unwrap(), flat.find(name).unwrap());
        for (x, y) in nested.outputs(a).iter().zip(flat.outputs(b)) {
            // The same recurrence; only the rounding of the times differs.
            assert!((x - y).abs() < 1e-9 * y.abs().max(1.0), "{name}: {x} {y}");
        }
    }
}

#[test]
fn a_multiple_of_the_macro_step_releases_its_outputs_at_its_end() {
    let p = pair(left(), right(), 0);
    let mut builder = p.builder;
    builder.every(p.right, 3);
    let mut simulation = builder
        .build(Schedule::jacobi(1e-3, [p.left, p.right]))
        .unwrap();
    let mut recorded = InMemory::default();
    simulation.run(Run::new(7, &mut recorded)).end.unwrap();
    let column = simulation
        .columns()
        .iter()
        .position(|c| c.name == "right.motion.x");
    let x2 = recorded.column(column.unwrap());
    assert_eq!(simulation.period(), 3);
    assert!(x2[0] == x2[1] && x2[1] == x2[2] && x2[2] != x2[3]);
    assert!(x2[3] == x2[4] && x2[4] == x2[5] && x2[5] != x2[6]);
    // Over its first step the held force is that of the initial time: zero.
    assert!((x2[3] + 100.0 * 3e-3).abs() < 1e-12);
}

/// An event falls into the middle of a longer step: its part is already beyond, and what it will
/// have reached must not be seen before.
#[test]
fn an_event_shows_nothing_of_a_longer_step_before_its_end() {
    let p = pair(left(), right(), 0);
    let mut builder = p.builder;
    builder.every(p.right, 4);
    let mut schedule = Schedule::jacobi(1e-3, [p.left, p.right]);
    schedule.events = vec![0.0015, 0.0055];
    let mut simulation = builder.build(schedule).unwrap();
    let mut recorded = InMemory::default();
    simulation.run(Run::new(9, &mut recorded)).end.unwrap();
    let mut columns = simulation.columns().iter();
    let x2 = recorded.column(columns.position(|c| c.name == "right.motion.x").unwrap());
    assert!(x2[..4].iter().all(|x| *x == x2[0]), "{x2:?}");
    assert!(
        x2[4] != x2[3] && x2[4..8].iter().all(|x| *x == x2[4]),
        "{x2:?}"
    );
}

fn implicit_iterations(acceleration: Acceleration) -> f64 {
    let p = pair(left().micro_steps(4), right().micro_steps(4), 1);
    let implicit = ImplicitSettings {
        acceleration,
        max_iterations: 200,
        ..ImplicitSettings::default()
    };
    let schedule = Schedule::jacobi(2e-2, [p.left, p.right]).implicit(implicit);
    let mut simulation = p.builder.build(schedule).unwrap();
    let summary = simulation.run(Run::new(50, &mut Discard)).summary;
    assert_eq!(summary.not_converged, 0);
    summary.iterations as f64 / summary.steps as f64
}

#[test]
fn accelerated_iterations_are_fewer() {
    let plain = implicit_iterations(Acceleration::Fixed(1.0));
    let aitken = implicit_iterations(Acceleration::Aitken(0.8));
    let quasi_newton = implicit_iterations(Acceleration::QuasiNewton { columns: 8 });
    assert!(quasi_newton < plain, "{quasi_newton} {plain}");
    assert!(
        aitken < 40.0 && quasi_newton < 7.0,
        "{aitken} {quasi_newton}"
    );
}

#[test]
fn an_iteration_limit_is_never_silent() {
    let build = |on_limit| {
        let p = pair(left(), right(), 1);
        let implicit = ImplicitSettings {
            max_iterations: 2,
            relative: 1e-15,
            absolute: 0.0,
            on_limit,
            ..ImplicitSettings::default()
        };
        let schedule = Schedule::jacobi(1e-2, [p.left, p.right]).implicit(implicit);
        p.builder.build(schedule).unwrap()
    };
    let failed = build(OnLimit::Fail).run(Run::new(10, &mut Discard));
    let message = failed.end.unwrap_err().to_string();
    assert!(
        message.contains("did not converge at t = 0.01"),
        "{message}"
    );
    assert!(
        message.contains("left.force") || message.contains("right.motion"),
        "{message}"
    );
    let accepted = build(OnLimit::Accept).run(Run::new(10, &mut Discard));
    assert!(accepted.end.is_ok());
    assert_eq!(accepted.summary.not_converged, 10);
}

#[test]
fn refreshed_outputs_are_based_on_what_has_just_arrived() {
    let p = pair(left(), right(), 0);
    let schedule = Schedule::jacobi(1e-3, [p.left, p.right]).with_output_update();
    let mut simulation = p.builder.build(schedule).unwrap();
    simulation.run(Run::new(10, &mut Discard)).end.unwrap();
    let outputs = |name| simulation.outputs(simulation.find(name).unwrap());
    let (x1, x2) = (outputs("left")[0], outputs("right")[0]);
    let force = outputs("left")[3];
    assert!((force - support::KC * (x1 - x2)).abs() < 1e-12 * force.abs());
}
