//! How much work parts of a cut have with their steps, against the whole: counts, not times.

use oldham_cosim::{
    Builder, Counters, Hold, Predictor, Schedule, Simulation, Stage, Subsystem, SubsystemId,
};
use oldham_multibody::bench::{clamped_shell, hanging_beam};
use oldham_multibody::cut::{Couplings, Cut, Role, partition};
use oldham_multibody::{
    CutScheme, CutSettings, Method, Model, NodeId, Options, PortedModel, Prescription,
    SolverSettings, System,
};
use oldham_prediction::{IntegratedMotion, RateExtrapolation};

const RHO: f64 = 0.6;

fn options() -> Options {
    Options {
        method: Method::Lms2 { rho: RHO },
        ..Options::default()
    }
}

/// What the only coupling is called.
const COUPLING: &str = "coupling";

/// A cut with interface Jacobians.
struct Cutting<'a> {
    nodes: &'a [NodeId],
    step: f64,
    /// Whether parts predict the interface themselves.
    predicts: bool,
}

impl Cutting<'_> {
    /// With the coupling, and where it shows the place of the first node.
    fn simulation(&self, model: Model) -> (Simulation, SubsystemId, usize) {
        let wanted = Cut {
            nodes: self.nodes.to_vec(),
            couplings: Couplings::Joined,
            ..Cut::default()
        };
        let partition = partition(&model, &wanted).unwrap();
        let names = partition.subdomains.iter().enumerate();
        let names = names.map(|(i, subdomain)| match subdomain.role {
            Role::Part => format!("part{i}"),
            Role::Coupling => COUPLING.to_owned(),
        });
        let solution = SolverSettings {
            options: options(),
            micro_steps: 1,
        };
        let settings = CutSettings {
            names: names.collect(),
            solutions: vec![solution; partition.subdomains.len()],
            partition,
            scheme: CutScheme::InterfaceTangent,
            prescription: Prescription::Pose,
            is_thorough: false,
            predicts_interface: self.predicts,
        };
        let whole = PortedModel {
            model,
            ..PortedModel::default()
        };
        let pieces = whole.cut(&settings);
        let pieces = pieces.unwrap_or_else(|_| panic!("it can be cut"));
        let mut builder = Builder::new();
        let (mut parts, mut ids, mut shown) = (Vec::new(), Vec::new(), 0);
        for (index, solver) in pieces.solvers.into_iter().enumerate() {
            let ports = solver.part.ports();
            let predictor: Box<dyn Predictor> = match solver.role {
                Role::Part => {
                    let hermite = RateExtrapolation::Hermite;
                    Box::new(IntegratedMotion::new(hermite, RHO, ports))
                }
                Role::Coupling => Box::new(Hold::new(1, ports)),
            };
            let mut sent = pieces.connections.iter().map(|it| it.from);
            if let Some((_, port)) = sent.find(|(from, _)| *from == index) {
                shown = ports.output_range(port).start;
            }
            let id = builder.add(&solver.name, Box::new(solver.part), predictor);
            if solver.role == Role::Part {
                parts.push(id);
            }
            ids.push(id);
        }
        for connection in pieces.connections {
            let (from, output) = connection.from;
            let (to, input) = connection.to;
            builder.connect((ids[from], output), (ids[to], input));
        }
        let coupling = *ids.last().expect("the coupling is the last");
        let stages = vec![
            Stage::Together(parts.clone()),
            Stage::Together(vec![coupling]),
            Stage::Corrected(parts),
        ];
        let simulation = builder.build(Schedule::with_stages(self.step, stages));
        (simulation.unwrap(), coupling, shown)
    }
}

fn whole(model: Model, step: f64, steps: u64) -> System {
    let mut system = System::new(model, options()).unwrap();
    system.start(0.0, &[]).unwrap();
    for _ in 0..steps {
        system.step(step, &[]).unwrap();
    }
    system
}

/// The parts' counters summed, with the difference of the first cut node's place from the whole; beside the whole's own.
fn compare(model: Model, nodes: &[NodeId], step: f64, steps: u64, predicts: bool) -> Compared {
    let system = whole(model.clone(), step, steps);
    let cut = Cutting {
        nodes,
        step,
        predicts,
    };
    let (mut simulation, coupling, place) = cut.simulation(model);
    simulation.steps(steps).unwrap();
    let here = system.motion(nodes[0]).position.0;
    let there = simulation.outputs(coupling)[place..].iter();
    let off = there.zip(here).map(|(a, b)| (a - b).abs());
    let off = off.fold(0.0, f64::max);
    let summary = simulation.summary();
    let parts = summary.parts.iter().filter(|part| part.name != COUPLING);
    Compared {
        whole: system.counters(),
        parts: parts.map(|part| part.counters).collect(),
        off,
    }
}

struct Compared {
    whole: Counters,
    parts: Vec<Counters>,
    off: f64,
}

impl Compared {
    fn refinements(&self) -> u64 {
        self.parts.iter().map(|part| part.refinements).sum()
    }
}

/// A line of nodes swings in ways that a step does not resolve, and what is received says nothing of the formula by which it
/// does. Predicted by that formula, a part needs hardly more iterations than the whole; before, two of three steps took another one.
#[test]
fn a_line_of_nodes_is_predicted_as_the_whole_does() {
    for (divisions, step, steps, share) in [([4, 2], 1e-4, 1000, 10), ([16, 8], 4e-5, 300, 2)] {
        let (model, grid) = clamped_shell(divisions);
        let [along, across] = divisions;
        let line: Vec<NodeId> = (0..=across).map(|row| grid.node(along / 2, row)).collect();
        let [own, received] =
            [true, false].map(|predicts| compare(model.clone(), &line, step, steps, predicts));
        let [few, many] = [own.refinements(), received.refinements()];
        println!(
            "{divisions:?}: {few} refinements, {many} with what is received; {:e} m, {:e} m",
            own.off, received.off
        );
        assert!(share * few <= many, "{few}, {many}");
        for part in &own.parts {
            let most = own.whole.iterations + own.whole.iterations / 5;
            assert!(part.iterations <= most, "{part:?}, {:?}", own.whole);
        }
        assert!(own.off <= 1e-9, "{}", own.off);
    }
}

/// Both cuts of a beam, so that a part has two.
#[test]
fn a_part_between_two_cuts_is_corrected_once() {
    let (model, nodes) = hanging_beam(24, 0.0);
    let steps = 1000;
    let found = compare(model, &[nodes[16], nodes[32]], 1e-4, steps, true);
    assert!(found.refinements() <= steps / 50, "{}", found.refinements());
    for part in &found.parts {
        let most = found.whole.iterations + found.whole.iterations / 10;
        assert!(part.iterations <= most, "{part:?}, {:?}", found.whole);
    }
    assert!(found.off <= 1e-11, "{}", found.off);
}

/// A step of 5 ms resolves nothing of this shell. At some of them the iteration that begins where the part predicts the line does not converge; it
/// then begins where the received motion leads, as it did at every step before.
#[test]
fn a_prediction_that_leads_nowhere_is_not_the_end_of_a_run() {
    let (model, grid) = clamped_shell([4, 2]);
    let line: Vec<NodeId> = (0..3).map(|row| grid.node(2, row)).collect();
    let [own, received] =
        [true, false].map(|predicts| compare(model.clone(), &line, 5e-3, 150, predicts));
    println!("{:e} m, {:e} m", own.off, received.off);
    assert!(own.off <= received.off.max(1e-6));
}
