//! Compensated co-simulations of the systems of Tamellin 2022, against closed forms, printed gains
//! and ranks, and the recurrence of what runs.

mod chain;

use chain::{Chain, GIVER, Random, TAKER};
use oldham_compensation::{Compensation, CompensatorRow, Signal};
use oldham_cosim::SubsystemId;
use oldham_stability::compensate::{
    Architecture, Conditions, CouplingLaw, Design, DesignError, Domain, Origin, Target, assign,
    confirm,
};
use oldham_stability::{CoupledModel, Extrapolator, is_stable, radius};

/// An assignment that is to be done.
struct Task {
    rows: Architecture,
    model: CoupledModel,
    targets: Vec<Target>,
}

impl Task {
    fn of(chain: &Chain) -> Self {
        let mut plain = chain.build(Vec::new()).expect("a chain builds");
        let rows = Architecture::new(&plain, &[chain.site()]).expect("a chain takes corrections");
        let model = CoupledModel::of(&mut plain).expect("a chain is linear");
        let targets = Target::exact(&model, &rows);
        Self {
            rows,
            model,
            targets,
        }
    }

    fn assigned(&self, chain: &Chain, signals: Option<&[&str]>) -> Result<Design, DesignError> {
        let chosen = match signals {
            None => vec![true; self.rows.unknowns()],
            Some(signals) => {
                let names: Vec<String> = signals.iter().map(|&s| s.into()).collect();
                self.rows.choose(&names)
            }
        };
        let build = |laws: Vec<(SubsystemId, Compensation)>| chain.build(laws);
        assign(&build, &self.rows, &chosen, &self.targets, &Domain::Sampled)
    }

    fn continuous(&self, chain: &Chain) -> Conditions {
        let hold = Extrapolator::hold(0, chain.step);
        Conditions::continuous(&self.model, hold, &self.rows, &self.targets).expect("conditions")
    }
}

fn scenarios() -> [Chain; 3] {
    [
        Chain::two_mass(0.0, 1e-3),
        Chain::two_mass(0.1, 1e-3),
        Chain::two_mass(0.1, 4e-3),
    ]
}

const MICRO_STEPS: [usize; 4] = [1, 2, 5, 10];

#[test]
fn the_poles_of_what_runs_are_put_where_the_monolithic_ones_are() {
    for mut chain in scenarios().into_iter().chain([Chain::four_mass()]) {
        for micro_steps in MICRO_STEPS {
            chain.micro_steps = micro_steps;
            let design = Task::of(&chain).assigned(&chain, None).unwrap();
            assert!(is_stable(design.radius[1]), "{:?}", design.radius);
            for mode in &design.modes {
                let miss = (mode.with - mode.target).norm();
                assert!(miss < 1e-4 * mode.target.norm(), "{micro_steps}: {mode:?}");
            }
        }
    }
}

/// Single rate, semi-implicit Euler, Jacobi, hold: the force that arrives at the motion side still sees
/// it where it was a step ago, h v away; taking kc h v away makes it the monolithic recurrence.
#[test]
fn the_closed_form_for_a_single_rate_is_the_monolithic_recurrence() {
    let chain = Chain::two_mass(0.0, 1e-3);
    let (h, kc) = (chain.step, chain.stiffness[1]);
    let law = Compensation {
        sampled: vec![CompensatorRow::new(0, vec![(Signal::Own(1), -h * kc)])],
        ..Compensation::default()
    };
    let mut simulation = chain.build(vec![(TAKER, law)]).unwrap();
    // At the initial time nothing is delayed yet.
    simulation.step().unwrap();
    let state = |component: usize| [GIVER, TAKER].map(|part| simulation.outputs(part)[component]);
    let (mut x, mut v) = (state(0), state(1));
    for _ in 0..2000 {
        simulation.step().unwrap();
        let coupling = kc * (x[0] - x[1]);
        let forces = [-10.0 * x[0] - coupling, -1000.0 * x[1] + coupling];
        for i in 0..2 {
            v[i] += h * forces[i];
            x[i] += h * v[i];
        }
    }
    let moved = [simulation.outputs(GIVER)[0], simulation.outputs(TAKER)[0]];
    for (moved, x) in moved.iter().zip(x) {
        assert!((moved - x).abs() < 1e-9, "{moved} {x}");
    }
}

/// D(s) = 1 - s T/2 + ...: to first order in T the conditions are met by kc T/2 times the
/// velocities of the other side, and by kc T times the own one.
#[test]
fn gains_on_the_continuous_model_are_those_of_the_delay() {
    let chain = Chain::two_mass(0.0, 1e-3);
    let task = Task::of(&chain);
    let all = vec![true; task.rows.unknowns()];
    let gains = task.continuous(&chain).smallest_gains(&all, 1e-9);
    let (kc, h) = (100.0, 1e-3);
    for ((row, candidate), gain) in task.rows.candidates().zip(gains) {
        let wanted = match (row, candidate.name.as_str()) {
            (0, "left.far.v") | (2, "left.x1.v") => -kc * h / 2.0,
            (1, "right.x2.v") => kc * h,
            _ => 0.0,
        };
        let size = 10.0_f64.powi(1 - candidate.derivative);
        assert!(
            (gain - wanted).abs() < 2e-3 * size,
            "{}: {gain}",
            candidate.name
        );
    }
}

/// Sect. 3.3: the gains of the print, which has four digits.
#[test]
fn printed_gains_meet_the_conditions() {
    let print = |d: [f64; 4], f: [f64; 4], g: [f64; 4]| -> Vec<f64> {
        let order = [0, 1, 3, 2].into_iter();
        order.flat_map(|i| [g[i], f[i], d[i]]).collect()
    };
    let gains = [
        print(
            [-0.0035, 0.0004, -0.0108, -0.0012],
            [0.0, -0.0498, -0.0499, 0.0994],
            [-0.4222, 0.7846, -1.0729, -0.1962],
        ),
        print(
            [-0.0036, 0.0003, 0.0018, 0.0001],
            [-0.0007, -0.0494, -0.0497, 0.100],
            [-0.4357, 0.7596, 0.1896, -0.0743],
        ),
        print(
            [0.0042, -0.0003, 0.0009, -0.0004],
            [0.0008, -0.2011, -0.1997, 0.3994],
            [0.4564, -0.3928, 0.1230, 0.0528],
        ),
    ];
    for (chain, gains) in scenarios().iter().zip(gains) {
        let conditions = Task::of(chain).continuous(chain);
        let residual = conditions.residual(&gains);
        assert!(residual < 0.02, "{residual}");
    }
}

/// Sect. 4.3: ranks 8 = 8 with all signals, 7 against 8 without x2*.
#[test]
fn the_missing_signal_is_named() {
    for chain in scenarios() {
        let task = Task::of(&chain);
        let all = task
            .continuous(&chain)
            .ranks(&vec![true; task.rows.unknowns()]);
        assert_eq!((all.rank, all.augmented), (8, 8));
        let error = task
            .assigned(&chain, Some(&["left.x1", "right.x2"]))
            .unwrap_err();
        let DesignError::Unassignable { ranks, missing } = error else {
            panic!("{error}");
        };
        assert_eq!((ranks.rank, ranks.augmented), (7, 8));
        assert_eq!(missing, ["left.far"]);
    }
}

#[test]
fn every_random_pair_is_stabilised() {
    let mut random = Random(7);
    let mut unstable = 0;
    for index in 0..60 {
        let mut chain = Chain::random_pair(&mut random);
        chain.micro_steps = MICRO_STEPS[index % 4];
        unstable += usize::from(!is_stable(radius(&mut chain.build(Vec::new()).unwrap())));
        let design = Task::of(&chain).assigned(&chain, None);
        assert!(design.is_ok(), "{index}: {}", design.unwrap_err());
    }
    assert!(unstable > 0, "none of them needed it");
}

fn structural(chain: &Chain) -> Result<[f64; 2], DesignError> {
    let build = |laws: Vec<(SubsystemId, Compensation)>| chain.build(laws);
    let law = CouplingLaw::of(&build, &chain.site())?;
    let micro = chain.step / chain.micro_steps as f64;
    confirm(&build, &[law], &[[micro; 2]])
}

/// Both sides then use the same motions at the same time.
#[test]
fn structural_compensation_at_a_single_rate_is_the_monolithic_recurrence() {
    // Undamped: the monolithic semi-implicit Euler has all its roots on the unit circle.
    let radius = structural(&Chain::two_mass(0.0, 1e-3)).unwrap();
    assert!((radius[1] - 1.0).abs() < 1e-9, "{radius:?}");
}

#[test]
fn structural_compensation_stabilises_every_random_chain() {
    let mut random = Random(8);
    for index in 0..60 {
        let mut chain = Chain::random(3 + index % 6, &mut random);
        chain.micro_steps = MICRO_STEPS[index % 4];
        let radius = structural(&chain);
        assert!(radius.is_ok(), "{index}: {}", radius.unwrap_err());
    }
}

#[test]
fn the_law_is_found_in_what_is_exchanged() {
    let chain = Chain::two_mass(0.1, 4e-3);
    let build = |laws: Vec<(SubsystemId, Compensation)>| chain.build(laws);
    let law = CouplingLaw::identified(&build, &chain.site()).unwrap();
    assert_eq!(law.origin, Origin::Identified);
    assert!(law.residual < 1e-9, "{}", law.residual);
    let found: Vec<f64> = law
        .own
        .iter()
        .chain(&law.received)
        .map(|(_, g)| *g)
        .collect();
    for (found, given) in found.iter().zip([100.0, 0.1, -100.0, -0.1]) {
        assert!(
            (found - given).abs() < 1e-6 * given.abs(),
            "{found} {given}"
        );
    }
}

#[test]
fn a_force_at_rest_tells_nothing() {
    let mut chain = Chain::two_mass(0.1, 4e-3);
    chain.velocities = vec![0.0; 2];
    let build = |laws: Vec<(SubsystemId, Compensation)>| chain.build(laws);
    let error = CouplingLaw::identified(&build, &chain.site()).unwrap_err();
    assert!(
        matches!(error, DesignError::NothingExchanged(ref force) if force == "left.fc"),
        "{error}"
    );
}
